"""Shapes of a model as geoms, meshes and materials of an MJCF file."""

from __future__ import annotations

import os
from pathlib import PurePath

import numpy as np

from kinetree.io.free_names import Names
from kinetree.io.mjcf.contacts import geom_attributes
from kinetree.io.number_text import numbers_text, quaternion_of
from kinetree.io.writing import MeshNames, UnsupportedFeatures, add
from kinetree.model.parts import Geometry

READ_BY_MUJOCO = (".stl", ".obj", ".msh")
GRAY = (0.5, 0.5, 0.5, 1.0)  # of a geom without a color
# Attributes that distinguish the roles when the file is read: contact types, and a group that is not shown.
ROLES = {
    "visual": {"group": "1", "contype": "0", "conaffinity": "0"},
    "collision": {"group": "3"},
    "both": {},
}


class Shapes:
    """Writes geoms, and collects the assets that they need; ``names``: by id of a shape, instead of its own."""

    def __init__(self, asset, mesh_names: MeshNames, features: UnsupportedFeatures, names: dict[int, str]) -> None:
        self.asset, self.mesh_names, self.features, self.names = asset, mesh_names, features, names
        self._geoms, self._mesh_assets, self._heightfields = Names(), Names(), Names()
        self.written: dict[str, str] = {}  # names of shapes, and those of their geoms
        self._meshes: dict[tuple, str] = {}
        self._materials: dict[str, tuple[float, ...]] = {}

    def geom(self, element, shape: Geometry, body: str, moving: bool, shift: np.ndarray) -> None:
        """Add a geom to a body.

        Parameters
        ----------
        element : lxml element
            The body.
        shape : Geometry
        body : str
            Its name, for messages.
        moving : bool
            Whether it can move; MuJoCo has planes on bodies that stand still only.
        shift : (3,) array
            Origin of the file's frame of the body in ours [m].
        """
        name = self.names.get(id(shape), shape.name)
        what = f"{shape.kind} {name!r} of body {body!r}" if name else f"{shape.kind} of body {body!r}"
        if shape.kind == "plane" and moving:
            self.features.add("planes on moving bodies", what)
            return
        data: dict[str, str] = {}
        if name:
            unique = self._geoms.new(name)
            if unique != name:
                self.features.note(what, f"the name is taken: written as {unique!r}")
            data["name"] = unique
        if shape.kind == "mesh":
            asset = self._mesh(shape, what)
            if asset is None:
                return
            data |= {"type": "mesh", "mesh": asset}
        elif shape.kind == "heightfield":
            data |= {"type": "hfield", "hfield": self._heightfield(shape)}
        else:
            data |= {"type": shape.kind, "size": numbers_text(lengths(shape))}
        lowest = shape.heights.min() if shape.kind == "heightfield" else 0.0
        data |= pose(shape.R_BG, np.asarray(shape.p_BG) + lowest * shape.R_BG[:, 2] - shift)
        data |= self._look(shape) | ROLES[shape.role]
        if shape.role != "visual":
            data |= geom_attributes(shape, self.features, what)
        if name:
            self.written[name] = data["name"]
        add(element, "geom", **data)

    def _heightfield(self, shape: Geometry) -> str:
        """A height field as an asset; MuJoCo scales heights to 0 to 1 by their range."""
        name = self._heightfields.new(shape.name or "heightfield")
        x, y, depth = shape.size
        low, high = float(shape.heights.min()), float(shape.heights.max())
        size = numbers_text((0.5 * x, 0.5 * y, high - low or 1.0, depth + low))
        rows, columns = shape.heights.shape
        # MuJoCo reads rows from the upper edge, and keeps them from the lower one.
        elevation = numbers_text((shape.heights[::-1] - low).ravel().tolist())
        add(self.asset, "hfield", name=name, nrow=str(rows), ncol=str(columns), size=size, elevation=elevation)
        return name

    def _mesh(self, shape: Geometry, what: str) -> str | None:
        file = self.mesh_names(shape)
        if file is None:
            return None
        key = (file, tuple(shape.scale))
        stem = PurePath(file.replace("\\", "/"))
        if stem.suffix.lower() not in READ_BY_MUJOCO:
            # With it MuJoCo would refuse the whole file; without it a picture is missing.
            self.features.note(what, f"left out: MuJoCo reads no {stem.suffix or 'such'} files ({file!r})", "warning")
            return None
        if key not in self._meshes:
            name = self._mesh_assets.new(stem.stem or "mesh")
            scale = {} if key[1] == (1.0, 1.0, 1.0) else {"scale": numbers_text(key[1])}
            add(self.asset, "mesh", name=name, file=file, **scale)
            self._meshes[key] = name
            if not os.path.isfile(shape.mesh):
                message = f"there is no file {file!r}, so MuJoCo refuses it; meshes='drop' leaves meshes out"
                self.features.note(what, message, "warning")
        return self._meshes[key]

    def _look(self, shape: Geometry) -> dict[str, str]:
        color = shape.color
        look = {}
        if shape.texture is not None:
            self.features.omit("images of materials", repr(shape.material or shape.name or shape.kind))
        if shape.material:
            look["material"] = shape.material
            if shape.material not in self._materials:
                self._materials[shape.material] = color or GRAY
                add(self.asset, "material", name=shape.material, rgba=_rgba(color or GRAY))
            if self._materials[shape.material] == color:
                color = None
        if color is not None and tuple(color) != GRAY:
            look["rgba"] = _rgba(color)
        return look


def lengths(shape: Geometry) -> tuple[float, ...]:
    """The sizes in MuJoCo's convention: half lengths."""
    if shape.kind == "plane":
        return (0.0, 0.0, 1.0)  # endless, with a grid of one meter
    if shape.kind == "box":
        return tuple(0.5 * x for x in shape.size)
    if shape.kind in ("cylinder", "capsule"):
        return (shape.size[0], 0.5 * shape.size[1])
    return shape.size


def pose(R: np.ndarray, p) -> dict[str, str]:
    """Attributes ``pos`` and ``quat``, where they are not the default."""
    p = np.asarray(p, dtype=float)
    attributes = {}
    if p.any():
        attributes["pos"] = numbers_text(p.tolist())
    quaternion = quaternion_of(np.asarray(R))
    if quaternion != (1.0, 0.0, 0.0, 0.0):
        attributes["quat"] = numbers_text(quaternion)
    return attributes


def _rgba(color) -> str:
    """MuJoCo keeps colors in single precision."""
    return numbers_text(round(x, 7) for x in color)
