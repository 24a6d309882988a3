"""Comparison of two runs: differences, the joints concerned and the time of the first one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.errors import KinetreeError, unknown_name
from kinetree.simulation.channels import frozen
from kinetree.simulation.resampling import SAME_TIME, position_difference


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunComparison:
    """The differences of two runs on common times: the second less the first.

    Attributes
    ----------
    time : (K,) array
        Common times [s].
    labels, units : tuple of str
        Names of the compared velocity coordinates, and units of their positions.
    dq, dv : (K, n) array
        Differences of positions, on the joints' manifolds, and of velocities [rad or m; rad/s or m/s].
    tolerance : float
        Differences beyond it count.
    first, second : Trajectory
        The runs, as they were given.
    columns : tuple of int
        Which velocity coordinates of the runs are compared.
    interpolated : bool
        Whether one of the runs has no samples at these times and was interpolated.
    """

    time: np.ndarray
    labels: tuple[str, ...]
    units: tuple[str, ...]
    dq: np.ndarray
    dv: np.ndarray
    tolerance: float
    first: object
    second: object
    columns: tuple[int, ...]
    interpolated: bool

    @property
    def max_dq(self) -> np.ndarray:
        """Largest difference of each position [rad or m], shape (n,)."""
        return np.max(np.abs(self.dq), axis=0)

    @property
    def max_dv(self) -> np.ndarray:
        """Largest difference of each velocity [rad/s or m/s], shape (n,)."""
        return np.max(np.abs(self.dv), axis=0)

    @property
    def rms_dq(self) -> np.ndarray:
        """Root of the mean square difference of each position [rad or m], shape (n,)."""
        return np.sqrt(np.mean(self.dq**2, axis=0))

    @property
    def rms_dv(self) -> np.ndarray:
        """Root of the mean square difference of each velocity [rad/s or m/s], shape (n,)."""
        return np.sqrt(np.mean(self.dv**2, axis=0))

    @property
    def begins(self) -> np.ndarray:
        """When each position or velocity first differs by more than the tolerance [s], shape (n,); NaN for never."""
        beyond = ~((np.abs(self.dq) <= self.tolerance) & (np.abs(self.dv) <= self.tolerance))
        return np.where(beyond.any(axis=0), self.time[np.argmax(beyond, axis=0)], np.nan)

    @property
    def same(self) -> bool:
        """Whether no difference is beyond the tolerance."""
        return not np.any(np.isfinite(self.begins))

    @property
    def first_difference(self) -> tuple[str, float] | None:
        """The coordinate that differs first, and when [s]; of several at once, that which differs most; or None."""
        if self.same:
            return None
        begins = self.begins
        when = float(np.nanmin(begins))
        row = int(np.argmin(np.abs(self.time - when)))
        size = np.where(begins == when, np.maximum(np.abs(self.dq[row]), np.abs(self.dv[row])), -1.0)
        return self.labels[int(np.argmax(size))], when

    def table(self) -> str:
        """The differences as text, one line for each coordinate."""
        width = max([len(label) for label in self.labels], default=0)
        width = max(width, len("coordinate"))
        lines = [f"{'coordinate':<{width}}  {'max |dq|':>10}  {'rms dq':>10}  {'max |dv|':>10}  {'rms dv':>10}  begins"]
        for k, label in enumerate(self.labels):
            numbers = "  ".join(f"{x[k]:10.3e}" for x in (self.max_dq, self.rms_dq, self.max_dv, self.rms_dv))
            begins = self.begins[k]
            when = f"{begins:.6g} s" if np.isfinite(begins) else "-"
            lines.append(f"{label:<{width}}  {numbers}  {when}")
        return "\n".join(lines)

    def __str__(self) -> str:
        how = ", one run interpolated" if self.interpolated else ""
        lines = [
            f"{self.first.integrator}, dt = {self.first.dt:g} s, against {self.second.integrator}, "
            f"dt = {self.second.dt:g} s",
            f"{len(self.time)} common times from {self.time[0]:g} to {self.time[-1]:g} s{how}",
        ]
        first = self.first_difference
        if first is None:
            lines.append(f"No difference beyond {self.tolerance:g}.")
        else:
            lines.append(f"They first differ at {first[0]!r}, at t = {first[1]:.6g} s (tolerance {self.tolerance:g}).")
        return "\n".join([*lines, self.table()])

    def __repr__(self) -> str:
        first = self.first_difference
        text = "the same" if first is None else f"they differ from {first[0]!r}, t = {first[1]:.6g} s"
        return f"<comparison of two runs at {len(self.time)} times: {text}>"

    def plot(self, path=None, show: bool = False):
        """Draw the positions of both runs, and how far they are apart.

        Parameters
        ----------
        path : path-like, optional
            Write the figure there.
        show : bool
            Open a window.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from kinetree.viz.run_plots import plot_comparison

        return plot_comparison(self, path=path, show=show)


