"""Functions for CasADi: values and Jacobians against the library's and difference quotients, in C and as callbacks."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import CompilationError, MissingDependencyError, UnsupportedError
from kinetree.export import casadi as export

casadi = pytest.importorskip("casadi", reason="the package casadi is not installed")
needs_c = pytest.mark.skipif(export.compiler() is None, reason="there is no C compiler")
METHODS = [pytest.param("c", marks=needs_c), "python"]


def arrays(found) -> list[np.ndarray]:
    """Results as arrays of NumPy."""
    return [np.array(x) for x in (found if isinstance(found, (tuple, list)) else (found,))]


def quotients(f, x, h=1e-6) -> list[np.ndarray]:
    """Central differences of every output by every input, entries by columns."""
    found = []
    for y in range(len(arrays(f(*x)))):
        for i, xi in enumerate(x):
            columns = []
            for k in np.ndindex(np.shape(xi)):
                ends = []
                for sign in (1.0, -1.0):
                    moved = np.array(xi, dtype=float)
                    moved[k] += sign * h
                    ends.append(arrays(f(*x[:i], moved, *x[i + 1 :]))[y].ravel(order="F"))
                columns.append((ends[0] - ends[1]) / (2 * h))
            found.append(np.array(columns).T)
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("make", "algorithm", "static"),
    [
        (kt.models.cart_pole, "rk4_step", {}),
        (kt.models.free_body, "aba", {}),  # a quaternion: nq is not nv
        (kt.models.free_body, "pose", {"frame": "body"}),  # a matrix, stored by columns
    ],
)
def test_values_and_jacobians(make, algorithm, static, method):
    """The library's values; the Jacobian of difference quotients, of quaternions' four entries, too."""
    model, rng = make(), np.random.default_rng(0)
    function = kt.compile(model, algorithm, **static)
    f = kt.export.to_casadi(function, method=method)
    q, v = model.random_state(rng)
    given = {"q": q, "v": v, "tau": rng.normal(size=model.nv), "dt": np.array(0.01)}
    x = [given[name] for name in function.input_names]
    assert [f.name_in(k) for k in range(f.n_in())] == list(function.input_names)
    assert [f.name_out(k) for k in range(f.n_out())] == list(function.output_names)
    expected = function(*x)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for found, y in zip(arrays(f(*x)), expected, strict=True):
        assert np.allclose(found.reshape(np.shape(y)), y, rtol=0, atol=1e-13)
    found = arrays(f.jacobian()(*x, *arrays(f(*x))))
    for J, D in zip(found, quotients(f, x), strict=True):
        assert J.shape == D.shape and np.allclose(J, D, rtol=1e-7, atol=1e-8 * (1.0 + np.abs(D).max()))


@pytest.mark.parametrize("method", METHODS)
def test_symbols_and_maps(method):
    """Gradients of an expression with the function in it, by CasADi's reverse mode; a map over columns."""
    model = kt.models.cart_pole()
    f = kt.export.to_casadi(kt.compile(model, "aba"), method=method, name="dynamics")
    q = casadi.MX.sym("q", 2)
    gradient = casadi.Function("g", [q], [casadi.gradient(casadi.sumsqr(f(q, [0.1, 0.2], [1.0, 0.0])), q)])
    D = kt.differentiate(model, "aba", wrt="q")
    x, v, tau = np.array([0.3, 0.4]), np.array([0.1, 0.2]), np.array([1.0, 0.0])
    expected = 2.0 * D(x, v, tau).T @ kt.aba(model, x, v, tau)
    assert f.name() == "dynamics" and np.allclose(np.array(gradient(x)).ravel(), expected, rtol=1e-12)
    Q = np.random.default_rng(0).normal(size=(2, 5))
    many = np.array(f.map(5)(Q, np.tile(v, (5, 1)).T, np.tile(tau, (5, 1)).T))
    assert np.allclose(many.T, kt.aba(model, Q.T, v, tau), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("make", "algorithm", "static"),
    [(kt.models.cart_pole, "rk4_step", {}), (kt.models.free_body, "pose", {"frame": "body"})],
)
def test_hessians(make, algorithm, static, method):
    """Of a weighted sum of all results: symmetric, the difference quotient of the gradient; and over a map."""
    model, rng = make(), np.random.default_rng(1)
    function = kt.compile(model, algorithm, **static)
    f = kt.export.to_casadi(function, method=method, hessian=True)
    q, v = model.random_state(rng)
    given = {"q": q, "v": v, "tau": rng.normal(size=model.nv), "dt": np.array(0.05)}
    at = np.concatenate([np.ravel(given[name]) for name in function.input_names])
    x = casadi.MX.sym("x", len(at))
    ends = np.cumsum([0, *(np.size(given[name]) for name in function.input_names)]).tolist()
    found = f(*casadi.vertsplit(x, ends))
    results = casadi.vertcat(*(casadi.vec(y) for y in (found if isinstance(found, tuple) else (found,))))
    weights = rng.normal(size=results.shape[0])
    H, g = casadi.hessian(casadi.dot(weights, results**2), x)
    both = casadi.Function("both", [x], [H, g])
    exact, slopes = np.array(both(at)[0]), []
    for unit in np.eye(len(at)):
        slopes.append((np.array(both(at + 1e-6 * unit)[1]) - np.array(both(at - 1e-6 * unit)[1])).ravel() / 2e-6)
    size = np.abs(exact).max()
    # Rounding of gradients over the step, and the cube of the step times fourth derivatives.
    assert size > 0.1 and np.allclose(exact, slopes, rtol=0, atol=1e-7 * size)
    assert np.allclose(exact, exact.T, rtol=0, atol=1e-12 * size)
    many = both.map(2)(np.stack([at, at], axis=1))[0]
    assert np.allclose(np.array(many), np.hstack([exact, exact]), rtol=0, atol=1e-13 * size)


def test_numbers_of_the_function_are_used():
    """A function with other parameters: its own numbers, not those that the code was traced for."""
    function = kt.compile(kt.models.pendulum(), "gravity_forces").with_parameters({"gravity.z": -1.62})
    f = kt.export.to_casadi(function, method="python")
    assert float(f([0.5])) == pytest.approx(float(function(np.array([0.5]))[0]), rel=1e-14)


def test_errors(monkeypatch):
    """Without CasADi, without a compiler, for numbers of every state, with a compiler that fails."""
    function = kt.compile(kt.models.pendulum(), "gravity_forces")
    with pytest.raises(UnsupportedError, match="give one set"):
        kt.export.to_casadi(function.with_parameters({"gravity.z": np.array([-1.0, -2.0])}))
    monkeypatch.setenv("CC", "false")
    with pytest.raises(CompilationError, match="false fails"):
        kt.export.to_casadi(function, method="c")
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CompilationError, match="no C compiler"):
        kt.export.to_casadi(function, method="c")
    assert float(kt.export.to_casadi(function)([0.5])) == pytest.approx(float(function(np.array([0.5]))[0]))
    monkeypatch.setitem(__import__("sys").modules, "casadi", None)
    with pytest.raises(MissingDependencyError, match="pip install casadi"):
        kt.export.to_casadi(function)
