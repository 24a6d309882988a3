"""Motions that show the inertial parameters: Fourier series with a well-conditioned regressor."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinetree.arguments import (
    a_count,
    a_model,
    a_positive_number,
    a_seed,
    array,
    checked,
    instance,
    number,
    of_kind,
    progress_bar,
)
from kinetree.compiler.function import compile as compiled
from kinetree.errors import UnsupportedError
from kinetree.identify.base import BaseParameters, base_parameters
from kinetree.model import Model
from kinetree.simulation.progress import Progress

FIRST = 0.5  # of the tries that are independent; the others vary the best one


@dataclass(frozen=True, slots=True, eq=False)
class FourierTrajectory:
    r"""A periodic motion of all joints.

    .. math:: q(t) = q_0 + \sum_l \frac{a_l}{\omega l} \sin(\omega l t) - \frac{b_l}{\omega l} \cos(\omega l t)

    Parameters
    ----------
    period : float
        [s]; omega is 2 pi / period.
    offset : (nv,) array
        q_0 [rad or m].
    sines, cosines : (nv, harmonics) array
        a and b [rad/s or m/s]. All arrays are copied, and read-only.
    condition : float
        Of the regressor that it was chosen for; NaN if it was not.
    """

    period: float
    offset: np.ndarray
    sines: np.ndarray
    cosines: np.ndarray
    condition: float = field(default=float("nan"))

    def __post_init__(self) -> None:
        number("FourierTrajectory: period", self.period, "a positive time in seconds", above=0.0)
        instance("FourierTrajectory: condition", self.condition, (int, float, np.floating), "a number")
        size = (np.shape(self.offset) or (None,))[0]
        harmonics = np.shape(self.sines)[-1] if np.ndim(self.sines) == 2 else None
        shapes = {"offset": (size,), "sines": (size, None), "cosines": (size, harmonics)}
        for name, shape in shapes.items():
            numbers = array(f"FourierTrajectory: {name}", getattr(self, name), shape=shape)  # a copy
            numbers.setflags(write=False)
            object.__setattr__(self, name, numbers)

    def __call__(self, t) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities and accelerations at these times.

        Parameters
        ----------
        t : (...) array
            [s].

        Returns
        -------
        q : (..., nv) array
            [rad or m].
        v : (..., nv) array
            [rad/s or m/s].
        a : (..., nv) array
            [rad/s^2 or m/s^2].
        """
        w = 2.0 * np.pi / self.period * np.arange(1, self.sines.shape[1] + 1)
        angle = np.multiply.outer(array("FourierTrajectory: t", t), w)
        s, c = np.sin(angle), np.cos(angle)
        q = self.offset + s @ (self.sines / w).T - c @ (self.cosines / w).T
        v = c @ self.sines.T + s @ self.cosines.T
        a = c @ (self.cosines * w).T - s @ (self.sines * w).T
        return q, v, a

    @checked(samples=a_count)
    def times(self, samples: int) -> np.ndarray:
        """Evenly spaced times over one period.

        Parameters
        ----------
        samples : int

        Returns
        -------
        (samples,) array
            [s].
        """
        return np.arange(samples) * (self.period / samples)


