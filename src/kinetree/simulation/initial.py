"""The initial state of a simulation: defaults, and checks that name the joint."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.domain import CONSTRAINTS, unit_quaternions
from kinetree.algorithms.projection import has_loops
from kinetree.errors import LimitError, NonFiniteError, ShapeError, SimulationError
from kinetree.integrators.coordinates import Coordinates
from kinetree.integrators.system import System
from kinetree.model.ranges import position_ranges
from kinetree.model.seeds import generator
from kinetree.simulation.closed_starts import assembled
from kinetree.simulation.limits import beyond_stops, check_inside

INITIAL = "initial"  # the keyframe in which readers put the state that a file describes


def initial_state(model, q0, v0, seed, hard=(), closing: bool = True) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Complete and check the initial state.

    Parameters
    ----------
    model : Model
    q0 : array_like, str or None
        Positions, shape (nq,) [rad or m], or a keyframe; None for the keyframe "initial", else the neutral ones, or
        random ones if there is a seed.
    v0 : array_like or None
        Velocities, shape (nv,) [rad/s or m/s]; None for those of the keyframe or rest, or random ones if there is a
        seed and no q0.
    seed : int or None
    hard : sequence of int
        Velocity coordinates whose limits are hard: there the state must be inside, elsewhere not farther outside than
        a soft stop may hold a joint.
    closing : bool
        Whether loops are closed at a start that nobody gave.

    Returns
    -------
    q, v : numpy.ndarray
    notes : list of str
        Choices and changes.
    """
    if seed is not None and q0 is not None:
        raise SimulationError("simulate: seed draws a random start, and q0 gives one; give one of them.", seed=seed)
    notes = []
    rng = None if seed is None else generator("simulate", seed)
    chosen, drawn = q0 is None, q0 is None and rng is not None
    own_v = np.zeros(model.nv)
    if drawn:
        q, own_v = model.random_state(rng)
        with_v = " and velocity (standard normal)" if v0 is None else ""
        notes.append(f"random initial position{with_v}, seed {seed}")
    elif chosen:
        q, whose = model.neutral(), "neutral"
        if INITIAL in model.keyframes:
            (q, own_v), whose = model.keyframe(INITIAL), "initial"
            notes.append(f"starts at the keyframe {INITIAL!r} of the model")
        q, changed = _inside_limits(model, q)
        notes += [f"the {whose} position of joint {name} is outside {of}: it starts {at}" for name, of, at in changed]
    elif isinstance(q0, str):
        q, own_v = model.keyframe(q0)
    else:
        q = _vector(model, q0, "q0", "nq")
    v = own_v if v0 is None else _vector(model, v0, "v0", "nv")

    if chosen and not drawn and model.couplings:
        q_coupled, v_coupled = System(model.without_limits()).function("apply_couplings")(q, v)
        q, v = np.array(q_coupled), np.array(v_coupled) if v0 is None else v
    if chosen and closing and has_loops(model):
        q, closed = assembled(model, q, "random" if drawn else whose)
        notes += closed
    q, v = q + 0.0, v + 0.0  # no -0.0
    what = "the initial position" if chosen else "q0"
    check_inside(model, q, what, only=hard)
    notes += beyond_stops(model, q, what)
    _check_domains(model, q, v)
    return q, v, notes


def joined_state(model, v, x0) -> np.ndarray:
    """The velocities, followed by the internal states of force elements if the model has some."""
    if x0 is None:
        return np.concatenate((v, model.initial_state())) if model.nx else v
    try:
        x = np.array(x0, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"simulate: x0 is not an array of numbers: {x0!r}.", name="x0") from None
    if x.shape != (model.nx,):
        names = ", ".join(model.state_names) or "none"
        raise ShapeError(
            f"simulate: x0 has shape {x.shape}, expected ({model.nx},) for the internal states of the force elements "
            f"of model {model.name!r}: {names}.",
            found=x.shape,
        )
    if not np.isfinite(x).all():
        k = int(np.flatnonzero(~np.isfinite(x))[0])
        raise NonFiniteError(
            f"simulate: x0[{k}] is {x[k]} ({model.state_names[k]!r}); the initial state must be finite.", index=k
        )
    return np.concatenate((v, x))


