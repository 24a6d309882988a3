"""Costs of the operations: tables A.4 and A.5 and section A.5 of Featherstone (2008), reached or beaten."""

import pytest

from kinetree.spatial import (
    AccelerationField,
    ArticulatedInertia,
    AxialRotation,
    Force,
    GeneralRotation,
    IdentityRotation,
    Inertia,
    Matrix3,
    Motion,
    Symmetric3,
    Transform,
    Vector3,
)

from .counting import Counted, count


def vector(x):
    return Vector3(x(), x(), x())


def motion(x):
    return Motion(vector(x), vector(x))


def force(x):
    return Force(vector(x), vector(x))


def symmetric(x):
    return Symmetric3(*(x() for _ in range(6)))


def matrix(x):
    return Matrix3([[x(), x(), x()] for _ in range(3)])


def rotation(x):
    return GeneralRotation(matrix(x))


def transform(x):
    return Transform(rotation(x), vector(x))


def inertia(x):
    return Inertia(x(), vector(x), symmetric(x))


def articulated(x):
    return ArticulatedInertia(symmetric(x), matrix(x), symmetric(x))


def apply(X, y):
    return X @ y


def retract(X, y):
    return X.inverse_apply(y)


def add(x, y):
    return x + y


TABLE_A4 = {
    "scale motion": (lambda v, s: v * s, (motion, lambda x: x()), 6, 0),
    "scale force": (lambda v, s: v * s, (force, lambda x: x()), 6, 0),
    "scale rbi": (lambda v, s: v * s, (inertia, lambda x: x()), 10, 0),
    "scale abi": (lambda v, s: v * s, (articulated, lambda x: x()), 21, 0),
    "motion + motion": (add, (motion, motion), 0, 6),
    "force + force": (add, (force, force), 0, 6),
    "rbi + rbi": (add, (inertia, inertia), 0, 10),
    "abi + abi": (add, (articulated, articulated), 0, 21),
    "abi + rbi": (add, (articulated, inertia), 0, 15),
    "rbi + abi": (add, (inertia, articulated), 0, 15),
    "v . f": (lambda v, f: v.dot(f), (motion, force), 6, 5),
    "v x m": (lambda v, m: v.cross(m), (motion, motion), 18, 12),
    "v x* f": (lambda v, f: v.cross(f), (motion, force), 18, 12),
    "I v": (apply, (inertia, motion), 24, 18),
    "I^A v": (apply, (articulated, motion), 36, 30),
    "X1 X2": (apply, (transform, transform), 33, 24),
    "X^-1": (lambda X: X.inverse(), (transform,), 9, 6),
    "X v": (apply, (transform, motion), 24, 18),
    "X^-1 v": (retract, (transform, motion), 24, 18),
    "X* f": (apply, (transform, force), 24, 18),
    "X^T f": (retract, (transform, force), 24, 18),
    "X* I X^-1": (apply, (transform, inertia), 52, 56),
    "X^T I X": (retract, (transform, inertia), 52, 56),
    "X* I^A X^-1": (apply, (transform, articulated), 137, 137),
    "X^T I^A X": (retract, (transform, articulated), 137, 137),
}


@pytest.mark.parametrize("name", TABLE_A4)
def test_table_A4(name):
    """No operation takes more multiplications, nor more operations in all, than the book's optimized ones."""
    operation, operands, m, a = TABLE_A4[name]
    counted = count(operation, *operands)
    assert counted[0] <= m and sum(counted) <= m + a, f"{name}: {counted}, book {(m, a)}"


SECTION_A5 = {
    "E F": (apply, (rotation, rotation), 24, 15),
    "E S E^T": (lambda E, S: E.congruence(S), (rotation, symmetric), 28, 29),
    "E^T S E": (lambda E, S: E.inverse_congruence(S), (rotation, symmetric), 28, 29),
    "E M E^T": (lambda E, M: E.similarity(M), (rotation, matrix), 40, 39),
    "r x M": (lambda M, r: M.skew_product(r), (symmetric, vector), 15, 9),
}


