"""Hybrid dynamics: three methods for one answer, on random trees with joints of every kind, and its two ends."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import CouplingError, DuplicateNameError, UnknownNameError
from kinetree.joints import Prismatic, Revolute
from tests.identities.systems import close, state

METHODS = (kt.dynamics.hybrid_aba, kt.dynamics.hybrid_crba, kt.textbook.hybrid_recursive)
GU = kt.models.chain_gu(6)


@pytest.fixture
def interpreted_source():
    with kt.interpreted():
        yield


def system(seed: int):
    """A random tree, some of its joints (none, few, many or all by turns), a state and external wrenches."""
    model, rng = kt.models.random_tree(6 + seed % 5, seed=seed, floating=seed % 3 == 0), np.random.default_rng(seed)
    forward = [name for name in model.joint_names if rng.random() < (0.0, 0.3, 0.7, 1.0)[seed % 4]]
    return model, forward, *state(model, seed), rng.standard_normal((model.nb, 6))


def rows(model, forward):
    """The velocity coordinates of these joints, as a mask."""
    mask = np.zeros(model.nv, bool)
    for name in forward:
        mask[model.v_index(name)] = True
    return mask


def condition(model, q, forward):
    """How much the solution of the joints' own equation of motion may lose."""
    free = rows(model, forward)
    return np.linalg.cond(kt.crba(model, q)[np.ix_(free, free)]) if free.any() else 1.0


def methods_agree(seed: int, ulps: float):
    """All methods solve the equation of motion, keep what was given, and agree."""
    model, forward, q, v, a, tau, f_ext = system(seed)
    scale, free = condition(model, q, forward), rows(model, forward)
    results = [method(model, q, v, tau, a, f_ext, forward=forward) for method in METHODS]
    for result in results:
        np.testing.assert_array_equal(result.a_all[~free], a[~free])
        np.testing.assert_array_equal(result.tau_all[free], tau[free])
        size = max(scale, np.abs(results[0].a_all).max(initial=1.0))
        close(result.a_all, results[0].a_all, scale=size, ulps=ulps)
        size = max(size, np.abs(kt.crba(model, q)).max(initial=1.0) * size)
        close(result.tau_all, kt.rnea(model, q, v, result.a_all, f_ext), scale=size, ulps=ulps)


@pytest.mark.usefixtures("interpreted_source")
@pytest.mark.seeds(20)
def test_three_methods_agree(seed):
    """Articulated bodies, the restricted inertia matrix and Kim's recursion; rnea of the answer gives its forces."""
    methods_agree(seed, ulps=1e3)


@pytest.mark.sweep
@pytest.mark.usefixtures("interpreted_source")
def test_three_methods_agree_on_a_thousand_trees():
    """The same on 1,000 trees, fixed and floating, all sets of joints by turns."""
    for seed in range(1000):
        methods_agree(seed, ulps=1e4)


@pytest.mark.usefixtures("interpreted_source")
@pytest.mark.seeds(12)
def test_it_is_the_permuted_equation_of_motion(seed):
    """Example 9.1: qdd_1 = H_11^-1 (tau_1 - H_12 qdd_2 - C_1), tau_2 = H_21 qdd_1 + H_22 qdd_2 + C_2."""
    model, forward, q, v, a, tau, f_ext = system(4 * seed + seed % 2 + 1)
    free = rows(model, forward)
    M, C = kt.crba(model, q), kt.bias_forces(model, q, v, f_ext)
    expected = a.copy()
    expected[free] = np.linalg.solve(M[free][:, free], (tau - C - M @ np.where(free, 0.0, a))[free])
    found = kt.dynamics.hybrid_aba(model, q, v, tau, a, f_ext, forward=forward)
    size = condition(model, q, forward) * max(1.0, np.abs(expected).max())
    close(found.a_all, expected, scale=size, ulps=1e3)
    close(found.tau_all, M @ expected + C, scale=size * np.abs(M).max(), ulps=1e3)


@pytest.mark.usefixtures("interpreted_source")
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
@pytest.mark.seeds(6)
def test_the_ends_are_forward_and_inverse_dynamics(method, seed):
    """All joints in forward: aba. None: rnea."""
    model, _, q, v, a, tau, f_ext = system(seed)
    a_all, _ = method(model, q, v, tau, a, f_ext, forward=model.joint_names)
    close(a_all, kt.aba(model, q, v, tau, f_ext), scale=np.linalg.cond(kt.crba(model, q)))
    _, tau_all = method(model, q, v, tau, a, f_ext, forward=())
    close(tau_all, kt.rnea(model, q, v, a, f_ext))


