"""Every kind of constraint: rows and biases are derivatives, multipliers close the equation of motion, names follow."""

from __future__ import annotations

import contextlib
import functools
import itertools
import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constrained import remaining_rows
from kinetree.algorithms.constraint_rows import constraint_bias, constraint_error, constraint_jacobian
from kinetree.constraints import CONSTRAINTS, Kinematics, PrescribedMotion

H = 1e-5  # step of differences
T = 0.7  # time of the states [s]


def plain(seed: int):
    """A tree of five bodies with joints of several kinds."""
    joints = [kt.joints.Revolute(), kt.joints.Spherical(), kt.joints.Prismatic((0, 1, 0)), kt.joints.Universal()]
    model = kt.models.random_tree(5, seed=seed, joints=joints).replace(damping=0.1, dry_friction=0.2)
    single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == 1]
    bounds = {what: dict.fromkeys(single, x) for what, x in (("lower", -2.0), ("upper", 2.0), ("limit_stiffness", 9.0))}
    return model.replace(**bounds)


@functools.cache
def cases():
    """Label, model and a position in which its constraints hold."""
    found = {}
    for kind, cls in CONSTRAINTS.items():
        for seed in (0, 3):
            base = plain(seed)
            examples = cls.examples(base, np.random.default_rng(seed))
            for n, constraints in enumerate(itertools.islice(examples, 2 if seed else None)):
                model = base.with_constraints(*constraints)
                q = model.neutral()
                for c in constraints:
                    if isinstance(c, PrescribedMotion):
                        q[model.q_index(c.joint)] = [f(T) for f in c.functions(model)]
                found[f"{kind}-{seed}-{n}"] = (model, q)
    return found


case = pytest.mark.parametrize("label", list(cases()))
equality = pytest.mark.parametrize(
    "label", [label for label, (model, _) in cases().items() if not any(c.row_kind == "box" for c in model.constraints)]
)


def of_position(model) -> list[bool]:
    """For each row whether it is the rate of an error of position."""
    return [held for c in model.constraints for held in c.position_level(model)]


def jacobian(model, q) -> np.ndarray:
    return np.array(constraint_jacobian(model.at(T), q.tolist()), float)


def velocities(model, q, v, t=T) -> np.ndarray:
    """G v + g, the velocity of each row."""
    kin = Kinematics(model.at(t), q.tolist(), v.tolist())
    return np.array([x for c in model.constraints for x in c.rate(kin)], float)


def allowed(model, q, x) -> np.ndarray:
    """Velocities near x that the constraints allow."""
    return x - np.linalg.pinv(jacobian(model, q), rcond=1e-9) @ velocities(model, q, x)


@pytest.fixture
def evaluated(label):
    """The second tree is interpreted: the first one shows that compiled code of each example gives the same."""
    with contextlib.nullcontext() if label.split("-")[1] == "0" else kt.interpreted():
        yield


def time(model) -> dict:
    """The time as the complete dynamics take it."""
    return {"t": T} if model.has_given_motions else {}


def test_every_kind_has_examples():
    """A kind that is added is covered by the tests below."""
    assert {label.split("-")[0] for label in cases()} == set(CONSTRAINTS)


@case
def test_rows_are_derivatives_of_the_error(label):
    """d phi / ds along any direction, at positions where the constraint holds."""
    model, q = cases()[label]
    v = np.random.default_rng(1).standard_normal(model.nv)
    now = model.at(T)
    phi = [np.array(constraint_error(now, kt.integrate(model, q, s * v).tolist()), float) for s in (H, -H)]
    held = of_position(model)
    assert np.abs(constraint_error(now, q.tolist())).max() < 1e-12
    assert (phi[0] - phi[1])[held] / (2 * H) == pytest.approx((jacobian(model, q) @ v)[held], abs=1e-8)


@case
def test_rates_are_those_of_rows_and_of_the_error(label):
    """d phi / dt in a motion, also where it depends on time; rows times velocities, and a part without them."""
    model, q = cases()[label]
    v = np.random.default_rng(7).standard_normal(model.nv)
    at_rest = velocities(model, q, np.zeros(model.nv))
    assert velocities(model, q, v) == pytest.approx(jacobian(model, q) @ v + at_rest, abs=1e-12)
    moved = [constraint_error(model.at(T + s), kt.integrate(model, q, s * v).tolist()) for s in (H, -H)]
    rate = (np.array(moved[0], float) - np.array(moved[1], float)) / (2 * H)
    held = of_position(model)
    assert velocities(model, q, v)[held] == pytest.approx(rate[held], abs=1e-8)


