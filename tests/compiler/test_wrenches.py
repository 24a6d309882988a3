"""External wrenches by body: names, numbers, and the errors that name the argument."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ShapeError

MODEL = kt.models.double_pendulum()
REST = np.zeros((3, 2))


def test_names_and_numbers_of_bodies_are_alike():
    """A mapping may hold either; bodies that it does not hold have no wrench."""
    wrench = np.arange(1.0, 7.0)
    full = np.zeros((MODEL.nb, 6))
    full[MODEL.body("lower")] = wrench
    expected = kt.rnea(MODEL, *REST, full)
    for key in ("lower", MODEL.body("lower")):
        np.testing.assert_array_equal(kt.rnea(MODEL, *REST, {key: wrench}), expected)


def test_batches_of_wrenches_that_do_not_fit_are_named():
    """The message shows the batch of each body."""
    with pytest.raises(ShapeError, match=r"rnea: .* wrenches in f_ext do not .*'upper': \(2,\), 'lower': \(3,\)"):
        kt.rnea(MODEL, *REST, {"upper": np.ones((2, 6)), "lower": np.ones((3, 6))})


def test_only_wrenches_are_given_by_body():
    """A mapping in the place of q is no array."""
    with pytest.raises(ShapeError, match="rnea: q has entries of type object, expected real numbers"):
        kt.rnea(MODEL, {"elbow": 0.1}, *REST[1:])
