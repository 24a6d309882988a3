"""Draw a circle with the tool of an arm: everything that a task-space controller needs, in one function.

You learn to compile several quantities of one state as one function. The controller takes all that it needs from one
call of a microsecond, and moves the tool so that its error obeys e'' + 2 w e' + w^2 e = 0.

    python examples/13_fused.py --plot circle.png

Output::

    ... operations together, ... one by one
    one call ... us
    largest error after 1 s: ... mm
"""

import argparse
import timeit

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

FINGERS = ["left_finger_slide", "right_finger_slide"]
ARM = kt.surgery.lock(kt.load("arm7").without_limits(), FINGERS).replace(damping=0.0, dry_friction=0.0)
TOOL = "tool:local_world_aligned"
QUANTITIES = ["crba", "bias_forces", "pose:tool", f"jacobian:{TOOL}", f"jacobian_rate:{TOOL}"]
STATE = kt.compile(ARM, QUANTITIES)
START = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0])
CENTER, RADIUS, RATE, BANDWIDTH = np.array([0.55, 0.0, 0.6]), 0.15, 2.0, 10.0  # [m, m, rad/s, rad/s]


def circle(t):
    """Position, velocity and acceleration of the point to follow, in the plane y z."""
    c, s = RADIUS * np.cos(RATE * t), RADIUS * np.sin(RATE * t)
    return CENTER + (0.0, c, s), RATE * np.array((0.0, -s, c)), -(RATE**2) * np.array((0.0, c, s))


def controller(t, q, v):
    M, c, (_, p), J, J_dot = STATE(q, v)
    J, J_dot = J[3:], J_dot[3:]  # the linear rows
    x, speed, acceleration = circle(t)
    wanted = acceleration + 2.0 * BANDWIDTH * (speed - J @ v) + BANDWIDTH**2 * (x - p)
    inverse = np.linalg.pinv(J)
    rest = -5.0 * v - 20.0 * (q - START)  # back to the posture, as far as the task does not mind
    return M @ (rest + inverse @ (wanted - J_dot @ v - J @ rest)) + c


def follow(**how):  # two seconds; times, errors and positions of the tool
    run = kt.simulate(ARM, START, duration=2.0, controller=controller, record=kt.Record(period=0.01), **how)
    p = kt.pose(ARM, run.q, frame="tool").p_WF
    return run.time, np.array([circle(t)[0] for t in run.time]) - p, p


def main(plot: str | None = None) -> None:
    alone = sum(kt.compile(ARM, name).operations.total for name in QUANTITIES)
    print(f"{STATE.operations.total} operations together, {alone} one by one")
    seconds = min(timeit.repeat(lambda: STATE(START, START), number=1000, repeat=5)) / 1000
    print(f"one call {1e6 * seconds:.2f} us")
    t, error, p = follow(dt=1e-3)
    print(f"largest error after 1 s: {1e3 * np.linalg.norm(error[t > 1.0], axis=1).max():.2f} mm")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots(figsize=(5, 4.5), layout="constrained")
        axes.plot(*np.array([circle(s)[0][1:] for s in t]).T, "k--", *p[:, 1:].T)
        axes.set(xlabel="y [m]", ylabel="z [m]", title="Path of the tool, and the circle", aspect="equal")
        figure.savefig(plot)


def check() -> None:
    """The error is (e0 + (e0' + w e0) t) exp(-w t), whatever the arm does meanwhile."""
    t, error, _ = follow(dt=0.01, integrator=kt.integrators.Adaptive(rtol=1e-8, atol=1e-10))
    e0, rate = error[0], circle(0.0)[1]
    expected = (e0 + np.outer(t, rate + BANDWIDTH * e0)) * np.exp(-BANDWIDTH * t)[:, None]
    assert np.abs(error - expected).max() < 1e-6 and np.linalg.norm(e0) > 0.1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
