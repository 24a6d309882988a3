"""Steps of mechanisms with loops: gaps, orders, energy, minimal coordinates, rollouts, adaptive methods, events."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetree as kt
from kinetree.algorithms.constraint_rows import CONSTRAINT_ERROR, CONSTRAINT_JACOBIAN
from kinetree.compiler.function import Function
from kinetree.errors import ConstraintError, SimulationError, UnsupportedError
from tests.compiler.test_c_source import GCC, run_harness

LENGTHS = (3.0, 1.0, 3.0, 2.5)
G = 9.81


@functools.cache
def four_bar():
    return kt.models.four_bar(LENGTHS)


@functools.cache
def rows(model):
    """phi(q) and the Jacobian of all rows, compiled."""
    return tuple(Function(spec, model, (), {}, False) for spec in (CONSTRAINT_ERROR, CONSTRAINT_JACOBIAN))


def misfit(run) -> tuple[float, float]:
    """The worst gap of all rows [m or rad], and the worst velocity across them."""
    phi, jacobian = rows(run.model)
    across = np.einsum("tij,tj->ti", jacobian(run.q), run.v)
    return float(np.abs(phi(run.q)).max()), float(np.abs(across).max())


@functools.cache
def reference(duration=0.5):
    """The four-bar from its closed keyframe, by an adaptive method of order 8."""
    exact = kt.integrators.Adaptive(rtol=1e-12, atol=1e-12)
    return kt.simulate(four_bar(), "initial", duration=duration, dt=0.1, integrator=exact)


def angles(crank):
    """q of the four-bar from the angle of its crank, by the triangle of diagonal, coupler and rocker."""
    ground, a, b, c = LENGTHS
    x, y = ground - a * np.cos(crank), -a * np.sin(crank)
    d2 = x * x + y * y
    d = np.sqrt(d2)
    slope = np.log(x + 1j * y).imag if not np.iscomplexobj(crank) else np.arctan(y / x)
    coupler = slope + np.arccos((b * b + d2 - c * c) / (2.0 * b * d))
    tip = a * np.cos(crank) + b * np.cos(coupler), a * np.sin(crank) + b * np.sin(coupler)
    rocker = np.arctan(tip[1] / (tip[0] - ground)) + (np.pi if (tip[0] - ground).real < 0.0 else 0.0)
    return np.array([crank, coupler - crank, rocker])


def test_the_motion_is_that_of_minimal_coordinates():
    """One ordinary differential equation for the crank, with q(theta) in closed form, by SciPy."""
    tree, step = four_bar().replace(constraints=()), 1e-4

    def rate(t, y):
        theta, speed = y
        q = angles(theta)
        J = angles(theta + 1e-30j).imag / 1e-30
        curvature = (angles(theta + step + 1e-30j).imag - angles(theta - step + 1e-30j).imag) / 1e-30 / (2.0 * step)
        M, c = kt.crba(tree, q), kt.bias_forces(tree, q, J * speed)
        return [speed, -J @ (M @ curvature * speed**2 + c) / (J @ M @ J)]

    run = reference()
    assert run.q[0] == pytest.approx(angles(1.0), abs=1e-12)
    found = solve_ivp(rate, (0.0, 0.5), [1.0, 0.0], rtol=1e-10, atol=1e-12)
    assert found.y[:, -1] == pytest.approx([run.q[-1, 0], run.v[-1, 0]], abs=1e-6)
    assert run.q[-1] == pytest.approx(angles(found.y[0, -1]), abs=1e-6) and abs(run.v[-1, 0]) > 1.0


ORDERS = {
    "semi_implicit": 1, "linearly_implicit": 1, "heun": 2, "cg2": 2, "implicit_midpoint": 2, "variational": 2,
    "generalized_alpha": 2,
    "kutta3": 3, "rk4": 4, "rk38": 4, "cg4": 4,
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_projection_keeps_the_order_of_a_method(name):
    """The error at the end falls by 2^order with half steps; loops are closed in positions and velocities."""
    errors = []
    for dt in (0.02, 0.01):
        run = kt.simulate(four_bar(), "initial", duration=0.5, dt=dt, integrator=name)
        errors.append(np.abs(run.q[-1] - reference().q[-1]).max())
        gap, across = misfit(run)
        assert gap < 1e-11 and across < (1e-7 if name != "generalized_alpha" else 1e-2)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[name], abs=0.35 if name != "cg4" else 0.6)


def test_variational_steps_keep_energy_without_drift():
    """RATTLE: thousands of steps of 10 ms, the same band of energy in each quarter; the midpoint rule leaves it."""
    bands = {}
    for name in ("variational", "implicit_midpoint"):
        run = kt.simulate(four_bar(), "initial", duration=30.0, dt=1e-2, integrator=name)
        quarters = np.array_split(run.energy - run.energy[0], 4)
        bands[name] = np.array([[x.min(), x.max()] for x in quarters])
        assert max(misfit(run)) < 1e-8
    assert np.ptp(bands["variational"], axis=0).max() < 0.02 * np.ptp(bands["variational"])
    assert np.ptp(bands["implicit_midpoint"], axis=0).max() > 0.05 * np.ptp(bands["implicit_midpoint"])


def test_variational_steps_refuse_rolling():
    """Velocities that are no rates of positions have no discrete Lagrangian of this kind."""
    b = kt.ModelBuilder("hoop")
    b.add_body("hoop", joint=kt.joints.Free(), mass=2.0, inertia=np.diag([0.25, 0.25, 0.5]))
    hoop = b.build().with_constraints(kt.constraints.RollingDisk("hoop", 0.5))
    upright = [0, 0, 0.5, np.sqrt(0.5), -np.sqrt(0.5), 0, 0]
    with pytest.raises(UnsupportedError, match="constraints of velocities such as the rolling disk"):
        kt.simulate(hoop, upright, duration=0.01, integrator="variational")


def test_the_default_is_rk4_and_keeps_energy_and_gap():
    """Ten seconds of steps of 2 ms."""
    run = kt.simulate(four_bar(), "initial", duration=10.0, dt=2e-3)
    assert run.integrator == "rk4" and max(misfit(run)) < 2e-13
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6 < np.ptp(run.kinetic_energy)
    stiff = kt.simulate(four_bar().replace(damping={"crank": 1e5}), "initial", duration=0.01, dt=2e-3)
    assert stiff.integrator == "semi_implicit" and misfit(stiff)[0] < 1e-13


ROLLED = ("semi_implicit", "rk4", "dp54", "cg4", "linearly_implicit", "implicit_midpoint", "variational")


@pytest.mark.parametrize("name", ROLLED)
def test_a_rollout_is_the_motion_of_simulate(name):
    """The same steps in one call, under forces; for one state and in a batch."""
    model, steps = four_bar(), 50
    q, v = model.keyframe("initial")
    tau = np.array([3.0, 0.0, -1.0])
    run = kt.simulate(model, q, v, duration=0.25, dt=5e-3, integrator=name, inputs=kt.Inputs(tau=lambda t: tau))
    rolled = kt.rollout(model, np.tile(q, (3, 1)), None, tau, 5e-3, steps=steps, integrator=name)
    assert rolled.q[1] == pytest.approx(run.q, abs=1e-11) and rolled.v[2] == pytest.approx(run.v, abs=1e-10)
    assert np.abs(rows(model)[0](rolled.q)).max() < 1e-13


def test_a_rollout_in_single_precision():
    """Gaps of the rounding of float32 after a thousand steps."""
    model = four_bar()
    q = model.keyframe("initial")[0].astype(np.float32)
    found = kt.rollout(model, q, None, None, 2e-3, steps=1000, integrator="rk4")
    assert found.q.dtype == np.float32
    assert np.abs(rows(model)[0](found.q.astype(float))).max() < 1e-5


@pytest.mark.seeds(12)
def test_random_mechanisms_stay_closed(seed):
    """All kinds of loop joints between bodies with all kinds of joints; energy to the order of the step."""
    family = ("spatial", "planar", "spherical")[seed % 3]
    model, q, v = kt.models.random_loops(seed, bodies=5, loops=1 + seed % 2, family=family)
    v = v / max(1.0, np.abs(v).max())
    runs = [kt.rollout(model, q, v, None, dt, steps=round(0.02 / dt), integrator="rk4") for dt in (1e-3, 5e-4)]
    energy = []
    for found in runs:
        phi, jacobian = (f(found.q) for f in rows(model))
        assert np.abs(phi).max() < 1e-10
        across = np.einsum("tij,tj->ti", jacobian, found.v)
        kept = list(model.independent_rows())
        assert np.abs(across[:, kept]).max() < 1e-10 * max(1.0, np.abs(found.v).max())
        total = kt.kinetic_energy(model, found.q, found.v) + kt.potential_energy(model, found.q)
        energy.append(np.abs(total - total[0]).max() / (np.ptp(kt.potential_energy(model, found.q)) + 1e-9))
    assert energy[1] < 1e-6 or energy[1] < 0.2 * energy[0]


@pytest.mark.parametrize("method", ["dp54", "dop853", "scipy:RK45", "Radau", "LSODA"])
def test_adaptive_methods_keep_loops(method):
    """Samples between steps are closed, too; the error is that of the tolerance."""
    integrator = kt.integrators.Adaptive(method, rtol=1e-8, atol=1e-8)
    run = kt.simulate(four_bar(), "initial", duration=0.5, dt=0.05, integrator=integrator)
    assert max(misfit(run)) < 1e-12
    assert run.q[-1] == pytest.approx(reference().q[-1], abs=1e-5)


def test_forces_of_loops_are_channels_of_every_method():
    """Those of RK4 are those for which generalized-alpha solves, and vanish in a mechanism at rest without weight."""
    names = [f"force.closure.{n}" for n in range(5)]
    forces = []
    for name in ("rk4", "generalized_alpha", kt.integrators.Adaptive()):
        run = kt.simulate(four_bar(), "initial", duration=0.3, dt=1e-3, integrator=name)
        forces.append(np.stack([run.energy_balance.others[name] for name in names], axis=-1))
        assert np.abs(run.energy_balance.remainder).max() < 1e-3 * np.ptp(run.kinetic_energy)
    assert forces[0] == pytest.approx(forces[2], abs=1e-5) and np.abs(forces[0]).max() > 10.0
    assert forces[1][50:] == pytest.approx(forces[0][50:], abs=1e-2 * np.abs(forces[0]).max())


def test_locks_stand_beside_loops():
    """A locked coupler joint makes a second four-bar rigid; the first one moves as without it."""
    model = kt.models.four_bar_chain(2)
    q, _ = model.keyframe("initial")
    free = kt.simulate(model, q, duration=0.05, dt=1e-3)
    assert free.integrator == "rk4" and max(misfit(free)) < 1e-12
    name = model.joint_names[-1]
    locked = model.with_constraints(kt.constraints.Lock(name))
    for integrator in ("auto", "semi_implicit", "rk4"):
        run = kt.simulate(locked, q, duration=0.05, dt=1e-3, integrator=integrator)
        assert np.ptp(run.q[:, model.q_index(name)]) == 0.0 and misfit(run)[0] < 1e-12


def test_events_leave_loops_closed():
    """Located within a step; an action's impulse acts on the closed mechanism and never raises its energy."""
    model = four_bar()

    def kick(t, q, v):
        return q, v + [0.5, -2.0, 1.0]

    down = kt.Event(lambda t, q, v: q[0] - 0.9, action=kick, name="down", terminal=2)
    for integrator in ("rk4", kt.integrators.Adaptive(rtol=1e-9, atol=1e-9)):
        run = kt.simulate(model, "initial", duration=0.4, dt=5e-3, integrator=integrator, events=down)
        event = run.events[0]
        assert event.q[0] == pytest.approx(0.9, abs=1e-6) and max(misfit(run)) < 1e-11
        expected = kt.closed_loops.project_velocity(model, event.q, event.v + [0.5, -2.0, 1.0])
        assert event.v_after == pytest.approx(expected, abs=1e-9)
    apart = kt.Event(lambda t, q, v: q[0] - 0.9, action=lambda t, q, v: (q + [0.0, 2.0, 0.0], v), name="apart")
    with pytest.raises(ConstraintError, match="after an event.*closure"):
        kt.simulate(model, "initial", duration=0.4, dt=5e-3, integrator="rk4", events=apart)


