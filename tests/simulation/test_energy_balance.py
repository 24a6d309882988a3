"""The energy balance: every joule has a name, and what is left over is the integrator's."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import HardLimits, StickingFriction
from kinetree.errors import KinetreeError
from kinetree.simulation.quadrature import accumulated, entered
from tests.analytic.mechanisms import pendulum, rigid_body, slider


def test_sums_are_exact_for_cubics_and_mild_at_jumps():
    """The rule integrates cubics exactly on even samples; a step is integrated as by the trapezoidal rule."""
    t = np.linspace(0.0, 2.0, 9)
    p = np.stack((t**3 - t, np.ones_like(t), (t > 1.1).astype(float)), axis=1)
    total = accumulated(t, p)
    assert total[:, 0] == pytest.approx(t**4 / 4 - t**2 / 2, abs=1e-13) and total[:, 1] == pytest.approx(t)
    assert total[-1, 2] == pytest.approx(1.0 - 0.25 / 2)


def test_sums_over_uneven_samples_fall_back():
    """Where samples are uneven, the trapezoidal rule: exact for lines."""
    t = np.array([0.0, 0.1, 0.15, 0.4, 0.5, 0.6, 0.7])
    assert accumulated(t, t)[-1] == pytest.approx(0.5 * 0.49) and accumulated(t[:1], t[:1]).tolist() == [0.0]


@pytest.mark.parametrize(
    "passive, name",
    [
        ({"damping": 0.5}, "damping"),
        ({"dry_friction": 0.3}, "dry friction"),
        ({"lower": -0.2, "upper": 0.2, "limit_stiffness": 100.0, "limit_damping": 5.0}, "stops"),
    ],
)
def test_each_loss_has_its_row(passive, name):
    """The only work is that of the loss, and it is the change of energy.

    Damping is smooth, so what remains is rk4's and the sums', of order h^4; friction and stops have kinks.
    """
    run = kt.simulate(pendulum(**passive), [0.19], [1.0], duration=1.0, dt=1e-3, integrator="rk4")
    balance = run.energy_balance
    assert set(balance.works) == {name} and balance.work(name) < -0.05
    assert np.abs(balance.remainder).max() < (1e-10 if name == "damping" else 2e-3 * abs(balance.work(name)))


def test_energies_by_kind():
    """Motion of bodies, armature, gravity, springs and stops add up to the energy of the trajectory."""
    model = pendulum(armature=0.3, stiffness=2.0, lower=-0.2, upper=0.2, limit_stiffness=100.0, limit_damping=5.0)
    run = kt.simulate(model, [0.19], [1.0], duration=0.2, integrator="rk4")
    balance = run.energy_balance
    assert set(balance.energies) == {"kinetic", "armature", "gravity", "springs", "stops"}
    assert balance.energy == pytest.approx(run.energy, abs=1e-13)
    assert balance.energies["armature"] == pytest.approx(0.15 * run.v[:, 0] ** 2)
    assert balance.energies["springs"] == pytest.approx(1.0 * run.q[:, 0] ** 2)
    assert balance.energies["stops"].max() > 0.0 == balance.energies["stops"][0]


def test_held_forces_do_force_times_way():
    """A digital controller's work is exact, although its force jumps at every sample."""
    rng = np.random.default_rng(0)
    run = kt.simulate(slider(2.0), v0=[0.5], duration=1.0, dt=0.01, integrator="rk4",
                      controller=lambda t, q, v: 10.0 * rng.normal(size=1))  # fmt: skip
    assert run.energy_balance.work("controller", "rail") == run.energy_balance.work("controller")
    assert np.abs(run.energy_balance.remainder).max() < 1e-12 * run.energy_balance.scale * 100


@pytest.mark.parametrize("integrator, order", [("semi_implicit", 1), ("rk4", 4), ("heun", 2)])
def test_the_remainder_is_the_integrators_error(integrator, order):
    """On an arm with damping and a smooth force the remainder falls with the method's order at least."""
    model = kt.models.double_pendulum().replace(damping=np.array([0.3, 0.2]))
    off = []
    for dt in (4e-3, 2e-3):
        run = kt.simulate(model, [1.0, 0.5], duration=1.0, dt=dt, integrator=integrator,
                          inputs=kt.Inputs(tau=lambda t: [np.sin(3 * t), 0.2]))  # fmt: skip
        off.append(np.abs(run.energy_balance.remainder).max())
    assert np.log2(off[0] / off[1]) > order - 0.3 and off[0] < 0.1


