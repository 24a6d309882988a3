"""Scenes of differentiable REDMAX: runs by backward differentiation formulas."""

from __future__ import annotations

import math
from math import pi

from kinetree.forces import PointSpring
from kinetree.joints import Composite, Fixed, PlanarSplit, Prismatic, SphericalEuler, Translational
from kinetree.scenes.parts import ABOUT_Y, BELOW, HANGING, Bodies, chain
from kinetree.scenes.scene import Scene
from kinetree.scenes.trees import on_a_sliding_table, with_fixed_links, with_other_axes

NONE = (0.0, 0.0, 0.0)
CUBE = (1.0, 1.0, 1.0)


def single_revolute():
    b = Bodies("single revolute")
    b.add(0, ABOUT_Y, sides=(2.0, 0.2, 0.2), com=(1.0, 0.0, 0.0))
    return b.build()


def cart_with_pendulum():
    b = Bodies("prismatic joint")
    b.add(0, Prismatic((1.0, 0.0, 0.0)), sides=(20.0, 1.0, 1.0), com=NONE)
    b.add(1, ABOUT_Y, (-10.0, 0.0, 0.0), HANGING, BELOW)
    return b.build()


def free_square():
    b = Bodies("2D free joint", (0.0, -980.0, 0.0))
    b.add(0, PlanarSplit("translation"), sides=CUBE, com=NONE)
    return b.build()


def ball_joints(sequences=("xyz", "xyz")):
    b = Bodies("spherical joint")
    for n, sequence in enumerate(sequences):
        b.add(n, SphericalEuler(sequence), (0.0, 0.0, -10.0 if n else 0.0), HANGING, BELOW)
    return b.build()


def free_cube():
    b = Bodies("3D free joint", (0.0, 0.0, -1.0))
    b.add(0, Composite((Translational(), SphericalEuler("xyz"))), sides=CUBE, com=NONE)
    return b.build()


def loop_by_a_spring():
    b = Bodies("loop")
    b.add(0, Fixed(), sides=(20.0, 1.0, 1.0), com=NONE)
    b.add(1, ABOUT_Y, (-10.0, 0.0, 0.0), HANGING, BELOW)
    b.add(1, ABOUT_Y, (10.0, 0.0, 0.0), HANGING, BELOW)
    b.add(2, ABOUT_Y, (0.0, 0.0, -10.0), (20.0, 1.0, 1.0), (10.0, 0.0, 0.0))
    b.add(4, ABOUT_Y, (10.0, 0.0, 0.0), HANGING, BELOW)
    ends = b.point("start", 3, (0.0, 0.0, -5.0)), b.point("end", 4, (10.0, 0.0, 0.0))
    b.add_force(PointSpring("loop", *ends, stiffness=1e7))
    return b.build()


def on_spring_dampers(k=1e6, d=1e3):
    b = chain("spring-damper", 2)
    places = ((0, (-5.0, 0.0, -5.0)), (2, (0.0, 0.0, -2.0))), ((1, (0.0, 0.0, 2.0)), (2, (0.0, 0.0, 2.0)))
    lengths = math.dist((-5.0, 0.0, -5.0), (15.0, 0.0, -2.0)), 10.0
    for n, (ends, L) in enumerate(zip(places, lengths, strict=True)):
        start, end = (b.point(f"{side}{n}", *at) for side, at in zip(("start", "end"), ends, strict=True))
        b.add_force(PointSpring(f"spring{n}", start, end, stiffness=k / L, rest_length=L, damping=d / L))
    return b.build()


def between_stops():
    stops = {"damping": 1e2, "limit_stiffness": 1e5, "limit_damping": 1e2, "lower": -0.5 * pi, "upper": 0.0}
    return chain("joint limits", 3, turned=0.5 * pi, **stops).build()


SCENES = (
    Scene("d-2", "Single revolute", single_revolute, v0=(1.0,), duration=1.0),
    Scene("d0", "Simple serial chain", with_fixed_links, (pi / 4,) * 3, duration=1.0),
    Scene("d1", "Different revolute axes", with_other_axes, (0.0, pi / 2, pi / 2), duration=1.0),
    Scene("d3", "Prismatic joint", cart_with_pendulum, (0.0, pi / 2), duration=1.0),
    Scene("d5", "Translational joint", on_a_sliding_table, v0=(*NONE, -10.0, 10.0)),
    Scene("d6", "2D free joint", free_square, (0.0, -10.0, -10.0), (20.0, 50.0, 200.0), duration=0.4, dt=5e-3,
          order=(1, 2, 0)),
    Scene("d7", "Spherical joint", ball_joints, (pi / 8, 0.0, 0.0, pi / 2, 0.0, 0.0), (2.0, 2.0, 2.0, *NONE),
          duration=1.0, dt=2e-3, charts=True),
    Scene("d9", "3D free joint", free_cube, v0=(0.0, 0.0, 3.0, 0.2, 0.4, 0.6), duration=6.0, dt=5e-2),
    Scene("d10", "Loop closed by a spring", loop_by_a_spring, v0=(0.0, 0.0, 0.0, 5.0), duration=1.0),
    Scene("d12", "Spring-dampers", on_spring_dampers, duration=1.0, conservative=False),
    Scene("d14", "Joint limits", between_stops, (0.0, -pi / 6, -pi / 6), duration=1.0, dt=5e-3, conservative=False),
)  # fmt: skip
