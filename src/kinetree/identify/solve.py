r"""The minimum of squares that are linear in the parameters plus squared distances from prior bodies.

The distance of a body from a prior one, independent of frames and units,

.. math:: d(\mathcal{J}, \mathcal{J}^0) = \lVert \log (L^{-1} \mathcal{J} L^{-T}) \rVert_F,
          \qquad \mathcal{J}^0 = L L^T,

is the length of the shortest path between two pseudo-inertias among those that a body can have, in the metric that no
change of coordinates changes. Bodies without mass or without width are infinitely far away.

Source: Lee, Park, "A geometric algorithm for robust multibody inertial parameter identification" (2018).
"""

from __future__ import annotations

import numpy as np

from kinetree.identify.consistency import pseudo_inertia
from kinetree.simulation.progress import Progress

ITERATIONS = 200  # at most; a dozen is usual
DECREASE = 1e-10  # of the cost, relative: less is the end
SUFFICIENT = 1e-4  # of the decrease by the slope (Armijo)
SHORTEST = 1e-12  # part of a step
_ROWS, _COLUMNS = np.tril_indices(4)
_WEIGHT = np.where(_ROWS == _COLUMNS, 1.0, np.sqrt(2.0))  # the norm counts both triangles
_UNITS = pseudo_inertia(np.eye(10))


class Distance:
    """Distances of some bodies from prior ones, as residuals.

    Parameters
    ----------
    prior : (n, 10) array
        Inertial parameters [kg, kg m, kg m^2].
    """

    def __init__(self, prior: np.ndarray) -> None:
        L = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(prior)))
        self.L = L
        self.units = L[:, None] @ _UNITS @ np.swapaxes(L, -1, -2)[:, None]

    def residuals(self, pi: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Ten numbers for each body, whose squares add up to the square of its distance, and their derivatives.

        Parameters
        ----------
        pi : (n, 10) array
            [kg, kg m, kg m^2].

        Returns
        -------
        residuals : (n, 10) array
            [1].
        jacobians : (n, 10, 10) array
            Derivatives of each body's residuals in its parameters [1 per unit of the parameter]. None instead of both
            if a body is impossible.

        Notes
        -----
        The derivative of a function of a symmetric matrix by Daleckii and Krein: in the basis of its eigenvectors,
        entry by entry, divided differences of the function times the change of the matrix.
        """
        w, V = np.linalg.eigh(self.L @ pseudo_inertia(pi) @ np.swapaxes(self.L, -1, -2))
        if not np.all(w > 0.0):
            return None
        Vt = np.swapaxes(V, -1, -2)
        gap = w[:, :, None] - w[:, None, :]
        middle = 0.5 * (w[:, :, None] + w[:, None, :])
        near = np.abs(gap) < 1e-6 * middle
        slopes = np.where(near, 1.0, np.log(w[:, :, None] / w[:, None, :])) / np.where(near, middle, gap)
        changes = V[:, None] @ (slopes[:, None] * (Vt[:, None] @ self.units @ V[:, None])) @ Vt[:, None]
        return _entries((V * np.log(w)[:, None, :]) @ Vt), np.swapaxes(_entries(changes), -1, -2)


def _entries(D: np.ndarray) -> np.ndarray:
    return D[..., _ROWS, _COLUMNS] * _WEIGHT


def minimize(R: np.ndarray, start: np.ndarray, joint_parameters: np.ndarray, deviation: float, progress: bool | None):
    """Minimize ``|R [x, -1]|^2 + sum_i d_i^2 / deviation^2`` by Gauss and Newton, inside the set of possible bodies.

    Parameters
    ----------
    R : (rows, n + 1) array
        Triangular factor of the data; the last column is the right-hand side.
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
    set is halved until it does not; the distance of a body on its boundary is infinite.
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
    lower[n:] = -x[n:] * lengths[n:] - np.finfo(float).tiny  # below the upper bound, which SciPy requires
    return lsq_linear(J / lengths, -r, (lower, np.inf), method="bvls").x / lengths
