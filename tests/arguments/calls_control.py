"""One valid call of the controllers, and of the functions of control."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree import control


def table(folder) -> dict[str, tuple]:
    """Name, callable and valid arguments."""
    m = kt.load("double_pendulum")
    still = dict(model=m, reference=np.array([0.1, 0.2]), effort_limit=None)
    return {
        "control.Controller": (control.Controller, dict(model=m, effort_limit=2.0)),
        "control.JointReference": (control.JointReference, dict(model=m, source=np.array([0.1, 0.2]))),
        "control.ComputedTorque": (control.ComputedTorque, still | dict(kp=4.0, kd=None)),
        "control.PDGravityCompensation": (control.PDGravityCompensation, still | dict(kp=4.0, kd=1.0)),
        "control.JointImpedance": (control.JointImpedance, still | dict(stiffness=4.0, damping=1.0, inertia=None)),
    }
