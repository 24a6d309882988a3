r"""Collisions of two rigid bodies, by the spatial algebra.

Book                                          here
``Delta v_1 = -I_1^-1 N lambda`` (eq. 11.66)  `Collision.first`
``Delta v_2 = I_2^-1 N lambda`` (eq. 11.67)   `Collision.second`
``N = [n_x n_y n_z]`` (eq. 11.68)             `contact_forces`
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import array, checked, number, refuse
from kinetree.collision.axes import contact_axes
from kinetree.contact.impacts import Impact, impact
from kinetree.spatial import Force, Inertia, Vector3

NO_LENGTH = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Collision:
    """A collision of two bodies.

    Attributes
    ----------
    first, second : (6,) array
        Velocities of both bodies after it, [angular; linear] [rad/s, m/s].
    impulses : (3,) array
        On the second body, in contact axes (t1, t2, n) [N s].
    before, after : (3,) array
        Velocity of the second body relative to the first at the point, in contact axes [m/s].
    axes : (3, 3) array
        Columns t1, t2, n [1].
    energy_change : float
        Of both bodies together [J].
    """

    first: np.ndarray
    second: np.ndarray
    impulses: np.ndarray
    before: np.ndarray
    after: np.ndarray
    axes: np.ndarray
    energy_change: float


@checked()
def collide(first, second, v_first, v_second, normal, point=(0.0, 0.0, 0.0), *, restitution=0.0, friction=0.0):
    r"""The collision of two rigid bodies at a point.

    .. math:: \lambda = -(N^T (I_1^{-1} + I_2^{-1}) N)^{-1} (1 + E) N^T (v_2 - v_1)

    Parameters
    ----------
    first, second : Inertia, ArticulatedInertia, float or None
        A rigid or articulated body, about the origin of common coordinates; a mass: a particle at the point [kg]; None:
        a fixed surface.
    v_first, v_second : (6,) array
        Velocities before, [angular; linear] about the same origin [rad/s, m/s]; of particles the linear part counts.
    normal : (3,) array
        From the first to the second body, of any length [1].
    point : (3,) array
        Where they touch [m].
    restitution : float
        Coefficient e of the normal velocity, between 0 and 1 [1].
    friction : float
        Coefficient mu of Coulomb's cone [1]; infinity: the tangential velocity is arrested (eq. 11.66-11.72).

    Returns
    -------
    Collision

    Raises
    ------
    ArgumentError
        A body of another kind, both fixed, or a coefficient out of its range.

    Notes
    -----
    Source: Featherstone (2008), eq. 11.60-11.72. Without friction, ``lambda = -(1 + e) zeta / (n . (I_1^-1 + I_2^-1)
    n)``, and the energy changes by ``-(1 - e^2) zeta^2 / (2 n . (I_1^-1 + I_2^-1) n)``. Bodies that do not approach
    each other get no impulse.
    Identities: momentum about the origin is conserved if neither is fixed; ``after`` is -e times ``before`` along n.

    See Also
    --------
    impact, strike

    Examples
    --------
    A solid sphere without spin on a floor keeps 5/7 of its tangential velocity where slip is arrested:

    >>> import kinetree as kt, math
    >>> from kinetree.spatial import Inertia, Symmetric3, Vector3
    >>> ball = Inertia.from_com(1.0, Vector3(0.0, 0.0, 0.0), Symmetric3.diagonal(0.4, 0.4, 0.4))  # radius 1
    >>> found = kt.contact.collide(None, ball, [0] * 6, [0, 0, 0, 7, 0, -1], (0, 0, 1), (0, 0, -1), friction=math.inf)
    >>> found.second.round(12) + 0.0
    array([0., 5., 0., 5., 0., 0.])
    """
    v1, v2 = (array(f"collide: {name}", x, "a velocity [angular; linear]", shape=(6,))
              for name, x in (("v_first", v_first), ("v_second", v_second)))  # fmt: skip
    n, r = (array(f"collide: {name}", x, "a vector", shape=(3,)) for name, x in (("normal", normal), ("point", point)))
    if not (np.isfinite(n).all() and np.linalg.norm(n) > NO_LENGTH):
        refuse("collide: normal", normal, "a finite vector that is not zero")
    e = number("collide: restitution", restitution, "a number from 0 to 1", least=0.0, most=1.0)
    mu = number("collide: friction", friction, "a number that is not negative", least=0.0, finite=False)
    axes, forces = contact_forces(n / np.linalg.norm(n), r)
    responses = _response("first", first, forces, r), _response("second", second, forces, r)
    if first is None and second is None:
        refuse("collide: second", second, "a body, since the first is fixed")
    N = forces.T  # (6, 3), columns are spatial forces
    u = N.T @ (v2 - v1)
    found: Impact = impact(N.T @ (responses[0] + responses[1]), u[None], friction=mu, restitution=e)
    P = found.impulses[0]
    return Collision(
        v1 - responses[0] @ P, v2 + responses[1] @ P, P, found.before[0], found.after[0], axes, found.energy_change
    )


def contact_forces(n: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The contact axes as columns (3, 3), and unit forces along them at a point, as rows (3, 6)."""
    axes = np.array([list(x) for x in contact_axes(Vector3(*n.tolist()))])
    return axes.T, np.hstack((np.cross(point, axes), axes))


def _response(which: str, body, forces: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Changes of velocity (6, 3) by unit impulses along the contact axes."""
    if body is None:
        return np.zeros((6, 3))
    if isinstance(body, Inertia) and not float(body.m) > 0.0:
        refuse(f"collide: {which}", body, "a body with mass")
    if isinstance(body, Inertia):
        motions = [body.inverse_apply(Force.of(f.tolist())) for f in forces]
        return np.array([[*map(float, m.angular), *map(float, m.linear)] for m in motions]).T
    if hasattr(body, "plus_rigid"):  # an articulated inertia
        return np.linalg.solve(np.asarray(body.matrix(), dtype=float), forces.T)
    m = number(f"collide: {which}", body, "an Inertia, an ArticulatedInertia, a mass or None", above=0.0)
    return np.vstack((np.zeros((3, 3)), forces[:, 3:].T / m))
