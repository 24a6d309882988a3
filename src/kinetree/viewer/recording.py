"""Recordings: poses of the bodies, vectors and channels of one or several runs at the frames of a picture or a page."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinetree.arguments import array, refuse
from kinetree.errors import KinetreeError
from kinetree.model.closing import usual_position
from kinetree.model.model import Model
from kinetree.viewer.camera import DIRECTION
from kinetree.viewer.overlays import overlays_at, overlays_of
from kinetree.viewer.scene import Scene
from kinetree.viewer.upright import turned, upright

MOST = 100_000  # frames of a picture, above which fps is taken for a mistake
SPARSE = 1.5  # of the distance of two frames: samples farther apart are interpolated on the manifold
COMPARED = ((0.84, 0.37, 0.0), (0.0, 0.62, 0.45), (0.34, 0.71, 0.91), (0.8, 0.47, 0.65))  # runs beside the first
NEAR, BELOW = 0.3, 0.01  # of the radius: the floor is at zero if the lowest point is so near to it
FAR = 4.0  # of the radius of the robot: if its first body goes beyond this, the picture follows
FLAT = 0.35  # of the other edges of the box
BOXES = 20  # positions of a run that give the size of the picture
TOGETHER = 6  # curves of one plot
SAMPLES = ("time", "q", "v", "x", "u", "internal", "kinetic", "gravitational", "elastic", "work", "dissipated",
           "origins")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Curves:
    """Numbers over time with one unit: a quantity of the plot below the picture.

    Attributes
    ----------
    name : str
    unit : str
    labels : tuple of str
        Names of the columns.
    values : (T, k) array
        [unit].
    """

    name: str
    unit: str
    labels: tuple[str, ...]
    values: np.ndarray


@dataclass(frozen=True, slots=True)
class Recorded:
    """One run at the frames of a recording.

    Attributes
    ----------
    name : str
    parts : tuple of Part
    bodies : tuple of str
        Names, the world first.
    joints : tuple of (str, int)
        Names, and the bodies that they move.
    notes : tuple of str
        Of the scene.
    time : (T,) array
        [s].
    poses : (T, nb, 7) array
        Position [m] and unit quaternion (w, x, y, z) of the user frame of every body; signs do not jump.
    overlays : tuple
        Of the kinds of `kinetree.viewer.overlays`.
    curves : tuple of Curves
    boxes : (N, 2, 3) array
        Lower and upper corners of the box around the bodies at some times [m].
    tint : tuple of 3 floats or None
        Color of a run that is drawn beside the first.

    Notes
    -----
    Positions, overlays and boxes are in axes of the picture, whose z points up: see `kinetree.viewer.upright`.
    """

    name: str
    parts: tuple
    bodies: tuple[str, ...]
    joints: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    time: np.ndarray
    poses: np.ndarray
    overlays: tuple
    curves: tuple[Curves, ...]
    boxes: np.ndarray
    tint: tuple[float, float, float] | None = None

    def between(self, values: np.ndarray, t: float) -> np.ndarray:
        """The row of an array over the frames at a time, interpolated linearly as in the page.

        Parameters
        ----------
        values : (T, ...) array
            Of one row, if it does not change.
        t : float
            [s]
        """
        k = int(np.clip(np.searchsorted(self.time, t, side="right") - 1, 0, max(len(values) - 2, 0)))
        if len(values) == 1 or t <= self.time[0]:
            return values[0]
        s = min((t - self.time[k]) / (self.time[k + 1] - self.time[k]), 1.0)
        return (1.0 - s) * values[k] + s * values[k + 1]

    def poses_at(self, t: float) -> np.ndarray:
        """Poses of the bodies at a time [s], (nb, 7) [m, unit quaternions].

        Parameters
        ----------
        t : float
            Between two frames quaternions are the normalized means of the nearer signs.
        """
        found = self.between(self.poses, t)
        found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
        return found


@dataclass(frozen=True, slots=True)
class Recording:
    """Runs with a common picture.

    Attributes
    ----------
    runs : tuple of Recorded
    low, high : (3,) array
        Corners of the box of everything that moves, along the world's axes [m].
    radius : float
        Of a sphere around everything that is drawn [m].
    floor : float
        Height of the floor [m].
    follow : bool
        The picture follows the first run.
    """

    runs: tuple[Recorded, ...]
    low: np.ndarray
    high: np.ndarray
    radius: float
    floor: float
    follow: bool

    @property
    def center(self) -> np.ndarray:
        """Middle of the box, shape (3,) [m]."""
        return 0.5 * (self.low + self.high)

    def shift(self, t: float) -> np.ndarray:
        """How far the picture has moved along with the first run until a time [s], shape (3,) [m].

        Parameters
        ----------
        t : float
        """
        places = self.runs[0].poses[:, 1 if self.follow else 0, :3]
        return self.runs[0].between(places, t) - places[0]

    @property
    def start(self) -> float:
        """First time of all runs [s]."""
        return min(float(run.time[0]) for run in self.runs)

    @property
    def end(self) -> float:
        """Last time of all runs [s]."""
        return max(float(run.time[-1]) for run in self.runs)

    @property
    def title(self) -> str:
        """Name of the first model, and of the others."""
        return ", ".join(dict.fromkeys(run.name for run in self.runs))


def recording(runs, fps: float, q=None, role: str = "visual") -> Recording:
    """Record runs, or a model at one position, at the frames of a picture.

    Parameters
    ----------
    runs : sequence of Trajectory or Model
    fps : float
        Frames per second of simulated time [1/s].
    q : (nq,) array, optional
        Position of models [rad or m; quaternions unit]. Default: the keyframe "initial", or the neutral position.
    role : {"visual", "collision", "stick"}
        Shapes to draw.

    Raises
    ------
    ArgumentError
        A run has more than `MOST` frames.
    """
    found = []
    for run in runs:
        time = getattr(run, "time", (0.0,))
        if (time[-1] - time[0]) * fps > MOST:
            what = f"at most {MOST / (time[-1] - time[0]):.4g} for this run: pictures of {MOST} positions"
            refuse("fps / speed", fps, what)
        tint = COMPARED[(len(found) - 1) % len(COMPARED)] if found else None
        if hasattr(run, "triangles"):  # of deformables
            found.append(_of_deformables(run, fps, tint))
        else:
            found.append(_of_model(run, q, role, tint) if isinstance(run, Model) else _of_run(run, fps, role, tint))
    found = [replace(run, poses=continuous(run.poses)) for run in found]
    names = [run.name for run in found]
    if len(set(names)) < len(names):  # runs of one model
        found = [replace(run, name=f"{run.name}, run {k}") for k, run in enumerate(found, start=1)]
    return Recording(tuple(found), **_picture(found))


def direction_of(low, high) -> tuple[float, float, float]:
    """The direction to the camera for a box: flat mechanisms are seen from their broad side.

    Parameters
    ----------
    low, high : (3,) array
        [m]
    """
    x, y, z = np.maximum(np.asarray(high) - low, 1e-9)
    if y < FLAT * min(x, z):
        return (0.25, -1.35, 0.3)
    return (1.35, -0.25, 0.3) if x < FLAT * min(y, z) else DIRECTION


def _picture(runs) -> dict:
    """Box, size and floor of the picture, and whether it follows the first run, which goes far."""
    own, together = runs[0].boxes, np.concatenate([run.boxes for run in runs])
    low, high = together[:, 0].min(axis=0), together[:, 1].max(axis=0)
    usual = 0.5 * float(np.median(np.linalg.norm(own[:, 1] - own[:, 0], axis=1)))
    lowest, radius = float(low[2]), 0.5 * float(np.linalg.norm(high - low))
    places = runs[0].poses[:, min(1, runs[0].poses.shape[1] - 1), :3]
    follow = float(np.max(np.linalg.norm(places - places[0], axis=1))) > FAR * usual
    if follow:
        (low, high), radius = own[0], usual
    planes = [h for run in runs for part in run.parts if (h := floor_height(part)) is not None]
    floor = planes[0] if planes else 0.0 if -BELOW * radius < lowest < NEAR * radius else lowest
    return {"low": low, "high": high, "radius": max(radius, 1e-3), "floor": floor, "follow": follow}


def grid_step(radius: float) -> float:
    """Distance of the lines on the floor [m]: about a third of the size of the picture, 1, 2 or 5 times a power of ten.

    Parameters
    ----------
    radius : float
        [m]
    """
    power = 10.0 ** np.floor(np.log10(radius / 3.0))
    return float(power * max(x for x in (1, 2, 5) if x * power <= radius / 3.0 * (1.0 + 1e-9)))


def floor_height(part) -> float | None:
    """The height of a horizontal plane of the world, which the floor of the picture stands for; None of other parts.

    Parameters
    ----------
    part : Part
    """
    level = part.kind == "plane" and part.body == 0 and abs(part.X[2, 2]) > 1.0 - 1e-9
    return float(part.X[2, 3]) if level else None


def is_floor(part) -> bool:
    """Whether the floor of the picture stands for a part: a horizontal plane of the world without an image."""
    return floor_height(part) is not None and not part.mesh


def _of_model(model, q, role, tint) -> Recorded:
    Q = np.atleast_2d(usual_position(model) if q is None else array("view: q", q))
    if Q.shape != (1, model.nq):
        refuse("view: q", q, f"a position of shape ({model.nq},)")
    scene = Scene.of(model, role)
    return at_position(scene, Q[0], tuple(overlays_at(scene, Q[0])), tint)


def at_position(scene: Scene, q, overlays: tuple = (), tint=None) -> Recorded:
    """A model at one position, with z up.

    Parameters
    ----------
    scene : Scene
    q : (nq,) array
        [rad or m; quaternions unit]
    overlays : tuple
        Of the kinds of `kinetree.viewer.overlays`, with one sample.
    tint : tuple of 3 floats, optional
    """
    Q = np.atleast_2d(q)
    content = scene.model.name, *_content(scene), np.zeros(1), scene.poses(Q)
    return turned(Recorded(*content, overlays, (), _boxes(scene, Q), tint), upright(scene.model.gravity))


def _content(scene: Scene) -> tuple:
    """Parts, bodies, joints and notes."""
    model = scene.model
    joints = tuple((model.joint_names[i - 1], i) for i in model.outward())
    return scene.parts, tuple(model.body_names), joints, scene.notes


def _boxes(scene, q) -> np.ndarray:
    """Boxes around the bodies at some of the positions, (N, 2, 3) [m]."""
    rows = np.linspace(0, len(q) - 1, min(len(q), BOXES)).astype(int)
    return np.array([scene.bounds(q[k]) for k in rows])


def _of_run(run, fps, role, tint) -> Recorded:
    if run.model is None:
        raise KinetreeError("A picture of a run needs its model: load it with Trajectory.load(path, model=model).")
    scene = Scene.of(run.model, role)
    boxes = _boxes(scene, run.q)  # of the whole run, so that the picture does not depend on the frames
    run = thinned(run, fps)
    curves = tuple(_curves(run)) if tint is None else ()
    poses, overlays = scene.poses(run.q, run.time), tuple(overlays_of(run))
    found = Recorded(run.model_name, *_content(scene), run.time, poses, overlays, curves, boxes, tint)
    return turned(found, upright(scene.model.gravity))


def _of_deformables(run, fps: float, tint) -> Recorded:
    """Bodies as lines, and the nodes: runs of deformables do not have their model."""
    step = _every(np.diff(run.time), fps) if len(run.time) > 1 else 1
    rows = {name: getattr(run, name)[::step] for name in SAMPLES}
    run = replace(run, **rows)
    energies = {"kinetic": run.kinetic, "gravitational": run.gravitational, "elastic": run.elastic, "total": run.energy}
    curves = (Curves("energy", "J", tuple(energies), np.stack([*energies.values()], axis=1)),)
    points = np.concatenate([run.x, run.origins], axis=1)
    boxes = np.stack([points.min(axis=1), points.max(axis=1)], axis=1)
    world = np.zeros((len(run.time), 1, 7)) + np.eye(7)[3]
    overlays = tuple(overlays_of(run))
    return Recorded(", ".join(run.names), (), ("world",), (), run.notes, run.time, world, overlays, curves, boxes, tint)


def group_of(overlay) -> str:
    """The name under which an overlay is shown and hidden.

    Parameters
    ----------
    overlay : object
        Of `kinetree.viewer.overlays`.
    """
    return getattr(overlay, "group", overlay.name)


def is_shown(overlay, visible) -> bool:
    """Whether an overlay is drawn: of the groups that are named, or by itself.

    Parameters
    ----------
    overlay : object
    visible : sequence of str or None
    """
    return overlay.shown if visible is None else group_of(overlay) in visible


def continuous(poses: np.ndarray) -> np.ndarray:
    """Poses over time whose quaternions do not change their sign.

    Parameters
    ----------
    poses : (T, n, 7) array
        Positions [m] and unit quaternions.
    """
    turned = np.sum(poses[1:, :, 3:] * poses[:-1, :, 3:], axis=-1) < 0.0
    signs = np.cumprod(np.concatenate([np.ones((1, poses.shape[1])), np.where(turned, -1.0, 1.0)]), axis=0)
    return np.concatenate([poses[..., :3], poses[..., 3:] * signs[..., None]], axis=-1)


def thinned(run, fps: float):
    """Samples of a run about as often as a picture has frames, interpolated where they are farther apart.

    Parameters
    ----------
    run : Trajectory
    fps : float
        [1/s].
    """
    if len(run) < 2:
        return run
    steps = np.diff(run.time)
    if fps * float(steps.max()) > SPARSE:
        return run.resample(dt=1.0 / fps)
    return run[:: _every(steps, fps)]


def _every(steps, fps: float) -> int:
    """Of how many samples one is a frame."""
    share = fps * float(np.median(steps))
    return len(steps) if share * len(steps) <= 1.0 else max(1, int((1.0 + 1e-9) / share))


def _curves(run):
    """Energies, then positions, velocities and forces of the joints, in groups of one unit."""
    energies = {"kinetic": run.kinetic_energy, "potential": run.potential_energy, "total": run.energy}
    if np.any(run.elastic_energy):
        energies["elastic"] = run.elastic_energy
    yield Curves("energy", "J", tuple(energies), np.stack([*energies.values()], axis=1))
    if (contacts := run.contacts) is not None:
        force = contacts.normal_forces.sum(axis=1, keepdims=True)
        yield Curves("contact", "N", ("sum of the normal forces",), force)
    c = run.coordinates
    for name, values, labels, units in (
        ("position", run.q, c.position_labels, c.position_units),
        ("velocity", run.v, c.velocity_labels, c.velocity_units),
        ("force", run.tau, c.velocity_labels, c.force_units),
    ):
        if not np.any(values):
            continue
        for unit in dict.fromkeys(units):
            columns = [k for k, x in enumerate(units) if x == unit]
            for part in np.array_split(columns, -(-len(columns) // TOGETHER)):
                first, last = labels[part[0]], labels[part[-1]]
                title = f"{name}: {first}" if len(part) == 1 else f"{name}: {first} ... {last}"
                yield Curves(title, unit, tuple(labels[k] for k in part), values[:, part])
