"""Parts of runs, runs at other times, and several runs as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetree.algorithms.constrained import remaining_rows
from kinetree.errors import KinetreeError, NonFiniteError, ShapeError
from kinetree.integrators.system import System, dynamics_time, internal_arguments, time_argument
from kinetree.simulation.channels import STORED, frozen
from kinetree.simulation.contact_forces import WORKS, joint_forces
from kinetree.simulation.contacts import FORCE
from kinetree.simulation.run_metadata import RunMetadata

ACTING = ("wrenches", "disturbance", *WORKS)  # of the metadata: rows for the samples
SAME_TIME = 1e-9  # of a run's duration: times this close are one


def take(run, rows: slice):
    """Some samples of a run, with the same bits.

    Parameters
    ----------
    run : Trajectory
    rows : slice
        With a positive step, and at least one sample in it.

    Returns
    -------
    Trajectory
        The joint forces of a run with fewer samples are no longer constant in between.
    """
    if not isinstance(rows, slice):
        raise TypeError(f"run[{rows!r}]: expected a slice of samples, such as run[:100]; run.q[{rows!r}] is one row.")
    first, last, step = rows.indices(len(run))
    if step < 0 or first >= last:
        raise ShapeError(f"run[{rows.start}:{rows.stop}:{rows.step}]: no samples in rising order among {len(run)}.")
    arrays = {name: getattr(run, name)[rows] for name in STORED}
    time, metadata = arrays["time"], run.metadata
    end = (last - 1 - first) // step * step + first
    whole = first == 0 and end == len(run) - 1
    changed = {"every": metadata.every * step, "kept": {}} | {
        name: x[rows] for name in ACTING if (x := getattr(metadata, name)) is not None
    }
    if step > 1:
        changed |= {"method": None, "constant_tau": False, "constant_wrenches": False}
    if end < len(run) - 1:
        changed |= {"failed": "", "interrupted": ""}
    if not whole:
        changed["counts"] = {}
    return replace(
        run,
        **arrays,
        dt=run.dt if run.steps is not None else run.dt * step,
        steps=run.steps if whole or run.steps is None else metadata.every * (end - first),
        **_within(run, time, changed),
        extra=tuple(replace(x, time=time, values=x.values[rows]) for x in run.extra),
    )


def _within(run, time: np.ndarray, changed: dict) -> dict:
    """The events, the metadata and the wall time of a part of a run, from the first of these times to the last."""
    impulses = tuple(x for x in run.metadata.impulses if time[0] < x.time <= time[-1])
    return {
        "events": tuple(x for x in run.events if time[0] <= x.time <= time[-1]),
        "metadata": replace(run.metadata, impulses=impulses, **changed),
        "wall_time": run.wall_time * ((time[-1] - time[0]) / run.duration if run.duration > 0.0 else 1.0),
    }


def between(run, start: float, end: float):
    """The samples from one time to another, both included."""
    slack = SAME_TIME * max(run.duration, 1e-300)
    inside = np.flatnonzero((run.time >= start - slack) & (run.time <= end + slack))
    if not len(inside):
        raise NonFiniteError(
            f"Trajectory.between: no sample from {start:g} to {end:g} s; the run is from {run.time[0]:g} to "
            f"{run.time[-1]:g} s, with samples {run.duration / max(len(run) - 1, 1):.3g} s apart."
        )
    return take(run, slice(int(inside[0]), int(inside[-1]) + 1))


def resample(run, dt: float | None = None, times=None):
    """The run at other times: see `Trajectory.resample`.

    Parameters
    ----------
    run : Trajectory
    dt : float, optional
        [s]
    times : (K,) array, optional
        [s]

    Returns
    -------
    Trajectory
    """
    if (dt is None) == (times is None):
        raise KinetreeError("Trajectory.resample: give either dt= or times=.")
    times = _even_times(run, dt) if times is None else np.array(times, dtype=float)
    if times.ndim != 1 or not len(times) or np.any(np.diff(times) <= 0.0):
        raise ShapeError(f"Trajectory.resample: times has shape {times.shape}; expected (K,), increasing.")
    if run.model is None:
        raise KinetreeError("Trajectory.resample needs the model: load it with Trajectory.load(path, model=model).")
    q, v = run.state(times)
    model, metadata = run.model, run.metadata
    before = np.clip(_rows_before(run, times), 0, len(run) - 1)
    acting = {name: x for name in ACTING if (x := getattr(metadata, name)) is not None} | {"tau": run.tau}
    for name, x in acting.items():
        constant = metadata.constant_tau and name != "wrenches"
        acting[name] = x[before] if constant else _linear(run.time, x, times)
    tau, now = acting.pop("tau"), time_argument(model, times)
    forces = (acting["wrenches"],) if "wrenches" in acting else ()
    internal = internal_arguments(model, *(_linear(run.time, values, times) for values in (run.x, run.u)))
    system = System(model, bool(forces))
    q, v = system.closed(q, v, times)
    dynamics = system.function("forward_dynamics", checks=not remaining_rows(model))
    extra = tuple(replace(x, time=times, values=frozen(_linear(run.time, x.values, times))) for x in run.extra)
    pushing = [x.values for x in extra if x.name == FORCE and model.contacts]
    touching = joint_forces(system, q, *pushing, times) if pushing else 0.0
    apart = {"method": None, "every": 1, "constant_tau": False, "constant_wrenches": False, "counts": {}, "kept": {}}
    return replace(
        run,
        time=times,
        q=q,
        v=v,
        a=dynamics(q, v, tau + touching, *dynamics_time(model, times), *forces, *internal),
        tau=tau,
        **system.energies(q, v, now),
        dt=float(dt) if dt is not None else float(np.median(np.diff(times))) if len(times) > 1 else run.dt,
        steps=None,
        **_within(run, times, apart | acting),
        extra=extra,
    )


def concatenate(runs: Sequence, tolerance: float = 1e-6):
    """One run out of several: see `Trajectory.concatenate`.

    Parameters
    ----------
    runs : sequence of Trajectory
    tolerance : float

    Returns
    -------
    Trajectory
    """
    runs = tuple(runs)
    if not runs:
        raise ShapeError("Trajectory.concatenate: no runs.")
    whole = runs[0]
    for number, run in enumerate(runs[1:], 1):
        whole = _joined(whole, run, tolerance, f"runs {number - 1} and {number}")
    return whole


def _joined(one, two, tolerance: float, which: str):
    """Two runs as one; at the seam the sample of the second, whose forces act from there on."""
    if one.coordinates != two.coordinates:
        raise KinetreeError(
            f"Trajectory.concatenate: {which} are of mechanisms with different coordinates, {one.model_name!r} and "
            f"{two.model_name!r}."
        )
    shift = float(one.time[-1] - two.time[0])
    model = one.model if one.model is not None else two.model
    if model is not None and model.time_dependent and abs(shift) > SAME_TIME * max(one.duration, 1e-300):
        raise KinetreeError(
            f"Trajectory.concatenate: {which} do not meet in time ({shift:g} s apart), and joints of "
            f"{one.model_name!r} depend on time; let the second begin when the first ends."
        )
    dq = position_difference(model, one.coordinates, one.q[-1:], two.q[:1])[0]
    for gap, what in ((dq, "position"), (two.v[0] - one.v[-1], "velocity")):
        k = int(np.argmax(np.abs(gap))) if len(gap) else 0
        if len(gap) and not abs(gap[k]) <= tolerance:
            raise KinetreeError(
                f"Trajectory.concatenate: {which} do not meet: the {what} of {one.coordinates.velocity_labels[k]!r} "
                f"differs by {gap[k]:.3g}. Begin the second run with the last state of the first, or raise tolerance "
                f"(now {tolerance:g}).",
                joint=one.coordinates.velocity_joints[k],
            )
    arrays = {name: np.concatenate((getattr(one, name)[:-1], getattr(two, name))) for name in STORED}
    # A run that began at zero is shifted; one at its place keeps its bits.
    time2 = two.time + shift if abs(shift) > SAME_TIME * max(one.duration, 1e-300) else two.time
    arrays["time"] = time = np.concatenate((one.time[:-1], time2))
    later = {x.name: x for x in two.extra}
    extra = [
        replace(x, time=time, values=frozen(np.concatenate((x.values[:-1], later[x.name].values))))
        for x in one.extra
        if x.name in later and x.values.shape[1:] == later[x.name].values.shape[1:] and x.units == later[x.name].units
    ]
    return replace(
        one,
        **arrays,
        integrator=one.integrator if one.integrator == two.integrator else f"{one.integrator}, then {two.integrator}",
        steps=one.steps + two.steps if None not in (one.steps, two.steps) else None,
        wall_time=one.wall_time + two.wall_time,
        notes=tuple(dict.fromkeys((*one.notes, *two.notes))),
        events=(*one.events, *(replace(event, time=event.time + shift) for event in two.events)),
        model=model,
        metadata=_joined_metadata(one, two, shift),
        extra=tuple(extra),
    )


def _joined_metadata(one, two, shift: float) -> RunMetadata:
    a, b = one.metadata, two.metadata
    rows = {}
    for name in ACTING:
        first, second = getattr(a, name), getattr(b, name)
        if first is not None or second is not None:
            shape = (first if second is None else second).shape[1:]
            first = np.zeros((len(one), *shape)) if first is None else first
            second = np.zeros((len(two), *shape)) if second is None else second
            later = second - second[0] + first[-1] if name in WORKS else second
            rows[name] = np.concatenate((first[:-1], later))
    same = a.method == b.method and a.every == b.every and one.dt == two.dt
    return RunMetadata(
        method=a.method if same else None,
        every=a.every if same else max(a.every, b.every, 2),
        controlled=a.controlled or b.controlled,
        constant_tau=a.constant_tau and b.constant_tau,
        impulses=(*a.impulses, *(replace(impulse, time=impulse.time + shift) for impulse in b.impulses)),
        counts={key: a.counts.get(key, 0) + b.counts.get(key, 0) for key in (*a.counts, *b.counts)},
        components=tuple(dict.fromkeys((*a.components, *b.components))),
        contacts=a.contacts if a.contacts == b.contacts else (),
        failed=b.failed,
        interrupted=b.interrupted,
        **rows,
    )


def position_difference(model, coordinates, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """The displacement from one position to another in velocity coordinates, on the manifold.

    Parameters
    ----------
    model : Model or None
        Without it, joints with as many positions as velocities are subtracted; others need it.
    coordinates : Coordinates
    q0, q1 : (K, nq) array
        [rad or m; quaternions unit]

    Returns
    -------
    (K, nv) array
        [rad or m]
    """
    if model is not None:
        return System(model).function("difference")(q0, q1)
    if coordinates.position_joints != coordinates.velocity_joints:
        joint = next(
            name
            for name in coordinates.joints
            if coordinates.position_joints.count(name) != coordinates.velocity_joints.count(name)
        )
        raise KinetreeError(
            f"differences of positions of joint {joint!r}, which has more coordinates than velocities, need the model: "
            "load the run with Trajectory.load(path, model=model).",
            joint=joint,
        )
    return q1 - q0


def _even_times(run, dt) -> np.ndarray:
    if not isinstance(dt, (int, float, np.number)) or not 0.0 < dt < np.inf:
        raise KinetreeError(f"Trajectory.resample: dt={dt!r}; expected a positive time [s].")
    steps = int(np.floor(run.duration / dt * (1.0 + SAME_TIME) + SAME_TIME))
    times = run.time[0] + dt * np.arange(steps + 1)
    if abs(times[-1] - run.time[-1]) <= 1e-6 * dt:
        times[-1] = run.time[-1]
        return times
    return np.append(times, run.time[-1])


def _rows_before(run, times: np.ndarray) -> np.ndarray:
    """The sample at or before each time; times that rounding puts just before a sample belong to it."""
    slack = SAME_TIME * max(run.duration, 1e-300)
    return np.searchsorted(run.time, times + slack, side="right") - 1


def _linear(time: np.ndarray, values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Values at other times, linear between the samples."""
    if len(time) == 1:
        return np.repeat(values, len(times), axis=0)
    n = np.clip(np.searchsorted(time, times, side="right") - 1, 0, len(time) - 2)
    s = np.clip((times - time[n]) / (time[n + 1] - time[n]), 0.0, 1.0)
    s = s.reshape(-1, *([1] * (values.ndim - 1)))
    return (1.0 - s) * values[n] + s * values[n + 1]
