"""Spatial vector algebra over any scalar: motions, forces, transforms, inertias."""

from kinetree.spatial.articulated import ArticulatedInertia
from kinetree.spatial.columns import Columns
from kinetree.spatial.field import AccelerationField
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.planar import (
    PlanarAccelerationField,
    PlanarArticulatedInertia,
    PlanarForce,
    PlanarInertia,
    PlanarMotion,
    PlanarRotation,
    PlanarTransform,
    Vector2,
)
from kinetree.spatial.rotation import AxialRotation, GeneralRotation, IdentityRotation, Rotation, rotation_from_matrix
from kinetree.spatial.transform import FactoredTransform, Transform
from kinetree.spatial.vectors import Matrix3, Quantity, Symmetric3, Vector3

__all__ = [
    "AccelerationField", "ArticulatedInertia", "AxialRotation", "Columns", "FactoredTransform", "Force",
    "GeneralRotation", "IdentityRotation", "Inertia", "Matrix3", "Motion", "PlanarAccelerationField",
    "PlanarArticulatedInertia", "PlanarForce", "PlanarInertia", "PlanarMotion", "PlanarRotation", "PlanarTransform",
    "Quantity", "Rotation", "Symmetric3", "Transform", "Vector2", "Vector3", "rotation_from_matrix",
]  # fmt: skip
