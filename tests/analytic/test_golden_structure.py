"""What the book says of the parts of the equations of motion, by brute force (Featherstone 2008, ch. 1, 2, 5-7)."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.kinematics import world_transforms
from kinetree.algorithms.rnea import inward_pass, outward_pass
from kinetree.joints import Fixed, Free, Revolute
from kinetree.spatial import ArticulatedInertia, Inertia, Motion, Symmetric3, Vector3

SEEDS = range(4)
ROUNDING = 1e-13  # sums of some hundred products


@pytest.fixture(autouse=True)
def interpreted_source():
    """These models are used once or twice each."""
    with kt.interpreted():
        yield


def tree_and_state(seed: int):
    """A random tree with every kind of joint by turns, and a random q, v, a, f_ext."""
    model = kt.models.random_tree(8, seed=100 + seed, floating=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    return model, model.random_q(rng), *rng.standard_normal((2, model.nv)), rng.standard_normal((model.nb, 6))


def close(found, expected, tolerance: float = ROUNDING) -> None:
    """Assert equality to rounding, relative to the largest entry."""
    size = max(1.0, np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)


def world_quantities(model, q):
    """For every body, as plain arrays in world coordinates: the columns of S (6, nv_i) and the inertia (6, 6)."""
    X_0 = world_transforms(model, q)
    S, I = [np.zeros((6, 0))], [np.zeros((6, 6))]
    for i in model.outward():
        columns = [list(X_0[i].inverse_apply(s)) for s in model.joints[i].motion_subspace(model.q_of(i, q))]
        S.append(np.array(columns).reshape(-1, 6).T)
        I.append(X_0[i].inverse_apply(model.I[i]).matrix())
    return S, I


# The mass matrix (section 6.2-6.3) -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_the_sum_of_the_bodies_inertias(seed):
    """M = sum over the bodies of J^T I J, plus the armature."""
    model, q, *_ = tree_and_state(seed)
    total = np.diag(model.armature)
    for i in model.outward():
        J = kt.jacobian(model, q, frame=model.body_names[i], reference="local")
        total = total + J.T @ model.I[i].matrix() @ J
    close(kt.crba(model, q), total)


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_of_the_mass_matrix_sum_over_common_subtrees(seed):
    """H_ij = sum of S_i^T I_k S_j over the bodies k that both joints support (eq. 6.11)."""
    model, q, *_ = tree_and_state(seed)
    S, I = world_quantities(model, q)
    M = kt.crba(model, q) - np.diag(model.armature)
    for i in model.outward():
        for j in model.outward():
            common = set(model.subtree(i)) & set(model.subtree(j))
            I_common = sum((I[k] for k in common), np.zeros((6, 6)))
            close(M[model.v_slice[i], model.v_slice[j]], S[i].T @ I_common @ S[j], 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_column_of_the_mass_matrix_is_the_response_to_one_unit_acceleration(seed):
    """From rest without gravity, accelerate one coordinate alone (eq. 6.21-6.25).

    With s_alpha its axis, body j needs the force I^c_j s_alpha if the joint carries it, the carrying joints below
    transmit I^c_i s_alpha, all others nothing; the joint forces are the column of M.
    """
    model, q, *_ = tree_and_state(seed)
    model = model.replace(gravity=(0.0, 0.0, 0.0))
    S, I = world_quantities(model, q)
    X_0 = world_transforms(model, q)
    M = kt.crba(model, q) - np.diag(model.armature)
    composite = [sum((I[k] for k in model.subtree(i)), np.zeros((6, 6))) for i in range(model.nb)]
    for i in model.outward():
        for n, alpha in enumerate(range(model.v_slice[i].start, model.v_slice[i].stop)):
            s_alpha = S[i][:, n]
            X, S_local, f = outward_pass(model, q, None, np.eye(model.nv)[alpha], None, model.I)
            close(inward_pass(model, X, S_local, f), M[:, alpha], 1e-12)
            for j in model.outward():
                if j in model.subtree(i):
                    expected = composite[j] @ s_alpha
                elif j in model.support(i):
                    expected = composite[i] @ s_alpha
                else:
                    expected = np.zeros(6)
                close(list(X_0[j].inverse_apply(f[j])), expected, 1e-12)


# Parts of the inverse dynamics (sections 5.2, 5.3) -------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_the_inverse_dynamics_add_up(seed):
    """tau = gravity + Coriolis and centrifugal + inertial + external, each from rnea with the other inputs zero."""
    model, q, v, a, f_ext = tree_and_state(seed)
    weightless, zero = model.replace(gravity=(0.0, 0.0, 0.0)), np.zeros(model.nv)
    gravity = kt.rnea(model, q, zero, zero)
    coriolis = kt.rnea(weightless, q, v, zero)
    inertial = kt.rnea(weightless, q, zero, a)
    external = kt.rnea(weightless, q, zero, zero, f_ext)
    close(gravity + coriolis + inertial + external, kt.rnea(model, q, v, a, f_ext))
    # The same parts by the functions made for them.
    close(kt.gravity_forces(model, q), gravity)
    close(kt.coriolis_matrix(model, q, v) @ v, coriolis)
    close(kt.crba(model, q) @ a, inertial)
    close(kt.bias_forces(model, q, v, f_ext), gravity + coriolis + external)


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_is_linear_in_the_acceleration_and_quadratic_in_the_velocity(seed):
    """Twice the velocity makes four times the Coriolis forces, twice the acceleration twice the inertial ones."""
    model, q, v, a, _ = tree_and_state(seed)
    model, zero = model.replace(gravity=(0.0, 0.0, 0.0)), np.zeros(model.nv)
    close(kt.rnea(model, q, 2.0 * v, zero), 4.0 * kt.rnea(model, q, v, zero))
    close(kt.rnea(model, q, zero, 2.0 * a), 2.0 * kt.rnea(model, q, zero, a))


# The articulated body of example 7.1 ---------------------------------------------------------------------------------

M1, I1, M2, I2 = 2.0, 0.5, 1.25, 0.3
EXAMPLE_7_1 = np.diag([I1, I1 + I2, I1 + I2, M1 + M2, M1, M1 + M2])


def test_articulated_inertia_of_box_and_cylinder_by_assembly():
    """I^A = I1 + I2 - I2 S (S^T I2 S)^-1 S^T I2 for a cylinder that turns about x and slides along y (eq. 7.15)."""
    box = Inertia.from_com(M1, Vector3.zero(), Symmetric3.diagonal(I1, I1, I1))
    cylinder = Inertia.from_com(M2, Vector3.zero(), Symmetric3.diagonal(I2, I2, I2))
    seen = ArticulatedInertia.of(cylinder)
    for S in (Motion.of([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), Motion.of([0.0, 0.0, 0.0, 0.0, 1.0, 0.0])):
        U = seen @ S
        seen = seen.minus_dyad(U, 1.0 / S.dot(U))
    np.testing.assert_allclose((seen + box).matrix(), EXAMPLE_7_1, rtol=0.0, atol=1e-15)


def test_articulated_inertia_of_box_and_cylinder_by_projection():
    """I^A = (J M^-1 J^T)^-1 with J the Jacobian of the box (eq. 7.5-7.14)."""
    model = kt.models.box_cylinder(M1, I1, M2, I2)
    q = model.neutral()
    J = kt.jacobian(model, q, frame="box", reference="local")
    found = np.linalg.inv(J @ np.linalg.solve(kt.crba(model, q), J.T))
    np.testing.assert_allclose(found, EXAMPLE_7_1, rtol=0.0, atol=1e-14)


def test_accelerations_of_the_box_follow_from_its_articulated_inertia():
    """A wrench on the box accelerates it by (I^A)^-1 f: its apparent mass depends on the direction."""
    model = kt.models.box_cylinder(M1, I1, M2, I2)
    f = np.arange(1.0, 7.0)
    a = kt.aba(model, model.neutral(), np.zeros(8), np.concatenate([f, np.zeros(2)]))
    np.testing.assert_allclose(a[:6], f / np.diagonal(EXAMPLE_7_1), rtol=1e-14)


# Accelerations (section 2.11) ----------------------------------------------------------------------------------------


def test_uniform_rotation_has_no_spatial_acceleration():
    """A body turns uniformly about a fixed axis: no spatial acceleration, yet its points accelerate (fig. 2.6)."""
    w, r = 3.0, 0.7
    b = kt.ModelBuilder("turntable")
    b.add_body("table", joint=Revolute(), placement=((0.2, -0.4, 0.1), (0.3, 0.5, -0.2)), mass=1.0, inertia=np.ones(3))
    b.add_frame("point", "table", ((r, 0.0, 0.5), (0.0, 0.0, 0.0)))
    model = b.build()
    state = [0.8], [w], [0.0]
    for reference in ("local", "world"):
        spatial = kt.acceleration(model, *state, frame="point", reference=reference, kind="spatial")
        np.testing.assert_allclose(spatial, 0.0, atol=1e-14)
    classical = kt.acceleration(model, *state, frame="point", reference="local", kind="classical")
    np.testing.assert_allclose(classical, [0.0, 0.0, 0.0, -r * w * w, 0.0, 0.0], rtol=0.0, atol=1e-14)


def test_acceleration_of_a_point_follows_the_classical_formula():
    """a_P = a_O + dw x r + w x (w x r), all from classical accelerations in the axes of the body (eq. 2.47-2.50)."""
    b = kt.ModelBuilder("body")
    b.add_body("body", joint=Free(), mass=1.0, inertia=np.ones(3))
    r = np.array([0.3, -0.2, 0.5])
    b.add_frame("point", "body", (tuple(r), (0.0, 0.0, 0.0)))
    model = b.build()
    rng = np.random.default_rng(5)
    state = model.random_q(rng), *rng.standard_normal((2, 6))
    choice = {"reference": "local", "kind": "classical"}
    origin, point = (kt.acceleration(model, *state, frame=name, **choice) for name in ("body", "point"))
    w, v, dw, a = *np.split(state[1], 2), *np.split(state[2], 2)
    np.testing.assert_allclose(origin, [*dw, *(a + np.cross(w, v))], rtol=1e-14)
    np.testing.assert_allclose(point[3:], origin[3:] + np.cross(dw, r) + np.cross(w, np.cross(w, r)), rtol=1e-13)


# Gluing bodies together (section 1.2) --------------------------------------------------------------------------------


def two_bodies():
    """Masses, centers of mass and central inertias of two bodies in one frame."""
    rng = np.random.default_rng(11)
    A = rng.standard_normal((2, 3, 3))
    tensors = [np.trace(P) * np.eye(3) - P for P in (a @ a.T for a in A)]
    return (1.5, 0.4), rng.standard_normal((2, 3)), tensors


def glued_by_hand(masses, coms, tensors):
    """The three classical steps: add masses, combine centers of mass, move both tensors to the common center."""
    m = sum(masses)
    c = sum(m_k * c_k for m_k, c_k in zip(masses, coms, strict=True)) / m
    shifts = [c_k - c for c_k in coms]
    moved = [
        I_k + m_k * (d @ d * np.eye(3) - np.outer(d, d)) for m_k, d, I_k in zip(masses, shifts, tensors, strict=True)
    ]
    return m, c, sum(moved)


def inertia_of(m, c, I_c) -> Inertia:
    """The spatial inertia about the frame's origin."""
    return Inertia.from_com(m, Vector3(*c), Symmetric3.of(np.asarray(I_c).tolist()))


