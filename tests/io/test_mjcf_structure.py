"""What an MJCF file describes, as a kinetree model: names, frames, bases, keyframes, shapes, meshes."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import kinetree as kt
from kinetree import load
from kinetree.errors import ModelError, UnknownNameError
from kinetree.io.mjcf.read import load_mjcf
from kinetree.spatial.rotations import quaternion_to_rotation

mujoco = pytest.importorskip("mujoco")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo itself, beside which models are put here, writes warnings into the working folder."""
    monkeypatch.chdir(tmp_path)


BALL = '<geom size=".1"/>'


def world(content, head=""):
    return f"<mujoco>{head}<worldbody>{content}</worldbody></mujoco>"


def test_several_joints_on_a_body_become_a_chain_with_the_bodys_name_at_its_end():
    """Links between are named body/joint; the frame of the body's name stays where the file has it."""
    joints = '<joint name="x" pos="0 0 1" axis="1 0 0"/><joint name="y"/>'
    model = load_mjcf(world(f'<body name="leg">{joints}{BALL}</body>'))
    assert model.body_names == ("world", "leg/x", "leg")
    assert model.joint_names == ("x", "y")
    model = load_mjcf(world(f'<body name="leg" pos="1 2 3"><joint name="x" pos="0 0 1"/>{BALL}</body>'))
    np.testing.assert_allclose(list(model.X_T[1].r), [1.0, 2.0, 4.0])
    R, p = kt.pose(model, [0.0], frame="leg")
    np.testing.assert_allclose(p, [1.0, 2.0, 3.0])


def test_names_are_invented_once_and_never_clash():
    """Unnamed bodies and joints get the kind and MuJoCo's number, unless the file has that name already."""
    inner = f'<body name="body_1"><joint/><joint name="joint_0" axis="1 0 0"/>{BALL}</body>'
    model = load_mjcf(world(f"<body><joint/>{BALL}{inner}</body>"))
    assert model.body_names == ("world", "body_1_2", "body_1/joint_1", "body_1")
    assert model.joint_names == ("joint_0_2", "joint_1", "joint_0")


def test_a_site_with_the_name_of_a_body_gets_another():
    """Bodies and sites are frames of one model; the report names the sites that were renamed."""
    model = load_mjcf(world(f'<body name="hand"><joint/>{BALL}<site name="hand" pos="0 0 2"/></body>'))
    np.testing.assert_allclose(model.frame("hand_site").p_BF, [0.0, 0.0, 2.0])
    assert "'hand'" in str(model.report)


def test_bodies_without_joints_merge_or_stay():
    """merge_fixed=True adds their inertia to the parent, and their frames stay."""
    text = world(f'<body name="a"><joint/>{BALL}<body name="b" pos="1 0 0">{BALL}</body></body>')
    merged, kept = load_mjcf(text), load_mjcf(text, merge_fixed=False)
    assert (merged.nb, kept.nb) == (2, 3)
    assert merged.I[1].m == pytest.approx(kept.I[1].m + kept.I[2].m)
    np.testing.assert_allclose(merged.frame("b").p_BF, [1.0, 0.0, 0.0])


def test_two_trees_stand_on_one_world():
    """Several children of the world are several trees of one model."""
    model = load_mjcf(world(f'<body name="a"><joint/>{BALL}</body><body name="b"><freejoint/>{BALL}</body>'))
    assert model.parent == (-1, 0, 0) and (model.nq, model.nv) == (8, 7)


def test_mocap_bodies_stand_still_with_a_warning():
    """Their motion is the user's in MuJoCo."""
    model = load_mjcf(world(f'<body name="m" mocap="true" pos="1 0 0">{BALL}</body><body><joint/>{BALL}</body>'))
    np.testing.assert_allclose(model.frame("m").p_BF, [1.0, 0.0, 0.0])
    assert any("mocap body 'm'" in entry.message for entry in model.report.at_level("warning"))


# Bases ---------------------------------------------------------------------------------------------------------------

ARM = f'<body name="arm"><joint name="j"/>{BALL}</body>'
FIXED = world(f'<body name="base" pos="1 2 3" quat="0 1 0 0">{BALL}{ARM}</body>')
FLOATING = world(f'<body name="base" pos="1 2 3" quat="0 1 0 0"><freejoint name="root"/>{BALL}</body>')


