"""The minimum of squares that are linear in the parameters plus squared distances from prior bodies."""

from __future__ import annotations

import numpy as np

from kinetree.identify.distance import Distance
from kinetree.simulation.progress import Progress

ITERATIONS = 200  # at most; a dozen is usual
DECREASE = 1e-10  # of the cost, relative: less is the end
SUFFICIENT = 1e-4  # of what the slope promises (Armijo)
SHORTEST = 1e-12  # part of a step


def minimize(R: np.ndarray, start: np.ndarray, joint_parameters: np.ndarray, deviation: float, progress: bool | None):
    """Minimize ``|R [x, -1]|^2 + sum_i d_i^2 / deviation^2`` by Gauss and Newton, inside the set of possible bodies.

    Parameters
    ----------
    R : (rows, n + 1) array
        Triangular factor of the data; the last column is what is to be explained.
    start : (bodies, 10) array
        Possible bodies; distances are from them.
    joint_parameters : (n - 10 bodies,) array
        Further unknowns to begin with, which cannot be negative.
    deviation : float
    progress : bool or None

    Returns
    -------
    x : (n,) array
    iterations : int
    converged : bool

    Notes
    -----
    The data are linear in the parameters, and only the distances are not, so steps are long. One that would leave the
    set is halved until it does not; the distance of what is on the edge of it is infinite.
    """
    distance, x = Distance(start), np.concatenate([start.ravel(), joint_parameters])
    bar = Progress("fitting", ITERATIONS, progress)
    here = _linearized(R, distance, x, start.size, deviation)
    try:
        for iteration in range(1, ITERATIONS + 1):
            r, J = here
            cost = 0.5 * r @ r
            bar.tick(iteration, f"cost {cost:.6g}")
            step = _step(r, J, x, start.size)
            slope, length, ahead = (J.T @ r) @ step, 1.0, None
            while length > SHORTEST:
                trial = x + length * step
                trial[start.size :] = np.maximum(trial[start.size :], 0.0)  # rounding
                ahead = _linearized(R, distance, trial, start.size, deviation)
                if ahead is not None and 0.5 * ahead[0] @ ahead[0] <= cost + SUFFICIENT * length * slope:
                    break
                length, ahead = 0.5 * length, None
            if ahead is None:  # the cost is flat to rounding
                return x, iteration, True
            x, here = trial, ahead
            if cost - 0.5 * here[0] @ here[0] <= DECREASE * cost:
                return x, iteration, True
        return x, ITERATIONS, False
    finally:
        bar.close()


def _linearized(R, distance: Distance, x: np.ndarray, n: int, deviation: float):
    """Residuals and their Jacobian, or None outside of the set."""
    far = distance.residuals(x[:n].reshape(-1, 10))
    if far is None:
        return None
    J = np.zeros((len(R) + n, len(x)))
    J[: len(R)] = R[:, :-1]
    for i, block in enumerate(far[1]):
        part = slice(10 * i, 10 * i + 10)
        J[len(R) :][part, part] = block / deviation
    return np.concatenate([R[:, :-1] @ x - R[:, -1], far[0].ravel() / deviation]), J


def _step(r: np.ndarray, J: np.ndarray, x: np.ndarray, n: int) -> np.ndarray:
    """The step to the minimum of the linearized squares, in which no number of a joint becomes negative."""
    lengths = np.linalg.norm(J, axis=0)
    lengths[lengths == 0.0] = 1.0
    if len(x) == n:
        return np.linalg.lstsq(J / lengths, -r, rcond=None)[0] / lengths
    from scipy.optimize import lsq_linear

    lower = np.full(len(x), -np.inf)
    lower[n:] = -x[n:] * lengths[n:] - np.finfo(float).tiny  # below the upper bound, which SciPy asks for
    return lsq_linear(J / lengths, -r, (lower, np.inf), method="bvls").x / lengths
