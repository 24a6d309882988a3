"""Recorded simulations of coupled systems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinetree.arguments import a_path, checked, choice
from kinetree.errors import FileFormatError
from kinetree.files import replacing
from kinetree.simulation.picture_formats import PICTURES, refuse_options_of_pictures

ENERGIES = ("kinetic", "gravitational", "elastic")


@dataclass(frozen=True, eq=False)
class CoupledRun:
    """A recorded simulation of deformables and a model.

    Attributes
    ----------
    time : (T,) array
        [s]
    q, v : (T, nq) and (T, nv) array
        Of the model [rad or m, and per second].
    x, u : (T, n, 3) array
        Positions and velocities of all nodes, body after body [m, m/s].
    internal : (T, nx) array
        Internal states of the model's force elements [as the elements define them].
    kinetic, gravitational, elastic : (T,) array
        Energies of model and nodes together [J].
    work, dissipated : (T,) array
        Work of actuators, wrenches and inputs, and energy that dampers and friction took, by the trapezoidal rule [J].
    names : tuple of str
        Of the bodies.
    starts : (nb + 1,) array of int
        The first node of each body, and the number of all nodes.
    triangles, lines : (m, 3) and (m, 2) array of int
        Surfaces and springs, for pictures.
    origins : (T, nb, 3) array
        Positions of the origins of the model's bodies [m].
    parents : (nb,) array of int
        The parent of each body.
    integrator : str
    notes : tuple of str
        On soft stops that were added to the model, and on bodies that start far from their attached nodes.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    x: np.ndarray
    u: np.ndarray
    internal: np.ndarray
    kinetic: np.ndarray
    gravitational: np.ndarray
    elastic: np.ndarray
    work: np.ndarray
    dissipated: np.ndarray
    names: tuple[str, ...]
    starts: np.ndarray
    triangles: np.ndarray
    lines: np.ndarray
    origins: np.ndarray
    parents: np.ndarray
    integrator: str = ""
    notes: tuple[str, ...] = ()

    def nodes(self, name: str) -> np.ndarray:
        """Positions of the nodes of a body over time.

        Parameters
        ----------
        name : str

        Returns
        -------
        (T, n, 3) array
            [m]

        Raises
        ------
        UnknownNameError
        """
        k = self.names.index(choice("nodes: name", name, self.names, "this run"))
        return self.x[:, self.starts[k] : self.starts[k + 1]]

    @property
    def energy(self) -> np.ndarray:
        """Kinetic, gravitational and elastic energy together (T,) [J]."""
        return self.kinetic + self.gravitational + self.elastic

    @property
    def unexplained(self) -> np.ndarray:
        """Change of the energy that work and dampers do not explain (T,) [J]: that of the method."""
        return self.energy - self.energy[0] - self.work + self.dissipated

    def energy_balance(self) -> dict[str, float]:
        """Energies at the end, less those at the start, and where they came from [J].

        Returns
        -------
        dict of str to float
            Changes of "kinetic", "gravitational", "elastic" and all "energy"; "work", "dissipated", "unexplained".
        """
        found = {name: float(getattr(self, name)[-1] - getattr(self, name)[0]) for name in (*ENERGIES, "energy")}
        return found | {name: float(getattr(self, name)[-1]) for name in ("work", "dissipated", "unexplained")}

    @checked(path=a_path)
    def save(self, path, **view) -> None:
        """Write all arrays to a file of NumPy (.npz), or a page, a picture or a film of the motion.

        Parameters
        ----------
        path : path-like
            ``.html``, ``.png``, ``.mp4``, ``.gif`` and others of `kinetree.viz.save_view`; else arrays of NumPy.
        **view
            The options of `kinetree.viz.save_view`.

        Raises
        ------
        FileWriteError, ArgumentError
        """
        if Path(path).suffix.lower() in PICTURES:
            from kinetree.viewer.saving import save_view

            save_view(self, path, **view)
            return
        refuse_options_of_pictures("CoupledRun.save", path, view)
        with replacing(path) as file:
            np.savez_compressed(file, **{name: np.asarray(value) for name, value in vars(self).items()})

    def plot(self, *, frames: int = 4, path=None, show: bool = False):
        """Draw the bodies at some instants in space, and the energies over time.

        Parameters
        ----------
        frames : int
            Instants.
        path : path-like, optional
            Write the figure there.
        show : bool
            Open a window.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from kinetree.viz.deformables import plot_deformables

        return plot_deformables(self, frames=frames, path=path, show=show)

    def view(self, **options):
        """Replay the run in a browser; options are those of `kinetree.view`.

        Parameters
        ----------
        **options
            Of `kinetree.view`: host, port, play, block, quiet.

        Returns
        -------
        Viewer
        """
        from kinetree.viewer.viewer import replayed

        return replayed((self,), **options)


@checked(path=a_path)
def load_run(path) -> CoupledRun:
    """Read a run that `CoupledRun.save` has written.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    CoupledRun

    Raises
    ------
    FileFormatError
        No such file, or a file of another kind.

    Examples
    --------
    >>> import kinetree as kt
    >>> rope = kt.deformables.strand((0, 0, 0), (0.5, 0, 0), 2, mass=0.1, axial_stiffness=500.0)
    >>> run = kt.deformables.Coupled(None, rope).simulate(0.01, 1e-3)
    >>> run.save("rope.npz")
    >>> bool((kt.deformables.load_run("rope.npz").nodes("strand") == run.nodes("strand")).all())
    True
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in CoupledRun.__dataclass_fields__}
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise FileFormatError(f"{path}: no run of coupled deformables: {error}", file=str(path), line=None) from error
    arrays |= {name: tuple(map(str, arrays[name])) for name in ("names", "notes")}
    arrays["integrator"] = str(arrays["integrator"])
    return CoupledRun(**arrays)
