"""Tetrahedral meshes: checks, volumes, surfaces, and files."""

from __future__ import annotations

import contextlib
import functools
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinetree.arguments import a_path, a_positive_number, array, checked
from kinetree.errors import GeometryError, MissingDependencyError
from kinetree.files import why_not_ordinary
from kinetree.model.parts import read_only

FLATTEST = 1e-9  # of the cube of its longest edge: the volume of a tetrahedron that is flat but for rounding
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))  # outward, of a tetrahedron with positive volume


@dataclass(frozen=True, eq=False)
class TetrahedralMesh:
    """Tetrahedra that fill a solid.

    Parameters
    ----------
    nodes : (n, 3) array
        [m]
    tetrahedra : (m, 4) array of int
        Nodes of each; the last three turn counterclockwise seen from the first one's opposite side: positive volume.
    name : str
        For messages.

    Raises
    ------
    GeometryError
        ``check`` names the failed test: "finite", "nodes" (a number that is not there, or twice in a tetrahedron),
        "unreferenced" (a node of no tetrahedron), "flat", "inverted", "manifold" (a face of three tetrahedra, or of two
        on one side, a tetrahedron twice, or an edge or a node at which two parts of the surface touch).

    Examples
    --------
    >>> import kinetree as kt
    >>> corner = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> mesh = kt.deformables.TetrahedralMesh(corner, [[0, 1, 2, 3]])
    >>> round(float(mesh.volumes[0]), 6), mesh.surface.shape
    (0.166667, (4, 3))
    """

    nodes: np.ndarray
    tetrahedra: np.ndarray
    name: str = "mesh"

    def __post_init__(self) -> None:
        nodes = array("TetrahedralMesh: nodes", self.nodes, "positions [m]", shape=(None, 3))
        numbers = array("TetrahedralMesh: tetrahedra", self.tetrahedra, "numbers of nodes", shape=(None, 4))
        object.__setattr__(self, "nodes", read_only(nodes))
        object.__setattr__(self, "tetrahedra", read_only(numbers.astype(int)))
        self._check_numbers(numbers)
        self._check_volumes()
        self._check_manifold()

    def fail(self, check: str, message: str, **values: object) -> GeometryError:
        """Build the error of a failed check."""
        return GeometryError(f"tetrahedral mesh {self.name!r}: {message}", check=check, file=self.name, **values)

    def _check_numbers(self, numbers) -> None:
        nodes, tetrahedra = self.nodes, self.tetrahedra
        if not np.all(np.isfinite(nodes)):
            bad = int(np.flatnonzero(~np.isfinite(nodes).all(axis=1))[0])
            raise self.fail("finite", f"node {bad} is at {nodes[bad]}, expected finite numbers.", node=bad)
        if not len(tetrahedra):
            raise self.fail("nodes", "it has no tetrahedra. Fill surfaces by a mesh generator (gmsh, TetGen).")
        wrong = (numbers != tetrahedra) | (tetrahedra < 0) | (tetrahedra >= len(nodes))
        if wrong.any():
            t, k = np.argwhere(wrong)[0]
            message = f"tetrahedron {t} has node {numbers[t, k]:g}, expected 0 to {len(nodes) - 1}."
            raise self.fail("nodes", message, tetrahedron=int(t))
        ordered = np.sort(tetrahedra, axis=1)
        if (twice := np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))).size:
            t = int(twice[0])
            raise self.fail("nodes", f"tetrahedron {t} has a node twice: {tetrahedra[t].tolist()}.", tetrahedron=t)
        used = np.zeros(len(nodes), bool)
        used[tetrahedra] = True
        if not used.all():
            loose = np.flatnonzero(~used)
            where = f"node {loose[0]} at {nodes[loose[0]]}"
            message = f"{len(loose)} of {len(used)} nodes belong to no tetrahedron ({where}); leave them out."
            raise self.fail("unreferenced", message, nodes=loose)

    def _check_volumes(self) -> None:
        edges, volumes = self._edges, self.volumes
        longest = np.sqrt(np.einsum("tij,tij->ti", edges, edges).max(axis=1))
        flat = np.flatnonzero(np.abs(volumes) <= FLATTEST * longest**3)
        if flat.size:
            t = int(flat[0])
            message = f"tetrahedron {t} is flat: volume {volumes[t]:.3g} m^3 at {longest[t]:.3g} m; {flat.size} in all."
            raise self.fail("flat", f"{message} Leave it out or mesh anew.", tetrahedron=t, volume=float(volumes[t]))
        inverted = np.flatnonzero(volumes < 0.0)
        if inverted.size:
            t = int(inverted[0])
            message = f"tetrahedron {t} is inverted: volume {volumes[t]:.3g} m^3; {inverted.size} in all."
            repair = "Exchange two of its nodes (tetrahedra[t, [1, 0, 2, 3]])."
            raise self.fail("inverted", f"{message} {repair}", tetrahedron=t, volume=float(volumes[t]))

    def _check_manifold(self) -> None:
        faces, counts, owners = self._faces
        if (many := np.flatnonzero(counts > 2)).size:
            face = faces[many[0]].tolist()
            inside = owners[many[0]]
            message = f"the face of nodes {face} belongs to {counts[many[0]]} tetrahedra ({inside} is one), expected 1"
            raise self.fail("manifold", f"{message} or 2: it is not manifold.", face=face)
        if (same := np.flatnonzero(np.abs(self._sides) == 2)).size:
            face = faces[same[0]].tolist()
            message = f"both tetrahedra of the face of nodes {face} ({owners[same[0]]} is one) are on one side of it:"
            raise self.fail("manifold", f"{message} they overlap, or are the same one twice.", face=face)
        surface = self.surface
        edges = np.sort(np.concatenate((surface[:, [0, 1]], surface[:, [1, 2]], surface[:, [2, 0]])), axis=1)
        pairs, uses = np.unique(edges, axis=0, return_counts=True)
        if (many := np.flatnonzero(uses != 2)).size:
            edge = pairs[many[0]].tolist()
            message = (
                f"{uses[many[0]]} triangles of the surface meet at the edge of nodes {edge}, expected 2: it is not"
            )
            raise self.fail("manifold", f"{message} manifold. Separate the parts by nodes of their own.", edge=edge)
        if (pinched := _pinched(surface)).size:
            node = int(pinched[0])
            message = f"parts of the surface touch at node {node} alone: it is not manifold. Separate the parts by"
            raise self.fail("manifold", f"{message} nodes of their own.", node=node)

    @functools.cached_property
    def _edges(self) -> np.ndarray:
        return self.nodes[self.tetrahedra[:, 1:]] - self.nodes[self.tetrahedra[:, :1]]

    @functools.cached_property
    def volumes(self) -> np.ndarray:
        """Volumes of the tetrahedra [m^3]."""
        return np.linalg.det(self._edges) / 6.0

    @property
    def inverse_edges(self) -> np.ndarray:
        """``D_m^-1`` of each tetrahedron [1/m], the columns of ``D_m`` the edges from its first node."""
        return np.linalg.inv(self._edges.transpose(0, 2, 1))

    @functools.cached_property
    def _faces(self) -> tuple:
        """The faces by sorted nodes, how many tetrahedra have each, and one of them."""
        faces = np.concatenate([np.sort(self.tetrahedra[:, list(f)], axis=1) for f in FACES])
        found, first, counts = np.unique(faces, axis=0, return_index=True, return_counts=True)
        return found, counts, first % len(self.tetrahedra)

    @property
    def _sides(self) -> np.ndarray:
        """For each face of `_faces` the sum over its tetrahedra of the sides on which they are, 1 or -1."""
        outward = np.concatenate([self.tetrahedra[:, list(f)] for f in FACES])
        side = np.prod([np.sign(outward[:, a] - outward[:, b]) for a, b in ((1, 0), (2, 0), (2, 1))], axis=0)
        _, which = np.unique(np.sort(outward, axis=1), axis=0, return_inverse=True)
        return np.bincount(which.ravel(), weights=side)

    @functools.cached_property
    def surface(self) -> np.ndarray:
        """The triangles of the surface, counterclockwise seen from outside."""
        all_faces = np.concatenate([self.tetrahedra[:, list(f)] for f in FACES])
        _, first, counts = np.unique(np.sort(all_faces, axis=1), axis=0, return_index=True, return_counts=True)
        return all_faces[np.sort(first[counts == 1])]


