"""Positions of loop joints: the q of a joint whose transform is known, by the joint's motions alone."""

from __future__ import annotations

from kinetree.errors import ConstraintError
from kinetree.joints.position_search import CLOSE, position_at
from kinetree.spatial import Transform


def loop_position(joint, X: Transform) -> list:
    """The position at which a joint's transform is X, up to the error of X.

    Parameters
    ----------
    joint : Joint
    X : Transform
        From predecessor to successor coordinates, in floats or in extended precision.

    Returns
    -------
    list of nq scalars

    Raises
    ------
    ConstraintError
        X is no position of the joint within 1e-6.

    Notes
    -----
    Newton's method, from the neutral position, then from random ones. No implicit form is used, so it checks those.
    """
    q, error = position_at(joint, X)
    if error < CLOSE:
        return q
    raise ConstraintError(
        f"{joint!r} is at none of its positions: the nearest that was found is off by {error:.3g} (rad or m), expected "
        f"0 within {CLOSE:g}. Is the loop closed?"
    )
