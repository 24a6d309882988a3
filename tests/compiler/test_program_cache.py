"""Programs and machine code are shared by models of one structure, in this process and through the disk."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import function as function_module
from kinetree.compiler import program_cache as stored


@pytest.fixture
def counted_traces(monkeypatch):
    """How often a trace was made."""
    traces = []
    original = stored.trace
    monkeypatch.setattr(stored, "trace", lambda *args: traces.append(args) or original(*args))
    return traces


@pytest.fixture
def fresh_cache(monkeypatch, tmp_path):
    """An empty disk cache, and no machine code of this process."""
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(function_module, "_RECENT", {})
    return tmp_path


def test_models_of_one_structure_share_machine_code(counted_traces, fresh_cache):
    """Another mass: the same code with other numbers, and the results of a model built anew."""
    one = kt.models.pendulum(mass=1.5, length=0.7)
    other = kt.models.pendulum(mass=2.5, length=0.4)
    q, z = np.array([0.3]), np.zeros(1)
    a = kt.aba(one, q, z, z), kt.aba(other, q, z, z)
    assert len(counted_traces) == 1
    for model, found in zip((one, other), a, strict=True):
        with kt.interpreted():
            assert found == pytest.approx(kt.aba(model, q, z, z), rel=1e-13)


def test_a_later_process_finds_the_program_on_disk(counted_traces, fresh_cache, monkeypatch):
    """Without the code of this process, the program is read, not traced."""
    q, z = np.zeros(2), np.zeros(2)
    kt.aba(kt.models.double_pendulum(), q, z, z)
    monkeypatch.setattr(function_module, "_RECENT", {})
    kt.aba(kt.models.double_pendulum(), q, z, z)
    assert len(counted_traces) == 1


def test_a_damaged_program_is_traced_again(counted_traces, fresh_cache, monkeypatch):
    """Every file of the cache is overwritten; the answer stays right."""
    model, q, z = kt.models.double_pendulum(), np.array([0.2, 0.4]), np.zeros(2)
    expected = kt.aba(model, q, z, z)
    for file in fresh_cache.rglob("*.bin"):
        file.write_bytes(file.read_bytes()[:-7] + b"garbage")
    monkeypatch.setattr(function_module, "_RECENT", {})
    assert np.array_equal(kt.aba(kt.models.double_pendulum(), q, z, z), expected)
    assert len(counted_traces) == 2


def test_joints_of_a_user_are_always_traced(counted_traces, fresh_cache, monkeypatch):
    """Their source may change between processes under the same name."""

    class Turn(kt.joints.Revolute):
        pass

    def model():
        b = kt.ModelBuilder("own")
        b.add_body("link", joint=Turn((0, 0, 1)), mass=1.0, com=(0.2, 0, 0), inertia=np.eye(3))
        return b.build()

    kt.crba(model(), [0.1])
    monkeypatch.setattr(function_module, "_RECENT", {})
    kt.crba(model(), [0.1])
    assert len(counted_traces) == 2


def test_a_new_process_gives_the_same_bits(fresh_cache):
    """Two processes, the second from the cache: bit for bit the same accelerations."""
    script = (
        "import kinetree as kt, numpy as np; m = kt.load('arm7'); q = m.random_q(np.random.default_rng(0));"
        "print(kt.aba(m, q, np.ones(m.nv), np.zeros(m.nv)).tobytes().hex())"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout for _ in "ab"
    )
    assert first == second and len(first) > 100
