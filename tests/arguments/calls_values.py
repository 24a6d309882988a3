"""One valid call of what is built from plain values: joints, controllers, signals, shapes with their mass, steps."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

import kinetree as kt
from kinetree import constraints, control, forces, geometry, joints, liegroup, muscles, signals, tendons
from kinetree.collision import ContactPair, Shape
from kinetree.model.parts import Geometry
from kinetree.spatial import Inertia, Symmetric3, Transform, Vector3
from tests.arguments.calls import whole_call


def table(folder) -> dict[str, tuple]:
    """Name, callable and valid arguments."""
    m = kt.load("double_pendulum")
    box = Geometry("box", size=(0.1, 0.2, 0.3))
    mesh = folder / "corner.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    solid = Geometry("mesh", mesh=str(mesh))
    sampled = control.Sampled(_damping, 0.01)
    found = _joints()
    found |= {
        "control.Sampled": (control.Sampled, dict(controller=_damping, sample_time=0.01, offset=0.0)),
        "control.Delayed": (control.Delayed, dict(controller=_damping, delay=0.01, initial=None)),
        "control.Sum": (_beside(control.Sum, sampled), dict(controller=_damping)),
        "signals.Noise": (signals.Noise, dict(deviation=[0.1, 0.2], sample_time=0.01, seed=3)),
        "signals.Pulse": (signals.Pulse, dict(value=[0.1, 0.2], start=0.0, duration=0.1)),
        "signals.Sine": (signals.Sine, dict(amplitude=[0.1, 0.2], frequency=1.0, phase=0.0)),
        "signals.push": (
            signals.push,
            dict(model=m, body=m.body_names[1], force=[0, 0, 0, 5, 0, 0], start=0.0, duration=0.1),
        ),
        "signals.together": (_beside(signals.together, np.sin), dict(signal=signals.Sine([1.0], 2.0))),
        "geometry.MassProperties": (
            geometry.MassProperties,
            dict(mass=1.0, com=np.zeros(3), inertia=np.eye(3), volume=0.001, notes=()),
        ),
        "geometry.Mesh": (
            geometry.Mesh,
            dict(vertices=np.zeros((3, 3)), faces=np.array([[0, 1, 2]]), file="x.stl"),
        ),
        "geometry.bounding_box": (geometry.bounding_box, dict(shape=box)),
        "geometry.read_mesh": (geometry.read_mesh, dict(shape=solid)),
    }
    found |= _steps() | _constraints() | _tendons() | _muscles() | _forces()
    found["liegroup.Projection"] = found["joints.Projection"]
    for call, given in (
        (geometry.body_mass_properties, dict(shapes=[box, solid], density=1000.0)),
        (geometry.inertia_from_geometry, dict(model=_crank(box), density=1000.0)),
        (geometry.inertia_of_shapes, dict(shapes=[box])),
        (geometry.mass_properties, dict(shape=solid, density=1000.0)),
    ):
        found[f"geometry.{call.__name__}"] = (call, whole_call(call, **given))
    return found


def _joints() -> dict[str, tuple]:
    kinds = {
        "Composite": dict(joints=(joints.Revolute(), joints.Prismatic())),
        "Ellipsoid": dict(radii=(0.1, 0.2, 0.3)),
        "FourierSeries": dict(omega=1.0, cosines=(0.1,), sines=(0.2,)),
        "MovingFrame": dict(axes="z", angles=(0.1,)),
        "Polynomial": dict(coefficients=(0.1, 0.2)),
        "Prescribed": dict(joint=joints.Revolute(), motion=(joints.Sinusoid(0.1, 2.0),)),
        "Projection": dict(
            directions=joints.FreeUnified().projection.directions, points=joints.FreeUnified().projection.points
        ),
        "RackAndPinion": dict(radius=0.1),
        "Reversed": dict(joint=joints.Revolute()),
        "Sinusoid": dict(amplitude=0.1, omega=2.0),
        "SplineCurve": dict(frames=next(joints.SplineCurve.examples(np.random.default_rng(0))).frames),
        "SplineSurface": dict(control=next(joints.SplineSurface.examples(np.random.default_rng(0))).control),
        "TimeSpline": dict(times=(0.0, 1.0, 2.0), values=(0.0, 0.1, 0.3)),
        "examples": dict(rng=np.random.default_rng(0)),
        "register": dict(cls=joints.Revolute),
    }
    found = {}
    for name in joints.__all__:
        call = getattr(joints, name)
        if callable(call):
            found[f"joints.{name}"] = (call, whole_call(call, **kinds.get(name, {})))
    found["joints.examples"] = (lambda **given: list(joints.examples(**given)), found["joints.examples"][1])
    return found


def _constraints() -> dict[str, tuple]:
    kinds = {
        "Coupling": dict(joint="elbow", master="shoulder"),
        "Distance": dict(predecessor="world", successor="lower", length=0.5,
                         at_P=(0.0, 0.1, 0.2), at_S=(0.0, 0.0, 1)),
        "ExplicitConstraint": dict(gamma=lambda y, ratio: ratio * y, dependent="elbow", independent=("shoulder",),
                                   parameters=(2.0,)),
        "HardLimits": dict(restitution=0.5, of=("elbow",)),
        "HardLoopLimits": dict(restitution=0.5, of=("closure",)),
        "StickingLoopFriction": dict(of=("closure",)),
        "Kinematics": dict(model=kt.models.double_pendulum(), q=[0.1, 0.2], v=[0.0, 0.1]),
        "KnifeEdge": dict(frame="lower", axis=(0.0, 1.0, 0.0), at=(0.0, 0.1, 0.2), relative_to="upper"),
        "LinearCoupling": dict(joints=("elbow", "shoulder"), ratios=(1.0, 2.0), total=0.3),
        "Lock": dict(joint="elbow"),
        "LoopJoint": dict(name="loop", joint=joints.Spherical(), predecessor="world", successor="lower"),
        "Parametric": dict(function=lambda s: (s, s, s), lower=0.0, upper=1.0),
        "PointOnCurve": dict(predecessor="world", successor="lower", curve=lambda x, y, z: (x, y), at_S=(0, 0.1, 0.2)),
        "PointOnSurface": dict(predecessor="world", successor="lower", surface=lambda x, y, z: x, at_S=(0.0, 0.1, 0.2)),
        "PolynomialCoupling": dict(joint="elbow", master="shoulder", coefficients=(0.0, 1.0, 0.5)),
        "PrescribedMotion": dict(joint="elbow", motion=0.3),
        "StickingFriction": dict(of=("elbow",)),
        "RollingBall": dict(frame="lower", radius=0.3, plane="upper", spin=False),
        "RollingDisk": dict(frame="lower", radius=0.3, axis=(0.0, 1.0, 0.0), plane="upper"),
        "RollingWheel": dict(frame="lower", radius=0.3, axis=(0.0, 1.0, 0.0), plane="upper"),
        "TendonLength": dict(path=(tendons.ViaPoint("world"), tendons.ViaPoint("lower")), reference=1.0),
        "register": dict(cls=constraints.Coupling),
    }
    calls = {name: getattr(constraints, name) for name in constraints.__all__}
    return {f"constraints.{name}": (call, whole_call(call, **kinds.get(name, {}))) for name, call in calls.items()
            if callable(call)}  # fmt: skip


def _tendons() -> dict[str, tuple]:
    model = kt.models.double_pendulum()
    path = (tendons.ViaPoint("world"), tendons.ViaPoint("lower"))
    given = {
        "JointTerm": dict(joint="elbow", coefficient=0.5),
        "Pulley": dict(divisor=2.0),
        "ViaPoint": dict(frame="lower", at=(0.0, 0.1, 0.2)),
        "WrapShape": dict(kind="sphere", frame="lower", radius=0.1),
        "path_points": dict(model=model, q=[0.1, 0.2], tendon=path),
        "path_length": dict(path=path, kin=constraints.Kinematics(model, [0.1, 0.2])),
    }
    return {f"tendons.{name}": (getattr(tendons, name), whole_call(getattr(tendons, name), **values))
            for name, values in given.items()}  # fmt: skip


def _muscles() -> dict[str, tuple]:
    millard, arm = muscles.curves("millard"), kt.models.arm26("compliant")
    given = {
        "MuscleCurves": {field.name: getattr(millard, field.name) for field in dataclasses.fields(millard)},
        "activation_rate": dict(activation=0.1, excitation=0.5, rise=0.01, fall=0.04, minimum=0.01),
        "curves": dict(name="thelen"),
        "equilibrate": dict(model=arm, q=[0.1, 0.5], v=[0.0, 0.1], x=arm.initial_internal()),
    }
    return {f"muscles.{name}": (getattr(muscles, name), whole_call(getattr(muscles, name), **values))
            for name, values in given.items()}  # fmt: skip


def _pair() -> ContactPair:
    return ContactPair("pair", Shape("world", "plane", name="a"), Shape("lower", "sphere", (0.1,), name="b"))


def _forces() -> dict[str, tuple]:
    """Elements on a model, where their names and numbers are checked."""
    model, b = kt.models.double_pendulum(), kt.ModelBuilder("ball")
    b.add_body("upper", joint=kt.joints.Spherical(), joint_name="shoulder", mass=1.0, inertia=(0.1, 0.1, 0.1))
    ball = b.build()
    path = (tendons.ViaPoint("world"), tendons.ViaPoint("lower"))
    kinds = {
        "BodyDamping": dict(name="air", frame="lower", angular=0.1, linear=(1.0, 2.0, 3.0)),
        "EllipsoidDrag": dict(name="sea", frame="lower", semiaxes=(0.1, 0.2, 0.3), density=1000.0),
        "BoxDrag": dict(name="water", frame="lower", size=(0.1, 0.2, 0.3), density=1000.0),
        "Bushing": dict(name="mount", start="world", end="lower", stiffness=(1.0, 2.0, 3.0), turning_stiffness=4.0),
        "CubicTorsionBar": dict(name="bar", joint="elbow", linear=1.0, cubic=2.0),
        "Damping": dict(joint="elbow", damping=0.1),
        "Drag": dict(name="air", frame="lower", linear=0.1, quadratic=0.2),
        "DryFriction": dict(joint="elbow", dry_friction=0.1),
        "InverseSquareForce": dict(name="earth", start="world", end="lower", strength=2.0),
        "LoopMotor": dict(joint="elbow", gear_ratio=10.0),
        "Motor": dict(joint="elbow", gear_ratio=10.0),
        "Muscle": dict(name="flexor", path=path, max_isometric_force=9.0, optimal_fiber_length=0.4,
                       tendon_slack_length=0.5),
        "Parameter": dict(name="stiffness", unit="force/position"),
        "PointForce": dict(name="push", frame="lower", vector=(1.0, 2.0, 3.0)),
        "PointSpring": dict(name="rope", start="world", end="lower", stiffness=2.0),
        "TendonForce": dict(name="cord", path=(tendons.ViaPoint("world"), tendons.ViaPoint("lower")), stiffness=2.0,
                            rest_length=(0.0, 0.5), lower=0.1, upper=2.0, limit_stiffness=3.0),
        "RotationStop": dict(name="stop", joint="shoulder", angle=0.5, stiffness=10.0, damping=1.0),
        "SoftContact": dict(name="soft", pair=_pair(), stiffness=1e4, damping=10.0),
        "SoftStop": dict(joint="elbow", limit_stiffness=10.0),
        "Spring": dict(joint="elbow", stiffness=3.0),
        "norm": dict(r=Vector3(0.1, 0.2, 0.3)),
        "register": dict(cls=forces.Spring),
    }

    def on_model(cls):
        @functools.wraps(cls)
        def make(**given):
            return (ball if cls is forces.RotationStop else model).with_forces(cls(**given))

        return make

    found = {}
    for name in forces.__all__:
        call = getattr(forces, name)
        if callable(call):
            element = name in kinds and isinstance(call, type) and name != "Parameter"
            found[f"forces.{name}"] = (on_model(call) if element else call, whole_call(call, **kinds.get(name, {})))
    return found


def _steps() -> dict[str, tuple]:
    J, omega = Symmetric3.diagonal(1.0, 2.0, 3.0), Vector3(0.1, 0.2, 0.3)
    unified = dict(
        projection=liegroup.Projection.hexahedral(),
        inertia=Inertia.from_com(1.0, Vector3.zero(), J),
        h=0.1,
        X=Transform.identity(),
        w=[0.1] * 6,
        force=lambda t, X, w: [0.0] * 6,
    )
    turn = dict(J=J, h=0.1, quaternion=(1.0, 0.0, 0.0, 0.0), omega=omega, torque=lambda t, q, omega: omega)
    calls = ((liegroup.unified_rk4_step, unified), (liegroup.terze_rk4_step, turn))
    return {f"liegroup.{call.__name__}": (call, whole_call(call, **given)) for call, given in calls}


def _damping(t, q, v):
    return -0.1 * v


def _crank(shape):
    builder = kt.ModelBuilder("crank")
    hinge = joints.Revolute((0.0, 0.0, 1.0))
    builder.add_body("arm", joint=hinge, mass=1.0, inertia=(0.1, 0.1, 0.1), geometry=[shape])
    return builder.build()


def _beside(function, other):
    """A function of any number of arguments, as one of its first."""

    def call(**given):
        (argument,) = given.values()
        return function(argument, other)

    call.__name__ = function.__name__
    return call
