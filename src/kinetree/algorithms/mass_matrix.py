"""The mass matrix by a selectable method."""

from __future__ import annotations

from kinetree.algorithms.crba import crba
from kinetree.algorithms.spec import algorithm


@algorithm(
    inputs="q",
    outputs="M",
    methods={"crba": "crba", "jacobians": "mass_matrix_jacobians", "columns": "mass_matrix_columns"},
)
def mass_matrix(model, q, *, method=crba):
    """Mass matrix of the tree.

    Notes
    -----
    Source: Featherstone (2008), table 6.2 (``"crba"``), eq. 6.5-6.11 (``"jacobians"``: the sum of the bodies' inertias,
    each projected by its Jacobian), table 6.1 (``"columns"``: inverse dynamics of unit accelerations).
    Identity: all methods agree; the kinetic energy is ``v @ M @ v / 2``.

    See Also
    --------
    crba, kinetic_energy, inverse_mass_matrix

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.load("arm7")
    >>> M = kt.mass_matrix(arm, arm.neutral())
    >>> bool(np.allclose(M, kt.mass_matrix(arm, arm.neutral(), method="jacobians")))
    True
    """
    return method(model, q)
