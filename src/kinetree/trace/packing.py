"""Equal formulas of equal parts, such as the legs of a robot, as one formula over the lanes of vectors.

A *pack* is a few values that are the same operation of operands which are packed alike, equal, or leaves. Packs are
found from the leaves on: values of one shape (the same operations down to inputs and params, whichever these are) are
candidates, and those whose operands are in one lane of the same packs belong together. Parts that mirror each other
differ in signs of terms: such lanes are multiplied by -1. Sums over all legs, and what the base does, remain single.
Where there are no equal parts of this kind, they may begin at values that are used alike: muscles have the same curves
of different lengths (`alike`).

`pack` writes a program anew with vectors among its values. Each lane computes what the single value did, so the bits
stay. The other forms of a program, over many states or in C, have no use for packs.

Source: S. Larsen and S. Amarasinghe, "Exploiting superword level parallelism with multimedia instruction sets", PLDI
(2000), for basic blocks; here for whole programs, from leaves instead of adjacent memory.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinetree.trace.alike import beginnings, groups, uses
from kinetree.trace.program import SIGNATURES, Program

WIDTHS = (2, 3, 4, 5, 6, 7, 8)
"""Numbers of equal parts that are looked for."""

MOST = 64
"""Largest number of parts that are used alike; more than 8 take several vectors."""
TRIED = 3
"""Numbers of such parts that are tried, those first that promise most."""

COMMUTATIVE = frozenset(("add", "sub", "mul", "and", "or", "eq", "fma", "fms", "fnma"))
"""Operations whose first two operands commute, with their signs."""
SIGNS = {"add": (1, 1), "sub": (1, -1), "fma": (1, 1, 1), "fms": (1, 1, -1), "fnma": (-1, 1, 1)}
"""Signs of the operands of sums; the sign of a product is given to its first factor."""
SUMS = {"sub": "add", "fms": "fma", "fnma": "fma"}
STEPS = 5
"""Steps over which uses are compared: fewer take different parts for equal ones, more find fewer."""
REST = 0.97
"""Packs of a second width must lower the cost by this factor."""
WEIGHTS = {"div": 2.0, "sqrt": 2.0, "sincos": 20.0, "exp": 12.0, "log": 15.0, "tanh": 20.0, "arctan2": 25.0}
"""Instructions that count more than one."""
WORTH = 0.85
"""A packed program must have fewer instructions than this times those of the plain one."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Values that one vector holds.

    Parameters
    ----------
    members : tuple of int
        The values, lane by lane.
    op : str
        The operation.
    taken : tuple of tuple of int
        Their operands, lane by lane; those that commute are in one order.
    flips : tuple of tuple of int
        For each operand the lanes in which its sign is changed: sums of parts that mirror each other.
    """

    members: tuple[int, ...]
    op: str
    taken: tuple[tuple[int, ...], ...]
    flips: tuple[tuple[int, ...], ...]

    def divided(self) -> list[Pack]:
        """Packs of no more lanes than a vector has, of nearly equal widths: the same lanes of all packs together."""
        count = len(self.members)
        several = -(-count // WIDTHS[-1])
        ends = [count * k // several for k in range(several + 1)]
        return [
            Pack(self.members[a:b], self.op, tuple(t[a:b] for t in self.taken),
                 tuple(tuple(lane - a for lane in flip if a <= lane < b) for flip in self.flips))
            for a, b in zip(ends, ends[1:], strict=False)
        ]  # fmt: skip


Lanes = dict[int, tuple[int, ...]]
"""For each packed value the number of its pack, its lane, and how many there are."""


def operands(operation: tuple) -> tuple[int, ...]:
    """The values that an operation takes, of a packed program, too."""
    op = operation[0]
    if op in SIGNATURES or op == "join":
        return operation[1:]
    return operation[1:2] if op in ("part", "spread") else ()


@dataclass(slots=True)
class Packed:
    """A program with vectors among its values: as `Program`, with some more operations.

    Parameters
    ----------
    code : list of tuple
        ``("join", a, b, ...)`` is the vector of some numbers, ``("spread", a)`` that of one number in all lanes,
        ``("part", v, k)`` lane k of a vector; ``("param", j)`` of a vector begins at param j. Functions of vectors are
        those of their lanes.
    widths : list of int
        Lanes of each value, 1 for numbers.
    """

    inputs: tuple
    outputs: tuple
    code: list[tuple]
    results: list[tuple[int, ...]]
    checks: list[tuple[str, int]]
    widths: list[int]
    cuts: tuple[int, ...] = ()

    def is_boolean(self, value: int) -> bool:
        """Whether a value is a truth value, or a vector of them."""
        return SIGNATURES.get(self.code[value][0], "ff")[1] == "b"

    def needed(self, checks: bool) -> list[bool]:
        """All are: others were left out."""
        return [True] * len(self.code)


def pack(program: Program, checks: bool) -> Program | Packed:
    """The program with equal parts in the lanes of vectors, or itself where that does not make it much shorter.

    Parameters
    ----------
    program : Program
    checks : bool
        Whether its checks are evaluated.
    """
    needed = program.needed(checks)
    packs = [pack for pack in packs_of(program) if all(needed[v] for v in pack.members)]
    return _Writer(program, checks, needed, packs).written() if packs else program


def with_params_in_rows(program: Program) -> Program:
    """The program with its params in such an order that packs find them side by side."""
    packs = packs_of(program) if program.prologue is not None else []
    order: dict[int, None] = {}
    for t in itertools.chain.from_iterable(pack.taken for pack in packs):
        places = [program.code[a][1] for a in t if program.code[a][0] == "param"]
        if len(set(places)) == len(t) == _padded(len(t)) and order.keys().isdisjoint(places):
            order.update(dict.fromkeys(places))
    if not order:
        return program
    order.update(dict.fromkeys(range(program.params)))
    place = {old: new for new, old in enumerate(order)}
    (params,) = program.prologue.results
    ordered = replace(
        program,
        code=tuple([("param", place[x[1]]) if x[0] == "param" else x for x in program.code]),
        prologue=replace(program.prologue, results=(tuple([params[old] for old in order]),)),
    )
    ordered.keep_packs(packs)
    return ordered


def packs_of(program: Program) -> list[Pack]:
    """The packs that make a program shortest; none where they save too little."""
    if program.packs is None:
        program.keep_packs([] if program.cuts else _best(program))
    return program.packs


def _best(program: Program) -> list[Pack]:
    finder = _Finder(program)
    limit = WORTH * finder.total
    packs = finder.best(limit)
    packs = finder.best_alike(finder.cost(packs) if packs else limit) or packs
    return finder.best_of_rest(packs) if packs else []


class _Finder:
    """The shapes of a program's values, and packs of some width.

    Attributes
    ----------
    sources : dict of int to int
        Values that count as leaves, and their kinds: parts may begin there, though what leads to them differs.
    depth : list of int
        The most operations between each value and a leaf.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.code, self.sources, self.packed = program, program.code, {}, {}
        self.operations = [_operation(operation) for operation in self.code]
        needed = program.needed(True)
        self.live = [v for v, (op, *_) in enumerate(self.code) if needed[v] and op in SIGNATURES]
        self.users: list[list[int]] = [[] for _ in self.code]
        for v in self.live:
            for a in self.code[v][1:]:
                self.users[a].append(v)
        self.results = {value for result in program.results for value in result}
        self.weight = {v: WEIGHTS.get(self.code[v][0], 1.0) for v in self.live}
        self.total = sum(self.weight.values())
        self.constants = {v for v, operation in enumerate(self.code) if operation[0] == "const"}
        self.depth: list[int] = []
        self.shape, self.classes = self.shapes()

    def best_alike(self, limit: float) -> list[Pack]:
        """The best packs of parts that begin at values which are used alike, if their cost is below a limit."""
        values = [v for v in self.live if not self.program.is_boolean(v)]
        found = groups(uses(self.code, self.live, self.results, self._way, STEPS), values)
        saved = {
            n: (n - -(-n // WIDTHS[-1])) * sum(self.weight[few[0]] for few in found[n]) for n in found if n <= MOST
        }
        best: list[Pack] = []
        for n in sorted(saved, key=saved.__getitem__, reverse=True)[:TRIED]:
            if saved[n] >= (1.0 - WORTH) / 3 * self.total:
                packs = self._alike(found[n], n, limit)
                cost = self.cost(packs)
                if cost < limit:
                    best, limit = packs, cost
        return best

    def _alike(self, members: list[list[int]], count: int, limit: float) -> list[Pack]:
        """Packs of parts that begin at groups of so many values; none where their cost cannot be below a limit."""
        operands, before = {v: self.code[v][1:] for few in members for v in few}, (self.shape, self.classes)
        for _ in range(2):  # then values between those of groups are found to be made alike
            sources = beginnings(members, operands, self.shape)
            if sources == self.sources:
                break
            self.sources = sources
            self.shape, self.classes = self.shapes()
        fitting = sum(len(values) // count * self.weight[values[0]] for values in self.classes)
        packs = []
        if self.total - fitting * (count - -(-count // WIDTHS[-1])) < limit:
            packs = [part for pack in self.packs(count) for part in pack.divided()]
        for narrower in (self.worthwhile, self.without_circles):
            packs = narrower(packs) if self.total - self._saved(packs) < limit else []
        self.sources, (self.shape, self.classes) = {}, before
        return packs

    def best_of_rest(self, packs: list[Pack]) -> list[Pack]:
        """Some packs, and of the values that they leave those of a further width, where they save some per cent."""
        self.packed = lanes_of(packs)
        self.shape, self.classes = self.shapes()
        return self.best(REST * self.cost(packs), packs) or packs

    def _way(self, operation: tuple, k: int) -> tuple:
        """How an operation takes its operand k: its place, and constants among the others."""
        op, *args = operation
        places = (0, 0, 2) if op in COMMUTATIVE else (0, 1, 2)
        if self.constants.isdisjoint(args):
            return SUMS.get(op, op), places[k]
        constants = [str(self.code[a][1]) if a in self.constants else "" for a in args]
        return SUMS.get(op, op), places[k], *sorted(zip(places, constants, strict=False))

    def shapes(self) -> tuple[list[int], list[list[int]]]:
        """For each value the number of its shape; the values of each shape, in order of depth."""
        numbers: dict[object, int] = {}
        shape, depth = [0] * len(self.code), [0] * len(self.code)
        for v, (op, args, commute) in enumerate(self.operations):
            if v in self.sources:
                key: object = "source", self.sources[v]
            elif not args:
                key = op
            elif len(args) == 2:
                a, b = args
                first, second = shape[a], shape[b]
                key = (op, second, first) if commute and first > second else (op, first, second)
                depth[v] = 1 + max(depth[a], depth[b])
            else:
                found = [shape[a] for a in args]
                if commute and found[0] > found[1]:
                    found[:2] = found[1], found[0]
                key = op, *found
                depth[v] = 1 + max([depth[a] for a in args])
            shape[v] = numbers.setdefault(key, len(numbers))
        reported = {value for _, value in self.program.checks}
        classes: dict[int, list[int]] = defaultdict(list)
        for v in self.live:
            if v not in reported and v not in self.sources and v not in self.packed:
                classes[shape[v]].append(v)
        if not self.sources:
            self.depth = depth
        several = [values for values in classes.values() if len(values) > 1]
        return shape, sorted(several, key=lambda values: depth[values[0]])

    def best(self, limit: float, before: Sequence[Pack] = ()) -> list[Pack]:
        """The packs of the best width and those before, if their cost is below a limit."""
        count, best, done = self.cost(before), [], 1
        saved = {width: self._most_saved(width) for width in WIDTHS}
        for width in sorted(WIDTHS, key=saved.__getitem__, reverse=True):
            if count - saved[width] < limit and done % width:  # no divisor of a width that was good
                found = [*before, *self.packs(width)]
                if self.cost(found) < min(count, 1.1 * limit):
                    found = self.without_circles(self.worthwhile(found))
                    cost = self.cost(found)
                    if cost < limit:
                        best, limit, done = found, cost, width
        return best

    def _most_saved(self, width: int) -> float:
        """About the most instructions that packs of a width save."""
        fitting = [values for values in self.classes if len(values) % width == 0]
        return sum(len(values) // width * self.weight[values[0]] for values in fitting) * (width - 1)

    def packs(self, width: int) -> list[Pack]:
        """All packs of a width."""
        shape, code, lanes, found = self.shape, self.code, self._lanes_of_sources(width), []
        for values in self.classes:
            if len(values) < width:
                continue
            groups = defaultdict(list)
            for v in values:
                op, *args = code[v]
                keys = [(*lanes.get(a, (-1, -1)), shape[a]) for a in args]
                signs = SIGNS.get(op, ())
                if op in COMMUTATIVE and (keys[1][0], keys[1][2]) < (keys[0][0], keys[0][2]):
                    keys[:2], args[:2] = (keys[1], keys[0]), (args[1], args[0])
                    signs = signs[1::-1] if len(signs) == 2 else signs
                mine = {key[1] for key in keys if key[1] >= 0}
                if len(mine) < 2:
                    leaves = [code[a][1:] for a in args if code[a][0] in ("input", "param")]
                    group = tuple([(key[0], key[2]) for key in keys])
                    groups[group].append((mine.pop() if mine else -1, leaves, v, args, signs))
            for members in groups.values():
                for chosen in _by_lanes(members, width):
                    found.append(_packed(code, chosen))
                    lanes.update((v, (len(found) - 1, lane)) for lane, v in enumerate(found[-1].members))
        return found

    def _lanes_of_sources(self, width: int) -> Lanes:
        """As if sources were packed, so that what is made of one comes into one lane; packs below -1."""
        kinds: dict[int, list[int]] = defaultdict(list)
        for v, kind in self.sources.items():
            kinds[kind].append(v)
        lanes: Lanes = {}
        for values in kinds.values():
            for chosen in _by_lanes([(-1, (), v) for v in values], width):
                lanes.update({v: (-2 - len(lanes), lane) for lane, (*_, v) in enumerate(chosen)})
        return lanes

    def without_circles(self, packs: list[Pack]) -> list[Pack]:
        """Without packs that need each other: they do not if all members of each are of one depth."""
        while any([len({self.depth[v] for v in pack.members}) > 1 for pack in packs]):
            left = in_order(self.code, self.live, lanes_of(packs))[1]
            if not left:
                break
            packs = [pack for k, pack in enumerate(packs) if -1 - k not in left]
        return packs

    def worthwhile(self, packs: list[Pack]) -> list[Pack]:
        """Without those that cost more than they save, given their neighbors.

        Operands that are not in one vector are put together lane by lane, and lanes that single values need are taken
        out. A pack in between would need both, so neighbors count in its favor.
        """
        lanes = lanes_of(packs)
        joined = Counter(t for pack in packs for t in pack.taken if self.kind(t, lanes) == "join")
        kept: list[Pack | None] = list(packs)
        waiting = list(range(len(packs)))
        while waiting:
            k = waiting.pop()
            pack = kept[k]
            if pack is None or self._pays(pack, joined, lanes):
                continue
            kept[k] = None
            for v in pack.members:
                del lanes[v]
            near = {*itertools.chain(*pack.taken), *itertools.chain(*(self.users[v] for v in pack.members))}
            waiting += {lanes[v][0] for v in near if v in lanes}
        return [pack for pack in kept if pack is not None]

    def _pays(self, pack: Pack, joined: Counter, lanes: Lanes) -> bool:
        width, outside, inside = len(pack.members), 0, False
        for lane, v in enumerate(pack.members):
            users = [lanes.get(u) for u in self.users[v]]
            outside += None in users or v in self.results
            inside |= any(users)
            if self.program.is_boolean(v) and any(user is None or user[1] != lane for user in users):
                return False
        gain = (width - 1) * self.weight[pack.members[0]] - outside + width * inside - self._flipped(pack)
        for t in pack.taken:
            kind = self.kind(t, lanes)
            if kind != "vector" and self.program.is_boolean(t[0]):
                return False
            gain += width if kind == "vector" else -width / max(1, joined[t]) if kind == "join" else 0
        return gain > 0

    def _flipped(self, pack: Pack) -> int:
        """How many operands have signs changed; constants have theirs for nothing."""
        constant = [self.code[t[0]][0] == "const" for t in pack.taken]
        return sum(bool(flip) and not const for flip, const in zip(pack.flips, constant, strict=True))

    def kind(self, t: tuple[int, ...], lanes: Lanes) -> str:
        """How a pack takes an operand: "vector" of a pack, "spread" of a value, "leaf" in memory, "join" of values."""
        place = lanes.get(t[0])
        if place is not None and place[1] == 0:
            if all([lanes.get(a) == (place[0], lane, len(t)) for lane, a in enumerate(t)]):
                return "vector"
        if t.count(t[0]) == len(t):
            return "spread"
        return "leaf" if self.code[t[0]][0] in ("param", "const") else "join"

    def cost(self, packs: list[Pack]) -> float:
        """Instructions of the program with some packs, about."""
        lanes = lanes_of(packs)
        joins = {t for pack in packs for t in pack.taken if self.kind(t, lanes) == "join"}
        parts = sum([any([u not in lanes for u in self.users[v]]) for v in lanes])
        stored = 1.5 * sum([v in self.results for v in lanes])
        flipped = sum(map(self._flipped, packs))
        return self.total - self._saved(packs) + sum(map(len, joins)) + parts + stored + flipped

    def _saved(self, packs: list[Pack]) -> float:
        """Instructions that packs save, but for those that fill and empty vectors."""
        return sum([(len(pack.members) - 1) * self.weight[pack.members[0]] for pack in packs])


def _operation(operation: tuple) -> tuple[object, tuple[int, ...], bool]:
    """What the shape of a value depends on, but for its operands; these, and whether the first two commute."""
    op, *args = operation
    if op == "const":
        return (op, abs(args[0])), (), False
    if op in ("input", "param"):
        return operation[:2] if op == "input" else op, (), False
    return SUMS.get(op, op), operation[1:], op in COMMUTATIVE


def lanes_of(packs: list[Pack]) -> Lanes:
    """Where values are packed."""
    return {v: (k, lane, len(pack.members)) for k, pack in enumerate(packs) for lane, v in enumerate(pack.members)}


def in_order(code: Sequence[tuple], live: Sequence[int], lanes: Lanes) -> tuple[list[int], set[int]]:
    """Values, and packs k as -1 - k, operands first, in the order in which the program completes them; what has none.

    Members of one shape that ends at inputs have one depth, so that no two packs need each other.
    """
    node = {v: -1 - lanes[v][0] if v in lanes else v for v in live}
    place: dict[int, int] = {}
    needs: dict[int, set[int]] = defaultdict(set)
    for v, k in node.items():
        place[k] = max(place.get(k, 0), v)
        needs[k].update([node[a] for a in code[v][1:] if a in node])
    users = defaultdict(list)
    for k, before in needs.items():
        for other in before:
            users[other].append(k)
    waiting = {k: len(before) for k, before in needs.items()}
    ready = [(place[k], k) for k, count in waiting.items() if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        _, k = heapq.heappop(ready)
        order.append(k)
        for user in users[k]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (place[user], user))
    return order, place.keys() - set(order)


def _by_lanes(members: list[tuple], width: int) -> list[list[tuple]]:
    """Packs of the members (lane, leaves, value, operands, signs) of a group."""
    members.sort(key=lambda member: member[:3])
    if members[0][0] < 0:  # of leaves and shared values alone: the parts follow each other
        count, rest = divmod(len(members), width)
        return [] if rest else [[members[lane * count + k] for lane in range(width)] for k in range(count)]
    by_lane: list[list[tuple]] = [[] for _ in range(width)]
    for member in members:
        by_lane[member[0]].append(member)
    if len({len(mine) for mine in by_lane}) > 1:
        return []
    return [list(chosen) for chosen in zip(*by_lane, strict=True)]


def _packed(code: Sequence[tuple], chosen: list[tuple]) -> Pack:
    """The pack of some members (lane, leaves, value, operands, signs)."""
    members = tuple(v for _, _, v, _, _ in chosen)
    taken = [tuple(args[k] for *_, args, _ in chosen) for k in range(len(chosen[0][3]))]
    op, first = code[members[0]][0], chosen[0][4]
    flips = [tuple(lane for lane, member in enumerate(chosen) if member[4][k] != s) for k, s in enumerate(first)]
    flips += [()] * (len(taken) - len(flips))
    if first == (-1, 1):  # b - a
        taken, flips = taken[::-1], flips[::-1]
    if len(taken) == 3 and flips[0] and code[taken[1][0]][0] == "const":  # there the sign costs nothing
        flips[:2] = flips[1], flips[0]
    return Pack(members, op, tuple(taken), tuple(flips))


class _Writer:
    """Writes a program anew with packs."""

    def __init__(self, program: Program, checks: bool, needed: list[bool], packs: list[Pack]) -> None:
        self.program, self.checks, self.packs = program, checks, packs
        self.live = [v for v, (op, *_) in enumerate(program.code) if needed[v] and op in SIGNATURES]
        self.lanes = lanes_of(packs)
        self.code: list[tuple] = []
        self.widths: list[int] = []
        self.made: dict[object, int] = {}  # by value, by lanes (a tuple), by ("pack", k)

    def written(self) -> Packed:
        """The packed program."""
        program = self.program
        results = {value for result in program.results for value in result}
        for node in in_order(program.code, self.live, self.lanes)[0]:
            if node >= 0:
                self._number(node)
                continue
            pack = self.packs[-1 - node]
            operation = pack.op, *map(self._signed, pack.taken, pack.flips)
            self.made["pack", -1 - node] = self._add(operation, _padded(len(pack.members)))
            for v in pack.members:
                if v in results:
                    self._number(v)
        found = [tuple(map(self._number, result)) for result in program.results]
        checks = [(label, self._number(v)) for label, v in program.checks] if self.checks else []
        return Packed(program.inputs, program.outputs, self.code, found, checks, self.widths)

    def _add(self, operation: tuple, width: int = 1) -> int:
        self.code.append(operation)
        self.widths.append(width)
        return len(self.code) - 1

    def _number(self, v: int) -> int:
        """A single value in the new code."""
        if v not in self.made:
            op, *args = self.program.code[v]
            if v in self.lanes:
                k, lane, _ = self.lanes[v]
                new = self._add(("part", self.made["pack", k], lane))
            else:
                new = self._add((op, *map(self._number, args)) if op in SIGNATURES else (op, *args))
            self.made[v] = new
        return self.made[v]

    def _signed(self, t: tuple[int, ...], flip: tuple[int, ...]) -> int:
        """A vector of values, some with the other sign."""
        if not flip:
            return self._vector(t)
        if (t, flip) not in self.made:
            code, width = self.program.code, _padded(len(t))
            constant = code[t[0]][0] == "const"
            signs = [(-1.0 if lane in flip else 1.0) * (code[a][1] if constant else 1.0) for lane, a in enumerate(t)]
            constants = [self._add(("const", x)) for x in signs + signs[-1:] * (width - len(t))]
            new = self._add(("join", *constants), width)
            if not constant:
                new = self._add(("mul", self._vector(t), new), width)
            self.made[t, flip] = new
        return self.made[t, flip]

    def _vector(self, t: tuple[int, ...]) -> int:
        """A vector of values."""
        code, width = self.program.code, _padded(len(t))
        place = self.lanes.get(t[0])
        if place is not None and all(self.lanes.get(a) == (place[0], lane, len(t)) for lane, a in enumerate(t)):
            return self.made["pack", place[0]]
        if t not in self.made:
            first = code[t[0]]
            if t.count(t[0]) == len(t):
                constant = first[0] == "const"
                new = self._add(first if constant else ("spread", self._number(t[0])), width)
            elif width == len(t) and all(code[a] == ("param", first[1] + k) for k, a in enumerate(t)):
                new = self._add(first, width)
            else:
                values = [self._number(a) for a in t]
                new = self._add(("join", *values, *values[-1:] * (width - len(t))), width)
            self.made[t] = new
        return self.made[t]


def _padded(width: int) -> int:
    """Lanes of a vector with room for some."""
    return 1 << (width - 1).bit_length()
