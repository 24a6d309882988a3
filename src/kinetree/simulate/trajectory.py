"""The record of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kinetree.errors import KinetreeError, NonFiniteError
from kinetree.integrate.coordinates import Coordinates
from kinetree.integrate.system import System
from kinetree.simulate.book import Book


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trajectory:
    """States, forces and energies along a simulated motion, one row per sample.

    Attributes
    ----------
    time : (T,) array
        Sample times [s].
    q : (T, nq) array
        Positions [rad or m; quaternions unit, (w, x, y, z)].
    v, a, tau : (T, nv) array
        Velocities, accelerations and joint forces [rad/s or m/s, per second, N m or N].
    kinetic_energy, potential_energy, elastic_energy : (T,) array
        Energies of motion, gravity and joint springs (soft stops included) [J].
    model_name : str
    coordinates : Coordinates
        Labels and units of the columns.
    integrator : str
        The method, with its settings.
    dt : float
        Step, or distance of the samples of an adaptive run [s].
    steps : int or None
        Number of fixed steps.
    wall_time : float
        Time that the run took [s].
    notes : tuple of str
        What the simulation chose or added: soft stops, a moved start.
    events : tuple of Occurrence
        What happened, in the order of time; not saved in files.
    model : Model or None
        The model as simulated; it is not saved in files.
    book : Book
        What the ledger is made of beside the samples; it is not saved in files.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    kinetic_energy: np.ndarray
    potential_energy: np.ndarray
    elastic_energy: np.ndarray
    model_name: str
    coordinates: Coordinates
    integrator: str
    dt: float
    steps: int | None = None
    wall_time: float = float("nan")
    notes: tuple[str, ...] = ()
    events: tuple = ()
    model: object = field(default=None)
    book: Book = field(default_factory=Book)

    def __post_init__(self) -> None:
        for name in ("time", "q", "v", "a", "tau", "kinetic_energy", "potential_energy", "elastic_energy"):
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return (
            f"Trajectory of {self.model_name!r}: {len(self)} samples over {self.duration:g} s, {self.integrator}, "
            f"{self.real_time_factor:.3g} x real time"
        )

    @property
    def duration(self) -> float:
        """Simulated time [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def real_time_factor(self) -> float:
        """Simulated time over wall time [1]."""
        return self.duration / self.wall_time if self.wall_time > 0 else float("inf")

    @property
    def energy(self) -> np.ndarray:
        """Total mechanical energy at the samples [J], shape (T,)."""
        return self.kinetic_energy + self.potential_energy + self.elastic_energy

    @property
    def energy_drift(self) -> float:
        """Largest change of the total energy since the start, relative to the largest kinetic energy [1].

        Zero for a motion without losses and drives, up to the integrator's error. The kinetic energy is the scale
        because the zero of the potential energy is arbitrary.
        """
        scale = float(np.max(self.kinetic_energy))
        change = float(np.max(np.abs(self.energy - self.energy[0])))
        return change / scale if scale > 0 else change

    @property
    def ledger(self):
        """Energy by kind, power and work of every source, momentum and drift at the samples: a `Ledger`.

        Raises
        ------
        KinetreeError
            The trajectory was loaded without its model.
        """
        if "ledger" not in self.book.kept:
            from kinetree.simulate.ledger import make_ledger

            self.book.kept["ledger"] = make_ledger(self)
        return self.book.kept["ledger"]

    def report(self):
        """Say in words what is off in this run, and where it began.

        Returns
        -------
        Report
            It prints as text; ``report.findings`` has the parts, ``report.ok`` whether there are none that matter.
        """
        if "report" not in self.book.kept:
            from kinetree.simulate.report import make_report

            self.book.kept["report"] = make_report(self)
        return self.book.kept["report"]

    def state(self, t) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity at any time of the run.

        Parameters
        ----------
        t : (...) array
            Times within the run [s].

        Returns
        -------
        q : (..., nq) array
            Positions [rad or m; quaternions unit].
        v : (..., nv) array
            Velocities [rad/s or m/s].

        Raises
        ------
        NonFiniteError
            A time is outside the run.
        KinetreeError
            The trajectory was loaded without its model.

        Notes
        -----
        Source: cubic Hermite interpolation of the step from the sample before, ``q = integrate(q_n, xi(t))``, on the
        manifold: it meets positions and velocities of both samples; v is interpolated from v and a likewise.
        Error of order 4 in the distance of the samples, as long as no force jumps at a sample (a digital controller's
        does).
        """
        if self.model is None:
            raise KinetreeError("Trajectory.state needs the model: load it with Trajectory.load(path, model=model).")
        t = np.asarray(t, dtype=float)
        slack = 1e-9 * max(self.duration, 1.0)
        if not np.all((t >= self.time[0] - slack) & (t <= self.time[-1] + slack)):
            raise NonFiniteError(
                f"Trajectory.state: t is outside the run [{self.time[0]:g}, {self.time[-1]:g}] s.", time=t
            )
        if len(self) == 1:
            return self.q[np.zeros(t.shape, int)], self.v[np.zeros(t.shape, int)]
        n = np.clip(np.searchsorted(self.time, t, side="right") - 1, 0, len(self) - 2)
        h = (self.time[n + 1] - self.time[n])[..., None]
        function = System(self.model).function
        s = np.clip((t[..., None] - self.time[n][..., None]) / h, 0.0, 1.0)
        end = function("difference")(self.q[n], self.q[n + 1])
        end_rate = function("tangent_rate")(end, self.v[n + 1])
        xi = _hermite(s, np.zeros_like(end), h * self.v[n], end, h * end_rate)
        v = _hermite(s, self.v[n], h * self.a[n], self.v[n + 1], h * self.a[n + 1])
        return function("integrate")(self.q[n], xi), v

    def plot(self, joints=None, what=None, path=None, show: bool = False):
        """Draw the trajectory.

        Parameters
        ----------
        joints : sequence of str, optional
            Names of the joints to draw; default all.
        what : sequence of str, optional
            Any of "q", "v", "a", "tau", "energy"; default all but "a", and "tau" only if a force acts.
        path : path-like, optional
            Write the figure there; the suffix gives the format (png, svg, pdf).
        show : bool
            Open a window.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from kinetree.viz.plots import plot_trajectory

        return plot_trajectory(self, joints=joints, what=what, path=path, show=show)

    def save(self, path) -> Path:
        """Write the trajectory to a file.

        Parameters
        ----------
        path : path-like
            ``.npz`` (the default when there is no suffix) keeps everything but the model; ``.csv`` has one labeled
            column per coordinate; ``.nc`` is a labeled NetCDF file (needs xarray).

        Returns
        -------
        pathlib.Path
            The file written.

        Raises
        ------
        MissingDependencyError
            ``.nc`` without xarray; the message has the install command.
        """
        from kinetree.simulate.storage import save

        return save(self, path)

    @staticmethod
    def load(path, model=None) -> Trajectory:
        """Read a trajectory from the ``.npz`` file that `save` wrote.

        Parameters
        ----------
        path : path-like
        model : Model, optional
            The model, which the file does not hold; needed by `state`.

        Returns
        -------
        Trajectory
        """
        from kinetree.simulate.storage import load

        return load(path, model)

    def to_xarray(self):
        """The trajectory as an ``xarray.Dataset`` with labeled axes and units.

        Raises
        ------
        MissingDependencyError
            xarray is not installed.
        """
        from kinetree.simulate.storage import to_xarray

        return to_xarray(self)


def _hermite(s, x0, m0, x1, m1):
    """Cubic on [0, 1] with values x0, x1 and slopes m0, m1."""
    return x0 + s * (m0 + s * (3.0 * (x1 - x0) - 2.0 * m0 - m1 + s * (2.0 * (x0 - x1) + m0 + m1)))