@pytest.mark.parametrize("model", [GU, kt.load("quadruped", floating_base=True)], ids=lambda model: model.name)
def test_the_ends_cost_what_the_plain_algorithms_do(model):
    """Not an operation more than aba and rnea."""

    def total(name, **static):
        return kt.compile(model, name, **static).operations.total

    assert total("hybrid_aba", forward=model.joint_names) == total("aba")
    assert total("hybrid_aba", forward=()) == total("rnea")


def totals(model, forward):
    return [kt.compile(model, method.__name__, forward=forward).operations.total for method in METHODS]


@pytest.mark.parametrize("model", [kt.load("arm7"), kt.load("quadruped", floating_base=True)], ids=lambda m: m.name)
def test_articulated_bodies_cost_least_on_robots(model):
    """That is why hybrid_dynamics takes this method."""
    names = model.joint_names
    for forward in (names[:1], names[-1:], names[:5], names[5:], names[::2], names):
        aba, *others = totals(model, forward)
        assert aba <= min(others)


def test_complete_costs_what_the_tree_does():
    """Where nothing is passive or coupled, hybrid_dynamics is hybrid_aba."""
    one, other = (kt.compile(GU, name, forward=(1, 4)).operations.total for name in ("hybrid_dynamics", "hybrid_aba"))
    assert one == other


def test_the_inertia_matrix_costs_least_on_short_chains_without_aligned_axes():
    """As for forward dynamics (table 10.1): five free joints of a general chain, 10 % less; with long ones it loses."""
    aba, crba, _ = totals(GU, GU.joint_names[:5])
    assert 0.85 * aba < crba < aba
    chain = kt.models.chain_gu(20)
    aba, crba, _ = totals(chain, chain.joint_names)
    assert aba < 0.6 * crba


def test_compiled_is_interpreted():
    """A batch with wrenches, compiled, on every method."""
    model, rng = kt.load("quadruped", floating_base=True), np.random.default_rng(5)
    q = np.array([model.random_q(rng) for _ in range(9)])
    v, a, tau = rng.standard_normal((3, 9, model.nv))
    f_ext = rng.standard_normal((9, model.nb, 6))
    forward = [model.joint_names[0], *model.joint_names[2:11:2]]
    for method in METHODS:
        found = method(model, q, v, tau, a, f_ext, forward=forward)
        with kt.interpreted():
            expected = method(model, q, v, tau, a, f_ext, forward=forward)
        close(found.a_all, expected.a_all, scale=1e2)
        close(found.tau_all, expected.tau_all, scale=1e2)


# Complete -------------------------------------------------------------------------------------------------------------


def machine(coupled: bool):
    """A chain with springs, damping and friction, whose last joint may turn with the third."""
    b = kt.ModelBuilder("machine")
    rng = np.random.default_rng(7)
    joints = (Revolute(), Revolute((1, 0, 0)), Prismatic((0, 1, 0)), Revolute((0, 0.6, 0.8)), Revolute())
    for k, joint in enumerate(joints):
        b.add_body(
            f"body{k}", f"body{k - 1}" if k else "world", joint, f"joint{k}",
            placement=(rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)),
            mass=rng.uniform(1, 2), com=rng.uniform(-0.2, 0.2, 3), inertia=(0.2, 0.3, 0.4), armature=0.1 * (k % 2),
        )  # fmt: skip
    if coupled:
        b.add_coupling("joint4", "joint2", ratio=-1.5, offset=0.2)
        b.add_coupling("joint1", "joint3", ratio=0.5)
    return b.build().replace(damping=0.3, stiffness=2.0, dry_friction=0.1)


def coupled_state(model, seed):
    """A state that respects the couplings, and accelerations that do."""
    q, v, a, tau = state(model, seed)
    q, v = kt.kinematics.apply_couplings(model, q, v)
    return q, v, kt.kinematics.apply_couplings(model, q, a)[1], tau


@pytest.mark.usefixtures("interpreted_source")
@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("forward", [(), (1,), (3, 5), (2, 4), (1, 2, 4), (1, 2, 3, 4, 5)], ids=str)
def test_complete_hybrid_dynamics_solve_the_complete_dynamics(coupled, forward):
    """forward_dynamics under the forces that come out gives the accelerations; so does inverse_dynamics backwards."""
    model = machine(coupled)
    q, v, a, tau = coupled_state(model, 3)
    a_all, tau_all = kt.hybrid_dynamics(model, q, v, tau, a, forward=forward)
    names = [model.joint_name(i) for i in forward]
    close(a_all, np.where(rows(model, names), a_all, a))
    np.testing.assert_array_equal(tau_all[rows(model, names)], tau[rows(model, names)])
    close(kt.forward_dynamics(model, q, v, tau_all), a_all, scale=np.linalg.cond(kt.crba(model, q)))
    if not forward:
        close(tau_all, kt.inverse_dynamics(model, q, v, a))


