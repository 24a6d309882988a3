"""CUDA kernels without a device: the emitted source, run on the CPU thread by thread, gives the machine code's bits.

`cuda_shim.h` stands for CUDA. What it does not show is how CUDA's compiler and the device treat the source; that is
what ``python -m benchmarks.gpu`` verifies where there is one.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import CompilationError, ShapeError
from kinetree.export.cuda import CudaFunction, cuda_source, packed_params, to_cuda
from kinetree.export.cuda_source import SHARED, emit
from kinetree.native.engine import Target
from kinetree.native.kernel import Kernel
from kinetree.trace.program import Program
from tests.compiler.cuda_shim import COMPILER, ShimKernel
from tests.compiler.emulated_device import emulate, on_device
from tests.compiler.random_programs import assert_agree, random_program

STATES = 77  # two whole warps and a part of one
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="runs the emitted code through a C++ compiler")
BITWISE = Target.host().fma  # without FMA in hardware the machine code rounds otherwise


def robot_model(name):
    return kt.load(name, floating_base=name == "quadruped")


def run_both(f, dtype, folder, *, shared=(), backwards=False, **options):
    """The outputs of the emulated kernel and of the machine code for the same random states."""
    program = f.program
    source = cuda_source(f, dtype, shared=shared, **options)
    packed = packed_params(f, dtype)
    params = None if packed is None else packed["x"]
    rng = np.random.default_rng(5)
    arrays = [rng.standard_normal((1 if name in shared else STATES, *shape)) for name, shape in program.inputs]
    arrays = [x.astype(dtype) for x in arrays]
    found, status = ShimKernel(source, program, params, folder)(arrays, STATES, backwards)
    full = [np.ascontiguousarray(np.broadcast_to(x, (STATES, *x.shape[1:]))) for x in arrays]
    kernel = Kernel(program, dtype, False, None if packed is None else _numbers(f))
    expected = [np.full((STATES, *shape), np.nan, dtype) for _, shape in program.outputs]
    kernel.batch(full, expected, STATES)
    return found, expected, status


def _numbers(f):
    from kinetree.compiler.tracing import numbers_model

    return numbers_model(f.spec, f.model).number_values()


def assert_same(found, expected):
    for x, y in zip(found, expected, strict=True):
        assert np.isfinite(x).all()
        if BITWISE:
            np.testing.assert_array_equal(x, y)
        else:
            np.testing.assert_allclose(x, y, rtol=1e-3 if x.dtype == np.float32 else 1e-9, atol=1e-4)


@needs_compiler
@pytest.mark.parametrize(
    ("robot", "algorithm", "dtype", "options"),
    [
        ("arm7", "rnea", "float32", {}),
        ("arm7", "aba", "float64", {"part": 150}),
        ("quadruped", "aba", "float32", {}),
        ("quadruped", "crba", "float64", {"threads": 64}),  # rows of 324: in panels
        ("quadruped", "rnea", "float64", {"access": "direct"}),
        ("quadruped", "crba", "float32", {"part": 100, "checks": True}),
    ],
)
def test_emulated_kernel_gives_the_bits_of_the_cpu(robot, algorithm, dtype, options, tmp_path):
    """Rows staged or not, in panels, in parts, in both precisions: the same operations, so the same bits."""
    f = kt.compile(robot_model(robot), algorithm, checks=False)
    assert_same(*run_both(f, dtype, tmp_path, **options)[:2])


@needs_compiler
@pytest.mark.parametrize("law", ["rigid", pytest.param("hunt_crossley", marks=pytest.mark.sweep)])
def test_emulated_contact_steps_give_the_bits_of_the_cpu(law, tmp_path):
    """Of a box in the air, next to the ground, and in it; the kernel computes what machine code skips."""
    more = {} if law == "rigid" else {"law": law, "stiffness": 1e5, "dissipation": 0.3}
    box = kt.models.free_shape("box").with_contacts(ground=kt.collision.Ground(friction=0.5, **more))
    f, rng = kt.compile(box, "contact_step", checks=False), np.random.default_rng(1)
    q = rng.standard_normal((STATES, box.nq))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    q[:, 2] -= kt.collision.contact_gaps(box, q).min(axis=1) + rng.choice([-0.3, -1e-3, 1e-3], STATES)
    v, tau = rng.standard_normal((2, STATES, box.nv))
    given = {"q": q, "v": v, "impulses": 0.1 * np.abs(rng.standard_normal((STATES, 12))), "tau": tau, "dt": [[2e-3]]}
    arrays = [np.asarray(given[name], "float32").reshape(-1, *shape) for name, shape in f.program.inputs]
    source, params = cuda_source(f, "float32", shared=("dt",)), packed_params(f, "float32")["x"]
    found, _ = ShimKernel(source, f.program, params, tmp_path)(arrays, STATES)
    expected = f(*(x.astype("float32") for x in (q, v, given["impulses"], tau)), np.float32(2e-3))
    assert (np.abs(expected[2]).max(axis=1) > 0.0).sum() > 10
    assert_same(found, expected)


@needs_compiler
def test_order_of_threads_does_not_matter(tmp_path):
    """With a barrier missing, a lane would read what another has not written yet, in one of the two orders."""
    f = kt.compile(robot_model("quadruped"), "crba", checks=False)
    found, expected, _ = run_both(f, "float32", tmp_path, backwards=True)
    assert_same(found, expected)


@needs_compiler
def test_input_for_all_states_is_read_from_one_row(tmp_path):
    """An input in `shared` has one row, whatever the number of states."""
    f = kt.compile(robot_model("arm7"), "rnea", checks=False)
    assert_same(*run_both(f, "float64", tmp_path, shared=("v",))[:2])


@needs_compiler
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_operation(dtype, tmp_path):
    """Random programs over all operations, rows of all widths, agree with the interpreter in higher precision."""
    program, arrays, numbers = random_program(3, 400, dtype=dtype)
    (params,) = program.prologue.interpret([numbers])
    kernel = ShimKernel(emit(program, dtype, part=90, name=f"random_{dtype}"), program, params, tmp_path)
    found, _ = kernel(arrays, len(arrays[0]))
    wide = np.longdouble if dtype == "float64" else np.float64
    assert_agree(found, program.interpret([x.astype(wide) for x in arrays], numbers.astype(wide)), dtype)


@needs_compiler
@pytest.mark.parametrize("dtype, most", [("float64", 1023.9), ("float32", 127.9)])
def test_sines_of_angles_of_any_size(dtype, most, tmp_path):
    """The bits of the CPU for angles up to the largest numbers, NaN for what is not finite."""
    program = Program((("x", (1,)),), (("y", (2,)),), (("input", 0, 0), ("sin", 0), ("cos", 0)), ((1, 2),))
    rng = np.random.default_rng(8)
    x = 2.0 ** rng.uniform(-30, most, 256) * rng.choice([-1, 1], 256)
    x = np.append(x, [np.inf, -np.inf, np.nan, 0.0]).astype(dtype).reshape(-1, 1)
    kernel = ShimKernel(emit(program, dtype, name=f"far_{dtype}"), program, None, tmp_path)
    (found,), _ = kernel([x], len(x))
    expected = np.empty((len(x), 2), dtype)
    Kernel(program, dtype, False).batch([x], [expected], len(x))
    assert np.isnan(found[~np.isfinite(x[:, 0])]).all()
    if BITWISE:
        np.testing.assert_array_equal(found, expected)


@needs_compiler
def test_rows_that_would_share_a_bank_have_gaps(tmp_path):
    """Rows of 8 and 16 entries are moved entry by entry with a gap after each; nothing is lost."""
    code = (*(("input", 0, k) for k in range(16)), *(("input", 1, k) for k in range(8)))
    program = Program(
        inputs=(("x", (16,)), ("y", (8,))), outputs=(("z", (24,)),), code=code, results=(tuple(range(24)),)
    )
    source = emit(program, "float32", name="copy")
    assert "load<16, 17>" in source.text and "load<8, 9>" in source.text and "store<24, 25, 24>" in source.text
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((STATES, n)).astype("float32") for n in (16, 8))
    (z,), _ = ShimKernel(source, program, None, tmp_path)([x, y], STATES)
    np.testing.assert_array_equal(z, np.hstack([x, y]))


@needs_compiler
def test_status_reports_what_is_not_finite_and_which_check_fails(tmp_path):
    """Bit 0 for NaN or infinity, bit 1 + k for check k, of any state of the batch; 0 when all is well."""
    f = kt.compile(robot_model("quadruped"), "gravity_forces")
    assert len(f.program.checks) == 1  # the quaternion's length
    packed = packed_params(f, "float64")
    kernel = ShimKernel(cuda_source(f, "float64", checks=True), f.program, packed["x"], tmp_path)
    rng = np.random.default_rng(1)
    q = np.array([f.model.random_q(rng) for _ in range(STATES)])
    assert kernel([q], STATES)[1] == 0
    bad = q.copy()
    bad[40, -1] = np.inf
    assert kernel([bad], STATES)[1] & 1
    bad = q.copy()
    bad[-1, :7] *= 1.1
    assert kernel([bad], STATES)[1] == 2


def test_source_fits_every_device():
    """Static shared memory within 48 KB and whole warps, for long rows and both types."""
    for robot in ("arm7", "quadruped"):
        for dtype in ("float32", "float64"):
            source = cuda_source(kt.compile(robot_model(robot), "aba"), dtype)
            assert source.shared_bytes <= SHARED and source.threads % 32 == 0
            assert "#include" not in source.text  # NVRTC has no headers


def test_traffic_counts_every_entry_once():
    """q, v, a in and tau out."""
    f = kt.compile(robot_model("arm7"), "rnea")
    assert cuda_source(f, "float32").traffic == 4 * (9 + 9 + 9 + 9)
    assert cuda_source(f, "float64", shared=("q",)).traffic == 8 * 27


@pytest.mark.parametrize("options", [{"dtype": "float16"}, {"access": "magic"}, {"threads": 48}, {"threads": 4096}])
def test_impossible_options_are_refused(options):
    """The message names the option."""
    with pytest.raises(CompilationError, match="float16|magic|48 threads|4096 threads"):
        emit(kt.compile(robot_model("arm7"), "rnea").program, **options)


# Calls, with a stand-in for CuPy -----------------------------------------------------------------------------------


@pytest.fixture
def device(monkeypatch, tmp_path):
    """Functions on a device that is emulated."""
    emulate(monkeypatch, tmp_path)
    return to_cuda


@needs_compiler
def test_call_returns_device_arrays_or_fills_them(device):
    """Any leading axes, results new or in `out`; the values of the CPU."""
    f = kt.compile(robot_model("arm7"), "rnea")
    g = device(f)
    assert isinstance(g, CudaFunction)
    q, v, a = np.random.default_rng(2).uniform(-0.5, 0.5, (3, 4, 10, 9))
    out = on_device(np.full((4, 10, 9), np.nan))
    assert g(on_device(q), v=on_device(v), a=on_device(a), out=out) is out
    np.testing.assert_allclose(out, f(q, v, a), rtol=1e-12, atol=1e-12)


@needs_compiler
def test_call_explains_what_the_checks_found(device):
    """The entry and the state are named, as on the CPU."""
    g = device(kt.compile(kt.models.double_pendulum(), "rnea"))
    q = np.zeros((5, 2))
    q[3, 1] = np.nan
    with pytest.raises(kt.errors.NonFiniteError, match=r"batch index 3: q\[1\] is nan"):
        g(on_device(q), on_device(np.zeros((5, 2))), on_device(np.zeros((5, 2))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: np.asarray(x), "expected an array on a CUDA device"),
        (lambda x: on_device(x.astype(np.float32)), "v float32, a float64"),
        (lambda x: on_device(x[:, :1]), r"expected \(\.\.\., 2\)"),
        (lambda x: on_device(x[:3]), "must be equal, or absent"),
        (lambda x: on_device(np.zeros((5, 4)))[:, ::2], "not C-contiguous"),
    ],
)
def test_arrays_that_cannot_be_used_are_refused(device, change, message):
    """Nothing is copied or converted in silence."""
    g = device(kt.compile(kt.models.double_pendulum(), "rnea"))
    x = on_device(np.zeros((5, 2)))
    with pytest.raises(ShapeError, match=message):
        g(x, change(np.zeros((5, 2))), x)


def test_output_may_not_overlap_an_input(device):
    """Results are written before all inputs are read."""
    g = device(kt.compile(kt.models.double_pendulum(), "rnea"))
    x = on_device(np.zeros((5, 2)))
    with pytest.raises(ShapeError, match="overlaps"):
        g(x, x, x, out=x)


def test_without_cupy_the_error_says_what_to_install(monkeypatch):
    """The import is tried when a call needs it."""
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    with pytest.raises(kt.errors.MissingDependencyError, match="pip install cupy"):
        to_cuda(kt.compile(kt.models.double_pendulum(), "rnea"))(0, 0, 0)
