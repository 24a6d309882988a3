"""Joints of the user's own, the registry, and what happens to malformed ones."""

import math
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

from kinetree.errors import DuplicateNameError, JointError
from kinetree.joints import (
    JOINTS,
    Cylindrical,
    Helical,
    Joint,
    Planar,
    Prismatic,
    RackAndPinion,
    Revolute,
    Spherical,
    SphericalEuler,
    examples,
    register,
)
from kinetree.spatial import Motion, Transform, Vector3
from kinetree.spatial.rotations import rz
from kinetree.spatial.scalar import sincos

from .calculus import TOLERANCE, along, columns, cross, derivative, matrix, six


@dataclass(frozen=True)
class Ellipse(Joint):
    """A slider on an elliptic guide that does not turn: only the four members that a joint must have."""

    a: float
    b: float
    nq = nv = 1

    def transform(self, q):
        s, c = sincos(q[0])
        return Transform(rz(0.0), Vector3(self.a * c, self.b * s, 0.0))

    def motion_subspace(self, q):
        s, c = sincos(q[0])
        return (Motion(Vector3.zero(), Vector3(-self.a * s, self.b * c, 0.0)),)


class PlainEllipse(Joint):
    """The same without a dataclass: parameters set by a hand-written constructor."""

    nq = nv = 1

    def __init__(self, a, b):
        self.a, self.b = a, b

    transform = Ellipse.transform
    motion_subspace = Ellipse.motion_subspace


@pytest.mark.parametrize("cls", [Ellipse, PlainEllipse])
def test_four_members_make_a_joint(cls, rng):
    """Bias, rates and manifold of a user's joint follow from transform and motion_subspace by exact differentiation."""
    mine = cls(2.0, 0.5)
    q, v = mine.random(rng), [1.3]
    path = along(mine, q, v)
    rate = derivative(lambda t: matrix(mine.transform(path(t))))
    np.testing.assert_allclose(rate, -cross(mine.velocity(q, v)) @ matrix(mine.transform(q)), atol=TOLERANCE)
    s, c = math.sin(q[0]), math.cos(q[0])
    expected = [0, 0, 0, -2.0 * c * v[0] ** 2, -0.5 * s * v[0] ** 2, 0]
    np.testing.assert_allclose(six(mine.bias(q, v)), expected, atol=1e-15)


def test_kind_is_the_class_name_in_snake_case():
    """Without a kind of its own, a class gets one from its name; a subclass does not inherit its parent's."""
    assert PlainEllipse.kind == "plain_ellipse"

    class Knee2D(Revolute):
        pass

    assert Knee2D.kind == "knee2_d"


def test_parameters_tell_joints_apart_without_a_dataclass():
    """Equality must see attributes that a hand-written constructor sets, or a compiled function would be mistaken."""
    assert PlainEllipse(2.0, 0.5) == PlainEllipse(2.0, 0.5)
    assert PlainEllipse(2.0, 0.5) != PlainEllipse(2.0, 0.6)
    assert hash(PlainEllipse(2.0, 0.5)) == hash(PlainEllipse(2.0, 0.5))
    assert repr(PlainEllipse(2.0, 0.5)) == "PlainEllipse(a=2.0, b=0.5)"


def test_subclass_with_more_parameters_differs_from_its_like():
    """A subclass of a built-in joint with an attribute of its own compares it, too."""

    class Sprung(Revolute):
        def __init__(self, axis, rest):
            super().__init__(axis)
            object.__setattr__(self, "rest", rest)

    assert Sprung((0, 0, 1), 0.1) != Sprung((0, 0, 1), 0.2)
    assert Sprung((0, 0, 1), 0.1) != Revolute((0, 0, 1))


def test_built_in_joints_are_frozen():
    """A joint is a value: its axis cannot be set."""
    with pytest.raises((FrozenInstanceError, AttributeError)):
        Revolute().axis = (1.0, 0.0, 0.0)


