"""Motions that run away: the first bad step is told, and nobody's code sees it. Settings that would never end."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, SimulationError
from kinetree.integrators import FIXED_STEP, System
from tests.analytic.mechanisms import slider

STIFF = slider(1.0).replace(stiffness=1e8)
METHODS = ["rk4", "euler", "dp54", "cg4"]


def first_bad(name: str, dt: float) -> int:
    """The number of steps to a state that is not finite or beyond 1e50, by a loop over the method."""
    method, q, v, none = FIXED_STEP[name](System(STIFF)), np.ones(1), np.zeros(1), np.zeros(1)
    for n in range(1, 1000):
        q, v = method.step(0.0, dt, q, v, lambda t: none, lambda t: ())
        if not np.hypot(q[0], v[0]) < 1e50:
            return n
    raise AssertionError("the motion is bounded")


@pytest.mark.parametrize("integrator", METHODS)
@pytest.mark.parametrize("controlled", [False, True])
@pytest.mark.parametrize("every", [1, 7])
def test_the_first_bad_step_is_told(integrator, controlled, every):
    """Explicit steps far beyond their stability: the time is that of the first state beyond all bounds."""
    settings = {"controller": lambda t, q, v: [0.0]} if controlled else {}
    with np.errstate(all="raise"), pytest.raises(SimulationError, match="no longer finite") as info:
        kt.simulate(
            STIFF, [1.0], duration=50.0, dt=0.01, integrator=integrator, record=kt.Record(every=every), **settings
        )
    with np.errstate(all="ignore"):
        expected = first_bad(integrator, 0.01)
    assert info.value.time == pytest.approx(0.01 * expected, rel=1e-12)


@pytest.mark.parametrize("integrator", METHODS)
def test_a_controller_never_sees_nan(integrator):
    """Steps far beyond their stability, which overflow within 64 of them: what a controller gets is finite."""
    seen = []

    def watch(t, q, v):
        seen.append(np.isfinite(q).all() and np.isfinite(v).all())
        return [0.0]

    with pytest.raises(SimulationError, match="no longer finite"):
        kt.simulate(STIFF, [1.0], duration=50.0, dt=0.1, integrator=integrator, controller=watch)
    assert len(seen) > 1 and all(seen)


@pytest.mark.parametrize("name", ["rtol", "atol", "max_step"])
@pytest.mark.parametrize("value", [0.0, -1e-8, np.nan, np.inf, "1e-8", True])
def test_tolerances_are_positive_numbers(name, value):
    """Whatever else would run for ever or mean nothing."""
    with pytest.raises(KinetreeError, match=f"{name} is .*, expected a positive number"):
        kt.integrators.Adaptive(**{name: value})


def test_a_tolerance_below_rounding_is_refused():
    """Steps could only become as short as rounding."""
    with pytest.raises(SimulationError, match="rtol = 1e-16 is below the rounding limit"):
        kt.simulate(slider(1.0), duration=0.1, integrator=kt.integrators.Adaptive(rtol=1e-16))


def test_a_stiff_spring_under_an_explicit_method_is_said():
    """A spring of 1e12 N/m at 1 kg, 1e6 rad/s: the note counts the steps, and a run of hours is refused."""
    stiff = slider(1.0).replace(stiffness=1e12)
    run = kt.simulate(stiff, [1e-6], duration=1e-4, dt=1e-5, integrator=kt.integrators.Adaptive(rtol=1e-6, atol=1e-12))
    (note,) = (n for n in run.notes if "is stiff" in n)
    assert "joint 'rail' is stiff (1e+06 1/s" in note and "Adaptive('Radau')" in note
    told = float(note.split("at least ")[1].split()[0])
    assert told < run.metadata.counts["steps"] / 1e-4 < 20.0 * told
    with pytest.raises(
        SimulationError,
        match=r"'rail' is stiff.*1.7e\+08 steps in 1000 s. Take integrator=kt.integrators.Adaptive\('Radau'\)",
    ):
        kt.simulate(stiff, [1e-6], duration=1000.0, dt=1.0, integrator="adaptive")
    assert not kt.simulate(stiff, [0.0], duration=1.0, dt=1.0, integrator=kt.integrators.Adaptive("Radau")).notes
    soft = slider(1.0).replace(stiffness=1e4)
    assert not kt.simulate(soft, [1.0], duration=0.1, dt=0.1, integrator="adaptive").notes


def test_samples_beyond_what_can_be_solved_do_not_hide_why_a_run_ended():
    """Accelerations at the last samples of a motion that runs away are not finite; the error is about the motion."""
    arm = kt.load("arm7").replace(stiffness=50.0, dry_friction=0.0, damping=0.0, lower=-np.inf, upper=np.inf)
    with pytest.raises(SimulationError, match="no longer finite at t = ") as caught:
        kt.simulate(arm, duration=6.0, seed=0, integrator="semi_implicit")
    run = caught.value.trajectory
    assert len(run.time) > 10 and np.isfinite(run.q).all() and np.isfinite(run.a[0]).all()
