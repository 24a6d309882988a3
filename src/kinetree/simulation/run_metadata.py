"""The metadata of a run beside its samples, from which the energy balance is computed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from kinetree.integrators import FIXED_STEP
from kinetree.integrators.user_code import lock


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunMetadata:
    """Settings and records of a run beside its samples.

    Attributes
    ----------
    method : object
        Class of the fixed-step integrator; None for adaptive runs.
    every : int
        Steps from one sample to the next.
    controlled : bool
        Whether there was a controller, as against given joint forces.
    constant_tau : bool
        Whether joint forces were constant from one sample to the next.
    constant_wrenches : bool
        Whether external wrenches were.
    wrenches : (T, nb, 6) array or None
        External wrenches at the samples.
    disturbance : (T, nv) array or None
        The part of tau that the disturbance added.
    contacts : tuple of Candidate
        Candidate points of contact.
    contact_work : (T, 2) array or None
        Work of normal and tangential contact forces since the start [J].
    driven_work : (T, 1) array or None
        Of joints that depend on time, where there are contacts: impulses of these are in it [J].
    bounded_work : (T, 2 nv) array or None
        Of sticking friction and of hard limits, by velocity coordinate, where steps solve for them together with
        contacts [J].
    impulses : tuple of ImpulseEvent
        Changes of state in an instant.
    counts : dict
        Steps, rejected steps, evaluations of the dynamics: as far as available.
    components : tuple
        The components of the run, which have channels of their own.
    failed : str
        Why the run failed; empty if it did not.
    interrupted : str
        Why the run was interrupted, if not by the motion: Ctrl-C, an error in the user's code.
    kept : dict
        Results computed from these data, once.
    """

    method: object = None
    every: int = 1
    controlled: bool = False
    constant_tau: bool = False
    constant_wrenches: bool = False
    wrenches: np.ndarray | None = None
    disturbance: np.ndarray | None = None
    contacts: tuple = ()
    contact_work: np.ndarray | None = None
    driven_work: np.ndarray | None = None
    bounded_work: np.ndarray | None = None
    impulses: tuple = ()
    counts: dict = field(default_factory=dict)
    components: tuple = ()
    failed: str = ""
    interrupted: str = ""
    kept: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        arrays = self.wrenches, self.disturbance, self.contact_work, self.driven_work, self.bounded_work
        lock(*(x for x in arrays if x is not None))

    def __reduce__(self):
        """Methods of the library by their names: some classes are made from tables, where pickle does not find them."""
        name = getattr(self.method, "name", None)
        method = name if FIXED_STEP.get(name) is self.method else self.method
        own = {slot.name: getattr(self, slot.name) for slot in fields(self)}
        return _again, (own | {"method": method, "kept": {}},)


def _again(own: dict) -> RunMetadata:
    method = own["method"]
    return RunMetadata(**(own | {"method": FIXED_STEP[method] if isinstance(method, str) else method}))
