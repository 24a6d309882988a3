"""MuJoCo: a free joint's linear velocity is in world coordinates, its angular velocity in body coordinates."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_model, a_truth_value, checked, of_kind
from kinetree.conventions.coordinate_maps import CoordinateMap, MixedFree, same
from kinetree.conventions.engine import Engine
from kinetree.conventions.pairing import names_by_name, paired, refuse_kind
from kinetree.joints import Free, FreeSplit, Helical, Prismatic, Revolute, Spherical
from kinetree.model.parts import pose_of_transform

_KINDS = {0: "free", 1: "ball", 2: "slide", 3: "hinge"}  # mjtJoint
_SIZES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}
_SPLIT = FreeSplit("translation")


def _coordinate_map(joint, kind: str, X_T) -> CoordinateMap | None:
    if kind == "free":
        if isinstance(joint, Free):
            return MixedFree(*pose_of_transform(X_T))
        here = pose_of_transform(X_T)
        at_origin = np.array_equal(here[0], np.eye(3)) and not here[1].any()
        return CoordinateMap(range(7), (3, 4, 5, 0, 1, 2)) if joint == _SPLIT and at_origin else None
    if kind == "ball":
        return same(4, 3) if isinstance(joint, Spherical) else None
    mine = (Prismatic,) if kind == "slide" else (Revolute, Helical)
    return same(1) if isinstance(joint, mine) or joint.kind == "reversed" and joint.nq == joint.nv == 1 else None


class MuJoCo(Engine):
    """Arrays of a MuJoCo model of the same robot.

    Parameters
    ----------
    model : Model
    other : mujoco.MjModel
        Its joints are found by name; a free joint also as the only one.
    joints : mapping of str to str, optional
        Names of joints there by their names here, where they differ.
    by_order : bool
        Pair the moving joints by their order instead, as for MJCF files without names.

    Raises
    ------
    ModelError
        A joint has no partner, or one of another kind.

    Notes
    -----
    The q of a free joint is the body's pose in the world there, here its pose in the frame of the joint.
    A hinge or slide that is not at 0 in the model's reference pose (``ref`` in MJCF) counts from there in both.
    External wrenches are those of ``xfrc_applied``: (force; moment) in world axes about the body's center of mass.
    `mj_rne` leaves out the armature, which kinetree's `rnea` and both mass matrices hold.
    """

    name = "MuJoCo"
    angular_first = False  # of mj_jac and xfrc_applied; cvel and cacc are (angular; linear)

    @checked(
        model=a_model,
        other=of_kind("mujoco.MjModel", "jnt_type", "jnt_qposadr", "jnt_dofadr", "body_ipos", "nbody", "nv"),
        joints=names_by_name,
        by_order=a_truth_value,
    )
    def __init__(self, model, other, joints=None, by_order: bool = False) -> None:
        kinds = [_KINDS[int(kind)] for kind in other.jnt_type]
        free = [j for j, kind in enumerate(kinds) if kind == "free"]
        if by_order:
            moving = [i for i in model.outward() if model.joints[i].nq]
            found = list(zip(moving, range(len(kinds)), strict=False))
        else:
            names = {other.joint(j).name: j for j in range(other.njnt)}
            found = list(paired(self, model, names, free, joints))
        pairs = []
        for i, j in found:
            mapping = None
            if kinds[j] != "free" or model.parent[i] == 0:
                mapping = _coordinate_map(model.joints[i], kinds[j], model.X_T[i])
            mapping = mapping or refuse_kind(self, model, i, other.joint(j).name, f"the type {kinds[j]!r}")
            pairs.append((i, mapping, int(other.jnt_qposadr[j]), int(other.jnt_dofadr[j])))
        numbers = {other.body(b).name: b for b in range(other.nbody)}
        bodies = [0, *(numbers.get(name, -1) for name in model.body_names[1:])]
        if by_order:
            for i, j in found:
                bodies[i] = int(other.jnt_bodyid[j])
        centers = np.asarray(other.body_ipos, dtype=float)
        self._centers = np.array([centers[b] if b > 0 else np.zeros(3) for b in bodies])
        super().__init__(model, self._slots(model, pairs), bodies, int(other.nv))

    def _about(self, R, p):
        return p + (R @ self._centers.astype(p.dtype)[..., None])[..., 0]
