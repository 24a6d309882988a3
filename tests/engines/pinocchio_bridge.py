"""Converts states, forces, matrices and Jacobians between a kinetree model and a Pinocchio model of the same robot.

The conversions are those of `kinetree.conventions.Pinocchio`; here they meet what Pinocchio computes.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from kinetree.conventions import Pinocchio

REFERENCES = {
    "local": pin.ReferenceFrame.LOCAL,
    "world": pin.ReferenceFrame.WORLD,
    "local_world_aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}


_SWAP = np.array([3, 4, 5, 0, 1, 2])  # exchanges the halves of a six-vector


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
        self.model, self.pin_model, self.data = model, pin_model, pin_model.createData()
        self.there = Pinocchio(model, pin_model)
        self._joint_of_body = {i: int(j) for i, j in enumerate(self.there.bodies) if i and j > 0}
        self.q_to_pin, self.q_from_pin = self.there.q_to, self.there.q_from
        T = self.there.T(model.neutral())
        self._v_of_pin = np.argmax(T, axis=1) if model.nv else np.zeros(0, dtype=int)  # v_pin = v[v_of_pin]
        self._pin_of_v = np.argsort(self._v_of_pin)

    def _q(self, x):
        """Any position: the maps of velocities to Pinocchio's do not depend on it."""
        return self.model.neutral().astype(np.asarray(x).dtype)

    # --- states -------------------------------------------------------------------------------------------------

    def v_to_pin(self, v):
        """Velocities, accelerations or joint forces (..., nv) in Pinocchio's order."""
        return self.there.v_to(self._q(v), v)

    def v_from_pin(self, v_pin):
        """Velocities, accelerations or joint forces (..., nv) from Pinocchio's order."""
        return self.there.v_from(self._q(v_pin), v_pin)

    # The permutation preserves power, so accelerations and forces follow the same law.
    a_to_pin = tau_to_pin = v_to_pin
    a_from_pin = tau_from_pin = v_from_pin

    def matrix_from_pin(self, M_pin):
        """A full (..., nv, nv) matrix over velocities, from Pinocchio's order (see `symmetric_from_pin` for M)."""
        T = self.there.T(self._q(M_pin))
        return T.T @ np.asarray(M_pin) @ T

    def matrix_to_pin(self, M):
        """A full (..., nv, nv) matrix over velocities in Pinocchio's order."""
        return self.there.M_to(self._q(M), M)

    def symmetric_from_pin(self, M_pin):
        """The mass matrix, of which Pinocchio's crba promises the upper triangle only."""
        return self.there.M_from(self._q(M_pin), M_pin)

    # --- frames -------------------------------------------------------------------------------------------------

    def jacobian_from_pin(self, J_pin):
        """A frame Jacobian (..., 6, nv) with rows (angular, linear) and kinetree's columns."""
        return self.there.J_from(self._q(J_pin), J_pin)

    def jacobian_to_pin(self, J):
        """A frame Jacobian (..., 6, nv) with rows (linear, angular) and Pinocchio's columns."""
        return self.there.J_to(self._q(J), J)

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
        wrenches = pin.StdVec_Force()
        wrenches.extend([pin.Force(row) for row in self.there.f_ext_to(q, f_ext)])
        wrenches.extend([pin.Force.Zero()] * (self.pin_model.njoints - len(wrenches)))
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
