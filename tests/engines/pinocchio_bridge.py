"""Converts states, forces, matrices and Jacobians between a kinetree model and a Pinocchio model of the same robot.

Joints are paired by name (the root joint by being free). The engines differ in

=====================  ==================================  ==========================================
quantity               kinetree                            Pinocchio
=====================  ==================================  ==========================================
six-vectors            (angular, linear)                   (linear, angular)
external wrenches      world coordinates, world's origin   coordinates and origin of the body's joint
quaternions            (w, x, y, z)                        (x, y, z, w)
free joint, q          position, quaternion                the same
ball joint, q, v       quaternion, w in body coordinates   the same
free joint, v          twist in body coordinates           the same frame and point
continuous joint, q    angle                               (cos, sin)
planar joint, q        angle, x, y                         x, y, cos, sin
planar joint, v        w, vx, vy in body coordinates       vx, vy, w in body coordinates
order of the joints    the model's                         depth first, children sorted by name
mass matrix            full                                upper triangle
mimic joints           coordinates of the bare tree        the same with ``mimic=False``, else eliminated
=====================  ==================================  ==========================================

so velocities, accelerations and joint forces differ by a permutation alone.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

REFERENCES = {
    "local": pin.ReferenceFrame.LOCAL,
    "world": pin.ReferenceFrame.WORLD,
    "local_world_aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}

_SWAP = np.array([3, 4, 5, 0, 1, 2])  # exchanges the halves of a six-vector
_XYZW = np.array([1, 2, 3, 0])  # picks (x, y, z, w) out of (w, x, y, z)
_WXYZ = np.array([3, 0, 1, 2])


def pinocchio_model(urdf: str, floating_base: bool = False) -> pin.Model:
    """Pinocchio's model of a URDF file: mimic joints stay coordinates of their own, as in kinetree's bare tree."""
    if floating_base:
        return pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer(), mimic=False)
    return pin.buildModelFromUrdf(str(urdf), mimic=False)


class Bridge:
    """Conversions between ``model`` (kinetree) and ``pin_model``; every method takes leading batch axes.

    Parameters
    ----------
    model : kinetree.Model
    pin_model : pinocchio.Model
        Of the same robot, for example from `pinocchio_model`.
    """

    name = "Pinocchio"

    def __init__(self, model, pin_model: pin.Model) -> None:
        if model.nv != pin_model.nv:
            raise ValueError(f"kinetree has nv = {model.nv}, Pinocchio has nv = {pin_model.nv}")
        self.model, self.pin_model, self.data = model, pin_model, pin_model.createData()
        self._joint_of_body = {}
        self._positions = []  # (kind, slice in kinetree's q, slice in Pinocchio's q)
        v_of_pin = np.full(pin_model.nv, -1)  # v_pin = v[v_of_pin]
        for i in model.outward():
            if model.joints[i].nv == 0:
                continue
            q_here, v_here = model.q_slice[i], model.v_slice[i]
            j = self._partner(i)
            nq, nv = model.joints[i].nq, model.joints[i].nv
            iq, iv = pin_model.idx_qs[j], pin_model.idx_vs[j]
            shape = (nq, nv, pin_model.nqs[j], pin_model.nvs[j])
            self._joint_of_body[i] = j
            name = pin_model.names[j]
            v_here = np.arange(v_here.start, v_here.stop)
            if shape == (7, 6, 7, 6):
                kind, v_here = "free", v_here[_SWAP]
            elif shape == (4, 3, 4, 3):
                kind = "ball"
            elif shape == (3, 3, 4, 3):
                kind, v_here = "planar", v_here[[1, 2, 0]]
            elif shape == (1, 1, 1, 1):
                kind = "same"
            elif shape == (1, 1, 2, 1):
                kind = "continuous"
            else:
                raise ValueError(f"joint {name!r}: sizes (nq, nv) {shape[:2]} and {shape[2:]} have no known conversion")
            self._positions.append((kind, q_here, slice(iq, iq + shape[2])))
            v_of_pin[iv : iv + nv] = v_here
        if (v_of_pin < 0).any():
            raise ValueError(f"Pinocchio's velocities {np.flatnonzero(v_of_pin < 0)} belong to no joint of kinetree")
        self._v_of_pin, self._pin_of_v = v_of_pin, np.argsort(v_of_pin)

    def _partner(self, i: int) -> int:
        """Pinocchio's joint for kinetree's joint i: the one of the same name, or its only free joint at the root."""
        name = self.model.joint_names[i]
        if self.pin_model.existJointName(name):
            return self.pin_model.getJointId(name)
        if self.model.joints[i].nq == 7 and self.model.parent[i] == 0 and self.pin_model.nqs[1] == 7:
            return 1
        raise ValueError(f"Pinocchio has no joint {name!r}; it has {list(self.pin_model.names)[1:]}")

    # --- states -------------------------------------------------------------------------------------------------

    def q_to_pin(self, q):
        """Joint positions (..., nq) in Pinocchio's order and form."""
        q = np.asarray(q)
        out = np.empty(q.shape[:-1] + (self.pin_model.nq,), dtype=q.dtype)
        for kind, ours, theirs in self._positions:
            part = q[..., ours]
            if kind == "free":
                part = np.concatenate([part[..., :3], part[..., 3:][..., _XYZW]], axis=-1)
            elif kind == "ball":
                part = part[..., _XYZW]
            elif kind == "planar":
                part = np.concatenate([part[..., 1:], np.cos(part[..., :1]), np.sin(part[..., :1])], axis=-1)
            elif kind == "continuous":
                part = np.concatenate([np.cos(part), np.sin(part)], axis=-1)
            out[..., theirs] = part
        return out

    def q_from_pin(self, q_pin):
        """Joint positions (..., nq) from Pinocchio's; the angle of a continuous joint is taken in [-pi, pi]."""
        q_pin = np.asarray(q_pin)
        out = np.empty(q_pin.shape[:-1] + (self.model.nq,), dtype=q_pin.dtype)
        for kind, ours, theirs in self._positions:
            part = q_pin[..., theirs]
            if kind == "free":
                part = np.concatenate([part[..., :3], part[..., 3:][..., _WXYZ]], axis=-1)
            elif kind == "ball":
                part = part[..., _WXYZ]
            elif kind == "planar":
                part = np.concatenate([np.arctan2(part[..., 3:], part[..., 2:3]), part[..., :2]], axis=-1)
            elif kind == "continuous":
                part = np.arctan2(part[..., 1:], part[..., :1])
            out[..., ours] = part
        return out

    def v_to_pin(self, v):
        """Velocities, accelerations or joint forces (..., nv) in Pinocchio's order."""
        return np.asarray(v)[..., self._v_of_pin]

    def v_from_pin(self, v_pin):
        """Velocities, accelerations or joint forces (..., nv) from Pinocchio's order."""
        return np.asarray(v_pin)[..., self._pin_of_v]

    # The permutation preserves power, so accelerations and forces follow the same law.
    a_to_pin = tau_to_pin = v_to_pin
    a_from_pin = tau_from_pin = v_from_pin

    def matrix_from_pin(self, M_pin):
        """A full (..., nv, nv) matrix over velocities, from Pinocchio's order (see `symmetric_from_pin` for M)."""
        return np.asarray(M_pin)[..., self._pin_of_v[:, None], self._pin_of_v]

    def matrix_to_pin(self, M):
        """A full (..., nv, nv) matrix over velocities in Pinocchio's order."""
        return np.asarray(M)[..., self._v_of_pin[:, None], self._v_of_pin]

    def symmetric_from_pin(self, M_pin):
        """The mass matrix, of which Pinocchio's crba promises the upper triangle only."""
        upper = np.triu(np.asarray(M_pin))
        return self.matrix_from_pin(upper + np.swapaxes(np.triu(upper, 1), -1, -2))

    # --- frames -------------------------------------------------------------------------------------------------

    def jacobian_from_pin(self, J_pin):
        """A frame Jacobian (..., 6, nv) with rows (angular, linear) and kinetree's columns."""
        return np.asarray(J_pin)[..., _SWAP, :][..., self._pin_of_v]

    def jacobian_to_pin(self, J):
        """A frame Jacobian (..., 6, nv) with rows (linear, angular) and Pinocchio's columns."""
        return np.asarray(J)[..., _SWAP, :][..., self._v_of_pin]

    def frame_jacobian(self, q, frame: str, reference: str):
        """Pinocchio's Jacobian of a frame at one position q (nq,), in kinetree's form (6, nv)."""
        q_pin = self.q_to_pin(q)
        frame_id = self.frame_id(frame)
        return self.jacobian_from_pin(
            pin.computeFrameJacobian(self.pin_model, self.data, q_pin, frame_id, REFERENCES[reference])
        )

    def frame_pose(self, q, frame: str):
        """Pinocchio's pose of a frame at one position q (nq,): R_WF (3, 3) and p_WF (3,)."""
        pin.framesForwardKinematics(self.pin_model, self.data, self.q_to_pin(q))
        placement = self.data.oMf[self.frame_id(frame)]
        return placement.rotation.copy(), placement.translation.copy()

    def frame_id(self, frame: str) -> int:
        """Pinocchio's number of the frame of a link."""
        if not self.pin_model.existFrame(frame, pin.FrameType.BODY):
            raise ValueError(f"Pinocchio has no link frame {frame!r}")
        return self.pin_model.getFrameId(frame, pin.FrameType.BODY)

    # --- the same quantities, computed by Pinocchio, in kinetree's form ---------------------------------------------

    def wrenches_to_pin(self, q, f_ext):
        """Wrenches on the bodies (nb, 6), in world coordinates about the world's origin, as Pinocchio wants them.

        One (force, moment) per joint, in the coordinates of the joint and about its origin.
        """
        pin.forwardKinematics(self.pin_model, self.data, self.q_to_pin(q))
        wrenches = pin.StdVec_Force()
        wrenches.extend([pin.Force.Zero()] * self.pin_model.njoints)
        for i, j in self._joint_of_body.items():
            wrenches[j] = self.data.oMi[j].actInv(pin.Force(np.asarray(f_ext[i])[_SWAP]))
        return wrenches

    def rnea(self, q, v, a, f_ext=None):
        """Joint forces (nv,) of one state; f_ext (nb, 6) in world coordinates about the world's origin."""
        args = [self.q_to_pin(q), self.v_to_pin(v), self.v_to_pin(a)]
        if f_ext is not None:
            args.append(self.wrenches_to_pin(q, f_ext))
        return self.v_from_pin(pin.rnea(self.pin_model, self.data, *args))

    def bias(self, q, v):
        """Joint forces (nv,) at zero acceleration."""
        return self.rnea(q, v, np.zeros(self.model.nv))

    def crba(self, q):
        """Mass matrix (nv, nv) at one position."""
        return self.symmetric_from_pin(pin.crba(self.pin_model, self.data, self.q_to_pin(q)))

    def aba(self, q, v, tau):
        """Joint accelerations (nv,) of one state."""
        args = self.q_to_pin(q), self.v_to_pin(v), self.v_to_pin(tau)
        return self.v_from_pin(pin.aba(self.pin_model, self.data, *args))

    def random_state(self, rng: np.random.Generator, size: tuple[int, ...] = ()):
        """Positions (*size, nq), and three standard normal arrays (*size, nv) for v, a and tau.

        Angles are uniform over the circle, lengths uniform in +-0.5 m, free quaternions uniform over the sphere.
        """
        q = np.empty(size + (self.model.nq,))
        for i in self.model.outward():
            here, joint = self.model.q_slice[i], self.model.joints[i]
            if joint.nq == 7:
                quaternion = rng.standard_normal(size + (4,))
                quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
                q[..., here] = np.concatenate([rng.standard_normal(size + (3,)), quaternion], axis=-1)
            elif joint.nq:
                span = 0.5 if "prismatic" in joint.kind else np.pi
                q[..., here] = rng.uniform(-span, span, size + (joint.nq,))
        v, a, tau = rng.standard_normal((3, *size, self.model.nv))
        return q, v, a, tau


def all_frames_of(bridge: Bridge):
    """The kinetree model of a bridge with a frame for every frame of Pinocchio's, which counts joints among them."""
    from kinetree import ModelBuilder

    body_of = {j: i for i, j in bridge._joint_of_body.items()} | {0: 0}
    builder, known = ModelBuilder.of(bridge.model), {frame.name for frame in bridge.model.frames}
    for frame in bridge.pin_model.frames:
        if frame.name not in known and frame.name != "universe":
            body = bridge.model.body_names[body_of[frame.parentJoint]]
            builder.add_frame(frame.name, body, (frame.placement.rotation, frame.placement.translation))
    return builder.build()
