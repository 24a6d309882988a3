"""Pictures by matplotlib alone: shaded triangles from back to front. No browser or graphics card is needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree.conventions.rotations import rotation_matrix
from kinetree.viewer.camera import Camera
from kinetree.viewer.overlays import Arrows, Ellipsoids, Frames, Lines, Paths, Points, Surfaces
from kinetree.viewer.recording import Recording, grid_step, is_floor, is_shown

SKY, GRID, SHADOW = "#f3f5f8", "#cbd2d9", "#d3d9df"
AXES = ("#d62728", "#2ca02c", "#1f77b4")
LIGHT = np.array([0.33, -0.48, 0.81])
MANY = 1000  # triangles: in larger meshes corners that are near are made one
CELL = 0.012  # of the radius: near
FADE = 0.3  # opacity of runs beside the first


class Drawing:
    """A recording that matplotlib draws at any time.

    Parameters
    ----------
    recording : Recording
    direction : (3,) array_like
        From the middle of the picture to the camera [1].
    zoom : float
        Magnification [1].
    aspect : float
        Width over height [1].
    visible : sequence of str, optional
        Groups of the overlays that are drawn.
    """

    def __init__(self, recording: Recording, direction, zoom: float, aspect: float, visible=None) -> None:
        self._visible, self._view = visible, (direction, zoom, aspect)
        self._surfaces = [_surfaces(run, CELL * recording.radius / zoom) for run in recording.runs]
        self.show(recording)

    def show(self, recording: Recording) -> None:
        """Draw another recording of the same shapes from now on.

        Parameters
        ----------
        recording : Recording
        """
        self._recording = recording
        self._first = self._camera = Camera.around(recording, *self._view)

    def draw(self, axes, t: float) -> None:
        """Draw a time.

        Parameters
        ----------
        axes : matplotlib.axes.Axes
            Without frame; it is cleared.
        t : float
            [s]
        """
        from matplotlib.collections import PolyCollection

        self._camera = replace(self._first, target=self._first.target + self._recording.shift(t))
        axes.clear()
        axes.set(xlim=(-self._camera.aspect, self._camera.aspect), ylim=(-1, 1), facecolor=SKY, aspect="equal")
        axes.set_axis_off()
        self._floor(axes)
        corners, colors = [], []
        for run, surfaces in zip(self._recording.runs, self._surfaces, strict=True):
            world, shades = _placed(run.poses_at(t), surfaces)
            corners.append(world)
            colors.append(shades)
        world, colors = np.concatenate(corners), np.concatenate(colors)
        floor = self._recording.floor
        if world.size and self._camera.axes[2, 2] > 0.0:
            below = world[world[..., 2].min(axis=1) > floor - 1e-3 * self._recording.radius].copy()
            below[..., 2] = floor
            shadow = {"facecolor": SHADOW, "edgecolor": "none", "zorder": 2}
            axes.add_collection(PolyCollection(self._camera.project(below)[0], **shadow))
        self._triangles(axes, world, colors)
        for run in self._recording.runs:
            for overlay in run.overlays:
                if is_shown(overlay, self._visible):
                    self._vectors(axes, run, overlay, t)

    def _floor(self, axes) -> None:
        """A grid on the floor around the picture."""
        from matplotlib.collections import LineCollection

        r = self._recording
        step = grid_step(r.radius)
        middle = np.round(self._camera.target / step) * step
        far = step * np.ceil(3.0 * r.radius / step)
        ticks = np.arange(-far, far + 0.5 * step, step)
        along = np.linspace(-far, far, 60)
        lines = [np.stack(np.broadcast_arrays(a, b, 0.0), axis=-1) for x in ticks for a, b in ((x, along), (along, x))]
        points = np.array(lines) + (middle[0], middle[1], r.floor)
        places, depth = self._camera.project(points)
        near = depth > 0.2 * self._camera.distance
        seen = [p[n] for p, n in zip(places, near, strict=True)]
        axes.add_collection(LineCollection(seen, colors=GRID, linewidths=0.8, zorder=1))


    def _vectors(self, axes, run, overlay, t: float) -> None:
        """An overlay at a time, above the bodies."""

        def seen(points):
            return self._camera.project(points)[0]

        color = getattr(overlay, "color", None)
        match overlay:
            case Arrows():
                points, vectors = run.between(overlay.points, t), run.between(overlay.vectors, t)
                long = np.linalg.norm(vectors, axis=-1) > 1e-3 * self._recording.radius
                style = {"arrowstyle": "-|>", "color": color, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
                for start, end in zip(seen(points[long]), seen((points + vectors)[long]), strict=True):
                    axes.annotate("", end, start, arrowprops=style, zorder=5)
            case Paths():
                k = min(int(np.argmin(np.abs(run.time - t))), len(overlay.points) - 1)
                color = overlay.colors[k] if np.ndim(overlay.colors) == 2 else overlay.colors
                axes.plot(*seen(overlay.points[k]).T, color=color, linewidth=2.2, zorder=4)
            case Lines():
                for line in seen(run.between(overlay.points, t))[overlay.pairs]:
                    axes.plot(*line.T, color=color, linewidth=1.6, zorder=4)
            case Surfaces():
                corners = run.between(overlay.vertices, t)[overlay.faces]
                self._triangles(axes, corners, np.broadcast_to([*color, 1.0], (len(corners), 4)))
            case Points():
                axes.plot(*seen(run.between(overlay.points, t)).T, "o", color=color, markersize=4, zorder=4)
            case Frames() | Ellipsoids():
                poses = run.between(overlay.poses, t)
                lengths = getattr(overlay, "semiaxes", np.full((len(poses), 3), getattr(overlay, "length", 0.0)))
                ends = poses[:, None, :3] + np.swapaxes(rotation_matrix(unit(poses[:, 3:])) * lengths[:, None], 1, 2)
                for n, k in np.ndindex(len(poses), 3):
                    line = seen(np.stack([poses[n, :3], ends[n, k]]))
                    axes.plot(*line.T, color=AXES[k] if color is None else color, linewidth=1.5, zorder=4)

    def _triangles(self, axes, world, colors) -> None:
        """Lit triangles, those behind first."""
        from matplotlib.collections import PolyCollection

        places, depth = self._camera.project(world)
        order = np.argsort(-depth.mean(axis=1), kind="stable")
        shades = lit(world, colors)[order]
        axes.add_collection(PolyCollection(places[order], facecolor=shades, edgecolor=shades, linewidth=0.2, zorder=3))


def unit(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions of length one."""
    return quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)


