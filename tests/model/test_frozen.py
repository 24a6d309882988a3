"""Nothing that is reached from a model can be changed: neither attributes, nor entries of arrays and containers."""

from __future__ import annotations

import copy
import inspect
import pickle
from types import FunctionType, MappingProxyType, ModuleType

import numpy as np
import pytest

import kinetree as kt
from kinetree import content, spatial
from kinetree.joints import examples
from kinetree.model import (
    Actuator,
    Equality,
    Equipment,
    Geometry,
    Keyframe,
    LoopJoint,
    Report,
    ReportEntry,
    RotationLimit,
    Softness,
    Tendon,
)
from kinetree.spatial import Inertia, Quantity, Symmetric3, Transform, Vector3
from kinetree.tendons import JointTerm, Pulley, ViaPoint, WrapShape

ATOMS = (str, bytes, int, float, complex, type(None), slice, type, FunctionType, ModuleType, np.generic)
MUTABLE = (dict, list, set, bytearray)
WORKING = {"functions"}  # compiled functions: made on use, known to be a dict


def parts(x):
    """Name and value of everything that an object consists of."""
    if isinstance(x, (tuple, frozenset, list, set)):
        yield from ((f"[{k}]", y) for k, y in enumerate(x))
    if isinstance(x, (dict, MappingProxyType)):
        yield from ((f"[{k!r}]", y) for k, y in x.items())
    names = {name for kind in type(x).__mro__ for name in _slots(kind)} | set(getattr(x, "__dict__", ()))
    for name in sorted(names - {"__weakref__", "__dict__"}):
        if hasattr(x, name):
            yield "." + name, getattr(x, name)


def _slots(kind):
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots


def reached(x, path="model", met=None):
    """Paths and values of all that can be reached, the values that nobody can change left out."""
    met = {} if met is None else met
    if isinstance(x, ATOMS) or id(x) in met:
        return
    met[id(x)] = x
    yield path, x
    for name, part in parts(x):
        if name.removeprefix(".") not in WORKING:
            yield from reached(part, path + name, met)


def changeable(path, x):
    """What can be changed of one object."""
    if isinstance(x, MUTABLE):
        yield f"{path} is a {type(x).__name__}"
    if isinstance(x, np.ndarray):
        if x.flags.writeable:
            yield f"{path} is a writeable array"
        return
    if isinstance(x, (tuple, frozenset, MappingProxyType, np.dtype)) and not hasattr(x, "__dict__"):
        return
    for name in [*(name.removeprefix(".") for name, _ in parts(x) if name.startswith(".")), "invented"]:
        value = getattr(x, name, None)
        for change in (lambda name=name, value=value: setattr(x, name, value), lambda name=name: delattr(x, name)):
            try:
                change()
            except (AttributeError, TypeError) as error:
                if name != "invented" and "immutable" not in str(error) and "cannot" not in str(error):
                    yield f"{path}.{name}: the error says only {error}"
            else:
                setattr(x, name, value)
                yield f"{path}.{name} can be set or deleted"


def all_joints():
    """A tree with every kind of joint, those that depend on time too."""
    joints = [joint for _, joint in examples(np.random.default_rng(0), time_dependent=True)]
    return kt.models.random_tree(len(joints), seed=0, joints=joints)


def equipped():
    """A model with everything that a model may hold, made from lists and arrays, which the caller keeps."""
    b = kt.ModelBuilder("equipped")
    for k, parent in enumerate(("world", "link0", "link1")):
        shape = Geometry("box", [0.1, 0.1, 0.5], np.eye(3), np.zeros(3), color=[1, 0, 0, 1], scale=[1, 1, 1])
        b.add_body(f"link{k}", parent, kt.joints.Revolute((0, 1, 0)), f"hinge{k}", np.eye(4), mass=1.0, com=[0, 0, 0.2],
                   inertia=0.1 * np.eye(3), lower=-1.0, upper=1.0, damping=0.1, geometry=[shape])  # fmt: skip
    b.add_body("ball", "link2", kt.joints.Spherical(), "socket", mass=1.0, inertia=[0.1, 0.1, 0.1])
    b.add_body("finger", "link2", kt.joints.Prismatic(), "slide", mass=0.1, inertia=[0.1, 0.1, 0.1])
    b.add_frame("tip", "link2", ([0, 0, 0.5], [0, 0, 0]))
    b.add_coupling("slide", "hinge2", 0.5, 0.1)
    b.add_rotor("rotor", "hinge0", 50.0, 1e-4, transverse_inertia=1e-4, mass=0.1)
    at_tip = kt.spatial.Transform.shift(kt.spatial.Vector3(0.0, 0.0, 0.5))
    tip, foot = ViaPoint("tip"), ViaPoint("link0")
    soft = Softness([0.02, 1.0], [0.9, 0.95, 0.001, 0.5, 2.0])
    b.equipment = Equipment(
        loops=[LoopJoint("close", kt.joints.Spherical(), "world", "tip", at_tip, softness=soft)],
        equalities=[
            RotationLimit("socket", 1.0),
            Equality("gear", "joint", "hinge0", "hinge1", [0.0, 1.0], softness=soft),
        ],
        tendons=[
            Tendon("rope", [tip, WrapShape("sphere", "tip", 0.1), foot, Pulley(2.0), foot, tip],
                   rest_length=[0.0, 1.0], actuator_force_range=[-1.0, 1.0]),
            Tendon("sum", [JointTerm("hinge0", 1.0), JointTerm("hinge1", -1.0)]),
        ],
        actuators=[Actuator("motor", "joint", "hinge0", [1.0, 0, 0, 0, 0, 0], gain_parameters=np.array([1.0]),
                            control_range=[-1.0, 1.0])],
        keyframes=[Keyframe("home", {"hinge0": [0.1]}, {"hinge1": np.array([0.2])})],
    )  # fmt: skip
    return b.build().replace(effort_limit=np.full(7, 10.0), report=Report([ReportEntry("info", "here", "said")]))


