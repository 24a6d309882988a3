"""The record of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kinetree import arguments
from kinetree.arguments import checked
from kinetree.errors import KinetreeError, NonFiniteError
from kinetree.html_text import of_run
from kinetree.integrators.coordinates import Coordinates
from kinetree.simulation.interpolation import interpolate
from kinetree.simulation.provenance import Provenance
from kinetree.simulation.run_metadata import RunMetadata

a_run = arguments.of_kind("Trajectory", "time", "resample")


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
        Choices and additions of the simulation: soft stops, another start.
    events : tuple of Occurrence
        Events in the order of time.
    model : Model or None
        The model as simulated; it is not saved in files.
    metadata : RunMetadata
        Data of the energy balance beside the samples.
    extra : tuple of Quantity
        Channels that the user added.
    provenance : Provenance
        Version, digest of the robot and seed, and when and where the run was made.
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
    metadata: RunMetadata = field(default_factory=RunMetadata)
    extra: tuple = ()
    provenance: Provenance = Provenance()

    def __post_init__(self) -> None:
        for name in ("time", "q", "v", "a", "tau", "kinetic_energy", "potential_energy", "elastic_energy"):
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return (
            f"Trajectory of {self.model_name!r}: {len(self)} samples over {self.duration:g} s, {self.integrator}, "
            f"{self.real_time_factor:.3g} x real time{', ended early' if self.ended_early else ''}"
        )

    _repr_html_ = of_run

    @property
    def x(self) -> np.ndarray:
        """Internal states of force elements at the samples, shape (T, nx), by ``model.state_names``: channel "x"."""
        return self._added("x")

    @property
    def u(self) -> np.ndarray:
        """Inputs of force elements at the samples, shape (T, nu), by ``model.input_names``: channel "u"."""
        return self._added("u")

    @property
    def contacts(self):
        """Gaps, points and forces of candidate points of contact at the samples: a `Contacts`; None without any."""
        from kinetree.simulation.contacts import contacts_of

        return contacts_of(self)

    @property
    def contact_channels(self) -> tuple:
        """Gaps, points and normals of contacts as channels, if they are not among those added."""
        from kinetree.simulation.contacts import place_channels

        return place_channels(self) if self.metadata.contacts else ()

    def _added(self, name: str) -> np.ndarray:
        found = (quantity.values for quantity in self.extra if quantity.name == name)
        return next(found, np.empty((len(self), 0)))

    @property
    def duration(self) -> float:
        """Simulated time [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def ended_early(self) -> str:
        """Why the run ended before its time, such as "interrupted by Ctrl-C at t = 0.12 s"; empty if it did not."""
        return self.metadata.failed or self.metadata.interrupted

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

        Zero for a motion without dissipation and forces, up to the integrator's error. The kinetic energy is the scale
        because the zero of the potential energy is arbitrary.
        """
        scale = float(np.max(self.kinetic_energy))
        change = float(np.max(np.abs(self.energy - self.energy[0])))
        return change / scale if scale > 0 else change

    @property
    def energy_balance(self):
        """Energy by kind, power and work of every source, momentum and drift at the samples: a `EnergyBalance`.

        Raises
        ------
        KinetreeError
            The trajectory was loaded without its model.
        """
        if "energy_balance" not in self.metadata.kept:
            from kinetree.simulation.energy_balance import make_energy_balance

            self.metadata.kept["energy_balance"] = make_energy_balance(self)
        return self.metadata.kept["energy_balance"]

    def report(self):
        """Report irregularities of this run, with place and time.

        Returns
        -------
        Report
            It prints as text; ``report.findings`` has the parts, ``report.ok`` whether none is serious.
        """
        if "report" not in self.metadata.kept:
            from kinetree.simulation.report import make_report

            self.metadata.kept["report"] = make_report(self)
        return self.metadata.kept["report"]

    @checked(t=arguments.an_array)
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
        Error of order 4 in the distance of the samples, as long as no force is discontinuous at a sample (a digital
        controller's does). At an event that changes the state, and at an impact between samples, the motion before it
        leads to the state just before.
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
        return interpolate(self, t)

    def plot(self, joints=None, what=None, path=None, show: bool = False, limits: str = "near"):
        """Draw the trajectory.

        Parameters
        ----------
        joints : sequence of str, optional
            Names of the joints to draw; default all.
        what : sequence of str, optional
            Any of "q", "v", "a", "tau", "contact", "energy"; default all but "a", and "tau" only if a force acts,
            "contact" only if there is contact.
        path : path-like, optional
            Write the figure there; the suffix gives the format (png, svg, pdf).
        show : bool
            Open a window.
        limits : {"near", "all", "none"}
            Limits of positions, velocities and forces, if the model is there: as dashed lines where a curve comes
            close, all, or none.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from kinetree.viz.plots import plot_trajectory

        return plot_trajectory(self, joints=joints, what=what, path=path, show=show, limits=limits)

    def animate(self, **view):
        """Animate the run by matplotlib, for scripts and notebooks; see `kinetree.viz.animate`.

        Parameters
        ----------
        **view
            The options of `kinetree.viz.animate`.

        Returns
        -------
        matplotlib.animation.FuncAnimation
        """
        from kinetree.viewer.stick import animate

        return animate(self, **view)

    def plot_phase(self, joints=None, path=None, show: bool = False):
        """Draw velocities over positions; arguments as for `plot`."""
        from kinetree.viz.run_plots import plot_phase

        return plot_phase(self, joints=joints, path=path, show=show)

    def plot_path(self, frames, views=None, path=None, show: bool = False):
        """Draw the paths of frames in space and on planes.

        Parameters
        ----------
        frames : str or sequence of str
        views : sequence of str, optional
            Any of "3d", "xy", "xz", "yz"; default all, or the plane of the paths.
        path : path-like, optional
            Write the figure there.
        show : bool
            Open a window.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from kinetree.viz.run_plots import plot_path

        return plot_path(self, frames, views=views, path=path, show=show)

    def plot_power(self, joints=None, path=None, show: bool = False):
        """Draw the power of every source and of the joint forces at each joint; arguments as for `plot`."""
        from kinetree.viz.run_plots import plot_power

        return plot_power(self, joints=joints, path=path, show=show)

    def plot_contacts(self, bodies=None, path=None, show: bool = False):
        """Draw normal forces, friction and gaps of the bodies in contact; see `kinetree.viz.plot_contacts`."""
        from kinetree.viz.contacts import plot_contacts

        return plot_contacts(self, bodies=bodies, path=path, show=show)

    def plot_energy_balance(self, path=None, show: bool = False):
        """Draw energy by kind, the work of every source and the unexplained part; arguments as for `plot`."""
        from kinetree.viz.run_plots import plot_energy_balance

        return plot_energy_balance(self, path=path, show=show)

    def view(self, *more_runs, **options):
        """Replay the run in a browser, with other runs drawn over it.

        Parameters
        ----------
        *more_runs : Trajectory
        **options
            Of `kinetree.view`: role, host, port, play, block, quiet.

        Returns
        -------
        Viewer
        """
        from kinetree.viewer.viewer import replayed

        return replayed((self, *more_runs), **options)

    # Channels --------------------------------------------------------------------------------------------------------

    @property
    def channels(self):
        """All channels by name, with units, labels and descriptions: a mapping of str to `Quantity`.

        States and energies; with the model the entries of the energy balance, and of each frame "tool.position" and
        its like; channels added by `with_channel`.
        """
        from kinetree.simulation.channels import Channels

        return Channels(self)

    @checked(name=arguments.a_name, unit=arguments.a_name, description=arguments.a_name, labels=arguments.some_names)
    def with_channel(self, name: str, values, unit: str, description: str = "", labels=None) -> Trajectory:
        """The same run with an additional channel, which slices, files and tables of the run include.

        Parameters
        ----------
        name : str
        values : (T,) or (T, k) array
            At the samples, in the unit [unit].
        unit : str
        description : str
        labels : sequence of str, optional
            Names of the k columns.

        Returns
        -------
        Trajectory

        Raises
        ------
        ShapeError, DuplicateNameError
            There is not one row for each sample; the name is taken.
        """
        from kinetree.simulation.channels import with_channel

        return with_channel(self, name, values, unit, description, labels)

    @checked(name=arguments.a_name)
    def frame(self, name: str, point=None):
        """The path of a frame, such as a tool: position, rotation and velocities in world axes.

        Parameters
        ----------
        name : str
            A frame or a body of the model.
        point : (3,) array_like, optional
            A point of the frame to follow instead of its origin [m].

        Returns
        -------
        FramePath
        """
        from kinetree.simulation.frame_path import frame_path

        return frame_path(self, name, point)

    # Parts and sums --------------------------------------------------------------------------------------------------

    def __getitem__(self, rows: slice) -> Trajectory:
        """Some of the samples, such as ``run[::10]``, with the same bits."""
        from kinetree.simulation.resampling import take

        return take(self, rows)

    __iter__ = None  # samples are rows of arrays

    @checked(start=arguments.a_bound, end=arguments.a_bound)
    def between(self, start: float = -float("inf"), end: float = float("inf")) -> Trajectory:
        """The samples from one time to another [s], both included; times stay.

        Parameters
        ----------
        start, end : float
            [s]

        Returns
        -------
        Trajectory
        """
        from kinetree.simulation.resampling import between

        return between(self, start, end)

    @checked(dt=arguments.a_positive_number, times=arguments.an_array)
    def resample(self, dt: float | None = None, times=None) -> Trajectory:
        """The run at other times: evenly spaced, or at given ones.

        Parameters
        ----------
        dt : float, optional
            Distance of the samples [s]; the last is the end of the run, also where it is off the grid.
        times : (K,) array, optional
            Increasing times within the run [s].

        Returns
        -------
        Trajectory

        Notes
        -----
        Positions and velocities are those of `state`. Joint forces are those that were constant there, or are
        interpolated linearly, as are wrenches and channels that were added; accelerations and energies are the model's
        own.
        """
        from kinetree.simulation.resampling import resample

        return resample(self, dt, times)

    @staticmethod
    @checked(runs=arguments.several(a_run), tolerance=arguments.a_number_not_negative)
    def concatenate(runs, tolerance: float = 1e-6) -> Trajectory:
        """One run out of several, each of which begins in the state where the one before ends.

        Parameters
        ----------
        runs : sequence of Trajectory
            Times are shifted so that each begins when the one before ends.
        tolerance : float
            How far states may be apart at a seam [rad, m, rad/s, m/s].

        Returns
        -------
        Trajectory

        Raises
        ------
        KinetreeError
            A state is discontinuous at a seam, or the runs are of different mechanisms; names the coordinate.
        """
        from kinetree.simulation.resampling import concatenate

        return concatenate(runs, tolerance)

    @checked(other=a_run, tolerance=arguments.a_number_not_negative, joints=arguments.some_names)
    def compare(self, other: Trajectory, tolerance: float = 1e-6, joints=None):
        """Differences of another run from this one, joint by joint, and where they begin.

        Parameters
        ----------
        other : Trajectory
            Of a mechanism with the same coordinates.
        tolerance : float
            Differences beyond it count [rad, m, rad/s, m/s].
        joints : sequence of str, optional
            Default: all.

        Returns
        -------
        RunComparison
            It prints as a table; ``plot()`` draws both runs and their difference.
        """
        from kinetree.simulation.comparison import compare_runs

        return compare_runs(self, other, tolerance, joints)

    # Files and tables ------------------------------------------------------------------------------------------------

    @checked(path=arguments.a_path, energy_balance=arguments.a_truth_value)
    def save(self, path, energy_balance: bool | None = None, **view) -> Path:
        """Write the trajectory to a file: its numbers, or a page, a picture or a film of it.

        Parameters
        ----------
        path : path-like
            ``.npz`` (default) and ``.nc`` or ``.h5`` (NetCDF 4) keep everything but the model; ``.csv`` and
            ``.parquet`` have one labeled column per coordinate, ``.mat`` variables of MATLAB; ``.html`` is a page that
            shows the motion, ``.png``, ``.mp4``, ``.gif``, ``.glb``, ``.rrd`` are views: `kinetree.viz.save_view`.
        energy_balance : bool, optional
            Keep the energy balance, to be read without the model: by default if the format can hold it (no tables).
        **view
            Of pages, pictures and films: the options of `kinetree.viz.save_view`.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        MissingDependencyError
            The format needs a package; the message has the command that installs it.
        """
        from kinetree.simulation.storage import PICTURES, save

        if Path(path).suffix.lower() in PICTURES:
            from kinetree.viewer.saving import save_view

            return save_view(self, path, **view)
        return save(self, path, energy_balance, **view)

    @staticmethod
    @checked(path=arguments.a_path, model=arguments.a_model)
    def load(path, model=None) -> Trajectory:
        """Read a trajectory from a file that `save` wrote.

        Parameters
        ----------
        path : path-like
            .npz, .nc, .h5 or .csv.
        model : Model, optional
            The model, which the file does not hold; needed by `state`, `frame` and all that interpolates.

        Returns
        -------
        Trajectory

        Raises
        ------
        FileFormatError
            The file is no trajectory, is damaged, unfolds to more than there is memory for, or is of a newer version;
            or the model has other coordinates.

        Notes
        -----
        The arrays' shapes are checked against the settings in the file before any of them is unfolded. If the model has
        other numbers than the one simulated, the notes of the run mention it.
        """
        from kinetree.simulation.storage import load

        return load(path, model)

    @checked(frames=arguments.some_names, energy_balance=arguments.a_truth_value)
    def to_xarray(self, frames=(), energy_balance: bool = True):
        """The trajectory as an ``xarray.Dataset`` with labeled axes and units.

        Parameters
        ----------
        frames : sequence of str
            Frames whose paths belong in it: variables "tool.position" and its like.
        energy_balance : bool
            With the entries of the energy balance, if there is one.

        Returns
        -------
        Dataset

        Raises
        ------
        MissingDependencyError
            xarray is not installed.
        """
        from kinetree.simulation.labeled import to_xarray

        return to_xarray(self, frames, energy_balance)

    @checked(frames=arguments.some_names)
    def to_pandas(self, frames=()):
        """The trajectory as a ``pandas.DataFrame``: time is the index, columns are pairs such as ("q", "knee").

        Parameters
        ----------
        frames : sequence of str
            Frames whose paths belong in it.

        Returns
        -------
        pandas.DataFrame
            ``attrs["units"]`` has the unit of each column.

        Raises
        ------
        MissingDependencyError
            pandas is not installed.
        """
        from kinetree.simulation.labeled import to_pandas

        return to_pandas(self, frames)
