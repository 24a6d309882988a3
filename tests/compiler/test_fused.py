"""Several quantities in one function: what each gives alone, for fewer operations, in every form of a function."""

from __future__ import annotations

import dataclasses
import functools
import pickle
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import ALGORITHMS, Spec, algorithm
from kinetree.compiler import program_cache as stored
from kinetree.compiler.calls import public_call
from kinetree.compiler.fused import fused_spec, quantities
from kinetree.compiler.tracing import numbers_model, trace
from kinetree.errors import DuplicateNameError, NonFiniteError, QuaternionError, ShapeError, UnknownNameError
from kinetree.joints import Free, Prismatic, Revolute, Spherical
from kinetree.native import kernel as kernel_module
from kinetree.native import variants

STATIC = {"frame": "tool", "reference": "local_world_aligned", "kind": "spatial", "axes": "world", "forward": (1,)}
STATIC |= {"independent": None, "actuated": None}
NAMES = sorted(ALGORITHMS)
# Those that solve with the mass matrix lose what its condition takes (50 at most here); others are sums of products.
TOLERANCE = 1e-13
I = np.array([[0.11, 0.01, 0.02], [0.01, 0.22, -0.03], [0.02, -0.03, 0.25]])
BODY = {"mass": 1.3, "com": (0.1, 0.2, -0.1), "inertia": I}
PLACE = ((0.3, 0.1, -0.2), (0.1, 0.2, 0.3))


def dressed(builder):
    """The model with a frame, and with springs, dampers and friction so that no algorithm is idle."""
    builder.add_frame("tool", "arm", ((0.1, 0.2, 0.3), (0.3, 0.2, 0.1)))
    model = builder.build()
    rng = np.random.default_rng(1)
    return model.replace(**{x: rng.uniform(0.1, 1.0, model.nv) for x in ("damping", "stiffness", "dry_friction")})


@functools.cache
def small():
    """Two bodies whose joints are re-framed: a ball, and an axis off the coordinate axes."""
    b = kt.ModelBuilder("small")
    b.add_body("head", "world", Spherical(), **BODY)
    b.add_body("arm", "head", Revolute((0.6, 0.0, -0.8)), placement=PLACE, **BODY)
    return dressed(b)


@functools.cache
def machine():
    """A free trunk with three limbs."""
    b = kt.ModelBuilder("machine")
    b.add_body("trunk", "world", Free(), **BODY)
    b.add_body("arm", "trunk", Revolute((0.6, 0.64, 0.48)), placement=PLACE, **BODY)
    b.add_body("leg", "trunk", Prismatic((1.0, 0.0, 0.0)), placement=PLACE, **BODY)
    b.add_body("head", "arm", Spherical(), placement=PLACE, **BODY)
    return dressed(b)


def inputs_of(model, n=11, seed=3):
    """Arrays for every name of an input."""
    rng = np.random.default_rng(seed)
    q = np.array([model.random_q(rng) for _ in range(n)])
    v, a, tau, dv, xi = rng.standard_normal((5, n, model.nv))
    with kt.interpreted():
        M = kt.crba(model, q)
        factors = kt.dynamics.articulated_factorization(model, q)
    return {
        "q": q, "v": v, "a": a, "tau": tau, "tau_joints": tau[:, model.nv_base :],
        "a_joints": a[:, model.nv_base :], "dv": dv, "xi": 0.3 * xi, "q0": q, "q1": q[::-1].copy(),
        "dt": np.linspace(1e-3, 2e-3, n), "f_ext": rng.standard_normal((n, model.nb, 6)),
        "y": rng.standard_normal((n, model.nb, 6)), "wrenches": rng.standard_normal((n, model.nb, 6)),
        "impulses": np.zeros((n, model.n_impulses)), "x": a, "b": tau, "M": M, "L": np.tril(M),
        "D": np.diagonal(M, axis1=-2, axis2=-1), "diagonal": rng.uniform(0.1, 1.0, (n, model.nv)),
        "body_terms": np.tile(np.diag([1.0, 2, 3, 4, 5, 6]) + 0.1, (n, model.nb, 1, 1)),
        "q_d": q[::-1].copy(), "v_d": tau, "a_d": dv, "kp": M, "kd": M, "stiffness": M, "damping": M,
        "R_d": np.linalg.qr(rng.standard_normal((n, 3, 3)))[0], "p_d": rng.standard_normal((n, 3)),
        "V_d": rng.standard_normal((n, 6)), "frame_stiffness": np.tile(np.diag([1.0, 2, 3, 4, 5, 6]), (n, 1, 1)),
        "frame_damping": np.tile(np.eye(6), (n, 1, 1)), "a_independent": a[:, : model.ny], "weights": tau**2 + 1.0,
        "multipliers": tau[:, : model.nc],
        **factors._asdict(),
    }  # fmt: skip


