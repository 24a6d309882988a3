"""Programs on disk, found by what a trace depends on, so that a later process does not trace again.

A trace depends on the algorithm, its static choices, the model's structure and the library's own source. All of these
are known without tracing, unless a joint is defined outside the library: its code could change without notice, so
such models are traced anew in every process (the machine code itself is still found by the program's content).
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType

from kinetree.compile import cache
from kinetree.compile.program import Program
from kinetree.compile.trace import numbers_model, trace
from kinetree.errors import CompilationError
from kinetree.joints import Joint

_FLOORS = ("spatial", "joints", "model", "algorithms", "compile", "integrate")


def signature_of(spec, model, present: tuple[str, ...], static: Mapping[str, object]) -> tuple:
    """What a trace depends on besides the source, hashable: models of one structure share programs and machine code."""
    return numbers_model(spec, model).structure(), present, tuple(sorted(static.items())), spec.parts


def stored_program(spec, model, present: tuple[str, ...], static: Mapping[str, object], signature: tuple) -> Program:
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
    if not _known(spec, basis):
        return trace(spec, model, present, static)
    key = f"program/{_sources()}/{spec.name}/{hashlib.sha256(repr(signature).encode()).hexdigest()}"
    data = cache.load(key)
    if data is not None:
        try:
            return Program.from_bytes(data, trusted=True)  # the cache compares checksums
        except CompilationError:  # written by another version: trace again
            pass
    program = trace(spec, model, present, static)
    cache.store(key, program.to_bytes())
    return program


def _known(spec, model) -> bool:
    """Whether all code that a trace would run belongs to the library."""
    return all(_is_ours(code) for code in (*joint_classes(model), spec.function))


def joint_classes(model) -> frozenset:
    """The code that the joints of a model are made of: classes, and functions of a user's own.

    The functions themselves are in it, and so stay alive: their place in memory may be part of a joint's repr.
    """
    return frozenset(
        type(part) if _is_ours(type(part)) or isinstance(part, Joint) else _Same(part)
        for i in model.outward()
        for part in _parts(model.joints[i])
    )


def _is_ours(code) -> bool:
    return isinstance(code, (type, FunctionType)) and code.__module__.startswith("kinetree.")


def _parts(part):
    """A joint, the joints and functions that it is made of, and what these are made of."""
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
    """Equal to itself alone, whatever the object says."""

    __slots__ = ("of",)

    def __init__(self, of: object) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.of is self.of

    def __hash__(self) -> int:
        return id(self.of)


@functools.lru_cache(maxsize=1)
def _sources() -> str:
    """Identifies the library's source by the names, sizes and times of its files."""
    root = Path(__file__).resolve().parent.parent
    stamps = []
    for floor in _FLOORS:
        with os.scandir(root / floor) as found:
            files = sorted((entry.name, entry.stat()) for entry in found if entry.name.endswith(".py"))
        stamps += [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]
