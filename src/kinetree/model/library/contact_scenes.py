"""Models whose bodies touch: free shapes, stacks, a gripper, a robot on wheels, a ball on a turntable."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_number, a_positive_number, a_size, checked, choice
from kinetree.collision.material import Ground
from kinetree.collision.pair import ContactPair
from kinetree.collision.shape import Shape
from kinetree.constraints import PrescribedMotion
from kinetree.joints import Free, Polynomial, Prismatic, Revolute
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.library.parts import closed, positive
from kinetree.model.model import Model
from kinetree.model.parts import Geometry

TURNED = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
"""Rotation of a cylinder, whose axis is z, to the axis y."""


@checked(mass=a_positive_number)
def free_shape(kind: str = "box", size=(0.2, 0.2, 0.2), mass: float = 1.0) -> Model:
    """One solid body of constant density that floats: a box or a sphere, body and shape named after its kind.

    Parameters
    ----------
    kind : {"box", "sphere"}
    size : (3,) array or float
        Edges of the box, or the radius [m].
    mass : float
        [kg].

    Examples
    --------
    >>> import kinetree as kt
    >>> ball = kt.models.free_shape("sphere", 0.1)
    >>> run = kt.simulate(ball, [0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0], duration=1.0, ground=True)
    >>> round(float(run.q[-1, 2]), 6)
    0.1
    """
    choice("kind of free shape", kind, ("box", "sphere"), "kinetree.models")
    b = ModelBuilder(f"free_{kind}")
    _add_solid(b, kind, kind, size, mass)
    return b.build()


@checked(n=a_size, edge=a_positive_number, mass=a_positive_number, friction=a_number)
def stack_of_boxes(n: int = 10, edge: float = 0.2, mass: float = 1.0, friction: float = 0.8) -> Model:
    """n cubes "box1", "box2", ... on the ground z = 0, each on the one before: so they are in the keyframe "initial".

    Parameters
    ----------
    n : int
    edge : float
        [m].
    mass : float
        Of each [kg].
    friction : float
        Coefficient of friction of all contacts [1].

    Notes
    -----
    Source: contact pairs are those of each box with the one below. At rest the force between box k and the one below,
    k = 1 ... n, is ``(n - k + 1) m g``.
    """
    b, names = ModelBuilder(f"stack_of_boxes({n})"), [f"box{k}" for k in range(1, n + 1)]
    for name in names:
        _add_solid(b, name, "box", (edge,) * 3, mass)
    at = {name: (0.0, 0.0, (k + 0.5) * edge, 1.0, 0.0, 0.0, 0.0) for k, name in enumerate(names)}
    shapes = [Shape(name, "box", (edge,) * 3, name=name) for name in names]
    pairs = [ContactPair(f"{x.name}/{y.name}", x, y, friction) for x, y in zip(shapes, shapes[1:], strict=False)]
    return closed(b, at, ()).with_contacts(Ground(friction=friction), bodies=names[:1], pairs=pairs)


@checked(mass=a_positive_number, edge=a_positive_number, friction=a_number)
def gripper(mass: float = 0.5, edge: float = 0.06, friction: float = 0.8) -> Model:
    """A hand that moves up and down, with two fingers, joints "lift", "left" and "right", and a box on the ground.

    In the keyframe "initial" the fingers are 5 mm from the box. Positive forces of "left" and "right" close them.

    Parameters
    ----------
    mass, edge : float
        Of the box, a cube [kg, m].
    friction : float
        Coefficient of friction of all contacts [1].

    Notes
    -----
    Source: two fingers of force f each hold the box against its weight where ``2 mu f >= m g``.
    """
    b = ModelBuilder("gripper")
    small = np.eye(3) * 1e-3
    b.add_body("palm", joint=Prismatic((0, 0, 1)), joint_name="lift", mass=1.0, inertia=small)
    for name, side in (("left", -1.0), ("right", 1.0)):
        reach = (side * (0.5 * edge + 0.015), 0.0, 0.0)
        b.add_body(name, "palm", Prismatic((-side, 0, 0)), name, (reach, (0, 0, 0)), mass=0.2, inertia=small * 0.1)
        b.add_geometry(name, Geometry("box", (0.02, 0.03, 0.04), name=name))
    _add_solid(b, "box", "box", (edge,) * 3, mass)
    box = Shape("box", "box", (edge,) * 3, name="box")
    fingers = [Shape(name, "box", (0.02, 0.03, 0.04), name=name) for name in ("left", "right")]
    pairs = [ContactPair(f"{x.name}/box", x, box, friction) for x in fingers]
    start = {"box": (0.0, 0.0, 0.5 * edge, 1.0, 0.0, 0.0, 0.0), "lift": 0.5 * edge}
    return closed(b, start, ()).with_contacts(Ground(friction=friction), bodies=["box"], pairs=pairs)


@checked(mass=a_positive_number, radius=a_positive_number, track=a_positive_number, friction=a_number)
def wheeled_robot(mass: float = 5.0, radius: float = 0.1, track: float = 0.4, friction: float = 0.8) -> Model:
    """A platform on two driven wheels, joints "left" and "right", and a ball without friction in front, on the ground.

    Parameters
    ----------
    mass : float
        Of the platform [kg].
    radius, track : float
        Of the wheels, and the distance between them [m].
    friction : float
        Coefficient of friction of the wheels [1].

    Notes
    -----
    Source: wheels that do not slip move it at ``r (w_right + w_left) / 2`` and turn it at
    ``r (w_right - w_left) / track``. The wheels touch as spheres, in one point each.
    """
    b = ModelBuilder("wheeled_robot")
    sizes = np.array([0.4, 0.8 * track, 0.1])
    b.add_body("platform", joint=Free(), joint_name="base", mass=mass, inertia=_box_inertia(sizes, mass))
    b.add_geometry("platform", Geometry("box", tuple(sizes), role="visual"))
    solid = 0.4 * 0.5 * radius**2 * np.eye(3)
    for name, side in (("left", 0.5), ("right", -0.5)):
        b.add_body(f"{name}_wheel", "platform", Revolute((0, 1, 0)), name, ((-0.05, side * track, 0.0), (0, 0, 0)),
                   mass=0.5, inertia=solid)  # fmt: skip
        b.add_geometry(f"{name}_wheel", Geometry("cylinder", (radius, 0.04), R_BG=TURNED, role="visual"))
    ground = Shape(WORLD, "plane", name="ground")
    wheels = [Shape(f"{name}_wheel", "sphere", (radius,), name=f"{name}_wheel") for name in ("left", "right")]
    ball = Shape("platform", "sphere", (0.05,), p=(0.15, 0.0, 0.05 - radius), name="ball")
    pairs = [ContactPair(f"ground/{x.name}", ground, x, friction) for x in wheels]
    return b.build().with_contacts(pairs=(*pairs, ContactPair("ground/ball", ground, ball, 0.0)))


@checked(rate=a_number, speed=a_number, radius=a_positive_number, friction=a_number)
def ball_on_turntable(rate: float = 2.0, speed: float = 0.2, radius: float = 0.05, friction: float = 1.0) -> Model:
    """A solid ball on a horizontal table that turns about z at a constant rate; joints "table" and "ball".

    In the keyframe "initial" the ball is at (0.3, 0) m, and rolls along y.

    Parameters
    ----------
    rate : float
        Of the table [rad/s].
    speed : float
        Of the center of the ball at the start [m/s].
    radius : float
        Of the ball [m].
    friction : float
        Coefficient of friction between both [1].

    Notes
    -----
    Source: J. A. Burns, "Ball rolling on a turntable", American Journal of Physics 49 (1981): while it rolls, the
    center moves on a circle with 2/7 of the rate of the table, of any mass.
    """
    b = ModelBuilder("ball_on_turntable")
    b.add_body("table", joint=Revolute((0, 0, 1)), joint_name="table", mass=10.0, inertia=np.eye(3))
    b.add_geometry("table", Geometry("cylinder", (1.0, 0.02), p_BG=(0.0, 0.0, -0.01), role="visual"))
    _add_solid(b, "ball", "sphere", radius, 1.0)
    table = Shape("table", "plane", name="table")
    ball = Shape("ball", "sphere", (radius,), name="ball")
    start, spin = {"ball": (0.3, 0.0, radius, 1.0, 0.0, 0.0, 0.0)}, (0.3 * rate - speed) / radius
    speeds = {"table": rate, "ball": (spin, 0.0, 0.0, 0.0, speed, 0.0)}
    turning = PrescribedMotion("table", Polynomial((0.0, rate)))
    return closed(b, start, [turning], speeds).with_contacts(pairs=[ContactPair("table/ball", table, ball, friction)])


def _add_solid(b: ModelBuilder, name: str, kind: str, size, mass: float) -> None:
    """A free body of constant density, with its shape; body, joint and shape have one name."""
    if kind == "box":
        size = positive("free_shape: size", size, "x", "y", "z")
        inertia = _box_inertia(np.array(size), mass)
    else:
        size = positive("free_shape: size", np.atleast_1d(size), "radius")
        inertia = 0.4 * mass * size[0] ** 2 * np.eye(3)
    b.add_body(name, joint=Free(), joint_name=name, mass=mass, inertia=inertia)
    b.add_geometry(name, Geometry(kind, tuple(size), name=name))


def _box_inertia(sizes: np.ndarray, mass: float) -> np.ndarray:
    """About the center, of constant density [kg m^2]."""
    return mass / 12.0 * (np.eye(3) * (sizes @ sizes) - np.diag(sizes**2))
