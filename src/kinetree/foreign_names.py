"""Names of kinetree's functions in other libraries: Pinocchio, MuJoCo, Drake, PyBullet, RBDL, spatial_v2."""

from __future__ import annotations

from kinetree.errors import closest

_OURS = {
    "kt.forward_kinematics(model, q), or kt.pose(model, q, frame=...) of one frame": (
        "fk FK forwardKinematics framesForwardKinematics updateFramePlacements updateFramePlacement mj_kinematics "
        "UpdateKinematics UpdateKinematicsCustom EvalBodyPoseInWorld CalcRelativeTransform getLinkState "
        "CalcBodyToBaseCoordinates frame_pose body_pose"
    ),
    "kt.jacobian(model, q, frame=..., reference=...)": (
        "jac geometric_jacobian computeJointJacobians computeJointJacobian computeFrameJacobian getFrameJacobian "
        "getJointJacobian mj_jac mj_jacBody mj_jacBodyCom mj_jacSite mj_jacGeom CalcJacobianSpatialVelocity "
        "CalcJacobianTranslationalVelocity calculateJacobian CalcPointJacobian CalcPointJacobian6D "
        "CalcBodySpatialJacobian frame_jacobian"
    ),
    "kt.inverse_kinematics(model, {frame: pose})": (
        "ik IK InverseKinematics calculateInverseKinematics"
    ),
    "kt.kinematics.jacobian_rate(model, q, v, frame=..., reference=...)": (
        "computeJointJacobiansTimeVariation getFrameJacobianTimeVariation mj_jacDot CalcBiasSpatialAcceleration"
    ),
    "kt.velocity(model, q, v, frame=..., reference=...)": (
        "frame_velocity getFrameVelocity getVelocity mj_objectVelocity CalcPointVelocity CalcPointVelocity6D"
    ),
    "kt.acceleration(model, q, v, a, frame=..., reference=..., kind=...)": (
        "frame_acceleration getFrameAcceleration getFrameClassicalAcceleration mj_objectAcceleration "
        "CalcPointAcceleration CalcPointAcceleration6D"
    ),
    "kt.rnea(model, q, v, a) for the tree, kt.inverse_dynamics(model, q, v, a) with springs and couplings": (
        "ID inverseDynamics InverseDynamics CalcInverseDynamics calculateInverseDynamics mj_inverse "
        "mj_rne mj_rnePostConstraint"
    ),
    "kt.aba(model, q, v, tau) for the tree, kt.forward_dynamics(model, q, v, tau) with springs and couplings": (
        "FDab FDcrb forwardDynamics ForwardDynamics ForwardDynamicsLagrangian mj_forward mj_fwdAcceleration "
        "abaForwardDynamics CalcTimeDerivatives"
    ),
    "kt.crba(model, q)": (
        "M inertia_matrix joint_space_inertia CompositeRigidBodyAlgorithm mj_crb mj_fullM CalcMassMatrix "
        "calculateMassMatrix HandC"
    ),
    "kt.dynamics.inverse_mass_matrix(model, q), or kt.dynamics.factorize(model, q).solve(x)": (
        "computeMinverse mj_solveM mj_solveM2 CalcMInvTimesTau"
    ),
    "kt.bias_forces(model, q, v)": "nonLinearEffects NonlinearEffects CalcBiasTerm nle",
    "kt.gravity_forces(model, q)": "computeGeneralizedGravity CalcGravityGeneralizedForces gravity_torque gravity",
    "kt.coriolis_matrix(model, q, v)": "computeCoriolisMatrix getCoriolisMatrix coriolis",
    "kt.dynamics.passive_joint_forces(model, q, v)": "mj_passive",
    "kt.rnea_derivatives(model, q, v, a)": "computeRNEADerivatives mjd_inverseFD",
    "kt.aba_derivatives(model, q, v, tau)": "computeABADerivatives computeForwardDynamicsDerivatives mjd_transitionFD",
    "kt.regressors.joint_torque(model, q, v, a)": "computeJointTorqueRegressor",
    "kt.regressors.kinetic_energy(model, q, v)": "computeKineticEnergyRegressor",
    "kt.center_of_mass(model, q)": (
        "com CoM centerOfMass computeCenterOfMass mj_comPos CalcCenterOfMass CalcCenterOfMassPositionInWorld"
    ),
    "kt.centroidal.center_of_mass_jacobian(model, q)": "jacobianCenterOfMass mj_jacSubtreeCom",
    "kt.centroidal.momentum(model, q, v)": "computeCentroidalMomentum",
    "kt.centroidal.momentum_matrix(model, q)": "ccrba computeCentroidalMap",
    "kt.kinetic_energy(model, q, v)": "computeKineticEnergy CalcKineticEnergy mj_energyVel KineticEnergy",
    "kt.potential_energy(model, q)": "computePotentialEnergy CalcPotentialEnergy mj_energyPos PotentialEnergy",
    "kt.integrate(model, q, dv)": "mj_integratePos",
    "kt.difference(model, q0, q1)": "mj_differentiatePos",
    "kt.normalize(model, q)": "mj_normalizeQuat",
    "kt.simulate(model, q0, v0, duration=...), or kt.Simulation(model) and its advance(duration)": (
        "mj_step mj_step1 mj_step2 step stepSimulation AdvanceTo Simulator"
    ),
    "kt.load(file), which returns a frozen Model; states are arrays": (
        "MjModel MjData MjSpec mj_loadXML mj_makeData mj_resetData loadURDF loadMJCF loadSDF load_urdf load_mjcf "
        "load_sdf from_urdf read_urdf URDF MJCF Parser URDFReadFromFile buildModelFromUrdf buildModelFromMJCF "
        "buildModelFromSdf RobotWrapper MultibodyPlant Robot Mechanism"
    ),
    "kt.ModelBuilder(), with add_body(...) and build()": "AddBody AddRigidBody AddJoint addJoint appendBodyToJoint",
    "kt.surgery.lock(model, ...)": "buildReducedModel reduced_model",
    "model.neutral()": "neutral home qpos0 GetDefaultPositions",
    "model.random_q(rng)": "randomConfiguration random_configuration",
    "model.with_contacts(ground=...), then kt.collision.contact_points(model, q)": "mj_collision computeCollisions",
    "kt.collision.distances(model, q)": "computeDistances mj_geomDistance",
    "kt.simulate(model, ground=...), whose trajectory has the contacts": "mj_contactForce",
}
_OF_MODELS = {
    "model.nb counts the bodies, the world among them; model.joint_names has a name for each joint": (
        "njoints nbodies nbody njnt num_bodies num_joints NB num_moving_bodies n_bodies n_joints"
    ),
    "model.nf": "nframes num_frames nsite",
    "model.nq": "nqpos num_positions q_size dim_q",
    "model.nv": "nqvel num_velocities dof_count qdot_size ndof n_dof dof dim_v",
    "model.actuator_names": "num_actuators",
    "model.body_names, model.joint_names": "names link_names links bodies",
    "model.neutral()": "qpos0 home zero_configuration GetDefaultPositions q0 key_qpos",
    "model.random_q(rng)": "random_configuration randomConfiguration random",
    "model.joint(name)": "getJointId GetJointByName joint_id",
    "model.body(name)": "getBodyId GetBodyByName body_id",
    "model.frame(name)": "getFrameId existFrame GetFrameByName frame_id",
    "model.q_index(joint)": "idx_qs jnt_qposadr",
    "model.v_index(joint)": "idx_vs jnt_dofadr",
    "model.I": "inertias inertia body_inertia body_mass masses mass",
    "model.X_T": "jointPlacements placements body_pos Xtree",
    "model.parent": "parents body_parentid",
    "model.lower": "lowerPositionLimit jnt_range lower_limits GetPositionLowerLimits q_min qlim",
    "model.upper": "upperPositionLimit upper_limits GetPositionUpperLimits q_max",
    "model.velocity_limit": "velocityLimit velocity_limits",
    "model.effort_limit": "effortLimit effort_limits",
    "model.armature": "rotorInertia dof_armature",
    "model.constraints": "equality eq_type",
    "states are arrays, kt.aba(model, q, v, tau); a model holds none": (
        "createData data qpos qvel qacc ctrl CreateDefaultContext q v"
    ),
}
FOREIGN = {name: f"In kinetree: {ours}." for ours, names in _OURS.items() for name in names.split()}
"""A name of another library -> the sentence that names ours."""

OF_MODELS = {name: f"In kinetree: {ours}." for ours, names in _OF_MODELS.items() for name in names.split()}
"""An attribute of a model in another library -> the sentence that names ours."""


def no_attribute(owner: str, name: str, ours: str | None, known: list[str], prefix: str) -> str:
    """The message about an attribute that is not there, with the equivalent or the most similar name."""
    message = f"{owner} has no attribute {name!r}"
    if name.startswith("_"):
        return message
    close = [] if ours else closest(name, known)
    return f"{message}. {ours or f'Did you mean {prefix}{close[0]}?'}" if ours or close else message
