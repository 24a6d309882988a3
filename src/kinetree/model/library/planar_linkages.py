"""Linkages with closed loops: four-bars, slider-cranks, and rows of them."""

from __future__ import annotations

import math

from kinetree.arguments import a_number, a_size, a_truth_value, a_word, an_array, checked, choice, number, refuse
from kinetree.constraints import LoopJoint
from kinetree.joints import Prismatic, Revolute, SphereInCylinder
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.library.parts import DOWN, add_rod, at, closed, direction, positive
from kinetree.model.model import Model

CLOSURES = ("revolute", "planar", "sphere_in_cylinder")


def _closure(what: str, closure: str):
    """The joint that closes a planar loop in space."""
    return SphereInCylinder() if choice(what, closure, CLOSURES) == "sphere_in_cylinder" else Revolute()


def _shaped(model: Model, closure: str) -> Model:
    return model.planar() if closure == "planar" else model


@checked(lengths=an_array, masses=an_array, angle=a_number, crossed=a_truth_value, closure=a_word, gravity=an_array)
def four_bar(
    lengths=(3.0, 1.0, 3.0, 2.5),
    masses=(1.0, 3.0, 2.5),
    *,
    angle: float = 1.0,
    crossed: bool = False,
    closure: str = "revolute",
    gravity=DOWN,
) -> Model:
    """A four-bar linkage of thin rods in the x-y plane, gravity along -y: joints "crank", "coupler", "rocker".

    The crank turns about the origin, the rocker about (ground, 0), the coupler about the crank's tip. The loop joint
    "closure" connects the tips of coupler and rocker. Angles of crank and rocker are from the x axis, that of the
    coupler from the crank.

    Parameters
    ----------
    lengths : (4,) array
        Of ground, crank, coupler and rocker [m].
    masses : (3,) array
        Of crank, coupler and rocker [kg].
    angle : float
        Of the crank in the keyframe "initial" [rad].
    crossed : bool
        Whether the keyframe has the tips of coupler and rocker below the diagonal from the crank's tip to the rocker's
        pivot, instead of above it.
    closure : {"revolute", "planar", "sphere_in_cylinder"}
        A hinge in space, five rows, of which three are redundant; a hinge in the planar algebra (`Model.planar`), two
        rows; or a sphere in a cylinder, two rows in space.
    gravity : (3,) array
        [m/s^2].

    Returns
    -------
    Model

    Raises
    ------
    ArgumentError
        The loop cannot close at this angle; the message has the distance that is missing.

    Notes
    -----
    Source: Featherstone (2008), section 8.10: mobility 3 - 2 = 1, overconstrained in space by 3 unless a sphere in a
    cylinder closes it. The default dimensions are a crank-rocker.

    Examples
    --------
    >>> model = four_bar()
    >>> q, v = model.keyframe("initial")
    >>> q.round(6).tolist()
    [1.0, -0.414358, 1.554646]
    >>> model.nc, four_bar(closure="sphere_in_cylinder").nc
    (5, 2)
    """
    ground, crank, coupler, rocker = positive("four_bar: lengths", lengths, "ground", "crank", "coupler", "rocker")
    m = positive("four_bar: masses", masses, "crank", "coupler", "rocker")
    tip = crank * math.cos(angle), crank * math.sin(angle)
    slope, turn = triangle("four_bar: angle", angle, tip, (ground, 0.0), coupler, rocker, -1.0 if crossed else 1.0)
    q = {"crank": angle, "coupler": slope - angle, "rocker": turn}
    return _four_bar("four_bar", (ground, crank, coupler, rocker), m, q, closure, gravity)


def _four_bar(name: str, lengths, masses, q, closure: str, gravity) -> Model:
    joint = _closure(f"{name}: closure", closure)
    b = ModelBuilder(name, gravity=direction(f"{name}: gravity", gravity))
    ground, crank, coupler, rocker = lengths
    add_rod(b, "crank", WORLD, Revolute(), None, crank, masses[0])
    add_rod(b, "coupler", "crank", Revolute(), at(crank), coupler, masses[1])
    add_rod(b, "rocker", WORLD, Revolute(), at(ground), rocker, masses[2])
    return _shaped(closed(b, q, [LoopJoint("closure", joint, "coupler_tip", "rocker_tip")]), closure)


def triangle(what: str, given, A, D, first: float, second: float, side: float) -> tuple[float, float]:
    """Angles of two rods from the x axis: from A over their common tip B to D; side 1: B is above AD [rad]."""
    x, y = D[0] - A[0], D[1] - A[1]
    L = math.hypot(x, y)
    missing = max(L - first - second, abs(first - second) - L)
    if missing > 1e-12 * L or L == 0.0:
        refuse(
            what, given, f"one at which the loop closes: rods of {first:g} m and {second:g} m do not span {L:.4g} m, "
            f"by {missing:.3g} m"
        )  # fmt: skip
    cosine = (first**2 + L**2 - second**2) / (2.0 * first * L)
    slope = math.atan2(y, x) + side * math.acos(min(1.0, max(-1.0, cosine)))
    tip = first * math.cos(slope) - x, first * math.sin(slope) - y
    return slope, math.atan2(tip[1], tip[0])


