"""Scenes with constraints, prescribed motions and springs between bodies, of REDMAX."""

from __future__ import annotations

import math
from math import pi

import numpy as np

from kinetree.constraints import LinearCoupling, LoopJoint, PrescribedMotion
from kinetree.forces import PointSpring
from kinetree.joints import Fixed, MovingFrame, Polynomial, Prismatic, Spherical, Translational
from kinetree.scenes.parts import ABOUT_Y, BELOW, HANGING, Bodies, bar, chain, cylinder_along_y
from kinetree.scenes.rows import FollowsFunction, FollowsTwist, Limits, OppositeTurns, PointsMeet
from kinetree.scenes.scene import Scene
from kinetree.spatial.scalar import exp, where

NONE = (0.0, 0.0, 0.0)
ABOVE = (0.0, 0.0, 5.0)
DRIVE = 4.0 * pi  # rate of the driven joint of the four-bar linkage [rad/s]


def ramp(end: float, height: float, until: float = math.inf, steepness: float = 7.0):
    """``height / (1 + exp(-steepness (2 t / end - 1)))`` and its rate; constant from a time on."""

    def motion(t):
        if t >= until:
            return height, 0.0
        fraction = 1.0 / (1.0 + math.exp(-steepness * (2.0 * t / end - 1.0)))
        return height * fraction, height * 2.0 * steepness / end * fraction * (1.0 - fraction)

    return motion


def swing_and_slide(t: float) -> tuple[float, float]:
    """Angular velocity about y, and velocity along x of the world."""
    if t < 2.0:
        return -t, 0.0
    if t < 4.0:
        return t - 4.0, 0.0
    if t < 6.0:
        return t - 4.0, -2.0 * (t - 4.0)
    return (8.0 - t, 2.0 * (t - 8.0)) if t < 8.0 else (0.0, 0.0)


def swung(t):
    """The angle of `swing_and_slide`."""
    later = where(t < 8.0, -0.5 * (8.0 - t) * (8.0 - t), 0.0)
    return where(t < 2.0, -0.5 * t * t, where(t < 6.0, 0.5 * (t - 4.0) * (t - 4.0) - 4.0, later))


def slid(t):
    """The displacement of `swing_and_slide`."""
    later = where(t < 8.0, (t - 8.0) * (t - 8.0) - 8.0, -8.0)
    return where(t < 4.0, 0.0, where(t < 6.0, -(t - 4.0) * (t - 4.0), later))


def carried(x: float, z: float):
    """The center of a body that starts in (x, 0, z) follows `swing_and_slide`."""
    path = MovingFrame((lambda t: slid(t) + x, 0.0, z), "y", (swung,))
    return LoopJoint("carrier", path, "world", "center")


def carried_chain():
    """Two hanging, two lying bodies, in turn; the last one follows a motion."""
    b = Bodies("maximal hybrid dynamics")
    b.add(0, ABOUT_Y, sides=HANGING, com=BELOW)
    b.add(1, ABOUT_Y, (0.0, 0.0, -10.0))
    b.add(2, ABOUT_Y, (10.0, 0.0, 0.0), HANGING, ABOVE)
    b.add(3, ABOUT_Y, (0.0, 0.0, 10.0))
    b.point("center", 4, NONE)
    return b.build()


def carried_long_chain():
    b = Bodies("reduced and maximal hybrid dynamics")
    b.add(0, ABOUT_Y, sides=HANGING, com=BELOW)
    b.add(1, ABOUT_Y, (0.0, 0.0, -10.0))
    b.add(2, ABOUT_Y, (10.0, 0.0, 0.0))
    b.add(3, ABOUT_Y, (10.0, 0.0, 0.0), HANGING, ABOVE)
    b.add(4, ABOUT_Y, (0.0, 0.0, 10.0))
    b.point("center", 5, NONE)
    return b.build()