@case
def test_biases_are_rates_of_rows(label):
    """d (G v + g) / dt while v stays the same."""
    model, q = cases()[label]
    v = np.random.default_rng(2).standard_normal(model.nv)
    rates = [velocities(model, kt.integrate(model, q, s * v), v, T + s) for s in (H, -H)]
    bias = np.array(constraint_bias(model.at(T), q.tolist(), v.tolist()), float)
    assert bias == pytest.approx((rates[0] - rates[1]) / (2 * H), abs=1e-6)


@equality
def test_multipliers_close_the_equation_of_motion(label, evaluated):
    """M a + c = tau + passive + G^T lambda and G a + bias = 0, in all rows, redundant ones too."""
    model, q = cases()[label]
    rng = np.random.default_rng(3)
    v, tau = allowed(model, q, rng.standard_normal(model.nv)), rng.standard_normal(model.nv)
    a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True, **time(model))
    G, tree = jacobian(model, q), model.without_unsupported().replace(constraints=())
    rest = kt.inverse_dynamics(tree, q, v, a) - tau
    assert rest == pytest.approx(G.T @ lam, abs=1e-9 * (1 + np.abs(lam).max()))
    bias = np.array(constraint_bias(model.at(T), q.tolist(), v.tolist()), float)
    assert G @ a + bias == pytest.approx(0.0, abs=1e-9 * (1 + np.abs(a).max()))
    assert kt.forward_dynamics(model, q, v, tau, **time(model)) == pytest.approx(a, rel=1e-12, abs=1e-12)
    assert len(lam) == model.nc == len(model.constraint_labels)
    with kt.interpreted():
        slow = kt.forward_dynamics(model, q, v, tau, multipliers=True, **time(model))
    assert slow[0] == pytest.approx(a, abs=1e-9) and slow[1] == pytest.approx(lam, abs=1e-8 * (1 + np.abs(lam).max()))


@equality
def test_the_other_dynamics_give_the_same_multipliers(label, evaluated):
    """Inverse dynamics of the accelerations found, and hybrid dynamics with all forces or none of them known."""
    model, q = cases()[label]
    rng = np.random.default_rng(6)
    v, tau = allowed(model, q, rng.standard_normal(model.nv)), rng.standard_normal(model.nv)
    t = time(model)
    a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True, **t)
    close = {"rel": 1e-8, "abs": 1e-8 * (1 + np.abs(lam).max())}
    names = model.joint_names
    a_all, tau_all, all_of_it = kt.hybrid_dynamics(model, q, v, tau, a, forward=names, multipliers=True, **t)
    assert a_all == pytest.approx(a, **close) and all_of_it == pytest.approx(lam, **close)
    assert kt.forward_dynamics(model, q, v, tau, **t, method="crba") == pytest.approx(a, **close)
    if remaining_rows(model):
        return  # forces of rows that are not eliminated are not unique where accelerations are given
    free, there = kt.inverse_dynamics(model, q, v, a, multipliers=True, **t)
    # Forces at dependent joints are the constraints' own there: the multipliers that remain are those without them.
    _, same = kt.forward_dynamics(model, q, v, free, multipliers=True, **t)
    assert there == pytest.approx(same, **close)
    a_all, tau_all, none = kt.hybrid_dynamics(model, q, v, tau, a, forward=[], multipliers=True, **t)
    assert tau_all == pytest.approx(free, **close) and none == pytest.approx(there, **close)


@equality
def test_constraint_forces_do_no_work(label):
    """lambda^T G v = 0 in every motion that the constraints allow, if none moves by itself."""
    model, q = cases()[label]
    if model.has_given_motions:
        pytest.skip("drives do work")
    v = allowed(model, q, np.random.default_rng(4).standard_normal(model.nv))
    _, lam = kt.forward_dynamics(model, q, v, np.zeros(model.nv), multipliers=True)
    assert lam @ (jacobian(model, q) @ v) == pytest.approx(0.0, abs=1e-9 * (1 + np.abs(lam).max()))


@case
def test_names_follow_and_copies_hold_the_same(label):
    """Pickles, builders, renaming: the same structure and the same accelerations."""
    model, q = cases()[label]
    new = kt.surgery.rename(model, prefix="left_")
    assert [c.structure(new) for c in new.constraints] != [] and all(
        name.startswith("left_") for c in new.constraints for name in c.joints
    )
    for other in (pickle.loads(pickle.dumps(model)), kt.ModelBuilder.of(model).build(), model.replace(), new):
        assert [c.kind for c in other.constraints] == [c.kind for c in model.constraints] and other.nc == model.nc
    assert pickle.loads(pickle.dumps(model)).structure() == model.structure()


