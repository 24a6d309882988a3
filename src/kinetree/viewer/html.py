"""Pages that show runs: one file with the viewer of `page/`, the shapes, and the motion, for any browser, offline."""

from __future__ import annotations

import base64
import gzip
import html
import json
from importlib.resources import files

import numpy as np

from kinetree.viewer.overlays import Arrows, Ellipsoids, Frames, Lines, Paths, Points, Surfaces
from kinetree.viewer.recording import Recording, continuous, grid_step, group_of, is_floor, is_shown


def page(recording: Recording, direction, zoom: float = 1.0, visible=None) -> str:
    """The text of a page.

    Parameters
    ----------
    recording : Recording
    direction : (3,) array_like
        From the middle of the picture to the camera, in world axes [1].
    zoom : float
        Magnification [1].
    visible : sequence of str, optional
        Groups of the overlays that are on at first; default: those that are shown by themselves.

    Notes
    -----
    Equal recordings give equal texts: nothing in it depends on time or place.
    """
    packed = _Packed()
    runs = [_run(run, packed) for run in recording.runs]
    time = {id(run): entry["time"] for run, entry in zip(recording.runs, runs, strict=True)}
    overlays = []
    for run in recording.runs:
        for overlay in run.overlays:
            shown = is_shown(overlay, visible)
            overlays.append({"time": time[id(run)], "visible": shown} | _overlay(overlay, packed))
    first = recording.runs[0]
    description = {
        "title": recording.title,
        "notes": list(dict.fromkeys(note for run in recording.runs for note in run.notes)),
        "view": {
            "center": recording.center.tolist(),
            "low": recording.low.tolist(),
            "high": recording.high.tolist(),
            "radius": recording.radius,
            "floor": recording.floor,
            "step": grid_step(recording.radius),
            "follow": recording.follow,
            "direction": [float(x) for x in direction],
            "zoom": float(zoom),
        },
        "runs": runs,
        "meshes": packed.meshes,
        "images": packed.images,
        "overlays": overlays,
        "channels": [
            {"name": x.name, "unit": x.unit, "labels": list(x.labels), "time": time[id(first)],
             "values": packed.plain(x.values, np.float32)}
            for x in first.curves if len(first.time) > 1
        ],
    }  # fmt: skip
    # "<" would end the script of the page where a name contains "</script".
    text = json.dumps(description, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    parts = {
        "title": html.escape(recording.title), "description": text, "arrays": packed.text(),
        "viewer": _file("viewer.min.js").replace("</script", "<\\/script"),
    }  # fmt: skip
    head, *pieces = _file("template.html").split("{{")
    for piece in pieces:
        name, rest = piece.split("}}", 1)
        head += parts[name] + rest
    return head


def _file(name: str) -> str:
    return (files("kinetree.viewer") / "page" / name).read_text(encoding="utf-8")


class _Packed:
    """Arrays in a row, and the surfaces and images that parts share."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._known: dict = {}
        self.meshes: list[dict] = []
        self.images: list[str] = []

    def text(self) -> str:
        """All arrays: gzip in base64, without the time of writing."""
        return base64.b64encode(gzip.compress(bytes(self._bytes), 9, mtime=0)).decode("ascii")

    def plain(self, values, kind) -> dict:
        """The entry of an array in the type given."""
        values = np.ascontiguousarray(values, kind)
        self._bytes += bytes(-len(self._bytes) % 4)
        entry = {"type": values.dtype.str[1:], "offset": len(self._bytes), "length": values.size}
        self._bytes += values.astype(values.dtype.newbyteorder("<")).tobytes()
        return entry

    def quantized(self, values, low=None, high=None) -> dict:
        """The entry of columns as 16-bit integers between their bounds."""
        values = np.asarray(values, float).reshape(-1, np.shape(values)[-1])
        if not len(values):
            return self.plain(values, np.float32)
        low = values.min(axis=0) if low is None else np.asarray(low, float)
        scale = ((values.max(axis=0) if high is None else np.asarray(high, float)) - low) / 65535.0
        counts = np.round((values - low) / np.where(scale > 0.0, scale, 1.0))
        return self.plain(counts, np.uint16) | {"origin": low.tolist(), "scale": scale.tolist()}

    def mesh(self, surface) -> int:
        """The number of a surface; surfaces with the same arrays are stored once."""
        image = None if surface.image is None or surface.uv is None else self.image(surface.image)
        key = (surface.vertices.tobytes(), surface.faces.tobytes(), surface.color, image)
        if key not in self._known:
            entry: dict = {"vertices": self.quantized(surface.vertices)}
            entry["faces"] = self.plain(surface.faces, np.uint16 if len(surface.vertices) < 65536 else np.uint32)
            if image is not None:
                entry |= {"uv": self.quantized(surface.uv), "image": image}
            if surface.color is not None:
                entry["color"] = list(map(float, surface.color))
            self._known[key] = len(self.meshes)
            self.meshes.append(entry)
        return self._known[key]

    def image(self, content: bytes) -> int:
        """The number of an image."""
        kind = "png" if content.startswith(b"\x89PNG") else "jpeg"
        url = f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"
        if url not in self.images:
            self.images.append(url)
        return self.images.index(url)


def _run(run, packed: _Packed) -> dict:
    parts = [
        {
            "name": part.name,
            "body": part.body,
            "pose": part.X.T.ravel().tolist(),  # by columns
            "color": list(map(float, part.color)),
            "meshes": [packed.mesh(surface) for surface in part.triangles()],
        }
        for part in run.parts
        if not is_floor(part)
    ]
    rotations = run.poses[..., 3:][..., [1, 2, 3, 0]]  # three.js has the real part last
    return {
        "name": run.name,
        "tint": None if run.tint is None else list(run.tint),
        "time": packed.plain(run.time, np.float32),
        "bodies": list(run.bodies),
        "joints": [list(joint) for joint in run.joints],
        "parts": parts,
        "positions": packed.plain(run.poses[..., :3], np.float32),
        "rotations": packed.plain(np.round(rotations * 32767.0), np.int16),
    }


def _overlay(overlay, packed: _Packed) -> dict:
    """An overlay of the page; its kind is that of `page/source/overlays.js`."""
    entry = {"kind": type(overlay).__name__, "name": overlay.name, "group": group_of(overlay)}
    color = np.asarray(getattr(overlay, "color", ()), float).tolist()
    match overlay:
        case Arrows():
            vectors = {"vectors": packed.quantized(overlay.vectors), "count": overlay.points.shape[1]}
            unit = {"scale": overlay.scale, "unit": overlay.unit}
            return entry | vectors | unit | {"points": packed.quantized(overlay.points), "color": color}
        case Paths():
            curves = [np.asarray(points, float).reshape(-1, 3) for points in overlay.points]
            starts = np.cumsum([0, *map(len, curves)])
            colors = packed.plain(overlay.colors, np.float32)
            points = packed.quantized(np.concatenate(curves))
            return entry | {"points": points, "starts": packed.plain(starts, np.uint32), "colors": colors}
        case Lines():
            points, pairs = packed.quantized(overlay.points), packed.plain(overlay.pairs, np.uint32)
            return entry | {"points": points, "pairs": pairs, "count": overlay.points.shape[1], "color": color}
        case Surfaces():
            vertices, faces = packed.quantized(overlay.vertices), packed.plain(overlay.faces, np.uint32)
            return entry | {"vertices": vertices, "faces": faces, "count": overlay.vertices.shape[1], "color": color}
        case Points():
            points, count = packed.quantized(overlay.points), overlay.points.shape[1]
            return entry | {"points": points, "count": count, "radius": float(overlay.radius), "color": color}
        case Frames():
            poses, count = packed.quantized(continuous(overlay.poses)), overlay.poses.shape[1]
            return entry | {"poses": poses, "count": count, "length": float(overlay.length)}
        case Ellipsoids():
            poses, count = packed.quantized(continuous(overlay.poses)), overlay.poses.shape[1]
            semiaxes = packed.plain(overlay.semiaxes, np.float32)
            return entry | {"poses": poses, "count": count, "semiaxes": semiaxes, "color": color}
    raise TypeError(f"pages draw no {entry['kind']}")