@checked(length=a_number, ground=a_number, masses=an_array, angle=a_number, closure=a_word, gravity=an_array)
def parallelogram(
    length: float = 1.0,
    ground: float = 1.0,
    masses=(1.0, 1.0, 1.0),
    *,
    angle: float = 1.0,
    closure: str = "revolute",
    gravity=DOWN,
) -> Model:
    """A `four_bar` whose opposite bars are equal: its coupler moves in a circle without turning.

    Parameters
    ----------
    length : float
        Of crank and rocker [m].
    ground : float
        Of ground and coupler [m].
    masses : (3,) array
        Of crank, coupler and rocker [kg].
    angle : float
        Of the crank in the keyframe "initial" [rad].
    closure : {"revolute", "planar", "sphere_in_cylinder"}
        As for `four_bar`.
    gravity : (3,) array
        [m/s^2].

    Returns
    -------
    Model

    Notes
    -----
    Source: with the masses m, M, m a pendulum: ``(2/3 m + M) l^2 a = -(m + M) g l cos q``. At angles 0 and pi it is
    flat: there the branch of the crossed rods (antiparallelogram) begins, and the mobility is 2.

    Examples
    --------
    >>> import kinetree as kt
    >>> import numpy as np
    >>> model = parallelogram(angle=0.4)
    >>> q, v = model.keyframe("initial")
    >>> a = kt.forward_dynamics(model, q, v, np.zeros(3))
    >>> round(float(a[0]), 6), round(-2 * 9.81 * 0.6 * float(np.cos(0.4)), 6)
    (-10.84273, -10.84273)
    """
    length = number("parallelogram: length", length, "a positive number", above=0.0)
    ground = number("parallelogram: ground", ground, "a positive number", above=0.0)
    m = positive("parallelogram: masses", masses, "crank", "coupler", "rocker")
    q = {"crank": angle, "coupler": -angle, "rocker": angle}
    return _four_bar("parallelogram", (ground, length, ground, length), m, q, closure, gravity)


@checked(lengths=an_array, masses=an_array, offset=a_number, angle=a_number, closure=a_word, gravity=an_array)
def slider_crank(
    lengths=(0.5, 2.0),
    masses=(1.0, 2.0, 3.0),
    *,
    offset: float = 0.0,
    angle: float = 1.0,
    closure: str = "revolute",
    gravity=DOWN,
) -> Model:
    """A slider-crank in the x-y plane, gravity along -y: joints "crank", "rod", "slider".

    The crank turns about the origin, the rod about the crank's tip, and the slider moves along the line y = offset.
    The loop joint "closure" connects the rod's tip to the slider.

    Parameters
    ----------
    lengths : (2,) array
        Of crank and rod, which are thin [m].
    masses : (3,) array
        Of crank, rod and slider [kg].
    offset : float
        Of the slider's line [m].
    angle : float
        Of the crank in the keyframe "initial", where the slider is in front [rad].
    closure : {"revolute", "planar", "sphere_in_cylinder"}
        As for `four_bar`.
    gravity : (3,) array
        [m/s^2].

    Returns
    -------
    Model

    Raises
    ------
    ArgumentError
        The rod does not reach the line; the message has the distance that is missing.

    Notes
    -----
    Source: ``x = a cos q + sqrt(b^2 - (a sin q - offset)^2)``; mobility 4 - 3 = 1 in the plane (Featherstone (2008),
    section 8.10).

    Examples
    --------
    >>> model = slider_crank(angle=0.0)
    >>> float(model.keyframe("initial")[0][model.q_index("slider")][0])
    2.5
    """
    crank, rod = positive("slider_crank: lengths", lengths, "crank", "rod")
    m = positive("slider_crank: masses", masses, "crank", "rod", "slider")
    joint = _closure("slider_crank: closure", closure)
    b = ModelBuilder("slider_crank", gravity=direction("slider_crank: gravity", gravity))
    add_rod(b, "crank", WORLD, Revolute(), None, crank, m[0])
    add_rod(b, "rod", "crank", Revolute(), at(crank), rod, m[1])
    b.add_body("slider", WORLD, Prismatic((1, 0, 0)), "slider", at(0.0, offset), mass=m[2])
    rise = crank * math.sin(angle) - offset
    if abs(rise) > rod:
        missing = abs(rise) - rod
        refuse(
            "slider_crank: angle", angle, f"one at which the rod reaches the slider's line; {missing:.3g} m are missing"
        )
    q = {"crank": angle, "rod": -math.asin(rise / rod) - angle,
         "slider": crank * math.cos(angle) + math.sqrt(rod**2 - rise**2)}  # fmt: skip
    return _shaped(closed(b, q, [LoopJoint("closure", joint, "rod_tip", "slider")]), closure)


