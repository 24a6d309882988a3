"""Building a model: numbering, placements, merging of fixed joints, couplings."""

import numpy as np
import pytest

from kinetree.errors import ModelError
from kinetree.joints import Free, Prismatic, Revolute
from kinetree.model import Geometry, ModelBuilder
from kinetree.model.parts import as_transform, rotation_of_rpy
from kinetree.models import random_tree
from kinetree.spatial import Transform, Vector3
from tests.model.kinematics import frame_poses, mass_matrix, total_inertia

ROUNDING = 1e-13  # a few hundred operations on numbers of order one


def body(b, name, parent="world", **options):
    options = {"joint": Revolute(), "mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.1, 0.1), **options}
    b.add_body(name, parent, **options)


def test_bodies_keep_the_order_in_which_they_were_added():
    """A regular order is the numbering."""
    b = ModelBuilder()
    for name, parent in (("a", "world"), ("b", "world"), ("a1", "a"), ("b1", "b")):
        body(b, name, parent)
    model = b.build()
    assert model.body_names == ("world", "a", "b", "a1", "b1")
    assert model.parent == (-1, 0, 0, 1, 2)


def test_bodies_may_be_added_before_their_parents():
    """The numbering then is depth first; every body keeps its own data."""
    b = ModelBuilder()
    body(b, "tip", "arm", mass=3.0)
    body(b, "leg")
    body(b, "arm", mass=2.0, damping=0.5)
    model = b.build()
    assert model.body_names == ("world", "leg", "arm", "tip")
    assert [I.m for I in model.I] == [0.0, 1.0, 2.0, 3.0]
    assert model.damping.tolist() == [0.0, 0.5, 0.0]


def test_forms_of_a_placement_agree():
    """(xyz, rpy), (R, p), the homogeneous matrix and the transform are one placement."""
    xyz, rpy = (0.1, -0.2, 0.3), (0.4, -0.5, 0.6)
    R = rotation_of_rpy(*rpy)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, xyz
    expected = as_transform("x", (xyz, rpy)).matrix()
    X = as_transform("x", (R, xyz))
    for placement in (X, T, (R, xyz), (R.tolist(), list(xyz))):
        np.testing.assert_array_equal(as_transform("x", placement).matrix(), expected)
    np.testing.assert_allclose(X.homogeneous(), np.linalg.inv(T), atol=1e-15)


def test_rpy_is_about_fixed_axes():
    """R = Rz(yaw) Ry(pitch) Rx(roll): a quarter roll, then a quarter yaw, takes z to x."""
    R = rotation_of_rpy(np.pi / 2, 0.0, np.pi / 2)
    np.testing.assert_allclose(R @ [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], atol=1e-15)  # z -> -y -> x


def with_fixed(seed):
    """A random tree some of whose bodies are on fixed joints, with a frame and a shape on each; merged and not."""
    b = ModelBuilder("fixed")
    rng = np.random.default_rng(seed)
    names = ["world"]
    for k in range(12):
        name, parent = f"b{k}", names[int(rng.integers(len(names)))]
        placement = (rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))
        joint = None if k % 3 == 1 else Revolute(rng.normal(size=3))
        shape = Geometry("box", (1, 2, 3), rotation_of_rpy(*rng.normal(size=3)), rng.normal(size=3), name=name)
        body(b, name, parent, joint=joint, placement=placement, geometry=[shape])
        b.add_frame(f"f{k}", name, (rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3)))
        names.append(name)
    return b.build(), b.build(merge_fixed=False)


@pytest.mark.parametrize("seed", range(3))
def test_merging_fixed_bodies_changes_no_dynamics(seed):
    """The mass matrix is the same whether fixed joints are kept or merged."""
    merged, kept = with_fixed(seed)
    assert (merged.nb, kept.nb) == (9, 13)
    q = kept.random_q(np.random.default_rng(seed))
    np.testing.assert_allclose(mass_matrix(merged, q), mass_matrix(kept, q), rtol=0, atol=ROUNDING * 100)


@pytest.mark.parametrize("seed", range(3))
def test_merged_bodies_remain_as_frames(seed):
    """Every name of a body or a frame is where it was."""
    merged, kept = with_fixed(seed)
    q = kept.random_q(np.random.default_rng(seed))
    here, there = frame_poses(merged, q), frame_poses(kept, q)
    assert set(here) == set(there)
    for name in here:
        np.testing.assert_allclose(here[name], there[name], rtol=0, atol=ROUNDING)


def test_merged_shapes_stay_in_place():
    """A shape's pose in the world does not change when its body is merged."""
    merged, kept = with_fixed(4)
    q = kept.random_q(np.random.default_rng(4))

    def poses(model):
        found = {}
        frames = frame_poses(model, q)
        for i, shapes in enumerate(model.geometry):
            for shape in shapes:
                T = np.eye(4)
                T[:3, :3], T[:3, 3] = shape.R_BG, shape.p_BG
                found[shape.name] = np.linalg.inv(frames[model.body_names[i]]) @ T
        return found

    here, there = poses(merged), poses(kept)
    assert len(here) == 12
    for name in here:
        np.testing.assert_allclose(here[name], there[name], rtol=0, atol=ROUNDING)


def test_what_is_fixed_to_the_world_does_not_move():
    """Its mass belongs to body 0 and not to the total."""
    b = ModelBuilder()
    body(b, "base", joint=None, mass=50.0)
    body(b, "arm", "base", placement=((0, 0, 1), (0, 0, 0)), mass=2.0)
    model = b.build()
    assert (model.nb, model.I[0].m, model.total_mass) == (2, 50.0, 2.0)
    assert model.frame("base").body == 0


