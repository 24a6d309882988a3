"""Links from the items of docs/book.md to the lines of code and of tests that the rows name."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

from docs.site.symbols import symbols

ROOT = Path(__file__).parents[2]
CELL = re.compile(r"(?<!\\)\|")


def resolved(name: str) -> tuple[object, object, str] | None:
    """A name below kinetree (``kt.`` is the package) as the thing, the thing that has it, and its last part."""
    parts = ["kinetree", *name.removeprefix("kt.").split(".")]
    for split in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        owner = None
        for part in parts[split:]:
            owner, thing = thing, getattr(thing, part, None)
        return None if thing is None else (thing, owner, parts[-1])
    return None


def where(name: str) -> tuple[str, str] | None:
    """File of the project and symbol in it at which a name below kinetree is defined.

    Examples
    --------
    >>> where("spatial.Motion.dot"), where("kt.rnea")
    (('src/kinetree/spatial/motion.py', 'Motion.dot'), ('src/kinetree/algorithms/rnea.py', 'rnea'))
    """
    found = resolved(name)
    if found is None:
        return None
    thing, owner, last = found
    if isinstance(thing, property):
        thing = thing.fget
    thing = inspect.unwrap(thing) if callable(thing) else thing
    if isinstance(thing, ModuleType):
        return _file(thing), ""
    candidates = [(getattr(thing, "__module__", None), getattr(thing, "__qualname__", last))]
    if inspect.isclass(owner):  # a field, or a member of a base class
        candidates += [(base.__module__, f"{base.__qualname__}.{last}") for base in owner.__mro__]
    elif isinstance(owner, ModuleType):
        candidates += [(owner.__name__, last)]
    for module, symbol in candidates:
        if isinstance(module, str) and module.startswith("kinetree"):
            path = _file(importlib.import_module(module))
            if symbol in symbols(path):
                return path, symbol
    return None


def _file(module: ModuleType) -> str:
    """The file of a module below the root of the project."""
    parts = module.__name__.split(".")
    base = ROOT / "src" / Path(*parts)
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    return path.relative_to(ROOT).as_posix()


def code_link(match: re.Match) -> str:
    """A name in the column of code as a link to its definition."""
    found = where(match[1])
    if found is None:
        return match[0]
    path, symbol = found
    return f"{{source}}`{match[1]} <{path}{'#' if symbol else ''}{symbol}>`"


def proof_links(cell: str) -> str:
    """The tests that a cell names as links to their definitions; ``::name`` is in the file named before."""
    file = ""

    def link(match: re.Match) -> str:
        nonlocal file
        file = match[1] or file
        return f"{{source}}`{match[1]}::{match[2]} <tests/{file}#{match[2]}>`"

    return re.sub(r"`([^`]*)::(\w+)`", link, cell)


def linked_cells(text: str) -> str:
    """The page with links in the last two cells of the rows of its tables."""
    lines = []
    for line in text.splitlines():
        cells = CELL.split(line)
        if line.startswith("| ") and len(cells) == 6 and "::" in cells[4]:
            cells[3], cells[4] = re.sub(r"`([^`]+)`", code_link, cells[3]), proof_links(cells[4])
            line = "|".join(cells)
        lines.append(line)
    return "\n".join(lines) + "\n"
