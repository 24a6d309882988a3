"""Rules for the text of the files: clean, short, and not bound to one machine."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize

import pytest

from tests.static.source_tree import ROOT, module_name, package_files, python_files, tracked_files

TEXT = {".py", ".md", ".toml", ".json", ".sh", ".txt", ".yml", ".yaml", ".urdf", ".xml", ""}
# Folders that exist on one developer's machine only; written in pieces so that this file is clean itself.
MACHINE_PATH = re.compile(r"(?<![\w.:/<])/(?:" + "|".join(["home", "root", "work", "farm", "Users", "tmp"]) + r")/\w")
UNNAMED = {"utils.py", "util.py", "helpers.py", "misc.py", "common.py"}
LONGEST_FILE, LONGEST_SOURCE = 700, 600
MOST_FILES = {"dry_friction": 8, "rotor": 15}  # of the package that name a kind of physics
LONG, LONG_FUNCTIONS = 60, 10


def test_ruff_finds_nothing():
    """The linter passes on the whole project."""
    pytest.importorskip("ruff")
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_names_a_path_of_one_machine():
    """Nothing in the project depends on where somebody has a checkout."""
    found = []
    for path in tracked_files():
        if path.suffix in TEXT:
            for number, line in enumerate(path.read_text(errors="ignore").splitlines(), 1):
                if MACHINE_PATH.search(line):
                    found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert not found, "\n".join(found)


def test_no_python_file_is_too_long():
    """A file holds one idea; beyond 700 lines, 600 in the package, there are two."""
    lengths = {path: len(path.read_text().splitlines()) for path in python_files()}
    sources = set(package_files())
    assert not {path: n for path, n in lengths.items() if n > (LONGEST_SOURCE if path in sources else LONGEST_FILE)}


@pytest.mark.parametrize("word", MOST_FILES)
def test_physics_stays_behind_its_contract(word):
    """Few files name one kind of force or mechanism; all others go by its contract."""
    found = [module_name(path) for path in package_files() if word in path.read_text()]
    assert len(found) <= MOST_FILES[word], found


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """The numbers of the lines that hold code: neither blank ones, comments nor docstrings."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {k for token in tokens if token.type not in skipped for k in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def test_few_functions_are_long():
    """A function fits on a screen; at most ten of the package have more than 60 lines of code."""
    long = {}
    for path in package_files():
        tree = ast.parse(text := path.read_text())
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        functions = [node for node in functions if node.end_lineno - node.lineno >= LONG]  # others have no such lines
        lines = code_lines(text, tree) if functions else set()
        for node in functions:
            count = sum(node.lineno <= k <= node.end_lineno for k in lines)
            if count > LONG:
                long[f"{module_name(path)}.{node.name}"] = count
    assert len(long) <= LONG_FUNCTIONS, long


def test_every_file_is_named_by_its_idea():
    """Nothing is called utils."""
    assert not [path.relative_to(ROOT) for path in python_files() if path.name in UNNAMED]


def test_every_module_says_what_it_is():
    """Each Python file that holds code opens with a docstring."""
    silent = []
    for path in python_files():
        text = path.read_text().lstrip()
        if text and not text.startswith(('"""', 'r"""', "#!")):
            silent.append(str(path.relative_to(ROOT)))
    assert not silent
