"""Hybrid dynamics: a building on a moving table, and a falling quadruped that turns itself by moving its legs.

You learn hybrid dynamics (forces known at some joints, accelerations at others) and the dynamics of a floating base.

Output::

    table 5.0 mm, top floor 45... mm, drive ... N
    legs off their paths by ... rad, the trunk has turned by 13.9 degrees
"""

import numpy as np

import kinetree as kt
from kinetree.joints import Prismatic

FLOORS, SWAY, RATE = ("first", "second", "third"), 0.005, 8.5  # of the table [m, rad/s], near resonance
ROBOT = kt.load("quadruped", floating_base=True).without_limits()
HOME, LOOP = np.tile([0.0, 0.8, -1.6], 4), 6.0 * np.pi  # [rad], [rad/s]
EXACT = {"integrator": kt.integrators.Adaptive(rtol=1e-8, atol=1e-9), "record": kt.Record(period=0.02)}


def building():
    """Three floors on springs, on a table that a drive moves along x."""
    b, body = kt.ModelBuilder("building"), {"mass": 10.0, "inertia": (1.0, 1.0, 1.0)}
    b.add_body("table", "world", Prismatic((1, 0, 0)), "drive", **body)
    for floor, below in zip(FLOORS, ("table", *FLOORS), strict=False):
        b.add_body(floor, below, Prismatic((1, 0, 0)), floor, stiffness=4000.0, damping=40.0, **body)
    return b.build()


def shake(model):
    """The table follows -SWAY cos(RATE t) for 20 s; the floors have no drive."""

    def drive(t, q, v):
        a = np.array([SWAY * RATE**2 * np.cos(RATE * t), 0.0, 0.0, 0.0])
        return kt.hybrid_dynamics(model, q, v, np.zeros(4), a, forward=FLOORS).tau_all

    return kt.simulate(model, np.array([-SWAY, 0.0, 0.0, 0.0]), duration=20.0, controller=drive, **EXACT)


def legs(t):
    """Angles and accelerations: each foot draws a loop, three times in a second, from rest."""
    s, c, s2, c2 = (f(x * LOOP * t) for x in (1, 2) for f in (np.sin, np.cos))
    angles, accelerations = (0.4 - 0.4 * c, 0.5 * s - 0.25 * s2, 0.0), (0.4 * c, s2 - 0.5 * s, 0.0)
    return HOME + np.tile(angles, 4), LOOP**2 * np.tile(accelerations, 4)


def fall():
    """The legs have prescribed accelerations, the trunk responds."""

    def follow(t, q, v):
        a = np.r_[np.zeros(6), legs(t)[1]]
        return kt.hybrid_dynamics(ROBOT, q, v, np.zeros(18), a, forward=ROBOT.joint_names[:1]).tau_all

    return kt.simulate(ROBOT, np.r_[ROBOT.neutral()[:7], HOME], duration=1.0, controller=follow, **EXACT)


def main() -> None:
    run = shake(building())
    sway, force = 1e3 * np.ptp(run.q[-99:, 1:].sum(1)) / 2, np.abs(run.tau[:, 0]).max()
    print(f"table {1e3 * SWAY} mm, top floor {sway:.1f} mm, drive {force:.0f} N")
    run = fall()
    error, turn = np.abs(run.q[-1, 7:] - legs(1.0)[0]).max(), 2.0 * np.arccos(abs(run.q[-1, 3]))
    print(f"legs off their paths by {error:.0e} rad, the trunk has turned by {np.degrees(turn):.1f} degrees")


def check() -> None:
    """The floors sway as in the closed form; the trunk's angular velocity is that of its recoil, -I0c^-1 F qd."""
    model = building()
    M, K, D = kt.crba(model, np.zeros(4)), np.diag(model.stiffness)[1:, 1:], np.diag(model.damping)[1:, 1:]
    sway = np.abs(np.linalg.solve(K + 1j * RATE * D - RATE**2 * M[1:, 1:], M[1:, 0] * SWAY * RATE**2))
    assert np.allclose(np.ptp(shake(model).q[-99:, 1:], axis=0) / 2, sway, rtol=5e-3)
    run = fall()
    eq = kt.floating_base.coefficients(ROBOT, run.q, run.v)
    twist = -np.linalg.solve(eq.I0c, eq.F @ run.v[:, 6:, None])[..., 0]
    assert np.abs(twist - run.v[:, :6])[:, :3].max() < 1e-6 < np.abs(twist[:, :3]).max()


if __name__ == "__main__":
    main()
