"""Simulation: the loop, its inputs, and the recorded trajectory."""

from kinetree.simulate.simulate import simulate
from kinetree.simulate.trajectory import Trajectory

__all__ = ["Trajectory", "simulate"]
