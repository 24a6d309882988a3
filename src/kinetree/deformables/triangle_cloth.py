"""Cloths of any shape: springs along the edges of a triangle mesh, and across them."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_name, a_number_not_negative, a_positive_number, array, checked
from kinetree.deformables.body import Deformable
from kinetree.deformables.springs import springs_between
from kinetree.errors import GeometryError

FLATTEST = 1e-9  # of the square of its longest edge: twice the area of a triangle that is a line but for rounding


@checked(
    mass=a_positive_number, stretch_stiffness=a_positive_number, bend_stiffness=a_number_not_negative,
    damping=a_number_not_negative, mass_damping=a_number_not_negative, name=a_name,
)  # fmt: skip
def cloth_of_triangles(
    nodes,
    triangles,
    *,
    mass: float,
    stretch_stiffness: float,
    bend_stiffness: float = 0.0,
    damping: float = 0.0,
    mass_damping: float = 0.0,
    fixed=(),
    name: str = "cloth",
) -> Deformable:
    """A cloth over the triangles of a surface: flags, sails, balloons, as meshes of trimesh and meshio have them.

    Parameters
    ----------
    nodes : (n, 3) array_like
        Positions at rest [m]; of trimesh ``mesh.vertices``, of meshio ``mesh.points``.
    triangles : (m, 3) array_like of int
        Nodes of each; ``mesh.faces``, or ``mesh.cells_dict["triangle"]``.
    mass : float
        Of the cloth [kg]; each triangle gives a third of its mass, which is in proportion to its area, to each corner.
    stretch_stiffness, bend_stiffness : float
        Of each spring along an edge, and between the corners on both sides of an edge [N/m].
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
    ArgumentError, ModelError
    GeometryError
        ``check`` names the failed test: "finite", "nodes" (a number that is not there), "unreferenced" (a node of no
        triangle), "flat" (a triangle that is a line or a point), "manifold" (an edge of three triangles, or a triangle
        twice).

    Notes
    -----
    A net of springs is no membrane: its behavior depends on the mesh.

    Examples
    --------
    >>> import kinetree as kt, trimesh
    >>> ball = trimesh.creation.icosphere(subdivisions=1, radius=0.1)
    >>> skin = kt.deformables.cloth_of_triangles(ball.vertices, ball.faces, mass=0.02, stretch_stiffness=50.0)
    >>> skin.nodes.shape, len(skin.elements[0].nodes), round(skin.mass, 12)
    ((42, 3), 120, 0.02)
    """
    nodes = array("cloth_of_triangles: nodes", nodes, "positions [m]", shape=(None, 3))
    numbers = array("cloth_of_triangles: triangles", triangles, "numbers of nodes", shape=(None, 3))
    triangles = numbers.astype(int)
    areas = _areas(name, nodes, numbers, triangles)
    sides = np.concatenate([triangles[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
    across = np.concatenate([triangles[:, c] for c in (2, 0, 1)])
    edges, which, uses = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(which.ravel(), kind="stable")
    first = np.concatenate(([0], np.cumsum(uses)[:-1]))
    inner = first[uses == 2]
    bends = np.column_stack((across[order[inner]], across[order[inner + 1]]))
    if (many := np.flatnonzero(uses > 2)).size:
        message = f"the edge of nodes {edges[many[0]].tolist()} belongs to {uses[many[0]]} triangles, expected 1 or 2"
        raise _fault(name, "manifold", f"{message}: it is not manifold. Separate the parts by nodes of their own.")
    if (twice := np.flatnonzero(bends[:, 0] == bends[:, 1])).size:
        corners = [*edges[uses == 2][twice[0]].tolist(), int(bends[twice[0], 0])]
        raise _fault(name, "manifold", f"two triangles have the nodes {sorted(corners)}; leave one of them out.")
    groups = [(edges, stretch_stiffness), (bends[: len(bends) if bend_stiffness > 0.0 else 0], bend_stiffness)]
    pairs = np.concatenate([pair for pair, _ in groups])
    stiffness = np.concatenate([np.full(len(pair), value) for pair, value in groups])
    elements = springs_between(nodes, pairs, stiffness, damping)
    shares = np.repeat(areas * (mass / (3.0 * areas.sum())), 3)
    masses = np.bincount(triangles.ravel(), weights=shares, minlength=len(nodes))
    return Deformable(name, nodes, masses, (elements,), fixed, mass_damping, triangles)


def _areas(name: str, nodes, numbers, triangles) -> np.ndarray:
    """The areas of the triangles, which are checked one by one."""
    if not np.isfinite(nodes).all():
        bad = int(np.flatnonzero(~np.isfinite(nodes).all(axis=1))[0])
        raise _fault(name, "finite", f"node {bad} is at {nodes[bad]}, expected finite numbers.")
    if not len(triangles):
        raise _fault(name, "nodes", "it has no triangles.")
    wrong = (numbers != triangles) | (triangles < 0) | (triangles >= len(nodes))
    if wrong.any():
        t, k = np.argwhere(wrong)[0]
        raise _fault(name, "nodes", f"triangle {t} has node {numbers[t, k]:g}, expected 0 to {len(nodes) - 1}.")
    if (loose := np.setdiff1d(np.arange(len(nodes)), triangles)).size:
        where = f"node {loose[0]} at {nodes[loose[0]]}"
        message = f"{len(loose)} of {len(nodes)} nodes belong to no triangle ({where}); leave them out."
        raise _fault(name, "unreferenced", message)
    corners = nodes[triangles]
    edges = corners - corners[:, [1, 2, 0]]
    areas = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    longest = np.einsum("tij,tij->ti", edges, edges).max(axis=1)
    if (flat := np.flatnonzero(2.0 * areas <= FLATTEST * longest)).size:
        t = int(flat[0])
        found = f"triangle {t} of nodes {triangles[t].tolist()} has the area {areas[t]:.3g} m^2; {flat.size} in all."
        raise _fault(name, "flat", f"{found} Leave it out or mesh anew.")
    return areas


def _fault(name: str, check: str, message: str) -> GeometryError:
    return GeometryError(f"cloth {name!r}: {message}", check=check)