def _check_domains(model, q: np.ndarray, v: np.ndarray) -> None:
    """Raise an error for quaternions that are not unit and violated couplings, in terms of q0 and v0."""
    _refuse(model, unit_quaternions("q0"), {"q0": q.tolist()}, "")
    _refuse(model, CONSTRAINTS, {"q": q.tolist(), "v": v.tolist()}, "the initial state (q0, v0): ")


def _refuse(model, domain, inputs, about: str) -> None:
    for index, violated in enumerate(domain.violations(model, inputs)):
        if violated:
            error = domain.explain(model, inputs, index)
            error.message = f"simulate: {about}{error.message}"
            error.args = (error.message,)
            raise error


def _vector(model, value, name: str, size: str) -> np.ndarray:
    try:
        x = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"simulate: {name} is not an array of numbers: {value!r}.", name=name) from None
    n = getattr(model, size)
    if x.shape != (n,):
        slices = model.q_slice if size == "nq" else model.v_slice
        joints = ", ".join(f"{model.joint_name(i)!r} {slices[i].stop - slices[i].start}" for i in model.outward())
        other = model.nv if size == "nq" else model.nq
        swapped = "velocities for positions" if size == "nq" else "positions for velocities"
        hint = f" Did you pass {swapped}?" if x.shape == (other,) else ""
        raise ShapeError(
            f"simulate: {name} has shape {x.shape}, expected ({n},) for model {model.name!r} "
            f"({size}={n}: {joints}).{hint}",
            name=name,
            found=x.shape,
            expected=(n,),
        )
    if not np.isfinite(x).all():
        k = int(np.flatnonzero(~np.isfinite(x))[0])
        c = Coordinates.of(model)
        joint = (c.position_joints if size == "nq" else c.velocity_joints)[k]
        raise NonFiniteError(
            f"simulate: {name}[{k}] is {x[k]} (joint {joint!r}); the initial state must be finite.", name=name, index=k
        )
    return x


def _inside_limits(model, q: np.ndarray) -> tuple[np.ndarray, list[tuple[str, str, str]]]:
    """Move bounded coordinates of a chosen position inside: to the middle of the range, or to the only finite limit.

    Coupled joints follow their masters, whose range is the intersection of the ranges of all.
    """
    changed, followers = [], {model.joint(c.joint) for c in model.couplings}
    ranges = position_ranges(model)
    for i in model.outward():
        own = model.v_slice[i]
        if i in followers or model.joints[i].nq != model.joints[i].nv:
            continue
        for j, k in enumerate(range(own.start, own.stop), model.q_slice[i].start):
            lower, upper = (float(bound[k]) for bound in ranges)
            if lower <= q[j] <= upper:
                continue
            name = model.joint_name(i)
            coupled = [c.joint for c in model.couplings if c.master == name]
            if lower > upper:
                raise LimitError(
                    f"simulate: no position of joint {name!r} is inside its limits and those of the joints coupled to "
                    f"it ({', '.join(map(repr, coupled))}): they leave {lower:.6g} to {upper:.6g} of it. Change the "
                    "limits or the couplings, or simulate model.without_limits().",
                    joint=name,
                    lower=lower,
                    upper=upper,
                )
            if not float(model.lower[k]) <= q[j] <= float(model.upper[k]):
                coupled = []  # its own are enough
            both = np.isfinite(lower) and np.isfinite(upper)
            q[j] = 0.5 * (lower + upper) if both else float(np.clip(q[j], lower, upper))
            where = "in the middle of the range" if both else "at the limit"
            by = f" or those of {', '.join(map(repr, coupled))}, coupled to it," if coupled else ""
            changed.append((repr(name), f"its limits{by}", f"{where}, {q[j]:.6g}"))
    return q, changed
