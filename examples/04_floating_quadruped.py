"""A quadruped in free fall turns itself without a push: momentum of a floating robot.

You learn to give a robot a floating base, to control its legs, and to read its momentum. Nothing but gravity acts
from outside, so the center of mass falls on a parabola and the angular momentum about it stays zero, whatever the
legs do. Yet the trunk turns: the legs draw circles and come back to their pose, the trunk does not. Cats land on
their feet so.

    python examples/04_floating_quadruped.py --plot falling.png

Output::

    <Model 'quadruped': 13 moving bodies, nq=19, nv=18>
    fell ... m in 1 s
    angular momentum stayed below ... kg m^2/s
    the legs are back, but the trunk has turned by ... degrees
"""

import argparse

import numpy as np

import kinetree as kt

ROBOT = kt.load("quadruped", floating_base=True)
HOME = np.tile([0.0, 0.8, -1.6], 4)  # roll, pitch and knee of each leg [rad]


def legs(t):
    """Each foot draws a circle: roll and pitch a quarter turn out of phase, gently begun and ended."""
    size, phase = np.sin(np.pi * t) ** 2, 6.0 * np.pi * t
    return HOME + size * np.tile([0.8 * np.sin(phase), 0.9 * np.cos(phase), 0.0], 4)


def controller(t, q, v):
    tau = np.zeros(ROBOT.nv)  # the first six belong to the free joint: nothing pushes the trunk
    tau[6:] = 150.0 * (legs(t) - q[7:]) - 3.0 * v[6:]
    return tau


def fall():
    """One second of free fall from rest."""
    q0 = ROBOT.neutral()  # q = (position, quaternion, joints)
    q0[7:] = HOME
    return kt.simulate(ROBOT, q0, duration=1.0, integrator="rk4", controller=controller, record=kt.Record(period=0.01))


def turned(q):
    """Angle by which the trunk has turned [rad]."""
    return 2.0 * np.arccos(np.clip(np.abs(q[..., 3]), 0.0, 1.0))


def main(plot: str | None = None) -> None:
    print(ROBOT)
    run = fall()
    p, h = kt.center_of_mass(ROBOT, run.q), kt.centroidal.momentum(ROBOT, run.q, run.v)
    print(f"fell {p[0, 2] - p[-1, 2]:.3f} m in 1 s")
    print(f"angular momentum stayed below {np.abs(h[:, :3]).max():.0e} kg m^2/s")
    print(f"the legs are back, but the trunk has turned by {np.degrees(turned(run.q[-1])):.1f} degrees")
    if plot:
        run.plot(joints=["root_joint", "FL_hip_roll", "FL_hip_pitch", "FL_knee"], what=["q", "v"], path=plot)


def check() -> None:
    """Momentum: linear m g t, angular zero although the legs have angular momentum of their own."""
    run = fall()
    h = kt.centroidal.momentum(ROBOT, run.q, run.v)
    assert np.allclose(h[:, 3:], np.outer(run.time, ROBOT.total_mass * np.array(ROBOT.gravity)), rtol=0.0, atol=5e-5)
    assert np.abs(h[:, :3]).max() < 1e-5
    assert turned(run.q[-1]) > np.radians(10.0) and np.abs(run.q[-1, 7:] - HOME).max() < 0.05


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