def static_of(*names):
    """The static choices that some of the algorithms take."""
    return {key: value for key, value in STATIC.items() if any(key in ALGORITHMS[name].static for name in names)}


def alone(model, name, arrays, **optional):
    """What a plain call gives."""
    spec = ALGORITHMS[name]
    given = {x: arrays[x] for x in spec.inputs} | {x: y for x, y in optional.items() if x in spec.optional}
    return public_call(name)(model, **given, **static_of(name))


def flat(result):
    return list(result) if isinstance(result, tuple) else [result]


def assert_close(found, expected, tolerance=TOLERANCE):
    """Equality of all arrays of two results, relative to the largest entry of each array."""
    for x, y in zip(flat(found), flat(expected), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=0.0, atol=tolerance * max(1.0, np.abs(y).max(initial=0.0)))


@pytest.fixture
def nothing_compiles(monkeypatch):
    """Tracing and compiling raise."""

    def refuse(*args, **named):
        raise AssertionError("something was compiled or traced")

    monkeypatch.setattr(variants, "assemble", refuse)
    monkeypatch.setattr(variants.Variants, "ir", refuse)
    monkeypatch.setattr(stored, "trace", refuse)


# Equal to the quantities alone ----------------------------------------------------------------------------------------


@functools.cache
def program_of(*names):
    """The fused program of algorithms for the small model."""
    return trace(fused_spec(quantities(small(), list(names), static_of(*names))), small())


@functools.cache
def values_alone(name):
    """The arrays of one algorithm for the small model, a batch of states, and its program."""
    return flat(alone(small(), name, inputs_of(small())))


def cost(program):
    """Operations, each sine with its cosine and each division for several: a pair may divide once, and multiply."""
    found = program.operations
    return found.total + 20 * found["sincos"] + 3 * found.divisions


@functools.cache
def cost_alone(name, frames):
    """The cost of one algorithm in the frames that a pair has chosen: those of the user, or re-framed ones."""
    spec = fused_spec(quantities(small(), [name], static_of(name)))
    return cost(trace(dataclasses.replace(spec, body_frames=frames), small()))


@pytest.mark.parametrize("every", [53, pytest.param(1, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_with_every_other(name, every):
    """A pair gives a batch of what its two algorithms give, and never costs more than both in the same frames."""
    arrays, place = inputs_of(small()), NAMES.index(name)
    for other in NAMES[place + 1 + place % every :: every]:
        program = program_of(name, other)
        spec = fused_spec(quantities(small(), [name, other], static_of(name, other)))
        found = program.interpret([arrays[x] for x, _ in program.inputs], numbers_model(spec, small()).number_values())
        assert_close(tuple(found), (*values_alone(name), *values_alone(other)))
        assert cost(program) <= cost_alone(name, spec.body_frames) + cost_alone(other, spec.body_frames), other


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.sweep)])
def test_all_algorithms_at_once(dtype):
    """The whole registry in one function: a named tuple by quantity, each as its own call gives it."""
    model = small()
    f = kt.compile(model, NAMES, **STATIC)
    arrays = {name: x.astype(dtype) for name, x in inputs_of(model).items()}
    found = f(**{name: arrays[name] for name in f.input_names})
    assert list(found._fields) == NAMES
    for name in NAMES:
        result, expected = getattr(found, name), alone(model, name, arrays)
        assert type(result) is type(expected)
        assert all(x.dtype == dtype for x in flat(result))
        # Single precision: the rounding of both, times the condition of what they solve with.
        assert_close(result, expected, TOLERANCE if dtype == "float64" else 2e-4)
    alone_in_all = sum(kt.compile(model, name, **static_of(name)).operations.total for name in NAMES)
    assert f.operations.total < 0.75 * alone_in_all


