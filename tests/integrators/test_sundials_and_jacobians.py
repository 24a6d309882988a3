"""CVODE, IDA, and the Jacobians that implicit solvers get."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.integrators import System
from kinetree.integrators.state_jacobian import StateJacobian
from tests.forces.user_elements import Thruster
from tests.simulation.test_orders import start, tree
from tests.simulation.test_rollout import walker

METHODS = ("CVODE", "CVODE_ADAMS", "IDA")


@pytest.mark.parametrize("method", METHODS)
def test_sundials_meets_dop853(method):
    """A damped tree with a free base, forces in time: 1e-6 at tolerances of 1e-9."""
    pytest.importorskip("sksundae")
    model = tree()
    q0, v0 = start(model)
    settings = {"duration": 0.4, "dt": 0.1, "inputs": kt.Inputs(tau=lambda t: np.sin(5 * t + np.arange(11)))}
    exact = kt.simulate(model, q0, v0, integrator=kt.integrators.Adaptive(rtol=1e-12, atol=1e-12), **settings)
    found = kt.simulate(model, q0, v0, integrator=kt.integrators.Adaptive(method, rtol=1e-9, atol=1e-9), **settings)
    assert np.abs(kt.difference(model, exact.q, found.q)).max() < 1e-6
    assert found.v == pytest.approx(exact.v, abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_loops_couplings_motions_and_internal_states(method):
    """By the rates of closed states: dop853 to 1e-6, loops closed to rounding."""
    pytest.importorskip("sksundae")
    bar, arm = kt.models.four_bar(), kt.load("arm7").without_limits().replace(dry_friction=0.0)
    swing = kt.constraints.PrescribedMotion("elbow", kt.joints.Sinusoid(0.4, 5.0, offset=0.3))
    jet = Thruster("jet", "coupler", 0.0, 0.1, 0.0)
    swinging = kt.models.double_pendulum().with_constraints(swing)
    for model, q0 in ((bar.with_forces(jet), None), (arm, [*[0.1] * 7, 0.0, 0.0]), (swinging, [0.5, 0.0])):
        settings = {"duration": 0.2, "dt": 0.05}
        if model.nu:
            settings["inputs"] = kt.Inputs(control=[5.0])
        exact = kt.simulate(model, q0, integrator=kt.integrators.Adaptive(rtol=1e-11, atol=1e-11), **settings)
        found = kt.simulate(model, q0, integrator=kt.integrators.Adaptive(method, 1e-9, 1e-9), **settings)
        for name in ("q", "v", "x"):
            assert getattr(found, name) == pytest.approx(getattr(exact, name), abs=1e-6)
        if model.loops:
            assert np.abs(kt.closed_loops.error(model, found.q)).max() < 1e-14


@pytest.mark.parametrize("method", METHODS)
def test_errors_of_controllers_come_through(method):
    """An exception inside the solver's callbacks is not lost."""
    pytest.importorskip("sksundae")

    def broken(t, q, v):
        return [np.nan]

    with pytest.raises(kt.errors.KinetreeError, match="controller"):
        kt.simulate(
            kt.models.pendulum(), [1.0], duration=0.1, integrator=kt.integrators.Adaptive(method), controller=broken
        )


def test_a_missing_package_is_named_with_its_command(monkeypatch):
    """The command that installs it."""
    monkeypatch.setitem(sys.modules, "sksundae", None)
    with pytest.raises(kt.errors.MissingDependencyError, match="pip install scikit-sundae"):
        kt.simulate(kt.models.pendulum(), [1.0], duration=0.1, integrator=kt.integrators.Adaptive("CVODE"))


@pytest.mark.parametrize("make", [tree, walker])
def test_the_jacobian_is_that_of_the_rate(make):
    """Against central differences of (q', v') with a linear controller; quaternions are normalized first. 1e-6."""
    model = make().without_limits().replace(dry_friction=0.0)
    rng = np.random.default_rng(4)
    q, v = model.random_q(rng), rng.standard_normal(model.nv)
    q, v = kt.kinematics.apply_couplings(model, q, v)
    gain = rng.standard_normal((model.nv, model.nv))

    def tau(t, q, v):
        return -gain @ v

    def rate(y):
        q, v = kt.normalize(model, y[: model.nq]), y[model.nq :]
        with_forces = kt.compile(model, "forward_dynamics", checks=False)
        return np.concatenate((kt.q_dot(model, q, v), with_forces(q, v, tau(0.0, q, v))))

    a = kt.compile(model, "forward_dynamics", checks=False)(q, v, tau(0.0, q, v))
    found = StateJacobian(System(model), tau, lambda t: ()).at(0.0, q, v, a)
    y, e = np.concatenate((q, v)), 1e-6
    expected = np.array([(rate(y + e * d) - rate(y - e * d)) / (2 * e) for d in np.eye(len(y))]).T
    nq = model.nq
    assert found[nq:] == pytest.approx(expected[nq:], abs=1e-6 * np.abs(expected).max())
    # Of q' the part along a quaternion's length differs: the rate is that of the quaternion as given.
    assert found[:nq, nq:] == pytest.approx(expected[:nq, nq:], abs=1e-6)
