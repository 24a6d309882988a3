"""How a written file names the files of meshes."""

from __future__ import annotations

import os
from pathlib import Path

from kinetree.errors import unknown_name
from kinetree.io.unsupported_features import UnsupportedFeatures
from kinetree.model.parts import Geometry

CHOICES = ("keep", "relative", "drop")


class MeshNames:
    """Gives the name of a shape's mesh file, or None to leave it out; see ``kt.save`` for the choices.

    Parameters
    ----------
    choice : {"keep", "relative", "drop"}
    folder : Path or None
        Where the written file lies; without one, relative names cannot be formed.
    features : UnsupportedFeatures
    """

    def __init__(self, choice: str, folder: Path | None, features: UnsupportedFeatures) -> None:
        if choice not in CHOICES:
            raise unknown_name("choice", choice, CHOICES, "kt.save(..., meshes=...)")
        self.choice, self.folder, self.features = choice, folder, features

    def __call__(self, shape: Geometry) -> str | None:
        if shape.mesh is None:
            return None
        if self.choice == "drop":
            self.features.note(f"mesh {shape.name or shape.mesh!r}", "left out (meshes='drop')")
            return None
        if self.choice == "relative" and self.folder is not None and os.path.isabs(shape.mesh):
            try:
                return Path(os.path.relpath(shape.mesh, self.folder)).as_posix()
            except ValueError:  # another drive
                return shape.mesh
        return shape.mesh
