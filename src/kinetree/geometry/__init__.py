"""Geometry: volume, mass, center of mass, inertia and bounds of primitive shapes and meshes.

Meshes need the package trimesh (``pip install trimesh``); primitives need nothing.
"""

from kinetree.geometry.bounds import bounding_box
from kinetree.geometry.from_shapes import inertia_from_geometry, inertia_of_shapes
from kinetree.geometry.mass_properties import MassProperties, body_mass_properties, mass_properties
from kinetree.geometry.meshes import Mesh, read_mesh

__all__ = [
    "MassProperties", "Mesh", "body_mass_properties", "bounding_box", "inertia_from_geometry", "inertia_of_shapes",
    "mass_properties", "read_mesh",
]  # fmt: skip
