"""Measures: what a sweep keeps of each simulation. Each is a function of a `Batch`, each value of its sample alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields

import numpy as np

from kinetree.arguments import array, choice, refuse, shown, whole
from kinetree.errors import ArgumentError, DuplicateNameError, UnsupportedError, unknown_name

NEEDS = ("end", "path", "impulses")
"""States that a measure reads: start and end, the recorded path, or the path with impulses of contacts."""


@dataclass(frozen=True)
class Measure:
    """The base of measures: a subclass defines ``__call__(batch)``.

    Notes
    -----
    The result is an array (n, ...), or a mapping of names to such arrays. ``needs`` says which states are recorded.
    """

    needs = "path"

    def _check(self, model) -> None:
        """Raise an error for a model that has not what is measured."""

    def _labels(self, model) -> tuple[str, ...] | None:
        """Names of the entries of a value, if there are."""
        return None

    def __call__(self, batch) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True)
class QEnd(Measure):
    """Positions at the end [rad or m]."""

    needs = "end"

    def _labels(self, model):
        return tuple(model.position_labels)

    def __call__(self, batch):
        return batch.q[:, -1]


@dataclass(frozen=True)
class VEnd(Measure):
    """Velocities at the end [rad/s or m/s]."""

    needs = "end"

    def _labels(self, model):
        return tuple(model.velocity_labels)

    def __call__(self, batch):
        return batch.v[:, -1]


@dataclass(frozen=True)
class XEnd(Measure):
    """Internal states of force elements at the end [as the elements define them]."""

    needs = "end"

    def _check(self, model):
        if not model.nx:
            raise UnsupportedError(f"sweep: measure 'x_end': model {model.name!r} has no internal states.")

    def _labels(self, model):
        return tuple(model.state_names)

    def __call__(self, batch):
        return batch.x[:, -1]


def _energy(batch, row: int) -> np.ndarray:
    q, v = batch.q[:, row : row + 1 or None], batch.v[:, row : row + 1 or None]
    parts = batch.evaluate("kinetic_energy", q, v), batch.evaluate("potential_energy", q)
    return (parts[0] + parts[1] + batch.evaluate("elastic_energy", q))[:, 0]


@dataclass(frozen=True)
class EnergyStart(Measure):
    """Kinetic, gravitational and elastic energy at the start [J]."""

    needs = "end"

    def __call__(self, batch):
        return _energy(batch, 0)


@dataclass(frozen=True)
class EnergyEnd(Measure):
    """Kinetic, gravitational and elastic energy at the end [J]."""

    needs = "end"

    def __call__(self, batch):
        return _energy(batch, -1)


@dataclass(frozen=True)
class PeakTorque(Measure):
    """Largest absolute joint force of controller and inputs over the recorded states [N m or N]."""

    def _labels(self, model):
        return tuple(model.velocity_labels)

    def __call__(self, batch):
        return np.abs(batch.tau[:, :-1]).max(axis=1)  # the last state begins no step


@dataclass(frozen=True)
class PeakVelocity(Measure):
    """Largest absolute velocity over the recorded states [rad/s or m/s]."""

    def _labels(self, model):
        return tuple(model.velocity_labels)

    def __call__(self, batch):
        return np.abs(batch.v).max(axis=1)


@dataclass(frozen=True)
class Slip(Measure):
    """Distance that each candidate point of contact has slid while it was closed [m].

    The rates are those at the end of recorded steps; with `Record(every=...)` the sum is over these alone.
    """

    needs = "impulses"

    def _check(self, model):
        if not model.n_contacts:
            raise UnsupportedError(f"sweep: measure 'slip': model {model.name!r} has no contacts; give ground=True.")

    def _labels(self, model):
        return tuple(model.contact_labels)

    def __call__(self, batch):
        n = batch.model.n_contacts
        dt = batch.t[1] - batch.t[0]
        total = np.zeros((len(batch), n))
        for k in range(1, len(batch.t)):
            J = batch.evaluate("contact_jacobian", batch.q[:, k : k + 1])[:, 0, : 3 * n]
            rates = np.zeros(J.shape[:2])
            for j in range(J.shape[2]):  # in one order, whatever the number of samples
                rates += J[:, :, j] * batch.v[:, k, j : j + 1]
            rates = rates.reshape(len(batch), n, 3)
            closed = batch.impulses[:, k, : 3 * n].reshape(len(batch), n, 3)[:, :, 2] > 0.0
            total += np.where(closed, np.sqrt(rates[:, :, 0] ** 2 + rates[:, :, 1] ** 2) * dt, 0.0)
        return total


@dataclass(frozen=True)
class Distance(Measure):
    """Distance of a frame's origin from a point of the world [m].

    Parameters
    ----------
    frame : str
    target : (3,) array_like
        World coordinates [m].
    over : {"end", "path"}
        The distance at the end, or the smallest one of the recorded states.

    Examples
    --------
    >>> import kinetree as kt
    >>> near = kt.sweeps.Distance("tip", (0.5, 0.0, 0.2))
    >>> run = kt.sweep(
    ...     kt.load("double_pendulum"), over={"q0.elbow": [0.0, 0.5]}, simulate={"duration": 0.1},
    ...     measure={"gap": near}, client=False,
    ... )
    >>> run.data["gap"].shape
    (2,)
    """

    frame: str
    target: tuple[float, ...]
    over: str = "end"

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", tuple(array("Distance: target", self.target, shape=(3,)).tolist()))
        choice("Distance: over", self.over, ("end", "path"))

    @property
    def needs(self) -> str:
        """States that are read."""
        return self.over

    def _check(self, model):
        model.frame(self.frame)

    def __call__(self, batch):
        q = batch.q[:, -1:] if self.over == "end" else batch.q
        (_, p) = batch.evaluate("pose", q, frame=self.frame)
        d = p - np.array(self.target)
        return np.sqrt(d[..., 0] ** 2 + d[..., 1] ** 2 + d[..., 2] ** 2).min(axis=1)


@dataclass(frozen=True)
class Path(Measure):
    """The recorded positions and velocities, as variables "q" and "v" over "time" [rad or m; rad/s or m/s].

    Parameters
    ----------
    every : int
        Keep every so many of the recorded states.
    """

    every: int = 1

    def __post_init__(self) -> None:
        whole("Path: every", self.every, "a positive whole number", least=1)

    def __call__(self, batch):
        return {"q": batch.q[:, :: self.every], "v": batch.v[:, :: self.every]}


MEASURES: dict[str, type[Measure]] = {
    "q_end": QEnd, "v_end": VEnd, "x_end": XEnd, "energy_start": EnergyStart, "energy_end": EnergyEnd,
    "peak_torque": PeakTorque, "peak_velocity": PeakVelocity, "slip": Slip, "distance": Distance, "path": Path,
}  # fmt: skip
"""Measures by name."""


def measures_of(given) -> dict[str, Callable]:
    """Measures by the names of their variables, of the argument ``measure=``.

    Raises
    ------
    ArgumentError, UnknownNameError, DuplicateNameError
    """
    if isinstance(given, str) or callable(given):
        given = [given]
    if isinstance(given, Mapping):
        pairs = [(name, x) for name, x in given.items()]
    elif isinstance(given, Sequence):
        pairs = [(None, x) for x in given]
    else:
        refuse("sweep: measure", given, "a list of names of measures and functions of a batch")
    if not pairs:
        raise ArgumentError('sweep: measure is empty; give what is to be kept, such as ["q_end"].', argument="measure")
    found: dict[str, Callable] = {}
    for name, x in pairs:
        name, x = _measure(name, x)
        if name in found:
            raise DuplicateNameError(f"sweep: two measures are named {name!r}; give measure= as a mapping.", name=name)
        found[name] = x
    return found


def _measure(name, x):
    if isinstance(x, str):
        if x not in MEASURES:
            raise unknown_name("measure", x, MEASURES, "kinetree.sweeps")
        kind = MEASURES[x]
        needed = [field.name for field in fields(kind) if field.default is MISSING]
        if needed:
            raise ArgumentError(
                f"sweep: measure {x!r} needs {' and '.join(needed)}: kt.sweeps.{kind.__name__}(...).",
                argument="measure",
            )
        return name or x, kind()
    if isinstance(x, type) or not callable(x):
        refuse("sweep: measure", x, "the name of a measure, a measure, or a function of a batch")
    if isinstance(x, Measure):
        return name or next(key for key, kind in MEASURES.items() if kind is type(x)), x
    label = name or getattr(x, "__name__", type(x).__name__)
    if not label.isidentifier():
        raise ArgumentError(
            f"sweep: {shown(x)} has no name for its variable; give measure={{name: function}}.", argument="measure"
        )
    return label, x


def needs_of(measures: Mapping[str, Callable]) -> str:
    """The most that any measure needs; functions of users get paths unless they have an attribute ``needs``."""
    found = [getattr(x, "needs", "path") for x in measures.values()]
    for name, need in zip(measures, found, strict=True):
        choice(f"sweep: needs of measure {name!r}", need, NEEDS)
    return max(found, key=NEEDS.index)
