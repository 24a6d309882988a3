"""The site of the documentation builds without warnings, and no link of it is dead."""

from __future__ import annotations

import html.parser
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


class Links(html.parser.HTMLParser):
    """The targets of links and pictures of a page, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        for key in ("href", "src"):
            if given.get(key) and tag in ("a", "img", "script", "link", "video", "iframe"):
                self.targets.add(given[key])


def dead_links(folder: Path, elsewhere: tuple[str, ...] = ()) -> list[str]:
    """Links that lead to no file or anchor of the site; ``elsewhere``: folders that were not built."""
    pages = {path: Links(path.read_text()) for path in folder.rglob("*.html")}
    dead = []
    for path, page in pages.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if elsewhere and file.relative_to(folder).parts[0] in elsewhere and not file.is_file():
                continue
            if not file.is_file():
                dead.append(f"{path.relative_to(folder)}: {target}")
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
                dead.append(f"{path.relative_to(folder)}: {target}")
    return dead


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The quick build: all pages that are written by hand, and the reference of the main calls."""
    for library in ("sphinx", "myst_nb", "numpydoc", "furo", "jupytext", "latex2mathml"):
        pytest.importorskip(library, reason=f"the extra `docs` is not installed: no {library}")
    folder = tmp_path_factory.mktemp("site").resolve()
    assert build(folder, quick=True) == 0  # warnings are errors
    return folder / "html"


def test_every_page_is_there(site):
    """Each Markdown page of the project is a page of the site, with a heading."""
    for page in written():
        assert "<h1>" in (site / page).with_suffix(".html").read_text(), page


def test_no_link_is_dead(site):
    """Files and anchors; links to sources are checked by symbol when the pages are built."""
    assert dead_links(site, elsewhere=("source", "api")) == []


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
    """With the pages of all names and the results of notebooks; no link is dead, those to sources included."""
    folder = tmp_path_factory.mktemp("whole").resolve()
    assert build(folder) == 0
    assert dead_links(folder / "html") == []
