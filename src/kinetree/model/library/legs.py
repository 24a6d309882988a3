"""Legs with closed loops and springs."""

from __future__ import annotations

import math

import numpy as np

from kinetree.arguments import a_number, checked
from kinetree.constraints import LoopJoint
from kinetree.joints import Revolute, Spherical, Universal
from kinetree.model.builder import WORLD, ModelBuilder
from kinetree.model.library.parts import DOWN, at, closed
from kinetree.model.library.planar_linkages import triangle
from kinetree.model.model import Model

KNEE, SHIN, TARSUS = (0.12, 0.0), (0.061, 0.047), (0.435, 0.02)  # of each joint in the body before [m]
HEEL, HEEL_TIP, ACHILLES = (-0.013, -0.031), (-0.09, 0.0), 0.5012
PLANE = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
CRANK, TOE, RADIUS, FOOT_ARM, PLANTAR = (0.058, -0.034), (0.408, -0.04), 0.04, (-0.052, -0.012), 0.35


@checked(knee=a_number, toe=a_number)
def cassie_leg(knee: float = -1.2, toe: float = -1.5) -> Model:
    """A leg like that of the robot Cassie, on a fixed hip: two four-bar linkages, and springs in two joints.

    In the x-y plane, gravity along -y. Joints: "hip" (thigh), "knee", "shin" (a stiff spring), "tarsus", "heel" (a
    stiff spring), "crank" (drives the toe), "plantar", "toe", and the universal joint "achilles" of a rod on the thigh.
    The ball "heel_end" connects this rod to the heel spring, so that the tarsus turns with the knee; the hinge
    "plantar_end" connects the plantar rod to the foot.

    Parameters
    ----------
    knee, toe : float
        Angles of knee and toe crank in the keyframe "initial" [rad]; there both springs are relaxed, and the toe joint
        is below the hip.

    Returns
    -------
    Model

    Raises
    ------
    ArgumentError
        A linkage cannot close at these angles; the message has the distance that is missing.

    Notes
    -----
    Source: the arrangement of Cassie by Agility Robotics; dimensions like its, in one plane, and thin links.
    Stiffnesses 1500 and 1250 N m/rad, armatures of the motors 0.09 and 0.012 kg m^2. Mobility 10 - 5 = 5: three motors
    ("hip", "knee", "crank") and two springs. Three of the five rows of the plantar rod's hinge are redundant.

    Examples
    --------
    >>> model = cassie_leg()
    >>> model.nv, model.nc, len(model.independent_rows())
    (10, 8, 5)
    """
    b = ModelBuilder("cassie_leg", gravity=DOWN)
    _add(b, "thigh", WORLD, "hip", None, KNEE, 4.0, armature=0.09)
    _add(b, "knee_output", "thigh", "knee", at(*KNEE), SHIN, 0.8, armature=0.09)
    _add(b, "shin", "knee_output", "shin", at(*SHIN), TARSUS, 0.6, stiffness=1500.0, damping=0.1)
    _add(b, "tarsus", "shin", "tarsus", at(*TARSUS), TOE, 0.8)
    _add(b, "heel_spring", "tarsus", "heel", at(*HEEL), HEEL_TIP, 0.13, stiffness=1250.0, damping=0.1)
    b.add_frame("heel_tip", "heel_spring", at(*HEEL_TIP))
    thin = 0.16 * ACHILLES**2 / 12.0
    # The rod is along z of its body; the axes of its universal joint are the normal of the plane, then across the rod.
    b.add_body("achilles_rod", "thigh", Universal(), "achilles", (PLANE, (0.0, 0.0, 0.0)), mass=0.16,
               com=(0, 0, ACHILLES / 2), inertia=(thin, thin, 0.0))  # fmt: skip
    b.add_frame("achilles_rod_tip", "achilles_rod", at(0.0, 0.0, ACHILLES))
    _add(b, "toe_crank", "tarsus", "crank", at(*CRANK), (RADIUS, 0.0), 0.13, armature=0.012)
    _add(b, "plantar_rod", "toe_crank", "plantar", at(RADIUS), (PLANTAR, 0.0), 0.12)
    _add(b, "foot", "tarsus", "toe", at(*TOE), (0.1, 0.0), 0.15)
    b.add_frame("foot_arm", "foot", at(*FOOT_ARM))
    return closed(b, _position(knee, toe), [
        LoopJoint("heel_end", Spherical(), "achilles_rod_tip", "heel_tip"),
        LoopJoint("plantar_end", Revolute(), "plantar_rod_tip", "foot_arm"),
    ])  # fmt: skip


def _add(b: ModelBuilder, name: str, parent: str, joint: str, placement, end, mass: float, **data) -> None:
    """A thin rod from its joint, a hinge, to this point of its x-y plane; the frame "<name>_tip" is there."""
    x, y = end
    I = mass / 12.0
    b.add_body(name, parent, Revolute(), joint, placement, mass=mass, com=(x / 2, y / 2, 0.0),
               inertia=[[I * y * y, -I * x * y, 0.0], [-I * x * y, I * x * x, 0.0], [0.0, 0.0, I * (x * x + y * y)]],
               **data)  # fmt: skip
    b.add_frame(f"{name}_tip", name, at(x, y))


def _turned(angle: float, point, offset=(0.0, 0.0)) -> tuple[float, float]:
    """A point turned about the origin, and shifted."""
    c, s = math.cos(angle), math.sin(angle)
    return c * point[0] - s * point[1] + offset[0], s * point[0] + c * point[1] + offset[1]


def _position(knee: float, toe: float) -> dict:
    """The closed position with relaxed springs: two triangles, in the coordinates of the thigh and of the tarsus."""
    tarsus = _turned(knee, TARSUS, _turned(knee, SHIN, KNEE))
    heel = HEEL[0] + HEEL_TIP[0], HEEL[1] + HEEL_TIP[1]
    rod, arm = triangle("cassie_leg: knee", knee, (0.0, 0.0), tarsus, ACHILLES, math.hypot(*heel), -1.0)
    turn = arm - math.atan2(heel[1], heel[0])  # of the tarsus against the thigh
    tip = _turned(toe, (RADIUS, 0.0), CRANK)
    plantar, foot = triangle("cassie_leg: toe", toe, tip, TOE, PLANTAR, math.hypot(*FOOT_ARM), -1.0)
    toe_joint = _turned(turn, TOE, tarsus)
    return {
        "hip": -math.pi / 2.0 - math.atan2(toe_joint[1], toe_joint[0]), "knee": knee, "tarsus": _wrapped(turn - knee),
        "achilles": (rod, 0.0), "crank": toe, "plantar": plantar - toe,
        "toe": _wrapped(foot - math.atan2(FOOT_ARM[1], FOOT_ARM[0])),
    }  # fmt: skip


def _wrapped(angle: float) -> float:
    """Between -pi and pi."""
    return math.remainder(angle, 2.0 * math.pi)
