"""Dynamic equivalence: inertias that joints do not feel, and bodies augmented by what they carry."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.rnea import rnea as rnea_source
from kinetree.errors import ModelError, UnknownNameError
from kinetree.joints import Fixed, Free, Prismatic, Revolute, Spherical
from kinetree.spatial import Inertia, Symmetric3, Transform, Vector3
from kinetree.surgery import augmented_bodies, base_parameter_count, simplify_inertias
from tests.identities.systems import close, state
from tests.trees.geared import geared_tree

FORMS = pytest.mark.parametrize("form", ["inertia", "moments"])


@pytest.fixture(autouse=True)
def interpreted_source():
    with kt.interpreted():
        yield


def canonical(model, i):
    """The inertia of body i in the axes in which its joint is canonical: mass, first moment, inertia and P."""
    R, _ = model.joints[i].canonical()
    I = Transform(R, Vector3.zero()) @ model.I[i]
    return I.m, list(I.h), list(I.I), list(I.second_moments)


@FORMS
@pytest.mark.seeds(16)
def test_dynamics_stay_what_they_are(seed, form):
    """H, C, tau, T and the momentum of a floating tree, on all kinds of joints; geared rotors stay where they are."""
    model = geared_tree(12, seed, floating=seed % 2 == 0)
    simple, report = simplify_inertias(model, form=form)
    q, v, a, _ = state(model, seed)
    assert report.regrouped
    close(kt.crba(simple, q), kt.crba(model, q))
    close(kt.bias_forces(simple, q, v), kt.bias_forces(model, q, v))
    close(kt.rnea(simple, q, v, a), kt.rnea(model, q, v, a))
    close(kt.kinetic_energy(simple, q, v), kt.kinetic_energy(model, q, v))
    if seed % 2 == 0:
        close(kt.momentum(simple, q, v), kt.momentum(model, q, v))
        assert simple.total_mass == pytest.approx(model.total_mass, rel=1e-12)


@pytest.mark.seeds(6)
def test_forward_dynamics_stays_what_it_is(seed):
    """aba on massless and negative bodies: it never inverts a body's inertia."""
    model = kt.models.random_tree(10, seed, floating=True)
    simple, _ = simplify_inertias(model)
    q, v, _, tau = state(model, seed)
    close(kt.aba(simple, q, v, tau), kt.aba(model, q, v, tau), scale=np.linalg.cond(kt.crba(model, q)), ulps=1e3)


def test_zeros_are_those_of_the_joints():
    """Table 9.7: a revolute joint zeroes m, h_z and a moment across it; a prismatic one six; a spherical one m."""
    arm = kt.models.random_tree(
        9, 3, joints=[Revolute(), Revolute((0.6, 0.8, 0.0)), Prismatic((0, 1, 0)), Spherical()], floating=True
    )
    simple, report = simplify_inertias(arm)
    for i in range(2, arm.nb):
        m, h, I, P = canonical(simple, i)
        size = max(map(abs, canonical(arm, i)[2]))
        small = lambda values: max(map(abs, values)) < 1e-12 * size  # noqa: B023, E731
        if isinstance(arm.joints[i], Revolute):
            assert m == 0.0 and small([h[2]]) and small([I[0]])
        elif isinstance(arm.joints[i], Prismatic):
            assert m != 0.0 and small(P) and small(I)
        else:
            assert m == 0.0 and not small(h) and not small(I)
    assert report.zeros_before == 0
    expected = sum(3 if isinstance(j, Revolute) else 6 if isinstance(j, Prismatic) else 1 for j in arm.joints[2:])
    assert report.zeros_after == expected


def test_zeros_of_the_moments():
    """The other form: P_zz is the third zero of a body on a revolute joint."""
    simple, _ = simplify_inertias(kt.models.chain_gu(6), form="moments")
    for i in range(1, 7):
        m, h, _, P = canonical(simple, i)
        assert m == 0.0 and h[2] == 0.0 and abs(P[5]) < 1e-15


def test_moves_that_fill_more_zeros_than_they_make_are_left():
    """A body with its mass at its origin carries nothing for a joint far from there."""
    b = kt.ModelBuilder()
    b.add_body("base", joint=Free(), mass=5.0, inertia=(1, 2, 3))
    b.add_body("arm", "base", Revolute((0, 0, 1)), placement=((0.3, 0.4, 0.5), (0.1, 0.2, 0.3)), mass=1.0,
               inertia=(1, 1, 1))  # fmt: skip
    model = b.build()
    simple, report = simplify_inertias(model)
    assert simple is model and not report.regrouped and report.zeros_after == report.zeros_before


def test_the_saving_is_counted():
    """Six general revolute links: inverse dynamics of the bodies loses more than forward dynamics (section 9.7)."""
    _, report = simplify_inertias(kt.models.chain_gu(6))
    counts = report.operations()
    saved = {name: 1.0 - after / before for name, (before, after) in counts.items()}
    assert 0.07 < saved["rnea"] < 0.15  # the book says about 15 % of its own rnea, which costs more for all else
    assert saved["aba"] < saved["crba"] < saved["rnea"]
    assert "of 60 inertial parameters were zero" in str(report)


def test_an_unknown_form_is_refused():
    """The message lists the forms."""
    with pytest.raises(UnknownNameError, match="moments"):
        simplify_inertias(kt.models.double_pendulum(), form="mass")


# Base parameters --------------------------------------------------------------------------------------------------


