"""Rollouts on a CUDA device that is emulated: the bits of the CPU, and errors, also where there is no device."""

import pickle
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.native.engine import Target
from tests.compiler.cuda_shim import COMPILER
from tests.compiler.emulated_device import emulate

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="runs the emitted code through a C++ compiler")
BITWISE = Target.host().fma  # without FMA in hardware the machine code rounds otherwise
PENDULUM = kt.models.double_pendulum()


@pytest.fixture
def cupy(monkeypatch, tmp_path):
    """The stand-in for CuPy."""
    return emulate(monkeypatch, tmp_path)


def assert_same(found, expected):
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype and np.isfinite(x).all() and np.ptp(x) > 0.0
        np.testing.assert_allclose(x, y, rtol=0.0 if BITWISE else 1e-4, atol=0.0)


@needs_compiler
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_bits_of_the_cpu(cupy, dtype):
    """Batches of two axes, forces over time and starts that broadcast, some states recorded; one launch for a step."""
    rng = np.random.default_rng(0)
    q, v = rng.standard_normal((3, 1, 2)), rng.standard_normal(2)
    tau = rng.standard_normal((4, 6, 2))
    options = {"dtype": dtype, "record": kt.Record(every=3), "integrator": "semi_implicit", "checks": False}
    found = kt.rollout(PENDULUM, q, v, tau, 0.01, device="cuda", **options)
    assert found.q.shape == (3, 4, 3, 2) and len(cupy.launches) == 6
    assert_same(found, kt.rollout(PENDULUM, q, v, tau, 0.01, **options))
    kt.rollout(PENDULUM, q, v, tau, 0.01, device="cuda", **options)
    assert len(cupy.built) == 1  # kept beside the model


@needs_compiler
def test_other_numbers(cupy):
    """One set for each state, or one for all."""
    q = np.random.default_rng(1).standard_normal((5, 2))
    rolls = {
        place: kt.simulation.Rollout(PENDULUM, "semi_implicit", device=place, checks=False) for place in ("cpu", "cuda")
    }
    for gravity in (np.linspace(-9.0, -1.0, 5), -1.6):
        other = [roll.with_parameters({"gravity.z": gravity}) for roll in rolls.values()]
        assert_same(*(roll(q, None, None, 0.01, steps=4) for roll in other))
    assert pickle.loads(pickle.dumps(rolls["cuda"])).device == "cuda"


@needs_compiler
def test_contact_with_impulses(cupy):
    """A state with a memory: the impulses of the last step, which start the solver of the next one."""
    ball = kt.models.free_shape("sphere", size=(0.1,))
    q = np.tile(ball.neutral(), (3, 1))
    q[:, 2] = [0.5, 0.1, 0.05]
    v = np.random.default_rng(2).standard_normal((3, 6))
    options = {"steps": 5, "ground": True, "record": kt.Record(impulses=True), "checks": False}
    found = kt.rollout(ball, q, v, None, 2e-3, device="cuda", **options)
    expected = kt.rollout(ball, q, v, None, 2e-3, **options)
    assert_same((found.q, found.v, found.impulses), (expected.q, expected.v, expected.impulses))


@needs_compiler
def test_a_loop_stays_closed(cupy):
    """Steps with the projection onto the loop."""
    bar = kt.models.four_bar()
    tau, options = np.linspace(-1.0, 1.0, 4)[:, None, None] * np.ones(bar.nv), {"steps": 5, "checks": False}
    found = kt.rollout(bar, bar.neutral(), None, tau, 1e-3, integrator="semi_implicit", device="cuda", **options)
    assert_same(found, kt.rollout(bar, bar.neutral(), None, tau, 1e-3, integrator="semi_implicit", **options))
    assert len(cupy.launches) == 5


@needs_compiler
def test_checks_name_state_and_step(cupy):
    """The device says that something is wrong, the CPU finds out what."""
    tau = np.zeros((3, 5, 2))
    tau[1, 3, 0] = np.nan
    with pytest.raises(kt.errors.NonFiniteError, match=r"at step 3 .*batch index 1: tau\[0\] is nan"):
        kt.rollout(PENDULUM, np.ones(2), None, tau, 0.01, integrator="semi_implicit", device="cuda")
    v = kt.rollout(
        PENDULUM, np.ones(2), None, tau, 0.01, integrator="semi_implicit", device="cuda", checks=False
    ).v  # fmt: skip
    assert np.isfinite(v[[0, 2]]).all() and np.isnan(v[1, 4:]).any()


def test_without_a_device_the_error_says_so(monkeypatch, tmp_path):
    """Before anything is computed: no device, no CuPy, a word that is no device."""
    emulate(monkeypatch, tmp_path, count=0)
    with pytest.raises(kt.errors.MissingDependencyError, match="no CUDA device. Take device='cpu'"):
        kt.rollout(PENDULUM, np.ones(2), None, None, 0.01, steps=2, device="cuda")
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(kt.errors.MissingDependencyError, match="pip install cupy-cuda12x"):
        kt.simulation.Rollout(PENDULUM, device="cuda")
    with pytest.raises(kt.errors.KinetreeError, match="rollout: device is 'gpu', expected one of 'cpu', 'cuda'"):
        kt.rollout(PENDULUM, np.ones(2), None, None, 0.01, steps=2, device="gpu")
