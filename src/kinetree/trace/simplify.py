"""Simplification of a whole graph: the rules that depend on which nodes are alive and how often each is used.

Each pass copies the live part of a graph into a new one, through the rules of `graph.py`, and rewrites some nodes on
the way. A pass may spend an operation only where another one dies, hence "used once": such a value dies with its user.

A node is *pure* if it depends on constants and model numbers alone. Pure nodes are computed once per model, not once
per state, so an operation on pure operands costs nothing.
"""

from __future__ import annotations

import functools
import heapq
import operator
from collections import Counter
from collections.abc import Callable, Sequence

from kinetree.trace.graph import Graph

LEAVES = frozenset(("const", "input", "param", "true", "false"))
SUMS = ("add", "sub")
CHAINS = {"mul": ("mul",), **dict.fromkeys(SUMS, SUMS)}
"""The operations that operands of an operation may be, to be written out with it."""


def live(graph: Graph, roots: Sequence[int]) -> list[int]:
    """The nodes that the roots depend on, in order of creation."""
    nodes, end = graph.nodes, max(roots, default=-1) + 1
    alive = bytearray(end)
    for k in roots:
        alive[k] = True
    order = []
    for k in range(end - 1, -1, -1):
        if alive[k]:
            order.append(k)
            node = nodes[k]
            if node[0] not in LEAVES:
                if len(node) == 3:
                    alive[node[1]] = alive[node[2]] = True
                else:
                    for a in node[1:]:
                        alive[a] = True
    order.reverse()
    return order


def purity(graph: Graph, order: Sequence[int]) -> set[int]:
    """Those of the nodes `order` (closed under arguments) that depend on constants and model numbers alone."""
    nodes, pure = graph.nodes, set()
    for k in order:
        op, *args = nodes[k]
        if (op != "input") if op in LEAVES else pure.issuperset(args):
            pure.add(k)
    return pure


