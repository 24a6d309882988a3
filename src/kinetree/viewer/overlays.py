"""Things that are drawn beside the shapes, over time: forces, paths, deformables, frames, centers of mass, loops.

Arrays have a row for each of T samples and are in world axes. Renderers draw them as they are: arrows of forces are
lengths already, and ``scale`` tells how long a newton is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import checked, of_kind
from kinetree.conventions.rotations import quaternion_of, rotation_matrix
from kinetree.tendons import path_points
from kinetree.viewer.scene import Scene
from kinetree.viewer.stick_figure import principal

FORCE, MOMENT, WRENCH = (0.86, 0.21, 0.18), (0.58, 0.34, 0.75), (0.95, 0.55, 0.12)
AXIS, MASS, LOOP, TENDON = (0.20, 0.35, 0.75), (0.12, 0.12, 0.14), (0.80, 0.47, 0.74), (0.71, 0.20, 0.18)
REST, ACTIVE = np.array((0.25, 0.42, 0.86)), np.array((0.90, 0.13, 0.10))  # muscles without and with activation
BODIES = ((0.0, 0.45, 0.70), (0.84, 0.37, 0.0), (0.0, 0.62, 0.45), (0.80, 0.47, 0.65), (0.34, 0.71, 0.91))
LONGEST = 0.4  # of the size of the robot: the arrow of the largest force
LONG_ARM = 2.0  # of the size: a wrench whose axis is farther away is drawn as a force and a moment


@dataclass(frozen=True, slots=True, eq=False)
class Arrows:
    """Vectors at points.

    Attributes
    ----------
    name : str
    points, vectors : (T, n, 3) array
        Where they begin, and the arrows as they are drawn, both [m]; zeros are not drawn.
    color : tuple of 3 floats
    scale : float
        Length of an arrow for each unit [m/N or m/(N m)]; 0 of arrows that are no forces.
    unit : str
    shown : bool
        Whether they are drawn at first.
    """

    name: str
    points: np.ndarray
    vectors: np.ndarray
    color: tuple[float, float, float]
    scale: float = 0.0
    unit: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """A curve that moves.

    Attributes
    ----------
    name : str
    points : (T, k, 3) array, or list of T (k, 3) arrays
        [m]
    colors : (T, 3) or (3,) array
    group : str
        Name of the kind, under which the curves are shown and hidden together.
    shown : bool
    """

    name: str
    points: object
    colors: np.ndarray
    group: str = "tendons"
    shown: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Straight lines between points that move: springs of deformables.

    Attributes
    ----------
    name : str
    points : (T, n, 3) array
        [m]
    pairs : (m, 2) array of int
        Ends of each line.
    color : tuple of 3 floats
    shown : bool
    """

    name: str
    points: np.ndarray
    pairs: np.ndarray
    color: tuple[float, float, float]
    shown: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Surfaces:
    """A surface that changes its form.

    Attributes
    ----------
    name : str
    vertices : (T, n, 3) array
        [m]
    faces : (m, 3) array of int
    color : tuple of 3 floats
    shown : bool
    """

    name: str
    vertices: np.ndarray
    faces: np.ndarray
    color: tuple[float, float, float]
    shown: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Coordinate axes.

    Attributes
    ----------
    name : str
    labels : tuple of str
    poses : (T, n, 7) array
        Positions [m] and unit quaternions (w, x, y, z).
    length : float
        Of the axes [m].
    shown : bool
    """

    name: str
    labels: tuple[str, ...]
    poses: np.ndarray
    length: float
    shown: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Ellipsoids:
    """Ellipsoids of constant form.

    Attributes
    ----------
    name : str
    poses : (T, n, 7) array
        Positions [m] and unit quaternions (w, x, y, z).
    semiaxes : (n, 3) array
        [m]
    color : tuple of 3 floats
    shown : bool
    """

    name: str
    poses: np.ndarray
    semiaxes: np.ndarray
    color: tuple[float, float, float]
    shown: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Balls at points.

    Attributes
    ----------
    name : str
    points : (T, n, 3) array
        [m]
    radius : float
        [m]
    color : tuple of 3 floats
    shown : bool
    """

    name: str
    points: np.ndarray
    radius: float
    color: tuple[float, float, float]
    shown: bool = False


