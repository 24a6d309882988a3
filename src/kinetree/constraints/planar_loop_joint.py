"""A loop joint of a mechanism that moves in one plane, over planar vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

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

    @property
    def name(self) -> str:
        """The name of the loop joint."""
        return self.loop.name

    @property
    def predecessor(self) -> str:
        """The frame of the predecessor."""
        return self.loop.predecessor

    @property
    def successor(self) -> str:
        """The frame of the successor."""
        return self.loop.successor

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

    def _in_plane(self, T) -> list[PlanarForce]:
        turned = ((self.after @ T[n].angular, self.after @ T[n].linear) for n in self.kept)
        return [PlanarForce(n.z, Vector2(f.x, f.y)) for n, f in turned]

    def residual(self, kin) -> list:
        """The joint's position error in the plane [m or rad]."""
        delta = self.loop.joint.implicit(self._motion(kin)[1])[0]
        return [delta[n] for n in self.kept]

    def rows(self, kin) -> list[dict]:
        """``T^T`` times the relative twist of each velocity."""
        motion, X = self._motion(kin)
        T = self._in_plane(self.loop.joint.implicit(X)[1])
        return [{k: T_r.dot(column) for k, column in motion.columns.items()} for T_r in T]

    def bias(self, kin) -> list:
        """As for the spatial loop joint."""
        motion, X = self._motion(kin)
        V = motion.velocity.spatial()
        V = Motion(self.after.inverse_apply(V.angular), self.after.inverse_apply(V.linear))
        T = self._in_plane(self.loop.joint.implicit(X)[1])
        T_dot = self._in_plane(self.loop.joint.force_basis_rate(X, V))
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
        return self.kind, repr(self.loop.joint), *sides, *placed, self.height, self.kept, *turns

    def __str__(self) -> str:
        return str(self.loop)
