"""A T-handle in space: why a spinning wing nut turns over (the Dzhanibekov effect).

You learn to weld parts into one body, to let it float, and to test a simulation by its invariants. Spin about the
axis of the middle moment of inertia is unstable: the handle turns over and over, and its angular momentum stays.

    python examples/07_t_handle.py --plot t_handle.png

Output::

    turns over every ... s; by Euler ... s
    energy changed by ..., angular momentum by ... of itself
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ellipk

import kinetree as kt

SPIN = np.array([0.01, 10.0, 0.0])  # [rad/s] about body axes; y is the middle axis


def t_handle():
    """A bar along x with a stem along y welded to its middle, about their common center of mass."""
    b = kt.ModelBuilder("t_handle", gravity=(0, 0, 0))
    b.add_body("bar", joint=kt.joints.Free(), mass=0.12, com=(0, -0.015, 0), inertia=(2e-6, 1.5e-4, 1.5e-4))
    b.add_body("stem", "bar", placement=((0, 0.03, 0), (0, 0, 0)), mass=0.06, inertia=(3e-5, 1e-6, 3e-5))
    return b.build()


def tumble(model):  # the velocity of a free joint is (angular, linear) in body axes
    return kt.simulate(model, v0=[*SPIN, 0, 0, 0], duration=20.0, dt=0.01, integrator="adaptive")


def time_between_turns(model) -> float:
    """Half the period of Euler's equations for this spin [s] (Landau and Lifshitz, Mechanics, section 37)."""
    I3, I2, I1 = np.sort(np.diagonal(kt.crba(model, model.neutral()))[:3])  # the spin leans to I3
    E2, L2 = I3 * SPIN[0] ** 2 + I2 * SPIN[1] ** 2, (I3 * SPIN[0]) ** 2 + (I2 * SPIN[1]) ** 2  # twice E, L squared
    k2 = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
    return 2.0 * ellipk(k2) * np.sqrt(I1 * I2 * I3 / ((I3 - I2) * (L2 - E2 * I1)))


def turns(run):  # times at which the spin about the middle axis changes its sign [s]
    w, t = run.v[:, 1], run.time
    k = np.flatnonzero(w[:-1] * w[1:] < 0.0)
    return t[k] - w[k] * (t[k + 1] - t[k]) / (w[k + 1] - w[k])


def momentum_drift(run) -> float:
    """Largest relative change of the angular momentum in space."""
    L = kt.centroidal.momentum(run.model, run.q, run.v)[:, :3]
    return np.abs(L - L[0]).max() / np.linalg.norm(L[0])


def main(plot: str | None = None) -> None:
    run = tumble(t_handle())
    print(f"turns over every {np.diff(turns(run)).mean():.4f} s; by Euler {time_between_turns(run.model):.4f} s")
    print(f"energy changed by {run.energy_drift:.0e}, angular momentum by {momentum_drift(run):.0e} of itself")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
        axes.plot(run.time, run.v[:, :3], label=["x (smallest moment)", "y (middle)", "z (largest)"])
        axes.set(xlabel="time [s]", ylabel="spin in body axes [rad/s]")
        axes.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0))
        figure.savefig(plot)


def check() -> None:
    """The closed form, and the conservation of energy and of angular momentum in space."""
    run = tumble(t_handle())
    assert momentum_drift(run) < 1e-6 and run.energy_drift < 1e-7
    assert np.allclose(np.diff(turns(run)), time_between_turns(run.model), rtol=1e-3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