@checked(run=of_kind("Trajectory, as kt.simulate gives it", "time", "q"))
def overlays_of(run) -> list:
    """All overlays of a run that has its model.

    Parameters
    ----------
    run : Trajectory or CoupledRun

    Returns
    -------
    list of Arrows, Paths, Lines, Surfaces, Frames, Ellipsoids and Points
        Contact forces, external wrenches, muscles (blue at rest, red when active), tendons, springs between points,
        loops, frames, centers of mass, inertia ellipsoids and joint axes, as far as the model and the run have them;
        of a run of deformables, these and the bodies as lines.

    Examples
    --------
    >>> import kinetree as kt
    >>> run = kt.simulate(kt.models.free_shape("box"), duration=0.02, ground=True)
    >>> [x.name for x in overlays_of(run)][:2]
    ['contact forces', 'frames']
    """
    if hasattr(run, "triangles"):  # of deformables
        return list(_deformables(run))
    model = getattr(run.model, "spatial", run.model)
    scene = Scene.of(model)
    activation = {name: run.x[:, k] for k, name in enumerate(model.state_names)} if run.x.shape[1] else {}
    poses = scene.poses(run.q, run.time)
    size = size_of(scene)
    found = [*_contact_forces(run, size), *_wrenches(run, model, poses, size)]
    return [*found, *_paths(model, run.q, activation), *_of_model(scene, poses, size)]


def overlays_at(scene: Scene, q, x=None, t=None) -> list:
    """Overlays of a model at one position, T = 1.

    Parameters
    ----------
    scene : Scene
    q : (nq,) array
        [rad or m; quaternions unit]
    x : (nx,) array, optional
        Internal states of force elements [as the elements define them]; for the colors of muscles.
    t : float, optional
        [s]
    """
    Q, names = np.reshape(q, (1, -1)), scene.model.state_names
    activation = {} if x is None else {name: np.reshape(x, (1, -1))[:, k] for k, name in enumerate(names)}
    size = size_of(scene)
    return [*_paths(scene.model, Q, activation), *_of_model(scene, scene.poses(Q, t), size)]


def size_of(scene: Scene) -> float:
    """The longest edge of the box of the robot [m]."""
    lower, upper = scene.bounds()
    return max(float((upper - lower).max()), 1e-3)


# Forces -----------------------------------------------------------------------------------------------------------


def _contact_forces(run, size: float) -> Iterator[Arrows]:
    contacts = run.contacts
    if contacts is not None and (touched := contacts.touching.any(axis=0)).any():
        forces = contacts.world_forces[:, touched]
        scale = LONGEST * size / _largest(forces)
        yield Arrows("contact forces", contacts.points[:, touched], scale * forces, FORCE, scale, "N")


def _wrenches(run, model, poses, size: float) -> Iterator[Arrows]:
    """Forces on their lines of action next to the centers of mass, and the moments that are left."""
    wrenches = run.metadata.wrenches
    if wrenches is None or not (acted := np.abs(wrenches).max(axis=(0, 2)) > 0.0).any():
        return
    bodies = np.flatnonzero(acted)
    moment, force = wrenches[:, bodies, :3], wrenches[:, bodies, 3:]
    com = _centers(model, poses, bodies)
    square = np.maximum(np.einsum("tni,tni->tn", force, force), 1e-300)[..., None]
    line = np.cross(force, moment - np.cross(com, force)) / square  # from the center of mass to the line
    line = np.where(np.linalg.norm(line, axis=-1, keepdims=True) < LONG_ARM * size, line, 0.0)
    rest = moment - np.cross(com + line, force)
    for name, values, points, color, unit in (
        ("external forces", force, com + line, WRENCH, "N"), ("external moments", rest, com, MOMENT, "N m"),
    ):  # fmt: skip
        largest = _largest(values)
        if largest > 1e-9 * _largest(wrenches):
            scale = LONGEST * size / largest
            yield Arrows(name, points, scale * values, color, scale, unit)


def _largest(vectors) -> float:
    """The length that 99 % of the vectors do not exceed: impacts do not make all other arrows short."""
    lengths = np.linalg.norm(vectors, axis=-1)
    lengths = lengths[lengths > 0.0]
    return float(np.quantile(lengths, 0.99)) if len(lengths) else 0.0


# Paths ------------------------------------------------------------------------------------------------------------


def _paths(model, Q, activation: dict) -> Iterator[Paths]:
    """Muscles, tendons, and springs and rods between two points."""
    taken = set()
    for part in (*model.forces, *model.constraints, *model.tendons):
        path = getattr(part, "path", ())
        if not path or path in taken:
            continue
        taken.add(path)
        values = activation.get(f"{part.name}.activation")
        colors = np.array(TENDON) if values is None else _blended(values)
        group = "tendons" if values is None else "muscles"
        curves = [path_points(model, q, path) for q in Q]
        for k in range(len(curves[0])):
            name = part.name if len(curves[0]) == 1 else f"{part.name} {k}"
            yield Paths(name, [branches[k] for branches in curves], colors, group)
    for part in model.forces:
        if hasattr(part, "start_at") and hasattr(part, "end_at"):
            ends = [(model.frame(part.start), part.start_at), (model.frame(part.end), part.end_at)]
            poses = Scene.of(model).poses(Q)
            line = [_point(poses, f.body, f.p_BF + f.R_BF @ np.array(at, float)) for f, at in ends]
            yield Paths(part.name, np.stack(line, axis=1), np.array(TENDON), "springs")


