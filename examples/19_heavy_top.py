"""The heavy top: a point constraint in absolute coordinates, its reaction, and energy for a million steps.

You learn to integrate a body that a loop joint holds, with the force in the joint, and what a variational integrator
keeps. The benchmark is that of Bruls, Cardona and Arnold: 15 kg, spun at 150 rad/s. On SE(3) reactions are right from
the first step on; on R^3 x SO(3) the first ones are not.

    python examples/19_heavy_top.py --plot top.png

Output::

    SE(3)        position at 0.1 s off by ... m, first reaction (..., ..., ...) N, pivot off by ... m
    R^3 x SO(3)  position at 0.1 s off by ... m, first reaction (..., ..., ...) N, pivot off by ... m
    energy over 100000 steps: variational within ... J, rk4 drifts by ... J of 5435.7 J
"""

import argparse

import numpy as np

import kinetree as kt
from kinetree.integrate.constrained_alpha import ConstrainedAlpha
from kinetree.joints import Composite, Free, Spherical, Translational
from kinetree.model.equipment import Equipment, LoopJoint

OMEGA, INERTIA = np.array([0.0, 150.0, -4.61538]), np.diag([0.234375, 0.46875, 0.234375])
AT_100_MS = (0.421296658925, 0.894571974346, -0.149164700562)  # center of mass [m]
REACTION = (0.0, -319.525988166, -317.262461538)  # at the start [N]
GROUPS = {"SE(3)": Free(), "R^3 x SO(3)": Composite((Translational(), Spherical()))}


def absolute(group: str):
    """The motion with h = 0.1 ms in six coordinates, a loop joint at the pivot."""
    b = kt.ModelBuilder("heavy top")
    b.add_body("top", joint=GROUPS[group], mass=15.0, com=(0, 0, 0), inertia=INERTIA)
    b.add_frame("pivot", "top", ((0, -1, 0), (0, 0, 0)))
    model = b.build().replace(equipment=Equipment(loops=(LoopJoint("pivot", Spherical(), "world", "pivot"),)))
    linear = np.cross(OMEGA, (0, 1, 0))
    v0 = np.concatenate((OMEGA, linear) if group == "SE(3)" else (linear, OMEGA))
    return ConstrainedAlpha(model, rho_inf=0.9).run([0, 1, 0, 1, 0, 0, 0], v0, duration=0.1, dt=1e-4)


def energy(integrator: str) -> np.ndarray:
    """Energy less that of the start [J], for the top as a tree: a ball joint, 100000 steps of 0.2 ms."""
    b = kt.ModelBuilder("heavy top")
    b.add_body("top", joint=Spherical(), mass=15.0, com=(0, 1, 0), inertia=INERTIA)
    top = b.build()
    q, v = kt.rollout(top, top.neutral(), OMEGA, None, 2e-4, steps=100_000, every=20, integrator=integrator)
    total = kt.kinetic_energy(top, q, v) + kt.potential_energy(top, q)
    return total - total[0]


def main(plot: str | None = None) -> None:
    for group in GROUPS:
        run = absolute(group)
        off, first = np.abs(run.q[-1, :3] - AT_100_MS).max(), ", ".join(f"{x:.3f}" for x in run.multipliers[0] + 0.0)
        print(f"{group:12s} position at 0.1 s off by {off:.1e} m, first reaction ({first}) N, "
              f"pivot off by {run.drift.max():.1e} m")  # fmt: skip
    change = {name: energy(name) for name in ("variational", "rk4")}
    print(f"energy over 100000 steps: variational within {np.abs(change['variational']).max():.4f} J, "
          f"rk4 drifts by {change['rk4'][-1]:.4f} J of 5435.7 J")  # fmt: skip
    if plot:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
        for group in GROUPS:
            run = absolute(group)
            axes[0].plot(run.time, np.linalg.norm(run.multipliers, axis=1), label=group)
        for name, x in change.items():
            axes[1].plot(4e-3 * np.arange(len(x)), x, label=name, linewidth=0.8)
        axes[0].set(xlabel="time [s]", ylabel="reaction at the pivot [N]", title="constraint force, h = 0.1 ms")
        axes[1].set(xlabel="time [s]", ylabel="change of the energy [J]", title="energy, h = 0.2 ms")
        for axis in axes:
            axis.legend(frameon=False)
        figure.savefig(plot, dpi=150)


def check() -> None:
    """The published position and reaction, the constraint to rounding, and energy that does not drift."""
    for group in GROUPS:
        run = absolute(group)
        assert np.abs(run.q[-1, :3] - AT_100_MS).max() < 3e-4 and run.drift.max() < 1e-14
        assert np.abs(run.multipliers[0] - REACTION).max() < 1e-8
    change = energy("variational")
    assert np.abs(change[-1000:]).max() < 1.1 * np.abs(change[:1000]).max() < 0.02


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