def test_incomplete_class_is_refused_when_defined():
    """The message lists what is missing."""
    with pytest.raises(JointError, match=r"joint class Empty does not define motion_subspace, nq, nv; a joint"):

        class Empty(Joint):
            def transform(self, q):
                return Transform.identity()


def test_different_sizes_need_their_own_manifold():
    """nq != nv: q_dot = v cannot hold, and the class says so when it is defined."""
    with pytest.raises(JointError, match=r"nq=2 and nv=1, so it must define q_dot, integrate, difference, neutral"):

        class Rolling(Joint):
            nq, nv = 2, 1

            def transform(self, q):
                return Transform.identity()

            def motion_subspace(self, q):
                return (Motion.zero(),)


def test_sizes_of_an_instance_are_checked_when_used():
    """The same where nq and nv depend on the parameters."""

    class Sized(Joint):
        def __init__(self, nq, nv):
            self.nq, self.nv = nq, nv

        def transform(self, q):
            return Transform.identity()

        def motion_subspace(self, q):
            return (Motion.zero(),) * self.nv

    assert Sized(2, 2).q_dot([0.0, 0.0], [1.0, 2.0]) == [1.0, 2.0]
    with pytest.raises(JointError, match=r"has nq=3 and nv=2, so the default integrate \(q \+ dv\) is wrong for it"):
        Sized(3, 2).integrate([0.0] * 3, [0.0] * 2)


@pytest.mark.parametrize("cls", [Revolute, Prismatic, Helical, Cylindrical])
def test_axis_errors_show_the_axis(cls):
    """A zero, a non-finite and a malformed axis are refused with their value."""
    with pytest.raises(JointError, match=rf"{cls.kind} joint: axis \(0, 0, 0\) has length zero; give") as caught:
        cls((0, 0, 0))
    assert caught.value.axis == (0, 0, 0)
    with pytest.raises(JointError, match=rf"{cls.kind} joint: axis \(nan, 0, 1\) is not finite"):
        cls((math.nan, 0, 1))
    with pytest.raises(JointError, match=rf"{cls.kind} joint: axis must be three numbers.*got \(1, 0\)"):
        cls((1, 0))
    with pytest.raises(JointError, match=r"axis must be three numbers.*got 'z'"):
        cls("z")


def test_tiny_and_huge_axes_are_normalized():
    """Normalizing neither underflows nor overflows."""
    for scale in (1e-300, 1e300):
        np.testing.assert_allclose(Revolute((3 * scale, 0.0, 4 * scale)).axis, (0.6, 0.0, 0.8), rtol=4e-16)


def test_parameter_errors_name_the_parameter():
    """Pitch and radius must be finite numbers."""
    with pytest.raises(JointError, match=r"helical joint: pitch must be finite \[m/rad\]; got inf"):
        Helical((0, 0, 1), math.inf)
    with pytest.raises(JointError, match=r"helical joint: pitch must be a number \[m/rad\]; got None"):
        Helical((0, 0, 1), None)
    with pytest.raises(JointError, match=r"rack_and_pinion joint: radius must be finite"):
        RackAndPinion(math.nan)


@pytest.mark.parametrize("sequence", ["zzx", "ZYX", "xy", "abc", 3, None, ["x"]])
def test_unknown_euler_sequence_lists_the_twelve(sequence):
    """The twelve sequences are in the message, and the one that was given."""
    with pytest.raises(JointError, match=r"is not one of xyz, xzy, yxz, yzx, .*, zyz \(lower case") as caught:
        SphericalEuler(sequence)
    assert caught.value.sequence == sequence


@pytest.fixture
def registry():
    """Whatever a test registers is gone afterwards."""
    before = dict(JOINTS)
    yield JOINTS
    JOINTS.clear()
    JOINTS.update(before)


def test_registered_joint_joins_the_battery(registry):
    """A user's class with examples is tested like the built-in ones, reversed as well."""

    @dataclass(frozen=True)
    class Oval(Ellipse):
        @classmethod
        def examples(cls, rng):
            yield cls(1.0, 2.0)

    assert register(Oval) is Oval and registry["oval"] is Oval
    labels = [label for label, _ in examples(np.random.default_rng(0))]
    assert sum("Oval(a=1.0,b=2.0)" in label for label in labels) == 2


