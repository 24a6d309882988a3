"""An arm of seven joints moves its tool on a circle and lifts its elbow: tasks with priorities.

You learn to control frames. The tool obeys its equation of error whatever follows in the list of tasks: the elbow is
lifted by the freedom that is left. In the other order the elbow reaches its height, and the tool leaves the circle.

    python examples/25_operational_space.py --plot operational_space.png

Output::

    tool first:  tool off by ... mm, elbow off by ... mm
    elbow first: tool off by ... mm, elbow off by ... mm
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

ARM = kt.load("arm7")
START = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0, 0.0, 0.0])
R, P = kt.pose(ARM, START, frame="tool")
RADIUS, RATE = 0.12, 3.0  # [m], [rad/s]
LIFT = np.array([0.0, 0.12, 0.0])  # [m]


def circle(t):
    """Pose of the tool, its twist and the rate of it, in the world's axes."""
    c, s = RADIUS * np.cos(RATE * t), RADIUS * np.sin(RATE * t)
    velocity, acceleration = RATE * np.array([0.0, c, -s]), -(RATE**2) * np.array([0.0, s, c])
    return (R, P + [0.0, s, c - RADIUS]), np.r_[0, 0, 0, velocity], np.r_[0, 0, 0, acceleration]


TOOL = kt.control.FrameTask("tool", circle, kp=400.0)
ELBOW = kt.control.FrameTask("forearm_link", kt.pose(ARM, START, frame="forearm_link")[1] + LIFT, kp=100.0)
POSTURE = kt.control.JointTask(START, kp=25.0)
LISTS = {"tool first": [TOOL, ELBOW, POSTURE], "elbow first": [ELBOW, TOOL, POSTURE]}


def follow(tasks, **how):  # times, distances of the tool and of the elbow from their references
    controller = kt.control.OperationalSpace(ARM, tasks)
    J = kt.jacobian(ARM, START, frame="tool", reference="local_world_aligned")
    v0 = np.linalg.pinv(J) @ circle(0.0)[1]  # the tool starts on the circle, at its speed
    run = kt.simulate(ARM, START, v0, duration=2.0, controller=controller, record=kt.Record(period=0.01), **how)
    tool = kt.pose(ARM, run.q, frame="tool")[1] - [circle(t)[0][1] for t in run.time]
    elbow = kt.pose(ARM, run.q, frame="forearm_link")[1] - ELBOW.reference(0.0)[1]
    return run.time, np.linalg.norm(tool, axis=1), np.linalg.norm(elbow, axis=1)


def main(plot: str | None = None) -> None:
    found = {name: follow(tasks, dt=2e-3) for name, tasks in LISTS.items()}
    for name, (_, tool, elbow) in found.items():
        print(f"{name + ':':12s} tool off by {1e3 * tool.max():.1f} mm, elbow off by {1e3 * elbow[-1]:.1f} mm")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots(ncols=2, figsize=(8, 3.2), sharey=True, layout="constrained")
        for panel, (name, (t, tool, elbow)) in zip(axes, found.items(), strict=True):
            panel.plot(t, 1e3 * np.transpose([tool, elbow]), label=["tool", "elbow"])
            panel.set(title=name, xlabel="time [s]")
        axes[0].set_ylabel("distance from the reference [mm]")
        axes[0].legend()
        figure.savefig(plot)


def check() -> None:
    """With torques at every instant the first task has no error at all, in conflict with the elbow or not."""
    _, tool, elbow = follow(LISTS["tool first"], dt=0.01, integrator=kt.integrators.Adaptive(rtol=1e-7, atol=1e-9))
    assert tool.max() < 1e-6 and elbow[-1] > 1e-3


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
