"""Featherstone, section 9.6: the geared arm of figure 9.2, two links with motors whose rotors are bodies."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.couplings import coupling_columns, projected
from kinetree.joints import Revolute
from tests.identities.systems import close

RATIOS = (80.0, -50.0)
J = (2e-4, 1e-4)  # kg m^2
ROTOR_MASS = (0.6, 0.4)
LINK = 0.5  # m


def arm(gears: str):
    """Figure 9.2: "bodies", numbered as there (lambda = 0, 0, 1, 1); "rotors", as data; "armature", reflected."""
    b = kt.ModelBuilder(f"figure 9.2 with {gears}")
    links = {"upper arm": ("world", 0.0), "forearm": ("upper arm", LINK)}
    for k, (name, (parent, x)) in enumerate(links.items()):
        b.add_body(name, parent, Revolute((0, 1, 0)), f"q{2 * k + 1}", ((x, 0, 0), (0, 0, 0)), mass=3.0 - k,
                   com=(0.25, 0, 0.02), inertia=(0.01, 0.08, 0.08))  # fmt: skip
        stator, place = parent, (0.1 * k, 0.03, 0.0)
        if gears == "bodies":
            b.add_body(f"rotor {k + 1}", stator, Revolute((0, 1, 0)), f"q{2 * k + 2}", (place, (0, 0, 0)),
                       mass=ROTOR_MASS[k], inertia=(J[k], J[k], J[k]))  # fmt: skip
            b.add_coupling(f"q{2 * k + 2}", f"q{2 * k + 1}", RATIOS[k])
        elif gears == "rotors":
            b.add_rotor(f"rotor {k + 1}", f"q{2 * k + 1}", RATIOS[k], J[k], axis=(0, 1, 0), center=place,
                        mass=ROTOR_MASS[k], transverse_inertia=J[k])  # fmt: skip
    model = b.build()
    if gears == "armature":
        model = model.replace(armature=[rho**2 * j for rho, j in zip(RATIOS, J, strict=True)])
    return model


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


class Counted:
    """A number that remembers the operation it comes from; zeros and ones are known and cost nothing."""

    def __init__(self, value, operation="", arguments=()):
        self.value, self.operation, self.arguments = value, operation, arguments

    def __mul__(self, other):
        if isinstance(other, float) and other in (0.0, 1.0):
            return 0.0 if other == 0.0 else self
        return Counted(self.value * other.value, "m", (self, other))

    def __add__(self, other):
        if isinstance(other, float) and other == 0.0:
            return self
        return Counted(self.value + other.value, "a", (self, other))

    __rmul__, __radd__ = __mul__, __add__


def operations(results):
    """Multiplications and additions on which the results depend, each once."""
    found, waiting = {}, list(results)
    while waiting:
        x = waiting.pop()
        if id(x) not in found:
            found[id(x)] = x.operation
            waiting += x.arguments
    return {kind: list(found.values()).count(kind) for kind in "ma"}


def state():
    y, yd = np.array([0.3, -0.8]), np.array([1.1, 0.7])
    G = np.array([[1, 0], [RATIOS[0], 0], [0, 1], [0, RATIOS[1]]])
    return G @ y, G @ yd, G


def test_the_tree_of_figure_9_2():
    """C09.14: lambda = [0, 0, 1, 1], and H12 = H23 = H24 = H34 = 0."""
    model = arm("bodies")
    assert model.parent[1:] == (0, 0, 1, 1)
    H = kt.crba(model, state()[0])
    zeros = [(0, 1), (1, 2), (1, 3), (2, 3)]
    assert all(H[i, j] == 0.0 for i, j in zeros)
    assert np.count_nonzero(H) == 16 - 2 * len(zeros)


def test_projected_mass_matrix_of_figure_9_2():
    """Eq. 9.27: G^T H G = [[H11 + rho1^2 H22, H13 + rho2 H14], [., H33 + rho2^2 H44]]; the same with rotors as data."""
    q, _, G = state()
    H = kt.crba(arm("bodies"), q)
    expected = [[H[0, 0] + RATIOS[0] ** 2 * H[1, 1], H[0, 2] + RATIOS[1] * H[0, 3]], [0.0, 0.0]]
    expected[1] = [expected[0][1], H[2, 2] + RATIOS[1] ** 2 * H[3, 3]]
    np.testing.assert_allclose(G.T @ H @ G, expected, rtol=1e-14)
    np.testing.assert_allclose(kt.crba(arm("rotors"), q[::2]), expected, rtol=1e-13)


def test_sparse_product_costs_5m_3a_and_dense_44m_33a():
    """The operations of G^T H G with and without its zeros, upper triangle of the result."""
    model = arm("bodies")
    H = kt.crba(model, state()[0])
    ratios = coupling_columns(model)

    def counted(rows):
        return [(k, r if r == 1.0 else Counted(r)) for k, r in rows]

    sparse_H = [[0.0 if x == 0.0 else Counted(x) for x in row] for row in H.tolist()]
    columns = [counted(rows) for rows in ratios]
    sparse = [projected(sparse_H, columns[m], columns[n]) for m, n in ((0, 0), (1, 0), (1, 1))]
    assert operations(sparse) == {"m": 5, "a": 3}

    G = [[Counted(x) for x in row] for row in state()[2].tolist()]
    dense = [[Counted(x) for x in row] for row in H.tolist()]
    HG = [[sum((dense[i][k] * G[k][n] for k in range(4)), 0.0) for n in range(2)] for i in range(4)]
    full = [sum((G[k][m] * HG[k][n] for k in range(4)), 0.0) for m, n in ((0, 0), (1, 0), (1, 1))]
    assert operations(full) == {"m": 44, "a": 33}
    np.testing.assert_allclose([x.value for x in sparse], [x.value for x in full], rtol=1e-14)


def test_motor_torques_act_through_their_gears():
    """tau1 = tau3 = 0: a torque tau2 at the rotor is rho1 tau2 at the joint, with the same power tau2 qd2."""
    q, v, _ = state()
    motors = np.array([0.0, 0.3, 0.0, -0.2])
    at_joints = np.array([motors[1] * RATIOS[0], motors[3] * RATIOS[1]])
    assert motors @ v == pytest.approx(at_joints @ v[::2], rel=1e-14)
    a = kt.forward_dynamics(arm("bodies"), q, v, motors)
    close(kt.forward_dynamics(arm("rotors"), q[::2], v[::2], at_joints), a[::2])
    np.testing.assert_allclose(a[1::2], a[::2] * RATIOS, rtol=1e-15)


def test_inverse_dynamics_of_the_geared_tree():
    """The motors' share and the links', gathered at the joints: rnea with rotors as data."""
    q, v, G = state()
    a = G @ [2.0, -1.0]
    tau = kt.inverse_dynamics(arm("bodies"), q, v, a)
    close(kt.rnea(arm("rotors"), q[::2], v[::2], a[::2]), tau[::2])
    assert tau[1] == tau[3] == 0.0


def test_reflected_inertia_leaves_out_a_coupling_and_the_mass():
    """Example 9.5: the armature has the right diagonal for a rotor on the base, and lacks rho2 H14 and the mass."""
    q = state()[0][::2]
    full, quick = kt.crba(arm("rotors"), q), kt.crba(arm("armature"), q)
    coupling = J[1] * RATIOS[1]
    carried = ROTOR_MASS[1] * (0.1**2) + J[1]  # of rotor 2 in the upper arm
    np.testing.assert_allclose(full - quick, [[carried, coupling], [coupling, 0.0]], atol=1e-14)