@pytest.mark.parametrize("name", SECTION_A5)
def test_section_A5(name):
    """The efficiency tricks cost exactly what the book says."""
    operation, operands, m, a = SECTION_A5[name]
    assert count(operation, *operands) == (m, a)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_chain_of_rotations(n):
    """F_1 (F_2 (... (F_n G))) costs (18m + 12a) n + 6m + 3a: inner products need no third column (section A.5)."""

    def chain(*E):
        product = E[-1]
        for F in reversed(E[:-1]):
            product = F @ product
        return product

    assert count(chain, *[rotation] * (n + 1)) == (18 * n + 6, 12 * n + 3)


def test_chain_of_rotations_from_the_left():
    """((F_1 F_2) F_3) ... looks at all three columns of each product: 24m + 15a a factor."""
    assert count(lambda F, G, H: (F @ G) @ H, rotation, rotation, rotation) == (48, 30)


def test_dense_matrices_cost_seven_times_as_much():
    """X^T I X of 6x6 matrices takes 432m + 360a, of the compact types at most 52m + 56a (section A.3)."""

    def dense(x):
        return [[x() for _ in range(6)] for _ in range(6)]

    def product(A, B):
        columns = list(zip(*B, strict=True))
        return [[sum((a * b for a, b in zip(row, c, strict=True)), start=0.0) for c in columns] for row in A]

    naive = count(lambda X, I: product(list(zip(*X, strict=True)), product(I, X)), dense, dense)
    assert naive == (432, 360)
    assert sum(naive) > 7 * sum(count(retract, transform, inertia))


def axial(axis, warm):
    """An axial rotation whose products of c and s are known already if ``warm``: the recurring cost is counted."""

    def build(x):
        E = AxialRotation(axis, x(), x())
        if warm:
            _ = E.products, E.doubles
        return E

    return build


def screw(axis, warm=True):
    return lambda x: Transform(axial(axis, warm)(x), Vector3(*(x() if k == axis else 0.0 for k in range(3))))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("warm", [True, False])
def test_axial_rotation_of_matrices(axis, warm):
    """Symmetric 8m + 7a (+ 2m + 3a once), general 12m + 12a (+ 2m once)."""
    once = (0, 0) if warm else (2, 3)
    assert count(lambda E, S: E.congruence(S), axial(axis, warm), symmetric) == (8 + once[0], 7 + once[1])
    assert count(lambda E, S: E.inverse_congruence(S), axial(axis, warm), symmetric) == (8 + once[0], 7 + once[1])
    assert count(lambda E, M: E.similarity(M), axial(axis, warm), matrix) == (12 + once[0], 12)
    assert count(lambda E, M: E.inverse_similarity(M), axial(axis, warm), matrix) == (12 + once[0], 12)


def zero_row_3(x):
    """I^a of a revolute joint: row and column 3 are zero (section A.4)."""
    M = symmetric(x)
    H = Matrix3(((x(), x(), x()), (x(), x(), x()), (0.0, 0.0, 0.0)))
    return ArticulatedInertia(M, H, Symmetric3(x(), x(), x(), 0.0, 0.0, 0.0))


TABLE_A5 = [
    (motion, 10, 6, (0, 1, 2)),
    (force, 10, 6, (0, 1, 2)),
    (inertia, 16, 15, (0, 1, 2)),
    (articulated, 38, 40, (0, 1, 2)),
    (zero_row_3, 28, 34, (2,)),
    (zero_row_3, 32, 28, (0, 1)),
]


@pytest.mark.parametrize("operand, m, a, axes", TABLE_A5)
@pytest.mark.parametrize("operation", [apply, retract])
def test_axial_screws_of_table_A5(operand, m, a, axes, operation):
    """Recurring cost of an axial screw."""
    for axis in axes:
        assert count(operation, screw(axis), operand) == (m, a)


