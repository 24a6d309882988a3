"""Simplification of a whole graph: the rules that must know which nodes are alive and how often each is used.

Each pass copies the live part of a graph into a new one, through the rules of `graph.py`, and rewrites some nodes on
the way. A pass may spend an operation only where another one dies, hence "used once": such a value dies with its user.

A node is *pure* if it depends on constants and model numbers alone. Pure nodes are computed once per model, not once
per state, so an operation on pure operands costs nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from .graph import Graph

LEAVES = ("const", "input", "param", "true", "false")
Rewrite = Callable[[Graph, dict[int, int], int], int | None]


def live(graph: Graph, roots: Sequence[int]) -> list[int]:
    """The nodes that the roots depend on, in order of creation."""
    nodes, seen, stack = graph.nodes, set(), list(roots)
    while stack:
        k = stack.pop()
        if k not in seen:
            seen.add(k)
            op, *args = nodes[k]
            if op not in LEAVES:
                stack.extend(args)
    return sorted(seen)


def purity(graph: Graph, order: Sequence[int]) -> set[int]:
    """Those of the nodes `order` (closed under arguments) that depend on constants and model numbers alone."""
    pure: set[int] = set()
    for k in order:
        op, *args = graph.nodes[k]
        if op != "input" and (op in LEAVES or pure.issuperset(args)):
            pure.add(k)
    return pure


class Survey:
    """What a pass knows of the live part of a graph: order, number of uses, users of values used once, purity."""

    def __init__(self, graph: Graph, roots: Sequence[int]) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.order = live(graph, roots)
        self.pure = purity(graph, self.order)
        self.uses = Counter(roots)
        self.user: dict[int, str] = {}
        for k in self.order:
            op, *args = self.nodes[k]
            if op not in LEAVES:
                for a in args:
                    self.uses[a] += 1
                    self.user[a] = op

    def single(self, k: int, *ops: str) -> bool:
        """Whether node k is one of these operations and used once."""
        return self.nodes[k][0] in ops and self.uses[k] == 1

    def factors(self, k: int) -> list[int]:
        """The factors of product k, products used once multiplied out."""
        found, stack = [], [*reversed(self.nodes[k][1:])]
        while stack:
            f = stack.pop()
            if self.single(f, "mul"):
                stack.extend(reversed(self.nodes[f][1:]))
            else:
                found.append(f)
        return found

    def terms(self, k: int) -> list[tuple[int, int]]:
        """The terms of sum k as (sign, node), sums used once written out."""
        found, stack = [], [(1, k)]
        while stack:
            sign, t = stack.pop()
            if t == k or self.single(t, "add", "sub"):
                op, a, b = self.nodes[t]
                stack += (-sign if op == "sub" else sign, b), (sign, a)
            else:
                found.append((sign, t))
        return found

    def rebuild(self, roots: Sequence[int], rewrite: Rewrite) -> tuple[Graph, list[int]]:
        """Copy the live nodes into a new graph; where `rewrite` gives a node of the new graph, take that one."""
        target, new = Graph(), {}
        for k in self.order:
            node = rewrite(target, new, k)
            if node is None:
                op, *args = self.nodes[k]
                node = target.apply(op, *(args if op in LEAVES else [new[a] for a in args]))
            new[k] = node
        return target, [new[k] for k in roots]


def product(graph: Graph, factors: Sequence[int]) -> int:
    """The product of some nodes, from left to right."""
    result = graph.ONE
    for k in factors:
        result = graph.mul(result, k)
    return result


def total(graph: Graph, terms: Sequence[tuple[int, int]]) -> int:
    """The sum of some (sign, node), from left to right."""
    result = graph.ZERO
    for sign, k in terms:
        result = graph.add(result, k) if sign > 0 else graph.sub(result, k)
    return result


def share_reciprocals(graph: Graph, roots: Sequence[int]) -> tuple[Graph, list[int]]:
    """x / b, y / b -> r = 1 / b, x r, y r; and x / p -> x (1 / p) for pure p, whose reciprocal is computed once."""
    survey = Survey(graph, roots)
    pure = survey.pure
    quotients = [survey.nodes[k] for k in survey.order if survey.nodes[k][0] == "div" and k not in pure]
    divisors = Counter(b for _, _, b in quotients)

    def rewrite(target: Graph, new: dict[int, int], k: int) -> int | None:
        op, *args = survey.nodes[k]
        if op != "div" or k in pure:
            return None
        a, b = args
        if divisors[b] > 1 or (b in pure and graph.value[b] is None):
            return target.mul(new[a], target.div(target.ONE, new[b]))
        return None

    return survey.rebuild(roots, rewrite)


def group_pure(graph: Graph, roots: Sequence[int]) -> tuple[Graph, list[int]]:
    """p1 (p2 x) -> (p1 p2) x and (x + p1) + p2 -> x + (p1 + p2): in chains used once, the pure operands meet."""
    survey = Survey(graph, roots)
    pure = survey.pure

    def rewrite(target: Graph, new: dict[int, int], k: int) -> int | None:
        op = survey.nodes[k][0]
        if k in pure:
            return None
        if op == "mul" and not (survey.uses[k] == 1 and survey.user.get(k) == "mul"):
            factors = survey.factors(k)
            fixed = [new[f] for f in factors if f in pure]
            if len(fixed) > 1:
                moving = [new[f] for f in factors if f not in pure]
                return target.mul(product(target, fixed), product(target, moving))
        elif op in ("add", "sub") and not (survey.uses[k] == 1 and survey.user.get(k) in ("add", "sub")):
            terms = survey.terms(k)
            fixed = [(s, new[t]) for s, t in terms if t in pure]
            if len(fixed) > 1:
                moving = [(s, new[t]) for s, t in terms if t not in pure]
                return target.add(total(target, moving), total(target, fixed))
        return None

    return survey.rebuild(roots, rewrite)


def factor(graph: Graph, roots: Sequence[int]) -> tuple[Graph, list[int], bool]:
    """a b + a c -> a (b + c), also with minus, for products used once; tells whether anything changed.

    With n common factors this saves n multiplications, or n - 1 if one product consists of them alone.
    """
    survey = Survey(graph, roots)
    changed = False

    def rewrite(target: Graph, new: dict[int, int], k: int) -> int | None:
        nonlocal changed
        op, *args = survey.nodes[k]
        if op not in ("add", "sub") or not all(survey.single(a, "mul") for a in args):
            return None
        left, right = (Counter(survey.factors(a)) for a in args)
        common = left & right
        left, right = left - common, right - common
        if common.total() - (not left or not right) < 1:
            return None
        changed = True
        rest = [product(target, [new[f] for f in side.elements()]) for side in (left, right)]
        inner = target.add(*rest) if op == "add" else target.sub(*rest)
        return target.mul(product(target, [new[f] for f in common.elements()]), inner)

    return *survey.rebuild(roots, rewrite), changed


NEGATION_DEPTH = 32
"""How far below itself a negation may be absorbed; long chains must not exhaust Python's stack."""


