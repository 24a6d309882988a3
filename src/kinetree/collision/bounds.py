"""Bounds of shapes, over any scalar: how far they reach, for tests that are cheaper than a search for contacts."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.spatial import Vector3
from kinetree.spatial.scalar import absolute, sqrt, where


def radius(shape):
    """Of a sphere around the position of a shape that holds all of it [m]; not of a plane or bowl."""
    if shape.kind == "hull":
        squares = [Vector3(*vertex).dot(Vector3(*vertex)) for vertex in shape.vertices]
        largest = squares[0]
        for x in squares[1:]:
            largest = where(x > largest, x, largest)
        return sqrt(largest)
    if shape.kind == "sphere":
        return shape.size[0]
    if shape.kind == "capsule":
        return shape.size[0] + 0.5 * shape.size[1]
    if shape.kind == "cylinder":
        return sqrt(shape.size[0] * shape.size[0] + 0.25 * (shape.size[1] * shape.size[1]))
    square = sum((x * x for x in shape.size), start=0.0)
    return sqrt(square) * (0.5 if shape.kind == "box" else 1.0)


def extent(shape, slopes: Sequence):
    """How far a shape reaches from its position along a direction, at least [m].

    Parameters
    ----------
    shape : Shape
        No plane.
    slopes : sequence of 3 scalars
        The unit direction in the axes of the shape.
    """
    if shape.kind == "box":
        return sum((0.5 * size * absolute(x) for size, x in zip(shape.size, slopes, strict=True)), start=0.0)
    if shape.kind == "capsule":
        return shape.size[0] + 0.5 * shape.size[1] * absolute(slopes[2])
    if shape.kind == "cylinder":
        across = slopes[0] * slopes[0] + slopes[1] * slopes[1]
        return shape.size[0] * sqrt(across) + 0.5 * shape.size[1] * absolute(slopes[2])
    if shape.kind == "ellipsoid":
        return sqrt(sum((size * x * (size * x) for size, x in zip(shape.size, slopes, strict=True)), start=0.0))
    return radius(shape)
