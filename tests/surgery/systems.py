"""Random mechanisms that hold everything that surgery must carry along, and how two models are compared."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.model import Equipment, Geometry, Keyframe, ModelBuilder
from tests.identities.systems import close, tree

BASE = {"mass": 3.0, "com": (0.1, -0.2, 0.3), "inertia": (0.2, 0.3, 0.25)}


def dressed(seed: int, **options) -> kt.Model:
    """A random tree with joints of every kind, with frames, shapes, a keyframe, a coupling where two joints of one
    freedom are there, something welded to the world, and a body whose own frame is not its coordinates."""
    rng = np.random.default_rng(seed)
    plain = kt.models.random_tree(seed=seed, **options) if options else tree(seed)
    b = ModelBuilder.of(kt.surgery.add_payload(plain, "world", **BASE))
    for body in plain.body_names[1:]:
        b.add_frame(f"{body}_mark", body, placement(rng))
        R, p = pose(placement(rng))
        b.add_geometry(body, Geometry("box", (0.1, 0.2, 0.3), R, p, name=f"{body}_box"))
    b.add_frame("body2", "body2", placement(rng))
    b.add_frame("socket", "world", placement(rng))
    b.add_geometry("world", Geometry("sphere", 0.2, p_BG=(0.3, 0.0, 0.1), name="stone"))
    q, v = plain.random_state(rng)
    joints = plain.joint_names
    b.equipment += Equipment(keyframes=(Keyframe("home", {j: tuple(q[plain.q_index(j)]) for j in joints},
                                                 {j: tuple(v[plain.v_index(j)]) for j in joints}),))  # fmt: skip
    single = [j for j in joints if plain.joints[plain.joint(j)].nq == 1]
    if len(single) > 1:
        b.add_coupling(single[1], single[0], ratio=-0.7, offset=0.2)
    return b.build(merge_fixed=False)


def placement(rng):
    """A random placement as a homogeneous matrix."""
    Q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    X = np.eye(4)
    X[:3, :3] = Q * np.sign(np.linalg.det(Q))
    X[:3, 3] = rng.uniform(-0.5, 0.5, 3)
    return X


def pose(X) -> tuple[np.ndarray, np.ndarray]:
    return X[:3, :3], X[:3, 3]


def state(model, seed: int):
    """Position, velocity (both obey the couplings), acceleration and force."""
    rng = np.random.default_rng(seed)
    return *model.random_state(rng), *rng.standard_normal((2, model.nv))


def frames_at(model, q) -> dict[str, np.ndarray]:
    """Homogeneous poses of all frames in the world, by name."""
    poses = kt.kinematics.frame_poses(model, q)
    return {frame.name: homogeneous(poses[0][k], poses[1][k]) for k, frame in enumerate(model.frames)}


def shapes_at(model, q) -> dict[str, np.ndarray]:
    """Homogeneous poses of all named shapes in the world."""
    bodies = frames_at(model, q)
    found = {}
    for i, shapes in enumerate(model.geometry):
        own = model.frames[i]
        W_B = bodies[own.name] @ np.linalg.inv(homogeneous(own.R_BF, own.p_BF))
        found.update({shape.name: W_B @ homogeneous(shape.R_BG, shape.p_BG) for shape in shapes if shape.name})
    return found


def homogeneous(R, p) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def same_places(one, q_one, other, q_other, names=None, only_common: bool = False) -> None:
    """Frames (all, or those named) and shapes are at the same places in the world."""
    for places in (frames_at, shapes_at):
        here, there = places(one, q_one), places(other, q_other)
        wanted = set(here) & set(there) if only_common else set(here)
        for name in wanted if names is None else set(names) & set(here):
            assert name in there, f"{name} is lost"
            close(here[name], there[name], ulps=1e5)


def same_dynamics(one, q_one, other, q_other, seed: int = 0) -> None:
    """Equal M and inverse dynamics, coordinate by coordinate."""
    assert one.nv == other.nv
    v, a = np.random.default_rng(seed).standard_normal((2, one.nv))
    close(kt.crba(one, q_one), kt.crba(other, q_other))
    close(kt.rnea(one, q_one, v, a), kt.rnea(other, q_other, v, a))


def fingerprint(model) -> str:
    """Everything that a model is, as text: equal before and after something that only reads it."""
    tables = [array.tolist() for array in (model.number_values(), model.spring_reference, model.effort_limit)]
    shapes = [(s.name, s.R_BG.tolist(), s.p_BG.tolist()) for on in model.geometry for s in on]
    keys = [(key.name, dict(key.q), dict(key.v)) for key in model.equipment.keyframes]
    names = (model.body_names, model.joint_names, dict(model.welded), str(model.report), model.I[0])
    return repr((model.structure(), tables, shapes, keys, model.equipment, names))


def all_mass(model) -> float:
    """With what is welded to the world [kg]."""
    return model.total_mass + model.I[0].m