class Survey:
    """A graph with its roots and the data that a pass needs of the live part.

    Attributes
    ----------
    order : list of int
        The live nodes in order of creation.
    pure : bytearray
        Which nodes depend on constants and model numbers alone.
    uses : list of int
        How often each node is used, by others and as a root.
    user : list of str or None
        For a node that is used once, the operation that uses it; None for a root.
    """

    def __init__(self, graph: Graph, roots: Sequence[int]) -> None:
        self.graph = graph
        self.nodes = nodes = graph.nodes
        self.roots = list(roots)
        self.order = order = []
        self.uses = uses = [0] * len(nodes)
        self.user = user = [None] * len(nodes)
        self.pure = pure = bytearray(len(nodes))
        for k in roots:
            uses[k] += 1
        for k in range(max(roots, default=-1), -1, -1):  # `live` in the same sweep
            if not uses[k]:
                continue
            order.append(k)
            node = nodes[k]
            op = node[0]
            if op in LEAVES:
                continue
            if len(node) == 3:
                _, a, b = node
                uses[a] += 1
                uses[b] += 1
                user[a] = user[b] = op
            else:
                for a in node[1:]:
                    uses[a] += 1
                    user[a] = op
        order.reverse()
        for k in order:  # as in `purity`
            node = nodes[k]
            if node[0] in LEAVES:
                pure[k] = node[0] != "input"
            elif len(node) == 3:
                pure[k] = pure[node[1]] and pure[node[2]]
            else:
                pure[k] = all(pure[a] for a in node[1:])

    def factors(self, k: int) -> list[int]:
        """The factors of product k, products used once multiplied out."""
        nodes, uses = self.nodes, self.uses
        _, a, b = nodes[k]
        found, stack = [], [b, a]
        while stack:
            f = stack.pop()
            if uses[f] == 1 and nodes[f][0] == "mul":
                _, a, b = nodes[f]
                stack += b, a
            else:
                found.append(f)
        return found

    def terms(self, k: int) -> list[tuple[int, int]]:
        """The terms of sum k as (sign, node), sums used once written out."""
        nodes, uses = self.nodes, self.uses
        op, a, b = nodes[k]
        found, stack = [], [(-1 if op == "sub" else 1, b), (1, a)]
        while stack:
            term = sign, t = stack.pop()
            node = nodes[t]
            if uses[t] == 1 and (node[0] == "add" or node[0] == "sub"):
                op, a, b = node
                stack += (-sign if op == "sub" else sign, b), (sign, a)
            else:
                found.append(term)
        return found

    def rebuild(self, edits: dict[int, Edit], plain: bool = False, needed: bool = False) -> Survey:
        """Copy the live nodes into a new graph, those that have an edit through it; `plain` applies no rules.

        Rules look at a node, its arguments and theirs. Where nothing changed within `REACH` levels below a node none
        can apply that did not before, and it is only copied. A few edits of a large graph are not worth the copy,
        unless they are `needed`.
        """
        size = len(self.order)
        if not edits or (not needed and size > LARGE and len(edits) * WORTH < size):
            return self
        nodes, target = self.nodes, Graph()
        new = [0] * len(nodes)
        near = bytearray(len(nodes))  # REACH for changed nodes, one less at each level above
        index, made, value = target.index, target.nodes, target.value
        known = index.get
        apply = target.node if plain else lambda node: target.apply(*node)
        for k in self.order:
            node = nodes[k]
            op = node[0]
            if k in edits:
                new[k] = edits[k](target, new)
                near[k] = REACH
            elif op in LEAVES:
                new[k] = target.apply(*node)
            elif len(node) == 3:
                _, a, b = node
                distance = near[a]
                if near[b] > distance:
                    distance = near[b]
                a, b = new[a], new[b]
                copy = op, a, b
                there = known(copy)
                if there is not None:  # two nodes became one
                    new[k], near[k] = there, REACH
                elif plain or not (distance or (op in TURNED and (a > b or (op, b, a) in index))):
                    new[k] = index[copy] = len(made)
                    made.append(copy)
                    value.append(None)
                else:
                    new[k] = there = apply(copy)
                    near[k] = distance - (distance > 0) if made[there] == copy else REACH
            else:
                distance = max([near[a] for a in node[1:]])
                copy = (op, *[new[a] for a in node[1:]])
                there = known(copy)
                if there is None:
                    there = apply(copy)
                    near[k] = distance - (distance > 0) if made[there] == copy else REACH
                else:
                    near[k] = REACH
                new[k] = there
        return Survey(target, [new[k] for k in self.roots])


LARGE, WORTH = 20_000, 1000
"""Of a graph with more nodes than LARGE fewer edits than one in WORTH nodes are not made: derivatives of a humanoid's
dynamics keep 140 nodes of 80 000, and are there in 12 % less time."""

REACH = 4
"""Levels below a node at which a change may let a rule of the graph apply to it."""

TURNED = frozenset(("add", "sub", "mul", "eq", "and", "or"))
"""Operations on which the order of their operands has a bearing: a + b is b + a, a - b is -(b - a)."""

Edit = Callable[[Graph, Sequence[int]], int]
"""Makes the new form of a node in the new graph, given the new numbers of the nodes before it."""


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


def share_reciprocals(survey: Survey) -> Survey:
    """x / b, y / b -> r = 1 / b, x r, y r; and x / p -> x (1 / p) for pure p, whose reciprocal is computed once."""
    nodes, pure, value = survey.nodes, survey.pure, survey.graph.value
    quotients = [k for k in survey.order if nodes[k][0] == "div" and not pure[k]]
    divisors = Counter(nodes[k][2] for k in quotients)

    def edit(a: int, b: int) -> Edit:
        return lambda graph, new: graph.mul(new[a], graph.div(graph.ONE, new[b]))

    edits = {}
    for k in quotients:
        _, a, b = nodes[k]
        if (divisors[b] > 1 or (pure[b] and value[b] is None)) and value[a] != 1.0:
            edits[k] = edit(a, b)
    return survey.rebuild(edits)


