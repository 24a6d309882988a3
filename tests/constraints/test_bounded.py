"""Friction that sticks and hard limits in dynamics and rollouts: complementarity, closed forms, two solvers."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import bounded_rows
from kinetree.constraints import Coupling, HardLimits, Lock, StickingFriction
from kinetree.constraints.row_law import RowLaw
from kinetree.errors import ConstraintError, UnsupportedError
from kinetree.integrators.complementarity import boxed_impulses

G = 9.81


@functools.cache
def mechanism(seed: int):
    """A tree with joints of every kind, friction at all of them, limits where joints have positions, and a coupling."""
    model = kt.models.random_tree(6, seed=seed)
    single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
    bounds = {what: dict.fromkeys(single, x) for what, x in (("lower", -0.5), ("upper", 0.6), ("limit_stiffness", 9.0))}
    coupled = [Coupling(single[-1], single[0], -1.5)] if len(single) > 2 else []
    friction = np.random.default_rng(seed).uniform(0.1, 3.0, model.nv)
    return model.replace(dry_friction=friction, damping=0.2, **bounds).with_constraints(
        *coupled, StickingFriction(), HardLimits()
    )


@functools.cache
def bare(model):
    """The same without friction, limits and constraints, but with its dampers and springs."""
    return model.replace(constraints=(), dry_friction=0.0).without_limits()


def states(model, rng, count: int):
    """States in which some joints rest, and some are at limits; of masters, followers move along."""
    for _ in range(count):
        q, v = model.random_state(rng)
        v = np.where(rng.random(model.nv) < 0.5, 0.0, v)
        for i in model.outward():
            if model.joints[i].nq == model.joints[i].nv == 1:
                j = model.q_slice[i].start
                q[j] = rng.choice([-0.5, 0.6, q[j]])
        yield *kt.kinematics.apply_couplings(model, q, v), rng.standard_normal(model.nv) * 10.0 ** rng.uniform(-1, 2)


def by_kind(model, multipliers) -> dict[str, np.ndarray]:
    """Forces of each kind on all velocities (nv,)."""
    found, first = {}, 0
    for c in model.constraints:
        n = c.count(model)
        if c.row_kind == "box":
            found[c.kind] = np.zeros(model.nv)
            found[c.kind][c.coordinates(model)] = multipliers[first : first + n]
        first += n
    return found


@pytest.mark.seeds(2)
def test_forces_and_accelerations_are_complementary(seed):
    """Friction: against the motion, or within its bounds where nothing accelerates. Limits push, and nothing passes."""
    model, rng = mechanism(seed), np.random.default_rng(seed)
    for q, v, tau in states(model, rng, 12):
        a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
        forces = by_kind(model, lam)
        f, c = forces["sticking_friction"], np.asarray(model.dry_friction)
        small = 1e-9 * (1.0 + np.abs(tau).max() + np.abs(lam).max())
        assert (np.abs(f) <= c + small).all()
        assert f[v != 0.0] == pytest.approx((-c * np.sign(v))[v != 0.0])
        starts = (v == 0.0) & (np.abs(a) > 1e-9)
        masters = ~np.isin(np.arange(model.nv), [model.v_index(x).start for x in model.couplings[:1] for x in x.joints])
        assert f[starts & masters] == pytest.approx((-c * np.sign(a))[starts & masters])
        push, x = forces["hard_limits"], np.full(model.nv, np.nan)
        for i in model.outward():
            if model.joints[i].nq == model.joints[i].nv == 1:
                x[model.v_slice[i]] = q[model.q_slice[i]]
        lower, upper = x <= model.lower, x >= model.upper
        assert (push[lower] >= -small).all() and (push[upper] <= small).all() and (push[~lower & ~upper] == 0.0).all()
        assert (a[lower & (v <= 0.0)] >= -small).all() and (a[upper & (v >= 0.0)] <= small).all()
        assert np.abs(push * a)[masters].max() <= small * (1.0 + np.abs(a).max())
        first, rest = 0, kt.inverse_dynamics(bare(model), q, v, a) - tau
        for constraint in model.constraints:  # the forces of all rows together close the equation of motion
            for n in range(first, first + constraint.count(model)):
                if constraint.kind == "coupling":
                    ends = [model.v_index(name).start for name in constraint.joints]
                    rest[ends] -= lam[n] * np.array([1.0, -constraint.ratio])
            first += constraint.count(model)
        assert rest == pytest.approx(f + push, abs=1e-8 * (1.0 + np.abs(lam).max()))


@pytest.mark.seeds(2)
def test_inverse_and_hybrid_dynamics_undo_forward_dynamics(seed):
    """The same accelerations of the forces found for them; and all joints in ``forward`` is forward dynamics."""
    model, rng = mechanism(seed), np.random.default_rng(seed)
    for q, v, tau in states(model, rng, 6):
        a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
        close = {"rel": 1e-8, "abs": 1e-8 * (1.0 + np.abs(a).max())}
        assert kt.forward_dynamics(model, q, v, kt.inverse_dynamics(model, q, v, a)) == pytest.approx(a, **close)
        again, _, same = kt.hybrid_dynamics(model, q, v, tau, a, forward=model.joint_names, multipliers=True)
        assert again == pytest.approx(a, **close)
        assert same == pytest.approx(lam, abs=1e-7 * (1.0 + np.abs(lam).max()))
        if not model.couplings:
            half = model.joint_names[::2]
            mixed, forces = kt.hybrid_dynamics(model, q, v, tau, a, forward=half)
            assert kt.forward_dynamics(model, q, v, forces) == pytest.approx(mixed, **close)


def test_friction_only_takes_energy_and_limits_none():
    """Their power in any state, of forces that are compiled and interpreted alike."""
    model, rng = mechanism(2), np.random.default_rng(5)
    for q, v, tau in states(model, rng, 12):
        _, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
        forces = by_kind(model, lam)
        assert forces["sticking_friction"] @ v <= 0.0
    with kt.interpreted():
        _, slow = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    assert slow == pytest.approx(lam, rel=1e-9, abs=1e-9)


def test_rows_have_the_order_of_their_joints():
    """Limits named from the tip to the base: forces and labels follow; a joint is named once."""
    arm = kt.models.double_pendulum().replace(lower=[-0.2, -0.3], upper=[0.2, 0.3])
    model, turned = (arm.with_constraints(HardLimits(of=names)) for names in ((), ("elbow", "shoulder")))
    state = [0.2, 0.1], [0.0, 0.0], [20.0, 0.0]
    a, lam = kt.forward_dynamics(model, *state, multipliers=True)
    same, other = kt.forward_dynamics(turned, *state, multipliers=True)
    assert lam[0] < -1.0 and lam[1] == 0.0 and other.tolist() == lam[::-1].tolist() and same == pytest.approx(a)
    with pytest.raises(ConstraintError, match="'elbow' is in two constraints of kind hard_limits"):
        model.with_constraints(HardLimits(0.5, of="elbow"))


def test_a_load_below_the_breakaway_force_is_held():
    """Exactly, by as much as it weighs; above it the pendulum starts as if that much were missing."""
    model = kt.models.pendulum()
    weight = abs(kt.inverse_dynamics(model, [0.7], [0.0], [0.0])[0])
    inertia = kt.crba(model, [0.7])[0, 0]
    held = model.replace(dry_friction=1.01 * weight).with_constraints(StickingFriction())
    a, f = kt.forward_dynamics(held, [0.7], [0.0], [0.0], multipliers=True)
    assert a[0] == 0.0 and abs(f[0]) == pytest.approx(weight)
    loose = model.replace(dry_friction=0.6 * weight).with_constraints(StickingFriction())
    a, f = kt.forward_dynamics(loose, [0.7], [0.0], [0.0], multipliers=True)
    assert abs(a[0]) == pytest.approx(0.4 * weight / inertia) and abs(f[0]) == pytest.approx(0.6 * weight)


def test_a_body_on_its_limit_rests_and_leaves_it():
    """A slide on its lower stop: the stop carries what is left of the weight, and nothing once it is pulled up."""
    b = kt.ModelBuilder("lift")
    b.add_body("cart", joint=kt.joints.Prismatic((0, 0, 1)), joint_name="lift", mass=2.0, inertia=np.eye(3))
    model = b.build().replace(lower=0.0, upper=1.0).with_constraints(HardLimits())
    for pull, a, force in ((0.0, 0.0, 2.0 * G), (5.0, 0.0, 2.0 * G - 5.0), (30.0, 15.0 - G, 0.0)):
        found, lam = kt.forward_dynamics(model, [0.0], [0.0], [pull], multipliers=True)
        assert found[0] == pytest.approx(a, abs=1e-12) and lam[0] == pytest.approx(force, abs=1e-12)
    assert kt.forward_dynamics(model, [1.0], [0.0], [30.0])[0] == 0.0
    assert kt.forward_dynamics(model, [0.0], [0.1], [0.0])[0] == pytest.approx(-G)
    with pytest.raises(ConstraintError, match="'lift'.*lower limit"):
        kt.inverse_dynamics(model, [0.0], [0.0], [-1.0])
    assert kt.inverse_dynamics(model, [0.0], [0.0], [0.0])[0] == pytest.approx(2.0 * G)  # held by the actuator


def test_long_chains_are_refused_before_they_are_compiled():
    """With what finds the forces there."""
    chain = kt.models.n_pendulum(60).replace(dry_friction=0.1).with_constraints(StickingFriction())
    with kt.interpreted(), pytest.raises(UnsupportedError, match="60 velocities.*kt.simulate"):
        kt.forward_dynamics(chain, np.zeros(60), np.zeros(60), np.zeros(60))


def test_single_precision_and_other_calls():
    """float32 rollouts sticking to their precision; planar models; derivatives with respect to forces."""
    model = kt.load("arm7").without_limits().with_constraints(StickingFriction())
    rng = np.random.default_rng(3)
    q, v = (np.array(x) for x in zip(*(model.random_state(rng) for _ in range(32)), strict=True))
    double, single = (kt.rollout(model, q.astype(x), v.astype(x), None, 1e-3, steps=40) for x in ("f8", "f4"))
    assert single.q == pytest.approx(double.q, abs=2e-3)
    flat = kt.models.double_pendulum().replace(dry_friction=[1.0, 0.2]).with_constraints(StickingFriction())
    state = [0.4, -0.3], [0.0, 0.0], [0.5, 0.1]
    assert kt.forward_dynamics(flat.planar(), *state) == pytest.approx(kt.forward_dynamics(flat, *state), abs=1e-12)
    slope = kt.differentiate(flat, "forward_dynamics", wrt="tau")(*state)
    h = 1e-6
    moved = [kt.forward_dynamics(flat, *state[:2], [0.5, 0.1 + s]) for s in (h, -h)]
    assert np.asarray(slope)[..., :, 1].ravel() == pytest.approx((moved[0] - moved[1]) / (2 * h), abs=1e-6)


def test_locks_stand_beside_bounded_forces():
    """A locked joint takes its friction with it; the others are as in the model without it."""
    arm = kt.models.double_pendulum().replace(dry_friction=0.3)
    model = arm.with_constraints(Lock("elbow"), StickingFriction())
    alone = kt.surgery.lock(arm, {"elbow": 0.4}).with_constraints(StickingFriction())
    a, lam = kt.forward_dynamics(model, [0.5, 0.4], [0.0, 0.0], [1.0, 0.0], multipliers=True)
    expected, friction = kt.forward_dynamics(alone, [0.5], [0.0], [1.0], multipliers=True)
    assert a == pytest.approx([expected[0], 0.0]) and lam[1] == pytest.approx(friction[0]) and lam[2] == 0.0


# Laws -----------------------------------------------------------------------------------------------------------------


def test_projections_lie_on_the_law():
    """For any rho: sticking within the resistance, sliding at it, or at a limit beyond it; scaled laws likewise."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        rest, c = rng.standard_normal(), rng.uniform(0.1, 2.0)
        plain = RowLaw(rest, c, 0.0, rest - rng.uniform(0.0, 1.0), rest + rng.uniform(0.0, 1.0))
        for law in (plain, plain.scaled(rng.choice([-2.0, 0.5]))):
            rho, u = rng.uniform(0.1, 3.0), 4.0 * rng.standard_normal()
            force, held, rate = law.projected(u, rho)
            y, c = u + rho * force, law.resistance
            assert law.lower - 1e-9 <= y <= law.upper + 1e-9 and (not held or y == pytest.approx(rate, abs=1e-9))
            if law.lower + 1e-9 < y < law.upper - 1e-9:
                sliding = np.sign(law.rest - y) * c
                assert abs(force) <= c and (abs(y - law.rest) < 1e-9 or force == pytest.approx(sliding))


