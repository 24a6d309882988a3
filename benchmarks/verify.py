"""The answers are proved before they are timed: a benchmark of a wrong answer is worth nothing."""

from __future__ import annotations

import numpy as np

from benchmarks.contenders import Task

EPS = np.finfo(float).eps


class WrongAnswer(AssertionError):
    """A contender does not compute what the reference computes; nothing is timed."""


def verify(task: Task, algorithm: str) -> dict[str, object]:
    """Compare every road with Pinocchio, state by state; raise `WrongAnswer` or return the largest errors.

    An error is relative to the largest entry of the reference for that state. rnea and crba may differ by rounding and
    by the snapping of constants within 1e-13 of 0 or 1: 1e-10. aba solves with M, which amplifies rounding by its
    condition number.
    """
    answers = task.answers(algorithm)
    tolerance = 1e-10
    if algorithm == "aba":
        tolerance = max(tolerance, 100 * EPS * task.condition_number())
    reference = answers.reference.reshape(len(answers.reference), -1)
    scale = np.abs(reference).max(axis=1)
    errors = {}
    for road, found in answers.found.items():
        found = np.asarray(found)
        if found.shape != answers.reference.shape:
            raise WrongAnswer(
                f"{task.robot} {algorithm} ({road}): shape {found.shape}, expected {answers.reference.shape}"
            )
        error = (np.abs(found.reshape(reference.shape) - reference).max(axis=1) / scale).max()
        if not error <= tolerance:  # also when it is NaN
            raise WrongAnswer(f"{task.robot} {algorithm} ({road}): error {error:.1e}, tolerance {tolerance:.1e}")
        errors[road] = float(error)
    return {
        "robot": task.robot,
        "algorithm": algorithm,
        "states": len(reference),
        "tolerance": tolerance,
        "errors": errors,
    }
