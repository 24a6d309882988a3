"""Runs as files of the viewer Rerun (.rrd): bodies with meshes over time, arrows, paths and curves."""

from __future__ import annotations

import numpy as np

from kinetree.errors import MissingDependencyError
from kinetree.files import replacing
from kinetree.viewer.gltf import normals
from kinetree.viewer.overlays import Arrows, Paths, Points
from kinetree.viewer.recording import Recording, is_floor

TIMELINE = "time"


def write_rerun(path, recording: Recording) -> None:
    """Write a recording as a file of Rerun.

    Parameters
    ----------
    path : path-like
    recording : Recording

    Raises
    ------
    MissingDependencyError
        rerun-sdk is not installed.
    """
    try:
        import rerun as rr
    except ImportError as error:
        message = f"{path}: files of Rerun need rerun-sdk: pip install rerun-sdk. A .html page needs nothing."
        raise MissingDependencyError(message, package="rerun-sdk") from error
    stream = rr.RecordingStream("kinetree", recording_id="kinetree")
    memory = stream.memory_recording()
    stream.log("/", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for run in recording.runs:
        _log_bodies(rr, stream, run)
        for overlay in run.overlays:
            _log_overlay(rr, stream, run, overlay)
        for curves in run.curves:
            for k, label in enumerate(curves.labels):
                name = f"{run.name}/plots/{_entity(curves.name)}/{_entity(label)}"
                _send(rr, stream, name, run.time, rr.Scalars.columns(scalars=curves.values[:, k]))
    with replacing(path) as file:
        file.write(memory.drain_as_bytes())


def _entity(name: str) -> str:
    """A name as one part of a path of Rerun."""
    return name.replace("/", "_").replace(" ", "_")


def _send(rr, stream, name: str, time, columns) -> None:
    stream.send_columns(name, indexes=[rr.TimeColumn(TIMELINE, duration=time)], columns=columns)


def _log_bodies(rr, stream, run) -> None:
    for b, body in enumerate(run.bodies):
        name = f"{run.name}/{_entity(body)}"
        poses = run.poses[:, b]
        columns = rr.Transform3D.columns(translation=poses[:, :3], quaternion=poses[:, [4, 5, 6, 3]])
        _send(rr, stream, name, run.time, columns)
        for part in run.parts:
            if part.body != b or is_floor(part):
                continue
            place = rr.Transform3D(translation=part.X[:3, 3], mat3x3=part.X[:3, :3])
            stream.log(f"{name}/{_entity(part.name)}", place, static=True)
            for n, surface in enumerate(part.triangles()):
                color = np.array(surface.color or part.color)
                mesh = rr.Mesh3D(
                    vertex_positions=surface.vertices, triangle_indices=surface.faces, albedo_factor=color,
                    vertex_normals=normals(surface.vertices, surface.faces),
                )  # fmt: skip
                stream.log(f"{name}/{_entity(part.name)}/{n}", mesh, static=True)


def _log_overlay(rr, stream, run, overlay) -> None:
    name = f"{run.name}/overlays/{_entity(overlay.name)}"
    if not overlay.shown or not isinstance(overlay, (Arrows, Paths, Points)):
        return
    color = None if isinstance(overlay, Paths) else (255 * np.array(overlay.color)).astype(np.uint8)
    for k, t in enumerate(run.time):
        stream.set_time(TIMELINE, duration=float(t))
        match overlay:
            case Arrows():
                shape = rr.Arrows3D(origins=overlay.points[k], vectors=overlay.vectors[k], colors=color)
            case Points():
                shape = rr.Points3D(overlay.points[k], colors=color, radii=overlay.radius)
            case Paths():
                colors = np.asarray(overlay.colors)
                shade = (255 * (colors[k] if colors.ndim == 2 else colors)).astype(np.uint8)
                shape = rr.LineStrips3D([np.asarray(overlay.points[k])], colors=shade)
        stream.log(name, shape)
    stream.reset_time()
