"""The site of the documentation builds without warnings, and no link of it is dead."""

from __future__ import annotations

import functools
import html
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docs.site import api, notebooks
from docs.site.__main__ import build
from docs.site.book import where
from docs.site.links import ROOT, rewritten
from docs.site.names import public_names
from docs.site.pages import written
from tests.examples.test_book_page import all_rows
from tests.static.test_documents import blocks

CODE_OR_PROOF = re.compile(r"(?<!\\)\|")
TAG = re.compile(r"<([a-z][a-z0-9]*)((?:\s[^<>]*)?)>")
ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')


class Links:
    """The targets of links and pictures of a page, and its anchors: Sphinx escapes text and quotes all attributes."""

    def __init__(self, text: str) -> None:
        self.targets: set[str] = set()
        self.anchors: set[str] = set()
        for tag, attributes in TAG.findall(text):
            given = dict(ATTRIBUTE.findall(attributes))
            self.anchors |= {html.unescape(given[key]) for key in ("id", "name") if given.get(key)}
            for key in ("href", "src"):
                if given.get(key) and tag in ("a", "img", "script", "link", "video", "iframe"):
                    self.targets.add(html.unescape(given[key]))


def dead_links(folder: Path) -> list[str]:
    """Links that lead to no file or anchor of the site."""
    pages = {path: Links(path.read_text()) for path in folder.rglob("*.html")}

    @functools.cache
    def is_dead(place: Path, path: str, fragment: str) -> bool:
        file = Path(os.path.normpath(place / path))
        return not file.is_file() or bool(fragment) and file in pages and fragment not in pages[file].anchors

    dead = []
    for path, page in pages.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            if is_dead(path.parent, unquote(parts.path) or path.name, unquote(parts.fragment)):
                dead.append(f"{path.relative_to(folder)}: {target}")
    return dead


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """All pages, but for what other tests run: figures of examples and results of notebooks."""
    for library in ("sphinx", "myst_nb", "numpydoc", "furo", "jupytext", "latex2mathml"):
        pytest.importorskip(library, reason=f"the extra `docs` is not installed: no {library}")
    folder = tmp_path_factory.mktemp("site").resolve()
    assert build(folder, quick=True) == 0  # warnings are errors
    return folder / "html"


def test_every_page_is_there(site):
    """Each Markdown page of the project is a page of the site, with a heading."""
    for page in written():
        assert "<h1>" in (site / page).with_suffix(".html").read_text(), page


def test_every_public_name_has_a_page(site):
    """With its signature; modules have those of their names, constants none."""
    for entry in public_names().values():
        text = (site / f"{entry.page}.html").read_text()
        assert f"<h1>{entry.shown}<" in text, entry.shown
        assert 'class="sig sig-object' in text or entry.kind == "module", entry.shown


def test_no_link_is_dead(site):
    """Files and anchors, those of source files included."""
    assert len(list(site.rglob("*.html"))) > len(public_names()) + len(written())
    assert dead_links(site) == []


def test_a_dead_link_is_found(tmp_path):
    """The check finds files and anchors that are missing."""
    (tmp_path / "one.html").write_text(
        '<h1 id="a&amp;b">x</h1><a class="x" href="two.html#there">y</a><img src="no.png">'
    )
    (tmp_path / "two.html").write_text('<span id="there"></span><a href="one.html#a%26b"></a><a href="#nowhere">z</a>')
    assert sorted(dead_links(tmp_path)) == ["one.html: no.png", "two.html: #nowhere"]


def test_nothing_is_loaded_from_elsewhere(site):
    """Pages need no network: scripts, styles and pictures are in the site."""
    for path in site.rglob("*.html"):
        found = re.findall(r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(https?:[^"]+)"', path.read_text())
        assert found == [], path.name


def test_formulas_are_drawn_without_a_script(site):
    """They are MathML."""
    assert "<math" in (site / "maximal.html").read_text()


def test_notebooks_have_the_code_of_their_pages(site):
    """Tutorial and start pages can be downloaded; cells of code are the blocks of the page, which other tests run."""
    nbformat = pytest.importorskip("nbformat")
    for page in notebooks.PAGES:
        name = page.rpartition("/")[2]
        links = Links((site / f"{page}.html").read_text()).targets
        (target,) = (link for link in links if link.endswith(f"{name}.ipynb"))
        book = nbformat.read((site / page).parent / target, as_version=4)
        nbformat.validate(book)
        cells = [cell.source for cell in book.cells if cell.cell_type == "code"]
        assert cells == [block.rstrip() for block in blocks((ROOT / "docs" / f"{page}.md").read_text(), "python")]
        assert not any("](" in cell.source or "```" in cell.source for cell in book.cells if cell.cell_type != "code")
    chapters = Links((site / "chapters" / "index.html").read_text()).targets
    assert sum(link.endswith(".ipynb") for link in chapters) == len(list(notebooks.FOLDER.glob("*.py")))


def test_items_of_the_book_lead_to_their_code_and_proof():
    """Every name of the column of code has a definition, and every row has a link to a line of code and of a test."""
    page = rewritten((ROOT / "docs" / "book.md").read_text(), "docs/book.md", "book.md")
    rows = [CODE_OR_PROOF.split(line) for line in page.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if len(row) == 6 and "::" in row[4]]
    assert len(rows) == len(all_rows())
    for row in rows:
        assert "{source}`" in row[3], row[3]
        assert row[4].count("{source}`") == row[4].count("::"), row[4]


def test_every_public_name_has_a_definition():
    """The pages of functions and classes can link to their source."""
    missing = [
        name
        for name, entry in public_names().items()
        if entry.kind in ("class", "exception", "function") and where(name) is None
    ]
    assert missing == []


def test_every_public_name_has_an_example():
    """Its page shows one that a test runs: of its docstring, of a page, or of a function that makes or takes it."""
    missing = [
        name
        for name, entry in public_names().items()
        if not (api.has_example(entry) or api.example(entry) or api.made_by(entry))
    ]
    assert missing == [], "write an example in the docstring, or one that uses the name in docs/api_examples.md"


@pytest.mark.sweep
def test_the_whole_site(tmp_path_factory):
    """With figures of examples and results of notebooks."""
    folder = tmp_path_factory.mktemp("whole").resolve()
    assert build(folder) == 0
    assert dead_links(folder / "html") == []
