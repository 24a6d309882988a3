"""The choice of contact pairs: filters, names, materials, meshes, and real robots."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import ContactPair, Ground, Material, Shape
from kinetree.errors import ArgumentError, GeometryError, ModelError, UnknownNameError, UnsupportedError
from kinetree.model.contact_shapes import extreme_points
from tests.engines.robots import robot_path

FEET = ("LF_FOOT", "LH_FOOT", "RF_FOOT", "RH_FOOT")


def chain(n: int = 4, spacing: float = 1.0, **shape) -> kt.Model:
    """A chain of bodies that slide along x, a ball on each."""
    b = kt.ModelBuilder("chain")
    for k in range(n):
        ball = kt.model.Geometry("sphere", (0.1,), name=f"ball{k}", **shape)
        parent = f"link{k - 1}" if k else "world"
        b.add_body(f"link{k}", parent, kt.joints.Prismatic((1, 0, 0)), placement=((spacing, 0, 0), (0, 0, 0)), mass=1.0,
                   geometry=[ball])  # fmt: skip
    return b.build()


def names(model: kt.Model) -> set[str]:
    """Names of the contact pairs."""
    return {pair.name for pair in model.contacts}


def test_neighbors_do_not_touch():
    """Pairs of different bodies but parent and child; none with the ground unless it is given."""
    model = chain().with_contacts(self_collision=True)
    assert names(model) == {"ball0/ball2", "ball0/ball3", "ball1/ball3"}
    model = chain().with_contacts(ground=-1.0, self_collision=True)
    assert {f"ground/ball{k}" for k in range(4)} <= names(model)


def test_fixed_joints_weld_neighbors():
    """Bodies that a fixed joint connects count as one."""
    b = kt.ModelBuilder.of(chain(2))
    ball = kt.model.Geometry("sphere", (0.1,))
    b.add_body("tip", "link1", mass=1.0, placement=((0, 1, 0), (0, 0, 0)), geometry=[ball])
    for merge in (True, False):
        assert not b.build(merge_fixed=merge).with_contacts(self_collision=True).contacts


def test_loop_joints_make_neighbors():
    """The ends of a loop joint do not touch."""
    model = chain(3)
    loop = kt.constraints.LoopJoint("loop", kt.joints.Prismatic((1, 0, 0)), "link0", "link2")
    assert not model.with_constraints(loop).with_contacts(self_collision=True).contacts


def test_overlapping_pairs_are_left_out():
    """Shapes that overlap in the neutral position, with a line in the report."""
    model = chain(spacing=0.09).with_contacts(self_collision=True)
    assert names(model) == {"ball0/ball3"}
    assert "2 pairs overlap in the neutral position and are left out: ball0/ball2, ball1/ball3" in str(model.report)


def test_filters_of_the_file():
    """Filter bits that match in no order, exclusions, and pairs that the file lists."""
    model = chain(contype=2, conaffinity=1)
    assert not model.with_contacts(self_collision=True).contacts
    assert len(model.with_contacts(ground=-1.0).contacts) == 4
    excludes = (kt.model.ContactExclude("link0", "link2"),)
    excluded = chain().replace(equipment=kt.model.Equipment(contact_excludes=excludes))
    assert names(excluded.with_contacts(self_collision=True)) == {"ball0/ball3", "ball1/ball3"}
    listed = (kt.model.GeometryPair("ball0", "ball1", friction=(0.3, 0.1), margin=0.2),)
    model = model.replace(equipment=kt.model.Equipment(contact_pairs=listed))
    (pair,) = model.with_contacts(self_collision=True).contacts
    assert (pair.name, pair.friction, pair.margin) == ("ball0/ball1", 0.3, 0.2)


def test_materials():
    """Ground: its own numbers. Bodies: the greater friction, or that of the higher priority; springs in series."""
    b = kt.ModelBuilder("two")
    own = dict(friction=(0.5,), stiffness=1e4, damping=10.0), dict(friction=(0.2,), restitution=0.3, stiffness=3e4)
    for k, data in enumerate(own):
        ball = kt.model.Geometry("sphere", (0.1,), name=f"ball{k}", **data)
        b.add_body(f"body{k}", joint=kt.joints.Free(), mass=1.0, inertia=np.eye(3), geometry=[ball],
                   placement=((k, 0, 0), (0, 0, 0)))  # fmt: skip
    (*grounded, pair) = b.build().with_contacts(ground=Ground(friction=0.1), self_collision=True).contacts
    assert [x.friction for x in grounded] == [0.1, 0.1]
    assert (pair.friction, pair.restitution, round(pair.stiffness, 6)) == (0.5, 0.3, 7500.0)
    assert pair.relaxation_time == 1e-3
    icy = b.build().with_contacts(ground=True, self_collision=True, material=Material(friction=0.0))
    assert {x.friction for x in icy.contacts} == {0.0}


def test_pairs_by_name():
    """Of shapes, links, bodies and the ground; they take the place of the chosen pairs of the same shapes."""
    model = chain().with_contacts(ground=-1.0, pairs=[("ground", "link1", Material(friction=0.3)), ("ball0", "link1")])
    friction = {pair.name: pair.friction for pair in model.contacts}
    assert friction == {"ground/ball0": 0.8, "ground/ball2": 0.8, "ground/ball3": 0.8, "ground/ball1": 0.3,
                        "ball0/ball1": 0.8}  # fmt: skip
    assert names(chain().with_contacts(ground=True, bodies=("link1", "ball3"))) == {"ground/ball1", "ground/ball3"}


def test_floor_of_a_file(tmp_path):
    """A plane of the world is the ground for True; a Ground takes its place; boxes of the world take part."""
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" pos="0 0 -0.5" friction="0.3"/>
    <geom name="step" type="box" size="1 1 0.1" pos="3 0 0"/>
    <body name="b"><freejoint/><geom name="ball" size="0.1" mass="1" friction="0.2"/></body></worldbody></mujoco>"""
    (tmp_path / "scene.xml").write_text(text)
    model = kt.load(tmp_path / "scene.xml")
    taken = model.with_contacts(ground=True)
    assert {p.name: p.friction for p in taken.contacts} == {"floor/ball": 0.3, "step/ball": 1.0}
    q = taken.neutral()
    np.testing.assert_allclose(kt.collision.contact_gaps(taken, q)[0], q[2] + 0.4)
    assert names(model.with_contacts(ground=-2.0)) == {"ground/ball", "step/ball"}