def test_one_time_cost_of_a_screw():
    """2m + 3a, paid by the first inertia and shared by the way back."""
    both = count(lambda X, J: (X @ J, X.inverse_apply(J)), screw(2, warm=False), articulated)
    assert both == (2 * 38 + 2, 2 * 40 + 3)


def test_denavit_hartenberg_link():
    """z screw, then x screw with a constant angle, of I^a with a zero row 3: 62m + 65a with one one-time cost."""

    def link(z, x, Ia):
        return x @ (z @ Ia)

    assert count(link, screw(2, warm=False), screw(0), zero_row_3) == (62, 65)


@pytest.mark.parametrize("operand", [motion, force, inertia, articulated, transform])
def test_identity_costs_nothing(operand):
    """An identity rotation and a structurally zero offset are skipped."""
    for operation in (apply, retract):
        assert count(operation, lambda x: Transform(IdentityRotation(), Vector3.zero()), operand) == (0, 0)


def permutation(x):
    return GeneralRotation(((0.0, -1.0, 0.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)))


def quarter_turn(x):
    return AxialRotation(1, 0.0, 1.0)


def half_turn(x):
    return AxialRotation(2, -1.0, 0.0)


@pytest.mark.parametrize("E", [permutation, quarter_turn, half_turn])
@pytest.mark.parametrize("operand", [motion, force, inertia, articulated, rotation])
def test_signed_permutations_cost_nothing(E, operand):
    """Rotations whose entries are all 0 and +-1 only rename and flip components."""
    if operand is rotation:
        assert count(apply, E, rotation) == (0, 0)
        return
    for operation in (apply, retract):
        assert count(operation, lambda x: Transform(E(x), Vector3.zero()), operand) == (0, 0)


def test_general_matrix_with_a_fixed_axis_rotates_like_an_axial_one():
    """One structural unit entry: 8m + 7a and 12m + 12a (and the one-time cost), not 28m + 29a and 40m + 39a."""

    def tilted(x):
        c, s = x(), x()
        return GeneralRotation(((0.0, 0.0, 1.0), (c, s, 0.0), (-s, c, 0.0)))

    assert count(lambda E, S: E.congruence(S), tilted, symmetric) == (10, 10)
    assert count(lambda E, M: E.similarity(M), tilted, matrix) == (14, 12)


def test_inertial_force():
    """Newton and Euler from the acceleration field: 42m + 42a at most, against 66m + 54a of I A + V x* I V."""

    def field(x):
        return AccelerationField(vector(x), vector(x), vector(x))

    def body(x):
        I = inertia(x)
        _ = I.second_moments  # a model number
        return I

    m, a = count(lambda I, f: I.inertial_force(f), body, field)
    assert m <= 42 and a <= 42
    assert count(lambda I, V, A: I @ A + V.cross(I @ V), inertia, motion, motion) == (66, 54)


def test_zeros_of_a_known_kernel_are_structural():
    """I^A - U U^T / D maps the joint's axis to zero; told so, the row and column become structural zeros."""
    axis = Motion(Vector3(0.0, 0.0, 1.0), Vector3.zero())

    def screwed(X, IA, U, scale):
        return X @ IA.minus_dyad(U, scale, kernel=axis)

    m, a = count(screwed, screw(2), articulated, force, lambda x: x())
    assert (m, a) == (28 + 5 + 15, 34 + 15)  # the transform of I^a, scale * U, the fifteen entries left


def test_the_counter_counts():
    """Two products, one sum, one quotient; structure is free and shared values are counted twice."""

    def operation(x, y):
        return (x * y + 0.0) * 1.0 + x * y / y

    assert count(operation, lambda new: new(), lambda new: new()) == (3, 1)
    assert isinstance(Counted() * -1.0, Counted)
