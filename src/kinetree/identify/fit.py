r"""Inertial parameters from measured motions and joint forces, such that bodies with them can exist.

The joint forces are linear in the parameters, and the pseudo-inertia of every body must be positive definite. The fit
minimizes

.. math:: \sum_k \frac{\lVert Y_k \pi - \tau_k \rVert^2}{\sigma^2}
          + \sum_i \frac{d(\mathcal{J}_i, \mathcal{J}^0_i)^2}{\rho^2}

with a distance d of bodies (`Distance`) that does not depend on their frames. The second part determines the
combinations that the data leave open. It is infinite at the boundary of the possible inertias, so no body reaches it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_model, a_number_not_negative, an_array, array, checked, names, progress_bar
from kinetree.compiler.calls import plain_call
from kinetree.errors import ModelError, NonFiniteError, ShapeError, UnsupportedError, unknown_name
from kinetree.forces.registry import JOINT_FORCES
from kinetree.identify.base import BaseParameters, by_rank
from kinetree.identify.consistency import from_pseudo_inertia, pseudo_inertia
from kinetree.identify.solve import minimize
from kinetree.model import Model
from kinetree.model.inertial_parameters import inertial_parameters, with_inertial_parameters
from kinetree.model.planar import refuse_planar

joint_torque_regressor = plain_call(ALGORITHMS["joint_torque_regressor"])
inverse_dynamics = plain_call(ALGORITHMS["inverse_dynamics"])

# Kinds that dissipate alone: their forces are proportional to their one parameter.
_LINEAR = {kind.parameters[0].name: kind for kind in JOINT_FORCES if kind.power_channel and not kind.energy_channel}
JOINT_PARAMETERS = ("armature", *_LINEAR)
CHUNK = 1024  # states whose regressors are in memory at a time
THIN = 1e-3  # least second moment of a prior body, relative to its size


@dataclass(frozen=True, slots=True, eq=False)
class Identification:
    """The result of a fit.

    Parameters
    ----------
    model : Model
        With the parameters that were found; its bodies are possible ones.
    prior : Model
    parameters : (10 (nb - 1),) array
        Inertial parameters, in the order of ``inertial_parameters`` [kg, kg m, kg m^2].
    base : BaseParameters
        The combinations that the data determine.
    base_deviation : (rank,) array
        Standard deviations of ``base.values(parameters)`` that follow from the noise [kg, kg m or kg m^2].
    noise : (nv,) array
        Standard deviations of the joint forces, as given or as estimated [N m or N].
    rms : (nv,) array
        Root mean square of the residuals of the joint forces [N m or N].
    iterations : int
    converged : bool
    """

    model: Model
    prior: Model = field(repr=False)
    parameters: np.ndarray = field(repr=False)
    base: BaseParameters = field(repr=False)
    base_deviation: np.ndarray = field(repr=False)
    noise: np.ndarray
    rms: np.ndarray
    iterations: int
    converged: bool

    def __post_init__(self) -> None:
        for x in (self.parameters, self.base_deviation, self.noise, self.rms):
            x.setflags(write=False)

    @property
    def consistent(self) -> bool:
        """Whether all pseudo-inertias are positive definite."""
        return bool(np.all(self.least_eigenvalues > 0.0))

    @property
    def least_eigenvalues(self) -> np.ndarray:
        """The least eigenvalue of each body's pseudo-inertia.

        Returns
        -------
        (nb - 1,) array
            Relative to the largest [1].
        """
        w = np.linalg.eigvalsh(pseudo_inertia(self.parameters.reshape(-1, 10)))
        return w[:, 0] / w[:, -1]

    def errors(self, q, v, a, tau) -> np.ndarray:
        """Root-mean-square errors of predicted joint forces, on another motion for example.

        Parameters
        ----------
        q : (N, nq) array
            Positions [rad or m].
        v : (N, nv) array
            Velocities [rad/s or m/s].
        a : (N, nv) array
            Accelerations [rad/s^2 or m/s^2].
        tau : (N, nv) array
            Measured joint forces [N m or N].

        Returns
        -------
        (nv,) array
            Root mean squares [N m or N].
        """
        predicted = inverse_dynamics(self.model.without_limits(), q, v, a)
        return np.sqrt(np.mean((predicted - array("errors: tau", tau, shape=predicted.shape)) ** 2, axis=0))

    def __str__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        lines = [
            f"{self.base.rank} combinations of {len(self.parameters)} parameters from {len(self.noise)} joint forces; "
            f"{state} after {self.iterations} iterations",
            f"{'joint force':24}{'noise':>10}{'residual':>10}",
        ]
        rows = zip(self.model.velocity_labels, self.noise, self.rms, strict=True)
        lines += [f"{label:24}{noise:10.3g}{rms:10.3g}" for label, noise, rms in rows]
        lines.append(f"{'body':24}{'mass [kg]':>10}{'prior':>10}{'least eigenvalue':>18}")
        for i, least in enumerate(self.least_eigenvalues, 1):
            m, m_0 = self.model.I[i].m, self.prior.I[i].m
            lines.append(f"{self.model.body_names[i]:24}{m:10.3g}{m_0:10.3g}{least:18.1e}")
        return "\n".join(lines)


@checked(
    prior=a_model, q=an_array, v=an_array, a=an_array, tau=an_array, noise=an_array,
    prior_deviation=a_number_not_negative, progress=progress_bar,
)  # fmt: skip
def fit(
    prior: Model,
    q,
    v,
    a,
    tau,
    *,
    noise=None,
    prior_deviation: float = 1.0,
    joint_parameters: Sequence[str] = (),
    progress: bool | None = None,
) -> Identification:
    """Physically consistent inertial parameters of all bodies from a measured motion.

    Parameters
    ----------
    prior : Model
        Known data: joints and offsets, which are not changed, and initial inertias, as from a drawing. Springs and all
        other parameters that are not fitted keep their values.
    q : (N, nq) array
        Measured positions [rad or m].
    v : (N, nv) array
        Velocities [rad/s or m/s].
    a : (N, nv) array
        Accelerations [rad/s^2 or m/s^2].
    tau : (N, nv) array
        Measured joint forces [N m or N].
    noise : float or (nv,) array, optional
        Standard deviations of the joint forces [N m or N]; by default estimated from residuals of an unconstrained fit.
    prior_deviation : float
        Standard deviation of the bodies from the prior, as a logarithm: 1 is a factor of e in the moments of mass, 0.1
        about 10 %. It affects the combinations that the data do not determine.
    joint_parameters : sequence of str
        Joint parameters to fit as well, none of which can be negative: "armature", "damping" and other friction
        (`JOINT_PARAMETERS`).
    progress : bool, optional
        Show a bar; by default if stderr is a terminal and the fit takes longer than a second.

    Returns
    -------
    Identification

    Raises
    ------
    ShapeError, NonFiniteError
        Arrays that do not fit, or hold NaN.
    UnsupportedError
        The model has constraints, depends on time, or is planar.
    ModelError
        A prior body has no mass, or a standard deviation is not positive.
    UnknownNameError
        ``joint_parameters`` contains another name.

    Notes
    -----
    Source: Wensing, Kim, Slotine (2018) for the condition; Lee and Park, "A geometric algorithm for robust multibody
    inertial parameter identification" (2018) for the distance to the prior.
    Differs: Gauss-Newton steps in the parameters themselves, in which the data are linear, cut where a body would
    become impossible. In the free numbers of `log_cholesky` the same minimum took a hundred to a thousand steps of
    ``least_squares`` instead of a dozen. All samples go into one triangular factor first.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> true = kt.models.chain_gu(3)
    >>> motion = kt.identify.exciting_trajectory(true, tries=10)
    >>> q, v, a = motion(motion.times(200))
    >>> guess = kt.identify.with_inertial_parameters(true, 1.3 * kt.identify.inertial_parameters(true))
    >>> found = kt.identify.fit(guess, q, v, a, kt.rnea(true, q, v, a), noise=0.01)
    >>> exact = found.base.values(kt.identify.inertial_parameters(true))
    >>> found.consistent, bool(np.allclose(found.base.values(found.parameters), exact, atol=1e-3))
    (True, True)
    """
    if not prior_deviation > 0.0:
        raise ModelError(f"fit: prior_deviation is {prior_deviation}, expected a number above 0")
    joint_parameters = names("fit: joint_parameters", joint_parameters)
    data = _Data(prior, q, v, a, tau, joint_parameters)
    n, sigma = prior.n_inertial, data.deviations(noise)
    R = data.factor(sigma)
    start = _with_width(inertial_parameters(prior).reshape(-1, 10), prior)
    extra = np.array([x for what in joint_parameters for x in getattr(prior, what)], float)
    x, iterations, converged = minimize(R, start, extra, prior_deviation, progress)
    changes = dict(zip(joint_parameters, x[n:].reshape(len(joint_parameters), prior.nv), strict=True))
    model = with_inertial_parameters(prior, x[:n]).replace(**changes)
    base = by_rank(prior, R[:, :n])
    known = R[:, [*base.columns, *range(n, n + len(extra))]]
    covariance = np.linalg.pinv(known.T @ known)[: base.rank, : base.rank]
    return Identification(
        model, prior, x[:n], base, np.sqrt(covariance.diagonal()), sigma, data.rms(x), iterations, converged
    )


class _Data:
    """The measurements as a linear system: the columns of the unknowns, and the right-hand side."""

    def __init__(self, prior: Model, q, v, a, tau, joint_parameters: tuple[str, ...]) -> None:
        refuse_planar(prior, "fit")
        if prior.constraints or prior.time_dependent:
            reason = "has constraints" if prior.constraints else "depends on time"
            raise UnsupportedError(
                f"fit: model {prior.name!r} {reason}, which fit does not support. kt.surgery.lock holds joints still."
            )
        for what in joint_parameters:
            if what not in JOINT_PARAMETERS:
                raise unknown_name("joint parameter", what, JOINT_PARAMETERS, "fit")
        count = np.shape(q)[0] if np.ndim(q) else 1
        arrays = {"q": (q, prior.nq), "v": (v, prior.nv), "a": (a, prior.nv), "tau": (tau, prior.nv)}
        for name, (x, size) in arrays.items():
            x = np.ascontiguousarray(x, float)
            if x.ndim != 2 or x.shape[1] != size or len(x) != count:
                raise ShapeError(
                    f"fit: {name} has shape {x.shape}, expected ({count}, {size}): one row for each measured state",
                    shape=x.shape,
                )
            if not np.all(np.isfinite(x)):
                raise NonFiniteError(f"fit: {name} of state {int(np.argwhere(~np.isfinite(x))[0][0])} is not finite")
            setattr(self, name, x)
        self.prior, self.joint_parameters = prior, joint_parameters
        self.known = prior.without_limits().replace(**dict.fromkeys(joint_parameters, 0.0))
        self.columns = [(what, k) for what in joint_parameters for k in range(prior.nv)]

    def chunks(self):
        """(A, b) of some states: ``A x = b`` for the inertial parameters and the parameters of the joints in x."""
        pi = inertial_parameters(self.prior)
        for k in range(0, len(self.q), CHUNK):
            q, v, a, tau = (x[k : k + CHUNK] for x in (self.q, self.v, self.a, self.tau))
            Y = joint_torque_regressor(self.known, q, v, a)
            rest = inverse_dynamics(self.known, q, v, a) - Y @ pi
            yield np.concatenate([Y, *(_diagonal(what, v, a) for what in self.joint_parameters)], axis=-1), tau - rest

    def factor(self, sigma: np.ndarray) -> np.ndarray:
        """Triangular factor of ``[A, b] / sigma``, all states stacked."""
        R = np.zeros((0, self.prior.n_inertial + len(self.columns) + 1))
        for A, b in self.chunks():
            rows = np.concatenate([A, b[..., None]], axis=-1) / sigma[:, None]
            R = np.linalg.qr(np.vstack([R, rows.reshape(-1, R.shape[1])]), mode="r")
        return R

    def rms(self, x: np.ndarray) -> np.ndarray:
        """Root mean square of the residuals of these parameters, joint by joint."""
        squares = sum(np.sum((A @ x - b) ** 2, axis=0) for A, b in self.chunks())
        return np.sqrt(squares / len(self.q))

    def deviations(self, noise) -> np.ndarray:
        """Standard deviations of the joint forces, given or estimated."""
        nv = self.prior.nv
        if noise is not None:
            sigma = np.asarray(noise, float)
            if sigma.shape not in ((), (nv,)):
                raise ShapeError(f"fit: noise has shape {sigma.shape}, expected () or ({nv},)", shape=sigma.shape)
            sigma = np.full(nv, sigma)
            if not np.all(sigma > 0.0):
                raise ModelError(f"fit: noise is {noise}, expected standard deviations above 0")
            return sigma
        # Residuals of the best parameters of any kind, more equally weighted each time.
        sigma = np.ones(nv)
        for _ in range(2):
            R = self.factor(sigma)
            x = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=1e-9)[0]
            left = self.rms(x)
            sigma = np.maximum(left, 1e-9 * max(np.abs(self.tau).max(), 1e-9))
        rank = np.linalg.matrix_rank(R[:, :-1], rtol=1e-9)
        return sigma * np.sqrt(self.tau.size / max(self.tau.size - rank, 1))


def _diagonal(what: str, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Joint forces of a unit of a joint parameter, each joint's in a column of its own."""
    if what == "armature":
        unit = a
    else:
        columns = list(v.T)
        law = _LINEAR[what]("", (1.0,) * len(columns))
        unit = np.array(law.dissipative(SimpleNamespace(v=columns))).reshape(len(columns), -1).T * v
    return unit[:, :, None] * np.eye(v.shape[1])


def _with_width(pi: np.ndarray, prior: Model) -> np.ndarray:
    """The prior's parameters; bodies without width, whose pseudo-inertia has no inverse, get a small one."""
    J = pseudo_inertia(pi)
    for i, J_i in enumerate(J):
        if not J_i[3, 3] > 0.0:
            raise ModelError(
                f"fit: body {prior.body_names[i + 1]!r} of the prior has no mass; give it an estimate of the mass",
                body=prior.body_names[i + 1],
            )
        central = J_i[:3, :3] - np.outer(J_i[:3, 3], J_i[:3, 3]) / J_i[3, 3]
        size = max(np.trace(central), 1e-4 * np.trace(J_i[:3, :3]), 1e-9 * J_i[3, 3])
        w, V = np.linalg.eigh(central)
        if w[0] < THIN * size:
            J_i[:3, :3] += (V * (np.maximum(w, THIN * size) - w)) @ V.T
    return from_pseudo_inertia(J)
