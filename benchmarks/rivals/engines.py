"""The compiled engines with Python packages: MuJoCo and Drake."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np

from benchmarks.rivals.contest import Absent, Offer, Robot, loop, repeated
from benchmarks.rivals.coordinates import Coordinates
from benchmarks.rivals.ours import CALLS


def mujoco_model(robot: Robot):
    """MuJoCo's model of the bare tree: no contacts, limits or friction; a free base is a joint to an added link."""
    import mujoco

    root = ET.fromstring(robot.urdf)
    extension = ET.SubElement(root, "mujoco")
    ET.SubElement(extension, "compiler", fusestatic="true", balanceinertia="false", autolimits="true")
    if robot.floating:
        children = {joint.find("child").get("link") for joint in root.iter("joint")}
        (base,) = [link.get("name") for link in root.findall("link") if link.get("name") not in children]
        ET.SubElement(root, "link", name="world")
        joint = ET.SubElement(root, "joint", name="added_root_joint", type="floating")
        ET.SubElement(joint, "parent", link="world")
        ET.SubElement(joint, "child", link=base)
    model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    flags = mujoco.mjtDisableBit
    for name in ("CONSTRAINT", "CONTACT", "EQUALITY", "FRICTIONLOSS", "LIMIT", "ACTUATION", "SENSOR"):
        model.opt.disableflags |= getattr(flags, f"mjDSBL_{name}")
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    if model.nv != robot.model.nv:
        raise Absent(f"reads {model.nv} degrees of freedom, expected {robot.model.nv}")
    return model


def mujoco_coordinates(robot: Robot, model) -> Coordinates:
    """Joints of MuJoCo's model by name."""
    places = {}
    for i in range(model.njnt):
        places[model.joint(i).name] = int(model.jnt_qposadr[i]), int(model.jnt_dofadr[i])
    q, v = places.get("added_root_joint", (0, 0))
    return Coordinates(robot.model, "mixed", places, slice(q, q + 7), slice(v, v + 6))


def mujoco(robot: Robot, batch: int) -> Iterator[Offer]:
    """The shortest pipelines of the Python package that give each quantity, and `rollout` for batches."""
    try:
        import mujoco as mj
        from mujoco import rollout
    except ImportError as error:
        raise Absent(str(error)) from None
    start = time.perf_counter()
    model = mujoco_model(robot)
    build = time.perf_counter() - start
    there, data, nv = mujoco_coordinates(robot, model), mj.MjData(model), model.nv
    q, v, a, tau = (robot.states[name][:batch] for name in ("q", "v", "a", "tau"))
    q_there, v_there, a_there, tau_there = there.q(q), there.v(q, v), there.a(q, v, a), there.v(q, tau)
    force, M = np.empty(nv), np.empty((nv, nv))

    def rnea(x, y, z):
        data.qpos[:], data.qvel[:], data.qacc[:] = x, y, z
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_comVel(model, data)
        mj.mj_rne(model, data, 1, force)
        return force

    def inverse(x, y, z):
        data.qpos[:], data.qvel[:], data.qacc[:] = x, y, z
        mj.mj_inverse(model, data)
        return data.qfrc_inverse

    def mass(x):
        data.qpos[:] = x
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_makeM(model, data)
        mj.mj_fullM(model, data, M)
        return M

    def forward(x, y, z):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = x, y, z
        mj.mj_forward(model, data)
        return data.qacc

    tau_back, few = there.tau_back, slice(0, CALLS)
    for call, quantity, note in (
        (rnea, "rnea", "mj_kinematics, mj_comPos, mj_comVel, mj_rne"),
        (inverse, "rnea", "mj_inverse"),
    ):
        rows = list(zip(q_there[few], v_there[few], a_there[few], strict=True))
        yield Offer(
            "MuJoCo", quantity, "call", loop(call, rows),
            lambda c=call, r=rows: tau_back(q[few], np.array([c(*row).copy() for row in r])), CALLS, build, note=note,
        )  # fmt: skip
    rows = [(row,) for row in q_there[few]]
    yield Offer(
        "MuJoCo", "crba", "call", loop(mass, rows),
        lambda r=rows: there.M_back(q[few], np.array([mass(*row).copy() for row in r])).reshape(CALLS, -1),
        CALLS, build, note="mj_kinematics, mj_comPos, mj_makeM, mj_fullM",
    )  # fmt: skip
    rows = list(zip(q_there[few], v_there[few], tau_there[few], strict=True))
    yield Offer(
        "MuJoCo", "aba", "call", loop(forward, rows),
        lambda r=rows: there.a_back(q[few], v[few], np.array([forward(*row).copy() for row in r])),
        CALLS, build, note="mj_forward",
    )  # fmt: skip
    # A step of one second, semi-implicit Euler: the velocities change by the accelerations.
    model.opt.timestep = 1.0
    physics = mj.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros((batch, mj.mj_stateSize(model, physics)))
    state[:, 1 : 1 + model.nq], state[:, 1 + model.nq : 1 + model.nq + nv] = q_there, v_there
    control = tau_there[:, None, :].copy()
    result = np.empty((batch, 1, state.shape[1]))
    spec = int(mj.mjtState.mjSTATE_QFRC_APPLIED)

    def steps():
        rollout.rollout(model, data, state, control, control_spec=spec, nstep=1, state=result)

    def accelerations():
        model.opt.timestep = 1.0
        steps()
        return there.a_back(q, v, result[:, 0, 1 + model.nq : 1 + model.nq + nv] - v_there)

    control = np.ascontiguousarray(control)
    yield Offer("MuJoCo", "aba", "batch", repeated(steps), accelerations, batch, build, 1e-7, "rollout, one step")


