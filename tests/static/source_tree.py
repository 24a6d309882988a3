"""What the static tests read: the files of the repository and the modules of the package."""

from __future__ import annotations

import ast
import functools
import pathlib
import subprocess
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "kinetree"
SKIPPED = {"build", "dist", "venv"}


def tracked_files() -> list[pathlib.Path]:
    """Every file that belongs to the project: git's list where there is one, else all but hidden and built ones."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not SKIPPED & set(path.relative_to(ROOT).parts)]
    return sorted(path for path in paths if path.is_file())


def python_files() -> list[pathlib.Path]:
    """The Python files of the project."""
    return [path for path in tracked_files() if path.suffix == ".py"]


def package_files() -> list[pathlib.Path]:
    """The Python files of the package, whether or not git knows them."""
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path: pathlib.Path) -> str:
    """``kinetree.model.topology`` for its file."""
    parts = ["kinetree", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imports(path: pathlib.Path) -> tuple[tuple[int, str], ...]:
    """Line and full name of everything a file of the package imports, inside functions too, except for type checkers.

    ``from m import n`` gives ``m.n``: whether n is a module or a name of m, the first two parts tell the floor.
    """
    return tuple(_imports(path))


def _imports(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    here = module_name(path).split(".")
    folder = here if path.name == "__init__.py" else here[:-1]
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree))
    unread = {
        id(node)
        for branch in nodes
        if isinstance(branch, ast.If) and ast.unparse(branch.test).endswith("TYPE_CHECKING")
        for statement in branch.body
        for node in ast.walk(statement)
    }
    for node in nodes:
        if id(node) in unread:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join(base + ([node.module] if node.module else []))
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"
