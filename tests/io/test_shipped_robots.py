"""The robots that ship with kinetree: homogeneous bodies, complete files, and the poses they promise."""

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree import data
from kinetree.errors import UnknownNameError, URDFError
from kinetree.io.options import Options
from kinetree.io.urdf.plan import plan
from kinetree.io.xml.reader import Document

SIZES = {"arm7": 9, "cart_pole": 2, "double_pendulum": 2, "humanoid": 27, "quadruped": 12}
FREE = ("humanoid", "quadruped")


def solid(shape, size):
    """Volume, and second moments about the center per unit of mass, of a homogeneous shape."""
    if shape == "box":
        x, y, z = size
        return x * y * z, np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) / 12
    if shape == "cylinder":
        r, h = size
        return math.pi * r * r * h, np.diag([3 * r * r + h * h, 3 * r * r + h * h, 6 * r * r]) / 12
    (r,) = size
    return 4 / 3 * math.pi * r**3, 0.4 * r * r * np.eye(3)


def homogeneous(shapes, mass):
    """Center of mass and tensor about it of a mass spread over shapes by volume."""
    parts = []
    for shape in shapes:
        volume, I = solid(shape.kind, shape.size)
        parts.append((volume, shape.p_BG, shape.R_BG @ I @ shape.R_BG.T))
    total = sum(volume for volume, _, _ in parts)
    com = sum(volume * p for volume, p, _ in parts) / total
    I = np.zeros((3, 3))
    for volume, p, I_part in parts:
        d = p - com
        I += mass * volume / total * (I_part + (d @ d) * np.eye(3) - np.outer(d, d))
    return com, I


@pytest.mark.parametrize("name", data.robots())
def test_inertias_follow_from_the_geometry(name):
    """Each link is homogeneous: center of mass and tensor are those of its visual shapes (ten digits in the file)."""
    robot = plan(Document(data.path(name), URDFError), Options()).robot
    for link in robot.links.values():
        if link.inertial is None:
            assert not link.shapes
            continue
        com, I = homogeneous([s for s in link.shapes if s.role == "visual"], link.mass.mass)
        assert np.allclose(link.mass.com, com, rtol=1e-9, atol=1e-12)
        assert np.allclose(link.mass.I, I, rtol=1e-9, atol=1e-12 * np.abs(I).max())


@pytest.mark.parametrize("name", data.robots())
def test_sizes_and_empty_reports(name):
    """Nothing in the report of a robot but that its base is welded; it has as many joints as promised."""
    model = kt.load(name, floating_base=name in FREE)
    said = [entry.message.partition(" kg ")[2] for entry in model.report]
    assert len(said) == (name not in FREE) and all(message.startswith("is welded to the world") for message in said)
    assert model.nv == SIZES[name] + 6 * (name in FREE)


def test_unknown_option_names_the_closest_and_lists_all():
    """load(..., floating=True) is answered with floating_base and the other options."""
    with pytest.raises(UnknownNameError, match="no option named 'floating'.*Did you mean 'floating_base'.*merge_fixed"):
        kt.load("quadruped", floating=True)


def test_unknown_robot_lists_the_shipped_ones():
    """path() of a wrong name says which there are."""
    with pytest.raises(UnknownNameError, match="Did you mean 'quadruped'.*arm7, cart_pole"):
        data.path("quadrupet")


def place(model, q, frame):
    with kt.interpreted():
        return np.array(kt.pose(model, q, frame=frame)[1])


def test_arm7_stands_upright():
    """At q = 0 the tool is 1.28 m above the base; its fingers are coupled."""
    arm = kt.load("arm7")
    assert np.allclose(place(arm, arm.neutral(), "tool"), [0, 0, 1.28], atol=1e-14)
    (coupling,) = arm.couplings
    assert (coupling.joint, coupling.master, coupling.ratio, coupling.offset) == (
        "right_finger_slide", "left_finger_slide", 1.0, 0.0,
    )  # fmt: skip


def test_quadruped_stands_on_its_feet():
    """With hips at 0.8 and knees at -1.6 rad all feet are below their hips at 2 * 0.22 cos 0.8."""
    dog = kt.load("quadruped")
    q = np.array([{"roll": 0.0, "itch": 0.8, "knee": -1.6}[name[-4:]] for name in dog.joint_names])
    for leg, x, y in (("FL", 1, 1), ("FR", 1, -1), ("RL", -1, 1), ("RR", -1, -1)):
        expected = [0.19 * x, 0.145 * y, -0.44 * math.cos(0.8)]
        assert np.allclose(place(dog, q, f"{leg}_foot"), expected, atol=1e-14)


def test_double_pendulum_hangs_and_pole_stands():
    """Both tips are where the comments of the files say."""
    pendulum, cart = kt.load("double_pendulum"), kt.load("cart_pole")
    assert np.allclose(place(pendulum, pendulum.neutral(), "tip"), [0, 0, -2], atol=1e-14)
    assert np.allclose(place(cart, np.array([0.5, 0.0]), "pole_tip"), [0.5, 0, 1.14], atol=1e-14)


def test_humanoid_is_symmetric():
    """At q = 0 the left side mirrors the right one, so the center of mass is in the plane y = 0."""
    human = kt.load("humanoid", floating_base=True)
    left, right = place(human, human.neutral(), "left_sole"), place(human, human.neutral(), "right_sole")
    assert np.allclose(left, right * [1, -1, 1], atol=1e-14)
    assert math.isclose(human.total_mass, 66.3, rel_tol=1e-12)