def with_strings():
    """A chain of two links, a string of three nodes from its end to the world, one of two nodes between the links."""
    b = chain("mass-springs", 2)
    nodes = ((30.0, 0.0, 10.0), (25.0, 0.0, 5.0), (20.0, 0.0, 0.0), (5.0, 0.0, 0.0), (15.0, 0.0, 0.0))
    for at, mass in zip(nodes, (1 / 3, 1 / 3, 1 / 3, 0.5, 0.5), strict=True):
        b.add(0, Translational(), at, None, NONE, mass=mass)
    b.point("hook", 0, nodes[0])
    b.point("tip", 2, (5.0, 0.0, 0.0))
    for n in (1, 2):
        b.point(f"center{n}", n, NONE)
    for first, second in ((3, 4), (4, 5), (6, 7)):
        L = math.dist(nodes[first - 3], nodes[second - 3])
        b.add_force(PointSpring(f"string{first}", f"b{first}", f"b{second}", stiffness=1e5 / L**2, rest_length=L))
    return b.build()


HELD = (("b3", "hook"), ("b5", "tip"), ("b6", "center1"), ("b7", "center2"))


def swinging_gate():
    b = Bodies("prismatic joint")
    b.add(0, Fixed(), sides=(22.0, 1.0, 1.0), com=NONE)
    b.add(1, ABOUT_Y, (-11.0, 0.0, 0.0), HANGING, BELOW)
    b.add(2, Prismatic((1.0, 0.0, 0.0)), (0.0, 0.0, -10.0), (22.0, 1.0, 1.0), (11.0, 0.0, 0.0))
    b.add(3, ABOUT_Y, (22.0, 0.0, 0.0), HANGING, ABOVE)
    b.add(3, ABOUT_Y, (11.0, 0.0, 0.0), HANGING, BELOW)
    b.point("end", 4, ABOVE)
    b.point("ground", 1, (11.0, 0.0, 0.0))
    return b.build()


def braced_chain(k=1e6, d=1e3):
    b = Bodies("spring damper")
    for n, joint in enumerate((Fixed(), ABOUT_Y, ABOUT_Y)):
        b.add(n, joint, (10.0 if n else 0.0, 0.0, 0.0))
    start, end = b.point("start", 1, (-2.0, 0.0, -0.5)), b.point("end", 2, (1.0, 0.5, -0.5))
    L = BRACE
    b.add_force(PointSpring("brace", start, end, stiffness=k / L, rest_length=L, damping=d / L))
    return b.build()


BRACE = math.hypot(6.5, 0.5, 5.5)  # from start to end where the scene begins


def four_bar():
    """Ground on a hinge, driven crank, coupler and rocker, at rest."""
    s = 16.0
    z = 2.0 * math.sqrt(s * (s - 6.0) * (s - 12.0) * (s - 14.0)) / 6.0
    x = math.sqrt(196.0 - z * z)
    b = Bodies("four-bar linkage")
    b.add(0, ABOUT_Y, (0.0, 0.0, 10.0), (10.0, 0.5, 0.5), NONE)
    b.add(1, ABOUT_Y, (-5.0, 0.0, 0.0), (4.0, 0.5, 0.5), (2.0, 0.0, 0.0))
    b.add(2, ABOUT_Y, (4.0, 0.0, 0.0), None, (0.5 * x, 0.0, 0.5 * z), **bar(14.0, x, z))
    b.add(3, ABOUT_Y, (x, 0.0, z), None, (-0.5 * (x - 6.0), 0.0, -0.5 * z), **bar(12.0, x - 6.0, z))
    b.point("end", 4, (-0.5 * (x - 6.0), 0.0, -0.5 * z))
    b.point("ground", 1, (5.0, 0.0, 0.0))
    return b.build()


