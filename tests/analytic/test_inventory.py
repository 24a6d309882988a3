"""Every item of the book has its test, and the test exists."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

from tests.analytic.inventory import ITEMS, LAST

TESTS = Path(__file__).parents[1]


@functools.cache
def functions_of(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_no_item_is_missing():
    """From the first to the last of each chapter."""
    numbered = {f"{chapter}.{k:02d}" for chapter, last in LAST.items() for k in range(1, last + 1)}
    assert set(ITEMS) == numbered


@pytest.mark.parametrize("item", ITEMS)
def test_the_test_exists(item):
    """A function of that name in that file."""
    file, _, name = ITEMS[item].partition("::")
    assert name.startswith("test_")
    assert name in functions_of(file)
