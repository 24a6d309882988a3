"""Functions for JAX: the same values as the machine code, under jit and vmap, and derivatives that are right."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import MissingDependencyError, ShapeError
from kinetree.export.jax import guarded, tabulate, to_jax
from kinetree.trace.program import Program
from tests.compiler.random_programs import random_program


@pytest.fixture(scope="module")
def jax():
    """JAX with double precision, for this module only."""
    jax = pytest.importorskip("jax", reason="the package jax is not installed")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def robot(name):
    return kt.load(name, floating_base=name == "quadruped")


def arrays_of(f, *batch, seed=4):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((*batch, *shape)) for _, shape in f.program.inputs]


class Shell:
    """What `jax` asks of a Function, around a bare program."""

    name, model, input_names, _result = "program", kt.models.pendulum(), ("x",), None

    def __init__(self, code, result, size):
        self.program = Program((("x", (size,)),), (("y", ()),), tuple(code), ((result,),))


@pytest.mark.parametrize("name", ["arm7", "quadruped"])
@pytest.mark.parametrize("algorithm", ["rnea", "crba", "aba"])
def test_values_are_those_of_the_machine_code(jax, name, algorithm):
    """Doubles agree to rounding: XLA may fuse and reorder, aba amplifies by the condition number of M (below 1e4)."""
    f = kt.compile(robot(name), algorithm, checks=False)
    arrays = arrays_of(f, 3, 11)
    expected = f(*arrays)
    np.testing.assert_allclose(to_jax(f)(*arrays), expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())


def test_several_outputs_keep_their_names(jax):
    """A named tuple, as from the function."""
    f = kt.compile(robot("arm7"), "rnea_derivatives", checks=False)
    arrays = arrays_of(f, 5)
    found, expected = to_jax(f)(*arrays), f(*arrays)
    assert found._fields == expected._fields
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-10)


def test_single_precision_in_single_precision_out(jax):
    """Arrays of float32 give float32, with errors of that size."""
    f = kt.compile(robot("arm7"), "rnea", checks=False)
    arrays = [x.astype(np.float32) for x in arrays_of(f, 20)]
    found, expected = to_jax(f)(*arrays), f(*(x.astype(float) for x in arrays))
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


def test_vmap_jit_and_batches_are_the_same(jax):
    """Mapping over rows, also where one argument is not mapped, equals the batch."""
    f = kt.compile(robot("arm7"), "aba", checks=False)
    g = to_jax(f)
    q, v, tau = arrays_of(f, 6)
    np.testing.assert_allclose(jax.jit(jax.vmap(g))(q, v, tau), g(q, v, tau), rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(g, (0, None, 0))(q, v[0], tau), g(q, v[0], tau), rtol=1e-12)


def test_gradient_of_kinetic_energy_is_the_momentum(jax):
    """d/dv of v^T M v / 2 is M v."""
    model = robot("quadruped")
    energy = to_jax(kt.compile(model, "kinetic_energy", checks=False))
    rng = np.random.default_rng(7)
    q, v = model.random_state(rng)
    np.testing.assert_allclose(jax.grad(energy, 1)(q, v), kt.crba(model, q) @ v, rtol=1e-10, atol=1e-12)


def test_forward_and_reverse_agree_with_the_compiled_derivative(jax):
    """Three methods for dtau/dq: two of JAX's, and the library's own."""
    f = kt.compile(robot("arm7"), "rnea", checks=False)
    q, v, a = arrays_of(f)
    expected = kt.rnea_derivatives(f.model, q, v, a)[0]
    for derivative in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(derivative(to_jax(f))(q, v, a), expected, rtol=1e-9, atol=1e-10)


def test_gradient_of_the_reverse_mode_table(jax):
    """With derivatives="reverse": the same gradients, also of a row that serves many states, and forward over it."""
    f = kt.compile(kt.models.double_pendulum(), "aba", checks=False)
    q, v, tau = arrays_of(f, 4)

    def cost(g):
        return lambda q, v, tau: (g(q, v, tau) ** 2).sum()

    fast, slow = (cost(to_jax(f, derivatives=choice)) for choice in ("reverse", "any"))
    for x in (v, v[0]):
        for k in range(3):
            np.testing.assert_allclose(
                jax.grad(fast, k)(q, x, tau), jax.grad(slow, k)(q, x, tau), rtol=1e-9, atol=1e-11
            )
    single = (q[0], v[0], tau[0])
    np.testing.assert_allclose(jax.jacfwd(jax.grad(fast))(*single), jax.hessian(slow)(*single), rtol=1e-8, atol=1e-10)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jacfwd(fast)(*single)


def test_unknown_choice_of_derivatives_is_refused():
    """The message lists the choices."""
    with pytest.raises(kt.errors.UnknownNameError, match="any, reverse"):
        to_jax(kt.compile(kt.models.double_pendulum(), "rnea"), derivatives="forward")


def test_second_derivative_is_symmetric_and_that_of_the_energy(jax):
    """The Hessian of the potential energy is the stiffness: the derivative of the gravity torque."""
    model = robot("arm7")
    energy = to_jax(kt.compile(model, "potential_energy", checks=False))
    q = arrays_of(kt.compile(model, "potential_energy", checks=False))[0]
    h = 1e-6  # central differences: error h^2 and eps / h
    steps = np.eye(model.nv) * h
    slope = (kt.gravity_forces(model, q + steps) - kt.gravity_forces(model, q - steps)) / (2 * h)
    np.testing.assert_allclose(jax.hessian(energy)(q), slope, atol=1e-7 * np.abs(slope).max())


def test_side_that_is_not_chosen_does_not_spoil_the_derivative(jax):
    """where(x > 0, sqrt(x), 2 x) at 0 and below: the root is infinite or NaN there, and not chosen."""
    code = [("input", 0, 0), ("const", 0.0), ("lt", 1, 0), ("sqrt", 0), ("add", 0, 0), ("where", 2, 3, 4)]
    g = to_jax(Shell(code, 5, 1))
    slope = jax.vmap(jax.grad(g))(np.array([[-1.0], [0.0], [4.0]]))
    np.testing.assert_array_equal(slope, [[2.0], [2.0], [0.25]])


def test_singularity_that_is_chosen_stays():
    """A root that the result needs everywhere is not guarded: its infinite derivative is the truth."""
    program = Shell([("input", 0, 0), ("sqrt", 0)], 1, 1).program
    assert guarded(program) == list(program.code)


def test_guards_are_the_conditions_on_all_ways():
    """A quotient used on both sides of a `where`, or beside it, is needed always; inside one of another, under both."""
    code = [("input", 0, k) for k in range(4)]  # 0..3
    code += [("lt", 0, 1), ("lt", 1, 2), ("div", 0, 3), ("where", 5, 6, 1), ("where", 4, 7, 0)]  # 4..8
    nested = guarded(Shell(code, 8, 4).program)
    operation, numerator, denominator = nested[6]
    condition = nested[nested[denominator][1]]
    assert (operation, numerator) == ("div", 0) and condition == ("and", 4, 5)
    both = [*code[:6], ("div", 0, 3), ("where", 4, 6, 1), ("add", 7, 6)]
    assert guarded(Shell(both, 8, 4).program) == both


def test_places_are_used_again():
    """As many places as values live at once, not as there are values."""
    f = kt.compile(robot("arm7"), "aba")
    (params,) = f.program.prologue.interpret([f.model.reframed().number_values()])
    table = tabulate(f.program, params)
    assert table.places < len(f.program.code) / 5


def test_every_operation(jax):
    """Random programs over all operations agree with the interpreter."""
    from kinetree.export.jax import _run

    program, arrays, numbers = random_program(3, 300)
    table = tabulate(program, program.prologue.interpret([numbers])[0])
    rows = np.concatenate([x.reshape(len(x), -1) for x in arrays], axis=1).T
    found = _run(jax, table, jax.numpy.asarray(rows), rows.shape[1], np.dtype(float))
    for y, z in zip(found, program.interpret(arrays, numbers), strict=True):
        np.testing.assert_allclose(y.T.reshape(z.shape), z, rtol=1e-10, atol=1e-10)


def test_wrong_shape_is_named(jax):
    """Shapes are known while JAX traces."""
    g = to_jax(kt.compile(kt.models.double_pendulum(), "rnea"))
    with pytest.raises(ShapeError, match=r"v has shape \(3,\), expected \(\.\.\., 2\)"):
        g(np.zeros(2), np.zeros(3), np.zeros(2))


def test_without_jax_the_error_says_what_to_install(monkeypatch):
    """The import is tried when the function is made."""
    monkeypatch.setitem(__import__("sys").modules, "jax", None)
    with pytest.raises(MissingDependencyError, match="pip install jax"):
        to_jax(kt.compile(kt.models.double_pendulum(), "rnea"))


@pytest.mark.parametrize("derivatives", ["any", "reverse"])
def test_numbers_of_every_state(jax, derivatives):
    """A function with a set of numbers for each state: values, and gradients that are those of each state's model."""
    model = kt.models.double_pendulum()
    gravity = np.linspace(-9.0, -1.0, 3)
    f = kt.compile(model, "rnea").with_parameters({"gravity.z": gravity})
    g = kt.export.to_jax(f, derivatives=derivatives)
    q, v, a = np.random.default_rng(5).uniform(-1, 1, (3, 3, 2))
    np.testing.assert_allclose(g(q, v, a), f(q, v, a), rtol=1e-12)
    found = jax.grad(lambda q: g(q, v[0], a).sum())(q)
    for k in range(3):
        back = kt.differentiate(model.replace(gravity=(0.0, 0.0, gravity[k])), "rnea", "vjp", wrt="q")
        np.testing.assert_allclose(found[k], back(q[k], v[0], a[k], np.ones(2)), rtol=1e-10)
    narrow = [x.astype(np.float32) for x in (q, v, a)]
    assert g(*narrow).dtype == np.float32


def test_arguments_by_name(jax):
    """As for arrays: any may be named, and none is ignored."""
    g = kt.export.to_jax(kt.compile(kt.models.double_pendulum(), "rnea"))
    q, v, a = np.random.default_rng(5).uniform(-1, 1, (3, 2))
    np.testing.assert_array_equal(g(q, a=a, v=v), g(q, v, a))
    with pytest.raises(TypeError, match="rnea: missing v, a"):
        g(q=q)
    with pytest.raises(TypeError, match="unexpected argument 'qd'"):
        g(q, v, a, qd=v)


def test_copies_and_processes(jax):
    """Functions for JAX are pickled as the functions that they are made of."""
    g = kt.export.to_jax(kt.compile(kt.models.double_pendulum(), "rnea"), derivatives="reverse")
    again = pickle.loads(pickle.dumps(g))
    q, v, a = np.random.default_rng(5).uniform(-1, 1, (3, 2))
    np.testing.assert_array_equal(again(q, v, a), g(q, v, a))
    assert again.derivatives == "reverse" and again.__name__ == "rnea"
