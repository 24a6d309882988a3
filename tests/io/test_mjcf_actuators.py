"""Every kind of actuator that MuJoCo has: computed, or named where it exerts a force without a control.

MuJoCo is the judge: at random states, with controls and activations of zero, and over some steps, in which an
activation may leave zero by itself.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.errors import UnsupportedError
from kinetree.io.mjcf.read import load_mjcf

mujoco = pytest.importorskip("mujoco")
if not hasattr(mujoco.mjtDyn, "mjDYN_PID"):
    pytest.skip("the kinds are those of MuJoCo 4", allow_module_level=True)

ROBOT = """<mujoco>{option}<worldbody><site name="w" pos="0 0 2"/>
<body name="a" pos="0 0 1"><joint name="hinge" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/><site name="s" pos=".3 0 0"/>
<body name="b" pos=".4 0 0"><joint name="ball" type="ball"/><geom type="ellipsoid" size=".1 .05 .03" pos=".1 0 0"/>
<site name="t" pos=".1 .05 0"/>
<body name="c" pos=".3 0 0"><joint name="slide" type="slide" axis="1 0 0" {slide}/><geom size=".1"/><site name="u"/>
</body></body></body></worldbody>
<tendon><spatial name="cord"><site site="w"/><site site="s"/></spatial></tendon>
<actuator>{actuators}</actuator></mujoco>"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo itself, beside which models are put here, writes warnings into the working folder."""
    monkeypatch.chdir(tmp_path)


def robot(*actuators, option="", slide=""):
    """A file with these actuators; shapes do not touch."""
    text = ROBOT.format(actuators="".join(actuators), option=option, slide=slide)
    return text.replace("<geom ", '<geom contype="0" conaffinity="0" ')


def states(mj, count, seed=0):
    """Data of MuJoCo at random positions and velocities, controls and activations zero, forces computed."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(mj)
    for _ in range(count):
        mujoco.mj_resetData(mj, data)
        data.qpos[:] += rng.normal(size=mj.nq)
        mujoco.mj_normalizeQuat(mj, data.qpos)
        data.qvel[:] = rng.normal(size=mj.nv)
        mujoco.mj_forward(mj, data)
        yield data


def exerted(text, steps=0):
    """Which actuators exert a force in MuJoCo without a control, at some state or a few steps after."""
    mj = text if isinstance(text, mujoco.MjModel) else mujoco.MjModel.from_xml_string(text)
    found = np.zeros(mj.nactuator, dtype=bool)
    for data in states(mj, 12):
        for _ in range(steps + 1):
            for k in range(mj.nactuator):
                first = mj.actuator_outadr[k]
                found[k] |= bool(np.any(data.actuator_force[first : first + mj.actuator_outnum[k]]))
            if steps:
                mujoco.mj_step(mj, data)
                mujoco.mj_forward(mj, data)
    return found


# Laws ----------------------------------------------------------------------------------------------------------------

TRANSMISSIONS = {
    "joint": 'joint="hinge"',
    "jointinparent": 'jointinparent="ball"',
    "tendon": 'tendon="cord"',
    "site": 'site="t" refsite="s"',
    "slidercrank": 'cranksite="s" slidersite="u" cranklength=".9"',
    "body": 'body="c"',
    "so3": 'joint="ball"',
}
MUSCLE = ".75 1.05 5 200 .5 1.6 1.5 1.3 1.2"
GAINS = {"fixed": "2", "affine": ".3 .5 .7", "muscle": MUSCLE, "dcmotor": "1 .1", "so3": "3", "pid": "2", "user": "1"}
BIASES = {"none": "0", "affine": "0 -3 0", "muscle": MUSCLE, "dcmotor": ".1 2 .3", "so3": "0 -3 0", "user": "1"}
DYNAMICS = {name: ".1" for name in ("none", "integrator", "filter", "filterexact", "muscle", "pid", "user")} | {
    "dcmotor": "0"
}
ENUMERATIONS = {
    "mjtDyn": ("mjDYN_", set(DYNAMICS)),
    "mjtGain": ("mjGAIN_", set(GAINS)),
    "mjtBias": ("mjBIAS_", set(BIASES)),
    "mjtTrn": ("mjTRN_", {*TRANSMISSIONS, "undefined"}),
}


@pytest.mark.parametrize("enumeration", ENUMERATIONS)
def test_the_lists_below_have_every_member_of_mujocos_enumerations(enumeration):
    """A law or transmission that a later MuJoCo brings is missing here until someone says what it does."""
    prefix, listed = ENUMERATIONS[enumeration]
    members = {name.removeprefix(prefix).lower() for name in dir(getattr(mujoco, enumeration)) if prefix in name}
    assert members == listed


def laws():
    """All combinations of laws and transmissions as <general>, as far as MuJoCo's compiler takes them, in one file."""
    taken = []
    for d, g, b, t in itertools.product(DYNAMICS, GAINS, BIASES, TRANSMISSIONS):
        early = ' actearly="true"' if "dcmotor" in (d, g) else ""
        text = (
            f'<general {TRANSMISSIONS[t]} name="{d} {g} {b} {t}" dyntype="{d}" gaintype="{g}" biastype="{b}" dynprm='
            f'"{DYNAMICS[d]}" gainprm="{GAINS[g]}" biasprm="{BIASES[b]}" lengthrange="-.1 .05"{early}/>'
        )
        try:
            mujoco.MjModel.from_xml_string(robot(text))
        except ValueError:
            continue
        taken.append(text)
    return robot(*taken)


