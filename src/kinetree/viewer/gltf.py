"""Animated models as glTF 2.0 (.glb), which Blender, game engines and the browsers' viewers read."""

from __future__ import annotations

import json
import struct

import numpy as np

from kinetree.viewer.recording import Recording, is_floor

Y_UP = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]  # z up to y up: -90 degrees about x, as (x, y, z, w)
FLOAT, UINT = 5126, 5125  # component types
CORNERS, INDICES = 34962, 34963  # targets of buffer views
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}


def gltf(recording: Recording) -> bytes:
    """A recording as a binary glTF file: a node for each body, with its shapes below it and its motion as animation.

    Parameters
    ----------
    recording : Recording

    Notes
    -----
    Source: glTF 2.0 specification (Khronos Group, ISO/IEC 12113). Colors of materials are linear, those of shapes are
    sRGB; positions and rotations are interpolated linearly, rotations on the sphere. Overlays are left out.
    """
    file = _File()
    roots = []
    for run in recording.runs:
        bodies = [file.node(name=name, **_transform(run.poses[0, b])) for b, name in enumerate(run.bodies)]
        children: dict[int, list[int]] = {}
        for part in run.parts:
            if not is_floor(part):
                mesh = file.mesh(part, run.tint)
                matrix = part.X.T.ravel().tolist()
                children.setdefault(part.body, []).append(file.node(name=part.name, mesh=mesh, matrix=matrix))
        for body, below in children.items():
            file.tree["nodes"][bodies[body]]["children"] = below
        if len(run.time) > 1:
            file.animate(run, bodies)
        roots.append(file.node(name=run.name, rotation=Y_UP, children=bodies))
    file.tree["scenes"] = [{"nodes": roots}]
    return file.content()


def _transform(pose) -> dict:
    """Translation and rotation of a node."""
    return {"translation": pose[:3].tolist(), "rotation": pose[[4, 5, 6, 3]].tolist()}


def linear(color) -> list[float]:
    """Linear red, green, blue and opacity of a color in sRGB (IEC 61966-2-1).

    Parameters
    ----------
    color : (4,) array_like
        [1]
    """
    x = np.asarray(color, float)
    rgb = np.where(x[:3] <= 0.04045, x[:3] / 12.92, ((x[:3] + 0.055) / 1.055) ** 2.4)
    return [*rgb.tolist(), float(x[3])]


class _File:
    """The tree of a file and its binary part."""

    def __init__(self) -> None:
        self.tree: dict = {"asset": {"version": "2.0", "generator": "kinetree"}, "scene": 0, "scenes": [], "nodes": []}
        self._bytes = bytearray()
        self._known: dict = {}

    def _append(self, name: str, entry: dict) -> int:
        entries = self.tree.setdefault(name, [])
        entries.append(entry)
        return len(entries) - 1

    def _once(self, name: str, key, make) -> int:
        """The number of an entry that is made once."""
        if (name, key) not in self._known:
            self._known[name, key] = self._append(name, make())
        return self._known[name, key]

    def node(self, **entry) -> int:
        return self._append("nodes", entry)

    def _view(self, content: bytes, target: int | None = None) -> int:
        self._bytes += bytes(-len(self._bytes) % 4)
        entry = {"buffer": 0, "byteOffset": len(self._bytes), "byteLength": len(content)}
        self._bytes += content
        return self._append("bufferViews", entry | ({"target": target} if target else {}))

    def _accessor(self, values, kind: int, target: int | None = None) -> int:
        """The number of an array (n,) or (n, k)."""
        values = np.ascontiguousarray(values, "<f4" if kind == FLOAT else "<u4")
        rows = values.reshape(len(values), -1)
        view = self._view(values.tobytes(), target)
        entry = {"bufferView": view, "componentType": kind, "count": len(rows), "type": KINDS[rows.shape[1]]}
        return self._append("accessors", entry | {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()})

    def mesh(self, part, tint) -> int:
        """The number of a mesh; parts of one file with one color share it."""
        surfaces = part.triangles()
        key = (part.color, tint, tuple((x.vertices.tobytes(), x.faces.tobytes(), x.color) for x in surfaces))
        own = [part.color, tint]
        return self._once("meshes", key, lambda: {"primitives": [self._primitive(x, *own) for x in surfaces]})

    def _primitive(self, surface, color, tint) -> dict:
        attributes = {"POSITION": self._accessor(surface.vertices, FLOAT, CORNERS)}
        attributes["NORMAL"] = self._accessor(normals(surface.vertices, surface.faces), FLOAT, CORNERS)
        image = surface.image if surface.uv is not None else None
        if image is not None:  # the origin of images is at their upper left here
            attributes["TEXCOORD_0"] = self._accessor(surface.uv * (1, -1) + (0, 1), FLOAT, CORNERS)
        color = np.array((1.0, 1.0, 1.0, 1.0) if image is not None else surface.color or color, float)
        if tint is not None:
            color[:3] = 0.45 * color[:3] + 0.55 * np.array(tint)
        material = self._once("materials", (tuple(color), image), lambda: self._material(color, image))
        return {"attributes": attributes, "indices": self._accessor(surface.faces.ravel(), UINT, INDICES),
                "material": material}  # fmt: skip

    def _material(self, color, image) -> dict:
        look: dict = {"baseColorFactor": linear(color), "metallicFactor": 0.0, "roughnessFactor": 0.65}
        if image is not None:
            kind = "image/png" if image.startswith(b"\x89PNG") else "image/jpeg"
            source = self._once("images", image, lambda: {"bufferView": self._view(image), "mimeType": kind})
            look["baseColorTexture"] = {"index": self._once("textures", image, lambda: {"source": source})}
        blend = {"alphaMode": "BLEND"} if color[3] < 1.0 else {}
        return {"pbrMetallicRoughness": look, "doubleSided": True} | blend

    def animate(self, run, bodies: list[int]) -> None:
        """The motion of all bodies that move."""
        time = self._accessor(run.time - run.time[0], FLOAT)
        samplers, channels = [], []
        for b, node in enumerate(bodies):
            for path, values in (("translation", run.poses[:, b, :3]), ("rotation", run.poses[:, b][:, [4, 5, 6, 3]])):
                if np.ptp(values, axis=0).max() > 0.0:
                    samplers.append({"input": time, "output": self._accessor(values, FLOAT), "interpolation": "LINEAR"})
                    channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
        if channels:
            self._append("animations", {"name": run.name, "samplers": samplers, "channels": channels})

    def content(self) -> bytes:
        """The header, the tree and the arrays."""
        self._bytes += bytes(-len(self._bytes) % 4)
        self.tree["buffers"] = [{"byteLength": len(self._bytes)}]
        text = json.dumps(self.tree, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        chunks = b"".join(struct.pack("<I4s", len(x), kind) + x
                          for x, kind in ((text, b"JSON"), (bytes(self._bytes), b"BIN\0")))  # fmt: skip
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def normals(vertices, faces) -> np.ndarray:
    """Unit normals at the corners: means over their triangles, which share corners within smooth surfaces only.

    Parameters
    ----------
    vertices : (n, 3) array
        [m]
    faces : (m, 3) array of int

    Returns
    -------
    (n, 3) array
    """
    a, b, c = (vertices[faces[:, k]].astype(float) for k in range(3))
    area, found = np.cross(b - a, c - a), np.zeros((len(vertices), 3))
    for k in range(3):
        np.add.at(found, faces[:, k], area)
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return np.where(length > 0.0, found / np.where(length > 0.0, length, 1.0), (0.0, 0.0, 1.0))
