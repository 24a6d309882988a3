"""Unified local velocities: any projection describes the same body (Holzinger et al., sections 3 and 4)."""

import pickle

import numpy as np
import pytest

from kinetree.errors import JointError
from kinetree.joints.dual import Dual, rate_of
from kinetree.liegroup import Projection, se3
from kinetree.spatial import Force, Inertia, Matrix3, Motion, Symmetric3, Vector3
from kinetree.spatial.rotation import GeneralRotation
from kinetree.spatial.transform import Transform
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower
from tests.spatial import samples
from tests.spatial.samples import close

SEED = 31
BOX = ((0.3, 0.2, 0.5), (-0.1, 0.4, 0.2), (0.2, -0.3, 0.1), (0.0, 0.1, -0.6))


def projections():
    """One of every kind: the paper's two, other sizes, an odd tetrahedron, and any six."""
    rng = np.random.default_rng(SEED)
    yield "cube", Projection.hexahedral()
    yield "box", Projection.hexahedral(0.3, 0.2, 0.5)
    yield "regular tetrahedron", Projection.tetrahedral()
    yield "tetrahedron", Projection.along_edges(BOX)
    yield "any six", Projection(rng.normal(size=(6, 3)), rng.normal(size=(6, 3)))


@pytest.fixture(params=[projection for _, projection in projections()], ids=[name for name, _ in projections()])
def projection(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(SEED + 1)


def floats(rng, size=6):
    return rng.normal(size=size).tolist()


def tolerance(projection):
    """A hundred roundings, magnified by the projection's condition squared: M contains D^-1 twice."""
    return 100 * samples.EPS * np.linalg.cond(projection.D) ** 2


# Coordinates ---------------------------------------------------------------------------------------------------------


def test_coordinates_are_velocities_of_points(projection, rng):
    """w_i = b_i . (U + Omega x y_i) (eq. 18)."""
    V = samples.motion(rng)
    expected = [
        np.dot(b, V.linear.array() + np.cross(V.angular.array(), y))
        for b, y in zip(projection.directions, projection.points, strict=True)
    ]
    np.testing.assert_allclose(projection.coordinates(V), expected, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(projection.D @ V.array(), expected, rtol=0.0, atol=1e-14)


def test_twist_is_the_inverse(projection, rng):
    """V = D^-1 w, both ways, and D^-1 is the inverse of the matrix."""
    w = floats(rng)
    atol = tolerance(projection)
    np.testing.assert_allclose(projection.coordinates(projection.twist(w)), w, rtol=0.0, atol=atol)
    np.testing.assert_allclose(projection.D @ projection.D_inverse, np.eye(6), rtol=0.0, atol=atol)


def test_power_is_invariant(projection, rng):
    """Q . w = F . V, and the wrench of Q is F again (eq. 52)."""
    F, w = samples.force(rng), floats(rng)
    Q = projection.generalized_force(F)
    assert np.dot(Q, w) == pytest.approx(F.dot(projection.twist(w)), rel=1e-12)
    np.testing.assert_allclose(projection.wrench(Q).array(), F.array(), atol=tolerance(projection))


def test_a_force_at_a_point_is_interpolated(projection, rng):
    """Q = N(y)^T f (eq. 53)."""
    f, y = samples.vector(rng), samples.vector(rng)
    N = np.array([column.array() for column in projection.interpolation(y)]).T
    Q = projection.generalized_force(Force.at_point(f, y))
    np.testing.assert_allclose(Q, N.T @ f.array(), atol=tolerance(projection))


@pytest.mark.parametrize("number", range(6))
def test_a_unit_velocity_moves_no_other_point_along_its_direction(projection, number):
    """b_i . N(y_i) is row i of the identity: w interpolates the velocities at its own points."""
    y, b = Vector3(*projection.points[number]), Vector3(*projection.directions[number])
    row = [column.dot(b) for column in projection.interpolation(y)]
    np.testing.assert_allclose(row, np.eye(6)[number], rtol=0.0, atol=tolerance(projection))


# Fields --------------------------------------------------------------------------------------------------------------


def test_velocity_field_is_that_of_a_rigid_body(projection, rng):
    """N(y) w = U + Omega x y (eq. 26)."""
    V, y = samples.motion(rng), samples.vector(rng)
    found = projection.velocity_at(projection.coordinates(V), y).array()
    expected = V.linear.array() + np.cross(V.angular.array(), y.array())
    np.testing.assert_allclose(found, expected, atol=tolerance(projection))


def test_spin_holds_the_rates_of_the_axes(projection, rng):
    """Column i of E(w) is v(e_i) - v(0) (eqs. 36 to 40)."""
    w = floats(rng)
    E = projection.spin(w).array()
    for k in range(3):
        rate = projection.velocity_at(w, Vector3.unit(k)) - projection.velocity_at(w, Vector3.zero())
        np.testing.assert_allclose(E[:, k], rate.array(), atol=tolerance(projection))


def test_acceleration_field_is_the_rate_of_the_velocity(projection, rng):
    """R^T d/dt (R N(y) w) = N dw/dt + E N w (eq. 41), the moving axes differentiated by duals."""
    w, w_dot, y = floats(rng), floats(rng), samples.vector(rng)
    v = projection.velocity_at([Dual(x, dx) for x, dx in zip(w, w_dot, strict=True)], y)
    R_dot = projection.spin(w)  # at R = 1
    R = [[Dual(float(i == k), R_dot[i, k]) for k in range(3)] for i in range(3)]
    expected = [rate_of(x) for x in Matrix3(R) @ v]
    np.testing.assert_allclose(projection.acceleration_at(w, w_dot, y).array(), expected, atol=tolerance(projection))


# Dynamics ------------------------------------------------------------------------------------------------------------


def mass_points(rng, count=5):
    """Point masses, whose sums are the integrals of section 3.3, and the inertia of them all."""
    points, masses = [samples.vector(rng) for _ in range(count)], rng.uniform(0.5, 2.0, count).tolist()
    parts = [Inertia.from_com(m, y, Symmetric3.zero()) for m, y in zip(masses, points, strict=True)]
    return points, masses, sum(parts[1:], start=parts[0])


def test_mass_and_velocity_matrices_are_the_integrals(projection, rng):
    """M = int N^T N dm and Gamma = int N^T E N dm (eqs. 48, 49), the center of mass anywhere."""
    points, masses, inertia = mass_points(rng)
    w = floats(rng)
    N = [np.array([column.array() for column in projection.interpolation(y)]).T for y in points]
    E = projection.spin(w).array()
    M = sum(m * n.T @ n for m, n in zip(masses, N, strict=True))
    Gamma = sum(m * n.T @ E @ n for m, n in zip(masses, N, strict=True))
    scale = np.abs(M).max() * tolerance(projection)
    np.testing.assert_allclose(np.array(projection.mass_matrix(inertia)), M, rtol=0.0, atol=scale)
    np.testing.assert_allclose(
        np.array(projection.velocity_matrix(inertia, w)), Gamma, rtol=0.0, atol=scale * np.abs(E).max()
    )


def test_mass_matrix_is_constant_symmetric_and_positive(projection, rng):
    """Half w^T M w is the kinetic energy."""
    inertia, w = samples.inertia(rng), floats(rng)
    M = np.array(projection.mass_matrix(inertia))
    np.testing.assert_allclose(M, M.T, atol=tolerance(projection) * np.abs(M).max())
    assert np.linalg.eigvalsh(M).min() > 0.0
    assert 0.5 * np.dot(w, M @ w) == pytest.approx(inertia.kinetic_energy(projection.twist(w)), rel=1e-11)


def test_velocity_matrix_is_skew_and_gives_the_bias(projection, rng):
    """Gamma^T = -Gamma, so it does no work; Gamma(w) w is Newton's and Euler's V x* I V (eqs. 61, 65)."""
    inertia, w = samples.inertia(rng), floats(rng)
    Gamma = np.array(projection.velocity_matrix(inertia, w))
    scale = np.abs(Gamma).max() * tolerance(projection)
    np.testing.assert_allclose(Gamma, -Gamma.T, atol=scale)
    np.testing.assert_allclose(Gamma @ w, projection.bias_force(inertia, w), atol=scale * 10)


def test_equations_of_motion_are_newton_and_eulers(projection, rng):
    """M dw/dt + Gamma w = Q is I dV/dt + V x* I V = F with V = D^-1 w (eqs. 51, 62-67): any J, any com."""
    inertia, w, F = samples.inertia(rng), floats(rng), samples.force(rng)
    Q = projection.generalized_force(F)
    w_dot = projection.acceleration(inertia, w, Q)
    V = projection.twist(w)
    V_dot = inertia.inverse_apply(F - V.cross(inertia @ V))
    np.testing.assert_allclose(projection.twist(w_dot).array(), V_dot.array(), atol=1e3 * tolerance(projection))
    M, Gamma = (np.array(A) for A in (projection.mass_matrix(inertia), projection.velocity_matrix(inertia, w)))
    residual = M @ w_dot + Gamma @ w - Q
    np.testing.assert_allclose(residual, 0.0, atol=1e3 * tolerance(projection) * np.abs(Q).max())


def test_another_reference_point_changes_nothing(projection, rng):
    """Seen from another frame of the body: the same w, M, Gamma w and dw/dt."""
    X = samples.transform(rng)
    X = Transform(GeneralRotation(X.collapse().E.matrix), X.collapse().r)
    inertia, V, F = samples.inertia(rng), samples.motion(rng), samples.force(rng)
    other = projection.transformed(X)
    w = projection.coordinates(V)
    atol = 1e3 * tolerance(other)
    np.testing.assert_allclose(other.coordinates(X @ V), w, atol=atol)
    np.testing.assert_allclose(
        np.array(other.mass_matrix(X @ inertia)), np.array(projection.mass_matrix(inertia)), rtol=atol, atol=atol
    )
    bias = projection.bias_force(inertia, w)
    np.testing.assert_allclose(other.bias_force(X @ inertia, w), bias, rtol=atol, atol=atol)
    Q = projection.generalized_force(F)
    np.testing.assert_allclose(other.generalized_force(X @ F), Q, rtol=atol, atol=atol)
    np.testing.assert_allclose(
        other.acceleration(X @ inertia, w, Q), projection.acceleration(inertia, w, Q), rtol=atol, atol=atol
    )


def test_incremental_rate_is_the_inverse_tangent_map(projection, rng):
    """exp(n) moves with the body: right_jacobian(n) dn/dt = V (eqs. 11, 72)."""
    n, w = samples.motion(rng), floats(rng)
    rate = projection.incremental_rate(n, w)
    assert close(se3.right_jacobian_apply(n, rate), projection.twist(w), k=1e3)


# Scalars, values, errors ---------------------------------------------------------------------------------------------


def test_batches_and_traces(projection, rng):
    """Arrays and traced code give what floats give."""
    inertia, x = samples.inertia(rng), rng.normal(size=15)

    def everything(x):
        w, Q, y = x[:6], x[6:12], Vector3(*x[12:])
        return [
            *projection.acceleration(inertia, w, Q), *projection.acceleration_at(w, Q, y), *projection.twist(w),
            *(entry for row in projection.velocity_matrix(inertia, w) for entry in row),
        ]  # fmt: skip

    single = everything(x.tolist())
    batch = np.array(np.broadcast_arrays(*everything(list(np.stack([x, 2.0 * x], axis=1)))))
    scale = np.abs(single).max()
    np.testing.assert_allclose(batch[:, 0], single, rtol=0.0, atol=1e-13 * scale)
    graph = Graph()
    results = everything([graph.input(0, k) for k in range(15)])
    (traced,) = lower(graph, [("x", (15,))], [("y", (len(results),), results)]).interpret([x[None]])
    np.testing.assert_allclose(traced[0], single, rtol=0.0, atol=1e-12 * scale)


def test_right_angles_leave_exact_zeros():
    """Zeros of D^-1 are structure for the compiler: 12 of 36 entries are left, also if turned by right angles."""
    box = Projection.hexahedral(0.3, 0.2, 0.5)
    quarter = GeneralRotation(Matrix3(((6e-17, 1.0, 0.0), (-1.0, 6e-17, 0.0), (0.0, 0.0, 1.0))))
    for projection in (box, box.transformed(Transform(quarter, Vector3.zero()))):
        assert np.count_nonzero(projection.D) == np.count_nonzero(projection.D_inverse) == 12


def test_projections_are_values(projection):
    """Equal by content, hashable, rebuilt by their repr and by pickle."""
    for twin in (eval(repr(projection)), pickle.loads(pickle.dumps(projection))):
        assert twin == projection and hash(twin) == hash(projection)
        np.testing.assert_array_equal(twin.D_inverse, projection.D_inverse)
    assert projection != Projection.hexahedral(9.0)


Z, Y, X = (0, 0, 1), (0, 1, 0), (1, 0, 0)
SINGULAR = {
    "all through one line": (5, [X, Y, Z, X, Y, X], [(0, 0, 0)] * 3 + [(0, 0, 1)] * 2 + [(0, 0, 2)]),
    "all through one point": (3, [X, Y, Z, (1, 1, 0), (0, 1, 1), (1, 0, 1)], [(1, 2, 3)] * 6),
    "all parallel": (3, [Z] * 6, np.random.default_rng(0).normal(size=(6, 3))),
    "the same twice": (5, [X, X, Y, Y, Z, Z], [(0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0)]),
    "one line": (1, [X] * 6, [(float(k), 0.5, 0.0) for k in range(6)]),
    "far away": (5, [X, Y, Z, X, Y, X], 1e6 * np.array([(0, 0, 0)] * 3 + [(0, 0, 1)] * 2 + [(0, 0, 2)])),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_projections_name_their_rank(name):
    """The error has the rank, the singular values and a motion that no velocity notices."""
    rank, directions, points = SINGULAR[name]
    with pytest.raises(JointError, match=f"D has rank {rank}, expected 6: .* are zero for the motion") as caught:
        Projection(directions, points)
    assert caught.value.rank == rank
    angular, linear = np.split(caught.value.unseen, 2)
    length = max(np.linalg.norm(y) for y in points)
    for b, y in zip(directions, points, strict=True):
        assert abs(np.dot(b, linear + np.cross(angular / length, y))) < 1e-8


def test_flat_tetrahedron_is_singular():
    """Four corners in a plane: the motions out of the plane are not noticed, rank 3."""
    with pytest.raises(JointError, match="rank 3"):
        Projection.along_edges(((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)))


def test_a_small_box_is_not_singular():
    """The rank does not depend on the unit of length: a box of a micrometer is as good as one of a meter."""
    for size in (1e-6, 1e6):
        projection = Projection.hexahedral(size, size, size)
        V = Motion.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        np.testing.assert_allclose(projection.twist(projection.coordinates(V)).array(), V.array(), rtol=1e-9)


def test_malformed_projections_are_refused():
    """Wrong numbers of vectors, of components, NaN, zero directions, three corners."""
    six = [(0.0, 0.0, 1.0)] * 6
    for directions, points in ((six[:5], six), (six, [(0.0, 1.0)] * 6), (six, [(np.nan, 0, 0)] * 6), (six, None)):
        with pytest.raises(JointError, match="must be six vectors of three finite numbers"):
            Projection(directions, points)
    with pytest.raises(JointError, match="direction b2 is zero"):
        Projection([X, (0, 0, 0), Y, Y, Z, Z], [(0, k, 1) for k in range(6)])
    with pytest.raises(JointError, match="four corners of three numbers"):
        Projection.along_edges(BOX[:3])
