"""Arrays of a rollout: inputs over time, their number of steps, their axes, the time at the start; the states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kinetree.arguments import whole
from kinetree.errors import KinetreeError, NonFiniteError, ShapeError, SimulationError
from kinetree.simulation.control import control_parts


class RolloutStates(NamedTuple):
    """The recorded states of rollouts.

    Attributes
    ----------
    q : (..., rows, nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)]; row 0 is the start.
    v : (..., rows, nv) array
        Joint velocities [rad/s or m/s].
    """

    q: np.ndarray
    v: np.ndarray


class InternalRolloutStates(NamedTuple):
    """The recorded states of rollouts of a model with internal states.

    Attributes
    ----------
    q, v : array
        As those of `RolloutStates`.
    x : (..., rows, nx) array
        Internal states of force elements [as the elements define them].
    """

    q: np.ndarray
    v: np.ndarray
    x: np.ndarray


class ContactRolloutStates(NamedTuple):
    """The recorded states of rollouts, and the impulses of ``Record(impulses=True)``.

    Attributes
    ----------
    q, v : array
        As those of `RolloutStates`.
    x : (..., rows, nx) array
        As those of `InternalRolloutStates`.
    impulses : (..., rows, n_impulses) array
        Of the step that ends in the state, zero at the start [N s or N m s]: (t1, t2, n) of each candidate point of
        ``model.contact_labels``, on the second body; then those of rows with bounded forces.
    """

    q: np.ndarray
    v: np.ndarray
    x: np.ndarray
    impulses: np.ndarray


class MeasuredRolloutStates(NamedTuple):
    """The recorded states of rollouts, impulses and residuals of ``Record(residuals=True)``.

    Attributes
    ----------
    q, v : array
        As those of `RolloutStates`.
    x : (..., rows, nx) array
        As those of `InternalRolloutStates`.
    impulses : (..., rows, n_impulses) array
        As those of `ContactRolloutStates`.
    residuals : (..., rows) array
        Of the step that ends in the state, the worst contact or row with bounded forces: how far impulses and
        velocities are from the laws of contact and friction, the natural map [m/s, of joints rad/s]; zero at the start.
    worst_residuals : (..., rows) array
        The largest of all steps until then, also of those that are not recorded.
    """

    q: np.ndarray
    v: np.ndarray
    x: np.ndarray
    impulses: np.ndarray
    residuals: np.ndarray
    worst_residuals: np.ndarray


def start_of_time(model, t0) -> np.ndarray | None:
    """The time at which rollouts begin; None for models that do not depend on it."""
    if not (model.time_dependent or model.has_given_motions):
        if t0 is not None:
            raise SimulationError(f"rollout: model {model.name!r} does not depend on time, so it takes no t0.", t0=t0)
        return None
    begin = np.asarray(0.0 if t0 is None else t0, dtype=float)
    if not np.isfinite(begin).all():
        raise NonFiniteError(f"rollout: t0 is {t0!r}, expected finite times [s].", name="t0")
    return begin


def count_steps(inputs, steps) -> int:
    """The number of steps, from the argument or from the axes of time."""
    if steps is not None:
        return whole("rollout: steps", steps, "a positive whole number", least=1)
    lengths = {}
    for name, x in inputs.items():
        axes = x.shape[: -1 - (name == "f_ext")]
        if axes:
            lengths[name] = axes[-1]
    found = set(lengths.values()) - ({1} if set(lengths.values()) != {1} else set())
    if len(found) > 1:
        raise ShapeError(f"rollout: the inputs have different numbers of steps ({lengths}).", lengths=lengths)
    if not found:
        raise ShapeError("rollout: no input varies with time, so the number of steps is needed: steps=.")
    (steps,) = found
    if steps < 1:
        raise ShapeError("rollout: the inputs have no step (their axis of time is empty).", lengths=lengths)
    return steps


def control_over_time(model, control):
    """Inputs of force elements as one array, from numbers and arrays over time by name; arrays as they are.

    Raises
    ------
    SimulationError, UnknownNameError, ShapeError
    """
    if control is None or not isinstance(control, Mapping):
        control_parts(model, control)
        return control
    columns = [np.zeros(())] * model.nu
    for what, entries, values in control_parts(model, control):
        try:
            columns[entries.start] = column = np.asarray(values)
        except ValueError:  # ragged
            column = np.asarray("")
        if column.dtype.kind not in "fiu":
            raise ShapeError(f"rollout: {what} is {values!r}, expected a number or an array (..., T) over time.")
    try:
        return np.stack(np.broadcast_arrays(*columns), axis=-1)
    except ValueError:
        shapes = ", ".join(f"{name}: {x.shape}" for name, x in zip(model.input_names, columns, strict=True))
        raise ShapeError(f"rollout: arrays of control do not broadcast together ({shapes}).") from None


def over_time(name: str, x: np.ndarray, own: int, steps: int, state_axes: tuple[int, ...]) -> np.ndarray:
    """The input with an axis of time before its own axes, of length 1 where it is constant."""
    axes, shape = x.shape[: x.ndim - own], x.shape[x.ndim - own :]
    if not axes:
        return x[np.newaxis]
    varies, constant = axes[-1] in (1, steps), axes == state_axes
    if varies and constant and math.prod(axes) != 1:
        raise ShapeError(
            f"rollout: {name} of shape {x.shape} could be one row per step or one per state. Give it as "
            f"{(*axes, 1, *shape)} for constants of each state, as {(1, *axes, *shape)} for inputs over time.",
            name=name,
            found=x.shape,
        )
    if varies:
        return x
    if constant:
        return x.reshape(*axes, 1, *shape)
    raise ShapeError(
        f"rollout: {name} has shape {x.shape}, expected (..., {steps}, {', '.join(map(str, shape))}) for {steps} "
        f"steps, or {(*state_axes, *shape)} for constants.",
        name=name,
        found=x.shape,
        steps=steps,
    )


def arrays_of(found) -> list[np.ndarray]:
    """The results of a function with one or several outputs."""
    return [np.asarray(x) for x in (found if isinstance(found, (tuple, list)) else (found,))]


def only(checked):
    """Checked arrays without their names."""
    arrays, axes, dtype = checked
    return tuple(arrays.values()), axes, dtype


def at_step(error: KinetreeError, t: int, time: float) -> KinetreeError:
    """The error of a step as one of the rollout."""
    when = "at the start" if t == 0 else f"at step {t} (t = {time:.6g} s)"
    error.message = f"rollout, {when}: {error.message}"
    error.args = (error.message,)
    error.step = t
    return error