def test_wrong_choices_are_named():
    """Unknown names and options, meshes, bodies without shapes."""
    model = chain()
    with pytest.raises(UnknownNameError, match="no body, link or shape named 'foot'"):
        model.with_contacts(ground=True, bodies="foot")
    with pytest.raises(UnknownNameError, match="ball7"):
        model.with_contacts(pairs=[("ball0", "ball7")])
    with pytest.raises(ArgumentError, match="pairs is .*expected a kt.collision.ContactPair, two names"):
        model.with_contacts(pairs=[("ball0",)])
    with pytest.raises(ArgumentError, match="ground is 'floor', expected True"):
        model.with_contacts(ground="floor")
    with pytest.raises(ArgumentError, match="material is 0.5"):
        model.with_contacts(ground=True, material=0.5)
    with pytest.raises(ModelError, match="between two shapes of body 'link0'"):
        foot, plane = Shape("link0", "sphere", (0.1,), name="a"), Shape("link0", "plane", name="b")
        model.with_contacts(pairs=[ContactPair("x", plane, foot)])
    drum = kt.ModelBuilder.of(chain(3, conaffinity=0, contype=0))
    for body in ("link0", "link2"):
        drum.add_geometry(body, kt.model.Geometry("cylinder", (0.1, 0.2), name=f"drum {body}"))
    drum = drum.build()
    assert "left out: 1 of cylinder and cylinder" in str(drum.with_contacts(self_collision=True).report)
    with pytest.raises(UnsupportedError, match="no law for a cylinder and a cylinder"):
        drum.with_contacts(pairs=[("link0", "link2")])


