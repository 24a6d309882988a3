"""The registry of pair laws: for two kinds of shapes the candidate points, over any scalar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.spatial import Vector3


class ContactPoint(NamedTuple):
    """A candidate point of contact.

    Attributes
    ----------
    gap : scalar
        Distance of the surfaces along the normal [m], negative where they penetrate.
    position : Vector3
        The middle between both surfaces, world coordinates [m].
    normal : Vector3
        Unit, from the first to the second body, world coordinates [1].

    Examples
    --------
    >>> from kinetree.collision import ContactPoint
    >>> from kinetree.spatial import Vector3
    >>> point = ContactPoint(gap=-0.001, position=Vector3(0.0, 0.0, 0.0), normal=Vector3(0.0, 0.0, 1.0))
    >>> point.gap < 0.0  # the shapes overlap
    True
    """

    gap: object
    position: Vector3
    normal: Vector3


@dataclass(frozen=True, slots=True)
class PairLaw:
    """The law of two kinds of shapes.

    Attributes
    ----------
    points : callable
        ``points(first, second)`` of two `PlacedShape`: a list of `ContactPoint`, of fixed length.
    count : callable
        ``count(first, second)`` of two `Shape`: this length.
    """

    points: Callable
    count: Callable


PAIR_LAWS: dict[tuple[str, str], PairLaw] = {}
"""Laws by the kinds of the first and the second shape; a pair in the other order is turned."""


def pair_law(first: str, second: str, count: int | Callable):
    """Enter a function as the law of two kinds; a decorator."""

    def enter(points: Callable) -> Callable:
        PAIR_LAWS[first, second] = PairLaw(points, count if callable(count) else lambda a, b: count)
        return points

    return enter


def law_of(first: str, second: str) -> tuple[PairLaw, bool] | None:
    """The law of two kinds, and whether it takes them in the other order; None if there is none."""
    for kinds, turned in (((first, second), False), ((second, first), True)):
        if kinds in PAIR_LAWS:
            return PAIR_LAWS[kinds], turned
    return None


def between(gap, surface: Vector3, n: Vector3) -> ContactPoint:
    """The contact point of a point on the second surface, at a gap along n from the first one."""
    return ContactPoint(gap, surface - n * (0.5 * gap), n)
