"""A loop joint of a mechanism that moves in one plane, over planar vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter

from kinetree.constraints.contract import Constraint
from kinetree.constraints.loop_joint import LoopJoint
from kinetree.constraints.row_law import infinite
from kinetree.joints.contract import coordinate_forces_rate, driven_rates_rate, driven_velocity_rate
from kinetree.spatial import Motion, PlanarForce, PlanarTransform, Rotation, Transform, Vector2, Vector3


@dataclass(frozen=True, slots=True, eq=False)
class PlanarLoopJoint(Constraint):
    """The rows of a loop joint that act in the plane; `Model.planar` makes it.

    Parameters
    ----------
    loop : LoopJoint
        Of the spatial model.
    X_P, X_S : PlanarTransform
        From the coordinates of the predecessor (successor) frame to the joint's predecessor (successor) frame.
    before, after : Rotation
        From the coordinates of the joint's spatial predecessor (successor) frame to axes whose first two are in the
        plane.
    height : float
        Of the successor above the predecessor along the normal, constant [m].
    kept : tuple of int
        Numbers of the rows that act in the plane.
    """

    loop: LoopJoint
    X_P: PlanarTransform
    X_S: PlanarTransform
    before: Rotation
    after: Rotation
    height: float = 0.0
    kept: tuple[int, ...] = ()

    kind = "loop_joint"
    joint_fields = ()
    frame_fields = ("predecessor", "successor")

    def measured(self, X: PlanarTransform, joint=None) -> tuple:
        """The position of the joint at a relative pose, and the forces along its velocities in the plane."""
        q, W = self.loop.measured(self.raised(X), joint)
        return q, tuple(self._in_plane(W))

    def measured_rate(self, motion, joint=None) -> tuple:
        """Apparent rates of the forces of ``measured`` in a relative motion."""
        return tuple(self._in_plane(self._rates_of(coordinate_forces_rate, joint or self.loop.joint, motion)))

    def driven_velocity(self, motion, joint) -> list:
        """As for the spatial loop joint."""
        return joint.driven_velocity(self.raised(motion.X))

    def driven_acceleration(self, motion, joint) -> list:
        """As for the spatial loop joint."""
        return self._rates_of(driven_velocity_rate, joint, motion)

    def along(self, what: str) -> tuple:
        """As for the spatial loop joint."""
        return self.loop.along(what)

    def counted(self, q) -> list[tuple]:
        """As for the spatial loop joint."""
        return self.loop.counted(q)

    @property
    def time_dependent(self) -> bool:
        """As for the spatial loop joint."""
        return self.loop.time_dependent

    def count(self, model) -> int:
        """As many directions of the plane as the joint does not move in, and more where its rows are across it."""
        return len(self.kept)

    def joint_now(self, kin):
        """As for the spatial loop joint."""
        return self.loop.joint_now(kin)

    def joint_in_time(self, kin):
        """As for the spatial loop joint."""
        return self.loop.joint_in_time(kin)

    def _motion(self, kin):
        motion = kin.relative(self.predecessor, self.successor, self.X_P, self.X_S)
        return motion, self.raised(motion.X)

    def raised(self, X: PlanarTransform) -> Transform:
        """The spatial transform from P to S."""
        E = self.after.T @ X.spatial().E @ self.before
        return Transform.of(E, self.before.inverse_apply(Vector3(X.r.x, X.r.y, self.height)))

    def _in_plane(self, forces) -> list[PlanarForce]:
        turned = ((self.after @ T.angular, self.after @ T.linear) for T in forces)
        return [PlanarForce(n.z, Vector2(f.x, f.y)) for n, f in turned]

    def _of_kept(self, forces) -> list[PlanarForce]:
        return self._in_plane([forces[n] for n in self.kept])

    def force_basis(self, kin) -> list:
        """As that of the loop in space."""
        return self._of_kept(self.joint_now(kin).implicit(self._motion(kin)[1])[1])

    def residual(self, kin) -> list:
        """The joint's position error in the plane [m or rad]."""
        delta = self.joint_now(kin).implicit(self._motion(kin)[1])[0]
        return [delta[n] for n in self.kept]

    def rows(self, kin) -> list[dict]:
        """``T^T`` times the relative twist of each velocity."""
        motion, X = self._motion(kin)
        T = self._of_kept(self.joint_now(kin).implicit(X)[1])
        return [{k: T_r.dot(column) for k, column in motion.columns.items()} for T_r in T]

    def rate(self, kin) -> list:
        """``T^T`` times the relative twist."""
        motion, X = self._motion(kin)
        joint = self.joint_now(kin)
        rates = joint.driven_rates(X)
        driven = zip(self._of_kept(joint.implicit(X)[1]), [rates[n] for n in self.kept], strict=True)
        return [T_r.dot(motion.velocity) - x for T_r, x in driven]

    def bias(self, kin) -> list:
        """As for the spatial loop joint."""
        (motion, X), joint = self._motion(kin), self.joint_in_time(kin)
        T = self._of_kept(self.joint_now(kin).implicit(X)[1])
        T_dot = self._of_kept(self._rates_of(type(joint).force_basis_rate, joint, motion))
        driven = self._rates_of(driven_rates_rate, joint, motion)
        rows = zip(T, T_dot, [driven[n] for n in self.kept], strict=True)
        return [x.dot(motion.bias) + dx.dot(motion.velocity) - g for x, dx, g in rows]

    def _rates_of(self, function, joint, motion):
        """A function of a joint, a relative pose and a twist, in the coordinates of the spatial frames."""
        V = motion.velocity.spatial()
        V = Motion(self.after.inverse_apply(V.angular), self.after.inverse_apply(V.linear))
        return function(joint, self.raised(motion.X), V)

    def numbers(self) -> dict[str, object]:
        """Offsets of both frames, and limits that are not numbers of a soft stop."""
        placed = (("P", self.X_P), ("S", self.X_S))
        found = {f"{what}.{axis}": x for what, X in placed for axis, x in zip("xy", X.r, strict=True)}
        return found | self.loop.limit_numbers()

    def with_numbers(self, values) -> PlanarLoopJoint:
        """The same with other offsets and limits."""
        P, S = (Vector2(*values[n : n + 2]) for n in (0, 2))
        X_P, X_S = PlanarTransform.of(self.X_P.E, P), PlanarTransform.of(self.X_S.E, S)
        return replace(self, X_P=X_P, X_S=X_S, loop=replace(self.loop, **self.loop.limits_of(values[4:])))

    @property
    def code(self) -> tuple:
        """The class, and the joint."""
        return type(self), self.loop.joint

    def structure(self, model) -> tuple:
        """The joint, the frames, the rows, and the rotations of both sides."""
        turns = (R.matrix.rows for R in (self.before, self.after))
        number = {frame.name: k for k, frame in enumerate(model.frames)}
        sides = (number[self.predecessor], number[self.successor])
        placed = tuple((X.c, X.s) for X in (self.X_P, self.X_S))
        limits = tuple(map(infinite, self.loop.limit_numbers().values()))
        return self.kind, repr(self.loop.joint), *sides, *placed, self.height, self.kept, *turns, limits

    def __str__(self) -> str:
        return str(self.loop)


for _what in ("name", "joint", "predecessor", "successor", "lower", "upper", "has_limits", "has_stop", "limits"):
    setattr(PlanarLoopJoint, _what, property(attrgetter(f"loop.{_what}"), doc="As for the spatial loop joint."))