def test_few_corners_of_a_hull():
    """A box with thousands of points keeps its corners; a ball of points is approximated from inside."""
    rng = np.random.default_rng(0)
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], dtype=float)
    found = extreme_points(np.vstack([rng.uniform(-0.99, 0.99, (2000, 3)) * (1, 2, 3), corners]), 16)
    assert sorted(map(tuple, found)) == sorted(map(tuple, corners))
    ball = rng.normal(size=(2000, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    found = extreme_points(ball, 16)
    assert len({*map(tuple, found)}) == 16
    heights = (found @ rng.normal(size=(3, 50))).max(axis=0)
    assert heights.min() > 0.0


def test_feet_of_anymal():
    """Four spheres that are welded to the shanks, by the names of their links; gaps by the poses of these."""
    model = kt.load(robot_path("anymal_b"), floating_base=True, inertia="project")
    feet = model.with_contacts(ground=Ground(height=-1.0), bodies=FEET)
    assert sorted(feet.contact_labels) == [f"ground/{foot}" for foot in FEET]
    q, _ = feet.random_state(np.random.default_rng(0))
    gaps = dict(zip(feet.contact_labels, kt.collision.contact_gaps(feet, q), strict=True))
    for pair in feet.contacts:
        link = pair.second.name
        (shape,) = [s for body in model.geometry for s in body if s.link == link and s.role != "visual"]
        R, p = kt.pose(feet, q, frame=pair.second.body)
        assert abs(gaps[pair.name] - ((p + R @ shape.p_BG)[2] + 1.0 - shape.size[0])) < 1e-12
    both = model.with_contacts(ground=True, self_collision=True)
    assert len(both.contacts) > 200 and "cylinder and cylinder" in str(both.report)


@pytest.mark.parametrize(("robot", "foot"), [("solo12", "FL_FOOT"), ("talos_reduced", "leg_left_6_link")])
def test_feet_that_are_meshes(robot, foot):
    """An error that names them; hulls and boxes whose lowest point is that of the mesh, within 3 mm for hulls."""
    pytest.importorskip("trimesh")
    model = kt.load(robot_path(robot), floating_base=True)
    with pytest.raises(ModelError, match=rf"'{foot}' \(mesh\). meshes='hull' takes"):
        model.with_contacts(ground=True, bodies=foot)
    (mesh,) = [s for body in model.geometry for s in body if s.kind == "mesh" and s.role != "visual"
               and foot in (s.link, model.body_names[model.geometry.index(body)])][:1]  # fmt: skip
    on = next(model.body_names[i] for i, body in enumerate(model.geometry) if mesh in body)
    q = model.neutral()
    R, p = kt.pose(model, q, frame=on)
    corners = p + (mesh.p_BG + kt.geometry.read_mesh(mesh).vertices @ mesh.R_BG.T) @ R.T
    for meshes, slack in (("hull", 3e-3), ("box", 1e-9)):
        c = model.with_contacts(ground=True, bodies=foot, meshes=meshes)
        assert abs(kt.collision.contact_gaps(c, q).min() - corners[:, 2].min()) < slack


def test_a_missing_mesh_is_named():
    """The file, where meshes are used; not where they are left out."""
    b = kt.ModelBuilder.of(chain(1))
    b.add_geometry("link0", kt.model.Geometry("mesh", mesh="nowhere.stl", name="shell"))
    model = b.build()
    with pytest.raises(GeometryError, match=r"nowhere\.stl"):
        model.with_contacts(ground=True, meshes="hull")
    rest = model.with_contacts(ground=True, meshes="skip")
    assert names(rest) == {"ground/ball0"} and "without a law are left out: 'shell (mesh)'" in str(rest.report)
    b.add_geometry("world", kt.model.Geometry("mesh", mesh="nowhere.stl", name="rock"))
    assert "left out: 'rock (mesh)'" in str(b.build().with_contacts(ground=True, bodies="ball0").report)


def test_shapes_without_size_are_named():
    """Where a robot has no other shapes, the error has the file's line of those that were left out."""
    text = (
        '<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
        'iyz="0"/></inertial><collision><geometry><box size="0 1 1"/></geometry></collision></link></robot>'
    )
    robot = kt.load(text, floating_base=True)
    with pytest.raises(ModelError, match=r"ignored.*link\[base\]/collision ignored: a box of size \(0.0, 1.0, 1.0\)"):
        robot.with_contacts(ground=True)
