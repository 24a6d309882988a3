"""Expr and Condition: a node of a graph as a value of traced code, with Python's operators.

An Expr stands for a float that is not known yet, a Condition for a truth value that is not known yet. Both record the
operations on them; neither has a value, so traced code cannot branch on one: ``condition.where(a, b)`` selects.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from numbers import Real
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from kinetree.errors import CompilationError

if TYPE_CHECKING:
    from kinetree.trace.graph import Graph

MAX_POWER = 64
"""Largest integer exponent that is unrolled into products."""


class _Symbol:
    """A node of a graph. Two objects for one node are equal, so that symbols serve in dicts and sets."""

    __slots__ = ("graph", "id")
    __array_ufunc__ = None  # NumPy then leaves operators with its scalars to us

    def __init__(self, graph: Graph, id: int) -> None:
        self.graph = graph
        self.id = id

    def __repr__(self) -> str:
        op, *args = self.graph.nodes[self.id]
        return f"<{type(self).__name__} {self.id}: {op}({', '.join(map(str, args))})>"

    def __hash__(self) -> int:
        return hash((id(self.graph), self.id))

    def __eq__(self, other: object) -> bool:
        """Whether both are the same node. Comparing values is `Expr.equal`, so numbers are refused here."""
        if isinstance(other, _Symbol):
            return self.graph is other.graph and self.id == other.id
        if isinstance(other, (Real, np.generic)):
            raise CompilationError(
                f"{self!r} == {other!r} would compare objects, not values. Write x.equal(y): it records the comparison."
            )
        return NotImplemented

    def _no_value(self, what: str) -> NoReturn:
        raise CompilationError(
            f"{what} required of {self!r}, which has no value while the code is traced. Traced code cannot branch on a "
            "value or take it out: use where(condition, a, b) of kinetree.spatial.scalar, and its sin, cos, sqrt "
            "in place of math's."
        )

    def __bool__(self) -> bool:
        self._no_value("a truth value")

    def __float__(self) -> float:
        self._no_value("a float")

    def __int__(self) -> int:
        self._no_value("an integer")

    __index__ = __int__

    def _mixed(self) -> NoReturn:
        raise CompilationError(
            "two traces are mixed in one expression: a traced value was kept from an earlier trace. Traced functions "
            "must not store their values outside."
        )


@contextlib.contextmanager
def traced_code(what: str) -> Iterator[None]:
    """Explain errors of NumPy's functions, which take no symbols, in code that is traced; ``what`` names it."""
    try:
        yield
    except TypeError as error:
        if "__array_ufunc__" not in str(error):
            raise
        raise CompilationError(
            f"{what}: a function of NumPy was called with a value that is not known while the code is traced. Use sin, "
            "cos, sqrt, exp, absolute, maximum and others of kinetree.spatial.scalar, which take traced values."
        ) from error


def is_number(x: object) -> bool:
    return isinstance(x, (Real, np.generic)) or (isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype != object)


def _function(name: str, summary: str) -> Callable[[Expr], Expr]:
    """A method that records a function of the value."""

    def record(self: Expr) -> Expr:
        return Expr(self.graph, getattr(self.graph, name)(self.id))

    record.__doc__ = summary
    return record


def _reflected(name: str) -> Callable:
    """The operator of a number and a value: the number stands first."""

    def record(self: Expr, other: object):
        a = self._other(other)
        return NotImplemented if a is None else Expr(self.graph, getattr(self.graph, name)(a, self.id))

    return record


def _comparison(name: str, turned: bool = False) -> Callable:
    """The operator that records a comparison, of the other one with this value if it is turned."""

    def record(self: Expr, other: object):
        b = self._other(other)
        if b is None:
            return NotImplemented
        pair = (b, self.id) if turned else (self.id, b)
        return Condition(self.graph, getattr(self.graph, name)(*pair))

    return record


