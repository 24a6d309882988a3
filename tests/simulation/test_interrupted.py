"""Runs that end before their time, by Ctrl-C or an error in the user's code: what was computed is kept."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import kinetree as kt
from tests.analytic.mechanisms import pendulum

AT = 0.0503  # s
WAYS = {
    "fixed steps": {},
    "thinned": {"record": kt.Record(period=0.03)},
    "watched": {"events": [kt.Event(lambda t, q, v: q[0] - 9.0, name="never")]},
    "SciPy": {"integrator": kt.integrators.Adaptive("scipy:RK45", rtol=1e-8, atol=1e-8)},
    "implicit": {"integrator": kt.integrators.Adaptive("Radau", rtol=1e-8, atol=1e-8)},
    "embedded": {"integrator": kt.integrators.Adaptive("dop853")},
    "bs32": {"integrator": kt.integrators.Adaptive("bs32", rtol=1e-8, atol=1e-8)},
}


def press_ctrl_c(t, q, v):
    """A controller during which Ctrl-C is pressed."""
    if t >= AT:
        signal.raise_signal(signal.SIGINT)
    return -0.1 * v


def break_down(t, q, v):
    """A controller with a fault."""
    if t >= AT:
        raise LookupError("no such gain")
    return -0.1 * v


@pytest.fixture(scope="module")
def reference():
    """The same motion to the end, by a method of order 5 in small steps: its states at any time."""
    return kt.simulate(pendulum(), [1.0], duration=0.1, integrator="dp54", controller=lambda t, q, v: -0.1 * v, dt=1e-4)


@pytest.mark.parametrize("controller", [press_ctrl_c, break_down])
@pytest.mark.parametrize("way", WAYS)
def test_the_run_so_far_is_in_the_error(way, controller, reference):
    """Its samples are those of the whole run, it reaches almost to the instant, and it says why it ended."""
    with pytest.raises((KeyboardInterrupt, LookupError)) as caught:
        kt.simulate(pendulum(), [1.0], duration=0.1, controller=controller, **WAYS[way])
    run = caught.value.trajectory
    assert 0.5 * AT < run.duration <= AT + 1e-3
    assert run.time[0] == 0.0 and (np.diff(run.time) > 0.0).all()
    q, v = reference.state(run.time)
    # A digital controller is a step late: dt times the damping, 1e-3 * 0.1 per second, times the speed.
    assert abs(run.q - q).max() < 1e-4 and abs(run.v - v).max() < 1e-3
    why = "Ctrl-C" if controller is press_ctrl_c else "LookupError: no such gain"
    assert run.ended_early == f"interrupted at t = {run.time[-1]:.9g} s by {why}"
    assert "ended early" in repr(run) and why in str(run.report())
    assert any("error.trajectory is the run up to there" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("way", ["fixed steps", "thinned", "embedded"])
def test_samples_before_the_interrupt_have_the_bits_of_the_whole_run(way):
    """An interrupt changes nothing of what was there."""
    whole = kt.simulate(pendulum(), [1.0], duration=0.1, controller=lambda t, q, v: -0.1 * v, **WAYS[way])
    with pytest.raises(KeyboardInterrupt) as caught:
        kt.simulate(pendulum(), [1.0], duration=0.1, controller=press_ctrl_c, **WAYS[way])
    run = caught.value.trajectory[:-1]
    for name in ("time", "q", "v", "tau"):
        assert np.array_equal(getattr(run, name), getattr(whole, name)[: len(run)]), name
    assert run.ended_early == ""  # the samples before the end are not to blame


def _fails(t, *_):
    if t >= AT:
        raise LookupError("no such gain")


class Element:
    """An element that breaks down after a step."""

    def after_step(self, step):
        """Of every step."""
        _fails(step.t1)


@pytest.mark.parametrize(
    "options",
    [
        {"events": [kt.Event(lambda t, q, v: _fails(t) or 1.0, name="broken")]},
        {"components": [Element()]},
        {"inputs": kt.Inputs(tau=lambda t: _fails(t) or np.zeros(1))},
        {"inputs": kt.Inputs(f_ext=lambda t: _fails(t) or np.zeros((2, 6)))},
    ],
    ids=["event", "element", "tau", "f_ext"],
)
def test_whatever_user_code_raises_leaves_the_run(options):
    """An error in an event, an element or given forces, too."""
    with pytest.raises(LookupError) as caught:
        kt.simulate(pendulum(), [1.0], duration=0.1, **options)
    assert caught.value.trajectory.duration == pytest.approx(AT, abs=1.1e-3)


def test_an_error_at_the_last_instant_leaves_the_run():
    """The controller is asked once more at the end, after the last step."""

    def controller(t, q, v):
        if t > 0.0995:
            raise LookupError
        return 0.0 * v

    with pytest.raises(LookupError) as caught:
        kt.simulate(pendulum(), [1.0], duration=0.1, controller=controller)
    assert len(caught.value.trajectory) == 101


def test_a_simulation_goes_on_after_an_interrupt():
    """To the bits of the run in one: the step that was interrupted is made again."""
    pressed = []

    def controller(t, q, v):
        if t >= AT and not pressed:
            pressed.append(t)
            signal.raise_signal(signal.SIGINT)
        return -0.1 * v

    simulation = kt.Simulation(pendulum(), [1.0], controller=controller)
    with pytest.raises(KeyboardInterrupt):
        simulation.advance(0.1)
    simulation.advance(0.1 - simulation.time)
    whole = kt.simulate(pendulum(), [1.0], duration=0.1, controller=lambda t, q, v: -0.1 * v)
    assert np.array_equal(simulation.trajectory().q, whole.q)


def test_single_steps_keep_the_run_too():
    """`Simulation.step` is `advance` in this."""
    simulation = kt.Simulation(pendulum(), [1.0], controller=break_down)
    with pytest.raises(LookupError) as caught:
        for _ in range(100):
            simulation.step()
    assert len(caught.value.trajectory) == 52


@pytest.mark.parametrize("suffix", [".npz", ".nc", ".csv"])
def test_files_say_that_a_run_is_partial(tmp_path, suffix):
    """The mark is in the file, and comes back."""
    if suffix == ".nc":
        pytest.importorskip("h5netcdf")
    with pytest.raises(KeyboardInterrupt) as caught:
        kt.simulate(pendulum(), [1.0], duration=0.1, controller=press_ctrl_c)
    run = caught.value.trajectory
    back = kt.Trajectory.load(run.save(tmp_path / f"run{suffix}"))
    assert back.ended_early == run.ended_early and np.array_equal(back.q, run.q)