COMMON = {
    "dynamics and a Jacobian": ["rnea", "crba", "jacobian:tool:world"],
    "a model and its derivatives": ["rnea", "crba", "rnea_derivatives"],
    "forward dynamics and its derivatives": ["aba", "aba_derivatives"],
    "task space": ["pose:tool", "jacobian:tool:local_world_aligned", "jacobian_rate:tool:local_world_aligned"],
    "all frames": ["frame_transforms", "frame_velocities:world", "frame_jacobians:world"],
    "centroidal": ["center_of_mass", "centroidal_momentum_matrix", "center_of_mass_jacobian", "crba"],
}
SAVED = {  # the share of operations that must be saved
    "dynamics and a Jacobian": 0.0, "a model and its derivatives": 0.1, "forward dynamics and its derivatives": 0.1,
    "task space": 0.4, "all frames": 0.4, "centroidal": 0.3,
}  # fmt: skip


@pytest.mark.parametrize("what", COMMON)
def test_common_work_is_done_once(what):
    """Sets that are asked for together cost clearly less than their parts."""
    f = kt.compile(machine(), COMMON[what])
    parts = [kt.compile(machine(), name).operations for name in COMMON[what]]
    assert f.operations.total <= (1.0 - SAVED[what]) * sum(part.total for part in parts)
    assert f.operations["sincos"] < sum(part["sincos"] for part in parts)


@pytest.mark.parametrize("optional", [(), ("f_ext",)])
def test_dynamics_beside_their_derivatives(optional):
    """rnea, crba and aba are taken from what the derivatives computed, external forces included."""
    model, arrays = machine(), inputs_of(machine())
    given = {x: arrays[x] for x in optional}
    names = ["rnea", "aba", "rnea_derivatives", "crba", "aba_derivatives"]
    f = kt.compile(model, names, optional=optional)
    assert f.input_names == ("q", "v", "a", "tau", *optional)
    found = f(*(arrays[x] for x in f.input_names))
    for name in names:
        assert_close(getattr(found, name), alone(model, name, arrays, **given))


# The form of a function -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def f():
    return kt.compile(machine(), ["rnea", "kinetic_energy", "frame_poses", "jacobian:tool"], reference="world")


@pytest.fixture(scope="module")
def arrays():
    return [inputs_of(machine())[name] for name in ("q", "v", "a")]


def test_inputs_and_results_are_named(f, arrays):
    """Inputs in the order in which they first appear; results by the text of the list, several outputs nested."""
    assert f.input_names == ("q", "v", "a")
    assert f.output_names == ("rnea", "kinetic_energy", "frame_poses_R_WF", "frame_poses_p_WF", "jacobian_tool")
    result = f(*(x[0] for x in arrays))
    assert result._fields == ("rnea", "kinetic_energy", "frame_poses", "jacobian_tool")
    assert result.frame_poses._fields == ("R_WF", "p_WF") and type(result.kinetic_energy) is np.float64
    assert kt.compile(machine(), ["jacobian:tool:world", "jacobian:tool:local"])(arrays[0])._fields == (
        "jacobian_tool_world", "jacobian_tool_local")  # fmt: skip


