"""The elimination of a joint from an articulated body (Featherstone, table 7.1)."""

from __future__ import annotations

from kinetree.algorithms.factorize import LDL
from kinetree.spatial.scalar import is_zero


class Eliminated:
    """A joint and the articulated body that it moves: their contribution to the parent, and the joint's acceleration.

    Parameters
    ----------
    IA : ArticulatedInertia
        Of the body with all that it supports.
    S : Columns
        The joint's motion subspace, in the same coordinates.
    diagonal, scales : sequence
        Terms on the diagonal of D besides ``S^T U``, such as the armature, and `inertia_scales`.
    couple : Columns, optional
        Added to U: a couple on the body that goes with the joint's acceleration.

    Attributes
    ----------
    U : Columns
        ``U = I^A S``.
    D : LDL
        ``D = S^T U``, factorized.
    """

    __slots__ = ("D", "IA", "S", "U", "bare")

    def __init__(self, IA, S, diagonal, scales, couple=None):
        self.IA, self.S = IA, S
        self.U = IA @ S if couple is None else IA @ S + couple
        self.D = LDL(S.T @ self.U, diagonal, scales)
        self.bare = couple is None and all(is_zero(x) for x in diagonal)

    def inertia(self):
        """``I^a = I^A - U D^-1 U^T``.

        It maps S to zero, exactly so without a diagonal: then its rows and columns along S are structural zeros.
        """
        Ia = self.IA
        for k, (column, reciprocal) in enumerate(self.D.dyads(self.U), 1):
            Ia = Ia.minus_product([column], [column * reciprocal], kernel=self.S[:k] if self.bare else ())
        return Ia

    def force(self, pA, u):
        """``p^a = p^A + U D^-1 u``."""
        return self.U.onto(pA, self.D.solve(u))

    def acceleration(self, u, A):
        """``qdd = D^-1 (u - U^T a')``."""
        return self.D.solve(u - self.U.T @ A)
