"""The laws of pairs, one file each; importing them enters them into `kinetree.collision.PAIR_LAWS`."""

from kinetree.collision.pairs import plane_box, plane_sphere, sphere_sphere

__all__ = ["plane_box", "plane_sphere", "sphere_sphere"]
