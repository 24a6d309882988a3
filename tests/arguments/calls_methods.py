"""One valid call of the public methods of models, builders, runs and functions."""

from __future__ import annotations

import functools
import inspect
import operator
import pathlib

import numpy as np

import kinetree as kt
from kinetree.dynamics import ArticulatedBody
from kinetree.joints import Revolute
from kinetree.model import Equipment, Geometry, Keyframe
from tests.arguments.calls import arm, whole_call

CLASSES = (
    "ModelBuilder",
    "Model",
    "Trajectory",
    "Simulation",
    "simulation.Rollout",
    "simulation.DifferentiableRollout",
    "compiler.Function",
    "MechanismBuilder",
    "simulation.Snapshot",
    "dynamics.Factorization",
    "dynamics.ArticulatedBody",
    "conventions.Engine",
    "deformables.Coupled",
    "deformables.CoupledRun",
    "deformables.Deformable",
    "contact.Pile",
)
INNER = {
    "Trajectory.view": "a front of kt.view",
    "deformables.CoupledRun.view": "a front of kt.view",
    "dynamics.ArticulatedBody.joined": "a step of kt.dynamics.articulated_inverse_inertia, over any scalar",
    "compiler.Function.copy_for": "of a model of the same structure, as packed calls make it",
    "compiler.Function.declared": "of functions that are made from this one",
    "compiler.Function.interpret": "of arrays that were looked at",
    "deformables.Coupled.ahead": "of loads and states of the same scene, for steps",
    "deformables.Coupled.bias": "of states and kinematics of the same scene, for steps",
    "deformables.Coupled.placed": "of states of the same scene, for steps",
    "deformables.Deformable.numbers": "of names for messages, for attachments",
    "Model.after": "over any scalar, in the bodies of algorithms",
    "Model.at": "over any scalar, in the bodies of algorithms",
    "Model.check_held": "of callers by name, in the bodies of algorithms",
    "Model.constrained_velocities": "of states that the model draws",
    "Model.is_loop": "of any object, which is a loop joint's name or not",
    "Model.loop_coefficients": "of parameters of joint forces, in the bodies of algorithms",
    "Model.loop_has_stop": "of names among those of loop_joints, in the bodies of algorithms",
    "Model.loop_joint": "of names among those of loop_joints, in the bodies of algorithms",
    "Model.q_of": "over any scalar, in the bodies of algorithms",
    "Model.v_of": "over any scalar, in the bodies of algorithms",
    "Model.snapshot": "over any scalar, in the bodies of algorithms",
    "Model.stabilization": "of constraints by their place, in the bodies of algorithms",
    "Model.stabilized": "of gains that closure= of simulate and rollout gives",
    "Model.visits": "of parts of the tree, in the bodies of algorithms",
    "Model.with_rows_of": "of the model that this one was made from",
    "Model.with_internal": "over any scalar, in the bodies of algorithms",
    "Model.with_numbers": "over any scalar, in the bodies of algorithms",
    "Simulation.closed": "for events, whose states were looked at",
    "Simulation.motion": "for integrators, which are given the step",
    "Simulation.shortened": "for integrators, which are given the step",
}
"""Methods without an entry, and why."""


def methods() -> set[str]:
    """Public methods of these classes that take an argument."""
    found = set()
    for owner in CLASSES:
        cls = operator.attrgetter(owner)(kt)
        for name, x in inspect.getmembers(cls, inspect.isroutine):
            if not name.startswith("_"):
                bound = not isinstance(inspect.getattr_static(cls, name), (staticmethod, classmethod))
                found |= {f"{owner}.{name}"} if len(inspect.signature(x).parameters) > bound else set()
    return found


def on_new(make, name: str):
    """The method of an object that is made for each call, so that calls leave nothing behind."""
    found = getattr(make(), name)

    @functools.wraps(found)
    def call(**given):
        return getattr(make(), name)(**given)

    return call


def with_constraint(constraint):
    """`Model.with_constraints` of one, by name."""
    return arm().with_constraints(constraint)


def with_actuator(actuator):
    """`Model.with_actuators` of one, by name."""
    return arm().with_actuators(actuator)


def with_force(force):
    """`Model.with_forces` of one, by name."""
    return arm().with_forces(force)


def on_kinds(model):
    """`Model.without_unsupported` of one kind, by name."""

    def without_unsupported(kinds):
        return model.without_unsupported(kinds)

    return without_unsupported


def two_bodies() -> kt.ModelBuilder:
    builder = kt.ModelBuilder("x")
    builder.add_body("a", joint=Revolute((0, 1, 0)), mass=1.0)
    builder.add_body("b", "a", Revolute((0, 1, 0)), mass=1.0, com=(0.0, 0.0, 1.0))
    return builder