def drake(robot: Robot, batch: int) -> Iterator[Offer]:
    """MultibodyPlant, called from Python state by state: it has no batches."""
    try:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.multibody.tree import MultibodyForces
    except ImportError as error:
        raise Absent(str(error)) from None
    start = time.perf_counter()
    plant = MultibodyPlant(0.0)
    try:
        (instance,) = Parser(plant=plant).AddModelsFromString(robot.urdf, "urdf")
    except Exception as error:
        raise Absent(f"cannot read the file: {str(error)[:120]}") from None
    children = {joint.find("child").get("link") for joint in ET.fromstring(robot.urdf).iter("joint")}
    links = [link.get("name") for link in ET.fromstring(robot.urdf).findall("link")]
    (base,) = [name for name in links if name not in children]
    body = plant.GetBodyByName(base) if base != "world" else plant.world_body()
    if not robot.floating and base != "world":
        plant.WeldFrames(plant.world_frame(), body.body_frame())
    plant.Finalize()
    build = time.perf_counter() - start
    if plant.num_velocities() != robot.model.nv:
        raise Absent(f"reads {plant.num_velocities()} degrees of freedom, expected {robot.model.nv}")
    places = {}
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.num_velocities() == 1:
            places[joint.name()] = joint.position_start(), joint.velocity_start()
    q0 = body.floating_positions_start() if robot.floating else 0
    v0 = body.floating_velocities_start_in_v() if robot.floating else 0
    there = Coordinates(
        robot.model, "world", places, slice(q0, q0 + 7), slice(v0, v0 + 6), quaternion_first=True
    )  # fmt: skip
    context = plant.CreateDefaultContext()
    plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))
    applied = plant.get_applied_generalized_force_input_port()
    q, v, a, tau = (robot.states[name][:CALLS] for name in ("q", "v", "a", "tau"))
    q_there, v_there, a_there, tau_there = there.q(q), there.v(q, v), there.a(q, v, a), there.v(q, tau)
    x_there = np.concatenate([q_there, v_there], axis=1)

    def rnea(x, z):
        plant.SetPositionsAndVelocities(context, x)
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, z, forces)

    def mass(x):
        plant.SetPositions(context, x)
        return plant.CalcMassMatrix(context)

    value = applied.FixValue(context, np.zeros(plant.num_velocities()))

    def forward(x, z):
        plant.SetPositionsAndVelocities(context, x)
        value.GetMutableData().set_value(z)
        return plant.EvalTimeDerivatives(context).get_generalized_velocity().CopyToVector()

    rows = list(zip(x_there, a_there, strict=True))
    yield Offer(
        "Drake", "rnea", "call", loop(rnea, rows),
        lambda r=rows: there.tau_back(q, np.array([rnea(*row) for row in r])), CALLS, build, note="CalcInverseDynamics",
    )  # fmt: skip
    rows = [(row,) for row in q_there]
    yield Offer(
        "Drake", "crba", "call", loop(mass, rows),
        lambda r=rows: there.M_back(q, np.array([mass(*row) for row in r])).reshape(CALLS, -1),
        CALLS, build, note="CalcMassMatrix",
    )  # fmt: skip
    rows = list(zip(x_there, tau_there, strict=True))
    yield Offer(
        "Drake", "aba", "call", loop(forward, rows),
        lambda r=rows: there.a_back(q, v, np.array([forward(*row) for row in r])), CALLS, build,
        note="EvalTimeDerivatives",
    )  # fmt: skip
