"""Generated C: compiled by GCC without a warning, it gives the library's results, bit for bit with fused products."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import CompilationError, UnknownNameError
from kinetree.export.c_code import Dialect, Routine, sincos_text
from kinetree.export.c_elementary import elementary_text
from kinetree.native.engine import Target
from kinetree.native.kernel import Kernel
from tests.compiler.random_programs import OPERATIONS, random_program
from tests.time_stepping.bodies import body

GCC, GXX = shutil.which("gcc"), shutil.which("g++")
with_gcc = pytest.mark.skipif(GCC is None, reason="no gcc on this machine")
STRICT = ("-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
FUSED = ("-DKT_FUSED=1", "-march=native", "-ffp-contract=off", "-fno-tree-slp-vectorize")
same_bits = pytest.mark.skipif(GCC is None or not Target.host().fma, reason="no gcc, or no fused multiply-add")


def run_harness(c, folder, *flags, compiler=GCC, standard="-std=c99"):
    """Compile the files and run the test program without timing; its output."""
    header, source, test = c.write(folder)
    program = folder / f"run_{c.name}"
    command = [compiler, standard, *STRICT, *flags, source, test, "-o", program, "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([program, "0"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def library_of(source, folder, name="f"):
    """The C text as a loaded shared library."""
    (folder / f"{name}.c").write_text(source)
    path = folder / f"{name}.so"
    command = [GCC, "-std=c99", *STRICT, *FUSED, "-shared", "-fPIC", folder / f"{name}.c", "-o", path, "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return ctypes.CDLL(str(path))


def loaded(c, folder):
    """The C function of a CSource, called with arrays."""
    c.write(folder)
    function = getattr(library_of(c.source, folder, c.name), c.name)
    return lambda *arrays: function(*(ctypes.c_void_p(x.ctypes.data) for x in arrays))


def rich_arm():
    """Friction, springs, stops of the file, a coupling, an axis off the coordinate axes, names that C does not like."""
    b = kt.ModelBuilder("rich */ arm??/")
    joint = kt.joints.Revolute
    parts = {"mass": 1.3, "com": (0.1, 0.02, -0.05), "inertia": np.diag([0.02, 0.03, 0.04])}
    b.add_body("a", joint=joint((0, 0, 1)), joint_name="int", damping=0.3, dry_friction=0.2, **parts)
    b.add_body(
        "b", "a", joint=joint((1, 2, 2)), joint_name="e-1", placement=((0.1, 0, 0.3), (0, 0, 0)), stiffness=2.0, **parts
    )
    b.add_body("c", "b", joint=joint((0, 1, 0)), joint_name="e 1", placement=((0.3, 0, 0), (0, 0, 0)), **parts)
    b.add_body("d", "c", joint=kt.joints.Prismatic((1, 0, 0)), joint_name="é", lower=-0.2, upper=0.5, **parts)
    b.add_coupling("e 1", "int", ratio=-0.5, offset=0.1)
    return b.build()


CASES = [
    ("arm7", "rnea", {}, {}),
    ("arm7", "crba", {}, {}),
    ("arm7", "aba", {}, {"parameters": "input"}),
    ("arm7", "aba", {}, {"dtype": "float32"}),
    ("arm7", "forward_kinematics", {}, {}),
    ("arm7", "jacobian", {"frame": "right_finger", "reference": "world"}, {}),
    ("humanoid", "aba", {"optional": ("f_ext",)}, {}),
    ("rich", "inverse_dynamics", {}, {}),
    ("rich", "semi_implicit_step", {}, {"dtype": "float32", "parameters": "input"}),
    ("quadruped", "integrate", {"checks": False}, {}),
    ("box on the ground", "contact_step", {}, {}),
    ("box on the ground", "contact_step", {}, {"dtype": "float32"}),
]


def model_of(name):
    """A model by the name that the cases use."""
    if name == "box on the ground":
        return body("box").with_contacts(ground=True)
    return rich_arm() if name == "rich" else kt.load(name)


@same_bits
@pytest.mark.parametrize("robot, algorithm, choices, options", CASES)
def test_results_are_the_bits_of_the_library(robot, algorithm, choices, options, tmp_path):
    """Test programs with the library's results, compiled with all warnings as errors."""
    model = model_of(robot)
    c = kt.export.to_c(kt.compile(model, algorithm, **choices), **options)
    said = run_harness(c, tmp_path, *FUSED)
    reframed = options.get("parameters") == "input" and model.reframed() is not model
    assert reframed or "the same bits as the library" in said


@with_gcc
@pytest.mark.parametrize("flags", [("-DKT_FUSED=0",), ("-DKT_FUSED=1",), ()])
def test_results_are_right_on_any_processor(flags, tmp_path):
    """Without fused products, with those that the C library emulates, and as the processor decides."""
    run_harness(kt.export.to_c(kt.compile(kt.load("humanoid"), "inverse_dynamics")), tmp_path, *flags)


