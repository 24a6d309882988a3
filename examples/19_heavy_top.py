"""The heavy top: a point constraint in absolute coordinates, its reaction, and energy for a million steps.

You learn to simulate a body that a loop joint holds, with the force in the joint, and what a variational integrator
keeps. The benchmark is that of Bruls, Cardona, Arnold: on R^3 x SO(3), unlike SE(3), the first reactions are wrong.

    python examples/19_heavy_top.py --plot top.png

Output::

    SE(3)        position off by ... m, reaction (..., ..., ...) N, pivot off by ... m
    R^3 x SO(3)  position off by ... m, reaction (..., ..., ...) N, pivot off by ... m
    energy over 100000 steps: variational within ... J, rk4 off by ... J at the end
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.constraints import LoopJoint
from kinetree.joints import Composite, Free, Spherical, Translational

OMEGA, INERTIA = np.array([0.0, 150.0, -4.61538]), np.diag([0.234375, 0.46875, 0.234375])
AT_100_MS = (0.421296658925, 0.894571974346, -0.149164700562)  # center of mass [m]
REACTION = (0.0, -319.525988166, -317.262461538)  # at the start [N]
METHOD = kt.integrators.GeneralizedAlpha(rho=0.9)
GROUPS = {"SE(3)": Free(), "R^3 x SO(3)": Composite((Translational(), Spherical()))}


def absolute(group: str):
    """By h = 0.1 ms in six coordinates, a loop joint at the pivot: times, error, reactions (T, 3) [N], drift [m]."""
    b = kt.ModelBuilder("heavy top")
    b.add_body("top", joint=GROUPS[group], mass=15.0, com=(0, 0, 0), inertia=INERTIA)
    b.add_frame("pivot", "top", ((0, -1, 0), (0, 0, 0)))
    model = b.build().with_constraints(LoopJoint("pivot", Spherical(), "world", "pivot"))
    v0 = np.roll((*OMEGA, *np.cross(OMEGA, (0, 1, 0))), 0 if group == "SE(3)" else 3)  # linear first on R^3 x SO(3)
    run = kt.simulate(model, [0, 1, 0, 1, 0, 0, 0], v0, duration=0.1, dt=1e-4, integrator=METHOD)
    reaction = np.stack([run.energy_balance.others[f"force.pivot.{n}"] for n in range(3)], axis=-1)
    return run.time, abs(run.q[-1, :3] - AT_100_MS).max(), reaction, abs(kt.pose(model, run.q, frame="pivot")[1]).max()


def energy(integrator: str) -> np.ndarray:
    """Energy less that of the start [J], for the top as a tree: a ball joint, 100000 steps of 0.2 ms."""
    b = kt.ModelBuilder("heavy top")
    b.add_body("top", joint=Spherical(), mass=15.0, com=(0, 1, 0), inertia=INERTIA)
    roll = kt.simulation.Rollout(top := b.build(), integrator)
    q, v = roll(top.neutral(), OMEGA, None, 2e-4, steps=10**5, record=kt.Record(every=20))
    return (total := kt.kinetic_energy(top, q, v) + kt.potential_energy(top, q)) - total[0]


def main(plot: str | None = None) -> None:
    for group, (_, off, reaction, drift) in (runs := {group: absolute(group) for group in GROUPS}).items():
        f = "({:.3f}, {:.3f}, {:.3f}) N".format(*reaction[0] + 0.0)
        print(f"{group:12s} position off by {off:.1e} m, reaction {f}, pivot off by {drift:.1e} m")
    kept, lost = np.abs(energy("variational")).max(), energy("rk4")[-1]
    print(f"energy over 100000 steps: variational within {kept:.4f} J, rk4 off by {lost:.4f} J at the end")
    if plot:
        plt.style.use(kt.viz.STYLE)
        figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
        for group, (time, _, reaction, _) in runs.items():
            axis.plot(time, np.linalg.norm(reaction, axis=1), label=group)
        axis.set(xlabel="time [s]", ylabel="reaction at the pivot [N]", title="constraint force, h = 0.1 ms")
        axis.legend()
        figure.savefig(plot)


def check() -> None:
    """The published position and reaction, the constraint to rounding, and energy that does not drift."""
    for group in GROUPS:
        _, off, reaction, drift = absolute(group)
        assert max(off / 3e-4, drift / 1e-14, np.abs(reaction[0] - REACTION).max() / 1e-8) < 1.0
    change = np.abs(energy("variational"))
    assert change[-1000:].max() < 1.1 * change[:1000].max() < 0.02


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
