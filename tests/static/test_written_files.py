"""Every file that the package writes is written beside the old one and renamed: ``kinetree.files`` does that."""

from __future__ import annotations

import ast
import re

import pytest

from tests.static.source_tree import module_name, package_files

# The store of machine code makes its own files: entries are checked when they are read, and need not reach the disk.
OWN_WAY = {"kinetree.files", "kinetree.native.cache"}
WRITERS = {"write_text", "write_bytes", "savefig", "savez", "savez_compressed", "to_netcdf", "mkstemp", "dump"}
MODE = re.compile(r"[rwaxbt+]+")


def unguarded_writes(text: str) -> list[tuple[int, str]]:
    """Line and name of each call that writes to a file by name: not into an open one, not by ``kinetree.files``."""
    tree, found = ast.parse(text), []
    guarded = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.With) and any("replacing(" in ast.unparse(item.context_expr) for item in block.items)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or node in guarded:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        method = isinstance(node.func, ast.Attribute)
        modes = [*node.args[: 1 if method else 2], *(word.value for word in node.keywords if word.arg == "mode")]
        mode = modes[-1].value if modes and isinstance(modes[-1], ast.Constant) else ""
        if name == "open" and MODE.fullmatch(str(mode)) and set("wax+") & set(mode):
            found.append((node.lineno, name))
        elif name in WRITERS and method and ast.unparse(node.func.value) != "json":
            found.append((node.lineno, name))
    return found


def test_no_module_writes_over_a_file():
    """A full disk or a kill in the middle of such a write would lose the old file."""
    texts = {p: p.read_text() for p in package_files() if module_name(p) not in OWN_WAY}
    found = {path: lines for path, text in texts.items() if (lines := unguarded_writes(text))}
    assert len(texts) > 800 and not found


@pytest.mark.parametrize(
    "line",
    ["path.write_text(x)", "open(path, 'w')", "path.open('wb')", "open(path, mode='a')", "np.savez(path, x=x)"],
)
def test_the_search_finds_writes(line):
    """What the test above looks for, and what it lets pass."""
    assert unguarded_writes(line)
    assert not unguarded_writes("with replacing(path) as file:\n    np.savez(file)\nopen(path)\nwrite_text(path, x)")
