"""Rheonomic joints: their motion depends on time explicitly (Featherstone, sections 3.4 and 3.5).

Algorithms use the ordinary joint of an instant, ``at(t)``, whose velocity is ``v_J = S v + sigma`` and whose bias
``c_J`` includes the apparent rate of sigma.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kinetree.errors import JointError
from kinetree.joints.contract import Joint, SameCoordinates
from kinetree.joints.dual import Dual, rate_of, value_of
from kinetree.joints.elementary import Cylindrical, Fixed, Prismatic, RackAndPinion
from kinetree.joints.euler import SphericalEuler
from kinetree.joints.planar import Planar
from kinetree.joints.time_functions import (
    FourierSeries,
    Polynomial,
    Sinusoid,
    TimeSpline,
    derivatives,
    time_function,
    value_at,
)
from kinetree.spatial import Columns, IdentityRotation, Matrix3, Motion, Transform, Vector3
from kinetree.spatial.rotations import ABOUT
from kinetree.spatial.scalar import arctan2, sincos


class Rheonomic(Joint):
    """Base class of joints whose transform depends on time.

    A joint of your own gives ``transform_at``, and ``nq`` and ``nv`` if it has freedoms besides; velocity and bias
    follow by differentiation. The manifold of its positions (``q_dot``, ``integrate``, ...) does not depend on time.

    Notes
    -----
    *Source* Featherstone, eqs. 3.31-3.33 and 3.40-3.44; ``jcalc`` with the time as a further argument, section 4.4.
    Velocities come from ``dX_J/dt = -v_J x X_J``.

    Examples
    --------
    A turntable that gets faster and faster:

    >>> from kinetree.spatial import Transform, Vector3
    >>> from kinetree.spatial.rotations import rz
    >>> class Spinning(Rheonomic):
    ...     def transform_at(self, t, q):
    ...         return Transform(rz(t * t), Vector3.zero())
    >>> now = Spinning().at(3.0)
    >>> round(float(now.velocity((), ()).angular.z), 12), round(float(now.bias((), ()).angular.z), 12)
    (6.0, 2.0)
    """

    __slots__ = ()

    nq = nv = 0
    time_dependent = True

    def transform_at(self, t, q: Sequence) -> Transform:
        """X_J(q, t): the coordinate transform from predecessor to successor coordinates."""
        raise NotImplementedError

    def motion_subspace_at(self, t, q: Sequence) -> tuple[Motion, ...]:
        """S(q, t); by default from ``transform_at``, along each velocity in turn."""
        columns = []
        for k in range(self.nv):
            rates = self.q_dot(q, [float(m == k) for m in range(self.nv)])
            moving = [Dual(x, rate) for x, rate in zip(q, rates, strict=True)]
            columns.append(twist_of(self.transform_at(Dual(t, 0.0), moving)))
        return tuple(columns)

    def at(self, t) -> Joint:
        if self.nv or self.nq:
            return AtTime(self, t)
        V = twist_of(self.transform_at(Dual(Dual(t, 1.0), 1.0), ()))
        return Instant(self.transform_at(t, ()), Motion.of(map(value_of, V)), Motion.of(map(rate_of, V)))

    def _timeless(self, *_):
        raise JointError(
            f"{self!r} depends on time, so its position needs one; joint.at(t) is the joint at a time "
            "t [s], model.at(t) the tree.",
            joint=self,
        )

    transform = motion_subspace = velocity = bias = subspace_rate = implicit = _timeless


class Instant(Joint):
    """A moving frame at an instant: a joint without freedoms that has a velocity.

    Parameters
    ----------
    X : Transform
    V : Motion
        v_J = sigma.
    A : Motion
        c_J, the apparent rate of sigma.
    """

    kind = "instant"
    nq = nv = 0
    rheonomic = True

    def __init__(self, X: Transform, V: Motion, A: Motion) -> None:
        self.X, self.V, self.A = X, V, A

    def transform(self, q):
        return self.X

    def motion_subspace(self, q):
        return ()

    def velocity(self, q, v):
        return self.V

    def bias(self, q, v):
        return self.A

    def subspace_rate(self, q, v):
        return ()

    def implicit(self, X):
        return Fixed().implicit(X @ self.X.inverse())

    def driven_rates(self, X):
        return list(self.V)

    def loop_coordinates(self, X):
        return [], ()


class AtTime(SameCoordinates, Joint):
    """A rheonomic joint at a time: every quantity from its transform, by differentiation.

    Parameters
    ----------
    joint : Rheonomic
    t : scalar
        [s].
    """

    kind = "at a time"
    rheonomic = True

    def __init__(self, joint: Rheonomic, t) -> None:
        self.joint, self.t = joint, t

    def transform(self, q):
        return self.joint.transform_at(self.t, q)

    def motion_subspace(self, q):
        return self.joint.motion_subspace_at(self.t, q)

    def sigma(self, q):
        return twist_of(self.joint.transform_at(Dual(self.t, 1.0), [Dual(x, 0.0) for x in q]))

    def velocity(self, q, v):
        return Columns(self.motion_subspace(q), Motion) @ v + self.sigma(q)

    def bias(self, q, v):
        then, moving = self._moving(q, v)
        return Motion.of(map(rate_of, then.velocity(moving, v)))

    def subspace_rate(self, q, v):
        then, moving = self._moving(q, v)
        return tuple(Motion.of(map(rate_of, column)) for column in then.motion_subspace(moving))

    def _moving(self, q, v):
        """This joint and its position as functions of time."""
        return AtTime(self.joint, Dual(self.t, 1.0)), [
            Dual(x, rate) for x, rate in zip(q, self.q_dot(q, v), strict=True)
        ]


def twist_of(X: Transform) -> Motion:
    """The velocity of the successor, in its coordinates, from a transform whose entries are dual numbers."""
    rows = X.E.matrix.rows
    E = Matrix3(tuple(tuple(map(value_of, row)) for row in rows))
    W = Matrix3(tuple(tuple(map(rate_of, row)) for row in rows)) @ E.T  # dE/dt E^T = -[w]x
    return Motion(Vector3(W[1, 2], W[2, 0], W[0, 1]), E @ Vector3(*map(rate_of, X.r)))


PROBE = 0.375  # any number


@dataclass(frozen=True, slots=True, eq=False)
class MovingFrame(Rheonomic):
    """The successor frame moves along a path and turns about axes, both given as functions of time.

    Prescribed pivots, shaken bases, turntables, ships: the motion is independent of all forces. A `Composite` with
    another joint is that joint on a moving support.

    Parameters
    ----------
    position : sequence of 3 functions of time or numbers
        Of the origin, in predecessor coordinates [m].
    axes : str
        About which axes of the frame as turned so far it turns, any number of "x", "y", "z".
    angles : sequence of functions of time or numbers
        One for each of the axes [rad].

    Raises
    ------
    JointError
        If something is no function of time, or the axes and angles do not match.

    Notes
    -----
    A function of time is a number, a `Polynomial`, a `Sinusoid`, a `FourierSeries`, a `TimeSpline` or any callable over
    scalars; the numbers in it are baked into compiled code.

    *Source* Featherstone, section 3.4 (a prismatic joint as a function of time is a rheonomic joint of 0 DoF) and eqs.
    3.31-3.44: v_J = sigma(t), c_J its apparent rate, found step by step outward through the turns.

    Examples
    --------
    The pivot of Kapitza's pendulum, 1 cm up and down:

    >>> pivot = MovingFrame((0.0, 0.0, Sinusoid(0.01, omega=300.0)))
    >>> float(pivot.at(0.0).velocity((), ()).linear.z)
    3.0
    """

    position: tuple[Callable | float, ...] = (0.0, 0.0, 0.0)
    axes: str = ""
    angles: tuple[Callable | float, ...] = ()

    kind = "moving_frame"
    nq = nv = 0

    def __post_init__(self) -> None:
        for name in ("position", "angles"):
            given = getattr(self, name)
            if not isinstance(given, (tuple, list)):
                raise JointError(
                    f"moving_frame joint: {name} is {given!r}, expected a sequence of functions of time, "
                    f"{'three' if name == 'position' else 'one for each of the axes'}.",
                    found=given,
                )
            functions = tuple(time_function(f, f"moving_frame joint: {name}[{k}]") for k, f in enumerate(given))
            object.__setattr__(self, name, functions)
        if len(self.position) != 3:
            raise JointError(
                f"moving_frame joint: position has {len(self.position)} functions, expected 3: along x, y and z.",
                found=self.position,
            )
        if not isinstance(self.axes, str) or not set(self.axes) <= set("xyz") or len(self.axes) != len(self.angles):
            raise JointError(
                f"moving_frame joint: axes {self.axes!r} and {len(self.angles)} angles; expected one letter x, y or z "
                "for each angle, as axes='zx', angles=(f, g).",
                axes=self.axes,
            )

    def transform_at(self, t, q):
        X = Transform(IdentityRotation(), Vector3(*(value_at(f, t) for f in self.position)))
        for axis, f in zip(self.axes, self.angles, strict=True):
            X = Transform(ABOUT[axis](value_at(f, t)), Vector3.zero()) @ X
        return X

    def at(self, t):
        p, v, a = zip(*(derivatives(f, t) for f in self.position), strict=True)
        X = Transform(IdentityRotation(), Vector3(*p))
        V, A = Motion(Vector3.zero(), Vector3(*v)), Motion(Vector3.zero(), Vector3(*a))
        for axis, f in zip(self.axes, self.angles, strict=True):
            angle, rate, rate_of_rate = derivatives(f, t)
            turn = Transform(ABOUT[axis](angle), Vector3.zero())
            e = Motion(Vector3.unit("xyz".index(axis)), Vector3.zero())
            # V' = R V + e f',  A' = R A + R V x e f' + e f''
            X, V, spin = turn @ X, turn @ V, e * rate
            A = turn @ A + V.cross(spin) + e * rate_of_rate
            V = V + spin
        return Instant(X, V, A)

    @classmethod
    def examples(cls, rng):
        """A shaken pivot, a tilting turntable on a spline, all six, and a sway that starts from rest."""
        sway, heave = Sinusoid(0.3, 2.0, 0.5), FourierSeries(1.3, (0.2, 0.05), (0.0, 0.1), 0.4)
        path = TimeSpline((0.0, 0.5, 1.25, 2.0), tuple(float(x) for x in rng.normal(size=4)))
        yield cls((0.0, 0.0, sway))
        yield cls((0.0, 0.2, 0.0), "zx", (Polynomial((0.1, 0.7)), path))
        yield cls((sway, Polynomial((0.0, 0.3, -0.2), start=0.2), heave), "xyz", (heave, sway, path))
        yield cls((TimeSpline((0.0, 1.0), (0.0, 0.4), ends="rest"), 0.0, 0.0), "y", (Polynomial((0.0, 0.0, 0.0, 0.1)),))


@dataclass(frozen=True, slots=True, eq=False)
class Prescribed(Rheonomic):
    """A joint whose coordinates follow functions of time; those that do not remain its freedoms.

    Parameters
    ----------
    joint : Joint
        With one velocity for each position (no quaternions).
    motion : function of time, sequence or mapping
        The function of the only coordinate; one for each coordinate, None where it is free; or functions by number or
        name of the coordinate. Kept as a tuple with one entry for each coordinate.

    Raises
    ------
    JointError
        If no coordinate has a function, an entry is none, or the joint does not allow it.

    Notes
    -----
    The coordinates follow their functions; the power of the required force is `prescribed_power`. A function of
    time is a number, a `Polynomial`, a `Sinusoid`, a `FourierSeries`, a `TimeSpline` or any callable over scalars; the
    numbers in it are baked into compiled code.

    *Source* Featherstone, section 3.4: a cylindrical joint one of whose freedoms is a function of time is a rheonomic
    joint of 1 DoF, a prismatic one with its only freedom a rheonomic joint of 0 DoF. With f the given coordinates:
    v_J = S v + sigma, sigma = S_f f', c_J = (apparent dS/dt) (v, f') + S_f f'' (eqs. 3.33, 3.42).

    *Identities* Motion, forces and the other joints' accelerations are those of the whole joint that moves in this way.

    Examples
    --------
    A bolt whose displacement is prescribed and that turns freely:

    >>> from kinetree.joints import Cylindrical, Polynomial
    >>> bolt = Prescribed(Cylindrical(), {"displacement": Polynomial((0.0, 0.2))})
    >>> bolt.nv, bolt.position_names, float(bolt.at(1.0).sigma([0.0]).linear.z)
    (1, ('angle',), 0.2)
    """

    joint: Joint
    motion: tuple[Callable | float | None, ...]

    kind = "prescribed"

    def __post_init__(self) -> None:
        joint = self.joint
        if not isinstance(joint, Joint):
            raise JointError(f"prescribed joint: {joint!r} is not a joint.", joint=joint)
        if joint.nq != joint.nv or joint.time_dependent:
            why = "depends on time itself" if joint.time_dependent else f"has nq={joint.nq} and nv={joint.nv}"
            raise JointError(
                f"prescribed joint: {joint!r} {why}, so its coordinates cannot be given one by one; take one whose "
                "velocities belong to its positions, as SphericalEuler, or a MovingFrame.",
                joint=joint,
            )
        object.__setattr__(self, "motion", self._functions(self.motion))
        if any(f is None for f in self.motion) and not self._is_plain:
            raise JointError(
                f"prescribed joint: the velocities of {joint!r} are not the rates of its positions, so they cannot be "
                "given in part; give functions for all coordinates, or take another joint.",
                joint=joint,
            )

    def _functions(self, motion) -> tuple[Callable | float | None, ...]:
        joint = self.joint
        if isinstance(motion, Mapping):
            entries: list = [None] * joint.nq
            for key, f in motion.items():
                index = joint.position_names.index(key) if key in joint.position_names else key
                if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < joint.nq:
                    raise JointError(
                        f"prescribed joint: {joint!r} has no coordinate {key!r}; it has "
                        f"{', '.join(f'{k} ({name})' for k, name in enumerate(joint.position_names))}.",
                        joint=joint,
                        coordinate=key,
                    )
                entries[index] = f
        elif isinstance(motion, (tuple, list)):
            entries = list(motion)
        else:
            entries = [motion]
        if len(entries) != joint.nq or all(f is None for f in entries):
            raise JointError(
                f"prescribed joint: {sum(f is not None for f in entries)} functions among {len(entries)} entries for "
                f"{joint!r}, which has {joint.nq} coordinates ({', '.join(joint.position_names)}); expected one entry "
                "for each, None for those that stay free, and at least one function.",
                joint=joint,
            )
        what = "prescribed joint: the motion of"
        return tuple(
            None if f is None else time_function(f, f"{what} {name}")
            for name, f in zip(joint.position_names, entries, strict=True)
        )

    @property
    def _is_plain(self) -> bool:
        """Whether the velocities are the rates of the positions."""
        q = [PROBE + 0.1 * k for k in range(self.joint.nq)]
        v = [PROBE - 0.3 * k for k in range(self.joint.nq)]
        return list(self.joint.q_dot(q, v)) == v

    @property
    def free(self) -> tuple[int, ...]:
        """The coordinates of the whole joint that remain."""
        return tuple(k for k, f in enumerate(self.motion) if f is None)

    @property
    def nq(self) -> int:
        return len(self.free)

    @property
    def nv(self) -> int:
        return len(self.free)

    def whole(self, x, given):
        """All coordinates: ``x`` are the free ones, ``given`` the others by number."""
        x = iter(x)
        return [next(x) if f is None else given[k] for k, f in enumerate(self.motion)]

    def transform_at(self, t, q):
        given = {k: value_at(f, t) for k, f in enumerate(self.motion) if f is not None}
        return self.joint.transform(self.whole(q, given))

    def at(self, t):
        if not self._is_plain:
            return Rheonomic.at(self, t)
        now = PrescribedAt(self, t)
        return now if self.free else Instant(now.transform(()), now.velocity((), ()), now.bias((), ()))

    # The manifold of the free coordinates ----------------------------------------------------------------------------

    def difference(self, q0, q1):
        given = self.joint.neutral()
        return self._of_free(self.joint.difference(self.whole(q0, given), self.whole(q1, given)))

    def neutral(self):
        return self._of_free(self.joint.neutral())

    def random(self, rng):
        return self._of_free(self.joint.random(rng))

    def _of_free(self, values) -> list:
        return [values[k] for k in self.free]

    @classmethod
    def examples(cls, rng):
        """The book's two, one with a path that repeats, and one whose subspace changes with time."""
        axis = tuple(float(x) for x in rng.normal(size=3))
        loop = TimeSpline((0.0, 0.4, 1.0, 1.5), (0.3, -0.2, 0.5, 0.3), ends="periodic")
        yield cls(Cylindrical(axis), (None, Sinusoid(0.4, 3.0)))
        yield cls(Prismatic(axis), (loop,))
        yield cls(RackAndPinion(0.4), (FourierSeries(2.0, (0.3,), (0.1, 0.2)),))
        yield cls(Planar(), (Polynomial((0.2, 1.5)), loop, Sinusoid(0.4, 3.0, 1.0)))
        yield cls(SphericalEuler("zyx"), (None, loop, None))


