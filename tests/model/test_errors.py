"""Mechanisms that cannot be: every rule has an error that names the element, the value and the rule."""

import math

import numpy as np
import pytest

from kinetree import errors
from kinetree.joints import Free, Prismatic, Revolute, Spherical
from kinetree.model import Frame, Geometry, ModelBuilder
from kinetree.models import chain_gu, double_pendulum, pendulum


def built(**options):
    """A model of one body "foot" on joint "ankle", with these options of add_body."""
    b = ModelBuilder("robot")
    options = {"joint": Revolute(), "joint_name": "ankle", "mass": 1.0, "inertia": (0.1, 0.1, 0.1), **options}
    b.add_body("foot", **options)
    return b.build()


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"mass": -1.0}, errors.InertiaError, r"body 'foot': mass -1 kg is negative"),
        ({"mass": math.nan}, errors.NonFiniteError, r"body 'foot': mass is nan kg"),
        ({"com": (0.0, math.inf, 0.0)}, errors.NonFiniteError, r"body 'foot': com is \[0.0, inf, 0.0\] m"),
        ({"com": (0.0, 0.0)}, errors.ModelError, r"body 'foot': com has shape \(2,\), expected \(3,\)"),
        ({"inertia": (0.1, 0.1)}, errors.InertiaError, r"body 'foot': inertia has shape \(2,\), expected \(3, 3\)"),
        ({"inertia": (0.1, math.nan, 0.1)}, errors.NonFiniteError, r"body 'foot': inertia is .*nan"),
        (
            {"inertia": [[0.1, 0.01, 0], [0, 0.1, 0], [0, 0, 0.1]]},
            errors.InertiaError,
            r"body 'foot': rotational inertia is not symmetric: I - I\^T has an entry 0.01 kg m\^2",
        ),
        (
            {"inertia": (0.1, -0.2, 0.1)},
            errors.InertiaError,
            r"body 'foot': principal moments \(-0.2, 0.1, 0.1\) kg m\^2 are not all positive",
        ),
        (
            {"inertia": (0.1, 0.02, 0.03)},
            errors.InertiaError,
            r"principal moments \(0.02, 0.03, 0.1\) kg m\^2 break I3 <= I1 \+ I2 by 0.05 kg m\^2; was the tensor",
        ),
        ({"mass": 0.0}, errors.InertiaError, r"body 'foot': mass is 0, but the rotational inertia is not"),
        ({"joint": Revolute}, errors.JointError, r"joint 'ankle' .* is the class Revolute, .* Revolute\(\)"),
        ({"joint": "revolute"}, errors.JointError, r"joint 'ankle' of body 'foot' is 'revolute', expected a Joint"),
        ({"placement": (1, 2, 3)}, errors.ModelError, r"placement of joint 'ankle': placement .* is not valid"),
        (
            {"placement": ((0, 0, math.nan), (0, 0, 0))},
            errors.NonFiniteError,
            r"placement of joint 'ankle': position is \[0.0, 0.0, nan\] m",
        ),
        (
            {"placement": (2 * np.eye(3), (0, 0, 0))},
            errors.ModelError,
            r"of joint 'ankle': rotation is not orthonormal",
        ),
        ({"placement": (np.diag([1, 1, -1]), (0, 0, 0))}, errors.ModelError, r"'ankle': .* is a reflection"),
        ({"damping": -0.1}, errors.ModelError, r"joint 'ankle': damping -0.1 is negative"),
        ({"dry_friction": -1}, errors.ModelError, r"joint 'ankle': dry friction -1 is negative"),
        ({"armature": -1}, errors.ModelError, r"joint 'ankle': armature -1 is negative"),
        ({"stiffness": -1}, errors.ModelError, r"joint 'ankle': stiffness -1 is negative"),
        ({"damping": math.nan}, errors.NonFiniteError, r"joint 'ankle': damping is nan"),
        ({"damping": [1, 2]}, errors.ModelError, r"'ankle': damping has shape \(2,\), expected \(1,\) or one number"),
        ({"lower": 1.0, "upper": -1.0}, errors.ModelError, r"joint 'ankle': lower limit 1 is above the upper limit -1"),
        ({"lower": math.nan}, errors.NonFiniteError, r"joint 'ankle': limits \[nan, inf\] have NaN"),
        ({"effort_limit": -5}, errors.ModelError, r"joint 'ankle': effort limit is -5.0"),
        ({"spring_reference": math.inf}, errors.NonFiniteError, r"joint 'ankle': spring reference is inf"),
        ({"joint": None, "damping": 1.0}, errors.ModelError, r"joint 'ankle' .* is fixed, so it has no damping"),
        (
            {"joint": Spherical(), "lower": -1.0},
            errors.ModelError,
            r"'ankle' .* has limits, but its positions \(nq=4\)",
        ),
        ({"mass": 0.0, "inertia": None}, errors.ModelError, r"massless moving leaf: joint 'ankle' .* moves 'foot'"),
        ({"parent": "leg"}, errors.TopologyError, r"body 'foot' has an unknown parent: no body named 'leg'"),
    ],
    ids=lambda value: None if isinstance(value, type) else str(value)[:40],
)
def test_a_body_that_cannot_be(options, kind, text):
    """The message names body or joint, the value and the rule."""
    with pytest.raises(kind, match=text):
        built(**options)


