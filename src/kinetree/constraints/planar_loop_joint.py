"""A loop joint of a mechanism that moves in one plane, over planar vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter

from kinetree.constraints.contract import Constraint
from kinetree.constraints.loop_joint import LoopJoint
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

    def measured(self, X: PlanarTransform) -> tuple:
        """The coordinate of the joint at a relative pose, and its gradient in the plane."""
        x, W = self.loop.measured(self.raised(X))
        return x, self._in_plane([W])[0]

    def counted(self, x):
        """As for the spatial loop joint."""
        return self.loop.counted(x)

    def count(self, model) -> int:
        """As many directions of the plane as the joint does not move in, and more where its rows are across it."""
        return len(self.kept)

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

    def residual(self, kin) -> list:
        """The joint's position error in the plane [m or rad]."""
        delta = self.loop.joint.implicit(self._motion(kin)[1])[0]
        return [delta[n] for n in self.kept]

    def rows(self, kin) -> list[dict]:
        """``T^T`` times the relative twist of each velocity."""
        motion, X = self._motion(kin)
        T = self._of_kept(self.loop.joint.implicit(X)[1])
        return [{k: T_r.dot(column) for k, column in motion.columns.items()} for T_r in T]

    def rate(self, kin) -> list:
        """``T^T`` times the relative twist."""
        motion, X = self._motion(kin)
        return [T_r.dot(motion.velocity) for T_r in self._of_kept(self.loop.joint.implicit(X)[1])]

    def bias(self, kin) -> list:
        """As for the spatial loop joint."""
        motion, X = self._motion(kin)
        V = motion.velocity.spatial()
        V = Motion(self.after.inverse_apply(V.angular), self.after.inverse_apply(V.linear))
        T = self._of_kept(self.loop.joint.implicit(X)[1])
        T_dot = self._of_kept(self.loop.joint.force_basis_rate(X, V))
        return [x.dot(motion.bias) + dx.dot(motion.velocity) for x, dx in zip(T, T_dot, strict=True)]

    def numbers(self) -> dict[str, object]:
        """Offsets of both frames."""
        placed = (("P", self.X_P), ("S", self.X_S))
        return {f"{what}.{axis}": x for what, X in placed for axis, x in zip("xy", X.r, strict=True)}

    def with_numbers(self, values) -> PlanarLoopJoint:
        """The same with other offsets."""
        P, S = (Vector2(*values[n : n + 2]) for n in (0, 2))
        return replace(self, X_P=PlanarTransform.of(self.X_P.E, P), X_S=PlanarTransform.of(self.X_S.E, S))

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
        limits = (self.lower, self.upper) if self.has_limits and not self.has_stop else ()
        return self.kind, repr(self.loop.joint), *sides, *placed, self.height, self.kept, *turns, *limits

    def __str__(self) -> str:
        return str(self.loop)


for _what in ("name", "joint", "predecessor", "successor", "lower", "upper", "has_limits", "has_stop"):
    setattr(PlanarLoopJoint, _what, property(attrgetter(f"loop.{_what}"), doc="As for the spatial loop joint."))
