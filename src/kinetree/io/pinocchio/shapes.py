"""Shapes of a ``pinocchio.GeometryModel``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kinetree.model import Geometry, ModelBuilder


def add_shapes(builder: ModelBuilder, shapes, role: str, bodies: Sequence[str], lost: list[str]) -> None:
    """Give the bodies the shapes of a geometry model.

    Parameters
    ----------
    builder : ModelBuilder
    shapes : pinocchio.GeometryModel
    role : {"visual", "collision"}
    bodies : sequence of str
        Names of bodies by the number of the joint in Pinocchio.
    lost : list of str
        Receives shapes of kinds that kinetree does not have.
    """
    for item in shapes.geometryObjects:
        R, p = np.array(item.placement.rotation), np.array(item.placement.translation)
        common = {"role": role, "name": str(item.name)}
        color = np.clip(np.array(item.meshColor, dtype=float).ravel(), 0.0, 1.0)
        file = str(item.meshPath)
        if item.overrideMaterial or not Path(file).suffix:  # otherwise the colors of the file count
            common["color"] = tuple(color.tolist())
        found = _primitive(item.geometry)
        if found is not None:
            kind, size, turn, offset = found
            shape = Geometry(kind, size, R @ turn, p + R @ offset, **common)
        elif Path(file).suffix:
            scale = tuple(np.array(item.meshScale, dtype=float).ravel().tolist())
            shape = Geometry("mesh", (), R, p, mesh=file, scale=scale, **common)
        else:
            lost.append(f"the shape {str(item.name)!r}, a {type(item.geometry).__name__} without a file")
            continue
        builder.add_geometry(bodies[int(item.parentJoint)], shape)


def _primitive(geometry) -> tuple[str, tuple[float, ...], np.ndarray, np.ndarray] | None:
    """Kind, size, and the pose in which our shape lies in Pinocchio's."""
    turn, offset = np.eye(3), np.zeros(3)
    match type(geometry).__name__:
        case "Box":
            return "box", tuple((2.0 * np.array(geometry.halfSide, dtype=float)).tolist()), turn, offset
        case "Sphere":
            return "sphere", (float(geometry.radius),), turn, offset
        case "Cylinder" | "Capsule" as kind:
            return kind.lower(), (float(geometry.radius), 2.0 * float(geometry.halfLength)), turn, offset
        case "Ellipsoid":
            return "ellipsoid", tuple(np.array(geometry.radii, dtype=float).tolist()), turn, offset
        case "Halfspace":
            normal = np.array(geometry.n, dtype=float)
            return "plane", (), _turn_to(normal), float(geometry.d) * normal
    return None


def _turn_to(normal: np.ndarray) -> np.ndarray:
    """A rotation matrix whose third column is this unit vector."""
    across = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = np.cross(across, normal)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(normal, x), normal], axis=1)
