"""Equality constraints of a compiled MJCF model: loop joints, couplings, and polynomials between coordinates.

MuJoCo holds them softly; here they are exact. A weld keeps the pose of body 2 at ``relpose`` in body 1, at an anchor
given in both (``eq_data``: anchor in body 2, anchor in body 1, quaternion, torque scale).
"""

from __future__ import annotations

import numpy as np

from kinetree.io.mjcf.layout import Layout
from kinetree.io.mjcf.names import of_kind, unique
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.options import Physics
from kinetree.joints import Fixed, Spherical
from kinetree.model import Equality, Equipment, LoopJoint, ModelBuilder, Softness
from kinetree.model.builder import rotation_of_quaternion
from kinetree.model.parts import transform_of_pose

_CONNECT, _WELD, _JOINT, _TENDON = range(4)
_HERE = (np.eye(3), np.zeros(3))


def add_equalities(builder: ModelBuilder, place: Layout, physics: Physics, tendons: list[str], notes: Notes) -> None:
    """Add every equality constraint as what it is."""
    import mujoco

    mj = place.mj
    names = unique(of_kind(mj, "equality", mj.neq), "equality")
    site = int(mujoco.mjtObj.mjOBJ_SITE)
    followers: dict[str, str] = {}  # joint to master, of the couplings so far
    for e, name in enumerate(names):
        kind, where = int(mj.eq_type[e]), notes.sources.where("equality", name)
        active = bool(mj.eq_active0[e]) and physics.equalities
        soft = Softness(tuple(map(float, mj.eq_solref[e])), tuple(map(float, mj.eq_solimp[e])))
        common = {"softness": soft, "active": active}
        ends = int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])
        if kind in (_CONNECT, _WELD):
            by_site = int(mj.eq_objtype[e]) == site
            loop = _loop(place, name, kind, ends, by_site, np.array(mj.eq_data[e]), common)
            builder.equipment += Equipment(loops=(loop,))
            if kind == _WELD and mj.eq_data[e, 10] not in (0.0, 1.0):
                scale = f"torquescale {mj.eq_data[e, 10]:g}"
                notes.info(where, f"weld '{name}': {scale} ignored, for the weld is exact here")
        elif kind in (_JOINT, _TENDON):
            of, known = ("joint", place.joints) if kind == _JOINT else ("tendon", tendons)
            shown = mj.qpos0[mj.jnt_qposadr] if kind == _JOINT else mj.tendon_length0  # where the file shows them
            follower, master = (known[k] if k >= 0 else None for k in ends)
            if follower is None or (ends[1] >= 0 and master is None):
                notes.warning(where, f"equality '{name}' refers to a joint that is fixed now: left out")
                continue
            y0, x0 = (float(shown[k]) if k >= 0 else 0.0 for k in ends)
            c = _coefficients(mj, e)
            if kind == _JOINT and active and master and len(c) == 2 and _may_follow(follower, master, followers):
                followers[follower] = master
                builder.add_coupling(follower, master, ratio=c[1], offset=y0 + c[0] - c[1] * x0)
                notes.info(
                    where,
                    f"equality '{name}': joint '{follower}' follows '{master}' exactly; MuJoCo holds it softly",
                )
                continue
            equality = Equality(name, of, follower, master, c, y0, x0, **common)
            builder.equipment += Equipment(equalities=(equality,))
        elif active:
            what = mujoco.mjtEq(kind).name.removeprefix("mjEQ_").lower()
            notes.unsupported(where, f"equality '{name}' of kind '{what}'")
        else:
            notes.info(where, f"equality '{name}' is of a kind that a model does not hold, and switched off: left out")


def _loop(place: Layout, name: str, kind: int, ends, by_site: bool, data: np.ndarray, common) -> LoopJoint:
    if by_site:
        frames, poses = [place.sites[s] for s in ends], (_HERE, _HERE)
    else:
        frames = [place.bodies[b] for b in ends]
        if kind == _CONNECT:
            poses = (np.eye(3), data[0:3]), (np.eye(3), data[3:6])
        else:
            poses = (rotation_of_quaternion(data[6:10]), data[3:6]), (np.eye(3), data[0:3])
    # A weld that does not care about rotation connects two points.
    joint = Fixed() if kind == _WELD and data[10] != 0.0 else Spherical()
    X_P, X_S = (transform_of_pose(*pose) for pose in poses)
    return LoopJoint(name, joint, frames[0], frames[1], X_P, X_S, **common)


def _coefficients(mj, e: int) -> tuple[float, ...]:
    """Of the polynomial, without trailing zeros; without a master only the constant counts."""
    return trimmed(mj.eq_data[e, : 5 if mj.eq_obj2id[e] >= 0 else 1])


def trimmed(values) -> tuple[float, ...]:
    """Numbers without trailing zeros."""
    found = [float(x) for x in values]
    while found and found[-1] == 0.0:
        found.pop()
    return tuple(found)


def _may_follow(follower: str, master: str, followers: dict[str, str]) -> bool:
    """Whether one more coupling leaves every joint with one master and no circle."""
    if follower in followers:
        return False
    seen = {follower}
    while master in followers:
        if master in seen:
            return False
        seen.add(master)
        master = followers[master]
    return master not in seen
