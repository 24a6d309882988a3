"""Sweeps on a CUDA device that is emulated: the store has the bits of the CPU."""

import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.native.engine import Target
from tests.compiler.cuda_shim import COMPILER
from tests.compiler.emulated_device import emulate
from tests.sweeps.test_store import content

POLE = kt.models.cart_pole()
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="runs the emitted code through a C++ compiler")


def swept(path, device, **more):
    """A sweep of 12 samples in chunks of 5, with a controller, numbers of the model and inputs."""
    given = {
        "over": {
            "q0": kt.sweeps.uniform([-0.1, -0.1], [0.1, 0.1]),
            "pole.density": kt.sweeps.uniform(0.5, 2.0),
            "controller.kp": kt.sweeps.uniform(1.0, 2.0),
            "tau": kt.sweeps.uniform([-1.0, -0.1], [1.0, 0.1]),
        },
        "simulate": {
            "duration": 0.06, "dt": 0.01, "integrator": "semi_implicit",
            "controller": kt.control.PDGravityCompensation(POLE, np.zeros(2), kp=1.5, kd=0.1),
        },
        "measure": ["q_end", "path", "peak_torque"],
        "samples": 12,
        "chunk": 5,
        "client": False,
    }  # fmt: skip
    return kt.sweep(POLE, store=path, device=device, **(given | more))


@needs_compiler
@pytest.mark.skipif(not Target.host().fma, reason="without FMA in hardware the machine code rounds otherwise")
def test_the_same_store_as_on_the_cpu(monkeypatch, tmp_path):
    """All values, bit by bit; one kernel for all chunks. What the CPU began the device completes."""
    cupy = emulate(monkeypatch, tmp_path)
    expected = swept(tmp_path / "cpu.zarr", "cpu").data.load()
    run = swept(tmp_path / "cuda.zarr", "cuda")
    assert run.processors == ("cuda",) and not run.failures
    assert len(cupy.built) == 1
    assert len(cupy.launches) >= 3 * 6
    assert expected.equals(run.data.load())
    files, others = content(tmp_path / "cuda.zarr"), content(tmp_path / "cpu.zarr")
    assert {name for name in files if files[name] != others[name]} == {
        "zarr.json", "status/notes/0.json", "status/notes/1.json", "status/notes/2.json"
    }  # fmt: skip
    (tmp_path / "cpu.zarr" / "status" / "c.1").unlink()
    both = swept(tmp_path / "cpu.zarr", "cuda")
    assert both.computed == 1 and "cuda" in both.processors and len(both.processors) == 2
    assert expected.equals(both.data.load())


def test_without_a_device_nothing_is_begun(monkeypatch, tmp_path):
    """The error says what is missing, and there is no store."""
    emulate(monkeypatch, tmp_path, count=0)
    with pytest.raises(kt.errors.MissingDependencyError, match="sweep: device='cuda', but there is no CUDA device"):
        swept(tmp_path / "runs.zarr", "cuda")
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(kt.errors.MissingDependencyError, match="sweep: .*pip install cupy-cuda12x"):
        swept(tmp_path / "runs.zarr", "cuda")
    assert not (tmp_path / "runs.zarr").exists()
