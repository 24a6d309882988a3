"""The length of a tendon over the positions of frames and joints, in any scalars."""

from __future__ import annotations

from kinetree.arguments import refuse
from kinetree.spatial import Vector3
from kinetree.tendons.parts import PathPart, WrapShape
from kinetree.tendons.path import Path, branches, is_fixed, segments
from kinetree.tendons.wrapping import magnitude, wrapped_length


def path_length(path: Path, kin):
    """The length of a tendon, or its sum of joint terms.

    Parameters
    ----------
    path : tuple of JointTerm, or of ViaPoint, WrapShape and Pulley
    kin : Kinematics or leaves
        Gives positions by name: ``kin.coordinate(joint)``, and in space ``kin.seen_from(frame)``.

    Returns
    -------
    scalar
        [m, or the unit of the joint terms].

    Raises
    ------
    ArgumentError
        The path is no tuple of such parts.

    Notes
    -----
    Points that meet have no direction between them: there the derivative is zero.

    Source: MuJoCo, XML reference, ``tendon/spatial`` and ``tendon/fixed``.

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.double_pendulum()
    >>> path = (kt.tendons.ViaPoint("world"), kt.tendons.ViaPoint("lower", at=(0.0, 0.0, -1.0)))
    >>> float(kt.tendons.path_length(path, kt.constraints.Kinematics(model, [0.0, 0.0])))
    2.0
    """
    if not isinstance(path, tuple) or not all(isinstance(part, PathPart) for part in path):
        refuse("path_length: path", path, "a tuple of JointTerm, or of ViaPoint, WrapShape and Pulley")
    if not hasattr(type(kin), "seen_from"):
        refuse("path_length: kin", kin, "the kinematics that laws of force and constraints are given")
    total = 0.0
    if is_fixed(path):
        for term in path:
            total = total + kin.coordinate(term.joint) * term.coefficient
        return total
    for divisor, parts in branches(path):
        for start, shape, end in segments(parts):
            near = kin.seen_from((shape or start).frame)
            length = _straight(near, start, end) if shape is None else _over(near, shape, start, end)
            total = total + length * (1.0 / divisor)
    return total


def _straight(near, start, end):
    if start.frame == end.frame:  # constant, so a number of the model
        return magnitude(Vector3(*end.at) - Vector3(*start.at))
    return magnitude(near.point(end.frame, end.at) - near.point(start.frame, start.at))


def _over(near, shape: WrapShape, start, end):
    """The length around a shape, or past it."""
    side = None if shape.side is None or shape.inside else near.point(shape.side)
    center, points = near.point(shape.frame), [near.point(part.frame, part.at) for part in (start, end)]
    points = [None if p is None else p - center for p in (*points, side)]
    if shape.kind == "cylinder":
        axes = near.rotation(shape.frame).T
        points = [None if p is None else axes @ p for p in points]
    return wrapped_length(shape, *points)
