"""URDF files written from models: reading them gives the models again; what the format does not support is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnknownNameError, UnsupportedError
from kinetree.io.number_text import central, quaternion_of, rpy_of
from kinetree.io.urdf.write import urdf_text
from kinetree.joints import JOINTS, Free, Helical, Planar, Prismatic, Reversed, Revolute
from kinetree.model.builder import rotation_of_quaternion
from kinetree.model.equipment import Actuator, Equipment, Keyframe
from kinetree.model.parts import Geometry, rotation_of_rpy
from kinetree.spatial import Inertia, Symmetric3, Vector3
from tests.io.models_alike import assert_alike, assert_shapes_alike
from tests.io.random_models import random_model, rotation

SEEDS = range(12)
URDF_KINDS = {"revolute", "prismatic", "fixed", "free", "planar", "reversed"}  # a reversed joint has no example


def arm(**data):
    """One body on a revolute joint."""
    b = kt.ModelBuilder("arm")
    b.add_body("link", joint=Revolute((0, 1, 0)), joint_name="joint", mass=1.0, inertia=(0.1, 0.1, 0.1), **data)
    return b


@pytest.mark.parametrize("seed", SEEDS)
def test_read_again_is_the_model(seed):
    """Writing and reading is the identity on bodies, joints, numbers, frames, couplings and shapes."""
    model = random_model("urdf", seed)
    again = kt.load(kt.io.to_urdf(model))
    assert_alike(again, model)
    assert_shapes_alike(again, model)
    assert dict(again.welded) == dict(model.welded)


@pytest.mark.parametrize("seed", SEEDS)
def test_text_is_a_fixed_point(seed):
    """Writing what was read gives the same text, to the last digit."""
    text = kt.io.to_urdf(random_model("urdf", seed))
    assert kt.io.to_urdf(kt.load(text)) == text


@pytest.mark.parametrize("name", kt.data.robots())
@pytest.mark.parametrize("floating", [False, True])
def test_shipped_robots(name, floating):
    """The robots of the package come back to the last bit of their structure, also with a free base."""
    model = kt.load(name, floating_base=floating)
    again = kt.load(kt.io.to_urdf(model))
    assert again.structure() == model.structure()
    assert_alike(again, model)
    assert_shapes_alike(again, model)


def test_short_numbers_stay_short():
    """A center of mass of 0.1 is kept as a first moment and still written as 0.1."""
    b = kt.ModelBuilder("short")
    data = {"mass": 0.3, "com": (0.1, 0.2, 0.7), "inertia": (0.011, 0.012, 0.013)}
    b.add_body("link", joint=Revolute(), placement=((0.1, 0.2, 0.3), (0.4, -0.5, 0.6)), **data)
    text = kt.io.to_urdf(b.build())
    assert '<origin xyz="0.1 0.2 0.7"/>' in text
    assert '<origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/>' in text
    assert '<inertia ixx="0.011" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.013"/>' in text


def near_the_lock():
    """Rotations with a pitch near +-pi/2."""
    rng = np.random.default_rng(5)
    for distance in (0.0, 1e-16, 1e-15, 1e-12, 3e-9, 1e-8, 1e-6, 1e-3, 0.1):
        for sign in (1.0, -1.0):
            yield rotation_of_rpy(rng.uniform(-3, 3), sign * (0.5 * math.pi - distance), rng.uniform(-3, 3))


@pytest.mark.parametrize("R", [*near_the_lock(), *map(rotation, map(np.random.default_rng, range(20)))])
def test_roll_pitch_yaw_everywhere(R):
    """Angles give their rotation back within 2e-15, three decimals of 1e-15 each, also where yaw and roll lock."""
    np.testing.assert_allclose(rotation_of_rpy(*rpy_of(R)), R, rtol=0, atol=2e-15)


@pytest.mark.parametrize("R", [*near_the_lock(), *map(rotation, map(np.random.default_rng, range(20)))])
def test_quaternions_everywhere(R):
    """Quaternions give their rotation back within 4e-15, entries being sums of four products of decimals of 1e-15."""
    q = quaternion_of(R)
    np.testing.assert_allclose(rotation_of_quaternion(q), R, rtol=0, atol=4e-15)
    assert next(x for x in q if x) > 0.0


def test_central_inertia_is_the_inverse_of_reading():
    """Inertia.from_com of what is written is the inertia of the model, or one rounding off."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        S = rng.normal(size=(3, 3))
        S = S @ S.T
        tensor = Symmetric3.of((np.trace(S) * np.eye(3) - S).tolist())
        I = Inertia.from_com(rng.random(), Vector3(*rng.normal(size=3)), tensor)
        m, c, I_c = central(I)
        J = Inertia.from_com(m, Vector3(*c), I_c)
        size = max(map(abs, I.I))
        np.testing.assert_allclose([J.m, *J.h, *J.I], [I.m, *I.h, *I.I], rtol=0, atol=4e-16 * max(size, 1.0))


