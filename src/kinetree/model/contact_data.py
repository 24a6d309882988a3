"""Contact data of shapes and of pairs, as files state them: friction, restitution, filters, softness.

They are data beside the tree: queries and contact pairs read them, dynamics without contacts do not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import ModelError

if TYPE_CHECKING:
    from kinetree.constraints.loop_joint import Softness

FRICTION = ("sliding", "torsional", "rolling")
DIMENSIONS = (1, 3, 4, 6)  # of the contact force: normal; with sliding; with torsional; with rolling friction


@dataclass(frozen=True, slots=True)
class ContactExclude:
    """Two links whose shapes do not touch each other; iterable as a pair of names.

    Parameters
    ----------
    first, second : str
        Names of bodies, or of links that fixed joints weld to bodies.
    name : str
        May be empty.

    Examples
    --------
    >>> from kinetree.model import ContactExclude
    >>> first, second = ContactExclude("thigh", "shank")
    >>> first, second
    ('thigh', 'shank')
    """

    first: str
    second: str
    name: str = ""

    refers = MappingProxyType({"first": "frame", "second": "frame"})

    def __iter__(self) -> Iterator[str]:
        return iter((self.first, self.second))

    def __str__(self) -> str:
        return f"contact exclusion of {self.first!r} and {self.second!r}"


@dataclass(frozen=True, slots=True)
class GeometryPair:
    """Two shapes that may touch each other whatever their filters are, with parameters of their own.

    Parameters
    ----------
    first, second : str
        Names of shapes, each that of one shape of the model alone.
    friction : tuple of float, optional
        Coefficients of sliding friction [1], then of torsional and rolling friction [m], as in `Geometry`; or five:
        sliding along two tangents, torsional, rolling about two tangents. None: those of the shapes.
    restitution : float, optional
        [1].
    margin : float, optional
        Distance from which the contact is active [m].
    condim : int, optional
        Dimension of the contact force: 1 (normal), 3 (sliding friction), 4 (torsional), 6 (rolling).
    softness : Softness, optional
    name : str
        May be empty.

    Examples
    --------
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("two balls")
    >>> for name in ("left", "right"):
    ...     shape = kt.model.Geometry("sphere", (0.1,), name=f"{name} ball")
    ...     b.add_body(name, joint=kt.joints.Prismatic((1, 0, 0)), mass=1.0, geometry=[shape])
    >>> slippery = kt.model.GeometryPair("left ball", "right ball", friction=(0.3,))
    >>> b.equipment = kt.model.Equipment(contact_pairs=(slippery,))
    >>> model = b.build().with_contacts(ground=False, self_collision=True)
    >>> [(pair.name, pair.friction) for pair in model.contacts]
    [('left ball/right ball', 0.3)]
    """

    first: str
    second: str
    friction: tuple[float, ...] | None = None
    restitution: float | None = None
    margin: float | None = None
    condim: int | None = None
    softness: Softness | None = None
    name: str = ""

    refers = MappingProxyType({"first": "shape", "second": "shape"})

    def __post_init__(self) -> None:
        check_contact_data(str(self), self, coefficients=5)

    def __iter__(self) -> Iterator[str]:
        return iter((self.first, self.second))

    def __str__(self) -> str:
        return f"contact pair of {self.first!r} and {self.second!r}"


def check_contact_data(what: str, data, coefficients: int = len(FRICTION)) -> None:
    """Check the contact data of a shape or pair, and store them as tuples and floats.

    Raises
    ------
    ModelError
        If a number is negative or not finite, a restitution above 1, or the dimension of a contact unknown.
    """
    if data.friction is not None:
        friction = _numbers(f"{what}: friction", np.atleast_1d(np.asarray(data.friction, dtype=object)).tolist())
        if not 1 <= len(friction) <= coefficients:
            known = f"1 to {coefficients} numbers: {', '.join(FRICTION)}"
            raise ModelError(f"{what}: friction {friction}, expected {known}")
        object.__setattr__(data, "friction", friction)
    for name in ("restitution", "margin", "stiffness", "damping"):
        value = getattr(data, name, None)
        if value is not None:
            object.__setattr__(data, name, _numbers(f"{what}: {name}", [value])[0])
    if data.restitution is not None and data.restitution > 1.0:
        raise ModelError(f"{what}: restitution is {data.restitution:g}, expected 0 (plastic) to 1 (elastic)")
    if data.condim is not None and data.condim not in DIMENSIONS:
        known = ", ".join(map(str, DIMENSIONS))
        raise ModelError(f"{what}: condim is {data.condim!r}; known dimensions of a contact force: {known}")


def check_bits(what: str, name: str, value) -> int:
    """Return a word of filter bits as an int.

    Raises
    ------
    ModelError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 2**32:
        raise ModelError(f"{what}: {name} is {value!r}, expected filter bits: an int from 0 to 2**32 - 1")
    return int(value)


def _numbers(what: str, values: list) -> tuple[float, ...]:
    try:
        found = tuple(map(float, values))
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {values!r}, expected numbers") from None
    for x in found:
        if not 0.0 <= x < np.inf:
            reason = "; is the sign wrong?" if x < 0.0 else ""
            raise ModelError(f"{what} is {x:g}, expected a finite number of 0 or more{reason}")
    return found
