"""Golden values of the autoTree family: numbers printed by Featherstone's package spatial_v2 in Octave.

State: q_i = 0.3 i - 0.05 i^2, v_i = sin i, a_i = cos 2i, tau_i = 2 cos i, i from 1; gravity (0, 0, -9.81). The values
stand with 15 digits; Pinocchio gives the same to 1e-13. det M, norms and energies are of the same run.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import pytest

import kinetree as kt


class Golden(NamedTuple):
    """One member of the family and what is known of it."""

    arguments: tuple
    ID: str
    diagonal: str
    row: str
    FD: str
    det: float
    norm: float
    T: float
    V: float | None
    dtau_dq: float
    dtau_dv: float
    gravity: str | None = None
    bias: str | None = None


GOLDEN = {
    "planar chain": Golden(
        arguments=(8, 1, 0.0, 1.0),
        ID="""-35.1426503607288 4.97551973910546 29.7256120159392 34.0024105042746 23.546087629631 9.19696132748955
            -1.03302674206004 -2.97651163852351""",
        diagonal="""129.21322962419 96.793456047015 65.9771359507141 39.0564060594989 19.4882512015331 7.92706228877346
            2.36587337601383 0.334583333333333""",
        row="",
        FD="""4.96028661452251 -4.04964981795253 -2.68850456865653 -2.46181719929187 0.955312578272131 2.14735844125787
            6.39178075382593 -6.62468781538753""",
        det=0.112590997146073,
        norm=340.853870335802,
        T=81.617314203716,
        V=None,
        dtau_dq=250.247725151106,
        dtau_dv=211.704574572657,
        gravity="0 0 0 0 0 0 0 0",
        bias="""31.3525848703075 60.365919058127 71.8666838770164 63.5128074237502 42.9090987214147 20.9345759859582
            4.88294154982461 -1.44682279374693""",
    ),
    "spatial chain": Golden(
        arguments=(8, 1, np.pi / 3.0, 0.95),
        ID="""-64.3721465097728 95.4108357711226 104.563705423371 21.7651816288686 -31.1201205613136 -25.3753355193067
            -6.02773341632442 -0.436988737721842""",
        diagonal="""44.2433763715289 24.6411949332253 15.5176637019391 9.51954491022924 4.4556655526867 1.54107811682915
            0.411924184983701 0.0555687322258536""",
        row="""44.2433763715289 13.0365202914809 -16.7221632507884 -16.3385232689135 -1.96555783768543 4.25349561983127
            1.83039280088699 -0.188625424499361""",
        FD="""1.12649350418978 -7.76983004773897 2.37849576929293 -6.62559543052977 2.86775424298639 -1.46387572504217
            15.3115580711417 14.2060481107996""",
        det=0.364152736924209,
        norm=70.5478902381691,
        T=70.125547714554,
        V=44.407441714148,
        dtau_dq=160.010370136290,
        dtau_dv=140.929722443834,
        gravity="""0 67.553405510199 32.0706742591358 -16.0197152062841 -22.2959230972369 -6.08998612241395
            2.40623556584747 0.968073459940136""",
    ),
    "binary tree": Golden(
        arguments=(7, 2, np.pi / 2.0, 1.0),
        ID="""-15.6341436879301 31.8881122434784 37.5886603775699 0.637606784159624 0.551997001467472 0.889232227034238
            1.15412003060073""",
        diagonal="""27.1093852293053 4.82303769679193 4.90407671769441 0.334583333333333 0.334583333333333
            0.334583333333333 0.334583333333333""",
        row="""27.1093852293053 -0.201378648438836 0.121101312911748 -1.19287883191503 -1.2388415875534
            -1.25149814417184 -1.19388866807549""",
        FD="""1.14740584447075 -7.37255021627778 -7.14696097208339 -0.383901418964087 4.99601127551003 9.77404063332864
            6.77302804528288""",
        det=2.76159165269535,
        norm=28.1901979893553,
        T=13.229174818565,
        V=27.965710274161,
        dtau_dq=15.866588901866,
        dtau_dv=13.269548335627,
    ),
}

# The last printed digit of the largest numbers; smaller ones carry the absolute rounding error of those.
DIGITS = 2e-13

each = pytest.mark.parametrize("name", GOLDEN)


@functools.cache
def model_of(name: str):
    """The model, compiled functions included, once for all tests."""
    return kt.models.auto_tree(*GOLDEN[name].arguments)


def state(n: int):
    """q, v, a, tau of the published run."""
    i = np.arange(1.0, n + 1.0)
    return 0.3 * i - 0.05 * i**2, np.sin(i), np.cos(2.0 * i), 2.0 * np.cos(i)


def near(found, printed, digits: float = DIGITS) -> None:
    """Assert agreement with printed numbers, relative to the largest of them."""
    expected = np.array(printed.split(), float) if isinstance(printed, str) else np.asarray(printed)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=digits * max(1.0, np.max(np.abs(expected))))


@each
def test_inverse_dynamics(name):
    """tau = ID(q, v, a)."""
    q, v, a, _ = state(model_of(name).nv)
    near(kt.rnea(model_of(name), q, v, a), GOLDEN[name].ID)


@each
def test_mass_matrix(name):
    """Diagonal, first row, determinant and Frobenius norm of M."""
    golden, (q, *_) = GOLDEN[name], state(model_of(name).nv)
    M = kt.crba(model_of(name), q)
    near(np.diagonal(M), golden.diagonal)
    if golden.row:
        near(M[0], golden.row)
    assert np.linalg.norm(M) == pytest.approx(golden.norm, rel=1e-13)
    # The determinant loses what the condition number (up to 1e4) takes.
    assert np.linalg.det(M) == pytest.approx(golden.det, rel=1e-11)


@each
def test_forward_dynamics(name):
    """qdd = FD(q, v, tau), by the articulated-body algorithm and by solving with M; errors grow with cond(M) < 2e4."""
    model = model_of(name)
    q, v, _, tau = state(model.nv)
    near(kt.aba(model, q, v, tau), GOLDEN[name].FD, 1e-12)
    near(np.linalg.solve(kt.crba(model, q), tau - kt.bias_forces(model, q, v)), GOLDEN[name].FD, 1e-12)


@pytest.mark.parametrize("name", [name for name in GOLDEN if GOLDEN[name].gravity])
def test_gravity_forces(name):
    """Gravity along the joint axes of the planar chain does nothing; the skew chain must carry its links."""
    q, *_ = state(model_of(name).nv)
    near(kt.gravity_forces(model_of(name), q), GOLDEN[name].gravity)


def test_bias_forces_of_the_planar_chain():
    """C of H qdd + C = tau."""
    q, v, *_ = state(8)
    near(kt.bias_forces(model_of("planar chain"), q, v), GOLDEN["planar chain"].bias)


@each
def test_energies(name):
    """Kinetic energy, and potential energy with its zero at the world's origin; printed with 12 decimals."""
    golden, (q, v, *_) = GOLDEN[name], state(model_of(name).nv)
    assert kt.kinetic_energy(model_of(name), q, v) == pytest.approx(golden.T, abs=1e-12 + 2e-14 * golden.T)
    if golden.V is not None:
        assert kt.potential_energy(model_of(name), q) == pytest.approx(golden.V, abs=1e-12 + 2e-14 * golden.V)


@each
def test_norms_of_the_derivatives_of_inverse_dynamics(name):
    """|dtau/dq|_F and |dtau/dv|_F at the same state.

    Central differences of fourth order with h = 1e-3. tau is quadratic in v, so there only rounding, eps / h,
    remains; in q the truncation is h^4 / 30 times the fifth derivative of the sines of sums of angles, some 1e-12.
    """
    model = model_of(name)
    q, v, a, _ = state(model.nv)

    def derivative(h, of_q):
        steps = np.array([-2.0, -1.0, 1.0, 2.0])[:, None, None] * h * np.eye(model.nv)
        f = kt.rnea(model, q + steps, v, a) if of_q else kt.rnea(model, q, v + steps, a)
        return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h)

    assert np.linalg.norm(derivative(1e-3, True)) == pytest.approx(GOLDEN[name].dtau_dq, rel=2e-12)
    assert np.linalg.norm(derivative(1e-3, False)) == pytest.approx(GOLDEN[name].dtau_dv, rel=1e-12)