@checked(
    model=a_model, period=a_positive_number, harmonics=a_count, samples=a_count, tries=a_count, seed=a_seed,
    margin=a_positive_number, speed=a_positive_number, reach=a_positive_number,
    base=of_kind("BaseParameters", "regressor"), progress=progress_bar,
)  # fmt: skip
def exciting_trajectory(
    model: Model,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    samples: int = 100,
    tries: int = 100,
    seed: int = 0,
    margin: float = 0.9,
    speed: float = 2.0,
    reach: float = np.pi,
    base: BaseParameters | None = None,
    progress: bool | None = None,
) -> FourierTrajectory:
    """A motion within the limits of the joints from which the inertial parameters can be found well.

    Parameters
    ----------
    model : Model
        Of joints with as many positions as velocities.
    period : float
        [s].
    harmonics : int
    samples : int
        Per period, for the condition number.
    tries : int
        Number of motions that are compared: half of them random, the others variations of the best one so far.
    seed : int
    margin : float
        The part of the limits of position and velocity that may be used.
    speed, reach : float
        Limits of joints that have none [rad/s or m/s; rad or m].
    base : BaseParameters, optional
        By default ``base_parameters(model)``.
    progress : bool, optional
        Show a bar; by default if stderr is a terminal and the search takes longer than a second.

    Returns
    -------
    FourierTrajectory
        That with the least condition number of the stacked regressor of the base parameters, its columns scaled to
        unit length.

    Raises
    ------
    UnsupportedError
        A joint has no position for each of its velocities.

    Notes
    -----
    Source: Swevers, Ganseman, Tukel, de Schutter, van Brussel, "Optimal robot excitation and identification" (1997).
    Differs: the best of random ones instead of an optimization with constraints; each is scaled to the limits, so all
    of them meet these.

    Examples
    --------
    >>> import kinetree as kt
    >>> motion = kt.identify.exciting_trajectory(kt.models.double_pendulum(), tries=20)
    >>> motion.condition < 20.0
    True
    """
    for i in model.outward():
        if model.joints[i].nq != model.joints[i].nv:
            raise UnsupportedError(
                f"exciting_trajectory: joint {model.joint_name(i)!r} ({model.joints[i]!r}) has nq="
                f"{model.joints[i].nq} and nv={model.joints[i].nv}; a Fourier series needs one position per velocity",
                joint=model.joint_name(i),
            )
    base = base or base_parameters(model)
    regressor = compiled(model, "joint_torque_regressor", checks=False)
    bounds = _bounds(model, margin, speed, reach)
    rng = np.random.default_rng(seed)
    best, best_numbers, bar = None, None, Progress("looking for an exciting motion", tries, progress)
    for k in range(tries):
        numbers = rng.standard_normal((3, model.nv, harmonics))
        if best is not None and k >= FIRST * tries:
            numbers = best_numbers + 0.5 * (1.0 - k / tries) * numbers
        motion = _scaled(numbers, period, bounds)
        condition = _condition(regressor(*motion(motion.times(samples))), base)
        if best is None or condition < best.condition:
            best_numbers = numbers
            best = FourierTrajectory(period, motion.offset, motion.sines, motion.cosines, condition)
        bar.tick(k + 1, f"condition {best.condition:.0f}")
    bar.close()
    return best


def _bounds(model: Model, margin: float, speed: float, reach: float):
    """Middle and half width of the positions, greatest speeds."""
    low, high = np.array(model.lower), np.array(model.upper)
    low, high = (
        np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach, -reach)),
        np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + 2 * reach, reach)),
    )
    fastest = np.where(np.isfinite(model.velocity_limit), model.velocity_limit, speed)
    return 0.5 * (low + high), 0.5 * margin * (high - low), margin * fastest


def _scaled(numbers: np.ndarray, period: float, bounds) -> FourierTrajectory:
    """The motion of these numbers, as large as the bounds allow; the first of the third numbers place its middle."""
    middle, half, fastest = bounds
    raw = FourierTrajectory(period, np.zeros(len(middle)), numbers[0], numbers[1])
    q, v, _ = raw(raw.times(20 * numbers.shape[2]))
    # A tenth less than the bound at the samples of a period, for extremes between them.
    size = 0.9 * np.minimum(half / np.abs(q).max(axis=0), fastest / np.abs(v).max(axis=0))
    room = half - size * np.abs(q).max(axis=0)
    offset = middle + room * np.tanh(numbers[2][:, 0])
    return FourierTrajectory(period, offset, size[:, None] * numbers[0], size[:, None] * numbers[1])


def _condition(Y: np.ndarray, base: BaseParameters) -> float:
    """Condition number of the stacked regressor of the base parameters, columns scaled to unit length."""
    Y = base.regressor(Y).reshape(-1, base.rank)
    gram = Y.T @ Y
    lengths = np.sqrt(gram.diagonal())
    if not np.all(lengths > 0.0):
        return np.inf
    w = np.linalg.eigvalsh(gram / np.outer(lengths, lengths))
    return float(np.sqrt(w[-1] / w[0])) if w[0] > 0.0 else np.inf