@contextmanager
def callbacks():
    """Laws of a user, which exert something; MuJoCo's compiler cannot call them."""
    setters = mujoco.set_mjcb_act_dyn, mujoco.set_mjcb_act_gain, mujoco.set_mjcb_act_bias
    try:
        for setter in setters:
            setter(lambda model, data, k: 1.0)
        yield
    finally:
        for setter in setters:
            setter(None)


def test_every_law_that_exerts_a_force_without_a_control_is_unsupported():
    """All combinations of activation, gain, bias and transmission: unsupported where MuJoCo has a force, else not.

    An activation that leaves zero by itself shows in act_dot. What is named may have no force at these states where it
    acts on a body (at contacts, of which there are none here, and without a length), or has a part of a DC motor alone.
    """
    text = laws()
    mj = mujoco.MjModel.from_xml_string(text)
    with callbacks():
        force = exerted(mj)
        for data in states(mj, 2):
            for k in range(mj.nactuator):
                first, count = mj.actuator_actadr[k], mj.actuator_actnum[k]
                force[k] |= first >= 0 and bool(np.any(data.act_dot[first : first + count]))
    model = load_mjcf(text, unsupported="drop")
    named = {a.name: bool(a.forces) for a in model.actuators}
    dropped = str(model.report.at_level("dropped"))
    compared = 0
    for k in range(mj.nactuator):
        name = mj.actuator(k).name
        if mj.actuator_trntype[k] == mujoco.mjtTrn.mjTRN_SO3:  # computed; the torque is that of a set point of zero
            assert named[name] and f"'{name}'" not in dropped
            continue
        cautious = name.endswith(" body") or "dcmotor" in name.split()[:2]
        assert named[name] == force[k] or (cautious and named[name]), f"{name}: {force[k]} in MuJoCo"
        compared += 1
    assert compared > 900
    with pytest.raises(UnsupportedError, match="has parts that the complete dynamics do not compute"), kt.interpreted():
        kt.forward_dynamics(model, model.neutral(), np.zeros(model.nv), np.zeros(model.nv))


# Elements ------------------------------------------------------------------------------------------------------------

