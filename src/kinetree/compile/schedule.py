"""The order of execution, and how many values are alive in it.

An algorithm visits bodies one after the other, so values made together are used together: the order in which the trace
asked for them is already a good one, far better than depth-first from the results. One thing improves it. A value that
frees at least as many values as it makes, because it is their last user, costs no register; it goes as soon as it can
instead of waiting for its turn. Derivatives gain most: forward mode makes the tangents of one node along all
directions, and the first sums that consume them come much later.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from .graph import Node
from .program import Program
from .simplify import LEAVES

TWIN = {"sin": "cos", "cos": "sin"}


def schedule(code: dict[int, Node]) -> list[int]:
    """The order of execution of some nodes.

    Parameters
    ----------
    code : dict of int to tuple
        Nodes by number, closed under arguments; a node's arguments have smaller numbers.

    Returns
    -------
    list of int
        All numbers, arguments before users: in the order of the numbers, except that an operation which leaves no more
        values alive than before goes as soon as its arguments are there, those first that free most. Leaves (constants,
        inputs, params) stand before their first use, sine and cosine of an angle side by side.

    Notes
    -----
    Leaves are read where they are needed, and the sines and cosines of joint angles are computed before everything else
    (`llvm_plan`): neither counts as alive. Linear in the number of nodes, apart from the heap.
    """
    numbers = sorted(code)
    waiting: dict[int, int] = {}  # arguments not placed yet
    users: dict[int, list[int]] = {}
    for k in numbers:
        op, *args = code[k]
        if op in LEAVES:
            continue
        computed = {a for a in args if code[a][0] not in LEAVES}
        waiting[k] = len(computed)
        for a in computed:
            users.setdefault(a, []).append(k)
    left = {k: len(found) for k, found in users.items()}
    twins = {code[k]: k for k in numbers if code[k][0] in TWIN}

    order: list[int] = []
    placed: set[int] = set()
    free: list[tuple[int, int]] = []  # (net number of values that it makes, node): a heap

    def makes(k: int) -> int:
        ends = sum(1 for a in {*code[k][1:]} if left.get(a) == 1 and code[a][0] not in TWIN)
        return (k in left) - ends

    def place(k: int) -> None:
        op, *args = code[k]
        for a in args:
            if code[a][0] in LEAVES and a not in placed:
                placed.add(a)
                order.append(a)
        placed.add(k)
        order.append(k)
        touched = set()
        for user in users.get(k, ()):
            waiting[user] -= 1
            if not waiting[user]:
                touched.add(user)
        for a in {*args}:
            if a in left:
                left[a] -= 1
                if left[a] == 1:
                    touched.update(user for user in users[a] if not waiting[user] and user not in placed)
        for user in touched:
            net = makes(user)
            if net <= 0:
                heapq.heappush(free, (net, user))
        twin = twins.get((TWIN.get(op), *args))
        if twin is not None and twin not in placed:
            place(twin)

    for k in numbers:
        if k not in placed and code[k][0] not in LEAVES:
            place(k)
        while free:
            _, user = heapq.heappop(free)
            if user not in placed:
                place(user)
    order.extend(k for k in numbers if k not in placed)  # leaves that are outputs themselves
    return order


@dataclass(frozen=True, slots=True)
class Pressure:
    """Values alive while a program runs: computed and still to be used.

    Parameters
    ----------
    most : int
        Largest number at any time.
    mean : float
        Average over the operations.
    """

    most: int
    mean: float


def pressure(program: Program) -> Pressure:
    """How many values are alive when the code runs in its order; leaves, sines and cosines not counted.

    Examples
    --------
    >>> two_products = ("input", 0, 0), ("mul", 0, 0), ("mul", 1, 0), ("add", 1, 2)
    >>> pressure(Program((("x", (1,)),), (("y", (1,)),), two_products, ((3,),)))
    Pressure(most=2, mean=1.0)
    """
    code = program.code
    counted = [op not in LEAVES and op not in TWIN for op, *_ in code]
    last: dict[int, int] = {}
    for k, (op, *args) in enumerate(code):
        if op not in LEAVES:
            for a in args:
                if counted[a]:
                    last[a] = k
    dying: dict[int, int] = {}
    for k in last.values():
        dying[k] = dying.get(k, 0) + 1
    alive, history = 0, []
    for k in range(len(code)):
        alive += (k in last) - dying.get(k, 0)
        if counted[k]:
            history.append(alive)
    return Pressure(max(history, default=0), sum(history) / max(1, len(history)))
