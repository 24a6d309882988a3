"""Controllers with instants of their own, signals, and wrenches that depend on the state."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.control.digital import Delayed, Sampled, Sum
from kinetree.errors import ArgumentError, NonFiniteError, SimulationError
from kinetree.simulation.components import Channel, StateReset
from tests.analytic.mechanisms import pendulum, slider

METHODS = [{"integrator": "rk4"}, {"integrator": "semi_implicit"}, {"integrator": kt.integrators.Adaptive(rtol=1e-9)}]


class Asked:
    """Remembers when it was asked; answers with how often."""

    def __init__(self):
        self.times = []

    def reset(self):
        self.times = []

    def __call__(self, t, q, v):
        self.times.append(t)
        return [float(len(self.times))]


@pytest.mark.parametrize("settings", METHODS, ids=lambda s: str(s["integrator"]))
@pytest.mark.parametrize("period", [0.02, 0.013])
def test_a_sampled_controller_is_asked_at_its_rate_and_held(settings, period):
    """At 0, T, 2T, ..., also where these are no multiples of dt; a mass under its staircase of forces moves exactly.

    v(t) = sum over samples of F_k (t_k+1 - t_k) / m: exact for every method, since steps end at the samples.
    """
    asked = Asked()
    run = kt.simulate(slider(2.0), duration=0.1, dt=0.005, controller=kt.control.Sampled(asked, period), **settings)
    count = int(np.floor(0.1 / period + 1e-9)) + 1
    assert asked.times == pytest.approx(period * np.arange(count), abs=1e-12)
    ends = np.append(period * np.arange(1, count), 0.1)
    impulse = np.sum(np.arange(1, count + 1) * np.maximum(ends - period * np.arange(count), 0.0))
    assert run.v[-1, 0] == pytest.approx(impulse / 2.0, rel=1e-9)


@pytest.mark.parametrize("settings", METHODS, ids=lambda s: str(s["integrator"]))
def test_a_late_controller_acts_later(settings):
    """Answers k = 1, 2, ... of samples at 0, 0.02, ... act from 0.03, 0.05, ... on; zero before."""
    run = kt.simulate(
        slider(2.0),
        duration=0.1,
        dt=0.005,
        controller=kt.control.Delayed(kt.control.Sampled(Asked(), 0.02), 0.03),
        **settings,
    )
    acting = np.floor((run.time - 0.01 + 1e-9) / 0.02).clip(0.0)
    assert run.tau[:, 0] == pytest.approx(acting)
    assert run.v[-1, 0] == pytest.approx(0.02 * (1 + 2 + 3) / 2.0 + 0.01 * 4 / 2.0, rel=1e-9)


def test_a_delay_without_a_rate_counts_steps():
    """A controller that is asked at every step of 5 ms is heard two steps later, the given forces before."""
    controller = Delayed(lambda t, q, v: [t], 0.01, initial=[7.0])
    run = kt.simulate(slider(), duration=0.03, dt=0.005, controller=controller)
    assert run.tau[:, 0] == pytest.approx([7.0, 7.0, 0.0, 0.005, 0.01, 0.015, 0.02])
    assert len(run) == 7


def test_a_sampled_derivative_loses_damping_with_delay():
    """A sampled damper on a mass is v' = -d v_k / m: the factor 1 - d T / m per sample; late by one, it oscillates."""
    d, m, T = 12.0, 1.0, 0.05
    run = kt.simulate(
        slider(m), v0=[1.0], duration=0.5, dt=0.01, controller=kt.control.Sampled(lambda t, q, v: -d * v, T)
    )
    assert run.v[::5, 0] == pytest.approx((1.0 - d * T / m) ** np.arange(11), rel=1e-12)
    late = kt.simulate(
        slider(m),
        v0=[1.0],
        duration=0.5,
        dt=0.01,
        controller=kt.control.Delayed(kt.control.Sampled(lambda t, q, v: -d * v, T), T),
    )
    expected = [1.0, 1.0]
    for _ in range(9):
        expected.append(expected[-1] - d * T / m * expected[-2])
    assert late.v[::5, 0] == pytest.approx(expected, rel=1e-12)


