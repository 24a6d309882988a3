"""Model predictive path integral control: the plan is the mean of sampled force sequences, weighted by exp(-cost)."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import number
from kinetree.predictive_control.sampling import SamplingController


class MPPI(SamplingController):
    r"""Model predictive path integral control: ``controller(t, q, v) -> tau``.

    Every call simulates ``samples`` sequences of forces around the plan, gives each a weight, and moves the plan to
    their mean:

    .. math:: u_k = u + \varepsilon_k,\quad \varepsilon_k \sim N(0, \Sigma),\qquad
       w_k \propto \exp(-S(u_k) / \lambda),\qquad u \leftarrow \sum_k w_k\, u_k

    Parameters
    ----------
    model : Model
        With all that acts in it: springs, damping, limits, motors, contacts.
    cost : callable
        ``cost(s) -> (N,)``, a number for each motion of a batch `SampledMotions`: ``s.time`` (T + 1,) [s], ``s.q``
        (N, T + 1, nq), ``s.v`` (N, T + 1, nv), ``s.u`` (N, T, nu). Row 0 is the current state.
    dt : float
        Time between two forces [s]; call the controller that often: ``kt.control.Sampled(controller, dt)``.
    horizon : int
        Number T of forces in the plan.
    samples : int
        Sequences in each iteration, the plan itself among them.
    covariance : float, (nu,) or (nu, nu) array_like
        Of the forces' noise [(N m)^2 or N^2]: a number for all, variances, or a matrix.
    temperature : float
        lambda [unit of the cost]. Sequences whose costs differ by it have weights that differ by a factor e.
    control_weight : float
        From 0 to 1: part of the cost of information theory ``lambda u . Sigma^-1 (u_k - u)``, which draws the plan to
        zero (with 1 the noise is, in effect, about zero and not about the plan).
    iterations : int
        Improvements in each call.
    plan : (T, nu) or (nu,) array_like, optional
        First plan [N m or N]; default zero.
    knots : int, optional
        The plan is linear between so many knots, which are sampled instead of all T forces: smoother forces, fewer
        variables. Default T.
    actuated : str or sequence of str, optional
        Joints that are controlled; default all.
    effort_limit : "model", float, sequence or mapping, optional
        Bounds of the forces [N m or N], to which samples are clipped; "model" (default) for those of the joints, None
        for none.
    substeps : int
        Steps of the integrator in dt.
    integrator, ground
        As for `rollout`.
    seed : int
        Random numbers depend on it and on the number of the call alone.
    threads : int, optional
        As for `rollout`; results are the same bits for any number.
    dtype : dtype
        Of the simulation, float64 or float32.

    Attributes
    ----------
    plan : (T, nu) array
        [N m or N]
    reports : list of SamplingReport
        Costs, effective number of samples and wall time of each call since the start or the last `reset`.

    Notes
    -----
    Source: G. Williams, P. Drews, B. Goldfain, J. M. Rehg, E. A. Theodorou, "Information-theoretic model predictive
    control: theory and applications to autonomous driving", IEEE Transactions on Robotics 34 (2018), algorithm 1;
    ``control_weight`` is 1 - alpha there. At the next call the plan is shifted by the time since the last one.
    A quadratic cost with the Hessian H and the minimum u* moves the mean to ``(Sigma^-1 + H / lambda)^-1 (Sigma^-1 u +
    H u* / lambda)``: the plan converges to u*, faster with lower temperature, but with more noise of the mean.
    Motions that are not finite have no weight.

    See Also
    --------
    CEM, iLQR, kinetree.rollout

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.pendulum()
    >>> def upright(s):
    ...     return (0.02 * (10 * (1 + np.cos(s.q[..., 0])) + 0.1 * s.v[..., 0] ** 2)).sum(axis=1)
    >>> mppi = kt.control.MPPI(model, upright, dt=0.02, horizon=50, samples=256, covariance=4.0, temperature=0.1)
    >>> run = kt.simulate(model, [0.0], duration=2.0, dt=0.01, controller=kt.control.Sampled(mppi, 0.02))
    >>> bool(abs(np.cos(run.q[-1, 0]) + 1.0) < 0.05)
    True
    """

    def __init__(
        self, model, cost, *, dt, horizon, samples=1024, covariance, temperature, control_weight=0.0, iterations=1,
        plan=None, knots=None, actuated=None, effort_limit="model", substeps=1, integrator="auto", ground=None, seed=0,
        threads=None, dtype=np.float64,
    ) -> None:  # fmt: skip
        self.temperature = number("MPPI: temperature", temperature, "a positive number [unit of the cost]", above=0.0)
        self.control_weight = number(
            "MPPI: control_weight", control_weight, "a number from 0 to 1", least=0.0, most=1.0
        )
        super().__init__(
            model, cost, dt=dt, horizon=horizon, samples=samples, covariance=covariance, iterations=iterations,
            plan=plan, knots=knots, actuated=actuated, effort_limit=effort_limit, substeps=substeps,
            integrator=integrator, ground=ground, seed=seed, threads=threads, dtype=dtype,
        )  # fmt: skip

    def _improved(self, knots, sampled, costs):
        if self.control_weight:
            pull = self.temperature * self.control_weight * np.linalg.solve(self.covariance, knots.T).T
            costs = costs + np.tensordot(sampled - knots, pull, 2)
        w = np.exp((costs.min() - costs) / self.temperature)
        w /= w.sum()
        return np.tensordot(w, sampled, 1), float(1.0 / (w @ w))
