"""Batches of states between kinetree's coordinates and those of the rivals.

Joints with one coordinate are paired by name. A free base differs in its velocity:

=========  ============================================================  =======================
`base`     velocity of the base                                          engines
=========  ============================================================  =======================
"body"     (linear, angular), both in body coordinates                   adam
"mixed"    (linear in world coordinates, angular in body coordinates)    MuJoCo, MJX, frax
"world"    (angular, linear), both in world coordinates                  Drake
=========  ============================================================  =======================

The conversions are those of `kinetree.conventions`, for engines that have no class of their own there.
"""

from __future__ import annotations

import numpy as np

from kinetree.conventions.coordinate_maps import CoordinateMap, MixedFree, WorldFree, same
from kinetree.conventions.engine import SWAP, Engine
from kinetree.conventions.rotations import rotation_matrix


class Coordinates(Engine):
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

    name = "rival"

    def __init__(
        self, model, base: str, joints: dict[str, tuple[int, int]], base_q=slice(0, 7), base_v=slice(0, 6),
        quaternion_first: bool = False,
    ) -> None:  # fmt: skip
        free = {
            "body": lambda: CoordinateMap(range(7), SWAP),
            "mixed": MixedFree,
            "world": lambda: WorldFree(quaternion_first),
        }[base]
        found = []
        self.free = None
        for i in model.outward():
            if model.joints[i].nv == 0:
                continue
            if model.joints[i].nq == 7:
                self.free = model.q_slice[i], model.v_slice[i]
                found.append((i, free(), base_q.start, base_v.start))
            else:
                found.append((i, same(1), *joints[model.joint_name(i)]))
        super().__init__(model, self._slots(model, found), range(model.nb))

    def rotation(self, q: np.ndarray) -> np.ndarray:
        """R (..., 3, 3) of the base: body to world coordinates."""
        return rotation_matrix(q[..., self.free[0]][..., 3:])

    q, map, a, M_back = Engine.q_to, Engine.T, Engine.a_to, Engine.M_from
    v = Engine.v_to
    """Velocities or joint forces of the rival: the maps are orthogonal."""
    tau_back, a_back = Engine.tau_from, Engine.a_from
