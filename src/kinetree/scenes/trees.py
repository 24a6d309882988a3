"""Scenes without constraints, of REDMAX."""

from __future__ import annotations

import math

import numpy as np

from kinetree.forces import BodyDamping, PointForce
from kinetree.joints import (
    Composite,
    Fixed,
    Prismatic,
    Revolute,
    SphericalExponential,
    SplineCurve,
    SplineSurface,
    Translational,
)
from kinetree.scenes.parts import ABOUT_Y, BELOW, HANGING, STRAIGHT, Bodies, chain
from kinetree.scenes.scene import Scene

QUARTER, NONE = math.pi / 4, (0.0, 0.0, 0.0)
ABOUT_X, ABOUT_Z = Revolute((1.0, 0.0, 0.0)), Revolute((0.0, 0.0, 1.0))


def with_fixed_links():
    b = Bodies("simple serial chain")
    for n, joint in enumerate((ABOUT_Y, Fixed(), ABOUT_Y, Fixed(), ABOUT_Y)):
        b.add(n, joint, (10.0 if n else 0.0, 0.0, 0.0))
    return b.build()


def with_other_axes():
    b = Bodies("different revolute axes")
    for n, joint in enumerate((ABOUT_Z, ABOUT_Y, ABOUT_Z)):
        b.add(n, joint, (10.0 if n else 0.0, 0.0, 0.0))
    return b.build()


def with_ball_joints():
    b = Bodies("spherical joint")
    for n in range(2):
        b.add(n, SphericalExponential(), (0.0, 0.0, -10.0 if n else 0.0), HANGING, BELOW)
    return b.build()


def pulled_and_damped():
    b = chain("external world force", 3, NONE)
    tip = b.point("tip", 3, (5.0, 0.0, 0.0))
    b.add_force(PointForce("pull", tip, (0.0, 0.0, 1e3)))
    for n in (1, 2, 3):
        center = b.point(f"center{n}", n, NONE)
        b.add_force(BodyDamping(f"damping{n}", center, 10.0, 10.0))
    return b.build()


def on_a_sliding_table():
    b = Bodies("translational joint", NONE)
    b.add(0, Translational(), sides=(10.0, 10.0, 1.0), com=NONE)
    b.add(1, ABOUT_Y, (-5.0, 0.0, 0.0), HANGING, BELOW)
    b.add(1, ABOUT_X, (0.0, -5.0, 0.0), HANGING, BELOW)
    return b.build()


def free_cube():
    b = Bodies("free joint", (0.0, 0.0, -1.0))
    b.add(0, Composite((Translational(), SphericalExponential())), sides=(1.0, 1.0, 1.0), com=NONE)
    return b.build()


def sliding_pendulum():
    b = Bodies("composite joint")
    b.add(0, Composite((ABOUT_X, Prismatic((1.0, 0.0, 0.0)))), sides=HANGING, com=(0.0, 0.0, 5.0))
    return b.build()


def on_a_curve():
    b = Bodies("spline curve joint")
    b.add(0, ABOUT_Y, sides=HANGING, com=BELOW)
    turns = ((math.pi, (-10.0, 0.0, 0.0)), (math.pi / 2, (0.0, 0.0, -2.0)), (0.0, (10.0, 0.0, 0.0)),
             (-math.pi / 2, (0.0, 0.0, 2.0)))  # fmt: skip
    track = SplineCurve([(origin, (0.0, angle, 0.0)) for angle, origin in turns], periodic=True)
    b.add(1, track, (0.0, 0.0, -10.0))
    b.add(2, ABOUT_Y, (10.0, 0.0, 0.0))
    return b.build()


def on_a_surface():
    b = Bodies("spline surface joint")
    b.add(0, ABOUT_X, sides=HANGING, com=BELOW)

    def control(i, k):
        x, y, angle = -15.0 + 10.0 * i, -15.0 + 10.0 * k, -math.pi / 4 + i * math.pi / 6
        return x, y, 0.05 * (x * x + y * y), angle, angle, 0.0

    b.add(1, SplineSurface([[control(i, k) for i in range(4)] for k in range(4)]), (0.0, 0.0, -14.0), HANGING, BELOW)
    b.add(2, ABOUT_Y, (0.0, 0.0, -10.0), HANGING, BELOW)
    return b.build()


def of_mesh_bodies(mass=6.0, com=STRAIGHT, inertia=((6.5, 0.0, 0.0), (0.0, 5.0, 0.0), (0.0, 0.0, 2.5))):
    """Two links of 1 x 2 x 3; mass properties about the center of the box."""
    b = Bodies("mesh bodies")
    for n in range(2):
        given = {"mass": mass, "inertia": np.array(inertia)}
        b.add(n, ABOUT_Y, (0.0, 0.0, -3.0 * n), None, tuple(np.add((0.5, 0.0, -1.5), com)), **given)
    return b.build()


SCENES = (
    Scene("-1", "Simpler serial chain", lambda: chain("simpler serial chain", 2).build(), (2 * QUARTER, QUARTER)),
    Scene("0", "Simple serial chain", with_fixed_links, (QUARTER,) * 3),
    Scene("1", "Different revolute axes", with_other_axes, (0.0, 2 * QUARTER, 2 * QUARTER)),
    Scene("3", "Spherical joint", with_ball_joints, (QUARTER / 2, 0.0, 0.0) * 2, (0.0, 0.0, 2.0, *NONE), duration=3.0),
    Scene("5", "Joint torque", lambda: chain("joint torque", 3, NONE).build(), duration=10.0, dt=0.05,
          torques=((3.0, (0.0, 0.0, 100.0)), (6.0, (0.0, 100.0, -100.0)), (math.inf, (100.0, -100.0, 0.0))),
          conservative=False),
    Scene("10", "External world force", pulled_and_damped, conservative=False),
    Scene("11", "Joint stiffness and damping",
          lambda: chain("joint stiffness and damping", 3, NONE, stiffness=1e4, damping=1e3).build(), NONE,
          (1.0, 0.0, 0.0), duration=5.0, dt=0.02, conservative=False),
    Scene("17", "Translational joint", on_a_sliding_table, v0=(*NONE, 2.0, 1.0)),
    Scene("18", "Free joint", free_cube, v0=(0.0, 0.0, 3.0, 0.2, 0.4, 0.6), duration=7.0),
    Scene("19", "Composite joint", sliding_pendulum, (0.1, 0.0), (0.0, 1.0), dt=0.02),
    Scene("21", "Spline curve joint", on_a_curve, (0.0, 0.0, 15 * math.pi / 16), dt=5e-3),
    Scene("22", "Spline surface joint", on_a_surface, (QUARTER / 2, 0.5, 0.5, QUARTER)),
    Scene("26", "Bodies of a mesh", of_mesh_bodies, duration=1.0),
)  # fmt: skip
