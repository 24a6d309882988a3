"""Plots, tables and text: joints, models, trajectories, lint."""

from __future__ import annotations

_PLACES = {
    "JointKind": "joint_table",
    "joint_gallery": "joints",
    "joint_kinds": "joint_table",
    "plot_comparison": "run_plots",
    "plot_joint": "joints",
    "plot_ledger": "run_plots",
    "plot_path": "run_plots",
    "plot_phase": "run_plots",
    "plot_power": "run_plots",
    "plot_trajectory": "plots",
}
__all__ = sorted(_PLACES)


def __getattr__(name: str):
    if name in _PLACES:
        import importlib

        return getattr(importlib.import_module(f"kinetree.viz.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'kinetree.viz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