def test_coupled_joints_are_named_together():
    """The message names both."""
    model = machine(coupled=True)
    q, v, a, tau = coupled_state(model, 3)
    with pytest.raises(CouplingError, match="joint 'joint4' is in forward and joint 'joint2' is not"):
        kt.hybrid_dynamics(model, q, v, tau, a, forward=["joint4"])


# The choice of joints -------------------------------------------------------------------------------------------------


def test_every_way_to_name_the_joints_is_one_function():
    """Names or numbers, tuple, list or text, in any order."""
    q, v, a, tau = state(GU, 1)
    ways = (("joint2", "joint5"), ["joint5", "joint2"], (2, 5), "joint5+joint2")
    results = [kt.dynamics.hybrid_aba(GU, q, v, tau, a, forward=way) for way in ways]
    results.append(kt.compile(GU, "hybrid_aba:joint2+joint5")(q, v, tau, a))
    fused = kt.compile(GU, ["rnea", "hybrid_aba:joint2+joint5"])(q, v, a, tau)[1]
    close(fused.a_all, results[0].a_all)
    for result in results[1:]:
        np.testing.assert_array_equal(result.a_all, results[0].a_all)
    assert kt.compile(GU, "hybrid_aba", forward="joint5+joint2").static == {"forward": (2, 5)}


def test_models_that_share_code_may_name_their_joints_differently():
    """Equal structure, names exchanged: each call means its own model's joints."""

    def pair(first, second):
        b = kt.ModelBuilder("pair")
        b.add_body("one", "world", Revolute(), first, mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
        b.add_body("two", "one", Revolute(), second, placement=((0.5, 0, 0), (0, 0, 0)), mass=1.0, com=(0.3, 0, 0),
                   inertia=(0.1, 0.1, 0.1))  # fmt: skip
        return b.build()

    here, there = pair("hip", "knee"), pair("knee", "hip")
    assert here.structure() == there.structure()
    zero, a = np.zeros(2), np.array([1.0, 2.0])
    assert kt.dynamics.hybrid_aba(here, zero, zero, zero, a, forward=("knee",)).a_all[0] == 1.0
    assert kt.dynamics.hybrid_aba(there, zero, zero, zero, a, forward=("knee",)).a_all[1] == 2.0


def test_functions_can_be_pickled():
    """The copy takes the same joints."""
    f = kt.compile(GU, "hybrid_aba", forward=("joint2",))
    q, v, a, tau = state(GU, 1)
    copy = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(copy(q, v, tau, a).tau_all, f(q, v, tau, a).tau_all)


@pytest.mark.parametrize(
    ("forward", "error", "text"),
    [
        (["knee"], UnknownNameError, "no joint named 'knee' in model"),
        (["joint2", "joint2"], DuplicateNameError, "joint 'joint2' is twice among the forward joints"),
    ],
)
@pytest.mark.parametrize("compiled", [True, False])
def test_wrong_names_are_refused(forward, error, text, compiled):
    """The error names the joint, compiled or not."""
    x = np.zeros(6)
    with pytest.raises(error, match=text):
        if compiled:
            kt.dynamics.hybrid_aba(GU, x, x, x, x, forward=forward)
        else:
            with kt.interpreted():
                kt.dynamics.hybrid_aba(GU, x, x, x, x, forward=forward)


def test_the_choice_is_required():
    """Which joints have known forces cannot be guessed."""
    x = np.zeros(6)
    with pytest.raises(TypeError, match="hybrid_aba needs the keyword argument forward="):
        kt.dynamics.hybrid_aba(GU, x, x, x, x)


def test_compiling_a_long_chain():
    """72 joints, every third with known force: traced in pieces, the answer solves the equation of motion."""
    model = kt.models.chain_gu(72)
    q, v, a, tau = 0.3 * np.array(state(model, 4))
    a_all, tau_all = kt.dynamics.hybrid_aba(model, q, v, tau, a, forward=model.joint_names[::3])
    needed = kt.rnea(model, q, v, a_all)
    close(tau_all, needed, scale=np.abs(needed).max(), ulps=1e6)
