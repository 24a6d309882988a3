"""The collision shapes of a model under unique names, and which of them may touch each other.

Shapes of one body never touch, nor do those of neighbors in the tree, of bodies that a loop joint connects, of links
that the model excludes, and those whose filter bits differ. Pairs that the model names touch in any case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from kinetree.model.parts import Geometry

FREE = 6  # freedoms of a body that no joint holds


@dataclass(frozen=True, slots=True, eq=False)
class NamedShape:
    """A collision shape of a model.

    Attributes
    ----------
    name : str
        Unique in the model: that of the shape, else that of its link, with a number where several would be equal.
    body : int
        Number of the body.
    geometry : Geometry
        Posed in the body.
    """

    name: str
    body: int
    geometry: Geometry

    def __str__(self) -> str:
        return f"{self.geometry.kind} {self.name!r}"


def named_shapes(model) -> tuple[NamedShape, ...]:
    """All shapes of the roles "collision" and "both", body by body, under the names that contacts give them.

    Parameters
    ----------
    model : Model
    """
    found = [(i, g.link or model.body_names[i], g) for i, shapes in enumerate(model.geometry) for g in shapes]
    found = [(i, link, g) for i, link, g in found if g.role != "visual"]
    counts, taken = Counter(link for _, link, g in found if not g.name), Counter(g.name for *_, g in found)
    numbers, made = Counter(), []
    for i, link, g in found:
        name = g.name if taken[g.name] == 1 else f"{link}.{g.name}"
        if not g.name:
            name = link if counts[link] == 1 else f"{link}.{numbers[link]}"
            numbers[link] += 1
        made.append(NamedShape(name, i, g))
    return tuple(_unique(made))


def _unique(shapes: list[NamedShape]) -> Iterator[NamedShape]:
    """The same with numbers after names that still are there twice."""
    taken: Counter = Counter()
    for shape in shapes:
        taken[shape.name] += 1
        yield shape if taken[shape.name] == 1 else replace(shape, name=f"{shape.name}#{taken[shape.name]}")


def touching_pairs(model, shapes: tuple[NamedShape, ...]) -> Iterator[tuple[int, int]]:
    """Numbers of the shapes that may touch each other, by their places in the tuple, the first below the second.

    Parameters
    ----------
    model : Model
    shapes : tuple of NamedShape
    """
    apart = {frozenset(exclude) for exclude in model.equipment.contact_excludes}
    stated = {frozenset(pair) for pair in model.equipment.contact_pairs}
    near, still = neighbors(model), _standing(model)
    group = [group_of(model, i) for i in range(model.nb)]
    roots = {group[i] for i in model.outward() if not group[model.parent[i]] and model.joints[i].nv < FREE}
    for (k, first), (n, second) in combinations(enumerate(shapes), 2):
        ends = group[first.body], group[second.body]
        if ends[0] == ends[1] or (still[first.body] and still[second.body]):
            continue
        if frozenset((first.geometry.name, second.geometry.name)) in stated:
            yield k, n
            continue
        names = (s.geometry.link or model.body_names[s.body] for s in (first, second))
        if frozenset(names) in apart or not _bits_agree(first.geometry, second.geometry) or frozenset(ends) in near:
            continue
        # A base that is welded to the world is a neighbor of the bodies hinged to it; a floor is not.
        sides = zip((first, second), ends[::-1], strict=True)
        if not any(s.body == 0 and s.geometry.link and end in roots for s, end in sides):
            yield k, n


def _bits_agree(first: Geometry, second: Geometry) -> bool:
    return bool(first.contype & second.conaffinity or second.contype & first.conaffinity)


def neighbors(model) -> set[frozenset[int]]:
    """Pairs of groups of bodies that one joint or one loop joint connects, the world left out.

    Parameters
    ----------
    model : Model
    """
    ends = [(model.parent[i], i) for i in model.outward()]
    ends += [tuple(model.frame(name).body for name in loop.frames) for loop in model.loops]
    groups = [frozenset(group_of(model, i) for i in pair) for pair in ends]
    return {pair for pair in groups if 0 not in pair}


def group_of(model, i: int) -> int:
    """The body that body i moves with or hangs on: past fixed joints, and past bodies without mass and shapes.

    Parameters
    ----------
    model : Model
    i : int
    """
    while i and (not model.joints[i].nv or not (model.I[i].m or model.geometry[i])):
        i = model.parent[i]
    return i


def _standing(model) -> list[bool]:
    """Whether a body cannot move."""
    still = [True] * model.nb
    for i in model.outward():
        still[i] = still[model.parent[i]] and model.joints[i].nv == 0
    return still
