"""Stick figures: bodies without shapes as capsules between their joints, joints as cylinders along their axes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.calls import plain_call
from kinetree.geometry.mass_properties import principal_axes
from kinetree.model.closing import usual_position
from kinetree.viewer.part import Part, along, pose_matrix

LINKS = ((0.35, 0.52, 0.70), (0.84, 0.53, 0.27), (0.36, 0.62, 0.50), (0.74, 0.52, 0.66), (0.55, 0.70, 0.82))
JOINT = (0.25, 0.27, 0.30, 1.0)
THIN = 0.016  # radius of a link, as a share of the size of the figure
SHORT = 1e-6  # of the size: no capsule is drawn between points that are nearer
_forward_kinematics = plain_call(ALGORITHMS["forward_kinematics"])


def stick_figure(model, bodies: Iterable[int] | None = None) -> list[Part]:
    """Parts for some bodies of a model.

    Parameters
    ----------
    model : Model
        In space.
    bodies : iterable of int, optional
        Numbers; default: all but the world.

    Returns
    -------
    list of Part
        For each body capsules from its origin to the joints of its children, its frames and the ends of its loops; of
        a body without any of these, to its center of mass; if it has none of them, the box of its mass and inertia.
    """
    ends = {i: _ends(model, i) for i in model.outward()}
    R, p = _forward_kinematics(model, usual_position(model), *([0.0] if model.time_dependent else []))
    points = [p[i] + R[i] @ x for i, found in ends.items() for x in (np.zeros(3), *found)]
    size = float(np.ptp(points, axis=0).max()) if points else 0.0
    size = max(size, max((max(box_edges(model, i), default=0.0) for i in model.outward()), default=0.0)) or 1.0
    parts = []
    for i in model.outward() if bodies is None else bodies:
        if i:
            parts += _links(model, i, ends[i], size)
            parts += _joint(model, i, THIN * size)
    return parts


def _ends(model, i: int) -> list[np.ndarray]:
    """The points of a body at which something hangs, in its coordinates."""
    points = [np.array([*model.X_T[c].r]) for c in model.children(i)]
    points += [f.p_BF for f in model.frames[model.nb :] if f.body == i]
    for loop in model.loops:
        for name, X in ((loop.predecessor, loop.X_P), (loop.successor, loop.X_S)):
            frame = model.frame(name)
            if frame.body == i:
                points.append(frame.p_BF + frame.R_BF @ np.array([*X.r]))
    if not any(np.linalg.norm(x) for x in points) and model.I[i].m:
        points.append(np.array([*model.I[i].com]))
    return points


def _links(model, i: int, ends: list[np.ndarray], size: float) -> list[Part]:
    name, color = model.body_names[i], (*LINKS[i % len(LINKS)], 1.0)
    found = []
    for end in {tuple(x.round(12)) for x in ends if np.linalg.norm(x) > SHORT * size}:
        X, length = along(np.zeros(3), end)
        found.append(Part(f"{name} {len(found)}", i, "stick", X, "capsule", (THIN * size, length), color))
    if not found and model.I[i].m:
        com, lengths = np.array([*model.I[i].com]), box_edges(model, i)
        X = pose_matrix(principal(model, i)[1], com)
        least = 0.5 * THIN * size
        found.append(Part(f"{name} 0", i, "stick", X, "box", tuple(max(x, least) for x in lengths), color))
    return found


def principal(model, i: int):
    """Principal moments about the center of mass [kg m^2], and their axes as columns of a rotation."""
    inertia = model.I[i]
    c, m = np.array([*inertia.com]), float(inertia.m)
    about_origin = np.array(inertia.I.matrix.rows, dtype=float)
    return principal_axes(about_origin - m * (c @ c * np.eye(3) - np.outer(c, c)))


def box_edges(model, i: int) -> tuple[float, ...]:
    """Edge lengths along the principal axes of the homogeneous box with the body's mass and inertia [m]."""
    if not model.I[i].m:
        return ()
    moments, _ = principal(model, i)
    squares = 6.0 / float(model.I[i].m) * (moments.sum() - 2.0 * moments)
    return tuple(np.sqrt(np.maximum(squares, 0.0)).tolist())


def _joint(model, i: int, radius: float) -> list[Part]:
    """A cylinder along the axis of a joint that turns, a box around one that slides, a ball for others."""
    joint, name = model.joints[i], f"{model.joint_name(i)} joint"
    if not joint.nv or joint.nv == 6:
        return []
    columns = joint.motion_subspace(joint.neutral())
    turn, slide = (np.array([*x], dtype=float) for x in (columns[0].angular, columns[0].linear))
    if joint.nv > 1:
        return [Part(name, i, "stick", np.eye(4), "sphere", (2.0 * radius,), JOINT)]
    turns = bool(np.linalg.norm(turn) > 1e-9)
    axis = turn if turns else slide
    axis = axis / np.linalg.norm(axis)
    X, _ = along(-axis, axis)
    if not turns:
        return [Part(name, i, "stick", X, "box", (3.0 * radius, 3.0 * radius, 5.0 * radius), JOINT)]
    X[:3, 3] = np.cross(turn, slide) / (turn @ turn)  # the point of the axis next to the origin
    return [Part(name, i, "stick", X, "cylinder", (1.7 * radius, 4.5 * radius), JOINT)]
