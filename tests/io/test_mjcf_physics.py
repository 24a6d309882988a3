"""Everything in MuJoCo's schema that its accelerations depend on: computed here too, or named.

Each feature is one small file. At random states either ``forward_dynamics`` is ``qacc`` of ``mj_forward``, or the file
is refused, or the model names what it holds unsupported and the call refuses, or the report says what differs. The
schema of the installed MuJoCo is the registry: an attribute in none of the lists fails the test of completeness.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.conventions import MuJoCo
from kinetree.errors import ConstraintError, LimitError, UnsupportedError
from kinetree.io.mjcf.read import load_mjcf

mujoco = pytest.importorskip("mujoco")
if not hasattr(mujoco.mjtDyn, "mjDYN_PID"):
    pytest.skip("the schema is that of MuJoCo 4", allow_module_level=True)

SAME = 1e-9  # relative: both engines sum the same products in other orders, and M has a condition below 1e5
EQUAL = ("equal", "")

FILE = """<mujoco>{compiler}{option}<worldbody>{world}<site name="w" pos="0 0 2"/>
<body name="a" pos="0 0 1" {body}><joint name="hinge" axis="0 1 0" {hinge}/>
<geom name="g" size=".1" pos=".2 0 0" {no_contact} {geom}/><site name="s" pos=".3 0 0"/>
<body name="b" pos=".4 0 0"><joint name="ball" type="ball" {ball}/>
<geom type="ellipsoid" size=".1 .05 .03" pos=".1 0 0" {no_contact}/><site name="t" pos=".1 .05 0"/>
<body name="c" pos=".3 0 0"><joint name="slide" type="slide" axis="1 0 0" {slide}/><geom size=".1" {no_contact}/>
<site name="u"/></body></body></body>
<body name="f" pos="3 0 1" {free_body}>{free_joint}<geom type="box" size=".1 .2 .3" {no_contact} {geom_f}/></body>
</worldbody>{contact}<tendon><spatial name="cord" {spatial}><site site="w"/><site site="s"/></spatial>
<fixed name="sum" {fixed}><joint joint="hinge" coef="1"/><joint joint="slide" coef="2"/></fixed></tendon>
<equality>{equality}</equality><actuator>{actuator}</actuator>{tail}</mujoco>"""
PARTS = (
    "compiler", "option", "world", "body", "hinge", "ball", "slide", "geom", "geom_f", "free_body", "contact",
    "spatial", "fixed", "equality", "actuator", "tail",
)  # fmt: skip
TOUCHING = {"no_contact": "", "world": '<geom name="floor" type="plane" size="9 9 1" pos="0 0 1"/>'}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo itself, beside which models are put here, writes warnings into the working folder."""
    monkeypatch.chdir(tmp_path)


def file_with(**parts) -> str:
    """The text of a file; parts are attributes of its elements, or elements."""
    given = dict.fromkeys(PARTS, "") | {
        "no_contact": 'contype="0" conaffinity="0"',
        "free_joint": '<joint name="free" type="free"/>',
    }
    assert parts.keys() <= given.keys()
    return FILE.format(**(given | parts))


def refused(words):
    return "refused", words


def unsupported(words):
    return "unsupported", words


def reported(words):
    return "reported", words


def option(text):
    return {"option": f"<option {text}/>"}


def flag(name, value="disable"):
    return {"option": f'<option><flag {name}="{value}"/></option>'}


def free(text):
    return {"free_joint": f'<joint name="free" type="free" {text}/>'}


MOCAP = {"world": '<body name="m" mocap="true"><geom size=".1" contype="0" conaffinity="0"/></body>'}
CONTACTS, NUMERICS = "a setting of MuJoCo's contacts", "MuJoCo's own integrator and solver"
# "element attribute", perhaps with more after a colon: what is in the file, and what becomes of it.
BROKEN_LOOP = ("raises", "breaks the loop joint")  # random states do; MuJoCo pulls bodies back softly

