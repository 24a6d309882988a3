"""A mechanism that moves in one plane: the plane, found from its joints, and the model over the planar algebra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kinetree.constraints import Constraint, LoopJoint, PositionConstraint
from kinetree.constraints.planar_loop_joint import PlanarLoopJoint
from kinetree.errors import ModelError, UnsupportedError
from kinetree.joints.contract import Joint, SameCoordinates, of_the_joint
from kinetree.model.gears import gears_in_plane
from kinetree.model.model import Model
from kinetree.model.parts import read_only
from kinetree.model.tree import Tree
from kinetree.spatial import (
    IdentityRotation,
    Inertia,
    PlanarInertia,
    PlanarMotion,
    PlanarTransform,
    Rotation,
    Symmetric3,
    Transform,
    Vector2,
    Vector3,
    rotation_from_matrix,
)
from kinetree.spatial.algebra import PLANAR
from kinetree.state_kinematics import Kinematics

_SAME = 1e-9  # directions that differ by less are the same; files give axes with some ten digits
_STATES = 3  # positions at which a joint's motion is evaluated


def refuse_planar(model, what: str) -> None:
    """Raise UnsupportedError, which names the call, if the model is a planar one."""
    if model.algebra.dimension != 6:
        raise UnsupportedError(
            f"{what} needs a spatial model and {model.name!r} is planar; take model.spatial, and make the result "
            "planar again with .planar()",
            model=model.name,
        )


@dataclass(frozen=True, slots=True)
class Plane:
    """The plane in which all bodies move.

    Attributes
    ----------
    normals : tuple of (3,) arrays
        For each body, the plane's normal in the body's coordinates [1].
    before : tuple of (3,) arrays
        The same in the predecessor frame of each joint.
    """

    normals: tuple[np.ndarray, ...]
    before: tuple[np.ndarray, ...]


def plane_of(model) -> Plane:
    """The plane of a mechanism.

    Parameters
    ----------
    model : Model

    Raises
    ------
    ModelError
        A joint leaves the plane in which the others move; the message names both.

    Notes
    -----
    The first joint that turns gives the normal; if none does, the first two that slide along different lines. If all
    slide along one line, the plane also contains gravity. Of the two normals it is the one that makes the plane's axes
    (y, z), (x, z) or (x, y) of the world, if the plane is one of these.
    """
    rng = np.random.default_rng(0)
    states = [_motions(model, rng) for _ in range(_STATES)]
    normal, by = _normal(model, states[0])
    for _, motions in states:
        for i, angular, linear in motions:
            turned, slid = np.linalg.norm(np.cross(angular, normal)), abs(linear @ normal)
            if max(turned, slid) > _SAME:
                _refuse(model, i, turned > _SAME, normal, by)
    turns = states[0][0]
    return Plane(tuple(_clean(body @ normal) for body, _ in turns), tuple(_clean(joint @ normal) for _, joint in turns))


def axes_across(normal: np.ndarray) -> np.ndarray:
    """The axes of a plane as rows: x and y in the plane, right-handed with the normal.

    Parameters
    ----------
    normal : (3,) array
        [1].

    Returns
    -------
    (3, 3) array
        The first row is the projection of the frame's x axis, or of its y axis if x is the closest to the normal.
    """
    k = int(np.argmax(np.abs(normal)))
    start = np.eye(3)[1 if k == 0 else 0]
    x = start - normal * (start @ normal)
    x = _clean(x / np.linalg.norm(x))
    return np.array([x, np.cross(normal, x), normal])


def _clean(direction: np.ndarray) -> np.ndarray:
    """A unit vector without the residues of rounding, so that normals along axes give rotations that cost nothing."""
    direction = np.where(np.abs(direction) < 1e-12, 0.0, direction)
    direction = np.where(np.abs(np.abs(direction) - 1.0) < 1e-12, np.sign(direction), direction)
    return direction / np.linalg.norm(direction)


def _motions(model, rng):
    """At a random position: rotations from world coordinates to every body and predecessor frame, and motions.

    The motions are ``(joint, angular, linear)`` in world axes, of every freedom and of rheonomic joints.
    """
    turns, found = [(np.eye(3), np.eye(3))] + [None] * (model.nb - 1), []
    for i in model.outward():
        joint = model.joints[i].at(0.375)  # any time
        q = joint.random(rng)
        before = _matrix(model.X_T[i]) @ turns[model.parent[i]][0]
        body = _matrix(joint.transform(q)) @ before
        turns[i] = body, before
        for S in (*joint.motion_subspace(q), joint.sigma(q)):
            angular, linear = (np.array([float(x) for x in part]) @ body for part in (S.angular, S.linear))
            found.append((i, angular, linear))
    return turns, found


def _matrix(X) -> np.ndarray:
    return np.array(X.E.matrix.rows, dtype=float)


def _normal(model, state):
    """The normal in the world, and the joints that determine it."""
    turning = [(i, angular) for i, angular, _ in state[1] if np.linalg.norm(angular) > _SAME]
    if turning:
        i, normal = turning[0]
        return _oriented(normal), f"joint {model.joint_name(i)!r} turns about"
    lines = [(i, linear) for i, _, linear in state[1] if np.linalg.norm(linear) > _SAME]
    for j, line in lines[1:]:
        across = np.cross(lines[0][1], line)
        if np.linalg.norm(across) > _SAME:
            names = " and ".join(repr(model.joint_name(k)) for k in sorted({lines[0][0], j}))
            return _oriented(across), f"joints {names} slide across"
    if not lines:
        return np.array([0.0, 0.0, 1.0]), "no joint moves across"
    across = np.cross(lines[0][1], np.array(list(model.gravity), dtype=float))
    if np.linalg.norm(across) < _SAME:  # along the line of gravity, or there is none: any plane that contains the line
        across = axes_across(lines[0][1] / np.linalg.norm(lines[0][1]))[1]
    return _oriented(across), f"joint {model.joint_name(lines[0][0])!r} slides across"


def _oriented(normal: np.ndarray) -> np.ndarray:
    normal = _clean(normal / np.linalg.norm(normal))
    k = int(np.argmax(np.abs(normal)))
    return normal * np.sign(normal[k]) * (1.0, -1.0, 1.0)[k]


def _refuse(model, i, turns, normal, by):
    name = model.joint_name(i)
    shown = "({:.4g}, {:.4g}, {:.4g})".format(*(normal + 0.0))
    raise ModelError(
        f"model {model.name!r} is not planar: joint {name!r} ({model.joints[i]!r}) "
        f"{'turns about another axis' if turns else 'slides along the normal'}, so it leaves the plane with the normal "
        f"{shown} in the world, which {by}. Planar mechanisms have revolute joints about one axis, prismatic ones "
        "across it, planar and fixed ones; use the spatial model.",
        joint=name,
    )


_OWN = ("functions", "_reframed", "_numbers", "__weakref__")


class PlanarModel(Model):
    """A mechanism that moves in one plane, over vectors of three numbers; ``model.planar()`` makes it.

    All algorithms take it like a Model, compiled, batched and interpreted. Joint coordinates and all that belongs to
    them (q, v, a, tau, M) are the model's own. Vectors of bodies are planar: twists (w, v_x, v_y), wrenches (n, f_x,
    f_y), points and rotations of the plane, in the axes of ``axes_of(frame)``; inertias have four parameters.

    Parameters
    ----------
    model : Model
        Every joint moves in one plane.

    Attributes
    ----------
    spatial : Model
        The model that it was made of.

    Raises
    ------
    ModelError
        A joint leaves the plane; the message names it.

    Notes
    -----
    Source: Featherstone (2008), section 2.16. Offsets along the normal, the inertia out of the plane and gravity
    across it have no part in the motion and are left out: the joints' constraint forces balance them.

    Compiled code is not faster: for the spatial model, too, it leaves out the zeros of the plane.

    Examples
    --------
    >>> import kinetree as kt
    >>> pendulum = kt.models.double_pendulum().planar()  # it swings in the x-z plane
    >>> pendulum.gravity
    Vector2(0.0, -9.81)
    >>> R, p = kt.forward_kinematics(pendulum, [0.0, 0.0])
    >>> p.shape, float(p[2, 1])
    ((3, 2), -1.0)
    """

    __slots__ = ("spatial", "_axes")

    def __init__(self, model: Model) -> None:
        if model.contacts:
            raise ModelError(
                f"model {model.name!r} has contacts ({model.contacts[0].name}, ...), which are computed in space "
                "alone. Use the spatial model, or model.replace(contacts=())"
            )
        plane = plane_of(model)
        names = [name for cls in (Tree, Model) for name in cls.__slots__ if name not in _OWN]
        self._set(**{name: getattr(model, name) for name in names})
        axes = [_rotation(axes_across(normal)) for normal in plane.normals]  # from each body's coordinates
        before = [_rotation(axes_across(normal)) for normal in plane.before]
        joints = [PlanarJoint(model.joints[i], before[i], axes[i]) for i in model.outward()]
        frames, frame_axes, kin = [], [], _somewhere(model)
        for frame in model.frames:
            E = np.array(frame.X_FB.E.matrix.rows, dtype=float)
            normal = plane.normals[frame.body]
            R = axes[frame.body] if frame.is_identity else _rotation(axes_across(E @ normal))
            height = _clean_height((axes[0] @ kin.point(frame.name)).z)
            frames.append(PlanarFrame(frame.name, frame.body, _in_plane(R, frame.X_FB, axes[frame.body]), R, height))
            frame_axes.append(read_only(np.array(R.matrix.rows, dtype=float)))
        self._set(
            spatial=model,
            algebra=PLANAR,
            joints=(None, *joints),
            X_T=(PlanarTransform.identity(), *(
                _in_plane(before[i], model.X_T[i], axes[model.parent[i]]) for i in model.outward()
            )),
            I=tuple(_planar_inertia(R, I) for R, I in zip(axes, model.I, strict=True)),
            gravity=_along(axes[0], model.gravity),
            frames=tuple(frames),
            constraints=(*(c for c in model.constraints if not c.frames), *_loops(model, plane, frame_axes)),
            **gears_in_plane(model, axes),
            X_user=(PlanarTransform.identity(),) * model.nb,
            functions={},
            _axes=tuple(frame_axes),
            _reframed=None,
            _numbers=None,
            _loop_rows=None,
            _clusters=None,
        )  # fmt: skip

    def axes_of(self, frame: str | int) -> np.ndarray:
        """The axes in which planar vectors of a frame are given.

        Parameters
        ----------
        frame : str or int
            Name or number of a frame or body; 0 is the world.

        Returns
        -------
        (3, 3) array
            Rows are the plane's x and y axes and its normal in the coordinates of the spatial model's frame [1]: ``E @
            r`` has the planar coordinates first. Of a spatial vector, ``(E @ w)[2], (E @ v)[:2]`` is the planar one.
        """
        return self._axes[self.frames.index(self.frame(frame))]

    def planar(self) -> PlanarModel:
        """Itself."""
        return self

    def reframed(self) -> PlanarModel:
        """Itself: in the plane all axes have the same cost."""
        return self

    def replace(self, **changes) -> PlanarModel:
        """A copy with some of the data changed, given as for the spatial model or as this one has them."""
        return PlanarModel(self.spatial.replace(**{what: self._in_space(what, x) for what, x in changes.items()}))

    def with_constraints(self, *constraints: Constraint) -> PlanarModel:
        """A copy with further constraints, given as for the spatial model."""
        return PlanarModel(self.spatial.with_constraints(*constraints))

    def _in_space(self, what: str, value):
        """Planar gravity, placements and inertias in space: they keep the parts across the plane."""
        axes = [rotation_from_matrix(E.tolist()) for E in self._axes[: self.nb]]
        if what == "gravity" and isinstance(value, Vector2):
            return list(_raised(axes[0], value, self.spatial.gravity))
        if what == "X_T" and isinstance(value[0], PlanarTransform):
            places = zip(value, self.spatial.X_T, (0, *self.parent[1:]), strict=True)
            return tuple(Transform(old.E, _raised(axes[p], new.r, old.r)) for new, old, p in places)
        if what == "I" and isinstance(value[0], PlanarInertia):
            bodies = zip(value, self.I, self.spatial.I, axes, strict=True)
            return tuple(old if _equal(new, flat) else _raised_inertia(R, new, old) for new, flat, old, R in bodies)
        if what == "constraints":
            return tuple(self._raised_loop(c) if isinstance(c, PlanarLoopJoint) else c for c in value)
        return value

    def _raised_loop(self, c: PlanarLoopJoint) -> LoopJoint:
        """The loop joint with offsets of the plane at the heights of the old ones."""
        sides = ((c.predecessor, c.loop.X_P, c.X_P), (c.successor, c.loop.X_S, c.X_S))
        P, S = (Transform(X.E, _raised(_rotation(self.axes_of(name)), flat.r, X.r)) for name, X, flat in sides)
        return replace(c.loop, X_P=P, X_S=S)

    def _arguments(self) -> dict[str, object]:
        refuse_planar(self, "this")

    def __reduce__(self):
        return PlanarModel, (self.spatial,)

    def __repr__(self) -> str:
        return f"<PlanarModel {self.name!r}: {self.nb - 1} moving bodies, nq={self.nq}, nv={self.nv}>"


def _loops(model: Model, plane: Plane, frame_axes: Sequence[np.ndarray]) -> Iterator[Constraint]:
    """The constraints of frames, loop joints those in the plane; ModelError for joints that leave it, and rows by hand.

    Laws over leaves stay as they are: `Kinematics.point_motion` is that in space.
    """
    numbers, kin = {frame.name: k for k, frame in enumerate(model.frames)}, _somewhere(model)
    for c in model.constraints:
        if not c.frames:
            continue
        if isinstance(c, PositionConstraint):
            yield c
            continue
        if not isinstance(c, LoopJoint):
            raise ModelError(
                f"model {model.name!r} is not planar: its {c} is over vectors of space; use the spatial model"
            )
        sides = []
        for name, X in ((c.predecessor, c.X_P), (c.successor, c.X_S)):
            axes = _rotation(frame_axes[numbers[name]])
            own = _rotation(axes_across(_clean(_matrix(X) @ frame_axes[numbers[name]][2])))
            sides.append((own, _in_plane(own, X, axes)))
        (before, X_P), (after, X_S) = sides
        height = float((before @ kin.relative(c.predecessor, c.successor, c.X_P, c.X_S).X.r).z)
        loop = PlanarLoopJoint(c, X_P, X_S, before, after, _clean_height(height))
        yield replace(loop, kept=_rows_in_plane(model, loop))


def _somewhere(model: Model) -> Kinematics:
    """The model at one position and time: heights across the plane are the same at all of them."""
    return Kinematics(model.at(0.0) if model.time_dependent else model, model.neutral().tolist())


def _clean_height(height) -> float:
    return float(height) if abs(height) > _SAME else 0.0


def _rows_in_plane(model: Model, loop: PlanarLoopJoint) -> tuple[int, ...]:
    """Numbers of the loop's rows that act in the plane; the others have to hold wherever the bodies are in it."""
    rng, size, error = np.random.default_rng(0), 0.0, 0.0
    for _ in range(_STATES):
        angle, x, y = rng.uniform(-1.0, 1.0, 3).tolist()
        delta, T = loop.loop.joint.at(0.0).implicit(loop.raised(PlanarTransform.from_angle(angle, Vector2(x, y))))
        parts = [(loop.after @ T_n.angular, loop.after @ T_n.linear) for T_n in T]
        size = np.maximum(size, [max(abs(n.z), abs(f.x), abs(f.y)) for n, f in parts])
        error = np.maximum(error, np.abs(delta))
    for n, (acts, off) in enumerate(zip(size > _SAME, error, strict=True)):
        if not acts and off > 1e3 * _SAME:
            raise ModelError(
                f"model {model.name!r} is not planar: row {n} of its {loop} is across the plane and off by {off:.3g} m "
                "or rad; expected a joint that moves in the plane, between frames at the same height",
                joint=loop.name,
            )
    return tuple(np.flatnonzero(size > _SAME).tolist())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlanarJoint(SameCoordinates, Joint):
    """A joint seen in the plane: planar transform and motions; q and v are those of the joint.

    Parameters
    ----------
    joint : Joint
        It moves in the plane.
    before, after : Rotation
        From the coordinates of its predecessor and successor to axes whose first two are in the plane.
    """

    joint: Joint
    before: Rotation
    after: Rotation

    def __repr__(self) -> str:
        turns = [R.matrix.rows for R in (self.before, self.after) if not isinstance(R, IdentityRotation)]
        return f"PlanarJoint({', '.join(map(repr, (self.joint, *turns)))})"

    def at(self, t) -> PlanarJoint:
        """The joint at a time."""
        return PlanarJoint(self.joint.at(t), self.before, self.after)

    def straight_step(self, q: Sequence, v: Sequence, h) -> tuple[list, list]:
        """That of the joint."""
        return self.joint.straight_step(q, v, h)

    def straight_rate(self, q: Sequence, v: Sequence) -> list:
        """That of the joint."""
        return self.joint.straight_rate(q, v)

    # Planar parts

    def transform(self, q: Sequence) -> PlanarTransform:
        """X_J in the plane."""
        return _in_plane(self.after, self.joint.transform(q), self.before)

    def motion_subspace(self, q: Sequence) -> tuple[PlanarMotion, ...]:
        """The columns of S in the plane."""
        return self._motions(self.joint.motion_subspace(q))

    def velocity(self, q: Sequence, v: Sequence) -> PlanarMotion:
        """v_J in the plane."""
        return self._motion(self.joint.velocity(q, v))

    def bias(self, q: Sequence, v: Sequence) -> PlanarMotion:
        """c_J in the plane."""
        return self._motion(self.joint.bias(q, v))

    def sigma(self, q: Sequence) -> PlanarMotion:
        """The rheonomic part of the velocity, in the plane."""
        return self._motion(self.joint.sigma(q))

    def subspace_rate(self, q: Sequence, v: Sequence) -> tuple[PlanarMotion, ...]:
        """Apparent rates of the columns in the plane."""
        return self._motions(self.joint.subspace_rate(q, v))

    def subspace_along(self, q: Sequence, v: Sequence) -> tuple[PlanarMotion, ...]:
        """Derivatives of the columns along v in the plane."""
        return self._motions(self.joint.subspace_along(q, v))

    def _motion(self, m) -> PlanarMotion:
        return PlanarMotion((self.after @ m.angular).z, _along(self.after, m.linear))

    def _motions(self, motions) -> tuple[PlanarMotion, ...]:
        return tuple(map(self._motion, motions))


