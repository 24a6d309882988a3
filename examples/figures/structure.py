"""Figures of docs/plots.md: structure of a model, sparsity, workspace, drift of constraints, a run.

Run ``python examples/figures/structure.py docs``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import kinetree as kt


def draw(folder: Path) -> None:
    """All figures."""
    humanoid, arm, mechanism = kt.load("humanoid"), kt.load("arm7"), kt.models.four_bar_chain(3)
    kt.viz.plot_connectivity(humanoid, path=folder / "plot_connectivity.svg")
    kt.viz.plot_connectivity(mechanism, path=folder / "plot_loops.svg")
    kt.viz.plot_sparsity(humanoid, path=folder / "plot_sparsity.svg")
    kt.viz.plot_workspace(arm, "tool", path=folder / "plot_workspace.png")
    run = kt.simulate(kt.models.four_bar(), duration=2.0, dt=5e-3, integrator="rk4", closure="none")
    kt.viz.plot_constraint_drift(run, path=folder / "plot_drift.png")
    run = kt.simulate(arm, duration=2.0, seed=1)
    run.plot(path=folder / "plot_run.png")
    run.plot_phase(joints=["shoulder_yaw", "elbow_pitch"], path=folder / "plot_phase.png")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
