"""One valid call of the public callables of piles."""

from __future__ import annotations

import pathlib

import numpy as np

import kinetree as kt
from kinetree.model import Geometry


def table(folder: pathlib.Path) -> dict:
    """As `tests.arguments.calls.table`."""
    from tests.arguments.calls_methods import on_new

    ball = Geometry("sphere", (0.1,))
    given = dict(
        shapes=ball, positions=[[0.0, 0.0, 0.1]], orientations=[[1.0, 0.0, 0.0, 0.0]], velocities=[[0.0, 0.0, 0.0]],
        angular_velocities=[[0.0, 0.0, 0.0]], density=1.0, mass=None, fixed=[False], friction=0.5, restitution=0.0,
        ground=True, gravity=(0.0, 0.0, -9.81), softness=1e-4, tolerance=1e-6, sweeps=10,
    )  # fmt: skip
    arrays = dict(bodies=np.zeros((0, 2), int), gaps=[], positions=[], normals=[], impulses=[])
    times = dict(times=[0.0], positions=[], orientations=[], velocities=[], angular_velocities=[])

    def pile():
        return kt.contact.Pile(ball, [[0.0, 0.0, 0.1]])

    return {
        "contact.Pile": (kt.contact.Pile, given),
        "contact.Pile.step": (on_new(pile, "step"), dict(dt=1e-3)),
        "contact.Pile.advance": (on_new(pile, "advance"), dict(duration=2e-3, dt=1e-3, every=1)),
        "contact.PileContacts": (kt.contact.PileContacts, arrays),
        "contact.PileRun": (kt.contact.PileRun, times | dict(kinetic_energy=[0.0], potential_energy=[0.0])),
    }
