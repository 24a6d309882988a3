"""What a reader may do with any bytes: load a model that is one, or raise an error of ours."""

from __future__ import annotations

import random
import warnings

import numpy as np

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.io.lint.codes import CODES

CHOICES = (
    {},
    {"unsupported": "drop", "inertia": "project", "massless": "lock"},
    {"unsupported": "drop", "inertia": "accept", "massless": "lock"},
    {"floating_base": True},
    {"merge_fixed": False},
)


class Misbehavior(Exception):
    """A reader neither loaded a valid model nor raised an error of ours."""


def judged(path: str, rng: random.Random) -> str:
    """Load a file and say how it ended: "loaded", or the name of the error. Without options lint has to agree.

    Raises
    ------
    Misbehavior
        An error that is not ours, a model with numbers that are not finite, or another verdict of lint.
    """
    options = rng.choice(CHOICES)
    if not options:
        check_lint(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            model = kt.load(path, **options)
    except (KinetreeError, FileNotFoundError) as error:
        if not str(error):
            raise Misbehavior(f"{type(error).__name__} without a message ({options})") from error
        return type(error).__name__
    except Exception as error:
        raise Misbehavior(f"{type(error).__name__}: {error} ({options})") from error
    check_valid(model)
    return "loaded"


def check_lint(path: str) -> None:
    """Lint has an error exactly where loading raises one, and that one is among lint's."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            errors = kt.lint(path, isolate=False).errors  # in a process that may die
    except Exception as error:
        raise Misbehavior(f"lint: {type(error).__name__}: {error}") from error
    if any(each.code not in CODES for each in errors):
        raise Misbehavior(f"lint: unknown codes {[each.code for each in errors]}")
    try:
        kt.load(path)
    except (KinetreeError, FileNotFoundError) as error:
        line, code = getattr(error, "line", None), getattr(error, "code", None)
        if not any(each.code == (code or each.code) and line in (each.line, None) for each in errors):
            found = [(each.line, each.code) for each in errors]
            raise Misbehavior(f"lint has {found}, loading {line}, {code}: {error}") from error
        return
    if errors:
        raise Misbehavior(f"loads, and lint says {errors[0]}")


def check_valid(model) -> None:
    """Every number of the model is finite, limits apart, and its equation of motion has finite terms."""
    numbers = model.numbers()
    for name, value in zip(numbers.names, numbers.values.tolist(), strict=True):
        if np.isnan(value) or (np.isinf(value) and "limit" not in name and "lower" not in name and "upper" not in name):
            raise Misbehavior(f"{name} is {value}")
    if model.nv == 0 or model.nv > 60:
        return
    numpy_rng = np.random.default_rng(0)
    q, v = model.random_q(numpy_rng), numpy_rng.standard_normal(model.nv)
    # Lengths and masses up to 1e300 are numbers; their products need not be.
    if np.abs(numbers.values[np.isfinite(numbers.values)]).max(initial=0.0) > 1e50:
        return
    with kt.interpreted(), np.errstate(all="ignore"):
        tau = kt.rnea(model, q, v, v)
    if not np.isfinite(tau).all():
        raise Misbehavior(f"rnea of a loaded model gives {tau}")
