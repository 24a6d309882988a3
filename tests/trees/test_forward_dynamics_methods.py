"""Forward dynamics by articulated bodies in all forms: test table 7.2's variants and divide and conquer against aba."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.aba import aba
from kinetree.algorithms.crba import crba
from kinetree.algorithms.divide_and_conquer import divide_and_conquer
from kinetree.algorithms.force_basis import force_basis
from kinetree.compiler.calls import public_call
from kinetree.errors import InertiaError
from kinetree.joints import Revolute, examples
from kinetree.spatial import Transform, Vector3
from kinetree.spatial.algebra import PLANAR, SPATIAL
from kinetree.textbook.aba_variants import aba_implicit_joints, aba_inverse_inertias
from kinetree.textbook.absolute_coordinates import aba_world
from tests.identities.systems import close, state
from tests.identities.test_planar import mechanism

METHODS = ("aba_inverse_inertias", "aba_implicit_joints", "aba_world", "divide_and_conquer")
methods = pytest.mark.parametrize("method", METHODS)


@pytest.fixture
def interpreted_source():
    with kt.interpreted():
        yield


def case(seed: int, bodies: int = 5):
    """A random tree of all kinds of joints and a state with external wrenches."""
    model = kt.models.random_tree(bodies + seed % 9, seed=700 + seed, floating=seed % 3 == 0)
    q, v, _, tau = state(model, seed)
    return model, q, v, tau, np.random.default_rng(seed).standard_normal((model.nb, 6))


def agrees(method, model, *given):
    """Equality with aba; the error of a solve grows with the condition of M."""
    condition = np.linalg.cond(kt.crba(model, given[0]))
    close(public_call(method)(model, *given), kt.aba(model, *given), scale=condition, ulps=1e3)


@methods
@pytest.mark.seeds(20)
@pytest.mark.usefixtures("interpreted_source")
def test_methods_agree(seed, method):
    """Random trees with joints of every kind, armatures and external wrenches, floating and fixed."""
    agrees(method, *case(seed))


@methods
@pytest.mark.parametrize("seed", [1, 3])
def test_methods_agree_compiled(seed, method):
    """Compiled, on a batch, the methods give what the interpreted source gives for each state."""
    model = kt.models.random_tree(4, seed=seed, floating=seed == 3)
    rng = np.random.default_rng(seed)
    q, (v, tau) = np.array([model.random_q(rng) for _ in range(5)]), rng.standard_normal((2, 5, model.nv))
    found = public_call(method)(model, q, v, tau)
    with kt.interpreted():
        for k in range(5):
            one = public_call(method)(model, q[k], v[k], tau[k])
            close(found[k], one, scale=np.linalg.cond(kt.crba(model, q[k])), ulps=1e3)


@methods
def test_methods_agree_on_a_robot(method):
    """A quadruped with a floating base: compiled, many branches on one body."""
    model, rng = kt.load("quadruped", floating_base=True), np.random.default_rng(0)
    q, v, _, tau = state(model, 0)
    agrees(method, model, q, v, tau, rng.standard_normal((model.nb, 6)))


@pytest.mark.sweep
@pytest.mark.usefixtures("interpreted_source")
@methods
def test_methods_agree_on_a_thousand_trees(method):
    """All methods to 1e-9 relative, times the condition of M where it is bad."""
    for seed in range(1000):
        model, *given = case(1000 + seed, 3)
        expected, condition = kt.aba(model, *given), np.linalg.cond(kt.crba(model, given[0]))
        error = np.max(np.abs(public_call(method)(model, *given) - expected), initial=0.0)
        size = np.max(np.abs(expected), initial=1.0)
        assert error <= 1e-9 * max(1.0, condition * 1e-6) * size, f"seed {seed}: {error / size:.1e}, {condition:.1e}"


@pytest.mark.parametrize("method", [aba_inverse_inertias, aba_implicit_joints, aba_world, divide_and_conquer])
@pytest.mark.seeds(5)
def test_methods_run_on_planar_models(seed, method):
    """The planar algebra gives the same accelerations."""
    model, planar, q, v, _, tau = mechanism(seed)
    f_ext = np.random.default_rng(seed).standard_normal((model.nb, 6)) * [0, 0, 1, 1, 1, 0]
    expected = aba(model, q, v, tau, f_ext.tolist())
    close(method(planar, q, v, tau, f_ext.tolist()), expected, scale=np.linalg.cond(np.array(crba(model, q))))


@methods
def test_extended_precision_reaches_its_own_accuracy(method):
    """With longdouble numbers the methods agree to 1e-16, a thousandth of what doubles could."""
    model = kt.load("arm7")
    rng = np.random.default_rng(5)
    q, (v, tau) = model.random_q(rng).astype(np.longdouble), rng.standard_normal((2, model.nv)).astype(np.longdouble)
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("no extended precision on this machine")
    found, expected = public_call(method)(model, q, v, tau), kt.aba(model, q, v, tau)
    assert found.dtype == np.longdouble
    assert np.max(np.abs(found - expected)) <= 1e-16 * np.max(np.abs(expected))


@pytest.mark.parametrize("method", METHODS[:2])
@pytest.mark.parametrize("interpreted", [False, True])
def test_bodies_without_an_inverse_inertia_are_refused_by_name(method, interpreted):
    """A point mass, a rod along an axis and one along no axis: the formulae divide by zero, the call says where."""
    oblique = np.array([0.36, 0.48, 0.8])
    rod = kt.ModelBuilder("rod")
    rod.add_body(
        "beam", joint=Revolute((0, 1, 0)), mass=1.0, com=(0.1, 0.2, 0.3), inertia=np.eye(3) - np.outer(oblique, oblique)
    )
    for model, body in ((kt.models.pendulum(), "bob"), (kt.models.n_pendulum(2), "rod1"), (rod.build(), "beam")):
        with pytest.raises(InertiaError, match=f"body '{body}' is a point or a rod.*divide_and_conquer"):
            zero = np.zeros(model.nv)
            if interpreted:
                with kt.interpreted():
                    public_call(method)(model, zero, zero, zero)
            else:
                public_call(method)(model, zero, zero, zero)


def test_massless_bodies_are_assembled_with_the_next_one():
    """Divide and conquer takes points, rods and massless links: a cross of two hinges is one link with its load."""
    b = kt.ModelBuilder("cross")
    b.add_body("base", joint=Revolute((0, 0, 1)), mass=1.0, inertia=(0.1, 0.2, 0.3))
    b.add_body("cross", "base", Revolute((1, 0, 0)))
    b.add_body("empty", "cross", Revolute((0, 0, 1)))
    b.add_body("arm", "empty", Revolute((0, 1, 0)), mass=2.0, com=(0.1, 0.2, 0.4), inertia=(0.1, 0.2, 0.3))
    b.add_body("finger", "arm", Revolute((1, 0, 0)), placement=((0, 0, 0.5), (0, 0, 0)), mass=0.3, com=(0, 0, 0.2))
    model = b.build()
    tree = kt.dynamics.assembly_tree(model)
    assert [node.bodies for node in tree.nodes if len(node.bodies) > 1] == [(2, 3, 4)]
    q, v, _, tau = state(model, 4)
    agrees("divide_and_conquer", model, q, v, tau)
    with kt.interpreted():
        agrees("divide_and_conquer", model, q, v, tau)


def test_absolute_coordinates_lose_digits_far_away():
    """C07.10: 10 km from the world's origin, aba is as exact as at home, absolute coordinates lose most digits."""
    model = kt.models.chain_gu(4)
    X = model.X_T[1]
    far = model.replace(X_T=(model.X_T[0], Transform(X.E, Vector3(1e4, -7e3, 3e3)), *model.X_T[2:]))
    q, v, tau = np.random.default_rng(0).standard_normal((3, 4))
    with kt.interpreted():
        home = kt.aba(model, q, v, tau)
        near, absolute = (np.max(np.abs(public_call(method)(far, q, v, tau) - home)) for method in ("aba", "aba_world"))
    assert near <= 1e-12 * np.max(np.abs(home))
    assert absolute > 1e3 * near