def test_an_unknown_parent_suggests_the_closest_body():
    """A typing error is answered with the name that was meant."""
    b = ModelBuilder("robot")
    b.add_body("upper_leg", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("foot", "uper_leg")
    with pytest.raises(errors.TopologyError, match="Did you mean 'upper_leg'"):
        b.build()


def test_bodies_in_a_circle():
    """No body of the circle hangs on the world."""
    b = ModelBuilder("robot")
    b.add_body("a", "b", Revolute())
    b.add_body("b", "a", Revolute())
    with pytest.raises(errors.TopologyError, match="a -> b -> a .*loop joints"):
        b.build()


@pytest.mark.parametrize("second", ["foot", "world"])
def test_two_bodies_of_one_name(second):
    """The world is a body too."""
    b = ModelBuilder("robot")
    b.add_body("foot", joint=Revolute())
    with pytest.raises(errors.DuplicateNameError, match=f"model 'robot': two bodies are named '{second}'"):
        b.add_body(second, joint=Revolute(), joint_name="other")


def test_two_joints_of_one_name():
    """Both bodies are named."""
    b = ModelBuilder("robot")
    b.add_body("left", joint=Revolute(), joint_name="ankle")
    with pytest.raises(errors.DuplicateNameError, match="two joints are named 'ankle', .* 'left' and 'right'"):
        b.add_body("right", joint=Revolute(), joint_name="ankle")


def test_a_frame_cannot_have_the_name_of_a_body():
    """Every body is a frame."""
    b = ModelBuilder("robot")
    b.add_body("foot", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("leg", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    b.add_frame("foot", "leg")
    with pytest.raises(errors.DuplicateNameError, match="two frames are named 'foot'.*every body is a frame too"):
        b.build()


def test_a_frame_on_an_unknown_body():
    """The known bodies are listed."""
    b = ModelBuilder("robot")
    b.add_body("foot", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    b.add_frame("sole", "fot")
    with pytest.raises(errors.UnknownNameError, match=r"frame 'sole'.*Did you mean 'foot'"):
        b.build()


def coupled(*couplings):
    b = ModelBuilder("robot")
    for name, joint in (("a", Revolute()), ("b", Revolute()), ("c", Revolute()), ("ball", Spherical()), ("weld", None)):
        b.add_body(name, joint=joint, mass=1.0, inertia=(1, 1, 1))
    for coupling in couplings:
        b.add_coupling(*coupling)
    return b.build()


@pytest.mark.parametrize(
    ("couplings", "kind", "text"),
    [
        ([("a", "a")], errors.CouplingError, "in a circle: a -> a"),
        ([("a", "b"), ("b", "c"), ("c", "a")], errors.CouplingError, "in a circle: a -> b -> c -> a"),
        ([("a", "b"), ("a", "c")], errors.CouplingError, "joint 'a' follows both 'b' and 'c'"),
        ([("a", "ball")], errors.CouplingError, "joint 'ball' .* has nq=4 and nv=3; only joints of one freedom"),
        ([("a", "weld")], errors.ModelError, "joint 'weld' is fixed"),
        ([("a", "b", math.nan)], errors.CouplingError, "ratio nan and offset 0.0 must be finite"),
        ([("a", "z")], errors.UnknownNameError, "no joint named 'z'"),
    ],
    ids=str,
)
def test_couplings_that_cannot_be(couplings, kind, text):
    """Circles, joints that follow twice, joints that are not of one freedom."""
    with pytest.raises(kind, match=text):
        coupled(*couplings)


def test_massless_bodies_are_allowed_between_others():
    """A universal joint of two hinges has a massless cross."""
    b = ModelBuilder()
    b.add_body("cross", joint=Revolute((1, 0, 0)))
    b.add_body("shaft", "cross", Revolute((0, 1, 0)), mass=1.0, com=(0, 0, 1))
    assert b.build().I[1].m == 0.0


def test_a_point_mass_has_no_inertia_about_a_line_through_it():
    """A ball joint with a point mass at an arm's length could spin about the arm without resistance."""
    with pytest.raises(errors.ModelError, match="massless moving leaf"):
        built(joint=Spherical(), mass=1.0, inertia=None, com=(1.0, 1.0, 1.0))
    built(joint=Revolute((1, 0, 0)), mass=1.0, inertia=None, com=(1.0, 1.0, 1.0))


def test_an_armature_gives_inertia_to_a_massless_leaf():
    """A motor's rotor without a load can be simulated."""
    assert built(mass=0.0, inertia=None, armature=0.01).armature.tolist() == [0.01]


def test_a_thin_rod_is_possible():
    """Equality in the triangle inequality; exact in decimal, so it must pass whatever the rounding."""
    built(joint=Free(), inertia=(0.1, 0.1, 1e-6))
    built(joint=Revolute((1, 0, 0)), inertia=(1.0 / 12.0, 1.0 / 12.0, 0.0))


def test_an_impossible_inertia_can_be_accepted_and_is_then_reported():
    """Files of real robots hold them; the user may decide, and the model says so."""
    b = ModelBuilder(accept_impossible_inertia=True)
    b.add_body("foot", joint=Revolute(), mass=1.0, inertia=(0.1, 0.02, 0.03))
    model = b.build()
    assert "body 'foot': impossible inertia taken as it is" in str(model.report)
    assert model.replace(damping=1.0).accept_impossible_inertia


def test_unknown_names_list_and_suggest():
    """For bodies, joints and frames."""
    model = double_pendulum()
    for find, kind in ((model.body, "body"), (model.frame, "frame")):
        with pytest.raises(
            errors.UnknownNameError, match=f"no {kind} named 'uper' in model 'double_pendulum'. Did you mean 'upper'"
        ):
            find("uper")
    with pytest.raises(errors.UnknownNameError, match="Did you mean 'elbow'.*Known: shoulder, elbow"):
        model.joint("elbo")


@pytest.mark.parametrize(("find", "number"), [("body", 3), ("body", -1), ("joint", 0), ("frame", 3)])
def test_unknown_numbers(find, number):
    """Body 0 is the world; no joint moves it."""
    with pytest.raises(errors.UnknownNameError, match=f"no {find} {number} in model 'double_pendulum'"):
        getattr(double_pendulum(), find)(number)


def test_merged_names_say_where_they_went():
    """Asking for a body or joint that became a frame explains it."""
    b = ModelBuilder("robot")
    b.add_body("hand", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("tool", "hand", joint_name="flange")
    model = b.build()
    with pytest.raises(errors.UnknownNameError, match="it is a frame on body 'hand'"):
        model.body("tool")
    with pytest.raises(errors.UnknownNameError, match="joint 'flange' .* is fixed: .* became frame 'tool'"):
        model.joint("flange")


def test_a_coordinate_belongs_to_a_joint_of_one_freedom():
    """Joints with more say how to get them."""
    assert double_pendulum().coordinate("elbow") == 1
    with pytest.raises(errors.ShapeError, match="joint 'foot' has 6 velocity coordinates, expected 1"):
        built(joint=Free(), joint_name="foot").coordinate("foot")


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"damping": [1.0, 2.0]}, errors.ModelError, r"damping has shape \(2,\), expected \(1,\), a number for all"),
        ({"gravity": (0, 0, math.nan)}, errors.NonFiniteError, "model 'pendulum': gravity is"),
        ({"gravity": (0, -9.81)}, errors.ShapeError, r"'pendulum': gravity has shape \(2,\), expected \(3,\)"),
        ({"gravity": 9.81}, errors.ShapeError, r"gravity has shape \(\), expected \(3,\): a world vector"),
        ({"gravity": {"z": -1.62}}, errors.ModelError, "gravity is not a quantity of the joints"),
        ({"damping": "high"}, errors.ModelError, "model 'pendulum': damping is 'high', expected numbers"),
        ({"damping": {"pivot": [1.0, 2.0]}}, errors.ModelError, r"joint 'pivot': damping has shape \(2,\), expected"),
        ({"spring_reference": {"pivot": "up"}}, errors.ModelError, "joint 'pivot': spring_reference is 'up'"),
        ({"dampng": 1.0}, errors.UnknownNameError, "Did you mean 'damping'"),
        ({"damping": {"pvot": 1.0}}, errors.UnknownNameError, "no joint named 'pvot'.*Did you mean 'pivot'"),
        ({"spring_reference": [0.0, 1.0]}, errors.ShapeError, r"spring_reference has shape \(2,\), expected \(1,\)"),
    ],
    ids=str,
)
def test_changes_are_validated(changes, kind, text):
    """replace() obeys the rules of the constructor."""
    with pytest.raises(kind, match=text):
        pendulum().replace(**changes)


def test_with_numbers_counts_them():
    """A list of the wrong length is refused."""
    with pytest.raises(errors.ShapeError, match=r"with_numbers: 1 values, expected 25 for model 'pendulum'"):
        pendulum().with_numbers([1.0])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"kind": "bx"}, "unknown kind 'bx'; known: box"),
        ({"kind": "box", "size": (1, 2)}, r"size \(1.0, 2.0\), expected 3 positive lengths \[m\] \(x, y, z\)"),
        ({"kind": "sphere", "size": (-1,)}, "expected 1 positive lengths"),
        ({"kind": "mesh", "size": "m.obj"}, r"size 'm.obj', expected 0 positive lengths.*the file of a mesh is mesh="),
        ({"kind": "mesh"}, "no file"),
        ({"kind": "plane", "role": "drawn"}, "role 'drawn'; known: visual, collision, both"),
    ],
)
def test_shapes_that_cannot_be(options, text):
    """Kind, lengths, role and file are checked."""
    with pytest.raises(errors.ModelError, match=text):
        Geometry(**options)


