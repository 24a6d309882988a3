"""Other numbers for compiled functions: one set, a set for every state, and sets that do not fit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import program_cache as stored
from kinetree.errors import InertiaError, ModelError, NonFiniteError, ShapeError, UnknownNameError
from kinetree.joints import Free, Prismatic, Revolute, Spherical
from kinetree.native import kernel as kernel_module
from kinetree.native import variants


def machine():
    """A free trunk with three limbs, one axis off the coordinate axes, so that the code is of a re-framed model."""
    b = kt.ModelBuilder("machine")
    I = np.array([[0.11, 0.01, 0.02], [0.01, 0.22, -0.03], [0.02, -0.03, 0.25]])
    b.add_body("trunk", joint=Free(), mass=3.0, com=(0.01, -0.02, 0.03), inertia=I)
    axis = np.array([0.6, 0.64, 0.48])
    for name, joint in (("arm", Revolute(axis)), ("leg", Prismatic((1, 0, 0))), ("head", Spherical())):
        place = ((0.3, 0.1, -0.2), (0.0, 0.0, 0.0))
        b.add_body(name, "trunk", joint, placement=place, mass=1.3, com=(0.1, 0.2, -0.1), inertia=I)
    return b.build()


@pytest.fixture(scope="module")
def model():
    return machine()


def states(model, n, seed=5):
    rng = np.random.default_rng(seed)
    return np.array([model.random_q(rng) for _ in range(n)]), *rng.normal(size=(2, n, model.nv))


def several(result):
    return result if isinstance(result, tuple) else (result,)


def varied(model, n, seed=7):
    """Sets of numbers within 3 % of the model's, so that the bodies stay possible."""
    rng = np.random.default_rng(seed)
    numbers = model.numbers()
    return np.where(numbers.free, numbers.values * (1 + 0.03 * rng.uniform(-1, 1, (n, len(numbers)))), numbers.values)


@pytest.fixture
def nothing_compiles(monkeypatch):
    """Tracing and compiling raise."""

    def refuse(*args, **named):
        raise AssertionError("something was compiled or traced")

    monkeypatch.setattr(variants, "assemble", refuse)
    monkeypatch.setattr(variants.Variants, "ir", refuse)
    monkeypatch.setattr(stored, "trace", refuse)


@pytest.mark.parametrize("name", ["rnea", "aba", "crba", "forward_kinematics"])
def test_another_model_on_the_same_code(model, name, request):
    """The function with a model's numbers gives what that model's own function gives, and compiles nothing."""
    f = kt.compile(model, name)
    q, v, a = states(model, 20)
    arrays = (q, v, a)[: len(f.input_names)]
    f(*arrays)
    other = model.replace(gravity=(0.0, 0.0, -3.0), I=tuple(I * 1.5 for I in model.I))
    expected = kt.compile(other, name)(*arrays)
    request.getfixturevalue("nothing_compiles")
    g = f.with_parameters(other)
    found = g(*arrays)
    for x, y in zip(several(found), several(expected), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12 * np.abs(y).max())
    assert g.model is other


def test_numbers_by_name_and_in_order(model):
    """A mapping changes what it names; an array holds all numbers; zero is a number like others where one was."""
    numbers = model.numbers()
    f = kt.compile(model, "gravity_forces")
    q = states(model, 1)[0][0]
    g = f(q)
    moon = f.with_parameters({"gravity.z": -1.62})
    np.testing.assert_allclose(moon(q), g * 1.62 / 9.81, rtol=1e-12, atol=1e-14)
    values = numbers.values.copy()
    values[numbers.names.index("gravity.z")] = -1.62
    assert np.array_equal(f.with_parameters(values)(q), moon(q))
    assert np.array_equal(f.with_parameters({"gravity.z": 0.0})(q), np.zeros(model.nv))
    assert np.array_equal(f(q), g)  # the first function is what it was


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["rnea", "aba", "forward_kinematics"])
def test_a_set_for_every_state_gives_the_bits_of_each_set_alone(model, name, dtype):
    """Randomized batches: row k is the function with set k at state k, bit for bit, in tiles and at their ends."""
    f = kt.compile(model, name)
    n = 21
    arrays = [x.astype(dtype) for x in states(model, n)[: len(f.input_names)]]
    sets = varied(model, n)
    many = f.with_parameters(sets)
    found = many(*arrays)
    assert many(*arrays, out=found) is not None
    for k in range(n):
        alone = f.with_parameters(sets[k])(*(x[k] for x in arrays))
        for x, y in zip(several(found), several(alone), strict=True):
            assert x.dtype == dtype
            assert np.array_equal(x[k], y)


def test_sets_broadcast_against_states(model):
    """Three sets against four states; one state under all sets; leading axes that do not fit are an error."""
    f = kt.compile(model, "aba")
    sets = varied(model, 3)
    q, v, tau = states(model, 4)
    many = f.with_parameters(sets[:, None])
    found = many(q, v, tau)
    assert found.shape == (3, 4, model.nv)
    assert np.array_equal(found[2], f.with_parameters(sets[2])(q, v, tau))
    assert f.with_parameters(sets)(q[0], v[0], tau[0]).shape == (3, model.nv)
    with pytest.raises(ShapeError, match=r"aba: the leading .* do not broadcast .*parameters: \(3,\)"):
        f.with_parameters(sets)(q, v, tau)


