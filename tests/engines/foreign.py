"""Random trees of kinetree built again in other engines by hand, and what these compute, in their own conventions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import kinetree as kt
from kinetree.joints import Free, Helical, Planar, Prismatic, Revolute, Spherical, Translational


@dataclass
class Robot:
    """A tree here, its twin there, and the functions of the twin on arrays there."""

    model: object
    there: object
    rnea: object
    crba: object
    aba: object
    pose: object
    jacobian: object
    applied: object
    references: tuple = ("local", "world", "local_world_aligned")


def placement(model, i):
    """Rotation and offset of joint i's predecessor frame in the parent body: R (3, 3), p (3,)."""
    X = model.X_T[i]
    return np.array(X.E.matrix.rows, dtype=float).T, np.array(list(X.r), dtype=float)


def inertia(model, i):
    """Mass, center of mass, and inertia about it in body axes."""
    I = model.I[i]
    c = np.array(list(I.com), dtype=float)
    about_origin = np.array(I.I.matrix.rows, dtype=float)
    return I.m, c, about_origin - I.m * (c @ c * np.eye(3) - np.outer(c, c))


def children_last_first(model):
    """Bodies depth first, the last child first: an order that is not kinetree's."""
    order, todo = [], [0]
    while todo:
        i = todo.pop()
        order.append(i)
        todo += model.children(i)
    return order[1:]