def test_inertias_of_bodies_glued_together_add_up():
    """I_new = I_1 + I_2 equals the three-step rule with parallel axes."""
    masses, coms, tensors = two_bodies()
    parts = [inertia_of(*part) for part in zip(masses, coms, tensors, strict=True)]
    glued = inertia_of(*glued_by_hand(masses, coms, tensors))
    np.testing.assert_allclose((parts[0] + parts[1]).matrix(), glued.matrix(), rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("merge", [True, False])
def test_body_on_a_fixed_joint_moves_as_one_with_its_parent(merge):
    """A hinge with two bodies glued by a fixed joint has the inverse dynamics of the combined body."""
    masses, coms, tensors = two_bodies()
    m, c, I_c = glued_by_hand(masses, coms, tensors)
    whole = kt.ModelBuilder("whole")
    whole.add_body("body", joint=Revolute((0, 1, 0)), mass=m, com=c, inertia=I_c)
    parts = kt.ModelBuilder("parts")
    parts.add_body("first", joint=Revolute((0, 1, 0)), mass=masses[0], com=coms[0], inertia=tensors[0])
    R = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])  # the second frame in the first: turned
    p = np.array([0.3, -1.0, 0.2])  # and moved
    parts.add_body(
        "second", "first", Fixed(), placement=(R, p),
        mass=masses[1], com=R.T @ (coms[1] - p), inertia=R.T @ tensors[1] @ R,
    )  # fmt: skip
    model = parts.build(merge_fixed=merge)
    assert model.nb == (2 if merge else 3)
    state = [0.7], [2.0], [-1.0]
    for function in (kt.rnea, kt.aba):
        np.testing.assert_allclose(function(model, *state), function(whole.build(), *state), rtol=1e-13)
