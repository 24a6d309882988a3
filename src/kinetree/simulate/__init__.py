"""Simulation: the loop, its inputs, and the recorded trajectory; rollouts of many states at once."""

from kinetree.integrate.events import Event
from kinetree.simulate import controllers, signals
from kinetree.simulate.motors import Motor
from kinetree.simulate.rollout import Rollout, rollout
from kinetree.simulate.simulate import simulate
from kinetree.simulate.simulation import Simulation
from kinetree.simulate.snapshot import Snapshot
from kinetree.simulate.trajectory import Trajectory

__all__ = [
    "Event",
    "Motor",
    "Rollout",
    "Simulation",
    "Snapshot",
    "Trajectory",
    "controllers",
    "rollout",
    "signals",
    "simulate",
]
