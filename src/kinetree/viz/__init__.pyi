# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.viz.joint_table import JointKind as JointKind
from kinetree.viz.style import STYLE as STYLE
from kinetree.viewer.stick import animate as animate
from kinetree.viz.joints import joint_gallery as joint_gallery
from kinetree.viz.joint_table import joint_kinds as joint_kinds
from kinetree.viz.run_plots import plot_comparison as plot_comparison
from kinetree.viz.structure import plot_connectivity as plot_connectivity
from kinetree.viz.closure import plot_constraint_drift as plot_constraint_drift
from kinetree.viz.contacts import plot_contacts as plot_contacts
from kinetree.viz.deformables import plot_deformables as plot_deformables
from kinetree.viz.run_plots import plot_energy_balance as plot_energy_balance
from kinetree.viz.joints import plot_joint as plot_joint
from kinetree.viz.mechanism import plot_mechanism as plot_mechanism
from kinetree.viz.run_plots import plot_path as plot_path
from kinetree.viz.run_plots import plot_phase as plot_phase
from kinetree.viz.run_plots import plot_power as plot_power
from kinetree.viz.structure import plot_sparsity as plot_sparsity
from kinetree.viz.plots import plot_trajectory as plot_trajectory
from kinetree.viz.workspace import plot_workspace as plot_workspace
from kinetree.viewer.saving import save_view as save_view

__all__ = [
    "JointKind",
    "STYLE",
    "animate",
    "joint_gallery",
    "joint_kinds",
    "plot_comparison",
    "plot_connectivity",
    "plot_constraint_drift",
    "plot_contacts",
    "plot_deformables",
    "plot_energy_balance",
    "plot_joint",
    "plot_mechanism",
    "plot_path",
    "plot_phase",
    "plot_power",
    "plot_sparsity",
    "plot_trajectory",
    "plot_workspace",
    "save_view",
]
