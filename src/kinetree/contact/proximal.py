r"""Proximal steps from impulses near a solution, each by Newton's method in the space of velocities.

With rows W of the factor space, ``A = W W^T``, a proximal step from impulses ``l`` solves

    y = W^T P(l - (W y + b) / r),

P being Coulomb's law for each contact and the bounds of each row, r a small part of its mean response. It is a contact
problem whose contacts yield by ``r`` from ``l`` on, so its impulses are unique and change continuously with b, also
where those of the rigid one do not: between flat faces that touch in more than three points they jump where gaps
differ by rounding. Repeated steps tend to a solution of the rigid problem, and where ``l`` is one they stay there.

Source: R. T. Rockafellar, Monotone operators and the proximal point algorithm (1976); J. Alart, A. Curnier, A mixed
formulation for frictional contact problems prone to Newton like solution methods (1991), for the law and its
derivatives.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgesv

from kinetree.contact.laws import coulomb

TINY = np.finfo(float).tiny
YIELDING = 1e-4  # r, as a part of the mean response of a contact or row
SOFTER, FIRMEST = 10.0, 1e-6  # factor of r after a step without a solution, or its divisor after one; the least r
STEPS = 8  # proximal ones
NEWTON = 30  # Newton's, in each of them
EXACT = 1e-12  # [m/s] of the rates of rows, where Newton's steps end
SOLVED = 1e-10  # of y, beyond which a proximal step counts as failed
ENOUGH = 0.5  # part of the slope along a Newton step that may be left at its end


class Island:
    """Contacts, then bounded rows, of bodies that act on each other.

    Parameters
    ----------
    W : (3 n + m, k) array
        Rows of n contacts, in the order (t1, t2, n), and of m bounded rows, at the k places where some are not zero.
    b : (3 n + m,) array
        Their rates without impulses, less the targets.
    friction, compliance : (n,) array
    bounds : (m, 2) array
        Of the impulses of rows.
    """

    def __init__(self, W, b, friction, compliance, bounds) -> None:
        self.W, self.b, self.friction = W, b, friction
        self._transposed, self._n = np.ascontiguousarray(W.T), 3 * len(friction)
        self._friction_most = friction.max(initial=0.0)
        self._least, self._most = bounds[:, 0], bounds[:, 1]
        self._own = np.zeros(len(b))
        self._own[2 : self._n : 3] = compliance
        response = np.einsum("ij,ij->i", W, W) + self._own
        response[: self._n] = np.repeat(response[: self._n].reshape(-1, 3).sum(axis=1) / 3.0, 3)
        self.response = np.maximum(response, TINY)
        self._small = EXACT / np.sqrt(max(response.max(initial=0.0), TINY))

    def velocities(self, y) -> np.ndarray:
        """Rates of the rows, without what is taken by their own compliance."""
        return self.W @ y + self.b

    def residual(self, impulses) -> float:
        """The largest deviation from the laws [m/s or rad/s]: of the fixed point of Coulomb's law for mean masses."""
        u = self.velocities(impulses @ self.W) + self._own * impulses
        return float(np.abs((self._law(impulses - u / self.response)[0] - impulses) * self.response).max(initial=0.0))

    def moved(self, change, r: float) -> float:
        """A bound of the residual after a proximal step that has changed the impulses [m/s or rad/s]."""
        return r * (1.0 + self._friction_most) * float(np.abs(change * self.response).max(initial=0.0))

    def _law(self, x) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Admissible impulses, their derivatives by blocks of contacts, and by rows."""
        contacts, D = coulomb(x[: self._n].reshape(-1, 3), self.friction)
        rows = x[self._n :]
        if not len(rows):
            return contacts.ravel(), D, rows
        inner = ((rows > self._least) & (rows < self._most)).astype(float)
        return np.concatenate([contacts.ravel(), np.clip(rows, self._least, self._most)]), D, inner

    def step(self, start, r: float) -> tuple[np.ndarray, bool]:
        """The impulses of a proximal step, and whether Newton's method found them."""
        n, W = self._n, self.W
        stiffness = 1.0 / (r * self.response + self._own)
        free = start * (r * self.response * stiffness) - self.b * stiffness
        stiff_rows = W * stiffness[:, None]
        y = self._transposed @ start
        x, D, inner = self._law(free - stiff_rows @ y)
        F = y - self._transposed @ x
        size = np.abs(F).max(initial=0.0)
        for _ in range(NEWTON):
            if size <= self._small:
                break
            DW = np.empty_like(W)
            np.matmul(D, stiff_rows[:n].reshape(-1, 3, W.shape[1]), out=DW[:n].reshape(-1, 3, W.shape[1]))
            DW[n:] = inner[:, None] * stiff_rows[n:]
            J = self._transposed @ DW
            J.ravel()[:: len(J) + 1] += 1.0
            _, _, d, info = dgesv(J, -F)
            if info or not np.isfinite(d).all():
                return x, False
            y, x, D, inner, F = self._along(y, d, F, free, stiff_rows)
            before, size = size, np.abs(F).max()
            if size < SOLVED and size > 0.9 * before:
                break
        return x, bool(size < SOLVED)

    def _along(self, y, d, F, free, stiff_rows):
        """The end of a Newton step: whole, or shorter where ``F . d``, which it is to end, has changed its sign."""
        slope, t, low, high = F @ d, 1.0, 0.0, None
        low_slope = slope
        for _ in range(20):
            y_t = y + t * d
            x, D, inner = self._law(free - stiff_rows @ y_t)
            F = y_t - self._transposed @ x
            now = F @ d
            if abs(now) <= ENOUGH * abs(slope) or (now * slope > 0.0 and high is None):
                break
            if now * slope > 0.0:
                low, low_slope = t, now
            else:
                high, high_slope = t, now
            t = low + (high - low) * min(max(low_slope / (low_slope - high_slope), 0.1), 0.9)
        return y_t, x, D, inner, F


def proximal(island: Island, start: np.ndarray, tolerance: float) -> tuple[np.ndarray, float]:
    """Impulses near a start whose residual is at most a tolerance [m/s], or the best ones; and their residual."""
    best, least, r = start, np.inf, YIELDING
    last = start
    for _ in range(STEPS):
        x, found = island.step(last, r)
        if not found:
            r *= SOFTER
            continue
        size = island.moved(x - last, r)
        if size > tolerance:
            size = island.residual(x)
        last, r = x, max(r / SOFTER, FIRMEST)
        if size < least:
            best, least = x, size
        if least <= tolerance:
            break
    return best, least
