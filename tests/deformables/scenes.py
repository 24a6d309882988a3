"""Scenes of the tests: the one of Sueda's collection with strings of point masses, and models that are equivalent."""

from __future__ import annotations

import numpy as np

import kinetree as kt

D = kt.deformables
GRAVITY = (0.0, 0.0, -980.0)  # centimeters, grams, seconds


def two_chain(masses=((0.0, 0.0), (0.0, 0.0))) -> kt.Model:
    """Two bodies of 10 x 1 x 1 cm; point masses at the middle and at the tip of each, beside their own."""
    b = kt.ModelBuilder("two_chain", gravity=GRAVITY)
    place = None
    for name, parent, (middle, tip) in zip(("b1", "b2"), ("world", "b1"), masses, strict=True):
        total = 10.0 + middle + tip
        c = (50.0 + 5.0 * middle + 10.0 * tip) / total
        lateral = 10.0 * 101.0 / 12.0 + 10.0 * (5.0 - c) ** 2 + middle * (5.0 - c) ** 2 + tip * (10.0 - c) ** 2
        inertia = (10.0 * 2.0 / 12.0, lateral, lateral)
        b.add_body(
            name, parent, kt.joints.Revolute((0, 1, 0)), placement=place, mass=total, com=(c, 0, 0), inertia=inertia
        )
        place = ((10.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        b.add_frame(f"{name} middle", name, ((5.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
        b.add_frame(f"{name} tip", name, ((10.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    return b.build()


def strings() -> tuple:
    """The two strings of scene 12: energy ``k e^2 / 2`` of the strain e with k = 1e5."""
    first, second = [(30, 0, 10), (25, 0, 5), (20, 0, 0)], [(5, 0, 0), (15, 0, 0)]
    length, k = 5.0 * np.sqrt(2.0), 1e5
    return (
        D.spring_network("string1", first, [1 / 3] * 3, [(0, 1), (1, 2)], stiffness=k / length**2),
        D.spring_network("string2", second, [1 / 2] * 2, [(0, 1)], stiffness=k / 100.0),
    )


def scene_12() -> D.Coupled:
    """Scene 12 with attached nodes."""
    first, second = strings()
    return D.Coupled(
        two_chain(),
        [first.with_fixed([0]), second],
        [
            D.Attachment(2, "b2 tip", (0, 0, 0), "string1"),
            D.Attachment(0, "b1 middle", (0, 0, 0), "string2"),
            D.Attachment(1, "b2 middle", (0, 0, 0), "string2"),
        ],
    )


def equivalent_model() -> kt.Model:
    """The same as an ordinary model: the free node is a point mass on a translational joint, springs are elements."""
    chain = two_chain(((0.5, 0.0), (0.5, 1 / 3)))
    b = kt.ModelBuilder.of(chain)
    b.add_body("node", "world", kt.joints.Translational(), placement=((25.0, 0.0, 5.0), (0, 0, 0)), mass=1 / 3)
    b.add_frame("hook", "world", ((30.0, 0.0, 10.0), (0, 0, 0)))
    length, k = 5.0 * np.sqrt(2.0), 1e5
    b.add_force(kt.forces.PointSpring("s1", "hook", "node", k / length**2, length))
    b.add_force(kt.forces.PointSpring("s2", "node", "b2 tip", k / length**2, length))
    b.add_force(kt.forces.PointSpring("s3", "b1 middle", "b2 middle", k / 100.0, 10.0))
    return b.build()