def test_a_users_own_method_is_projected():
    """An object with a step of its own, without any notion of loops."""

    class Euler:
        name, order = "plain_euler", 1

        def __init__(self, system):
            self._dynamics = system.function("forward_dynamics", checks=False)
            self._move = system.function("integrate", checks=False)

        def step(self, t, h, q, v, tau, f_ext):
            return self._move(q, h * v), v + h * self._dynamics(q, v, tau(t), *f_ext(t))

    run = kt.simulate(four_bar(), "initial", duration=0.1, dt=1e-3, integrator=Euler)
    assert max(misfit(run)) < 1e-12 and np.abs(run.v[-1]).max() > 0.1


def test_sticking_friction_beside_loops():
    """Steps of a rollout: the linkage comes to rest and stays; the work of friction is the energy lost."""
    model = four_bar().replace(dry_friction={"crank": 8.0}).with_constraints(kt.constraints.StickingFriction())
    run = kt.simulate(model, duration=6.0, dt=1e-3)
    assert run.integrator == "semi_implicit" and np.abs(rows(four_bar())[0](run.q)).max() < 1e-12
    rolled = kt.rollout(model, run.q[0], None, None, 1e-3, steps=6000)
    assert rolled.q == pytest.approx(run.q, abs=1e-12)
    assert np.abs(run.v[-1]).max() < 1e-15 and np.abs(run.v).max() > 1.0
    assert run.q[-1] == pytest.approx(run.q[-500], abs=1e-13)
    balance, lost = run.energy_balance, run.energy[-1] - run.energy[0]
    assert balance.work("dry friction") == pytest.approx(lost, rel=0.01) and lost < -10.0
    assert np.abs(balance.others["force.dry friction"]).max() == pytest.approx(8.0)


