"""The contract of joints: all that the model and the algorithms use of a joint.

A joint connects a predecessor frame to a successor frame. It defines kinematics, without trees, bodies or forces.
A joint of your own is a subclass that gives ``nq``, ``nv``, ``transform`` and ``motion_subspace``; everything else
has a default that follows from these (and compiles like the built-in joints).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from kinetree.errors import JointError
from kinetree.joints.dual import Dual, rate_of
from kinetree.joints.nearest_position import nearest_coordinates, nearest_form, require_form
from kinetree.spatial import (
    Columns,
    Force,
    GeneralRotation,
    IdentityRotation,
    Matrix3,
    Motion,
    Rotation,
    Transform,
    Vector3,
)


class Joint:
    """A joint between a predecessor and a successor frame.

    All methods work on scalars of any kind; ``q`` and ``v`` are the nq and nv scalars of this joint alone.

    Attributes
    ----------
    kind : str
        Name in the registry; by default the class name in snake case.
    nq, nv : int
        Number of position and velocity variables; class or instance attributes.
    constant_subspace : bool
        True if the motion subspace does not depend on q in successor coordinates, so that c_J = 0.
        It only saves work: without it the default ``bias`` differentiates ``motion_subspace``.
    several_charts : bool
        True if no single set of coordinates reaches all positions, so that ``reparameterize`` changes some of them.
    regroupable : tuple of str
        Moments of mass that can be assigned to the predecessor instead, among "m", "h.x" ... "h.z" (first moments),
        "P.xx" ... "P.zz" (second moments): ``X_J^T Delta X_J = Delta`` for all q and ``Delta S = 0``, so joint forces
        do not depend on where they are. It only saves work.
    time_dependent : bool
        Whether the motion depends on time explicitly: then it is a `Rheonomic` joint, and ``at(t)`` is the ordinary
        joint of an instant, which the algorithms use.
    rheonomic : bool
        Whether v_J has a part ``sigma`` that is independent of v, as joints at a time have.
    position_names, velocity_names : tuple of str
        Labels of the variables.
    position_units, velocity_units : tuple of str
        Their units, "rad", "m/s"; "1" for a plain number.

    Notes
    -----
    Joints are immutable values: make a class with parameters a ``@dataclass(frozen=True)`` and keep numbers and
    tuples in it, not arrays. Two joints are equal if their classes and parameters are.

    *Source* Featherstone, sections 3.5 and 4.4 (``jcalc``).

    *Identities* dX_J/dt = -v_J x X_J; v_J = S v; c_J = (apparent dS/dt) v; T^T S = 0; those of ``regroupable``. For
    rheonomic joints v_J = S v + sigma and c_J = (apparent dS/dt) v + (apparent rate of sigma), eqs. 3.33 and 3.42.

    Examples
    --------
    A wheel that rolls along the x axis of its predecessor without slipping:

    >>> from dataclasses import dataclass
    >>> from kinetree.spatial import Motion, Transform, Vector3
    >>> from kinetree.spatial.rotations import rz
    >>> @dataclass(frozen=True)
    ... class Wheel(Joint):
    ...     radius: float
    ...     nq = nv = 1
    ...     def transform(self, q):
    ...         return Transform(rz(q[0]), Vector3(-self.radius * q[0], 0.0, 0.0))
    ...     def motion_subspace(self, q):
    ...         E = rz(q[0])
    ...         return (Motion(Vector3(0.0, 0.0, 1.0), E @ Vector3(-self.radius, 0.0, 0.0)),)
    >>> c_J = Wheel(0.5).bias([0.0], [2.0])
    >>> float(c_J.linear.y)  # radius * v^2: the successor's axes turn under a constant velocity
    2.0
    """

    __slots__ = ()

    kind: str = "joint"
    nq: int
    nv: int
    constant_subspace: bool = False
    several_charts: bool = False
    regroupable: tuple[str, ...] = ()
    time_dependent: bool = False
    rheonomic: bool = False

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if "kind" not in vars(cls):
            cls.kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        _check_class(cls)

    # Kinematics ----------------------------------------------------------------------------------------------------

    def transform(self, q: Sequence) -> Transform:
        """X_J(q): the coordinate transform from predecessor to successor coordinates."""
        raise NotImplementedError

    def motion_subspace(self, q: Sequence) -> tuple[Motion, ...]:
        """S(q): one Motion per velocity variable, in successor coordinates."""
        raise NotImplementedError

    def velocity(self, q: Sequence, v: Sequence) -> Motion:
        """v_J = S v: velocity of the successor relative to the predecessor, in successor coordinates."""
        return Columns(self.motion_subspace(q), Motion) @ v

    def bias(self, q: Sequence, v: Sequence) -> Motion:
        """c_J = (apparent derivative of S along v) v, in successor coordinates.

        Notes
        -----
        Source: Featherstone, eq. 3.42: c_J is the apparent rate of S, times v.
        """
        if self.constant_subspace:
            return Motion.zero()
        return Columns(self.subspace_rate(q, v), Motion) @ v

    def subspace_rate(self, q: Sequence, v: Sequence) -> tuple[Motion, ...]:
        """Apparent derivative of each column of S along v, in successor coordinates; zero if ``constant_subspace``.

        Notes
        -----
        The default evaluates ``motion_subspace`` on dual numbers
        (:class:`~kinetree.joints.dual.Dual`), so it is exact for scalars of any kind.
        """
        if self.constant_subspace:
            return (Motion.zero(),) * self.nv
        moving = [Dual(x, rate) for x, rate in zip(q, self.q_dot(q, v), strict=True)]
        return tuple(Motion.of([rate_of(x) for x in column]) for column in self.motion_subspace(moving))

    # Time ----------------------------------------------------------------------------------------------------------

    def at(self, t) -> Joint:
        """The joint at a time t [s], any scalar, for algorithms; the joint itself unless it depends on time."""
        return self

    def sigma(self, q: Sequence) -> Motion:
        """The part of v_J that needs no velocity (Featherstone, eq. 3.33); zero unless ``rheonomic``."""
        return self.velocity(q, [0.0] * self.nv) if self.rheonomic else Motion.zero()

    def subspace_along(self, q: Sequence, v: Sequence) -> tuple[Motion, ...]:
        """Apparent derivative of each column of S along v at constant time; else as ``subspace_rate``."""
        rates = self.subspace_rate(q, v)
        if not self.rheonomic:
            return rates
        return tuple(x - y for x, y in zip(rates, self.subspace_rate(q, [0.0] * self.nv), strict=True))

    @property
    def rigid(self) -> bool:
        """Whether the frames never move relative to each other."""
        return self.nq == self.nv == 0 and not self.time_dependent

    # The manifold of positions -------------------------------------------------------------------------------------

    def q_dot(self, q: Sequence, v: Sequence) -> list:
        """dq/dt when the velocity is v; default v (Featherstone, eq. 3.7)."""
        self._needs_definition("q_dot", "q_dot = v")
        return list(v)

    def integrate(self, q: Sequence, dv: Sequence) -> list:
        """The position reached from q with the constant velocity dv in unit time; default q + dv."""
        self._needs_definition("integrate", "q + dv")
        return [x + dx for x, dx in zip(q, dv, strict=True)]

    def straight_step(self, q: Sequence, v: Sequence, h) -> tuple[list, list]:
        """The state after a time h of steady rotation and straight motion of the successor, in axes of the predecessor.

        By default that with constant v. Joints whose linear velocity is in the axes of a body that turns define it,
        together with ``straight_rate``, for steps that are to keep the momentum of a free body.
        """
        return self.integrate(q, [h * v_k for v_k in v]), list(v)

    def straight_rate(self, q: Sequence, v: Sequence) -> list:
        """dv/dt in the motion of ``straight_step``; default zero."""
        return [0.0] * self.nv

    def difference(self, q0: Sequence, q1: Sequence) -> list:
        """The dv with integrate(q0, dv) = q1; default q1 - q0."""
        self._needs_definition("difference", "q1 - q0")
        return [x1 - x0 for x0, x1 in zip(q0, q1, strict=True)]

    def tangent_rate(self, xi: Sequence, v: Sequence) -> list:
        """The rate of a step xi while the position integrate(q0, xi) moves with velocity v, whatever q0 is.

        Notes
        -----
        The identity for joints that add (q + dv). For others the default differentiates ``difference`` at the step,
        starting from the neutral position; it holds for steps below half a turn. Source: the inverse tangent map of
        Munthe-Kaas' methods on Lie groups.
        """
        if type(self).integrate is Joint.integrate:
            self._needs_definition("tangent_rate", "v")
            return list(v)
        q0 = self.neutral()
        q = self.integrate(q0, xi)
        moving = [Dual(x, rate) for x, rate in zip(q, self.q_dot(q, v), strict=True)]
        return [rate_of(x) for x in self.difference(q0, moving)]

    def neutral(self) -> list[float]:
        """The position at which the frames coincide, as far as possible; default zeros."""
        self._needs_definition("neutral", "zeros")
        return [0.0] * self.nq

    def random(self, rng) -> list[float]:
        """A random position, as floats; ``rng`` is a ``numpy.random.Generator``. Default: neutral + [-1, 1)^nv."""
        return [float(x) for x in self.integrate(self.neutral(), [float(x) for x in rng.uniform(-1.0, 1.0, self.nv)])]

    def normalize(self, q: Sequence) -> list:
        """The valid position nearest to q: unit quaternions; default q itself."""
        return list(q)

    def defect(self, q: Sequence) -> list:
        """Scalars that vanish on valid q, such as ``|quaternion|^2 - 1``; default none."""
        return []

    def reparameterize(self, q: Sequence, v: Sequence) -> tuple[list, list]:
        """The same state in coordinates far from a singularity; default q and v themselves.

        Notes
        -----
        Source: Sueda, section 2.4.8. The integrators call it after every step where ``several_charts`` is True.
        """
        return list(q), list(v)

    # As a loop joint -----------------------------------------------------------------------------------------------

    def implicit(self, X: Transform) -> tuple[list, tuple[Force, ...]]:
        """Position error and constraint-force basis of this joint when it closes a loop.

        Parameters
        ----------
        X : Transform
            From predecessor to successor coordinates, for any poses of the two frames.

        Returns
        -------
        delta : list of 6 - nv scalars
            Zero if the joint can reach X. With X = X_err X_J and X_err ~ 1 - d x, delta = T^T d + O(d^2); like any
            such formula (the book's table 8.1 too) it also vanishes half a turn away from a reachable X.
        T : tuple of 6 - nv Force
            Basis of the constraint forces in successor coordinates: T^T S = 0.

        Raises
        ------
        UnsupportedError
            If the joint has no implicit form: its motions are dependent everywhere, or depend on time.

        Notes
        -----
        Source: Featherstone, section 8.3, eqs. 8.25-8.27 and table 8.1. The default finds the nearest position of the
        joint by iterations (`kinetree.joints.nearest_position`), with T in directions of no special meaning.
        """
        require_form(self)
        return nearest_form(self, X)

    @property
    def wraps(self) -> tuple[bool, ...]:
        """For each position of ``loop_coordinates`` whether it is an angle without whole turns, from -pi to pi."""
        return (False,) * self.nq

    @property
    def searched(self) -> bool:
        """Whether ``loop_coordinates`` is the default, a search, and no formula."""
        return self.nv > 0 and type(self).loop_coordinates is Joint.loop_coordinates

    def loop_coordinates(self, X: Transform) -> tuple[list, tuple[Force, ...]]:
        """The position of the joint when it closes a loop, and the forces whose powers are along its velocities.

        Parameters
        ----------
        X : Transform
            From predecessor to successor coordinates, for any poses of the two frames.

        Returns
        -------
        q : list of nq scalars
            With ``transform(q) = X`` where the joint can reach X; of unit quaternions either sign.
        W : tuple of nv Force
            In successor coordinates: ``v = W^T V`` for every relative twist V, with ``dq/dt = q_dot(q, v)`` at any
            pose, so ``W^T S = 1`` where the joint can reach X; of joints at a time with ``driven_velocity`` besides.

        Raises
        ------
        UnsupportedError
            If the joint has no implicit form.

        Notes
        -----
        The default is that of ``implicit``, with an error of W in proportion to the distance where X is out of reach.
        """
        require_form(self)
        return nearest_coordinates(self, X)

    def driven_rates(self, X: Transform) -> list:
        """For each row of ``implicit`` the ``T^T V`` by time alone, ``T^T sigma``; zero unless ``rheonomic``."""
        if not self.rheonomic:
            return [0.0] * (6 - self.nv)
        sigma = self.sigma(self.loop_coordinates(X)[0])
        return [column.dot(sigma) for column in self.implicit(X)[1]]

    def driven_velocity(self, X: Transform) -> list:
        """What time alone adds to each velocity: ``v = W^T V - W^T sigma``, zero unless ``rheonomic``."""
        if not self.rheonomic:
            return [0.0] * self.nv
        q, W = self.loop_coordinates(X)
        sigma = self.sigma(q)
        return [-column.dot(sigma) for column in W]

    def force_basis_rate(self, X: Transform, V_J: Motion) -> tuple[Force, ...]:
        """Apparent derivative of the T of ``implicit`` when the relative velocity is V_J, in successor coordinates."""
        return tuple(Force.of([rate_of(x) for x in column]) for column in self.implicit(moving(X, V_J))[1])

    # Equivalent forms ----------------------------------------------------------------------------------------------

    def canonical(self) -> tuple[Rotation, Joint]:
        """A constant rotation R and a cheaper joint J' with X_J = R^-1 X_J' R and S = R^-1 S'."""
        return IdentityRotation(), self

    # Names ---------------------------------------------------------------------------------------------------------

    @property
    def position_names(self) -> tuple[str, ...]:
        return tuple(f"q{k}" for k in range(self.nq))

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return tuple(f"v{k}" for k in range(self.nv))

    @property
    def position_units(self) -> tuple[str, ...]:
        return ("1",) * self.nq

    @property
    def velocity_units(self) -> tuple[str, ...]:
        return ("1/s",) * self.nv

    def describe(self) -> str:
        """One line for error messages and plots: the joint, its variables and their units."""
        q = ", ".join(f"{name} [{unit}]" for name, unit in zip(self.position_names, self.position_units, strict=True))
        v = ", ".join(f"{name} [{unit}]" for name, unit in zip(self.velocity_names, self.velocity_units, strict=True))
        return f"{self!r}: q = ({q}), v = ({v})"

    @classmethod
    def examples(cls, rng) -> Iterator[Joint]:
        """Joints of this kind for the test battery; default one without parameters."""
        try:
            joint = cls()
        except TypeError as failure:
            raise JointError(
                f"joint kind {cls.kind!r} has parameters ({failure}); give {cls.__name__} a classmethod "
                "examples(cls, rng) that yields a few joints for the tests.",
                kind=cls.kind,
            ) from None
        yield joint

    # Values --------------------------------------------------------------------------------------------------------

    def _parameters(self) -> dict[str, object]:
        """Every attribute of this instance, in slots or not: a comparison of two joints includes every parameter."""
        slots = [name for c in type(self).__mro__ for name in vars(c).get("__slots__", ()) if hasattr(self, name)]
        return {name: getattr(self, name) for name in (*slots, *getattr(self, "__dict__", ()))}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._parameters() == other._parameters()

    def __hash__(self) -> int:
        return hash((type(self), *self._parameters().items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._parameters().items())})"

    def _needs_definition(self, method: str, default: str) -> None:
        if self.nq != self.nv:
            raise JointError(
                f"{self!r} has nq={self.nq} and nv={self.nv}, so the default {method} ({default}) is wrong for it; "
                f"define {type(self).__name__}.{method}.",
                joint=self,
                method=method,
            )


