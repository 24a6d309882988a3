"""Programs on disk, found by the inputs of a trace, so that a later process does not trace again.

A trace depends on the algorithm (`Spec.key`), its static choices, the model's structure, and on the sources that trace.
All of these are found by content without tracing, unless an algorithm, a chart, a joint or a force element is defined
outside the library: its code could change without notice, so it is traced anew in every process (the machine code
itself is still found by the program's content). Names are no part of the key: another computation has another key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import FunctionType

from kinetree import content
from kinetree.compiler.tracing import numbers_model, trace
from kinetree.errors import CompilationError
from kinetree.joints import Joint
from kinetree.native import cache
from kinetree.trace.program import Program


def signature_of(spec, model, present: tuple[str, ...], static: Mapping[str, object]) -> tuple:
    """The inputs of a trace besides the source, hashable: models of one structure share programs and machine code."""
    return numbers_model(spec, model).structure(), present, tuple(sorted(static.items())), spec.parts


def cached_program(spec, model, present: tuple[str, ...], static: Mapping[str, object], signature: tuple) -> Program:
    """The program of an algorithm for this model: from the disk if it is there, else traced and stored.

    Parameters
    ----------
    spec : Spec
    model : Model
    present : tuple of str
        Which optional inputs are given.
    static : mapping
        Values of the static arguments.
    signature : tuple
        That of `signature_of`.
    """
    basis = numbers_model(spec, model)
    known = _key(spec, basis)
    if known is None:
        return trace(spec, model, present, static)
    key = f"program/{known}/{hashlib.sha256(repr(signature).encode()).hexdigest()}"
    data = cache.load(key)
    if data is not None:
        try:
            return Program.from_bytes(data, trusted=True)  # the cache compares checksums
        except CompilationError:  # written by another version: trace again
            pass
    program = trace(spec, model, present, static)
    cache.store(key, program.to_bytes())
    return program


def _key(spec, model) -> str | None:
    """All code that a trace would run, by content; None if not all of it belongs to the library."""
    elements = tuple(map(type, (*model.elements, *model.tendon_forces)))
    constraints = tuple(c.code for c in model.constraints)
    joints = content.key(model.joints, elements, constraints, type(model), sources=("kinetree.compiler.tracing",))
    return f"{joints}/{spec.key}" if joints is not None and spec.key is not None else None


def joint_classes(model) -> frozenset:
    """The code of the joints, force elements and constraints of a model: classes, and functions of a user's own.

    The functions themselves are in it, and so stay alive: their place in memory may be part of a joint's repr.
    """
    parts = (part for i in model.outward() for part in _parts(model.joints[i]))
    parts = (*parts, *(part for c in model.constraints for part in _parts(c.code[1:])))
    return frozenset(
        type(part) if _is_ours(type(part)) or isinstance(part, Joint) else _Same(part) for part in parts
    ) | frozenset(map(type, (*model.elements, *model.constraints)))


def _is_ours(code) -> bool:
    return isinstance(code, (type, FunctionType)) and content.is_ours(code.__module__)


def _parts(part):
    """A joint, the joints and functions that it is made of, and the parts of these."""
    if isinstance(part, (tuple, list)):
        for x in part:
            yield from _parts(x)
    elif isinstance(part, Joint):
        yield part
        for x in part._parameters().values():
            yield from _parts(x)
    elif callable(part):
        yield part


class _Same:
    """Equal to itself alone, without the object's own ``__eq__``."""

    __slots__ = ("of",)

    def __init__(self, of: object) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.of is self.of

    def __hash__(self) -> int:
        return id(self.of)