def test_hard_limits_beside_loops():
    """The crank does not pass its limit but by the projection of the step in which it lands; other methods refuse."""
    limits = {"lower": {"crank": -2.0}, "upper": {"crank": 1.5}}
    model = four_bar().replace(**limits).with_constraints(kt.constraints.HardLimits())
    run = kt.simulate(model, duration=3.0, dt=1e-3)
    assert run.q[:, 0].min() > -2.0 - 1e-4 and run.q[:, 0].max() < 1.5 + 1e-4
    assert np.abs(run.energy_balance.others["force.stops"]).max() > 1.0
    for integrator in ("rk4", "adaptive"):
        with pytest.raises(SimulationError, match="hard limits .* beside loops is part of integrator 'semi_implicit'"):
            kt.simulate(model, duration=0.01, integrator=integrator)


def test_prescribed_motions_beside_loops_and_bounded_forces():
    """The drive moves the four-bar as without friction, and gives the power that friction takes; so in a rollout."""
    drive = kt.constraints.PrescribedMotion("crank", kt.joints.Sinusoid(0.4, 5.0, offset=1.0))
    rubbing = four_bar().replace(dry_friction=0.3).with_constraints(drive, kt.constraints.StickingFriction())
    run = kt.simulate(rubbing, duration=0.3, dt=1e-3)
    assert np.abs(run.energy_balance.remainder).max() < 1e-8 * run.energy_balance.scale
    plain = kt.simulate(four_bar().with_constraints(drive), run.q[0], run.v[0], duration=0.3, integrator="rk4")
    assert plain.q == pytest.approx(run.q, abs=1e-12) and plain.v == pytest.approx(run.v, abs=1e-12)
    rubbed, free = (x.energy_balance.others["force.prescribed motions"] for x in (run, plain))
    power = np.sum((rubbed - free) * run.v, axis=1)
    assert power == pytest.approx(0.3 * np.abs(run.v).sum(axis=1), rel=1e-9, abs=1e-9)
    rolled = kt.rollout(rubbing, run.q[0], run.v[0], None, 1e-3, steps=300)
    assert rolled.q == pytest.approx(run.q, abs=1e-13)


