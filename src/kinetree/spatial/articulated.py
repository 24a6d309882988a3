"""The inertia of an articulated body: 21 numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion, by_columns
from kinetree.spatial.vectors import Entrywise, Matrix3, Symmetric3, Vector3, assemble, refuse, writers


class ArticulatedInertia(Entrywise):
    """Apparent inertia of a body that is part of a mechanism: a symmetric map from motions to forces.

    Parameters
    ----------
    M : Symmetric3
        Maps linear motion to force [kg].
    H : Matrix3
        Maps linear motion to moment [kg m].
    I : Symmetric3
        Maps angular motion to moment [kg m^2].

    Notes
    -----
    As a matrix, ``[[I, H], [H^T, M]]`` (Featherstone, table A.3).
    """

    __slots__ = ("M", "H", "I")
    MAPS = "Motion"

    def __init__(self, M: Symmetric3, H: Matrix3, I: Symmetric3):
        _inertia_M(self, M)
        _inertia_H(self, H)
        _inertia_I(self, I)

    @classmethod
    def of(cls, inertia: Inertia) -> ArticulatedInertia:
        """The inertia of a rigid body as that of an articulated one."""
        if inertia.__class__ is cls:
            return inertia
        m = inertia.m
        return cls(Symmetric3(m, 0.0, m, 0.0, 0.0, m), Matrix3.cross(inertia.h), inertia.I)

    @classmethod
    def symmetric_part(cls, rows) -> ArticulatedInertia:
        """That of a 6x6 matrix given by its rows."""
        half = [[0.5 * (rows[r][c] + rows[c][r]) for c in range(6)] for r in range(6)]
        M, I = ([half[r][c] for r in three for c in three if c <= r] for three in (range(3, 6), range(3)))
        return cls(Symmetric3(*M), Matrix3(tuple(tuple(row[3:]) for row in half[:3])), Symmetric3(*I))

    @classmethod
    def zero(cls) -> ArticulatedInertia:
        """The zero inertia, with structural zeros."""
        return cls(Symmetric3.zero(), Matrix3.zero(), Symmetric3.zero())

    def __add__(self, other):
        if other.__class__ is ArticulatedInertia:
            return ArticulatedInertia(self.M + other.M, self.H + other.H, self.I + other.I)
        if other.__class__ is Inertia:
            return self.plus_rigid(other)
        raise refuse(self, "+", other, "ArticulatedInertia + ArticulatedInertia, ArticulatedInertia + Inertia")

    def plus_rigid(self, body: Inertia) -> ArticulatedInertia:
        """The sum with a rigid body's inertia (15a)."""
        M, h, m = self.M, body.h, body.m
        (a, b, c), (d, e, f), (g, k, l) = self.H.rows
        return ArticulatedInertia(
            Symmetric3(M.xx + m, M.xy, M.yy + m, M.xz, M.yz, M.zz + m),
            Matrix3(((a, b - h.z, c + h.y), (d + h.z, e, f - h.x), (g - h.y, k + h.x, l))),
            self.I + body.I,
        )

    def __matmul__(self, motion: Motion) -> Force:
        """``I^A v = (I w + H v, M v + H^T w)`` (36m + 30a; Featherstone table A.4)."""
        if motion.__class__ is not Motion:
            return by_columns(self.__matmul__, self, "@", motion, "ArticulatedInertia @ Motion -> Force", Force)
        w, v = motion.angular, motion.linear
        return Force(self.I @ w + self.H @ v, self.M @ v + self.H.T @ w)

    def minus_dyad(self, U: Force, scale, kernel: Motion | None = None) -> ArticulatedInertia:
        """``I^A - scale U U^T`` (27m + 21a).

        Parameters
        ----------
        U : Force
        scale : scalar
        kernel : Motion, optional
            A motion that the result maps to zero. If it is a coordinate vector (one structural 1.0), its
            row and column become structural zeros, and all that follows is cheaper (Featherstone, section A.4).

        Returns
        -------
        ArticulatedInertia
        """
        return self._minus([(U, U * scale)], () if kernel is None else (kernel,))

    def minus_product(
        self, U: Sequence[Force], Y: Sequence[Force], kernel: Sequence[Motion] = ()
    ) -> ArticulatedInertia:
        """``I^A - U Y^T`` for a symmetric U Y^T (21m + 21a per column).

        Parameters
        ----------
        U, Y : sequence of Force
            The columns; in the articulated-body algorithm ``Y = U D^-1``.
        kernel : sequence of Motion, optional
            Motions that the result maps to zero, as in :meth:`minus_dyad`.

        Returns
        -------
        ArticulatedInertia
        """
        return self._minus(list(zip(U, Y, strict=True)), kernel)

    def _minus(self, pairs, kernel):
        null = [k for k in (_coordinate(motion) for motion in kernel) if k is not None]
        M, H, I = list(self.M), [list(row) for row in self.H.rows], list(self.I)
        for U, Y in pairs:
            u, y = list(U), list(Y)
            for n, (i, j) in enumerate(_LOWER):
                if i not in null and j not in null:
                    I[n] = I[n] - u[i] * y[j]
                if i + 3 not in null and j + 3 not in null:
                    M[n] = M[n] - u[i + 3] * y[j + 3]
            for i in range(3):
                for j in range(3):
                    if i not in null and j + 3 not in null:
                        H[i][j] = H[i][j] - u[i] * y[j + 3]
        if null:
            I = [0.0 if i in null or j in null else x for x, (i, j) in zip(I, _LOWER, strict=True)]
            M = [0.0 if i + 3 in null or j + 3 in null else x for x, (i, j) in zip(M, _LOWER, strict=True)]
            H = [[0.0 if i in null or j + 3 in null else H[i][j] for j in range(3)] for i in range(3)]
        return ArticulatedInertia(Symmetric3(*M), Matrix3((tuple(H[0]), tuple(H[1]), tuple(H[2]))), Symmetric3(*I))

    def matrix(self) -> np.ndarray:
        """The 6x6 matrix, shape (..., 6, 6)."""
        top = [(*I, *H) for I, H in zip(self.I.matrix.rows, self.H.rows, strict=True)]
        bottom = [(*H, *M) for H, M in zip(self.H.T.rows, self.M.matrix.rows, strict=True)]
        return assemble(top + bottom)

    def shifted(self, r: Vector3) -> ArticulatedInertia:
        """The same inertia about the point ``r`` [m].

        Notes
        -----
        ``Y = H - r x M``, ``Z = I - r x H^T + Y (r x)`` (Featherstone, table A.4). Terms of Z that share a component of
        r are added before they are multiplied: 30m + 42a, nine multiplications less than term by term.
        """
        rM = self.M.skew_product(r)
        Y = self.H - rM
        (H11, H12, H13), (H21, H22, H23), (H31, H32, _) = self.H.rows
        (_, Y12, Y13), (Y21, Y22, Y23), (Y31, Y32, Y33) = Y.rows
        I, x, y, z = self.I, r.x, r.y, r.z
        Z = Symmetric3(
            I.xx + z * (H12 + Y12) - y * (H13 + Y13),
            I.xy + z * (Y22 - H11) - y * Y23 + x * H13,
            I.yy - z * (H21 + Y21) + x * (H23 + Y23),
            I.xz + z * Y32 - y * (Y33 - H11) - x * H12,
            I.yz - z * Y31 + x * (Y33 - H22) + y * H21,
            I.zz + y * (H31 + Y31) - x * (H32 + Y32),
        )
        return ArticulatedInertia(self.M, Y, Z)

    def rotated(self, E) -> ArticulatedInertia:
        """``(E M E^T, E H E^T, E I E^T)``."""
        return ArticulatedInertia(E.congruence(self.M), E.similarity(self.H), E.congruence(self.I))

    def unrotated(self, E) -> ArticulatedInertia:
        """``(E^T M E, E^T H E, E^T I E)``."""
        return ArticulatedInertia(
            E.inverse_congruence(self.M), E.inverse_similarity(self.H), E.inverse_congruence(self.I)
        )


_inertia_M, _inertia_H, _inertia_I = writers(ArticulatedInertia)

_LOWER = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))


def _coordinate(motion):
    """k if the motion is the k-th coordinate vector with structural entries, else None."""
    entries = list(motion)
    if not all(isinstance(x, float) and x in (0.0, 1.0) for x in entries) or sum(entries) != 1.0:
        return None
    return entries.index(1.0)
