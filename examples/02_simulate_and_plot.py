"""Simulate a double pendulum, look at its energy, and plot the motion.

You learn to simulate with an integrator of your choice, to read the trajectory and to write a figure of it.

    python examples/02_simulate_and_plot.py --plot double_pendulum.png

Output::

    Trajectory of 'double_pendulum': 1001 samples over 10 s, adaptive (dop853, rtol=1e-10, atol=1e-10), ... x real time
    at t = 5.00 s the elbow is at ... rad
    energy drift: ... of the largest kinetic energy
"""

import argparse

import numpy as np

import kinetree as kt


def swing():
    """Ten seconds of a double pendulum, let go with both rods pointing sideways."""
    pendulum = kt.models.double_pendulum(length=1.0, mass=1.0)
    return kt.simulate(pendulum, q0=[np.pi / 2, 0.0], duration=10.0, dt=0.01, integrator="adaptive")


def main(plot: str | None = None) -> None:
    run = swing()
    print(run)
    q, v = run.state(5.0)  # any time, not only the samples
    print(f"at t = 5.00 s the elbow is at {q[1]:.3f} rad")
    print(f"energy drift: {run.energy_drift:.0e} of the largest kinetic energy")
    if plot:
        run.plot(path=plot)


def check() -> None:
    """Nothing drives or brakes the pendulum, so its energy is conserved; at the start it has the closed form 0."""
    run = swing()
    assert run.energy_drift < 1e-8
    assert abs(run.energy[0]) < 1e-12  # both rods level with the pivot, at rest
    # Gravity and inertia alone explain the recorded accelerations: no joint force is left over.
    pendulum = kt.models.double_pendulum()
    assert np.abs(kt.rnea(pendulum, run.q, run.v, run.a)).max() < 1e-9


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
