"""The points of a path in space, for drawings: straight pieces, and arcs around shapes."""

from __future__ import annotations

import math

import numpy as np

from kinetree.arguments import a_model, array, refuse, whole
from kinetree.errors import unknown_name
from kinetree.spatial import Vector3
from kinetree.state_kinematics import Kinematics
from kinetree.tendons.inside import incidence
from kinetree.tendons.parts import WrapShape
from kinetree.tendons.path import branches, is_fixed, path_of, segments
from kinetree.tendons.wrapping import winding


def path_points(model, q, tendon, per_turn: int = 64) -> list[np.ndarray]:
    """The curve of a tendon as points in world coordinates.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Position of the model [rad or m].
    tendon : str, or sequence of ViaPoint, WrapShape and Pulley
        The name of one of ``model.tendons``, or a path.
    per_turn : int
        Points on a full turn around a shape.

    Returns
    -------
    list of (n, 3) arrays
        One for each branch [m]; none for a sum of joint positions.

    Raises
    ------
    UnknownNameError
        The model has no tendon of this name, or no such frame.
    ArgumentError, ModelError
        The path is none.

    Examples
    --------
    >>> import kinetree as kt
    >>> via, model = kt.tendons.ViaPoint, kt.models.double_pendulum()
    >>> (curve,) = kt.tendons.path_points(model, [0.0, 0.0], (via("world"), via("upper", (0, 0, -0.5)), via("lower")))
    >>> curve.shape
    (3, 3)
    """
    a_model("path_points: model", model)
    whole("path_points: per_turn", per_turn, least=4)
    q = array("path_points: q", q, shape=(model.nq,))
    if isinstance(tendon, str):
        known = {each.name: each.path for each in model.tendons}
        if tendon not in known:
            raise unknown_name("tendon", tendon, known, f"model {model.name!r}")
        tendon = known[tendon]
    elif not isinstance(tendon, (tuple, list)):
        refuse("path_points: tendon", tendon, "the name of a tendon, or a path")
    path, kin = path_of("path_points: tendon", tendon), Kinematics(model, q.tolist())
    curves = []
    for _, parts in () if is_fixed(path) else branches(path):
        points = [_array(kin.point(parts[0].frame, parts[0].at))]
        for start, shape, end in segments(parts):
            points += [] if shape is None else _arc(kin, shape, start, end, per_turn)
            points.append(_array(kin.point(end.frame, end.at)))
        curves.append(np.array(points))
    return curves


def _array(v: Vector3) -> np.ndarray:
    return np.array(list(v), float)


def _arc(kin: Kinematics, shape: WrapShape, start, end, per_turn: int) -> list[np.ndarray]:
    """Points where the path touches a shape, from one tangent to the other."""
    center = _array(kin.point(shape.frame))
    R = np.array([list(row) for row in kin.rotation(shape.frame).rows], float)
    ends = [R.T @ (_array(kin.point(part.frame, part.at)) - center) for part in (start, end)]
    side = None if shape.side is None or shape.inside else R.T @ (_array(kin.point(shape.side)) - center)
    seen = winding(shape, *(Vector3(*p.tolist()) for p in ends), None if side is None else Vector3(*side.tolist()))
    l0, l1, r = math.sqrt(seen.s0), math.sqrt(seen.s1), shape.radius
    if min(l0, l1) <= r:
        return []
    total, a0, a1 = math.atan2(seen.cross, seen.dot), math.acos(r / l0), math.acos(r / l1)
    total = 2.0 * math.pi - total if seen.is_long else total
    if shape.inside:
        if total >= a0 + a1:
            return []
        i = incidence(seen.s0, seen.s1, total, r)
        angles = [i - math.asin(r / l0 * math.sin(i))]
    elif total <= a0 + a1:
        return []
    else:
        count = max(2, math.ceil((total - a0 - a1) / (2.0 * math.pi) * per_turn) + 1)
        angles = np.linspace(a0, total - a1, count)
    e0, e1 = _plane(shape, ends[0], _array(seen.normal) * (-1.0 if seen.is_long else 1.0))
    points = [r * (math.cos(x) * e0 + math.sin(x) * e1) for x in angles]
    if shape.kind == "cylinder":  # evenly along the unrolled length
        t0, t1 = math.sqrt(seen.s0 - r * r), math.sqrt(seen.s1 - r * r)
        if shape.inside:
            t0, t1 = (float(np.linalg.norm((points[0] - p)[:2])) for p in ends)
        lengths = [t0 + r * (x - angles[0]) for x in angles]
        for point, s in zip(points, lengths, strict=True):
            point[2] = ends[0][2] + (ends[1][2] - ends[0][2]) * s / (lengths[-1] + t1)
    return [center + R @ point for point in points]


def _plane(shape: WrapShape, start: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors towards the start, and across it in the direction of turning."""
    e0 = start * (1.0, 1.0, 0.0) if shape.kind == "cylinder" else start
    e0 = e0 / np.linalg.norm(e0)
    e1 = np.cross(normal, e0)
    return e0, e1 / np.linalg.norm(e1)
