"""What stands beside the tree: records by name, refusals, restriction, and the builder that holds a model."""

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.complete import COMPLETE
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.calls import public_call
from kinetree.errors import DuplicateNameError, ShapeError, UnknownNameError, UnsupportedError
from kinetree.integrators import FIXED_STEP
from kinetree.joints import Fixed, Spherical
from kinetree.model import Actuator, Equality, Equipment, Keyframe, LoopJoint, ModelBuilder, Tendon
from kinetree.tendons import JointTerm, ViaPoint

LOOP = LoopJoint("pin", Spherical(), "lower", "world")
CURVE = Equality("curve", "joint", "elbow", "shoulder", (0.0, 1.0, 0.5))
SPRING = Tendon("spring", (ViaPoint("upper"), ViaPoint("lower")), stiffness=10.0, upper=3.0)
DRIVEN = kt.joints.MovingFrame((kt.joints.Sinusoid(0.1, 2.0), 0.0, 0.0))
RAIL = kt.joints.Composite((kt.joints.Revolute(), DRIVEN, kt.joints.Revolute((0, 1, 0))))  # without an implicit form
CORD = Tendon("cord", (JointTerm("elbow", 2.0),))
MOTOR = Actuator("motor", "tendon", "cord")
SERVO = Actuator("servo", "joint", "elbow", gain="user", bias="affine", bias_parameters=(0.0, -9.0))  # of a user's law
UNSUPPORTED = [
    ({"loops": (LoopJoint("rail", RAIL, "lower", "world"),)}, "rail"), ({"tendons": (SPRING,)}, "spring"),
    ({"actuators": (SERVO,)}, "servo"),
]  # fmt: skip


def equipped(**parts) -> kt.Model:
    return kt.models.double_pendulum().replace(equipment=Equipment(**parts))


@pytest.mark.parametrize(("parts", "name"), UNSUPPORTED)
def test_complete_dynamics_refuse_what_they_do_not_compute(parts, name):
    """Unsupported forces raise by name in complete calls, the bare tree goes on, and without them all is as before."""
    model, plain, x = equipped(**parts), kt.models.double_pendulum(), np.array([0.3, -0.2])
    for call in (kt.inverse_dynamics, kt.forward_dynamics):
        with pytest.raises(UnsupportedError, match=name):
            call(model, x, x, x)
        np.testing.assert_array_equal(call(model.without_unsupported(), x, x, x), call(plain, x, x, x))
    with pytest.raises(UnsupportedError, match=name):
        kt.simulate(model, duration=0.01)
    np.testing.assert_array_equal(kt.aba(model, x, x, x), kt.aba(plain, x, x, x))


@pytest.mark.parametrize("algorithm", [name for name, spec in ALGORITHMS.items() if spec.domains[:3] == COMPLETE])
@pytest.mark.parametrize(("parts", "name"), UNSUPPORTED)
def test_every_complete_algorithm_refuses_what_it_does_not_compute(parts, name, algorithm):
    """All of the registry whose domain is that of complete dynamics."""
    model, x = equipped(**parts), np.array([0.3, -0.2])
    spec = ALGORITHMS[algorithm]
    given = [0.01 if shape == () else x[: getattr(model, shape[0])] for shape in spec.inputs.values()]
    static = {"forward": model.joint_names} if "forward" in spec.static else {}
    with kt.interpreted(), pytest.raises(UnsupportedError, match=name):
        public_call(algorithm)(model, *given, **static)


def test_loops_and_equalities_are_constraints_until_they_are_left_out():
    """Those that are computed stay in a model without what is not, and go by their kinds."""
    model = equipped(loops=(LOOP,), equalities=(CURVE,), actuators=(SERVO,))
    assert [c.name for c in model.constraints] == ["curve", "pin"] and model.own_constraints == ()
    assert len(model.unsupported) == 1 and "servo" in model.unsupported[0]
    computed = model.without_unsupported()
    assert computed.nc == 4 and computed.equalities == (CURVE,) and not computed.actuators
    assert model.without_unsupported("loops").nc == 1 and model.without_unsupported("equalities").nc == 3
    more = model.with_constraints(kt.constraints.Lock("elbow"))
    assert more.equipment.equalities == (CURVE,) and [c.kind for c in more.own_constraints] == ["lock"]
    assert more.replace(constraints=()).equipment.equalities == more.replace(constraints=()).loops == ()


