"""Graph: the hash-consed expression DAG that an algorithm run on symbols records into.

Each node is a tuple ``(op, *args)`` with the operations of `program.py`; the arguments are numbers of earlier nodes.
A request for an existing node returns it, so common subexpressions are shared from the start, and each request
passes through local rules first (Featherstone, section 10.4: copy and constant propagation, x*0, x*1, x+0), extended by
signs and one-level cancellations. The rules keep this normal form:

* a product or quotient has no negated operand, and its constant operand is positive: signs stand outside and are
  absorbed by the sums above;
* a sum has no negated operand, and its constant operand is positive; of a - b and b - a only the first one requested
  exists, the other is its negation;
* the constant of a product stands first, that of a sum last, other commutative operands by number.

The rules take exact arithmetic for granted (x*0 = 0, x/x = 1): for finite inputs inside the domain they change rounding
only. They never fold an operation whose constant result would not be finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import isfinite
from typing import NamedTuple

from kinetree.errors import CompilationError
from kinetree.trace.expr import Condition, Expr

Node = tuple
"""``(op, *args)``; the booleans ``("true",)`` and ``("false",)`` exist only here, lowering never emits them."""


class Guard(NamedTuple):
    """A stretch of a trace that changes values only where some numbers are not 0.

    Attributes
    ----------
    start, stop : int
        Its nodes.
    values : tuple of int
        The nodes of these numbers, 1 or 0; they stand before the stretch.
    results, old : tuple of int
        Nodes of the results, and of the values that they are where a number is 0. There may be more results, which
        have any value then.
    """

    start: int
    stop: int
    values: tuple[int, ...]
    results: tuple[int, ...]
    old: tuple[int, ...]


class Graph:
    """One trace: nodes, numbered in order of creation. Not for use by several threads at once.

    The methods named after operations take and give node numbers; `Expr` wraps them in Python's operators.

    Attributes
    ----------
    nodes : list of tuple
        Node k is ``(op, *args)``.
    value : list of float or None
        The number that node k is, if it is a constant.
    visits : list of int
        Lengths of the graph where parts of loops begin, see `repeated` of `spatial.scalar`.
    guards : list of Guard
        Stretches that machine code may skip, see `guarded` of `spatial.scalar`.
    unconverged : set of int
        Conditions that derivatives count as true, see `unconverged` of `spatial.scalar`.

    Examples
    --------
    >>> graph = Graph()
    >>> x, y = graph.input(0, 0), graph.input(0, 1)
    >>> (x * y - y * x).constant
    0.0
    """

    __slots__ = ("nodes", "value", "index", "visits", "guards", "unconverged", "_guarding")

    ZERO, ONE, TRUE, FALSE = 0, 1, 2, 3

    def __init__(self) -> None:
        # `index` maps a requested node to its simplified form, which may be another node.
        self.index: dict[Node, int] = {}
        self.nodes: list[Node] = []
        self.value: list[float | None] = []
        for node in (("const", 0.0), ("const", 1.0), ("true",), ("false",)):
            self.node(node)
        self.value[:2] = 0.0, 1.0
        self.visits: list[int] = []
        self.guards: list[Guard] = []
        self.unconverged: set[int] = set()
        self._guarding = False

    def __len__(self) -> int:
        return len(self.nodes)

    def guarded(self, condition: Condition, old: Sequence, compute: Callable[[], Sequence]) -> list[Expr]:
        """``compute()`` where the condition holds, else the old values; machine code may skip the computation.

        Notes
        -----
        Nodes that are made by `compute` are found by nobody else afterwards: values within have no users outside but
        through the results. A guard within a guard is a plain selection.
        """
        zero = Expr(self, self.ZERO)
        old = [zero._operand(x, "guarded") for x in old]
        if self._guarding or condition.constant is not None:
            new = [zero._operand(x, "guarded") for x in compute()]
            chosen = [self.where(condition.id, a, b) for a, b in zip(new, old, strict=False)]
            return [Expr(self, k) for k in (*chosen, *new[len(old) :])]
        values, holds = self._numbers_of(condition.id), condition.id
        if not values:
            values = (self.where(condition.id, self.ONE, self.ZERO),)
            holds = self.lt(self.const(0.5), values[0])
        start, known = len(self.nodes), len(self.index)
        self._guarding = True
        try:
            new = [zero._operand(x, "guarded") for x in compute()]
        finally:
            self._guarding = False
        # Without the rules of `where`, which could give a result by parts that others use.
        results = [b if a == b else self.node(("where", holds, a, b)) for a, b in zip(new, old, strict=False)]
        # Rules look into sums and products: a selection hides what others may not use. Both of its values are the same,
        # because derivatives of iterations that have converged use the value where the condition does not hold, too.
        results += [
            k if k < start or self.value[k] is not None else self.node(("where", holds, k, k)) for k in new[len(old) :]
        ]
        self.guards.append(Guard(start, len(self.nodes), values, tuple(results), tuple(old)))
        made = [self.index.popitem() for _ in range(len(self.index) - known)]
        self.index.update(entry for entry in reversed(made) if entry[0][0] in ("const", "input", "param"))
        return [Expr(self, k) for k in results]

    def _numbers_of(self, condition: int) -> tuple[int, ...]:
        """The numbers that are 1 where all of some `settled` conditions hold and else 0; none for other conditions."""
        op, *args = self.nodes[condition]
        if op == "and":
            first, second = map(self._numbers_of, args)
            return (*first, *second) if first and second else ()
        return (args[1],) if op == "lt" and self.value[args[0]] == 0.5 and self._is_indicator(args[1]) else ()

    def moving(self, condition: int) -> int:
        """A condition for derivatives: those of iterations that have converged count as true."""
        if condition in self.unconverged:
            return self.TRUE
        op, *args = self.nodes[condition]
        if self.unconverged and op == "and":
            return self.logical_and(*map(self.moving, args))
        if self.unconverged and self._numbers_of(condition):
            return self.lt(args[0], self._moving_number(args[1]))
        return condition

    def _moving_number(self, k: int) -> int:
        op, *args = self.nodes[k]
        if op != "where":
            return k
        return self.where(self.moving(args[0]), *map(self._moving_number, args[1:]))

    def _is_indicator(self, k: int) -> bool:
        """Whether a number is 1 or 0 by its structure."""
        if k == self.ONE or k == self.ZERO:
            return True
        op, *args = self.nodes[k]
        return op == "where" and all(map(self._is_indicator, args[1:]))

    # Leaves ---------------------------------------------------------------------------------------------------------

    def input(self, array: int, index: int) -> Expr:
        """Entry `index` (flat) of input number `array`."""
        return Expr(self, self.node(("input", array, index)))

    def param(self, index: int) -> Expr:
        """Number `index` of the model."""
        return Expr(self, self.node(("param", index)))

    def constant(self, x: float) -> Expr:
        """A fixed number."""
        return Expr(self, self.const(x))

    def node(self, node: Node) -> int:
        """The number of exactly this node, made if need be; no rule is applied."""
        k = self.index.get(node)
        if k is None:
            k = self.index[node] = len(self.nodes)
            self.nodes.append(node)
            self.value.append(None)
        return k

    def const(self, x: float) -> int:
        """The node of a constant; -0.0 counts as 0.0, infinity is allowed (a limit that does not exist)."""
        x = float(x) + 0.0
        if x != x:
            raise CompilationError(
                "a constant of the traced code is NaN; expected a number. Look for 0/0 or a missing value in the model."
            )
        k = self.node(("const", x))
        self.value[k] = x
        return k

    # Sums -----------------------------------------------------------------------------------------------------------

    def add(self, a: int, b: int) -> int:
        """a + b."""
        k = self.index.get(("add", a, b))
        if k is None:
            k = self.index["add", a, b] = self._add(a, b)
        return k

    def _add(self, a: int, b: int) -> int:
        nodes, value = self.nodes, self.value
        x, y = value[a], value[b]
        if x is not None or (y is None and a > b):
            a, b, x, y = b, a, y, x
        if y is not None:
            if x is not None and isfinite(x + y):
                return self.const(x + y)
            if y == 0.0:
                return a
            if y < 0.0:
                return self.sub(a, self.const(-y))
        na, nb = nodes[a], nodes[b]
        oa, ob = na[0], nb[0]
        if ob == "neg":
            return self.sub(a, nb[1])
        if oa == "neg":
            return self.sub(b, na[1])
        if a == b:
            return self.mul(self.const(2.0), a)
        if oa == "sub" and na[2] == b:  # (a - b) + b
            return na[1]
        if ob == "sub" and nb[2] == a:
            return nb[1]
        if y is not None and (oa == "add" or oa == "sub"):
            k = self._shift(na, y)
            if k is not None:
                return k
        if oa == "mul" and ob == "mul" and na[1] == na[2] and nb[1] == nb[2]:
            p, q = nodes[na[1]], nodes[nb[1]]
            if p[1] == q[1] and (p[0], q[0]) in (("sin", "cos"), ("cos", "sin")):  # sin^2 + cos^2
                return self.ONE
        return self.node(("add", a, b))

    def sub(self, a: int, b: int) -> int:
        """a - b."""
        k = self.index.get(("sub", a, b))
        if k is None:
            k = self.index["sub", a, b] = self._sub(a, b)
        return k

    def _sub(self, a: int, b: int) -> int:
        nodes, value = self.nodes, self.value
        x, y = value[a], value[b]
        if x is not None and y is not None and isfinite(x - y):
            return self.const(x - y)
        if a == b and x is None:
            return self.ZERO
        if y is not None and y <= 0.0:
            return self.add(a, self.const(-y))
        if x == 0.0:
            return self.neg(b)
        na, nb = nodes[a], nodes[b]
        oa, ob = na[0], nb[0]
        if ob == "neg":
            return self.add(a, nb[1])
        if oa == "neg":
            return self.neg(self.add(na[1], b))
        if x is not None and x < 0.0:
            return self.neg(self.add(b, self.const(-x)))
        if oa == "add" and b in na:  # (a + b) - b
            return na[2] if na[1] == b else na[1]
        if oa == "sub" and na[1] == b:  # (b - c) - b
            return self.neg(na[2])
        if ob == "add" and a in nb:  # a - (a + c)
            return self.neg(nb[2] if nb[1] == a else nb[1])
        if ob == "sub" and nb[1] == a:  # a - (a - c)
            return nb[2]
        if y is not None and (oa == "add" or oa == "sub"):
            k = self._shift(na, -y)
            if k is not None:
                return k
        if x is not None and (ob == "add" or ob == "sub"):
            k = self._shift(nb, -x)
            if k is not None:
                return self.neg(k)
        k = self.index.get(("sub", b, a))
        if k is not None:
            return self.neg(k)
        return self.node(("sub", a, b))

    def _shift(self, node: Node, shift: float) -> int | None:
        """The sum or difference `node`, which holds a constant, plus another constant; None if it holds none."""
        op, a, b = node
        x, y = self.value[a], self.value[b]
        if y is not None and isfinite(y):
            total = y + shift if op == "add" else shift - y
            return self.add(a, self.const(total)) if isfinite(total) else None
        if x is not None and isfinite(x + shift):
            return self.sub(self.const(x + shift), b)
        return None

    def neg(self, a: int) -> int:
        """-a."""
        if self.value[a] is not None:
            return self.const(-self.value[a])
        node = self.nodes[a]
        return node[1] if node[0] == "neg" else self.node(("neg", a))

    # Products -------------------------------------------------------------------------------------------------------

    def mul(self, a: int, b: int) -> int:
        """a b."""
        k = self.index.get(("mul", a, b))
        if k is None:
            k = self.index["mul", a, b] = self._mul(a, b)
        return k

    def _mul(self, a: int, b: int) -> int:
        nodes, value = self.nodes, self.value
        x, y = value[a], value[b]
        if y is not None or (x is None and a > b):
            a, b, x, y = b, a, y, x
        if x is not None:
            if y is not None:
                return self.const(x * y) if isfinite(x * y) else self.node(("mul", a, b))
            if x == 0.0:
                return self.ZERO
            if x == 1.0:
                return b
            if x < 0.0:
                return self.neg(self.mul(self.const(-x), b))
        na, nb = nodes[a], nodes[b]
        oa, ob = na[0], nb[0]
        if oa == "neg":
            return self.neg(self.mul(na[1], b))
        if ob == "neg":
            return self.neg(self.mul(a, nb[1]))
        if x is not None:
            if (ob == "mul" or ob == "div") and value[nb[1]] is not None:  # c1 (c2 x), c1 (c2 / x)
                product = x * value[nb[1]]
                if product and isfinite(product):
                    return (self.mul if ob == "mul" else self.div)(self.const(product), nb[2])
        elif oa == "div" and na[2] == b:  # (y / x) x
            return na[1]
        elif ob == "div" and nb[2] == a:
            return nb[1]
        return self.node(("mul", a, b))

    def div(self, a: int, b: int) -> int:
        """a / b."""
        k = self.index.get(("div", a, b))
        if k is None:
            k = self.index["div", a, b] = self._div(a, b)
        return k

    def _div(self, a: int, b: int) -> int:
        x, y = self.value[a], self.value[b]
        if y is not None:
            if y == 0.0:
                raise CompilationError(
                    "division by the constant 0 in traced code: the result would be NaN or infinite for every input. "
                    "Look for a zero mass, length or axis in the model."
                )
            if x is not None and isfinite(x / y):
                return self.const(x / y)
            if y < 0.0:
                return self.neg(self.div(a, self.const(-y)))
            if y == 1.0:
                return a
            if math.frexp(y)[0] == 0.5 and isfinite(1.0 / y):  # a power of two: the reciprocal is exact
                return self.mul(self.const(1.0 / y), a)
        if x == 0.0:
            return self.ZERO
        if x is not None and x < 0.0:
            return self.neg(self.div(self.const(-x), b))
        if a == b and x is None:
            return self.ONE
        na, nb = self.nodes[a], self.nodes[b]
        if na[0] == "neg":
            return self.neg(self.div(na[1], b))
        if nb[0] == "neg":
            return self.neg(self.div(a, nb[1]))
        if na[0] == "mul" and b in na[1:]:  # (x y) / y
            return na[2] if na[1] == b else na[1]
        if x == 1.0 and nb[0] == "div":  # 1 / (x / y)
            return self.div(nb[2], nb[1])
        return self.node(("div", a, b))

    # Functions ------------------------------------------------------------------------------------------------------

    def sqrt(self, a: int) -> int:
        """Square root."""
        return self._function("sqrt", math.sqrt, a)

    def exp(self, a: int) -> int:
        """e to the power a."""
        return self._function("exp", math.exp, a)

    def log(self, a: int) -> int:
        """Natural logarithm."""
        return self._function("log", math.log, a)

    def sin(self, a: int) -> int:
        """Sine; odd."""
        node = self.nodes[a]
        return self.neg(self.sin(node[1])) if node[0] == "neg" else self._function("sin", math.sin, a)

    def cos(self, a: int) -> int:
        """Cosine; even."""
        node = self.nodes[a]
        return self._function("cos", math.cos, node[1] if node[0] == "neg" else a)

    def detach(self, a: int) -> int:
        """a, of which no derivative is taken; simplification puts a in its place."""
        return a if self.value[a] is not None or self.nodes[a][0] == "detach" else self.node(("detach", a))

    def tanh(self, a: int) -> int:
        """Hyperbolic tangent; odd."""
        node = self.nodes[a]
        return self.neg(self.tanh(node[1])) if node[0] == "neg" else self._function("tanh", math.tanh, a)

    def abs(self, a: int) -> int:
        """Absolute value."""
        node = self.nodes[a]
        return a if node[0] in ("abs", "sqrt") else self._function("abs", abs, node[1] if node[0] == "neg" else a)

    def arctan2(self, a: int, b: int) -> int:
        """Angle of the point (b, a)."""
        x, y = self.value[a], self.value[b]
        return self.const(math.atan2(x, y)) if x is not None and y is not None else self.node(("arctan2", a, b))

    def _function(self, op: str, function: Callable[[float], float], a: int) -> int:
        x = self.value[a]
        if x is None:
            return self.node((op, a))
        try:
            return self.const(function(x))
        except (ValueError, OverflowError) as error:
            raise CompilationError(
                f"{op}({x!r}) of a constant in traced code: {error}; expected a constant inside the domain.", value=x
            ) from error

    # Booleans -------------------------------------------------------------------------------------------------------

    def lt(self, a: int, b: int) -> int:
        """a < b."""
        x, y = self.value[a], self.value[b]
        if x is not None and y is not None:
            return self.boolean(x < y)
        return self.FALSE if a == b else self.node(("lt", a, b))

    def le(self, a: int, b: int) -> int:
        """a <= b; not folded for a = b, which may be NaN."""
        x, y = self.value[a], self.value[b]
        return self.boolean(x <= y) if x is not None and y is not None else self.node(("le", a, b))

    def eq(self, a: int, b: int) -> int:
        """a = b; not folded for a = b, which may be NaN."""
        x, y = self.value[a], self.value[b]
        if x is not None and y is not None:
            return self.boolean(x == y)
        return self.node(("eq", min(a, b), max(a, b)))

    def boolean(self, x: bool) -> int:
        """The node of a fixed truth value."""
        return self.TRUE if x else self.FALSE

    def logical_and(self, a: int, b: int) -> int:
        """Both."""
        if a > b:
            a, b = b, a
        if a == b or a == self.TRUE:
            return b
        if b == self.TRUE:
            return a
        return self.FALSE if self.FALSE in (a, b) else self.node(("and", a, b))

    def logical_or(self, a: int, b: int) -> int:
        """One or both."""
        if a > b:
            a, b = b, a
        if a == b or a == self.FALSE:
            return b
        if b == self.FALSE:
            return a
        return self.TRUE if self.TRUE in (a, b) else self.node(("or", a, b))

    def logical_not(self, a: int) -> int:
        """Not a. Comparisons are not turned round: that would be wrong for NaN."""
        if a in (self.TRUE, self.FALSE):
            return self.boolean(a == self.FALSE)
        node = self.nodes[a]
        return node[1] if node[0] == "not" else self.node(("not", a))

    def where(self, cond: int, a: int, b: int) -> int:
        """a where cond holds, else b."""
        if cond == self.TRUE or a == b:
            return a
        if cond == self.FALSE:
            return b
        nodes = self.nodes
        if nodes[cond][0] == "not":
            return self.where(nodes[cond][1], b, a)
        if nodes[a][0] == "neg" and nodes[b][0] == "neg":
            return self.neg(self.where(cond, nodes[a][1], nodes[b][1]))
        return self.node(("where", cond, a, b))

    def apply(self, op: str, *args: int) -> int:
        """The node of an operation given by its name in `program.py`, simplified; leaves are taken as they are."""
        if op in ("input", "param", "true", "false"):
            return self.node((op, *args))
        return getattr(self, _METHODS.get(op, op))(*args)

    def wrap(self, k: int) -> Expr | Condition:
        """The node as an object with operators."""
        return (Condition if self.nodes[k][0] in BOOLEAN else Expr)(self, k)


_METHODS = {"and": "logical_and", "or": "logical_or", "not": "logical_not"}
BOOLEAN = frozenset(("lt", "le", "eq", "and", "or", "not", "true", "false"))