def test_names_of_frames_become_identifiers():
    """Any text may name a frame, colons, choices and other scripts included; fields stay different."""
    b = kt.ModelBuilder("odd names")
    b.add_body("arm", "world", Revolute((0.0, 0.0, 1.0)), **BODY)
    for k, name in enumerate(("left-tip", "left tip", "a:b:world", "local", "2")):
        b.add_frame(name, "arm", ((float(k), 0.0, 0.0), (0.0, 0.0, 0.0)))
    model = b.build()
    texts = ["pose:left-tip", "pose:left tip", "jacobian:a:b:world:local", "jacobian:local:world",
             "pose:2", "velocity:world:world"]  # fmt: skip
    result = kt.compile(model, texts)([0.3], [1.0])
    assert result._fields == (
        "pose_left_tip", "pose_left_tip_2", "jacobian_a_b_world_local", "jacobian_local_world", "pose_2",
        "velocity_world_world",
    )  # fmt: skip
    expected = kt.jacobian(model, [0.3], frame="a:b:world", reference="local")
    assert np.array_equal(result.jacobian_a_b_world_local, expected)


def test_one_name_with_choices_is_that_algorithm(arrays):
    """Outside a list, choices behind the name are keywords."""
    g = kt.compile(machine(), "jacobian:tool:world")
    assert g.name == "jacobian" and g.static == {"frame": "tool", "reference": "world"}
    assert np.array_equal(g(arrays[0]), kt.jacobian(machine(), arrays[0], frame="tool", reference="world"))


def test_a_list_of_one(arrays):
    """Gives a tuple of one, whatever the length of a list."""
    g = kt.compile(machine(), ["crba"])
    for q in (arrays[0], arrays[0][0], arrays[0].astype(np.float32), arrays[0].tolist()):
        (M,) = g(q)
        assert np.array_equal(g(q).crba, M)
        assert_close(M, kt.crba(machine(), q))
    assert g(arrays[0], out=g(arrays[0])).crba.shape == (11, machine().nv, machine().nv)


def test_out_is_filled(f, arrays):
    """``out=`` takes the arrays in a row, or a result of before; nothing else is allocated."""
    whole = f(*arrays)
    rows = tuple(np.full_like(x, np.nan) for x in (whole[0], whole[1], *whole.frame_poses, whole[3]))
    filled = f(*arrays, out=rows)
    assert filled.frame_poses.p_WF is rows[3] and np.array_equal(rows[3], whole.frame_poses.p_WF)
    again = f(*(x[::-1].copy() for x in arrays), out=filled)
    assert again.rnea is rows[0] and np.array_equal(rows[0], f(*arrays).rnea[::-1])
    one = tuple(x[0].copy() if x[0].ndim else np.zeros(()) for x in rows)
    assert f(*(x[0] for x in arrays), out=one).kinetic_energy is one[1]
    with pytest.raises(ShapeError, match=r"out needs a tuple of 5 arrays \(rnea, kinetic_energy, frame_poses_R_WF"):
        f(*arrays, out=rows[:3])


def test_the_same_bits_one_by_one_and_in_threads(f, arrays, monkeypatch):
    """Single calls, batches and batches in several threads."""
    whole = flat(f(*arrays)[2]) + [f(*arrays)[0]]
    rows = [f(*row) for row in zip(*arrays, strict=True)]
    assert np.array_equal(whole[1], [row.frame_poses.p_WF for row in rows])
    assert np.array_equal(whole[2], [row.rnea for row in rows])
    monkeypatch.setattr(kernel_module, "WORTH", 0.0)
    monkeypatch.setattr(kernel_module, "BLOCK", 100.0)
    shared = kt.compile(machine(), ["rnea", "frame_poses"], threads=3)
    many = [np.tile(x, (50, 1)) for x in arrays]
    assert np.array_equal(shared(*many).rnea[-11:], whole[2])


def test_interpreted(f, arrays):
    """In extended precision the same source runs without machine code."""
    exact = f(*(x.astype(np.longdouble) for x in arrays))
    assert exact.frame_poses.R_WF.dtype == np.longdouble
    found = f(*arrays)
    for name in found._fields:
        assert_close(getattr(found, name), getattr(exact, name))


