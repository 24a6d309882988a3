"""Any kind of scalar: batches, extended precision, traced symbols; NaN never turns into a number."""

import math

import numpy as np
import pytest

from kinetree.liegroup import se3
from kinetree.liegroup.so3 import (
    exp_so3,
    log_so3,
    quaternion_exp,
    quaternion_log,
    right_jacobian_apply,
    right_jacobian_solve,
)
from kinetree.spatial import (
    AccelerationField,
    ArticulatedInertia,
    AxialRotation,
    Force,
    GeneralRotation,
    Inertia,
    Matrix3,
    Motion,
    Symmetric3,
    Transform,
    Vector3,
    scalar,
)
from kinetree.spatial.rotations import (
    euler,
    quaternion_from_rotation,
    quaternion_normalize,
    quaternion_product,
    quaternion_to_rotation,
)
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower

N = 7
RNG = np.random.default_rng(18)
# Rotation vectors from zero to nearly half a turn, so that a batch takes both sides of every selection at once.
NUMBERS = RNG.normal(size=(120, N))
NUMBERS[:3] *= np.array([0.0, 1e-12, 1e-3, 0.3, 0.5, 1.0, 1.4]) / np.max(np.abs(NUMBERS[:3]), axis=0)


def battery(x):
    """Every operation of the algebra on 120 scalars; returns the scalars of all results."""
    x = iter(x)

    def vector():
        return Vector3(next(x), next(x), next(x))

    def symmetric():
        return Symmetric3(*(next(x) for _ in range(6)))

    def matrix():
        return Matrix3([[next(x), next(x), next(x)] for _ in range(3)])

    v, r, angle = vector(), vector(), next(x)
    E = exp_so3(v)
    q = quaternion_normalize([next(x) for _ in range(4)])
    s, c = scalar.sincos(angle)
    u = Motion(v, vector())
    m, f = Motion(vector(), vector()), Force(vector(), vector())
    I = Inertia.from_com(next(x), vector(), symmetric())
    IA = ArticulatedInertia(symmetric(), matrix(), symmetric())
    field = AccelerationField(vector(), vector(), vector())
    out = [
        *log_so3(E), *quaternion_exp(v), *quaternion_log(q), *quaternion_product(q, quaternion_exp(v)),
        *quaternion_from_rotation(quaternion_to_rotation(q)), *right_jacobian_apply(v, r), *right_jacobian_solve(v, r),
        *se3.log_se3(se3.exp_se3(u)), *se3.left_jacobian_apply(u, m), *se3.right_jacobian_solve(u, m),
        *[e for row in euler("zyx", (angle, next(x), next(x))).matrix.rows for e in row],
    ]  # fmt: skip
    kinds = (Transform(E, r), Transform(AxialRotation(1, c, s), Vector3(0.0, angle, 0.0)), Transform(E, Vector3.zero()))
    for X in (*kinds, kinds[0] @ kinds[1]):
        for law in (X.__matmul__, X.inverse_apply):
            J, JA, g = law(I), law(IA), law(field)
            out += [*law(m), *law(f), J.m, *J.h, *J.I, *JA.M, *JA.I, *(e for row in JA.H.rows for e in row)]
            out += [*g.w, *g.dw, *g.a, *I.inertial_force(g)]
    out += [*m.cross(u), *m.cross(f), m.dot(f), *(I @ m), *(IA @ m), *((IA + I) @ m)]
    out += [*field.with_joint(u, m).a, *(IA.minus_dyad(f, angle) @ m)]
    return out


def test_batches_are_loops_over_states():
    """NumPy columns give what each state alone gives, on both sides of every selection."""
    batch = battery(list(NUMBERS))
    for n in range(N):
        alone = battery(NUMBERS[:, n].tolist())
        for together, single in zip(batch, alone, strict=True):
            together = np.broadcast_to(together, N)[n]
            assert np.isclose(together, single, rtol=1e-12, atol=1e-12)  # NumPy's sine differs in the last bit


def test_extended_precision():
    """longdouble goes through, and differs from double by rounding only."""
    if np.finfo(np.longdouble).eps >= np.finfo(float).eps:
        pytest.skip("longdouble is double on this platform")
    extended = battery(list(NUMBERS.astype(np.longdouble)))
    for precise, plain in zip(extended, battery(list(NUMBERS)), strict=True):
        assert not isinstance(precise, np.ndarray) or precise.dtype == np.longdouble
        assert np.allclose(np.asarray(precise, float), np.asarray(plain, float), rtol=1e-11, atol=1e-11)


