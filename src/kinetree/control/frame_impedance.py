"""Impedance of a frame: stiffness and damping about a moving pose, with the inertia of the robot or another one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import array, choice, refuse, text
from kinetree.control.controller import Controller, gain_matrix
from kinetree.control.frame_laws import REFERENCES
from kinetree.control.frame_reference import FORMS, frame_reference
from kinetree.control.joint_laws import delivered
from kinetree.control.operational_space import (
    FRAME_COMPLIANCE,
    TOLERANCE,
    bound_task,
    compiled_part,
    consistent_inverse,
    freedom,
    task_rows,
)
from kinetree.control.tasks import JointTask
from kinetree.integrators.kernels import part
from kinetree.integrators.system import time_argument

DELIVERED = part("delivered", delivered, "q[nq] v[nv] f[nv]", "tau[nv]", static=("actuated",))


@dataclass(frozen=True, eq=False)
class CartesianImpedance(Controller):
    """A frame with a stiffness and a damping about a pose, and a posture within the motions that leave it at rest.

    Parameters
    ----------
    model : Model
    frame : str
        Name of the frame or body.
    reference : (4, 4) array_like, (R, p), or callable
        Its motion [1 and m]; see `FrameReference`. Velocities enter the damping; accelerations are used with
        ``inertia`` only.
    stiffness : float, (6,) or (6, 6) array_like
        [angular; linear], positive semidefinite [N m/rad, N/rad or N m/m, N/m]; zero for directions without a spring.
    damping : float, (6,) or (6, 6) array_like
        The same for the velocity error [N m s/rad, N s/rad, N s/m].
    inertia : float, (6,) or (6, 6) array_like, optional
        The inertia that the environment feels, positive definite [kg m^2, kg m, kg]. Default: that of the robot, which
        needs no inverse and stays passive.
    posture : JointTask, optional
        Motion of the joints in the null space of the frame's Jacobian. Default: redundant joints are not damped.
    axes : {"world", "local"}
        Axes of stiffness, damping and inertia at the frame's origin: those of the world, or the frame's own.
    wrench : callable, optional
        ``wrench(t, q, v)``: the measured external wrench on the frame in these axes, (6,) [N m, N], for ``inertia``.
        Without it the response to external forces is that of the robot's inertia, and motions are those of the other.
    effort_limit, actuated : optional
        See `Controller`.

    Raises
    ------
    ArgumentError, UnknownNameError

    Notes
    -----
    Source: see `cartesian_impedance`; with ``inertia`` C. Ott (2008), eq. 3.9: ``inertia s' + D s = B^T K e + F``, s =
    V - V_r, by inverse dynamics with the consistent inverse of the Jacobian.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.load("arm7")
    >>> q = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0, 0.0, 0.0])
    >>> R, p = kt.pose(arm, q, frame="tool")
    >>> gains = dict(stiffness=[20, 20, 20, 300, 300, 300], damping=[3, 3, 3, 40, 40, 40])
    >>> soft = kt.control.CartesianImpedance(arm, "tool", (R, p + [0.1, 0.0, 0.0]), **gains)
    >>> J = kt.jacobian(arm, q, frame="tool", reference="local_world_aligned")
    >>> force = soft(0.0, q, np.zeros(9)) - kt.gravity_forces(arm, q)
    >>> bool(np.allclose(force, J.T @ [0, 0, 0, 30.0, 0, 0]))  # 300 N/m times 0.1 m
    True
    """

    frame: str
    reference: object
    stiffness: object
    damping: object
    inertia: object = None
    posture: JointTask | None = None
    axes: str = "world"
    wrench: object = None

    def __post_init__(self) -> None:
        super().__post_init__()
        text("CartesianImpedance: frame", self.frame, "the name of a frame")
        self.model.frame(self.frame)
        choice("CartesianImpedance: axes", self.axes, REFERENCES)
        self._set("reference", frame_reference(self.reference))
        if self.reference.of_position:
            array("CartesianImpedance: reference", self.reference.source, FORMS, shape=(4, 4))  # raises
        units = {"stiffness": "N m/rad, N/m", "damping": "N m s/rad, N s/m", "inertia": "kg m^2, kg"}
        for name, unit in units.items():
            if getattr(self, name) is not None:
                what, definite = f"CartesianImpedance: {name}", name == "inertia"
                self._set(name, gain_matrix(what, getattr(self, name), 6, unit, definite=definite))
        if self.posture is not None:
            if not isinstance(self.posture, JointTask):
                refuse("CartesianImpedance: posture", self.posture, "a JointTask")
            self._set("posture", bound_task(self.model, self.posture))
        if self.wrench is not None and (self.inertia is None or not callable(self.wrench)):
            refuse("CartesianImpedance: wrench", self.wrench, "a function wrench(t, q, v), together with inertia")

    def law(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces before they are cut to their bounds [N m or N]."""
        motion = self.reference(t)
        if np.isnan(motion[0]).any():
            array(f"CartesianImpedance: reference at t = {t:.9g} s", motion[1], FORMS, shape=(4, 4))  # raises
        return (self._natural if self.inertia is None else self._shaped)(t, q, v, motion)

    def _natural(self, t, q, v, motion):
        at = dict(frame=self.frame, axes=self.axes)
        tau = self._computed("cartesian_impedance", t, q, v, *motion[:3], self.stiffness, self.damping, **at)
        if self.posture is None:
            return tau
        Y, _, N = freedom(self, t, q, v)
        J = self._computed("jacobian", t, q, frame=self.frame, reference="local_world_aligned")
        _, N = consistent_inverse(Y, J, N, TOLERANCE)
        rows, a = task_rows(self, self.posture, t, q, v)
        # N a: accelerations towards the posture that leave the frame at rest.
        f = self._computed("crba", t, q) @ (N @ (rows.T @ a))
        share = compiled_part(self.model, DELIVERED, actuated=self.actuated)
        return tau + share(q, v, f, *time_argument(self.model, t))

    def _shaped(self, t, q, v, motion):
        push = np.zeros(6) if self.wrench is None else self.wrench(t, q, v)
        push = array("CartesianImpedance: wrench", push, shape=(6,))
        f = compiled_part(self.model, FRAME_COMPLIANCE, frame=self.frame, axes=self.axes)
        mobility = np.linalg.inv(self.inertia)
        J, b = f(q, v, *motion, self.stiffness, self.damping, push, mobility, *time_argument(self.model, t))
        Y, a, N = freedom(self, t, q, v)
        J_bar, N = consistent_inverse(Y, J, N, TOLERANCE)
        a = a + J_bar @ (b - J @ a)
        if self.posture is not None:
            rows, wanted = task_rows(self, self.posture, t, q, v)
            a = a + N @ (rows.T @ wanted - a)
        return self._computed("inverse_dynamics", t, q, v, a) - J.T @ push