of_the_joint(PlanarJoint, "kind", "constant_subspace", "time_dependent", "rheonomic")


@dataclass(frozen=True, slots=True, eq=False)
class PlanarFrame:
    """A named frame fixed to a body of a planar model.

    Parameters
    ----------
    name : str
    body : int
    X_FB : PlanarTransform
        From body to frame coordinates.
    axes : Rotation
        From the coordinates of the spatial frame to axes whose first two are in the plane.
    height : float
        Of its origin over that of the world along the normal, constant [m].
    """

    name: str
    body: int
    X_FB: PlanarTransform = field(repr=False)
    axes: Rotation = field(repr=False)
    height: float = field(repr=False)

    @property
    def R_BF(self) -> np.ndarray:
        """Orientation in the body, (2, 2) [1]."""
        return np.array(self.X_FB.E.T.rows, dtype=float)

    @property
    def p_BF(self) -> np.ndarray:
        """Position of the origin in the body, (2,) [m]."""
        return np.array(list(self.X_FB.r), dtype=float)


def _rotation(axes: np.ndarray) -> Rotation:
    return rotation_from_matrix(axes.tolist())


def _in_plane(after: Rotation, X: Transform, before: Rotation) -> PlanarTransform:
    """The planar part of a transform, between axes whose first two are in the plane."""
    E = after @ X.E @ before.T
    return PlanarTransform(E.matrix[0, 0], E.matrix[0, 1], _along(before, X.r))