def test_several_controllers_add_up():
    """A sequence is a Sum, each part with its own rate."""
    slow, fast = Sampled(lambda t, q, v: [t], 0.02), lambda t, q, v: [100.0]
    one = kt.simulate(slider(), duration=0.05, dt=0.01, controller=[slow, fast])
    two = kt.simulate(slider(), duration=0.05, dt=0.01, controller=Sum(slow, fast))
    assert one.tau[:, 0] == pytest.approx([100.0, 100.0, 100.02, 100.02, 100.04, 100.04])
    assert np.array_equal(one.tau, two.tau)


def test_all_parts_are_saved():
    """A sum of a sampled, late integrator and a plain one, and noise: snapshots between samples keep the bits."""

    class Integrator:
        def __init__(self):
            self.total = 0.0

        def reset(self):
            self.total = 0.0

        def __call__(self, t, q, v):
            self.total += 0.1 * q[0]
            return [-self.total]

    def make():
        controller = Sum(Delayed(Sampled(Integrator(), 0.013), 0.005), Integrator())
        noise = kt.signals.Noise([0.1], 0.017, seed=1)
        return kt.Simulation(
            pendulum(), [1.0], controller=controller, integrator="rk4", inputs=kt.Inputs(disturbance=noise)
        )

    one, two = make(), make()
    one.advance(0.05)
    two.restore(one.save())
    for run in (one, two):
        run.advance(0.05)
    assert np.array_equal(one.trajectory().q, two.trajectory().q)
    assert np.array_equal(one.trajectory().tau, two.trajectory().tau)


def test_noise_is_a_function_of_seed_and_time():
    """Same seed, same values, in any order of calls; another seed, others; a standard deviation as asked for."""
    noise, again = (kt.signals.Noise([2.0, 0.5], 0.01, seed=4) for _ in range(2))
    times = 0.01 * np.arange(4000) + 0.003
    values = np.array([noise(t) for t in times])
    assert np.array_equal([again(t) for t in times[::-1]], values[::-1])
    assert not np.array_equal(kt.signals.Noise([2.0, 0.5], 0.01, seed=5)(0.0), noise(0.0))
    assert values.std(axis=0) == pytest.approx([2.0, 0.5], rel=0.05)  # 4.5 / sqrt(2 * 4000): four deviations and a half
    assert np.abs(values.mean(axis=0)) == pytest.approx([0.0, 0.0], abs=0.15)


@pytest.mark.parametrize("settings", METHODS, ids=lambda s: str(s["integrator"]))
def test_a_disturbance_adds_to_what_acts(settings):
    """A pulse of 4 N for 12.5 ms on a mass at rest gives it 0.05 / m m/s, for all steps, as in the energy balance."""
    pulse = kt.signals.Pulse([4.0], start=0.0221, duration=0.0125)
    run = kt.simulate(slider(2.0), inputs=kt.Inputs(tau=[1.0], disturbance=pulse), duration=0.1, dt=0.01, **settings)
    assert run.v[-1, 0] == pytest.approx((0.1 * 1.0 + 0.0125 * 4.0) / 2.0, rel=1e-9)
    assert {"joint forces", "disturbance"} <= set(run.energy_balance.works)