def gears():
    b = Bodies("gears")
    products = (0.000212662688, -0.0000386650908, 0.000233455300)
    xy, xz, yz = products
    gear = {
        "mass": 0.5008080292, "com": (0.000838092132, -0.255504763777, 0.000913957559),
        "inertia": np.array([[0.464918708537, xy, xz], [xy, 0.887724605712, yz], [xz, yz, 0.464843177387]]),
    }  # fmt: skip
    b.add(0, Fixed(), com=NONE, rpy=(0.0, 0.0, pi), sides=(1.0, 1.0, 1.0))
    b.add(1, ABOUT_Y, (0.0, -0.25, 2.0), None, NONE, **cylinder_along_y(0.2, 3.5))
    b.add(2, Fixed(), (0.0, -0.35, 0.0), None, **gear)
    b.add(1, ABOUT_Y, (0.0, -0.5, -2.0), None, NONE, **cylinder_along_y(0.2, 3.0))
    b.add(4, Fixed(), (0.0, -0.1, 0.0), None, **gear)
    b.add(4, Fixed(), NONE, (5.0, 0.25, 0.25), (0.0, 1.5, 0.0))
    b.add(2, Fixed(), NONE, (7.0, 0.25, 0.25), (2.0, 1.75, 0.0))
    return b.build()


def closed(name, first, second):
    """A loop that a hinge about y closes."""
    return LoopJoint(name, ABOUT_Y, first, second)


SCENES = (
    Scene("6", "Joint limits", lambda: chain("joint limits", 2).build(),
          rows=(Limits("j2", -pi / 4, pi / 4),)),
    Scene("9", "Hybrid dynamics", lambda: chain("hybrid dynamics", 3, NONE).build(), duration=10.0, dt=0.02,
          rows=(FollowsFunction("j1", ramp(7.0, 1.5 * pi, until=7.0)),), conservative=False, driven=True),
    Scene("12", "Strings of point masses", with_strings, duration=1.0, dt=5e-3, explicit_springs=True, listed=2,
          rows=tuple(PointsMeet(point, node) for node, point in HELD),
          constraints=lambda: [LoopJoint(node, Spherical(), point, node) for node, point in HELD]),
    Scene("13", "Maximal hybrid dynamics", carried_chain, duration=10.0, dt=0.05, conservative=False, driven=True,
          rows=(FollowsTwist("center", swing_and_slide),), constraints=lambda: [carried(15.0, 0.0)]),
    Scene("15", "Prismatic joint", swinging_gate, (0.0, 0.0, 0.0, 0.75 * pi),
          rows=(PointsMeet("end", "ground", planar=True),), constraints=lambda: [closed("loop", "ground", "end")]),
    Scene("20", "Reduced and maximal hybrid dynamics", carried_long_chain, duration=10.0, dt=0.05, conservative=False,
          rows=(FollowsTwist("center", swing_and_slide), FollowsFunction("j3", ramp(10.0, 0.5 * pi))),
          driven=True, assembled=True,
          constraints=lambda: [
              carried(25.0, 0.0),
              PrescribedMotion("j3", lambda t: 0.5 * pi / (exp(-7.0 * (0.2 * t - 1.0)) + 1.0)),
          ]),
    Scene("24", "Spring damper", braced_chain, (0.5 * pi, -0.5 * pi), energy_scale=1.0 / BRACE, conservative=False),
    Scene("32", "Driven four-bar linkage", four_bar, (pi, 0.0, 0.0, 0.0), duration=1.0, dt=5e-3, gain=20.0,
          rows=(PointsMeet("end", "ground", planar=True), FollowsFunction("j2", lambda t: (None, DRIVE))),
          conservative=False, driven=True, assembled=True,
          constraints=lambda: [
              closed("loop", "ground", "end"), PrescribedMotion("j2", Polynomial((0.0, DRIVE))),
          ]),
    Scene("34", "Gears", gears, duration=1.0, rows=(OppositeTurns("j2", "j4"),),
          constraints=lambda: [LinearCoupling(("j2", "j4"), (1.0, 1.0), 0.0)]),
)  # fmt: skip
