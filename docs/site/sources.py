"""Source files as pages, and links to them by symbol.

The role is ``{source}`text <src/kinetree/spatial/motion.py#Motion.dot>` ``. It names a symbol, never a line, so it
follows the code; a symbol that does not exist is a warning, which ends the build. Only files that some page links to
become pages.
"""

from __future__ import annotations

import html
from functools import cache
from pathlib import Path

from docutils import nodes
from pygments import lex
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole
from sphinx.util.nodes import split_explicit_title

from docs.site.symbols import symbols

ROOT = Path(__file__).parents[2]
LOGGER = logging.getLogger(__name__)


def page_of(path: str) -> str:
    """The page of a source file, without suffix."""
    return f"source/{path}"


class Source(SphinxRole):
    """The role: its target is a file of the project, with ``#symbol`` where it is one of its symbols."""

    def run(self):
        _, title, target = split_explicit_title(self.text)
        path, _, symbol = target.partition("#")
        here = self.get_location()
        if not (ROOT / path).is_file():
            LOGGER.warning("no file %r in the project", path, location=here)
        elif symbol and symbol not in symbols(path):
            LOGGER.warning("no symbol %r in %s", symbol, path, location=here)
        self.env.metadata[self.env.docname].setdefault("sources", "")
        self.env.metadata[self.env.docname]["sources"] += f"{path}\n"
        up = "../" * self.env.docname.count("/")
        uri = f"{up}{page_of(path)}.html" + (f"#{symbol}" if symbol else "")
        reference = nodes.reference("", "", internal=True, refuri=uri, classes=["source"])
        reference += nodes.literal(title, title)
        return [reference], []


@cache
def highlighted(path: str, colors: bool = True) -> str:
    """The lines of a file as HTML; the first line of each symbol has the symbol as its id."""
    text = (ROOT / path).read_text()
    names: dict[int, list[str]] = {}
    for symbol, line in symbols(path).items():
        names.setdefault(line, []).append(symbol)
    try:
        lexer = get_lexer_for_filename(path) if colors else TextLexer()
    except ClassNotFound:
        lexer = TextLexer()
    formatter = HtmlFormatter(nowrap=True)
    from io import StringIO

    out = StringIO()
    formatter.format(lex(text, lexer), out)
    rows = []
    for number, line in enumerate(out.getvalue().rstrip("\n").split("\n"), 1):
        anchors = "".join(f'<span class="symbol" id="{html.escape(name)}">' for name in names.get(number, ()))
        rows.append(f'<span class="row" id="L{number}">{anchors}{line}{"</span>" * anchors.count("<span")}\n</span>')
    return f'<h1><code>{html.escape(path)}</code></h1>\n<div class="highlight listing"><pre>{"".join(rows)}</pre></div>'


def pages(app):
    """The pages of all files that are linked to."""
    colors = not app.config.kinetree_quick
    linked = {
        path for data in app.env.metadata.values() for path in str(data.get("sources", "")).split("\n") if path.strip()
    }
    for path in sorted(linked):
        if (ROOT / path).is_file():
            yield page_of(path), {"title": path.rpartition("/")[2], "body": highlighted(path, colors)}, "page.html"


def setup(app) -> dict:
    """Sphinx calls this."""
    app.add_role("source", Source())
    app.add_config_value("kinetree_quick", False, "env", types=[bool])
    app.connect("html-collect-pages", lambda app: pages(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
