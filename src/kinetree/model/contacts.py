"""The contact pairs of a tree: checks, sizes and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.arguments import refuse
from kinetree.collision.pair import ContactPair, shapes_of
from kinetree.collision.shape import Shape
from kinetree.errors import DuplicateNameError, ModelError


class ContactParts:
    """Base of trees with ``contacts``."""

    __slots__ = ()

    @property
    def n_contacts(self) -> int:
        """Number of candidate points of contact."""
        return sum(pair.count for pair in self.contacts)

    @property
    def n_contact_rows(self) -> int:
        """Number of rows of the contacts, ``3 n_contacts``."""
        return 3 * self.n_contacts

    @property
    def n_impulses(self) -> int:
        """Number of impulses of a step by "time_stepping": those of contacts, then of rows with bounded forces."""
        return self.n_contact_rows + sum(c.count(self) for c in self.constraints if c.row_kind == "box")

    @property
    def n_residuals(self) -> int:
        """Number of residuals of a step by "time_stepping": one of each contact, then one of each bounded row."""
        return self.n_contacts + self.n_impulses - self.n_contact_rows

    @property
    def contact_labels(self) -> tuple[str, ...]:
        """A label of each candidate point: the name of its pair, with a number where a pair has several."""
        return tuple(label for pair in self.contacts for label in pair.labels)

    @property
    def contact_shapes(self) -> Mapping[str, Shape]:
        """The shapes of the contact pairs by name, each once."""
        return shapes_of(self.contacts)


def checked_contacts(model, pairs: Sequence[ContactPair]) -> tuple[ContactPair, ...]:
    """The contact pairs of a model: their frames exist, names differ, shapes of one name are equal.

    Raises
    ------
    ArgumentError, ModelError, UnknownNameError, DuplicateNameError
    """
    seen: set[str] = set()
    shapes: dict[str, Shape] = {}
    pairs = (pairs,) if isinstance(pairs, ContactPair) else tuple(pairs)
    for pair in pairs:
        if not isinstance(pair, ContactPair):
            refuse(f"model {model.name!r}: contacts", pair, "kt.collision.ContactPair")
        bodies = [model.frame(frame).body for frame in pair.frames]
        if bodies[0] == bodies[1]:
            raise ModelError(
                f"model {model.name!r}: {pair} is between two shapes of body {model.body_names[bodies[0]]!r}, which "
                "never move against each other",
                pair=pair.name,
            )
        if pair.name in seen:
            raise DuplicateNameError(
                f"model {model.name!r}: two contact pairs are named {pair.name!r}", kind="contact pair", name=pair.name
            )
        seen.add(pair.name)
        for shape in pair.shapes:
            if shapes.setdefault(shape.name, shape) != shape:
                raise DuplicateNameError(
                    f"model {model.name!r}: two shapes of contacts are named {shape.name!r}: {shapes[shape.name]!r} "
                    f"and {shape!r}",
                    kind="shape",
                    name=shape.name,
                )
    return pairs