SHORTCUTS = {
    '<motor joint="hinge"/>': (),
    '<motor joint="hinge" gear="50" armature=".1" damping=".2"/>': (),
    '<motor joint="hinge" delay=".01" nsample="4" interp="linear"/>': (),
    '<general joint="hinge"/>': (),
    '<position joint="hinge" kp="200"/>': ("position servo",),
    '<position joint="hinge" kp="200" kv="3" timeconst=".1"/>': ("position servo",),
    '<position joint="slide" kp="200" inheritrange="1"/>': ("position servo",),
    '<position tendon="cord" kp="200" dampratio="1"/>': ("position servo",),
    '<velocity joint="hinge" kv="3"/>': ("velocity servo",),
    '<intvelocity joint="hinge" kp="3" actrange="-1 1"/>': ("position servo",),
    '<damper joint="hinge" kv="3" ctrlrange="0 1"/>': (),
    '<cylinder joint="hinge" timeconst="1" area="2"/>': (),
    '<cylinder joint="hinge" timeconst="1" area="2" bias="1 2 3"/>': ("affine bias",),
    '<general joint="hinge" biastype="affine" biasprm="0 -2 0" gainprm="0"/>': ("affine bias",),
    '<general joint="hinge" biastype="affine" biasprm="4 0 0"/>': ("affine bias",),
    '<muscle tendon="cord" lengthrange=".1 .4"/>': ("passive force of a muscle",),
    '<muscle joint="hinge" lengthrange="-1 1" force="30"/>': ("passive force of a muscle",),
    '<general tendon="cord" dyntype="muscle" gaintype="muscle" gainprm=".75 1.05 5 200 .5 1.6 1.5 1.3 1.2" '
    'lengthrange=".1 .4"/>': (),
    '<adhesion body="c" ctrlrange="0 1" gain="3"/>': (),
    '<dcmotor joint="hinge" motorconst=".1" resistance="1"/>': ("DC motor",),
    '<dcmotor joint="hinge" motorconst=".1" resistance="1" input="none"/>': ("DC motor",),
    '<dcmotor joint="hinge" motorconst=".1" resistance="1" inductance=".01"/>': ("DC motor",),
    '<pid joint="hinge" kp="3"/>': ("PID controller",),
    '<pid joint="hinge" kp="3" ki="2" imax="1"/>': ("PID controller",),
    '<pid joint="hinge" kp="3" input="pos"/>': ("PID controller",),
    '<plugin joint="hinge" name="p" plugin="mujoco.pid"><config key="kp" value="3"/></plugin>': (
        "plugin 'mujoco.pid'",
    ),
}
NOT_COMPUTED = {  # by how elements begin, and the part of their law
    '<motor joint="hinge" delay': "delay of the control", "<adhesion": "adhesion", "<plugin": "plugin 'mujoco.pid'",
}  # fmt: skip
EXTENSION = '<extension><plugin plugin="mujoco.pid"/></extension>'


def elements():
    """Elements of the section <actuator> that the installed MuJoCo knows."""
    lines = mujoco.mj_printSchema(False, False).splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("   actuator ("))
    after = next(n for n, line in enumerate(lines) if n > first and line[3] != " ")
    return {line.split()[0] for line in lines[first + 1 : after] if line.startswith("      ") and line[6] != " "}


def test_the_list_has_every_element_of_mujocos_schema():
    """What a later MuJoCo adds to <actuator> is missing here until someone says what it does."""
    tested = {text[1:].split()[0] for text in SHORTCUTS} | {"orientation"}
    assert tested == elements()


