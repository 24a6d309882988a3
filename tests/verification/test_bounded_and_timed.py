"""Verification of bounded forces and of rows in time: right models pass, and errors in the laws are found."""

from dataclasses import replace

import pytest

import kinetree as kt
from kinetree.constraints import HardLimits, HardLoopLimits, StickingFriction, StickingLoopFriction
from kinetree.constraints.row_law import RowLaw
from kinetree.joints import Polynomial, Prescribed, Sinusoid
from kinetree.joints.dual import value_of
from kinetree.joints.rheonomic import Instant


def arm():
    """Two joints with friction and limits."""
    model = kt.models.double_pendulum().replace(dry_friction=0.5, lower=-0.3, upper=0.4)
    return model.with_constraints(StickingFriction(), HardLimits())


def linkage():
    """A four-bar with friction in all joints and a limit in the loop joint."""
    bar = kt.models.four_bar()
    loop = replace(bar.loops[0], lower=0.3, dry_friction=0.4)
    bounds = (HardLoopLimits(), StickingLoopFriction(), StickingFriction())
    return bar.replace(constraints=[loop, *bounds], dry_friction=0.1)


def driven():
    """A four-bar whose crank turns as prescribed."""
    return kt.models.four_bar().with_constraints(kt.constraints.PrescribedMotion("crank", Polynomial((1.0, 2.0))))


def driven_loop():
    """The same, cut at the crank's joint, which drives the loop."""
    bar = kt.surgery.retree(kt.models.four_bar(), chords=["crank"])
    (crank,) = (loop for loop in bar.loops if loop.name == "crank")
    joint = Prescribed(crank.joint, (Sinusoid(0.3, 3.0, 0.0, 1.0),))
    return bar.replace(constraints=[replace(crank, joint=joint)])


def rows(model, quantity):
    """The lines of a quantity that were compared, and the result."""
    found = kt.verify(model, states=4, fast=True)
    return [row for row in found if row.quantity == quantity and row.verdict != "left out"], found


@pytest.mark.parametrize("make", [arm, linkage])
def test_bounded_forces_are_those_of_least_constraint(make):
    """Friction and limits, in trees and in loops."""
    compared, found = rows(make(), "bounded forces")
    assert len(compared) == 2 and found.ok, str(found)


@pytest.mark.parametrize("make", [driven, driven_loop])
def test_rows_that_depend_on_time(make):
    """Rates and biases by differences in time, and accelerations."""
    compared, found = rows(make(), "rows in time")
    assert len(compared) == 3 and found.ok, str(found)


def test_errors_in_the_laws_are_found(monkeypatch):
    """Too little friction, and a prescribed acceleration that is left out."""
    laws, rates = StickingLoopFriction.laws, Instant.driven_rates

    def weak(self, kin, dt=None, predicted=None):
        return [RowLaw(x.rest, 0.9 * x.resistance, 0.9 * x.force) for x in laws(self, kin, dt, predicted)]

    monkeypatch.setattr(StickingLoopFriction, "laws", weak)
    assert {row.verdict for row in rows(linkage(), "bounded forces")[0]} == {"off"}
    monkeypatch.setattr(Instant, "driven_rates", lambda self, X: [value_of(x) for x in rates(self, X)])
    assert [row.method for row in rows(driven_loop(), "rows in time")[0] if row.verdict == "off"] == ["bias"]