def test_extended_precision_is_kept():
    """The algebra alone loses nothing of longdouble: X^-1 X m = m to its eps."""
    eps = np.finfo(np.longdouble).eps
    x = [np.longdouble(1) / k for k in range(3, 13)]
    s, c = np.sin(x[0]), np.cos(x[0])
    X = Transform(AxialRotation(0, c, s) @ AxialRotation(2, c, s), Vector3(*x[1:4]))
    m = Motion(Vector3(*x[4:7]), Vector3(*x[7:10]))
    error = max(abs(a - b) for a, b in zip(X.inverse_apply(X @ m), m, strict=True))
    assert error < 20 * eps


def recorded():
    """The battery as a program, recorded on the expressions of the compiler."""
    graph = Graph()
    results = battery([graph.input(0, k) for k in range(120)])
    return lower(graph, [("x", (120,))], [("y", (len(results),), results)])


def test_traced_is_the_same():
    """Recording the battery and interpreting what was recorded gives its numbers, for every column."""
    (traced,) = recorded().interpret([NUMBERS.T.copy()])
    expected = np.array([battery(NUMBERS[:, n].tolist()) for n in range(N)])
    assert np.allclose(traced, expected, rtol=1e-11, atol=1e-11)


FLOATS = {
    "sin": (scalar.sin, np.sin), "cos": (scalar.cos, np.cos), "sqrt": (scalar.sqrt, np.sqrt),
    "exp": (scalar.exp, np.exp), "log": (scalar.log, np.log), "tanh": (scalar.tanh, np.tanh),
    "absolute": (scalar.absolute, np.absolute), "sign": (scalar.sign, np.sign),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOATS)
def test_floats_behave_like_arrays(name):
    """Also out of the domain: NaN and infinity where math would raise."""
    ours, numpys = FLOATS[name]
    for x in (0.7, 3.0, 0.0, -2.0, 1e4, math.inf, -math.inf, math.nan):
        with np.errstate(all="ignore"):
            expected = numpys(x)
            assert np.isclose(ours(x), expected, rtol=1e-15, atol=0.0, equal_nan=True)
            assert np.isclose(ours(np.array([x])), expected, rtol=1e-15, atol=0.0, equal_nan=True)


@pytest.mark.parametrize("x, y", [(1.0, 2.0), (2.0, 1.0), (-1.0, -1.0), (math.nan, 1.0), (1.0, math.nan)])
def test_extremes_carry_nan_on(x, y):
    """minimum and maximum are NumPy's, for floats and arrays."""
    for ours, numpys in ((scalar.minimum, np.minimum), (scalar.maximum, np.maximum)):
        assert np.array_equal(ours(x, y), numpys(x, y), equal_nan=True)
        assert np.array_equal(ours(np.array([x]), y), [numpys(x, y)], equal_nan=True)


def test_angles_of_points():
    """arctan2 in all quadrants, for floats, arrays and both mixed."""
    for y, x in ((1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0), (0.0, -1.0)):
        assert scalar.arctan2(y, x) == math.atan2(y, x)
        assert scalar.arctan2(np.array([y]), x) == scalar.arctan2(y, np.array([x])) == math.atan2(y, x)


def test_selection():
    """where takes truth values of Python and NumPy, and arrays of them."""
    assert scalar.where(True, 1.0, 2.0) == 1.0 and scalar.where(np.bool_(False), 1.0, 2.0) == 2.0
    assert list(scalar.where(np.array([True, False]), 1.0, 2.0)) == [1.0, 2.0]


class Symbol:
    """A scalar of a foreign kind that answers the functions by name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *others: (name, *others)

    def __mul__(self, other):
        return self

    def __add__(self, other):
        return self


def test_objects_are_asked_for_the_function():
    """An object with a method of the name is asked for it, and a condition for its selection."""
    x = Symbol()
    for name in ("sin", "cos", "sincos", "sqrt", "exp", "log", "tanh", "absolute", "sign"):
        assert getattr(scalar, name)(x) == (name,)
    assert scalar.arctan2(x, 1.0) == ("arctan2", 1.0) and scalar.arctan2(1.0, x) == ("arctan2", x)
    assert scalar.minimum(1.0, x) == ("minimum", 1.0) and scalar.maximum(x, 2.0) == ("maximum", 2.0)
    assert scalar.where(x, 1.0, 2.0) == ("where", 1.0, 2.0)


def test_structure_of_arrays_is_not_looked_at():
    """An array of zeros is no structural zero: the next batch may hold other numbers."""
    assert scalar.is_zero(0.0) and not scalar.is_zero(np.zeros(2)) and not scalar.is_zero(0.1)
    assert not Vector3(np.zeros(1), 0.0, 0.0).is_zero and Vector3.zero().is_zero
    rows = [[np.ones(2), 0.0, 0.0], [0.0, np.ones(2), 0.0], [0.0, 0.0, np.ones(2)]]
    assert GeneralRotation(rows).factors == ()