@pytest.mark.parametrize("text", SHORTCUTS)
def test_an_element_is_computed_or_unsupported_where_it_exerts_a_force_without_a_control(text):
    """Its control is an input of the model, or it is named in Model.unsupported and in the report."""
    source, forces = robot(text, option=EXTENSION, slide='range="-1 1"'), SHORTCUTS[text]
    assert exerted(source, steps=3).tolist() == [bool(forces)]
    model = load_mjcf(source)
    (actuator,) = model.actuators
    assert actuator.forces == forces and forces[:1] == tuple(x for x in forces[:1] if x in str(actuator))
    missing = next((reason for start, reason in NOT_COMPUTED.items() if text.startswith(start)), "")
    assert actuator.not_computed == missing
    assert model.unsupported == ((str(actuator),) if forces and missing else ())
    assert model.n_actuators == (not missing)
    assert model.nu == (len(actuator.inputs) if actuator.gain in ("pid", "dcmotor") else model.n_actuators)
    report, noun = str(model.report), "motor" if actuator.is_motor else "actuator"
    if not missing:
        assert f"1 {noun}, whose control is an input of the dynamics by name: 'actuator_0'" in report
    elif forces:
        assert f"1 actuator exerts forces that are not computed ({missing})" in report
    else:
        assert f"1 {noun} not computed ({missing}), which exerts nothing without a control: kept as data" in report


@pytest.mark.parametrize("target", ['joint="ball"', 'site="t" refsite="w"'])
@pytest.mark.parametrize("chart", ["expmap", "quat"])
def test_orientation_servos_are_computed(target, chart):
    """They exert a torque without a control: towards no rotation. `tests/forces` has their numbers."""
    source = robot(f'<orientation {target} kp="3" input="{chart}"/>')
    assert exerted(source).tolist() == [True]
    model = load_mjcf(source)
    assert model.unsupported == () and model.actuators[0].is_orientation_servo
    assert model.actuators[0].forces == ("orientation servo",)


# Ranges, switches, and what else lets a motor push -------------------------------------------------------------------

RANGES = {
    '<motor joint="hinge" ctrlrange="1 2"/>': "control range 1 to 2",
    '<motor joint="hinge" ctrlrange="-2 -1"/>': "control range -2 to -1",
    '<motor joint="hinge" ctrlrange="0 2"/>': "",
    '<motor joint="hinge" ctrlrange="1 2" ctrllimited="false"/>': "",
    '<general joint="hinge" gainprm="0" ctrlrange="1 2"/>': "",
    '<general joint="hinge" dyntype="filter" dynprm=".1" ctrlrange="1 2"/>': "control range 1 to 2",
    '<general joint="hinge" dyntype="integrator" ctrlrange="1 2"/>': "control range 1 to 2",
    '<general joint="hinge" dyntype="integrator" actrange="1 2"/>': "activation range 1 to 2",
    '<general joint="hinge" dyntype="integrator" actrange="-1 2"/>': "",
    '<motor joint="hinge" forcerange="1 2"/>': "force range 1 to 2",
    '<motor joint="hinge" forcerange="-1 2"/>': "",
    '<adhesion body="c" ctrlrange="1 2" gain="3"/>': "control range 1 to 2",
    '<damper joint="hinge" kv="3" ctrlrange="1 2"/>': "control range 1 to 2",
}


@pytest.mark.parametrize("text", RANGES)
def test_a_range_without_zero_is_a_force_without_a_control(text):
    """MuJoCo clamps a control, activation or force of zero into its range."""
    source, reason = robot(text), RANGES[text]
    assert exerted(source, steps=3).tolist() == [bool(reason)]
    assert load_mjcf(source).actuators[0].forces == ((reason,) if reason else ())


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ('<position joint="hinge" gear="0"/>', ""),
        ('<position joint="hinge"/>', '<option><flag actuation="disable"/></option>'),
        ('<position joint="hinge" group="2"/>', '<option actuatorgroupdisable="1 2"/>'),
        ('<motor joint="hinge" ctrlrange="1 2"/>', '<option><flag clampctrl="disable"/></option>'),
    ],
)
def test_what_is_switched_off_exerts_nothing(text, option):
    """Without a gear, by a flag, by its group; ranges of controls by their flag: accepted, and reported."""
    source = robot(text, option=option)
    mj = mujoco.MjModel.from_xml_string(source)
    assert not any(np.any(data.qfrc_actuator) for data in states(mj, 3))
    model = load_mjcf(source)
    assert model.unsupported == ()
    assert ("switched off" in str(model.report)) == bool(option)
    again = load_mjcf(kt.io.to_mjcf(model))
    assert again.unsupported == () and again.actuators == model.actuators


