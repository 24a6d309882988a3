"""Weigh an arm by moving it: all inertial parameters from noisy joint forces.

You learn which combinations of inertial parameters matter, how to find a motion that shows them well, and how to fit
bodies that can exist. Plain least squares explains the same data with bodies that cannot.

    python examples/17_identification.py --plot identified.png

Output::

    condition number of the motion: ..., of one at random: ...
    43 combinations of 70 parameters matter; found within ... %
    joint forces of another motion are off by ... % with the drawings, ... % with the fit
    plain least squares: ... %, ... bodies of 7 cannot exist
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

ARM = kt.surgery.lock(kt.load("arm7"), ["left_finger_slide"])
ROBOT, PI = ARM.without_limits(), kt.identify.inertial_parameters(ARM)  # the real robot, whose inertias are unknown


def drawings():
    """What is believed beforehand: masses, shapes and centers of mass off by about 20 %."""
    theta = kt.identify.log_cholesky(PI.reshape(-1, 10))
    theta += np.random.default_rng(3).standard_normal(theta.shape) * np.r_[[0.2] * 4, [0.02] * 6]
    return kt.identify.with_inertial_parameters(ROBOT, kt.identify.from_log_cholesky(theta).ravel())


def least_squares(prior, q, v, a, tau):  # bodies that can exist or not
    Y, error = kt.regressors.joint_torque(prior, q, v, a), tau - kt.inverse_dynamics(prior, q, v, a)
    fitted = kt.identify.inertial_parameters(prior) + np.linalg.lstsq(Y.reshape(-1, len(PI)), error.ravel(), 1e-9)[0]
    return kt.identify.with_inertial_parameters(prior, fitted, accept_impossible=True)


def experiment():
    """Move, measure with noise of 1 % of the largest force, fit; and the joint forces of another motion."""
    motion, prior = kt.identify.exciting_trajectory(ARM, tries=120), drawings()
    tau = kt.inverse_dynamics(ROBOT, *(states := motion(motion.times(500))))
    tau += 0.01 * np.abs(tau).max(axis=0) * np.random.default_rng(4).standard_normal(tau.shape)
    found, plain = kt.identify.fit(prior, *states, tau), least_squares(prior, *states, tau)
    other = kt.identify.exciting_trajectory(ARM, tries=1, seed=1)
    forces = [kt.inverse_dynamics(m, *other(other.times(200))) for m in (ROBOT, prior, found.model, plain)]
    off = [100 * np.mean(np.std(x - forces[0], axis=0) / np.std(forces[0], axis=0)) for x in forces[1:]]
    error = 100 * np.linalg.norm(found.base.values(found.parameters - PI)) / np.linalg.norm(found.base.values(PI))
    return motion, other, found, plain, forces, off, error


def main(plot: str | None = None) -> None:
    motion, other, found, plain, forces, off, error = experiment()
    print(f"condition number of the motion: {motion.condition:.1f}, of one at random: {other.condition:.1f}")
    print(f"{found.base.rank} combinations of {len(PI)} parameters matter; found within {error:.2f} %")
    print(f"joint forces of another motion are off by {off[0]:.0f} % with the drawings, {off[1]:.2f} % with the fit")
    print(f"plain least squares: {off[2]:.2f} %, {len(kt.identify.impossible_bodies(plain))} bodies of 7 cannot exist")
    if plot:
        plt.style.use(kt.viz.STYLE)
        fig, axes = plt.subplots(4, 2, figsize=(11, 9), layout="constrained")
        for k, ax in enumerate(axes.flat[:7]):
            for x, width in zip(forces[:3], (6, 2, 1), strict=True):
                ax.plot(other.times(200), x[:, k], linewidth=width)
            ax.set(title=ARM.velocity_labels[k], ylabel="N m", xlabel="time [s]")
        axes.flat[7].set_axis_off()
        axes.flat[7].legend(axes[0, 0].lines, ("robot", "drawings", "identified"), loc="center")
        fig.savefig(plot)


def check() -> None:
    """Base parameters within 1 %, bodies that can exist, forces within 1 %: a tenth of what the drawings give."""
    *_, found, plain, _, off, error = experiment()
    assert found.consistent and kt.identify.impossible_bodies(plain) and error < 1.0 and off[1] < 1.0 < 0.1 * off[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", help="write the figure here")
    main(parser.parse_args().plot)