@with_gcc
def test_sine_of_the_c_library_can_be_chosen(tmp_path):
    """No function of ours is in the text then, and results are right."""
    c = kt.export.to_c(kt.compile(kt.load("arm7"), "crba"), sincos="libm")
    assert "_sincos" not in c.source and "sin(q[" in c.source
    run_harness(c, tmp_path, *FUSED)


@pytest.mark.skipif(GXX is None, reason="no g++ on this machine")
@pytest.mark.parametrize("options", [{}, {"parameters": "input", "dtype": "float32"}])
def test_the_same_files_are_cpp(options, tmp_path):
    """As C++11 without a warning."""
    c = kt.export.to_c(kt.compile(rich_arm(), "forward_dynamics"), name="arm", **options)
    run_harness(c, tmp_path, "-x", "c++", compiler=GXX, standard="-std=c++11")


@same_bits
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_programs_agree_with_kernels(dtype, tmp_path):
    """Every operation, many parts, truth values that cross from one part to another: the kernel's bits and status."""
    real, c_type = {"float64": ("double", np.float64), "float32": ("float", np.float32)}[dtype]
    for seed in range(2):
        program, arrays, numbers = random_program(seed, 1500, dtype=dtype)
        kernel = Kernel(program, dtype, numbers=numbers)
        dialect = Dialect(real, own="own")
        names = (*(f"x{k}" for k in range(len(program.inputs))), *(f"y{k}" for k in range(len(program.outputs))))
        functions, declarations, body = Routine(program, "f", dialect, names, chunk=60).parts()
        assert len(functions) >= 8
        arguments = [f"const {real} *{name}" if name[0] == "x" else f"{real} *{name}" for name in names]
        text = "\n".join(
            ["#include <math.h>", dialect.preamble(), sincos_text("own_sincos", real)]
            + [elementary_text(dialect, set(OPERATIONS)), *functions]
            + [f"int f(const {real} *params, {', '.join(arguments)});"]
            + [f"int f(const {real} *params, {', '.join(arguments)})\n{{", *declarations, *body, "return status;\n}\n"]
        )
        f = library_of(text, tmp_path, f"{real}{seed}").f
        for s in range(40):
            state = [np.ascontiguousarray(a[s], dtype=c_type) for a in arrays]
            if s == 7:
                state[1][0, 1] = np.inf
            if s == 8:
                state[3][2] = 1e30
            found = [np.empty(shape, dtype) for _, shape in program.outputs]
            expected = tuple(np.empty(shape, dtype) for _, shape in program.outputs)
            status = f(*(ctypes.c_void_p(x.ctypes.data) for x in (kernel.params, *state, *found)))
            assert status == kernel.scalar(*state, out=expected)
            for x, y in zip(found, expected, strict=True):
                assert np.array_equal(x, y, equal_nan=True)


@same_bits
def test_sines_of_all_sizes_are_those_of_the_library(tmp_path):
    """Angles from 1e-300 to 1e308: the same bits in every quadrant."""
    model = kt.models.pendulum()
    f = kt.compile(model, "forward_kinematics", checks=False)
    call = loaded(kt.export.to_c(f), tmp_path)
    rng = np.random.default_rng(3)
    angles = np.concatenate([rng.uniform(-10, 10, 200), rng.standard_normal(600) * 10.0 ** rng.uniform(-300, 307, 600)])
    R, p = np.empty((model.nb, 3, 3)), np.empty((model.nb, 3))
    for x in (*angles, 0.0, 2.0**40, -(2.0**40), np.inf, np.nan, np.nextafter(2.0**40, 0)):
        assert call(np.array([x]), R, p) == 0
        expected = f(np.array([x]))
        assert np.array_equal(R, expected[0], equal_nan=True) and np.array_equal(p, expected[1], equal_nan=True)


@with_gcc
def test_status_is_that_of_the_library(tmp_path):
    """NaN, quaternions off the unit sphere, joints beyond limits, broken couplings: the kernel's bits."""
    b = kt.ModelBuilder.of(rich_arm())
    b.add_body("ball", "d", joint=kt.joints.Spherical(), mass=1.0, inertia=np.eye(3) * 0.1)
    model = b.build()
    f = kt.compile(model, "inverse_dynamics")
    call = loaded(kt.export.to_c(f, name="f"), tmp_path)
    kernel = f._kernel(np.dtype(float))
    rng = np.random.default_rng(5)
    seen = set()
    for trial in range(60):
        q, v = model.random_state(rng)
        a = model.random_state(rng)[1]
        if trial % 3:
            (q, v, a)[rng.integers(3)][rng.integers(model.nv)] += rng.choice([1e-9, 0.7, 30.0, np.nan, -np.inf])
        status = call(q, v, a, np.empty(model.nv))
        assert status == kernel.scalar(q, v, a, out=np.empty(model.nv))
        assert status or trial % 3 or np.isfinite(f(q, v, a)).all()
        seen.add(status)
    assert 0 in seen and any(status & 1 for status in seen) and len(seen) > 4


