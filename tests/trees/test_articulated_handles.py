"""Articulated bodies with handles: by projection and by assembly, of mechanisms and of parts, and closed loops."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import InertiaError, ModelError, ShapeError, TopologyError, UnknownNameError
from tests.identities.systems import close, state

METHODS = ("projection", "assembly")
LOCAL = {"reference": "local"}


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def case(seed: int):
    """A random tree of all kinds of joints, a state with external wrenches, and two of its bodies."""
    model, rng = kt.models.random_tree(7, seed=900 + seed, floating=seed % 3 == 0), np.random.default_rng(seed)
    q, v, _, tau = state(model, seed)
    handles = [f"body{k}" for k in rng.choice(np.arange(1, 8), 2, replace=False)]
    return model, (q, v, tau, rng.standard_normal((model.nb, 6))), handles


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.seeds(16)
def test_inverse_inertia_of_the_whole_mechanism(seed, method):
    """Phi = J M^-1 J^T, the inverse operational-space inertia; b is how the frames accelerate under aba."""
    model, (q, v, tau, f_ext), handles = case(seed)
    Phi, b = kt.dynamics.articulated_inverse_inertia(model, q, v, tau, f_ext, handles=handles, method=method)
    J = np.concatenate([kt.jacobian(model, q, frame=name, **LOCAL) for name in handles])
    a = kt.aba(model, q, v, tau, f_ext)
    moved = [kt.acceleration(model, q, v, a, frame=name, kind="spatial", **LOCAL) for name in handles]
    condition = np.linalg.cond(kt.crba(model, q))
    close(Phi, J @ kt.dynamics.inverse_mass_matrix(model, q) @ J.T, scale=condition, ulps=1e3)
    close(b, np.concatenate(moved), scale=condition, ulps=1e3)


@pytest.mark.seeds(16)
def test_methods_agree_on_parts_of_a_mechanism(seed):
    """A subtree cut off, with two handles: the equations projected and the bodies assembled."""
    model, given, _ = case(seed)
    bodies = [model.body_names[i] for i in model.subtree(2)]
    handles = bodies[0], bodies[-1]
    one, other = (
        kt.dynamics.articulated_inverse_inertia(model, *given, handles=handles, bodies=bodies, method=m)
        for m in METHODS
    )
    size = np.max(np.abs(one.Phi))
    close(one.Phi, other.Phi, scale=1e2 * size)
    close(one.b, other.b, scale=1e2 * size)


@pytest.mark.seeds(16)
def test_subtree_has_the_inertia_of_the_articulated_body_algorithm(seed):
    """S^T I^A S + armature of body i is the D that its joint feels: the pivots of the factorized mass matrix."""
    model, (q, *_), _ = case(seed)
    D = 1.0 / np.array(kt.dynamics.articulated_factorization(model, q).D_inv)
    for i in model.outward():
        if not model.joints[i].nv:
            continue
        bodies = [model.body_names[k] for k in model.subtree(i)]
        IA, _ = kt.dynamics.articulated_inertia(model, q, handles=bodies[0], bodies=bodies)
        S = np.array([list(column) for column in model.joints[i].motion_subspace(list(model.q_of(i, q)))], dtype=float)
        felt = S @ IA @ S.T + np.diag(model.armature[model.v_slice[i]])
        close(np.linalg.det(felt), np.prod(D[model.v_slice[i]]), scale=np.prod(np.diag(felt)), ulps=1e5)


@pytest.mark.seeds(16)
def test_inertia_is_the_inverse(seed):
    """Of a floating part, f = I^A a + p^A solves a = Phi f + b; I^A is symmetric and positive."""
    model, given, _ = case(seed)
    bodies = [model.body_names[i] for i in model.subtree(1)]
    options = {"handles": bodies[0], "bodies": bodies}
    (Phi, b), (IA, pA) = (
        f(model, *given, **options) for f in (kt.dynamics.articulated_inverse_inertia, kt.dynamics.articulated_inertia)
    )
    condition = np.linalg.cond(Phi)
    close(IA @ Phi, np.eye(6), scale=condition)
    close(IA @ b, -pA, scale=condition * np.max(np.abs(b)))
    assert np.linalg.eigvalsh(IA)[0] > 0.0


def test_frames_are_handles():
    """A frame beside its body's: Phi follows the law of transforms, two frames on one body move together."""
    model = kt.load("arm7")
    q = model.random_q(np.random.default_rng(0))
    frame = model.frame("tool")
    body = model.body_names[frame.body]
    Phi, b = kt.dynamics.articulated_inverse_inertia(model, q, handles=(body, "tool"))
    X = frame.X_FB.matrix()
    close(Phi[6:, 6:], X @ Phi[:6, :6] @ X.T, ulps=1e3, scale=np.max(np.abs(Phi)))
    close(Phi[6:, :6], X @ Phi[:6, :6], ulps=1e3, scale=np.max(np.abs(Phi)))
    close(b[6:], X @ b[:6], ulps=1e3)


