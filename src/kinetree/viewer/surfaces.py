"""Surfaces of mesh files with the colors and images of their materials."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np

from kinetree.errors import GeometryError
from kinetree.files import read_ordinary
from kinetree.geometry.meshes import parsed
from kinetree.model.parts import Geometry
from kinetree.viewer.triangles import Triangles, cut_at_edges

LOOKS = (".png", ".jpg", ".jpeg", ".mtl")  # what a mesh file may have opened besides itself
LARGEST_LOOK = 64 << 20  # bytes
WIDEST = 1024  # pixels: larger images are made smaller, as the page that shows them is small


def surfaces_of(shape: Geometry) -> tuple[Triangles, ...]:
    """The surfaces of a mesh, one for each material, in the coordinates of the shape with its scale.

    Parameters
    ----------
    shape : Geometry
        Of kind "mesh".

    Raises
    ------
    GeometryError, MissingDependencyError
        As `kinetree.geometry.read_mesh`.

    Notes
    -----
    Images are opened from the folder of the mesh, PNG and JPEG only; one that is missing or broken is left out.
    """
    scene, unit = parsed(shape.mesh, _resolver(shape.mesh))
    scale, found = np.asarray(shape.scale, float), []
    for node in scene.graph.nodes_geometry:
        pose, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not len(getattr(mesh, "faces", ())):  # lines and points of OBJ and DAE files
            continue
        vertices = (np.asarray(mesh.vertices) @ pose[:3, :3].T + pose[:3, 3]) * unit * scale
        turned = np.linalg.det(pose[:3, :3]) * np.prod(scale) < 0.0
        color, image = _look(mesh.visual)
        uv = np.asarray(mesh.visual.uv, float) if image is not None else None
        surface = cut_at_edges(vertices, np.asarray(mesh.faces)[:, ::-1] if turned else np.asarray(mesh.faces), uv)
        found.append(Triangles(*surface, image, color))
    if not found or not all(np.isfinite(x.vertices).all() for x in found):
        message = f"mesh {shape.mesh}: " + ("corners are not finite" if found else "it holds no triangles")
        raise GeometryError(message, file=shape.mesh, check="finite" if found else "empty")
    return tuple(found)


def colored(surfaces: tuple[Triangles, ...], color) -> tuple[Triangles, ...]:
    """The same surfaces in one color and without images; arrays are shared."""
    return tuple(replace(x, uv=None, image=None, color=color) for x in surfaces)


def _look(visual) -> tuple[tuple[float, ...] | None, bytes | None]:
    """Color and image of trimesh's visual; None for what the file does not state."""
    material = getattr(visual, "material", None)
    if material is None:
        color = getattr(visual, "main_color", None) if getattr(visual, "defined", False) else None
        return _fractions(color), None
    picture = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
    color = getattr(material, "baseColorFactor", None)
    color = getattr(material, "diffuse", None) if color is None else color
    has_image = picture is not None and getattr(visual, "uv", None) is not None and len(visual.uv)
    return _fractions(color), encoded(picture) if has_image else None


def _fractions(color) -> tuple[float, ...] | None:
    """Four numbers from 0 to 1 of four bytes; a material that is wholly transparent by mistake is shown."""
    if color is None:
        return None
    values = np.asarray(color, float)
    red, green, blue, opacity = (values / 255.0 if np.asarray(color).dtype.kind in "ui" else values).tolist()
    return red, green, blue, opacity or 1.0


def encoded(picture) -> bytes:
    """A picture of Pillow as a file: JPEG, or PNG where it is partly transparent."""
    picture = picture.copy()
    picture.thumbnail((WIDEST, WIDEST))
    content = io.BytesIO()
    if "A" in picture.getbands() or "transparency" in picture.info:
        picture.convert("RGBA").save(content, "PNG")
    else:
        picture.convert("RGB").save(content, "JPEG", quality=88)
    return content.getvalue()


def _resolver(file: str):
    """Opens images and materials beside a mesh file, and nothing else."""
    from trimesh.resolvers import Resolver

    class Beside(Resolver):
        def __init__(self) -> None:
            self.folder = Path(file).parent

        def get(self, key):
            relative = PurePosixPath(str(key).replace("\\", "/").removeprefix("file://"))
            path = self.folder / (relative.name if relative.is_absolute() else relative)
            if path.suffix.lower() not in LOOKS:
                raise FileNotFoundError(f"{key}: only {', '.join(LOOKS)} are opened")
            return read_ordinary(path, LARGEST_LOOK)

        def keys(self):
            return ()

        def namespaced(self, namespace):
            return self

        def write(self, name, data):
            raise PermissionError("nothing is written")

    return Beside()
