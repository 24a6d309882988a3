"""Golden values of two robots built in code: KUKA iiwa and, floating, HyQ.

Models: the simplified descriptions of rbd-benchmarks (Neuman et al., MIT license). Numbers: from Pinocchio and those
URDFs, which hold pi with 11 to 15 digits; here pi is exact, so agreement ends at some 1e-11.
"""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Free, Revolute

URDF_PI = 1e-11  # what the truncated pi of the files leaves, relative to the largest number
UP, DOWN = (pi / 2, 0.0, 0.0), (pi / 2, 0.0, -pi)

# translation, rpy, mass, center of mass, moments about it
IIWA = (
    ((0, 0, 0.1575), (0.0, 0.0, 0.0), 4.0, (0, -0.03, 0.12), (0.1, 0.09, 0.02)),
    ((0, 0, 0.2025), DOWN, 4.0, (0.0003, 0.059, 0.042), (0.05, 0.018, 0.044)),
    ((0, 0.2045, 0), DOWN, 3.0, (0, 0.03, 0.13), (0.08, 0.075, 0.01)),
    ((0, 0, 0.2155), UP, 2.7, (0, 0.067, 0.034), (0.03, 0.01, 0.029)),
    ((0, 0.1845, 0), DOWN, 1.7, (0.0001, 0.021, 0.076), (0.02, 0.018, 0.005)),
    ((0, 0, 0.2155), UP, 1.8, (0, 0.0006, 0.0004), (0.005, 0.0036, 0.0047)),
    ((0, 0.081, 0), DOWN, 0.3, (0, 0, 0.02), (0.001, 0.001, 0.001)),
)


def symmetric(xx, xy, xz, yy, yz, zz):
    """A tensor from the six numbers in the order of a URDF."""
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def numbers(text: str) -> np.ndarray:
    """The numbers of a printed row."""
    return np.array(text.split(), float)


