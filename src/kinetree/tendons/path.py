"""Paths of tendons: sums of joint positions, or points and shapes in space, as tuples of parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from kinetree.arguments import number
from kinetree.errors import ModelError
from kinetree.tendons.parts import JointTerm, PathPart, Pulley, ViaPoint, WrapShape

Path = tuple[JointTerm | ViaPoint | WrapShape | Pulley, ...]


def path_of(what: str, path) -> Path:
    """The parts of a path as a tuple: joint terms alone, or points with shapes and pulleys between them.

    Raises
    ------
    ModelError
        It is neither, has a branch of fewer than two points, or a shape that is not between two points.
    """
    path = tuple(path) if isinstance(path, (tuple, list)) else (path,)
    for part in path:
        if not isinstance(part, PathPart):
            raise ModelError(f"{what} has the part {part!r}, expected JointTerm, ViaPoint, WrapShape or Pulley")
        if isinstance(part, (JointTerm, Pulley)):
            value = part.coefficient if isinstance(part, JointTerm) else part.divisor
            if number(f"{what}: the number of {part!r}", value) <= 0.0 and isinstance(part, Pulley):
                raise ModelError(f"{what} has a pulley whose divisor is {value}, expected a positive number")
    if not path or any(isinstance(part, JointTerm) for part in path) and not is_fixed(path):
        raise ModelError(f"{what} is {path!r}, expected joint terms alone, or points")
    for _, parts in () if is_fixed(path) else branches(path):
        wraps = [isinstance(part, WrapShape) for part in parts]
        if len(parts) - sum(wraps) < 2:
            raise ModelError(f"{what} has a branch of fewer than two points: {path!r}")
        if wraps[0] or wraps[-1] or any(map(all, pairwise(wraps))):
            raise ModelError(f"{what} has a shape that is not between two points: {path!r}")
        still = next((a for a, b in pairwise(parts) if a == b), None)
        if still is not None:
            raise ModelError(f"{what} collapses: {still!r} comes twice in a row, which has no direction")
    return path


def is_fixed(path: Path) -> bool:
    """Whether the length is a sum of joint positions."""
    return all(isinstance(part, JointTerm) for part in path)


def segments(parts) -> Iterator[tuple[ViaPoint, WrapShape | None, ViaPoint]]:
    """The parts of a branch from each point to the next, over a shape or straight."""
    start, shape = parts[0], None
    for part in parts[1:]:
        if isinstance(part, WrapShape):
            shape = part
        else:
            yield start, shape, part
            start, shape = part, None


def branches(path: Path) -> list[tuple[float, list[ViaPoint | WrapShape]]]:
    """Of a path in space: the divisor of each branch, and the points and shapes that it passes."""
    found: list[tuple[float, list]] = [] if path and isinstance(path[0], Pulley) else [(1.0, [])]
    for part in path:
        if isinstance(part, Pulley):
            found.append((part.divisor, []))
        else:
            found[-1][1].append(part)
    return found


def path_numbers(path: Path, label: str) -> dict[str, object]:
    """The numbers of all parts, as "path.<part>.coefficient"."""
    return {f"{label}.{n}.{what}": x for n, part in enumerate(path) for what, x in part.numbers().items()}


def with_path_numbers(path: Path, values: Iterator) -> Path:
    """The path with other numbers from an iterator, of any scalar type."""
    return tuple(part.with_numbers(values) for part in path)


def renamed_path(path: Path, joint: Callable[[str], str], frame: Callable[[str], str]) -> Path:
    """The path under other names of joints and frames."""
    new = {"joint": joint, "frame": frame}

    def under(part):
        named = {what: kind for what, kind in part.refers.items() if getattr(part, what) is not None}
        return replace(part, **{what: new[kind](getattr(part, what)) for what, kind in named.items()})

    return tuple(map(under, path))


def path_structure(path: Path) -> str:
    """The path without its numbers."""
    return repr(with_path_numbers(path, itertools.repeat(1.0)))


def names_in(path: Path, kind: str) -> tuple[str, ...]:
    """Names of the joints or frames of a path, each once; ``kind`` is "joint" or "frame"."""
    fields = ((part, what) for part in path for what, of in part.refers.items() if of == kind)
    return tuple(dict.fromkeys(name for part, what in fields if (name := getattr(part, what)) is not None))
