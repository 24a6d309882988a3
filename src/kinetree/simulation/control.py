"""Inputs of force elements in a simulation: numbers and functions by name, as one array."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kinetree.errors import NonFiniteError, ShapeError, SimulationError, unknown_name


def control_parts(model, control) -> list[tuple[str, slice, object]]:
    """The given parts of the inputs u: name, entries, and a number, an array or a callable.

    Parameters
    ----------
    model : Model
    control : None, mapping, (nu,) array_like or callable
        By names of ``model.input_names``, or all at once.

    Raises
    ------
    SimulationError, UnknownNameError
        Also for an actuator whose law is not computed.
    """
    if control is None:
        return []
    if not model.nu and not model.actuators:
        raise SimulationError(f"simulate: control is given, but no force element of model {model.name!r} has inputs.")
    if not isinstance(control, Mapping):
        return [("control", slice(0, model.nu), control)]
    found = []
    for name, source in control.items():
        if name not in model.input_names:
            for actuator in model.actuators:
                if actuator.name == name and actuator.active:
                    reason = actuator.not_computed or "its tendon wraps around shapes"
                    raise SimulationError(f"simulate: {actuator} is not computed: {reason}.", actuator=name)
            raise unknown_name("input", name, model.input_names, f"model {model.name!r}")
        k = model.input_names.index(name)
        found.append((f"control of {name!r}", slice(k, k + 1), source))
    return found


def control_array(model, parts, evaluated: Callable, t: float | None = None) -> np.ndarray:
    """The inputs u, zero where nothing is given.

    Parameters
    ----------
    model : Model
    parts : list of tuple
        As `control_parts` gives them.
    evaluated : callable
        ``evaluated(what, source)``: the value of a callable.
    t : float, optional
        For messages [s].
    """
    u, at = np.zeros(model.nu), "" if t is None else f" at t = {t:.9g} s"
    for what, entries, source in parts:
        value = evaluated(what, source) if callable(source) else source
        size = entries.stop - entries.start
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError):
            array = None
        if array is None or array.shape not in ((size,), () if size == 1 else (size,)):
            expected = "a number, or a function u(t) or u(t, q, v) that gives one"
            if what == "control":
                expected = f"an array of shape ({size},) or a mapping of names"
            raise ShapeError(f"simulate: {what} is {value!r}{at}, expected {expected}.", found=value, time=t)
        if not np.isfinite(array).all():
            raise NonFiniteError(f"simulate: {what} is {value!r}{at}; inputs must be finite.", found=value, time=t)
        u[entries] = array
    u.setflags(False)
    return u
