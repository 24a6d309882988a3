# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.contact.pile import Pile as Pile
from kinetree.contact.pile_run import PileContacts as PileContacts
from kinetree.contact.pile_run import PileRun as PileRun

__all__ = [
    "Pile",
    "PileContacts",
    "PileRun",
]
