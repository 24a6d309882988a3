"""Designs: the values of samples, as functions of the seed and the index alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import kinetree as kt
from kinetree.sweeps.design import SAMPLINGS, Design

UNIFORM = {"a": kt.sweeps.uniform(1.0, 3.0), "b": kt.sweeps.normal([0.0, 5.0], [1.0, 2.0]), "c": stats.gamma(2.0)}


def test_a_grid_is_the_product_of_its_lists():
    """The last list varies fastest, as in itertools.product; vectors are rows."""
    design = Design.of({"a": [1.0, 2.0], "b": [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], "c": 7.0})
    found = design.values(0, design.count)
    expected = list(itertools.product([1.0, 2.0], [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
    assert design.count == 6
    np.testing.assert_array_equal(found["a"], [a for a, _ in expected])
    np.testing.assert_array_equal(found["b"], [b for _, b in expected])
    np.testing.assert_array_equal(found["c"], [7.0] * 6)


def test_lists_side_by_side():
    """Lists of one length go together, single values with all."""
    design = Design.of({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0], "c": 7.0}, "zip")
    found = design.values(1, 3)
    assert design.count == 3
    np.testing.assert_array_equal([found[name] for name in "abc"], [[2.0, 3.0], [5.0, 6.0], [7.0, 7.0]])


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_samples_do_not_depend_on_the_range_they_are_asked_in(sampling):
    """Any partition gives the same bits; another seed gives other values."""
    over = {**UNIFORM, "d": [1.0, 2.0], "e": lambda rng: rng.normal(size=3)}
    design = Design.of(over, sampling=sampling, samples=50, seed=3)
    whole = design.values(0, 100)
    for cuts in ([0, 1, 2, 17, 100], [0, 33, 66, 99, 100]):
        parts = [design.values(i, j) for i, j in itertools.pairwise(cuts)]
        for name, x in whole.items():
            np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), x)
    other = Design.of(over, sampling=sampling, samples=50, seed=4).values(0, 100)
    assert all((other[name] != whole[name]).any() for name in "abce")


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_draws_have_their_distributions(sampling):
    """Kolmogorov-Smirnov against SciPy's distributions, of 2,000 draws: each is refused at 1e-6 only."""
    found = Design.of(UNIFORM, sampling=sampling, samples=2000, seed=1).values(0, 2000)
    pairs = [
        (found["a"], stats.uniform(1.0, 2.0)), (found["b"][:, 0], stats.norm(0.0, 1.0)),
        (found["b"][:, 1], stats.norm(5.0, 2.0)), (found["c"], stats.gamma(2.0)),
    ]  # fmt: skip
    for x, distribution in pairs:
        assert stats.kstest(x, distribution.cdf).pvalue > 1e-6
    columns = np.column_stack([x for x, _ in pairs])
    assert np.abs(np.corrcoef(columns.T) - np.eye(4)).max() < 5.0 / np.sqrt(2000)


def test_latin_hypercube_fills_each_row_once():
    """One draw in each of n equal parts of every coordinate."""
    points = Design.of(UNIFORM, sampling="latin_hypercube", samples=64).points(0, 64)
    np.testing.assert_array_equal(np.sort((points * 64).astype(int), axis=0), np.tile(np.arange(64)[:, None], 4))


def test_log_uniform_is_uniform_in_the_logarithm():
    """Its logarithm lies between those of its bounds, evenly."""
    x = Design.of({"a": kt.sweeps.log_uniform(0.1, 10.0)}, samples=2000).values(0, 2000)["a"]
    assert stats.kstest(np.log10(x), stats.uniform(-1.0, 2.0).cdf).pvalue > 1e-6


@pytest.mark.parametrize(
    ("over", "options", "message"),
    [
        ({}, {}, "expected a mapping"),
        ({"a": "many"}, {}, "expected numbers, a distribution"),
        ({"a": [1.0, np.nan]}, {}, "expected finite numbers"),
        ({"a": [[1.0], [1.0, 2.0]]}, {}, "expected numbers"),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]}, {"design": "zip"}, "lists of one length; found a: 2, b: 3"),
        ({"a": kt.sweeps.uniform(0.0, 1.0)}, {}, "samples= .* is needed"),
        ({"a": [1.0]}, {"samples": 3}, "over has lists only"),
        ({"a": [1.0]}, {"design": "gird"}, "Did you mean 'grid'"),
        ({"a": kt.sweeps.uniform(0.0, 1.0)}, {"samples": 3, "sampling": "sobel"}, "Did you mean 'sobol'"),
        ({"a": [1.0]}, {"seed": -1}, "expected a whole number from 0"),
    ],
)
def test_designs_that_cannot_be(over, options, message):
    """The message names the parameter and what was expected."""
    with pytest.raises(kt.errors.KinetreeError, match=message):
        Design.of(over, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kt.sweeps.uniform(2.0, 1.0), "is not below"),
        (lambda: kt.sweeps.uniform([0.0, 1.0], [1.0, 2.0, 3.0]), "of the same size"),
        (lambda: kt.sweeps.normal(0.0, 0.0), "expected a positive number"),
        (lambda: kt.sweeps.log_uniform(0.0, 1.0), "expected 0 < low < high"),
        (lambda: kt.sweeps.uniform(0.0, np.inf), "expected finite numbers"),
    ],
)
def test_distributions_that_cannot_be(make, message):
    """Bounds are compared when the distribution is made."""
    with pytest.raises(kt.errors.ArgumentError, match=message):
        make()


def test_a_function_that_fails_names_the_sample():
    """Functions of the generator are the user's."""
    design = Design.of({"a": lambda rng: 1.0 / 0.0}, samples=3)
    with pytest.raises(kt.errors.ArgumentError, match=r"over\['a'\] failed for sample 1: ZeroDivisionError"):
        design.values(1, 2)