@pytest.mark.parametrize(
    ("lower", "upper"), [(-1.0, 1.0), (-math.inf, 1.0), (0.0, math.inf), (-math.inf, math.inf), (0.5, 0.5)]
)
@pytest.mark.parametrize("joint", [Revolute((1, 0, 0)), Prismatic((1, 0, 0))])
def test_limits(joint, lower, upper):
    """Limits on no, one or both sides come back, infinite ones as infinite."""
    b = kt.ModelBuilder("limited")
    data = {"mass": 1.0, "inertia": (1, 1, 1), "effort_limit": 3.0}
    b.add_body("link", joint=joint, lower=lower, upper=upper, **data)
    again = kt.load(kt.io.to_urdf(b.build()))
    assert (again.lower[0], again.upper[0]) == (lower, upper)
    assert (again.effort_limit[0], again.velocity_limit[0]) == (3.0, math.inf)


def test_planar_joint_off_the_xy_plane():
    """The auxiliary body that reading inserts for a tilted plane is written as any other, and not inserted again."""
    text = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="planar"><parent link="a"/><child link="b"/>'
        '<axis xyz="1 2 3"/></joint></robot>'
    )
    model = kt.load(text)
    again = kt.load(kt.io.to_urdf(model))
    assert_alike(again, model)
    assert model.body_names[1] == "b_plane"


def test_inertia_welded_to_the_world():
    """What is fixed to the world keeps its inertia: on the root link, or on a frame of the world."""
    model = kt.load("arm7")
    assert model.I[0].m > 0.0
    for written in (model, kt.load(kt.io.to_urdf(model))):
        assert written.I[0].m == model.I[0].m
    b = arm()
    b.add_body("table", placement=((1, 2, 3), (0.1, 0.2, 0.3)), mass=5.0, com=(1, 1, 1), inertia=(1, 2, 2.5))
    b.add_body("lamp", "table", placement=((0, 0, 1), (0, 0, 0)))
    model = b.build()
    I, J = model.I[0], kt.load(kt.io.to_urdf(model)).I[0]
    np.testing.assert_allclose([J.m, *J.h, *J.I], [I.m, *I.h, *I.I], rtol=1e-14)  # ten roundings on the way


def test_frames_without_joints_get_joints():
    """A frame that no joint welded is written on a fixed joint with a name of its own, and read as the frame."""
    b = arm()
    b.add_frame("tip", "link", ((0, 0, 1), (0.1, 0.2, 0.3)))
    b.add_frame("tip_fixed", "link")
    again = kt.load(kt.io.to_urdf(b.build()))
    assert_alike(again, b.build())


def test_frame_in_place_of_the_bodys_own():
    """A body's frame that is not at its joint gets a link with another name, and the report says so."""
    b = arm()
    b.add_frame("link", "link", ((0, 0, 1), (0, 0, 0)))
    text, report = urdf_text(b.build())
    assert kt.load(text).frame("link_frame").p_BF.tolist() == [0.0, 0.0, 1.0]
    assert "'link_frame'" in str(report)


