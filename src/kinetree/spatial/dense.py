"""Spatial and planar arithmetic with NumPy matrices: the book's simple functions (Featherstone, tables A.1 and A.2).

For tests and teaching: the algorithms use the compact classes. Where the book has a planar and a spatial function of
one name, the length of the argument decides: six numbers are spatial, three planar. Frame B is described relative to
A, and transforms go from A to B.
"""

from __future__ import annotations

import numpy as np

from kinetree.errors import ShapeError


def skew(v) -> np.ndarray:
    """The 3x3 matrix ``v x`` of a 3-vector.

    Examples
    --------
    >>> skew([1.0, 2.0, 3.0]) @ [0.0, 0.0, 1.0]
    array([ 2., -1.,  0.])
    """
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rx(angle: float) -> np.ndarray:
    """3x3 coordinate rotation about x [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])


def ry(angle: float) -> np.ndarray:
    """3x3 coordinate rotation about y [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])


def rz(angle: float) -> np.ndarray:
    """3x3 coordinate rotation about z [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def rot(E) -> np.ndarray:
    """6x6 transform, the same for motions and forces, of the coordinate rotation E (3x3)."""
    Z = np.zeros((3, 3))
    return np.block([[np.asarray(E), Z], [Z, np.asarray(E)]])


def rotx(angle: float) -> np.ndarray:
    """6x6 transform of a rotation about x [rad]."""
    return rot(rx(angle))


def roty(angle: float) -> np.ndarray:
    """6x6 transform of a rotation about y [rad]."""
    return rot(ry(angle))


def rotz(angle: float) -> np.ndarray:
    """6x6 transform of a rotation about z [rad]."""
    return rot(rz(angle))


def xlt(r) -> np.ndarray:
    """6x6 motion transform of a translation by r [m] (Featherstone eq. 2.21)."""
    return np.block([[np.eye(3), np.zeros((3, 3))], [-skew(r), np.eye(3)]])


def Xpln(angle: float, r) -> np.ndarray:
    """3x3 planar motion transform to a frame turned by ``angle`` [rad] with origin r (2,) [m] (eq. 2.77)."""
    c, s = np.cos(angle), np.sin(angle)
    x, y = r
    return np.array([[1.0, 0.0, 0.0], [s * x - c * y, c, s], [c * x + s * y, -s, c]])


def crm(v) -> np.ndarray:
    """``v x``: cross product of a motion with motions; 6x6 of a spatial, 3x3 of a planar vector (eq. 2.31, 2.75)."""
    v = np.asarray(v)
    if v.shape == (3,):
        w, x, y = v
        return np.array([[0.0, 0.0, 0.0], [y, 0.0, -w], [-x, w, 0.0]])
    if v.shape == (6,):
        return np.block([[skew(v[:3]), np.zeros((3, 3))], [skew(v[3:]), skew(v[:3])]])
    raise ShapeError(f"crm: v has shape {v.shape}, expected (6,) or, for a planar motion, (3,).", shape=v.shape)


def crf(v) -> np.ndarray:
    """``v x*``: cross product of a motion with forces, ``-crm(v)^T`` (eq. 2.32)."""
    return -crm(v).T


def dyadic(left, right) -> np.ndarray:
    """The matrix of ``sum_i a_i b_i .``, a tensor written as a sum of dyads (Featherstone, section 2.1 and table 2.5).

    Parameters
    ----------
    left, right : sequence of Motion or Force
        The vectors a_i and b_i, as many of the one as of the other. The first are of the kind that the tensor maps to,
        the second of the dual kind of its arguments: forces on both sides make an inertia.

    Returns
    -------
    ndarray, shape (6, 6)

    Examples
    --------
    >>> from kinetree.spatial import Force
    >>> along_x = Force.of([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    >>> int(np.linalg.matrix_rank(dyadic([along_x, along_x], [along_x, along_x * 2.0])))
    1
    """
    return sum(np.outer(a.array(), b.array()) for a, b in zip(left, right, strict=True))


def mcI(m: float, c, I_c) -> np.ndarray:
    """Inertia matrix from mass [kg], center of mass [m] and rotational inertia about it [kg m^2] (eq. 2.63, 2.78).

    Parameters
    ----------
    m : float
    c : array_like, shape (3,) or (2,)
        Spatial or planar.
    I_c : array_like, shape (3, 3), or float
    """
    c = np.asarray(c, dtype=float)
    if c.shape == (2,):
        x, y = c
        return np.array([[I_c + m * (c @ c), -m * y, m * x], [-m * y, m, 0.0], [m * x, 0.0, m]])
    if c.shape == (3,):
        C = skew(c)
        return np.block([[np.asarray(I_c) + m * C @ C.T, m * C], [m * C.T, m * np.eye(3)]])
    raise ShapeError(f"mcI: c has shape {c.shape}, expected (3,) or, for a planar body, (2,).", shape=c.shape)


def XtoV(X, accurate: bool = False) -> np.ndarray:
    """The velocity that takes frame A to B in one unit of time, approximately: exact as the angle goes to zero.

    Parameters
    ----------
    X : array_like, shape (6, 6) or (3, 3)
        Motion transform from A to B.
    accurate : bool
        Planar only: the version that is a multiple of the exact velocity u, ``u = v asin(X23) / X23``.

    Returns
    -------
    ndarray, shape (6,) or (3,)
        Invariant under X, and exact for a pure translation. Used as the position error of a loop joint.

    Notes
    -----
    Source: Featherstone, tables A.1 and A.2; the exact velocity is ``log_se3``.
    """
    X = np.asarray(X)
    if X.shape == (3, 3):
        if not accurate:
            return np.array([X[1, 2], X[2, 0], -X[1, 0]])
        return np.array(
            [
                X[1, 2],
                (X[2, 0] + X[1, 1] * X[2, 0] + X[1, 2] * X[1, 0]) / 2,
                (-X[1, 0] - X[1, 1] * X[1, 0] + X[1, 2] * X[2, 0]) / 2,
            ]
        )
    if X.shape == (6, 6):
        pairs = ((1, 2), (2, 0), (0, 1), (4, 2), (5, 0), (3, 1))
        opposite = ((2, 1), (0, 2), (1, 0), (5, 1), (3, 2), (4, 0))
        return np.array([X[a] - X[b] for a, b in zip(pairs, opposite, strict=True)]) / 2
    raise ShapeError(f"XtoV: X has shape {X.shape}, expected (6, 6) or, for a planar transform, (3, 3).", shape=X.shape)
