"""The declaration that turns a plain function over scalars into an algorithm of the library.

``@algorithm(...)`` says which arrays a function takes and gives and in which shapes. The function itself stays what
it is: a listing of the book that runs on floats, NumPy arrays (one entry per state), extended precision or traced
expressions. The compile floor reads the declaration to trace, compile, check shapes and name what is wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kinetree.algorithms.rotors import COVERED, refuse_rotors
from kinetree.content import from_library, key
from kinetree.errors import DuplicateNameError

Shape = tuple[str | int, ...]

ALGORITHMS: dict[str, Spec] = {}


@dataclass(frozen=True)
class Spec:
    """What an algorithm takes and gives.

    Attributes
    ----------
    name : str
        The algorithm's name, the same as its function's.
    function : callable
        ``function(model, *inputs, **optional, **static)`` over scalars; arrays are nested lists in the declared shapes.
    inputs, optional, outputs : mapping of str to tuple
        Names and shapes. An entry of a shape is a number or the name of a size of the model (``nq``, ``nv``, ``nb``,
        ``nf``, ``n_inertial``).
    static : tuple of str
        Keyword arguments that are not arrays (a frame's name, ``reference=``): each choice is a function of its own.
    domains : tuple of Domain
        Conditions on the inputs beyond shape and finiteness (unit quaternions, limits, couplings).
    body_frames : bool, "cheaper" or None
        Whether inputs or outputs refer to body coordinates, so that the bodies may not be re-framed for speed;
        "cheaper" if they may, but the algorithm costs less in the user's own frames; None if no body takes part.
    parts : tuple
        The quantities of a fused function (`kinetree.compiler.fused`).
    """

    name: str
    function: Callable
    inputs: Mapping[str, Shape]
    optional: Mapping[str, Shape]
    outputs: Mapping[str, Shape]
    static: tuple[str, ...] = ()
    domains: tuple[Domain, ...] = ()
    body_frames: bool | str | None = False
    parts: tuple = ()

    @functools.cached_property
    def key(self) -> str | None:
        """What the algorithm computes, by content: its code, what that closes over, and the sources that it uses.

        None for functions that are not the library's, alone or within others: their code may change unseen.
        """
        return key(self.identity)

    @functools.cached_property
    def identity(self) -> tuple:
        """The same within this process, hashable: equal for the same functions and the same declaration."""
        tables = (tuple(table.items()) for table in (self.inputs, self.optional, self.outputs))
        return self.name, self.function, *tables, self.static, self.domains, self.body_frames, self.parts

    def shape(self, name: str, model) -> tuple[int, ...]:
        """The shape of an input or output for this model."""
        for table in (self.inputs, self.optional, self.outputs):
            if name in table:
                sizes = model.algebra.sizes  # in the plane, vectors are shorter
                return tuple(getattr(model, x) if isinstance(x, str) else sizes.get(x, x) for x in table[name])
        raise KeyError(name)


@dataclass(frozen=True)
class Domain:
    """A condition that the inputs of an algorithm must meet.

    ``violations(model, inputs)`` gives one boolean scalar per condition (true: violated); it is traced into the
    compiled function. ``explain(model, inputs, index)`` builds the error for the condition of that number, from one
    state's floats.
    """

    name: str
    needs: tuple[str, ...]
    violations: Callable = field(repr=False)
    explain: Callable = field(repr=False)


def _shape(declared: str | Shape) -> Shape:
    return (declared,) if isinstance(declared, str) else tuple(declared)


def algorithm(
    *,
    inputs: Mapping[str, str | Shape],
    outputs: Mapping[str, str | Shape],
    optional: Mapping[str, str | Shape] | None = None,
    static: tuple[str, ...] = (),
    domains: tuple[Domain, ...] = (),
    body_frames: bool | str | None = False,
    rotors: bool | None = None,
) -> Callable[[Callable], Callable]:
    """Register the decorated function as an algorithm under its own name; the function is returned unchanged.

    ``rotors`` says whether it is right for models with geared rotors; by default, whether it is listed there. If it is
    not, such models are refused. A function of a user's own may not have the name of one of the library: others call
    that by its name.
    """

    def register(function: Callable) -> Callable:
        name = function.__name__
        if name in ALGORITHMS and from_library(ALGORITHMS[name].function) and not from_library(function):
            raise DuplicateNameError(
                f"kinetree has an algorithm {name!r} of its own, which others use. Give the function another name.",
                name=name,
            )
        known = name in COVERED if rotors is None else rotors
        ALGORITHMS[name] = Spec(
            name=name,
            function=function if known else _without_rotors(function),
            inputs=MappingProxyType({name: _shape(shape) for name, shape in inputs.items()}),
            optional=MappingProxyType({name: _shape(shape) for name, shape in (optional or {}).items()}),
            outputs=MappingProxyType({name: _shape(shape) for name, shape in outputs.items()}),
            static=static,
            domains=domains,
            body_frames=body_frames,
        )
        return function

    return register


def _without_rotors(function: Callable) -> Callable:
    """The function, which refuses models with geared rotors."""

    @functools.wraps(function)
    def guarded(model, *inputs, **named):
        refuse_rotors(model, function.__name__)
        return function(model, *inputs, **named)

    return guarded
