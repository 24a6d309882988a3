"""Base parameters: the combinations of inertial parameters on which the joint forces depend, by numerical rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_model, a_positive_number, a_seed, array, checked
from kinetree.compiler.calls import plain_call
from kinetree.compiler.interpret import interpreted
from kinetree.errors import ModelError
from kinetree.model import Model

joint_torque_regressor = plain_call(ALGORITHMS["joint_torque_regressor"])

CHUNK = 256  # states whose regressors are in memory at a time
TOLERANCE = 1e-9
SAFE_GAP = 1e3  # least ratio of the columns taken for independent to those taken for dependent


@dataclass(frozen=True, slots=True, eq=False)
class BaseParameters:
    """The combinations of inertial parameters that the joint forces of a model depend on.

    Parameters
    ----------
    labels : tuple of str
        Names of all inertial parameters.
    columns : tuple of int
        Parameters that stand for themselves, one in each combination.
    matrix : (rank, 10 (nb - 1)) array
        From all parameters to the combinations [1, or powers of m]; the unit matrix in ``columns``.
    unidentifiable : tuple of str
        Parameters in no combination: the joint forces do not depend on them.
    smallest_kept, largest_dropped : float
        Distance of the least independent column from the span of those before it, and of the most independent one of
        those that were taken for dependent, relative to their lengths.
    """

    labels: tuple[str, ...] = field(repr=False)
    columns: tuple[int, ...]
    matrix: np.ndarray = field(repr=False)
    unidentifiable: tuple[str, ...]
    smallest_kept: float
    largest_dropped: float

    @property
    def rank(self) -> int:
        """Number of combinations."""
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that stand for the combinations."""
        return tuple(self.labels[k] for k in self.columns)

    @property
    def combinations(self) -> tuple[str, ...]:
        """The combinations as text: "upper.h.z - lower.mass"."""
        return tuple(_text(row, own, self.labels) for row, own in zip(self.matrix, self.columns, strict=True))

    def values(self, pi) -> np.ndarray:
        """The combinations of these parameters.

        Parameters
        ----------
        pi : (..., 10 (nb - 1)) array
            [kg, kg m, kg m^2].

        Returns
        -------
        (..., rank) array
            Each in the unit of the parameter that stands for it [kg, kg m or kg m^2].
        """
        return array("values: pi", pi, shape=(..., len(self.labels))) @ self.matrix.T

    def regressor(self, Y) -> np.ndarray:
        """The columns of a regressor that belong to the combinations.

        Parameters
        ----------
        Y : (..., 10 (nb - 1)) array
            ``joint_torque_regressor`` [N m or N, per unit of the parameter].

        Returns
        -------
        (..., rank) array
            With ``Y @ pi = regressor(Y) @ values(pi)`` [as Y].
        """
        array("regressor: Y", Y, shape=(..., len(self.labels)))
        return np.asarray(Y)[..., list(self.columns)]

    def __str__(self) -> str:
        lines = [f"{self.rank} combinations of {len(self.labels)} inertial parameters matter"]
        lines += [f"  {text}" for text in self.combinations]
        if self.unidentifiable:
            lines.append(f"without influence: {', '.join(self.unidentifiable)}")
        if self.smallest_kept < SAFE_GAP * self.largest_dropped:
            lines.append(
                f"the number is uncertain: {self.smallest_kept:.1e} counts as independent, {self.largest_dropped:.1e} "
                "as dependent"
            )
        return "\n".join(lines)


