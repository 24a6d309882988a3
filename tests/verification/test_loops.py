"""kt.verify on mechanisms with loops: all methods agree, and deliberate damage is noticed where it is."""

from __future__ import annotations

import dataclasses
import importlib.metadata

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import constrained, constrained_derivatives
from kinetree.constraints import Distance, LoopJoint
from kinetree.errors import UnsupportedError
from kinetree.joints import Revolute, Spherical
from kinetree.verification import loop_checks, loop_derivative_checks
from kinetree.verification.states import States
from kinetree.verification.verify import all_checks

FAMILIES = ("spatial", "planar", "spherical")
QUANTITIES = ("constraints", "accelerations, constrained", "constraint forces")


def found(model, states=3, seed=0):
    """The rows about constraints."""
    s = States(model, states, seed, compiled=False)
    return [check.row(s) for check in (*loop_checks.checks(), *loop_derivative_checks.CHECKS)]


def held_by_a_rod():
    """Two pendula with a rod between their ends, one of them on a spring, and a coupled third."""
    b = kt.ModelBuilder("held by a rod")
    rod = {"mass": 1.0, "com": (0.0, 0.0, -0.5), "inertia": np.diag([0.1, 0.12, 0.02])}
    b.add_body("left", joint=Spherical(), joint_name="ball", **rod)
    b.add_body("right", joint=Revolute((0, 1, 0)), joint_name="hinge", placement=((1.0, 0, 0), (0, 0, 0)), **rod)
    b.add_body("low", "right", Revolute((1, 0, 0)), "low hinge", placement=((0, 0, -1.0), (0, 0, 0)), **rod)
    model = b.build().replace(stiffness={"hinge": 3.0}, damping={"low hinge": 0.2})
    rod = Distance("left", "low", 1.1, (0.0, 0.0, -1.0), (0.0, 0.0, -0.3))
    return model.with_constraints(rod, kt.constraints.Lock("low hinge"))