def test_masses_by_name_for_every_state(model):
    """A mapping with arrays; the momentum is linear in the masses."""
    f = kt.compile(model, "rnea")
    q, v, a = states(model, 1)
    masses = np.array([1.0, 2.0, 4.0])
    tau = f.with_parameters({"arm.mass": masses})(q[0], v[0], a[0])
    np.testing.assert_allclose(tau[2] - tau[1], 2 * (tau[1] - tau[0]), rtol=1e-9, atol=1e-12)


def test_later_sets_compile_nothing(model, request):
    """The kernel that reads parameters with every state is made once."""
    f = kt.compile(model, "crba")
    q, _, _ = states(model, 9)
    f.with_parameters(varied(model, 9))(q)
    request.getfixturevalue("nothing_compiles")
    f.with_parameters(varied(model, 9, seed=1))(q)
    f.with_parameters(model.replace(gravity=(0.0, 0.0, -1.0))).with_parameters(varied(model, 9, seed=2))(q)


def test_large_batches_of_sets_in_threads(model, monkeypatch):
    """Parameters of every state are shared out with the states."""
    f = kt.compile(model, "rnea", threads=3)
    arrays, sets = states(model, 500), varied(model, 500)
    one = f.with_parameters(sets)(*arrays)
    monkeypatch.setattr(kernel_module, "WORTH", 0.0)
    monkeypatch.setattr(kernel_module, "BLOCK", 100.0)
    f.statewise.clear()
    assert np.array_equal(f.with_parameters(sets)(*arrays), one)


def test_numbers_that_do_not_fit_are_named(model):
    """What is structure in the code, NaN, infinity, unknown names, wrong counts, impossible bodies."""
    f = kt.compile(model, "rnea")
    sets = varied(model, 4)
    names = model.numbers().names
    sets[2, names.index("arm.damping")] = 0.5
    with pytest.raises(ModelError, match=r"rnea: arm\.damping of state 2 is 0\.5, but 0 is part of the compiled code:"):
        f.with_parameters(sets)
    with pytest.raises(ModelError, match=r"rnea: gravity\.x is 1, but 0 is part of the compiled code"):
        f.with_parameters({"gravity.x": 1.0})
    with pytest.raises(ModelError, match=r"rnea: trunk\.mass is inf, but the compiled code takes a finite number"):
        f.with_parameters({"trunk.mass": np.inf})
    with pytest.raises(NonFiniteError, match=r"rnea: trunk\.mass is NaN"):
        f.with_parameters({"trunk.mass": np.nan})
    with pytest.raises(UnknownNameError, match=r"no number named 'trunk\.mas'.*Did you mean 'trunk\.mass'"):
        f.with_parameters({"trunk.mas": 1.0})
    with pytest.raises(ShapeError, match=rf"rnea: parameters have shape \(3,\), expected \(\.\.\., {len(names)}\)"):
        f.with_parameters(np.zeros(3))
    with pytest.raises(InertiaError):
        f.with_parameters({"arm.mass": -1.0})


def test_models_of_other_structure_are_refused(model):
    """Another joint, another zero: the message says which."""
    f = kt.compile(model, "rnea")
    with pytest.raises(ModelError, match=r"rnea: arm\.damping is 0\.1, but 0 is part of the compiled code"):
        f.with_parameters(model.replace(damping={model.joint_names[1]: 0.1}))
    with pytest.raises(ModelError, match="differs from 'machine' in its (parent|joints)"):
        f.with_parameters(kt.models.double_pendulum())


def test_functions_with_parameters_survive_pickling(model):
    """Both kinds; what a copy computes is the same."""
    f = kt.compile(model, "rnea")
    arrays = states(model, 3)
    for g in (f.with_parameters({"gravity.z": 0.0}), f.with_parameters(varied(model, 3))):
        assert np.array_equal(pickle.loads(pickle.dumps(g))(*arrays), g(*arrays))


@pytest.mark.parametrize("mode", ["jacobian", "vjp"])
@pytest.mark.parametrize("kind", ["one", "moved", "many", "packed", "again"])
def test_derivatives_with_parameters_survive_pickling(model, mode, kind):
    """Derivatives are no algorithms of the registry: they come back with the function that they were made of."""
    numbers = model.numbers()
    moved = {name: x + 0.07 for name, x in zip(numbers.names, numbers.values, strict=True) if ".r." in name and x}
    f = kt.differentiate(model, "rnea", mode, wrt=("q", "v"), threads=1)
    g = {
        "one": lambda: f.with_parameters({"gravity.z": -1.62}),
        "moved": lambda: f.with_parameters(moved),
        "many": lambda: f.with_parameters(varied(model, 3)),
        "packed": lambda: kt.compiler.packed(f).with_parameters({"gravity.z": -1.62}),
        "again": lambda: f.with_parameters(moved).with_parameters({"gravity.z": -1.62}).with_parameters(model),
    }[kind]()
    arrays = states(model, 3) if mode == "jacobian" else (*states(model, 3), np.ones((3, model.nv)))
    copy = pickle.loads(pickle.dumps(g))
    assert copy.threads == 1
    for x, y in zip(copy(*arrays), g(*arrays), strict=True):
        assert np.array_equal(x, y)
    if kind == "again":  # the last numbers are the first
        for x, y in zip(g(*arrays), f(*arrays), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
