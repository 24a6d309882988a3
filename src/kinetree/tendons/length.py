"""The length of a tendon over the positions of frames and joints, in any scalars."""

from __future__ import annotations

from kinetree.arguments import refuse
from kinetree.spatial.scalar import sqrt, where
from kinetree.tendons.parts import JointTerm, PathPart
from kinetree.tendons.path import Path, branches


def path_length(path: Path, kin):
    """The length of a tendon, or its sum of joint terms.

    Parameters
    ----------
    path : tuple of JointTerm, or of ViaPoint and Pulley
    kin : Kinematics or leaves
        Gives positions by name: ``kin.coordinate(joint)``, and in space ``kin.seen_from(frame)``.

    Returns
    -------
    scalar
        [m, or the unit of the joint terms].

    Raises
    ------
    ArgumentError
        The path has another part.

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
    if not isinstance(path, tuple) or not path or not all(isinstance(part, PathPart) for part in path):
        refuse("path_length: path", path, "a tuple of JointTerm, or of ViaPoint and Pulley")
    total = 0.0
    if isinstance(path[0], JointTerm):
        for term in path:
            total = total + kin.coordinate(term.joint) * term.coefficient
        return total
    for divisor, points in branches(path):
        for start, end in zip(points, points[1:], strict=False):
            near = kin.seen_from(start.frame)
            d = near.point(end.frame, end.at) - near.point(start.frame, start.at)
            total = total + magnitude(d) * (1.0 / divisor)
    return total


def magnitude(r):
    """The length of a vector; its derivative at zero, where it has no direction, is zero."""
    square = r.dot(r)
    apart = square > 0.0
    return where(apart, sqrt(where(apart, square, 1.0)), square)
