"""Linkages in space with one closed loop."""

from __future__ import annotations

import math

from kinetree.arguments import a_number, a_number_up_to, an_array, array, checked, refuse
from kinetree.constraints import LoopJoint
from kinetree.joints import Prismatic, Revolute, Spherical, Universal
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.library.parts import add_rod, at, closed, direction, positive
from kinetree.model.model import Model


@checked(lengths=an_array, masses=an_array, pivot=an_array, angle=a_number, gravity=an_array)
def spatial_slider_crank(
    lengths=(0.08, 0.3),
    masses=(0.12, 0.5, 2.0),
    *,
    pivot=(0.0, 0.1, 0.12),
    angle: float = 0.0,
    gravity=(0.0, 0.0, -9.81),
) -> Model:
    """A slider-crank in space: the crank turns about x, the slider moves along x; joints "crank", "rod", "slider".

    The rod is on the slider by a universal joint, and a ball joint, "closure", connects it to the crank's tip.

    Parameters
    ----------
    lengths : (2,) array
        Of crank and rod, which are thin [m].
    masses : (3,) array
        Of crank, rod and slider [kg].
    pivot : (3,) array
        Of the crank in the world; the slider's line is the x axis [m].
    angle : float
        Of the crank from z about x in the keyframe "initial" [rad].
    gravity : (3,) array
        [m/s^2].

    Returns
    -------
    Model

    Raises
    ------
    ArgumentError
        The rod does not reach the slider's line; the message has the distance that is missing.

    Notes
    -----
    Source: the arrangement and the dimensions of the spatial slider-crank of Haug, Computer Aided Kinematics and
    Dynamics of Mechanical Systems (1989), with thin rods; mobility 4 - 3 = 1, no redundant rows.

    Examples
    --------
    >>> model = spatial_slider_crank()
    >>> q, _ = model.keyframe("initial")
    >>> model.nv - model.nc, q.shape, round(float(q[model.q_index("slider")][0]), 6)
    (1, (4,), 0.2)
    """
    crank, rod = positive("spatial_slider_crank: lengths", lengths, "crank", "rod")
    m = positive("spatial_slider_crank: masses", masses, "crank", "rod", "slider")
    x0, y0, z0 = array("spatial_slider_crank: pivot", pivot, "three numbers", shape=(3,)).tolist()
    b = ModelBuilder("spatial_slider_crank", gravity=direction("spatial_slider_crank: gravity", gravity))
    across = m[0] * crank**2 / 12.0
    b.add_body("crank", WORLD, Revolute((1, 0, 0)), "crank", at(x0, y0, z0), mass=m[0], com=(0, 0, crank / 2),
               inertia=(across, across, 0.0))  # fmt: skip
    b.add_frame("crank_tip", "crank", at(0.0, 0.0, crank))
    b.add_body("slider", WORLD, Prismatic((1, 0, 0)), "slider", mass=m[2])
    across = m[1] * rod**2 / 12.0
    # The rod points along -z of its frame: at universal angles (0, 0) it lies in the slider's line.
    turned = ((0.0, 0.0, 0.0), (0.0, math.pi / 2, 0.0))
    b.add_body(
        "rod", "slider", Universal(), "rod", turned, mass=m[1], com=(0, 0, -rod / 2), inertia=(across, across, 0.0)
    )
    b.add_frame("rod_tip", "rod", at(0.0, 0.0, -rod))
    # The vector from the slider to the crank's tip, and the slider before it.
    y, z = y0 - crank * math.sin(angle), z0 + crank * math.cos(angle)
    if math.hypot(y, z) >= rod:
        refuse("spatial_slider_crank: angle", angle, "one at which the rod reaches the slider's line; "
               f"{math.hypot(y, z) - rod:.3g} m are missing")  # fmt: skip
    x = math.sqrt(rod**2 - y**2 - z**2)
    # With z' = x and x' = -z: the tip is -rod (sin b, -sin a cos b, cos a cos b) in the axes (x', y', z').
    second = math.asin(z / rod)
    first = math.asin(y / (rod * math.cos(second)))
    q = {"crank": angle, "slider": x0 + x, "rod": (first, second)}
    return closed(b, q, [LoopJoint("closure", Spherical(), "rod_tip", "crank_tip")])


@checked(length=a_number_up_to(1e6), twists=an_array, density=a_number_up_to(1e6), angle=a_number, gravity=an_array)
def bennett(
    length: float = 1.0, twists=(0.5, 1.2), density: float = 1.0, *, angle: float = 1.0, gravity=(0.0, 0.0, -9.81)
) -> Model:
    """Bennett's linkage: four links, four hinges about skew axes, and one freedom; joints "hinge1", "hinge2", "hinge4".

    Links 1 and 3 are equal, and link 2 and the ground, which extends from hinge 4 to hinge 1. The loop joint "hinge3"
    connects links 2 and 3.

    Parameters
    ----------
    length : float
        Of links 1 and 3 [m]. The other two are ``length sin(twists[1]) / sin(twists[0])``.
    twists : (2,) array
        Angles between the axes of links 1 and 3, and of the other two [rad], between 0 and pi and not equal.
    density : float
        Of all links, which are thin rods [kg/m].
    angle : float
        Of hinge 1 in the keyframe "initial" [rad].
    gravity : (3,) array
        [m/s^2].

    Returns
    -------
    Model

    Raises
    ------
    ArgumentError
        The twists are equal, or not between 0 and pi.

    Notes
    -----
    Source: Bennett, A new mechanism, Engineering 76 (1903): with ``a / sin(alpha) = b / sin(beta)`` the angles of
    neighboring hinges obey ``tan(q1 / 2) tan(q2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2)``, those of
    opposite ones are equal up to sign. Mobility 1 though 3 - 5 = -2: three rows are redundant at every closed position,
    and no row is elsewhere.

    Examples
    --------
    >>> model = bennett()
    >>> model.nv, model.nc, len(model.independent_rows())
    (3, 5, 2)
    """
    alpha, beta = positive("bennett: twists", twists, "links 1 and 3", "link 2 and the ground")
    if max(alpha, beta) >= math.pi or abs(alpha - beta) < 1e-6:
        refuse("bennett: twists", twists, "two different angles between 0 and pi")
    other = length * math.sin(beta) / math.sin(alpha)
    b = ModelBuilder("bennett", gravity=direction("bennett: gravity", gravity))
    add_rod(b, "link1", WORLD, Revolute(), None, length, density * length, joint="hinge1")
    add_rod(b, "link2", "link1", Revolute(), turned_about_x(length, alpha), other, density * other, joint="hinge2")
    add_rod(b, "link3", WORLD, Revolute(), turned_about_x(-other, -beta), -length, density * length, joint="hinge4")
    b.add_frame("end2", "link2", turned_about_x(other, beta))
    b.add_frame("end3", "link3", turned_about_x(-length, -alpha))
    product = math.sin((beta + alpha) / 2.0) / math.sin((beta - alpha) / 2.0)
    second = 2.0 * math.atan2(product * math.cos(angle / 2.0), math.sin(angle / 2.0))
    q = {"hinge1": angle, "hinge2": second, "hinge4": second}
    return closed(b, q, [LoopJoint("hinge3", Revolute(), "end2", "end3")])


def turned_about_x(x: float, angle: float) -> tuple:
    """The placement at a point of the x axis, turned about it [m, rad]."""
    return (x, 0.0, 0.0), (angle, 0.0, 0.0)
