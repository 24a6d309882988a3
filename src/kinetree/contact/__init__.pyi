# Generated: python -m tests.static.generate.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

from kinetree.contact.collisions import Collision as Collision
from kinetree.contact.impacts import Impact as Impact
from kinetree.contact.pile import Pile as Pile
from kinetree.contact.pile_run import PileContacts as PileContacts
from kinetree.contact.pile_run import PileRun as PileRun
from kinetree.contact.collisions import collide as collide
from kinetree.contact.impacts import impact as impact
from kinetree.contact.responses import strike as strike

__all__ = [
    "Collision",
    "Impact",
    "Pile",
    "PileContacts",
    "PileRun",
    "collide",
    "impact",
    "strike",
]