def _check_class(cls: type[Joint]) -> None:
    """Refuse an incomplete joint class when it is defined, not when it is first used."""
    missing = [name for name in ("transform", "motion_subspace") if getattr(cls, name) is getattr(Joint, name)]
    if "__init__" not in vars(cls):  # a constructor may set the sizes
        declared = {name for c in cls.__mro__ if c is not Joint for name in vars(c).get("__annotations__", ())}
        missing += [name for name in ("nq", "nv") if not hasattr(cls, name) and name not in declared]
    if missing:
        raise JointError(
            f"joint class {cls.__name__} does not define {', '.join(missing)}; a joint must give nq, nv, transform(q) "
            "and motion_subspace(q).",
            missing=missing,
        )
    nq, nv = getattr(cls, "nq", None), getattr(cls, "nv", None)
    if isinstance(nq, int) and isinstance(nv, int) and nq != nv:
        needed = ("q_dot", "integrate", "difference", "neutral")
        missing = [name for name in needed if getattr(cls, name) is getattr(Joint, name)]
        if missing:
            raise JointError(
                f"joint class {cls.__name__} has nq={nq} and nv={nv}, so it must define {', '.join(missing)}: the "
                "defaults (q_dot = v, q + dv, q1 - q0, zeros) hold only for nq = nv.",
                missing=missing,
            )


