"""Differentiating the graph, forward and reverse, gives what the closed forms give."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.derivatives.states import BALL, CAMS, LONG, TREES, close, differences, state, tree

# Extended precision, but constants (the rotations of the links) are doubles, and products of constants are rounded to
# doubles on the graph: a few eps of each term, which aba multiplies by the condition of M.
ROUTES = 1e-13
CONDITIONED = 1e-12
DIFFERENCES = 1e-11

USUAL = (0, 1, 7, 14, 25, 31)  # every joint takes part in the sweep; here are fixed and floating bases
MODELS = [
    *(
        pytest.param(tree(number), id=f"tree{number}", marks=() if number in USUAL else pytest.mark.sweep)
        for number in TREES
    ),
    pytest.param(CAMS, id="cams"),
]
each_model = pytest.mark.parametrize("model", MODELS)
each_method = pytest.mark.parametrize("method", ["forward", "reverse"])


@each_method
@each_model
def test_rnea(model, method):
    """Inverse dynamics with wrenches, in q, v and a."""
    q, v, a, _, f_ext = state(model, 3, LONG)
    graph = kt.differentiate(model, "rnea", wrt=("q", "v", "a"), optional=("f_ext",), method=method)
    for found, expected in zip(graph(q, v, a, f_ext), kt.rnea_derivatives(model, q, v, a, f_ext), strict=True):
        close(found, expected, ROUTES)


@each_method
@each_model
def test_aba(model, method):
    """Forward dynamics with wrenches, in q, v and tau."""
    q, v, _, tau, f_ext = state(model, 4, LONG)
    graph = kt.differentiate(model, "aba", wrt=("q", "v", "tau"), optional=("f_ext",), method=method)
    for found, expected in zip(graph(q, v, tau, f_ext), kt.aba_derivatives(model, q, v, tau, f_ext), strict=True):
        close(found, expected, CONDITIONED)


@each_method
def test_compiled_rnea(method):
    """The compiled graph route, single and batch, agrees with the compiled closed form to the 1e-10 that is asked."""
    model = BALL
    q, v, a, _, _ = (np.stack(parts) for parts in zip(*(state(model, seed) for seed in range(9)), strict=True))
    f = kt.differentiate(model, "rnea", wrt=("q", "v", "a"), method=method)
    for k, expected in enumerate(kt.rnea_derivatives(model, q, v, a)):
        close(f(q, v, a)[k], expected, 1e-10)
        close(f(q[4], v[4], a[4])[k], expected[4], 1e-10)


def test_derivative_by_wrenches_is_the_jacobian():
    """Wrenches in world coordinates act through the world Jacobians: dtau/df_i = -J_i^T."""
    model = tree(3)
    q, v, a, _, f_ext = state(model, 5, LONG)
    slope = kt.differentiate(model, "rnea", wrt="f_ext")(q, v, a, f_ext)
    assert slope.shape == (model.nv, model.nb, 6)
    for i in model.outward():
        J = kt.jacobian(model, q, frame=model.body_names[i], reference="world")
        close(slope[:, i], -J.T, 1e-13)


@pytest.mark.parametrize("number", USUAL)
def test_slices_of_the_inertia_matrix(number):
    """dM/dq_k is symmetric, is a finite difference, and along v it is C + C^T."""
    model = tree(number)
    q, v, *_ = state(model, 6, LONG)
    slices = kt.differentiate(model, "crba", wrt="q")(q)
    assert np.array_equal(slices, np.swapaxes(slices, 0, 1))
    close(slices, differences(lambda x: kt.crba(model, x), model, q)[0], DIFFERENCES)
    C = kt.coriolis_matrix(model, q, v)
    close(slices @ v, C + C.T, ROUTES)


def test_derivative_of_a_position_is_the_jacobian():
    """The position of a frame moves as its Jacobian says, along the manifold."""
    model = tree(1)
    q, *_ = state(model, 7, LONG)
    frame = model.body_names[-1]
    slope = kt.differentiate(model, "pose", wrt="q", of="p_WF", frame=frame)(q)
    J = kt.jacobian(model, q, frame=frame, reference="local_world_aligned")
    close(slope, J[3:], ROUTES)


def test_free_entries_of_a_quaternion():
    """``tangent=False`` varies all nq entries; the rates of q along each direction lead back to the tangent."""
    model = tree(1)
    q, v, a, _, _ = state(model, 8, LONG)
    entries = kt.differentiate(model, "rnea", wrt="q", tangent=False)(q, v, a)
    assert entries.shape == (model.nv, model.nq)
    rates = np.stack([kt.q_dot(model, q, e) for e in np.eye(model.nv, dtype=LONG)], axis=-1)
    close(entries @ rates, kt.rnea_derivatives(model, q, v, a).dtau_dq, ROUTES)
