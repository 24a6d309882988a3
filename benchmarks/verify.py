"""The answers are proved before they are timed: a benchmark of a wrong answer is worth nothing."""

from __future__ import annotations

import numpy as np

from benchmarks.contenders import Task

EPS = np.finfo(float).eps
SINGLE = 1e-5  # what float32 may differ by, relative, times the condition number of M for aba


class WrongAnswer(AssertionError):
    """A contender does not compute what the reference computes; nothing is timed."""


def relative_error(found: np.ndarray, reference: np.ndarray) -> float:
    """The largest error of any state, relative to the largest entry of the reference for that state."""
    scale = np.abs(reference).max(axis=1)
    return float((np.abs(found - reference).max(axis=1) / scale).max())


def verify(task: Task, algorithm: str, cpp: bool = True) -> dict[str, object]:
    """Compare every method with Pinocchio, state by state; raise `WrongAnswer` or return the largest errors.

    rnea, crba and derivatives of rnea may differ by rounding and by the snapping of constants within 1e-13 of 0 or 1:
    1e-10. aba solves with M, which amplifies rounding by its condition number; its derivatives solve twice.
    """
    answers = task.answers(algorithm, cpp)
    tolerance = 1e-10
    if algorithm.startswith("aba"):
        tolerance = max(tolerance, 100 * EPS * task.condition_number())
    errors = {}
    for method, found in answers.found.items():
        if found.shape != answers.reference.shape:
            raise WrongAnswer(
                f"{task.robot} {algorithm} ({method}): shape {found.shape}, expected {answers.reference.shape}"
            )
        errors[method] = error = relative_error(found, answers.reference)
        if not error <= tolerance:  # also when it is NaN
            raise WrongAnswer(f"{task.robot} {algorithm} ({method}): error {error:.1e}, tolerance {tolerance:.1e}")
    # In single precision an ill-conditioned state spoils the largest error, so the median of the states is looked at.
    scale = np.abs(answers.reference).max(axis=1)
    error = float(np.median(np.abs(answers.single - answers.reference).max(axis=1) / scale))
    if not error <= SINGLE * (100 if algorithm.startswith("aba") else 1):
        raise WrongAnswer(f"{task.robot} {algorithm} (float32): median error {error:.1e}")
    return {
        "robot": task.robot,
        "algorithm": algorithm,
        "states": len(answers.reference),
        "tolerance": tolerance,
        "errors": errors,
        "median_error_float32": error,
    }
