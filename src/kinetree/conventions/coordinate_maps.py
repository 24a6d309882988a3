"""Maps between the coordinates of one joint here and there: one class per pair of conventions.

``q_to`` and ``q_from`` convert positions. Velocities follow ``v_there = T(q) v``, whatever the joint, so forces follow
from their power, ``tau = T^T tau_there``, and accelerations, the derivatives of the velocities' components, are
``a_there = T a + shift(q, v)``. All take leading batch axes and keep the type of the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.conventions.rotations import (
    matrix_of,
    quaternion_of,
    quaternion_of_rpy,
    quaternion_product,
    quaternion_rates,
    rotation_matrix,
    rpy_of,
)


class CoordinateMap:
    """The same coordinates in another order.

    Parameters
    ----------
    q_order, v_order : sequence of int
        ``q_there[k] = q[q_order[k]]``.
    """

    def __init__(self, q_order: Sequence[int], v_order: Sequence[int]) -> None:
        self._q, self._v = np.array(q_order, dtype=int), np.array(v_order, dtype=int)
        self.nq, self.nv = len(self._q), len(self._v)

    def q_to(self, q):
        """Positions there (..., nq)."""
        return q[..., self._q]

    def q_from(self, q_there):
        """Positions here."""
        return q_there[..., np.argsort(self._q)]

    def T(self, q):
        """(..., nv there, nv here): from velocities here to velocities there."""
        return np.eye(len(self._v), dtype=q.dtype)[self._v]

    def T_inverse(self, q):
        """Its left inverse; T is orthogonal unless a subclass overrides it."""
        return np.swapaxes(self.T(q), -1, -2)

    def shift(self, q, v):
        """The acceleration there where that here is zero; None if it is zero, too."""
        return None


def same(n: int, nv: int | None = None) -> CoordinateMap:
    """The same coordinates."""
    return CoordinateMap(range(n), range(n if nv is None else nv))


class Circle(CoordinateMap):
    """One angle here, its cosine and sine there; back, it is within half a turn."""

    def __init__(self) -> None:
        super().__init__((0, 0), (0,))

    def q_to(self, q):
        return np.concatenate([np.cos(q), np.sin(q)], axis=-1)

    def q_from(self, q_there):
        return np.arctan2(q_there[..., 1:], q_there[..., :1])


class PlanarCircle(CoordinateMap):
    """Pinocchio's planar joint: q = (x, y, cos, sin), v = (vx, vy, w) in body coordinates."""

    def __init__(self) -> None:
        super().__init__((1, 2, 0, 0), (1, 2, 0))

    def q_to(self, q):
        return np.concatenate([q[..., 1:], np.cos(q[..., :1]), np.sin(q[..., :1])], axis=-1)

    def q_from(self, q_there):
        return np.concatenate([np.arctan2(q_there[..., 3:], q_there[..., 2:3]), q_there[..., :2]], axis=-1)


class PlanarRates(CoordinateMap):
    """Planar joints with rates of the position: q = (x, y, angle), v = (x rate, y rate, angle rate)."""

    def __init__(self) -> None:
        super().__init__((1, 2, 0), (1, 2, 0))

    def T(self, q):
        c, s = np.cos(q[..., 0]), np.sin(q[..., 0])
        zero, one = np.zeros_like(c), np.ones_like(c)
        return matrix_of([[zero, c, -s], [zero, s, c], [one, zero, zero]])

    def shift(self, q, v):
        w, x, y = np.moveaxis(v, -1, 0)
        turned = np.stack([np.zeros_like(w), -w * y, w * x], axis=-1)  # w x v, as (0, vx, vy)
        return (self.T(q) @ turned[..., None])[..., 0]


class MixedFree(CoordinateMap):
    """A free joint with the pose in the world and v = (linear in world, angular in body coordinates), as in MuJoCo.

    Parameters
    ----------
    R, p : (3, 3) and (3,) array
        Pose in the world of the joint's predecessor frame here, in which q counts here.
    """

    def __init__(self, R=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), p=(0.0, 0.0, 0.0)) -> None:
        super().__init__(range(7), range(6))
        self.R, self.p = np.array(R, dtype=float), np.array(p, dtype=float)
        self._quaternion = None if np.array_equal(self.R, np.eye(3)) else quaternion_of(self.R)

    def q_to(self, q):
        p, quaternion = q[..., :3] @ self.R.T + self.p, q[..., 3:]
        if self._quaternion is not None:
            quaternion = quaternion_product(self._quaternion, quaternion)
        return np.concatenate([p, quaternion], axis=-1).astype(q.dtype)

    def q_from(self, q_there):
        p, quaternion = (q_there[..., :3] - self.p) @ self.R, q_there[..., 3:]
        if self._quaternion is not None:
            quaternion = quaternion_product(self._quaternion * [1, -1, -1, -1], quaternion)
        return np.concatenate([p, quaternion], axis=-1).astype(q_there.dtype)

    def _turn(self, q):
        return self.R.astype(q.dtype) @ rotation_matrix(q[..., 3:])

    def T(self, q):
        R = self._turn(q)
        T = np.zeros((*R.shape[:-2], 6, 6), R.dtype)
        T[..., :3, 3:], T[..., 3:, :3] = R, np.eye(3)
        return T

    def shift(self, q, v):
        out = np.zeros((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), 6), np.result_type(q, v))
        out[..., :3] = (self._turn(q) @ np.cross(v[..., :3], v[..., 3:])[..., None])[..., 0]
        return out


