"""What kt.differentiate is asked for: names of derivatives, and requests that cannot be meant."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DuplicateNameError, UnknownNameError

ARM = kt.models.double_pendulum()


def test_names_say_what_is_differentiated():
    """Algorithm, mode and variables; requests that differ in anything else have different names."""
    assert kt.differentiate(ARM, "rnea", wrt="q").name == "rnea_jacobian_q"
    assert kt.differentiate(ARM, "rnea", "vjp", wrt=("q", "v")).name == "rnea_vjp_q_v"
    others = [
        {"tangent": False},
        {"method": "reverse"},
        {"method": "forward"},
        {"optional": "f_ext"},
        {"wrt": ("q", "numbers")},
        {"wrt": ("q", "numbers"), "numbers": "*.mass"},
    ]
    names = [kt.differentiate(ARM, "rnea", **{"wrt": "q", **other}).name for other in others]
    assert len({*names, "rnea_jacobian_q"}) == len(others) + 1
    parts = [kt.differentiate(ARM, "pose", wrt="q", of=of, frame="lower").name for of in ("R_WF", "p_WF")]
    assert parts[0] != parts[1]


@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        ({"wrt": ("q", "q")}, DuplicateNameError, "the variable 'q' is named twice"),
        ({"wrt": "q", "of": ("tau", "tau")}, DuplicateNameError, "the output 'tau' is named twice"),
        ({"wrt": ()}, TypeError, "need a variable and an output"),
        ({"wrt": "q", "of": ()}, TypeError, "need a variable and an output"),
        ({"wrt": "x"}, UnknownNameError, "no variable named 'x' in the derivatives of 'rnea'"),
        ({"wrt": "q", "threads": 0}, ValueError, "threads is 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(request_, error, message):
    """At once, and by name."""
    with pytest.raises(error, match=message):
        kt.differentiate(ARM, "rnea", **request_)


def test_threads_are_kept():
    """As for kt.compile; also by copies and by the function over other numbers."""
    f = kt.differentiate(ARM, "rnea", wrt="q", threads=1)
    mass = next(name for name in ARM.numbers().names if name.endswith("mass"))
    assert f.threads == pickle.loads(pickle.dumps(f)).threads == f.with_parameters({mass: 2.0}).threads == 1
    q = np.ones((3, 2))
    np.testing.assert_array_equal(f(q, q, q), kt.differentiate(ARM, "rnea", wrt="q")(q, q, q))
