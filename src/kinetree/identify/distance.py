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
