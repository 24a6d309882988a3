"""The laws of pairs, one file each; importing them enters them into `kinetree.collision.PAIR_LAWS`."""

from kinetree.collision.pairs import (
    bowl_solids,
    box_box,
    capsule_box,
    capsule_capsule,
    plane_box,
    plane_capsule,
    plane_cylinder,
    plane_ellipsoid,
    plane_hull,
    plane_sphere,
    sphere_solids,
)

__all__ = [
    "bowl_solids", "box_box", "capsule_box", "capsule_capsule", "plane_box", "plane_capsule", "plane_cylinder",
    "plane_ellipsoid", "plane_hull", "plane_sphere", "sphere_solids",
]  # fmt: skip