# Force bases ---------------------------------------------------------------------------------------------------------


@pytest.mark.seeds(4)
def test_force_bases_of_every_joint(seed):
    """T^T S = 0, T^T T = 1 and T_a^T S = 1 at random positions, for each registered kind and its reversal."""
    rng = np.random.default_rng(seed)
    for kind, joint in examples(rng):
        S = joint.motion_subspace(joint.random(rng))
        T, T_a = (np.array([list(f) for f in side]).reshape(-1, 6) for side in force_basis(SPATIAL, S))
        columns = np.array([list(s) for s in S], dtype=float).reshape(-1, 6)
        close(T @ T.T, np.eye(6 - joint.nv), ulps=20)
        close(T @ columns.T, np.zeros((6 - joint.nv, joint.nv)), scale=np.max(np.abs(columns), initial=1.0), ulps=50)
        close(T_a @ columns.T, np.eye(joint.nv), scale=np.linalg.cond(columns) if joint.nv else 1.0, ulps=100)
        assert len(T) + len(T_a) == 6, kind


def test_force_bases_of_coordinate_motions_are_coordinates():
    """A hinge about z has the other five unit forces, with structural zeros, and so in the plane."""
    for algebra, k in ((SPATIAL, 2), (PLANAR, 0)):
        d = len(list(algebra.Motion.zero()))
        T, T_a = force_basis(algebra, [algebra.Motion.of([float(m == k) for m in range(d)])])
        assert [list(f) for f in T] == [[float(m == n) for m in range(d)] for n in range(d) if n != k]
        assert [list(f) for f in T_a] == [[float(m == k) for m in range(d)]]