def group_pure(survey: Survey) -> Survey:
    """p1 (p2 x) -> (p1 p2) x and (x + p1) + p2 -> x + (p1 + p2): in chains used once, the pure operands meet."""
    nodes, pure, uses, user = survey.nodes, survey.pure, survey.uses, survey.user

    def edit_product(fixed: list[tuple[int, int]], moving: list[tuple[int, int]]) -> Edit:
        return lambda graph, new: graph.mul(
            product(graph, [new[f] for _, f in fixed]), product(graph, [new[f] for _, f in moving])
        )

    def edit_sum(fixed: list[tuple[int, int]], moving: list[tuple[int, int]]) -> Edit:
        return lambda graph, new: graph.add(
            total(graph, [(s, new[t]) for s, t in moving]), total(graph, [(s, new[t]) for s, t in fixed])
        )

    edits = {}
    for k in survey.order:
        node = nodes[k]
        kinds = CHAINS.get(node[0])
        if kinds is None or pure[k]:
            continue
        _, a, b = node
        # Two pure operands can only meet in a chain: an operand must be of the same kind and used once.
        if ((uses[a] == 1 and nodes[a][0] in kinds) or (uses[b] == 1 and nodes[b][0] in kinds)) and not (
            uses[k] == 1 and user[k] in kinds
        ):
            parts = survey.terms(k) if kinds is SUMS else [(1, f) for f in survey.factors(k)]
            fixed = [part for part in parts if pure[part[1]]]
            if len(fixed) > 1:
                edit = edit_sum if kinds is SUMS else edit_product
                edits[k] = edit(fixed, [part for part in parts if not pure[part[1]]])
    return survey.rebuild(edits)


Term = tuple[int, Counter]
"""A term of a sum: its sign, and its factors with their powers."""


def factor(survey: Survey) -> Survey:
    """a b + c + a d -> a (b + d) + c, also with minus, in whole sums, for products and sums used once.

    The factor that most terms share is taken out first, with all that those terms have in common; brackets are looked
    at in the same way. Each term more that a bracket holds saves a multiplication.
    """
    edits, nodes, uses, user = {}, survey.nodes, survey.uses, survey.user
    for k in survey.order:
        if nodes[k][0] in SUMS and not (uses[k] == 1 and user[k] in SUMS):
            terms = [
                (sign, survey.factors(t) if uses[t] == 1 and nodes[t][0] == "mul" else (t,))
                for sign, t in survey.terms(k)
            ]
            if _may_share(terms):
                counted = [(sign, Counter(factors)) for sign, factors in terms]
                if _brackets(counted)[0]:
                    edits[k] = functools.partial(_factored, terms=counted)
    return survey.rebuild(edits)


def _may_share(terms: Sequence[tuple[int, Sequence[int]]]) -> bool:
    """Whether a factor occurs in two products; most sums have none."""
    seen: set[int] = set()
    for _, factors in terms:
        if len(factors) > 1:
            if not seen.isdisjoint(factors):
                return True
            seen.update(factors)
    return False


def _brackets(terms: Sequence[Term]) -> tuple[list[list[Term]], list[Term]]:
    """Terms that share a factor, the largest such group first, and the terms that are left."""
    holders: dict[int, list[int]] = {}
    for n, (_, factors) in enumerate(terms):
        if factors.total() > 1:
            for f in factors:
                holders.setdefault(f, []).append(n)
    # Entries whose terms went into a bracket meanwhile are counted anew when they come up.
    heap = [(-len(held), held[0], f) for f, held in holders.items() if len(held) > 1]
    heapq.heapify(heap)
    left, brackets = dict.fromkeys(range(len(terms))), []
    while heap:
        count, first, f = heapq.heappop(heap)
        held = [n for n in holders[f] if n in left]
        if len(held) == -count:
            brackets.append([terms[n] for n in held])
            for n in held:
                del left[n]
        elif len(held) > 1:
            heapq.heappush(heap, (-len(held), first, f))
    return brackets, [terms[n] for n in left]


