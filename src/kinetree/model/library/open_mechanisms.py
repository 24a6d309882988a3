"""The classical mechanisms without loops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kinetree.arguments import a_number, a_positive_number, a_size, an_array, checked
from kinetree.constraints import Coupling
from kinetree.joints import Free, Prismatic, Revolute, Universal
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.model import GRAVITY, Model

NO_GRAVITY = (0.0, 0.0, 0.0)


@checked(length=a_positive_number, mass=a_number)
def pendulum(length: float = 1.0, mass: float = 1.0) -> Model:
    """A point mass on a massless rod that swings in the x-z plane; at q = 0 it hangs down.

    Parameters
    ----------
    length : float
        [m].
    mass : float
        [kg].

    Notes
    -----
    Source: ``a = -(g / length) sin q``.
    """
    b = ModelBuilder("pendulum")
    b.add_body("bob", joint=Revolute((0, 1, 0)), joint_name="pivot", mass=mass, com=(0.0, 0.0, -length))
    return b.build()


@checked(n=a_size, length=a_positive_number, mass=a_number)
def n_pendulum(n: int = 3, length: float = 1.0, mass: float = 1.0) -> Model:
    """n equal thin rods in a row that swing in the x-z plane; at q = 0 they hang down.

    Parameters
    ----------
    n : int
    length : float
        Of each rod [m].
    mass : float
        Of each rod [kg].
    """
    numbers = range(1, n + 1)
    return _rods(f"n_pendulum({n})", [f"rod{i}" for i in numbers], [f"joint{i}" for i in numbers], length, mass)


@checked(length=a_positive_number, mass=a_number)
def double_pendulum(length: float = 1.0, mass: float = 1.0) -> Model:
    """Two equal thin rods, joints "shoulder" and "elbow", that swing in the x-z plane; at q = 0 they hang down.

    Parameters
    ----------
    length : float
        Of each rod [m].
    mass : float
        Of each rod [kg].
    """
    return _rods("double_pendulum", ["upper", "lower"], ["shoulder", "elbow"], length, mass)


def _rods(
    name: str, bodies: Sequence[str], joints: Sequence[str], length: float, mass: float, down: bool = True
) -> Model:
    """Thin rods in a row: along -z with joints about y; else along x with joints about z, without gravity."""
    b = ModelBuilder(name, gravity=GRAVITY if down else NO_GRAVITY)
    tip, axis = (np.array([0.0, 0.0, -length]), (0, 1, 0)) if down else (np.array([length, 0.0, 0.0]), (0, 0, 1))
    thin_rod = mass * length**2 / 12.0 * (tip == 0.0)
    for k, (body, joint) in enumerate(zip(bodies, joints, strict=True)):
        parent, placement = (bodies[k - 1], (tip, (0.0, 0.0, 0.0))) if k else (WORLD, None)
        b.add_body(body, parent, Revolute(axis), joint, placement, mass=mass, com=tip / 2, inertia=thin_rod)
    return b.build()


@checked(cart_mass=a_number, pole_mass=a_number, length=a_positive_number)
def cart_pole(cart_mass: float = 1.0, pole_mass: float = 0.1, length: float = 0.5) -> Model:
    """A cart on a rail along x with a point mass on a massless pole; at q = 0 the pole stands upright.

    Parameters
    ----------
    cart_mass, pole_mass : float
        [kg].
    length : float
        From the hinge to the point mass [m].

    Notes
    -----
    Source: ``(M + m) x'' + m l (cos(t) t'' - sin(t) t'^2) = f`` and ``m l^2 t'' + m l cos(t) x'' - m g l sin(t) = 0``.
    """
    b = ModelBuilder("cart_pole")
    b.add_body("cart", joint=Prismatic((1, 0, 0)), joint_name="slider", mass=cart_mass)
    b.add_body("pole", "cart", Revolute((0, 1, 0)), "hinge", mass=pole_mass, com=(0.0, 0.0, length))
    return b.build()


@checked(mass=a_number, inertia=an_array, gravity=an_array)
def free_body(mass: float = 1.0, inertia=(0.1, 0.2, 0.25), gravity=GRAVITY) -> Model:
    """One body that floats, with its center of mass at the origin of its frame.

    Parameters
    ----------
    mass : float
        [kg].
    inertia : (3,) or (3, 3) array
        About the center of mass [kg m^2]. With three different moments it tumbles about the middle axis.
    gravity : (3,) array
        [m/s^2].
    """
    b = ModelBuilder("free_body", gravity=gravity)
    b.add_body("body", joint=Free(), mass=mass, inertia=inertia)
    return b.build()


def puma_like() -> Model:
    """An arm of six revolute joints with the proportions of a PUMA 560; inertias are those of plausible cylinders.

    Notes
    -----
    Source: the arrangement of Craig, Introduction to Robotics, section 3.7 (modified Denavit-Hartenberg parameters:
    twists 0, -90, 0, -90, 90, -90 degrees, a2 = 0.4318 m, a3 = 0.0203 m, d3 = 0.15 m, d4 = 0.4318 m). The inertias are
    not measured ones.
    """
    right = math.pi / 2
    rows = (  # a [m], alpha [rad], d [m], mass [kg], center of mass [m], central inertia [kg m^2]
        ("waist", 0.0, 0.0, 0.0, 13.0, (0.0, 0.0, -0.05), (0.20, 0.20, 0.08)),
        ("shoulder", 0.0, -right, 0.0, 17.4, (0.07, 0.01, 0.02), (0.13, 0.52, 0.54)),
        ("elbow", 0.4318, 0.0, 0.15, 4.8, (0.0, -0.07, 0.01), (0.07, 0.01, 0.07)),
        ("roll", 0.0203, -right, 0.4318, 0.82, (0.0, 0.0, -0.02), (2e-3, 2e-3, 1.5e-3)),
        ("pitch", 0.0, right, 0.0, 0.34, (0.0, 0.0, 0.0), (3e-4, 3e-4, 4e-4)),
        ("yaw", 0.0, -right, 0.0, 0.09, (0.0, 0.0, 0.03), (1.5e-4, 1.5e-4, 4e-5)),
    )
    b = ModelBuilder("puma_like")
    parent = WORLD
    for k, (name, a, alpha, d, mass, com, inertia) in enumerate(rows, start=1):
        # Screw(x; a, alpha), then Screw(z; d): the joint's origin is d along its own axis.
        placement = ((a, -d * math.sin(alpha), d * math.cos(alpha)), (alpha, 0.0, 0.0))
        b.add_body(f"link{k}", parent, Revolute(), name, placement, mass=mass, com=com, inertia=inertia)
        parent = f"link{k}"
    b.add_frame("tool", parent, ((0.0, 0.0, 0.1), (0.0, 0.0, 0.0)))
    return b.build()


@checked(n=a_size)
def zigzag_arm(n: int = 6) -> Model:
    """A planar arm of n equal links with joints about z, without gravity; ill-conditioned when nearly stretched.

    Parameters
    ----------
    n : int
        Links of 1 m and 1 kg, center of mass in the middle, I_C = 1/12 kg m^2 about z.

    Notes
    -----
    Source: Featherstone, section 10.2 and figure 10.3; the example sets the angles to alternating +75 and -75 degrees.
    """
    numbers = range(1, n + 1)
    names = [f"link{i}" for i in numbers], [f"joint{i}" for i in numbers]
    return _rods(f"zigzag_arm({n})", *names, length=1.0, mass=1.0, down=False)


@checked(m1=a_number, I1=a_number, m2=a_number, I2=a_number)
def box_cylinder(m1: float = 2.0, I1: float = 0.5, m2: float = 1.0, I2: float = 0.3) -> Model:
    """A floating box with a slot, and in it a cylinder that turns about x and slides along y.

    Parameters
    ----------
    m1, m2 : float
        Masses of box and cylinder [kg].
    I1, I2 : float
        Their rotational inertias about any axis through the common center [kg m^2].

    Notes
    -----
    Source: Featherstone, example 7.1 and figure 7.3: the articulated-body inertia of the box is
    diag(I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2). The cylinder's two freedoms are a slider along y that supports a
    massless body, and a hinge about x.
    """
    b = ModelBuilder("box_cylinder", gravity=NO_GRAVITY)
    b.add_body("box", joint=Free(), mass=m1, inertia=(I1, I1, I1))
    b.add_body("block", "box", Prismatic((0, 1, 0)), "slider")
    b.add_body("cylinder", "block", Revolute((1, 0, 0)), "hinge", mass=m2, inertia=(I2, I2, I2))
    return b.build()


def satellite() -> Model:
    """A floating satellite with a dish on a universal joint, without gravity.

    Notes
    -----
    Source: Featherstone, figure 4.1: a floating base and a jointed antenna, 6 + 2 freedoms.
    """
    b = ModelBuilder("satellite", gravity=NO_GRAVITY)
    b.add_body("hull", joint=Free(), joint_name="base", mass=400.0, inertia=(180.0, 150.0, 120.0))
    b.add_body(
        "dish",
        "hull",
        Universal(),
        "gimbal",
        ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
        mass=20.0,
        com=(0.0, 0.0, 0.4),
        inertia=(3.0, 3.0, 5.0),
    )
    return b.build()


@checked(ratio=a_number)
def geared_arm(ratio: float = -2.0) -> Model:
    """A planar arm of two rods whose elbow is driven from the shoulder by a gear.

    Parameters
    ----------
    ratio : float
        Turns of the elbow per turn of the shoulder.

    Notes
    -----
    Source: after Featherstone, figure 9.2 and section 9.6 (gears as constraints between joints).
    """
    arm = _rods("geared_arm", ["upper", "lower"], ["shoulder", "elbow"], length=1.0, mass=1.0)
    return arm.with_constraints(Coupling("elbow", "shoulder", ratio))
