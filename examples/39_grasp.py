"""Grasp a box with two fingers, lift it, and read the forces of the fingers.

You learn to simulate bodies that touch each other, from a model with contact pairs, under a controller, and to compare
the friction with its bound: two fingers of force f hold the weight m g where 2 mu f exceeds it.

    python examples/39_grasp.py --plot grasp.png

Output::

    the fingers press with 8.0 N and 8.0 N, their friction carries 4.9 N of at most 12.8 N
    the box is lifted by 100 mm, and slips by 0.0 mm
"""

import argparse

import numpy as np

import kinetree as kt

HAND, FORCE = kt.models.gripper(mass=0.5, friction=0.8), 8.0
LIFT, LEFT, RIGHT = (HAND.v_index(name).start for name in ("lift", "left", "right"))


def controller(t, q, v):
    """The fingers close after 0.1 s; the hand goes up by 100 mm after 0.3 s."""
    tau = np.zeros(HAND.nv)
    tau[[LEFT, RIGHT]] = FORCE if t > 0.1 else 0.0
    goal = 0.03 + min(max(0.2 * (t - 0.3), 0.0), 0.1)
    weight = 9.81 * (1.4 + 0.5 * (t > 0.3))
    tau[LIFT] = weight + 1000.0 * (goal - q[HAND.q_index("lift").start]) - 90.0 * v[LIFT]
    return tau


def grasped():
    """The run, and the height of the box over the palm."""
    run = kt.simulate(HAND, duration=1.5, controller=controller)
    box, palm = (run.q[:, k] for k in (HAND.q_index("box").start + 2, HAND.q_index("lift").start))
    return run, box, palm


def main(plot: str | None = None) -> None:
    run, box, palm = grasped()
    left, right = (run.contacts[f"{name}/box"] for name in ("left", "right"))
    press = [x.normal_forces[-1].sum() for x in (left, right)]
    carried = sum(x.world_forces[-1, :, 2].sum() for x in (left, right))
    print("the fingers press with {:.1f} N and {:.1f} N, ".format(*press), end="")
    print(f"their friction carries {carried:.1f} N of at most {0.8 * sum(press):.1f} N")
    slip = abs((box - palm)[-1] - (box - palm)[250])
    print(f"the box is lifted by {1e3 * (box[-1] - box[0]):.0f} mm, and slips by {1e3 * slip:.1f} mm")
    if plot:
        run.plot_contacts(["left/box", "right/box", "ground/box"], path=plot)


def check() -> None:
    run, box, palm = grasped()
    assert box[-1] - box[0] > 0.09 and abs((box - palm)[-1] - (box - palm)[250]) < 1e-4
    assert abs(run.contacts.on("box")[-1, 2] - 0.5 * 9.81) < 1e-3


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