def _factored(graph: Graph, new: Sequence[int], terms: Sequence[Term]) -> int:
    """The sum of some terms, with brackets."""
    brackets, rest = _brackets(terms)
    made = [(sign, product(graph, [new[f] for f in factors.elements()])) for sign, factors in rest]
    for bracket in brackets:
        outer = functools.reduce(operator.and_, (factors for _, factors in bracket))
        inner = _factored(graph, new, [(sign, factors - outer) for sign, factors in bracket])
        made.append((1, graph.mul(product(graph, [new[f] for f in outer.elements()]), inner)))
    return total(graph, made)


NEGATION_DEPTH = 32
"""How far below itself a negation may be absorbed; long chains must not exhaust Python's stack."""

NEVER = NEGATION_DEPTH + 1


def absorb_negations(survey: Survey) -> Survey:
    """-(a - b) -> b - a, -(c x) -> (-c) x and the like, where the negated value is used once. Leaves the normal form.

    The graph's rules pull signs out; signs that no sum absorbed stand before outputs and functions. Here it goes into a
    difference, a constant or a pure value below, if there is one. No rule of the graph may be applied afterwards.
    """
    nodes, pure, value = survey.nodes, survey.pure, survey.graph.value
    targets = [k for k in survey.order if nodes[k][0] == "neg" and not pure[k]]
    if not targets:
        return survey

    # free[k]: -k costs nothing; the sign sinks so many levels before it vanishes, all others have NEVER.
    free, uses = [NEVER] * len(nodes), survey.uses
    for k in survey.order:
        node = nodes[k]
        op = node[0]
        if pure[k] or op == "neg":
            free[k] = 0
        elif uses[k] != 1:
            continue
        elif op == "sub":
            free[k] = 0
        elif op == "mul" or op == "div" or op == "add":
            free[k] = 1 + min(free[node[1]], free[node[2]])
        elif op == "where":
            free[k] = 1 + max(free[node[2]], free[node[3]])
        if free[k] > NEGATION_DEPTH:
            free[k] = NEVER

    def negated(graph: Graph, new: Sequence[int], k: int) -> int:
        op, *args = nodes[k]
        if value[k] is not None or op == "neg":
            return graph.neg(new[k])
        if pure[k]:
            return graph.node(("neg", new[k]))
        if op == "sub":
            return graph.node(("sub", new[args[1]], new[args[0]]))
        if op == "where":
            return graph.node(("where", new[args[0]], *(negated(graph, new, a) for a in args[1:])))
        a, b = args
        first = free[a] <= free[b]
        if op == "add":  # -(a + b) = (-a) - b
            a, b = (a, b) if first else (b, a)
            return graph.node(("sub", negated(graph, new, a), new[b]))
        if first:
            return graph.node((op, negated(graph, new, a), new[b]))
        return graph.node((op, new[a], negated(graph, new, b)))

    below = {k: nodes[k][1] for k in targets}
    edits = {k: functools.partial(negated, k=a) for k, a in below.items() if free[a] < NEVER}
    return survey.rebuild(edits, plain=True)


def attach(graph: Graph, roots: Sequence[int]) -> tuple[Graph, list[int]]:
    """Values in the place of detached ones, since derivatives have been taken; ``x - detach(x)`` vanishes."""
    if not any(node[0] == "detach" for node in graph.nodes):
        return graph, list(roots)
    target, new = Graph(), {}
    for k in live(graph, roots):
        op, *args = graph.nodes[k]
        leaf = op in LEAVES
        new[k] = new[args[0]] if op == "detach" else target.apply(op, *(args if leaf else (new[a] for a in args)))
    return target, [new[k] for k in roots]


def simplify(graph: Graph, roots: Sequence[int]) -> tuple[Graph, list[int]]:
    """All passes: the new graph and its roots."""
    survey = group_pure(share_reciprocals(Survey(*attach(graph, roots))))
    while (factored := factor(survey)) is not survey:
        survey = group_pure(factored)
    survey = absorb_negations(survey)
    return survey.graph, survey.roots