def test_another_group_is_not_switched_off():
    """Only those groups that the option names."""
    model = load_mjcf(robot('<position joint="hinge" group="3"/>', option='<option actuatorgroupdisable="1 2"/>'))
    assert model.actuators[0].active and model.n_actuators == 1


def test_a_force_range_of_a_joint_without_zero_pushes():
    """actuatorfrcrange clamps the sum of all actuators, of none too: MuJoCo pushes, if the file has any actuator."""
    source = robot('<motor joint="hinge"/>', slide='actuatorfrcrange="1 2"')
    mj = mujoco.MjModel.from_xml_string(source)
    assert all(data.qfrc_actuator[-1] == 1.0 for data in states(mj, 2))
    for text, expected in ((source, 1.0), (robot(slide='actuatorfrcrange="1 2"'), 0.0)):  # nothing without actuators
        model = load_mjcf(text)
        zero = np.zeros(model.nv)
        assert kt.dynamics.actuator_joint_forces(model, model.neutral(), zero)[model.coordinate("slide")] == expected


@pytest.mark.parametrize("joint", ["", 'actuatorgravcomp="true"'])
def test_gravity_compensation_is_mujocos(joint):
    """A body with gravcomp is carried, as a passive force or by the actuators of its joint."""
    source = robot('<motor joint="hinge"/>', slide=joint).replace('<body name="c"', '<body name="c" gravcomp="0.7"')
    mj, model = mujoco.MjModel.from_xml_string(source), load_mjcf(source)
    still, bare = [model.replace(forces=[f for f in model.own_elements if f.name.startswith(start)], equipment=type(
        model.equipment)()) for start in ("gravcomp ", "none")]  # fmt: skip
    for data in states(mj, 2):
        q, v = kt.conventions.from_mujoco(model, mj, q=data.qpos, v=data.qvel).values()
        ours = kt.dynamics.passive_joint_forces(still, q, v) - kt.dynamics.passive_joint_forces(bare, q, v)
        theirs = kt.conventions.from_mujoco(model, mj, q=data.qpos, tau=data.qfrc_gravcomp)["tau"]
        np.testing.assert_allclose(ours, theirs, atol=1e-12 * np.abs(theirs).max())
        assert np.any(theirs)
    weightless = source.replace("<mujoco>", '<mujoco><option><flag gravity="disable"/></option>')
    assert not load_mjcf(weightless).own_elements
    if joint:
        with pytest.raises(UnsupportedError, match="gravity compensation by the actuators of joint 'slide'"):
            load_mjcf(source.replace('actuatorgravcomp="true"', 'actuatorgravcomp="true" actuatorfrcrange="-1 1"'))


# What the user meets -------------------------------------------------------------------------------------------------

KNEE = """<mujoco><extension><plugin plugin="mujoco.pid"/></extension>
<worldbody><body name="shin"><joint name="knee" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" contype="0" conaffinity="0"/></body></worldbody>
<actuator><plugin name="servo" joint="knee" plugin="mujoco.pid"><config key="kp" value="200"/></plugin>
<motor name="drive" joint="knee"/></actuator></mujoco>"""


