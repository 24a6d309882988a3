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

from kinetree.compile import cache
from kinetree.compile.program import Program
from kinetree.compile.trace import numbers_model, trace
from kinetree.errors import CompilationError

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
    return all(code.__module__.startswith("kinetree.") for code in (*joint_classes(model), spec.function))


def joint_classes(model) -> frozenset[type]:
    """The classes of all joints of a model, and of the joints that they are made of."""
    return frozenset(type(part) for i in model.outward() for part in _parts(model.joints[i]))


def _parts(joint):
    """A joint and the joints that it is made of."""
    yield joint
    inner = getattr(joint, "joint", None)
    if inner is not None:
        yield from _parts(inner)


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
