"""Deliberately damaged models, joints and algorithms are caught, and what is wrong is named."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import crba as crba_module
from kinetree.algorithms import force_elements, state_slopes
from kinetree.algorithms import rnea as rnea_module
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.joints import Joint, Revolute
from kinetree.spatial import GeneralRotation, Inertia, Matrix3, Motion, Symmetric3, Transform, Vector3
from kinetree.spatial.rotations import rz


def arm(elbow: Joint | None = None) -> kt.Model:
    """Three links; the joint in the middle is given."""
    b = kt.ModelBuilder("arm")
    b.add_body(
        "upper",
        joint=Revolute((0, 1, 0)),
        joint_name="shoulder",
        mass=2.0,
        com=(0.1, 0.0, -0.2),
        inertia=(0.1, 0.2, 0.15),
    )
    b.add_body(
        "lower",
        "upper",
        elbow or Revolute((1, 0, 0)),
        "elbow",
        ((0.0, 0.1, -0.4), (0.2, 0.3, 0.1)),
        mass=1.0,
        com=(0.0, 0.1, -0.2),
        inertia=(0.05, 0.04, 0.03),
    )
    b.add_body(
        "hand",
        "lower",
        Revolute((0, 0, 1)),
        "wrist",
        ((0.0, 0.0, -0.3), (0.1, 0.0, 0.0)),
        mass=0.5,
        com=(0.05, 0.0, -0.1),
        inertia=(0.01, 0.012, 0.008),
    )
    return b.build()  # fmt: skip


def damaged(**parts) -> kt.Model:
    """The arm, with data that no constructor would let pass."""
    model = arm().replace()
    model._set(**parts)
    return model


def quantities(result) -> set[str]:
    return {row.quantity for row in result.off}


def test_the_sound_arm_passes():
    """What follows is caught for what was done to it."""
    result = kt.verify(arm(), 3, fast=True)
    assert result.ok and not result.findings


def test_an_entry_of_a_placement():
    """A rotation with one wrong entry is no rotation: the joint is named, and that the rest follows from it."""
    model = arm()
    E = [[float(model.X_T[2].E.matrix[i, j]) for j in range(3)] for i in range(3)]
    E[0][1] += 1e-6
    wrong = Transform(GeneralRotation(Matrix3(tuple(map(tuple, E)))), model.X_T[2].r)
    result = kt.verify(damaged(X_T=(*model.X_T[:2], wrong, *model.X_T[3:])), 3, fast=True)
    assert "data: placements" in quantities(result)
    assert "'elbow'" in result.findings[0] and "no rigid motion" in result.findings[0]


class Lopsided(Symmetric3):
    """A rotational inertia whose matrix is not symmetric."""

    @property
    def matrix(self):
        M = super().matrix
        return Matrix3(tuple(tuple(M[i, j] + (1e-9 if (i, j) == (0, 2) else 0.0) for j in range(3)) for i in range(3)))


def test_an_inertia_that_is_not_symmetric():
    """The body is named."""
    model = arm()
    body = model.I[2]
    wrong = Inertia(body.m, body.h, Lopsided(*body.I))
    result = kt.verify(damaged(I=(*model.I[:2], wrong, *model.I[3:])), 3, fast=True)
    assert "'lower'" in result.findings[0] and "not symmetric" in result.findings[0]


def test_an_inertia_that_no_body_has():
    """A moment that breaks the triangle inequality."""
    model = arm()
    I = list(model.I)
    I[3] = Inertia(I[3].m, I[3].h, I[3].I + Symmetric3(0.0, 0.0, 0.0, 0.0, 0.0, 0.5))
    result = kt.verify(damaged(I=tuple(I)), 3, fast=True)
    assert "'hand'" in result.findings[0] and "no body can have" in result.findings[0]


@dataclass(frozen=True)
class Wheel(Joint):
    """A wheel that rolls along x: S depends on q, so there is a bias."""

    fault: str = ""
    nq = nv = 1

    def transform(self, q):
        return Transform(rz(q[0]), Vector3(-0.5 * q[0], 0.0, 0.0))

    def motion_subspace(self, q):
        S = Motion(Vector3(0.0, 0.0, 1.0), rz(q[0]) @ Vector3(-0.5, 0.0, 0.0))
        return (S * 1.001 if self.fault == "scale" else -S if self.fault == "sign" else S,)

    def bias(self, q, v):
        c = super().bias(q, v)
        return -c if self.fault == "bias" else c

    def velocity(self, q, v):
        V = super().velocity(q, v)
        return V * (1.0 + 1e-9) if self.fault == "velocity" else V


@pytest.mark.parametrize(
    ("fault", "quantity"),
    [("scale", "joints: dX/dt"), ("sign", "joints: dX/dt"), ("bias", "joints: c_J"), ("velocity", "joints: v_J")],
)
def test_a_joint_that_breaks_its_contract(fault, quantity):
    """A motion subspace off by a thousandth or of the wrong sign, a bias of the wrong sign, v_J off by 1e-9."""
    assert kt.verify(arm(Wheel()), 3, fast=True).ok
    result = kt.verify(arm(Wheel(fault)), 3, fast=True)
    assert quantity in quantities(result)
    assert quantity in result.findings[0] + "".join(result.findings) and "'elbow'" in result.findings[0]
    (row,) = [row for row in result.off if row.quantity == quantity]
    assert row.also == ("joint 'elbow'",) and row.note


def replaced(monkeypatch, name, change):
    """An algorithm whose result is changed."""
    spec = ALGORITHMS[name]

    def wrong(model, *arrays, **named):
        return change(spec.function(model, *arrays, **named))

    monkeypatch.setitem(ALGORITHMS, name, dataclasses.replace(spec, function=wrong))


def test_a_sign_in_one_algorithm(monkeypatch):
    """One entry of newton_euler has the wrong sign: it is alone, and the joint is named."""
    replaced(monkeypatch, "newton_euler", lambda tau: [tau[0], -tau[1], tau[2]])
    result = kt.verify(arm(), 3, fast=True)
    assert [row.method for row in result.off] == ["newton_euler"]
    assert result.off[0].where == "joint 'elbow'" and result.off[0].ratio > 1e6
    (finding,) = result.findings
    assert finding.startswith("joint forces: newton_euler deviate at joint 'elbow', while rnea,")


def test_a_small_relative_error_in_one_entry(monkeypatch):
    """A relative error of 1e-11 in one acceleration is beyond rounding."""
    replaced(monkeypatch, "aba", lambda a: [a[0], a[1], a[2] * (1.0 + 1e-11)])
    off = kt.verify(arm(), 3, fast=True).off
    assert {row.method for row in off} >= {"aba"}
    assert off[0].where == "joint 'wrist'"


def test_a_sign_in_a_pass_that_algorithms_share(monkeypatch):
    """rnea's inward pass adds forces with the wrong sign: all that use it deviate, the other methods do not."""

    def inward_pass(model, X, S, f):
        tau = [0.0] * model.nv
        for i in model.inward():
            tau[model.v_slice[i]] = [S_k.dot(f[i]) for S_k in S[i]]
            p = model.parent[i]
            if p:
                f[p] = f[p] - X[i].inverse_apply(f[i])
        return tau

    monkeypatch.setattr(rnea_module, "inward_pass", inward_pass)
    result = kt.verify(arm(), 3, fast=True)
    forces = [row for row in result if row.quantity.startswith("joint forces")]
    assert "rnea" in {row.method for row in forces if row.verdict == "off"}
    assert {"newton_euler", "rnea_world"} <= {row.method for row in forces if row.verdict == "ok"}
    assert "energy" in quantities(result)  # its work is nowhere in the energy
    # The last joint supports no other body: it is right.
    assert all("wrist" not in place for row in forces for place in row.also)


