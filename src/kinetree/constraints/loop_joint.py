"""A joint between two bodies of the tree, which closes a loop."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from kinetree.constraints.contract import Constraint
from kinetree.errors import JointError, UnsupportedError
from kinetree.joints import Cylindrical, Fixed, Joint, Revolute, Spherical
from kinetree.spatial import Transform, Vector3
from kinetree.spatial.scalar import where
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
    X_P, X_S : Transform
        From the coordinates of the predecessor (successor) frame to the joint's predecessor (successor) frame.
    damping, dry_friction, stiffness, spring_reference : float
        Of a joint of one freedom, in its own coordinate [SI].
    lower, upper : float
        Limits of a joint of one freedom [rad or m].
    limit_stiffness, limit_damping : float
        Of soft stops at these limits [SI].
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
    damping: float = 0.0
    dry_friction: float = 0.0
    stiffness: float = 0.0
    spring_reference: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    limit_stiffness: float = 0.0
    limit_damping: float = 0.0
    softness: Softness | None = None
    active: bool = True

    joint_fields = ()
    frame_fields = ("predecessor", "successor")

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise JointError(f"loop joint {self.name!r}: {self.joint!r} is not a Joint", joint=self.joint)

    def count(self, model) -> int:
        """As many as directions in which the joint does not move."""
        return 6 - self.joint.nv

    @property
    def has_limits(self) -> bool:
        """Whether its coordinate is limited."""
        return min(-self.lower, self.upper) < math.inf

    @property
    def has_stop(self) -> bool:
        """Whether soft stops give the force at its limits."""
        return self.limit_stiffness != 0.0

    def measured(self, X) -> tuple:
        """The coordinate of the joint at a relative pose, and its gradient: `Joint.loop_coordinate`."""
        return self.joint.loop_coordinate(X)

    def counted(self, x):
        """A coordinate of the joint, which has limits: of angles the one within half a turn of their middle."""
        middle = 0.5 * (self.lower + self.upper)
        if not self.joint.wraps or math.isinf(middle):
            return x
        x = x - math.remainder(middle, 2.0 * math.pi)
        turns = where(x > math.pi, 1.0, where(x < -math.pi, -1.0, 0.0))
        return middle + x - 2.0 * math.pi * turns

    @property
    def has_rows(self) -> bool:
        """Whether it is held: active, and of a kind with an implicit form."""
        return self.active and not self.joint.time_dependent and self._has_form

    @property
    def _has_form(self) -> bool:
        try:
            self.joint.implicit(Transform.identity())
        except UnsupportedError:
            return False
        return True

    def _motion(self, kin):
        return kin.relative(self.predecessor, self.successor, self.X_P, self.X_S)

    def residual(self, kin) -> list:
        """The joint's position error [m or rad]."""
        return list(self.joint.implicit(self._motion(kin).X)[0])

    def rows(self, kin) -> list[dict]:
        """``T^T`` times the relative twist of each velocity."""
        motion = self._motion(kin)
        T = self.joint.implicit(motion.X)[1]
        return [{k: T_r.dot(column) for k, column in motion.columns.items()} for T_r in T]

    def rate(self, kin) -> list:
        """``T^T`` times the relative twist."""
        motion = self._motion(kin)
        return [T_r.dot(motion.velocity) for T_r in self.joint.implicit(motion.X)[1]]

    def bias(self, kin) -> list:
        """``T^T`` times the relative acceleration without the joints' own, and ``dT/dt^T V``."""
        motion = self._motion(kin)
        T = self.joint.implicit(motion.X)[1]
        T_dot = self.joint.force_basis_rate(motion.X, motion.velocity)
        return [x.dot(motion.bias) + dx.dot(motion.velocity) for x, dx in zip(T, T_dot, strict=True)]

    def natural_sizes(self, model, sizes) -> list:
        """1 for moments; for forces their largest lever, or the longest part of the loop."""
        ends = [model.frame(name) for name in self.frames]
        ancestor = model.common_ancestor(*(frame.body for frame in ends))
        path = [i for frame in ends for i in model.support(frame.body) if i > ancestor]
        links = [*(model.X_T[i] for i in path), *(frame.X_FB for frame in ends), self.X_P, self.X_S]
        T = self.joint.implicit(Transform.identity())[1]
        forces = [n for n, column in enumerate(T) if not any(column.angular)]
        length = max([math.sqrt(X.r.dot(X.r)) for X in links] + [sizes[n] for n in forces])
        return [length if n in forces else 1.0 for n in range(len(T))]

    def numbers(self) -> dict[str, object]:
        """Offsets of both frames."""
        placed = (("P", self.X_P), ("S", self.X_S))
        return {f"{what}.{axis}": x for what, X in placed for axis, x in zip("xyz", X.r, strict=True)}

    def with_numbers(self, values) -> LoopJoint:
        """The same with other offsets."""
        P, S = (Vector3(*values[n : n + 3]) for n in (0, 3))
        return replace(self, X_P=Transform.of(self.X_P.E, P), X_S=Transform.of(self.X_S.E, S))

    @property
    def code(self) -> tuple:
        """The class, and the joint."""
        return type(self), self.joint

    def structure(self, model) -> tuple:
        """The joint, the frames, the rotations of both sides, and the limits where no force gives their numbers."""
        turns = (tuple(x for row in X.E.matrix.rows for x in row) for X in (self.X_P, self.X_S))
        limits = (self.lower, self.upper) if self.has_limits and not self.has_stop else ()
        number = {frame.name: k for k, frame in enumerate(model.frames)}
        return self.kind, repr(self.joint), number[self.predecessor], number[self.successor], *turns, *limits

    def __str__(self) -> str:
        joint, shown = self.joint, repr(self.joint)
        if not (joint.time_dependent or self._has_form):
            shown = f"{type(joint).__name__} has no implicit form"
        return f"loop joint {self.name!r} ({shown}, {self.predecessor!r} to {self.successor!r})"

    @classmethod
    def examples(cls, model, rng):
        """The last body welded to the world where it stands, and held by a ball joint."""
        ends, here = (model.frames[0].name, model.frames[model.nb - 1].name), Transform.identity()
        X = Kinematics(model, model.neutral().tolist()).relative(*ends, here, here).X
        for joint in (Fixed(), Spherical(), Revolute((0.0, 1.0, 0.0)), Cylindrical()):
            yield (cls("loop", joint, *ends, X),)
