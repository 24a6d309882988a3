"""Pictures of joints: the path of the successor frame along each coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kinetree.arguments import a_count, a_joint, a_mapping, checked, of_kind
from kinetree.errors import KinetreeError, ModelError, unknown_name
from kinetree.joints import JOINTS, Joint
from kinetree.spatial.screws import screw
from kinetree.viz.joint_table import JointKind, example, joint_kinds
from kinetree.viz.style import COLORS, INK, OUTPUT, new_figure, save_figure, show_figures

TRIAD = ("#C0392B", "#2E8B57", "#2F5FB3")  # x, y, z
PALE = "#AAAAAA"
ARM = 0.25  # length of the axes of a frame, relative to the path of the origin
VIEW = (24.0, -56.0)  # elevation and azimuth [deg]
FILLED = 0.45  # half the share of the picture that a motion takes
NET = 8  # lines of a net in both directions
RESOLUTION = 92  # dots per inch
PICTURED = 0.2974  # matplotlib draws this share of the picture for half the edge of its cube, seen square on
# Size and center of the boxes that stand for the bodies, relative to the axes of a frame.
PREDECESSOR = (1.9, 1.3, 0.3), (0.0, 0.0, -0.45)
SUCCESSOR = (1.5, 0.6, 0.45), (0.55, 0.0, 0.0)
LIGHT = np.array([0.35, -0.62, 0.70])
STEPS = 61
SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Course:
    """The successor's poses along one coordinate, or in time.

    Parameters
    ----------
    label : str
        The coordinate and its unit.
    R : (STEPS, 3, 3) array
        Orientations in predecessor coordinates [1].
    p : (STEPS, 3) array
        Origins in predecessor coordinates [m].
    """

    label: str
    R: np.ndarray
    p: np.ndarray


@checked(axes=of_kind("3D subplot of matplotlib", "plot_surface", "figure"), **OUTPUT)
def plot_joint(joint: Joint | str, *, path=None, show: bool = False, axes=None):
    """Draw the motion of a joint: its frames, the paths of origin and axes along each coordinate, the axes of motion.

    The gray body is the predecessor, at its frame; the blue one with the frame in red, green and blue (x, y, z) is the
    successor in the middle of the coordinates' range. From there each coordinate moves alone, in a color of its own:
    solid the path of the origin, thin that of the tip that goes farthest, transparent the successor at both ends of the
    range (of joints with up to three coordinates); the dashed line is the axis that the successor turns about, or along
    which it slides.

    Parameters
    ----------
    joint : Joint or str
        A joint, or the name of a registered kind.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.
    axes : matplotlib 3D axes, optional
        Draw there, instead of in a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from kinetree.joints import Helical
    >>> figure = plot_joint(Helical(pitch=0.1))
    """
    if isinstance(joint, str):
        if joint not in JOINTS:
            raise unknown_name("joint kind", joint, JOINTS, "the registry of joints")
        joint = example(joint)
    if not isinstance(joint, Joint):
        raise KinetreeError(f"plot_joint: {joint!r} is neither a joint nor the name of a registered kind.")
    figure = axes.figure if axes is not None else new_figure((4.2, 4.2), show)
    axes = axes if axes is not None else figure.add_subplot(projection="3d")
    _draw(axes, joint, type(joint).__name__)
    return _finished(figure, path, show)


def _some_joints(what: str, value: object) -> None:
    """Joints by title."""
    a_mapping(what, value)
    for title, joint in value.items():
        a_joint(f"{what}[{title!r}]", joint)


@checked(joints=_some_joints, columns=a_count, **OUTPUT)
def joint_gallery(joints=None, *, columns: int = 5, path=None, show: bool = False):
    """Draw all kinds of joints, one panel for each; `plot_joint` explains the symbols.

    Parameters
    ----------
    joints : mapping of str to Joint, optional
        Titles and joints; default a joint of every registered kind.
    columns : int
        Panels in a row.
    path : path-like, optional
        Write the figure there.
    show : bool
        Open a window.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if joints is None:
        joints = {_title(kind): kind.joint for kind in joint_kinds()}
    if not joints:
        raise KinetreeError("joint_gallery: nothing to draw; give at least one joint and one column.")
    rows = -(-len(joints) // columns)
    width, height, below = 2.2, 2.75, 0.28
    figure = new_figure((width * columns, height * rows), show)
    for k, (title, joint) in enumerate(joints.items()):
        row, column = divmod(k, columns)
        corner = column / columns, (rows - 1 - row + below / height) / rows
        place = (*corner, 1.0 / columns, width / height / rows)
        _draw(figure.add_axes(place, projection="3d"), joint, title)
    return _finished(figure, path, show)


def _title(kind: JointKind) -> str:
    return kind.name if kind.kind != "reversed" else f"{kind.name}\n({type(kind.joint.joint).__name__})"


# Motions --------------------------------------------------------------------------------------------------------------


def courses(joint: Joint) -> tuple[np.ndarray, np.ndarray, list[Course]]:
    """The pose (R, p) in the middle of the joint's range, and from there its course along each of its coordinates.

    Parameters
    ----------
    joint : Joint
        Of any kind; the courses of one that depends on time begin with that in time.
    """
    now = joint.at(0.0) if joint.time_dependent else joint
    middle, reach = _range(now)
    found = []
    if joint.time_dependent:
        times = np.linspace(0.0, SECONDS, STEPS)
        found.append(Course("time [s]", *_stack([_pose(joint.at(float(t)), middle) for t in times])))
    for k, (name, unit) in enumerate(zip(now.velocity_names, now.velocity_units, strict=True)):
        steps = np.linspace(-reach[k], reach[k], STEPS)
        poses = [_pose(now, now.integrate(middle, [float(s) * (k == m) for m in range(now.nv)])) for s in steps]
        if now.nq == now.nv:
            name, unit = now.position_names[k], now.position_units[k]
        found.append(Course(f"{name} [{unit}]", *_stack(poses)))
    return *_pose(now, middle), found


def _range(joint: Joint) -> tuple[list[float], np.ndarray]:
    """A position in the middle, and the distance from it along each velocity: the range of random positions."""
    reach = np.array([0.8 if unit == "rad/s" else 0.7 for unit in joint.velocity_units])
    if joint.nq != joint.nv or not joint.nv:
        return joint.neutral(), reach
    rng = np.random.default_rng(0)
    positions = np.array([joint.random(rng) for _ in range(400)])
    low, high = positions.min(axis=0), positions.max(axis=0)
    half = 0.5 * (high - low)
    around = [unit == "rad/s" and joint.nv > 1 for unit in joint.velocity_units]
    middle, neutral = 0.5 * (low + high), np.array(joint.neutral(), dtype=float)
    if np.all(np.abs(neutral - middle) < 0.2 * half):
        middle = neutral
    return middle.tolist(), np.where(around, np.minimum(half, reach), half)


def _pose(joint: Joint, q) -> tuple[np.ndarray, np.ndarray]:
    X = joint.transform(q)
    return np.array(X.E.matrix.rows, dtype=float).T, np.array(list(X.r), dtype=float)


def _stack(poses) -> tuple[np.ndarray, np.ndarray]:
    R, p = zip(*poses, strict=True)
    return np.array(R), np.array(p)


# Drawing --------------------------------------------------------------------------------------------------------------


def _draw(axes, joint: Joint, title: str) -> None:
    R, p, along = courses(joint)
    extent = max([0.0, *(float(np.ptp(course.p, axis=0).max()) for course in along)])
    arm = 1.0 if extent < 1e-9 else min(ARM * extent, 1.0)
    drawn = [_box(axes, np.eye(3), np.zeros(3), arm, PREDECESSOR, "#B8B8B8", 1.0)]
    drawn += [_box(axes, R, p, arm, SUCCESSOR, "#3F87C0", 1.0), _triad(axes, R, p, 0.8 * arm, TRIAD, 1.6, "xyz")]
    for color, course in zip(COLORS, along, strict=False):
        drawn.append(_draw_course(axes, course, color, arm, ghosts=len(along) < 4))
    drawn.append(_draw_net(axes, joint))
    half = _fit(axes, np.concatenate([x.reshape(-1, 3) for x in drawn]))
    _draw_axes(axes, joint, 0.8 * half)
    axes.set_title(title, fontsize=9, fontweight="bold", color=INK, pad=0, linespacing=0.9)
    lines = [course.label for course in along] or ["no freedom"]
    columns = min(len(lines), 3 if max(map(len, lines)) < 15 else 2)
    for k, line in enumerate(lines):
        place = (0.5 + k % columns) / columns, -0.02 - 0.06 * (k // columns)
        axes.text2D(*place, line, transform=axes.transAxes, fontsize=6.5, color=COLORS[k % len(COLORS)], ha="center")


def _draw_course(axes, course: Course, color: str, arm: float, ghosts: bool) -> np.ndarray:
    """Draw a course and return the points that should be seen."""
    axes.plot(*course.p.T, color=color, linewidth=1.6)
    tips = course.p[:, None] + arm * course.R.transpose(0, 2, 1)  # (STEPS, axis, 3)
    farthest = tips[:, int(np.argmax(np.linalg.norm(np.diff(tips, axis=0), axis=2).sum(axis=0)))]
    axes.plot(*farthest.T, color=color, linewidth=0.6, alpha=0.8)
    ends = [_box(axes, course.R[k], course.p[k], arm, SUCCESSOR, color, 0.16) for k in (0, -1)] if ghosts else []
    return np.concatenate([course.p, farthest, *ends])


def _box(axes, R, p, arm: float, shape: tuple, color: str, opacity: float) -> np.ndarray:
    """Draw a body as a shaded box at a pose, and return its corners."""
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    size, center = (arm * np.array(x) for x in shape)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = p + (center + 0.5 * signs * size) @ R.T
    faces, colors = [], []
    for k in range(3):
        for side in (-1, 1):
            ring = [n for n in range(8) if signs[n, k] == side]
            faces.append(corners[[ring[0], ring[1], ring[3], ring[2]]])
            light = 0.62 + 0.38 * max(0.0, float(side * R[:, k] @ LIGHT))
            colors.append((*(light * np.array(to_rgb(color))), opacity))
    edge = (*(0.45 * np.array(to_rgb(color))), min(1.0, 2.0 * opacity))
    axes.add_collection3d(Poly3DCollection(faces, facecolors=colors, edgecolors=[edge], linewidths=0.4))
    return corners


def _draw_net(axes, joint: Joint) -> np.ndarray:
    """Draw the surface that two coordinates together reach, as a pale net, and return its points."""
    if joint.time_dependent or (joint.nq, joint.nv) != (2, 2):
        return np.zeros((0, 3))
    middle, reach = _range(joint)
    a, b = (np.linspace(-x, x, 2 * NET + 1) for x in reach)
    net = np.array([[_pose(joint, joint.integrate(middle, [float(x), float(y)]))[1] for y in b] for x in a])
    for line in (*net[::2], *net[:, ::2].transpose(1, 0, 2)):
        axes.plot(*line.T, color=PALE, linewidth=0.5, alpha=0.7)
    return net


def _draw_axes(axes, joint: Joint, reach: float) -> None:
    """The screw axis of each column of S at the middle position."""
    now = joint.at(0.0) if joint.time_dependent else joint
    middle, _ = _range(now)
    X = now.transform(middle)
    for color, column in zip(COLORS[bool(joint.time_dependent) :], now.motion_subspace(middle), strict=False):
        try:
            axis = screw(X.inverse_apply(column))
        except ModelError:  # a coordinate that moves nothing here has no axis
            continue
        n = np.array(list(axis.direction), dtype=float)
        through = np.array(list(X.r), dtype=float)
        if axis.point is not None:  # the point of the axis next to the successor's origin
            point = np.array(list(axis.point), dtype=float)
            through = point + n * (n @ (through - point))
        axes.plot(*(through + np.outer((-reach, reach), n)).T, color=color, linewidth=0.8, linestyle=(0, (4, 3)))


def _triad(axes, R, p, arm: float, colors, width: float, names: str = "") -> np.ndarray:
    """Draw the three axes of a frame and return their tips."""
    tips = p + arm * R.T
    for end, color in zip(tips, colors, strict=True):
        axes.plot(*np.array([p, end]).T, color=color, linewidth=width, solid_capstyle="round")
    for name, place in zip(names, p + 1.18 * arm * R.T, strict=False):
        axes.text(*place, name, fontsize=6, color=PALE, ha="center", va="center")
    return tips


def _fit(axes, points: np.ndarray) -> float:
    """Set limits so that the points fill the picture, seen from where it is drawn; returns half its edge."""
    elevation, azimuth = np.radians(VIEW)
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    toward = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    up = np.cross(toward, right)
    seen = points @ np.column_stack([right, up])
    low, high = seen.min(axis=0), seen.max(axis=0)
    u, v = 0.5 * (low + high)
    edge = 0.5 * float((high - low).max())
    half = edge * PICTURED / FILLED
    for set_limits, middle in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), u * right + v * up, strict=True):
        set_limits(middle - half, middle + half)
    axes.set_box_aspect((1.0, 1.0, 1.0), zoom=1.0)
    axes.set_proj_type("ortho")
    axes.view_init(*VIEW)
    axes.set_axis_off()
    return edge


def _finished(figure, path, show: bool):
    if path is not None:
        titles = ", ".join(axes.get_title().replace("\n", " ") for axes in figure.axes)
        metadata = {"Description": titles} if Path(path).suffix == ".png" else None
        save_figure(figure, path, dpi=RESOLUTION, metadata=metadata)
    if show:
        show_figures()
    return figure
