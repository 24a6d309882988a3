"""Simulation: the loop, its inputs, and the recorded trajectory; rollouts of many states at once."""

from kinetree.simulate.rollout import Rollout, rollout
from kinetree.simulate.simulate import simulate
from kinetree.simulate.trajectory import Trajectory

__all__ = ["Rollout", "Trajectory", "rollout", "simulate"]
