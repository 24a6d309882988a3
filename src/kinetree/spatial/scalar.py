"""Elementary functions over any scalar: a float, a NumPy array (one entry per state), or a traced expression.

A float goes to :mod:`math`; an object with a method of the function's name computes by it (``x.sincos()``,
``x.sqrt()``, ``condition.where(a, b)``, ``y.arctan2(x)``); everything else goes to NumPy. Where :mod:`math` would
raise, the floating point result (NaN or infinity) is returned instead, so that all kinds of scalars agree.

Nothing here branches on a value for arrays and expressions: use :func:`where`, and make both of its arguments finite.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = [
    "SNAP", "absolute", "arctan2", "cos", "detach", "exp", "guarded", "is_zero", "log", "maximum", "minimum",
    "repeated", "settled", "sign", "sin", "sincos", "sqrt", "tanh", "unconverged", "where", "with_slopes",
]  # fmt: skip


# Constants this close to 0, relative to their scale, are residues of right angles and count as exact zeros. Never more:
# an angle of 1.5708 is off by 4e-6 and stays so.
SNAP = 1e-13


def is_zero(x) -> bool:
    """Whether ``x`` is a structural zero: a Python float that equals 0.0.

    Examples
    --------
    >>> is_zero(0.0), is_zero(np.zeros(3))
    (True, False)
    """
    return isinstance(x, float) and x == 0.0


def sin(x):
    """Sine of an angle [rad]."""
    if isinstance(x, (float, int)):
        return math.sin(x) if math.isfinite(x) else math.nan
    return x.sin() if hasattr(x, "sin") else np.sin(x)


def cos(x):
    """Cosine of an angle [rad]."""
    if isinstance(x, (float, int)):
        return math.cos(x) if math.isfinite(x) else math.nan
    return x.cos() if hasattr(x, "cos") else np.cos(x)


def sincos(x):
    """Sine and cosine of one angle [rad], in this order.

    Examples
    --------
    >>> sincos(0.0)
    (0.0, 1.0)
    """
    if isinstance(x, (float, int)):
        return (math.sin(x), math.cos(x)) if math.isfinite(x) else (math.nan, math.nan)
    return x.sincos() if hasattr(x, "sincos") else (np.sin(x), np.cos(x))


def sqrt(x):
    """Square root; NaN for a negative float."""
    if isinstance(x, (float, int)):
        return math.sqrt(x) if x >= 0.0 else math.nan
    return x.sqrt() if hasattr(x, "sqrt") else np.sqrt(x)


def exp(x):
    """Exponential; infinite where it overflows."""
    if isinstance(x, (float, int)):
        try:
            return math.exp(x)
        except OverflowError:
            return math.inf
    return x.exp() if hasattr(x, "exp") else np.exp(x)


def log(x):
    """Natural logarithm; -inf at 0 and NaN for a negative float."""
    if isinstance(x, (float, int)):
        return math.log(x) if x > 0.0 else (-math.inf if x == 0.0 else math.nan)
    return x.log() if hasattr(x, "log") else np.log(x)


def tanh(x):
    """Hyperbolic tangent."""
    if isinstance(x, (float, int)):
        return math.tanh(x)
    return x.tanh() if hasattr(x, "tanh") else np.tanh(x)


def absolute(x):
    """Absolute value."""
    if isinstance(x, (float, int)):
        return abs(x)
    return x.absolute() if hasattr(x, "absolute") else np.absolute(x)


def detach(x):
    """``x``, of which no derivative is taken: the same number where nothing is differentiated."""
    return x.detach() if hasattr(x, "detach") else x


def with_slopes(value, slopes, *variables):
    """``value`` with given derivatives with respect to variables, for results of iterations and for integrals.

    ``slopes(*variables)`` gives them, over variables that move half as far, so that second derivatives are right, too,
    where slopes depend on the variables. Not called for scalars of which no derivative is taken.

    Examples
    --------
    >>> with_slopes(0.25, lambda x: [2.0 * x], 0.5)
    0.25
    """
    plain = [detach(x) for x in variables]
    moves = [x - x_0 if hasattr(x, "detach") else None for x, x_0 in zip(variables, plain, strict=True)]
    if all(move is None for move in moves):
        return value
    midway = [x if move is None else x + 0.5 * move for x, move in zip(plain, moves, strict=True)]
    found = detach(value)
    for move, slope in zip(moves, slopes(*midway), strict=True):
        if move is not None:
            found = found + slope * move
    return found


def arctan2(y, x):
    """Angle [rad] of the point (x, y), in (-pi, pi]."""
    if isinstance(y, (float, int)):
        if isinstance(x, (float, int)):
            return math.atan2(y, x)
        y = x * 0.0 + y if hasattr(x, "arctan2") else y  # only x has the method: make y one of its kind
    return y.arctan2(x) if hasattr(y, "arctan2") else np.arctan2(y, x)


def where(condition, a, b):
    """``a`` where the condition is true, else ``b``; both are evaluated, so both must be finite."""
    if isinstance(condition, (bool, np.bool_)):
        return a if condition else b
    return condition.where(a, b) if hasattr(condition, "where") else np.where(condition, a, b)


def guarded(condition, old, compute):
    """``compute()`` where the condition is true, else the old values: for parts of loops that few states need.

    Parameters
    ----------
    condition : bool, array of bool or Condition
    old : sequence of scalars
    compute : callable
        Gives as many scalars, which must be finite also where the condition does not hold; or more, whose last ones
        have any value there, also NaN: for later stretches under conditions that imply this one.

    Returns
    -------
    list of scalars
        The same as of `where`, one by one. Machine code of large programs skips the computation where the condition
        holds for no state of a tile (`trace.graph`); its results do not depend on the other states.
    """
    if hasattr(condition, "graph"):
        return condition.graph.guarded(condition, old, compute)
    new = list(compute())
    return [*(where(condition, a, b) for a, b in zip(new, old, strict=False)), *new[len(old) :]]


def settled(condition):
    """The same condition, from here on by one number: `guarded` stretches under it need no operations before them."""
    if isinstance(condition, (bool, np.bool_)):
        return condition
    return where(condition, 1.0, 0.0) > 0.5


def unconverged(condition):
    """The same, for iterations: false only where `guarded` stretches under it change values by no more than rounding.

    Derivatives count it as true: they may converge later than the values.
    """
    found = settled(condition)
    if hasattr(found, "graph"):
        found.graph.unconverged.add(found.id)
    return found


def repeated(parts, values):
    """The parts in their order; a trace notes where each begins.

    Parameters
    ----------
    parts : sequence
        Of a loop that does the same operations for each of them, with values from other places.
    values : sequence of scalars
        Some that the loop changes: where one is traced, large programs become loops of machine code.

    Yields
    ------
    object
        The parts.
    """
    graph = next((x.graph for x in values if hasattr(x, "graph")), None)
    for part in parts:
        if graph is not None:
            graph.visits.append(len(graph))
        yield part
    if graph is not None:
        graph.visits.append(len(graph))


def minimum(x, y):
    """The smaller one; NaN if either is NaN."""
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.minimum(x, y)
    for first, second in ((x, y), (y, x)):
        if hasattr(first, "minimum"):
            return first.minimum(second)
    return where(x < y, x, where(x >= y, y, x + y))  # neither is true for NaN, and x + y propagates it


def maximum(x, y):
    """The larger one; NaN if either is NaN."""
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return np.maximum(x, y)
    for first, second in ((x, y), (y, x)):
        if hasattr(first, "maximum"):
            return first.maximum(second)
    return where(x > y, x, where(x <= y, y, x + y))


def sign(x):
    """-1, 0 or 1; NaN stays NaN."""
    if isinstance(x, np.ndarray):
        return np.sign(x)
    if hasattr(x, "sign"):
        return x.sign()
    return where(x > 0.0, 1.0, where(x < 0.0, -1.0, x))
