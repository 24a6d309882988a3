"""docs/book.md: every table, equation and example of the book is on the page, and everything that it names exists."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "book.md").read_text()
EQUATIONS = {"2": 78, "3": 74, "4": 13, "5": 20, "6": 29, "7": 63, "8": 64, "9": 30, "10": 12, "11": 79, "A": 0}
TABLES = {"2": 5, "3": 1, "4": 3, "5": 2, "6": 6, "7": 2, "8": 4, "9": 7, "10": 3, "11": 1, "A": 5}
EXAMPLES = {"2": 6, "3": 2, "4": 6, "5": 0, "6": 0, "7": 1, "8": 2, "9": 5, "10": 0, "11": 1, "A": 0}
chapters = pytest.mark.parametrize("chapter", EQUATIONS)


def rows(heading: str) -> list[list[str]]:
    """The cells of the rows of the table under a heading."""
    (section,) = re.findall(rf"^## {heading}.*?\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines]


def of_chapter(chapter: str) -> list[list[str]]:
    """The rows of a chapter or appendix."""
    return rows("Appendix A" if chapter == "A" else f"Chapter {chapter}:")


def numbers(chapter: str, kind: str) -> set[int]:
    """The numbers of a kind ("eq.", "table", "example") that the rows of a chapter name, ranges included."""
    found = set()
    for first, *_ in of_chapter(chapter):
        for group in first.split(";"):
            if re.match(rf"\s*{kind}s?\b", group.replace(".", "", 1) if kind == "eq" else group):
                for start, end in re.findall(rf"\b{chapter}\.(\d+)(?:-{chapter}\.(\d+))?", group):
                    found |= set(range(int(start), int(end or start) + 1))
    return found


def all_rows() -> list[list[str]]:
    """The rows of all tables whose last two cells are code and proof."""
    return [row for chapter in EQUATIONS for row in of_chapter(chapter)] + [
        row for heading in ("Maximal", "Sueda's", "Unseren's") for row in rows(heading)
    ]


@functools.cache
def functions_of(path: Path) -> frozenset[str]:
    """Names of the test functions of a file."""
    return frozenset(node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef))


def exists(name: str) -> bool:
    """Whether a name below kinetree, or below ``kt``, leads somewhere."""
    parts = ["kinetree", *name.removeprefix("kt.").split(".")]
    for split in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


@chapters
@pytest.mark.parametrize(("kind", "last"), [("eq", EQUATIONS), ("table", TABLES), ("example", EXAMPLES)])
def test_no_number_is_missing(chapter, kind, last):
    """Every equation, table and example of a chapter is in one of its rows, and no row invents one."""
    assert numbers(chapter, kind) == set(range(1, last[chapter] + 1))


def test_every_function_exists():
    """What the column of code names can be imported, and every row names something."""
    for row in all_rows():
        names = re.findall(r"`([^`]+)`", row[2])
        assert names, row
        assert [name for name in names if not exists(name)] == []


def test_every_test_exists():
    """What the column of proofs names is a test function of that file, and every row names one."""
    for row in all_rows():
        cited = re.findall(r"`([^`]*)::(\w+)`", row[3])
        assert cited and len(cited) == row[3].count("::"), row
        path = None
        for file, name in cited:
            path = ROOT / "tests" / file if file else path
            assert name in functions_of(path), f"{path.name}::{name}"
            assert name.startswith("test_")


def test_names_in_the_text_exist():
    """Names of code outside of the tables, too: those with a dot that begin with a part of the package."""
    for name in re.findall(r"`((?:kt|spatial|joints|model|algorithms|liegroup|compile)\.[\w.]+)`", PAGE):
        assert exists(name), name


def test_cells_stand_where_they_should():
    """Four cells in each row; the first one says what of the book it is."""
    for row in all_rows():
        assert len(row) == 4, row
        assert re.match(r"(eq\.|tables?|examples?|figures?|sections?|algorithms?) ", row[0]), row[0]
