"""A point of one body on a curve or a surface of another: cams, pins in slots, rails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kinetree.arguments import refuse, text
from kinetree.constraints.nearest_point import Parametric, derivatives, nearest, parametric
from kinetree.constraints.position_constraint import PositionConstraint, as_list
from kinetree.joints import SplineCurve, SplineSurface
from kinetree.spatial import Vector3
from kinetree.spatial.scalar import absolute, cos, sin, sqrt, where
from kinetree.state_kinematics import ORIGIN, Kinematics, point_of

Shape = Parametric | SplineCurve | SplineSurface | Callable


def _check_guided(guided, shape, spline: type, parameters: int) -> None:
    """Names of frames, the point, and the shape."""
    label = guided.kind.replace("_", " ")
    for what in ("predecessor", "successor"):
        text(f"{label}: {what}", getattr(guided, what), "the name of a frame")
    object.__setattr__(guided, "at_S", point_of(f"{label}: at_S", guided.at_S))
    if isinstance(shape, Parametric) and len(shape.ranges[0]) == parameters:
        return
    if isinstance(shape, Parametric) or not (isinstance(shape, spline) or callable(shape)):
        refuse(
            f"{label}: {label.split()[-1]}",
            shape,
            f"a function phi(x, y, z), a Parametric of {parameters} parameter{'s' * (parameters > 1)}, or a joint "
            f"{spline.__name__}",
        )


@dataclass(frozen=True, slots=True, eq=False)
class PointOnCurve(PositionConstraint):
    """A point stays on a curve that is fixed to another body: a pin in a slot, a car on a rail.

    Parameters
    ----------
    predecessor, successor : str
        Frames of the model: that of the curve, and that of the point.
    curve : callable, Parametric or SplineCurve
        ``phi(x, y, z)``, two scalars that are zero on the curve, over the point's coordinates in the predecessor's
        frame [m]; or a curve by its parameter; or the path of a spline joint's origin.
    at_S : sequence of 3 floats
        The point, in the coordinates of the successor's frame [m].
    name : str

    Notes
    -----
    Two rows. For curves by a parameter they are the distances from the nearest point of the curve along two normals,
    and multipliers are the forces on the point along these [N]; for phi its values. The rows of phi are independent
    where its gradients are.

    Near the centers of curvature the nearest point jumps: the constraint is meant for points close to the curve.

    Examples
    --------
    A bead on a wire, a helix of pitch 1/2 m/rad, slides down with ``g h^2 / (1 + h^2)``:

    >>> import kinetree as kt
    >>> from kinetree.spatial.scalar import cos, sin
    >>> b = kt.ModelBuilder("bead")
    >>> _ = b.add_body("bead", joint=kt.joints.Translational(), mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> helix = kt.constraints.Parametric(lambda s: (cos(s), sin(s), 0.5 * s), -10.0, 10.0)
    >>> wire = b.build().with_constraints(kt.constraints.PointOnCurve("world", "bead", helix))
    >>> a = kt.forward_dynamics(wire, [1, 0, 0], [0, 0, 0], [0, 0, 0])
    >>> round(float(a[2]), 9)
    -1.962
    """

    predecessor: str
    successor: str
    curve: Shape
    at_S: tuple[float, float, float] = ORIGIN
    name: str = ""

    frame_fields = ("predecessor", "successor")
    number_fields = ("at_S",)

    def __post_init__(self) -> None:
        _check_guided(self, self.curve, SplineCurve, 1)

    def count(self, model) -> int:
        """Two."""
        return 2

    def phi(self, kin) -> list:
        """Distances along two normals of the curve, or the values of its function."""
        p = kin.point(self.successor, self.at_S, relative_to=self.predecessor)
        curve = parametric(self.curve)
        if not isinstance(curve, Parametric):
            return as_list(curve(*p))
        c, (tangent,), _ = derivatives(curve, nearest(curve, p))
        return [(p - c).dot(normal) for normal in _normals(tangent)]

    @property
    def code(self) -> tuple:
        """The class, and the curve's functions."""
        return type(self), *_functions(self.curve)

    @classmethod
    def examples(cls, model, rng):
        """A loop by its parameter, a curve by two functions, a spline; a point of the last body is at their origin."""
        ends, at = _place(model)
        poses = [((k + 0.1 * k * k - 1.6, 0.3 * k - 0.45, 0.2 * (k - 1.5) ** 2), (0.0, 0.0, 0.0)) for k in range(4)]
        low = SplineCurve(poses).transform([0.5]).r
        spline = SplineCurve([((x - low.x, y - low.y, z - low.z), turn) for (x, y, z), turn in poses])
        for curve in (Parametric(_example_loop, -3.0, 3.2832), _example_curve, spline):
            yield (cls(*ends, curve, at),)


@dataclass(frozen=True, slots=True, eq=False)
class PointOnSurface(PositionConstraint):
    """A point stays on a surface that is fixed to another body.

    Parameters
    ----------
    predecessor, successor : str
        Frames of the model: that of the surface, and that of the point.
    surface : callable, Parametric or SplineSurface
        ``phi(x, y, z)``, zero on the surface, over the point's coordinates in the predecessor's frame [m]; or a surface
        by two parameters; or that of a spline joint's origin.
    at_S : sequence of 3 floats
        The point, in the coordinates of the successor's frame [m].
    name : str

    Notes
    -----
    One row. For surfaces by parameters it is the distance from the nearest point of the surface along the normal
    ``dc/ds x dc/dt``, and the multiplier is the force on the point along it [N]; for phi its value.

    Examples
    --------
    A point on the unit sphere moves as a pendulum:

    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("bead")
    >>> _ = b.add_body("bead", joint=kt.joints.Translational(), mass=2.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> sphere = kt.constraints.PointOnSurface("world", "bead", lambda x, y, z: 0.5 * (x * x + y * y + z * z - 1.0))
    >>> a, force = kt.forward_dynamics(b.build().with_constraints(sphere), [0, 0, -1], [3, 0, 0], [0, 0, 0],
    ...                                multipliers=True)
    >>> [round(float(x), 9) + 0.0 for x in (*a, *force)]
    [0.0, 0.0, 9.0, -37.62]
    """

    predecessor: str
    successor: str
    surface: Shape
    at_S: tuple[float, float, float] = ORIGIN
    name: str = ""

    frame_fields = ("predecessor", "successor")
    number_fields = ("at_S",)

    def __post_init__(self) -> None:
        _check_guided(self, self.surface, SplineSurface, 2)

    def phi(self, kin):
        """The distance along the normal, or the value of the function."""
        p = kin.point(self.successor, self.at_S, relative_to=self.predecessor)
        surface = parametric(self.surface)
        if not isinstance(surface, Parametric):
            return surface(*p)
        c, (along_s, along_t), _ = derivatives(surface, nearest(surface, p))
        normal = along_s.cross(along_t)
        return (p - c).dot(normal) * (1.0 / sqrt(normal.dot(normal)))

    @property
    def code(self) -> tuple:
        """The class, and the surface's functions."""
        return type(self), *_functions(self.surface)

    @classmethod
    def examples(cls, model, rng):
        """A saddle by its parameters and by a function, a spline; a point of the last body is at their origin."""
        ends, at = _place(model)
        grid = [[(i - 1.5, k - 1.5, 0.1 * (i - k) * (i - k), 0, 0, 0) for k in range(4)] for i in range(4)]
        low = SplineSurface(grid).transform([0.5, 0.5]).r.z
        spline = SplineSurface([[(x, y, z - low, 0, 0, 0) for x, y, z, *_ in row] for row in grid])
        for surface in (Parametric(_example_saddle, (-1.0, -1.0), (1.1, 1.2)), _example_surface, spline):
            yield (cls(*ends, surface, at),)


def _place(model) -> tuple[tuple[str, str], tuple[float, ...]]:
    """The first and the last body, and the first one's origin in the coordinates of the last."""
    ends = model.frames[1].name, model.frames[model.nb - 1].name
    X = Kinematics(model, model.neutral()).point_motion(ends[1], ORIGIN, ends[0]).X
    return ends, tuple(float(-x) for x in X.E @ X.r)


def _example_loop(s):
    return 1.5 * (cos(s) - 1.0), sin(s), 0.5 * sin(s) + 0.2 * sin(s) * sin(s)


def _example_curve(x, y, z):
    return x + y * z, 2.0 * y - 0.3 * z


def _example_saddle(s, t):
    return s, t, 0.2 * s * s - 0.3 * s * t


def _example_surface(x, y, z):
    return z - 0.3 * x * y + 0.1 * x


def _functions(shape) -> tuple:
    """What of a shape is code: its joint or its functions."""
    if isinstance(shape, Parametric):
        return shape.function if isinstance(shape.function, tuple) else (shape.function,)
    return (shape,)


def _normals(tangent: Vector3) -> tuple[Vector3, Vector3]:
    """Two unit normals; the first is in the coordinate plane that the tangent is next to."""
    a, b, c = map(absolute, tangent)
    least_x, least_y = (a <= b) & (a <= c), b <= c
    x, y, z = tangent
    chosen = [
        where(least_x, of_x, where(least_y, of_y, of_z))
        for of_x, of_y, of_z in ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))
    ]
    first = Vector3(*chosen)
    first = first * (1.0 / sqrt(first.dot(first)))
    second = tangent.cross(first)
    return first, second * (1.0 / sqrt(second.dot(second)))
