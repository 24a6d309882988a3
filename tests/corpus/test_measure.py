"""The measure of the corpus: what counts as agreement, and what cannot slip through."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from benchmarks.corpus.measure import TOLERANCE, Errors, compare, random_states, relative


class Itself:
    """A rival that is kinetree, with one result spoiled."""

    name = "kinetree"

    def __init__(self, model, **spoiled) -> None:
        self.model, self.spoiled = model, spoiled

    def crba(self, q):
        return kt.crba(self.model, q) * self.spoiled.get("M", 1.0)

    def bias(self, q, v):
        return kt.rnea(self.model, q, v, 0 * v) * self.spoiled.get("bias", 1.0)

    def aba(self, q, v, tau):
        return kt.aba(self.model, q, v, tau) * self.spoiled.get("a", 1.0)


@pytest.fixture(scope="module")
def model():
    return kt.load("arm7")


def test_a_model_agrees_with_itself(model):
    """Interpreted against compiled: rounding alone."""
    assert compare(kt, model, Itself(model)).agree


@pytest.mark.parametrize("what", ["M", "bias"])
def test_a_spoiled_result_disagrees(model, what):
    """An error of 1e-8 in M or bias is found, of that size."""
    errors = compare(kt, model, Itself(model, **{what: 1 + 1e-8}))
    assert not errors.agree
    assert getattr(errors, what) == pytest.approx(1e-8, rel=1e-3)


def test_a_spoiled_acceleration_is_judged_by_its_residual(model):
    """If the rival's acceleration is off but ours solves the rival's equation, the error is the rival's."""
    errors = compare(kt, model, Itself(model, a=1 + 1e-6))
    assert errors.acceleration == pytest.approx(1e-6, rel=1e-3)
    assert errors.residual < TOLERANCE and errors.agree


@pytest.mark.parametrize("place", range(4))
def test_nan_never_agrees(place):
    """A NaN in M, bias, or both errors of the acceleration."""
    values = [0.0, 0.0, 0.0, 0.0, 1.0]
    values[place] = np.nan
    if place >= 2:
        values[2] = values[3] = np.nan
    assert not Errors(*values).agree
    assert not Errors(0.0, 0.0, 0.0, 0.0, 1.0).worse(Errors(*values)).agree


def test_a_singular_mass_matrix_has_no_accelerations():
    """M and bias still count; a condition number that is NaN does not excuse anything."""
    assert Errors(0.0, 0.0, np.nan, np.nan, 1e17).agree
    assert not Errors(1e-3, 0.0, np.nan, np.nan, 1e17).agree
    assert not Errors(0.0, 0.0, np.nan, np.nan, np.nan).agree


def test_states_keep_within_limits_and_wide_ones_are_cut():
    """Positions respect finite limits; a range of 1e6 rad is cut at 10."""
    b = kt.ModelBuilder("two")
    b.add_body("a", joint=kt.joints.Revolute(), mass=1.0, com=(1, 0, 0), lower=0.2, upper=0.3)
    b.add_body("b", "a", kt.joints.Revolute(), mass=1.0, com=(1, 0, 0), lower=-1e6, upper=1e6)
    q, _, _ = random_states(b.build(), np.random.default_rng(0), 50)
    assert (q[:, 0] >= 0.2).all() and (q[:, 0] <= 0.3).all()
    assert np.abs(q[:, 1]).max() <= 10.0 < 2 * np.abs(q[:, 1]).max()


def test_nothing_against_nothing_is_no_error():
    """0 relative to 0 is 0; an error against 0 counts in full."""
    assert relative(np.zeros(3), np.zeros(3)) == 0.0
    assert relative(np.array([1e-3]), np.zeros(1)) == 1e-3
    assert relative(np.array([1e-3]), np.zeros(1), least=10.0) == pytest.approx(1e-4)
