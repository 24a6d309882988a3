"""The order of execution: few values are alive at once.

An algorithm visits bodies one after the other, so values made together are used together: the order in which the trace
made them is already a good one, far better than depth-first from the results. One thing improves it. A value that
frees at least as many values as it makes, because it is their last user, costs no register; it goes as soon as it can
instead of waiting for its turn. Derivatives gain most: forward mode makes the tangents of one node along all
directions, and the first sums that consume them come much later.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from kinetree.trace.graph import Node
from kinetree.trace.simplify import LEAVES

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
    count = len(numbers)
    leaf, trigonometric, leaves, computed, users, twins = _dependencies(code, numbers)
    placed = bytearray(count)
    waiting = [len(mine) for mine in computed]  # values not placed yet
    left = [len(found) for found in users]  # users not placed yet

    order: list[int] = []
    free: list[tuple[int, int]] = []  # (net number of values that it makes, node): a heap

    def place(i: int) -> None:
        for j in leaves[i]:
            if not placed[j]:
                placed[j] = True
                order.append(j)
        placed[i] = True
        order.append(i)
        touched = set()
        for user in users[i]:
            waiting[user] -= 1
            if not waiting[user]:
                touched.add(user)
        for j in computed[i]:
            left[j] -= 1
            if left[j] == 1:
                touched.update([user for user in users[j] if not waiting[user] and not placed[user]])
        for user in touched:
            net = bool(users[user])
            for j in computed[user]:
                if left[j] == 1 and not trigonometric[j]:
                    net -= 1
            if net <= 0:
                heapq.heappush(free, (net, user))
        if trigonometric[i]:
            op, *args = code[numbers[i]]
            twin = twins.get((TWIN[op], *args))
            if twin is not None and not placed[twin]:
                place(twin)

    for i in range(count):
        if not placed[i] and not leaf[i]:
            place(i)
        while free:
            _, user = heapq.heappop(free)
            if not placed[user]:
                place(user)
    order.extend([i for i in range(count) if not placed[i]])  # leaves that are outputs themselves
    return [numbers[i] for i in order]


def _dependencies(code: dict[int, Node], numbers: list[int]):
    """By place: which are leaves, which sines or cosines; operands and users; places of sines and cosines by node."""
    places = {k: i for i, k in enumerate(numbers)}
    count = len(numbers)
    leaf, trigonometric = bytearray(count), bytearray(count)
    leaves: list[Sequence[int]] = [()] * count  # the leaves that a node takes
    computed: list[Sequence[int]] = [()] * count  # the other values that it takes, once each
    users: list[list[int]] = [[] for _ in numbers]
    twins: dict[tuple, int] = {}
    for i, k in enumerate(numbers):
        node = code[k]
        if node[0] in LEAVES:
            leaf[i] = True
            continue
        if node[0] in TWIN:
            trigonometric[i] = True
            twins[node] = i
        computed[i] = mine = []
        for a in node[1:]:
            j = places[a]
            if leaf[j]:
                leaves[i] = (*leaves[i], j)
            elif j not in mine:
                mine.append(j)
                users[j].append(i)
    return leaf, trigonometric, leaves, computed, users, twins