@pytest.mark.seeds(2)
def test_two_solvers_agree(seed):
    """Newton's method in the compiled step, and the pivoting of complementarity problems in simulations."""
    model = kt.models.random_tree(5, seed=seed)
    rng, h = np.random.default_rng(seed), 1e-2
    friction = rng.uniform(0.1, 5.0, model.nv)
    held = model.replace(dry_friction=friction).with_constraints(StickingFriction())
    for _ in range(20):
        q, v = model.random_state(rng)
        tau = 5.0 * rng.standard_normal(model.nv)
        free = v + h * kt.aba(model, q, v, tau)
        x, _ = boxed_impulses(np.linalg.inv(kt.crba(model, q)), free, -h * friction, h * friction)
        _, found = kt.integrators.semi_implicit_step(held, q, v, tau, h)
        assert found == pytest.approx(free + np.linalg.solve(kt.crba(model, q), x), abs=1e-9 * (1 + np.abs(v).max()))


# Rollouts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pendulum", "arm7", "tree"])
def test_rollouts_stick_as_simulations_do(name):
    """The same motion to rounding, and the same velocities that are zero, by two solvers."""
    model = {
        "pendulum": lambda: kt.models.pendulum().replace(dry_friction=4.0),
        "arm7": lambda: kt.load("arm7").without_limits(),
        "tree": lambda: kt.models.random_tree(5, seed=2).replace(dry_friction=0.5),
    }[name]().with_constraints(StickingFriction())
    q, v = model.random_state(np.random.default_rng(1))
    run = kt.simulate(model, q, v, duration=0.4, dt=1e-3)
    Q, V = kt.rollout(model, q, v, None, 1e-3, steps=400)
    assert Q == pytest.approx(run.q, abs=1e-9) and V == pytest.approx(run.v, abs=1e-7)
    assert ((V == 0.0) == (run.v == 0.0)).all() and (V == 0.0).any()


