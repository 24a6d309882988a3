"""What SDF can say about a mechanism's physics: held by the model, refused, or said in the report."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnsupportedError
from kinetree.io.sdf.read import load_sdf

I = "<inertial><mass>1</mass><inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial>"
FILE = """<sdf version="{version}"><world name="w"><gravity>0 0 -9.8</gravity>{world}
<model name="m" xmlns:drake="drake.mit.edu">{model}<link name="a">{I}{link}</link><link name="b">{I}</link>
<joint name="base" type="fixed"><parent>world</parent><child>a</child></joint>
<joint name="j" type="{type}"><parent>a</parent><child>b</child>
<axis><xyz>0 0 1</xyz>{axis}</axis>{axis2}{joint}</joint>{more}</model></world></sdf>"""


def file_with(**parts):
    given = dict.fromkeys(("world", "model", "link", "axis", "axis2", "joint", "more"), "")
    return FILE.format(**(given | {"type": "revolute", "version": "1.9", "I": I} | parts))


def dynamics(text):
    return {"axis": f"<dynamics>{text}</dynamics>"}


def limit(text):
    return {"axis": f"<limit>{text}</limit>"}


SECOND = "<axis2><xyz>1 0 0</xyz><dynamics><damping>.7</damping><friction>.3</friction></dynamics></axis2>"
OTHER = (f'<link name="c">{I}</link><joint name="k" type="revolute"><parent>a</parent><child>c</child><axis><xyz>0 0 1'
         "</xyz>{}</axis></joint>")  # fmt: skip
HELD = [
    (dynamics("<damping>.2</damping>"), "damping", [0.2]),
    (dynamics("<friction>.3</friction>"), "dry_friction", [0.3]),
    (dynamics("<spring_stiffness>4</spring_stiffness>"), "stiffness", [4.0]),
    (dynamics("<spring_stiffness>4</spring_stiffness><spring_reference>.5</spring_reference>"), "spring_reference",
     [0.5]),
    (limit("<lower>-1</lower><upper>2</upper>"), "upper", [2.0]),
    (limit("<effort>3</effort>"), "effort_limit", [3.0]),
    (limit("<velocity>4</velocity>"), "velocity_limit", [4.0]),
    (limit("<lower>-1</lower><upper>1</upper><stiffness>50</stiffness>"), "limit_stiffness", [50.0]),
    (limit("<lower>-1</lower><upper>1</upper><dissipation>5</dissipation>"), "limit_damping", [5.0]),
    ({"type": "universal", "axis2": SECOND}, "damping", [0.0, 0.7]),
    ({"type": "revolute2", "axis2": SECOND}, "dry_friction", [0.0, 0.3]),
    ({"type": "screw", "joint": "<screw_thread_pitch>.01</screw_thread_pitch>"}, "nv", 1),
    ({"world": "<gravity>1 2 3</gravity>"}, "gravity", None),
    ({"more": OTHER.format("<mimic joint='j'><multiplier>2</multiplier></mimic>")}, "couplings", None),
    ({"model": "<static>true</static>"}, "nv", 0),
]  # fmt: skip
REFUSED = [
    ({"link": "<gravity>false</gravity>"}, "free of gravity"),
    ({"link": "<kinematic>true</kinematic>"}, "kinematic"),
    ({"link": "<velocity_decay><linear>.1</linear></velocity_decay>"}, "velocity"),
    ({"link": "<enable_wind>true</enable_wind>", "world": "<wind><linear_velocity>1 0 0</linear_velocity></wind>"},
     "wind"),
    ({"link": I.replace("</inertial>", "<fluid_added_mass><xx>1</xx></fluid_added_mass></inertial>")}, "twice"),
    ({"joint": "<drake:rotor_inertia>1e-4</drake:rotor_inertia>"}, "would change the physics"),
    ({"joint": "<drake:rotor_inertia>1e-4</drake:rotor_inertia><drake:gear_ratio>9</drake:gear_ratio>"}, "change the"),
    ({"more": "<drake:linear_bushing_rpy/>"}, "would change the physics"),
    (dynamics("<dampening>.2</dampening>"), "did you mean <damping>"),
    ({"world": "<population name='p'><model name='q'/></population>"}, "population"),
]  # fmt: skip
SAID = [
    ({"link": "<self_collide>true</self_collide>"}, "pairs are chosen by model.with_contacts"),
    ({"model": "<self_collide>true</self_collide>"}, "pairs are chosen by model.with_contacts"),
    ({"model": '<plugin name="p" filename="libLiftDragPlugin.so"/>'}, "plugins are programs of a simulator"),
    ({"world": '<plugin name="p" filename="gz-sim-buoyancy-system"/>'}, "plugins are programs of a simulator"),
    ({"joint": "<physics><ode><cfm_damping>true</cfm_damping></ode></physics>"}, "settings of simulators"),
    ({"link": "<must_be_base_link>true</must_be_base_link>"}, "a setting of simulators"),
    ({"world": "<atmosphere type='adiabatic'><pressure>9</pressure></atmosphere>"}, "the air is not modeled"),
    ({"world": "<magnetic_field>1 2 3</magnetic_field>"}, "sensors are not modeled"),
    ({"joint": "<drake:rotor_inertia>0</drake:rotor_inertia>"}, "without the inertia of a rotor it has no effect"),
    ({"joint": "<drake:gear_ratio>100</drake:gear_ratio>"}, "without the inertia of a rotor it has no effect"),
    ({"joint": "<sensor name='s' type='force_torque'/>"}, "sensors are not modeled"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "name", "expected"), HELD)
def test_what_a_joint_or_world_states_is_in_the_model(parts, name, expected):
    """Numbers of every axis, couplings, gravity, statics."""
    text = file_with(**parts)
    if name == "gravity":
        text = text.replace("<gravity>0 0 -9.8</gravity>", "", 1)
    model = load_sdf(text)
    if name == "couplings":
        assert [c.ratio for c in model.couplings] == [2.0]
    else:
        np.testing.assert_array_equal(getattr(model, name), [1.0, 2.0, 3.0] if name == "gravity" else expected)


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_what_a_model_cannot_hold_is_refused_until_it_is_dropped(parts, message):
    """Forces and motions of other programs, extensions, misspelled physics."""
    text = file_with(**parts)
    if "fluid" in str(parts):
        text, message = text.replace(I + parts["link"], parts["link"]), "added mass"
    with pytest.raises(UnsupportedError, match=message):
        load_sdf(text)
    assert load_sdf(text, unsupported="drop").report.at_level("dropped")


@pytest.mark.parametrize(("parts", "message"), SAID)
def test_what_concerns_simulators_alone_is_said(parts, message):
    """Also programs that would exert forces there, and rotors that have no inertia."""
    assert message in str(load_sdf(file_with(**parts)).report)


def test_the_plain_file_says_nothing():
    """So the entries above are about what was added."""
    assert not [e for e in load_sdf(file_with()).report if e.level != "info"]
    assert kt.load(file_with()).nv == 1