def pinocchio_tree(model) -> Robot:
    """The tree in Pinocchio, its joints in another order; revolute joints about z have (cos, sin) there."""
    import pinocchio as pin

    def joint_model(joint):
        axis = np.array(getattr(joint, "axis", (0, 0, 1)), dtype=float)
        if isinstance(joint, Revolute):
            return pin.JointModelRUBZ() if axis[2] == 1.0 else pin.JointModelRevoluteUnaligned(axis)
        return {
            Prismatic: lambda: pin.JointModelPrismaticUnaligned(axis), Spherical: pin.JointModelSpherical,
            Planar: pin.JointModelPlanar, Translational: pin.JointModelTranslation, Free: pin.JointModelFreeFlyer,
            Helical: lambda: pin.JointModelHelicalUnaligned(axis, joint.pitch),
        }[type(joint)]()  # fmt: skip

    other, number = pin.Model(), {0: 0}
    other.gravity = pin.Motion(np.array(list(model.gravity), dtype=float), np.zeros(3))
    for i in children_last_first(model):
        R, p = placement(model, i)
        j = other.addJoint(number[model.parent[i]], joint_model(model.joints[i]), pin.SE3(R, p), model.joint_name(i))
        m, c, I = inertia(model, i)
        other.appendBodyToJoint(j, pin.Inertia(m, c, I), pin.SE3.Identity())
        number[i] = j
    data = other.createData()
    references = {
        "local": pin.ReferenceFrame.LOCAL, "world": pin.ReferenceFrame.WORLD,
        "local_world_aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    }  # fmt: skip

    def pose(q, j):
        pin.forwardKinematics(other, data, q)
        return pin.SE3ToXYZQUAT(data.oMi[j])

    def jacobian(q, j, reference):
        pin.computeJointJacobians(other, data, q)
        return pin.getJointJacobian(other, data, j, references[reference])

    def applied(q, wrenches):
        forces = pin.StdVec_Force()
        forces.extend([pin.Force(row) for row in wrenches])
        still = np.zeros(other.nv)
        return pin.rnea(other, data, q, still, still) - pin.rnea(other, data, q, still, still, forces)

    return Robot(
        model,
        kt.conventions.Pinocchio(model, other),
        lambda q, v, a: pin.rnea(other, data, q, v, a),
        lambda q: np.triu(pin.crba(other, data, q)) + np.triu(pin.crba(other, data, q), 1).T,
        lambda q, v, tau: pin.aba(other, data, q, v, tau),
        pose,
        jacobian,
        applied,
    )


def mujoco_tree(model) -> Robot:
    """The tree in MuJoCo, its joints in another order."""
    import mujoco

    def row(x):
        return " ".join(repr(float(v)) for v in x)

    def body(i):
        R, p = placement(model, i)
        joint, (m, c, I) = model.joints[i], inertia(model, i)
        full = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        kind = {Revolute: "hinge", Prismatic: "slide", Spherical: "ball", Free: "free"}[type(joint)]
        axis = f' axis="{row(joint.axis)}"' if hasattr(joint, "axis") else ""
        inner = "".join(body(k) for k in reversed(model.children(i)))
        return (
            f'<body name="{model.body_names[i]}" pos="{row(p)}" quat="{row(mat_to_quat(R))}">'
            f'<joint name="{model.joint_name(i)}" type="{kind}"{axis}/>'
            f'<inertial pos="{row(c)}" mass="{m!r}" fullinertia="{row(full)}"/>{inner}</body>'
        )

    def mat_to_quat(R):
        out = np.empty(4)
        mujoco.mju_mat2Quat(out, R.ravel())
        return out

    text = (
        f'<mujoco><compiler angle="radian"/><option gravity="{row(model.gravity)}"/>'
        f"<worldbody>{''.join(body(k) for k in reversed(model.children(0)))}</worldbody></mujoco>"
    )
    other = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(other)

    def put(q, v=None, a=None):
        data.qpos[:], data.qvel[:] = q, 0.0 if v is None else v
        mujoco.mj_fwdPosition(other, data)
        mujoco.mj_fwdVelocity(other, data)
        data.qacc[:] = 0.0 if a is None else a

    def rnea(q, v, a):
        put(q, v, a)
        tau = np.empty(other.nv)
        mujoco.mj_rne(other, data, 1, tau)
        return tau

    def crba(q):
        put(q)
        M = np.empty((other.nv, other.nv))
        mujoco.mj_fullM(other, data, M)
        return M

    def aba(q, v, tau):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(other, data)
        data.qfrc_applied[:] = 0.0
        return data.qacc.copy()

    def pose(q, b):
        put(q)
        return np.concatenate([data.xpos[b], data.xquat[b]])

    def jacobian(q, b, reference):
        put(q)
        linear, angular = np.empty((2, 3, other.nv))
        mujoco.mj_jacBody(other, data, linear, angular, b)
        return np.concatenate([linear, angular])

    def applied(q, wrenches):
        put(q)
        sums = []
        for rows in (wrenches, 0.0):
            data.xfrc_applied[:] = rows
            mujoco.mj_forward(other, data)
            sums.append(data.qfrc_smooth.copy())
        return sums[0] - sums[1]

    there = kt.conventions.MuJoCo(model, other)
    return Robot(model, there, rnea, crba, aba, pose, jacobian, applied, ("local_world_aligned",))


def drake_tree(model) -> Robot:
    """The tree in Drake, its joints in another order."""
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody import tree
    from pydrake.multibody.math import SpatialForce
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(np.array(list(model.gravity), dtype=float))
    links = {0: plant.world_body()}
    for i in children_last_first(model):
        m, c, I = inertia(model, i)
        about = tree.RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        central = tree.UnitInertia(*(about.get_moments() / m), *(about.get_products() / m))
        M = tree.SpatialInertia(m, c, central.ShiftFromCenterOfMass(c))
        links[i] = plant.AddRigidBody(model.body_names[i], M)
    for i in children_last_first(model):
        R, p = placement(model, i)
        joint, name = model.joints[i], model.joint_name(i)
        parent, child = links[model.parent[i]], links[i]
        F = plant.AddFrame(
            tree.FixedOffsetFrame(f"{name}_at", parent.body_frame(), RigidTransform(RotationMatrix(R), p))
        )
        ends = (F, child.body_frame())
        axis = np.array(getattr(joint, "axis", (0, 0, 1)), dtype=float)
        kind, arguments = {
            Revolute: (tree.RevoluteJoint, (axis,)), Prismatic: (tree.PrismaticJoint, (axis,)),
            Spherical: (tree.BallRpyJoint, ()), Planar: (tree.PlanarJoint, ()),
            Free: (tree.QuaternionFloatingJoint, ()),
        }[type(joint)]  # fmt: skip
        plant.AddJoint(kind(name, *ends, *arguments))
    plant.Finalize()
    context = plant.CreateDefaultContext()

    def put(q, v=None):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, np.zeros(plant.num_velocities()) if v is None else v)

    def rnea(q, v, a):
        put(q, v)
        forces = tree.MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, a, forces)

    def crba(q):
        put(q)
        return plant.CalcMassMatrix(context)

    def aba(q, v, tau):
        put(q, v)
        plant.get_applied_generalized_force_input_port().FixValue(context, tau)
        return plant.get_generalized_acceleration_output_port().Eval(context).copy()

    def pose(q, b):
        put(q)
        X = plant.EvalBodyPoseInWorld(context, plant.get_body(tree.BodyIndex(b)))
        return np.concatenate([X.rotation().ToQuaternion().wxyz(), X.translation()])

    def jacobian(q, b, reference):
        put(q)
        frame = plant.get_body(tree.BodyIndex(b)).body_frame()
        world = plant.world_frame()
        return plant.CalcJacobianSpatialVelocity(context, tree.JacobianWrtVariable.kV, frame, np.zeros(3), world, world)

    def applied(q, wrenches):
        put(q)
        still = np.zeros(plant.num_velocities())
        before, after = tree.MultibodyForces(plant), tree.MultibodyForces(plant)
        for b in range(1, plant.num_bodies()):
            F = SpatialForce(np.array(wrenches[b][:3]), np.array(wrenches[b][3:]))
            link = plant.get_body(tree.BodyIndex(b))
            link.AddInForceInWorld(context, F, after)
        return plant.CalcInverseDynamics(context, still, before) - plant.CalcInverseDynamics(context, still, after)

    there = kt.conventions.Drake(model, plant)
    return Robot(model, there, rnea, crba, aba, pose, jacobian, applied, ("local_world_aligned",))


