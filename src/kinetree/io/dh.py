"""Denavit-Hartenberg tables: two conventions, and the models that they describe.

Both conventions write a chain as alternating screws about the z and x axes of its frames,
``Z(theta_0, d_0) X(a_1, alpha_1) Z(theta_1, d_1) X(a_2, alpha_2) ... Z(theta_n, d_n) X(a_n+1, alpha_n+1)
Z(theta_n+1, d_n+1)``, 4n + 6 numbers in all, with the motion of joint i in the i-th Z. They differ in their rows:

* standard (distal; Denavit and Hartenberg, Paul): row i is ``Z(theta, d) X(a, alpha)``; joint i is about z of frame
  i - 1;
* modified (proximal, Craig, Khalil): row i is ``X(a, alpha) Z(theta, d)``; joint i is about z of frame i. Craig writes
  a_(i-1), alpha_(i-1) for the a, alpha of row i, Featherstone a_i, alpha_i; the rows are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from kinetree.arguments import a_mapping, a_name, a_sequence, a_shape, a_word, array, checked, choice, instance, number
from kinetree.errors import ArgumentError, ModelError, ShapeError, UnsupportedError, unknown_name
from kinetree.io.number_text import rpy_of
from kinetree.joints import Cylindrical, Fixed, Helical, Joint, Prismatic, Revolute
from kinetree.model import Model, ModelBuilder
from kinetree.model.builder import JOINT_DATA, WORLD, as_transform
from kinetree.model.model import GRAVITY
from kinetree.model.parts import numeric, pose_of_transform
from kinetree.spatial import IdentityRotation, Transform, Vector3
from kinetree.spatial.rotations import rx, rz

CONVENTIONS = ("standard", "modified")
JOINTS = {"revolute": Revolute, "prismatic": Prismatic, "cylindrical": Cylindrical, "screw": Helical, "fixed": Fixed}
# Rotations this near to quarter turns are meant as such: pi / 2 is no float.
EXACT = 1e-15


@dataclass(frozen=True, slots=True, eq=False)
class DHRow:
    """One joint and link of a Denavit-Hartenberg table.

    Parameters
    ----------
    a, alpha, d, theta : float (scalars)
        Length along x [m], twist about x [rad], offset along z [m], angle about z [rad]. The joint's position adds to
        theta (revolute, screw), to d (prismatic), or to both (cylindrical: q = (angle, displacement)).
    joint : {"revolute", "prismatic", "cylindrical", "screw", "fixed"}
    pitch : float
        Of a screw: displacement per angle [m/rad], d + pitch q.
    name, joint_name : str, optional
        Of link and joint; by default "link1" and "joint1" for the first row.
    mass : float, optional
        [kg].
    com : (3,) array
        Center of mass in the row's frame [m].
    inertia : (3, 3) or (3,) array, optional
        Rotational inertia about the center of mass in the row's axes, or its diagonal [kg m^2].
    data : mapping
        Limits, friction, armature, ..., as in ``ModelBuilder.add_body``; in rows given as mappings, keys of their own.
    """

    a: float
    alpha: float
    d: float
    theta: float
    joint: str = "revolute"
    pitch: float = 0.0
    name: str | None = None
    joint_name: str | None = None
    mass: float | None = None
    com: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: object = None
    data: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what in ("a", "alpha", "d", "theta", "pitch"):
            number(what, getattr(self, what))
        for what in ("name", "joint_name"):
            if getattr(self, what) is not None:
                a_name(what, getattr(self, what))
        choice("joint", self.joint, JOINTS, "a DH table")
        a_mapping("data", self.data)

    @property
    def kinematic_joint(self) -> Joint:
        """The joint about, or along, z."""
        return Helical(pitch=self.pitch) if self.joint == "screw" else JOINTS[self.joint]()

    @property
    def X(self) -> Transform:
        """The constant screw along x: coordinates before it to those after it."""
        return Transform(_turn(rx, self.alpha), Vector3(float(self.a), 0.0, 0.0))

    @property
    def Z(self) -> Transform:
        """The constant screw along z."""
        return Transform(_turn(rz, self.theta), Vector3(0.0, 0.0, float(self.d)))


@dataclass(frozen=True, slots=True, eq=False)
class DHTable:
    """A serial chain as Denavit-Hartenberg rows between a base and a tool.

    Parameters
    ----------
    rows : tuple of DHRow
    convention : {"standard", "modified"}
    base : Transform
        From world coordinates to those of frame 0.
    tool : Transform
        From the coordinates of the last row's frame to those of the tool.
    name : str
    gravity : tuple of 3 floats
        In world coordinates [m/s^2].

    Examples
    --------
    >>> table = DHTable.of([(0.0, np.pi / 2, 0.3, 0.0), (0.5, 0.0, 0.0, 0.0)], "standard")
    >>> print(table)
    standard Denavit-Hartenberg parameters of dh
    joint             a [m]      alpha [rad]      d [m]      theta [rad]
    joint1                0             pi/2        0.3                q
    joint2              0.5                0          0                q
    >>> table.pose([0.0, np.pi / 2]).round(12)[:3, 3].tolist()
    [0.0, 0.0, 0.8]
    """

    rows: tuple[DHRow, ...]
    convention: str
    base: Transform = field(default_factory=Transform.identity)
    tool: Transform = field(default_factory=Transform.identity)
    name: str = "dh"
    gravity: tuple[float, ...] = GRAVITY

    def __post_init__(self) -> None:
        a_sequence("DHTable: rows", self.rows)
        for k, row in enumerate(self.rows, start=1):
            instance(f"DHTable: row {k} of rows", row, DHRow, "a DHRow; DHTable.of takes mappings and sequences, too")
        choice("DHTable: convention", self.convention, CONVENTIONS)
        for what in ("base", "tool"):
            instance(f"DHTable: {what}", getattr(self, what), Transform, "a Transform")
        a_name("DHTable: name", self.name)
        array("DHTable: gravity", self.gravity, shape=(3,))

    @classmethod
    def of(cls, table, convention: str | None, **changes) -> DHTable:
        """A table from any of the forms that `dh` takes."""
        if isinstance(table, DHTable):
            if convention not in (None, table.convention):
                raise ModelError(f"dh: the table is {table.convention}, convention={convention!r} contradicts it; "
                                 "to_dh(dh(table), convention=...) converts", convention=convention)  # fmt: skip
            return replace(table, **changes) if changes else table
        if convention not in CONVENTIONS:
            raise UnsupportedError(
                f"dh: convention={convention!r}; use 'standard' (row: Rz(theta) Tz(d) Tx(a) Rx(alpha)) or 'modified' "
                "(row: Rx(alpha) Tx(a) Rz(theta) Tz(d), Craig's and Featherstone's)",
                convention=convention,
            )
        a_sequence("dh: table", table)
        rows = tuple(_row(k, entry) for k, entry in enumerate(table, start=1))
        if not rows:
            raise ModelError("dh: the table has no rows; a row is (a, alpha, d, theta) or a DHRow")
        return cls(rows, convention, **changes)

    @property
    def nq(self) -> int:
        """Number of joint positions."""
        return sum(row.kinematic_joint.nq for row in self.rows)

    @property
    def n_parameters(self) -> int:
        """4n + 6: four per joint, two for the base, and four for the tool (modified; standard: four and two).

        Notes
        -----
        Source: Featherstone (2008), section 4.3, for a base frame that is anywhere and a tool in any pose.
        """
        return 4 * sum(row.joint != "fixed" for row in self.rows) + 6

    def pose(self, q) -> np.ndarray:
        """The tool in the world, as the product of the rows' 4 x 4 matrices.

        Parameters
        ----------
        q : (nq,) array
            Joint positions [rad or m].

        Returns
        -------
        (4, 4) array
            Homogeneous matrix of pose [1, m].
        """
        q = numeric("q", q)
        if q.shape != (self.nq,):
            raise ShapeError(f"q has shape {q.shape}, expected ({self.nq},), the joints of the table", shape=q.shape)
        X, rest = self.base, q.tolist()
        for row in self.rows:
            joint = row.kinematic_joint
            own, rest = rest[: joint.nq], rest[joint.nq :]
            moved = joint.transform(own) @ row.Z
            X = (row.X @ moved if self.convention == "standard" else moved @ row.X) @ X
        return pose_matrix(self.tool @ X)

    def __str__(self) -> str:
        return _as_text(self)


@checked(convention=a_word, name=a_name, gravity=a_shape(3))
def dh(table, convention: str | None = None, *, name: str | None = None, base=None, tool=None, gravity=None) -> Model:
    """A model from Denavit-Hartenberg parameters.

    Parameters
    ----------
    table : sequence of rows, or DHTable
        A row is a `DHRow`, a mapping with its fields, or a sequence (a, alpha, d, theta) in [m, rad, m, rad] that the
        joint's kind may follow: "revolute", "prismatic", "cylindrical", "screw" (with its pitch [m/rad] after it) or
        "fixed".
    convention : {"standard", "modified"}
        Required, unless the table is a `DHTable`. Standard: a row is Rz(theta) Tz(d) Tx(a) Rx(alpha). Modified (Craig):
        a row is Rx(alpha) Tx(a) Rz(theta) Tz(d), with the numbers that Craig calls a_(i-1), alpha_(i-1), d_i, theta_i
        and Featherstone a_i, alpha_i, d_i, theta_i.
    name : str, optional
        Name of the model; "dh" by default.
    base, tool : Transform, (xyz, rpy), (R, p) or (4, 4) array, optional
        Pose of frame 0 in the world, and of the tool in the last frame [m, rad]. Featherstone's d_0 and theta_0
        are ``base=((0, 0, d0), (0, 0, theta0))``.
    gravity : (3,) array, optional
        In world coordinates [m/s^2].

    Returns
    -------
    Model
        The frame with the name of a link is that of its row; "tool" is the tool. Rows without any mass give a model for
        kinematics: every joint then has an armature of 1, with a note in the report. A link that is
        itself named "tool" makes it "tool_frame".

    Raises
    ------
    UnsupportedError
        Without a convention.
    ModelError, UnknownNameError

    Notes
    -----
    *Identities* The pose of "tool" is ``DHTable.pose(q)``, the product of 4 x 4 matrices. Modified:
    ``X_T(i) = xlt([a_i, 0, d_i]) rotx(alpha_i)`` for revolute joints.

    *Source* Featherstone (2008), section 4.3 and figure 4.8 (the modified convention); Denavit and Hartenberg (1955).
    *Differs* a constant theta of a prismatic joint, and a theta that adds to q, stay in the tree transform; there are
    bases, tools, and lengths a of either sign.

    See Also
    --------
    to_dh : the inverse.

    Examples
    --------
    >>> import kinetree as kt
    >>> right = np.pi / 2
    >>> arm = kt.dh([(0, right, 0.0892, 0), (-0.425, 0, 0, 0), (-0.392, 0, 0, 0), (0, right, 0.109, 0),
    ...              (0, -right, 0.0947, 0), (0, 0, 0.0823, 0)], "standard")
    >>> kt.pose(arm, arm.neutral(), frame="tool").p_WF.round(4).tolist()
    [-0.817, -0.1913, -0.0055]
    """
    changes = {"name": name, "gravity": gravity}
    changes |= {what: as_transform(f"dh: {what}", X) for what, X in (("base", base), ("tool", tool)) if X is not None}
    table = DHTable.of(table, convention, **{what: value for what, value in changes.items() if value is not None})
    rows = table.rows
    bare = all(row.mass is None and row.inertia is None and "armature" not in row.data for row in rows)
    builder = ModelBuilder(table.name, gravity=table.gravity)
    parent, here = WORLD, table.base  # from the parent's coordinates to the last frame
    for k, row in enumerate(rows, start=1):
        link, joint_name, joint = row.name or f"link{k}", row.joint_name or f"joint{k}", row.kinematic_joint
        standard = table.convention == "standard"
        X_T = (row.Z if standard else row.Z @ row.X) @ here
        frame = row.X if standard else Transform.identity()  # from the joint's frame to the row's
        inertia = _seen_from(row, frame.inverse(), link)
        data = dict(row.data)
        if bare and joint.nv:
            data["armature"] = 1.0
        builder.add_body(link, parent, joint, joint_name, X_T, **inertia, **data)
        if standard:
            builder.add_frame(link, link, frame)
        parent, here = link, frame
    if bare:
        builder.note(
            "warning", "dh", "no row has a mass: a model for kinematics; every joint has an armature of 1, so that the "
            "mass matrix is the identity",
        )  # fmt: skip
    tool_name = "tool"
    while tool_name in builder._bodies:
        tool_name += "_frame"
    builder.add_frame(tool_name, parent, table.tool @ here)
    return builder.build()


def _seen_from(row: DHRow, X: Transform, link: str) -> dict[str, object]:
    """Mass, center and inertia of a row in the coordinates that X leads to."""
    com = numeric(f"link {link!r}: com", row.com)
    if com.shape != (3,):
        raise ModelError(f"link {link!r}: com has shape {com.shape}, expected (3,) [m]")
    I_c = row.inertia
    if I_c is not None:
        I_c = numeric(f"link {link!r}: inertia", I_c)
        I_c = np.diag(I_c) if I_c.shape == (3,) else I_c
        if I_c.shape == (3, 3) and not isinstance(X.E, IdentityRotation):
            E = np.array(X.E.matrix.rows, dtype=float)
            I_c = E @ I_c @ E.T
            I_c = 0.5 * (I_c + I_c.T)
    place = X.apply_point(Vector3(*com.tolist()))
    return {"mass": 0.0 if row.mass is None else row.mass, "com": list(place), "inertia": I_c}


def _row(k: int, entry) -> DHRow:
    """A row from the user's entry."""
    names = [f.name for f in fields(DHRow) if f.name != "data"]
    try:
        if isinstance(entry, DHRow):
            row = entry
        elif isinstance(entry, Mapping):
            for key in entry:
                if key not in (*names, *JOINT_DATA):
                    raise unknown_name("entry", key, [*names, *JOINT_DATA], f"row {k} of a DH table")
            if missing := [key for key in ("a", "alpha", "d", "theta") if key not in entry]:
                raise ModelError(f"dh: row {k} lacks {', '.join(missing)}", row=k)
            data = {key: value for key, value in entry.items() if key in JOINT_DATA}
            row = DHRow(**{key: value for key, value in entry.items() if key in names}, data=data)
        else:
            values = list(entry) if isinstance(entry, Iterable) else []
            if not 4 <= len(values) <= 6:
                message = f"dh: row {k} is {entry!r}, expected (a, alpha, d, theta), then its joint and pitch"
                raise ModelError(message, row=k)
            row = DHRow(*values)
    except ArgumentError as error:
        raise ModelError(f"dh: row {k}: {error}", row=k) from None
    if row.pitch and row.joint != "screw":
        raise ModelError(f"dh: row {k}: pitch {row.pitch:g} of a {row.joint} joint; only screws have one", row=k)
    return row


