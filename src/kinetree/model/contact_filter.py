"""The collision shapes of a model under unique names, and which of them may touch each other.

Shapes of one body never touch, nor do those of neighbors in the tree, of bodies that a loop joint connects, of links
that the model excludes, and those whose filter bits differ. Pairs that the model names touch in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from kinetree.model.parts import Geometry


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


def collision_shapes(model) -> tuple[NamedShape, ...]:
    """All shapes of the roles "collision" and "both", body by body.

    Parameters
    ----------
    model : Model
    """
    found = [(i, g) for i, shapes in enumerate(model.geometry) for g in shapes if g.role != "visual"]
    wishes = [g.name or g.link or model.body_names[i] for i, g in found]
    taken, made = set(wishes), []
    for k, (wish, (i, g)) in enumerate(zip(wishes, found, strict=True)):
        name, number = wish, 0
        if wishes.count(wish) > 1 and (wish in wishes[:k] or not g.name):
            while (name := f"{wish}.{number}") in taken:
                number += 1
            taken.add(name)
        made.append(NamedShape(name, i, g))
    return tuple(made)


def touching_pairs(model, shapes: tuple[NamedShape, ...]) -> Iterator[tuple[int, int]]:
    """Numbers of the shapes that may touch each other, by their places in the tuple, the first below the second.

    Parameters
    ----------
    model : Model
    shapes : tuple of NamedShape
    """
    apart = {frozenset(exclude) for exclude in model.equipment.contact_excludes}
    near = _neighbors(model)
    stated = {frozenset(pair) for pair in model.equipment.contact_pairs}
    still = _standing(model)
    for (k, first), (n, second) in combinations(enumerate(shapes), 2):
        ends = first.body, second.body
        if ends[0] == ends[1] or (still[ends[0]] and still[ends[1]]):
            continue
        if frozenset((first.geometry.name, second.geometry.name)) in stated:
            yield k, n
            continue
        names = (s.geometry.link or model.body_names[s.body] for s in (first, second))
        if frozenset(names) in apart or not _bits_agree(first.geometry, second.geometry):
            continue
        # Shapes of the world itself, such as floors, are no neighbors of the bodies that are hinged to it.
        is_floor = any(s.body == 0 and not s.geometry.link for s in (first, second))
        if is_floor or frozenset(ends) not in near:
            yield k, n


def _bits_agree(first: Geometry, second: Geometry) -> bool:
    return bool(first.contype & second.conaffinity or second.contype & first.conaffinity)


def _neighbors(model) -> set[frozenset[int]]:
    """Pairs of bodies that joints connect, those without mass and shapes between them left out."""
    near = {frozenset((_host(model, model.parent[i]), i)) for i in model.outward()}
    for loop in model.equipment.loops:
        if loop.active:
            near.add(frozenset(_host(model, model.frame(x).body) for x in (loop.predecessor, loop.successor)))
    return near


def _host(model, i: int) -> int:
    """The body itself, or the nearest one toward the root that has mass or shapes."""
    while i and not model.I[i].m and not model.geometry[i]:
        i = model.parent[i]
    return i


def _standing(model) -> list[bool]:
    """Whether a body cannot move."""
    still = [True] * model.nb
    for i in model.outward():
        still[i] = still[model.parent[i]] and model.joints[i].nv == 0
    return still
