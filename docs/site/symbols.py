"""The names that a Python file defines, with their lines."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def symbols(path: str) -> dict[str, int]:
    """The first line of every class, function, method and name that a Python file of the project defines."""
    found: dict[str, int] = {}

    def visit(body, prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                found.setdefault(prefix + node.name, first)
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            found.setdefault(prefix + name.id, node.lineno)
            elif isinstance(node, (ast.If, ast.For, ast.With)):
                visit(node.body, prefix)

    if path.endswith(".py"):
        visit(ast.parse((ROOT / path).read_text()).body, "")
    return found
