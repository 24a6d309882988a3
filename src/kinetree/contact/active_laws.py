r"""Contact laws by a Newton method with exact active sets: Signorini's condition with Coulomb's true cone.

.. math:: w = A P + b, \qquad w_n \ge 0 \perp P_n \ge 0, \qquad |P_t| \le \mu (P_n + p_0), \quad w_t \parallel -P_t

P are impulses and w velocities, or forces and accelerations. A contact whose direction of slip is given obeys
``P_t = -mu P_n s`` instead: then the matrix of the problem is not symmetric, and there may be no solution.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinetree.contact.exact import exact
from kinetree.contact.terms import Terms

STARTS = 3  # times that the Newton method begins, each after more sweeps
SWEEPS = 30
STEPS = 40
EVALUATIONS = 5000
EXACT = 1e-13  # of the largest velocity: rounding
GOOD = 1e-12  # no further start is tried
ACCEPTED = 1e-7  # contacts that touch up to a distance have laws that contradict each other by such parts
LEAST_SHARE = 1e-14  # of the largest mobility: a contact that no impulse moves


@dataclass(frozen=True, slots=True, eq=False)
class ContactLaws:
    """The laws of n contacts, for `solve_laws`.

    Attributes
    ----------
    friction : (n,) array
        Coefficients mu [1]; infinity: no slip while the contact presses.
    preload : (n,) array or None
        Normal impulse p_0 by which the disk is larger than P_n alone would make it [N s or N].
    slip : dict
        Contacts with a given direction of slip: number to a unit vector (2,).
    """

    friction: np.ndarray
    preload: np.ndarray | None = None
    slip: dict = field(default_factory=dict)

    def radius(self, i: int, normal: float) -> float:
        """Radius of the disk of contact i under a normal impulse."""
        most = normal + (0.0 if self.preload is None else self.preload[i])
        return float(self.friction[i] * most) if most > 0.0 else 0.0

    @property
    def are_cones(self) -> bool:
        """Whether all contacts have Coulomb's cone, and no more."""
        return not self.slip and self.preload is None and bool(np.isfinite(self.friction).all())

    def misfit(self, A, b, P) -> float:
        """The largest misfit of the laws as a velocity [m/s, or m/s^2]: the natural map of each, with a mass of 1/A."""
        return max((np.abs(r).max() for r in _residuals(self, A, (A @ P.ravel() + b), P)), default=0.0)


def solve_laws(A: np.ndarray, b: np.ndarray, laws: ContactLaws, guess: np.ndarray | None = None):
    """Impulses (n, 3) that obey the laws, and their misfit relative to the largest velocity; not a number without one.

    Parameters
    ----------
    A : (3n, 3n) array
        Velocities by impulses, positive semidefinite, in contact axes (t1, t2, n).
    b : (3n,) array
        Velocities without impulses.
    laws : ContactLaws
    guess : (n, 3) array, optional

    Notes
    -----
    Block Gauss-Seidel sweeps find which contacts press, stick and slip; a semismooth Newton method then solves for
    them to rounding. Where impulses are not unique, the steps of Newton's method are the shortest ones.
    Source: P. Alart, A. Curnier, "A mixed formulation for frictional contact problems prone to Newton like solution
    methods", Computer Methods in Applied Mechanics and Engineering 92 (1991).
    """
    n = len(b) // 3
    P = np.zeros((n, 3)) if guess is None else np.array(guess, dtype=float)
    size = np.abs(b).max(initial=0.0)
    if not size > 0.0:
        return np.zeros((n, 3)), 0.0
    best, least = P, laws.misfit(A, b, P) / size
    for start in range(STARTS + 1):
        if least <= max(EXACT, _rounding(A, best) / size):
            break
        if start:
            P = _swept(A, b, laws, P, SWEEPS * 4 ** (start - 1))
        P, misfit = _newton(A, b, laws, P, size)
        if misfit < least:
            best, least = P, misfit
        if least <= GOOD:
            break
    accepted = max(ACCEPTED, _rounding(A, best) / size)
    if not least <= accepted and laws.are_cones:
        terms = Terms(A, b, laws.friction, np.zeros((0, 2)))
        P = exact(terms, best.ravel(), ACCEPTED * size, EVALUATIONS).impulses.reshape(-1, 3)
        best, least = P, laws.misfit(A, b, P) / size
    return _inside(laws, best), (least if least <= accepted else float("nan"))


def _rounding(A, P) -> float:
    """A bound of the rounding errors in ``A P``, where large terms cancel."""
    return 8.0 * np.finfo(float).eps * float((np.abs(A) @ np.abs(P.ravel())).max(initial=0.0))


def _inside(laws, P) -> np.ndarray:
    """Impulses that rounding has put out of their cones, back on them."""
    P = P.copy()
    P[:, 2] = np.maximum(P[:, 2], 0.0)
    for i in range(len(P)):
        if i in laws.slip:
            P[i, :2] = -laws.friction[i] * P[i, 2] * laws.slip[i]
        else:
            P[i, :2] = _onto_disk(P[i, :2], laws.radius(i, P[i, 2]))
    return P