def near(found, expected) -> None:
    """Assert agreement up to the truncated pi."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=URDF_PI * max(1.0, np.max(np.abs(expected))))


@pytest.fixture(scope="module")
def iiwa():
    """The seven-axis arm."""
    b = kt.ModelBuilder("iiwa")
    for k, (xyz, rpy, mass, com, moments) in enumerate(IIWA, start=1):
        parent = f"link{k - 1}" if k > 1 else "world"
        b.add_body(f"link{k}", parent, Revolute(), placement=(xyz, rpy), mass=mass, com=com, inertia=moments)
    return b.build()


def joint_angles(n: int) -> np.ndarray:
    """q_i = 0.1 i (-1)^i + 0.2, clipped to [-1, 1]."""
    i = np.arange(1, n + 1)
    return np.clip(0.1 * i * (-1.0) ** i + 0.2, -1.0, 1.0)


@pytest.fixture(scope="module")
def iiwa_state():
    """q, v, a, tau of the published numbers."""
    i = np.arange(1, 8)
    return joint_angles(7), 0.05 * i, 0.1 * np.cos(i), np.sin(i)


def test_iiwa_inverse_dynamics(iiwa, iiwa_state):
    """rnea(q, v, a)."""
    q, v, a, _ = iiwa_state
    expected = numbers("""0.01507659959812822 -12.41017154975246 0.1495066278546764 -2.808117239344867
        0.07468602282511265 -0.1722336389068661 -2.987577363e-05""")
    near(kt.rnea(iiwa, q, v, a), expected)


def test_iiwa_mass_matrix(iiwa, iiwa_state):
    """Diagonal, norm and determinant of M; the determinant is the product of pivots as small as 1e-3."""
    M = kt.crba(iiwa, iiwa_state[0])
    expected = numbers("""0.2527851556165847 3.187787003669292 0.1954254769852976 0.5368018866177202 0.01264560777530544
        0.00876094800 0.001""")
    near(np.diagonal(M), expected)
    assert np.linalg.norm(M) == pytest.approx(3.573649029367, rel=URDF_PI)
    assert np.linalg.det(M) == pytest.approx(2.5255410971e-09, rel=1e-8)


def test_iiwa_forward_dynamics(iiwa, iiwa_state):
    """aba(q, v, tau): the wrist is light, so accelerations reach 738 rad/s^2."""
    q, v, _, tau = iiwa_state
    expected = numbers("""7.206289810611774 15.763008264411337 6.082738109308073 31.039366469877645 -136.82034649633076
        -5.223094180970744 737.5812546244402""")
    near(kt.aba(iiwa, q, v, tau), expected)


def test_iiwa_energies_and_center_of_mass(iiwa, iiwa_state):
    """T, V (zero at the world's origin), center of mass, total mass."""
    q, v, *_ = iiwa_state
    assert kt.kinetic_energy(iiwa, q, v) == pytest.approx(0.008597608098, abs=1e-12)
    assert kt.potential_energy(iiwa, q) == pytest.approx(108.742047411993, rel=URDF_PI)
    p_C = [0.071148566036484, 0.012262930700897, 0.633418071425616]
    near(kt.center_of_mass(iiwa, q), p_C)
    assert iiwa.total_mass == pytest.approx(17.5, rel=1e-15)


# HyQ ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hyq():
    """The quadruped on a free joint; front and hind legs are mirror images, so are left and right ones."""
    b = kt.ModelBuilder("hyq")
    b.add_body(
        "base",
        joint=Free(),
        mass=60.978,
        com=(0.0560691331299813, 0.021493682967627666, 0.0036081141592049586),
        inertia=symmetric(
            1.5727651692862368, 0.02846518720991833, -0.20354038112779044,
            8.502743030521936, -0.004425323842294127, 9.196486342929056,
        ),
    )  # fmt: skip
    for leg in ("lf", "lh", "rf", "rh"):
        f = 1.0 if leg[1] == "f" else -1.0  # front: the upper of two signs
        s = 1.0 if leg[0] == "l" else -1.0
        b.add_body(
            f"{leg}_hip", "base", Revolute(), f"{leg}_haa",
            ((f * 0.3735, s * 0.207, 0.0), (0.0, pi / 2, -pi if s > 0.0 else 0.0)),
            mass=2.93, com=(0.04263, 0.0, f * s * 0.16931),
            inertia=symmetric(0.05071, -f * s * 4e-5, -f * s * 0.00159, 0.05486, -5e-5, 0.00571),
        )  # fmt: skip
        b.add_body(
            f"{leg}_upper", f"{leg}_hip", Revolute(), f"{leg}_hfe", ((0.08, 0.0, 0.0), (s * pi / 2, 0.0, 0.0)),
            mass=2.638, com=(0.15074, -f * 0.02625, 0.0),
            inertia=symmetric(0.00368, -f * 0.00302, f * 0.0001, 0.02719, 2e-5, 0.02811),
        )  # fmt: skip
        b.add_body(
            f"{leg}_lower", f"{leg}_upper", Revolute(), f"{leg}_kfe", ((0.35, 0.0, 0.0), (0.0, 0.0, 0.0)),
            mass=0.881, com=(0.1254, f * 4e-5, -f * 0.0001),
            inertia=symmetric(0.00047, f * 6e-5, -f * 1e-5, 0.01256, 0.0, 0.01233),
        )  # fmt: skip
    return b.build()


@pytest.fixture(scope="module")
def hyq_state():
    """q, v, a, tau of the published numbers, with quaternion and twists in kinetree's order."""
    i = np.arange(1, 13)
    quaternion = np.array([0.9, 0.1, -0.2, 0.3])  # (w, x, y, z)
    q = np.concatenate([[0.1, 0.2, 0.3], quaternion / np.linalg.norm(quaternion), joint_angles(12)])
    v = np.concatenate([swapped([0.1, -0.2, 0.3, 0.4, -0.5, 0.6]), 0.05 * i])
    a = np.concatenate([swapped([0.1, 0.2, 0.3, -0.1, -0.2, -0.3]), 0.1 * np.cos(i)])
    return q, v, a, np.concatenate([np.zeros(6), np.sin(i)])


def swapped(six) -> np.ndarray:
    """[linear; angular], the order of the published numbers, to [angular; linear] and back."""
    return np.roll(np.asarray(six), 3)


def test_hyq_inverse_dynamics(hyq, hyq_state):
    """rnea: the wrench at the base in body coordinates (linear, then angular), and the twelve joints."""
    q, v, a, _ = hyq_state
    base = numbers("""379.1538856086852 62.67262814133221 787.8023729124890 9.663078440188194 -47.68922061437668
        -6.852639593163842""")
    joints = numbers("""0.454107539861 -1.105772324437 -0.157074523640 5.153309668159 -4.364483037450 -0.027045398079
        -3.668188663890 2.862956935944 -0.147136380315 8.035732384458 -4.790327539899 -0.379717381361""")
    tau = kt.rnea(hyq, q, v, a)
    near(swapped(tau[:6]), base)
    near(tau[6:], joints)


def test_hyq_forward_dynamics_of_the_base(hyq, hyq_state):
    """aba with the motors' forces sin i: acceleration of the base (linear, then angular, body coordinates)."""
    q, v, _, tau = hyq_state
    base = numbers("""-4.260946394670635 -0.564699396536986 -8.719438716971025 0.049344192340737 0.286088508100997
        0.254013810375843""")
    near(swapped(kt.aba(hyq, q, v, tau)[:6]), base)


def test_hyq_mass_matrix(hyq, hyq_state):
    """Determinant and norm of M do not depend on the order of the six velocities of the base."""
    M = kt.crba(hyq, hyq_state[0])
    assert np.linalg.norm(M) == pytest.approx(151.638276734310, rel=URDF_PI)
    assert np.linalg.det(M) == pytest.approx(6.0331847708e-04, rel=1e-8)


def test_hyq_energies_and_center_of_mass(hyq, hyq_state):
    """T, V, center of mass and total mass."""
    q, v, *_ = hyq_state
    assert kt.kinetic_energy(hyq, q, v) == pytest.approx(9.967474615485, rel=URDF_PI)
    assert kt.potential_energy(hyq, q) == pytest.approx(240.452981665671, rel=URDF_PI)
    p_C = [0.132307166990582, 0.239647062541691, 0.282469487465936]
    near(kt.center_of_mass(hyq, q), p_C)
    assert hyq.total_mass == pytest.approx(86.774, rel=1e-14)
