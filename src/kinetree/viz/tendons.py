"""Tendons and springs in drawings of mechanisms: their curves, and the shapes that they wrap around."""

from __future__ import annotations

import numpy as np

from kinetree.state_kinematics import Kinematics
from kinetree.tendons import WrapShape, path_points

COLOR, SHAPE_COLOR = "#b5332e", "#9a9a9a"
AROUND = np.linspace(0.0, 2.0 * np.pi, 49)


def draw_tendons(axes, model, q, shade: float) -> np.ndarray:
    """Draw all tendons, and force elements and constraints along paths or between two points; their points."""
    paths = {tendon.path for tendon in model.tendons}
    paths |= {part.path for part in (*model.forces, *model.constraints) if getattr(part, "path", ())}
    points = [np.zeros((0, 3))]
    for path in sorted(paths, key=repr):
        for curve in path_points(model, q, path) if path else ():
            axes.plot(*curve.T, color=COLOR, alpha=shade, linewidth=1.2)
            points.append(curve)
    kin = Kinematics(model, q.tolist())
    for force in model.forces:
        if hasattr(force, "start_at") and hasattr(force, "end_at"):
            ends = kin.point(force.start, force.start_at), kin.point(force.end, force.end_at)
            line = np.array([list(end) for end in ends], float)
            axes.plot(*line.T, color=COLOR, alpha=shade, linewidth=1.2)
            points.append(line)
    for shape in sorted({part for path in paths for part in path if isinstance(part, WrapShape)}, key=repr):
        R = np.array([list(row) for row in kin.rotation(shape.frame).rows], float)
        center = np.array(list(kin.point(shape.frame)), float)
        for line in _outline(shape):
            axes.plot(*(center + line @ R.T).T, color=SHAPE_COLOR, alpha=0.7 * shade, linewidth=0.6)
    return np.concatenate(points)


def _outline(shape: WrapShape) -> list[np.ndarray]:
    """Lines on a shape, in its coordinates: three great circles; two ends and edges of a piece of a cylinder."""
    c, s, z = shape.radius * np.cos(AROUND), shape.radius * np.sin(AROUND), np.zeros(len(AROUND))
    if shape.kind == "sphere":
        return [np.stack(line, axis=1) for line in ((c, s, z), (z, c, s), (s, z, c))]
    half = 2.0 * shape.radius
    ends = [np.stack((c, s, z + h), axis=1) for h in (-half, half)]
    return [*ends, *(np.stack((ends[0][k], ends[1][k])) for k in range(0, len(AROUND) - 1, 12))]