def test_rollouts_stop_at_limits_to_first_order():
    """They approach the exact impacts of simulations in proportion to dt, land on limits exactly and do not pass."""
    model = kt.load("arm7").with_constraints(StickingFriction(), HardLimits())
    q, v = model.random_state(np.random.default_rng(0))
    exact = kt.simulate(model, q, v, duration=0.4, dt=1e-4).q[-1]
    errors = []
    for dt in (2e-3, 2e-4):
        Q, V = kt.rollout(model, q, v, None, dt, steps=round(0.4 / dt))
        assert (Q >= np.asarray(model.lower)).all() and (Q <= np.asarray(model.upper)).all()
        errors.append(np.abs(Q[-1] - exact).max())
    assert errors[1] < 0.2 * errors[0] + 1e-5
    at_rest = (Q[-1] == model.lower) | (Q[-1] == model.upper)
    assert at_rest.any()


def test_a_bouncing_ball_comes_to_rest():
    """It rebounds by e times the speed, rests after finitely many rebounds, and gains no energy in any step."""
    b = kt.ModelBuilder("ball")
    b.add_body("ball", joint=kt.joints.Prismatic((0, 0, 1)), joint_name="height", mass=0.5, inertia=np.eye(3))
    model = b.build().replace(lower=0.0).with_constraints(HardLimits(restitution=0.6))
    q, v = kt.rollout(model, [0.2], [0.0], None, 1e-3, steps=3000)
    energy = 0.5 * v[:, 0] ** 2 + G * q[:, 0]
    hits = np.flatnonzero((v[1:, 0] > 0.0) & (v[:-1, 0] < 0.0))
    assert len(hits) > 3 and v[hits + 1, 0] == pytest.approx(-0.6 * v[hits, 0])
    assert np.diff(energy).max() <= 1e-3**2 * G**2 and q[-1, 0] == v[-1, 0] == 0.0
    other = kt.simulation.Rollout(model).with_parameters({"hard_limits.restitution": 0.3})
    w = other([0.2], [0.0], None, 1e-3, steps=3000).v
    assert w[hits[0] + 1, 0] == pytest.approx(0.5 * v[hits[0] + 1, 0])