def test_inertia_is_given_about_the_center_of_mass():
    """The parallel-axis theorem takes it to the body's origin."""
    b = ModelBuilder()
    body(b, "a", mass=2.0, com=(0.0, 0.0, 0.5), inertia=(0.1, 0.2, 0.25))
    I = b.build().I[1]
    np.testing.assert_allclose(list(I.I), [0.1 + 0.5, 0.0, 0.2 + 0.5, 0.0, 0.0, 0.25], rtol=1e-15)


def test_joint_data_may_be_one_number_or_one_per_freedom():
    """Both forms, on a joint of six freedoms."""
    b = ModelBuilder()
    body(b, "a", joint=Free(), damping=0.3, armature=[1, 2, 3, 4, 5, 6])
    model = b.build()
    assert model.damping.tolist() == [0.3] * 6
    assert model.armature.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_chains_of_couplings_lead_to_the_free_joint():
    """q1 = 2 q2 + 1 and q2 = 3 q3 + 0.5 give q1 = 6 q3 + 2."""
    b = ModelBuilder()
    for name in ("j1", "j2", "j3"):
        body(b, name)
    b.add_coupling("j1", "j2", 2.0, 1.0)
    b.add_coupling("j2", "j3", 3.0, 0.5)
    first, second = b.build().couplings
    assert (first.joint, first.master, first.ratio, first.offset) == ("j1", "j3", 6.0, 2.0)
    assert (second.joint, second.master, second.ratio, second.offset) == ("j2", "j3", 3.0, 0.5)


def test_random_and_neutral_positions_respect_couplings():
    """So do velocities."""
    b = ModelBuilder()
    body(b, "master", lower=-0.2, upper=0.3)
    body(b, "slave", joint=Prismatic((1, 0, 0)))
    b.add_coupling("slave", "master", -2.0, 0.25)
    model = b.build()
    assert model.neutral().tolist() == [0.0, 0.25]
    q, v = model.random_state(np.random.default_rng(0))
    assert q[1] == -2.0 * q[0] + 0.25 and v[1] == -2.0 * v[0]
    assert -0.2 <= q[0] <= 0.3


def test_a_built_model_does_not_change_with_its_builder():
    """The builder may go on; models are snapshots."""
    b = ModelBuilder()
    body(b, "a")
    first = b.build()
    body(b, "b", "a")
    b.add_geometry("a", Geometry("sphere", (0.1,)))
    assert (first.nb, b.build().nb) == (2, 3)
    assert first.geometry == ((), ())


def test_what_a_model_holds_rebuilds_it():
    """Feeding a random tree's parts to a builder gives the same numbers."""
    model = random_tree(10, seed=3)
    b = ModelBuilder(model.name)
    for i in model.outward():
        I, k = model.I[i], model.v_slice[i]
        com = np.array(list(I.h)) / I.m
        central = np.array(I.I.matrix.rows) - I.m * (com @ com * np.eye(3) - np.outer(com, com))
        b.add_body(
            model.body_names[i], model.body_names[model.parent[i]], model.joints[i], model.joint_name(i), model.X_T[i],
            mass=I.m, com=com, inertia=central, armature=model.armature[k],
        )  # fmt: skip
    again = b.build(merge_fixed=False)
    assert again.numbers().names == model.numbers().names
    np.testing.assert_allclose(again.number_values(), model.number_values(), rtol=1e-13, atol=1e-15)
    q = model.random_q(np.random.default_rng(0))
    np.testing.assert_allclose(total_inertia(again, q), total_inertia(model, q), rtol=1e-12)


def test_residues_of_rounding_become_exact_zeros():
    """Right angles from pi / 2, and offsets that are 1e-16 of the link's length; 1.5708 is not a right angle."""
    b = ModelBuilder()
    body(b, "a", placement=((1e-17, 0.0, 0.3), (np.pi / 2, 0.0, 0.0)))
    body(b, "b", "a", placement=((0.0, 0.0, 0.3), (1.5708, 0.0, 0.0)))
    model = b.build()
    assert model.X_T[1].E.matrix.rows == ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
    assert list(model.X_T[1].r) == [0.0, 0.0, 0.3]
    assert model.X_T[2].E.matrix.rows[1][1] == pytest.approx(np.cos(1.5708), rel=1e-12)


def test_small_bodies_keep_their_small_offsets():
    """A millimeter machine far out in space: zero is relative to the body, not to the model."""
    b = ModelBuilder()
    b.add_body("far", joint=Free(), placement=Transform(Transform.identity().E, Vector3(1e9, 0.0, 0.0)), mass=1.0,
               inertia=(0.1, 0.1, 0.1))  # fmt: skip
    b.add_body("tiny", "far", Revolute(), placement=((1e-6, 0.0, 0.0), (0, 0, 0)), mass=1e-9, inertia=(1e-21,) * 3)
    assert list(b.build().X_T[2].r) == [1e-6, 0.0, 0.0]


def test_an_empty_builder_builds_nothing():
    """A model needs something in it; a body that is welded to the world is something."""
    with pytest.raises(ModelError, match="model 'x' is empty: no body was added"):
        ModelBuilder("x").build()
    b = ModelBuilder("statue")
    b.add_body("stone", mass=3.0)
    assert b.build().nv == 0