def absorb_negations(graph: Graph, roots: Sequence[int]) -> tuple[Graph, list[int]]:
    """-(a - b) -> b - a, -(c x) -> (-c) x and the like, where the negated value is used once. Leaves the normal form.

    The graph's rules pull signs out; what no sum absorbed stands before outputs and functions. Here it goes into a
    difference, a constant or a pure value below, if there is one. No rule of the graph may be applied afterwards.
    """
    survey = Survey(graph, roots)
    nodes, pure = survey.nodes, survey.pure

    # free[k]: -k costs nothing; the sign sinks so many levels before it vanishes.
    free: dict[int, int] = {}
    for k in survey.order:
        op, *args = nodes[k]
        depth = NEGATION_DEPTH + 1
        if k in pure or op == "neg" or survey.single(k, "sub"):
            depth = 0
        elif survey.single(k, "mul", "div", "add"):
            depth = 1 + min(free.get(a, NEGATION_DEPTH) for a in args)
        elif survey.single(k, "where"):
            depth = 1 + max(free.get(a, NEGATION_DEPTH) for a in args[1:])
        if depth <= NEGATION_DEPTH:
            free[k] = depth

    def negated(target: Graph, new: dict[int, int], k: int) -> int:
        op, *args = nodes[k]
        if graph.value[k] is not None or op == "neg":
            return target.neg(new[k])
        if k in pure:
            return target.node(("neg", new[k]))
        if op == "sub":
            return target.node(("sub", new[args[1]], new[args[0]]))
        if op == "where":
            return target.node(("where", new[args[0]], *(negated(target, new, a) for a in args[1:])))
        a, b = args
        first = free.get(a, NEGATION_DEPTH) <= free.get(b, NEGATION_DEPTH)
        if op == "add":  # -(a + b) = (-a) - b
            a, b = (a, b) if first else (b, a)
            return target.node(("sub", negated(target, new, a), new[b]))
        if first:
            return target.node((op, negated(target, new, a), new[b]))
        return target.node((op, new[a], negated(target, new, b)))

    def rewrite(target: Graph, new: dict[int, int], k: int) -> int | None:
        op, *args = nodes[k]
        if op in LEAVES:
            return None
        if op == "neg" and k not in pure and args[0] in free:
            return negated(target, new, args[0])
        return target.node((op, *(new[a] for a in args)))

    return survey.rebuild(roots, rewrite)


def simplify(graph: Graph, roots: Sequence[int]) -> tuple[Graph, list[int]]:
    """All passes: the new graph and its roots."""
    graph, roots = share_reciprocals(graph, roots)
    graph, roots = group_pure(graph, roots)
    changed = True
    while changed:
        graph, roots, changed = factor(graph, roots)
        if changed:
            graph, roots = group_pure(graph, roots)
    return absorb_negations(graph, roots)