def test_a_kind_can_be_registered_once(registry):
    """The message names both classes and the fix; the same class again is no error."""
    register(Revolute)
    with pytest.raises(DuplicateNameError, match=r"kind 'revolute' of class Mine is already that of Revolute; set"):

        @register
        class Mine(Revolute):
            kind = "revolute"

    assert registry["revolute"] is Revolute


def test_only_joints_can_be_registered(registry):
    """Anything else is refused by name."""
    with pytest.raises(JointError, match=r"register: <class 'int'> is not a subclass of kinetree.joints.Joint"):
        register(int)


def test_parameters_without_examples_are_explained(registry):
    """A registered class that cannot be built without arguments must say how to build it."""
    register(Ellipse)
    with pytest.raises(JointError, match=r"joint kind 'ellipse' has parameters .*; give Ellipse a classmethod"):
        list(examples(np.random.default_rng(0)))


def test_every_kind_is_registered_under_its_name():
    """The registry and the classes agree, and every kind but 'reversed' has examples."""
    assert all(cls.kind == kind for kind, cls in JOINTS.items())
    shown = {type(example).kind for _, example in examples(np.random.default_rng(0), time_dependent=True)}
    assert shown == set(JOINTS)


def test_describe_reads_well():
    """Joint, variables, units on one line."""
    assert Planar().describe() == (
        "Planar(): q = (angle [rad], x [m], y [m]), v = (angular velocity [rad/s], vx [m/s], vy [m/s])"
    )


def test_random_rotations_are_uniform(rng):
    """Of uniformly distributed rotations, the mean of E is zero: within 4 / sqrt(3 n) for n samples."""
    n = 2000
    mean = np.mean([matrix(Spherical().transform(Spherical().random(rng)))[:3, :3] for _ in range(n)], axis=0)
    assert np.abs(mean).max() < 4.0 / math.sqrt(3 * n)


def test_nan_stays_nan(joint, rng):
    """A NaN in q or v appears in the result of every map that depends on it; none becomes a finite number."""
    if not joint.nv:
        pytest.skip("no variables")
    q, v = joint.random(rng), [math.nan] * joint.nv
    assert all(math.isnan(x) for x in joint.integrate(q, v)[-1:])
    assert any(math.isnan(x) for x in joint.velocity(q, v))
    bad = [math.nan] * joint.nq
    assert any(math.isnan(x) for x in joint.difference(joint.neutral(), bad))
    X = joint.transform(bad)
    assert np.isnan(columns([X @ Motion.of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])])).any()


def test_composites_of_nothing_or_of_too_much_are_refused():
    """A composite joint needs joints, and a body has six freedoms."""
    from kinetree.joints import Composite, Free

    for joints in ((), 3, Revolute(), (Revolute,)):
        with pytest.raises(JointError, match="composite joint: joints must be joints in a row"):
            Composite(joints)
    with pytest.raises(JointError, match="has 7 freedoms, but a body has 6"):
        Composite((Free(), Revolute()))


@pytest.mark.parametrize("name", ["PlanarSplit", "FreeSplit"])
def test_split_joints_know_two_orders(name):
    """The error says which, and what they mean."""
    import kinetree.joints

    with pytest.raises(JointError, match=r"first='position', expected 'translation' .* or 'rotation'"):
        getattr(kinetree.joints, name)("position")


def test_composites_of_parts_in_one_line_are_turned_to_z():
    """The canonical form of parallel oblique axes is about z; that of others is the joint itself."""
    from kinetree.joints import Composite

    axis = (0.6, 0.0, 0.8)
    _, simple = Composite((Revolute(axis), Prismatic(axis))).canonical()
    assert simple == Composite((Revolute(), Prismatic()))
    crossed = Composite((Revolute(axis), Prismatic((1, 0, 0))))
    assert crossed.canonical()[1] is crossed