def test_lanes_do_not_see_each_other():
    """The bits of a rollout are the same alone, in a batch, and in another place of it."""
    model = kt.load("arm7").with_constraints(StickingFriction(), HardLimits(0.2))
    rng = np.random.default_rng(3)
    q, v = (np.array(x) for x in zip(*(model.random_state(rng) for _ in range(19)), strict=True))
    Q, _ = kt.rollout(model, q, v, None, 2e-3, steps=50)
    R, _ = kt.rollout(model, q[::-1].copy(), v[::-1].copy(), None, 2e-3, steps=50)
    alone, _ = kt.rollout(model, q[7], v[7], None, 2e-3, steps=50)
    assert (Q == R[::-1]).all() and Q[7] == pytest.approx(alone, abs=1e-12)


def test_forces_that_are_not_found_are_an_error_that_names_the_state(monkeypatch):
    """With one exchange only; without checks the rollout ends in infinite velocities, and the others go on."""
    monkeypatch.setattr(bounded_rows, "EXCHANGES", 1)
    model = kt.models.double_pendulum().replace(dry_friction=[1.0, 5.0]).with_constraints(StickingFriction())
    q, v = np.array([[0.0, 0.0], [0.01, 0.02], [0.41, -0.69]]), np.zeros((3, 2))
    tau = np.array([[0.0, 0.0], [0.1, 0.2], [2.08, -2.09]])
    with kt.interpreted():
        with pytest.raises(ConstraintError, match=r"at batch index 2: the forces of sticking friction of all joints"):
            kt.forward_dynamics(model, q, v, tau)
        with pytest.raises(ConstraintError, match=r"rollout, at the start: .*at batch index 2"):
            kt.rollout(model, q, v, tau, 1e-2, steps=2)
        _, found = kt.rollout(model, q, v, tau, 1e-2, steps=1, checks=False)
    assert np.isfinite(found[:2, -1]).all() and not np.isfinite(found[2, -1]).all()


