"""Dynamics with spline joints: a bead on a wire, compiled and interpreted, derivatives, sizes of kernels."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Helical, Revolute, SplineCurve, SplineSurface


def wire(n=9, periodic=False):
    """A curve with bends and turns about all axes; the frames' turns differ by up to half a radian."""
    rng = np.random.default_rng(n)
    places = np.column_stack([0.5 * np.arange(n), rng.uniform(-0.3, 0.3, (n, 2))])
    if periodic:
        angle = 2 * math.pi * np.arange(n) / n
        places = np.column_stack([np.cos(angle), np.sin(angle), rng.uniform(-0.2, 0.2, n)])
    return SplineCurve(list(zip(places, rng.uniform(-0.4, 0.4, (n, 3)), strict=True)), periodic)


def sheet(size=(5, 6)):
    """A surface with hills and turns."""
    rng = np.random.default_rng(3)
    m, n = size
    heights = rng.uniform(-0.3, 0.3, (m, n, 4))
    return SplineSurface([[(0.5 * i, 0.5 * k, *heights[i, k]) for k in range(n)] for i in range(m)])


def body(seed):
    """Mass properties of a possible body."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    moments = 0.01 * A @ A.T
    return {
        "mass": rng.uniform(0.5, 2.0),
        "com": rng.uniform(-0.1, 0.1, 3),
        "inertia": np.trace(moments) * np.eye(3) - moments,
    }


def bead(joint, arm=False):
    """A body on a spline, and a pendulum that hangs on it."""
    b = kt.ModelBuilder("bead")
    b.add_body("bead", "world", joint, "guide", **body(1))
    if arm:
        b.add_body("arm", "bead", Revolute((0, 1, 0)), "hinge", placement=((0.1, 0, 0), (0.3, 0, 0)), **body(2))
    return b.build()


JOINTS = {"open": wire(), "periodic": wire(7, periodic=True), "surface": sheet()}


@pytest.mark.parametrize("name", JOINTS)
def test_sliding_bead_keeps_its_energy(name):
    """A bead with a pendulum that crosses knots: DOP853 at 1e-10 keeps the energy, RK4 to O(h^2) per crossing.

    The accelerations have a kink at each knot, because the third derivatives of a cubic spline jump there; the bound
    for RK4 is ten times what was found.
    """
    model = bead(JOINTS[name], arm=True)
    q0 = np.array([1.5, *([2.5] if name == "surface" else []), 0.4])
    v0 = np.full(model.nv, 1.5)
    run = kt.simulate(model, q0, v0, duration=1.0, integrator=kt.integrators.Adaptive(rtol=1e-10, atol=1e-10), dt=0.01)
    assert np.floor(run.q[:, 0]).min() < np.floor(run.q[:, 0]).max()  # it crossed at least one knot
    assert run.energy_drift < 1e-8
    run = kt.simulate(model, q0, v0, duration=1.0, integrator="rk4", dt=1e-3)
    assert run.energy_drift < 5e-5


def test_bead_leaves_the_curve_and_keeps_its_energy():
    """Past the end, where dS/dq and so the accelerations jump, the step adapts and the energy is kept."""
    model = bead(JOINTS["open"])
    run = kt.simulate(
        model, [5.0], [2.5], duration=1.0, integrator=kt.integrators.Adaptive(rtol=1e-10, atol=1e-10), dt=0.01
    )
    assert run.q[0, 0] < 6.0 < run.q[-1, 0]
    assert run.energy_drift < 1e-7


def test_bead_on_a_helix_falls_like_a_nut():
    """Control frames of a screw: the same accelerations as the helical joint, with q scaled to knots."""
    screw, step = Helical((0, 0, 1), pitch=0.2), 0.7
    spline = bead(SplineCurve([screw.transform([step * k]) for k in range(6)]), arm=True)
    nut = bead(screw, arm=True)
    rng = np.random.default_rng(0)
    for _ in range(5):
        (q, q_arm), (v, v_arm), (tau, tau_arm) = rng.uniform(-2, 2, (3, 2))
        a = kt.aba(spline, [q, q_arm], [v, v_arm], [tau * step, tau_arm])
        expected = kt.aba(nut, [step * (q + 1), q_arm], [step * v, v_arm], [tau, tau_arm])
        np.testing.assert_allclose([step * a[0], a[1]], expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", JOINTS)
def test_compiled_is_interpreted(name):
    """aba in machine code, on a batch over all segments and beyond, and the same source on NumPy arrays."""
    model = bead(JOINTS[name], arm=True)
    rng = np.random.default_rng(4)
    q = np.column_stack([*rng.uniform(-1.0, 8.0, (model.nq - 1, 50)), rng.uniform(-3, 3, 50)])
    v, tau = rng.uniform(-2, 2, (2, 50, model.nv))
    with kt.interpreted():
        expected = kt.aba(model, q, v, tau)
    np.testing.assert_allclose(kt.aba(model, q, v, tau), expected, rtol=1e-9, atol=1e-9)
    single = kt.aba(model, q.astype(np.float32), v.astype(np.float32), tau.astype(np.float32))
    np.testing.assert_allclose(single, expected, rtol=2e-2, atol=2e-2 * np.abs(expected).max())


@pytest.mark.parametrize("name", JOINTS)
def test_forward_inverts_inverse_dynamics(name):
    """aba after rnea is the identity, also beyond the ends."""
    model = bead(JOINTS[name], arm=True)
    rng = np.random.default_rng(5)
    with kt.interpreted():
        for _ in range(10):
            q = rng.uniform(-1.0, 6.0, model.nq)
            v, a = rng.uniform(-2, 2, (2, model.nv))
            np.testing.assert_allclose(kt.aba(model, q, v, kt.rnea(model, q, v, a)), a, atol=1e-9)


@pytest.mark.parametrize("name", JOINTS)
def test_derivatives_of_inverse_dynamics_are_exact(name):
    """rnea_derivatives against central differences between knots: error h^2 times the third derivatives, plus eps/h."""
    model = bead(JOINTS[name], arm=True)
    rng = np.random.default_rng(6)
    h = 1e-5
    with kt.interpreted():
        for segment in (0, 1, 2):
            q = np.array([*(segment + rng.uniform(0.1, 0.9, model.nq - 1)), rng.uniform(-1, 1)])
            v, a = rng.uniform(-1, 1, (2, model.nv))
            dtau_dq, dtau_dv, _ = kt.rnea_derivatives(model, q, v, a)
            for k, e in enumerate(h * np.eye(model.nv)):
                by_q = (kt.rnea(model, q + e, v, a) - kt.rnea(model, q - e, v, a)) / (2 * h)
                by_v = (kt.rnea(model, q, v + e, a) - kt.rnea(model, q, v - e, a)) / (2 * h)
                np.testing.assert_allclose(dtau_dq[:, k], by_q, atol=1e-7)
                np.testing.assert_allclose(dtau_dv[:, k], by_v, atol=1e-7)


def test_arithmetic_does_not_grow_with_the_number_of_frames():
    """Sums and products are those of three exponentials; what grows are the selections, 40 per segment at most."""

    def counts(frames):
        operations = kt.compile(bead(wire(frames)), "rnea").operations
        return operations.multiplications + operations.additions, operations["where"]

    few, many = counts(5), counts(20)
    assert many[0] == few[0] < 750
    assert many[1] - few[1] <= 15 * 40


def test_models_with_splines_are_pickled():
    """A model that went through pickle computes the same."""
    model = bead(JOINTS["open"], arm=True)
    copy = pickle.loads(pickle.dumps(model))
    q, v, tau = np.array([2.2, 0.3]), np.ones(2), np.zeros(2)
    np.testing.assert_array_equal(kt.aba(copy, q, v, tau), kt.aba(model, q, v, tau))


def test_files_without_splines_refuse_them():
    """URDF and MJCF have no such joint: the writers say which one it is."""
    model = bead(JOINTS["open"])
    for write in (kt.io.to_urdf, kt.io.to_mjcf):
        with pytest.raises(kt.errors.KinetreeError, match="guide"):
            write(model)
