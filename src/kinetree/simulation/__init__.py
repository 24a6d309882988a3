"""Simulation: the step loop, inputs, recorded trajectories, and rollouts of many states."""

from kinetree.integrators.events import Event
from kinetree.simulation import controllers, signals
from kinetree.simulation.motors import Motor
from kinetree.simulation.rollout import Rollout, rollout
from kinetree.simulation.simulate import simulate
from kinetree.simulation.simulation import Simulation
from kinetree.simulation.snapshot import Snapshot
from kinetree.simulation.trajectory import Trajectory

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