def compare_runs(first, second, tolerance: float = 1e-6, joints=None) -> RunComparison:
    """Compare two runs: see `Trajectory.compare`.

    Parameters
    ----------
    first, second : Trajectory
    tolerance : float
    joints : sequence of str, optional

    Returns
    -------
    RunComparison

    Notes
    -----
    Times are common samples, if all samples of one run, as far as both last, are samples of the other. Else the run
    that has more is interpolated at those of the other.
    """
    c = first.coordinates
    for what in ("position_labels", "velocity_labels"):
        mine, theirs = getattr(c, what), getattr(second.coordinates, what)
        if mine != theirs:
            only = [label for label in (*mine, *theirs) if (label in mine) != (label in theirs)]
            raise KinetreeError(
                f"compare: runs of {first.model_name!r} and {second.model_name!r} have different "
                f"{what.replace('_', ' ')}: {', '.join(only[:6]) or 'the same in another order'}."
            )
    if not tolerance >= 0.0:
        raise KinetreeError(f"compare: tolerance={tolerance!r}; expected a number from 0 on.")
    columns = _columns(c, joints, first.model_name)
    model = first.model if first.model is not None else second.model
    time, (q0, v0), (q1, v1), interpolated = _common(first, second)
    dq = position_difference(model, c, q0, q1)[:, columns]
    units = tuple(c.velocity_units[k].removesuffix("/s") for k in columns)
    return RunComparison(
        time=frozen(time),
        labels=tuple(c.velocity_labels[k] for k in columns),
        units=units,
        dq=frozen(dq),
        dv=frozen((v1 - v0)[:, columns]),
        tolerance=float(tolerance),
        first=first,
        second=second,
        columns=tuple(columns),
        interpolated=interpolated,
    )


def _columns(coordinates, joints, name: str) -> list[int]:
    if joints is None:
        return list(range(len(coordinates.velocity_labels)))
    joints = (joints,) if isinstance(joints, str) else tuple(joints)
    for joint in joints:
        if joint not in coordinates.joints:
            raise unknown_name("joint", joint, coordinates.joints, f"the run of {name!r}")
    return [k for k, joint in enumerate(coordinates.velocity_joints) if joint in joints]


def _common(first, second):
    """Common times, the states of both runs there, and whether one had to be interpolated."""
    start, end = max(first.time[0], second.time[0]), min(first.time[-1], second.time[-1])
    slack = SAME_TIME * max(first.duration, second.duration, 1e-300)
    if end < start - slack:
        raise KinetreeError(
            f"compare: the runs have no time in common: {first.time[0]:g} to {first.time[-1]:g} s, and "
            f"{second.time[0]:g} to {second.time[-1]:g} s."
        )
    inside = [np.flatnonzero((run.time >= start - slack) & (run.time <= end + slack)) for run in (first, second)]
    runs = (first, second)
    few = int(len(inside[1]) < len(inside[0]))  # the run with fewer samples gives the times
    if not len(inside[few]):
        few = 1 - few
    sparse, dense = runs[few], runs[1 - few]
    rows = inside[few]
    if not len(rows):
        raise KinetreeError(f"compare: neither run has a sample between {start:g} and {end:g} s, where both last.")
    time = sparse.time[rows]
    near = np.clip(np.searchsorted(dense.time, time - slack), 0, len(dense) - 1)
    shared = np.abs(dense.time[near] - time) <= slack
    if shared.all():
        states, interpolated = (dense.q[near], dense.v[near]), False
    elif dense.model is not None or sparse.model is not None:
        from dataclasses import replace

        known = dense if dense.model is not None else replace(dense, model=sparse.model)
        states, interpolated = known.state(np.clip(time, dense.time[0], dense.time[-1])), True
    elif shared.any():
        rows, near = rows[shared], near[shared]
        time, states, interpolated = time[shared], (dense.q[near], dense.v[near]), False
    else:
        raise KinetreeError(
            "compare: the runs share no sample, and interpolating needs the model: load one of them with "
            "Trajectory.load(path, model=model)."
        )
    mine = (sparse.q[rows], sparse.v[rows])
    return (time, states, mine, interpolated) if few else (time, mine, states, interpolated)
