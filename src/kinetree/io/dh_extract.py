"""Denavit-Hartenberg parameters of a serial chain, found from the lines of its joint axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from kinetree.arguments import a_model, a_name, a_truth_value, a_word, checked
from kinetree.errors import ModelError, TopologyError, UnsupportedError
from kinetree.forces.registry import POSITION_PARAMETERS
from kinetree.io.dh import CONVENTIONS, DHRow, DHTable, pose_matrix
from kinetree.joints import Cylindrical, Helical, Prismatic, Reversed, Revolute
from kinetree.joints.reversed import reversed_joint
from kinetree.model import Model
from kinetree.model.builder import JOINT_DATA
from kinetree.model.planar import refuse_planar
from kinetree.spatial import Inertia, Transform, Vector3
from kinetree.spatial.rotations import rx, rz

KINDS = {Revolute: "revolute", Prismatic: "prismatic", Helical: "screw", Cylindrical: "cylindrical"}
# Where axes count as parallel. The feet of common normals of axes at an angle s are L / s away, so rounding costs
# eps L / s; taking them as parallel costs s L. The two are equal at sqrt(eps).
PARALLEL = 1.5e-8
SNAPPED = 1e-13  # angles [rad], and lengths relative to the size of the chain
HELD = 1e-9  # the largest error of the table that is accepted, relative to the size of the chain
LIMITS = ("lower", "upper", "velocity_limit", "effort_limit")


@checked(model=a_model, convention=a_word, tip=a_name, positive_a=a_truth_value)
def to_dh(model: Model, convention: str, *, tip: str | None = None, positive_a: bool = False) -> DHTable:
    """The Denavit-Hartenberg parameters of a serial chain, wherever its joint axes are.

    Parameters
    ----------
    model : Model
    convention : {"standard", "modified"}
        See `dh`.
    tip : str, optional
        The frame at the end of the chain. By default the last body; needed where the tree branches.
    positive_a : bool
        Let every a that is not zero be positive, as Featherstone's figure 4.8 has it. By default the x axis turns as
        little as it can from row to row, which is how published tables look.

    Returns
    -------
    DHTable
        With names, limits and other data of the joints, and the inertias of the links unless the chain leaves bodies
        out. ``base`` has two parameters and ``tool`` four (modified; standard: four and two), so there are 4n + 6.

    Raises
    ------
    TopologyError
        If the tree branches and there is no tip; the message names the body and the branches.
    UnsupportedError
        If the chain has a joint that no row can represent.
    ModelError
        If two axes are so nearly parallel that no table with lengths of reasonable size represents them.

    Notes
    -----
    Where axes are parallel, the common normal is the one through the last origin (d = 0); where they intersect, a = 0;
    where they coincide, a = alpha = 0. The line of a prismatic axis passes through the body's origin.

    *Identities* ``dh(to_dh(model, c))`` has the same forward kinematics, and the same dynamics.

    *Source* Featherstone (2008), section 4.3.

    Examples
    --------
    >>> import kinetree as kt
    >>> print(kt.io.to_dh(kt.models.puma_like(), "modified", tip="tool"))
    modified Denavit-Hartenberg parameters of puma_like
    joint                 a [m]      alpha [rad]      d [m]      theta [rad]
    waist                     0                0          0                q
    shoulder                  0            -pi/2          0                q
    elbow                0.4318                0       0.15                q
    roll                 0.0203            -pi/2     0.4318                q
    pitch                     0             pi/2          0                q
    yaw                       0            -pi/2          0                q
    tool at (0, 0, 0.1) m, roll-pitch-yaw (0, 0, 0) rad
    """
    if convention not in CONVENTIONS:
        raise UnsupportedError(f"to_dh: convention={convention!r}; known: {', '.join(CONVENTIONS)}")
    refuse_planar(model, "to_dh")
    bodies = _path(model, tip)
    lines, X_0 = _lines(model, bodies)
    frame = model.frame(model.body_names[bodies[-1]] if tip is None else tip)
    X_end = frame.X_FB @ X_0[frame.body]
    standard = convention == "standard"
    walk = _Walk(lines, X_end, standard, positive_a)
    # A row has the screw along x after that along z (standard), or before it (modified).
    along_x = walk.X if standard else [(0.0, 0.0), *walk.X]
    steps = [
        DHRow(*map(float, (*x, d, theta))) for x, (theta, d) in zip(along_x, walk.Z[: len(lines) + 1], strict=False)
    ]
    screws = [step.X @ step.Z if standard else step.Z @ step.X for step in steps]
    at = list(accumulate(screws, lambda X, screw: screw @ X))
    masses = _inertias(model, bodies, lines, X_0, at)
    rows = [
        replace(step, joint=line.kind, pitch=line.pitch, name=model.body_names[line.body],
                joint_name=model.joint_name(line.body), data=_data(model, line.body), **inertia)
        for step, line, inertia in zip(steps[1:], lines, masses, strict=True)
    ]  # fmt: skip
    table = DHTable(tuple(rows), convention, screws[0], X_end @ at[-1].inverse(), model.name, tuple(model.gravity))
    _check(model, table, frame, bodies, lines)
    return table


@dataclass(frozen=True, slots=True)
class _Line:
    """The axis of a joint in the world, at zero."""

    body: int
    kind: str
    pitch: float
    point: np.ndarray
    direction: np.ndarray


def _path(model: Model, tip: str | None) -> list[int]:
    """The bodies from the world to the tip."""
    if tip is not None:
        end = model.frame(tip).body
    else:
        end = 0
        while children := model.children(end):
            if len(children) > 1:
                names = ", ".join(repr(model.body_names[i]) for i in children)
                raise TopologyError(
                    f"model {model.name!r} branches at {model.body_names[end]!r}, which carries {names}; a "
                    "Denavit-Hartenberg table is one chain: choose one, with tip= a frame or body at its end",
                    body=model.body_names[end],
                )
            end = children[0]
    bodies = list(model.support(end))
    if not any(model.joints[i].nv for i in bodies):
        raise TopologyError(f"model {model.name!r}: no joint moves between the world and {tip or 'its end'!r}")
    return bodies


def _lines(model: Model, bodies: list[int]) -> tuple[list[_Line], dict[int, Transform]]:
    X_0, lines = {0: Transform.identity()}, []
    for i in bodies:
        joint = model.joints[i]
        if isinstance(joint, Reversed):
            joint = reversed_joint(joint.joint)
        if joint.nv and type(joint) not in KINDS:
            raise UnsupportedError(
                f"joint {model.joint_name(i)!r} of model {model.name!r} is {joint!r}; Denavit-Hartenberg rows are "
                "revolute, prismatic, cylindrical or screw joints. kt.surgery.lock and with_base take joints out.",
                joint=model.joint_name(i),
            )
        X_0[i] = joint.transform([0.0] * joint.nq) @ model.X_T[i] @ X_0[model.parent[i]]
        if joint.nv:
            direction = np.array(list(X_0[i].E.inverse_apply(Vector3(*joint.axis))), dtype=float)
            point = np.array(list(X_0[i].r), dtype=float)
            lines.append(_Line(i, KINDS[type(joint)], float(getattr(joint, "pitch", 0.0)), point, direction))
    return lines, X_0


class _Walk:
    """Screws along z and x in turn, from the world to the tool, along the lines between them.

    Attributes
    ----------
    Z : list of (theta, d)
        Entry k about line k; line 0 is the world's z axis, the last is that of the tool.
    X : list of (a, alpha)
        Entry k leads from line k to line k + 1.
    """

    def __init__(self, lines: list[_Line], X_end: Transform, standard: bool, positive_a: bool) -> None:
        self.positive_a = positive_a
        R_end = np.array(X_end.E.matrix.rows, dtype=float).T
        p_end = np.array(list(X_end.r), dtype=float)
        targets = [*((line.point, line.direction) for line in lines), (p_end, R_end[:, 2])]
        self.size = max(1e-300, *(float(np.abs(point).max()) for point, _ in targets))
        self.Z: list[tuple[float, float]] = []
        self.X: list[tuple[float, float]] = []
        # The frame is the product of the screws so far, so that rounding does not add up.
        R, o = np.eye(3), np.zeros(3)
        for k, (point, direction) in enumerate(targets):
            end = (p_end, R_end[:, 0]) if standard and k == len(lines) else None
            R, o = self._step(R, o, point, direction, end)
        theta, d = self._about_z(R, o, R_end[:, 0], p_end)
        self.Z.append((theta, d))

    def _step(self, R, o, point, direction, end):
        """From a frame on one line to the frame on the next, whose x axis is their common normal."""
        x, z, r = R[:, 0], R[:, 2], point - o
        w = np.cross(z, direction)
        sine, flat = float(np.linalg.norm(w)), 0.0 if z @ direction > 0.0 else math.pi
        if sine > PARALLEL:
            foot = o + z * (np.dot(np.cross(r, direction), w) / sine**2)
            normal = w / sine
            a = float(r @ normal)
        else:
            foot = o + z * (r @ z) * (end is not None)
            across = r - z * (r @ z)
            a = float(np.linalg.norm(across))
            if a <= SNAPPED * self.size:
                normal = x if end is None else end[1] - z * (end[1] @ z)
                return self._move(R, o, normal / np.linalg.norm(normal), foot, 0.0, flat)
            normal = across / a
        if abs(a) < SNAPPED * self.size:
            a = 0.0
        if self._turn_round(R, normal, a):
            normal, a = -normal, -a
        alpha = math.atan2(float(w @ normal), float(z @ direction)) if sine > PARALLEL else flat
        return self._move(R, o, normal, foot, a, alpha)

    def _turn_round(self, R, normal, a: float) -> bool:
        if self.positive_a and a != 0.0:
            return a < 0.0
        along, across = float(R[:, 0] @ normal), float(R[:, 1] @ normal)
        return across < 0.0 if abs(along) < 1e-9 else along < 0.0

    def _move(self, R, o, normal, foot, a: float, alpha: float):
        theta, d = self._about_z(R, o, normal, foot)
        alpha = _right(alpha)
        self.Z.append((theta, d))
        self.X.append((a, alpha))
        o = o + R[:, 2] * d
        R = R @ _matrix(2, theta)
        return R @ _matrix(0, alpha), o + R[:, 0] * a

    def _about_z(self, R, o, x, foot) -> tuple[float, float]:
        theta = _right(math.atan2(float(R[:, 1] @ x), float(R[:, 0] @ x)))
        d = float((foot - o) @ R[:, 2])
        return theta, 0.0 if abs(d) < SNAPPED * self.size else d


def _right(angle: float) -> float:
    """The angle, to the last bit where it is a multiple of a quarter turn."""
    quarter = 0.5 * math.pi
    turns = round(angle / quarter)
    if abs(angle - turns * quarter) < SNAPPED:
        return {0: 0.0, 1: quarter, -1: -quarter}.get(turns, math.pi)
    return angle


def _matrix(axis: int, angle: float) -> np.ndarray:
    turn = (rx if axis == 0 else rz)(angle)
    return np.array(turn.matrix.rows, dtype=float).T


def _inertias(model: Model, bodies, lines, X_0, at) -> list[dict[str, object]]:
    """Mass, center and inertia of every row's link in the row's frame; None where the chain leaves bodies out."""
    if set(bodies) != set(model.outward()):
        return [{} for _ in lines]
    sums, k = [Inertia.zero() for _ in lines], -1
    for i in bodies:
        if model.joints[i].nv:
            k += 1
        if k >= 0:
            sums[k] = sums[k] + (at[k + 1] @ X_0[i].inverse()) @ model.I[i]
    rows = []
    for I in sums:
        com = I.com if I.m else Vector3(0.0, 0.0, 0.0)
        central = Transform(Transform.identity().E, com) @ I
        tensor = np.array(central.I.matrix.rows, dtype=float)
        rows.append({"mass": float(I.m), "com": tuple(map(float, com)), "inertia": tensor})
    return rows


def _data(model: Model, i: int) -> dict[str, object]:
    """Limits, friction, springs and drives of the joint."""
    data = {}
    for what in JOINT_DATA:
        position = what in POSITION_PARAMETERS
        values = np.array(getattr(model, what)[(model.q_slice if position else model.v_slice)[i]])
        if position:
            given = any(hasattr(force, what) for force in model.joint_forces[i])
        else:
            given = bool(np.any(np.isfinite(values) if what in LIMITS else values))
        if given:
            data[what] = values
    return data


def _check(model: Model, table: DHTable, frame, bodies: list[int], lines: list[_Line]) -> None:
    """Compare forward kinematics at a few positions; a table that deviates is not returned."""
    rng, worst, size = np.random.default_rng(0), 0.0, 1.0
    for _ in range(3):
        X, q = Transform.identity(), []
        for i in bodies:
            own = model.joints[i].random(rng) if model.joints[i].nq else []
            X, q = model.joints[i].transform(own) @ model.X_T[i] @ X, [*q, *own]
        pose = table.pose(q)
        worst = max(worst, float(np.abs(pose - pose_matrix(frame.X_FB @ X)).max()))
        size = max(size, float(np.abs(pose[:3, 3]).max()))
    if worst > HELD * size:
        angles = {}
        for one, two in zip(lines, lines[1:], strict=False):
            sine = float(np.linalg.norm(np.cross(one.direction, two.direction)))
            if sine:
                angles[sine] = (model.joint_name(one.body), model.joint_name(two.body))
        near = f": axes {angles[min(angles)]} are parallel but for {min(angles):.3g} rad" if angles else ""
        raise ModelError(
            f"model {model.name!r} has no good Denavit-Hartenberg table (the best is off by {worst:.3g}){near}, and "
            "the common normal of such axes is far away",
            error=worst,
        )
