"""The conversions between kinetree's coordinates and those of the engines that the benchmarks compare with."""

import numpy as np
import pytest

import kinetree as kt
from benchmarks.rivals.coordinates import Coordinates

URDF = """<robot name="r"><link name="base"><inertial><origin xyz="0.1 0 0" rpy="0 0 0"/><mass value="3"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="arm"><inertial><origin xyz="0 0 0.2" rpy="0 0 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><origin xyz="0 0 1" rpy="0.3 0 0"/><parent link="base"/><child link="arm"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture(scope="module")
def model():
    """A free body that carries one hinge."""
    return kt.load(URDF, floating_base=True)


def coordinates(model, base: str) -> Coordinates:
    """The rival's order: the base first, then the hinge."""
    return Coordinates(model, base, {"hinge": (7, 6)}, quaternion_first=base == "world")


@pytest.mark.parametrize("base", ["body", "mixed", "world"])
def test_forces_and_velocities_keep_their_power(model, base):
    """tau . v is the same number in the rival's coordinates, for a batch of states."""
    rng = np.random.default_rng(3)
    there = coordinates(model, base)
    q = np.array([model.random_q(rng) for _ in range(5)])
    v, tau = rng.standard_normal((2, 5, model.nv))
    power = np.sum(there.v(q, tau) * there.v(q, v), axis=1)
    np.testing.assert_allclose(power, np.sum(tau * v, axis=1), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("base", ["body", "mixed", "world"])
def test_accelerations_are_derivatives_of_velocities(model, base):
    """The rival's acceleration is the central difference of its velocity along the motion q, v + a t."""
    rng = np.random.default_rng(4)
    there = coordinates(model, base)
    q = model.random_q(rng)
    v, a = rng.standard_normal((2, model.nv))
    h = 1e-5
    sides = []
    for t in (-h, h):
        moved = kt.integrate(model, q, v * t)  # exact to the second order, in which both sides agree
        sides.append(there.v(moved, v + a * t))
    found = (sides[1] - sides[0]) / (2 * h)
    np.testing.assert_allclose(there.a(q, v, a), found, atol=1e-8)  # h^2, and rounding over h


@pytest.mark.parametrize("base", ["body", "mixed", "world"])
def test_ways_there_and_back_cancel(model, base):
    """Forces and accelerations come back as they went."""
    rng = np.random.default_rng(5)
    there = coordinates(model, base)
    q = np.array([model.random_q(rng) for _ in range(3)])
    v, a = rng.standard_normal((2, 3, model.nv))
    np.testing.assert_allclose(there.a_back(q, v, there.a(q, v, a)), a, atol=1e-13)
    np.testing.assert_allclose(there.tau_back(q, there.v(q, a)), a, atol=1e-13)
