"""Trial steps of adaptive solvers that fail, which is no failure of the motion."""

import importlib.util
import warnings

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import SimulationError
from kinetree.integrate import ADAPTIVE
from tests.analytic.mechanisms import pendulum, slider

EXPLICIT = ["dop853", "dp54", "bs32", "scipy:DOP853", "scipy:RK45", "scipy:RK23"]
METHODS = [*EXPLICIT, "Radau", "BDF", "LSODA"]
if importlib.util.find_spec("sksundae"):
    METHODS += ["CVODE", "IDA"]


@pytest.mark.parametrize("method", EXPLICIT)
def test_a_step_that_is_too_long_is_rejected(method):
    """A hinge with damping rate D/I = 1e6 1/s rests for 20 s, and steps grow; then a moment acts.

    The next step multiplies it by (20 s 1e6/s)^stages, at which the sine of the angle is NaN. From then on
    v = tau/D (1 - exp(-D/I (t - 20 s))).
    """
    model, damping = pendulum(1.0, damping=1e6), 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what overflows in a trial is nobody's business
        run = kt.simulate(model, [0.0], duration=20.0002, dt=30.0, integrator="adaptive", method=method, rtol=1e-4,
                          atol=1e-9, tau=lambda t: [float(t > 20.0)])  # fmt: skip
    assert run.v[-1, 0] == pytest.approx(1.0 / damping, rel=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_a_force_that_ends_beyond_the_motion(method):
    """A bead on a circle by its height: the force -x / sqrt(1 - x^2) is NaN for steps beyond |x| = 1.

    Its energy v^2/2 - sqrt(1 - x^2) stays, to what the tolerance of 1e-8 leaves of it.
    """

    def force(t, q, v):
        assert np.isfinite(q).all() and np.isfinite(v).all()
        with np.errstate(invalid="ignore", divide="ignore"):
            return -q / np.sqrt(1.0 - q**2)

    run = kt.simulate(slider(1.0), [0.99], duration=20.0, dt=20.0, integrator="adaptive", method=method, rtol=1e-8,
                      atol=1e-8, controller=force)  # fmt: skip
    energy = 0.5 * run.v[:, 0] ** 2 - np.sqrt(1.0 - run.q[:, 0] ** 2)
    assert energy[-1] == pytest.approx(energy[0], abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_force_that_is_never_finite_ends_the_run(method):
    """From 0.5 s on the controller has no answer: it is named with the time; the samples before are kept."""

    def broken(t, q, v):
        return [1.0 if t < 0.5 else np.nan]

    with pytest.raises(SimulationError, match=r"broken' returned tau\[0\] = nan for joint 'rail' at t = 0.5") as info:
        kt.simulate(slider(1.0), [0.0], duration=1.0, dt=0.1, integrator="adaptive", method=method, rtol=1e-6,
                    atol=1e-6, controller=broken)  # fmt: skip
    run = info.value.trajectory
    assert run.time[0] == 0.0 and 0.0 < run.time[-1] <= 0.5
    assert run.q[:, 0] == pytest.approx(0.5 * run.time**2, abs=1e-5)


@pytest.mark.parametrize("method", ["dop853", "scipy:RK45", "Radau", "LSODA"])
def test_a_run_that_ends_in_its_first_step_keeps_its_start(method):
    """`error.trajectory` is what was promised, be it one sample; nobody is sent to tighter tolerances."""
    with pytest.raises(SimulationError) as info:
        kt.simulate(slider(1.0), [0.25], duration=1.0, dt=0.5, integrator="adaptive", method=method,
                    controller=lambda t, q, v: [0.0 if t <= 0.0 else np.inf])  # fmt: skip
    run = info.value.trajectory
    assert run.q[0].tolist() == [0.25] and np.isfinite(run.q).all()
    assert "tighter" not in str(info.value)


def test_names_differ_by_more_than_case():
    """The own pair of order 8 is the default; SciPy's has another name, to which its old one leads."""
    assert len({name.lower() for name in ADAPTIVE}) == len(ADAPTIVE)
    assert kt.simulate(pendulum(), duration=0.01, integrator="adaptive").integrator.startswith("adaptive (dop853,")
    with pytest.raises(SimulationError, match="no method 'DOP853'. Did you mean 'dop853' or 'scipy:DOP853'"):
        kt.simulate(pendulum(), duration=0.01, integrator="adaptive", method="DOP853")
    with pytest.raises(SimulationError, match="no method 'RK45'. Did you mean 'scipy:RK45'"):
        kt.simulate(pendulum(), duration=0.01, integrator="adaptive", method="RK45")