class Expr(_Symbol):
    """A float of the traced code.

    Parameters
    ----------
    graph : Graph
        The trace it belongs to; `Graph.input`, `Graph.param` and `Graph.constant` make the first ones.
    id : int
        Number of its node.

    Notes
    -----
    ``==`` tests whether two objects are the same node; the recorded comparison is `equal`.
    """

    __slots__ = ()

    def _other(self, other: object) -> int | None:
        """Node number of an operand: an Expr of the same graph or a number; None for anything else."""
        if type(other) is float:  # most of them, and a test with an abstract class takes longer than the rest
            return self.graph.const(other)
        if isinstance(other, Expr):
            if other.graph is not self.graph:
                self._mixed()
            return other.id
        if isinstance(other, Condition):
            raise CompilationError("a condition has no arithmetic: use condition.where(1.0, 0.0) for its number.")
        return self.graph.const(other) if is_number(other) else None

    @property
    def constant(self) -> float | None:
        """The number that this is, if it folded to a constant; else None."""
        return self.graph.value[self.id]

    # These operators are written out, not generated: they are the innermost loop of every trace.

    def __add__(self, other):
        graph = self.graph
        b = other.id if type(other) is Expr and other.graph is graph else self._other(other)
        return NotImplemented if b is None else Expr(graph, graph.add(self.id, b))

    def __sub__(self, other):
        graph = self.graph
        b = other.id if type(other) is Expr and other.graph is graph else self._other(other)
        return NotImplemented if b is None else Expr(graph, graph.sub(self.id, b))

    def __mul__(self, other):
        graph = self.graph
        b = other.id if type(other) is Expr and other.graph is graph else self._other(other)
        return NotImplemented if b is None else Expr(graph, graph.mul(self.id, b))

    def __truediv__(self, other):
        graph = self.graph
        b = other.id if type(other) is Expr and other.graph is graph else self._other(other)
        return NotImplemented if b is None else Expr(graph, graph.div(self.id, b))

    __radd__ = _reflected("add")
    __rsub__ = _reflected("sub")
    __rmul__ = _reflected("mul")
    __rtruediv__ = _reflected("div")
    __neg__ = _function("neg", "-x.")

    def __pos__(self):
        return self

    __abs__ = absolute = _function("abs", "Absolute value.")

    def __pow__(self, exponent):
        """Small integer powers by repeated squaring; 0.5 and -0.5 by the square root."""
        n = exponent if is_number(exponent) else None
        if n in (0.5, -0.5):
            return self.sqrt() if n > 0 else 1.0 / self.sqrt()
        if n is None or not float(n).is_integer() or abs(n) > MAX_POWER:
            raise CompilationError(
                f"traced power with exponent {exponent!r}; expected an integer up to {MAX_POWER}, 0.5 or -0.5. "
                "For other powers of a positive x write exp(y * log(x)).",
                exponent=exponent,
            )
        power, square, rest = None, self, abs(int(n))
        while rest:
            if rest % 2:
                power = square if power is None else power * square
            rest //= 2
            if rest:
                square = square * square
        if power is None:
            return Expr(self.graph, self.graph.ONE)
        return power if n > 0 else 1.0 / power

    def __rpow__(self, base):
        raise CompilationError(f"traced exponent of {base!r}: write exp(x * log(base)) for a positive base.")

    __lt__ = _comparison("lt")
    __le__ = _comparison("le")
    __gt__ = _comparison("lt", turned=True)
    __ge__ = _comparison("le", turned=True)

    def equal(self, other: Expr | float) -> Condition:
        """The condition that both have the same value; false for NaN."""
        return Condition(self.graph, self.graph.eq(self.id, self._operand(other, "equal")))

    def _operand(self, other: object, method: str) -> int:
        b = self._other(other)
        if b is None:
            raise CompilationError(f"{method} takes a number or a traced value, found {type(other).__name__}.")
        return b

    sqrt = _function("sqrt", "Square root.")
    exp = _function("exp", "Exponential.")
    log = _function("log", "Natural logarithm.")
    tanh = _function("tanh", "Hyperbolic tangent.")
    sin = _function("sin", "Sine.")
    cos = _function("cos", "Cosine.")
    detach = _function("detach", "The value, of which no derivative is taken.")

    def sincos(self) -> tuple[Expr, Expr]:
        """Sine and cosine."""
        return self.sin(), self.cos()

    def arctan2(self, x: Expr | float) -> Expr:
        """Angle of the point (x, self)."""
        return Expr(self.graph, self.graph.arctan2(self.id, self._operand(x, "arctan2")))


class Condition(_Symbol):
    """A truth value of the traced code: the result of a comparison, combined by ``& | ~``, used by `where`."""

    __slots__ = ()

    def _other(self, other: object) -> int | None:
        if isinstance(other, Condition):
            if other.graph is not self.graph:
                self._mixed()
            return other.id
        return self.graph.boolean(bool(other)) if isinstance(other, (bool, np.bool_)) else None

    @property
    def constant(self) -> bool | None:
        """The truth value, if it folded to a fixed one; else None."""
        return {self.graph.TRUE: True, self.graph.FALSE: False}.get(self.id)

    def __and__(self, other):
        b = self._other(other)
        return NotImplemented if b is None else Condition(self.graph, self.graph.logical_and(self.id, b))

    __rand__ = __and__

    def __or__(self, other):
        b = self._other(other)
        return NotImplemented if b is None else Condition(self.graph, self.graph.logical_or(self.id, b))

    __ror__ = __or__

    def __invert__(self):
        return Condition(self.graph, self.graph.logical_not(self.id))

    def where(self, a: Expr | float, b: Expr | float) -> Expr:
        """a where this holds, else b."""
        ids = [Expr(self.graph, self.graph.ZERO)._operand(x, "where") for x in (a, b)]
        return Expr(self.graph, self.graph.where(self.id, *ids))