FEATURES = {
    "none": ({}, EQUAL),
    # Options and flags.
    "option gravity": (option('gravity="1 2 -3"'), EQUAL),
    "option wind": (option('wind="1 2 3"'), EQUAL),
    "option wind: in air": (option('wind="1 2 3" density="1"'), EQUAL),
    "option density": (option('density="1"'), EQUAL),
    "option viscosity": (option('viscosity="1"'), EQUAL),
    "option magnetic": (option('magnetic="1 2 3"'), EQUAL),
    "option timestep": (option('timestep=".01"'), EQUAL),
    "option integrator": (option('integrator="implicitfast"'), EQUAL),
    "option integrator: discrete": (option('integrator="discrete"') | {"hinge": 'damping="3"'}, reported(NUMERICS)),
    "option cone": (option('cone="elliptic" impratio="10" noslip_iterations="3"'), EQUAL),
    "option actuatorgroupdisable": (
        option('actuatorgroupdisable="1"') | {"actuator": '<position joint="hinge" group="1"/>'}, EQUAL,
    ),
    "flag constraint": (flag("constraint") | {"hinge": 'frictionloss="1"'}, EQUAL),
    "flag equality": (flag("equality") | {"equality": '<joint joint1="hinge"/>'}, EQUAL),
    "flag frictionloss": (flag("frictionloss") | {"hinge": 'frictionloss="1"'}, EQUAL),
    "flag limit": (flag("limit") | {"hinge": 'range="1 2"', "spatial": 'range="1 2"'}, EQUAL),
    "flag contact": (flag("contact") | TOUCHING, EQUAL),
    "flag spring": (flag("spring") | {"hinge": 'stiffness="3"', "spatial": 'stiffness="3"'}, EQUAL),
    "flag damper": (flag("damper") | {"hinge": 'damping="3"', "spatial": 'damping="3"'}, EQUAL),
    "flag gravity": (flag("gravity") | {"body": 'gravcomp="1"'}, EQUAL),
    "flag actuation": (flag("actuation") | {"actuator": '<position joint="hinge"/>'}, EQUAL),
    "flag clampctrl": (flag("clampctrl") | {"actuator": '<motor joint="hinge" ctrlrange="1 2"/>'}, EQUAL),
    "flag sleep": (flag("sleep", "enable"), EQUAL),
    "flag override": (flag("override", "enable"), EQUAL),
    # Bodies.
    "body gravcomp": ({"body": 'gravcomp="1"'}, EQUAL),
    "body gravcomp: of a free body": ({"free_body": 'gravcomp=".5"'}, EQUAL),
    "body mocap": (MOCAP, EQUAL),
    "body sleep": (flag("sleep", "enable") | {"free_body": 'sleep="allowed"'}, EQUAL),
    # Joints.
    "joint stiffness": ({"hinge": 'stiffness="3" springref="10"', "slide": 'stiffness="3" springref=".1"'}, EQUAL),
    "joint stiffness: ball": ({"ball": 'stiffness="3"'}, EQUAL),
    "joint stiffness: free": (free('stiffness="3"'), EQUAL),
    "joint stiffness: higher order": ({"hinge": 'stiffness="3 2 1" springref="10"'}, EQUAL),
    "joint stiffness: higher order, ball": ({"ball": 'stiffness="3 2"'}, refused("a spring of higher order")),
    "joint springref": ({"hinge": 'stiffness="3" springref="10" ref="20"'}, EQUAL),
    "joint springdamper": ({"hinge": 'springdamper="1 1"'}, EQUAL),
    "joint springyield": ({"hinge": 'stiffness="3" springyield=".1"'}, refused("a spring that yields")),
    "joint damping": ({"hinge": 'damping=".3"', "slide": 'damping=".3"'}, EQUAL),
    "joint damping: ball": ({"ball": 'damping=".3"'}, EQUAL),
    "joint damping: free": (free('damping=".3"'), EQUAL),
    "joint damping: higher order": ({"hinge": 'damping=".3 .2"', "slide": 'damping="0 0 .1"'}, EQUAL),
    "joint damping: higher order, ball": ({"ball": 'damping=".3 .2"'}, refused("damping of higher order")),
    "joint armature": ({"hinge": 'armature=".2"', "ball": 'armature=".1"'}, EQUAL),
    "joint armature: free": (free('armature=".3"'), refused("armature of free joint 'free'")),
    "joint frictionloss": ({"hinge": 'frictionloss=".3"'}, reported("1 joint has dry friction: here Coulomb's law")),
    "joint frictionloss: ball": ({"ball": 'frictionloss=".3"'}, reported("dry friction: here Coulomb's law")),
    "joint frictionloss: free": (free('frictionloss=".3"'), refused("dry friction of free joint 'free'")),
    "joint range": ({"hinge": 'range="170 175"'}, ("raises", "outside its limits")),
    "joint range: ball": ({"ball": 'range="0 1"'}, reported("1 ball joint has a limit of rotation: here springs")),
    "joint range: ball, within": ({"ball": 'range="0 180"'}, EQUAL),
    "joint margin": (
        {"hinge": 'range="-720 720" margin="14"'}, reported("limits with a margin up to 14: MuJoCo's push from that"),
    ),
    "joint ref": ({"hinge": 'ref="20"', "slide": 'ref=".1"'}, EQUAL),
    "joint actuatorfrcrange": (
        {"hinge": 'actuatorfrcrange="1 2"', "actuator": '<motor joint="slide"/>'}, EQUAL,
    ),
    "joint actuatorfrcrange: without an actuator": ({"hinge": 'actuatorfrcrange="1 2"'}, EQUAL),
    "joint actuatorgravcomp": (
        {"body": 'gravcomp="1"', "hinge": 'actuatorgravcomp="true"', "actuator": '<motor joint="hinge"/>'},
        EQUAL,
    ),
    "freejoint align": ({"free_joint": '<freejoint name="free" align="true"/>', "geom_f": 'pos=".1 .2 .3"'}, EQUAL),
    # Shapes: forces of fluids, contacts.
    "geom fluidshape": ({"geom": 'fluidshape="ellipsoid"'}, EQUAL),
    "geom fluidcoef": (
        option('density="1"') | {"geom": 'fluidshape="ellipsoid" fluidcoef="1 1 1 1 1"'}, EQUAL,
    ),
    "geom contype": (TOUCHING, reported("geoms for contacts: kept as data, for model.with_contacts")),
    "geom surfacevel": (TOUCHING | {"geom": 'surfacevel="1 0 0 0 0 0"'}, reported(CONTACTS)),
    "geom adhesion": (TOUCHING | {"geom": 'adhesion="1"'}, reported(CONTACTS)),
    "geom margin": (TOUCHING | {"geom": 'margin="1" gap=".1"'}, reported(CONTACTS)),
    "pair geom1": (
        {
            "world": TOUCHING["world"].replace("<geom", '<geom contype="0" conaffinity="0"'),
            "contact": '<contact><pair geom1="floor" geom2="g" margin="9"/></contact>',
        },
        reported("1 pairs for contacts"),
    ),
    # Tendons.
    **{
        f"{kind} {attribute}": ({kind: f'{attribute}="{value}" {more}'}, found)
        for kind, name in (("spatial", "cord"), ("fixed", "sum"))
        for attribute, value, more, found in (
            ("stiffness", "3", 'springlength=".1"', EQUAL),
            ("springlength", ".1", 'stiffness="3"', EQUAL),
            ("springyield", ".1", 'stiffness="3"', refused(f"tendon '{name}' has a spring that yields")),
            ("damping", "3", "", EQUAL),
            ("frictionloss", "1", "", EQUAL if kind == "fixed" else reported("dry friction: here Coulomb's law")),
            ("armature", "1", "", EQUAL),
            ("range", "8 9", "", reported("1 tendon has limits: here springs with dampers")),
            ("margin", "9", 'range="-9 9"', reported(f"tendon '{name}': MuJoCo's push from the margin 9")),
            ("actuatorfrcrange", "-1 2", "", EQUAL),
        )
    },
    "spatial stiffness: higher order": ({"spatial": 'stiffness="3 1" springlength=".1 .3"'}, EQUAL),
    "fixed damping: higher order": ({"fixed": 'damping="3 1 2"'}, EQUAL),
    # Equalities.
    "connect body1": ({"equality": '<connect body1="a" body2="f" anchor="0 0 0"/>'}, BROKEN_LOOP),
    "weld body1": ({"equality": '<weld body1="a" body2="f"/>'}, BROKEN_LOOP),
    "weld body1: mocap": (MOCAP | {"equality": '<weld body1="m" body2="f"/>'}, BROKEN_LOOP),
    "weld active": ({"equality": '<weld body1="a" body2="f" active="false"/>'}, EQUAL),
    "joint joint1": ({"equality": '<joint joint1="hinge" joint2="slide"/>'}, reported("follows 'slide' exactly")),
    "joint polycoef": (
        {"equality": '<joint joint1="hinge" joint2="slide" polycoef="0 1 1"/>'},
        ("raises", "breaks the polynomial coupling"),
    ),
    "joint joint1: alone": ({"equality": '<joint joint1="hinge"/>'}, ("raises", "breaks the polynomial coupling")),
    "tendon tendon1": ({"equality": '<tendon tendon1="cord"/>'}, ("raises", "breaks the tendon length")),
    "flex flex": (
        {"world": '<flexcomp name="x" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass="1" radius=".01">'
                  '<contact contype="0" conaffinity="0"/><edge equality="true"/></flexcomp>'},
        refused("deformable bodies"),
    ),
    # Actuators, beside their laws: tests/io/test_mjcf_actuators.py.
    "actuator armature": ({"actuator": '<motor joint="hinge" armature=".4" gear="2"/>'}, EQUAL),
    "actuator armature: parent": ({"actuator": '<motor jointinparent="hinge" armature=".4" gear="2"/>'}, EQUAL),
    "actuator armature: ball": ({"actuator": '<motor joint="ball" armature=".4"/>'}, refused("armature or damping of")),
    "actuator armature: tendon": ({"actuator": '<motor tendon="cord" armature=".4"/>'}, EQUAL),
    "actuator damping": ({"actuator": '<motor joint="hinge" damping=".4" gear="2"/>'}, EQUAL),
    "actuator damping: two": (
        {"hinge": 'damping=".2"', "actuator": '<motor joint="hinge" damping=".4"/><motor joint="hinge" armature="1"/>'},
        EQUAL,
    ),
    "actuator damping: switched off": (
        flag("actuation") | {"actuator": '<motor joint="hinge" damping=".4" armature=".1"/>'}, EQUAL,
    ),
    "actuator damping: tendon": ({"actuator": '<motor tendon="sum" damping=".4"/>'}, EQUAL),
    "actuator damping: higher order": (
        {"actuator": '<motor joint="hinge" damping=".4 .2"/>'}, refused("has damping of higher order"),
    ),
    "actuator ctrlrange": ({"actuator": '<motor joint="hinge" ctrlrange="1 2"/>'}, EQUAL),
    "actuator biasprm": ({"actuator": '<position joint="hinge" kp="200"/>'}, EQUAL),
    "actuator gaintype": (
        {"actuator": '<general joint="hinge" gaintype="user" biastype="affine" biasprm="1 0 0"/>'},
        unsupported("affine bias"),
    ),
    # Keyframes.
    "key ctrl": (
        {"actuator": '<motor joint="hinge"/>', "tail": '<keyframe><key name="k" ctrl="1"/></keyframe>'}, EQUAL,
    ),
}  # fmt: skip


