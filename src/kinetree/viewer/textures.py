"""Images of materials on the surfaces of shapes: positions in the image, and the image as a file."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from kinetree.errors import GeometryError
from kinetree.files import read_ordinary
from kinetree.model.texture import Texture
from kinetree.viewer.surfaces import LARGEST_LOOK, LOOKS, encoded
from kinetree.viewer.triangles import Triangles

WHITE = (1.0, 1.0, 1.0, 1.0)
SIDE = 64  # pixels of a pattern
LIFT = 2e-4  # of the side of a plane


def textured(kind: str, surfaces: tuple[Triangles, ...], texture: Texture, color=None) -> tuple[Triangles, ...]:
    """Surfaces with the image of a material.

    Parameters
    ----------
    kind : str
        Of the shape.
    surfaces : tuple of Triangles
    texture : Texture
    color : tuple of 4 floats, optional
        By which the image is multiplied.

    Raises
    ------
    GeometryError
        The image cannot be read.

    Notes
    -----
    Meshes with positions in an image keep these; the faces of a box have an image each; other shapes are seen along z,
    as in MuJoCo.
    """
    image, found = _image(texture), []
    for surface in surfaces:
        if kind == "mesh" and surface.uv is not None:
            uv = surface.uv if texture.uniform else surface.uv * texture.repeat
        else:
            uv = _along_z(surface, texture) if kind != "box" else _on_faces(surface, texture)
        if kind == "plane":  # above the floor of the picture, which is in the same place
            surface = replace(surface, vertices=surface.vertices + (0.0, 0.0, LIFT * float(np.ptp(surface.vertices))))
        found.append(replace(surface, uv=uv, image=image, color=color or WHITE))
    return tuple(found)


def _along_z(surface: Triangles, texture: Texture) -> np.ndarray:
    points = surface.vertices[:, :2].astype(float)
    return _spread(points, points.min(axis=0), np.ptp(points, axis=0), texture)


def _on_faces(surface: Triangles, texture: Texture) -> np.ndarray:
    """Of a box, whose faces have corners of their own: along the two axes in which each extends."""
    uv = np.zeros((len(surface.vertices), 2))
    for start in range(0, len(surface.vertices), 4):
        corners = surface.vertices[start : start + 4].astype(float)
        lengths = np.ptp(corners, axis=0)
        axes = np.sort(np.argsort(lengths, kind="stable")[1:])
        points = corners[:, axes]
        uv[start : start + 4] = _spread(points, points.min(axis=0), lengths[axes], texture)
    return uv


def _spread(points: np.ndarray, low: np.ndarray, lengths: np.ndarray, texture: Texture) -> np.ndarray:
    """Positions in the image, whose corner is at the origin of the shape where it has a size, else at the lower end."""
    if texture.uniform:
        return points * texture.repeat
    return (points - low) / np.where(lengths > 0.0, lengths, 1.0) * texture.repeat


def _image(texture: Texture) -> bytes:
    """A PNG or JPEG file."""
    from PIL import Image, UnidentifiedImageError

    if texture.pattern is not None:
        return _pattern(texture)
    path = Path(texture.file)
    if path.suffix.lower() not in (known := [suffix for suffix in LOOKS if suffix != ".mtl"]):
        raise GeometryError(f"texture {path}: its format is not shown; known: {', '.join(known)}", file=str(path))
    try:
        return encoded(Image.open(io.BytesIO(read_ordinary(path, LARGEST_LOOK))))
    except (OSError, UnidentifiedImageError, ValueError, Image.DecompressionBombError) as error:
        raise GeometryError(f"texture {path} is not shown: {error}", file=str(path)) from None


def _pattern(texture: Texture) -> bytes:
    from PIL import Image

    first, second = (255.0 * np.array((*texture.colors, texture.colors[-1])[k]) for k in (0, 1))
    weight = np.zeros((SIDE, SIDE))
    if texture.pattern == "gradient":
        weight[:] = np.linspace(0.0, 1.0, SIDE)[:, None]
    elif texture.pattern == "checker":
        half = np.arange(SIDE) * 2 // SIDE
        weight = (half[:, None] != half[None, :]).astype(float)
    pixels = first + weight[..., None] * (second - first)
    content = io.BytesIO()
    Image.fromarray(np.round(pixels).astype(np.uint8)).save(content, "PNG")
    return content.getvalue()
