"""Simulation: the step loop, inputs, recorded trajectories, and rollouts of many states."""

from kinetree.public import namespace

__getattr__, __dir__, __all__ = namespace(__name__)
