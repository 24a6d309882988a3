"""The same joint between exchanged bodies, in its cheapest form."""

from __future__ import annotations

import dataclasses

from kinetree.joints.contract import Joint
from kinetree.joints.cylindrical import Cylindrical
from kinetree.joints.fixed import Fixed
from kinetree.joints.helical import Helical
from kinetree.joints.prismatic import Prismatic
from kinetree.joints.reversed import Reversed
from kinetree.joints.revolute import Revolute

ALONG_AN_AXIS = (Revolute, Prismatic, Helical, Cylindrical)  # reversed by turning the axis round


def reversed_joint(joint: Joint) -> Joint:
    """The joint between the same frames, exchanged, with the same q, v and forces.

    Parameters
    ----------
    joint : Joint

    Returns
    -------
    Joint
        Joints along an axis get the opposite axis, reversed ones become their originals, others become ``Reversed``.

    Notes
    -----
    *Source* Featherstone, table 4.2.

    Examples
    --------
    >>> reversed_joint(Revolute((0, 0, 1))).axis
    (0.0, 0.0, -1.0)
    """
    if isinstance(joint, Reversed):
        return joint.joint
    if type(joint) in ALONG_AN_AXIS:
        return dataclasses.replace(joint, axis=tuple(-x for x in joint.axis))
    return joint if joint.nq == joint.nv == 0 and isinstance(joint, Fixed) else Reversed(joint)
