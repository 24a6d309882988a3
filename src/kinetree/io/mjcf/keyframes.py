"""Keyframes of a compiled MJCF model, and the state in which the file shows the robot."""

from __future__ import annotations

import numpy as np

from kinetree.io.free_names import Names
from kinetree.io.mjcf.layout import BALL, FREE, Layout
from kinetree.io.mjcf.names import of_kind, unique
from kinetree.io.mjcf.notes import Notes
from kinetree.model import Equipment, Keyframe, ModelBuilder
from kinetree.model.builder import rotation_of_quaternion

INITIAL = "initial"  # where a simulation starts by default


def add_keyframes(builder: ModelBuilder, place: Layout, notes: Notes) -> None:
    """Add the file's keyframes, and "initial", MuJoCo's qpos0, unless that is the neutral position."""
    mj = place.mj
    names = Names()
    named = unique(of_kind(mj, "key", mj.nkey), "key", names)
    keys = [
        Keyframe(name, _positions(place, mj.key_qpos[k]), _velocities(place, mj.key_qpos[k], mj.key_qvel[k]))
        for k, name in enumerate(named)
    ]
    start = _positions(place, mj.qpos0)
    if any(tuple(x) != _neutral(len(x)) for x in start.values()):
        name = INITIAL if INITIAL not in named else names.new("qpos0")
        keys.append(Keyframe(name, start))
        notes.info(notes.sources.main.file, f"keyframe '{name}' is the position in which the file shows it (qpos0)")
    for k, name in enumerate(named):
        others = [what for what, values in _unread(mj, k).items() if np.any(values)]
        if others:
            where = notes.sources.where("key", name)
            notes.info(where, f"keyframe '{name}': {', '.join(others)} ignored, a keyframe is positions and velocities")
    builder.equipment += Equipment(keyframes=tuple(keys))


def _neutral(size: int) -> tuple[float, ...]:
    return {7: (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), 4: (1.0, 0.0, 0.0, 0.0)}.get(size, (0.0,))


def _positions(place: Layout, qpos) -> dict[str, tuple[float, ...]]:
    found = {}
    mj = place.mj
    if place.freed is not None:
        b = place.freed
        found[place.base_joint] = (*map(float, mj.body_pos[b]), *map(float, mj.body_quat[b]))
    for j, name in enumerate(place.joints):
        if name is not None:
            x = np.array(qpos[place.positions(j)], dtype=float)
            if mj.jnt_type[j] in (FREE, BALL):
                x[-4:] /= np.linalg.norm(x[-4:])
            found[name] = tuple(x.tolist())
    return found


def _velocities(place: Layout, qpos, qvel) -> dict[str, tuple[float, ...]]:
    """A free joint's velocity is (linear in the world's axes, angular) there, (angular, linear) in the body's here."""
    found = {}
    for j, name in enumerate(place.joints):
        v = np.array(qvel[place.dofs(j)], dtype=float)
        if name is None or not v.any():
            continue
        if place.mj.jnt_type[j] == FREE:
            R = rotation_of_quaternion(qpos[place.positions(j)][3:])
            v = np.concatenate([v[3:], R.T @ v[:3]])
        found[name] = tuple(v.tolist())
    return found


def _unread(mj, k: int) -> dict[str, np.ndarray]:
    """What else MuJoCo keeps in a keyframe; controls and poses of mocap bodies only where they say something."""
    unread = {"time": mj.key_time[k], "activations": mj.key_act[k], "controls": mj.key_ctrl[k]}
    if mj.nmocap:
        unread["mocap poses"] = mj.key_mpos[k]
    return unread
