"""One valid call of the functions of impacts."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.spatial import Inertia, Symmetric3, Vector3


def table(folder) -> dict[str, tuple]:
    """Name, callable and valid arguments."""
    ball = Inertia.from_com(1.0, Vector3(0.0, 0.0, 0.0), Symmetric3.diagonal(0.4, 0.4, 0.4))
    sphere = kt.collision.Shape("ball", "sphere", (1.0,), name="sphere")
    pair = kt.collision.ContactPair("floor", kt.collision.Shape("world", "plane", name="ground"), sphere)
    b = kt.ModelBuilder("ball")
    b.add_body("ball", joint=kt.joints.Free(), mass=1.0, inertia=0.4 * np.eye(3))
    rests = dict(model=b.build().replace(contacts=[pair]), q=[0, 0, 1.0, 1, 0, 0, 0], v=[0.0] * 6, tau=[0.0] * 6)
    push = dict(f_ext=[[0.0] * 6] * 2, x=None, u=None)
    return {
        "contact.contact_accelerations": (
            kt.contact.contact_accelerations,
            rests | push | dict(length=1e-9, speed=1e-9),
        ),
        "contact.contact_states": (
            kt.contact.contact_states,
            dict(gaps=[0.0, 0.1], rates=[0.0, 1.0], length=1e-9, speed=1e-9),
        ),
        "integrators.EventDriven": (
            kt.integrators.EventDriven,
            dict(method="dp54", rtol=1e-8, atol=1e-8, law="newton", rest_speed=1e-6, max_step=0.1),
        ),
        "contact.collide": (
            kt.contact.collide,
            dict(
                first=2.0, second=ball, v_first=[0.0] * 6, v_second=[0.0, 0, 0, 1, 0, -1], normal=(0, 0, 1),
                point=(0, 0, -1), restitution=0.5, friction=0.3,
            ),
        ),
        "contact.impact": (
            kt.contact.impact,
            dict(delassus=np.eye(3), velocities=[[0.0, 0, -1]], friction=0.3, restitution=0.5, law="newton"),
        ),
        "contact.strike": (
            kt.contact.strike,
            dict(
                model=kt.models.double_pendulum(), q=[0.1, 0.2], v=[0.3, 0.4], frame="lower", impulse=[1.0, 0, 0],
                at=(0, 0, 1),
            ),
        ),
    }  # fmt: skip
