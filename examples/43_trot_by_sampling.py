"""Let a quadruped trot on the ground by simulating hundreds of futures with contact in every control step.

You learn predictive control through contact: forces of twelve joints beside springs that hold a posture, a cost of the
trunk's speed and of feet that are lifted in turn, by a reference over time. Steps and contact forces are not planned.

    python examples/43_trot_by_sampling.py --plot trot.png --samples 4096

Output::

    384 samples of 20 steps of 20 ms: ... ms to compute one
    it trots at 0.4... m/s, asked for 0.5 m/s, and leans by at most ... degrees
    the feet lift by ... to ... mm, asked for 60 mm
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

TASK = kt.environments.TASKS["Quadruped"]()  # with springs of 60 N m/rad in the joints, and contact of the feet
ROBOT, STAND, FEET = TASK.model, TASK.stand, [f"{leg}_foot" for leg in ("FL", "FR", "RL", "RR")]
SPEED, PERIOD, LIFT, RADIUS, DT = 0.5, 0.5, 0.06, 0.02, 0.02  # m/s, s, m, m, s


def heights(time):  # of the feet (T, 4): one diagonal pair in the air, then the other
    swing = LIFT * np.sin(2.0 * np.pi * time / PERIOD)
    return RADIUS + np.maximum(np.stack([swing, -swing, -swing, swing], axis=1), 0.0)


def trot(s):
    p, V, w = s.point("trunk"), s.velocity("trunk"), s.angular_velocity("trunk")
    up, ahead = s.point("trunk", (0, 0, 1)) - p, s.point("trunk", (1, 0, 0)) - p
    moving = 30.0 * (V[0] - SPEED) ** 2 + 5.0 * (V[1] ** 2 + 0.2 * V[2] ** 2 + p[1] ** 2) + 0.5 * w.dot(w)
    upright = 300.0 * (p[2] - STAND[2]) ** 2 + 20.0 * (2.0 - 2.0 * up[2] + ahead[1] ** 2)
    feet = 1500.0 * sum((s.point(foot)[2] - s.reference[k]) ** 2 for k, foot in enumerate(FEET))
    return moving + upright + feet + sum((x - x0) ** 2 for x, x0 in zip(s.q[7:], STAND[7:], strict=True))


def walked(samples: int):
    options = {"covariance": 10.0**2, "temperature": 0.2, "actuated": ROBOT.joint_names[1:], "dtype": np.float32}
    cost = kt.control.MotionCost(ROBOT, trot, reference=heights)
    mppi = kt.control.MPPI(ROBOT, cost, dt=DT, horizon=20, samples=samples, knots=5, substeps=2, **options)
    return kt.simulate(ROBOT, STAND, duration=1.5, dt=0.005, controller=kt.control.Sampled(mppi, DT)), mppi


def main(plot: str | None = None, samples: int = 384) -> None:
    run, mppi = walked(samples)
    ms = 1e3 * np.median([report.seconds for report in mppi.reports])
    feet = 1e3 * np.array([kt.pose(ROBOT, run.q, frame=foot).p_WF[:, 2] - RADIUS for foot in FEET])
    speed, (low, *_, high) = np.ptp(run.q[100:, 0]) / np.ptp(run.time[100:]), np.sort(feet.max(axis=1))
    lean = np.degrees(np.arccos(kt.pose(ROBOT, run.q, frame="trunk").R_WF[:, 2, 2].min()))
    print(f"{samples} samples of 20 steps of 20 ms: {ms:.1f} ms to compute one")
    print(f"it trots at {speed:.2f} m/s, asked for 0.5 m/s, and leans by at most {lean:.1f} degrees")
    print(f"the feet lift by {low:.0f} to {high:.0f} mm, asked for 60 mm")
    if plot:
        plt.style.use(kt.viz.STYLE)
        fig, axes = plt.subplots(3, 1, figsize=(8, 8), layout="constrained")
        curves = {"speed [m/s]": run.v[:, 3], "feet [mm]": feet.T, "ground [N]": run.contacts.normal_forces}
        for ax, (label, y) in zip(axes, curves.items(), strict=True):
            ax.plot(run.time, y)
            ax.set(xlabel="time [s]", ylabel=label)
        axes[1].legend(FEET, ncols=4)
        fig.savefig(plot)


def check() -> None:
    """The vertical impulse of the ground, without that of the weight, is the change of momentum; the robot walks."""
    run, mass = walked(256)[0], ROBOT.total_mass
    v = kt.centroidal.center_of_mass_velocity(ROBOT, run.q[[0, -1]], run.v[[0, -1]])[:, 2]
    gained = 0.005 * run.contacts.normal_forces[:-1].sum() - 9.81 * mass * run.time[-1]
    assert abs(gained - mass * (v[1] - v[0])) < 1e-3 * 9.81 * mass * run.time[-1] and run.q[-1, 0] > 0.4


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    parser.add_argument("--samples", type=int, default=384)
    main(**vars(parser.parse_args()))