def mechanism() -> kt.MechanismBuilder:
    builder = kt.MechanismBuilder("x")
    builder.add_body("a", mass=1.0)
    builder.add_body("b", mass=1.0, com=(0.0, 0.0, 1.0))
    builder.add_joint("u", "world", "a", Revolute((0, 1, 0)))
    builder.add_joint("w", "a", "b", Revolute((0, 1, 0)))
    return builder


def table(folder: pathlib.Path) -> dict:
    """Name -> (callable, arguments by name) of a call that works."""
    return built(folder) | models(folder) | runs(folder) | functions(folder)


def built(folder) -> dict:
    shape = Geometry("sphere", (0.1,))
    pose = ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    made, graph = functools.partial(on_new, two_bodies), functools.partial(on_new, mechanism)
    numbers = dict.fromkeys(("armature", "damping", "dry_friction", "stiffness", "limit_damping"), 0.1)
    given = {
        "ModelBuilder.of": (kt.ModelBuilder.of, dict(model=arm())),
        "ModelBuilder.add_body": (
            made("add_body"),
            dict(
                name="c",
                parent="b",
                joint=Revolute((0, 1, 0)),
                joint_name="j",
                placement=pose,
                mass=1.0,
                com=(0.0, 0.0, 0.0),
                inertia=(1.0, 1.0, 1.0),
                spring_reference=0.1,
                lower=-1.0,
                upper=1.0,
                velocity_limit=1.0,
                effort_limit=1.0,
                limit_stiffness=1.0,
                geometry=[shape],
            )
            | numbers,
        ),
        "ModelBuilder.add_force": (made("add_force"), dict(force=kt.forces.Damping("b", (0.1,)))),
        "ModelBuilder.add_constraint": (made("add_constraint"), dict(constraint=kt.constraints.Coupling("b", "a"))),
        "ModelBuilder.add_coupling": (made("add_coupling"), dict(joint="b", master="a", ratio=1.0, offset=0.0)),
        "ModelBuilder.add_frame": (made("add_frame"), dict(name="f", body="b", placement=pose)),
        "ModelBuilder.add_geometry": (made("add_geometry"), dict(body="b", shape=shape)),
        "ModelBuilder.add_rotor": (
            made("add_rotor"),
            whole_call(
                two_bodies().add_rotor,
                name="r",
                joint="b",
                ratio=10.0,
                axial_inertia=1e-4,
                body="a",
                mass=0.1,
                transverse_inertia=1e-4,
            ),
        ),
        "ModelBuilder.build": (made("build"), dict(merge_fixed=True)),
        "ModelBuilder.note": (made("note"), dict(level="info", where="body", message="as it is")),
        "MechanismBuilder.add_body": (
            graph("add_body"),
            dict(name="c", mass=1.0, com=(0.0, 0.0, 0.0), inertia=None, geometry=[shape]),
        ),
        "MechanismBuilder.add_constraint": (
            graph("add_constraint"),
            dict(constraint=kt.constraints.Coupling("w", "u")),
        ),
        "MechanismBuilder.add_coupling": (graph("add_coupling"), dict(joint="w", master="u", ratio=1.0, offset=0.0)),
        "MechanismBuilder.add_force": (graph("add_force"), dict(force=kt.forces.Damping("w", (0.1,)))),
        "MechanismBuilder.add_frame": (graph("add_frame"), dict(name="f", body="b", placement=pose)),
        "MechanismBuilder.add_joint": (
            graph("add_joint"),
            dict(
                name="j",
                predecessor="world",
                successor="b",
                joint=Revolute((0, 1, 0)),
                at_predecessor=pose,
                at_successor=pose,
                damping=0.1,
            ),
        ),
        "MechanismBuilder.note": (graph("note"), dict(level="info", where="body", message="as it is")),
        "MechanismBuilder.build": (graph("build"), whole_call(mechanism().build)),
    }
    return given


def models(folder) -> dict:
    m = arm()
    key = Keyframe("home", q={"elbow": (0.1,)})
    keyed = m.replace(equipment=Equipment(keyframes=(key,)))
    found = {
        "Model.common_ancestor": (m.common_ancestor, dict(i=1, j=2)),
        "Model.keyframe": (keyed.keyframe, dict(name="home")),
        "Model.keyframe_controls": (keyed.keyframe_controls, dict(name="home")),
        "Model.keyframe_activations": (keyed.keyframe_activations, dict(name="home")),
        "Model.with_actuators": (with_actuator, dict(actuator=kt.model.Actuator("servo", "joint", "elbow"))),
        "Model.with_forces": (with_force, dict(force=kt.forces.Damping("elbow", (0.1,)))),
        "Model.with_constraints": (with_constraint, dict(constraint=kt.constraints.Coupling("elbow", "shoulder"))),
        "Model.without_unsupported": (on_kinds(m), dict(kinds="loops")),
        "Model.random_state": (m.random_state, dict(rng=np.random.default_rng(0))),
        "Model.read_with": (m.read_with, dict(options={})),
    }
    for name in ("coordinate", "q_index", "v_index"):
        found[f"Model.{name}"] = (getattr(m, name), dict(joint="elbow"))
    sprung = m.with_forces(kt.forces.PointSpring("cable", "world", m.body_names[1], 1.0))
    for name in ("u_index", "x_index"):
        found[f"Model.{name}"] = (getattr(sprung, name), dict(force="cable"))
    for name in ("ancestors", "children", "subtree", "support"):
        found[f"Model.{name}"] = (getattr(m, name), dict(i=1))
    for name in ("has_limit", "has_stop"):
        found[f"Model.{name}"] = (getattr(m, name), dict(k=1))
    return found