def test_floating_base_frees_the_root():
    """The root gets the free joint of that name, and starts where the file puts it."""
    model = load_mjcf(FIXED, floating_base=True, base_joint="base_free")
    assert model.joint_names[0] == "base_free" and (model.nq, model.nv) == (8, 7)
    q, _ = model.keyframe("initial")
    np.testing.assert_allclose(q, [1, 2, 3, 0, 1, 0, 0, 0])
    assert load_mjcf(FLOATING, floating_base=True).joint_names == ("root",)


def test_a_base_can_be_fixed_where_the_file_puts_it():
    """floating_base=False takes the free joint out; a file without one is as asked already."""
    model = load_mjcf(FLOATING, floating_base=False)
    assert model.nq == 0
    frame = model.frame("base")
    np.testing.assert_allclose(frame.p_BF, [1, 2, 3])
    np.testing.assert_allclose(frame.R_BF, np.diag([1.0, -1.0, -1.0]), atol=1e-15)
    assert "made fixed" in str(model.report)
    assert load_mjcf(FIXED, floating_base=False).nq == 1


def test_which_base_must_be_clear():
    """Two free bodies, two roots, or a root with a joint of its own are named."""
    two = world(f'<body name="a"><freejoint/>{BALL}</body><body name="b"><freejoint/>{BALL}</body>')
    with pytest.raises(ModelError, match="2 bodies move freely: 'joint_0' of body 'a', 'joint_1' of body 'b'"):
        load_mjcf(two, floating_base=False)
    with pytest.raises(ModelError, match="2 free joints"):
        load_mjcf(two, floating_base=True)
    roots = world(f'<body name="a">{BALL}</body><body name="b">{BALL}</body>')
    with pytest.raises(ModelError, match="there are several: 'a', 'b'"):
        load_mjcf(roots, floating_base=True)
    with pytest.raises(ModelError, match="joint 'j' already moves 'a'"):
        load_mjcf(world(f'<body name="a"><joint name="j"/>{BALL}</body>'), floating_base=True)


def test_a_fixed_base_takes_its_drives_and_keyframes_with_it():
    """What refers to the joint that is gone is left out with a warning, the rest stays."""
    text = FLOATING.replace(
        "</mujoco>",
        '<actuator><motor name="m" joint="root"/></actuator><keyframe><key name="k" '
        'qpos="0 0 1 1 0 0 0"/></keyframe></mujoco>',
    )
    model = load_mjcf(text, floating_base=False)
    assert model.actuators == () and model.keyframes == ("k",) and "actuator 'm'" in str(model.report)


# Keyframes -----------------------------------------------------------------------------------------------------------


def test_keyframes_are_states_of_the_model():
    """Positions as they are, a free joint's velocity in our axes: MuJoCo's is linear in the world's, then angular."""
    text = world(f'<body><freejoint name="f"/>{BALL}<body><joint name="j" ref="10"/>{BALL}</body></body>').replace(
        "</mujoco>", '<keyframe><key name="k" qpos="1 2 3 2 0 0 2 .5" qvel="1 2 3 4 5 6 7"/></keyframe></mujoco>'
    )
    model = load_mjcf(text)
    q, v = model.keyframe("k")
    np.testing.assert_allclose(q, [1, 2, 3, np.sqrt(0.5), 0, 0, np.sqrt(0.5), 0.5])
    E = np.array(quaternion_to_rotation(q[3:7]).matrix.rows)
    np.testing.assert_allclose(v, [4, 5, 6, *(E @ [1, 2, 3]), 7], atol=1e-15)


def test_the_state_that_the_file_shows_is_the_keyframe_initial():
    """MuJoCo's qpos0: the poses of free bodies, and joints at their ref."""
    model = load_mjcf(world(f'<body pos="0 0 2"><freejoint/>{BALL}<body><joint ref="90"/>{BALL}</body></body>'))
    np.testing.assert_allclose(model.keyframe("initial")[0], [0, 0, 2, 1, 0, 0, 0, np.pi / 2])
    assert load_mjcf(world(f"<body><joint/>{BALL}</body>")).keyframes == ()


# Shapes --------------------------------------------------------------------------------------------------------------


def shapes(content, **options):
    return load_mjcf(world(f"<body><freejoint/>{content}</body>"), **options).geometry[1]


