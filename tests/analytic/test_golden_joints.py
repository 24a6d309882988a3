"""Golden values of small chains from the unit tests of RBDL and Pinocchio.

RBDL: gravity (0, -9.81, 0); all bodies 1 kg; q = v = tau = 0 unless stated. Pinocchio: gravity (0, 0, -9.81);
one body of 1 kg, its center of mass at (0.5, 0, 0), unit inertia about it. The numbers were recomputed independently to
the digits printed.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Revolute, SphericalEuler

X, Y, Z = np.eye(3)
STEP = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))  # one meter along x


def chain(*links):
    """A chain of revolute joints; each link is (axis, placement, com, inertia), without mass where com is None."""
    b = kt.ModelBuilder("chain", gravity=(0.0, -9.81, 0.0))
    parent = "world"
    for k, (axis, placement, com, inertia) in enumerate(links):
        body = {} if com is None else {"mass": 1.0, "com": com, "inertia": inertia}
        b.add_body(f"link{k}", parent, Revolute(axis), placement=placement, **body)
        parent = f"link{k}"
    return b.build()


def planar_link(k: int):
    """A link along x that turns about z, its center of mass at the next joint."""
    return Z, STEP if k else None, X, np.ones(3)


# links, q, accelerations
RBDL = {
    "1R": ([(Z, None, X, np.ones(3))], [0.0], [-4.905]),
    "1R, moments 1 2 3": ([(Z, None, (1.5, 1.0, 1.0), (1.0, 2.0, 3.0))], [0.0], [-2.3544]),
    "2R": ([planar_link(k) for k in range(2)], [0.0] * 2, [-5.886, 3.924]),
    "3R": ([planar_link(k) for k in range(3)], [0.0] * 3, [-6.03692307692308, 3.77307692307692, 1.50923076923077]),
    "z then y": ([planar_link(0), (Y, STEP, Y, np.ones(3))], [0.0, 0.0], [-3.924, 0.0]),
    "z, y, x at a point": (
        [(Z, None, None, None), (Y, None, None, None), (X, None, 0.5 * Y, np.ones(3))],
        [1.0, 0.0, 0.0],
        [3.301932144386186, 0.0, 0.0],
    ),
}


@pytest.mark.parametrize("name", RBDL)
def test_accelerations_of_small_chains(name):
    """Accelerations from rest under gravity, as RBDL's unit tests state them."""
    links, q, expected = RBDL[name]
    model, zero = chain(*links), np.zeros(len(q))
    np.testing.assert_allclose(kt.aba(model, q, zero, zero), expected, rtol=0.0, atol=5e-14)


@pytest.fixture(scope="module")
def ball():
    """The body of Pinocchio's joint tests on its JointModelSphericalZYX: R = Rz(q1) Ry(q2) Rx(q3), v = angle rates."""
    b = kt.ModelBuilder("ball")
    b.add_body("body", joint=SphericalEuler("zyx"), mass=1.0, com=(0.5, 0.0, 0.0), inertia=np.ones(3))
    return b.build()


@pytest.mark.parametrize(
    ("q", "v", "expected"),
    [
        ((0, 0, 0), 0, (0.0, -4.905, 0.0)),
        ((1, 1, 1), 1, (-0.53611600195085, -0.74621832606188, -0.38177329067604)),
        ((3, 2, 1), 1, (0.73934458094049, 2.7804530848031, 0.50684940972146)),
    ],
)
def test_inverse_dynamics_of_euler_angles(ball, q, v, expected):
    """rnea(q, v, a = v), printed with 14 digits."""
    tau = kt.rnea(ball, np.array(q, float), np.full(3, float(v)), np.full(3, float(v)))
    np.testing.assert_allclose(tau, expected, rtol=0.0, atol=2e-14)


@pytest.mark.parametrize(
    ("q", "corner", "coupling"),
    [
        ((0, 0, 0), 1.25, 0.0),
        ((1, 1, 1), 1.0729816454316, -0.8414709848079),
        ((3, 2, 1), 1.043294547392, -0.90929742682568),
    ],
)
def test_mass_matrix_of_euler_angles(ball, q, corner, coupling):
    """M = [[corner, 0, -sin q2], [0, 1.25, 0], [-sin q2, 0, 1]], printed with 13 digits."""
    expected = [[corner, 0.0, coupling], [0.0, 1.25, 0.0], [coupling, 0.0, 1.0]]
    np.testing.assert_allclose(kt.crba(ball, np.array(q, float)), expected, rtol=0.0, atol=2e-13)
    assert coupling == pytest.approx(-np.sin(q[1]), abs=1e-13)
