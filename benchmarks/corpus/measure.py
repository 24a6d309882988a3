"""How far two engines are apart: errors that do not depend on units, over random states.

Every coordinate is divided by the square root of its diagonal entry of M, so that M has a unit diagonal and a joint of
a finger counts as much as that of a hip. With D = diag(sqrt(M_kk)) of the rival: M is compared as D^-1 M D^-1, forces
as D^-1 tau and accelerations as D a, each relative to the largest entry of the rival's. Bias forces that vanish are
measured by the force that accelerates the lightest joint by 1 rad/s^2 or m/s^2.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import NamedTuple, Protocol

import numpy as np

STATES = 6
SEED = 20080101
WIDEST = 10.0  # [rad or m] ranges beyond this are cut, lest sin(1e10) measure the rounding of angles
TOLERANCE = 1e-9
SINGULAR = 1e15  # a condition number beyond it leaves no digit of an acceleration


class Rival(Protocol):
    """Another engine's answers for one state, in kinetree's coordinates."""

    name: str

    def crba(self, q): ...

    def bias(self, q, v): ...

    def aba(self, q, v, tau): ...


class Errors(NamedTuple):
    """Largest relative errors over all states."""

    M: float
    bias: float
    acceleration: float
    residual: float  # of M a = tau - bias with the rival's M and bias: the backward error of our acceleration
    condition: float  # of the scaled M, the largest

    @property
    def agree(self) -> bool:
        """Whether everything is within `TOLERANCE`; an acceleration may prove itself by its residual."""
        # Written so that a NaN disagrees.
        return (
            self.M <= TOLERANCE and self.bias <= TOLERANCE and (self.singular or self.acceleration_error <= TOLERANCE)
        )

    @property
    def acceleration_error(self) -> float:
        """The smaller of the two errors of the acceleration."""
        return float(np.minimum(self.acceleration, self.residual))

    @property
    def singular(self) -> bool:
        """Whether M has no inverse to speak of, so that accelerations are undefined and not compared."""
        return self.condition > SINGULAR

    def worse(self, other: Errors) -> Errors:
        """The larger error of two, entry by entry; NaN is the largest."""
        return Errors(*(float(np.maximum(*pair)) for pair in zip(self, other, strict=True)))


NOTHING_MOVES = Errors(0.0, 0.0, 0.0, 0.0, 1.0)


def random_states(model, rng: np.random.Generator, size: int = STATES):
    """Positions (size, nq) uniform within limits, velocities and accelerations (size, nv), standard normal."""
    q = np.empty((size, model.nq))
    for n in range(size):
        q[n] = model.random_q(rng)
    for i in model.outward():
        joint, here, k = model.joints[i], model.q_slice[i], model.v_slice[i]
        if joint.nq == joint.nv:
            low, high = np.clip(model.lower[k], -WIDEST, WIDEST), np.clip(model.upper[k], -WIDEST, WIDEST)
            wide = (model.lower[k] < -WIDEST) & np.isfinite(model.lower[k])
            wide |= (model.upper[k] > WIDEST) & np.isfinite(model.upper[k])
            if wide.any():
                q[:, here] = np.where(wide, rng.uniform(low, high, (size, joint.nq)), q[:, here])
    v, a = rng.standard_normal((2, size, model.nv))
    return q, v, a


def compare(kt, model, rival: Rival, compiled: bool = False) -> Errors:
    """Errors of crba, rnea with zero acceleration, and aba.

    Parameters
    ----------
    kt : module
        kinetree.
    model : Model
    rival : Rival
        Of the same robot.
    compiled : bool
        False: the source is evaluated on NumPy arrays, one entry per state; compiling hundreds of models would take
        longer than all else.
    """
    if model.nv == 0:
        return NOTHING_MOVES
    q, v, a = random_states(model, np.random.default_rng(SEED))
    Ms = np.array([rival.crba(x) for x in q])
    biases = np.array([rival.bias(*state) for state in zip(q, v, strict=True)])
    # The forces that give accelerations of order one to every joint, whatever it moves.
    taus = np.einsum("nij,nj->ni", Ms, a) + biases
    references = np.array([rival.aba(*state) for state in zip(q, v, taus, strict=True)])
    with nullcontext() if compiled else kt.interpreted():
        ours = kt.crba(model, q), kt.rnea(model, q, v, 0.0 * v), _accelerations(kt, model, q, v, taus)
    worst = Errors(0.0, 0.0, 0.0, 0.0, 1.0)
    with np.errstate(invalid="ignore"):  # where M is singular
        for M, b, x, M_r, b_r, x_r, tau in zip(*ours, Ms, biases, references, taus, strict=True):
            worst = worst.worse(_errors(M, b, x, M_r, b_r, x_r, tau))
    return worst


def _accelerations(kt, model, q, v, taus) -> np.ndarray:
    """Accelerations of all states; none where M is singular in one of them."""
    try:
        return kt.aba(model, q, v, taus)
    except kt.errors.SingularityError:
        return np.full_like(taus, np.nan)


def _errors(M, b, a, M_r, b_r, a_r, tau) -> Errors:
    D = np.sqrt(np.abs(np.diag(M_r)))
    D = np.where(D > 0.0, D, 1.0)
    scaled = M_r / D / D[:, None]
    residual = M_r @ a - (tau - b_r)
    size = np.abs(scaled) @ np.abs(D * a) + (np.abs(tau) + np.abs(b_r)) / D
    return Errors(
        relative((M - M_r) / D / D[:, None], scaled),
        relative((b - b_r) / D, b_r / D, least=D.min()),
        relative(D * (a - a_r), D * a_r),
        relative(residual / D, size),
        float(np.linalg.cond(scaled)) if np.isfinite(scaled).all() else np.nan,
    )


def relative(difference: np.ndarray, reference: np.ndarray, least: float = 0.0) -> float:
    """The largest entry of a difference relative to the largest of the reference, at least ``least``; 0 for 0 to 0."""
    error, size = np.abs(difference).max(initial=0.0), np.abs(reference).max(initial=least)
    if error == 0.0:
        return 0.0
    return float(error / size) if size > 0.0 else float(error)
