"""Factors of the mass matrix with the zeros of the tree, products and solutions, and forward dynamics by them.

The work is done in `kinetree.algorithms.sparse`; here it becomes functions of a model. Factor once, solve often:

>>> import kinetree as kt, numpy as np
>>> arm = kt.load("arm7")
>>> L, D = kt.sparse.ltdl(arm, arm.neutral())
>>> x = kt.sparse.ltdl_solve(arm, L, D, np.eye(arm.nv))  # any number of right-hand sides, here as a batch
>>> bool(np.allclose(x @ kt.crba(arm, arm.neutral()), np.eye(arm.nv), atol=1e-9))
True
"""

from __future__ import annotations

from kinetree.algorithms import sparse
from kinetree.algorithms.crba import crba
from kinetree.algorithms.matrices import minus
from kinetree.algorithms.regularity import inertia_scales
from kinetree.algorithms.rnea import bias_forces
from kinetree.algorithms.spec import algorithm
from kinetree.model.topology import ancestors_of


def above(model):
    """The columns of each row of the lower triangle that can be nonzero for the tree: ancestors, the nearest first."""
    return ancestors_of(model.dof_parent())


@algorithm(
    inputs="q",
    outputs="L",
    symbols={"L": "Lower triangular, its entries square roots of inertias [kg^(1/2) m or kg^(1/2)]."},
    raises="SingularityError",
)
def ltl(model, q):
    """Factor L of the mass matrix ``M = L^T L``, lower triangular with the zeros of the tree.

    Notes
    -----
    Source: Featherstone (2008), table 6.3. The factor of Cholesky for the reversed order of the joints: leaves are
    eliminated first, so that no zero of the tree is filled; ``L L^T`` would fill. Cost in addition to `crba` (table
    6.6): n square roots, D1 divisions and D2 (m + a); ``model.branching()`` has D1 and D2.

    See Also
    --------
    ltl_solve, ltdl, ltl_factorize

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.double_pendulum()
    >>> L = kt.sparse.ltl(arm, [0.1, -0.4])
    >>> bool(np.allclose(L.T @ L, kt.crba(arm, [0.1, -0.4])))
    True
    """
    return sparse.ltl_factors(crba(model, q), above(model), inertia_scales(model))


@algorithm(
    inputs="q",
    outputs="L D",
    symbols={
        "L": "Unit lower triangular [1, or m and 1/m between sliding and turning joints].",
        "D": "The diagonal of D [kg m^2 or kg], positive: the articulated inertia of the subtree about its joint.",
    },
    raises="SingularityError",
)
def ltdl(model, q):
    """Factors L and D of the mass matrix ``M = L^T D L``, L with a unit diagonal and the zeros of the tree.

    Notes
    -----
    Source: Featherstone (2008), table 6.3. Cost in addition to `crba` (table 6.6): D1 divisions and D2 (m + a);
    compiled, n divisions and D1 products with their results. Identity: D of a leaf is `aba`'s ``S^T I^A S``.

    See Also
    --------
    ltdl_solve, ltl, ltdl_factorize

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.double_pendulum()
    >>> L, D = kt.sparse.ltdl(arm, [0.1, -0.4])
    >>> bool(np.allclose(L.T @ np.diag(D) @ L, kt.crba(arm, [0.1, -0.4])))
    True
    """
    return sparse.ltdl_factors(crba(model, q), above(model), inertia_scales(model))


@algorithm(
    inputs="M",
    outputs="L",
    symbols={
        "M": "Symmetric and positive definite [kg m^2, kg m or kg]; only the lower triangle within "
        "``model.mass_matrix_pattern()`` is read.",
        "L": "Lower triangular [square root of the unit of M].",
        "SingularityError": "M is not positive definite, to working precision.",
    },
    raises="SingularityError",
)
def ltl_factorize(model, M):
    """Factor L of any matrix ``M = L^T L`` with the zeros of the model's tree, such as ``M + h D + h^2 K``.

    Notes
    -----
    Source: Featherstone (2008), table 6.3. Identity: ``ltl(q) = ltl_factorize(crba(q))``.
    """
    return sparse.ltl_factors(M, above(model))


@algorithm(
    inputs="M",
    outputs="L D",
    symbols={
        "M": "Symmetric and positive definite [kg m^2, kg m or kg]; only the lower triangle within "
        "``model.mass_matrix_pattern()`` is read.",
        "L": "Unit lower triangular [1].",
        "D": "The diagonal of D [as M]; not all positive if M is not positive definite.",
        "SingularityError": "A pivot is zero to working precision.",
    },
    raises="SingularityError",
)
def ltdl_factorize(model, M):
    """Factors L and D of any matrix ``M = L^T D L`` with the zeros of the model's tree, such as ``M + h D + h^2 K``.

    Notes
    -----
    Source: Featherstone (2008), table 6.3. Identity: ``ltdl(q) = ltdl_factorize(crba(q))``.
    """
    return sparse.ltdl_factors(M, above(model))