def test_wrenches_and_momentum_of_what_floats():
    """A free body: the work of a wrench is its energy, and momentum is weight plus wrenches, to rk4's error."""
    model = rigid_body((1.0, 2.0, 2.5)).replace(gravity=(0.0, 0.0, -9.81))
    v0 = [0.5, 2.0, -1.0, 0.1, 0.2, 0.3]

    def wrench(t):
        return [np.zeros(6), [np.sin(t), 0.3, 0.1, 1.0, t, -0.5]]

    run = kt.simulate(model, v0=v0, duration=1.0, dt=2e-3, integrator="rk4", inputs=kt.Inputs(f_ext=wrench))
    assert abs(run.energy_balance.work("external wrenches")) > 0.1 and np.abs(run.energy_balance.remainder).max() < 1e-8
    assert np.abs(run.energy_balance.momentum_error).max() < 1e-9 < 1.0 < np.ptp(run.energy_balance.momentum[:, 5])
    assert run.energy_balance.quaternion_error.max() < 1e-14
    assert kt.simulate(pendulum(), [1.0], duration=0.01).energy_balance.momentum_error is None


def test_wrenches_of_the_state_do_force_times_way():
    """Held over every step: the work of a wind that comes and goes is exact to the second order of the step."""

    def gusts(t, q, v):
        return [[0.0] * 6, [0.0] * 3 + [20.0 * np.sin(63.0 * t), 0.0, 0.0]]

    off = []
    for dt in (2e-3, 1e-3):
        run = kt.simulate(
            slider(1.0, axis=(1, 0, 0)), duration=1.0, dt=dt, integrator="rk4", inputs=kt.Inputs(f_ext=gusts)
        )
        off.append(np.abs(run.energy_balance.remainder).max())
    assert off[1] < 1e-12 * run.energy_balance.scale * 100  # the velocity is linear in a step: the mean is exact
    model = kt.models.double_pendulum()
    for dt in (2e-3, 1e-3):
        run = kt.simulate(model, [1.0, 0.5], duration=1.0, dt=dt, integrator="rk4",
                          inputs=kt.Inputs(f_ext=lambda t, q, v: [[0.0] * 6, *gusts(t, q, v)]))  # fmt: skip
        off.append(np.abs(run.energy_balance.remainder).max() / run.energy_balance.scale)
    assert off[3] < 1e-4 and np.log2(off[2] / off[3]) > 1.7


def test_prescribed_motions_have_their_row():
    """A load hoisted at a given speed: the drive's work is all of the energy."""
    motion = kt.joints.MovingFrame((0.0, 0.0, kt.joints.Polynomial((0.0, 0.0, 0.5))))
    b = kt.ModelBuilder("hoist")
    b.add_body("load", "world", motion, "hoist", mass=2.0, com=(0, 0, 0), inertia=(0.1, 0.1, 0.1))
    b.add_body("bob", "load", kt.joints.Revolute((0, 1, 0)), "hinge", mass=1.0, com=(0, 0, -0.5), inertia=np.eye(3))
    run = kt.simulate(b.build(), [0.4], duration=1.0, dt=1e-3, integrator="rk4")
    assert set(run.energy_balance.works) == {"prescribed motions"}
    assert run.energy_balance.work("prescribed motions") == pytest.approx(np.ptp(run.energy_balance.energy), rel=1e-3)
    assert np.abs(run.energy_balance.remainder).max() < 1e-9 * run.energy_balance.scale * 100


@pytest.mark.parametrize("stops", [True, False])
def test_the_work_of_friction_is_counted_once_where_events_cut_steps(stops):
    """Force times way, 2 N over what the block slides, and an energy that closes: a block between walls, with marks at
    which steps are cut, and a kick at one of them. Under constant forces the steps with stops leave rounding alone, and
    semi-implicit Euler, without, its error of order h."""
    model = slider(1.0, dry_friction=2.0, **({"lower": -0.3, "upper": 0.7} if stops else {}))
    marks = [kt.Event(lambda t, q, v, x=x: q[0] - x, name=f"{x}") for x in (0.123, 0.3571, 0.61, -0.2)]
    kick = kt.Event(lambda t, q, v: t - 0.1234, action=lambda t, q, v: (q, 1.5 * v), name="kick")
    model = model.with_constraints(StickingFriction(), *([HardLimits(0.8)] if stops else []))
    run = kt.simulate(model, [0.1], [3.0], duration=1.0, dt=0.01, events=[*marks, kick])
    times = [0.0, *(x.time for x in run.events), 1.0]
    corners = np.array([0.1, *(x.q[0] for x in run.events), run.q[-1, 0]])  # it turns at the walls alone
    assert len(times) > (8 if stops else 5)
    work = run.energy_balance.work("dry friction")
    assert work == pytest.approx(-2.0 * np.abs(np.diff(corners)).sum(), rel=1e-12)
    assert np.abs(run.energy_balance.remainder).max() < (1e-12 if stops else 2.0 * 4.0 * 0.01)
    assert (np.diff(run.energy_balance.works["dry friction"][:, 0]) <= 0.0).all()


