r"""Impacts: impulses of several contacts at one instant, by the laws of Newton and of Poisson, and one after the other.

Book                                              here
``Delta zeta = M lambda`` (eq. 11.41-11.59)       `after = before + delassus @ impulses`
``Delta zeta = -(1 + e) zeta`` (eq. 11.64)        law "newton"
LCP of eq. 11.42, at the level of impulses        `solve_laws` (`active_laws.py`)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import array, checked, choice, refuse
from kinetree.contact.active_laws import ContactLaws, solve_laws
from kinetree.errors import ContactError

MOST_COLLISIONS = 20_000
AT_REST = 1e-12  # of the fastest approach: slower ones are no collision


@dataclass(frozen=True, slots=True, eq=False)
class Impact:
    """An impact of several contacts.

    Attributes
    ----------
    impulses : (n, 3) array
        On the second bodies, in contact axes (t1, t2, n) [N s]; the first bodies get the opposite.
    before, after : (n, 3) array
        Velocities of the second bodies relative to the first ones, in contact axes [m/s].
    energy_change : float
        Change of the kinetic energy [J], ``P . (before + after) / 2``; negative if energy is lost.
    collisions : tuple of int
        Of law "sequential": the contacts in the order in which they collided; empty for others.
    """

    impulses: np.ndarray
    before: np.ndarray
    after: np.ndarray
    energy_change: float
    collisions: tuple[int, ...] = ()

    @classmethod
    def of(cls, A, before, impulses, collisions=()) -> Impact:
        """The impact with these impulses."""
        after = before + (A @ impulses.ravel()).reshape(-1, 3)
        energy = 0.5 * float(np.sum(impulses * (before + after)))
        for x in (impulses, before, after):
            x.setflags(write=False)
        return cls(impulses, before, after, energy, tuple(collisions))


@checked()
def impact(delassus, velocities, *, friction=0.0, restitution=0.0, law="newton") -> Impact:
    r"""Impulses of several contacts that collide or touch at one instant.

    .. math:: u^+ = u^- + A P, \qquad u_n^+ + e\,\min(u_n^-, 0) \ge 0 \perp P_n \ge 0, \qquad |P_t| \le \mu P_n

    Parameters
    ----------
    delassus : (3*n, 3*n) array
        Changes of the velocities by unit impulses, in contact axes (t1, t2, n) of each contact [1/kg]: ``J M^-1 J^T``.
    velocities : (n, 3) array
        Of the second bodies relative to the first ones, in contact axes [m/s]; approach is negative.
    friction : float or (n,) array
        Coefficients mu of Coulomb's cone [1]; infinity: tangential velocities are arrested (book, eq. 11.66-11.72).
    restitution : float or (n,) array
        Coefficients e between 0 and 1 [1].
    law : {"newton", "poisson", "sequential"}
        "newton": e relates the normal velocities after and before the impact, all contacts at once. "poisson": e
        relates the normal impulses of a second phase to those of a first phase of compression, at whose end nothing
        approaches. "sequential": one contact collides at a time, the fastest approach first, until none approaches.

    Returns
    -------
    Impact

    Raises
    ------
    ArgumentError
        An array of the wrong shape, a negative coefficient, or e above 1.
    ContactError
        No impulses satisfy the law; contacts that depend on each other may have contradicting restitution.

    Notes
    -----
    Source: Featherstone (2008), section 11.7, and C. Glocker, F. Pfeiffer, "Multiple impacts with friction in rigid
    multibody systems", Nonlinear Dynamics 7 (1995), for Poisson's law with friction. Friction opposes the tangential
    velocity after the impact, of Poisson's law after each phase.

    The laws differ where several bodies touch. Of three equal balls in a row, the first with velocity 1, e = 1,
    "newton" and "poisson" predict (-1/3, 2/3, 2/3), "sequential" (0, 0, 1), as experiments with Newton's cradle. All
    conserve momentum and energy there. With friction, "newton" may gain energy where a contact slips back (Kane's
    paradox); ``energy_change`` shows it.

    See Also
    --------
    collide, strike

    Examples
    --------
    Newton's cradle of three balls of 1 kg: two contacts.

    >>> import kinetree as kt, numpy as np
    >>> J = np.zeros((6, 3))
    >>> J[2], J[5] = (-1, 1, 0), (0, -1, 1)  # normal rows; tangents do not matter without friction
    >>> v = np.array([1.0, 0.0, 0.0])
    >>> for law in ("newton", "poisson", "sequential"):
    ...     found = kt.contact.impact(J @ J.T, (J @ v).reshape(2, 3), restitution=1.0, law=law)
    ...     print((v + J.T @ found.impulses.ravel()).round(3) + 0.0)
    [-0.333  0.667  0.667]
    [-0.333  0.667  0.667]
    [0. 0. 1.]
    """
    u = array("impact: velocities", velocities, "relative velocities", shape=(None, 3))
    n = len(u)
    A = array("impact: delassus", delassus, "a symmetric matrix", shape=(3 * n, 3 * n))
    largest = np.abs(A).max(initial=0.0)
    if not (np.isfinite(A).all() and np.abs(A - A.T).max(initial=0.0) <= 1e-9 * largest):
        refuse("impact: delassus", delassus, "a finite symmetric matrix")
    if not np.isfinite(u).all():
        refuse("impact: velocities", velocities, "finite velocities")
    mu = coefficients("impact: friction", friction, n, np.inf)
    e = coefficients("impact: restitution", restitution, n, 1.0)
    return LAWS[choice("impact: law", law, LAWS)](A, u, mu, e)


def coefficients(what: str, value, n: int, most: float) -> np.ndarray:
    """Coefficients of n contacts, from one number or an array."""
    found = array(what, value, "a coefficient, or one for each contact")
    if found.shape not in ((), (n,)) or not ((found >= 0.0) & (found <= most)).all():
        expected = "not negative" if most == np.inf else f"between 0 and {most:g}"
        refuse(what, value, f"coefficients {expected}, of shape () or ({n},)")
    return np.broadcast_to(found, (n,))


def _newton(A, u, mu, e) -> Impact:
    b = u.copy()
    b[:, 2] += e * np.minimum(u[:, 2], 0.0)
    return Impact.of(A, u, _solved(A, b, ContactLaws(mu), "newton"))


def _poisson(A, u, mu, e) -> Impact:
    first = _solved(A, u, ContactLaws(mu), "poisson")
    back = np.zeros_like(first)
    back[:, 2] = e * first[:, 2]
    b = u + (A @ (first + back).ravel()).reshape(-1, 3)
    second = _solved(A, b, ContactLaws(mu, preload=back[:, 2]), "poisson")
    return Impact.of(A, u, first + back + second)


def _sequential(A, u, mu, e) -> Impact:
    P, w, order = np.zeros_like(u), u.copy(), []
    slow = AT_REST * np.abs(u).max(initial=0.0)
    while len(order) < MOST_COLLISIONS:
        i = int(np.argmin(w[:, 2])) if len(w) else 0
        if not len(w) or w[i, 2] >= -slow:
            return Impact.of(A, u, P, order)
        at = slice(3 * i, 3 * i + 3)
        more = _newton(A[at, at], w[i : i + 1], mu[i : i + 1], e[i : i + 1]).impulses[0]
        P[i] += more
        w += (A[:, at] @ more).reshape(-1, 3)
        order.append(i)
    raise ContactError(
        f"impact: law 'sequential' needs more than {MOST_COLLISIONS} collisions; contacts still approach each other "
        f"with {-w[:, 2].min():.3g} m/s. Take law='newton' or 'poisson'.",
        law="sequential",
    )


def _solved(A, b, laws: ContactLaws, law: str) -> np.ndarray:
    P, misfit = solve_laws(A, b.ravel(), laws)
    if not misfit < np.inf:
        raise ContactError(
            f"impact: no impulses satisfy law {law!r} at these {len(b)} contacts. Contacts that depend on each other "
            "may contradict each other by different coefficients of restitution; give them one coefficient, or take "
            "law='sequential'.",
            law=law,
        )
    return P


LAWS: dict[str, Callable[..., Impact]] = {"newton": _newton, "poisson": _poisson, "sequential": _sequential}
"""The laws of impacts by name."""