@pytest.mark.parametrize("integrator, error", [("semi_implicit", 2e-3), ("rk4", 2e-3), ("adaptive", 1e-8)])
def test_wrenches_may_depend_on_the_state(integrator, error):
    """A force -c v on a free mass: v = exp(-c t / m). Fixed steps hold it, so their error is of order c h / m."""

    def drag(t, q, v):
        wrenches = np.zeros((2, 6))
        wrenches[1, 3] = -3.0 * v[0]
        return wrenches

    run = kt.simulate(slider(2.0), v0=[1.0], duration=1.0, integrator=integrator, inputs=kt.Inputs(f_ext=drag), dt=1e-3)
    assert run.v[:, 0] == pytest.approx(np.exp(-1.5 * run.time), abs=error)
    assert run.energy_balance.work("external wrenches") == pytest.approx(np.exp(-3.0) - 1.0, abs=error)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: kt.simulate(slider(), duration=0.1, sample_time=0.1), r"give controller=kt.control.Sampled\("),
        (lambda: kt.simulate(slider(), duration=0.1, delay=0.1), r"give controller=kt.control.Delayed\("),
        (lambda: Sampled(lambda t, q, v: q, 0.0), "sample_time is 0.0"),
        (lambda: Delayed(lambda t, q, v: q, -1.0), "delay is -1.0"),
        (lambda: Sum(), "no controllers"),
        (
            lambda: kt.simulate(
                slider(), duration=0.1, integrator="adaptive", controller=kt.control.Delayed(lambda t, q, v: q, 0.1)
            ),
            "has to be sampled",
        ),
        (lambda: kt.simulate(slider(), duration=0.1, controller=[lambda t, q: q]), r"takes \(t, q\)"),
        (lambda: kt.simulate(slider(), duration=0.1, controller=[3.0]), "controller is float"),
        (
            lambda: kt.simulate(slider(), duration=0.1, inputs=kt.Inputs(disturbance=lambda t: [1.0, 2.0])),
            r"disturbance .* \(2,\)",
        ),
        (lambda: kt.simulate(slider(), duration=0.1, components=[3.0]), "float is no component"),
    ],
)
def test_wrong_parts_are_named(wrong, message):
    """Each slip has its message."""
    with pytest.raises((SimulationError, NonFiniteError, ArgumentError), match=message):
        wrong()


class Motor:
    """An element with a torque limit, an inertia in the model, and a heat of its own."""

    name = "motor"

    def __init__(self):
        self.heat = 0.0

    def prepare(self, model):
        return model.replace(armature=model.armature + 0.5)

    def reset(self, simulation):
        self.heat = 0.0

    def joint_forces(self, t, q, v, tau):
        self.heat += float(tau @ tau)
        return np.clip(tau, -2.0, 2.0)

    def get_state(self):
        return self.heat

    def set_state(self, state):
        self.heat = state

    def channels(self, run):
        return {"winding": Channel("other", 0.1 * run.tau**2, "W")}


@pytest.mark.parametrize("integrator", ["rk4", "adaptive"])
def test_elements_take_part(integrator):
    """The model, the forces and the energy balance are as the element makes them: 2 N of 5 on 2.0 + 0.5 kg."""
    inputs = kt.Inputs(tau=[5.0])
    run = kt.simulate(slider(2.0), inputs=inputs, duration=0.1, integrator=integrator, components=[Motor()])
    assert run.v[-1, 0] == pytest.approx(2.0 / 2.5 * 0.1) and run.tau[:, 0].tolist() == [2.0] * len(run)
    assert run.energy_balance.channels["winding"][:, 0] == pytest.approx(0.4)
    assert run.energy_balance.energies["armature"][-1] == pytest.approx(0.5 * 0.5 * run.v[-1, 0] ** 2)
    assert np.abs(run.energy_balance.remainder).max() < 1e-12


class Wall:
    """An impact: where the mass has passed x = 0.5 it is put back there, with half of its speed, to the other side."""

    name = "wall"

    def after_step(self, step):
        if step.q1[0] < 0.5:
            return None
        t = step.t0 + (0.5 - step.q0[0]) / step.v0[0]
        return StateReset(t, np.array([0.5]), -0.5 * step.v1, "impact", before=step.v1, joint="rail")


def test_a_state_reset_changes_state_and_its_energy_is_accounted():
    """At 1 m/s the wall is met at 0.5 s; three quarters of 1 J are gone at once, and none of it is unexplained."""
    run = kt.simulate(slider(2.0), v0=[1.0], duration=1.0, dt=0.03, integrator="rk4", components=[Wall()])
    assert run.q[-1, 0] == pytest.approx(0.25, abs=1e-12)
    (jump,) = run.energy_balance.events
    assert (jump.label, jump.joint) == ("impact", "rail") and jump.time == pytest.approx(0.5)
    assert jump.energy == pytest.approx(-0.75) and np.abs(run.energy_balance.remainder).max() < 1e-12
    assert 0.5 in run.time.round(12)