@same_bits
def test_changed_numbers_give_the_changed_robot(tmp_path):
    """Other masses through prepare(): the bits of the library for a model with these masses."""
    model = kt.load("arm7")
    f = kt.compile(model, "aba")
    c = kt.export.to_c(f, parameters="input")
    header, source, _ = c.write(tmp_path)
    library = library_of(c.source, tmp_path, c.name)
    numbers = model.numbers()
    changed = numbers.values.copy()
    for k, name in enumerate(numbers.names):
        if name.endswith(".mass") or name == "gravity.z":
            changed[k] *= 1.25
    heavy = model.with_numbers(changed)
    rng = np.random.default_rng(0)
    q, v = model.random_state(rng)
    tau = rng.standard_normal(model.nv)
    size = re.search(r"arm7_aba_params_size = (\d+)", c.header)
    params, a = np.empty(int(size[1])), np.empty(model.nv)
    pointer = lambda *arrays: [ctypes.c_void_p(x.ctypes.data) for x in arrays]  # noqa: E731
    assert library.arm7_aba_prepare(*pointer(changed, params)) == 0
    assert library.arm7_aba(*pointer(q, v, tau, params, a)) == 0
    if model.reframed() is model:
        expected = np.empty(model.nv)
        f._kernel(np.dtype(float)).with_numbers(changed).scalar(q, v, tau, out=expected)
        assert np.array_equal(a, expected)
    assert not np.allclose(a, f(q, v, tau))
    scalars = [np.asarray(x) for x in f.spec.function(heavy, list(q), list(v), list(tau))]
    np.testing.assert_allclose(a, scalars, rtol=0, atol=1e-11 * np.abs(a).max())  # the interpreted algorithm

    structure = numbers.free.index(False)
    changed[structure] = 0.5
    assert library.arm7_aba_prepare(*pointer(changed, params)) == 2
    changed[numbers.names.index("gravity.z")] = np.nan
    assert library.arm7_aba_prepare(*pointer(changed, params)) == 3


@with_gcc
def test_a_prologue_of_several_parts(tmp_path):
    """What depends on the numbers of a chain is more than one C function computes; the parts together are right."""
    f = kt.compile(kt.models.chain_gu(16), "rnea")
    c = kt.export.to_c(f, parameters="input")
    assert c.source.count("_prepare_part") > 2
    run_harness(c, tmp_path, "-O0")


def test_a_source_shows_itself_in_a_line():
    """In a console the texts are not printed; each file names itself."""
    c = kt.export.to_c(kt.compile(kt.models.pendulum(), "rnea"))
    assert len(repr(c)) < 300 and "pendulum_rnea" in repr(c)
    assert all(f" * {name}: rnea of" in text for name, text in c.files.items())
    assert len(repr(kt.export.cuda_source(kt.compile(kt.models.pendulum(), "rnea")))) < 300


def test_names_of_any_kind_become_different_identifiers():
    """Keywords, other scripts, equal after cleaning: the header's constants are distinct C identifiers."""
    header = kt.export.to_c(kt.compile(rich_arm(), "rnea")).header
    constants = re.findall(r"^    (\w+) = (\d+)", header, re.MULTILINE)
    names = [name for name, _ in constants]
    assert len(set(map(str.lower, names))) == len(names)
    assert ("rich_arm_rnea_q_e_1", "1") in constants and ("rich_arm_rnea_q_e_1_2", "2") in constants
    assert ("rich_arm_rnea_q_e", "3") in constants and ("rich_arm_rnea_q_int", "0") in constants


def test_the_header_says_what_every_entry_is():
    """Index, coordinate, joint kind and unit of joint-space arrays; rows and columns of matrices."""
    header = kt.export.to_c(kt.compile(kt.load("quadruped", floating_base=True), "aba", optional=("f_ext",))).header
    model = kt.load("quadruped", floating_base=True)
    for k, (label, unit) in enumerate(zip(model.position_labels, model.position_units, strict=True)):
        assert re.search(rf"\[{k}\] {re.escape(label)} \(\w+\) \[{re.escape(unit)}\]", header)
    assert "along index j: 0 moment x, 1 moment y" in header
    for i, name in enumerate(model.body_names):
        assert f"[{6 * i}..{6 * i + 5}] row {i}: {name}" in header
    label = model.position_labels[3]
    assert f"2: unit quaternions violated, by q[3] ({label})" in header


