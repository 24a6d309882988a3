"""Let a robot arm follow a trajectory: computed torque against gravity compensation.

You learn to write a controller for `simulate`. Both controllers have the same gains. The first holds the weight of
the arm (`gravity_forces`), the second has the whole model as its feedforward (`inverse_dynamics`): then the error
obeys e'' + 2 w e' + w^2 e = 0 whatever the arm does, but for dry friction that changes its sign between two samples.

    python examples/03_computed_torque.py --plot computed_torque.png

Output::

    gravity compensation largest error after 1 s: ... mrad
    computed torque      largest error after 1 s: ... mrad
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

ARM, BANDWIDTH = kt.load("arm7"), 15.0  # [rad/s]
AMPLITUDE = np.array([0.6, 0.5, 0.5, 0.6, 0.5, 0.4, 0.8, 0.01, 0.01])  # [rad], the fingers [m]; both fingers move alike
MIDDLE = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0, 0.03, 0.03])
RATE = np.array([2.0, 1.5, 2.5, 2.0, 3.0, 2.5, 3.0, 2.0, 2.0])  # [rad/s]
OFFSET = 0.1 * (AMPLITUDE > 0.1)  # the fingers start where they shall be


def wanted(t):
    """Position, velocity and acceleration of the reference."""
    swing, speed = AMPLITUDE * np.sin(RATE * t), AMPLITUDE * RATE * np.cos(RATE * t)
    return MIDDLE + swing, speed, -(RATE**2) * swing


def feedback(t, q, v):
    """Acceleration that brings the error back, critically damped."""
    q_d, v_d, _ = wanted(t)
    return BANDWIDTH**2 * kt.difference(ARM, q, q_d) + 2.0 * BANDWIDTH * (v_d - v)


def gravity_compensation(t, q, v):
    return np.diagonal(kt.crba(ARM, q)) * feedback(t, q, v) + kt.gravity_forces(ARM, q)


def computed_torque(t, q, v):
    return kt.inverse_dynamics(ARM, q, v, wanted(t)[2] + feedback(t, q, v))


def follow(controller, **how):  # four seconds; times and errors of the seven joints
    q0, v0 = MIDDLE - OFFSET, AMPLITUDE * RATE
    run = kt.simulate(ARM, q0, v0, duration=4.0, controller=controller, record=kt.Record(period=0.01), **how)
    return run.time, run.q[:, :7] - np.array([wanted(t)[0][:7] for t in run.time])


def main(plot: str | None = None) -> None:
    largest = {}
    for name, controller in (("gravity compensation", gravity_compensation), ("computed torque", computed_torque)):
        t, error = follow(controller, dt=1e-3)  # a digital controller with a zero-order hold of 1 ms
        largest[name] = 1e3 * np.abs(error).max(axis=1)
        print(f"{name:20s} largest error after 1 s: {largest[name][t > 1.0].max():.1f} mrad")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
        lines = axes.semilogy(t, np.transpose(list(largest.values())))
        axes.set(xlabel="time [s]", ylabel="largest joint error [mrad]")
        axes.legend(lines, largest, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
        figure.savefig(plot)


def check() -> None:
    """An ideal computed torque makes the error e0 (1 + w t) exp(-w t); what is left otherwise is the sampling."""
    t, error = follow(computed_torque, dt=0.01, integrator=kt.integrators.Adaptive(rtol=1e-7, atol=1e-9))
    wt = BANDWIDTH * t[:, None]
    assert np.allclose(error, -0.1 * (1.0 + wt) * np.exp(-wt), rtol=0.0, atol=1e-6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