def test_checks(f, arrays):
    """The errors of the parts, with the name of the whole; a domain that several share is checked once."""
    bad = [x.copy() for x in arrays]
    bad[2][4, 1] = np.nan
    with pytest.raises(NonFiniteError, match=r"rnea\+kinetic_energy\+frame_poses\+jacobian\(tool, world\) at batch"):
        f(*bad)
    with pytest.raises(QuaternionError, match=r"has length 2"):
        f(2.0 * arrays[0], *arrays[1:])
    assert len(f.spec.domains) == 1
    free = kt.compile(machine(), ["rnea", "crba"], checks=False)
    assert np.isnan(free(*bad).rnea[4]).any() and np.isfinite(free(*bad).crba).all()


def test_other_numbers(f, arrays):
    """with_parameters: one set, and a set for every state."""
    moon = f.with_parameters({"gravity.z": -1.62})
    other = machine().replace(gravity=(0.0, 0.0, -1.62))
    assert_close(moon(*arrays).rnea, kt.rnea(other, *arrays))
    assert np.array_equal(moon(*arrays).frame_poses.R_WF, f(*arrays).frame_poses.R_WF)
    gravity = np.linspace(-1.0, -9.0, 11)
    many = f.with_parameters({"gravity.z": gravity})(*arrays)
    assert_close(many.rnea[3], f.with_parameters({"gravity.z": gravity[3]})(*(x[3] for x in arrays)).rnea)
    assert many._fields == f(*arrays)._fields and many.kinetic_energy.shape == (11,)


def test_offsets_that_break_a_zero_of_turned_frames(arrays):
    """Other offsets of joints leave the frames in which the code computes; poses follow."""
    numbers = machine().numbers()
    change = {n: x + 0.07 for n, x in zip(numbers.names, numbers.values, strict=True) if ".r." in n and x != 0.0}
    f = kt.compile(machine(), ["rnea", "forward_kinematics", "frame_transforms"])
    g = f.with_parameters(change)
    expected = kt.kinematics.frame_transforms(g.model, arrays[0])
    assert_close(g(*arrays).frame_transforms, expected)
    assert_close(g(*arrays).forward_kinematics, kt.forward_kinematics(g.model, arrays[0]))
    assert np.abs(expected - kt.kinematics.frame_transforms(machine(), arrays[0])).max() > 0.01


def test_copies_and_processes(f, arrays):
    """Functions and results are pickled, choices and optional inputs with them."""
    g = pickle.loads(pickle.dumps(f))
    assert g.input_names == f.input_names and g(*arrays)._fields == f(*arrays)._fields
    result = pickle.loads(pickle.dumps(f(*arrays)))
    assert type(result) is type(f(*arrays)) and np.array_equal(result.frame_poses.R_WF, f(*arrays).frame_poses.R_WF)
    h = kt.compile(machine(), ["rnea", "crba"], optional=("f_ext",), threads=1)
    assert pickle.loads(pickle.dumps(h)).input_names == ("q", "v", "a", "f_ext")


def test_machine_code_is_shared(request):
    """The same list again, and a model of the same structure: nothing is traced or compiled."""
    names = ["crba", "frame_transforms"]
    q = inputs_of(machine())["q"]
    expected = kt.compile(machine(), names)(q)
    request.getfixturevalue("nothing_compiles")
    assert np.array_equal(kt.compile(machine(), names)(q).crba, expected.crba)
    heavier = machine().replace(I=tuple(body * 2.0 for body in machine().I))
    assert_close(kt.compile(heavier, names)(q).crba, 2.0 * expected.crba)


def test_the_cache_tells_texts_apart(tmp_path):
    """Two lists of the same quantities whose results are named differently are two programs on the disk."""
    code = (
        "import kinetree as kt; m = kt.models.double_pendulum()\n"
        "for names, more in ((['jacobian:lower'], {'reference': 'world'}), (['jacobian:lower:world'], {})):\n"
        "    f = kt.compile(m, names, **more); f([0.1, 0.2])\n"
        "    print(f.program.outputs[0][0], f.seconds['trace float64'] > 0)\n"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], env={"KINETREE_CACHE_DIR": str(tmp_path)}, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert done.stdout.split() == ["jacobian_lower", "True", "jacobian_lower_world", "True"]