def lit(corners: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """Colors (m, 4) of triangles (m, 3, 3) in the light; both sides are lit, since meshes may be open or inside out."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    light = 0.55 + 0.25 * normal[:, 2] + 0.3 * np.abs(normal @ LIGHT)
    return np.concatenate([np.clip(colors[:, :3] * light[:, None], 0.0, 1.0), colors[:, 3:]], axis=1)


def _surfaces(run, cell: float) -> list:
    """Body, corners (m, 3, 3) in its coordinates [m], color and opacity of each surface; small triangles are merged."""
    found = []
    for part in run.parts:
        if is_floor(part):
            continue
        for surface in part.triangles():
            color = np.array(surface.color or part.color, float)
            if run.tint is not None:
                color = np.array([*(0.45 * color[:3] + 0.55 * np.array(run.tint)), FADE])
            vertices = surface.vertices @ part.X[:3, :3].T + part.X[:3, 3]
            corners = vertices[surface.faces] if len(surface.faces) < MANY else _merged(vertices, surface.faces, cell)
            found.append((part.body, corners, color))
    return found


def _merged(vertices: np.ndarray, faces: np.ndarray, cell: float) -> np.ndarray:
    """Corners of the triangles that are left when all corners in a cell are one, (m, 3, 3) [m]."""
    _, number = np.unique(np.floor(vertices / cell).astype(int), axis=0, return_inverse=True)
    number = number.reshape(-1)
    count = np.maximum(np.bincount(number), 1)
    middle = np.stack([np.bincount(number, x) / count for x in vertices.T], axis=1)
    joined = number[faces]
    real = (joined[:, 0] != joined[:, 1]) & (joined[:, 1] != joined[:, 2]) & (joined[:, 2] != joined[:, 0])
    unique = np.unique(np.sort(joined[real], axis=1), axis=0, return_index=True)[1]
    return middle[joined[real][unique]]


def _placed(poses: np.ndarray, surfaces) -> tuple[np.ndarray, np.ndarray]:
    """Corners in the world (m, 3, 3) [m] and colors (m, 4) without light of all triangles of a run."""
    if not surfaces:
        return np.zeros((0, 3, 3)), np.zeros((0, 4))
    R = rotation_matrix(poses[:, 3:])
    corners = np.concatenate([x @ R[body].T + poses[body, :3] for body, x, _ in surfaces])
    colors = np.concatenate([np.broadcast_to(color, (len(x), 4)) for _, x, color in surfaces])
    return corners, colors