@algorithm(
    inputs="L b",
    outputs="x",
    symbols={
        "L": "From `ltl` or `ltl_factorize` [square root of the unit of M].",
        "b": "; a batch of them may share one L.",
        "x": "``M^-1 b`` [rad/s^2 or m/s^2].",
    },
)
def ltl_solve(model, L, b):
    """Solve ``M x = b`` by the factor of ``M = L^T L``.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost (table 6.6): 2 n divisions and 2 D1 (m + a).
    """
    return sparse.solve_ltl(L, b, above(model))


@algorithm(
    inputs="L D b",
    outputs="x",
    symbols={
        "L": "From `ltdl` or `ltdl_factorize` [1]; its diagonal is not read.",
        "b": "; a batch of them may share one L and D.",
        "x": "``M^-1 b`` [rad/s^2 or m/s^2].",
    },
)
def ltdl_solve(model, L, D, b):
    """Solve ``M x = b`` by the factors of ``M = L^T D L``.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost (table 6.6): n divisions and 2 D1 (m + a).
    """
    return sparse.solve_ltdl(L, D, b, above(model))


@algorithm(
    inputs="L x",
    outputs={"y": "nv"},
    symbols={"y": "``L x`` [for `ltl`: kg^(1/2) m/s, whose squares add up to twice the kinetic energy]."},
)
def lower_product(model, L, x):
    """Product ``L x`` with a lower factor of the mass matrix.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost (table 6.6): n m + D1 (m + a).
    """
    return sparse.times_lower(L, x, above(model))


@algorithm(
    inputs="L x",
    outputs={"y": "nv"},
    symbols={
        "x": "Any vector, for `ltl` of the kind that `lower_product` gives [kg^(1/2) m/s].",
        "y": "``L^T x`` [N m s or N s].",
    },
)
def lower_transpose_product(model, L, x):
    """Product ``L^T x`` with a transposed lower factor of the mass matrix.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost (table 6.6): n m + D1 (m + a).
    """
    return sparse.times_lower_transpose(L, x, above(model))


@algorithm(
    inputs="M x",
    outputs={"y": "nv"},
    symbols={
        "M": "Symmetric [kg m^2, kg m or kg]; only the lower triangle within ``model.mass_matrix_pattern()`` is read.",
        "y": "``M x`` [N m s or N s].",
    },
)
def symmetric_product(model, M, x):
    """Product ``M x`` with the mass matrix, or another matrix with the zeros of the model's tree.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost (table 6.6): n m + 2 D1 (m + a). Without M: `inertial_forces`.
    """
    return sparse.times_symmetric(M, x, above(model))


@algorithm(inputs="L b", outputs="x", symbols={"b": "Right-hand side [as ``L x``].", "x": "``L^-1 b`` [rad/s or m/s]."})
def lower_solve(model, L, b):
    """Solve ``L x = b`` with a lower factor of the mass matrix.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost (table 6.6): n divisions and D1 (m + a).
    """
    return sparse.solve_lower(L, b, above(model))


@algorithm(inputs="L b", outputs="x", symbols={"x": "``L^-T b`` [for `ltl`: N m or N per kg^(1/2) m or kg^(1/2)]."})
def lower_transpose_solve(model, L, b):
    """Solve ``L^T x = b`` with a transposed lower factor of the mass matrix.

    Notes
    -----
    Source: Featherstone (2008), table 6.5. Cost (table 6.6): n divisions and D1 (m + a). A whitening map:
    ``b . M^-1 b`` is the squared length of ``L^-T b``.
    """
    return sparse.solve_lower_transpose(L, b, above(model))


@algorithm(inputs="q v tau", optional="f_ext", outputs="a", raises="SingularityError")
def forward_dynamics_crba(model, q, v, tau, f_ext=None):
    r"""Forward dynamics of the bare tree by its mass matrix: bias forces, `crba`, and a sparse factorization.

    .. math:: M(q)\, a = \tau - c(q, v, f^x)

    Notes
    -----
    Source: Featherstone (2008), eq. 6.1 and section 6.1, with tables 6.2, 6.3 and 6.5. As `aba` it takes the tree
    alone; `forward_dynamics` is the complete one. Cost: O(n d^2), d the depth of the tree; at or below `aba` for arms
    and for well-branched trees.
    Identity: equals `aba`.

    See Also
    --------
    aba, forward_dynamics, ltdl

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm, q, v, tau = kt.models.puma_like(), np.full(6, 0.3), np.ones(6), np.zeros(6)
    >>> bool(np.allclose(kt.dynamics.forward_dynamics_crba(arm, q, v, tau), kt.aba(arm, q, v, tau), rtol=1e-9))
    True
    """
    c, rows = bias_forces(model, q, v, f_ext), above(model)
    L, D = sparse.ltdl_factors(crba(model, q), rows, inertia_scales(model))
    return sparse.solve_ltdl(L, D, minus(tau, c), rows)