def moving(X: Transform, V: Motion) -> Transform:
    """X of `Dual` numbers, with the rate that it has under a relative twist V in successor coordinates."""
    E, r = X.E.matrix, X.r
    E_dot = -(Matrix3.cross(V.angular) @ E)
    r_dot = X.E.inverse_apply(V.linear)
    return Transform(
        GeneralRotation(Matrix3(tuple(tuple(Dual(E[i, j], E_dot[i, j]) for j in range(3)) for i in range(3)))),
        Vector3(*(Dual(x, rate) for x, rate in zip(r, r_dot, strict=True))),
    )


def coordinate_forces_rate(joint: Joint, X: Transform, V: Motion) -> tuple[Force, ...]:
    """Apparent derivative of the W of ``loop_coordinates`` under the relative velocity V, in successor coordinates."""
    return tuple(Force.of([rate_of(x) for x in column]) for column in joint.loop_coordinates(moving(X, V))[1])


def driven_rates_rate(joint: Joint, X: Transform, V: Motion) -> list:
    """Rates of ``driven_rates`` under the relative velocity V, of a joint at a time that goes on."""
    return [rate_of(x) for x in joint.driven_rates(moving(X, V))] if joint.rheonomic else [0.0] * (6 - joint.nv)


def driven_velocity_rate(joint: Joint, X: Transform, V: Motion) -> list:
    """The same of ``driven_velocity``."""
    return [rate_of(x) for x in joint.driven_velocity(moving(X, V))] if joint.rheonomic else [0.0] * joint.nv