def test_a_law_is_never_left_out_in_silence():
    """Bent by 0.3 rad, the knee accelerates as the plugin pulls it in MuJoCo; here that is refused, not half of it."""
    model, mj = load_mjcf(KNEE), mujoco.MjModel.from_xml_string(KNEE)
    data = mujoco.MjData(mj)
    data.qpos[0] = 0.3
    mujoco.mj_forward(mj, data)
    q, zero = [0.3], [0.0]
    tree = model.without_unsupported()
    named = r"'servo' \(joint 'knee': plugin 'mujoco.pid'\).*without_unsupported"
    with kt.interpreted():
        with pytest.raises(UnsupportedError, match=named):
            kt.forward_dynamics(model, q, zero, zero)
        alone = kt.forward_dynamics(tree, q, zero, zero)
        driven = kt.forward_dynamics(tree, q, zero, [-200.0 * 0.3])
    assert abs(data.qacc[0] - alone[0]) > 1e3
    np.testing.assert_allclose(driven, data.qacc, rtol=1e-12)
    assert tree.input_names == ("drive",)


def test_kinds_are_left_out_one_by_one():
    """without_unsupported("actuators") keeps the loops."""
    text = KNEE.replace("</mujoco>", '<equality><connect name="pin" body1="shin" anchor="0 0 0"/></equality></mujoco>')
    model = load_mjcf(text)
    assert model.unsupported == ("actuator 'servo' (joint 'knee': plugin 'mujoco.pid')",)
    left = model.without_unsupported("actuators")
    assert left.unsupported == () and left.loops and left.nc == 3
    bare = model.without_unsupported("loops")
    assert bare.unsupported == model.unsupported and not bare.loops and bare.nc == 0
    with pytest.raises(kt.errors.UnknownNameError, match="actuators"):
        model.without_unsupported("actuator")


def test_lint_names_what_the_dynamics_do_not_compute():
    """With its line, as an info: the file is sound."""
    result = kt.lint(KNEE)
    (found,) = result.of("not-computed")
    assert found.level == "info" and found.line == 4 and "mujoco.pid" in found.message and "servo" in found.message
    assert not result.errors and not result.warnings


def test_verify_says_what_it_did_not_verify():
    """In its text and its data."""
    result = kt.verify(load_mjcf(KNEE), states=1, fast=True)
    assert "not computed yet, so not verified: actuator 'servo'" in str(result)
    assert result.as_data()["unsupported"] == ("actuator 'servo' (joint 'knee': plugin 'mujoco.pid')",)
    assert "not verified" not in str(kt.verify(load_mjcf(KNEE).without_unsupported(), states=1, fast=True))


def test_the_command_line_names_servos_and_how_to_go_on(tmp_path):
    """info, lint and verify say it; simulate and codegen refuse, and go on with --tree-only."""
    path = tmp_path / "knee.xml"
    path.write_text(KNEE)

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return result.exit_code, " ".join(result.output.split())

    servo = "actuator 'servo' (joint 'knee': plugin 'mujoco.pid')"
    code, text = run("info", path)
    assert code == 0 and f"1 not computed yet, so that forward_dynamics and simulate refuse the model: {servo}" in text
    assert "2 actuators, of which 1 motor: servo, drive" in text
    assert "mujoco.pid" in run("lint", path)[1]
    code, text = run("verify", path, "--fast", "--states", "1")
    assert code == 0 and f"not computed yet, so not verified: {servo}" in text
    for command in (("simulate", path, "--duration", "0.01"),
                    ("codegen", path, "-f", "forward_dynamics", "-o", tmp_path / "c")):  # fmt: skip
        code, text = run(*command)
        assert code == 2 and servo in text and "--tree-only" in text
        assert run(*command, "--tree-only")[0] == 0
    assert servo in run("simulate", path, "--duration", "0.01", "--tree-only")[1]


def test_a_file_that_mujoco_could_not_read_is_not_written():
    """Laws that need more than <general> states are refused, or left out and reported."""
    model = load_mjcf(robot('<dcmotor name="d" joint="hinge" motorconst=".1" resistance="1"/><motor joint="hinge"/>'))
    with pytest.raises(UnsupportedError, match=r"law is kept in part only \(actuator 'd'"):
        kt.io.to_mjcf(model)
    mj = mujoco.MjModel.from_xml_string(kt.io.to_mjcf(model, unsupported="drop"))
    assert mj.nactuator == 1