def outcome(text: str) -> tuple[str, str]:
    """("equal", ""), or in which way the difference is named, and the words."""
    mj = mujoco.MjModel.from_xml_string(text)
    try:
        model = load_mjcf(text)
    except UnsupportedError as error:
        return "refused", str(error)
    there, data = MuJoCo(model, mj, by_order=True), mujoco.MjData(mj)
    rng, zero, worst = np.random.default_rng(3), np.zeros(model.nv), 0.0
    free_of_limits = model.without_limits()
    for _ in range(6):
        q, v = free_of_limits.random_state(rng)
        data.qpos[:], data.qvel[:] = there.q_to(q), there.v_to(q, v)
        data.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(mj, data)
        expected = there.a_from(q, v, data.qacc)
        if model.couplings:
            q, v = kt.kinematics.apply_couplings(model, q, v)
        try:
            with kt.interpreted():
                found = kt.forward_dynamics(model, q, v, zero)
        except UnsupportedError as error:
            assert set(model.unsupported) and all(name in str(error) for name in model.unsupported)
            assert "not computed" in str(model.report.at_level("warning"))
            return "unsupported", str(error)
        except (LimitError, ConstraintError) as error:
            return "raises", str(error)
        worst = max(worst, np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))
    return EQUAL if worst < SAME else ("reported", str(model.report))