@pytest.mark.parametrize(
    ("geom", "kind", "size"),
    [
        ('type="sphere" size=".1"', "sphere", (0.1,)),
        ('type="capsule" size=".1 .2"', "capsule", (0.1, 0.4)),
        ('type="cylinder" size=".1 .2"', "cylinder", (0.1, 0.4)),
        ('type="box" size=".1 .2 .3"', "box", (0.2, 0.4, 0.6)),
        ('type="ellipsoid" size=".1 .2 .3"', "ellipsoid", (0.1, 0.2, 0.3)),
    ],
)
def test_sizes_of_geoms_are_whole_lengths(geom, kind, size):
    """MuJoCo gives half lengths of boxes, cylinders and capsules."""
    (shape,) = shapes(f'<geom name="g" {geom} pos="1 2 3" rgba="1 0 0 .5"/>')
    assert (shape.kind, shape.name, shape.color) == (kind, "g", (1.0, 0.0, 0.0, 0.5))
    np.testing.assert_allclose(shape.size, size)
    np.testing.assert_allclose(shape.p_BG, [1, 2, 3])


def test_roles_follow_contact_bits_and_groups():
    """No contact bits: visual; group 3 and above: collision; else both. A pair makes a geom collide."""
    found = shapes('<geom size=".1" contype="0" conaffinity="0"/><geom size=".1" group="3"/><geom size=".1"/>')
    assert [shape.role for shape in found] == ["visual", "collision", "both"]
    text = world(f'<body><joint/><geom name="a" size=".1" contype="0" conaffinity="0"/></body><body name="c"><joint/>'
                 f'<geom name="b" size=".1"/>{BALL}</body>')  # fmt: skip
    text = text.replace("</mujoco>", '<contact><pair geom1="a" geom2="b"/></contact></mujoco>')
    assert load_mjcf(text).geometry[1][0].role == "both"


def test_the_color_of_a_material_shows_through():
    """A geom without a color of its own has that of its material."""
    head = '<asset><material name="red" rgba="1 0 0 1"/></asset>'
    model = load_mjcf(world('<body><freejoint/><geom size=".1" material="red"/></body>', head))
    assert model.geometry[1][0].color == (1.0, 0.0, 0.0, 1.0) and model.geometry[1][0].material == "red"


def test_height_fields_are_shapes():
    """They are kept with their data, for queries of distance."""
    head = '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>'
    model = load_mjcf(world(f'<geom name="hill" type="hfield" hfield="h"/><body><freejoint/>{BALL}</body>', head))
    assert [(g.kind, g.name) for g in model.geometry[0]] == [("heightfield", "hill")]


def write_stl(path, vertices, faces):
    """A binary STL file."""
    data = bytes(80) + struct.pack("<I", len(faces))
    for face in faces:
        data += struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in vertices[k]), 0)
    path.write_bytes(data)


