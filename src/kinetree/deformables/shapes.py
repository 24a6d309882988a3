"""Deformable bodies of simple shapes: strands and cloths of springs, and solids of tetrahedra."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import (
    a_name,
    a_number_not_negative,
    a_positive_number,
    an_instance,
    array,
    checked,
    number,
    refuse,
    whole,
)
from kinetree.deformables.body import Deformable, Elements
from kinetree.deformables.material import Material
from kinetree.deformables.springs import BENDING, springs_between
from kinetree.deformables.tetrahedra import TETRAHEDRA
from kinetree.deformables.tetrahedral_mesh import TetrahedralMesh
from kinetree.errors import GeometryError, ModelError


def _a_rotation(what: str, value: object) -> None:
    """The check for a rotation matrix, if it is given."""
    if value is None:
        return
    R = array(what, value, shape=(3, 3))
    if not (np.abs(R.T @ R - np.eye(3)).max() <= 1e-9 and np.linalg.det(R) > 0.0):
        refuse(what, value, "a rotation matrix")


def _a_mesh(what: str, value: object) -> None:
    """The check for a mesh of tetrahedra."""
    if not isinstance(value, TetrahedralMesh):
        refuse(what, value, "a TetrahedralMesh, as read_mesh(path) and TetrahedralMesh(nodes, tetrahedra) give it")


def _point(what: str, value: object) -> np.ndarray:
    """The check for a position."""
    found = array(what, value, shape=(3,))
    return found if np.isfinite(found).all() else refuse(what, value, "finite numbers [m]")


@checked(
    start=_point, end=_point, mass=a_positive_number, axial_stiffness=a_number_not_negative,
    bending_stiffness=a_number_not_negative,
    rest_length=a_number_not_negative, damping=a_number_not_negative, mass_damping=a_number_not_negative, name=a_name,
)  # fmt: skip
def strand(
    start,
    end,
    segments: int,
    *,
    mass: float,
    axial_stiffness: float,
    bending_stiffness: float = 0.0,
    rest_length: float | None = None,
    damping: float = 0.0,
    mass_damping: float = 0.0,
    fixed=(),
    name: str = "strand",
) -> Deformable:
    """A straight strand of nodes with equal masses, joined by springs.

    Parameters
    ----------
    start, end : (3,) array_like
        Positions of the first and the last node [m].
    segments : int
        Springs; there is one node more.
    mass : float
        Of all nodes [kg].
    axial_stiffness : float
        Force per strain, Young's modulus times the cross-section [N]: a spring of length L has ``axial_stiffness / L``.
    bending_stiffness : float
        Moment per curvature, Young's modulus times the second moment of area [N m^2]. Two neighboring fixed or attached
        nodes clamp a strand.
    rest_length : float, optional
        Of the whole strand [m]; default: the distance of the ends.
    damping : float
        Force per rate of strain [N s]: a spring of length L has the damper ``damping / L``.
    mass_damping : float
        Damping in proportion to mass [1/s].
    fixed : sequence of int
        Nodes that are fixed in the world.
    name : str

    Returns
    -------
    Deformable

    Raises
    ------
    ArgumentError, GeometryError, ModelError

    Notes
    -----
    Source: Sueda, eq. 2.84-2.86. Bending is resisted by ``EI |x0 - 2 x1 + x2|^2 / (2 l^3)`` of each three nodes: the
    energy of curvature for small angles between segments. There is no twist.

    Examples
    --------
    >>> import kinetree as kt
    >>> rope = kt.deformables.strand((0, 0, 0), (1, 0, 0), 10, mass=0.1, axial_stiffness=100.0, fixed=[0])
    >>> rope.elements[0].parameters[0].round(9).tolist()  # stiffness, rest length, damping, viscosity
    [1000.0, 0.1, 0.0, 0.0]
    """
    n = whole("strand: segments", segments, "a whole number, at least 1", least=1, most=10**7)
    start, end = np.asarray(start, float), np.asarray(end, float)
    nodes = start + np.linspace(0.0, 1.0, n + 1)[:, None] * (end - start)
    length = float(np.linalg.norm(end - start)) if rest_length is None else float(rest_length)
    if not length > 0.0:
        raise GeometryError(f"strand {name!r}: its rest length is {length:g} m, expected a positive number.")
    pairs = np.column_stack((np.arange(n), np.arange(1, n + 1)))
    found = [springs_between(nodes, pairs, axial_stiffness * n / length, damping * n / length, length / n)]
    if bending_stiffness and n > 1:
        triples = np.column_stack([np.arange(k, n - 1 + k) for k in range(3)])
        found.append(Elements(BENDING, triples, np.tile([bending_stiffness * (n / length) ** 3, 0.0], (n - 1, 1))))
    return Deformable(name, nodes, np.full(n + 1, mass / (n + 1)), tuple(found), fixed, mass_damping)


@checked(
    corner=_point, along=_point, across=_point, mass=a_positive_number, stretch_stiffness=a_positive_number,
    shear_stiffness=a_number_not_negative, bend_stiffness=a_number_not_negative, damping=a_number_not_negative,
    mass_damping=a_number_not_negative, name=a_name,
)  # fmt: skip
def cloth(
    corner,
    along,
    across,
    cells,
    *,
    mass: float,
    stretch_stiffness: float,
    shear_stiffness: float = 0.0,
    bend_stiffness: float = 0.0,
    damping: float = 0.0,
    mass_damping: float = 0.0,
    fixed=(),
    name: str = "cloth",
) -> Deformable:
    """A rectangular cloth of springs along its edges, diagonals, and from every second node to the next.

    Parameters
    ----------
    corner : (3,) array_like
        Position of node 0 [m].
    along, across : (3,) array_like
        The sides from there [m], at right angles.
    cells : (int, int)
        Numbers of cells along and across; node (i, j) has the number ``i (cells[1] + 1) + j``.
    mass : float
        Of the cloth [kg]; each cell gives a quarter of its mass to each corner.
    stretch_stiffness, shear_stiffness, bend_stiffness : float
        Of each spring along an edge, a diagonal, and over two cells [N/m].
    damping : float
        Of each spring [N s/m].
    mass_damping : float
        Damping in proportion to mass [1/s].
    fixed : sequence of int
        Nodes that are fixed in the world.
    name : str

    Returns
    -------
    Deformable

    Raises
    ------
    ArgumentError, GeometryError, ModelError

    Notes
    -----
    A net of springs is no membrane: its behavior depends on the number of cells.

    Examples
    --------
    >>> import kinetree as kt
    >>> flag = kt.deformables.cloth((0, 0, 0), (1, 0, 0), (0, 0, 1), (4, 3), mass=0.2, stretch_stiffness=50.0)
    >>> flag.nodes.shape, round(flag.mass, 12)
    ((20, 3), 0.2)
    """
    n, m = _cells("cloth: cells", cells, 2)
    corner, along, across = (np.asarray(x, float) for x in (corner, along, across))
    sizes = np.linalg.norm(along), np.linalg.norm(across)
    if not min(sizes) > 0.0 or abs(along @ across) > 1e-9 * sizes[0] * sizes[1]:
        raise GeometryError(f"cloth {name!r}: sides {along} and {across} m, expected two vectors at right angles.")
    i, j = np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij")
    nodes = (corner + i[..., None] / n * along + j[..., None] / m * across).reshape(-1, 3)
    k = i * (m + 1) + j
    edges = [(k[:-1], k[1:]), (k[:, :-1], k[:, 1:])]
    diagonals = [(k[:-1, :-1], k[1:, 1:]), (k[1:, :-1], k[:-1, 1:])]
    bends = [(k[:-2], k[2:]), (k[:, :-2], k[:, 2:])]
    pairs, stiffness = [], []
    for springs, k_s in ((edges, stretch_stiffness), (diagonals, shear_stiffness), (bends, bend_stiffness)):
        for a, b in springs if k_s > 0.0 else ():
            pairs.append(np.column_stack((a.ravel(), b.ravel())))
            stiffness.append(np.full(a.size, k_s))
    corners = np.column_stack([x.ravel() for x in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:])])
    masses = np.bincount(corners.ravel(), minlength=k.size) * (mass / (4 * n * m))
    triangles = np.concatenate((corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]))
    elements = springs_between(nodes, np.concatenate(pairs), np.concatenate(stiffness), damping)
    return Deformable(name, nodes, masses, (elements,), fixed, mass_damping, triangles)


@checked(mesh=_a_mesh, material=an_instance(Material), origin=_point, rotation=_a_rotation, name=a_name)
def solid(
    mesh: TetrahedralMesh, material: Material, *, origin=(0.0, 0.0, 0.0), rotation=None, fixed=(), name: str = "solid"
) -> Deformable:
    """An elastic solid of tetrahedra.

    Parameters
    ----------
    mesh : TetrahedralMesh
        As `read_mesh` or `beam_mesh` give it.
    material : Material
    origin, rotation : (3,) and (3, 3) array_like, optional
        Where the mesh's axes are: position of their origin [m], and they as columns in world axes [1], such as
        ``p_WF`` and ``R_WF`` of `kinetree.pose`.
    fixed : sequence of int
        Nodes that are fixed in the world.
    name : str

    Returns
    -------
    Deformable

    Raises
    ------
    ModelError
        A node that is not there.
    ArgumentError

    Notes
    -----
    Each tetrahedron gives a quarter of its mass to each of its nodes. Its strain is constant.
    """
    if rotation is not None or np.any(origin):
        R = np.eye(3) if rotation is None else np.asarray(rotation, float)
        mesh = TetrahedralMesh(np.asarray(origin, float) + mesh.nodes @ R.T, mesh.tetrahedra, mesh.name)
    inverse, volumes = mesh.inverse_edges, mesh.volumes
    shares = np.repeat(0.25 * material.density * volumes, 4)
    masses = np.bincount(mesh.tetrahedra.ravel(), weights=shares, minlength=len(mesh.nodes))
    elements = Elements(TETRAHEDRA[material.law], mesh.tetrahedra, material.parameters(inverse, volumes))
    return Deformable(name, mesh.nodes, masses, (elements,), fixed, material.mass_damping, mesh.surface)


@checked(size=_point, material=an_instance(Material), origin=_point, rotation=_a_rotation, name=a_name)
def beam(
    size, cells, material: Material, *, origin=(0.0, 0.0, 0.0), rotation=None, fixed=(), name: str = "beam"
) -> Deformable:
    """A beam or box of tetrahedra.

    Parameters
    ----------
    size : (3,) array_like
        Sides along its axes [m].
    cells : (int, int, int)
        Cells along its axes, each of five tetrahedra.
    material : Material
    origin : (3,) array_like
        Position of the middle of its face at the lower end of the first axis [m].
    rotation : (3, 3) array_like, optional
        Its axes as columns, in world axes [1].
    fixed : sequence of int
        Nodes that are fixed in the world.
    name : str

    Returns
    -------
    Deformable

    Raises
    ------
    ArgumentError, GeometryError

    Examples
    --------
    >>> import kinetree as kt
    >>> rubber = kt.deformables.Material(young_modulus=1e6, density=1000.0)
    >>> bar = kt.deformables.beam((1.0, 0.1, 0.1), (10, 1, 1), rubber)
    >>> len(bar.elements[0].nodes), round(bar.mass, 12)
    (50, 10.0)
    """
    sides = array("beam: size", size, "sides [m]", shape=(3,))
    if not np.all(sides > 0.0):
        refuse("beam: size", size, "three positive numbers [m]")
    mesh = beam_mesh(sides, _cells("beam: cells", cells, 3))
    return solid(mesh, material, origin=origin, rotation=rotation, fixed=fixed, name=name)


def beam_mesh(size, cells) -> TetrahedralMesh:
    """The mesh of a beam, from the middle of its face at the lower end of the first axis.

    Parameters
    ----------
    size : (3,) array_like
        Sides [m].
    cells : (int, int, int)
        Five tetrahedra each, mirrored from cell to cell so that faces match.

    Returns
    -------
    TetrahedralMesh
    """
    sides = array("beam_mesh: size", size, "sides [m]", shape=(3,))
    n = _cells("beam_mesh: cells", cells, 3)
    grid = np.stack(np.meshgrid(*(np.arange(k + 1) for k in n), indexing="ij"), axis=-1)
    nodes = grid.reshape(-1, 3) / n * sides - [0.0, 0.5 * sides[1], 0.5 * sides[2]]
    numbers = np.arange(len(nodes)).reshape(grid.shape[:3])
    corner = np.stack(
        [numbers[a : n[0] + a, b : n[1] + b, c : n[2] + c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], axis=-1
    ).reshape(-1, 8)  # fmt: skip
    odd = grid[:-1, :-1, :-1].sum(axis=-1).reshape(-1) % 2 == 1
    even_cell = [(0, 4, 2, 1), (6, 2, 4, 7), (5, 4, 1, 7), (3, 1, 2, 7), (1, 2, 4, 7)]
    odd_cell = [(4, 0, 6, 5), (2, 6, 0, 3), (1, 0, 5, 3), (7, 5, 6, 3), (5, 6, 0, 3)]
    found = [corner[~odd][:, list(t)] for t in even_cell] + [corner[odd][:, list(t)] for t in odd_cell]
    tetrahedra = np.concatenate(found)
    edges = nodes[tetrahedra[:, 1:]] - nodes[tetrahedra[:, :1]]
    inverted = np.linalg.det(edges) < 0.0
    tetrahedra[inverted] = tetrahedra[inverted][:, [0, 2, 1, 3]]
    return TetrahedralMesh(nodes, tetrahedra, "beam")


def _cells(what: str, cells, count: int) -> tuple[int, ...]:
    """Numbers of cells along each side."""
    if isinstance(cells, (str, bytes)) or not hasattr(cells, "__len__") or len(cells) != count:
        refuse(what, cells, f"{count} whole numbers")
    return tuple(whole(f"one of {what}", n, "a whole number, at least 1", least=1, most=10**4) for n in cells)


def spring_network(
    name: str, nodes, masses, pairs, *, stiffness, rest_lengths=None, damping=0.0, fixed=()
) -> Deformable:
    """Any network of springs between nodes.

    Parameters
    ----------
    name : str
    nodes : (n, 3) array_like
        Positions [m].
    masses : (n,) array_like
        [kg]
    pairs : (m, 2) array_like of int
        Nodes of each spring.
    stiffness, damping : float or (m,) array_like
        [N/m], [N s/m]
    rest_lengths : float or (m,) array_like, optional
        [m]; default: the distances of the nodes.
    fixed : sequence of int
        Nodes that are fixed in the world.

    Returns
    -------
    Deformable

    Raises
    ------
    ArgumentError, ModelError

    Examples
    --------
    >>> import kinetree as kt
    >>> triangle = kt.deformables.spring_network(
    ...     "triangle", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [1, 1, 1], [[0, 1], [1, 2], [2, 0]], stiffness=100.0
    ... )
    >>> triangle.elements[0].parameters[:, 1].round(3).tolist()
    [1.0, 1.414, 1.0]
    """
    nodes = array("spring_network: nodes", nodes, "positions [m]", shape=(None, 3))
    pairs = array("spring_network: pairs", pairs, "pairs of numbers of nodes", shape=(None, 2)).astype(int)
    m = len(pairs)
    if (wrong := np.flatnonzero(((pairs < 0) | (pairs >= len(nodes))).any(axis=1) | (pairs[:, 0] == pairs[:, 1]))).size:
        found = f"pairs[{wrong[0]}] is {pairs[wrong[0]].tolist()}"
        raise ModelError(f"spring_network {name!r}: {found}, expected two different nodes from 0 to {len(nodes) - 1}.")
    if rest_lengths is None:
        rest_lengths = np.linalg.norm(nodes[pairs[:, 1]] - nodes[pairs[:, 0]], axis=1)
    columns = []
    for what, value in (("stiffness", stiffness), ("rest_lengths", rest_lengths), ("damping", damping)):
        value = np.broadcast_to(array(f"spring_network: {what}", value, shape=(m,) if np.ndim(value) else ()), m)
        for x in (value.min(), value.max()) if m else ():
            number(f"spring_network: {what}", float(x), "numbers that are not negative", least=0.0)
        columns.append(value)
    stiffness, rest_lengths, damping = columns
    elements = springs_between(nodes, pairs, stiffness, damping, rest_lengths)
    return Deformable(name, nodes, masses, (elements,), fixed)
