"""The torque-free asymmetric top in closed form: Jacobi elliptic functions and one quadrature."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

MOMENTS = np.array([1.0, 2.0, 3.0])
START = (1.0, 0.0, 2.0)  # rates at t = 0 [rad/s]


def motion(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Body rates and R_WB at time t of the top with moments 1 < 2 < 3 [kg m^2] that starts with Omega_2 = 0.

    Landau and Lifshitz, Mechanics, section 37, for L^2 > 2 T I_2: Omega_1 = a cn, Omega_2 = b sn, Omega_3 = c dn. The
    angular momentum is along z: cos(theta) = L_3 / L, tan(psi) = L_1 / L_2, and phi' = L (I_1 Omega_1^2 + I_2
    Omega_2^2) / (L_1^2 + L_2^2).
    """
    return rates(t), _attitude(t)


def start() -> tuple[np.ndarray, np.ndarray]:
    """Rates and attitude at t = 0."""
    return motion(0.0)


def rates(t: float) -> np.ndarray:
    """Omega(t) [rad/s]."""
    I1, I2, I3 = MOMENTS
    a, _, c = START
    T2 = I1 * a**2 + I3 * c**2
    L2 = (I1 * a) ** 2 + (I3 * c) ** 2
    assert L2 > T2 * I2
    b = np.sqrt((T2 * I3 - L2) / (I2 * (I3 - I2)))
    p = np.sqrt((I3 - I2) * (L2 - T2 * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (T2 * I3 - L2) / ((I3 - I2) * (L2 - T2 * I1))
    sn, cn, dn, _ = ellipj(p * t, m)
    return np.array([a * cn, b * sn, c * dn])


def _attitude(t: float) -> np.ndarray:
    L = MOMENTS * rates(t)
    size = np.linalg.norm(L)

    def phi_rate(s):
        w = rates(s)
        l1, l2 = MOMENTS[0] * w[0], MOMENTS[1] * w[1]
        return size * (l1 * w[0] + l2 * w[1]) / (l1**2 + l2**2)

    phi = quad(phi_rate, 0.0, t, epsabs=1e-13, epsrel=1e-13, limit=500)[0] if t else 0.0
    theta, psi = np.arccos(L[2] / size), np.arctan2(L[0], L[1])
    return turn(2, phi) @ turn(0, theta) @ turn(2, psi)


def turn(axis: int, angle: float) -> np.ndarray:
    """Active rotation about a coordinate axis."""
    c, s, R = np.cos(angle), np.sin(angle), np.eye(3)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R[j, j], R[j, k], R[k, j], R[k, k] = c, -s, s, c
    return R


def quaternion(R: np.ndarray) -> np.ndarray:
    """Unit quaternion (w, x, y, z) of a rotation matrix."""
    return Rotation.from_matrix(R).as_quat()[[3, 0, 1, 2]]