@pytest.mark.parametrize("name", FEATURES)
def test_accelerations_are_mujocos_or_the_difference_is_named(name):
    """Which of these, and with which words, is in the list."""
    parts, (expected, words) = FEATURES[name]
    found, text = outcome(file_with(**parts))
    assert found == expected, f"{found}: {text[:300]}"
    assert words in text


# Completeness --------------------------------------------------------------------------------------------------------

POSE = "pos quat axisangle euler xyaxes zaxis"
LOOKS = "name class childclass group user rgba material"
SOFTNESS = "solref solimp solreflimit solimplimit solreffriction solimpfriction"
CONTACT = "conaffinity condim friction gap priority solmix solref solimp"
# Attributes on which no acceleration depends but through the compiled model, which MuJoCo makes for both; and those of
# features that are refused or reported as a whole.
COMPILED = {
    "option": "ccd_iterations ccd_tolerance impratio iterations jacobian ls_iterations ls_tolerance noslip_iterations "
              "noslip_tolerance o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations sleep_tolerance "
              "solver tolerance",
    "flag": "autoreset diagexact energy eulerdamp filterparent fwdinv invdiscrete ipc island midphase multiccd "
            "nativeccd refsafe sensor speculative warmstart",
    "body": f"{POSE} {LOOKS} fuse simple",
    "inertial": f"{POSE} mass diaginertia fullinertia",
    "joint": f"{POSE} {LOOKS} {SOFTNESS} type axis limited actuatorfrclimited joint2 active coef joint",
    "freejoint": "name group",
    "geom": f"{POSE} {LOOKS} {CONTACT} castshadow density fitscale fromto hfield mass mesh shellinertia size type geom "
            "sidesite",
    "attach": "body frame model prefix",
    "site": f"{POSE} {LOOKS} fromto mesh fitscale size type site",
    "pair": f"{LOOKS} {CONTACT} adhesion geom2 margin solreffriction",
    "exclude": "name body1 body2",
    "spatial": f"{LOOKS} {SOFTNESS} actuatorfrclimited limited width",
    "fixed": f"{LOOKS} {SOFTNESS} actuatorfrclimited limited",
    "pulley": "divisor",
    "connect": f"{LOOKS} {SOFTNESS} active anchor body2 site1 site2",
    "weld": f"{LOOKS} {SOFTNESS} anchor body2 relpose site1 site2 torquescale",
    "tendon": f"{LOOKS} {SOFTNESS} active polycoef tendon2",
    "flex": f"{LOOKS} {SOFTNESS} active",
    "flexstrain": f"{LOOKS} {SOFTNESS} active cell flex",
    "plugin": "instance plugin",
    "config": "key value",
    # Laws, transmissions and inputs, whose every kind is in tests/io/test_mjcf_actuators.py.
    "actuator": f"{LOOKS} actdim actearly actlimited actrange area bias biastype body cogging controller cranklength "
                "cranksite ctrllimited dampratio delay diameter dynprm dyntype ffrange force forcelimited forcerange "
                "fpmax fvmax gain gainprm gaintype gear imax inductance inheritrange input instance interp joint "
                "jointinparent key ki kp kv lengthrange lmax lmin lugre motorconst nominal nsample plugin posrange "
                "range refsite resistance saturation scale site slewmax slidersite tausmooth tendon thermal timeconst "
                "value velrange vmax",
    "key": "name act mpos mquat plastic qpos qvel time",
}  # fmt: skip
# Sections and elements without accelerations: settings of the compiler, which the compiled model holds, pictures,
# sensors; deformable bodies, which are refused.
ELSEWHERE = {
    "compiler", "size", "statistic", "visual", "default", "custom", "extension", "asset", "deformable", "sensor",
    "camera", "light", "flexcomp",
}  # fmt: skip


def schema():
    """(element, attributes) of all elements on which accelerations may depend, actuators as one."""
    path, found = [], {}
    for line in mujoco.mj_printSchema(False, False).splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 3
        if 0 < depth < 8 and "(" in line[:24]:  # an element; else more attributes of the last one
            del path[depth - 1 :]
            path.append(line.split()[0].replace("(world)", ""))
            line = line.partition(") ")[2]
        if not path or not ELSEWHERE.isdisjoint(path):
            continue
        element = "actuator" if path[0] == "actuator" else path[-1]
        found.setdefault(element, set()).update(line.split())
    return found


def test_every_attribute_of_mujocos_schema_is_in_a_list():
    """What a later MuJoCo brings is missing here until someone says what it does."""
    tested = {name.partition(":")[0] for name in FEATURES}
    elements = schema()
    assert {"joint", "geom", "spatial", "actuator", "option", "flag", "weld", "key"} <= elements.keys()
    missing = {
        f"{element} {attribute}"
        for element, attributes in elements.items()
        for attribute in attributes
        if attribute not in COMPILED.get(element, "").split() and f"{element} {attribute}" not in tested
    }
    assert not missing
