"""Build a mechanism in Python: the flyball governor of a steam engine.

You learn to build a model with `ModelBuilder`: joints, placements, springs, dampers, and a coupling that makes the
second arm mirror the first. The balls of the spinning governor rise; dampers let them settle where centrifugal force,
weight and springs agree.

    python examples/05_build_a_mechanism.py --plot governor.png

Output::

    <Model 'governor': 3 moving bodies, nq=3, nv=3>
    the arms settle at ... degrees, the shaft at ... rad/s
    the balance of forces requires ... degrees
"""

import argparse

import numpy as np
from scipy.optimize import brentq

import kinetree as kt
from kinetree.joints import Revolute

BALL, ARM, STIFFNESS = 1.0, 0.3, 1.5  # [kg], [m], [N m/rad] of each arm's spring
G = 9.81


def governor():
    """A shaft about z; two arms hang from its top and open like an umbrella; q = (shaft, left, right)."""
    b = kt.ModelBuilder("governor")
    b.add_body("shaft", joint=Revolute((0, 0, 1)), mass=5.0, inertia=(0.03, 0.03, 0.05))
    top = ((0, 0, 0.5), (0, 0, 0))  # position [m], roll-pitch-yaw [rad]
    ball = {"mass": BALL, "com": (0, 0, -ARM)}
    for arm in ("left", "right"):
        b.add_body(arm, "shaft", Revolute((0, 1, 0)), placement=top, **ball, stiffness=STIFFNESS, damping=0.3)
    b.add_coupling("right", "left", ratio=-1.0)
    return b.build()


def balance(w):
    """The angle at which m w^2 L^2 sin cos = m g L sin + k angle [rad]."""

    def moment(angle):
        s, c = np.sin(angle), np.cos(angle)
        return BALL * w**2 * ARM**2 * s * c - BALL * G * ARM * s - STIFFNESS * angle

    return brentq(moment, 0.05, np.pi / 2)


def spin(model):
    """Eight seconds from 14 rad/s, the arms almost closed."""
    return kt.simulate(
        model, q0=[0, 0.05, -0.05], v0=[14, 0, 0], duration=8.0, integrator="rk4", record=kt.Record(period=0.01)
    )


def main(plot: str | None = None) -> None:
    model = governor()
    print(model)
    run = spin(model)
    print(f"the arms settle at {np.degrees(run.q[-1, 1]):.2f} degrees, the shaft at {run.v[-1, 0]:.3f} rad/s")
    print(f"the balance of forces requires {np.degrees(balance(run.v[-1, 0])):.2f} degrees")
    if plot:
        run.plot(joints=["left", "right"], what=["q", "v", "energy"], path=plot)


def check() -> None:
    """Balance at the end, mirrored arms always, and angular momentum about the shaft, on which nothing acts."""
    model = governor()
    run = spin(model)
    assert abs(run.q[-1, 1] - balance(run.v[-1, 0])) < 1e-4
    assert np.abs(run.q[:, 1] + run.q[:, 2]).max() < 1e-9
    L = kt.momentum(model, run.q, run.v)[:, 2]
    assert np.ptp(L) < 1e-9 * L[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
