"""Shapes and overlays as nodes of viser's scene: made once, then only poses and points are sent."""

from __future__ import annotations

import io

import numpy as np

from kinetree.viewer.coarse import coarsened
from kinetree.viewer.overlays import Arrows, Ellipsoids, Frames, Lines, Paths, Points, Surfaces
from kinetree.viewer.part import Part
from kinetree.viewer.scene import Scene
from kinetree.viewer.triangles import Triangles, triangles_of

FAINT = 0.45  # opacity of runs that are drawn over another
LINES = 17  # each way
SAME = 1e-9  # of poses: what moves less is not sent


class BodyNodes:
    """One mechanism: a node for each body, which has its shapes as children.

    Parameters
    ----------
    server : viser.ViserServer
    root : str
        Name of the node above all.
    scene : Scene
    tint : tuple of 3 floats, optional
        Draw all shapes transparently in this color.
    coarse : bool
        Draw coarse copies of the shapes.
    """

    def __init__(self, server, root: str, scene: Scene, tint=None, coarse: bool = False) -> None:
        self._server, self._root, self._tint = server, root, tint
        names = [f"{root}/{i} {plain(name)}" for i, name in enumerate(scene.model.body_names)]
        server.scene.add_frame(root, show_axes=False)
        self._frames = [server.scene.add_frame(name, show_axes=False) for name in names]
        self._names, self._last = names, np.full((len(names), 7), np.nan)
        self._shapes: dict[tuple[str, bool], list] = {}
        self.show_shapes(scene, scene.parts[0].role if scene.parts else "visual", coarse)

    def show_shapes(self, scene: Scene, role: str, coarse: bool = False) -> None:
        """Draw the shapes of a role, made on first use, and hide those of others; none for an unknown role."""
        key = role, coarse
        if key not in self._shapes:
            self._shapes[key] = [
                node
                for part, surfaces in zip(scene.parts, _surfaces(scene, coarse), strict=True)
                for node in self._added(part, surfaces, role, coarse)
            ]
        for other, handles in self._shapes.items():
            for handle in handles:
                handle.visible = other == key

    def move(self, poses: np.ndarray) -> int:
        """Place the bodies, (nb, 7) as `Scene.poses` gives them, and return how many were sent."""
        moved = np.flatnonzero(~(np.abs(poses - self._last).max(axis=1) <= SAME))
        for i in moved.tolist():
            self._frames[i].position, self._frames[i].wxyz = poses[i, :3], poses[i, 3:]
        self._last = poses.copy()
        return len(moved)

    def remove(self) -> None:
        """Take all nodes out of the scene."""
        self._server.scene.remove_by_name(self._root)

    def _added(self, part: Part, surfaces, role: str, coarse: bool) -> list:
        where = f"{self._names[part.body]}/{role}{' coarse' * coarse} {plain(part.name)}"
        if part.kind == "plane" and not part.mesh:
            return [] if self._tint else [(lines if coarse else ground)(self._server, where, part)]
        return [add_surface(self._server, f"{where}/{k}", part, x, self._tint) for k, x in enumerate(surfaces)]


def _surfaces(scene: Scene, coarse: bool) -> list[tuple[Triangles, ...]]:
    """The surfaces of each part."""
    found = [part.triangles() for part in scene.parts]
    if not coarse:
        return found
    copies = iter(coarsened([x for surfaces in found for x in surfaces]))
    return [tuple(next(copies) for _ in surfaces) for surfaces in found]


def plain(name: str) -> str:
    """A name without the slashes that separate nodes."""
    return name.replace("/", "|") or "?"


def quaternion(R) -> np.ndarray:
    """(w, x, y, z) of a rotation matrix."""
    from kinetree.conventions.rotations import quaternion_of

    return quaternion_of(R)


def add_surface(server, name: str, part: Part, surface: Triangles, tint=None):
    """A mesh node of one surface of a part."""
    place = {"position": part.X[:3, 3], "wxyz": quaternion(part.X[:3, :3])}
    *color, opacity = surface.color or part.color
    if surface.image is not None and tint is None:
        return server.scene.add_mesh_trimesh(name, _textured(surface), **place)
    opacity = FAINT * opacity if tint is not None else opacity
    return server.scene.add_mesh_simple(
        name, surface.vertices, surface.faces, color=tuple(tint or color), side="double",
        opacity=None if opacity >= 1.0 else opacity, **place,
    )  # fmt: skip


def _textured(surface: Triangles):
    import trimesh
    from PIL import Image
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    image = Image.open(io.BytesIO(surface.image))
    material = PBRMaterial(baseColorTexture=image, metallicFactor=0.0, roughnessFactor=0.8, doubleSided=True)
    looks = TextureVisuals(uv=surface.uv, material=material)
    return trimesh.Trimesh(surface.vertices, surface.faces, visual=looks, process=False)


def ground(server, name: str, part: Part):
    """A grid in a plane, with cells of a round length."""
    side = part.size[0]
    return server.scene.add_grid(
        name, *part.size, plane="xy", cell_size=side / 40.0, section_size=side / 8.0, cell_color=(215, 218, 222),
        section_color=(185, 190, 196), plane_color=(245, 246, 248), plane_opacity=1.0, fade_distance=4.0 * side,
        position=part.X[:3, 3] - 1e-4 * side * part.X[:3, 2], wxyz=quaternion(part.X[:3, :3]),
    )  # fmt: skip


