"""The scalar and the SIMD variant: each is compiled when it is first needed, and both give the same bits."""

import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree.native import cache, variants
from kinetree.native.kernel import Kernel
from tests.compiler.random_programs import random_program, run_batch, run_scalar


@pytest.fixture(autouse=True)
def compiled(tmp_path, monkeypatch):
    """What this test compiles: the variants, in order. The cache is empty, the drivers of the process are there."""
    kt.rnea(kt.models.pendulum(), [0.0], [0.0], [0.0])
    monkeypatch.setenv("KINETREE_CACHE", "1")
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    found = []
    ir = variants.Variants.ir
    monkeypatch.setattr(variants.Variants, "ir", lambda self, variant: found.append(variant) or ir(self, variant))
    return found


@pytest.fixture
def arm():
    """A structure that no other test compiles: machine code is shared within a process."""
    return kt.models.chain_gu(4).replace(gravity=(0.0, 0.25, -9.0))


def states(model, n):
    rng = np.random.default_rng(4)
    return [rng.standard_normal((n, model.nv)) for _ in range(3)]


def bits(arrays):
    """The bytes of some arrays."""
    return [np.asarray(x).tobytes() for x in arrays]


def stored():
    """Entries of the cache."""
    return cache.usage().entries


def test_a_single_call_compiles_the_scalar_variant_only(arm, compiled):
    """And a batch the SIMD variant only, later; each is one entry of the cache beside the program's own."""
    q, v, a = states(arm, 20)
    f = kt.compile(arm, "rnea", checks=False)
    single = f(q[3], v[3], a[3])
    assert compiled == ["scalar"] and stored() == 2
    many = f(q, v, a)
    assert compiled == ["scalar", "batch"]
    assert many[3].tobytes() == single.tobytes()
    assert set(f.seconds) == {"trace float64", "compile float64", "compile float64 batch"}
    f(q[3], v[3], a[3])
    f(q, v, a)
    assert compiled == ["scalar", "batch"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_batch_compiles_the_simd_variant_only(compiled, dtype):
    """Whatever its size, and when one array holds for all states."""
    model = kt.models.chain_gu(3 if dtype == "float64" else 5)
    arrays = [x.astype(dtype) for x in states(model, 20)]
    f = kt.compile(model, "aba", checks=False)
    expected = f(*arrays)
    assert f(*(x[:3] for x in arrays)).tobytes() == expected[:3].tobytes()
    assert f(arrays[0][0], *arrays[1:]).shape == (20, model.nv)
    assert f(*(x.tolist() for x in arrays)).dtype == np.float64
    assert set(compiled) == {"batch"}
    assert f(*(x[5] for x in arrays)).tobytes() == expected[5].tobytes()
    assert compiled.count("scalar") == 1


def test_a_batch_of_one_takes_the_form_that_is_there(compiled):
    """It is one state: the scalar variant is faster, but is not compiled for it where the SIMD variant is there."""
    program, arrays, numbers = random_program(41, 200)
    kernel = Kernel(program, numbers=numbers)
    _, alone = run_batch(kernel, arrays, 1)
    assert compiled == ["scalar"]
    kernel = Kernel(program, numbers=numbers, checks=False)
    _, many = run_batch(kernel, arrays, 9)
    _, one = run_batch(kernel, arrays, 1)
    assert compiled == ["scalar", "batch"]
    assert bits(one) == bits(x[:1] for x in many) == bits(alone)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed", [51, 52])
def test_tiles_that_are_not_full(seed, dtype):
    """2, 3, ... states, one more than a tile and so on: the scalar variant's bits, nothing beside the rows written."""
    program, arrays, numbers = random_program(seed, 300, dtype=dtype)
    kernel = Kernel(program, dtype, numbers=numbers)
    expected = run_scalar(kernel, arrays, 2 * kernel.lanes + 1)
    for n in range(1, 2 * kernel.lanes + 2):
        _, found = run_batch(kernel, arrays, n)  # with guarded rows
        assert bits(found) == bits(y[:n] for y in expected)


def test_few_states_with_an_input_that_all_share():
    """A stride of zero in a tile that is not full; NaN in a row that is there is noticed, in any later one not."""
    program, arrays, numbers = random_program(53, 200)
    kernel = Kernel(program, numbers=numbers)
    strides = [x[0].size for x in arrays]
    strides[1] = 0
    shared = [arrays[0], np.broadcast_to(arrays[1][:1], arrays[1].shape).copy(), *arrays[2:]]
    _, expected = run_batch(kernel, shared, 20)
    arrays[0][3] = np.nan
    status, found = run_batch(kernel, arrays, 3, strides)
    assert bits(found) == bits(y[:3] for y in expected) and not status & 1
    arrays[0][2] = np.nan
    assert run_batch(kernel, arrays, 3, strides)[0] & 1


def test_threads_that_need_a_form_at_once_compile_it_once(compiled):
    """One compiles, the others wait for it; another form may be compiled meanwhile."""
    program, arrays, numbers = random_program(61, 400)
    kernel = Kernel(program, numbers=numbers)
    start, found = threading.Barrier(6), []

    def work(k):
        start.wait()
        found.append(run_scalar(kernel, arrays, 20) if k % 2 else run_batch(kernel, arrays, 20)[1])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(compiled) == ["batch", "scalar"]
    assert len({tuple(bits(outs)) for outs in found}) == 1


def test_kernels_with_other_numbers_share_the_forms(compiled):
    """What one of them compiled, the others have, the builtin for batches included."""
    program, arrays, numbers = random_program(62, 200)
    first = Kernel(program, numbers=numbers, checks=False)
    second = first.with_numbers(numbers * 1.01)
    given = [x[:9].copy() for x in arrays]
    assert second.batch_entry(*given) is NotImplemented  # nothing is there yet
    run_batch(first, arrays, 9)
    _, expected = run_batch(second, arrays, 9)
    assert bits(second.batch_entry(*given)) == bits(expected)
    assert compiled == ["batch"]


def test_each_form_comes_back_from_the_disk(compiled):
    """With the same bits; a form that was never needed is not there."""
    program, arrays, numbers = random_program(63, 200)
    expected = run_batch(Kernel(program, numbers=numbers), arrays, 20)[1]
    kernel = Kernel(program, numbers=numbers)
    assert not kernel.cached
    found = run_batch(kernel, arrays, 20)[1]
    assert kernel.cached and bits(found) == bits(expected)
    run_scalar(kernel, arrays, 2)
    assert not kernel.cached and compiled == ["batch", "scalar"]
