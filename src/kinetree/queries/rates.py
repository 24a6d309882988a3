"""Rates of nearest points and normals: the kinematics of contact of curved surfaces, edges and corners.

Source: Montana (1988), "The kinematics of contact and grasp", with the distance of the surfaces; Featherstone (2008),
section 11.6 (the rate of the normal enters the contact equations, and polyhedra have none).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_model, checked
from kinetree.compiler.calls import plain_call
from kinetree.errors import UnsupportedError
from kinetree.model.parts import read_only
from kinetree.queries.distances import distances
from kinetree.queries.features import Feature, contact_matrix, feature, solved, tangents
from kinetree.queries.scene import Scene

_body_velocities = plain_call(ALGORITHMS["body_velocities"])
_forward_kinematics = plain_call(ALGORITHMS["forward_kinematics"])


@dataclass(frozen=True, slots=True, eq=False)
class ContactRates:
    """Rates of nearest points and normals of pairs at one state; all vectors are in the world.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Names of the first and the second shape of each pair.
    distance_rate : (n,) array
        [m/s].
    normal_rate : (n, 3) array
        Of the unit normal from the first to the second shape [1/s].
    first_rate, second_rate : (n, 3) array
        Of the nearest points, which move over both surfaces [m/s].
    distance : (n,) array
        [m].
    normal : (n, 3) array
        [1].

    Notes
    -----
    Rates that the state does not determine are NaN: of points on faces or lines that are parallel, and of the normal if
    such bodies turn relative to each other.
    """

    pairs: tuple[tuple[str, str], ...]
    distance_rate: np.ndarray
    normal_rate: np.ndarray
    first_rate: np.ndarray
    second_rate: np.ndarray
    distance: np.ndarray
    normal: np.ndarray

    def __post_init__(self) -> None:
        for name in ("distance_rate", "normal_rate", "first_rate", "second_rate", "distance", "normal"):
            read_only(getattr(self, name))

    def __len__(self) -> int:
        return len(self.pairs)


@checked(model=a_model)
def contact_rates(model, q, v, pairs=None, *, within: float = math.inf, t=None) -> ContactRates:
    """Rates of the nearest points, normals and distances of convex shapes.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    pairs : sequence of (str, str) or ContactPair, optional
        As in `distances`.
    within : float
        Leave out pairs farther apart than this [m].
    t : float, optional
        Time [s], for models that depend on it.

    Returns
    -------
    ContactRates

    Raises
    ------
    UnsupportedError
        A shape is a height field.
    UnknownNameError, GeometryError, MissingDependencyError

    Notes
    -----
    Meshes count as their convex hulls. At the normal n each surface has two principal directions with radii of
    curvature, 0 across edges and infinite along flat directions. Six linear equations: each point moves over its
    surface by radius times rotation of the normal relative to the body, and the difference of the points stays d n.

    *Identities* the distance rate is ``n . (V_2 - V_1)`` at the points; the derivatives of `distances` along v.

    Examples
    --------
    A ball that rolls over another one of the same size: the normal turns with half the speed over the radius.

    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("balls")
    >>> ball = kt.model.Geometry("sphere", (0.5,))
    >>> b.add_geometry("world", kt.model.Geometry("sphere", (0.5,), name="still"))
    >>> b.add_body("ball", joint=kt.joints.Free(), mass=1.0, inertia=(1.0, 1.0, 1.0), geometry=[ball])
    >>> found = kt.collision.contact_rates(b.build(), [0, 0, 1, 1, 0, 0, 0], [0, 1, 0, 0.5, 0, 0])
    >>> found.normal_rate.round(9).tolist()
    [[0.5, 0.0, 0.0]]
    """
    near = distances(model, q, pairs, within=within, refine=True, t=t)
    scene = Scene.of(model)
    number = {shape.name: k for k, shape in enumerate(scene.shapes)}
    instant = () if t is None else (t,)
    _, p_WB = _forward_kinematics(model, q, *instant)
    V = _body_velocities(model, q, v, *instant, reference="local_world_aligned").reshape(model.nb, 2, 3)
    poses = scene.poses(q, t)
    rates = []
    for (a, b), d, x, y, n in zip(near.pairs, near.distance, near.first, near.second, near.normal, strict=True):
        sides = []
        for name, at, outward in ((a, x, n), (b, y, -n)):
            k = number[name]
            body, angular = scene.shapes[k].body, V[scene.shapes[k].body, 0]
            velocity = V[body, 1] + np.cross(angular, at - p_WB[body])
            sides.append((_surface(scene, k, poses, at, outward), angular, velocity))
        rates.append(_solved(d, n, *sides))
    columns = [np.array([rate[i] for rate in rates]).reshape(-1, 3) for i in (1, 2, 3)]
    return ContactRates(near.pairs, np.array([rate[0] for rate in rates]), *columns, near.distance, near.normal)


def _surface(scene: Scene, k: int, poses, at: np.ndarray, n: np.ndarray) -> Feature:
    """The surface of a shape at a point with an outward normal, in the world."""
    shape, solid = scene.shapes[k], scene.solids[k]
    if shape.geometry.kind == "heightfield":
        raise UnsupportedError(f"contact_rates: {shape} has no single normal; take the distances of two states")
    R, p = poses[0][k], poses[1][k]
    found = feature(solid.support, R.T @ n, R.T @ (at - p))
    return Feature(found.axes @ R.T, found.radii)


def _solved(d: float, n: np.ndarray, first, second) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Rates of distance, normal and points of two surfaces, each with angular velocity and velocity at its point."""
    (A, w_A, v_A), (B, w_B, v_B) = first, second
    T = tangents(n)
    M, right = contact_matrix(d, T, A, B), np.zeros(6)
    for row, surface, sign, w in ((0, A, 1.0, w_A), (2, B, -1.0, w_B)):  # the surfaces turn with their bodies
        ratios = sign * np.where(np.isfinite(surface.radii), surface.radii, 1.0)
        right[row : row + 2] = -ratios * (surface.axes @ np.cross(w, n))
    right[4:] = T @ (v_B - v_A)
    x, is_unique = solved(M, right)
    unknown = np.full(3, np.nan)
    rate, normal_rate = float(n @ (v_B - v_A)), unknown if x is None else T.T @ x[:2]
    if x is None or not is_unique:
        return rate, normal_rate, unknown, unknown
    return rate, normal_rate, v_A + T.T @ x[2:4], v_B + T.T @ x[4:]