def lines(server, name: str, part: Part):
    """A grid of few lines in a plane: `ground` has a program for each of its pixels."""
    x, y = (np.linspace(-0.5 * side, 0.5 * side, LINES) for side in part.size)
    one = np.full(LINES, 1.0)
    ends = [[(x, s * one * y[-1]) for s in (-1.0, 1.0)], [(s * one * x[-1], y) for s in (-1.0, 1.0)]]
    points = np.concatenate([np.stack([np.stack([*end, 0.0 * one], axis=-1) for end in pair], axis=1) for pair in ends])
    return server.scene.add_line_segments(
        name, points.astype(np.float32), colors=(160, 166, 174), thickness=1.0, thickness_units="screen",
        position=part.X[:3, 3], wxyz=quaternion(part.X[:3, :3]),
    )  # fmt: skip


class OverlayNodes:
    """Overlays of one mechanism; nodes are made when they are first shown.

    Parameters
    ----------
    server : viser.ViserServer
    root : str
    size : float
        Of the mechanism [m], to which widths are proportional.
    """

    def __init__(self, server, root: str, size: float) -> None:
        self._server, self._root, self._size = server, root, size
        self._handles: dict[str, object] = {}

    def draw(self, overlays, shown: set[str], k: int = 0) -> None:
        """Draw sample k of the overlays whose kinds are shown, and hide all others."""
        present = set()
        for overlay in overlays:
            if kind_of(overlay) not in shown:
                continue
            content = _content(overlay, k)
            if content is None:
                continue
            name = f"{self._root}/{plain(overlay.name)}"
            present.add(name)
            handle = self._handles.get(name)
            if handle is None:
                self._handles[name] = self._made(name, overlay, content)
                continue
            for what, value in content.items():
                if not np.array_equal(getattr(handle, what), value):
                    setattr(handle, what, value)
            if not handle.visible:
                handle.visible = True
        for name, handle in self._handles.items():
            if name not in present and handle.visible:
                handle.visible = False

    def remove(self) -> None:
        """Take all nodes out of the scene."""
        for handle in self._handles.values():
            handle.remove()
        self._handles.clear()

    def _made(self, name: str, overlay, content: dict):
        scene, size = self._server.scene, self._size
        match overlay:
            case Arrows():
                r = 0.008 * size
                return scene.add_arrows(
                    name,
                    colors=tuple(linear(overlay.color).tolist()),
                    shaft_radius=r,
                    head_radius=2.4 * r,
                    head_length=5.0 * r,
                    **content,
                )
            case Paths():
                return scene.add_line_segments(name, thickness=0.008 * size, **content)
            case Lines():
                return scene.add_line_segments(
                    name, colors=tuple(linear(overlay.color).tolist()), thickness=0.006 * size, **content
                )
            case Surfaces():
                return scene.add_mesh_simple(
                    name, faces=overlay.faces, color=overlay.color, side="double", flat_shading=True, **content
                )
            case Frames():
                length = overlay.length
                return scene.add_batched_axes(name, axes_length=length, axes_radius=0.04 * length, **content)
            case _:
                ball = triangles_of("sphere", (1.0,))
                is_point = isinstance(overlay, Points)
                count = content["batched_positions"].shape[0]
                scales = np.full((count, 3), overlay.radius) if is_point else overlay.semiaxes
                return scene.add_batched_meshes_simple(
                    name, ball.vertices, ball.faces, batched_scales=scales, batched_colors=overlay.color, lod="off",
                    opacity=None if is_point else 0.35,
                    **({"batched_wxyzs": np.tile((1.0, 0.0, 0.0, 0.0), (count, 1))} | content),
                )  # fmt: skip


def linear(color) -> np.ndarray:
    """Intensities of a color of the screen: of lines and arrows the page takes these, of meshes the color itself."""
    return np.asarray(color, float) ** 2.2


def kind_of(overlay) -> str:
    """The name under which an overlay is shown and hidden, together with others of its kind."""
    return getattr(overlay, "group", overlay.name)


def _content(overlay, k: int) -> dict | None:
    """What changes from sample to sample, by viser's names; None if there is nothing to draw."""
    match overlay:
        case Arrows():
            points, vectors = overlay.points[k], overlay.vectors[k]
            acting = np.linalg.norm(vectors, axis=1) > 1e-9
            if not acting.any():
                return None
            ends = np.stack([points[acting], points[acting] + vectors[acting]], axis=1)
            return {"points": ends.astype(np.float32)}
        case Paths():
            points = np.asarray(overlay.points[k], np.float32)
            color = linear(overlay.colors if overlay.colors.ndim == 1 else overlay.colors[k])
            colors = np.broadcast_to(np.round(255.0 * color).astype(np.uint8), (len(points) - 1, 2, 3))
            return {"points": np.stack([points[:-1], points[1:]], axis=1), "colors": colors}
        case Lines():
            return {"points": overlay.points[k][overlay.pairs].astype(np.float32)}
        case Surfaces():
            return {"vertices": overlay.vertices[k].astype(np.float32)}
        case Points():
            return {"batched_positions": overlay.points[k].astype(np.float32)}
        case Frames() | Ellipsoids():
            poses = overlay.poses[k].astype(np.float32)
            return {"batched_wxyzs": poses[:, 3:], "batched_positions": poses[:, :3]}
