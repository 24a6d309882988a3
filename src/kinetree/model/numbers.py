"""The numbers of a model in one order: run-time inputs of compiled kernels, and models with new values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.errors import ShapeError
from kinetree.forces.registry import POSITION_PARAMETERS, VELOCITY_PARAMETERS
from kinetree.model.joint_forces import joint_forces
from kinetree.model.parts import INERTIA_NAMES
from kinetree.model.tree import Tree
from kinetree.spatial import Inertia, Symmetric3, Vector2, Vector3
from kinetree.spatial.algebra import SPATIAL
from kinetree.spatial.scalar import SNAP

VELOCITY_ARRAYS = ("armature", *VELOCITY_PARAMETERS, "lower", "upper")  # per velocity coordinate, in this order


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Every number of a model that may be a run-time input of a kernel.

    Attributes
    ----------
    names : tuple of str
        "forearm.mass", "forearm.h.x" (first moment), "forearm.I.xx" (about the body's origin), "elbow.r.x" (offset
        of the joint in the parent body), "gravity.z", "elbow.armature", "motor.ratio" (of a gear),
        "cable.stiffness" (of a force element).
    values : (n,) array
        In the units of each [SI].
    free : tuple of bool
        False for exact 0, 1 and -1 and for infinite limits: these are structure and are baked into kernels.
    """

    names: tuple[str, ...]
    values: np.ndarray
    free: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.names)

    def as_dict(self) -> dict[str, float]:
        """Name to value."""
        return dict(zip(self.names, self.values.tolist(), strict=True))


def entries(model) -> Iterator[tuple[str, object]]:
    """(name, scalar) of every number of a Model or ScalarModel, in the order of ``Numbers``."""
    axes, inertial = _axes_and_inertial(model.algebra)
    for i in model.outward():
        for axis, x in zip(axes, model.X_T[i].r, strict=True):
            yield f"{model.joint_name(i)}.r.{axis}", x
        I = model.I[i]
        for name, x in zip(inertial, (I.m, *I.h, *(I.I if model.algebra is SPATIAL else (I.I,))), strict=True):
            yield f"{model.body_names[i]}.{name}", x
    for axis, x in zip(axes, model.gravity, strict=True):
        yield f"gravity.{axis}", x
    for name in VELOCITY_ARRAYS:
        for label, x in zip(model.velocity_labels, getattr(model, name), strict=True):
            yield f"{label}.{name}", x
    for name in POSITION_PARAMETERS:
        for label, x in zip(model.position_labels, getattr(model, name), strict=True):
            yield f"{label}.{name}", x
    for element in model.named_parts():
        for name, x in element.numbers().items():
            yield f"{element.name}.{name}", x
    for c in model.constraints:
        for name, x in c.numbers().items():
            yield f"{c.label}.{name}", x
    for part in (*model.contact_shapes.values(), *model.contacts):
        for name, x in part.numbers().items():
            yield f"{part.name}.{name}", x


def _axes_and_inertial(algebra) -> tuple[str, list[str]]:
    """Names of the coordinates of a point and of the numbers of an inertia."""
    return "xyz"[: algebra.sizes.get(3, 3)], [INERTIA_NAMES[k] for k in algebra.inertial]


def numbers_of(model) -> Numbers:
    """The numbers of a model of floats."""
    names, values = zip(*entries(model), strict=True)
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return Numbers(names, array, tuple(is_free(x) for x in array.tolist()))


def is_free(x: float) -> bool:
    """Whether a number may vary without changing the structure of the computation."""
    return x != 0.0 and not math.isinf(x)