def test_generated_code(f):
    """Names of C and CUDA are identifiers, and every array is described as in the docstring of its algorithm."""
    source = kt.export.to_c(f)
    assert source.name == "machine_rnea_kinetic_energy_frame_poses_jacobian_tool_world"
    assert "const double *q, const double *v, const double *a, double *rnea, double *kinetic_energy" in source.header
    assert "frame_poses_p_WF[" in source.header and "Position of each frame's origin" in source.header
    assert kt.export.cuda_source(f).name == "kinetree_rnea_kinetic_energy_frame_poses_jacobian_tool_world"
    assert "kinetree_rnea" in kt.export.cuda_source(f).text


def test_derivatives_of_several(arrays):
    """kt.differentiate takes lists; a vector product pulls all results back at once."""
    names = ["kinetic_energy", "potential_energy"]
    q, v, _ = arrays
    d = kt.differentiate(machine(), names, wrt="q")
    assert d.output_names == ("dkinetic_energy_dq", "dpotential_energy_dq")
    assert_close(d(q, v).dpotential_energy_dq, kt.gravity_forces(machine(), q), 1e-12)
    pulled = kt.differentiate(machine(), names, "vjp", wrt="q")(q, v, np.ones(11), -np.ones(11))
    assert_close(pulled, d(q, v).dkinetic_energy_dq - d(q, v).dpotential_energy_dq, 1e-12)


def test_jax_has_values_and_gradients_of_all(f, arrays):
    """The loop's own derivatives and the library's reverse mode, through a nested result."""
    jax = pytest.importorskip("jax")
    from kinetree.export.jax import to_jax

    jax.config.update("jax_enable_x64", True)
    q, v, a = arrays

    def loss(g):
        def total(v):
            r = g(q, v, a)
            return (r.rnea**2).sum() + r.frame_poses.p_WF.sum() + r.kinetic_energy.sum()

        return total

    by_loop, by_library = to_jax(f), to_jax(f, derivatives="reverse")
    assert_close(by_loop(q, v, a).frame_poses, f(q, v, a).frame_poses)
    assert_close(jax.grad(loss(by_library))(v), jax.grad(loss(by_loop))(v), 1e-12)


def test_torch_has_values_and_gradients_of_all(f, arrays):
    """The gradient of the kinetic energy in v is M v."""
    torch = pytest.importorskip("torch")
    q, v, a = (torch.tensor(x, requires_grad=True) for x in arrays)
    result = kt.export.to_torch(f)(q, v, a)
    assert np.array_equal(result.frame_poses.p_WF.detach().numpy(), f(*arrays).frame_poses.p_WF)
    (result.kinetic_energy.sum() + 0.0 * result.rnea.sum()).backward()
    assert_close(v.grad.numpy(), np.einsum("nij,nj->ni", kt.crba(machine(), arrays[0]), arrays[1]), 1e-12)


def test_packed_results(arrays):
    """Distinct entries only, and back."""
    g = kt.compiler.packed(kt.compile(machine(), ["crba", "frame_transforms", "rnea_derivatives"]))
    found = g.unpack(*g(*arrays))
    whole = g.whole(*arrays)
    assert np.array_equal(found.crba, whole.crba) and np.array_equal(found.frame_transforms, whole.frame_transforms)
    assert np.array_equal(found.rnea_derivatives.dtau_dv, whole.rnea_derivatives.dtau_dv)


def test_a_long_list_has_a_short_name():
    """Beyond a line names are cut, with a part of their hash."""
    one, other = (kt.compile(machine(), NAMES[k:], **STATIC).name for k in (0, 1))
    assert len(one) < 120 and " more (" in one and one != other


