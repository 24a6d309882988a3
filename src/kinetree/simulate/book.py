"""What a run notes beside its samples, from which the ledger is made when someone asks for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Book:
    """The side data of a run.

    Attributes
    ----------
    method : object
        Name or class of the fixed-step integrator; None for adaptive runs.
    every : int
        Steps from one sample to the next.
    controlled : bool
        Whether there was a controller, as against given joint forces.
    held : bool
        Whether joint forces were constant from one sample to the next.
    wrenches : (T, nb, 6) array or None
        External wrenches at the samples.
    disturbance : (T, nv) array or None
        The part of tau that nobody asked for.
    jumps : tuple of Jump
        Changes of state in an instant.
    counts : dict
        Steps, rejected steps, evaluations of the dynamics: as far as they are known.
    elements : tuple
        The elements of the run, which have channels of their own.
    failed : str
        Why the run ended early; empty if it did not.
    kept : dict
        What was computed from these data, once.
    """

    method: object = None
    every: int = 1
    controlled: bool = False
    held: bool = False
    wrenches: np.ndarray | None = None
    disturbance: np.ndarray | None = None
    jumps: tuple = ()
    counts: dict = field(default_factory=dict)
    elements: tuple = ()
    failed: str = ""
    kept: dict = field(default_factory=dict)
