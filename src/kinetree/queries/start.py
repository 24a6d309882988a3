"""The check of a start: which pairs of shapes are in each other, and how deep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_model, checked, number
from kinetree.compiler.calls import plain_call
from kinetree.errors import GeometryError
from kinetree.model.parts import read_only
from kinetree.queries.distances import distances

DEEPEST = 0.01
"""Depth up to which shapes may be in each other at a start [m]: contact pushes them apart."""

_contact_gaps = plain_call(ALGORITHMS["contact_gaps"])


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """Pairs of shapes that are in each other, the deepest first.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Names of the shapes.
    depth : (n,) array
        Positive [m].
    """

    pairs: tuple[tuple[str, str], ...]
    depth: np.ndarray

    def __post_init__(self) -> None:
        read_only(self.depth)

    def __len__(self) -> int:
        return len(self.pairs)

    def __str__(self) -> str:
        lines = [f"{a!r} and {b!r}: {x:.3g} m" for (a, b), x in zip(self.pairs, self.depth, strict=True)]
        return "\n".join(lines) or "no shapes are in each other"


@checked(model=a_model)
def check_start(model, q, pairs=None, *, allowed: float = DEEPEST, meshes: str = "hull", t=None) -> Overlaps:
    """Find the shapes that are in each other, and refuse a state in which some are too deep.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    pairs : sequence of (str, str) or ContactPair, optional
        As in `distances`. By default the contacts of a model that has some, by their compiled gaps, which need no
        further library; else all pairs that may touch.
    allowed : float
        Depth up to which shapes may be in each other [m]; infinite: no depth is refused. Soft contacts of the model
        may have any. `simulate` checks its start with the default.
    meshes : {"hull", "triangles"}
        See `distances`.
    t : float, optional
        Time [s], for models that depend on it.

    Returns
    -------
    Overlaps
        All pairs in each other, also those that are allowed.

    Raises
    ------
    GeometryError
        A pair is deeper than ``allowed``: the message names the deepest pairs; ``pairs`` and ``depth`` are attributes,
        ``check`` is "start". Or a mesh cannot be used, see `distances`.
    UnknownNameError, MissingDependencyError

    Examples
    --------
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("ball")
    >>> ball = kt.model.Geometry("sphere", (0.1,), name="ball")
    >>> b.add_body("ball", joint=kt.joints.Prismatic((0.0, 0.0, 1.0)), mass=1.0, geometry=[ball])
    >>> model = b.build().with_contacts(ground=True)
    >>> print(kt.collision.check_start(model, [0.0995]))
    'ground' and 'ball': 0.0005 m
    """
    if not (isinstance(allowed, float) and allowed == np.inf):
        number("check_start: allowed", allowed, "a depth of 0 or more [m]", least=0.0)
    if pairs is None and model.contacts:
        found = _of_contacts(model, q, t, allowed)
    else:
        near = distances(model, q, pairs, within=0.0, meshes=meshes, t=t)
        found = [(pair, -x, allowed) for pair, x in zip(near.pairs, near.distance.tolist(), strict=True)]
    found = sorted((x for x in found if x[1] > 0.0), key=lambda x: -x[1])
    overlaps = Overlaps(tuple(pair for pair, *_ in found), np.array([depth for _, depth, _ in found]))
    if deep := [(pair, depth) for pair, depth, most in found if depth > most]:
        raise _too_deep(model, deep, overlaps, allowed)
    return overlaps


def _of_contacts(model, q, t, allowed: float) -> list[tuple[tuple[str, str], float, float]]:
    """The depth of each pair of contacts, that of its deepest candidate point, and the one that is allowed."""
    gaps = _contact_gaps(model, q, *(() if t is None else (t,)))
    starts = np.cumsum([0, *(pair.count for pair in model.contacts)])[:-1]
    depths = -np.minimum.reduceat(gaps, starts)
    names = [tuple(shape.name for shape in pair.shapes) for pair in model.contacts]
    most = [allowed if pair.stiffness == np.inf else np.inf for pair in model.contacts]
    return list(zip(names, depths.tolist(), most, strict=True))


def _too_deep(model, deep: list, overlaps: Overlaps, allowed: float) -> GeometryError:
    shown = "; ".join(f"{a!r} and {b!r} by {depth:.3g} m" for (a, b), depth in deep[:4])
    more = f"; and {len(deep) - 4} more pairs" if len(deep) > 4 else ""
    bodies_start = f"model {model.name!r}: bodies start in each other, {shown}{more}; allowed are {allowed:g} m"
    repair = "Move them apart in q0 (a free base that stands in the ground: raise it by that depth)"
    return GeometryError(
        f"{bodies_start}. {repair}, or leave out pairs that overlap by design (contact exclusions, pairs=)",
        check="start", pairs=overlaps.pairs, depth=overlaps.depth,
    )  # fmt: skip
