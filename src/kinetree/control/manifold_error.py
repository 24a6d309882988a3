"""Differences between a state and its reference on the manifold of positions, with rates, joint by joint.

The error ``e = difference(q, q_d)`` is a step from the position to the reference, in the velocity coordinates of the
joints. While both move it has the rate

    e' = B (v_r - v),    B = -de'/dv,    v_r: the velocity at q that keeps e as it is.

For joints whose positions form a vector space B is the unit matrix and v_r is the reference's own velocity v_d. For
rotations B is the inverse of a tangent map, and v_r is v_d seen from the axes at q. B and the rates are exact for
joints of any kind, by numbers that carry their rates.
"""

from __future__ import annotations

from kinetree.algorithms.matrices import apply, transposed
from kinetree.joints.dual import Dual, rate_of, value_of
from kinetree.spatial.scalar import is_zero


class ManifoldError:
    """The error of a state and its rates, over any scalar.

    Parameters
    ----------
    parts : iterable of tuple
        ``(joint, q, v, q_d, v_d, a_d)``: a joint, or another manifold with ``q_dot`` and ``difference``; the scalars of
        its state and of its reference. Without a_d (None) there are no ``accelerations``.

    Attributes
    ----------
    e : list of scalars
        ``difference(q, q_d)`` [rad or m].
    s : list of scalars
        ``v - v_r`` [rad/s or m/s].
    e_dot : list of scalars
        The rate of e, ``-B s`` [rad/s or m/s].
    a_r : list of scalars
        The rate of v_r [rad/s^2 or m/s^2].
    """

    def __init__(self, parts) -> None:
        self.e, self.s, self.a_r, self._maps, self._rates = [], [], [], [], []
        for joint, q, v, q_d, v_d, a_d in parts:
            now, then = _moving(joint, q, v), _moving(joint, q_d, v_d)
            then_d = v_d if a_d is None else [Dual(x, dx) for x, dx in zip(v_d, a_d, strict=True)]
            B = _error_map(joint, now, then, len(v))
            self.e += joint.difference(q, q_d)
            self._maps.append([[value_of(x) for x in row] for row in B])
            self._rates.append([[rate_of(x) for x in row] for row in B])
            v_r = _solved(B, _reference_part(joint, now, then, then_d))
            self.s += [v_k - value_of(x) for v_k, x in zip(v, v_r, strict=True)]
            if a_d is not None:
                self.a_r += [rate_of(x) for x in v_r]

    @classmethod
    def of_joints(cls, model, q, v, q_d, v_d, a_d=None) -> ManifoldError:
        """The error of all joints of a model."""
        bodies = [(i, model.v_slice[i]) for i in model.outward() if model.joints[i].nv]
        return cls(
            (model.joints[i], model.q_of(i, q), v[k], model.q_of(i, q_d), v_d[k], None if a_d is None else a_d[k])
            for i, k in bodies
        )

    @property
    def e_dot(self) -> list:
        return [-x for x in self._by_joint(apply, self._maps, self.s)]

    def pulled_back(self, f) -> list:
        """``B^T f``: for ``f = K e`` the forces whose potential is ``e . K e / 2``."""
        return self._by_joint(lambda B, x: apply(transposed(B), x), self._maps, f)

    def decrease(self, J) -> list:
        """``B J``: e decreases by this along velocities v = J x."""
        return transposed([self._by_joint(apply, self._maps, column) for column in transposed(J)])

    def accelerations(self, e_ddot) -> list:
        """The accelerations at which e has this second derivative."""
        turning = self._by_joint(apply, self._rates, self.s)
        wanted = [x + y for x, y in zip(e_ddot, turning, strict=True)]
        return [a - x for a, x in zip(self.a_r, self._by_joint(_solved, self._maps, wanted), strict=True)]

    @staticmethod
    def _by_joint(function, blocks, x) -> list:
        found, start = [], 0
        for B in blocks:
            found += function(B, x[start : start + len(B)])
            start += len(B)
        return found


def _moving(joint, q, v):
    return [Dual(x, rate) for x, rate in zip(q, joint.q_dot(q, v), strict=True)]


def _error_map(joint, q, q_d, nv):
    """B: rows."""
    rest, columns = [Dual(x) for x in q_d], []
    for k in range(nv):
        unit = [1.0 if m == k else 0.0 for m in range(nv)]
        columns.append([-rate_of(x) for x in joint.difference(_moving(joint, q, unit), rest)])
    return transposed(columns)


def _reference_part(joint, q, q_d, v_d):
    """``B v_r``: the rate of the error while q rests."""
    return [rate_of(x) for x in joint.difference([Dual(x) for x in q], _moving(joint, q_d, v_d))]


def _solved(B, x):
    """``B^-1 x`` by elimination in the given order: the leading minors of B are positive for errors below a turn."""
    B, x, n = [list(row) for row in B], list(x), len(x)
    for k in range(n):
        for m in range(k + 1, n):
            if not is_zero(B[m][k]):
                factor = _divided(B[m][k], B[k][k])
                B[m][k + 1 :] = [a - factor * b for a, b in zip(B[m][k + 1 :], B[k][k + 1 :], strict=True)]
                x[m] = x[m] - factor * x[k]
    for k in reversed(range(n)):
        for m in range(k + 1, n):
            if not is_zero(B[k][m]):
                x[k] = x[k] - B[k][m] * x[m]
        x[k] = _divided(x[k], B[k][k])
    return x


def _divided(x, pivot):
    return x if isinstance(pivot, float) and pivot == 1.0 else x / pivot
