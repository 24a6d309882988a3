"""Your own joint: a bead on a cycloid, the pendulum whose period does not depend on the swing.

You learn to write a joint that kinetree does not have. Two methods are enough: where the body is (`transform`) and
how it can move (`motion_subspace`). Everything else follows, and it compiles like the built-in joints.

    python examples/06_your_own_joint.py --plot cycloid.png

Output::

    swing [rad]    cycloid [s]    circle [s]
       0.20         2.0061         2.0111
       3.00         2.0061         5.1581
"""

import argparse
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import kinetree as kt
from kinetree.spatial import IdentityRotation, Motion, Transform, Vector3
from kinetree.spatial.scalar import sincos


@dataclass(frozen=True)
class Cycloid(kt.joints.Joint):
    """A point on the rim of a wheel that rolls under a ceiling: x = r (q + sin q), z = r (1 - cos q)."""

    radius: float
    nq = nv = 1

    def transform(self, q):
        s, c = sincos(q[0])  # kinetree's: q may be a number, an array or a symbol
        return Transform(IdentityRotation(), Vector3(self.radius * (q[0] + s), 0.0, self.radius * (1.0 - c)))

    def motion_subspace(self, q):
        s, c = sincos(q[0])
        return (Motion(Vector3.zero(), Vector3(self.radius * (1.0 + c), 0.0, self.radius * s)),)


def cycloid(radius: float):
    b = kt.ModelBuilder("cycloid")
    b.add_body("bead", joint=Cycloid(radius), mass=0.1)
    return b.build()


def period(model, swing: float) -> float:
    """Four times the time from rest at ``swing`` to the lowest point [s]."""
    run = kt.simulate(model, q0=[swing], duration=3.0, dt=0.01, integrator="adaptive")
    return 4.0 * brentq(lambda t: run.state(t)[0][0], 0.0, run.time[np.argmax(run.q[:, 0] < 0.0)])


def main(plot: str | None = None) -> None:
    ours, circle = cycloid(0.25), kt.models.pendulum(length=1.0)  # small swings take the same time on both
    print("swing [rad]    cycloid [s]    circle [s]")
    for swing in (0.2, 3.0):
        print(f"{swing:7.2f} {period(ours, swing):14.4f} {period(circle, swing):14.4f}")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
        swings = np.linspace(0.1, 3.0, 16)
        for model in (ours, circle):
            axes.plot(swings, [period(model, swing) for swing in swings], label=model.name)
        axes.set(xlabel="swing [rad]", ylabel="period [s]", title="A bead on a cycloid keeps time", ylim=(0, None))
        axes.legend()
        figure.savefig(plot)


def check() -> None:
    """Huygens, 1673: the period on a cycloid is 4 pi sqrt(r / g) for every swing."""
    for swing in (0.1, 1.5, 3.0):
        assert abs(period(cycloid(0.25), swing) - 4.0 * np.pi * np.sqrt(0.25 / 9.81)) < 1e-6


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