for _name in ("position_names", "velocity_names", "position_units", "velocity_units"):
    setattr(Prescribed, _name, property(lambda self, name=_name: tuple(self._of_free(getattr(self.joint, name)))))


class PrescribedAt(AtTime):
    """A prescribed joint at a time: the whole joint at the values of the functions, with some of its columns of S.

    Parameters
    ----------
    joint : Prescribed
    t : scalar
        [s].
    """

    kind = "prescribed, at a time"

    def __init__(self, joint: Prescribed, t) -> None:
        super().__init__(joint, t)
        found = {k: derivatives(f, t) for k, f in enumerate(joint.motion) if f is not None}
        self.position, self.rate, self.second = ({k: x[n] for k, x in found.items()} for n in range(3))

    def _whole(self, q):
        return self.joint.whole(q, self.position)

    def transform(self, q):
        return self.joint.joint.transform(self._whole(q))

    def motion_subspace(self, q):
        columns = self.joint.joint.motion_subspace(self._whole(q))
        return tuple(columns[k] for k in self.joint.free)

    def implicit(self, X):
        """The form of the whole joint, and its prescribed coordinates, next to the values of their functions."""
        whole = self.joint.joint
        (delta, T), (q, W) = whole.implicit(X), whole.loop_coordinates(X)
        errors = [q[k] - x for k, x in self.position.items()]
        errors = [arctan2(*sincos(x)) if whole.wraps[k] else x for k, x in zip(self.position, errors, strict=True)]
        return [*delta, *errors], (*T, *(W[k] for k in self.position))

    def driven_rates(self, X):
        return [0.0] * (6 - self.joint.joint.nv) + list(self.rate.values())

    def driven_velocity(self, X):
        return [0.0] * self.nv

    def loop_coordinates(self, X):
        q, W = self.joint.joint.loop_coordinates(X)
        return self.joint._of_free(q), tuple(self.joint._of_free(W))

    @property
    def searched(self):
        return self.joint.joint.searched

    @property
    def wraps(self):
        return tuple(self.joint._of_free(self.joint.joint.wraps))

    def sigma(self, q):
        return self.velocity(q, [0.0] * self.nv)

    def velocity(self, q, v):
        return self.joint.joint.velocity(self._whole(q), self.joint.whole(v, self.rate))

    def bias(self, q, v):
        inner, whole = self.joint.joint, self._whole(q)
        S = inner.motion_subspace(whole)
        prescribed = Columns([S[k] for k in self.second], Motion) @ list(self.second.values())
        return inner.bias(whole, self.joint.whole(v, self.rate)) + prescribed

    def subspace_rate(self, q, v):
        rates = self.joint.joint.subspace_rate(self._whole(q), self.joint.whole(v, self.rate))
        return tuple(rates[k] for k in self.joint.free)
