"""The second table of the page for users of other libraries: its calls are run, and they do the task that they name."""

from __future__ import annotations

import ast
import functools
import re

import mujoco
import mujoco.rollout
import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from tests.static.source_tree import ROOT

LIBRARIES = ("kinetree", "pinocchio", "mujoco", "drake")
STATES = 3


@functools.cache
def table() -> dict[str, dict[str, list[str]]]:
    """For each task and library the expressions in its cell that are calls."""
    text = (ROOT / "docs" / "from_other_libraries.md").read_text()
    (lines,) = (part.splitlines() for part in text.split("\n\n") if part.startswith("| task |"))
    found = {}
    for line in lines[2:]:
        task, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found[task] = {
            library: [code for code in re.findall(r"`([^`]*)`", cell) if code.endswith((")", "]"))]
            for library, cell in zip(LIBRARIES, cells, strict=True)
        }
    return found


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file of an arm with six joints on a fixed base, without passive forces."""
    arm = kt.surgery.lock(kt.load("arm7"), ["wrist_roll", "left_finger_slide", "right_finger_slide"])
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(kt.io.to_urdf(arm.replace(lower=-9.0, upper=9.0, damping=0.0, dry_friction=0.0)))
    return str(path)


def case(file):
    """The arm, and what the expressions of all libraries name."""
    model = kt.load(file)
    Q, V, A = np.random.default_rng(0).uniform(-1.0, 1.0, (3, STATES, model.nv))
    return model, {"file": file, "Q": Q, "V": V, "A": A, "q": Q[0], "v": V[0], "a": A[0], "dt": 1e-3, "t": 0.1}


def call(task: str, library: str, names: dict, number: int = 0):
    """The result of a call of a cell."""
    return eval(table()[task][library][number], names)


def test_the_table_is_read():
    """Every cell of kinetree has a call, but for the two that say that none is needed; all calls are Python."""
    found = table()
    assert {task for task in found if not found[task]["kinetree"]} == {"memory for results"}
    assert sum(bool(cells["drake"]) for cells in found.values()) >= 11
    for cells in found.values():
        for codes in cells.values():
            for code in codes:
                ast.parse(code)


def test_kinetree(file):
    """The calls of its column; those whose results other libraries have too are compared in their tests."""
    model, given = case(file)
    Q, frame = given["Q"], model.frames[-1].name
    names = given | {
        "kt": kt,
        "model": model,
        "joints": ["elbow_pitch"],
        "f": kt.compile(model, "crba"),
        "frame": frame,
    }
    names |= {"first": "upper_arm_link", "second": "wrist_roll_link", "pose": kt.pose(model, Q[1], frame=frame)}
    run = functools.partial(call, library="kinetree", names=names)
    assert run("a robot from a file").nv == run("a fixed base").nv == 6 == run("a free base").nv - 6
    moved = run("many simulations")
    for k in range(STATES):
        alone = kt.simulate(model, Q[k], given["V"][k], duration=0.005)
        assert np.allclose(moved.q[k, -1], alone.q[-1], atol=1e-9)
    slope = run("derivatives of anything")(given["q"])
    assert np.allclose(slope, kt.gravity_forces(model, given["q"]), atol=1e-10)  # the gradient of the energy
    assert run("contact with the ground").contacts is not None
    assert run("contact with the ground", number=1).contacts
    assert run("closed loops").nc == 3
    found = run("inverse kinematics")
    assert found.success and np.allclose(kt.pose(model, found.q, frame=frame)[1], names["pose"][1], atol=1e-6)
    assert run("CasADi, symbols").name_in() == ["q"]
    assert run("a robot without some joints").nv == 5


def test_pinocchio(file):
    """Many states, derivatives, a free base, a loop, a robot without a joint: the numbers are those of kinetree."""
    model, given = case(file)
    m = call("a robot from a file", "pinocchio", {"pin": pin, "file": file})
    names = given | {"pin": pin, "m": m, "ids": [m.getJointId("elbow_pitch")], "out": np.zeros((STATES, m.nv))}
    names |= {"joint1": 2, "joint2": 4, "X1": pin.SE3.Identity(), "X2": pin.SE3.Identity()}
    run = functools.partial(call, library="pinocchio", names=names)
    names["d"] = run("memory for results")
    assert run("a free base").nv == m.nv + 6 == 12
    many = call("inverse dynamics of many states", "kinetree", given | {"kt": kt, "model": model})
    assert np.allclose(run("inverse dynamics of many states").T, many, atol=1e-10)
    slopes = call("derivatives of inverse dynamics", "kinetree", given | {"kt": kt, "model": model})
    assert np.allclose(run("derivatives of inverse dynamics"), slopes, atol=1e-10)
    assert np.allclose(run("a simulation"), kt.integrate(model, given["q"], given["v"] * given["dt"]), atol=1e-12)
    assert run("closed loops").joint1_id == 2
    assert run("a robot without some joints").nv == kt.surgery.lock(model, "elbow_pitch").nv


def test_mujoco(file):
    """Steps of one state and of many, derivatives of inverse dynamics, a free base, a loop, without a joint."""
    model, given = case(file)
    m = call("a robot from a file", "mujoco", {"mujoco": mujoco, "file": file})
    names = given | {"mujoco": mujoco, "m": m, "out": np.zeros((m.nv, m.nv)), "A": np.zeros((2 * m.nv, 2 * m.nv))}
    run = functools.partial(call, library="mujoco", names=names)
    d = names["d"] = run("memory for results")
    d.qpos[:], d.qvel[:], d.qacc[:] = given["q"], given["v"], given["a"]
    run("derivatives of inverse dynamics")  # transposed there; one-sided differences of width 1e-6
    slopes = call("derivatives of inverse dynamics", "kinetree", given | {"kt": kt, "model": model})
    assert np.allclose(names["out"].T, slopes, atol=1e-5)
    run("derivatives of anything")
    assert np.any(names["A"] != 0.0)
    names["states"] = np.array([[0.0, *q, *v] for q, v in zip(given["Q"], given["V"], strict=True)])
    states, _ = run("many simulations")  # in d
    mujoco.mj_resetData(m, d)
    d.qpos[:], d.qvel[:] = given["q"], given["v"]
    for _ in range(5):
        run("a simulation")
    assert np.allclose(states[0, -1, 1:7], d.qpos, atol=1e-12)
    spec = mujoco.MjSpec.from_file(file)
    names |= {"spec": spec, "first": "upper_arm_link", "second": "wrist_roll_link", "joint": spec.joint("elbow_pitch")}
    run("closed loops")
    assert spec.compile().neq == 1
    run("a robot without some joints")
    assert spec.compile().nv == m.nv - 1
    names["body"] = spec.worldbody.add_body(mass=1.0, inertia=(1.0, 1.0, 1.0))
    run("a free base")
    assert spec.compile().nv == m.nv + 5


def drake(file, step: float = 0.0):
    """What expressions of Drake name: the plant of the file, its base welded, in a diagram."""
    pydrake = pytest.importorskip("pydrake", reason="pydrake is not installed: pip install drake")
    from pydrake import geometry, math
    from pydrake.multibody.inverse_kinematics import InverseKinematics
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import (
        AddMultibodyPlantSceneGraph,
        CoulombFriction,
        DiscreteContactApproximation,
    )
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, step)
    if step:
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    names = {"pydrake": pydrake, "plant": plant, "file": file, "Parser": Parser, "Simulator": Simulator}
    names |= {"InverseKinematics": InverseKinematics, "Meshcat": geometry.Meshcat, "X": math.RigidTransform()}
    names |= {"shape": geometry.Sphere(0.05), "friction": CoulombFriction(0.5, 0.5), "p": np.zeros(3)}
    call("a robot from a file", "drake", names)
    names["root"] = "base"
    return plant, builder, names


def test_drake_without_a_weld(file):
    """A root body floats: the plant has six velocities more, as kinetree's model with a free base."""
    plant, _, names = drake(file)
    plant.Finalize()
    assert plant.num_velocities() == call("a free base", "kinetree", names | {"kt": kt}).nv == 12


