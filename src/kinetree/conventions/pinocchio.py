"""Pinocchio: (linear; angular), quaternions (x, y, z, w), cosines and sines of continuous angles."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_model, checked, of_kind
from kinetree.conventions.coordinate_maps import Circle, CoordinateMap, PlanarCircle, same
from kinetree.conventions.engine import SWAP, Engine
from kinetree.conventions.pairing import names_by_name, paired, refuse_kind
from kinetree.joints import Composite, Free, Planar, Spherical, Universal

_POSE = (0, 1, 2, 4, 5, 6, 3)  # (p, x, y, z, w) out of (p, w, x, y, z)


def _coordinate_map(joint, nq: int, nv: int) -> CoordinateMap | None:
    """The coordinate map for a joint here and one of these sizes there; None if there is none."""
    if isinstance(joint, Free) and (nq, nv) == (7, 6):
        return CoordinateMap(_POSE, SWAP)
    if isinstance(joint, Spherical) and (nq, nv) == (4, 3):
        return CoordinateMap((1, 2, 3, 0), range(3))
    if isinstance(joint, Planar) and (nq, nv) == (4, 3):
        return PlanarCircle()
    if joint.nq == joint.nv == 1 and (nq, nv) == (2, 1):
        return Circle()
    plain = joint.kind in ("translational", "ellipsoid") or isinstance(joint, (Universal, Composite)) or joint.nv == 1
    return same(nq, nv) if plain and (nq, nv) == (joint.nq, joint.nv) else None


class Pinocchio(Engine):
    """Arrays of a Pinocchio model of the same robot.

    Parameters
    ----------
    model : Model
    other : pinocchio.Model
        Its joints are found by name; a free joint also as the only one at the root.
    joints : mapping of str to str, optional
        Names of joints there by their names here, where they differ.

    Raises
    ------
    ModelError
        A joint has no partner, or one of another kind.

    Notes
    -----
    Pinocchio numbers joints depth first, children sorted by name. The mass matrix that its `crba` gives may have its
    upper triangle only: `M_from` takes that. External wrenches are (force; moment) in the joint's own coordinates.

    Examples
    --------
    ``there = kt.conventions.Pinocchio(model, pin_model)``, then ``pin.rnea(pin_model, data, there.q_to(q),
    there.v_to(q, v), there.a_to(q, v, a))`` is ``there.tau_to(q, kt.rnea(model, q, v, a))``.
    """

    name = "Pinocchio"
    angular_first = False
    scalar_last = True

    @checked(
        model=a_model,
        other=of_kind("pinocchio.Model", "names", "nqs", "nvs", "nv", "idx_qs", "idx_vs"),
        joints=names_by_name,
    )
    def __init__(self, model, other, joints=None) -> None:
        names = {str(name): j for j, name in enumerate(other.names) if j}
        free = [j for j in names.values() if (other.nqs[j], other.nvs[j]) == (7, 6)]
        pairs, bodies = [], [0] + [-1] * (model.nb - 1)
        for i, j in paired(self, model, names, free, joints):
            nq, nv = int(other.nqs[j]), int(other.nvs[j])
            mapping = _coordinate_map(model.joints[i], nq, nv)
            mapping = mapping or refuse_kind(self, model, i, other.names[j], f"nq={nq}, nv={nv}")
            pairs.append((i, mapping, int(other.idx_qs[j]), int(other.idx_vs[j])))
            bodies[i] = j
        super().__init__(model, self._slots(model, pairs), bodies, int(other.nv))

    @staticmethod
    def _full(M):
        upper = np.triu(M)
        return upper + np.swapaxes(np.triu(upper, 1), -1, -2)

    def _wrench_to(self, n, f, R, p):
        n = n - np.cross(p, f)
        turn = np.swapaxes(R, -1, -2)
        return np.concatenate([(turn @ f[..., None])[..., 0], (turn @ n[..., None])[..., 0]], axis=-1)

    def _wrench_from(self, rows, R, p):
        f, n = (R @ rows[..., :3, None])[..., 0], (R @ rows[..., 3:, None])[..., 0]
        return np.concatenate([n + np.cross(p, f), f], axis=-1)