def test_reversed_joints_turn_their_axis():
    """A reversed revolute joint is one about the opposite axis: the same mass matrix and bias."""
    b = kt.ModelBuilder("back")
    data = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.1, 0.1)}
    b.add_body("a", joint=Reversed(Revolute((1, 2, 3))), **data)
    b.add_body("b", "a", joint=Reversed(Prismatic((0, 1, 0))), placement=((0.3, 0, 0), (1, 0, 0)), **data)
    model = b.build()
    again = kt.load(kt.io.to_urdf(model))
    q, v = np.array([0.4, 0.2]), np.array([0.7, -0.3])
    np.testing.assert_allclose(kt.crba(again, q), kt.crba(model, q), atol=1e-14)
    np.testing.assert_allclose(kt.rnea(again, q, v, v), kt.rnea(model, q, v, v), atol=1e-13)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ({"armature": 1.0}, "armature (joint 'joint')"),
        ({"stiffness": 1.0}, "stiffness (joint 'joint')"),
        ({"lower": 0.0, "upper": 1.0, "limit_stiffness": 9.0}, "stop stiffness (joint 'joint')"),
        ({"geometry": [Geometry("ellipsoid", (1, 1, 1))]}, "ellipsoids (ellipsoid of body 'link')"),
    ],
)
def test_what_the_format_cannot_say(data, what):
    """It is refused by name, or left out and reported if the caller wants that."""
    model = arm(**data).build()
    with pytest.raises(UnsupportedError, match="cannot be written as URDF") as error:
        kt.io.to_urdf(model)
    assert what in str(error.value)
    text, report = urdf_text(model, unsupported="drop")
    assert what in str(report.at_level("dropped")[0])
    assert kt.load(text).nv == 1


def test_equipment_and_gravity_are_refused_together():
    """One error names all that would be lost."""
    b = arm()
    b.gravity = (0.0, 0.0, -1.62)
    b.equipment = Equipment(actuators=(Actuator("motor", "joint", "joint"),), keyframes=(Keyframe("home", {}),))
    with pytest.raises(UnsupportedError) as error:
        kt.io.to_urdf(b.build())
    for what in ("gravity (0.0, 0.0, -1.62)", "actuators ('motor')", "keyframes ('home')"):
        assert what in str(error.value)