def test_drake(file):
    """Derivatives by automatic differentiation and a simulation have our numbers; symbols, inverse kinematics."""
    plant, builder, names = drake(file)
    from pydrake.autodiffutils import AutoDiffXd, ExtractGradient, InitializeAutoDiff
    from pydrake.multibody.tree import MultibodyForces_

    model, given = case(file)
    names |= given | {"body": plant.GetBodyByName("forearm_link"), "frame": model.frames[-1].name}
    run = functools.partial(call, library="drake", names=names)
    run("a fixed base")
    shapes = plant.num_collision_geometries()
    run("contact with the ground")
    plant.Finalize()
    assert plant.num_velocities() == model.nv and plant.num_collision_geometries() == shapes + 1
    assert run("memory for results", number=0).num_continuous_states() == 2 * model.nv

    there = run("derivatives of inverse dynamics")
    context, forces = there.CreateDefaultContext(), MultibodyForces_[AutoDiffXd](there)
    there.SetPositions(context, InitializeAutoDiff(given["q"]).ravel())
    there.SetVelocities(context, np.array([AutoDiffXd(x) for x in given["v"]]))
    there.CalcForceElementsContribution(context, forces)
    tau = there.CalcInverseDynamics(context, np.array([AutoDiffXd(x) for x in given["a"]]), forces)
    slopes = call("derivatives of inverse dynamics", "kinetree", given | {"kt": kt, "model": model})
    assert np.allclose(ExtractGradient(tau.reshape(-1, 1)), slopes, atol=1e-10)
    assert "Expression" in type(run("CasADi, symbols")).__name__

    diagram = names["diagram"] = builder.Build()
    simulators = []
    names["Simulator"] = lambda diagram: simulators[0]
    simulators.append(pytest.importorskip("pydrake.systems.analysis").Simulator(diagram))
    context = plant.GetMyMutableContextFromRoot(simulators[0].get_mutable_context())
    plant.SetPositions(context, given["q"])
    plant.SetVelocities(context, given["v"])
    simulators[0].get_mutable_integrator().set_target_accuracy(1e-10)
    run("a simulation")
    ends = call("a simulation", "kinetree", given | {"kt": kt, "model": model})
    assert np.allclose(plant.GetPositions(context), ends.q[-1], atol=1e-6)

    search = run("inverse kinematics")
    solver = pytest.importorskip("pydrake.solvers")
    target = kt.pose(model, given["Q"][1], frame="wrist_pitch_link")[1]
    frame, world = plant.GetFrameByName("wrist_pitch_link"), plant.world_frame()
    search.AddPositionConstraint(frame, np.zeros(3), world, target - 1e-4, target + 1e-4)
    result = solver.Solve(search.prog(), given["Q"][1] + 0.1)
    found = kt.pose(model, result.GetSolution(search.q()), frame="wrist_pitch_link")[1]
    assert result.is_success() and np.allclose(found, target, atol=1e-3)


def test_drake_in_discrete_time(file):
    """Loops and locks need a plant with a step."""
    plant, _, names = drake(file, step=1e-3)
    run = functools.partial(call, library="drake", names=names)
    run("a fixed base")
    names |= {"first": plant.GetBodyByName("upper_arm_link"), "second": plant.GetBodyByName("wrist_roll_link")}
    run("closed loops")
    plant.Finalize()
    assert plant.num_constraints() == 1
    names |= {"joint": plant.GetJointByName("elbow_pitch"), "context": run("memory for results")}
    run("a robot without some joints")
    assert names["joint"].is_locked(names["context"])
