"""Rolling without slip, and blades: wheels, disks, balls, knife edges."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.arguments import number, text
from kinetree.constraints.velocity_constraint import VelocityConstraint
from kinetree.joints.axes import unit_axis
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import sqrt
from kinetree.state_kinematics import ORIGIN, Kinematics, point_of

Axis = tuple[float, float, float]


def _check_rolling(rolling) -> None:
    """Names of frames, and a positive radius."""
    for what in ("frame", "plane"):
        text(f"{rolling.kind.replace('_', ' ')}: {what}", getattr(rolling, what), "the name of a frame")
    radius = number(f"{rolling}: radius", rolling.radius, "a positive radius [m]", above=0.0)
    object.__setattr__(rolling, "radius", radius)


@dataclass(frozen=True, slots=True)
class KnifeEdge(VelocityConstraint):
    """A point of a body does not move sideways: a blade on ice, a wheel of a trailer without inertia.

    Parameters
    ----------
    frame : str
    axis : sequence of 3 floats
        The direction in which the point does not move, in the coordinates of the frame; normalized.
    at : sequence of 3 floats
        The point, in the coordinates of the frame [m].
    relative_to : str, optional
        The frame relative to which it does not move; the world by default.
    name : str

    Notes
    -----
    The multiplier is the force on the point along the axis [N].

    Source: Neimark, Fufaev (1972), chapter II; Bloch (2003), section 1.7 (Chaplygin's sleigh).

    Examples
    --------
    Chaplygin's sleigh, whose center of mass is 0.2 m ahead of the blade: turning drives it forward.

    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("sleigh")
    >>> moments = [[1, 0, 0], [0, 1, 0], [0, 0, 0.5]]
    >>> _ = b.add_body("sleigh", joint=kt.joints.Planar(), mass=1.0, com=(0.2, 0, 0), inertia=moments)
    >>> sleigh = b.build().with_constraints(kt.constraints.KnifeEdge("sleigh"))
    >>> a = kt.forward_dynamics(sleigh, [0, 0, 0], [3.0, 0, 0], [0, 0, 0])  # 0.2 m (3 rad/s)^2
    >>> [round(float(x), 12) + 0.0 for x in a]
    [0.0, 1.8, 0.0]
    """

    frame: str
    axis: Axis = (0.0, 1.0, 0.0)
    at: tuple[float, float, float] = ORIGIN
    relative_to: str | None = None
    name: str = ""

    frame_fields = ("frame", "relative_to")
    number_fields = ("at",)

    def __post_init__(self) -> None:
        text("knife edge: frame", self.frame, "the name of a frame")
        if self.relative_to is not None:
            text("knife edge: relative_to", self.relative_to, "the name of a frame, or None")
        object.__setattr__(self, "axis", unit_axis(self.axis, "knife edge"))
        object.__setattr__(self, "at", point_of(f"{self}: at", self.at))

    def psi(self, kin):
        """The velocity along the axis."""
        return kin.velocity(self.frame, self.at, self.relative_to).dot(Vector3(*self.axis))

    @classmethod
    def examples(cls, model, rng):
        """A point of the last body, and one relative to another body."""
        names = [frame.name for frame in model.frames[: model.nb]]
        yield (cls(names[-1], (0.6, 0.0, 0.8), (0.1, 0.2, -0.3)),)
        yield (cls(names[-1], relative_to=names[1]),)


@dataclass(frozen=True, slots=True)
class RollingWheel(VelocityConstraint):
    """A wheel that rolls without slip, whose height is given otherwise: by the joints of a vehicle.

    Parameters
    ----------
    frame : str
        Its origin is the center of the wheel; the axle turns with it or not.
    radius : float
        [m].
    axis : sequence of 3 floats
        The axle, in the coordinates of the frame; normalized.
    plane : str
        Frame whose x-y plane is the ground; the wheel is above, at positive z.
    name : str

    Notes
    -----
    The frame is fixed to the wheel. With the plane's normal n, ``s = |a x n|``, the heading ``t = a x n / s`` and the
    lateral direction ``l = (a - (n.a) n) / s``, the velocity of the wheel's lowest point is zero along both: ``v.t - r
    w.a = 0`` and ``v.l + r s w.t = 0``. Multipliers are the forces of the ground along t and l [N]. A wheel that lies
    flat on the plane has no lowest point.

    Source: Neimark, Fufaev (1972), chapter I, section 3.

    Examples
    --------
    A wheel on an axle that slides along x; a push at the axle turns the wheel:

    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("cart")
    >>> unit = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> _ = b.add_body("cart", joint=kt.joints.Prismatic((1, 0, 0)), mass=1.0, inertia=unit)
    >>> _ = b.add_body("wheel", "cart", kt.joints.Revolute((0, 1, 0)), mass=1.0, inertia=unit)
    >>> cart = b.build().with_constraints(kt.constraints.RollingWheel("wheel", 0.5, (0, 1, 0)))
    >>> a, (push, side) = kt.forward_dynamics(cart, [0, 0], [0, 0], [6.0, 0.0], multipliers=True)
    >>> [float(x) for x in (*a, push)]  # v = r w; the ground holds back with I dw/dt / r
    [1.0, 2.0, -4.0]
    """

    frame: str
    radius: float
    axis: Axis = (0.0, 0.0, 1.0)
    plane: str = "world"
    name: str = ""

    frame_fields = ("frame", "plane")
    number_fields = ("radius",)

    def __post_init__(self) -> None:
        _check_rolling(self)
        object.__setattr__(self, "axis", unit_axis(self.axis, self.kind.replace("_", " ")))

    def count(self, model) -> int:
        """Two."""
        return 2

    def psi(self, kin) -> list:
        """Velocities of the lowest point along the heading and sideways."""
        n, a = self._normal(kin), Vector3(*self.axis)
        v, w = kin.velocity(self.frame, relative_to=self.plane), kin.angular_velocity(self.frame, self.plane)
        c = n.dot(a)
        s = sqrt(1.0 - c * c)
        t, side = a.cross(n) * (1.0 / s), (a - n * c) * (1.0 / s)
        return [v.dot(t) - w.dot(a) * self.radius, v.dot(side) + w.dot(t) * (s * self.radius)]

    def _normal(self, kin) -> Vector3:
        """The normal of the plane, in the coordinates of the wheel."""
        return Vector3(*kin.rotation(self.frame, relative_to=self.plane).rows[2])

    @classmethod
    def examples(cls, model, rng):
        """The last body on the ground of another one."""
        names = [frame.name for frame in model.frames[: model.nb]]
        yield (cls(names[-1], 0.4, (0.6, 0.64, 0.48)),)
        yield (cls(names[-1], 0.4, (0.0, 1.0, 0.0), names[1]),)


@dataclass(frozen=True, slots=True)
class RollingDisk(RollingWheel):
    """A disk with a sharp edge that rolls on a plane without slip and keeps contact.

    Parameters
    ----------
    frame, radius, axis, plane, name
        As those of `RollingWheel`.

    Notes
    -----
    Three rows: the height of the lowest point, ``n.p - r s``, then those of `RollingWheel`. The first multiplier is the
    normal force [N]; the ground also pulls if that is needed to keep contact.

    Source: Neimark, Fufaev (1972), chapter I, section 3; chapter II, section 5.

    Examples
    --------
    A hoop rolls straight on, whatever its speed:

    >>> import numpy as np
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("hoop")
    >>> _ = b.add_body("hoop", joint=kt.joints.Free(), mass=2.0, inertia=np.diag([0.25, 0.25, 0.5]))
    >>> hoop = b.build().with_constraints(kt.constraints.RollingDisk("hoop", 0.5))
    >>> upright = [0, 0, 0.5, np.sqrt(0.5), -np.sqrt(0.5), 0, 0]  # the axle along y
    >>> a, force = kt.forward_dynamics(hoop, upright, [0, 0, 3, 1.5, 0, 0], np.zeros(6), multipliers=True)
    >>> [round(float(x), 9) + 0.0 for x in a[:3]], [round(float(x), 9) + 0.0 for x in force]
    ([0.0, 0.0, 0.0], [19.62, 0.0, 0.0])
    """

    position_errors = 1

    def count(self, model) -> int:
        """Three."""
        return 3

    def phi(self, kin):
        """The height of the lowest point."""
        c = self._normal(kin).dot(Vector3(*self.axis))
        return kin.point(self.frame, relative_to=self.plane).z - sqrt(1.0 - c * c) * self.radius

    @classmethod
    def examples(cls, model, rng):
        """The last body on the ground, and on another body that touches it."""
        kin, names = Kinematics(model, model.neutral()), [frame.name for frame in model.frames[: model.nb]]
        for plane, axis in ((names[0], (0.6, 0.64, 0.48)), (names[1], (0.0, 1.0, 0.0))):
            X = kin.point_motion(names[-1], ORIGIN, plane).X
            c = Vector3(*axis).dot(X.E @ Vector3.unit(2))
            if X.r.z > 1e-3:
                yield (cls(names[-1], float(X.r.z / (1.0 - c * c) ** 0.5), axis, plane),)


@dataclass(frozen=True, slots=True)
class RollingBall(VelocityConstraint):
    """A ball that rolls on a plane without slip and keeps contact.

    Parameters
    ----------
    frame : str
        Its origin is the center of the ball; fixed to it.
    radius : float
        [m].
    plane : str
        Frame whose x-y plane the ball rolls on, at positive z; of the world or of a body that moves.
    spin : bool
        Whether the ball may spin about the normal; False: a soft ball, with a fourth row.
    name : str

    Notes
    -----
    Rows: the height of the center, ``z - r``, then the velocity of the contact point along x and y of the plane.
    Multipliers are the forces of the plane on the ball, along z, x and y of the plane [N].

    Source: Neimark, Fufaev (1972), chapter I, section 3.

    Examples
    --------
    On a plane with a slope of 0.3 rad a homogeneous ball has the acceleration ``5/7 g sin 0.3``:

    >>> import numpy as np
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("ball")
    >>> _ = b.add_body("ball", joint=kt.joints.FreeSplit(), mass=2.0, inertia=np.eye(3) * 0.4 * 2.0 * 0.1**2)
    >>> ball = b.build().replace(gravity=(9.81 * np.sin(0.3), 0, -9.81 * np.cos(0.3)))
    >>> ball = ball.with_constraints(kt.constraints.RollingBall("ball", 0.1))
    >>> a = kt.forward_dynamics(ball, [0, 0, 0.1, 1, 0, 0, 0], np.zeros(6), np.zeros(6))
    >>> bool(abs(a[3] - 5 / 7 * 9.81 * np.sin(0.3)) < 1e-12)
    True
    """

    frame: str
    radius: float
    plane: str = "world"
    spin: bool = True
    name: str = ""

    frame_fields = ("frame", "plane")
    number_fields = ("radius",)
    position_errors = 1

    def __post_init__(self) -> None:
        _check_rolling(self)

    def count(self, model) -> int:
        """Three, or four without spin."""
        return 3 if self.spin else 4

    def phi(self, kin):
        """The height of the lowest point."""
        return kin.point(self.frame, relative_to=self.plane).z - self.radius

    def psi(self, kin) -> list:
        """Velocities of the contact point along x and y of the plane, and the spin about z."""
        R = kin.rotation(self.frame, relative_to=self.plane)
        v, w = kin.velocity(self.frame, relative_to=self.plane), kin.angular_velocity(self.frame, self.plane)
        x, y, z = (Vector3(*row) for row in R.rows)  # axes of the plane in the coordinates of the ball
        slip = [v.dot(x) - w.dot(y) * self.radius, v.dot(y) + w.dot(x) * self.radius]
        return slip if self.spin else [*slip, w.dot(z)]

    @classmethod
    def examples(cls, model, rng):
        """The last body on the ground, and on another body, without spin."""
        kin, names = Kinematics(model, model.neutral()), [frame.name for frame in model.frames[: model.nb]]
        for plane, spin in ((names[0], True), (names[1], False)):
            height = kin.point_motion(names[-1], ORIGIN, plane).X.r.z
            if height > 1e-3:
                yield (cls(names[-1], float(height), plane, spin),)
