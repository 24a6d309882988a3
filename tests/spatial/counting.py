"""A scalar that records what is done with it, to count the multiplications and additions that a result takes."""

from __future__ import annotations

import itertools

_serial = itertools.count()


class Counted:
    """An unknown number, or the product or sum that made it.

    The Python floats 0.0 and +-1.0 are structure and fold away, and a change of sign is free. Nothing else is
    simplified: two equal products that the code writes twice are two products.
    """

    __slots__ = ("kind", "parts", "born")

    def __init__(self, kind="given", parts=()):
        self.kind = kind
        self.parts = parts
        self.born = next(_serial)

    def _product(self, other):
        if isinstance(other, float):
            if other == 0.0:
                return 0.0
            if abs(other) == 1.0:
                return self
        return Counted("m", (self, other))

    def _sum(self, other):
        if isinstance(other, float) and other == 0.0:
            return self
        return Counted("a", (self, other))

    __mul__ = __rmul__ = __truediv__ = _product
    __add__ = __radd__ = __sub__ = __rsub__ = _sum

    def __neg__(self):
        return self


def count(operation, *builders):
    """(m, a): the products and quotients, and the sums and differences, that the result of an operation depends on.

    Parameters
    ----------
    operation : callable
    builders : callable
        Each takes a function that makes an unknown number, and returns one operand. What is computed while an operand
        is built is not counted.
    """
    operands = [build(Counted) for build in builders]
    start = next(_serial)
    stack, made = [operation(*operands)], set()
    while stack:
        thing = stack.pop()
        if isinstance(thing, Counted):
            if thing.born > start and thing not in made:
                made.add(thing)
                stack.extend(thing.parts)
        elif isinstance(thing, (tuple, list)):
            stack.extend(thing)
        else:  # an object of the algebra; slots with an underscore only keep values for later
            slots = [slot for cls in type(thing).__mro__ for slot in getattr(cls, "__slots__", ())]
            stack.extend(getattr(thing, slot) for slot in slots if not slot.startswith("_"))
    kinds = [node.kind for node in made]
    return kinds.count("m"), kinds.count("a")