def runs(folder) -> dict:
    m, q, v = arm(), np.array([0.3, -0.2]), np.array([0.1, 0.2])
    run = kt.simulate(m, q, v, duration=0.01, dt=1e-3)
    touched = kt.simulate(kt.models.free_shape("sphere", 0.1), duration=0.003, ground=True)
    simulation = functools.partial(kt.Simulation, m, q, v)
    snapshot = simulation().save()
    saved = str(snapshot.save(folder / "snapshot.npz"))
    roll = kt.simulation.Rollout(m)
    gradient = kt.simulation.DifferentiableRollout(m, integrator="rk4", threads=1)
    found = {
        "simulation.Rollout.__call__": (roll, whole_call(roll, q0=q, v0=v, tau=np.zeros((3, 2)), dt=1e-3)),
        "Trajectory.compare": (run.compare, dict(other=run, tolerance=1e-6, joints=None)),
        "Trajectory.concatenate": (
            kt.Trajectory.concatenate,
            dict(runs=[run.between(0, 0.005), run.between(0.005)], tolerance=1e-6),
        ),
        "Trajectory.save": (run.save, dict(path=str(folder / "saved.npz"), energy_balance=None)),
        "Trajectory.plot": (run.plot, whole_call(run.plot)),
        "Trajectory.plot_energy_balance": (run.plot_energy_balance, whole_call(run.plot_energy_balance)),
        "Trajectory.plot_contacts": (touched.plot_contacts, whole_call(touched.plot_contacts)),
        "Trajectory.plot_path": (run.plot_path, whole_call(run.plot_path, frames="lower")),
        "Trajectory.plot_phase": (run.plot_phase, whole_call(run.plot_phase)),
        "Trajectory.animate": (run.animate, {}),
        "Trajectory.plot_power": (run.plot_power, whole_call(run.plot_power)),
        "Trajectory.to_pandas": (run.to_pandas, dict(frames=["lower"])),
        "Trajectory.to_xarray": (run.to_xarray, dict(frames=["lower"], energy_balance=True)),
        "Trajectory.with_channel": (
            run.with_channel,
            dict(name="deflection", values=np.zeros(len(run.time)), unit="m", description="", labels=None),
        ),
        "Simulation.restore": (simulation().restore, dict(snapshot=snapshot)),
        "Simulation.save": (simulation().save, dict(record=True)),
        "Simulation.trajectory": (simulation().trajectory, dict(end=None)),
        "simulation.Snapshot.load": (kt.simulation.Snapshot.load, dict(path=saved)),
        "simulation.Snapshot.save": (snapshot.save, dict(path=str(folder / "again.npz"))),
        "simulation.DifferentiableRollout.__call__": (
            gradient,
            whole_call(gradient, q0=q, v0=v, tau=np.zeros((3, 2)), dt=1e-3),
        ),
        "simulation.DifferentiableRollout.pull_back": (
            gradient.pull_back,
            whole_call(
                gradient.pull_back,
                q0=q,
                v0=v,
                tau=np.zeros((3, 2)),
                dt=1e-3,
                q_cotangent=np.zeros((4, 2)),
                v_cotangent=np.zeros((4, 2)),
            ),
        ),
        "simulation.DifferentiableRollout.with_parameters": (gradient.with_parameters, dict(parameters=m)),
        "simulation.Rollout.by": (roll.by, dict(integrator="rk4")),
        "simulation.Rollout.with_parameters": (roll.with_parameters, dict(parameters=m)),
    }
    return found


def functions(folder) -> dict:
    m, q = arm(), np.array([0.3, -0.2])
    function = kt.compile(m, "crba")
    body, other = (ArticulatedBody((name,), np.eye(6), np.zeros(6)) for name in ("lower", "other"))
    found = {
        "dynamics.ArticulatedBody.beside": (body.beside, dict(other=other)),
        "dynamics.ArticulatedBody.keeping": (body.keeping, dict(handles=["lower"])),
        "compiler.Function.__call__": (function, dict(q=q, out=None)),
        "compiler.Function.with_parameters": (function.with_parameters, dict(parameters=m)),
        "dynamics.Factorization.solve": (kt.dynamics.factorize(m, q).solve, dict(x=np.ones(2), out=None)),
    }
    return found