@pytest.mark.parametrize("integrator", [*FIXED_STEP, "adaptive", "exact friction"])
def test_every_integrator_refuses_an_actuator_whose_law_is_not_computed(integrator):
    """Simulations and rollouts, before anything is compiled for them."""
    model = equipped(actuators=(SERVO,))
    sticking = integrator == "exact friction"
    robot = model.with_constraints(kt.constraints.StickingFriction()) if sticking else model
    with pytest.raises(UnsupportedError, match=r"servo.*without_unsupported"):
        kt.simulate(robot, duration=0.01, **({} if sticking else {"integrator": integrator}))
    if integrator in FIXED_STEP and integrator not in ("bdf2", "generalized_alpha", "event_driven"):  # no rollouts
        with pytest.raises(UnsupportedError, match=r"servo.*without_unsupported"):
            kt.rollout(model, np.zeros(2), None, None, 0.01, steps=1, integrator=integrator)


def test_lengths_motors_and_keyframes_hinder_nothing():
    """A tendon without forces, a motor, a switched-off loop and a keyframe leave the dynamics as they are."""
    off = LoopJoint("off", Fixed(), "lower", "world", active=False)
    home = Keyframe("home", {"elbow": (0.3,)})
    model = equipped(loops=(off,), tendons=(CORD,), actuators=(MOTOR,), keyframes=(home,))
    x = np.array([0.3, -0.2])
    np.testing.assert_array_equal(
        kt.forward_dynamics(model, x, x, x), kt.forward_dynamics(kt.models.double_pendulum(), x, x, x)
    )
    assert model.unsupported == ()


def test_keyframe_fills_what_it_does_not_name():
    """A keyframe gives the whole state: neutral and at rest where it says nothing."""
    model = equipped(keyframes=(Keyframe("bent", {"elbow": (0.3,)}, {"shoulder": (2.0,)}),))
    q, v = model.keyframe("bent")
    assert q.tolist() == [0.0, 0.3] and v.tolist() == [2.0, 0.0]
    with pytest.raises(UnknownNameError, match="bent"):
        model.keyframe("bend")


@pytest.mark.parametrize(
    ("parts", "error", "named"),
    [
        ({"loops": (LoopJoint("pin", Fixed(), "lower", "floor"),)}, UnknownNameError, "floor"),
        ({"tendons": (Tendon("t", (JointTerm("knee", 1.0),)),)}, UnknownNameError, "knee"),
        ({"actuators": (Actuator("m", "tendon", "cord"),)}, UnknownNameError, "cord"),
        ({"tendons": (CORD, CORD)}, DuplicateNameError, "cord"),
        ({"keyframes": (Keyframe("k", {"elbow": (1.0, 2.0)}),)}, ShapeError, "elbow"),
        ({"keyframes": (Keyframe("k", {"elbow": (float("nan"),)}),)}, ShapeError, "elbow"),
    ],
)
def test_dangling_names_and_misfits_are_refused(parts, error, named):
    """Whatever the equipment refers to must be there, once, and fit."""
    with pytest.raises(error, match=named):
        equipped(**parts)


def test_restriction_drops_whole_pieces_and_what_depends_on_them():
    """Without its joint a tendon goes, with it the actuator that pulls it; keyframes lose only the joint."""
    all_of_it = Equipment((LOOP,), (CURVE,), (SPRING, CORD), (MOTOR,), (Keyframe("k", {"elbow": (1.0,)}),))
    left = all_of_it.restricted(["world", "upper", "lower"], ["shoulder"])
    assert left.tendons == (SPRING,) and not left.actuators and not left.equalities and left.loops == (LOOP,)
    assert left.keyframes[0].q == {}


def test_renaming_reaches_every_reference():
    """Names of frames, joints and pieces change everywhere at once."""
    all_of_it = Equipment((LOOP,), (CURVE,), (SPRING, CORD), (MOTOR,), (Keyframe("k", {"elbow": (1.0,)}),))
    new = all_of_it.renamed("f_{}".format, "j_{}".format, "o_{}".format)
    frames, joints = [f"f_{name}" for name in ("world", "upper", "lower")], ["j_shoulder", "j_elbow"]
    assert new.missing(frames, joints) == {}
    assert new.actuators[0].target == "o_cord" and new.loops[0].name == "o_pin"


@pytest.mark.parametrize("name", kt.data.robots())
def test_builder_of_a_model_builds_that_model(name):
    """ModelBuilder.of is inverse to build: the same structure and the same numbers to the last bit."""
    model = kt.load(name)
    again = ModelBuilder.of(model).build()
    assert again.structure() == model.structure()
    np.testing.assert_array_equal(again.number_values(), model.number_values())
    assert again.body_names == model.body_names and again.welded == model.welded and again.report == model.report


def test_equipment_survives_pickling():
    """A pickled model still holds what it held."""
    original = equipped(loops=(LOOP,), equalities=(CURVE,), tendons=(SPRING,))
    model = pickle.loads(pickle.dumps(original))
    assert model.unsupported == original.unsupported and model.constraint_labels == original.constraint_labels
