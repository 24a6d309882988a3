"""One valid call of the functions of impacts."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.spatial import Inertia, Symmetric3, Vector3


def table(folder) -> dict[str, tuple]:
    """Name, callable and valid arguments."""
    ball = Inertia.from_com(1.0, Vector3(0.0, 0.0, 0.0), Symmetric3.diagonal(0.4, 0.4, 0.4))
    return {
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
