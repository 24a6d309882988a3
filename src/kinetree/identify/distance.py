r"""How far a body is from a prior one, whatever the frame and the units.

.. math:: d(\mathcal{J}, \mathcal{J}^0) = \lVert \log (L^{-1} \mathcal{J} L^{-T}) \rVert_F,
          \qquad \mathcal{J}^0 = L L^T,

is the length of the shortest path between two pseudo-inertias among those that a body can have, in the metric that no
change of coordinates changes. What has no mass or no width is infinitely far away.

Source: Lee, Park, "A geometric algorithm for robust multibody inertial parameter identification" (2018).
"""

from __future__ import annotations

import numpy as np

from kinetree.identify.consistency import pseudo_inertia

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

    def residuals(self, pi: np.ndarray) -> np.ndarray:
        """Ten numbers for each body, whose squares add up to the square of its distance [1]; shape (n, 10)."""
        w, V = self._eigen(pi)
        return self._entries((V * np.log(w)[:, None, :]) @ np.swapaxes(V, -1, -2))

    def jacobians(self, pi: np.ndarray) -> np.ndarray:
        """Derivatives of each body's residuals in its parameters, shape (n, 10, 10).

        The derivative of a function of a symmetric matrix by Daleckii and Krein: in the basis of its eigenvectors,
        entry by entry, divided differences of the function times the change of the matrix.
        """
        w, V = self._eigen(pi)
        gap = w[:, :, None] - w[:, None, :]
        middle = 0.5 * (w[:, :, None] + w[:, None, :])
        near = np.abs(gap) < 1e-6 * middle
        slopes = np.where(near, 1.0, np.log(w[:, :, None] / w[:, None, :])) / np.where(near, middle, gap)
        V, Vt = V[:, None], np.swapaxes(V, -1, -2)[:, None]
        changes = V @ (slopes[:, None] * (Vt @ self.units @ V)) @ Vt
        return np.swapaxes(self._entries(changes), -1, -2)

    def _eigen(self, pi):
        return np.linalg.eigh(self.L @ pseudo_inertia(pi) @ np.swapaxes(self.L, -1, -2))

    def _entries(self, D):
        return D[..., _ROWS, _COLUMNS] * _WEIGHT
