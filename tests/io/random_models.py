"""Random models of all that a file format can say, numbered depth first as its readers number them."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.joints import Fixed, Free, Planar, Prismatic, Revolute, Spherical
from kinetree.model.parts import Geometry

# Names that XML and file formats could stumble on.
NAMES = ("a/b", "knee & foot", 'the "left" one', "<tip>", "\u00fcber", "it's", "x y", "a.b", "-1", "\u96ea")


def rotation(rng) -> np.ndarray:
    """A random rotation; every third has right angles only."""
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    if rng.random() < 0.3:
        Q = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
    return Q * np.sign(np.linalg.det(Q))


def joints_of(form: str, rng) -> list:
    """Joints that the format has, with axes in any direction."""
    axis = rng.normal(size=3)
    both = [Revolute((0, 0, 1)), Revolute(axis), Prismatic((0, -1, 0)), Prismatic(axis)]
    return both + ([Planar(), Free()] if form == "urdf" else [Spherical()])


def random_model(form: str, seed: int, bodies: int = 9, fixed: bool = True):
    """A tree with limits, friction, damping, a coupling, frames and shapes, and what else the format has."""
    rng = np.random.default_rng(seed)
    b = kt.ModelBuilder(f"random {seed} <&>")
    free, stack = [], []
    for k in range(bodies):
        name = f"{NAMES[k % len(NAMES)]}{k}"
        # Depth first: a parent is the body before, or one that carries it.
        while stack and rng.random() < 0.3:
            stack.pop()
        parent = stack[-1] if stack else "world"
        choices = joints_of(form, rng)
        joint = Fixed() if fixed and stack and rng.random() < 0.2 else choices[rng.integers(len(choices))]
        if form == "mjcf" and k == 0 and seed % 3 == 0:
            joint = Free()
        scale = 10.0 ** rng.uniform(-2, 2)
        S = rng.normal(size=(3, 3)) * scale
        S = S @ S.T
        data = {}
        if joint.nv == 1:
            free.append(f"{name}_joint")
            data = {"damping": rng.random(), "dry_friction": rng.random() * (k % 2), "lower": -rng.random()}
            data |= {"upper": rng.random() if k % 3 else np.inf, "effort_limit": 9.0 if k % 2 else np.inf}
            if form == "urdf":
                data["velocity_limit"] = rng.random() if k % 3 else np.inf
            else:
                data |= {"stiffness": rng.random(), "spring_reference": rng.random(), "armature": rng.random()}
        placement = (rotation(rng), rng.normal(size=3) * scale)
        if isinstance(joint, Free) and form == "mjcf":
            placement = None
        inertia = {"mass": scale, "com": rng.normal(size=3) * scale, "inertia": np.trace(S) * np.eye(3) - S}
        b.add_body(name, parent, joint, f"{name}_joint", placement, **inertia, **data, geometry=shapes(form, rng, k))
        if joint.nv:
            stack.append(name)
    if len(free) >= 2:
        b.add_coupling(free[1], free[0], ratio=rng.normal(), offset=rng.normal())
    return b.build()


def shapes(form: str, rng, k: int) -> list[Geometry]:
    """Some shapes, visual before collision."""
    kinds = [("box", 3), ("sphere", 1), ("cylinder", 2), ("capsule", 2), ("ellipsoid", 3)][: 5 if form == "mjcf" else 4]
    made = []
    for role in ("visual", "collision"):
        kind, n = kinds[rng.integers(len(kinds))]
        color = tuple(rng.random(4)) if role == "visual" else None
        size = tuple(rng.random(n) + 0.01)
        data = contact_data(form, rng) if role == "collision" else {}
        made.append(Geometry(kind, size, rotation(rng), rng.normal(size=3), role, f"{role} {k}", color=color, **data))
    return made


def contact_data(form: str, rng) -> dict[str, object]:
    """Contact data of a shape that the format has: URDF the same of all shapes that are welded together."""
    if form == "urdf":
        return {"friction": (0.7, 0.0, 1e-3), "restitution": 0.3, "stiffness": 1e5}
    friction = tuple(rng.random(3))
    softness = kt.model.Softness((rng.random(), 1.0), (0.8, 0.9, 0.01, 0.5, 2.0)) if rng.random() < 0.5 else None
    data = {"contype": int(rng.integers(1, 2**32)), "conaffinity": int(rng.integers(2**32)), "softness": softness}
    return data | {"friction": friction, "margin": rng.random(), "priority": int(rng.integers(-3, 3))}
