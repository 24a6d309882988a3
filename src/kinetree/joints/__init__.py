"""Joints: transforms, motion subspaces and position manifolds; ``JOINTS`` has all kinds by name."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.arguments import a_random_generator, a_truth_value, checked
from kinetree.errors import JointError
from kinetree.joints.composite import Composite
from kinetree.joints.contract import Joint
from kinetree.joints.elementary import Cylindrical, Fixed, Helical, Prismatic, RackAndPinion, Revolute, Translational
from kinetree.joints.euler import Ellipsoid, SphericalEuler, Universal
from kinetree.joints.free import Free, FreeLocal, FreeUnified
from kinetree.joints.planar import Planar, PlanarLocal
from kinetree.joints.reversed import Reversed
from kinetree.joints.rheonomic import MovingFrame, Prescribed, Rheonomic
from kinetree.joints.spherical import SphereInCylinder, Spherical, SphericalExponential
from kinetree.joints.spline_curve import SplineCurve
from kinetree.joints.spline_surface import SplineSurface
from kinetree.joints.split import FreeSplit, PlanarSplit
from kinetree.joints.time_functions import FourierSeries, Polynomial, Sinusoid, TimeSpline
from kinetree.kinds import enter
from kinetree.liegroup.unified import Projection

__all__ = [
    "JOINTS", "Composite", "Cylindrical", "Ellipsoid", "Fixed", "FourierSeries", "Free", "FreeLocal", "FreeSplit",
    "FreeUnified", "Helical", "Joint", "MovingFrame", "Planar", "PlanarLocal", "PlanarSplit", "Polynomial",
    "Prescribed", "Prismatic", "Projection", "RackAndPinion", "Reversed", "Revolute", "Rheonomic", "Sinusoid",
    "SphereInCylinder", "Spherical", "SphericalEuler",
    "SphericalExponential", "SplineCurve", "SplineSurface", "TimeSpline", "Translational", "Universal", "examples",
    "register",
]  # fmt: skip

JOINTS: dict[str, type[Joint]] = {}


def register(cls: type[Joint]) -> type[Joint]:
    """Enter a joint class into ``JOINTS`` under its ``kind``, so that the test battery covers it; a decorator.

    Unregistered joints work just as well in a model.

    Parameters
    ----------
    cls : subclass of Joint
        Its classmethod ``examples(cls, rng)`` yields instances for the tests; without one, ``cls()`` is taken.

    Raises
    ------
    JointError
        If ``cls`` is not a joint class.
    DuplicateNameError
        If another class has this kind.
    """
    return enter(JOINTS, Joint, cls, "joint", JointError)


for _cls in (
    Revolute, Prismatic, Helical, Cylindrical, Planar, Spherical, SphericalEuler, Universal, RackAndPinion,
    SphereInCylinder, Free, Fixed, Translational, SphericalExponential, PlanarLocal, PlanarSplit, FreeLocal, FreeSplit,
    Ellipsoid, Composite, SplineCurve, SplineSurface, MovingFrame, Prescribed, FreeUnified, Reversed,
):  # fmt: skip
    register(_cls)


@checked(rng=a_random_generator, time_dependent=a_truth_value)
def examples(rng, *, time_dependent: bool = False) -> Iterator[tuple[str, Joint]]:
    """Instances of every kind and, of each, the reversed joint.

    Parameters
    ----------
    rng : numpy.random.Generator
        For odd axes.
    time_dependent : bool
        Whether joints that depend on time occur, too.

    Yields
    ------
    label, joint
        The label is the joint's repr, short enough for a test's name.
    """
    kinds = list(JOINTS.values())
    found = [joint for cls in kinds if cls.time_dependent is not True for joint in cls.examples(rng)]
    if time_dependent:
        found += [joint for cls in kinds if cls.time_dependent is True for joint in cls.examples(rng)]
        found += _on_moving_frames(rng)
    for joint in found:
        for variant in (joint, Reversed(joint)):
            yield repr(variant).replace(" ", ""), variant


def _on_moving_frames(rng) -> Iterator[Joint]:
    """Joints with freedoms on moving frames, or below one."""
    frames = list(MovingFrame.examples(rng))
    for joint, frame in zip((Revolute((1, 2, 2)), Spherical(), RackAndPinion(0.4), Free()), frames, strict=True):
        yield Composite((frame, joint))
    yield Composite((Revolute((0, 1, 0)), frames[1], next(Prescribed.examples(rng))))
