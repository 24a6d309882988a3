"""Plots, tables and text: joints, models, trajectories, lint."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