@pytest.mark.parametrize("method", METHODS)
def test_batches(method):
    """Leading axes of the states are those of the result."""
    model = kt.models.random_tree(6, seed=4)
    rng = np.random.default_rng(4)
    q, (v, tau) = np.array([model.random_q(rng) for _ in range(3)]), rng.standard_normal((2, 3, model.nv))
    Phi, b = kt.dynamics.articulated_inverse_inertia(model, q, v, tau[0], handles="body5", method=method)
    assert Phi.shape == (3, 6, 6)
    one = kt.dynamics.articulated_inverse_inertia(model, q[1], v[1], tau[0], handles="body5", method=method)
    close(Phi[1], one.Phi, scale=np.max(np.abs(Phi)))
    close(b[1], one.b, scale=np.max(np.abs(b)))
    found = kt.dynamics.articulated_inverse_inertia(model, q.astype(np.float32), handles="body5", method=method).Phi
    assert found.dtype == np.float32


# Closed loops --------------------------------------------------------------------------------------------------------


def test_a_closed_loop_by_one_more_joint():
    """The hand of a 6-joint arm hinged to the floor: the accelerations of M a = tau - c + K^T lambda, K a = k."""
    model = kt.models.chain_gu(6)
    q, v, _, tau = state(model, 1)
    Phi, b = kt.dynamics.articulated_inverse_inertia(model, q, v, tau, handles="body6")
    T = np.eye(6)[:, [0, 1, 3, 4, 5]]  # a hinge about the z axis of the hand
    c = np.random.default_rng(2).standard_normal(6)
    floor = kt.dynamics.ArticulatedBody(("floor",), np.zeros((6, 6)), np.zeros(6))
    arm = kt.dynamics.ArticulatedBody(("hand",), Phi, b).beside(floor)
    closed = arm.joined("floor", "hand", np.eye(6), T, np.zeros(5), np.zeros(6), c)
    J = kt.jacobian(model, q, frame="body6", **LOCAL)
    zero = np.zeros(model.nv)
    drift = kt.acceleration(model, q, v, zero, frame="body6", kind="spatial", **LOCAL)
    K = T.T @ J
    kkt = np.block([[kt.crba(model, q), -K.T], [K, np.zeros((5, 5))]])
    a = np.linalg.solve(kkt, np.concatenate([tau - kt.bias_forces(model, q, v), T.T @ (c - drift)]))[:6]
    close(closed.keeping(["hand"]).b, J @ a + drift, scale=np.linalg.cond(kkt), ulps=1e3)
    close(closed.keeping(["hand"]).Phi @ T, np.zeros((6, 5)), scale=np.linalg.cond(kkt) * np.max(np.abs(Phi)))


# Errors --------------------------------------------------------------------------------------------------------------


def test_inertia_that_does_not_exist_is_refused():
    """A double pendulum's bob has two freedoms; a message says so and names the call that always works."""
    model = kt.models.double_pendulum()
    with pytest.raises(ModelError, match=r"'lower'.* have 2 freedoms of acceleration, expected 6.*inverse_inertia"):
        kt.dynamics.articulated_inertia(model, [0.3, 0.4], handles="lower")
    with pytest.raises(ModelError, match="have 0 freedoms"):
        kt.dynamics.articulated_inertia(model, [0.3, 0.4], handles="world")


def test_assembly_of_bodies_without_inverse_inertia_is_refused():
    """A point mass; the projection takes it."""
    model = kt.models.pendulum()
    with pytest.raises(InertiaError, match=r"body 'bob' is massless, a point or a rod.*method=\"projection\""):
        kt.dynamics.articulated_inverse_inertia(model, [0.1], handles="bob", method="assembly")
    assert np.linalg.matrix_rank(kt.dynamics.articulated_inverse_inertia(model, [0.1], handles="bob").Phi) == 1


def test_wrong_arguments_are_named():
    """Unknown handles, bodies and methods, handles that are not on the bodies, wrong shapes."""
    model = kt.models.double_pendulum()
    q = np.zeros(2)
    for wrong in (
        {"handles": "lowr"},
        {"handles": "lower", "bodies": ["uper"]},
        {"handles": "lower", "method": "luck"},
    ):
        with pytest.raises(UnknownNameError, match="lowr|uper|luck"):
            kt.dynamics.articulated_inverse_inertia(model, q, **wrong)
    with pytest.raises(TopologyError, match="handle 'lower' is on body 'lower', which is not among the bodies"):
        kt.dynamics.articulated_inverse_inertia(model, q, handles="lower", bodies=["upper"])
    with pytest.raises(ShapeError, match="q has shape"):
        kt.dynamics.articulated_inverse_inertia(model, np.zeros(3), handles="lower")
