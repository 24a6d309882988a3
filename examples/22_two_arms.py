"""Two arms lift and swing a jointed object, while the force in its ball joint follows a profile.

You learn to control the motion of an object of two bodies, held by two robots, and the force in its joint independently
(Unseren 1991). The robots are those of `pip install example-robot-data`: python examples/22_two_arms.py --plot arms.svg

Output::

    ur5, ur5: largest errors ... mm and ... N
    ...ur5, panda: largest errors ... mm and ... N
"""

import argparse
from importlib.metadata import distribution

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

ROBOTS = {  # file, hand, start
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0", (0.2, -1.4, 1.6, -0.9, 0.7, 0.3)),
    "panda": ("panda_description/urdf/panda.urdf", "panda_hand", (0.2, 0.3, -0.2, -1.8, 0.2, 1.9, 0.4)),
}


def pair(*names):  # two robots face to face with 2 kg in each hand, where the ball joint is closed
    files, hands, starts = zip(*map(ROBOTS.get, names), strict=True)
    folder = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    robots = [kt.load(folder / file).without_limits() for file in files]
    robots = [kt.surgery.lock(robot, [j for j in robot.joint_names if "finger" in j]) for robot in robots]
    held = [kt.control.Held(hand, 2.0, (0.0, 0.01, 0.1), (0.0, 0.0, 0.25), (0.02, 0.02, 0.005)) for hand in hands]
    model = kt.control.TwoArms.hold(*robots, *held, placement=((0.9, 0.0, 0.0), (0.0, 0.0, np.pi)))
    return model, kt.assemble(model, np.concatenate(starts))


def run(model, q, scale=1.0):  # the run, and errors of position [m], pseudovelocities [rad/s, m/s] and force [N]
    arms = kt.control.TwoArms(model, q=q)
    known = kt.control.TwoArms(model.replace(I=[I * scale for I in model.I]), joints=arms.joints, q=q)
    start, path = kt.control.load_position(arms, q), np.array((0.0, 0.4, 0.0, 0.0, 0.0, 0.1, *np.zeros(arms.dof - 6)))
    profile = lambda t: np.array([10.0 * np.sin(np.pi * t), 5.0, 8.0])  # noqa: E731  # force on the second body [N]

    def motion(t):
        x, rate, acceleration = t**3 * (10 - 15 * t + 6 * t**2), 30 * (t - t**2) ** 2, 60 * (t - t**2) * (1 - 2 * t)
        turn = np.array(kt.spatial.rotations.ry(path[1] * x).T.matrix.rows)
        return start._replace(R_2=turn @ start.R_2, p=start.p + x * path[3:6]), path * rate, path * acceleration

    controller = kt.control.DecoupledControl(known, kt.control.LoadTracking(known, motion), profile)
    done = kt.simulate(model, q, duration=1.0, dt=0.002, controller=controller, record=kt.Record(every=10))
    errors = [motion(t)[0].p - kt.control.load_position(arms, q).p for t, q in zip(done.time, done.q, strict=True)]
    slips = [motion(t)[1] - arms.pseudovelocity(q, v) for t, q, v in zip(done.time, done.q, done.v, strict=True)]
    R, forces = kt.pose(model, done.q, frame="object_2.ball").R_WF, done.energy_balance.others
    forces = np.einsum("tij,jt->ti", R, [forces[f"force.ball.{n}"] for n in range(3)]) - [profile(t) for t in done.time]
    return done, *(np.linalg.norm(x, axis=1) for x in (errors, slips, forces))


def main(plot: str | None = None) -> None:
    plt.style.use(kt.viz.STYLE)
    figure = plt.figure(figsize=(8.0, 4.8), layout="constrained")
    for n, what in enumerate(("position [mm]", "velocity [mm/s, mrad/s]", "force [N]")):
        plt.subplot2grid((3, 2), (n, 0)).set(xlabel="t [s]", ylabel=f"error of\n{what}")
    for name, scale in {"ur5, ur5": 1.0, "ur5, ur5, masses 5 % too large": 1.05, "ur5, panda": 1.0}.items():
        done, *errors = run(*pair(*name.split(", ")[:2]), scale)
        print(f"{name}: largest errors {1e3 * errors[0].max():.4f} mm and {errors[2].max():.2g} N")
        for axes, error, unit in zip(figure.axes[:3], errors, (1e3, 1e3, 1.0), strict=True):
            axes.plot(done.time, unit * error, label=name)
    kt.viz.plot_mechanism(done.model, done.q[::25], axes=plt.subplot2grid((3, 2), (0, 1), 3, projection="3d"))
    figure.axes[0].legend()
    plt.savefig(plot) if plot else plt.close()


def check() -> None:
    """Both errors vanish with the length of steps; with wrong masses they do not."""
    (_, error, _, force), (_, wrong, _, disturbed) = (run(*pair("ur5", "ur5"), scale) for scale in (1.0, 1.05))
    assert error.max() < 1e-4 and force.max() < 1e-6 and wrong.max() > 1e-3 and disturbed.max() > 0.01


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