@checked(model=a_model, seed=a_seed, tolerance=a_positive_number)
def base_parameters(
    model: Model, q=None, v=None, a=None, *, seed: int = 0, tolerance: float = TOLERANCE
) -> BaseParameters:
    """The combinations of inertial parameters that the joint forces depend on, found by numerical rank.

    Parameters
    ----------
    model : Model
        Its numbers except the inertias take part: offsets and gravity.
    q : (N, nq) array, optional
        Positions of the states whose regressors are stacked [rad or m]; random ones by default, limits and couplings
        left aside. With given states, the combinations are those that these states determine.
    v : (N, nv) array, optional
        Velocities [rad/s or m/s].
    a : (N, nv) array, optional
        Accelerations [rad/s^2 or m/s^2].
    seed : int
        Of the random states.
    tolerance : float
        A column of the regressor depends on others if it is no farther from their span, relative to its length.

    Returns
    -------
    BaseParameters

    Raises
    ------
    ModelError
        Some of q, v and a are given and others are not.

    Notes
    -----
    Source: Gautier, "Numerical calculation of the base inertial parameters of robots" (1991): orthogonal factors of
    stacked regressors. Differs: columns are taken from the root outwards, and one that depends on those before it is
    left out, so regroupable parts of a body go to the parent, as in the symbolic rules of Khalil (a
    revolute joint about z loses m, m c_z and I_yy). All joint forces are taken as measured.

    Identity: ``rank = kt.surgery.base_parameter_count(model)`` for a floating base.

    Examples
    --------
    >>> import kinetree as kt
    >>> print(kt.identify.base_parameters(kt.models.double_pendulum()))
    6 combinations of 20 inertial parameters matter
      upper.h.x
      upper.h.z - lower.mass
      upper.I.yy + lower.mass
      lower.h.x
      lower.h.z
      lower.I.yy
    without influence: upper.mass, upper.h.y, upper.I.xx, ...
    """
    if len({x is None for x in (q, v, a)}) != 1:
        raise ModelError("base_parameters: give all of q, v and a, or none of them")
    if q is None:
        q, v, a, t = _random_states(model, seed)
    else:
        q, v, a = (np.atleast_2d(np.asarray(x, float)) for x in (q, v, a))
        t = np.zeros(len(q))
    return by_rank(model, stacked_factor(model, q, v, a, t), tolerance)


def stacked_factor(model: Model, q, v, a, t) -> np.ndarray:
    """The triangular factor R of the stacked regressors, which has their column space: ``Y^T Y = R^T R``."""
    R = np.zeros((0, model.n_inertial))
    for k in range(0, len(q), CHUNK):
        part = slice(k, k + CHUNK)
        times = {"t": t[part]} if model.time_dependent else {}
        with interpreted():
            Y = joint_torque_regressor(model, q[part], v[part], a[part], **times)
        R = np.linalg.qr(np.vstack([R, Y.reshape(-1, model.n_inertial)]), mode="r")
    return R


def _random_states(model: Model, seed: int):
    rng = np.random.default_rng(seed)
    count = 10 + ceil(3 * model.n_inertial / max(model.nv, 1))
    q = np.array([[x for i in model.outward() for x in model.joints[i].random(rng)] for _ in range(count)], float)
    return q.reshape(count, model.nq), *rng.standard_normal((2, count, model.nv)), rng.uniform(0.0, 10.0, count)


def by_rank(model: Model, R: np.ndarray, tolerance: float = TOLERANCE) -> BaseParameters:
    """The independent columns of a stacked regressor, or of its triangular factor, and the dependent ones."""
    labels, n = model.inertial_labels, model.n_inertial
    lengths = np.linalg.norm(R, axis=0)
    # Lengths of columns differ by their units; one that is rounding alone is zero.
    present = lengths > 1e-12 * lengths.max(initial=0.0)
    unit = R / np.where(present, lengths, 1.0)
    basis = np.zeros((len(R), 0))
    kept, smallest, largest = [], 1.0, 0.0
    for k in np.flatnonzero(present):
        rest = unit[:, k] - basis @ (basis.T @ unit[:, k])
        rest -= basis @ (basis.T @ rest)  # twice is enough (Kahan)
        distance = float(np.linalg.norm(rest))
        if distance > tolerance:
            kept.append(int(k))
            basis = np.column_stack([basis, rest / distance])
            smallest = min(smallest, distance)
        else:
            largest = max(largest, distance)
    matrix = np.zeros((len(kept), n))
    if kept:
        combined = np.linalg.lstsq(unit[:, kept], unit, rcond=None)[0]
        combined[np.abs(combined) < 1e-7] = 0.0
        matrix = combined * np.where(present, lengths, 0.0) / lengths[kept][:, None]
        matrix[:, kept] = np.eye(len(kept))
    matrix.setflags(write=False)
    unidentifiable = tuple(labels[k] for k in np.flatnonzero(~present))
    return BaseParameters(labels, tuple(kept), matrix, unidentifiable, smallest, largest)


def _text(row: np.ndarray, own: int, labels: tuple[str, ...]) -> str:
    text = labels[own]
    for k in np.flatnonzero(row):
        if k != own:
            size = f"{abs(row[k]):.6g}"
            text += f" {'-' if row[k] < 0.0 else '+'} {'' if size == '1' else size + ' '}{labels[k]}"
    return text