def gradients(function: Callable[[Transform], Sequence], X: Transform) -> tuple[Force, ...]:
    """For each scalar x of a function of X the force W with ``dx/dt = W^T V`` for every relative twist V."""
    units = (Motion.of([float(k == n) for k in range(6)]) for n in range(6))
    rates = [[rate_of(x) for x in function(moving(X, unit))] for unit in units]
    return tuple(Force.of(list(column)) for column in zip(*rates, strict=True))


class SameCoordinates:
    """A joint whose coordinates are those of the joint that it wraps, ``self.joint``; a base before ``Joint``."""

    __slots__ = ()


def of_the_joint(cls: type, *names: str) -> None:
    """Give a class that wraps a joint these properties and methods of that joint."""
    for name in names:
        setattr(cls, name, property(attrgetter(f"joint.{name}"), doc=f"``{name}`` of the joint."))


of_the_joint(
    SameCoordinates,
    "nq", "nv", "several_charts", "q_dot", "integrate", "difference", "tangent_rate", "neutral", "random", "normalize",
    "defect", "reparameterize", "position_names", "velocity_names", "position_units", "velocity_units",
)  # fmt: skip


def tangent_inverse(joint: Joint, xi: Sequence) -> list[list]:
    """The matrix of the joint's ``tangent_rate`` at xi: rows, structural zeros and ones kept."""
    columns = [joint.tangent_rate(xi, [1.0 if m == k else 0.0 for m in range(joint.nv)]) for k in range(joint.nv)]
    return [list(row) for row in zip(*columns, strict=True)]
