"""Derivatives by differences, and six-vectors as arrays: what the battery compares joints with."""

import numpy as np

# Central differences with Richardson's extrapolation, error O(h^4) + eps / h: about 1e-11 for values of order one.
STEP = 1e-3
TOLERANCE = 1e-9


def derivative(f, h=STEP):
    """df/dt at t = 0."""
    coarse = (f(h) - f(-h)) / (2 * h)
    fine = (f(h / 2) - f(-h / 2)) / h
    return (4 * fine - coarse) / 3


def along(joint, q, v):
    """The position after the time t of moving with constant v."""
    return lambda t: joint.integrate(q, [t * x for x in v])


def six(x):
    return np.array([float(c) for c in x])


def columns(vectors):
    """6 x n matrix of Motion or Force columns."""
    return np.array([six(x) for x in vectors]).reshape(-1, 6).T


def cross(motion):
    """The 6x6 matrix v x (Featherstone, eq. 2.31)."""
    w, v = six(motion)[:3], six(motion)[3:]
    return np.block([[_cross3(w), np.zeros((3, 3))], [_cross3(v), _cross3(w)]])


def _cross3(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def matrix(X):
    return np.asarray(X.matrix(), dtype=float)
