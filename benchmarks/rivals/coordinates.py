"""Batches of states between kinetree's coordinates and those of the rivals.

Joints with one coordinate are paired by name. A free base differs in its velocity:

=========  ============================================================  =======================
`base`     velocity of the base                                          engines
=========  ============================================================  =======================
"body"     (linear, angular), both in body coordinates                   adam
"mixed"    (linear in world coordinates, angular in body coordinates)    MuJoCo, MJX, frax
"world"    (angular, linear), both in world coordinates                  Drake
=========  ============================================================  =======================

kinetree has (angular, linear) in body coordinates. The maps are orthogonal, so forces follow the law of velocities;
accelerations are the derivatives of the components, which adds R (w x v) to linear parts in world coordinates.
"""

from __future__ import annotations

import numpy as np


class Coordinates:
    """Conversions for one robot.

    Parameters
    ----------
    model : kinetree.Model
        Joints with one coordinate each, perhaps on a free joint.
    base : str
        "body", "mixed" or "world".
    joints : dict of str to (int, int)
        Where the rival has each joint: its index in q and in v.
    base_q, base_v : slice
        Where the rival has the free joint's coordinates; ignored without one.
    quaternion_first : bool
        Whether the base's position stands behind the quaternion.
    """

    def __init__(
        self, model, base: str, joints: dict[str, tuple[int, int]], base_q=slice(0, 7), base_v=slice(0, 6),
        quaternion_first: bool = False,
    ) -> None:  # fmt: skip
        self.base, self.base_q, self.base_v, self.quaternion_first = base, base_q, base_v, quaternion_first
        self.nv, self.free = model.nv, None
        here_q, here_v, there_q, there_v = [], [], [], []
        for i in model.outward():
            if model.joints[i].nv == 0:
                continue
            if model.joints[i].nq == 7:
                self.free = model.q_slice[i], model.v_slice[i]
                continue
            q, v = joints[model.joint_names[i]]
            here_q.append(model.q_slice[i].start)
            here_v.append(model.v_slice[i].start)
            there_q.append(q)
            there_v.append(v)
        self.here_q, self.here_v, self.there_q, self.there_v = map(np.array, (here_q, here_v, there_q, there_v))
        self.nq_there = len(there_q) + (7 if self.free else 0)

    def rotation(self, q: np.ndarray) -> np.ndarray:
        """R (..., 3, 3) of the base: body to world coordinates."""
        w, x, y, z = np.moveaxis(q[..., self.free[0]][..., 3:], -1, 0)
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def q(self, q: np.ndarray) -> np.ndarray:
        """Positions of the rival."""
        out = np.empty((*q.shape[:-1], self.nq_there))
        out[..., self.there_q] = q[..., self.here_q]
        if self.free:
            base = q[..., self.free[0]]
            parts = [base[..., 3:], base[..., :3]] if self.quaternion_first else [base]
            out[..., self.base_q] = np.concatenate(parts, axis=-1)
        return out

    def map(self, q: np.ndarray) -> np.ndarray:
        """The orthogonal matrices T (..., nv, nv) with v_rival = T v."""
        T = np.zeros((*q.shape[:-1], self.nv, self.nv))
        T[..., self.there_v, self.here_v] = 1.0
        if self.free:
            R, one = self.rotation(q), np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3))
            block = np.zeros((*q.shape[:-1], 6, 6))
            if self.base == "world":
                block[..., :3, :3] = block[..., 3:, 3:] = R
            else:
                block[..., :3, 3:] = one if self.base == "body" else R
                block[..., 3:, :3] = one
            T[..., self.base_v, self.free[1]] = block
        return T

    def shift(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The rival's acceleration where kinetree's is zero."""
        out = np.zeros_like(v)
        if self.free and self.base != "body":
            base = v[..., self.free[1]]
            turned = np.einsum("...ij,...j->...i", self.rotation(q), np.cross(base[..., :3], base[..., 3:]))
            part = out[..., self.base_v]
            part[..., slice(0, 3) if self.base == "mixed" else slice(3, 6)] = turned
        return out

    def v(self, q, v):
        """Velocities or joint forces of the rival."""
        return np.einsum("...ij,...j->...i", self.map(q), v)

    def a(self, q, v, a):
        """Accelerations of the rival."""
        return self.v(q, a) + self.shift(q, v)

    def tau_back(self, q, tau):
        """Joint forces in kinetree's coordinates."""
        return np.einsum("...ji,...j->...i", self.map(q), tau)

    def a_back(self, q, v, a):
        """Accelerations in kinetree's coordinates."""
        return self.tau_back(q, a - self.shift(q, v))

    def M_back(self, q, M):
        """Mass matrices in kinetree's coordinates."""
        T = self.map(q)
        return np.swapaxes(T, -1, -2) @ M @ T
