"""Writes the files that are made from the sources: ``python -m tests.static.generate``.

A test checks that they are current.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.static.source_tree import PACKAGE, module_name, package_files


def algorithm_modules() -> dict[str, str]:
    """The module of every function that ``@algorithm`` decorates, by its name."""
    found = {}
    for path in package_files():
        text = path.read_text()
        if "@algorithm(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id == "algorithm"
                for d in node.decorator_list
            ):
                found[node.name] = module_name(path)
    return dict(sorted(found.items()))


def index() -> str:
    """The text of ``algorithms/index.py``."""
    lines = [f'    "{name}": "{module}",' for name, module in algorithm_modules().items()]
    return "\n".join([
        '"""Where each algorithm is defined. Generated: python -m tests.static.generate."""', "",
        "MODULES = {", *lines, "}", "",
    ])  # fmt: skip


def files() -> dict[Path, str]:
    """All generated files and their texts."""
    return {PACKAGE / "algorithms" / "index.py": index()}


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