def _along(axes: Rotation, r: Vector3) -> Vector2:
    r = axes @ r
    return Vector2(r.x, r.y)


def _raised(axes: Rotation, r: Vector2, old: Vector3) -> Vector3:
    """A point of the plane at the height of an old one."""
    return axes.inverse_apply(Vector3(r.x, r.y, (axes @ old).z))


def _equal(I: PlanarInertia, other: PlanarInertia) -> bool:
    return (I.m, I.h.x, I.h.y, I.I) == (other.m, other.h.x, other.h.y, other.I)


def _raised_inertia(axes: Rotation, I: PlanarInertia, old: Inertia) -> Inertia:
    """The inertia of a round disk, at the height of an old center of mass, that is the same in the plane."""
    if I.m == 0.0:
        return Inertia(0.0, Vector3.zero(), axes.inverse_congruence(Symmetric3.diagonal(I.I / 2, I.I / 2, I.I)))
    c, height = I.com, (axes @ old.com).z if old.m else 0.0
    about = I.I - I.h.dot(c)
    disk = axes.inverse_congruence(Symmetric3.diagonal(about / 2, about / 2, about))
    return Inertia.from_com(I.m, axes.inverse_apply(Vector3(c.x, c.y, height)), disk)


def _planar_inertia(axes: Rotation, I) -> PlanarInertia:
    return PlanarInertia(I.m, _along(axes, I.h), axes.congruence(I.I).zz)