def test_a_mass_matrix_without_its_offdiagonal(monkeypatch):
    """crba that forgets one block: not the plain M, and what is built on it."""
    original = crba_module.fill_block

    def fill_block(M, model, i, j, F, S_j):
        if (i, j) != (3, 1):
            original(M, model, i, j, F, S_j)

    monkeypatch.setattr(crba_module, "fill_block", fill_block)
    result = kt.verify(arm(), 3, fast=True)
    (row,) = [row for row in result.off if row.method == "crba" and row.against == "plain matrices"]
    assert row.where == "joints 'wrist' and 'shoulder'" or row.where == "joints 'shoulder' and 'wrist'"


def test_nan_is_no_agreement(monkeypatch):
    """A method that gives NaN is off."""
    replaced(monkeypatch, "aba", lambda a: [a[0], a[1] * np.nan, a[2]])
    off = [row for row in kt.verify(arm(), 2, fast=True).off if row.method == "aba"]
    assert off and off[0].ratio == np.inf and off[0].where == "joint 'elbow'"


def test_a_method_that_fails_is_reported(monkeypatch):
    """An exception of one method is a finding, not the end of the others."""

    def fails(*_, **__):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setitem(ALGORITHMS, "newton_euler", dataclasses.replace(ALGORITHMS["newton_euler"], function=fails))
    result = kt.verify(arm(), 2, fast=True)
    assert [row.method for row in result.off] == ["newton_euler"]
    assert "it fails: ZeroDivisionError: division by zero" in result.off[0].note