@equality
def test_a_state_that_breaks_a_constraint_is_named(label):
    """The message names the constraint and by how much."""
    model, q = cases()[label]
    v = np.random.default_rng(5).standard_normal(model.nv)
    with pytest.raises(kt.errors.ConstraintError, match=r"v breaks the .* by"):
        kt.forward_dynamics(model, q, v, np.zeros(model.nv), **time(model))


@case
def test_rows_turn_with_their_bodies(label):
    """In a re-framed model, whose body coordinates are others, errors, rows and biases are the same."""
    model, q = cases()[label]
    v, other = np.random.default_rng(8).standard_normal(model.nv), model.reframed()
    for f, given in ((constraint_error, ()), (constraint_jacobian, ()), (constraint_bias, (v.tolist(),))):
        one, same = (np.array(f(m.at(T), q.tolist(), *given), float) for m in (model, other))
        assert same == pytest.approx(one, rel=1e-11, abs=1e-11)


@case
def test_numbers_are_inputs_of_compiled_code(label):
    """Other numbers keep the structure of a constraint, and act in a model of scalars as in one made with them."""
    model, _ = cases()[label]
    q, before = model.random_q(np.random.default_rng(9)), model.numbers().as_dict()
    mine = [f"{c.label}.{name}" for c in model.constraints for name in c.numbers()]
    new = before | {name: before[name] * (1.1 + 0.1 * n) for n, name in enumerate(mine)}
    changed, source = [], iter(new[name] for name in mine)
    for c in model.constraints:
        changed.append(c.with_numbers([next(source) for _ in c.numbers()]))
    other = model.replace(constraints=changed)
    assert [c.structure(other) for c in other.constraints] == [c.structure(model) for c in model.constraints]
    assert [c.code for c in other.constraints] == [c.code for c in model.constraints]
    assert other.numbers().as_dict() == pytest.approx(new)

    def rows(m):
        return np.c_[constraint_jacobian(m.at(T), q.tolist()), constraint_error(m.at(T), q.tolist())].astype(float)

    scalar = model.with_numbers(list(new.values()))
    assert rows(scalar) == pytest.approx(rows(other), abs=1e-12)
    acts = any(before[name] for name in mine) and model.constraints[0].row_kind == "equality"
    assert not acts or np.abs(rows(scalar) - rows(model)).max() > 1e-6


def test_offsets_of_loops_are_numbers():
    """A kernel takes them at run time: traced for one offset, right for another."""
    base = plain(0)
    (loop,) = list(CONSTRAINTS["loop_joint"].examples(base, np.random.default_rng(0)))[1]
    moved = loop.with_numbers([x + 0.1 for x in loop.numbers().values()])
    one, other = base.with_constraints(loop), base.with_constraints(moved)
    assert set(one.numbers().names) - set(base.numbers().names) == {f"loop.{side}.{x}" for side in "PS" for x in "xyz"}
    q, zero = base.neutral(), np.zeros(base.nv)
    f = kt.compile(one, "forward_dynamics", checks=False)
    with kt.interpreted():
        expected = kt.compile(other, "forward_dynamics", checks=False)(q, zero, zero)
    assert kt.compile(other, "forward_dynamics", checks=False)(q, zero, zero) == pytest.approx(expected, abs=1e-9)
    assert np.abs(f(q, zero, zero) - expected).max() > 1e-6


def test_numbers_of_tendon_paths_are_inputs():
    """Coefficients of joints and divisors of pulleys, in a batch, as in models made with each."""
    base, T = plain(0), kt.constraints
    single = [base.joint_name(i) for i in base.outward() if base.joints[i].nq == 1][:2]
    frames = [kt.tendons.ViaPoint(base.frames[k].name) for k in (0, base.nb - 1, 1)]
    q = base.random_q(np.random.default_rng(1))

    def held(coefficient, divisor):
        terms = map(kt.tendons.JointTerm, single, (coefficient, 0.4))
        sums = T.TendonLength(tuple(terms), name="sums")
        cable = T.TendonLength((frames[0], frames[1], kt.tendons.Pulley(divisor), *frames[1:]), name="cable")
        return base.with_constraints(sums, cable)

    values = np.array([[0.5, 2.0], [-0.8, 3.0]])
    names = ("sums.path.0.coefficient", "cable.path.2.divisor")
    jacobian = kt.compile(held(*values[0]), "closed_loops_jacobian")
    jacobian = jacobian.with_parameters(dict(zip(names, values.T, strict=True)))
    one, other = (held(*each) for each in values)
    expected = np.array([constraint_jacobian(model, q.tolist()) for model in (one, other)], float)
    assert jacobian(np.stack([q, q])) == pytest.approx(expected, abs=1e-12)
    assert [c.structure(one) for c in one.constraints] == [c.structure(other) for c in other.constraints]
    assert np.abs(expected[0] - expected[1]).max() > 0.1
