"""Trial steps of adaptive solvers that fail, which is no failure of the motion."""

import importlib.util
import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import SimulationError
from kinetree.integrators import ADAPTIVE
from tests.analytic.mechanisms import pendulum, slider

EXPLICIT = ["dop853", "dp54", "bs32", "scipy:DOP853", "scipy:RK45", "scipy:RK23"]
METHODS = [*EXPLICIT, "Radau", "BDF", "LSODA"]
if importlib.util.find_spec("sksundae"):
    METHODS += ["CVODE", "IDA"]


@pytest.mark.parametrize("method", EXPLICIT)
def test_a_step_that_is_too_long_is_rejected(method):
    """A slider of 0.1 kg in a drag of sinh(v) N rests for 20 s, and steps grow; then 1e4 N act.

    In the next trial the drag is the largest number there is, and the acceleration, ten times it, is infinite. The
    motion is at its final speed asinh(1e4) within a time constant of 0.1 / cosh(9.9) = 1e-5 s.
    """
    largest = np.finfo(float).max

    def drag(t, q, v):
        with np.errstate(over="ignore"):
            return 1e4 * (t > 20.0) - np.clip(np.sinh(v), -largest, largest)

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what overflows in a trial is nobody's business
        run = kt.simulate(
            slider(0.1),
            [0.0],
            duration=20.005,
            dt=30.0,
            integrator=kt.integrators.Adaptive(method, rtol=1e-4, atol=1e-9),
            controller=drag,
        )
    assert run.v[-1, 0] == pytest.approx(np.arcsinh(1e4), rel=1e-3)


@pytest.mark.parametrize("method", [*EXPLICIT, "LSODA"])  # the trials of Radau and BDF end before
def test_a_force_that_ends_beyond_the_motion(method):
    """A bead on a circle by its height: the force -x / sqrt(1 - x^2) is NaN for steps beyond |x| = 1.

    It rests at the bottom for 20 s, and steps grow; then 0.5 N act, and v^2/2 - sqrt(1 - x^2) - x/2 stays -1, to what
    the tolerance of 1e-8 leaves of it: |x| is never above 0.8.
    """
    beyond = 0

    def force(t, q, v):
        nonlocal beyond
        assert np.isfinite(q).all() and np.isfinite(v).all()
        beyond += bool(abs(q[0]) > 1.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return 0.5 * (t > 20.0) - q / np.sqrt(1.0 - q**2)

    run = kt.simulate(
        slider(1.0),
        [0.0],
        duration=60.0,
        dt=60.0,
        integrator=kt.integrators.Adaptive(method, rtol=1e-8, atol=1e-8),
        controller=force,
    )
    (q,), (v,) = run.q[-1], run.v[-1]
    assert beyond and 0.5 * v**2 - np.sqrt(1.0 - q**2) - 0.5 * q == pytest.approx(-1.0, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_force_that_is_never_finite_ends_the_run(method):
    """From 0.5 s on the controller has no answer: it is named with the time; the samples before are kept."""

    def broken(t, q, v):
        return [1.0 if t < 0.5 else np.nan]

    with pytest.raises(SimulationError, match=r"broken' returned tau\[0\] = nan for joint 'rail' at t = 0.5") as info:
        kt.simulate(
            slider(1.0),
            [0.0],
            duration=1.0,
            dt=0.1,
            integrator=kt.integrators.Adaptive(method, rtol=1e-6, atol=1e-6),
            controller=broken,
        )
    run = info.value.trajectory
    assert run.time[0] == 0.0 and 0.0 < run.time[-1] <= 0.5
    assert run.q[:, 0] == pytest.approx(0.5 * run.time**2, abs=1e-5)


@pytest.mark.parametrize("method", ["dop853", "scipy:RK45", "Radau", "LSODA"])
def test_a_run_that_ends_in_its_first_step_keeps_its_start(method):
    """`error.trajectory` is what was promised, be it one sample; nobody is sent to tighter tolerances."""
    with pytest.raises(SimulationError) as info:
        kt.simulate(slider(1.0), [0.25], duration=1.0, dt=0.5, integrator=kt.integrators.Adaptive(method),
                    controller=lambda t, q, v: [0.0 if t <= 0.0 else np.inf])  # fmt: skip
    run = info.value.trajectory
    assert run.q[0].tolist() == [0.25] and np.isfinite(run.q).all()
    assert "tighter" not in str(info.value)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("speed", [1e40, 1e160])
def test_a_start_without_acceleration_is_told_with_its_time(method, speed):
    """Where an event leaves a double pendulum at speeds whose squares overflow: at that time, not at "t = nan s"."""
    event = kt.Event(lambda t, q, v: t - 0.05, action=lambda t, q, v: (q, [speed, speed]))
    with warnings.catch_warnings(), pytest.raises(SimulationError, match="no longer finite after t = 0.05 s") as info:
        warnings.simplefilter("ignore")
        kt.simulate(kt.models.double_pendulum(), [0.3, 0.2], duration=0.1, integrator=kt.integrators.Adaptive(method),
                    events=event)  # fmt: skip
    assert info.value.time == pytest.approx(0.05, abs=1e-9)


def test_names_differ_by_more_than_case():
    """The own pair of order 8 is the default; SciPy's has another name, to which its old one leads."""
    assert len({name.lower() for name in ADAPTIVE}) == len(ADAPTIVE)
    assert kt.simulate(pendulum(), duration=0.01, integrator="adaptive").integrator.startswith("adaptive (dop853,")
    with pytest.raises(SimulationError, match="no method 'DOP853'. Did you mean 'dop853' or 'scipy:DOP853'"):
        kt.simulate(pendulum(), duration=0.01, integrator=kt.integrators.Adaptive("DOP853"))
    with pytest.raises(SimulationError, match="no method 'RK45'. Did you mean 'scipy:RK45'"):
        kt.simulate(pendulum(), duration=0.01, integrator=kt.integrators.Adaptive("RK45"))
