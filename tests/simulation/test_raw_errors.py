"""What used to end in an error of Python or NumPy that named nothing."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, KinetreeError, SimulationError, SingularityError, UnsupportedError
from kinetree.liegroup import se3, so3
from kinetree.spatial import Vector3

NO_NUMBERS = [np.array([1.0, 2.0]), np.array([1.0]), [1.0], "a", "1.0", None, 1j, object]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_an_event_that_gives_no_number(value):
    """Event, time and what came are named; a number of any kind will do."""
    event = kt.Event(lambda t, q, v: value, name="touch")
    with pytest.raises(ArgumentError, match=r"Event 'touch': the result of its function at t = 0 s is .* expected"):
        kt.simulate(kt.models.pendulum(), [0.5], duration=0.01, events=[event])


def test_an_event_may_give_any_real_number():
    """Integers, booleans, NumPy's scalars and arrays without axes."""
    for value in (1, True, np.float32(1.0), np.int8(1), np.array(1.0), np.True_):
        kt.simulate(kt.models.pendulum(), [0.5], duration=0.01, events=[kt.Event(lambda t, q, v, x=value: x)])


@pytest.mark.parametrize("value", ["a", None, [0.5], 1j, True, np.nan, {"pivot": 0.5}], ids=repr)
def test_restitution_of_another_kind(value):
    """The argument."""
    with pytest.raises(ArgumentError, match="hard limits: restitution is .*, expected a number from 0"):
        kt.constraints.HardLimits(value)


@pytest.mark.parametrize("name", [name for name in so3.__dict__ if "solve" in name or "inverse" in name])
def test_inverse_tangent_maps_at_a_full_turn(name):
    """Of SO(3), floats and arrays: the angle is named."""
    call = getattr(so3, name)
    for one in (1.0, np.array([1.0, 1.0])):
        arguments = [Vector3(0.0 * one, 2.0 * np.pi * one, 0.0 * one), Vector3(one, one, one)]
        with pytest.raises(SingularityError, match="rotation vector of 6.28318531 rad is a full turn"):
            call(*arguments[: call.__code__.co_argcount])


def test_inverse_tangent_maps_of_twists_at_a_full_turn():
    """Of SE(3), whose coefficients are those of SO(3), with rates where a derivative is asked for."""
    v = kt.spatial.Motion(Vector3(0.0, 0.0, 2.0 * np.pi), Vector3(1.0, 2.0, 3.0))
    found = 0
    for name, call in vars(se3).items():
        if not name.startswith("_") and ("solve" in name or "inverse" in name):
            found += 1
            with pytest.raises(SingularityError, match="full turn"):
                call(*[v] * call.__code__.co_argcount)
    assert found >= 4


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_verify_says_what_is_not_finite(bad):
    """A model whose inertia was spoilt in memory fails, without an error or a warning of NumPy."""
    model = kt.models.double_pendulum()
    object.__setattr__(model.I[2].I, "xx", bad)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not kt.verify(model, states=1).ok


def test_a_simulation_is_not_pickled_but_its_snapshot_is():
    """The error names the way; the way works."""
    sim = kt.Simulation(kt.models.double_pendulum(), [1.0, 0.5], dt=1e-3)
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(UnsupportedError, match=r"sim.save\(\)"):
            call(sim)
    snapshot = pickle.loads(pickle.dumps(sim.save()))
    sim.advance(0.01)
    sim.restore(snapshot)
    assert sim.time == 0.0


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "implicit_midpoint", "dop853"])
@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_divergence_within_the_first_steps(integrator, steps):
    """However soon, of whatever size, and with a controller that feeds it: kinetree's own error or a finite run."""
    model = kt.models.double_pendulum().without_limits()
    for size in (1e3, 1e60, 1e155, 1e300):
        for gain in (0.0, 1e3, 1e250):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    run = kt.simulate(
                        model, [0.1, 0.2], [size, -0.3 * size], duration=1e-3 * steps, dt=1e-3, integrator=integrator,
                        controller=lambda t, q, v, gain=gain: gain * v,
                    )  # fmt: skip
                except KinetreeError as error:
                    assert isinstance(error, (SimulationError, ValueError))
                else:
                    assert np.isfinite(run.q).all() and np.isfinite(run.v).all()