def _pinched(surface: np.ndarray) -> np.ndarray:
    """The nodes whose triangles are several fans, of a surface whose edges all have two triangles."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = surface.size
    corners = np.arange(count).reshape(-1, 3)  # of triangles; those at a node are joined across common edges
    sides = [(a, b) if k == 0 else (b, a) for a, b in ((0, 1), (1, 2), (2, 0)) for k in (0, 1)]
    ends = np.concatenate([surface[:, [a, b]] for a, b in sides])  # edges from each of their nodes
    at = np.concatenate([corners[:, a] for a, _ in sides])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    first, second = at[order[::2]], at[order[1::2]]
    joined = coo_array((np.ones(len(first)), (first, second)), shape=(count, count))
    _, fan = connected_components(joined, directed=False)
    fans = np.unique(np.column_stack((surface.ravel(), fan)), axis=0)
    nodes, counts = np.unique(fans[:, 0], return_counts=True)
    return nodes[counts > 1]


@checked(path=a_path, scale=a_positive_number)
def read_mesh(path, *, scale: float = 1.0) -> TetrahedralMesh:
    """Read a tetrahedral mesh from a file of any format that meshio reads (Gmsh, VTK, TetGen, Abaqus, Nastran ...).

    Parameters
    ----------
    path : path-like
    scale : float
        Meters per unit of the file.

    Returns
    -------
    TetrahedralMesh
        Cells of other kinds (triangles of the surface, lines) and nodes that belong to them alone are left out.

    Raises
    ------
    MissingDependencyError
        meshio is not installed.
    GeometryError
        The file is not there or broken, has no tetrahedra, or these are not a solid.

    Examples
    --------
    >>> import kinetree as kt, meshio
    >>> corners = [[0, 0, 0], [10, 0, 0], [0, 10, 0], [0, 0, 10]]  # millimeters
    >>> meshio.write_points_cells("tetrahedron.vtk", corners, [("tetra", [[0, 1, 2, 3]])])
    >>> mesh = kt.deformables.read_mesh("tetrahedron.vtk", scale=1e-3)
    >>> mesh.nodes.shape, mesh.volumes.sum().round(12).item()
    ((4, 3), 1.66667e-07)
    """
    name = str(path)
    fault = why_not_ordinary(path) or ("" if Path(path).exists() else "no such file")
    if fault:
        raise GeometryError(f"tetrahedral mesh {name!r}: {fault}, expected a mesh file.", file=name, check="file")
    try:
        import meshio
    except ImportError as error:
        message = "reading tetrahedral meshes needs meshio: pip install meshio"
        raise MissingDependencyError(message) from error
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            mesh = meshio.read(Path(path))
    except (Exception, SystemExit) as error:  # meshio prints, and ends the process, where it cannot tell the format
        why = " ".join(said.getvalue().split()) if isinstance(error, SystemExit) else str(error)
        message = f"tetrahedral mesh {name!r}: meshio cannot read it: {why}"
        raise GeometryError(message, file=name, check="file") from error
    cells = [block.data for block in mesh.cells if block.type == "tetra"]
    if not cells:
        kinds = ", ".join(sorted({block.type for block in mesh.cells})) or "none"
        message = f"tetrahedral mesh {name!r}: no cells of kind 'tetra'; its cells: {kinds}."
        raise GeometryError(f"{message} Fill surfaces by a mesh generator (gmsh, TetGen).", file=name, check="nodes")
    tetrahedra = np.concatenate(cells)
    used, tetrahedra = np.unique(tetrahedra, return_inverse=True)
    return TetrahedralMesh(scale * mesh.points[used], tetrahedra.reshape(-1, 4), name)