def test_algorithms_of_a_user_fuse(arrays):
    """A function registered outside the library, with inputs of its own; a name with two shapes cannot be shared."""

    @algorithm(inputs={"q": "nq", "gain": ()}, outputs={"y": "nq"})
    def scaled(model, q, gain):
        return [gain * x for x in q]

    @algorithm(inputs={"gain": "nq"}, outputs={"y": "nq"})
    def vector_gain(model, gain):
        return gain

    try:
        g = kt.compile(machine(), ["scaled", "crba"])
        assert g.input_names == ("q", "gain")
        assert np.array_equal(g(arrays[0], 2.0).scaled, 2.0 * arrays[0])
        with pytest.raises(ShapeError, match="gain is .* for one of the quantities and .* for another"):
            kt.compile(machine(), ["scaled", "vector_gain"])
    finally:
        del ALGORITHMS["scaled"], ALGORITHMS["vector_gain"]
    assert isinstance(g.spec, Spec)


# Requests that cannot be met ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "static", "error", "message"),
    [
        (["rnea", "crbaa"], {}, UnknownNameError, r"no algorithm named 'crbaa'.*Did you mean 'crba'\?"),
        (["rnea:tool"], {}, UnknownNameError, "rnea takes no choices behind its name"),
        (["jacobian:tol:world"], {}, UnknownNameError, r"no frame named 'tol' in model 'machine'.*'tool'"),
        (["jacobian:tool:wrld"], {}, UnknownNameError, r"no choice named 'wrld' in jacobian.*Did you mean 'world'"),
        (["pose:tool:world"], {}, UnknownNameError, r"no frame named 'tool:world'"),
        (["rnea", "jacobian:tool"], {}, TypeError,
         r"'jacobian:tool' needs the keyword argument reference= \(one of local, world, local_world_aligned\); "
         r"or write 'jacobian:tool:"),
        (["jacobian"], {"reference": "world"}, TypeError, r"'jacobian' needs the keyword argument frame=; or write"),
        (["acceleration:tool:world"], {}, TypeError, r"needs the keyword argument kind= \(one of spatial, class"),
        (["jacobian"], {"frame": "tool", "reference": "wurld"}, UnknownNameError, "no reference named 'wurld'"),
        (["rnea", "crba", "rnea"], {}, DuplicateNameError, "the quantity 'rnea' is in the list twice$"),
        (["jacobian:tool:world", "jacobian:tool"], {"reference": "world"}, DuplicateNameError,
         r"'jacobian:tool' is in the list twice \('jacobian:tool:world' is the same\)"),
        (["rnea", "crba"], {"reference": "world"}, TypeError,
         "reference='world' is given for all quantities, but none of rnea, crba takes it"),
        (["jacobian:tool:local"], {"reference": "world"}, TypeError, "but jacobian:tool:local have their own"),
        ("jacobian:tool:local", {"reference": "world"}, TypeError, "both choose the reference"),
        ([], {}, TypeError, "the list is empty"),
        ({"rnea", "crba"}, {}, TypeError, "are a list of names"),
        (["rnea", None], {}, TypeError, "are a list of names"),
    ],
)  # fmt: skip
def test_errors_name_the_quantity_and_the_repair(names, static, error, message):
    """Unknown, missing, superfluous, double and mixed requests are refused before anything is traced."""
    with pytest.raises(error, match=message):
        kt.compile(machine(), names, **static)


def test_unknown_optional_inputs_and_arguments(f, arrays):
    """Optional inputs are those of all algorithms together; calls explain the arguments of the whole."""
    with pytest.raises(UnknownNameError, match="no optional input named 'f_ext' in algorithm 'crba"):
        kt.compile(machine(), ["crba", "frame_poses"], optional=("f_ext",))
    with pytest.raises(TypeError, match="missing a"):
        f(*arrays[:2])
    with pytest.raises(ShapeError, match=r"v has shape \(11, 3\)"):
        f(arrays[0], arrays[1][:, :3], arrays[2])