def test_impacts_friction_and_events_of_an_arm_leave_the_integrators_error():
    """Random motions into stops with friction in every joint and steps that events cut: what no source explains is of
    order h^2 where joints move, and of order h where friction turns them round."""
    arm = kt.load("arm7").replace(damping=0.0, dry_friction=0.3)
    crossing = kt.Event(lambda t, q, v: q[1] - q[3] - 0.1, name="crossing")
    clock = kt.Event(lambda t, q, v: np.sin(40.0 * t), name="clock")
    arm = arm.with_constraints(StickingFriction(), HardLimits(0.5))
    run = kt.simulate(arm, seed=3, duration=0.6, events=[crossing, clock])
    assert len(run.events) > 8 and any(x.name == "impact" for x in run.events)
    assert run.energy_balance.work("stops") < -0.1 and run.energy_balance.work("dry friction") < -0.1
    assert np.abs(run.energy_balance.remainder).max() < 1e-3 * run.energy_balance.scale


def test_the_table_tells_the_balance():
    """Start, works with the joints that matter, remainder and end are lines; all arrays have names."""
    arm = kt.load("arm7")
    run = kt.simulate(arm, seed=1, duration=0.1)
    table = run.energy_balance.table()
    assert all(word in table for word in ("energy at the start", "damping", "most at", "remainder", "100 steps"))
    channels = run.energy_balance.channels
    assert channels["power.damping"].shape == run.v.shape and channels["energy.kinetic"].shape == run.time.shape
    assert run.energy_balance is run.energy_balance and run.energy_balance.work("nothing") == 0.0


def test_couplings_and_counts():
    """Coupled fingers stay coupled, and the steps are counted; adaptive runs count evaluations."""
    arm = kt.load("arm7")
    run = kt.simulate(arm, seed=1, duration=0.05)
    assert run.energy_balance.coupling_error.max() < 1e-15 and run.energy_balance.counts["steps"] == 50
    adaptive = kt.simulate(pendulum(), [1.0], duration=0.05, integrator="adaptive")
    assert adaptive.energy_balance.counts["evaluations"] > 10


@pytest.mark.parametrize("integrator", ["semi_implicit", "rkmk4", "adaptive"])
def test_trajectories_are_pickled_with_what_the_energy_balance_needs(integrator):
    """Also of methods whose classes are made from tables."""
    run = kt.simulate(
        pendulum(damping=0.1), [1.0], duration=0.1, integrator=integrator, inputs=kt.Inputs(disturbance=lambda t: [0.1])
    )
    again = pickle.loads(pickle.dumps(run))
    assert np.array_equal(again.energy_balance.works["disturbance"], run.energy_balance.works["disturbance"])
    assert again.metadata.method is run.metadata.method and str(again.report()) == str(run.report())


def test_a_trajectory_without_its_model_has_no_energy_balance():
    """The message says how to get it."""
    run = kt.simulate(pendulum(), [1.0], duration=0.01)
    with pytest.raises(KinetreeError, match="model=model"):
        _ = dataclasses.replace(run, model=None, metadata=dataclasses.replace(run.metadata, kept={})).energy_balance


def test_energy_that_enters_at_instants_is_summed_until_each_sample():
    """Against the sum over all records that are no later, for numbers and for arrays; ends of steps up to rounding."""
    rng = np.random.default_rng(5)
    time, instants = np.linspace(0.0, 1.0, 11), np.sort(rng.uniform(0.0, 1.1, 20))
    for energies in (rng.standard_normal(20), rng.standard_normal((20, 3))):
        found = entered(time, list(zip(instants, energies, strict=True)))
        expected = [energies[instants <= t].sum(axis=0) for t in time]
        assert found == pytest.approx(np.array(expected), abs=1e-14)
    assert entered(time, [(0.5 + 1e-9, 2.0)], tolerance=1e-6)[5] == 2.0
