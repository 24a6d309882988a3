"""Pairs of shapes that may touch, as data of a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import kinetree.collision.pairs  # noqa: F401  # enters the laws
from kinetree.arguments import refuse, text
from kinetree.collision.laws import PAIR_LAWS, ContactPoint, law_of
from kinetree.collision.material import HUNT_CROSSLEY, LEAST, Material, check_material
from kinetree.collision.shape import PlacedShape, Shape
from kinetree.errors import UnsupportedError

_NUMBERS, _OF_HUNT_CROSSLEY = tuple(LEAST), tuple(HUNT_CROSSLEY)


@dataclass(frozen=True, slots=True)
class ContactPair:
    """Two shapes that may touch, with a fixed number of candidate points.

    Parameters
    ----------
    name : str
        Unique among the pairs of a model.
    first, second : Shape
        The normal points from the first to the second. Of a pair with the ground the first is the ground.
    friction, restitution, stiffness, relaxation_time, margin, law, dissipation, exponent
        See `kinetree.collision.Material`.

    Raises
    ------
    ArgumentError
        A number is negative or not finite.
    UnsupportedError
        There is no law for shapes of these kinds.

    Examples
    --------
    >>> import kinetree as kt
    >>> floor = kt.collision.Shape("world", "plane", name="floor")
    >>> foot = kt.collision.Shape("bob", "sphere", (0.02,), p=(0.0, 0.0, -1.0), name="foot")
    >>> kt.collision.ContactPair("floor/foot", floor, foot, friction=0.5).count
    1
    """

    name: str
    first: Shape
    second: Shape
    friction: float = 0.8
    restitution: float = 0.0
    stiffness: float = math.inf
    relaxation_time: float = 0.0
    margin: float = 0.0
    law: str = "linear"
    dissipation: float = 0.0
    exponent: float = 1.5

    def __post_init__(self) -> None:
        text("ContactPair: name", self.name)
        for what in ("first", "second"):
            if not isinstance(getattr(self, what), Shape):
                refuse(f"contact pair {self.name!r}: {what}", getattr(self, what), "a kt.collision.Shape")
        check_material(f"contact pair {self.name!r}", self)
        if law_of(self.first.kind, self.second.kind) is None:
            known = ", ".join(f"{a} and {b}" for a, b in PAIR_LAWS)
            raise UnsupportedError(
                f"contact pair {self.name!r}: no law for a {self.first.kind} and a {self.second.kind}; known: {known}"
            )

    @property
    def shapes(self) -> tuple[Shape, Shape]:
        """Both shapes."""
        return self.first, self.second

    @property
    def frames(self) -> tuple[str, str]:
        """Names of the frames of both shapes."""
        return self.first.body, self.second.body

    @property
    def material(self) -> Material:
        """The numbers of its contacts."""
        return Material(**{field.name: getattr(self, field.name) for field in fields(Material)})

    @property
    def count(self) -> int:
        """Number of candidate points."""
        law, turned = law_of(self.first.kind, self.second.kind)
        return law.count(*self.shapes[:: -1 if turned else 1])

    @property
    def labels(self) -> tuple[str, ...]:
        """A label of each candidate point: the name, with a number where there are several."""
        n = self.count
        return (self.name,) if n == 1 else tuple(f"{self.name}.{k}" for k in range(n))

    def points(self, kin) -> list[ContactPoint]:
        """The candidate points at a state.

        Parameters
        ----------
        kin : Kinematics
            Has ``point(frame, at)`` and ``rotation(frame)``.
        """
        return self.points_of(*(PlacedShape.of(shape, kin) for shape in self.shapes))

    def points_of(self, first: PlacedShape, second: PlacedShape) -> list[ContactPoint]:
        """The candidate points of both shapes at given poses."""
        law, turned = law_of(first.kind, second.kind)
        if not turned:
            return law.points(first, second)
        return [ContactPoint(x.gap, x.position, -x.normal) for x in law.points(second, first)]

    # Data of a model -------------------------------------------------------------------------------------------------

    def numbers(self) -> dict[str, object]:
        """The run-time inputs of compiled code besides those of the shapes, by name."""
        names = _NUMBERS + (_OF_HUNT_CROSSLEY if self.law == "hunt_crossley" else ())
        return {what: getattr(self, what) for what in names}

    def with_numbers(self, values: Sequence, shapes: Mapping[str, Shape] | None = None) -> ContactPair:
        """The same over other scalars, in the order of ``numbers()``; shapes by their names."""
        changes = dict(zip(self.numbers(), values, strict=True))
        if shapes is not None:
            changes |= {"first": shapes[self.first.name], "second": shapes[self.second.name]}
        made = object.__new__(ContactPair)
        for what in ("name", "first", "second", "law", *_NUMBERS, *_OF_HUNT_CROSSLEY):
            object.__setattr__(made, what, changes.get(what, getattr(self, what)))
        return made

    def structure(self) -> tuple:
        """All that is no number, hashable."""
        return self.name, self.first.structure(), self.second.structure(), self.law

    def renamed(self, frame: Callable[[str], str], name: Callable[[str], str]) -> ContactPair:
        """The same on frames that the first function names; the other names pairs and shapes."""
        first, second = (shape.renamed(frame, name(shape.name)) for shape in self.shapes)
        return replace(self, name=name(self.name), first=first, second=second)

    def __str__(self) -> str:
        return f"contact pair {self.name!r}"


def shapes_of(pairs: Sequence[ContactPair]) -> dict[str, Shape]:
    """The shapes of pairs by name, each once."""
    return {shape.name: shape for pair in pairs for shape in pair.shapes}
