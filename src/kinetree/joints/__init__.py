"""Joints: transforms, motion subspaces and position manifolds, one file per kind."""

from kinetree.joints.composite import Composite
from kinetree.joints.contract import Joint
from kinetree.joints.cylindrical import Cylindrical
from kinetree.joints.ellipsoid import Ellipsoid
from kinetree.joints.euler import SphericalEuler, Universal
from kinetree.joints.fixed import Fixed
from kinetree.joints.free import Free, FreeLocal
from kinetree.joints.free_unified import FreeUnified
from kinetree.joints.helical import Helical
from kinetree.joints.moving_frame import MovingFrame
from kinetree.joints.planar import Planar, PlanarLocal
from kinetree.joints.prescribed import Prescribed
from kinetree.joints.prismatic import Prismatic
from kinetree.joints.rack_and_pinion import RackAndPinion
from kinetree.joints.registry import JOINTS, examples, register
from kinetree.joints.reversed import Reversed
from kinetree.joints.revolute import Revolute
from kinetree.joints.rheonomic import Rheonomic
from kinetree.joints.sphere_in_cylinder import SphereInCylinder
from kinetree.joints.spherical import Spherical
from kinetree.joints.spherical_exponential import SphericalExponential
from kinetree.joints.spline_curve import SplineCurve
from kinetree.joints.spline_surface import SplineSurface
from kinetree.joints.split import FreeSplit, PlanarSplit
from kinetree.joints.time_functions import FourierSeries, Polynomial, Sinusoid, TimeSpline
from kinetree.joints.translational import Translational
from kinetree.liegroup.unified import Projection

__all__ = [
    "JOINTS", "Composite", "Cylindrical", "Ellipsoid", "Fixed", "FourierSeries", "Free", "FreeLocal", "FreeSplit",
    "FreeUnified", "Helical", "Joint", "MovingFrame", "Planar", "PlanarLocal", "PlanarSplit", "Polynomial",
    "Prescribed", "Prismatic", "Projection", "RackAndPinion", "Reversed", "Revolute", "Rheonomic", "Sinusoid",
    "SphereInCylinder", "Spherical", "SphericalEuler",
    "SphericalExponential", "SplineCurve", "SplineSurface", "TimeSpline", "Translational", "Universal", "examples",
    "register",
]  # fmt: skip