MODELS = {
    "all joints": all_joints,
    "equipped": equipped,
    **{name: lambda name=name: kt.load(name) for name in ("humanoid", "quadruped", "arm7", "cart_pole")},
    "planar": lambda: kt.models.double_pendulum().planar(),
}


@pytest.mark.parametrize("name", MODELS)
def test_nothing_reached_from_a_model_can_be_changed(name):
    model = MODELS[name]()
    model.reframed(), model.numbers()
    found = [what for path, x in reached(model) for what in changeable(path, x)]
    assert not found, "\n".join(found)


def values():
    """One object of every class of the algebra."""
    v, E = Vector3(1.0, 2.0, 3.0), spatial.AxialRotation(2, 0.6, 0.8)
    w, P = spatial.Vector2(1.0, 2.0), Symmetric3(3.0, 0.1, 3.0, 0.2, 0.3, 3.0)
    M = spatial.Matrix3.identity()
    X = Transform(E, v)
    return [
        *(v, E, w, P, M, X, Inertia(1.0, v, P), spatial.Motion(v, v), spatial.Force(v, v), spatial.IdentityRotation()),
        *(spatial.ArticulatedInertia(P, M, P), spatial.AccelerationField(v, v, v), spatial.FactoredTransform(X, X)),
        *(spatial.rotation_from_matrix([[0.6, 0.0, 0.8], [0.64, 0.6, -0.48], [-0.48, 0.8, 0.36]]),),
        spatial.Columns([spatial.Motion(v, v)], spatial.Motion),
        *(spatial.PlanarMotion(1.0, w), spatial.PlanarForce(1.0, w), spatial.PlanarRotation(0.6, 0.8)),
        *(spatial.PlanarInertia(1.0, w, 2.0), spatial.PlanarArticulatedInertia(P, w, 2.0)),
        *(spatial.PlanarAccelerationField(1.0, 1.0, w), spatial.PlanarTransform(0.6, 0.8, w)),
    ]


def test_no_value_of_the_algebra_can_be_changed():
    """Every class, before and after it has computed what it keeps."""
    found = values()
    kinds = {kind for kind in vars(spatial).values() if inspect.isclass(kind) and issubclass(kind, Quantity)}
    assert {type(x) for x in found} == kinds - {Quantity, spatial.Rotation}
    for x in found:
        for name in dir(x):
            if not name.startswith("_") and not callable(getattr(type(x), name, None)):
                try:
                    getattr(x, name)
                except NotImplementedError:
                    pass
    assert not [what for x in found for what in changeable(type(x).__name__, x)]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_values_and_models_are_copied(copied):
    """Copies and pickles are equal and as immutable."""
    for x in values():
        assert content.key(copied(x)) == content.key(x) is not None
        assert not list(changeable("copy", copied(x)))
    model = equipped()
    again = copied(model)
    assert again.structure() == model.structure() and np.array_equal(again.number_values(), model.number_values())
    assert repr(again.equipment) == repr(model.equipment)
    assert not [what for path, y in reached(again) for what in changeable(path, y)]


def test_compiled_and_interpreted_results_cannot_be_made_to_differ():
    """A body's mass is refused where it is set, not computed with by one and not by the other."""
    arm = kt.load("arm7")
    q = arm.neutral()
    M = kt.crba(arm, q)
    with pytest.raises(AttributeError, match=r"Inertia is immutable, so m cannot be set.*model\.replace\(I="):
        arm.I[3].m = 50.0
    with pytest.raises(AttributeError, match="immutable"):
        arm.X_T[2].r.x = 1.0
    with pytest.raises(AttributeError, match="immutable"):
        arm.gravity.z = 0.0
    with kt.interpreted():
        np.testing.assert_allclose(kt.crba(arm, q), M, rtol=0.0, atol=1e-13)


def test_a_model_keeps_nothing_of_its_callers_arrays():
    """What was given stays the caller's: it may be written to, and the model does not notice."""
    given = {"lower": np.array([-1.0, -1.0]), "upper": np.array([1.0, 1.0]), "damping": np.array([0.1, 0.2])}
    model = kt.models.double_pendulum().replace(**given)
    R, p = np.eye(3), np.zeros(3)
    placed = [kt.model.Frame("f", 1, R, p), Geometry("sphere", np.array([0.1]), R, p)]
    before = pickle.dumps((model, placed))
    for array in (*given.values(), R, p):
        array[...] = 7.0
    assert pickle.dumps((model, placed)) == before