def floating_chain(*joints):
    rng = np.random.default_rng(len(joints))
    b = kt.ModelBuilder()
    b.add_body("base", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    for k, joint in enumerate(joints):
        place = (rng.normal(size=3), rng.normal(size=3))
        b.add_body(f"body{k}", f"body{k - 1}" if k else "base", joint, None, place, mass=1.0, inertia=(1, 1, 1))
    return b.build()


@pytest.mark.parametrize(
    ("joints", "count"),
    [
        ((Revolute((1, 0, 0)), Revolute((0, 1, 0))), 24),
        ((Revolute(), Prismatic((1, 0, 0))), 21),
        ((Spherical(), Revolute()), 26),
        ((Prismatic(), Spherical()), 23),
    ],
    ids=["RR", "RP", "SR", "PS"],
)
def test_base_parameters_of_floating_chains(joints, count):
    """C09.19: the formula's counts, and the rank of inverse dynamics as a linear function of 10 parameters per body."""
    model = floating_chain(*joints)
    assert base_parameter_count(model) == count
    rng = np.random.default_rng(0)
    states = [(model.random_q(rng), *rng.standard_normal((2, model.nv))) for _ in range(12)]
    q, v, a = (np.array(x) for x in zip(*states, strict=True))
    nothing = [Inertia.zero()] * model.nb
    columns = []
    for i in model.outward():
        for unit in np.eye(10):
            I = list(nothing)
            I[i] = Inertia(float(unit[0]), Vector3(*unit[1:4].tolist()), Symmetric3(*unit[4:].tolist()))
            probe = model.with_numbers(_numbers(model, I))
            columns.append(_forces(probe, q, v, a))
    singular = np.linalg.svd(np.array(columns).T, compute_uv=False)
    assert np.sum(singular > 1e-10 * singular[0]) == count


def _numbers(model, inertias):
    """The model's numbers with other inertias."""
    values = dict(zip(model.numbers().names, model.number_values().tolist(), strict=True))
    for i in model.outward():
        I, name = inertias[i], model.body_names[i]
        values |= dict(zip([f"{name}.{x}" for x in ("mass", "h.x", "h.y", "h.z", "I.xx", "I.xy", "I.yy", "I.xz", "I.yz",
                                                    "I.zz")], (I.m, *I.h, *I.I), strict=True))  # fmt: skip
    return list(values.values())


def _forces(probe, q, v, a):
    return np.ravel([np.broadcast_to(x, len(q)) for x in rnea_source(probe, list(q.T), list(v.T), list(a.T))])


def test_a_fixed_joint_leaves_no_parameters():
    """What is welded to a body adds nothing."""
    assert base_parameter_count(floating_chain(Revolute(), Fixed())) == 17


# Augmented bodies -------------------------------------------------------------------------------------------------


def ball_tree(seed: int, floating: bool):
    return kt.models.random_tree(7, seed, joints=[Spherical()], floating=floating, armature=False)


@pytest.mark.seeds(4)
def test_augmented_bodies_of_a_floating_tree_have_the_mass_of_all(seed):
    """C09.20: particles at all joints."""
    model = ball_tree(seed, True)
    assert [I.m for I in augmented_bodies(model)[1:]] == pytest.approx([model.total_mass] * (model.nb - 1), rel=1e-14)


@pytest.mark.seeds(4)
@pytest.mark.parametrize("floating", [True, False])
def test_energy_of_a_body_that_turns_alone_is_that_of_its_augmented_body(seed, floating):
    """Body i turns with w, all others do not; on a fixed base about its joint, floating without total momentum."""
    model, rng = ball_tree(seed, floating), np.random.default_rng(seed)
    q = model.random_q(rng)
    X = [Transform.identity()] * model.nb
    for i in model.outward():
        X[i] = model.joints[i].transform(model.q_of(i, q.tolist())) @ model.X_T[i] @ X[model.parent[i]]
    augmented = augmented_bodies(model)
    for i in range(2 if floating else 1, model.nb):
        w = Vector3(*rng.normal(size=3).tolist())
        v = np.zeros(model.nv)
        v[model.v_slice[i]] = list(w)
        for j in model.children(i):  # joint velocities in the coordinates of the child: minus w
            E = X[j].E.matrix @ X[i].E.matrix.T
            v[model.v_slice[j]] = list(-(E @ w))
        body = augmented[i]
        if floating:
            h = np.array(kt.centroidal.momentum(model, q, v))[3:]
            # Stop the center of mass: the base moves along, without turning.
            v[3:6] -= np.array(X[1].E.matrix.rows) @ h / model.total_mass
            c = body.com
            K = np.array(body.I.matrix.rows) - body.m * (c.dot(c) * np.eye(3) - np.outer(list(c), list(c)))
        else:
            K = np.array(body.I.matrix.rows)
        expected = np.array(list(w)) @ K @ np.array(list(w)) / 2.0
        close(kt.kinetic_energy(model, q, v), expected)


def test_augmented_bodies_need_joints_that_hold_a_point():
    """A slider would carry its particle along; two robots do not float as one."""
    with pytest.raises(ModelError, match="moves the point"):
        augmented_bodies(floating_chain(Prismatic()))
    with pytest.raises(ModelError, match="does not float as one"):
        augmented_bodies(two_pendulums(), floating=True)


def two_pendulums():
    b = kt.ModelBuilder()
    for name in "ab":
        b.add_body(name, joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    return b.build()