def rebuilt(model, values) -> dict[str, object]:
    """The parts of a model over new scalars, by the names of its attributes; rotations and the world stay.

    Parameters
    ----------
    model : Model
        Gives the structure.
    values : iterable of scalars
        In the order of ``numbers_of(model)``.
    """
    source = iter(values)

    def take(count: int) -> list:
        return [next(source) for _ in range(count)]

    point, moments = (Vector3, Symmetric3) if model.algebra is SPATIAL else (Vector2, _only)
    axes, inertial = _axes_and_inertial(model.algebra)
    n = len(axes)
    X_T, I = [model.X_T[0]], [model.I[0]]
    for i in model.outward():
        X_T.append(model.algebra.Transform.of(model.X_T[i].E, point(*take(n))))
        I.append(model.algebra.Inertia(*take(1), point(*take(n)), moments(*take(len(inertial) - 1 - n))))
    parts = {"X_T": tuple(X_T), "I": tuple(I), "gravity": point(*take(n))}
    for name in VELOCITY_ARRAYS:
        parts[name] = tuple(take(model.nv))
    for name in POSITION_PARAMETERS:
        parts[name] = tuple(take(model.nq))
    for kind in model.NAMED:
        parts[kind] = tuple(part.with_numbers(take(len(part.numbers()))) for part in getattr(model, kind))
    parts["constraints"] = tuple(c.with_numbers(take(len(c.numbers()))) for c in model.constraints)
    shapes = {name: s.with_numbers(take(len(s.numbers()))) for name, s in model.contact_shapes.items()}
    parts["contacts"] = tuple(pair.with_numbers(take(len(pair.numbers())), shapes) for pair in model.contacts)
    return parts


def _only(x):
    return x


def snapped(x: float, scale: float) -> float:
    """Exact zero for a residue of rounding at this scale."""
    return 0.0 if abs(x) <= SNAP * scale else float(x)


def snapped_inertia(I: Inertia) -> Inertia:
    """The inertia with exact zeros for entries below 1e-13 of the greatest ones for the body's mass and size."""
    moments = max(map(abs, I.I))
    first = math.sqrt(max(I.m, 0.0) * moments)  # |h|^2 <= m tr(I) / 2
    return Inertia(
        float(I.m), Vector3(*(snapped(x, first) for x in I.h)), Symmetric3(*(snapped(x, moments) for x in I.I))
    )


def radius_of_gyration(I: Inertia) -> float:
    """A length, the size of a body [m]; 0 for a body without mass."""
    return math.sqrt(max(map(abs, I.I)) / I.m) if I.m > 0.0 else 0.0


class ScalarModel(Tree):
    """The structure of a Model with its numbers replaced by scalars of any kind.

    Parameters
    ----------
    model : Model
        Gives the structure; rotations stay constant.
    values : sequence of scalars
        One for each of ``model.numbers()``, in that order.

    Notes
    -----
    Algorithms run on it as on a Model. Joint forces are present where those of the model are, or where their
    numbers are not structural zeros.

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.algorithms.crba import crba
    >>> pendulum = kt.models.pendulum()
    >>> numbers = pendulum.numbers()
    >>> values = list(numbers.values)
    >>> k = numbers.names.index("bob.I.yy")
    >>> values[k] = values[k] + 1e-30j  # a complex step
    >>> M = crba(kt.model.ScalarModel(pendulum, values), [0.3])
    >>> float(M[0][0].imag / 1e-30)  # dM / dI_yy
    1.0
    """

    __slots__ = ("X_T", "I", "gravity", *POSITION_PARAMETERS, *VELOCITY_ARRAYS, *Tree.NUMBERED)

    def __init__(self, model: Tree, values: Sequence) -> None:
        values = list(values)
        expected = len(numbers_of(model))
        if len(values) != expected:
            raise ShapeError(
                f"with_numbers: {len(values)} values, expected {expected} for model {model.name!r}, in the order of "
                "model.numbers().names"
            )
        self._set_numbers(model, values)

    @classmethod
    def over(cls, model: Tree, values: Sequence) -> ScalarModel:
        """The structure of a Model or ScalarModel over other numbers."""
        smodel = object.__new__(cls)
        smodel._set_numbers(getattr(model, "plain", model), values)  # large models have symbols for rotations
        return smodel

    def _set_numbers(self, model: Tree, values: Sequence) -> None:
        model.clusters()  # found once, from numbers
        self._set(**{name: getattr(model, name) for name in Tree.STRUCTURE})
        self._set(_independent_velocities=model.independent_velocities)
        self._set(**rebuilt(model, values))
        self._set(joint_forces=joint_forces(self, model))

    @classmethod
    def view(cls, model: Tree) -> ScalarModel:
        """The structure and the numbers of a Model as they are."""
        smodel = object.__new__(cls)
        smodel._set(**{name: getattr(model, name) for name in (*Tree.STRUCTURE, *ScalarModel.__slots__)})
        smodel._set(_independent_velocities=model.independent_velocities)
        return smodel

    def __repr__(self) -> str:
        return f"<ScalarModel of {self.name!r}>"
