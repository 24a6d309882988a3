"""The declaration that turns a plain function over scalars into an algorithm of the library.

``@algorithm(...)`` declares inputs and outputs of a function and their shapes. The function itself is
unchanged: a listing of the book that runs on floats, NumPy arrays (one entry per state), extended precision or traced
expressions. The compile floor reads the declaration to trace, compile, check shapes and name errors.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType

from kinetree.algorithms.domain import UNIT_QUATERNIONS, Domain
from kinetree.algorithms.gears import refuse_gears
from kinetree.algorithms.index import MODULES
from kinetree.algorithms.symbols import ARRAYS, OPTIONAL
from kinetree.arguments import choice
from kinetree.content import from_library, key
from kinetree.errors import DuplicateNameError
from kinetree.once import once

Shape = tuple[str | int, ...]


class Algorithms(MutableMapping):
    """Algorithms by name. Those of the library are imported when they are looked up; iteration imports all."""

    def __init__(self) -> None:
        self._imported: dict[str, Spec] = {}

    def __getitem__(self, name: str) -> Spec:
        if name not in self._imported:
            import_module(MODULES[name])
        return self._imported[name]

    def __setitem__(self, name: str, spec: Spec) -> None:
        self._imported[name] = spec

    def __delitem__(self, name: str) -> None:
        del self._imported[name]

    def __iter__(self):
        for module in MODULES.values():
            import_module(module)
        return iter(self._imported)

    def __len__(self) -> int:
        return sum(1 for _ in self)


ALGORITHMS = Algorithms()


@dataclass(frozen=True, eq=False)
class Spec:
    """The declaration of an algorithm: its inputs and outputs.

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
        Keyword arguments that are not arrays (a frame's name, ``reference=``): each choice is compiled separately.
    domains : tuple of Domain
        Conditions on the inputs besides shape and finiteness (unit quaternions, limits, couplings).
    body_frames : bool, "cheaper", "laws" or None
        Whether inputs or outputs refer to body coordinates, so that the bodies may not be re-framed for speed;
        "cheaper" if they may, but the algorithm costs less in the user's own frames; "laws" if bodies take part through
        laws of force elements alone, "loops" if through projection on loops alone; None if no body takes part, as in
        all that are not given positions.
    parts : tuple
        The quantities of a fused function (`kinetree.compiler.fused`).
    symbols : mapping of str to str
        The meaning of arrays, choices and errors, where it is not the one of `kinetree.algorithms.symbols`.
    raises : tuple of str
        Errors besides those of arrays, choices and domains.
    variants : mapping of str to Spec
        By keyword: the algorithm that gives one output more where this keyword is true.
    methods : mapping of str to str or callable
        Values of the keyword ``method``, the default first, and the algorithms that they name, or plain functions.
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
    symbols: Mapping[str, str] = field(default_factory=dict)
    raises: tuple[str, ...] = ()
    variants: Mapping[str, Spec] = field(default_factory=dict, repr=False)
    methods: Mapping[str, str | Callable] = field(default_factory=dict, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def by(self, method: str) -> Spec:
        """The declaration of this quantity by one of its methods.

        Raises
        ------
        UnknownNameError, ArgumentError
        """
        if choice("method", method, self.methods, self.name) == next(iter(self.methods)):
            return self
        chosen = self.methods[method]
        chosen = ALGORITHMS[chosen].function if isinstance(chosen, str) else chosen

        def by(spec, variants):
            function = _by_method(spec.function, chosen)
            return replace(spec, name=f"{spec.name}:{method}", function=function, variants=variants, methods={})

        return by(self, {more: by(spec, {}) for more, spec in self.variants.items()})

    @functools.cached_property
    def doc(self) -> str:
        """The docstring: the author's text, and the declared arrays, choices and errors."""
        from kinetree.algorithms.docstrings import docstring  # when it is read

        return docstring(self)

    def meaning(self, name: str) -> str:
        """The text of the docstring about an array, in one line; empty if there is none."""
        from kinetree.algorithms.docstrings import meaning

        return meaning(self.doc, name)

    @functools.cached_property
    def key(self) -> str | None:
        """The algorithm's identity by content: its code, closures, and the sources that it uses.

        None for functions that are not the library's, alone or within others: their code may change without notice.
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
                return sized(table[name], model)
        raise KeyError(name)


def sized(shape: Shape, model) -> tuple[int, ...]:
    """A declared shape in numbers. In the plane, vectors are shorter; a number as text is the same there."""

    def size(x):
        if not isinstance(x, str):
            return model.algebra.sizes.get(x, x)
        return int(x) if x.isdecimal() else getattr(model, x)

    return tuple(map(size, shape))


def _shapes(declared: str | Mapping[str, str | Shape], symbols: Mapping = ARRAYS) -> Mapping[str, Shape]:
    """Names and shapes: from names, whose shapes are those of the symbols, or from a mapping."""
    if isinstance(declared, str):
        return MappingProxyType({name: symbols[name][0] for name in declared.split()})
    return MappingProxyType({k: (shape,) if isinstance(shape, str) else tuple(shape) for k, shape in declared.items()})


def algorithm(
    *,
    inputs: str | Mapping[str, str | Shape],
    outputs: str | Mapping[str, str | Shape],
    optional: str | Mapping[str, str | Shape] = "",
    further: str | Mapping[str, str | Shape] = "",
    static: tuple[str, ...] = (),
    domains: tuple[Domain, ...] | None = None,
    body_frames: bool | str | None = False,
    geared: bool | None = None,
    symbols: Mapping[str, str] | None = None,
    raises: str = "",
    methods: Mapping[str, str | Callable] | None = None,
) -> Callable[[Callable], Callable]:
    """Register the decorated function as an algorithm under its own name; the function is returned unchanged.

    Positions q are checked for unit quaternions unless other ``domains`` are given.

    Arrays are named as in ``inputs="q v a"``, or, where their shapes are not those of `kinetree.algorithms.symbols`,
    mapped to their shapes. From these, ``symbols`` and ``raises`` (see `Spec`) the docstring takes its Parameters,
    Returns and Raises; a text of ``symbols`` that begins with ``;`` goes on where the standard one ends.
    ``further`` names outputs that are given on request: each is also a keyword of the function, False by default.
    ``methods`` maps values of the keyword ``method`` to algorithms or functions; the function is given this function,
    and its own default for the first of them.
    ``geared``: whether it is right for models with gears; by default that is so for algorithms of the library. If
    it is not, such models are refused. A function of a user's own may not have the name of one of the library: others
    call that by its name.
    """

    def register(function: Callable) -> Callable:
        name = function.__name__
        if name in MODULES and not from_library(function):
            raise DuplicateNameError(
                f"kinetree has an algorithm {name!r} of its own, which others use. Give the function another name.",
                name=name,
            )
        arrays = _shapes(inputs)
        knows_gears = from_library(function) if geared is None else geared
        spec = Spec(
            name=name,
            function=function if knows_gears else _without_gears(function),
            inputs=arrays,
            optional=_shapes(optional, OPTIONAL),
            outputs=_shapes(outputs),
            static=static,
            domains=(UNIT_QUATERNIONS,) * ("q" in arrays) if domains is None else domains,
            body_frames=None if body_frames is False and "q" not in arrays else body_frames,
            symbols=symbols or {},
            raises=tuple(raises.split()),
            methods=MappingProxyType(methods or {}),
        )
        variants = {
            more: replace(
                spec,
                name=f"{name}_{more}",
                function=_asked_for(spec.function, more),
                outputs=MappingProxyType({**spec.outputs, more: shape}),
            )
            for more, shape in _shapes(further).items()
        }
        ALGORITHMS[name] = replace(spec, variants=MappingProxyType(variants))
        return function

    return register


@once
def _by_method(function: Callable, method: Callable) -> Callable:
    """The function with another method; always the same one, since machine code is found by it."""

    def by_method(model, *inputs, **named):
        return function(model, *inputs, **named, method=method)

    parameters = inspect.signature(function).parameters.values()
    kept = [p for p in parameters if p.kind is not p.KEYWORD_ONLY or p.default is p.empty]
    by_method.__signature__, by_method.__doc__ = inspect.Signature(kept), function.__doc__
    by_method.__name__, by_method.__module__ = function.__name__, function.__module__
    return by_method


def _asked_for(function: Callable, more: str) -> Callable:
    """The function with a further output."""

    @functools.wraps(function)
    def with_more(model, *inputs, **named):
        return function(model, *inputs, **named, **{more: True})

    return with_more


def _without_gears(function: Callable) -> Callable:
    """The function, which refuses models with gears."""

    @functools.wraps(function)
    def guarded(model, *inputs, **named):
        refuse_gears(model, function.__name__)
        return function(model, *inputs, **named)

    return guarded
