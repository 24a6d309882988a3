"""Converts states, forces and matrices between a kinetree model and a MuJoCo model of the same robot.

The conversions are those of `kinetree.conventions.MuJoCo`; here they meet what MuJoCo computes. Joints of a URDF file
are paired by name (the root joint by being free), those of an MJCF file by their order. Besides coordinates the engines
differ in that `rnea` and ``mj_rne`` are those of the bare tree, ``mj_rne`` without armature.
"""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET

import mujoco
import numpy as np

from kinetree.conventions import MuJoCo

_WORLD_LINK, _ROOT_JOINT = "world", "added_root_joint"  # a link of the name "world" is MuJoCo's world


def mujoco_model(urdf: str, floating_base: bool = False) -> mujoco.MjModel:
    """MuJoCo's model of a URDF text: meshes are not needed, fixed links stay bodies, inertias stay as they are.

    MuJoCo welds the root of a URDF to the world, so a free base is a floating joint to an added link.
    """
    robot = ET.fromstring(urdf)
    links = [link.get("name") for link in robot.iter("link")]
    children = {joint.find("child").get("link") for joint in robot.iter("joint") if joint.find("child") is not None}
    for link in robot.iter("link"):
        for geometry in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(geometry)
    extension = ET.SubElement(robot, "mujoco")
    ET.SubElement(extension, "compiler", fusestatic="false", balanceinertia="false", autolimits="true")
    if floating_base:
        (root,) = [name for name in links if name not in children]
        ET.SubElement(robot, "link", name=_WORLD_LINK)
        joint = ET.SubElement(robot, "joint", name=_ROOT_JOINT, type="floating")
        ET.SubElement(joint, "parent", link=_WORLD_LINK)
        ET.SubElement(joint, "child", link=root)
    return mujoco.MjModel.from_xml_string(ET.tostring(robot, encoding="unicode"))


_TREE_ALONE = (  # what a comparison of trees leaves out
    mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    | mujoco.mjtDisableBit.mjDSBL_CONTACT
    | mujoco.mjtDisableBit.mjDSBL_EQUALITY
    | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    | mujoco.mjtDisableBit.mjDSBL_LIMIT
    | mujoco.mjtDisableBit.mjDSBL_ACTUATION
    | mujoco.mjtDisableBit.mjDSBL_SENSOR
)
_NO_PASSIVE = mujoco.mjtDisableBit.mjDSBL_SPRING | mujoco.mjtDisableBit.mjDSBL_DAMPER


