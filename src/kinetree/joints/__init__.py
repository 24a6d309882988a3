"""Joints: what one knows about the motion of a body relative to its neighbor, and nothing else."""

from kinetree.joints.contract import Joint
from kinetree.joints.cylindrical import Cylindrical
from kinetree.joints.euler import SphericalEuler, Universal
from kinetree.joints.fixed import Fixed
from kinetree.joints.free import Free
from kinetree.joints.helical import Helical
from kinetree.joints.planar import Planar
from kinetree.joints.prismatic import Prismatic
from kinetree.joints.rack_and_pinion import RackAndPinion
from kinetree.joints.registry import JOINTS, examples, register
from kinetree.joints.reversed import Reversed
from kinetree.joints.revolute import Revolute
from kinetree.joints.sphere_in_cylinder import SphereInCylinder
from kinetree.joints.spherical import Spherical

__all__ = [
    "JOINTS", "Cylindrical", "Fixed", "Free", "Helical", "Joint", "Planar", "Prismatic", "RackAndPinion", "Reversed",
    "Revolute", "SphereInCylinder", "Spherical", "SphericalEuler", "Universal", "examples", "register",
]  # fmt: skip
