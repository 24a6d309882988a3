"""The integrator that a model gets by default: springs keep their energy where dt resolves them, and notes say so."""

import re

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import LimitError
from kinetree.joints import Prismatic, Revolute, SphericalEuler
from tests.analytic.mechanisms import pendulum, slider


def spring(rate: float = 10.0, **others):
    """A slider of 1 kg on a spring of the given frequency [rad/s]."""
    return slider(1.0).replace(stiffness=rate**2, **others)


def test_a_spring_keeps_its_amplitude_at_all_defaults():
    """1.6 Hz for 6 s at 1 ms: x = cos(10 t). Order 4 loses (h w)^6 / 72 of the energy in a step, 1e-10 in all."""
    run = kt.simulate(spring(), [1.0], duration=6.0)
    assert run.q[:, 0] == pytest.approx(np.cos(10.0 * run.time), abs=1e-8)
    assert any("rk4 was chosen: dt = 0.001 s resolves the spring of joint 'rail' (10 rad/s)" in n for n in run.notes)


@pytest.mark.parametrize("dt", [1e-3, 0.12])
def test_rollouts_choose_alike(dt):
    """The same motion as `simulate` where dt resolves the spring, and where it does not."""
    model = spring()
    run = kt.simulate(model, [1.0], duration=100 * dt, dt=dt)
    roll = kt.simulation.Rollout(model)
    q, v = roll([1.0], None, None, dt, steps=100)
    assert np.allclose(q, run.q, rtol=0, atol=1e-12) and np.allclose(v, run.v, rtol=0, atol=1e-11)
    assert run.integrator == ("rk4" if dt == 1e-3 else "semi_implicit")
    assert roll.notes == ("rk4 is chosen up to dt = 0.1 s, semi_implicit for longer steps",)
    assert np.array_equal(roll.with_parameters(model)([1.0], None, None, dt, steps=100).q, q)


@pytest.mark.parametrize(
    "model, dt, why",
    [
        (spring(1200.0), 1e-3, "of joint 'rail' (1.2e+03 1/s); rk4 is chosen up to dt = 0.000833 s"),
        (spring(dry_friction=0.1), 1e-3, "joint 'rail' has dry friction"),
        (spring(damping=1e4), 1e-3, "does not resolve the passive forces of joint 'rail' (1e+04 1/s)"),
    ],
)
def test_what_is_not_resolved_is_damped_and_said(model, dt, why):
    """The note has the joint, the reason, and what a free vibration loses in a second: 1 - (1 + (h w)^2)^(-1/2h)."""
    run = kt.simulate(model, [0.1], duration=10 * dt, dt=dt)
    (note,) = (n for n in run.notes if "amplitude" in n)
    loss = 1.0 - (1.0 + dt**2 * float(model.stiffness[0])) ** (-0.5 / dt)
    assert run.integrator == "semi_implicit" and why in note
    part = f"{100.0 * loss:.2g} %" if loss < 0.995 else "all"
    assert f"loses {part} of its amplitude in a second" in note and "implicit_midpoint" in note


@pytest.mark.parametrize("integrator, rate", [("semi_implicit", 10.0), ("rk4", 450.0)])
def test_the_loss_that_is_told_is_the_loss(integrator, rate):
    """Also where the method was asked for: the amplitude of the spring after a second."""
    run = kt.simulate(spring(rate), [1.0], duration=1.0, integrator=integrator)
    (note,) = run.notes
    told = float(note.split("loses ")[1].split(" %")[0]) / 100.0
    energy = 0.5 * run.v[:, 0] ** 2 + 0.5 * rate**2 * run.q[:, 0] ** 2
    assert 1.0 - np.sqrt(energy[-1] / energy[0]) == pytest.approx(told, rel=0.1)
    assert "was chosen" not in note
    assert not kt.simulate(pendulum(), [1.0], duration=0.01).notes  # nothing was to choose


@pytest.mark.parametrize("seed", range(4))
def test_what_is_called_resolved_is_stable(seed):
    """Trees on springs with dampers, kicked, at the longest step that is called resolved: energy never rises.

    Up to RK4's error: below a thousandth of what the energy changes by in 300 steps.
    """
    rng = np.random.default_rng(seed)
    joints = [Revolute((0, 0, 1)), Revolute((1, 0, 0)), Prismatic((0, 1, 0))]
    tree = kt.models.random_tree(5, seed=seed, joints=joints).without_limits()
    n = tree.nv
    springs, dampers = 10.0 ** rng.uniform(1, 3, n), 10.0 ** rng.uniform(-2, -1, n)
    model = tree.replace(stiffness=springs, damping=dampers, dry_friction=0.0)
    roll = kt.simulation.Rollout(model)
    dt = float(re.search(r"dt = (\S+) s", roll.notes[0])[1]) * 0.99  # of three digits
    assert kt.Simulation(model, dt=dt).integrator == "rk4"
    q, v = roll(model.neutral(), rng.normal(size=n), None, dt, steps=300)
    energy = kt.kinetic_energy(model, q, v) + kt.potential_energy(model, q) + kt.dynamics.elastic_energy(model, q)
    assert np.diff(energy).max() < 1e-3 * np.ptp(energy)


def test_singular_coordinates_are_no_matter_for_explicit_steps():
    """Euler angles z-y-z at zero: no inertia about one of them, so that its spring has no bounded frequency."""
    b = kt.ModelBuilder("gimbal")
    b.add_body("ball", joint=SphericalEuler("zyz"), mass=1.0, inertia=np.eye(3))
    model = b.build().replace(stiffness=1.0)
    assert kt.Simulation(model, [0.1, 0.5, 0.2]).integrator == "semi_implicit"


def test_a_compiled_step_takes_the_stops_of_rollouts_from_the_model_that_its_error_names():
    """At a limit without a stop the step alone has no force: it says where the model with stops is, and with that model
    it makes the motion of the rollout, through the stop."""
    model = pendulum().replace(lower=-0.5, upper=0.5)
    step = kt.compile(model, "semi_implicit_step")
    with pytest.raises(LimitError, match=r"kt.simulation.Rollout\(model\).model is the model with the soft stops"):
        step([0.6], [0.0], [0.0], 1e-3)
    stopped = kt.simulation.Rollout(model).model
    step = kt.compile(stopped, "semi_implicit_step")
    q, v = np.array([0.4]), np.array([2.0])
    Q, V = kt.rollout(model, q, v, None, 1e-3, steps=200)
    for row in range(1, 201):
        q, v = step(q, v, np.zeros(1), 1e-3)
        assert q == pytest.approx(Q[row], abs=1e-13) and v == pytest.approx(V[row], abs=1e-12)
    assert Q.max() > 0.5
