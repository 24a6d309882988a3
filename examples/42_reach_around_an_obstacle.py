"""Move a hand to a place behind a ball by simulating hundreds of futures of the arm in every control step.

You learn predictive control by sampling (MPPI, CEM): a cost of an instant, compiled by `MotionCost`, noise that fits
each joint, and to read the reports of control steps. Nobody plans a path; the controller looks 0.4 s ahead.

    python examples/42_reach_around_an_obstacle.py --plot around.png --samples 4096 --method CEM

Output::

    512 samples of 20 steps: ... ms for a control step, of 20 ms
    the hand ends ... mm from its goal, ... degrees from vertical
    the arm keeps ... mm from the ball; without its cost it goes ... mm into it
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import maximum, sqrt

ARM, DT = kt.surgery.lock(kt.load("arm7"), ["left_finger_slide", "right_finger_slide"]), 0.02
START, GOAL, BALL, RADIUS, MARGIN = (0.4, 0.4, 0.6), (0.4, -0.4, 0.4), (0.5, 0.0, 0.5), 0.15, 0.07
POINTS = [("flange_link", (0.0, 0.0, 0.1))] + [(f"{body}_link", (0, 0, 0)) for body in ("flange", "wrist_roll")]


def distance(a, b):
    return sqrt((d := a - Vector3(*b)).dot(d) + 1e-4)


def reach(s):
    hand, wrist = s.point(*POINTS[0]), s.point("flange_link")
    return 40.0 * distance(hand, GOAL) + 8.0 * (1.0 + (hand[2] - wrist[2]) / 0.1) + 0.1 * sum(x * x for x in s.v)


def reach_around(s):
    return reach(s) + 100.0 * sum(maximum(RADIUS + MARGIN - distance(s.point(*at), BALL), 0.0) for at in POINTS)


def moved(cost, samples: int, method: str = "MPPI"):
    q0 = kt.inverse_kinematics(ARM, {"flange_link": (np.diag([1, -1, -1]), START)}, [0.7, 0.5, 0, 1.2, 0, 1.2, 0]).q
    noise = (6.0 * np.diagonal(kt.crba(ARM, q0))) ** 2  # [(N m)^2]: accelerates each joint by 6 rad/s^2
    options = {"temperature": 0.3} if method == "MPPI" else {"iterations": 3}
    options |= {"covariance": noise, "samples": samples, "plan": kt.gravity_forces(ARM, q0), "horizon": 20, "knots": 5}
    control = getattr(kt.control, method)(ARM, kt.control.MotionCost(ARM, cost), dt=DT, **options)
    run = kt.simulate(ARM, q0, duration=2.0, dt=0.01, controller=kt.control.Sampled(control, DT))
    points = np.array([p + R @ at for (R, p), at in ((kt.pose(ARM, run.q, frame=f), at) for f, at in POINTS)])
    return points, points[0, -1] - GOAL, np.linalg.norm(points - BALL, axis=-1).min() - RADIUS, control


def main(plot: str | None = None, samples: int = 512, method: str = "MPPI") -> None:
    (points, off, gap, control), blind = (moved(cost, samples, method) for cost in (reach_around, reach))
    ms = [1e3 * report.seconds for report in control.reports[1:]]  # the first one compiles
    print(f"{samples} samples of 20 steps: {np.median(ms):.1f} ms for a control step, of {1e3 * DT:.0f} ms")
    mm, tilt = 1e3 * np.linalg.norm(off), np.degrees(np.arccos((points[1, -1] - points[0, -1])[2] / 0.1))
    print(f"the hand ends {mm:.0f} mm from its goal, {tilt:.0f} degrees from vertical")
    print(f"the arm keeps {1e3 * gap:.0f} mm from the ball; without its cost it goes {-1e3 * blind[2]:.0f} mm into it")
    if plot:
        plt.style.use(kt.viz.STYLE)
        fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
        left.add_patch(plt.Circle(BALL[:2], RADIUS, alpha=0.4))
        left.plot(*np.stack([*points[:2], blind[0][0]]).T[:2])
        fig.legend(("ball", "hand", "wrist", "hand without the ball"), loc="outside upper left", ncols=4)
        left.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        right.hist(ms, bins=40)
        right.set(xlabel="time per control step [ms]", ylabel="control steps", xlim=(0, None))
        fig.savefig(plot)


def check() -> None:
    assert np.linalg.norm((found := moved(reach_around, 256))[1]) < 0.03 and found[2] > 0.02


if __name__ == "__main__":
    (parser := argparse.ArgumentParser()).add_argument("--plot", metavar="FILE", help="write the figure here")
    parser.add_argument("--samples", type=int, default=512)
    parser.add_argument("--method", choices=("MPPI", "CEM"), default="MPPI")
    main(**vars(parser.parse_args()))
