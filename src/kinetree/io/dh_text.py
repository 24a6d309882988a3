"""A Denavit-Hartenberg table as text."""

from __future__ import annotations

import math

import numpy as np

from kinetree.model.parts import pose_of_transform
from kinetree.spatial import Transform


def as_text(table) -> str:
    """Rows and columns, angles as fractions of pi where they are some; base and tool where there are any."""
    lines = [f"{table.convention} Denavit-Hartenberg parameters of {table.name}"]
    place = _pose_text("base", table.base)
    lines += [place] if place else []
    lines.append(_columns("joint", "a [m]", "alpha [rad]", "d [m]", "theta [rad]"))
    for k, row in enumerate(table.rows, start=1):
        turns, slides = row.joint in ("revolute", "cylindrical", "screw"), row.joint in ("prismatic", "cylindrical")
        d, theta = _with_q(row.d, _length, slides), _with_q(row.theta, angle_text, turns)
        if row.joint == "screw":
            d = f"{_length(row.d)} + {row.pitch:g} q"
        lines.append(_columns(row.joint_name or f"joint{k}", _length(row.a), angle_text(row.alpha), d, theta))
    place = _pose_text("tool", table.tool)
    return "\n".join([*lines, place] if place else lines)


def angle_text(angle: float) -> str:
    """An angle [rad], as a fraction of pi where it is one.

    Examples
    --------
    >>> angle_text(-math.pi / 2), angle_text(0.75 * math.pi), angle_text(1.2)
    ('-pi/2', '3 pi/4', '1.2')
    """
    for part in (1, 2, 3, 4, 6):
        times = angle * part / math.pi
        if abs(times - round(times)) < 1e-9 and round(times):
            n = "" if abs(round(times)) == 1 else f"{abs(round(times))} "
            return f"{'-' if times < 0 else ''}{n}pi" + (f"/{part}" if part > 1 else "")
    return f"{0.0 if abs(angle) < 1e-12 else angle:.6g}"


def _length(x: float) -> str:
    return f"{0.0 if abs(x) < 1e-12 else x:.6g}"


def _with_q(offset: float, text, moves: bool) -> str:
    if not moves:
        return text(offset)
    constant = text(offset)
    return "q" if constant == "0" else f"q - {constant[1:]}" if constant.startswith("-") else f"q + {constant}"


def _columns(joint: str, a: str, alpha: str, d: str, theta: str) -> str:
    return f"{joint:<16} {a:>10} {alpha:>16} {d:>10} {theta:>16}"


def _pose_text(what: str, X: Transform) -> str:
    R, p = pose_of_transform(X)
    if np.array_equal(R, np.eye(3)) and not p.any():
        return ""
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    roll, yaw = math.atan2(R[2, 1], R[2, 2]), math.atan2(R[1, 0], R[0, 0])
    angles = ", ".join(map(angle_text, (roll, pitch, yaw)))
    return f"{what} at ({', '.join(map(_length, p))}) m, roll-pitch-yaw ({angles}) rad"