def test_joints_that_urdf_does_not_have():
    """They cannot be left out, so they are refused by name whatever the option says."""
    b = kt.ModelBuilder("screw")
    b.add_body("nut", joint=Helical(pitch=0.1), joint_name="thread", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(UnsupportedError, match="'thread'"):
        kt.io.to_urdf(b.build(), unsupported="drop")


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind not in URDF_KINDS])
def test_every_other_kind_is_refused_by_name(kind):
    """No kind of joint is taken for another one that has the same number of freedoms."""
    example = next(iter(JOINTS[kind].examples(np.random.default_rng(0))))
    b = kt.ModelBuilder("other")
    b.add_body("body", joint=example, joint_name="odd", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(UnsupportedError, match="'odd'"):
        kt.io.to_urdf(b.build(), unsupported="drop")


def test_damping_of_joints_with_several_freedoms():
    """URDF gives it no units, so the reader refuses it, and so does the writer."""
    b = kt.ModelBuilder("ball")
    b.add_body("ball", joint=Free(), mass=1.0, inertia=(1, 1, 1), damping=0.1)
    with pytest.raises(UnsupportedError, match="damping of floating joints"):
        kt.io.to_urdf(b.build())


def test_impossible_inertia_is_written_as_it_is():
    """The report says how such a file is read."""
    b = kt.ModelBuilder("odd", accept_impossible_inertia=True)
    b.add_body("link", joint=Revolute(), mass=1.0, inertia=(1, 1, 3))
    text, report = urdf_text(b.build())
    assert "inertia='accept'" in str(report)
    assert_alike(kt.load(text, inertia="accept"), b.build())


def test_other_numberings_are_reported():
    """A model that is not numbered depth first is read in another order of q; the report warns."""
    b = arm()
    b.add_body("other", joint=Planar(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("hand", "link", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    text, report = urdf_text(b.build())
    assert "depth first" in str(report)
    assert kt.load(text).body_names == ("world", "link", "hand", "other")


def test_long_chains():
    """A chain of a thousand links is no recursion."""
    b = kt.ModelBuilder("chain")
    for k in range(1000):
        parent = f"link{k - 1}" if k else "world"
        b.add_body(f"link{k}", parent, Revolute((0, 1, 0)), None, ((0, 0, 1), (0, 0, 0)), mass=1.0, inertia=(1, 1, 1))
    model = b.build()
    assert kt.load(kt.io.to_urdf(model)).structure() == model.structure()


# Files -----------------------------------------------------------------------------------------------------------


def test_save_takes_the_format_from_the_suffix(tmp_path):
    """And says which it knows."""
    kt.save(arm().build(), tmp_path / "arm.urdf")
    assert kt.load(tmp_path / "arm.urdf").body_names == ("world", "link")
    with pytest.raises(UnsupportedError, match=r"\.foo"):
        kt.save(arm().build(), tmp_path / "arm.foo")
    with pytest.raises(UnknownNameError, match="collada"):
        kt.save(arm().build(), tmp_path / "arm.foo", format="collada")


def test_save_replaces_a_file_or_leaves_it(tmp_path):
    """An existing file is replaced; a model that cannot be written leaves it, and no draft stays behind."""
    path = tmp_path / "arm.urdf"
    path.write_text("old")
    with pytest.raises(UnsupportedError):
        kt.save(arm(armature=1.0).build(), path)
    assert path.read_text() == "old"
    kt.save(arm().build(), path)
    assert path.read_text().startswith("<?xml")
    assert [p.name for p in tmp_path.iterdir()] == ["arm.urdf"]


def test_save_through_a_link(tmp_path):
    """A symbolic link stays a link to the file that is written."""
    (tmp_path / "real.urdf").write_text("old")
    (tmp_path / "link.urdf").symlink_to(tmp_path / "real.urdf")
    kt.save(arm().build(), tmp_path / "link.urdf")
    assert (tmp_path / "link.urdf").is_symlink()
    assert kt.load(tmp_path / "real.urdf").nv == 1


def test_names_of_meshes(tmp_path):
    """As the model holds them, relative to the file, or not at all."""
    mesh = tmp_path / "meshes" / "a b.stl"
    mesh.parent.mkdir()
    mesh.write_bytes(b"solid")
    shapes = [Geometry("mesh", mesh=str(mesh), scale=(1, 2, 3)), Geometry("mesh", mesh="package://far/away.stl")]
    model = arm(geometry=[Geometry(**{**_fields(s), "role": "visual"}) for s in shapes]).build()
    path = tmp_path / "robot" / "arm.urdf"
    path.parent.mkdir()
    for choice in ("keep", "relative"):
        kt.save(model, path, meshes=choice)
        assert_shapes_alike(kt.load(path), model)
    assert "../meshes/a b.stl" in path.read_text()
    report = kt.save(model, path, meshes="drop")
    assert "mesh" not in path.read_text()
    assert len(report) == 2


def _fields(shape: Geometry) -> dict:
    return {name: getattr(shape, name) for name in shape.__dataclass_fields__}


def test_shapes_that_are_seen_and_touched():
    """URDF has two elements for them; the report says so."""
    text, report = urdf_text(arm(geometry=[Geometry("sphere", (0.1,), name="ball")]).build())
    assert [g.role for g in kt.load(text).geometry[1]] == ["visual", "collision"]
    assert "'ball'" in str(report)


def test_unprintable_names_are_refused():
    """XML has no way to write a control character."""
    b = kt.ModelBuilder("o\x01dd")
    b.add_body("a", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(UnsupportedError, match="XML cannot hold"):
        kt.io.to_urdf(b.build())
