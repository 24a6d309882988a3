"""One valid call of the controllers, and of the functions of control."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree import control, inverse_kinematics


def table(folder) -> dict[str, tuple]:
    """Name, callable and valid arguments."""
    m = kt.load("double_pendulum")
    still = dict(model=m, reference=np.array([0.1, 0.2]), effort_limit=None, actuated=None)
    pose, task = np.eye(4), control.FrameTask("tip", np.eye(4), kp=4.0)
    frame = dict(model=m, frame="tip", reference=pose, stiffness=4.0, damping=1.0)
    return {
        "control.CartesianImpedance": (
            control.CartesianImpedance,
            frame | dict(inertia=None, posture=None, axes="world", wrench=None, effort_limit=None, actuated=None),
        ),
        "control.FrameReference": (control.FrameReference, dict(source=pose)),
        "control.FrameTask": (control.FrameTask, dict(frame="tip", reference=pose, kp=4.0, kd=None, part=None)),
        "inverse_kinematics": (
            inverse_kinematics,
            dict(
                model=m, targets={"tip": [0.3, 0.0, 0.2]}, q0=[0.1, 0.2], method="levenberg_marquardt", weights=None,
                posture=None, position_tolerance=1e-6, rotation_tolerance=1e-6, limits=True, max_iterations=20,
                restarts=0, seed=0, path=False,
            ),
        ),
        "control.lqr": (
            control.lqr,
            dict(model=m, q=[0.1, 0.2], v=None, tau=None, Q=1.0, R=1.0, actuated=None, dt=None, effort_limit=None),
        ),
        "control.JointTask": (
            lambda **given: control.OperationalSpace(m, [control.JointTask(**given)]),
            dict(reference=[0.1, 0.2], kp=4.0, kd=None, joints=None),
        ),
        "control.OperationalSpace": (
            control.OperationalSpace, dict(model=m, tasks=[task], tolerance=1e-4, effort_limit=None, actuated=None)
        ),
        "control.OperationalSpaceTerms": (
            control.OperationalSpaceTerms, dict(Lambda=np.eye(6), mu=np.zeros(6), p=np.zeros(6), J_bar=np.zeros((2, 6)))
        ),
        "control.operational_space_terms": (
            control.operational_space_terms,
            dict(model=m, q=[0.1, 0.2], v=[0.0, 0.1], frame="tip", reference="local", tolerance=1e-4),
        ),
        "control.Controller": (control.Controller, dict(model=m, effort_limit=2.0, actuated=None)),
        "control.JointReference": (control.JointReference, dict(model=m, source=np.array([0.1, 0.2]))),
        "control.ComputedTorque": (control.ComputedTorque, still | dict(kp=4.0, kd=None)),
        "control.PDGravityCompensation": (control.PDGravityCompensation, still | dict(kp=4.0, kd=1.0)),
        "control.JointImpedance": (control.JointImpedance, still | dict(stiffness=4.0, damping=1.0, inertia=None)),
    }
