"""The shapes of a model as solids, their poses at a state, and the pairs that may touch; kept with the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import choice, refuse
from kinetree.collision.pair import ContactPair
from kinetree.compiler.calls import plain_call
from kinetree.errors import DuplicateNameError, UnsupportedError, unknown_name
from kinetree.model.contact_filter import NamedShape, named_shapes, touching_pairs
from kinetree.model.model import Model
from kinetree.model.parts import Geometry
from kinetree.model.planar import refuse_planar
from kinetree.queries.solids import MESHES, Solid, coal, solid_of

_forward_kinematics = plain_call(ALGORITHMS["forward_kinematics"])


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Shapes of a model; immutable, so that threads share it.

    Attributes
    ----------
    model : Model
    shapes : tuple of NamedShape
        Collision shapes, then those that only contacts have, such as the ground.
    solids : tuple of Solid
    pairs : (n, 2) array of int
        The shapes that may touch, by their places.
    lower, upper : (shapes, 3) array
        Boxes of the solids in their own coordinates [m].
    """

    model: Model
    shapes: tuple[NamedShape, ...]
    solids: tuple[Solid, ...]
    pairs: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, model, meshes: str = "hull") -> Scene:
        """The scene of a model, made on first use.

        Raises
        ------
        UnknownNameError, GeometryError, MissingDependencyError
        """
        choice("choice", meshes, MESHES, "meshes=")
        key = ("shapes for queries", meshes)
        found = model.functions.get(key)
        return model.functions.setdefault(key, cls._made(model, meshes)) if found is None else found

    @classmethod
    def _made(cls, model, meshes: str) -> Scene:
        refuse_planar(model, "queries over shapes")
        own = named_shapes(model)
        further, between = _of_contacts(model, own)
        shapes = (*own, *further)
        solids = tuple(solid_of(shape.geometry, meshes) for shape in shapes)
        pairs = [*touching_pairs(model, own), *between]
        pairs = [pair for pair in pairs if any(shapes[k].geometry.kind != "plane" for k in pair)]
        boxes = [np.array([getattr(s, what) for s in solids]).reshape(-1, 3) for what in ("lower", "upper")]
        return cls(model, shapes, solids, np.array(pairs, dtype=int).reshape(-1, 2), *boxes)

    def chosen(self, pairs: Sequence | None) -> np.ndarray:
        """Pairs as (n, 2) places: all, those of ContactPairs, or of pairs of names.

        Raises
        ------
        UnknownNameError, DuplicateNameError, ArgumentError
        """
        if pairs is None:
            return self.pairs
        number = {shape.name: k for k, shape in enumerate(self.shapes)}
        if not isinstance(pairs, (list, tuple)):
            refuse_pairs(pairs)
        found = []
        for pair in pairs:
            names = tuple(shape.name for shape in pair.shapes) if isinstance(pair, ContactPair) else pair
            if not isinstance(names, (list, tuple)) or len(names) != 2 or not all(isinstance(x, str) for x in names):
                refuse_pairs(pair)
            for name in names:
                if name not in number:
                    raise unknown_name("shape", name, number, f"model {self.model.name!r}")
            if names[0] == names[1]:
                raise DuplicateNameError(f"pair {names}: a shape has no distance from itself", name=names[0])
            found.append([number[name] for name in names])
        return np.array(found, dtype=int).reshape(-1, 2)

    def poses(self, q, t=None) -> tuple[np.ndarray, np.ndarray]:
        """Orientations (shapes, 3, 3) and positions (shapes, 3) of the shapes in the world [1], [m]."""
        instant = () if t is None else (t,)
        R_WB, p_WB = _forward_kinematics(self.model, q, *instant)
        if p_WB.ndim != 2:
            refuse("q", q, "one state, an array (nq,)")
        if not self.shapes:
            return np.empty((0, 3, 3)), np.empty((0, 3))
        bodies = [shape.body for shape in self.shapes]
        R_BG = np.array([shape.geometry.R_BG for shape in self.shapes])
        p_BG = np.array([shape.geometry.p_BG for shape in self.shapes])
        return R_WB[bodies] @ R_BG, p_WB[bodies] + np.einsum("kij,kj->ki", R_WB[bodies], p_BG)

    def near(self, pairs: np.ndarray, R: np.ndarray, p: np.ndarray, within: float) -> np.ndarray:
        """Which pairs have boxes along the world's axes that are not farther apart than a distance."""
        endless = ~np.isfinite(self.upper[:, 0])
        lower, upper = (np.where(endless[:, None], 0.0, x) for x in (self.lower, self.upper))
        half, center = 0.5 * (upper - lower), 0.5 * (upper + lower)
        middle = p + np.einsum("kij,kj->ki", R, center)
        reach = np.einsum("kij,kj->ki", np.abs(R), half)
        a, b = pairs.T
        apart = np.abs(middle[a] - middle[b]) - reach[a] - reach[b]
        close = (apart <= within).all(axis=1)
        for plane, other in ((a, b), (b, a)):  # solid below: the lowest point of the other box counts
            k = np.flatnonzero(endless[plane])
            n = R[plane[k], :, 2]
            offset = middle[other[k]] - p[plane[k]]
            lowest = np.einsum("ki,ki->k", n, offset) - np.einsum("ki,ki->k", np.abs(n), reach[other[k]])
            close[k] = lowest <= within
        return close

    def names(self, pairs: np.ndarray) -> tuple[tuple[str, str], ...]:
        """The names of the shapes of pairs."""
        return tuple((self.shapes[k].name, self.shapes[n].name) for k, n in pairs.tolist())


def refuse_pairs(value) -> None:
    """Raise the error of an argument that is no list of pairs."""
    refuse("pairs", value, "pairs of names of shapes, [('floor', 'foot'), ...], or kt.collision.ContactPair")


def placed(R: np.ndarray, p: np.ndarray) -> list:
    """Poses as objects of coal."""
    library = coal()
    return [library.Transform3s(a, b) for a, b in zip(R, p, strict=True)]


def _of_contacts(model, own: tuple[NamedShape, ...]) -> tuple[list[NamedShape], list[tuple[int, int]]]:
    """Shapes of the model's contacts that are no collision shapes, and the pairs of contacts with them."""
    number = {shape.name: k for k, shape in enumerate(own)}
    further: list[NamedShape] = []
    pairs = []
    for pair in model.contacts:
        is_new = [shape.name not in number or number[shape.name] >= len(own) for shape in pair.shapes]
        for shape in pair.shapes:
            if shape.kind == "bowl":
                raise UnsupportedError(
                    f"queries over shapes: {shape} is hollow, and these are for convex solids; its contacts are those "
                    "of kt.collision.contact_points"
                )
            if shape.name not in number:
                frame = model.frame(shape.body)
                R, p = frame.R_BF @ np.array(shape.R), frame.p_BF + frame.R_BF @ np.array(shape.p)
                number[shape.name] = len(own) + len(further)
                further.append(NamedShape(shape.name, frame.body, Geometry(shape.kind, shape.size, R, p)))
        if any(is_new):
            pairs.append((number[pair.first.name], number[pair.second.name]))
    return further, pairs