def exudyn_body(model):
    """A free body in Exudyn: its state, and the acceleration of its seven coordinates."""
    import exudyn as exu
    import exudyn.itemInterface as item

    m, c, I = inertia(model, 1)
    about_origin = I + m * (c @ c * np.eye(3) - np.outer(c, c))
    reference = np.array([0.1, -0.2, 0.3, 1.0, 0.0, 0.0, 0.0])
    there = kt.conventions.Exudyn(model, {model.joint_names[0]: 0}, {model.joint_names[0]: reference})

    class System:
        """The body and its converter."""

        def run(self, q_there, v_there, row, duration, steps):
            """Coordinates and their rates after a time, under a constant (force; moment) at the body's origin."""
            container = exu.SystemContainer()
            mbs = container.AddSystem()
            node = mbs.AddNode(item.NodeRigidBodyEP(
                referenceCoordinates=list(reference), initialCoordinates=list(q_there),
                initialVelocities=list(v_there),
            ))  # fmt: skip
            body = mbs.AddObject(item.ObjectRigidBody(
                mass=m, centerOfMass=list(c), nodeNumber=node,
                inertia=[about_origin[k] for k in ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))],
            ))  # fmt: skip
            marker = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=body, localPosition=[0.0, 0.0, 0.0]))
            mbs.AddLoad(item.LoadForceVector(markerNumber=marker, loadVector=list(row[:3])))
            mbs.AddLoad(item.LoadTorqueVector(markerNumber=marker, loadVector=list(row[3:])))
            mass = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=body))
            mbs.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=[float(x) for x in model.gravity]))
            mbs.Assemble()
            settings = exu.SimulationSettings()
            settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, duration
            settings.timeIntegration.verboseMode = 0
            settings.solution.file.write = False
            mbs.SolveDynamic(settings)
            return tuple(np.array(x) for x in (
                mbs.systemData.GetODE2Coordinates(), mbs.systemData.GetODE2Coordinates_t()
            ))  # fmt: skip

    system = System()
    system.there = there
    return system
