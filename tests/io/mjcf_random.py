"""Random MJCF models as text: several joints on a body, anchors off the origin, references, springs, inertias."""

from __future__ import annotations

import numpy as np

JOINTS = ("hinge", "slide", "ball", "free")


def random_mjcf(seed: int, bodies: int = 5, kinds=("hinge", "slide", "ball"), free: bool = True) -> str:
    """A tree of named bodies b1, b2, ... with joints and a site each.

    Parameters
    ----------
    seed : int
    bodies : int
        How many.
    kinds : tuple of str
        Joint types to choose from, beside free.
    free : bool
        Whether a body on the world may float.
    """
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(0, k + 1)) if k else 0 for k in range(bodies)]
    children: dict[int, list[int]] = {k: [] for k in range(bodies + 1)}
    for k, parent in enumerate(parents):
        children[parent].append(k + 1)

    def element(body: int) -> str:
        inside = _joints(rng, body, kinds, free and parents[body - 1] == 0) + _mass(rng)
        inside += f'<site name="s{body}" pos="{_v(rng, 3)}" quat="{_v(rng, 4)}"/>'
        inside += "".join(map(element, children[body]))
        return f'<body name="b{body}" pos="{_v(rng, 3)}" {_orientation(rng)}>{inside}</body>'

    world = "".join(map(element, children[0]))
    gravity = _v(rng, 3)
    return (
        f'<mujoco model="random"><compiler angle="radian"/><option gravity="{gravity}"/>'
        f"<worldbody>{world}</worldbody></mujoco>"
    )


def _joints(rng, body: int, kinds, may_float: bool) -> str:
    if may_float and rng.uniform() < 0.4:
        return f'<joint name="j{body}" type="free" damping="{rng.uniform(0, 2):.17g}"/>'
    if rng.uniform() < 0.15:
        return ""  # welded to its parent
    text, turns = "", 0
    for k in range(int(rng.integers(1, 4))):
        kind = kinds[int(rng.integers(len(kinds)))]
        turns += {"hinge": 1, "ball": 3}.get(kind, 0)
        if turns > 3:
            break
        text += f'<joint name="j{body}_{k}" type="{kind}" pos="{_v(rng, 3)}"'
        if kind != "ball":
            text += f' axis="{_v(rng, 3)}" ref="{_v(rng, 1)}" springref="{_v(rng, 1)}"'
        for what in ("stiffness", "damping", "armature"):
            if rng.uniform() < 0.6:
                text += f' {what}="{rng.uniform(0, 3):.17g}"'
        text += "/>"
    return text


def _mass(rng) -> str:
    if rng.uniform() < 0.5:
        sizes = {"box": 3, "ellipsoid": 3, "capsule": 2, "cylinder": 2, "sphere": 1}
        kind = list(sizes)[int(rng.integers(len(sizes)))]
        size = " ".join(f"{x:.17g}" for x in rng.uniform(0.05, 0.4, sizes[kind]))
        return f'<geom type="{kind}" size="{size}" pos="{_v(rng, 3)}" quat="{_v(rng, 4)}"/>'
    points = rng.normal(size=(6, 3))
    points -= points.mean(axis=0)
    P = points.T @ points
    I = np.trace(P) * np.eye(3) - P  # of six equal masses: possible by construction
    full = " ".join(f"{x:.17g}" for x in (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))
    return f'<inertial pos="{_v(rng, 3)}" mass="{rng.uniform(0.5, 3):.17g}" fullinertia="{full}"/>'


def _orientation(rng) -> str:
    kind = ("quat", "euler", "axisangle", "xyaxes", "zaxis")[int(rng.integers(5))]
    size = {"quat": 4, "euler": 3, "axisangle": 4, "xyaxes": 6, "zaxis": 3}[kind]
    return f'{kind}="{_v(rng, size)}"'


def _v(rng, size: int) -> str:
    return " ".join(f"{x:.17g}" for x in rng.normal(size=size))