@checked(n=a_size, angle=a_number, speed=a_number, closure=a_word, gravity=an_array)
def four_bar_chain(
    n: int = 2, *, angle: float = 0.0, speed: float = 1.0, closure: str = "revolute", gravity=DOWN
) -> Model:
    """n parallelograms in a row on the ground, of 2 n + 1 equal rods: joints "crank0", ..., "coupler1", ...

    Crank k turns about (k, 0); coupler k is on crank k - 1, and the loop joint "closure<k>" connects its tip to that of
    crank k. Rods are thin, 1 m and 1 kg. Angles of cranks are clockwise from the upward vertical.

    Parameters
    ----------
    n : int
    angle : float
        Of the cranks in the keyframe "initial", from the upward vertical about -z [rad].
    speed : float
        Of the cranks' tips in the keyframe [m/s].
    closure : {"revolute", "planar", "sphere_in_cylinder"}
        As for `four_bar`.
    gravity : (3,) array
        [m/s^2].

    Returns
    -------
    Model

    Notes
    -----
    Source: problem A02 of the IFToMM library of multibody benchmarks ("N four-bar mechanism"). Where the cranks are
    horizontal, the mobility is n + 1 instead of 1. While it stays on the branch of parallelograms,
    ``a = g ((n + 1) / 2 + n) / ((n + 1) / 3 + n) sin q``.

    Examples
    --------
    >>> import kinetree as kt
    >>> import numpy as np
    >>> model = four_bar_chain(2, angle=0.5)
    >>> q, v = model.keyframe("initial")
    >>> a = kt.forward_dynamics(model, q, v, np.zeros(5))
    >>> round(float(a[0]), 6), round(9.81 * 7 / 6 * float(np.sin(0.5)), 6)
    (5.487025, 5.487025)
    """
    joint = _closure("four_bar_chain: closure", closure)
    b = ModelBuilder(f"four_bar_chain({n})", gravity=direction("four_bar_chain: gravity", gravity))
    clockwise, upright = Revolute((0, 0, -1)), math.pi / 2
    q, v, loops = {"crank0": angle}, {"crank0": speed}, []
    add_rod(b, "crank0", WORLD, clockwise, at(turn=upright), 1.0, 1.0)
    for k in range(1, n + 1):
        add_rod(b, f"coupler{k}", f"crank{k - 1}", clockwise, at(1.0, turn=-upright), 1.0, 1.0)
        add_rod(b, f"crank{k}", WORLD, clockwise, at(float(k), turn=upright), 1.0, 1.0)
        q |= {f"coupler{k}": -angle, f"crank{k}": angle}
        v |= {f"coupler{k}": -speed, f"crank{k}": speed}
        loops.append(LoopJoint(f"closure{k}", joint, f"coupler{k}_tip", f"crank{k}_tip"))
    return _shaped(closed(b, q, loops, v), closure)


@checked(n=a_size, closure=a_word, gravity=an_array)
def ladder(n: int = 3, *, closure: str = "revolute", gravity=DOWN) -> Model:
    """n square four-bar linkages in a row, each on the rung of the one before: 3 n rods, n loops, mobility n.

    Cell k has the joints "left<k>" and "right<k>" at both ends of rung k - 1 (of cell 1: of the ground from (0, 0) to
    (1, 0)) and "rung<k>" at the tip of the left rail; the loop joint "closure<k>" connects the tip of the rung to that
    of the right rail. Rods are thin, 1 m and 1 kg. At the keyframe "initial" rails stand upright.

    Parameters
    ----------
    n : int
        Number of cells.
    closure : {"revolute", "planar", "sphere_in_cylinder"}
        As for `four_bar`.
    gravity : (3,) array
        [m/s^2].

    Returns
    -------
    Model

    Notes
    -----
    Source: after the ladder of Featherstone (2008), section 8.13, on which every spanning tree gives a mass matrix with
    O(n^2) entries: here each loop shares no joint with another, so loops can be eliminated one by one.

    Examples
    --------
    >>> model = ladder(4)
    >>> model.nv, model.nc, len(model.independent_rows())
    (12, 20, 8)
    """
    joint = _closure("ladder: closure", closure)
    b = ModelBuilder(f"ladder({n})", gravity=direction("ladder: gravity", gravity))
    q, loops, below, upright = {}, [], WORLD, math.pi / 2
    for k in range(1, n + 1):
        add_rod(b, f"left{k}", below, Revolute(), None, 1.0, 1.0)
        add_rod(b, f"rung{k}", f"left{k}", Revolute(), at(1.0), 1.0, 1.0)
        add_rod(b, f"right{k}", below, Revolute(), at(1.0), 1.0, 1.0)
        q |= {f"left{k}": upright, f"rung{k}": -upright, f"right{k}": upright}
        loops.append(LoopJoint(f"closure{k}", joint, f"rung{k}_tip", f"right{k}_tip"))
        below = f"rung{k}"
    return _shaped(closed(b, q, loops), closure)