def test_source_needs_nothing_but_math_h():
    """One include besides its own header, no allocation, no variable that outlives a call."""
    source = kt.export.to_c(kt.compile(kt.load("humanoid"), "forward_dynamics"), parameters="input").source
    assert re.findall(r"#include (.*)", source) == ["<math.h>", '"humanoid_forward_dynamics.h"']
    assert not re.search(r"alloc|\bfree\b", source)
    assert all("const" in line or "(" in line for line in source.splitlines() if line.startswith("static"))
    assert source.isascii()


def test_text_is_the_same_in_every_process():
    """No trace of time, paths or hash seeds: a generated file changes only if the model does."""
    script = (
        "import kinetree as kt, hashlib, sys;"
        "c = kt.export.to_c(kt.compile(kt.load('arm7'), 'inverse_dynamics'), parameters='input');"
        "print(hashlib.sha256((c.header + c.source + c.test).encode()).hexdigest())"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ, **seed}
        ).stdout
        for seed in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
    }
    assert len(texts) == 1


@pytest.mark.parametrize("name", ["2fast", "double", "a b", "", "sin", "ä"])
def test_impossible_function_names_are_refused(name):
    """The message proposes an identifier."""
    with pytest.raises(CompilationError, match="no name for a C function; try '[A-Za-z]"):
        kt.export.to_c(kt.compile(kt.models.pendulum(), "crba"), name=name)


@pytest.mark.parametrize("option", ["dtype", "parameters", "sincos"])
def test_unknown_options_are_refused(option):
    """With the known ones."""
    with pytest.raises(UnknownNameError, match="Known: "):
        kt.export.to_c(kt.compile(kt.models.pendulum(), "crba"), **{option: "other"})


@with_gcc
def test_a_robot_that_cannot_move_has_source(tmp_path):
    """Arrays of no entries, enums without coordinates."""
    b = kt.ModelBuilder("statue")
    b.add_body("stone", joint=kt.joints.Revolute((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    model = kt.surgery.lock(b.build(), {"stone": 0.0})
    run_harness(kt.export.to_c(kt.compile(model, "forward_kinematics")), tmp_path)


def run(*arguments):
    """The command line in this process."""
    from typer.testing import CliRunner

    from kinetree.cli import app

    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_codegen_writes_what_the_function_gives(tmp_path):
    """Two functions of a robot with a free base, in single precision; names, counts and sizes are printed."""
    result = run(
        *("codegen", "quadruped", "--floating-base", "--function", "aba", "-f", "jacobian", "--float", "--lang", "c"),
        *("--frame", "trunk", "--reference", "world", "--parameters", "input", "-o", tmp_path / "new"),
    )
    assert result.exit_code == 0, result.output
    model = kt.load("quadruped", floating_base=True)
    for f in (kt.compile(model, "aba"), kt.compile(model, "jacobian", frame="trunk", reference="world")):
        c = kt.export.to_c(f, dtype="float32", parameters="input")
        for name, text in c.files.items():
            assert (tmp_path / "new" / name).read_text() == text
            assert f"{name}, {len(text)} bytes" in result.stdout
        assert f"{c.name}: {f.operations.total} operations" in result.stdout
    assert len(list((tmp_path / "new").iterdir())) == 6


def test_codegen_of_several_quantities_as_one(tmp_path):
    """Commas stand between the quantities; choices behind names or as options; C gives the library's bits."""
    result = run("codegen", "arm7", "-f", "rnea,crba,jacobian:tool", "--reference", "world", "-o", tmp_path / "new")
    assert result.exit_code == 0, result.output
    f = kt.compile(kt.load("arm7"), ["rnea", "crba", "jacobian:tool:world"])
    assert f"arm7_rnea_crba_jacobian_tool_world: {f.operations.total} operations" in result.stdout
    assert len(list((tmp_path / "new").iterdir())) == 3
    run_harness(kt.export.to_c(f), tmp_path)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("-f", "jacobian"), "jacobian needs --frame and --reference"),
        (("-f", "rnea,jacobian:tool"), "jacobian:tool needs --reference"),
        (("-f", "rnea,rnea"), "the quantity 'rnea' is in the list twice"),
        (("-f", "abba"), "no algorithm named 'abba'"),
        (("-f", "aba", "--lang", "cobol"), "no such language; known: c"),
        (("-f", "aba", "--parameters", "some"), "Known: baked, input"),
        (("-f", "aba", "--optional", "fext"), "no optional input named 'fext' in aba. Did you mean 'f_ext'"),
        (("-f", "aba", "-f", "crba", "--frame", "hand"), "--frame hand: none of aba, crba takes it"),
    ],
)
def test_codegen_says_what_is_missing(tmp_path, arguments, message):
    """Exit code 2, one line, and no file."""
    result = run("codegen", "arm7", *arguments, "-o", tmp_path / "new")
    assert result.exit_code == 2 and message in result.stderr
    assert not (tmp_path / "new").exists()