def _turn(rotation, angle: float):
    """A rotation whose quarter turns are exact, so that right angles are structure."""
    angle = float(angle)
    if angle == 0.0:
        return IdentityRotation()
    turned = rotation(angle)
    c, s = (float(round(x)) if abs(x - round(x)) < EXACT else x for x in (turned.c, turned.s))
    return type(turned)(turned.axis, c, s)


def pose_matrix(X: Transform) -> np.ndarray:
    """The 4 x 4 matrix of the pose of the frame to which X leads [1, m]."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = pose_of_transform(X)
    return pose


# As text ----------------------------------------------------------------------------------------------------------


def _as_text(table: DHTable) -> str:
    """Rows and columns, angles as fractions of pi where they are some; base and tool where there are any."""
    columns = "{:<16} {:>10} {:>16} {:>10} {:>16}".format
    lines = [columns("joint", "a [m]", "alpha [rad]", "d [m]", "theta [rad]")]
    for k, row in enumerate(table.rows, start=1):
        turns, slides = row.joint in ("revolute", "cylindrical", "screw"), row.joint in ("prismatic", "cylindrical")
        d, theta = _with_q(_length_text(row.d), slides), _with_q(_angle_text(row.theta), turns)
        if row.joint == "screw":
            d = f"{d} + {row.pitch:g} q"
        lines.append(columns(row.joint_name or f"joint{k}", _length_text(row.a), _angle_text(row.alpha), d, theta))
    title = f"{table.convention} Denavit-Hartenberg parameters of {table.name}"
    lines = [title, _pose_text("base", table.base), *lines, _pose_text("tool", table.tool)]
    return "\n".join(filter(None, lines))


def _angle_text(angle: float) -> str:
    """An angle [rad], as a fraction of pi where it is one.

    Examples
    --------
    >>> _angle_text(-math.pi / 2), _angle_text(0.75 * math.pi), _angle_text(1.2)
    ('-pi/2', '3 pi/4', '1.2')
    """
    for part in (1, 2, 3, 4, 6):
        times = angle * part / math.pi
        if abs(times - round(times)) < 1e-9 and round(times):
            n = "" if abs(round(times)) == 1 else f"{abs(round(times))} "
            return f"{'-' if times < 0 else ''}{n}pi" + (f"/{part}" if part > 1 else "")
    return _length_text(angle)


def _length_text(x: float) -> str:
    return f"{0.0 if abs(x) < 1e-12 else x:.6g}"


def _with_q(constant: str, moves: bool) -> str:
    if not moves:
        return constant
    return "q" if constant == "0" else f"q - {constant[1:]}" if constant.startswith("-") else f"q + {constant}"


def _pose_text(what: str, X: Transform) -> str:
    R, p = pose_of_transform(X)
    if np.array_equal(R, np.eye(3)) and not p.any():
        return ""
    angles = ", ".join(map(_angle_text, rpy_of(R)))
    return f"{what} at ({', '.join(map(_length_text, p))}) m, roll-pitch-yaw ({angles}) rad"
