"""Links of the Markdown pages, which lead through the checkout, as links of the site."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from docs.site.book import linked_cells

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```)", flags=re.MULTILINE | re.DOTALL)
PLACES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples": "examples/index.md",
    "examples/chapters": "chapters/index.md",
}
"""Pages of the site for files and folders outside of ``docs``."""


def place(target: str) -> str | None:
    """The page of the site for a path of the project, below the root of the site; None for other source files."""
    if target in PLACES:
        return PLACES[target]
    path = PurePosixPath(target)
    if path.parts[:2] == ("examples", "chapters"):
        return f"chapters/{path.stem}.ipynb"
    if path.parts[0] == "examples" and path.suffix == ".py":
        return f"examples/{path.stem}.md"
    return path.relative_to("docs").as_posix() if path.parts[0] == "docs" else None


def rewritten(text: str, source: str, page: str) -> str:
    """The text of the file ``source`` of the project as the text of the page ``page`` of the site."""
    folder, here = os.path.dirname(source), os.path.dirname(page)

    def link(match: re.Match) -> str:
        title, target, anchor = match[1], match[2], match[3] or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        path = os.path.normpath(os.path.join(folder, target))
        found = place(path)
        if found is None and (ROOT / path / "__init__.py").is_file():
            path += "/__init__.py"
        if found is None:
            return "{source}`" + title.replace("`", "") + f" <{path}{anchor}>`"
        return f"[{title}]({os.path.relpath(found, here or '.')}{anchor})"

    pieces = FENCE.split(text)
    pieces[::2] = [LINK.sub(link, piece) for piece in pieces[::2]]
    text = "".join(pieces)
    return linked_cells(text) if source == "docs/book.md" else text