def _scales(A) -> tuple[np.ndarray, np.ndarray]:
    """Masses that convert velocities to impulses, of the normal and of the tangents: (n,) each."""
    diagonal = np.diagonal(A).reshape(-1, 3)
    floor = LEAST_SHARE * diagonal.max(initial=0.0) or 1.0
    return 1.0 / np.maximum(diagonal[:, 2], floor), 1.0 / np.maximum(diagonal[:, :2].sum(axis=1), floor)


def _residuals(laws, A, w, P):
    """Of each contact the natural maps of the normal and the tangents, in units of velocity."""
    masses = zip(*_scales(A), strict=True)
    for i, ((m_n, m_t), w_i, P_i) in enumerate(zip(masses, w.reshape(-1, 3), P, strict=True)):
        pressed = max(P_i[2] - m_n * w_i[2], 0.0)
        if i in laws.slip:
            tangent = P_i[:2] + laws.friction[i] * P_i[2] * laws.slip[i]
        else:
            tangent = P_i[:2] - _onto_disk(P_i[:2] - m_t * w_i[:2], laws.radius(i, pressed))
        yield np.array([*tangent / m_t, (P_i[2] - pressed) / m_n])


def _onto_disk(x: np.ndarray, radius: float) -> np.ndarray:
    size = np.hypot(*x)
    return x if size <= radius else x * (radius / size)


def _newton(A, b, laws, P, size):
    """Newton's method from P: the best point, and its misfit."""
    best, least, worse = P, np.inf, 0
    for _ in range(STEPS):
        F, J = _linearized(laws, A, A @ P.ravel() + b, P)
        misfit = np.abs(F).max() / size
        if misfit < least:
            best, least, worse = P, misfit, 0
        else:
            worse += 1
        if least <= EXACT or worse > 8 or not np.isfinite(misfit):
            break
        P = P - np.linalg.lstsq(J, F, rcond=1e-12)[0].reshape(-1, 3)
    return best, least


def _linearized(laws, A, w, P):
    """The residuals (3n,) in units of velocity, and their derivative by the impulses."""
    n, (normal_mass, tangent_mass) = len(P), _scales(A)
    F, J = np.concatenate([*_residuals(laws, A, w, P)]), np.zeros((3 * n, 3 * n))
    for i in range(n):
        rows, t, k = slice(3 * i, 3 * i + 3), slice(3 * i, 3 * i + 2), 3 * i + 2
        m_n, m_t = normal_mass[i], tangent_mass[i]
        z = P[i, 2] - m_n * w[k]
        J[k] = A[k] if z > 0.0 else 0.0
        if z <= 0.0:
            J[k, k] = 1.0 / m_n
        J[t, t] = np.eye(2) / m_t
        if i in laws.slip:
            J[t, k] = laws.friction[i] * laws.slip[i] / m_t
            continue
        x, radius = P[i, :2] - m_t * w[t], laws.radius(i, max(z, 0.0))
        length = np.hypot(*x)
        if length <= radius:
            J[t] = A[t]
        elif radius > 0.0:
            along = x / length
            turn = (np.eye(2) - np.outer(along, along)) * (radius / length)
            J[t, t] -= turn / m_t
            J[t] += turn @ A[t]
            if z > 0.0:
                grow = laws.friction[i] * along / m_t
                J[rows.start : k] += np.outer(grow, m_n * A[k])
                J[t, k] -= grow
    return F, J


def _swept(A, b, laws, P, sweeps: int) -> np.ndarray:
    """Block Gauss-Seidel: each contact in turn sticks if it can, else it slips or opens."""
    P, n = P.copy(), len(P)
    w = A @ P.ravel() + b
    blocks = [A[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] for i in range(n)]
    for _ in range(sweeps):
        for i in range(n):
            at = slice(3 * i, 3 * i + 3)
            new = _local(laws, i, blocks[i], P[i], w[at])
            w += A[:, at] @ (new - P[i])
            P[i] = new
    return P


def _local(laws, i: int, B, P, w) -> np.ndarray:
    """New impulses of one contact, the others fixed."""
    mu = laws.friction[i]
    if i in laws.slip:
        direction = np.array([*-mu * laws.slip[i], 1.0])
        mobility = B[2] @ direction
        along = B[2, 2] if mobility <= 0.0 else mobility
        return direction * max(P[2] - w[2] / along, 0.0) if along > 0.0 else P
    if mu > 0.0 and np.linalg.cond(B) < 1e12:
        stick = P - np.linalg.solve(B, w)
        if stick[2] > 0.0 and np.hypot(*stick[:2]) <= laws.radius(i, stick[2]):
            return stick
    if B[2, 2] <= 0.0:
        return P
    spread = np.hypot(B[0, 2], B[1, 2])
    relaxed = min(1.0, 1.4 / (1.0 + (mu if np.isfinite(mu) else 1.0) * spread / B[2, 2]))
    before, P = P, P.copy()
    for _ in range(2):
        u = w + B @ (P - before)
        P[2] = max(P[2] - relaxed * u[2] / B[2, 2], 0.0)
        u = w + B @ (P - before)
        slowest = 1.0 / max(np.linalg.eigvalsh(B[:2, :2])[-1], 1e-300)
        P[:2] = _onto_disk(P[:2] - relaxed * slowest * u[:2], laws.radius(i, P[2]))
    return P
