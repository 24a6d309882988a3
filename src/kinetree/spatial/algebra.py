"""The two algebras, spatial and planar, as the constructors that an algorithm needs.

Everything else that an algorithm does is an operator of the quantities it is given, so an algorithm that takes its
first vectors from ``model.algebra`` runs unchanged on planar models (Featherstone, section 2.16).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kinetree.spatial import planar
from kinetree.spatial.articulated import ArticulatedInertia
from kinetree.spatial.coriolis import BodyCoriolis, PlanarBodyCoriolis
from kinetree.spatial.field import AccelerationField
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Vector3


@dataclass(frozen=True)
class Algebra:
    """The types of one algebra.

    Attributes
    ----------
    Motion, Force, Transform, Inertia, ArticulatedInertia, AccelerationField, Coriolis : type
        Spatial or planar.
    no_rotation : object
        The angular velocity of a body that does not turn.
    turns : int
        Number of the angular entries of a vector, which come first.
    wrench : tuple of int
        Indices of the entries of a spatial vector that this algebra has.
    inertial : tuple of int
        Indices of the numbers of a spatial inertia that this algebra has.
    sizes : mapping of int to int
        Sizes of spatial arrays in this algebra: six-vectors, homogeneous matrices, points.
    """

    Motion: type
    Force: type
    Transform: type
    Inertia: type
    ArticulatedInertia: type
    AccelerationField: type
    Coriolis: type
    no_rotation: object
    turns: int
    wrench: tuple[int, ...]
    inertial: tuple[int, ...]
    sizes: Mapping[int, int]

    @property
    def dimension(self) -> int:
        """Entries of a motion or force vector."""
        return len(self.wrench)

    def falling(self, gravity):
        """The acceleration field of a base that accelerates against gravity: so weight needs no force of its own."""
        return self.AccelerationField(self.no_rotation, self.no_rotation, -gravity)

    def external(self, wrench):
        """A wrench [moment; force] given by its scalars, those of the algebra or all six."""
        return self.Force.of(wrench if len(wrench) == self.dimension else [wrench[k] for k in self.wrench])


SPATIAL = Algebra(
    Motion, Force, Transform, Inertia, ArticulatedInertia, AccelerationField, BodyCoriolis, Vector3.zero(), 3,
    wrench=(0, 1, 2, 3, 4, 5), inertial=tuple(range(10)), sizes=MappingProxyType({}),
)  # fmt: skip
PLANAR = Algebra(
    planar.PlanarMotion, planar.PlanarForce, planar.PlanarTransform, planar.PlanarInertia,
    planar.PlanarArticulatedInertia, planar.PlanarAccelerationField,
    PlanarBodyCoriolis, 0.0, 1,
    wrench=(2, 3, 4), inertial=(0, 1, 2, 9), sizes=MappingProxyType({6: 3, 4: 3, 3: 2}),
)  # fmt: skip
