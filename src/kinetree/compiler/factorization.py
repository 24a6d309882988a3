"""A factorized mass matrix: articulated bodies once for a position, then many right-hand sides in O(n) each."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.calls import plain_call
from kinetree.errors import ShapeError

_factors = plain_call(ALGORITHMS["articulated_factorization"])
_solve = plain_call(ALGORITHMS["articulated_solve"])


class Factorization:
    """The joint-space inertia matrix of a model, factorized at one position or a batch of them; see `factorize`.

    Attributes
    ----------
    model : Model
    factors : tuple
        r, S, K and D_inv as `articulated_factorization` gives them, read-only.
    """

    __slots__ = ("factors", "model")

    def __init__(self, model, factors) -> None:
        self.model, self.factors = model, factors
        for x in factors:
            x.setflags(write=False)  # every later solution depends on them

    def solve(self, x, *, out=None):
        """``(M + J^T B J + diag(d))^-1 x``, in O(n) for each right-hand side.

        Parameters
        ----------
        x : (..., nv) array
            Right-hand sides [N m or N, or N m s or N s]: one for each position, ``(*batch, nv)``, or m for each,
            ``(*batch, m, nv)``; for a single position any leading axes.
        out : array, optional
            Filled with the result and returned.

        Returns
        -------
        y : (..., nv) array
            Shaped as x [rad/s^2 or m/s^2, or rad/s or m/s].

        Raises
        ------
        ShapeError
            The leading axes of x are neither those of q nor these and one more.

        Notes
        -----
        Source: Featherstone (2008), table 7.1; Sueda, algorithm 10: see `articulated_solve`.
        """
        batch, x = self.factors[-1].shape[:-1], np.asarray(x)
        if not batch or x.shape[:-1] == batch:
            return _solve(self.model, *self.factors, x, out=out)
        if x.shape[: len(batch)] != batch or x.ndim != len(batch) + 2:
            raise ShapeError(
                f"solve: x has shape {x.shape}, expected {(*batch, self.model.nv)} or {(*batch, 'm', self.model.nv)}: "
                f"the model {self.model.name!r} was factorized at positions with leading axes {batch}.",
                found=x.shape,
                expected=(*batch, self.model.nv),
            )
        r, S, K, D_inv = self.factors
        row = (..., None, slice(None), slice(None))
        return _solve(self.model, r[row], S[row], K[row], D_inv[..., None, :], x, out=out)

    def log_determinant(self):
        """The logarithm of the determinant of the factorized matrix, a number for each position.

        Returns
        -------
        (...) array
            [log of the product of the units of M's diagonal].

        Notes
        -----
        Source: M is a product of triangular matrices with unit diagonals and of D (Rodriguez and Jain).
        """
        return -np.log(self.factors[-1]).sum(axis=-1)

    def __repr__(self) -> str:
        batch = self.factors[-1].shape[:-1]
        return f"<Factorization of M of {self.model.name!r}, nv={self.model.nv}{f', batch {batch}' if batch else ''}>"


def factorize(model, q, diagonal=None, body_terms=None) -> Factorization:
    r"""Factorize the joint-space inertia matrix at a position, for many right-hand sides.

    .. math:: M(q) + J^T \mathrm{blkdiag}(B)\, J + \mathrm{diag}(d)

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    diagonal : (..., nv) array, optional
        Added to the diagonal of M [kg m^2 or kg]: ``h D + h^2 K`` of the dampers and springs of the joints in a
        linearly implicit step. The sum must be positive definite.
    body_terms : (..., nb, 6, 6) array, optional
        B, added to the inertia of each body [kg m^2, kg m and kg], in its coordinates: ``h D + h^2 K`` of damping and
        stiffness that act on the body, without the parts that couple it to others. The symmetric part is taken; row 0
        is not used.

    Returns
    -------
    Factorization
        ``factorization.solve(x)``.

    Raises
    ------
    ShapeError, NonFiniteError, QuaternionError
    SingularityError
        The sum is not positive definite, or joints move no mass at q.

    Notes
    -----
    Source: Featherstone (2008), table 7.1; Sueda, algorithm 10. Differs: the added terms of joints are diagonal, one
    for each velocity. Cost: O(n) for the factorization, a little more than one `inverse_mass_product`, and O(n) for
    every solution, 60 to 70 operations per velocity; a product with a dense M^-1 takes 2 n of them. With damping and
    springs inside the joints, or between bodies and the world, the solution is that of the implicit step; otherwise it
    is a preconditioner for it.

    See Also
    --------
    inverse_mass_product : one right-hand side.
    inverse_mass_matrix : the dense inverse, for small models.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.load("arm7")
    >>> factorization = kt.dynamics.factorize(arm, arm.neutral())
    >>> x = np.eye(arm.nv)  # nine right-hand sides
    >>> bool(np.allclose(factorization.solve(x) @ kt.crba(arm, arm.neutral()), x))
    True
    """
    given = {"diagonal": diagonal, "body_terms": body_terms}
    factors = _factors(model, q, **{name: x for name, x in given.items() if x is not None})
    return Factorization(model, tuple(factors))
