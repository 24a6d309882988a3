"""One valid call of the public callables of two arms that hold a jointed object."""

from __future__ import annotations

import pathlib

import numpy as np

import kinetree as kt


def table(folder: pathlib.Path) -> dict:
    """As `tests.arguments.calls.table`."""
    arm = kt.models.puma_like()
    tool = arm.frames[arm.nb - 1].name
    part = dict(grasp=tool, mass=1.0, com=(0.0, 0.0, 0.1), ball=(0.0, 0.0, 0.2), inertia=(0.01, 0.01, 0.002))
    held = kt.control.Held(**part)
    place = ((0.9, 0.0, 0.0), (0.0, 0.0, np.pi))
    model = kt.control.TwoArms.hold(arm, arm, held, held, placement=place)
    q, v, nu = np.resize([0.2, -1.2, 1.4, 0.5, 0.7, 0.3], 12), np.zeros(12), np.zeros(9)
    arms = kt.control.TwoArms(model, q=q)
    position = kt.control.load_position(arms, q)
    tracking = dict(arms=arms, motion=lambda t: (position, nu, nu), kp=100.0, kd=20.0)
    state = dict(q=q, v=v)
    torque = state | dict(tau=v)
    return {
        "control.Held": (kt.control.Held, part),
        "control.TwoArms": (
            kt.control.TwoArms,
            dict(model=model, pseudovelocities="ball_joint", center="object_1.center", joints=None, q=q),
        ),
        "control.grasp_wrenches": (kt.control.grasp_wrenches, torque | dict(arms=arms, bodies=(held, held))),
        "control.load_position": (kt.control.load_position, dict(arms=arms, q=q)),
        "control.load_difference": (kt.control.load_difference, dict(position=position, target=position)),
        "control.LoadTracking": (kt.control.LoadTracking, tracking),
        "control.DecoupledControl": (
            kt.control.DecoupledControl,
            dict(arms=arms, servo=kt.control.LoadTracking(**tracking), force=(0.0, 0.0, 5.0)),
        ),
        "TwoArms.hold": (
            kt.control.TwoArms.hold,
            dict(arm_1=arm, arm_2=arm, body_1=held, body_2=held, placement=place, prefix="second_"),
        ),
        "TwoArms.terms": (arms.terms, state),
        "TwoArms.delta": (arms.delta, dict(q=q)),
        "TwoArms.contact_force": (arms.contact_force, torque),
        "TwoArms.accelerations": (arms.accelerations, torque),
        "TwoArms.torques": (arms.torques, state | dict(a=v, force=None, weights=None)),
        "TwoArms.pseudovelocity": (arms.pseudovelocity, state),
        "TwoArms.velocity": (arms.velocity, dict(q=q, nu=nu)),
        "TwoArms.pseudoacceleration": (arms.pseudoacceleration, dict(q=q, nu=nu, tau=v)),
        "TwoArms.step": (arms.step, dict(q=q, nu=nu, tau=v, dt=1e-3)),
        "TwoArms.gap": (arms.gap, dict(q=q)),
        "TwoArms.poses": (arms.poses, dict(q=q)),
    }