class MujocoBridge:
    """Conversions between ``model`` (kinetree) and ``mj_model``, one state at a time.

    Parameters
    ----------
    model : kinetree.Model
    mj_model : mujoco.MjModel
        Copied; the copy has no contacts, constraints, actuators or armature of tendons, and no fluid or gravity
        compensation unless the model has the forces.
    by_order : bool
        Pair the joints by their order instead of their names, as for MJCF files.
    """

    name = "MuJoCo"

    def __init__(self, model, mj_model: mujoco.MjModel, by_order: bool = False) -> None:
        if model.nv != mj_model.nv:
            raise ValueError(f"kinetree has nv = {model.nv}, MuJoCo has nv = {mj_model.nv}")
        mj_model = copy.copy(mj_model)
        mj_model.opt.disableflags |= _TREE_ALONE
        names = [force.name for force in model.own_elements]
        if not any(name.startswith("fluid ") for name in names):
            mj_model.opt.density = mj_model.opt.viscosity = 0.0
        if not any(name.startswith("gravcomp ") for name in names):
            mj_model.body_gravcomp[:] = 0.0
        mj_model.tendon_armature[:] = 0.0
        mj_model.jnt_actgravcomp[:] = 0  # compensation is a passive force here
        self.model, self.mj_model, self.data = model, mj_model, mujoco.MjData(mj_model)
        self.there = MuJoCo(model, mj_model, by_order=by_order)
        self.q_to_mujoco, self.velocity_map = self.there.q_to, self.there.T
        self.v_to_mujoco, self.v_from_mujoco = self.there.v_to, self.there.v_from
        self.tau_to_mujoco, self.tau_from_mujoco = self.there.tau_to, self.there.tau_from
        self.a_to_mujoco, self.a_from_mujoco = self.there.a_to, self.there.a_from

    def _set(self, q, v=None, a=None):
        d = self.data
        d.qpos[:] = self.q_to_mujoco(q)
        d.qvel[:] = 0.0 if v is None else self.v_to_mujoco(q, v)
        d.qacc[:] = 0.0 if a is None else self.a_to_mujoco(q, v, a)
        mujoco.mj_fwdPosition(self.mj_model, d)
        mujoco.mj_fwdVelocity(self.mj_model, d)

    def rnea(self, q, v, a):
        """Joint forces (nv,), in kinetree's form."""
        self._set(q, v, a)
        # mj_fwdVelocity leaves qacc alone; mj_rne reads it.
        self.data.qacc[:] = self.a_to_mujoco(q, v, a)
        tau = np.empty(self.mj_model.nv)
        mujoco.mj_rne(self.mj_model, self.data, 1, tau)
        return self.tau_from_mujoco(q, tau)

    def applied(self, q, body: str, wrench):
        """Joint forces (nv,) of a wrench (moment, force) in world coordinates about the world's origin.

        MuJoCo takes force and moment at the body's center of mass, as in ``xfrc_applied``.
        """
        self._set(q)
        moment, force = np.asarray(wrench)[:3], np.asarray(wrench)[3:]
        com = self.data.body(body).xipos
        tau = np.zeros(self.mj_model.nv)
        body_id = self.mj_model.body(body).id
        mujoco.mj_applyFT(self.mj_model, self.data, force, moment - np.cross(com, force), com, body_id, tau)
        return self.tau_from_mujoco(q, tau)

    def crba(self, q):
        """Mass matrix (nv, nv), in kinetree's form."""
        self._set(q)
        M = np.empty((self.mj_model.nv, self.mj_model.nv))
        mujoco.mj_fullM(self.mj_model, self.data, M)
        return self.there.M_from(q, M)

    def bias(self, q, v):
        """Joint forces (nv,) at zero acceleration of the tree: ``qfrc_bias`` belongs to zero of MuJoCo's own."""
        self._set(q, v)
        M = np.empty((self.mj_model.nv, self.mj_model.nv))
        mujoco.mj_fullM(self.mj_model, self.data, M)
        shift = self.a_to_mujoco(q, v, np.zeros(self.model.nv))  # the free joint's R (w x v)
        return self.tau_from_mujoco(q, self.data.qfrc_bias + M @ shift)

    def passive(self, q, v):
        """Joint forces (nv,) of springs and dampers, and those of fluids and gravcomp that the model has."""
        self._set(q, v)
        return self.tau_from_mujoco(q, self.data.qfrc_passive)

    def aba(self, q, v, tau):
        """Accelerations (nv,) of the bare tree under joint forces, which it has no others beside."""
        self.mj_model.opt.disableflags |= _NO_PASSIVE
        try:
            return self.forward_dynamics(q, v, tau)
        finally:
            self.mj_model.opt.disableflags &= ~int(_NO_PASSIVE)

    def forward_dynamics(self, q, v, tau):
        """Accelerations (nv,) with springs and dampers."""
        d = self.data
        d.qpos[:], d.qvel[:] = self.q_to_mujoco(q), self.v_to_mujoco(q, v)
        d.qfrc_applied[:] = self.tau_to_mujoco(q, tau)
        d.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(self.mj_model, d)
        d.qfrc_applied[:] = 0.0
        return self.a_from_mujoco(q, v, d.qacc)

    def body_jacobian(self, q, body: str):
        """World-aligned Jacobian (6, nv) of a body's origin, rows (angular, linear), kinetree's columns."""
        self._set(q)
        linear, angular = np.empty((2, 3, self.mj_model.nv))
        mujoco.mj_jacBody(self.mj_model, self.data, linear, angular, self.mj_model.body(body).id)
        return self.there.J_from(q, np.concatenate([linear, angular]))

    def body_pose(self, q, body: str):
        """Pose of a body: R_WB (3, 3) and p_WB (3,)."""
        self._set(q)
        entry = self.data.body(body)
        return entry.xmat.reshape(3, 3).copy(), entry.xpos.copy()
