"""A joint between two bodies of the tree, which closes a loop."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from kinetree.arguments import text
from kinetree.constraints.contract import Constraint
from kinetree.constraints.row_law import infinite
from kinetree.errors import JointError, UnsupportedError
from kinetree.forces.contract import present
from kinetree.joints import Cylindrical, Fixed, Joint, Revolute, Spherical
from kinetree.joints.contract import coordinate_forces_rate, driven_rates_rate, driven_velocity_rate
from kinetree.joints.dual import Dual
from kinetree.spatial import Transform, Vector3
from kinetree.spatial.scalar import arctan2, sincos
from kinetree.state_kinematics import Kinematics


@dataclass(frozen=True, slots=True)
class Softness:
    """Softness of a constraint in another engine; data that kinetree's exact constraints do not use.

    Parameters
    ----------
    solref : tuple of 2 floats
        MuJoCo's reference: (time constant [s], damping ratio), or (-stiffness, -damping).
    solimp : tuple of 5 floats
        MuJoCo's impedance: (dmin, dmax, width, midpoint, power).
    """

    solref: tuple[float, ...]
    solimp: tuple[float, ...]

    def __post_init__(self) -> None:
        for what in ("solref", "solimp"):
            object.__setattr__(self, what, tuple(getattr(self, what)))


@dataclass(frozen=True, slots=True, eq=False)
class LoopJoint(Constraint):
    """A joint between two bodies of the tree, which closes a loop.

    Parameters
    ----------
    name : str
        Loop joints are named apart from tree joints.
    joint : Joint
        Its freedoms: Fixed welds, Spherical connects two points.
    predecessor, successor : str
        Frames of the model; the joint connects their bodies.
    X_P, X_S : Transform, (xyz, rpy), (R, p) or (4, 4) array
        From the coordinates of the predecessor (successor) frame to the joint's predecessor (successor) frame, or the
        placement of the latter in the former [m, rad]; a model holds transforms.
    damping, dry_friction, stiffness : float or sequence of floats
        Along the joint's velocities [SI]: one number for each, or one for all.
    spring_reference : float or sequence of floats
        A position of the joint [rad or m; quaternions unit]; of joints of several freedoms by default the neutral one.
    lower, upper : float or sequence of floats
        Limits of the joint's positions [rad or m], for joints with as many velocities.
    limit_stiffness, limit_damping : float or sequence of floats
        Of soft stops at these limits, along the joint's velocities [SI].
    softness : Softness, optional
    active : bool
        False: switched off, so without effect.

    Notes
    -----
    Source: Featherstone (2008), section 4.1 (loop joints, X_P and X_S) and chapter 8: rows ``T^T V = 0``, T the basis
    of the joint's constraint forces and V the successor's twist relative to the predecessor, both in the coordinates of
    the successor frame. A multiplier is the constraint force on the successor along a column of T. Rows are derivatives
    of the position error where the loop is closed.

    Examples
    --------
    The end of a double pendulum hangs on a ball joint:

    >>> import kinetree as kt
    >>> b = kt.ModelBuilder.of(kt.models.double_pendulum())
    >>> _ = b.add_frame("end", "lower", ((0, 0, -1), (0, 0, 0)))
    >>> _ = b.add_frame("hook", "world", ((0.5, 0, -1), (0, 0, 0)))
    >>> held = b.build().with_constraints(kt.constraints.LoopJoint("ball", kt.joints.Spherical(), "hook", "end"))
    >>> held.nc, held.independent_rows()  # in the plane of its motion two rows
    (3, (0, 2))
    """

    name: str
    joint: Joint
    predecessor: str
    successor: str
    X_P: Transform = field(default_factory=Transform.identity)
    X_S: Transform = field(default_factory=Transform.identity)
    damping: float | tuple[float, ...] = 0.0
    dry_friction: float | tuple[float, ...] = 0.0
    stiffness: float | tuple[float, ...] = 0.0
    spring_reference: float | tuple[float, ...] = 0.0
    lower: float | tuple[float, ...] = -math.inf
    upper: float | tuple[float, ...] = math.inf
    limit_stiffness: float | tuple[float, ...] = 0.0
    limit_damping: float | tuple[float, ...] = 0.0
    softness: Softness | None = None
    active: bool = True

    joint_fields = ()
    frame_fields = ("predecessor", "successor")

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise JointError(
                f"loop joint {self.name!r}: {self.joint!r} is not a Joint; expected one such as kt.joints.Spherical()",
                joint=self.joint,
            )
        text("loop joint: name", self.name, "a name, perhaps empty")
        for what in ("predecessor", "successor"):
            text(f"loop joint {self.name!r}: {what}", getattr(self, what), "the name of a frame")
        for what in ("damping", "dry_friction", "stiffness", "spring_reference", "lower", "upper", "limit_stiffness",
                     "limit_damping"):  # fmt: skip
            value = getattr(self, what)
            if not isinstance(value, (int, float)) and hasattr(value, "__iter__"):
                value = tuple(value)
                object.__setattr__(self, what, value[0] if self.joint.nv == len(value) == 1 else value)

    def along(self, what: str) -> tuple:
        """The values of a parameter, one for each velocity; of ``spring_reference`` one for each position."""
        value, joint = getattr(self, what), self.joint
        if isinstance(value, tuple):
            return value
        if what == "spring_reference" and joint.nv > 1 and value == 0.0:
            return tuple(joint.neutral())
        return (value,) * (joint.nq if what == "spring_reference" else joint.nv)

    def count(self, model) -> int:
        """As many as directions in which the joint does not move."""
        return 6 - self.joint.nv

    @property
    def has_limits(self) -> bool:
        """Whether its coordinate is limited."""
        return not all(infinite(x) for each in self.limits for x in each)

    @property
    def limits(self) -> tuple[tuple, ...]:
        """The pair of limits of each velocity coordinate."""
        return tuple(zip(self.along("lower"), self.along("upper"), strict=True))

    @property
    def has_stop(self) -> bool:
        """Whether soft stops give the force at its limits."""
        return any(present(k) for k in self.along("limit_stiffness"))

    def measured(self, X, joint=None) -> tuple:
        """The position of the joint at a relative pose, and the forces along its velocities: `loop_coordinates`.

        ``joint`` is this one at the time of the state, if it depends on time.
        """
        return (joint or self.joint).loop_coordinates(X)

    def measured_rate(self, motion, joint=None) -> tuple:
        """Apparent rates of the forces of ``measured`` in a relative motion."""
        return coordinate_forces_rate(joint or self.joint, motion.X, motion.velocity)

    def driven_velocity(self, motion, joint) -> list:
        """What time alone adds to the velocities of the joint, this one at the time of the state."""
        return joint.driven_velocity(motion.X)

    def driven_acceleration(self, motion, joint) -> list:
        """The rates of ``driven_velocity`` in a relative motion, of the joint at a time that goes on."""
        return driven_velocity_rate(joint, motion.X, motion.velocity)

    def counted(self, q) -> list[tuple]:
        """Coordinates with limits: number, value, lower and upper limit; angles within half a turn of their middle."""
        found = []
        for n, (lower, upper) in enumerate(self.limits):
            if infinite(lower) and infinite(upper):
                continue
            x = q[n]
            if self.joint.wraps[n] and not (infinite(lower) or infinite(upper)):
                middle = 0.5 * (lower + upper)
                x = middle + arctan2(*sincos(x - middle))
            found.append((n, x, lower, upper))
        return found

    @property
    def has_rows(self) -> bool:
        """Whether it is held: active, and of a kind with an implicit form."""
        return self.active and self._has_form

    @property
    def _has_form(self) -> bool:
        try:
            self.joint.at(0.0).implicit(Transform.identity())
        except UnsupportedError:
            return False
        return True

    @property
    def time_dependent(self) -> bool:
        """Whether its joint is."""
        return self.joint.time_dependent

    def joint_now(self, kin) -> Joint:
        """The joint at the time of the state."""
        return self.joint.at(kin.t) if self.joint.time_dependent else self.joint

    def joint_in_time(self, kin) -> Joint:
        """The joint at a time that goes on, a dual number, from that of the state."""
        return self.joint.at(Dual(kin.t, 1.0)) if self.joint.time_dependent else self.joint

    def _motion(self, kin):
        return kin.relative(self.predecessor, self.successor, self.X_P, self.X_S)

    def force_basis(self, kin) -> list:
        """The constraint force on the successor for a unit of each multiplier, in the coordinates of its frame."""
        return self.joint_now(kin).implicit(self._motion(kin).X)[1]

    def residual(self, kin) -> list:
        """The joint's position error [m or rad]."""
        return list(self.joint_now(kin).implicit(self._motion(kin).X)[0])

    def rows(self, kin) -> list[dict]:
        """``T^T`` times the relative twist of each velocity."""
        motion = self._motion(kin)
        T = self.joint_now(kin).implicit(motion.X)[1]
        return [{k: T_r.dot(column) for k, column in motion.columns.items()} for T_r in T]

    def rate(self, kin) -> list:
        """``T^T`` times the relative twist, less the rates that time alone gives."""
        motion, joint = self._motion(kin), self.joint_now(kin)
        driven = zip(joint.implicit(motion.X)[1], joint.driven_rates(motion.X), strict=True)
        return [T_r.dot(motion.velocity) - x for T_r, x in driven]

    def bias(self, kin) -> list:
        """``T^T`` times the relative acceleration without the joints' own, and ``dT/dt^T V``."""
        motion, joint = self._motion(kin), self.joint_in_time(kin)
        T, at = self.joint_now(kin).implicit(motion.X)[1], (motion.X, motion.velocity)
        rows = zip(T, joint.force_basis_rate(*at), driven_rates_rate(joint, *at), strict=True)
        return [x.dot(motion.bias) + dx.dot(motion.velocity) - g for x, dx, g in rows]

    def natural_sizes(self, model, sizes) -> list:
        """1 for moments; for forces their largest lever, or the longest part of the loop, wherever that is placed."""
        ends = [(model.frame(name), X) for name, X in zip(self.frames, (self.X_P, self.X_S), strict=True)]
        ancestor = model.common_ancestor(*(frame.body for frame, _ in ends))
        links, anchors = [], []  # of the bodies of the loop but the ancestor; of both sides on the ancestor
        for frame, X in ends:
            path = [i for i in model.support(frame.body) if i > ancestor]
            anchors.append((model.X_T[min(path)] if path else X @ frame.X_FB).r)
            links += [model.X_T[i].r for i in path if i != min(path)] + [frame.X_FB.r, X.r] * bool(path)
        links.append(anchors[0] - anchors[1])
        T = self.joint.at(0.0).implicit(Transform.identity())[1]
        forces = [n for n, column in enumerate(T) if not any(column.angular)]
        length = max([math.sqrt(r.dot(r)) for r in links] + [sizes[n] for n in forces])
        return [length if n in forces else 1.0 for n in range(len(T))]

    def numbers(self) -> dict[str, object]:
        """Offsets of both frames, and limits that are not numbers of a soft stop."""
        placed = (("P", self.X_P), ("S", self.X_S))
        found = {f"{what}.{axis}": x for what, X in placed for axis, x in zip("xyz", X.r, strict=True)}
        return found | self.limit_numbers()

    def limit_numbers(self) -> dict[str, object]:
        """The limits that are not numbers of a soft stop."""
        if not self.has_limits or self.has_stop:
            return {}
        several = self.joint.nv > 1
        return {
            f"{what}.{n}" if several else what: x for what in ("lower", "upper") for n, x in enumerate(self.along(what))
        }

    def with_numbers(self, values) -> LoopJoint:
        """The same with other offsets and limits."""
        P, S = (Vector3(*values[n : n + 3]) for n in (0, 3))
        return replace(
            self, X_P=Transform.of(self.X_P.E, P), X_S=Transform.of(self.X_S.E, S), **self.limits_of(values[6:])
        )

    def limits_of(self, values) -> dict[str, tuple]:
        """Both limits from the values of ``limit_numbers``."""
        n = len(values) // 2
        return {"lower": tuple(values[:n]), "upper": tuple(values[n:])} if n else {}

    def unit(self, n: int) -> str:
        """Of moments rad, of forces m."""
        return "rad" if any(self.joint.at(0.0).implicit(Transform.identity())[1][n].angular) else "m"

    @property
    def code(self) -> tuple:
        """The class, and the joint."""
        return type(self), self.joint

    def structure(self, model) -> tuple:
        """The joint, the frames, the rotations of both sides, and which limits there are without a soft stop."""
        turns = (tuple(x for row in X.E.matrix.rows for x in row) for X in (self.X_P, self.X_S))
        number = {frame.name: k for k, frame in enumerate(model.frames)}
        limits = tuple(map(infinite, self.limit_numbers().values()))
        return self.kind, repr(self.joint), number[self.predecessor], number[self.successor], *turns, limits

    def __str__(self) -> str:
        joint, shown = self.joint, repr(self.joint)
        if not self._has_form:
            shown = f"{type(joint).__name__} has no implicit form"
        return f"loop joint {self.name!r} ({shown}, {self.predecessor!r} to {self.successor!r})"

    @classmethod
    def examples(cls, model, rng):
        """The last body welded to the world where it stands, and held by a ball joint."""
        ends, here = (model.frames[0].name, model.frames[model.nb - 1].name), Transform.identity()
        X = Kinematics(model, model.neutral().tolist()).relative(*ends, here, here).X
        for joint in (Fixed(), Spherical(), Revolute((0.0, 1.0, 0.0)), Cylindrical()):
            yield (cls("loop", joint, *ends, X),)
