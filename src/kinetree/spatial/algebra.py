"""The two algebras, spatial and planar, as the constructors that an algorithm needs.

Everything else that an algorithm does is an operator of the quantities it is given, so an algorithm that takes its
first vectors from ``model.algebra`` runs unchanged on planar models (Featherstone, section 2.16).
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.spatial.articulated import ArticulatedInertia
from kinetree.spatial.field import AccelerationField
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.planar import (
    PlanarAccelerationField,
    PlanarArticulatedInertia,
    PlanarForce,
    PlanarMotion,
    PlanarTransform,
)
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Vector3


@dataclass(frozen=True)
class Algebra:
    """The types of one algebra.

    Attributes
    ----------
    Motion, Force, Transform, ArticulatedInertia, AccelerationField : type
        Spatial or planar.
    no_rotation : object
        The angular velocity of a body that does not turn.
    wrench : tuple of int
        Which of the six entries of a spatial wrench this algebra has.
    """

    Motion: type
    Force: type
    Transform: type
    ArticulatedInertia: type
    AccelerationField: type
    no_rotation: object
    wrench: tuple[int, ...]

    def falling(self, gravity):
        """The acceleration field of a base that accelerates against gravity: so weight needs no force of its own."""
        return self.AccelerationField(self.no_rotation, self.no_rotation, -gravity)

    def external(self, wrench):
        """A wrench given by six scalars [moment; force]."""
        return self.Force.of([wrench[k] for k in self.wrench])


SPATIAL = Algebra(Motion, Force, Transform, ArticulatedInertia, AccelerationField, Vector3.zero(), (0, 1, 2, 3, 4, 5))
PLANAR = Algebra(
    PlanarMotion, PlanarForce, PlanarTransform, PlanarArticulatedInertia, PlanarAccelerationField, 0.0, (2, 3, 4)
)
