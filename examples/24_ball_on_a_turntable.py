"""A ball on a turntable: on a level one it runs in circles, on a tilted one it does not roll down but drifts sideways.

You learn to state rolling without slip, on a body whose motion is given as a function of time.

    python examples/24_ball_on_a_turntable.py --plot turntable.png

Output::

    level: circles at 0.857143 rad/s, 2/7 of the table's rate
    tilted by 3 deg: drift of 0.4278 m/s across the slope, (5/2) g sin(tilt) / rate = 0.4278 m/s
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

RATE, RADIUS, MASS, SPEED = 3.0, 0.05, 0.5, 0.2  # of the table [rad/s], of the ball [m, kg, m/s]
PERIOD = 2.0 * np.pi / (2.0 / 7.0 * RATE)  # of its circles [s]
TILT = np.radians(3.0)


def turntable(tilt: float) -> kt.Model:
    """The table and the ball; the slope is down along x, in the table's plane."""
    b = kt.ModelBuilder("turntable")
    b.add_body("table", joint=kt.joints.Revolute(), joint_name="table", mass=1.0, inertia=np.eye(3))
    b.add_body("ball", joint=kt.joints.FreeSplit(), mass=MASS, inertia=np.eye(3) * 0.4 * MASS * RADIUS**2)
    model = b.build().replace(gravity=(9.81 * np.sin(tilt), 0.0, -9.81 * np.cos(tilt)))
    turns = kt.constraints.PrescribedMotion("table", kt.joints.Polynomial((0.0, RATE)))
    return model.with_constraints(turns, kt.constraints.RollingBall("ball", RADIUS, plane="table"))


def run(tilt: float):
    """One period, from the point (0.1, 0) m with SPEED along x; the ball's surface moves with the table's."""
    spin = [RATE * 0.1 / RADIUS, SPEED / RADIUS, 0.0]
    q, v = [0.0, 0.1, 0.0, RADIUS, 1.0, 0.0, 0.0, 0.0], [RATE, *spin, SPEED, 0.0, 0.0]
    return kt.simulate(turntable(tilt), q, v, duration=PERIOD, dt=2e-3)


def circling(trajectory) -> float:
    """The mean rate at which the ball's velocity turns [rad/s]."""
    return float(np.ptp(np.unwrap(np.arctan2(trajectory.v[:, 5], trajectory.v[:, 4]))) / PERIOD)


def drift(trajectory) -> np.ndarray:
    """The mean velocity (2,) [m/s]."""
    return (trajectory.q[-1, 1:3] - trajectory.q[0, 1:3]) / PERIOD


def main(plot: str | None = None) -> None:
    level, tilted = run(0.0), run(TILT)
    print(f"level: circles at {circling(level):.6f} rad/s, 2/7 of the table's rate")
    print(f"tilted by 3 deg: drift of {drift(tilted)[1]:.4f} m/s across the slope, "
          f"(5/2) g sin(tilt) / rate = {2.5 * 9.81 * np.sin(TILT) / RATE:.4f} m/s")  # fmt: skip
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axis = plt.subplots(figsize=(4, 5), layout="constrained")
        for trajectory, label in ((level, "level"), (tilted, "tilted by 3 deg")):
            axis.plot(*trajectory.q[:, 1:3].T, label=label)
        axis.set(xlabel="x, down the slope [m]", ylabel="y [m]", title="a ball on a turntable", aspect="equal")
        axis.legend()
        figure.savefig(plot)


def check() -> None:
    """The circles close after 7/2 turns of the table, and the drift is across the slope."""
    level, tilted = run(0.0), run(TILT)
    assert np.abs(drift(level)).max() < 1e-5 and abs(circling(level) - 2.0 / 7.0 * RATE) < 1e-5
    assert np.allclose(drift(tilted), [0.0, 2.5 * 9.81 * np.sin(TILT) / RATE], atol=1e-4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