def test_a_frame_on_a_body_that_does_not_exist():
    """Frames are given by number to the constructor."""
    model = chain_gu(2)
    with pytest.raises(errors.ModelError, match="frame 'f' is on body 7, expected 0 to 2"):
        type(model)(**{**model._arguments(), "frames": [Frame("f", 7)]})


def test_prismatic_point_mass_needs_no_rotational_inertia():
    """A cart is a point mass."""
    assert built(joint=Prismatic((1, 0, 0)), inertia=None).total_mass == 1.0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mass": "heavy"}, "body 'bob': mass is 'heavy', expected numbers"),
        ({"mass": 1.0, "com": "x"}, "body 'bob': com is 'x', expected numbers"),
        ({"mass": 1.0, "inertia": "x"}, "body 'bob': inertia is 'x', expected numbers"),
        ({"mass": 1.0, "damping": "x"}, "joint 'bob': damping is 'x', expected numbers"),
    ],
    ids=str,
)
def test_what_is_not_a_number_is_named(options, text):
    """Body or joint, quantity and value; not NumPy's bare message."""
    with pytest.raises(errors.ModelError, match=text):
        ModelBuilder().add_body("bob", joint=Revolute(), **options)


def test_a_ratio_that_is_not_a_number_is_named():
    """The coupling tells both of its joints."""
    with pytest.raises(errors.ArgumentError, match="coupling of joint 'a' to 'b': ratio is 'x', expected a finite"):
        ModelBuilder().add_coupling("a", "b", "x")


@pytest.mark.parametrize("find", ["body", "joint", "frame"])
def test_numbers_of_elements_are_whole(find):
    """1.7 is not taken for body 1."""
    with pytest.raises(TypeError, match=f"{find} is 1.7, expected a name"):
        getattr(pendulum(), find)(1.7)
