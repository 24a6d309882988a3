"""``method=``: a quantity by each of the algorithms that give it."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.calls import public_call
from kinetree.errors import ArgumentError, UnknownNameError, UnsupportedError

QUANTITIES = sorted(name for name, spec in ALGORITHMS.items() if spec.methods)
ARM = kt.models.puma_like().replace(damping=0.3, stiffness=2.0)
OPTIONS = {"hybrid_dynamics": {"forward": ARM.joint_names[1:4:2]}}


def inputs(name, batch=()):
    rng = np.random.default_rng(5)
    return [rng.standard_normal((*batch, *ALGORITHMS[name].shape(x, ARM))) for x in ALGORITHMS[name].inputs]


def both(name):
    return [(name, method) for method in ALGORITHMS[name].methods]


CASES = [case for name in QUANTITIES for case in both(name)]


def test_quantities_with_methods():
    """Those of the public face for which there are several algorithms, or approximations."""
    dynamics = ["forward_dynamics", "hybrid_dynamics", "inverse_dynamics", "mass_matrix"]
    assert QUANTITIES == sorted([*dynamics, "damping_matrix", "stiffness_matrix"])


@pytest.mark.parametrize(("name", "method"), CASES)
def test_methods_agree(name, method):
    """Springs and dampers included; single states, batches, interpreted, compiled as one function of several."""
    call, options = public_call(name), OPTIONS.get(name, {})
    single, many = inputs(name), inputs(name, (3,))
    expected, found = call(ARM, *single, **options), call(ARM, *single, method=method, **options)
    np.testing.assert_allclose(np.array(found), np.array(expected), rtol=1e-9, atol=1e-9)
    batch = call(ARM, *many, method=method, **options)
    np.testing.assert_allclose(np.array(batch), np.array(call(ARM, *many, **options)), rtol=1e-9, atol=1e-9)
    with kt.interpreted():
        slow = call(ARM, *single, method=method, **options)
    np.testing.assert_allclose(np.array(slow), np.array(found), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_functions_of_a_method(name, method):
    """By keyword and behind the name; in another process; the default is the function without a choice."""
    options = OPTIONS.get(name, {})
    f = kt.compile(ARM, name, method=method, **options)
    default = method == next(iter(ALGORITHMS[name].methods))
    assert f.name == (name if default else f"{name}:{method}")
    again = pickle.loads(pickle.dumps(f))
    one = kt.compile(ARM, [f"{name}:{method}"] if not default else [name], **options)
    expected = f(*inputs(name))
    np.testing.assert_array_equal(np.array(again(*inputs(name))), np.array(expected))
    np.testing.assert_array_equal(np.array(one(*inputs(name))[0]), np.array(expected))


@pytest.mark.parametrize("name", QUANTITIES)
def test_signatures_name_the_default(name):
    """``help`` shows the word of the default, and the docstring all of them."""
    call, methods = public_call(name), ALGORITHMS[name].methods
    assert inspect.signature(call).parameters["method"].default == next(iter(methods))
    assert "method : {" + ", ".join(f'"{method}"' for method in methods) + "}" in call.__doc__


def test_the_default_costs_what_the_algorithm_costs():
    """A name for the quantity adds nothing."""
    count = kt.compile(ARM, "crba").operations
    assert kt.compile(ARM, "mass_matrix").operations == count
    assert kt.compile(ARM, "mass_matrix", method="jacobians").operations.total > count.total


def test_what_no_method_computes_is_refused():
    """Unknown methods by the known ones, constraints by the method that solves for them."""
    q, v, tau = inputs("forward_dynamics")
    with pytest.raises(UnknownNameError, match=r"no method named 'cbra' in mass_matrix. Did you mean 'crba'\?"):
        kt.mass_matrix(ARM, q, method="cbra")
    with pytest.raises(ArgumentError, match="method is 3"):
        kt.mass_matrix(ARM, q, method=3)
    with pytest.raises(TypeError, match="multipliers"):
        kt.mass_matrix(ARM, q, multipliers=True)
    assert kt.forward_dynamics(ARM, q, v, tau, method="crba", multipliers=True).multipliers.shape == (0,)
    coupled = kt.load("arm7")
    with pytest.raises(UnsupportedError, match="constraints.*methods 'auto', 'crba', .* solve"):
        kt.forward_dynamics(coupled, coupled.neutral(), *np.zeros((2, coupled.nv)), method="aba")
