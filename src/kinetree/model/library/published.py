"""Mechanisms of published benchmark problems, with the numbers of their sources."""

from __future__ import annotations

import math

from kinetree.arguments import a_number, a_word, checked, choice
from kinetree.constraints import Distance, LoopJoint
from kinetree.forces import PointSpring
from kinetree.joints import Prismatic, Revolute
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.library.parts import at, closed
from kinetree.model.model import Model

SQUEEZER = {  # body: mass [kg], inertia about the center of mass [kg m^2]
    "crank": (0.04325, 2.194e-6), "rod": (0.00365, 4.410e-7), "triangle": (0.02373, 5.255e-6),
    "link4": (0.00706, 5.667e-7), "arm5": (0.07050, 1.169e-5), "link6": (0.00706, 5.667e-7),
    "arm7": (0.05498, 1.912e-5),
}  # fmt: skip


def andrews_squeezer() -> Model:
    """Andrews' squeezer mechanism: seven bodies in the x-y plane, three loops, a spring, no gravity; mobility 1.

    Joints have the names of the published coordinates: "beta" (crank at O), "theta" (rod on the crank), "gamma"
    (triangle at B), "phi" (link4 on arm5), "delta" (arm5 at A), "omega" (link6 on arm7), "epsilon" (arm7 at A). The
    loop joints "E3", "E4", "E6" connect triangle, link4 and link6 to the rod at its end E. The spring "CD" connects the
    triangle to the ground. A torque of 0.033 N m at "beta" drives it in the benchmark.

    Returns
    -------
    Model
        Its keyframe "initial" has the published initial values.

    Notes
    -----
    Source: Schiehlen, Multibody Systems Handbook (1990); numbers of Hairer and Wanner, Solving Ordinary Differential
    Equations II, section VII.7, and of the test set of Mazzia and Magherini, problem "andrews".

    Examples
    --------
    >>> model = andrews_squeezer()
    >>> model.joint_names
    ('beta', 'theta', 'gamma', 'delta', 'phi', 'epsilon', 'omega')
    >>> model.nv, len(model.independent_rows())
    (7, 6)
    """
    b = ModelBuilder("andrews_squeezer", gravity=(0.0, 0.0, 0.0))
    A, B, C = at(-0.06934, -0.00227), at(-0.03635, 0.03273), at(0.014, 0.072)
    places = {  # joint, parent, placement of the joint, center of mass in the body
        "crank": ("beta", WORLD, None, (0.00092, 0.0)),
        "rod": ("theta", "crank", at(0.007), (-0.0115, 0.0)),
        "triangle": ("gamma", WORLD, B, (0.01043, -0.01874)),
        "arm5": ("delta", WORLD, A, (0.02308, 0.00916)),
        "link4": ("phi", "arm5", at(0.04), (0.0, 0.01421 - 0.02)),
        "arm7": ("epsilon", WORLD, A, (-0.00449, -0.01228)),
        "link6": ("omega", "arm7", at(0.0, -0.04), (0.02 - 0.01421, 0.0)),
    }
    for name, (joint, parent, placement, com) in places.items():
        mass, I = SQUEEZER[name]
        b.add_body(name, parent, Revolute(), joint, placement, mass=mass, com=(*com, 0.0), inertia=(I / 2, I / 2, I))
    for name, body, placement in (
        ("E2", "rod", at(-0.028)), ("E3", "triangle", at(0.0, -0.035)), ("E4", "link4", at(0.0, -0.02)),
        ("E6", "link6", at(0.02)), ("C", WORLD, C), ("D", "triangle", at(0.02, -0.018)),
    ):  # fmt: skip
        b.add_frame(name, body, placement)
    b.add_force(PointSpring("CD", "C", "D", stiffness=4530.0, rest_length=0.07785))
    q = {
        "beta": -0.0617138900142764496358948458001, "theta": 0.0, "gamma": 0.455279819163070380255912382449,
        "phi": 0.222668390165885884674473185609, "delta": 0.487364979543842550225598953530,
        "omega": -0.222668390165885884674473185609, "epsilon": 1.23054744454982119249735015568,
    }  # fmt: skip
    return closed(b, q, [LoopJoint(name, Revolute(), "E2", name) for name in ("E3", "E4", "E6")])


@checked(links=a_word, speed=a_number)
def governor(links: str = "springs", *, speed: float = 2.0 * math.pi) -> Model:
    """A flyball governor: a shaft that turns about z, two rods with balls, and a slider on the shaft.

    Joints "shaft", "slider", its height, and "rod1" and "rod2", angles below the horizontal. "link1" and "link2"
    connect the rods' mid-points to the slider.

    Parameters
    ----------
    links : {"springs", "rods"}
        Stiff springs with dampers, as in the benchmark, or rigid rods without mass, which close two loops.
    speed : float
        Of the shaft in the keyframe "initial" [rad/s].

    Returns
    -------
    Model

    Notes
    -----
    Source: problem A05 of the IFToMM library of multibody benchmarks ("flyball governor"): shaft and rods of 1 m x
    0.01 m x 0.01 m, slider a cube of 0.1 m, density 3000 kg/m^3, balls of 5 kg; rods at radius 0.05 m on top of the
    shaft, at the start 30 degrees below the horizontal; springs of 8e5 N/m, 4e4 N s/m and 0.5 m, to the slider at
    radius 0.05 m. The angular momentum about z is constant.

    Examples
    --------
    >>> import kinetree as kt
    >>> model = governor()
    >>> q, v = model.keyframe("initial")
    >>> round(float(kt.momentum(model, q, v)[2]), 6)
    53.868999
    """
    stiff = choice("governor: links", links, ("springs", "rods")) == "springs"
    b, loops = ModelBuilder("governor", gravity=(0.0, 0.0, -9.81)), []
    rod, ball, start = 0.3, 5.0, math.radians(30.0)
    square, across = rod * 2e-4 / 12.0, rod * (1.0 + 1e-4) / 12.0
    b.add_body("shaft", WORLD, Revolute(), "shaft", mass=rod, com=(0, 0, 0.5), inertia=(across, across, square))
    b.add_body("slider", "shaft", Prismatic(), "slider", mass=3.0, inertia=[3.0 * 0.1**2 / 6.0] * 3)
    # A rod and a point at its end: center of mass, and inertia of both about it.
    com, pair = (0.5 * rod + ball) / (rod + ball), rod * ball / (rod + ball) * 0.25
    for k, turn in ((1, 0.0), (2, math.pi)):
        x = 0.05 * math.cos(turn)
        b.add_body(f"rod{k}", "shaft", Revolute((0, 1, 0)), f"rod{k}", at(x, 0.0, 1.0, turn), mass=rod + ball,
                   com=(com, 0, 0), inertia=(square, across + pair, across + pair))  # fmt: skip
        b.add_frame(f"middle{k}", f"rod{k}", at(0.5))
        b.add_frame(f"pivot{k}", "slider", at(x))
        if stiff:
            b.add_force(PointSpring(f"link{k}", f"middle{k}", f"pivot{k}", 8e5, 0.5, 4e4))
        else:
            loops.append(Distance(f"middle{k}", f"pivot{k}", 0.5, name=f"link{k}"))
    return closed(b, {"slider": 0.5, "rod1": start, "rod2": start}, loops, {"shaft": speed})
