"""Runs and models as pages, pictures, films and animated models: one call, in which the suffix names the format."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinetree.arguments import a_path, a_positive_number, checked, choice, names, number, refuse
from kinetree.errors import UnsupportedError
from kinetree.files import write_bytes, write_text
from kinetree.model.model import Model
from kinetree.viewer.choices import ROLES, a_direction, a_size, runs_or_models
from kinetree.viewer.gltf import gltf
from kinetree.viewer.html import page
from kinetree.viewer.pictures import write_gif, write_mp4, write_still
from kinetree.viewer.recording import direction_of, group_of, recording
from kinetree.viewer.rerun_file import write_rerun

RENDERERS = ("auto", "browser", "matplotlib")


class Format(NamedTuple):
    """Defaults of a format: frames per second, width and height, and its name in messages."""

    fps: float
    size: tuple[int, int]
    name: str


OPTIONS = {  # those that act in a format
    "page": ("fps", "camera", "zoom", "overlays"),
    "animated model": ("fps",),
    "recording of Rerun": ("fps",),
    "picture": ("time", "size", "renderer", "camera", "zoom", "overlays"),
    "film": ("fps", "speed", "size", "renderer", "camera", "zoom", "overlays"),
}
FORMATS = {
    ".html": Format(50.0, (0, 0), "page"),
    ".glb": Format(50.0, (0, 0), "animated model"),
    ".rrd": Format(50.0, (0, 0), "recording of Rerun"),
    ".png": Format(50.0, (1280, 720), "picture"),
    ".gif": Format(20.0, (640, 360), "film"),
    ".mp4": Format(30.0, (1280, 720), "film"),
}


@checked(
    runs=runs_or_models, path=a_path, fps=a_positive_number, size=a_size, zoom=a_positive_number,
    speed=a_positive_number, camera=a_direction,
    time=lambda what, x: number(what, x, "a time in seconds"),
    shapes=lambda what, x: choice(what, x, ROLES, "shapes= of a picture"),
    renderer=lambda what, x: choice(what, x, RENDERERS, "renderer= of a picture"),
    overlays=lambda what, x: names(what, x),
)  # fmt: skip
def save_view(
    runs, path, *, q=None, fps=None, size=None, time=None, speed=None, camera=None, zoom=None,
    shapes="visual", overlays=None, renderer=None,
) -> Path:  # fmt: skip
    """Write what one sees of runs or models: a page, a picture or a film, by the suffix of the path.

    Parameters
    ----------
    runs : Trajectory, Model, or sequence of them
        Several are drawn over each other, all but the first tinted.
    path : path-like
        ``.html``: a page with the viewer, which any browser opens from the disk, without network; ``.png``: one
        picture; ``.mp4``, ``.gif``: films; ``.glb``: a glTF model with its motion, for Blender and other programs;
        ``.rrd``: a recording for the viewer Rerun.
    q : (nq,) array_like, optional
        Position of models [rad or m; quaternions unit]. Default: the keyframe "initial", or the neutral position.
    fps : float, optional
        Frames per second [1/s]; default 30 in MP4, 20 in GIF, else 50.
    size : (int, int), optional
        Width and height of pictures and films [pixels]; default (1280, 720), of GIF (640, 360).
    time : float, optional
        Time of the picture [s]; default: the end of the run.
    speed : float, optional
        Simulated seconds per second of a film [1]; default 1.
    camera : (3,) array_like, optional
        Vector to the camera, in axes whose z points up: those of the world, unless gravity is along another [1].
        Default: (1, -1.35, 0.55), or the broad side of a flat mechanism.
    zoom : float, optional
        Magnification [1]; default 1.
    shapes : {"visual", "collision", "stick"}
    overlays : sequence of str, optional
        Names of the vectors that are drawn, such as "contact forces"; default: all but frames, centers of mass and
        inertia. In a page the others can be switched on.
    renderer : {"auto", "browser", "matplotlib"}, optional
        Pictures and films are drawn by the page in Chromium, if it is installed with playwright, else by matplotlib.

    Returns
    -------
    pathlib.Path
        The file written.

    Raises
    ------
    ArgumentError
        An option does not act in this format.
    UnsupportedError
        No format has this suffix.
    MissingDependencyError
        MP4 without imageio-ffmpeg, Rerun without rerun-sdk; the browser is to draw and is missing.
    KinetreeError
        A run was loaded without its model.

    Examples
    --------
    >>> import kinetree as kt, tempfile, pathlib
    >>> run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.2)
    >>> save_view(run, pathlib.Path(tempfile.mkdtemp()) / "run.html").name
    'run.html'
    """
    path = Path(path)
    check_view_format(path)
    form = FORMATS[path.suffix.lower()]
    runs = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    pictured = {"size": size, "time": time, "speed": speed, "renderer": renderer}
    _only_options_of(form, path, fps=fps, **pictured, camera=camera, zoom=zoom, overlays=overlays)
    if q is not None and not any(isinstance(x, Model) for x in runs):
        refuse("save_view: q", q, "None, since all of runs have positions; the time of a picture is time=")
    speed, renderer = 1.0 if speed is None else float(speed), "auto" if renderer is None else renderer
    fps = form.fps if fps is None else float(fps)
    # A fast film shows fewer frames of simulated time.
    recorded = recording(runs, fps / speed, q, shapes)
    known = {group_of(overlay) for run in recorded.runs for overlay in run.overlays}
    visible = None if overlays is None else names("save_view: overlays", overlays)
    for name in visible or ():
        choice("save_view: overlays", name, sorted(known), "this run")
    direction = direction_of(recorded.low, recorded.high) if camera is None else tuple(np.asarray(camera, float))
    view = {"direction": direction, "zoom": 1.0 if zoom is None else float(zoom), "visible": visible}
    size = tuple(map(int, form.size if size is None else size))
    match form.name:
        case "page":
            write_text(path, page(recorded, **view))
        case "animated model":
            write_bytes(path, gltf(recorded))
        case "recording of Rerun":
            write_rerun(path, recorded)
        case "picture":
            t = recorded.end if time is None else float(time)
            if not recorded.start <= t <= recorded.end:
                refuse("save_view: time", time, f"a time of the run, {recorded.start:g} to {recorded.end:g} s")
            write_still(path, recorded, t, size, renderer, **view)
        case _:
            count = max(1, round((recorded.end - recorded.start) / speed * fps))
            times = recorded.start + np.arange(count) * speed / fps
            write = write_gif if path.suffix.lower() == ".gif" else write_mp4
            write(path, recorded, times, fps, tuple(x - x % 2 for x in size), renderer, **view)
    return path


def _only_options_of(form: Format, path: Path, **options) -> None:
    """Refuse options that do nothing in a format."""
    for option, value in options.items():
        if value is not None and option not in OPTIONS[form.name]:
            article = "an" if form.name[0] == "a" else "a"
            others = [suffix for suffix, x in FORMATS.items() if option in OPTIONS[x.name]]
            expected = f"None, since {path.name} is {article} {form.name}: {option} is an option of {', '.join(others)}"
            refuse(f"save_view: {option}", value, expected)


def check_view_format(path) -> None:
    """Refuse a file whose suffix names no format.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    UnsupportedError
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise UnsupportedError(
            f"{path}: the suffix {Path(path).suffix!r} names no format of pictures; known: {', '.join(FORMATS)}.",
            path=path,
        )
