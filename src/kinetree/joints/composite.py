"""Composite joint: any joints in series, without bodies in between."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.errors import JointError
from kinetree.joints.contract import Joint
from kinetree.joints.elementary import Helical, Prismatic, RackAndPinion, Revolute, Translational
from kinetree.joints.reversed import Reversed
from kinetree.joints.rheonomic import Prescribed, PrescribedAt
from kinetree.joints.spherical import Spherical, SphericalExponential
from kinetree.once import once
from kinetree.spatial import Force, Motion, Transform

MOST_FREEDOMS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Composite(Joint):
    """Joints in a row, the first one on the predecessor; q and v are theirs, one after the other.

    The same motion as a chain of massless bodies, in one joint of the tree: springs, limits and armatures belong to the
    joints' own coordinates. Composites may be parts of composites.

    Parameters
    ----------
    joints : sequence of Joint
        At least one, with at most six freedoms in all.

    Raises
    ------
    JointError
        If ``joints`` is something else.

    Notes
    -----
    Where the axes of two parts align, S loses rank, as with Euler angles; the composite does not check. As a loop joint
    it finds its position by iterations, unless a single part has freedoms.

    *Source* Sueda, section 2.4.9, eqs. 2.48-2.52. *Differs* Eq. 2.52 prints ``Ad S_1' - S_2'`` in one column; S-dot has
    two blocks, ``-ad(S_2 v_2) Ad S_1 + Ad S_1'`` and ``S_2'``.

    *Identities* X_J = X_n ... X_1; v_J = X_n v_J' + v_n; c_J = X_n c_J' + (X_n v_J') x v_n + c_n, the primed ones being
    those of the joints before n (eq. 2.43 of Featherstone for massless bodies).

    Examples
    --------
    >>> from kinetree.joints import Prismatic, Revolute
    >>> crane = Composite((Revolute(), Prismatic((1, 0, 0))))
    >>> [float(x) for x in crane.motion_subspace([0.3, 2.0])[0]]  # the turn moves the load across the boom
    [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    >>> crane.position_names
    ('1.angle', '2.displacement')
    """

    joints: tuple[Joint, ...]

    kind = "composite"

    def __post_init__(self) -> None:
        joints = tuple(self.joints) if isinstance(self.joints, (tuple, list)) else ()
        if not joints or not all(isinstance(joint, Joint) for joint in joints):
            raise JointError(
                f"composite joint: joints must be joints in a row, as Composite((Revolute(), Prismatic())); got "
                f"{self.joints!r}.",
                joints=self.joints,
            )
        object.__setattr__(self, "joints", joints)
        if self.nv > MOST_FREEDOMS:
            raise JointError(
                f"composite joint: {self!r} has {self.nv} freedoms, but a body has {MOST_FREEDOMS}; give one of the "
                "joints a body of its own.",
                joints=joints,
            )

    @property
    def nq(self) -> int:
        return sum(joint.nq for joint in self.joints)

    @property
    def nv(self) -> int:
        return sum(joint.nv for joint in self.joints)

    @property
    def constant_subspace(self) -> bool:
        """Whether S is constant because nothing turns it: one joint moves, or none rotates."""
        if self.rheonomic or self.time_dependent:
            return False
        moving = [joint for joint in self.joints if joint.nv]
        if not all(joint.constant_subspace for joint in moving):
            return False
        return len(moving) <= 1 or all(S.angular.is_zero for j in moving for S in j.motion_subspace(j.neutral()))

    @property
    def several_charts(self) -> bool:
        return any(joint.several_charts for joint in self.joints)

    @property
    def regroupable(self) -> tuple[str, ...]:
        """The moments that are regroupable at all joints: they are the same seen from every frame in between."""
        first, *others = self.joints
        return tuple(name for name in first.regroupable if all(name in joint.regroupable for joint in others))

    # Time, if one of the joints depends on it ------------------------------------------------------------------------

    @property
    def time_dependent(self) -> bool:
        return any(joint.time_dependent for joint in self.joints)

    @property
    def rheonomic(self) -> bool:
        return any(joint.rheonomic for joint in self.joints)

    def at(self, t):
        if not self.time_dependent:
            return self
        return Composite(tuple(
            PrescribedAt(joint, t) if isinstance(joint, Prescribed) and joint._is_plain else joint.at(t)
            for joint in self.joints
        ))  # fmt: skip

    # Kinematics ----------------------------------------------------------------------------------------------------

    def transform(self, q):
        X = Transform.identity()
        for joint, q_k in self._parts(q=q):
            X = joint.transform(q_k) @ X
        return X

    def motion_subspace(self, q):
        columns: list[Motion] = []
        for joint, q_k in self._parts(q=q):
            columns = [*self._carried(joint, q_k, columns), *joint.motion_subspace(q_k)]
        return tuple(columns)

    def velocity(self, q, v):
        return self._motion(q, v)[0]

    def bias(self, q, v):
        return Motion.zero() if self.constant_subspace else self._motion(q, v)[1]

    def _motion(self, q, v) -> tuple[Motion, Motion]:
        """v_J and c_J, from the predecessor outwards."""
        V = c = Motion.zero()
        for n, (joint, q_k, v_k) in enumerate(self._parts(q=q, v=v)):
            v_J, c_J = joint.velocity(q_k, v_k), joint.bias(q_k, v_k)
            if n == 0:
                V, c = v_J, c_J
                continue
            X = joint.transform(q_k)
            V = X @ V
            c = X @ c + V.cross(v_J) + c_J
            V = V + v_J
        return V, c

    def subspace_rate(self, q, v):
        rates: list[Motion] = []
        columns: list[Motion] = []
        for joint, q_k, v_k in self._parts(q=q, v=v):
            columns = self._carried(joint, q_k, columns)
            rates, v_J = self._carried(joint, q_k, rates), joint.velocity(q_k, v_k)
            rates = [rate + column.cross(v_J) for rate, column in zip(rates, columns, strict=True)]
            rates += joint.subspace_rate(q_k, v_k)
            columns += joint.motion_subspace(q_k)
        return tuple(rates)

    @staticmethod
    def _carried(joint, q, columns) -> list[Motion]:
        """Motions in the successor coordinates of a joint."""
        if not columns:
            return []
        X = joint.transform(q)
        return [X @ column for column in columns]

    # The manifold of positions: that of each joint --------------------------------------------------------------------

    def q_dot(self, q, v):
        return self._each("q_dot", q=q, v=v)

    def integrate(self, q, dv):
        return self._each("integrate", q=q, v=dv)

    def difference(self, q0, q1):
        return self._each("difference", q=q0, other_q=q1)

    def tangent_rate(self, xi, v):
        return self._each("tangent_rate", other_v=xi, v=v)

    def neutral(self):
        return self._each("neutral")

    def random(self, rng):
        return [x for joint in self.joints for x in joint.random(rng)]

    def normalize(self, q):
        return self._each("normalize", q=q)

    def defect(self, q):
        return self._each("defect", q=q)

    def reparameterize(self, q, v):
        pairs = [joint.reparameterize(q_k, v_k) for joint, q_k, v_k in self._parts(q=q, v=v)]
        return [x for q_k, _ in pairs for x in q_k], [x for _, v_k in pairs for x in v_k]

    def _each(self, method: str, **arguments) -> list:
        return [x for joint, *parts in self._parts(**arguments) for x in getattr(joint, method)(*parts)]

    def _parts(self, **arguments):
        """The joints, each with its parts of the arguments, which are positions if their names end in q."""
        at = {"q": 0, "v": 0}
        for joint in self.joints:
            part = {kind: slice(at[kind], at[kind] + n) for kind, n in (("q", joint.nq), ("v", joint.nv))}
            at = {kind: slot.stop for kind, slot in part.items()}
            yield joint, *(values[part[name[-1]]] for name, values in arguments.items())

    # As a loop joint, and equivalent forms ----------------------------------------------------------------------------

    def implicit(self, X):
        if self.nv == MOST_FREEDOMS:
            return [], ()
        return self._as_inner("implicit", X)

    @property
    def wraps(self) -> tuple[bool, ...]:
        return tuple(wraps for joint in self.joints for wraps in joint.wraps)

    @property
    def searched(self) -> bool:
        return self.nv > 0 if (inner := self._inner) is None else inner[0].searched

    def loop_coordinates(self, X):
        return self._as_inner("loop_coordinates", X)

    def _as_inner(self, method: str, X: Transform) -> tuple[list, tuple[Force, ...]]:
        """The scalars and the forces that a method of the inner joint gives, or else the default of all joints."""
        if (inner := self._inner) is None:
            return getattr(Joint, method)(self, X)
        joint, places = inner
        X, behind = self._at(places, X)
        scalars, forces = getattr(joint, method)(X)
        return scalars, tuple(behind @ force for force in forces)

    @property
    def _moving(self) -> tuple[int, int]:
        """The numbers of the first and the last joint with freedoms; zeros if none has any."""
        moving = [n for n, joint in enumerate(self.joints) if joint.nv] or [0]
        return moving[0], moving[-1]

    @property
    def _inner(self) -> tuple[Joint, slice] | None:
        """A joint with the same form, and the joints that it stands for; None if the form is that of the default.

        Joints before and behind those with freedoms may move with time. Between these are coordinates that follow
        functions of time, as those of the joint in which they do not.
        """
        first, last = self._moving
        places = slice(first, last + 1)
        if first == last:
            return self.joints[first], places
        between = self.joints[places]
        if not self.rheonomic:
            return None
        if not any(joint.rheonomic for joint in between):
            return _in_series(between), places
        if any(joint.rheonomic and not isinstance(joint, PrescribedAt) or joint.nq != joint.nv for joint in between):
            return None
        parts = [(j.joint.joint, j.joint.motion) if j.rheonomic else (j, (None,) * j.nq) for j in between]
        if sum(whole.nv for whole, _ in parts) > MOST_FREEDOMS:
            return None
        whole = Prescribed(_in_series(tuple(whole for whole, _ in parts)), [f for _, motion in parts for f in motion])
        return PrescribedAt(whole, next(joint.t for joint in between if joint.rheonomic)), places

    def _at(self, places: slice, X: Transform) -> tuple[Transform, Transform]:
        """X as these joints see it, and the transform of the joints behind them."""
        before, behind = (self._product(joints) for joints in (self.joints[: places.start], self.joints[places.stop :]))
        return behind.inverse() @ X @ before.inverse(), behind

    @staticmethod
    def _product(joints) -> Transform:
        """The transform of joints without freedoms."""
        X = Transform.identity()
        for joint in joints:
            X = joint.transform(()) @ X
        return X

    def canonical(self):
        turns = [joint.canonical() for joint in self.joints]
        R, matrix = turns[0][0], turns[0][0].matrix.rows
        if any(other.matrix.rows != matrix for other, _ in turns[1:]):
            return Joint.canonical(self)
        if all(simple is joint for (_, simple), joint in zip(turns, self.joints, strict=True)):
            return R, self
        return R, Composite(tuple(simple for _, simple in turns))

    # Names -----------------------------------------------------------------------------------------------------------

    @property
    def position_names(self):
        return self._numbered("position_names")

    @property
    def velocity_names(self):
        return self._numbered("velocity_names")

    @property
    def position_units(self):
        return tuple(unit for joint in self.joints for unit in joint.position_units)

    @property
    def velocity_units(self):
        return tuple(unit for joint in self.joints for unit in joint.velocity_units)

    def _numbered(self, names: str) -> tuple[str, ...]:
        return tuple(f"{k}.{name}" for k, joint in enumerate(self.joints, start=1) for name in getattr(joint, names))

    @classmethod
    def examples(cls, rng):
        """A crane, wheel in a slide in a hinge (nested), six freedoms with two kinds of charts, parallel axes."""
        axis = tuple(float(x) for x in rng.normal(size=3))
        yield cls((Revolute((0, 1, 0)), Prismatic((1, 0, 0))))
        yield cls((Revolute(axis), cls((Prismatic((0, 1, 0)), Reversed(RackAndPinion(0.4))))))
        yield cls((Helical(axis, 0.3), Prismatic(axis)))
        yield cls((Spherical(), Prismatic((1, 0, 0))))
        yield cls((SphericalExponential(), Translational()))


@once(most=64)
def _in_series(joints: tuple[Joint, ...]) -> Composite:
    """One object for the same joints, so that what is tried out for it once (`nearest_position`) holds."""
    return Composite(joints)