def _blended(activation) -> np.ndarray:
    share = np.clip(np.asarray(activation, float), 0.0, 1.0)[:, None]
    return (1.0 - share) * REST + share * ACTIVE


# Of the model -----------------------------------------------------------------------------------------------------


def _of_model(scene: Scene, poses, size: float) -> Iterator:
    """Loops, frames, centers of mass, inertia ellipsoids, joint axes."""
    model = scene.model
    ends = []
    for loop in model.loops:
        for name, X in ((loop.predecessor, loop.X_P), (loop.successor, loop.X_S)):
            frame = model.frame(name)
            ends.append(_point(poses, frame.body, frame.p_BF + frame.R_BF @ np.array([*X.r])))
    if ends:
        yield Points("loops", np.stack(ends, axis=1), 0.015 * size, LOOP, shown=True)
    frames = model.frames[1:]
    R = rotation_matrix(poses[:, [f.body for f in frames], 3:]) @ np.array([f.R_BF for f in frames])
    places = [_point(poses, f.body, f.p_BF) for f in frames]
    labels = tuple(f.name for f in frames)
    yield Frames("frames", labels, np.concatenate([np.stack(places, axis=1), quaternion_of(R)], axis=-1), 0.08 * size)
    massive = np.array([i for i in model.outward() if model.I[i].m], dtype=int)
    if len(massive):
        com, masses = _centers(model, poses, massive), np.array([float(model.I[i].m) for i in massive])
        yield Points("centers of mass", com, 0.012 * size, MASS)
        whole = np.einsum("n,tni->ti", masses / masses.sum(), com)[:, None]
        yield Points("center of mass of all", whole, 0.022 * size, FORCE)
        yield _ellipsoids(model, poses, massive, com)
    yield from _axes(model, poses, 0.12 * size)


def _ellipsoids(model, poses, bodies, com) -> Ellipsoids:
    """The homogeneous ellipsoids with the mass and the inertia of the bodies."""
    semiaxes, axes = [], []
    for i in bodies:
        moments, R = principal(model, i)
        squares = 2.5 / float(model.I[i].m) * (moments.sum() - 2.0 * moments)
        semiaxes.append(np.sqrt(np.maximum(squares, 0.0)))
        axes.append(R)
    R = rotation_matrix(poses[:, bodies, 3:]) @ np.array(axes)
    placed = np.concatenate([com, quaternion_of(R)], axis=-1)
    return Ellipsoids("inertia ellipsoids", placed, np.array(semiaxes), (0.35, 0.62, 0.78))


def _axes(model, poses, length: float) -> Iterator[Arrows]:
    """Axes of the joints with constant axes, at the axis' point next to the origin of the body."""
    points, vectors = [], []
    for i in model.outward():
        joint = model.joints[i]
        if not joint.constant_subspace or joint.nv > 3:
            continue
        R = rotation_matrix(poses[:, i, 3:])
        for column in joint.motion_subspace(joint.neutral()):
            turn, slide = (np.array([*x], dtype=float) for x in (column.angular, column.linear))
            turns = np.linalg.norm(turn) > 1e-9
            axis = turn if turns else slide
            at = np.cross(turn, slide) / (turn @ turn) if turns else np.zeros(3)
            vectors.append(R @ (length * axis / np.linalg.norm(axis)))
            points.append(_point(poses, i, at) - 0.5 * vectors[-1])
    if points:
        yield Arrows("joint axes", np.stack(points, axis=1), np.stack(vectors, axis=1), AXIS, shown=False)


def _point(poses, body: int, at) -> np.ndarray:
    """Positions (T, 3) of a point of a body."""
    return poses[:, body, :3] + rotation_matrix(poses[:, body, 3:]) @ np.asarray(at, float)


def _centers(model, poses, bodies) -> np.ndarray:
    return np.stack([_point(poses, i, [*model.I[i].com]) for i in bodies], axis=1)


# Deformables ------------------------------------------------------------------------------------------------------


def _deformables(run) -> Iterator:
    """Surfaces of cloths and solids, springs of the others, the model's bodies as lines between their origins."""
    for k, (start, stop) in enumerate(zip(run.starts[:-1], run.starts[1:], strict=True)):
        color, x = BODIES[k % len(BODIES)], run.x[:, start:stop]
        own = (run.triangles[:, 0] >= start) & (run.triangles[:, 0] < stop)
        if own.any():
            yield Surfaces(run.names[k], x, run.triangles[own] - start, color)
            continue
        lines = run.lines[(run.lines[:, 0] >= start) & (run.lines[:, 0] < stop)]
        yield Lines(run.names[k], x, lines - start, color)
    links = [(p, i) for i, p in enumerate(run.parents) if i]
    if links:
        yield Lines("model", run.origins, np.array(links), (0.25, 0.27, 0.30))
