"""The simulation of one sample: what `simulate=` of a sweep describes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from kinetree.arguments import choice, number, refuse, shown
from kinetree.errors import ArgumentError, SimulationError, unknown_name
from kinetree.simulation.options import A_TIME, Record

WHOLE = 1e-6  # relative distance of duration / dt from a whole number


@dataclass(frozen=True, eq=False)
class Runs:
    """The simulation of each sample, where the sweep does not vary it.

    Parameters
    ----------
    duration : float
        Simulated time [s], a multiple of dt.
    dt : float
        Step [s].
    q0, v0 : (nq,), (nv,) array_like, optional
        Start [rad or m; quaternions unit; rad/s or m/s]. Default: neutral positions, at rest.
    tau : (nv,) or (T, nv) array_like, optional
        Joint forces [N m or N], constant or one row for each step; those of a controller are added.
    f_ext : (nb, 6) or (T, nb, 6) array_like, or mapping of body name to (6,) or (T, 6) array_like, optional
        Wrenches in world coordinates about the world's origin [N m, N].
    x0 : (nx,) array_like, optional
        Internal states of force elements [as the elements define them].
    control : (nu,) or (T, nu) array_like, or mapping of input name to number, optional
        Inputs of force elements [as the elements define them].
    controller : Controller, optional
        A `kinetree.control.PDGravityCompensation`, `ComputedTorque` or `JointImpedance`. It is evaluated at the
        beginning of each step.
    integrator, ground, closure
        As for `rollout`.
    record : Record, optional
        The states that measures of paths get; default all. Measures of the end alone need none.
    dtype : {"float64", "float32"}
        In which all is computed.

    Raises
    ------
    ArgumentError, SimulationError

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.sweeps.Runs(duration=1.0, dt=1e-3).steps
    1000
    """

    duration: float
    dt: float = 1e-3
    q0: object = None
    v0: object = None
    tau: object = None
    f_ext: object = None
    x0: object = None
    control: object = None
    controller: object = None
    integrator: object = "auto"
    ground: object = None
    closure: object = "projection"
    record: Record | None = None
    dtype: str = "float64"

    def __post_init__(self) -> None:
        number("sweep: duration", self.duration, A_TIME, above=0.0)
        number("sweep: dt", self.dt, A_TIME, above=0.0)
        ratio = self.duration / self.dt
        if abs(ratio - round(ratio)) > WHOLE * ratio or round(ratio) < 1:
            raise SimulationError(
                f"sweep: duration = {self.duration:g} s is not a multiple of dt = {self.dt:g} s; the closest are "
                f"{max(1, int(ratio)) * self.dt:g} and {(int(ratio) + 1) * self.dt:g} s."
            )
        if self.record is not None and not isinstance(self.record, Record):
            refuse("sweep: record", self.record, "a kinetree.Record")
        choice("sweep: dtype", self.dtype, ("float64", "float32"))
        if self.steps % self.every:
            raise SimulationError(
                f"sweep: {self.steps} steps are no multiple of the {self.every} from one record to the next."
            )

    @classmethod
    def of(cls, given) -> Runs:
        """The runs that the argument ``simulate=`` gives.

        Raises
        ------
        ArgumentError, UnknownNameError
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise ArgumentError(
                f"sweep: simulate is {shown(given)}, expected a mapping such as {{'duration': 1.0, 'dt': 1e-3}}, or a "
                "kt.sweeps.Runs.",
                argument="simulate",
            )
        known = list(inspect.signature(cls).parameters)
        for name in given:
            if name not in known:
                raise unknown_name("entry", str(name), known, "simulate= of a sweep")
        if "duration" not in given:
            raise ArgumentError("sweep: simulate has no duration [s].", argument="simulate")
        return cls(**given)

    @property
    def steps(self) -> int:
        """Number of steps."""
        return round(self.duration / self.dt)

    @property
    def every(self) -> int:
        """Steps from one recorded state to the next, for measures of paths."""
        return (self.record or Record()).steps(self.dt)

    def described(self) -> dict[str, object]:
        """All that determines the motion, by name."""
        found = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "controller"}
        controller = self.controller
        if controller is not None:
            found["controller"] = type(controller).__name__
            for field in fields(controller):
                value = getattr(controller, field.name)
                value = getattr(value, "source", value) if field.name == "reference" else value
                found[f"controller.{field.name}"] = value
        return found

    def inputs_over_time(self, name: str, own: int, shape: tuple[int, ...]) -> np.ndarray | None:
        """An input as rows over time, ``(1 or steps, *shape)``; raises ArgumentError."""
        given = getattr(self, name)
        if given is None:
            return None
        x = np.asarray(given, dtype=float)
        if x.shape == shape:
            return x[None]
        if x.ndim != own + 1 or x.shape[1:] != shape or x.shape[0] not in (1, self.steps):
            refuse(f"sweep: {name}", given, f"an array {shape}, or ({self.steps}, ...) for the {self.steps} steps")
        return x