def test_steps_of_loops_are_algorithms_like_all_others():
    """Differentiated through the projection, interpreted, and in extended precision."""
    model, dt, h = four_bar(), 0.01, 1e-6
    q, v = model.keyframe("initial")
    v, tau = kt.closed_loops.project_velocity(model, q, [1.0, 0.0, 0.0]), np.array([1.0, 2.0, 3.0])
    step = kt.compile(model, "rk4_step")
    slopes = kt.differentiate(model, "rk4_step", wrt="tau")(q, v, tau, dt)
    for of, slope in enumerate((slopes.dq_next_dtau, slopes.dv_next_dtau)):
        columns = [(step(q, v, tau + h * e, dt)[of] - step(q, v, tau - h * e, dt)[of]) / (2.0 * h) for e in np.eye(3)]
        assert slope == pytest.approx(np.stack(columns, axis=-1), abs=1e-8)
    found = kt.rollout(model, q, v, None, dt, steps=3)
    with kt.interpreted():
        assert kt.rollout(model, q, v, None, dt, steps=3).q == pytest.approx(found.q, abs=1e-14)
    precise = kt.rollout(model, q, v, None, dt, steps=3, dtype=np.longdouble)
    assert precise.q.dtype == np.longdouble and precise.q.astype(float) == pytest.approx(found.q, abs=1e-13)


@pytest.mark.skipif(GCC is None, reason="no C compiler")
def test_c_code_of_a_step_with_projection(tmp_path):
    """Written, built and run against its golden values."""
    run_harness(kt.export.to_c(kt.compile(four_bar(), "rk4_step")), tmp_path)


def test_samples_between_steps_are_closed():
    """Of a run that is resampled at times between its samples, with the accelerations of the closed mechanism."""
    run = kt.simulate(four_bar(), duration=0.5, dt=0.01)
    fine = run.resample(dt=0.0033)
    assert max(misfit(fine)) < 1e-12
    assert fine.q[:, 0] == pytest.approx(np.interp(fine.time, run.time, run.q[:, 0]), abs=1e-3)
    again = kt.forward_dynamics(four_bar(), fine.q[70], fine.v[70], np.zeros(3))
    assert fine.a[70] == pytest.approx(again, abs=1e-9)
