"""Named channels of a run: every array with its name, unit, labels and meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kinetree.errors import DuplicateNameError, KinetreeError, NonFiniteError, ShapeError, unknown_name
from kinetree.simulation.components import Components


class Sampled(NamedTuple):
    """Description of an array that every run has at its samples, for labels, files, tables and reports.

    Attributes
    ----------
    name : str
        Of the attribute of `Trajectory`.
    axis : {"", "position", "velocity"}
        Of the columns, whose labels are those of `Coordinates`; empty for one number at each sample.
    units : str
        The unit, or of columns the attribute of `Coordinates` with their units.
    description : str
    """

    name: str
    axis: str
    units: str
    description: str


SAMPLED = {
    row[0]: Sampled(*row)
    for row in (
        ("q", "position", "position_units", "joint positions"),
        ("v", "velocity", "velocity_units", "joint velocities"),
        ("a", "velocity", "acceleration_units", "joint accelerations"),
        ("tau", "velocity", "force_units", "joint forces"),
        ("kinetic_energy", "", "J", "energy of motion"),
        ("potential_energy", "", "J", "energy of gravity"),
        ("elastic_energy", "", "J", "energy of joint springs and soft stops"),
        ("energy", "", "J", "total mechanical energy"),
    )
}
STATES = tuple(name for name, x in SAMPLED.items() if x.axis)
ENERGIES = tuple(name for name, x in SAMPLED.items() if not x.axis)
STORED = ("time", *(name for name in SAMPLED if name != "energy"))  # which is the sum of the others

INTERNAL = {"x": "internal states", "u": "inputs"}  # channels of models whose force elements have some

MOMENTUM = tuple(f"{kind} {axis}" for kind in ("angular", "linear") for axis in "xyz")
PLANAR_MOMENTUM = ("angular", "linear x", "linear y")
BALANCE = {  # entries of the energy balance by name, or by the prefix before the dot: unit, description
    "energy": ("J", "energy of kind {!r}"),
    "power": ("W", "power of {}, positive where energy enters"),
    "work": ("J", "energy that entered by {} since the start"),
    "remainder": ("J", "energy that no source explains"),
    "momentum": ("", "of the bodies, about the world's origin"),
    "momentum_error": ("", "momentum that neither weight nor wrenches explain"),
    "quaternion_error": ("1", "largest deviation of a quaternion's squared length from one"),
    "coupling_error": ("rad or m", "largest deviation of a coupling"),
}
# Names that labeled axes have; a channel of such a name would hide them.
AXES = ("time", "position", "velocity", "momentum_axis", "axis", "row", "column")
FILES = ("metadata", "events")  # before the dot in names of arrays that files have besides
EVEN = 1e-6  # of the distance of the samples: spacing that differs less is even for a filter


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Quantity:
    """An array over the samples of a run, with its name, unit and labels.

    Attributes
    ----------
    name : str
    time : (T,) array
        Sample times [s].
    values : (T, ...) array
        Numbers of the unit [units].
    units : str or tuple of str
        One for all entries, or one for each column.
    labels : tuple of str
        Names of the columns; empty for values of shape (T,) and for arrays of more axes.
    description : str
    dims : tuple of str
        Names of the axes after time: "position", "velocity", ...

    Examples
    --------
    >>> import kinetree as kt
    >>> run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.1)
    >>> v = run.channels["v"]
    >>> v, v.labels
    (<v [rad/s], shape (101, 2): joint velocities>, ('shoulder', 'elbow'))
    >>> v["elbow"].shape, v.derivative().unit
    ((101,), 'rad/s^2')
    """

    name: str
    time: np.ndarray
    values: np.ndarray
    units: str | tuple[str, ...] = "1"
    labels: tuple[str, ...] = ()
    description: str = ""
    dims: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.name} [{self.unit}], shape {self.values.shape}: {self.description or 'no description'}>"

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.values, dtype=dtype) if copy or dtype is not None else self.values

    def __getitem__(self, label: str) -> np.ndarray:
        """The column of this label, shape (T,)."""
        if label not in self.labels:
            raise unknown_name("column", label, self.labels, f"channel {self.name!r}")
        return self.values[:, self.labels.index(label)]

    @property
    def unit(self) -> str:
        """The unit of all columns, or "mixed"."""
        if isinstance(self.units, str):
            return self.units
        return self.units[0] if len(set(self.units)) == 1 else "mixed"

    @property
    def column_units(self) -> tuple[str, ...]:
        """The unit of each column; of the one there is, for values of shape (T,)."""
        if not isinstance(self.units, str):
            return self.units
        return (self.units,) * (self.values.shape[1] if self.values.ndim > 1 else 1)

    @property
    def entries(self) -> list[tuple[str, str, np.ndarray]]:
        """Label, unit and values (T,) of each number at a sample; rotations row by row."""
        if self.values.ndim == 1:
            return [("", self.unit, self.values)]
        labels, columns = self.labels, self.values.T
        if self.values.ndim == 3:
            labels = tuple(f"{row}{column}" for row in "xyz" for column in "xyz")
            columns = self.values.reshape(len(self.values), -1).T
        units = (self.units,) * len(columns) if isinstance(self.units, str) else self.units
        return list(zip(labels, units, columns, strict=True))

    def derivative(self) -> Quantity:
        """The rate of change, by central differences.

        Returns
        -------
        Quantity

        Notes
        -----
        Source: `numpy.gradient`: second order in the distance of the samples, uneven distances too. The rate of q is
        not v where joints have quaternions.
        """
        if len(self.time) < 3:
            raise ShapeError(f"{self.name}: a derivative needs 3 samples, got {len(self.time)}.")
        rate = np.gradient(self.values, self.time, axis=0, edge_order=2)
        units = per_second(self.units) if isinstance(self.units, str) else tuple(per_second(u) for u in self.units)
        return replace(
            self, name=f"d({self.name})/dt", values=frozen(rate), units=units,
            description=f"rate of change of {self.description or self.name}",
        )  # fmt: skip

    def filtered(self, cutoff: float, order: int = 4) -> Quantity:
        """Low-pass filtered values, without delay.

        Parameters
        ----------
        cutoff : float
            Frequency where half of the power is left [Hz].
        order : int
            Of the filter, which runs forwards and backwards with half of it each: even.

        Returns
        -------
        Quantity

        Notes
        -----
        Source: Butterworth filter, `scipy.signal.sosfiltfilt`, with the cutoff corrected for the two passes (Winter,
        Biomechanics and Motor Control of Human Movement, section 2.2.4.4).
        """
        from scipy.signal import butter, sosfiltfilt

        distance = np.diff(self.time)
        if len(distance) < 8 or np.ptp(distance) > EVEN * distance.mean():
            raise KinetreeError(
                f"{self.name}: a filter needs evenly spaced samples, 9 or more; resample the run first: "
                "run.resample(dt=...)."
            )
        rate = 1.0 / float(distance.mean())
        if order < 2 or order % 2:
            raise KinetreeError(f"{self.name}: order={order}; a filter run forward and backward needs 2, 4, 6, ...")
        if not 0.0 < cutoff < 0.5 * rate:
            raise KinetreeError(
                f"{self.name}: cutoff={cutoff:g} Hz; expected between 0 and {0.5 * rate:g} Hz, half the samples' rate."
            )
        # Two passes square the gain, so each may take only a part; the bilinear transform bends frequencies by tan.
        half = order // 2
        wider = np.tan(np.pi * cutoff / rate) * (np.sqrt(2.0) - 1.0) ** (-0.5 / half)
        corrected = np.arctan(wider) * rate / np.pi
        if not np.all(np.isfinite(self.values)):
            raise NonFiniteError(f"{self.name}: a filter would spread NaN or infinity over all samples.")
        sections = butter(half, corrected, fs=rate, output="sos")
        pad = min(len(self.time) - 1, 3 * (2 * len(sections) + 1))
        return replace(
            self, name=f"{self.name} below {cutoff:g} Hz",
            values=frozen(sosfiltfilt(sections, self.values, axis=0, padlen=pad)),
        )  # fmt: skip


class Channels(Mapping):
    """The channels of a run by name: states, energies, the entries of the energy balance, and added channels.

    ``channels["tool.position"]`` finds frames, too: position, rotation, angular_velocity and linear_velocity of each.

    Parameters
    ----------
    run : Trajectory
    """

    def __init__(self, run) -> None:
        self._run = run

    def __getitem__(self, name: str) -> Quantity:
        run = self._run
        if name in SAMPLED:
            return _sampled(run, SAMPLED[name])
        for quantity in run.extra:
            if quantity.name == name:
                return quantity
        places = {x.name: x for x in run.contact_channels}
        if name in places:
            return places[name]
        if name in self._balance():
            return _of_balance(run, name)
        frame, _, part = str(name).rpartition(".")
        if run.model is not None and frame in (one.name for one in run.model.frames):
            parts = run.frame(frame).channels
            if name in parts:
                return parts[name]
            raise unknown_name("part", part, [key.rpartition(".")[2] for key in parts], f"frame {frame!r}")
        known = run.model is not None or "energy_balance" in run.metadata.kept
        more = "" if known else " (loaded without its model: no energy balance)"
        raise unknown_name("channel", name, list(self), f"the run of {run.model_name!r}{more}")

    def __iter__(self) -> Iterator[str]:
        yield from SAMPLED
        yield from (quantity.name for quantity in self._run.contact_channels)
        yield from self._balance()
        yield from (quantity.name for quantity in self._run.extra)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        try:
            self[name]
        except KeyError:
            return False
        return True

    def __repr__(self) -> str:
        width = max(len(name) for name in self)
        lines = (f"{name:<{width}}  [{x.unit}] {x.values.shape}  {x.description}".rstrip() for name, x in self.items())
        return "\n".join((f"Channels of the run of {self._run.model_name!r}", *lines))

    def _balance(self) -> Mapping[str, np.ndarray]:
        run = self._run
        return run.energy_balance.channels if run.model is not None or "energy_balance" in run.metadata.kept else {}


def with_channel(run, name: str, values, unit: str, description: str = "", labels=None):
    """The run with one more channel: see `Trajectory.with_channel`."""
    if not isinstance(name, str) or not name or any(sign in name for sign in "/:[]\n"):
        raise KinetreeError(f"with_channel: name={name!r}; expected text without any of / : [ ].", name=name)
    if _is_taken(run, name):
        raise DuplicateNameError(f"with_channel: the run of {run.model_name!r} has {name!r}; choose another name.")
    try:
        values = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"with_channel: the values of {name!r} are no array of numbers ({error}).") from error
    count, labels = len(run), None if labels is None else tuple(str(label) for label in labels)
    columns = f"(T,) or (T, {'k' if labels is None else len(labels)}) with T = {count} samples"
    if values.ndim not in (1, 2) or len(values) != count:
        raise ShapeError(f"with_channel: {name!r} has shape {values.shape}, expected {columns}.", name=name)
    if values.ndim == 1 and labels is not None:
        raise ShapeError(f"with_channel: {name!r} has one column, so it takes no labels.", name=name)
    if values.ndim == 2:
        labels = tuple(str(k) for k in range(values.shape[1])) if labels is None else labels
        if len(labels) != values.shape[1] or len(set(labels)) != len(labels):
            raise ShapeError(
                f"with_channel: {name!r} has {values.shape[1]} columns and labels {labels}; expected one different "
                "label for each.", name=name,
            )  # fmt: skip
    dims = () if values.ndim == 1 else (f"{name} column",)
    quantity = Quantity(name, run.time, frozen(values), str(unit), labels or (), str(description), dims)
    return replace(run, extra=(*run.extra, quantity))


def internal_channels(model, time, x, u) -> tuple[Quantity, ...]:
    """The channels "x" and "u" of a run: internal states and inputs of force elements, if the model has some."""
    return tuple(
        Quantity(name, time, frozen(values), "1", labels, f"{what} of force elements", (f"{name} column",))
        for (name, what), values, labels in zip(
            INTERNAL.items(), (x, u), (model.state_names, model.input_names), strict=True
        )
        if labels
    )


def _is_taken(run, name: str) -> bool:
    head, dot, _ = name.rpartition(".")
    frames = () if run.model is None else (frame.name for frame in run.model.frames)
    known = (*SAMPLED, *INTERNAL, *AXES, *BALANCE, *(x.name for x in (*run.extra, *run.contact_channels)))
    if name in known or (dot and (name.partition(".")[0] in (*BALANCE, *FILES) or head in frames)):
        return True
    return bool(Components(run.metadata.components).having("channels")) and name in run.energy_balance.others


def frozen(values) -> np.ndarray:
    """The array, made read-only."""
    values = np.asarray(values)
    values.setflags(write=False)
    return values


def per_second(unit: str) -> str:
    """The unit of a rate: "rad" gives "rad/s", "rad/s" gives "rad/s^2"."""
    head, slash, power = unit.rpartition("/s")
    if not slash or (power and not power.startswith("^")):
        return "1/s" if unit == "1" else f"{unit}/s"
    return f"{head}/s^{int(power[1:] or 1) + 1}" if power else f"{head}/s^2"


def _sampled(run, x: Sampled) -> Quantity:
    values, c = frozen(getattr(run, x.name)), run.coordinates
    if not x.axis:
        return Quantity(x.name, run.time, values, x.units, (), x.description)
    labels = getattr(c, f"{x.axis}_labels")
    return Quantity(x.name, run.time, values, getattr(c, x.units), labels, x.description, (x.axis,))


def _of_balance(run, name: str) -> Quantity:
    balance = run.energy_balance
    values, (kind, _, source) = balance.channels[name], name.partition(".")
    unit, description = BALANCE.get(kind, (balance.units.get(name, "1"), "of a component"))
    labels, dims = (), ()
    if name in ("momentum", "momentum_error"):
        labels, dims = PLANAR_MOMENTUM if values.shape[1] == 3 else MOMENTUM, ("momentum_axis",)
        unit = tuple("kg m^2/s" if label.startswith("angular") else "kg m/s" for label in labels)
    elif values.ndim == 2 and values.shape[1] == len(balance.labels):
        labels, dims = tuple(balance.labels), ("velocity",)
    elif values.ndim == 2:
        labels, dims = tuple(str(k) for k in range(values.shape[1])), (f"{name} column",)
    return Quantity(name, run.time, values, unit, labels, description.format(source), dims)
