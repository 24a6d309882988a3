"""Controllers in the space of the joints: computed torque, PD with gravity compensation, impedance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.control.controller import Controller, gain_matrix, square_root
from kinetree.control.reference import joint_reference


@dataclass(frozen=True, eq=False)
class ComputedTorque(Controller):
    """Inverse dynamics with a linear feedback: the error of every joint obeys ``e'' + kd e' + kp e = 0``.

    Parameters
    ----------
    model : Model
    reference : (nq,) array_like, callable or Trajectory
        The motion to follow [rad or m]; see `JointReference`.
    kp : float, (nv,) or (nv, nv) array_like, or mapping of joint names
        Gain of the position error, positive definite [1/s^2]: the square of the bandwidth.
    kd : float, (nv,) or (nv, nv) array_like, or mapping of joint names, optional
        Gain of its rate, positive definite [1/s]. Default: critical damping, twice the root of kp.
    effort_limit, actuated : optional
        See `Controller`.

    Raises
    ------
    ArgumentError, ShapeError

    Notes
    -----
    Source: see `computed_torque`. The feedback is exact for free bodies and ball joints, too; forces at joints that
    have no actuator are computed as if they had one.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> controller = kt.control.ComputedTorque(arm, [0.5, -0.2], kp=100.0)
    >>> run = kt.simulate(arm, [0.0, 0.0], duration=1.0, dt=1e-3, controller=controller)
    >>> run.q[-1].round(2).tolist()
    [0.5, -0.2]
    """

    reference: object
    kp: object
    kd: object = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("reference", joint_reference(self.model, self.reference))
        nv = self.model.nv
        self._set("kp", gain_matrix("ComputedTorque: kp", self.kp, nv, "1/s^2", self.model))
        kd = 2.0 * square_root(self.kp) if self.kd is None else self.kd
        self._set("kd", gain_matrix("ComputedTorque: kd", kd, nv, "1/s", self.model))

    def law(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces before they are cut to their bounds [N m or N]."""
        return self._computed("computed_torque", t, q, v, *self.reference(t), self.kp, self.kd)


@dataclass(frozen=True, eq=False)
class PDGravityCompensation(Controller):
    """Springs and dampers between the joints and a reference, and the forces that hold the position.

    Parameters
    ----------
    model : Model
    reference : (nq,) array_like, callable or Trajectory
        The motion to follow [rad or m]; see `JointReference`. Accelerations are not used.
    kp : float, (nv,) or (nv, nv) array_like, or mapping of joint names
        Stiffness, positive definite [N m/rad or N/m].
    kd : float, (nv,) or (nv, nv) array_like, or mapping of joint names
        Damping, positive definite [N m s/rad or N s/m].
    effort_limit, actuated : optional
        See `Controller`.

    Raises
    ------
    ArgumentError, ShapeError

    Notes
    -----
    Source: see `pd_gravity_compensation`. A constant reference is reached from anywhere, with errors of the masses
    only as far as they change the weight; a moving one with a lag.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> controller = kt.control.PDGravityCompensation(arm, [0.5, -0.2], kp=50.0, kd=10.0)
    >>> tau = controller(0.0, [0.5, -0.2], [0.0, 0.0])
    >>> bool(abs(tau - kt.gravity_forces(arm, [0.5, -0.2])).max() < 1e-12)
    True
    """

    reference: object
    kp: object
    kd: object

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("reference", joint_reference(self.model, self.reference))
        nv = self.model.nv
        self._set("kp", gain_matrix("PDGravityCompensation: kp", self.kp, nv, "N m/rad or N/m", self.model))
        self._set("kd", gain_matrix("PDGravityCompensation: kd", self.kd, nv, "N m s/rad or N s/m", self.model))

    def law(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces before they are cut to their bounds [N m or N]."""
        q_d, v_d, _ = self.reference(t)
        return self._computed("pd_gravity_compensation", t, q, v, q_d, v_d, self.kp, self.kd)


@dataclass(frozen=True, eq=False)
class JointImpedance(Controller):
    """A stiffness and a damping of the joints about a moving reference, with their own inertia or another one.

    Parameters
    ----------
    model : Model
    reference : (nq,) array_like, callable or Trajectory
        The motion to follow [rad or m]; see `JointReference`.
    stiffness : float, (nv,) or (nv, nv) array_like, or mapping of joint names
        Positive definite [N m/rad or N/m].
    damping : float, (nv,) or (nv, nv) array_like, or mapping of joint names
        Positive definite [N m s/rad or N s/m].
    inertia : float, (nv,) or (nv, nv) array_like, or mapping of joint names, optional
        The inertia of the closed loop, positive definite [kg m^2 or kg]. Default: the mass matrix of the robot.
    effort_limit, actuated : optional
        See `Controller`.

    Raises
    ------
    ArgumentError, ShapeError

    Notes
    -----
    Source: see `joint_impedance`. Without ``inertia`` the closed loop is passive towards its environment for every
    reference. With it the errors obey ``inertia e'' + damping e' + stiffness e = 0`` by `computed_torque`; forces of
    the environment, which are not measured, then accelerate the joints as they do without control.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> swing = kt.identify.FourierTrajectory(2.0, [0.0, 0.0], [[0.3], [0.2]], [[0.0], [0.0]])
    >>> controller = kt.control.JointImpedance(arm, swing, stiffness=50.0, damping=10.0)
    >>> q, v, a = swing(0.0)
    >>> bool(abs(kt.forward_dynamics(arm, q, v, controller(0.0, q, v)) - a).max() < 1e-9)  # the error is zero
    True
    """

    reference: object
    stiffness: object
    damping: object
    inertia: object = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("reference", joint_reference(self.model, self.reference))
        units = {"stiffness": "N m/rad or N/m", "damping": "N m s/rad or N s/m", "inertia": "kg m^2 or kg"}
        for name, unit in units.items():
            if getattr(self, name) is not None:
                given = getattr(self, name)
                self._set(name, gain_matrix(f"JointImpedance: {name}", given, self.model.nv, unit, self.model))

    def law(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint forces before they are cut to their bounds [N m or N]."""
        motion = self.reference(t)
        if self.inertia is None:
            return self._computed("joint_impedance", t, q, v, *motion, self.stiffness, self.damping)
        gains = (np.linalg.solve(self.inertia, x) for x in (self.stiffness, self.damping))
        return self._computed("computed_torque", t, q, v, *motion, *gains)