class WorldFree(CoordinateMap):
    """A free joint with v = (angular, linear), both in world coordinates, as in Drake.

    Parameters
    ----------
    quaternion_first : bool
        Whether q is (quaternion, position).
    """

    def __init__(self, quaternion_first: bool = True) -> None:
        super().__init__((3, 4, 5, 6, 0, 1, 2) if quaternion_first else range(7), range(6))

    def T(self, q):
        R = rotation_matrix(q[..., 3:])
        T = np.zeros((*R.shape[:-2], 6, 6), R.dtype)
        T[..., :3, :3] = T[..., 3:, 3:] = R
        return T

    def shift(self, q, v):
        out = np.zeros((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), 6), np.result_type(q, v))
        # R (w x v) is part of the linear acceleration of the origin, not of the derivative of its body components.
        out[..., 3:] = (rotation_matrix(q[..., 3:]) @ np.cross(v[..., :3], v[..., 3:])[..., None])[..., 0]
        return out


class BallRpy(CoordinateMap):
    """A ball joint with q = (roll, pitch, yaw) and the angular velocity in the parent's axes, as in Drake."""

    def __init__(self) -> None:
        super().__init__((0, 0, 0), (0, 1, 2))

    def q_to(self, q):
        return rpy_of(rotation_matrix(q))

    def q_from(self, q_there):
        return quaternion_of_rpy(q_there)

    def T(self, q):
        return rotation_matrix(q)


class EulerParameters(MixedFree):
    """Exudyn's rigid body: q = (p, quaternion) in the world less reference values; velocities are their derivatives.

    Parameters
    ----------
    R, p : (3, 3) and (3,) array
        Pose in the world of the joint's predecessor frame here.
    reference : (7,) array
        Reference values of the coordinates.
    """

    def __init__(self, R, p, reference) -> None:
        super().__init__(R, p)
        self.nv = 7
        self.reference = np.asarray(reference, dtype=float)

    def q_to(self, q):
        return (super().q_to(q) - self.reference).astype(q.dtype)

    def q_from(self, q_there):
        return super().q_from(q_there + self.reference).astype(q_there.dtype)

    def _rates(self, q):
        return quaternion_rates(super().q_to(q)[..., 3:])

    def T(self, q):
        R = self._turn(q)
        T = np.zeros((*R.shape[:-2], 7, 6), R.dtype)
        T[..., :3, 3:], T[..., 3:, :3] = R, self._rates(q)
        return T

    def T_inverse(self, q):
        R = self._turn(q)
        T = np.zeros((*R.shape[:-2], 6, 7), R.dtype)
        T[..., 3:, :3], T[..., :3, 3:] = np.swapaxes(R, -1, -2), 4.0 * np.swapaxes(self._rates(q), -1, -2)
        return T

    def shift(self, q, v):
        w, quaternion = v[..., :3], super().q_to(q)[..., 3:]
        # d2 quaternion / dt2 = Q dw - |w|^2 / 4 quaternion
        bent = -0.25 * np.sum(w * w, axis=-1, keepdims=True) * quaternion
        return np.concatenate([super().shift(q, v)[..., :3], bent], axis=-1)


class Displaced(CoordinateMap):
    """Joints with one coordinate that counts from a reference value, as in Exudyn.

    Parameters
    ----------
    reference : float
    """

    def __init__(self, reference: float) -> None:
        super().__init__((0,), (0,))
        self.reference = float(reference)

    def q_to(self, q):
        return (q - self.reference).astype(q.dtype)

    def q_from(self, q_there):
        return (q_there + self.reference).astype(q_there.dtype)


class InSeries(CoordinateMap):
    """Joints in a row, each with its own map, as the parts of a composite joint.

    Parameters
    ----------
    maps : sequence of (CoordinateMap, int, int)
        With each the numbers of positions and of velocities here.
    """

    def __init__(self, maps: Sequence[tuple[CoordinateMap, int, int]]) -> None:
        self.nq, self.nv = sum(m.nq for m, _, _ in maps), sum(m.nv for m, _, _ in maps)
        self._parts: list[tuple[CoordinateMap, slice, slice, slice, slice]] = []
        at = np.zeros(4, dtype=int)
        for m, nq, nv in maps:
            end = at + (nq, nv, m.nq, m.nv)
            self._parts.append((m, *(slice(int(a), int(b)) for a, b in zip(at, end, strict=True))))
            at = end
        self._here = int(at[1])

    def q_to(self, q):
        return np.concatenate([m.q_to(q[..., mine]) for m, mine, *_ in self._parts], axis=-1)

    def q_from(self, q_there):
        return np.concatenate([m.q_from(q_there[..., theirs]) for m, _, _, theirs, _ in self._parts], axis=-1)

    def T(self, q):
        T = np.zeros((*q.shape[:-1], self.nv, self._here), q.dtype)
        for m, mine, v, _, v_there in self._parts:
            T[..., v_there, v] = m.T(q[..., mine])
        return T

    def T_inverse(self, q):
        T = np.zeros((*q.shape[:-1], self._here, self.nv), q.dtype)
        for m, mine, v, _, v_there in self._parts:
            T[..., v, v_there] = m.T_inverse(q[..., mine])
        return T

    def shift(self, q, v):
        out = np.zeros((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), self.nv), np.result_type(q, v))
        for m, mine, rates, _, there in self._parts:
            part = m.shift(q[..., mine], v[..., rates])
            if part is not None:
                out[..., there] = part
        return out
