"""Soft contact tends to the rigid solution as its stiffness grows: docs/soft_contact.svg.

Run ``python examples/figures/soft_contact.py docs``.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

G = 9.81
STIFFNESS = 1e3 * 10.0 ** np.arange(0.0, 3.5, 0.5)  # N/m, for 1 kg
FINE = kt.integrators.Adaptive("dop853", rtol=1e-9, atol=1e-11)


def ball(joint, friction: float, **soft):
    """A solid ball of 1 kg and radius 0.1 m on soft ground, its inertia in the joint."""
    b = kt.ModelBuilder("ball")
    b.add_body("ball", joint=joint, mass=1.0, inertia=0.004 * np.eye(3))
    floor = kt.collision.Shape("world", "plane", name="floor")
    sphere = kt.collision.Shape("ball", "sphere", (0.1,), name="ball")
    pair = kt.collision.ContactPair("floor/ball", floor, sphere, friction=friction)
    return b.build().with_forces(kt.forces.SoftContact("soft", pair, **soft))


def slide(stiffness: float) -> float:
    """Error of the speed with which a ball that slides at first rolls: 5/7 of that at the start, 1 m/s [m/s]."""
    model = ball(kt.joints.Free(), 0.3, stiffness=stiffness, damping=2.0 * math.sqrt(stiffness))
    depth = G / stiffness
    start = dict(q0=[0, 0, 0.1 - depth, 1, 0, 0, 0], v0=[0, 0, 0, 1, 0, 0], x0=[-depth, 0, 0])
    run = kt.simulate(model, **start, duration=0.2, dt=0.1, integrator=FINE)
    twist = kt.kinematics.body_velocities(model, run.q[-1], run.v[-1], reference="local_world_aligned")
    return abs(float(twist[1, 3]) - 5.0 / 7.0)


def bounce(stiffness: float) -> float:
    """Error of the height of an elastic ball 0.5 s after it was dropped from 0.5 m [m]."""
    model = ball(kt.joints.Prismatic((0, 0, 1)), 0.0, stiffness=stiffness, law="kelvin_voigt")
    run = kt.simulate(model, [0.6], [0.0], duration=0.5, dt=0.1, integrator=FINE)
    fall = math.sqrt(2.0 * 0.5 / G)
    rigid = 0.1 + G * fall * (0.5 - fall) - 0.5 * G * (0.5 - fall) ** 2
    return abs(run.q[-1, 0] - rigid)


def draw(path: Path) -> None:
    """Both errors over the stiffness."""
    plt.style.use(kt.viz.STYLE)
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for label, measured, order, style in (
        ("elastic bounce: height after 0.5 s [m]", bounce, 0.5, "o-"),
        ("ball that slid, then rolls: speed [m/s]", slide, 1.0, "s-"),
    ):
        errors = [measured(k) for k in STIFFNESS.tolist()]
        ax.loglog(STIFFNESS, errors, style, label=label)
        ax.loglog(STIFFNESS, errors[-1] * (STIFFNESS[-1] / STIFFNESS) ** order, "k:", lw=0.8)
    ax.set(xlabel="stiffness K [N/m] of soft contact, 1 kg", ylabel="distance from rigid contact")
    ax.legend()
    figure.savefig(path)


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "soft_contact.svg")
