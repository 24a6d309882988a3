"""Options of a simulation: inputs of the mechanism, recorded samples, checkpoint files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from kinetree.arguments import a_callable, a_path, a_truth_value, number, refuse, whole
from kinetree.errors import SimulationError

A_TIME = "a positive time in seconds"


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Inputs of a mechanism beside its controller.

    Parameters
    ----------
    tau : (nv,) array_like or callable, optional
        Constant joint forces [N m or N], or ``tau(t)``; default zero. Not with a controller, which may return the sum.
    f_ext : (nb, 6) array_like, mapping or callable, optional
        External wrenches on the bodies [N m, N], in world coordinates about the world's origin; by body name, or
        ``f_ext(t)``, or ``f_ext(t, q, v)``. Wrenches that depend on the state are constant over a fixed step. A push is
        `kinetree.signals.push`.
    disturbance : callable, optional
        ``disturbance(t) -> tau``: joint forces added to the others; see `kinetree.signals`.
    control : mapping, (nu,) array_like or callable, optional
        Inputs of force elements, by names of ``model.input_names`` or all at once [as the elements define them]:
        numbers, ``u(t)``, or ``u(t, q, v)``, which is constant over a fixed step. Default zero.

    Examples
    --------
    >>> import kinetree as kt
    >>> constant = kt.Inputs(tau=[0.0, 1.0])
    >>> kt.simulate(kt.load("double_pendulum"), duration=0.1, inputs=constant).tau[0]
    array([0., 1.])
    """

    tau: object = None
    f_ext: object = None
    disturbance: object = None
    control: object = None

    def __post_init__(self) -> None:
        if self.disturbance is not None:
            a_callable("Inputs: disturbance", self.disturbance)


@dataclass(frozen=True, slots=True)
class Record:
    """Which states of a run are recorded; the last one always is.

    Parameters
    ----------
    every : int
        Record every so many steps.
    period : float, optional
        Distance of the recorded samples [s], a multiple of the step; instead of ``every``.
    impulses : bool
        Of rollouts with contact, whether they give the impulses of the recorded steps, too; runs of `simulate` always
        have them as ``run.contacts``.
    residuals : bool
        Of rollouts with contact, whether they give the residuals of the steps and the impulses, too.

    Examples
    --------
    >>> import kinetree as kt
    >>> len(kt.simulate(kt.load("double_pendulum"), duration=0.1, dt=1e-3, record=kt.Record(every=10)))
    11
    """

    every: int = 1
    period: float | None = None
    impulses: bool = False
    residuals: bool = False

    def __post_init__(self) -> None:
        a_truth_value("Record: impulses", self.impulses)
        a_truth_value("Record: residuals", self.residuals)
        whole("Record: every", self.every, "a positive whole number of steps", least=1)
        if self.period is not None:
            number("Record: period", self.period, A_TIME, above=0.0)
            if self.every != 1:
                raise SimulationError("Record: every and period give the same thing; give one of them.")

    def steps(self, dt: float) -> int:
        """Steps of ``dt`` [s] from one sample to the next."""
        if self.period is None:
            return int(self.every)
        ratio = self.period / dt
        if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-6 * ratio:
            raise SimulationError(
                f"Record: period = {self.period:g} s is not a multiple of dt = {dt:g} s; the closest are "
                f"{max(1, math.floor(ratio)) * dt:g} and {math.ceil(ratio) * dt:g} s.",
                period=self.period,
            )
        return round(ratio)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file with the state of a run in progress, from which the run continues after its process has ended.

    Parameters
    ----------
    path : path-like
        It gets a snapshot, with all samples so far, and is replaced each time. The file is a pickle: use only your own.
    every : float
        Simulated time between two writings [s]. An adaptive solver restarts there.

    Examples
    --------
    >>> import kinetree as kt
    >>> kept = kt.Checkpoint("run.ckpt", every=0.25)
    >>> run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.5, checkpoint=kept)
    >>> kept.file.exists()  # the run is complete
    False
    """

    path: object
    every: float = 1.0

    def __post_init__(self) -> None:
        a_path("Checkpoint: path", self.path)
        number("Checkpoint: every", self.every, A_TIME, above=0.0)

    @property
    def file(self) -> Path:
        """The path."""
        return Path(self.path)


def an_option(kind: type):
    """The check for one of these objects, with an error that shows how it is made."""

    def check(what: str, value: object) -> None:
        if not isinstance(value, kind):
            refuse(what, value, f"a kinetree.{kind.__name__}")

    return check


_INPUTS, _ADAPTIVE = "inputs=kt.Inputs({}=...)", "integrator=kt.integrators.Adaptive({}=...)"
MOVED = {
    **{name: _INPUTS.format(name) for name in ("tau", "f_ext", "disturbance", "control")},
    **{name: _ADAPTIVE.format(name) for name in ("method", "rtol", "atol", "max_step")},
    "rho": "integrator=kt.integrators.GeneralizedAlpha(rho=...)",
    **{
        name: f"model.with_constraints(kt.constraints.{how})"
        for name, how in (
            ("friction", "StickingFriction()"),
            ("restitution", "HardLimits(restitution=...)"),
            ("locked", "Lock(joint)"),
            ("prescribed", "PrescribedMotion(joint, motion)"),
        )
    },
    "sample_time": "controller=kt.control.Sampled(controller, sample_time)",
    "delay": "controller=kt.control.Delayed(controller, delay)",
    "record_every": "record=kt.Record(every=...)",
    "sample_period": "record=kt.Record(period=...)",
    "limits": "model.without_limits() as the model to let joints pass; "
    "components=[kt.simulation.LimitMonitor(model)] for an error; soft stops without either",
    "motors": "model.replace(forces=[kt.forces.Motor(joint, ...)]) as the model",
    "every": "checkpoint=kt.Checkpoint(path, every=...) or record=kt.Record(every=...)",
}
"""Options of objects that a caller may look for among those of `simulate`: how they are given."""
