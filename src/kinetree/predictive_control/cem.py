"""The cross-entropy method: mean and variance of force sequences are those of the best samples."""

from __future__ import annotations

import math

import numpy as np

from kinetree.arguments import number
from kinetree.predictive_control.sampling import SamplingController


class CEM(SamplingController):
    """Predictive control by the cross-entropy method: ``controller(t, q, v) -> tau``.

    Every call simulates samples of force sequences around the plan, takes the mean and the variances of the best ones
    (elites) for the next samples, and so on for ``iterations``; the variances begin anew at every call.

    Parameters
    ----------
    model : Model
        With all that acts in it: springs, damping, limits, motors, contacts.
    cost : callable
        ``cost(s) -> (N,)``, a number for each motion of a batch, as for `MPPI`. Only its order matters.
    dt : float
        Time between two forces [s]; call the controller that often.
    horizon : int
        Number T of forces in the plan.
    samples : int
        Sequences in each iteration, the plan itself among them.
    covariance : float, (nu,) or (nu, nu) array_like
        Of the forces' noise in the first iteration [(N m)^2 or N^2].
    elite_fraction : float
        Part of the samples that are elites; at least two.
    iterations : int
        Improvements in each call.
    smoothing : float
        Part, from 0 to less than 1, of the last mean and variances that is kept in each iteration.
    least_deviation : float
        Standard deviations do not fall below this part of those of the first iteration.
    plan, knots, actuated, effort_limit, substeps, integrator, ground, seed, threads, dtype
        As for `MPPI`.

    Attributes
    ----------
    plan : (T, nu) array
        [N m or N]
    reports : list of SamplingReport
        Costs, number of elites and wall time of each call since the start or the last `reset`.

    Notes
    -----
    Source: R. Y. Rubinstein, D. P. Kroese, "The Cross-Entropy Method" (Springer 2004), section 4.2, for normal
    distributions with independent entries after the first iteration; smoothing as in remark 4.1.

    See Also
    --------
    MPPI, iLQR, kinetree.rollout

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.cart_pole()
    >>> def upright(s):
    ...     return (s.q[..., 1] ** 2 + 0.1 * s.q[..., 0] ** 2 + 0.01 * s.v[..., 1] ** 2).sum(axis=1)
    >>> cem = kt.control.CEM(model, upright, dt=0.02, horizon=25, samples=128, covariance=9.0, actuated="slider")
    >>> tau = cem(0.0, np.array([0.0, 0.1]), np.zeros(2))  # the pole leans to one side: the cart follows it
    >>> bool(tau[0] > 0.0 and tau[1] == 0.0)
    True
    """

    def __init__(
        self, model, cost, *, dt, horizon, samples=256, covariance, elite_fraction=0.1, iterations=4, smoothing=0.0,
        least_deviation=0.01, plan=None, knots=None, actuated=None, effort_limit="model", substeps=1,
        integrator="auto", ground=None, seed=0, threads=None, dtype=np.float64,
    ) -> None:  # fmt: skip
        fraction = number("CEM: elite_fraction", elite_fraction, "a number above 0, at most 1", above=0.0, most=1.0)
        self.smoothing = number("CEM: smoothing", smoothing, "a number from 0 to less than 1", least=0.0, most=0.999)
        self.least_deviation = number("CEM: least_deviation", least_deviation, "a number from 0 to 1", least=0, most=1)
        super().__init__(
            model, cost, dt=dt, horizon=horizon, samples=samples, covariance=covariance, iterations=iterations,
            plan=plan, knots=knots, actuated=actuated, effort_limit=effort_limit, substeps=substeps,
            integrator=integrator, ground=ground, seed=seed, threads=threads, dtype=dtype,
        )  # fmt: skip
        self.elites = max(2, math.ceil(fraction * self.samples))
        self._first_widths = np.sqrt(np.diag(self.covariance))

    def _noise(self, k, normal):
        if k:
            return self._widths * normal
        self._widths = np.broadcast_to(self._first_widths, (self.knots, self.nu))
        return super()._noise(k, normal)

    def _improved(self, knots, sampled, costs):
        order = np.argsort(costs, kind="stable")[: self.elites]
        best, kept = sampled[order[np.isfinite(costs[order])]], self.smoothing
        widths = (1.0 - kept) * best.std(axis=0) + kept * self._widths
        self._widths = np.maximum(widths, self.least_deviation * self._first_widths)
        return (1.0 - kept) * best.mean(axis=0) + kept * knots, float(len(best))