WEDGE = [(0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 1.0)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def mesh_model(file, body, compiler=""):
    return f"""<mujoco><compiler {compiler}/><asset><mesh name="m" file="{file}" scale="1 2 1"/></asset><worldbody>
    <body name="b"><freejoint/>{body}</body></worldbody></mujoco>"""


GEOM = '<geom type="mesh" mesh="m" pos="1 0 0" quat="1 0 1 0"/>'
INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


def test_the_frame_of_a_mesh_is_that_of_its_file(tmp_path):
    """MuJoCo moves vertices to the center of mass and the principal axes; the pose here undoes that."""
    write_stl(tmp_path / "wedge.stl", WEDGE, FACES)
    (tmp_path / "a.xml").write_text(mesh_model("wedge.stl", GEOM))
    model = load(tmp_path / "a.xml")
    (shape,) = model.geometry[1]
    assert shape.mesh == str(tmp_path / "wedge.stl") and shape.scale == (1.0, 2.0, 1.0)
    np.testing.assert_allclose(shape.p_BG, [1, 0, 0], atol=1e-6)  # vertices are stored in single precision
    np.testing.assert_allclose(shape.R_BG, [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=1e-6)


def test_a_missing_mesh_costs_a_picture_only(tmp_path):
    """Where <inertial> gives the mass the model loads and says so; where the mesh gives it, the file is refused."""
    (tmp_path / "a.xml").write_text(mesh_model("missing.stl", INERTIAL + GEOM))
    model = load(tmp_path / "a.xml")
    assert model.I[1].m == 1.0 and model.geometry[1][0].mesh == "missing.stl"
    assert "mesh 'm' is not read (no file missing.stl); no inertia depends on it" in str(model.report)
    (tmp_path / "b.xml").write_text(mesh_model("missing.stl", GEOM))
    with pytest.raises(kt.errors.MJCFError, match=r"b\.xml:1: .*missing\.stl"):
        load(tmp_path / "b.xml")


def test_an_unreadable_mesh_costs_a_picture_only(tmp_path):
    """The same for a file that MuJoCo cannot read."""
    (tmp_path / "m.stl").write_bytes(b"solid nothing")
    (tmp_path / "a.xml").write_text(mesh_model("m.stl", INERTIAL + GEOM))
    assert "mesh 'm' is not read" in str(load(tmp_path / "a.xml").report)


def test_meshes_of_packages_are_found(tmp_path):
    """package:// names, which MuJoCo does not know, are looked up in package_dirs."""
    (tmp_path / "robot").mkdir()
    write_stl(tmp_path / "robot" / "wedge.stl", WEDGE, FACES)
    text = mesh_model("package://robot/wedge.stl", GEOM)
    assert load_mjcf(text, package_dirs=[tmp_path]).geometry[1][0].mesh == str(tmp_path / "robot" / "wedge.stl")


def test_textures_are_never_opened(tmp_path):
    """A missing texture does not hinder a model."""
    head = '<asset><texture name="t" type="2d" file="none.png"/><material name="m" texture="t"/></asset>'
    assert load_mjcf(world('<body><joint/><geom size=".1" material="m"/></body>', head)).nv == 1


def test_textures_without_names_do_not_matter():
    """A sky has none; others are called as their files, and materials name them so."""
    head = (
        '<asset><texture type="skybox" builtin="gradient" width="8" height="8"/><texture type="2d" file="a/wood.png"/>'
        '<texture type="skybox" file="sky.png"/><material name="m" texture="wood"/></asset>'
    )
    assert load_mjcf(world('<body><joint/><geom size=".1" material="m"/></body>', head)).nv == 1


# Choices -------------------------------------------------------------------------------------------------------------


def test_unknown_choices_are_refused():
    """An option lists its values."""
    for option in ("unsupported", "inertia", "massless", "floating_base"):
        with pytest.raises(UnknownNameError, match=f"{option}=.*Known"):
            load_mjcf(FIXED, **{option: "perhaps"})


def test_name_of_the_model(tmp_path):
    """The attribute model, else the file's name, unless the caller gives one."""
    assert load_mjcf('<mujoco model="m"><worldbody><geom size="1"/></worldbody></mujoco>').name == "m"
    (tmp_path / "leg.xml").write_text(FIXED)
    assert load(tmp_path / "leg.xml").name == "leg" and load(tmp_path / "leg.xml", name="n").name == "n"


def body_with(inertial):
    return world(f'<body name="b"><joint/><inertial pos="1 0 0" {inertial}/></body>')


IMPOSSIBLE = 'mass="1" fullinertia="1 1 3 .1 0 0"'


def test_impossible_inertias_are_refused_or_settled_as_asked():
    """The choices mean what they mean in URDF; MuJoCo's compiler, which refuses all, is led around."""
    with pytest.raises(kt.errors.InertiaError, match=r"<string>:1: body 'b': principal moments .* break I3 <= I1"):
        load_mjcf(body_with(IMPOSSIBLE))

    def central(choice):
        I = load_mjcf(body_with(IMPOSSIBLE), inertia=choice).I[1]
        return np.array(I.I.matrix.rows) - np.diag([0.0, 1.0, 1.0])  # the mass is at (1, 0, 0)

    np.testing.assert_allclose(central("accept"), [[1, 0.1, 0], [0.1, 1, 0], [0, 0, 3]], atol=1e-15)
    moments = np.linalg.eigvalsh(central("project"))
    assert moments[2] <= moments[0] + moments[1] + 1e-12


def test_tilted_impossible_inertias_keep_their_axes():
    """A diagonal inertia in turned axes is settled in those."""
    text = body_with('quat="1 1 0 0" mass="1" diaginertia="1 3 1"')
    I = load_mjcf(text, inertia="accept").I[1]
    np.testing.assert_allclose(np.array(I.I.matrix.rows), np.diag([1.0, 2.0, 4.0]), atol=1e-12)


def test_bodies_without_mass_are_refused_or_taken_as_they_are():
    """massless="lock" keeps massless links between others, which MuJoCo refuses, and fixes joints that move nothing."""
    inner = f'<body name="b"><joint name="jb" axis="1 0 0"/>{BALL}</body>'
    text = world(f'<body name="a"><joint name="ja"/>{inner}</body><body name="c"><joint name="jc"/></body>')
    with pytest.raises(ModelError, match=r"<string>:1: body 'a' moves with mass 0 kg.*massless='lock'"):
        load_mjcf(text)
    model = load_mjcf(text, massless="lock")
    assert model.joint_names == ("ja", "jb") and model.I[1].m == 0.0
    assert "joint 'jc' moves no inertia: made fixed" in str(model.report)