def test_other_steps_refuse_bounded_forces():
    """By name: they have no step that finds impulses."""
    model = kt.load("arm7").with_constraints(StickingFriction())
    with pytest.raises(UnsupportedError, match="sticking friction of all joints"):
        kt.rollout(model, model.neutral(), None, None, 1e-3, steps=2, integrator="rk4")


def test_ratios_of_couplings_are_numbers():
    """One code for all ratios, of either sign and 1, with bounds of the joint that follows; 1 is a constant."""
    chain = kt.models.chain_gu(3).replace(dry_friction=0.5, lower=-0.4, upper=0.5)

    def coupled(ratio):
        return chain.with_constraints(Coupling("joint3", "joint1", ratio, 0.1), StickingFriction(), HardLimits())

    base, name = coupled(-1.5), "coupling:joint3,joint1.ratio"
    assert name in base.numbers().names and name not in coupled(1.0).numbers().names
    f, rng = kt.compile(base, "forward_dynamics"), np.random.default_rng(2)
    for ratio in (2.5, 1.0, -0.7):
        other = coupled(ratio)
        for at in (-0.4, 0.5, 0.1):
            q = np.array([(at - 0.1) / ratio, 0.2, at])
            tau = 5.0 * rng.standard_normal(3)
            expected = kt.forward_dynamics(other, q, np.zeros(3), tau)
            assert f.with_parameters({name: ratio})(q, np.zeros(3), tau) == pytest.approx(expected, abs=1e-11)
    ratios, q = np.array([0.5, -2.0]), np.array([[0.1, 0.2, 0.15], [0.1, 0.2, -0.1]])
    found = f.with_parameters({name: ratios})(q, np.zeros((2, 3)), np.ones((2, 3)))
    each = [kt.forward_dynamics(coupled(r), x, np.zeros(3), np.ones(3)) for r, x in zip(ratios, q, strict=True)]
    assert found == pytest.approx(np.array(each), abs=1e-11)