MECHANISMS = {
    "four_bar": kt.models.four_bar,
    "bennett": kt.models.bennett,
    "parallelogram": kt.models.parallelogram,
    "spatial_slider_crank": kt.models.spatial_slider_crank,
    "spatial": lambda: kt.models.random_loops(11, bodies=7, loops=2).model,
    "spherical": lambda: kt.models.random_loops(5, bodies=7, loops=2, family="spherical").model,
    "rod, spring and lock": held_by_a_rod,
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_sound_mechanisms_pass(name):
    """Every row that applies agrees within its rounding; the redundant rows are named."""
    model = MECHANISMS[name]()
    rows = found(model)
    assert all(row.verdict in ("ok", "left out") for row in rows), [str(row) for row in rows if row.verdict == "off"]
    compared = {(row.quantity, row.method) for row in rows if row.verdict == "ok"}
    assert {quantity for quantity, _ in compared} >= set(QUANTITIES)
    differentiated = {quantity for quantity, method in compared if method == "forward_dynamics_derivatives"}
    assert len(differentiated) == (0 if model.elements else 6)
    assert ("accelerations, constrained", "maximal coordinates") in compared
    kept = next(row for row in rows if row.method == "kept rows")
    left = model.nc - len(model.independent_rows())
    assert kept.note.count(" row ") == left


@pytest.mark.seeds(3)
def test_random_mechanisms_pass(seed):
    """Of all families; where the neutral position and the closed one are far apart, closed states are still found."""
    model, *_ = kt.models.random_loops(seed, bodies=6 + seed % 3, loops=1 + seed % 3, family=FAMILIES[seed % 3])
    rows = found(model, 2, seed)
    assert all(row.verdict in ("ok", "left out") for row in rows), [str(row) for row in rows if row.verdict == "off"]
    assert sum(row.verdict == "ok" for row in rows) > 10


def test_mechanisms_are_verified_inside_their_limits():
    """A four-bar with a narrow range, in which no random position closes: all is compared all the same."""
    model = kt.models.four_bar()
    q = model.keyframe("initial")[0]
    rows = found(model.replace(lower=q - 0.05, upper=q + 0.05), 2)
    assert all(row.verdict in ("ok", "left out") for row in rows), [str(row) for row in rows if row.verdict == "off"]
    assert sum(row.verdict == "ok" for row in rows) > 10


@pytest.mark.sweep
def test_cassie_passes():
    """Six loops, gears and couplings; rows that follow from others but for the decimals of the file are no finding."""
    robots = "cmeel.prefix/share/example-robot-data/robots/cassie_description/robots"
    path = importlib.metadata.distribution("example-robot-data").locate_file(f"{robots}/cassie.sdf")
    model = kt.load(path, inertia="project").without_limits()
    rows = found(model, 1)
    assert all(row.verdict in ("ok", "left out") for row in rows), [str(row) for row in rows if row.verdict == "off"]
    kept = next(row for row in rows if row.method == "kept rows")
    assert kept.verdict == "ok" and "but for decimals" in kept.note


def test_machine_code_passes():
    """Forward and inverse dynamics, compiled; the table of kt.verify has these rows."""
    model = kt.models.spatial_slider_crank()
    s = States(model, 2, 1, compiled=True)
    rows = [check.row(s) for check in loop_checks.checks()]
    assert all(row.verdict in ("ok", "left out") for row in rows)
    assert {check.quantity for check in all_checks()} > set(QUANTITIES)


def test_trees_and_mechanisms_out_of_scope_are_left_out():
    """By reason."""
    assert {row.note for row in found(kt.models.double_pendulum())} == {"the model has no loops"}
    from kinetree.constraints import StickingFriction

    sticky = kt.models.four_bar().replace(dry_friction=0.1).with_constraints(StickingFriction())
    assert {row.note for row in found(sticky)} == {"forces of some constraints are bounded"}
    open_bar = kt.models.four_bar()
    far = dataclasses.replace(
        open_bar.constraints[0], X_P=kt.spatial.Transform.shift(kt.spatial.Vector3(9.0, 0.0, 0.0))
    )
    rows = found(open_bar.replace(constraints=(far,)), states=1)
    assert {row.note for row in rows} == {
        "0 closed positions were found about the neutral one and the keyframes, expected 1"
    }


def test_planar_models_are_refused_by_name():
    """With the spatial model that is the same."""
    with pytest.raises(UnsupportedError, match="verify needs a spatial model and 'four_bar' is planar; take model.spa"):
        kt.verify(kt.models.four_bar().planar(), 2, fast=True)


# Damage ---------------------------------------------------------------------------------------------------------------


def off(model=None, states=2) -> set[str]:
    return {row.method for row in found(model or kt.models.spatial_slider_crank(), states) if row.verdict == "off"}


def test_a_wrong_bias_is_noticed(monkeypatch):
    """Without the rate of T it is off, and the reference in maximal coordinates shows which side is wrong."""
    right = LoopJoint.bias
    monkeypatch.setattr(LoopJoint, "bias", lambda self, kin: [1.01 * x for x in right(self, kin)])
    wrong = off()
    assert {"bias", "forward_dynamics, auto", "maximal coordinates"} <= wrong
    assert not wrong & {"G", "phi", "loop_dynamics, kkt", "maximal_equation"}


def test_wrong_rows_are_noticed(monkeypatch):
    """A sign of one entry."""
    right = LoopJoint.rows

    def rows(self, kin):
        first, *others = right(self, kin)
        return [{k: -x if k == max(first) else x for k, x in first.items()}, *others]

    monkeypatch.setattr(LoopJoint, "rows", rows)
    wrong = off()
    assert {"G", "forward_dynamics, auto", "maximal coordinates"} <= wrong


def test_a_wrong_position_error_is_noticed(monkeypatch):
    """Twice phi in one row has the same zeros and another derivative."""
    right = LoopJoint.residual

    def residual(self, kin):
        first, *others = right(self, kin)
        return [2.0 * first, *others]

    monkeypatch.setattr(LoopJoint, "residual", residual)
    assert off() == {"G"}


def test_a_wrong_solution_is_noticed(monkeypatch):
    """Forces of the constraints that are off by 1e-6 of themselves."""
    right = constrained.ConstrainedSystem._solved

    def solved(self, f, k):
        y, lam = right(self, f, k)
        return [x * (1.0 + 1e-6) for x in y], lam

    monkeypatch.setattr(constrained.ConstrainedSystem, "_solved", solved)
    wrong = off()
    assert {"forward_dynamics, auto", "forward_dynamics, crba"} <= wrong
    assert not wrong & {"maximal coordinates", "loop_dynamics, kkt", "loop_dynamics, null_space", "maximal_equation"}


def test_a_wrong_derivative_is_noticed(monkeypatch):
    """A slope of inverse dynamics that is off by 1e-8 of itself."""
    right = constrained_derivatives.rnea_derivatives

    def slopes(*arguments):
        dq, *others = right(*arguments)
        return [[x * (1.0 + 1e-8) for x in row] for row in dq], *others

    monkeypatch.setattr(constrained_derivatives, "rnea_derivatives", slopes)
    assert off(kt.models.four_bar()) == {"forward_dynamics_derivatives"}


def test_rows_left_out_by_mistake_are_noticed():
    """A hinge of a planar loop keeps two rows; with one of them, the rank and the accelerations are wrong."""
    model = kt.models.four_bar()
    kept = model.independent_rows()
    assert len(kept) == 2
    damaged = model.replace()
    damaged._set(_loop_rows=model.loop_rows()._replace(kept=kept[:1]))
    wrong = off(damaged)
    assert {"kept rows", "forward_dynamics, auto", "maximal_equation"} <= wrong and "loop_dynamics, kkt" not in wrong