def test_wrong_forces_and_slopes_of_elements_are_named(monkeypatch):
    """Forces that are not the gradient of their energy; slopes that are not those of the forces; by element."""
    springs = (kt.forces.PointSpring(name, "world", "hand", 30.0, 0.3, 2.0) for name in ("rope", "band"))
    model = arm().with_forces(*springs)
    rows = [row for row in kt.verify(model, 2, fast=True) if row.quantity == "force elements"]
    assert {row.verdict for row in rows[:-1]} == {"ok"} and rows[-1].verdict == "left out"  # no internal states
    product, rates, laws = force_elements.transposed_product, state_slopes.tangents, force_elements.differentiated

    with monkeypatch.context() as damage:
        damage.setattr(force_elements, "transposed_product", lambda *given: [1.01 * x for x in product(*given)])
        assert {"conservative forces", "power"} <= deviating(kt.verify(model, 2, fast=True), "force elements")
    with monkeypatch.context() as damage:
        damage.setattr(state_slopes, "tangents", lambda *given: [
            {d: given[0].mul(given[0].const(1.01), x) for d, x in row.items()} for row in rates(*given)
        ])  # fmt: skip
        assert {"stiffness K", "damping D"} <= deviating(kt.verify(model, 2, fast=True), "force elements")

    def steeper(element, *given):
        law = laws(element, *given)
        if element.name == "band":
            graph = law.leaves._graph
            law.slopes = [(rows, K, [{n: graph.mul(graph.const(1.01), x) for n, x in row.items()} for row in D], *rest)
                          for rows, K, D, *rest in law.slopes]  # fmt: skip
        return law

    with monkeypatch.context() as damage:
        damage.setattr(force_elements, "differentiated", steeper)
        (row,) = (row for row in kt.verify(model, 2, fast=True).off if row.quantity == "force elements")
        assert row.method == "Gauss-Newton D" and "'band'" in row.where and not any("'rope'" in x for x in row.also)


@dataclass(frozen=True)
class Booster(kt.forces.ForceElement):
    """A damper of the wrong sign that is declared passive."""

    name: str
    start: str
    end: str
    frame_fields, passive = ("start", "end"), True

    def length(self, kin):
        return kt.forces.norm(kin.point(self.end) - kin.point(self.start))

    def tension(self, length, rate):
        return -rate


def test_an_element_that_gives_energy_but_is_declared_passive_is_named():
    """Among others that are passive."""
    model = arm().with_forces(kt.forces.PointSpring("rope", "world", "hand", 30.0), Booster("booster", "world", "hand"))
    (row,) = (row for row in kt.verify(model, 2, fast=True).off if row.quantity == "force elements")
    assert row.method == "passive elements" and "'booster'" in row.where and "declared passive" in row.note
    assert not any("rope" in place for place in row.also)


def deviating(result, quantity) -> set[str]:
    """Methods of a quantity that deviate."""
    return {row.method for row in result if row.quantity == quantity and row.verdict == "off"}
