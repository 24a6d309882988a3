"""All pages of the site, staged in one folder: those of ``docs``, and those that are made from the sources."""

from __future__ import annotations

from pathlib import Path

from docs.site import api, examples, notebooks
from docs.site.links import DOCS, ROOT, rewritten
from docs.site.navigation import home, sections

IMAGES = {".png", ".svg", ".gif", ".jpg"}
OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def written() -> dict[str, str]:
    """Page and file of the project of every page that is written by hand."""
    found = {}
    for path in sorted(DOCS.rglob("*.md")):
        name = path.relative_to(DOCS).as_posix()
        if not name.startswith("site/"):
            found[name] = f"docs/{name}"
    return {**found, **{page: source for source, page in OUTSIDE.items()}}


def stage(folder: Path, quick: bool = False) -> None:
    """Writes all pages into a folder; pages that did not change keep their time, so that Sphinx skips them."""
    texts: dict[str, str | bytes] = {}
    for page, source in written().items():
        texts[page] = rewritten((ROOT / source).read_text(), source, page)
        texts[page] += notebooks.download(page.removesuffix(".md"))
    groups = sections(texts)
    texts["index.md"] = home(texts["index.md"], groups)
    for group in groups:
        if group.page:
            texts[group.page] = group.text()
    texts |= api.pages()
    texts |= examples.pages(None if quick else folder)
    texts |= notebooks.pages() | notebooks.files()
    for path in DOCS.rglob("*"):
        if path.suffix in IMAGES and "site" not in path.relative_to(DOCS).parts[:1]:
            texts[path.relative_to(DOCS).as_posix()] = path.read_bytes()
    put(folder, texts)


def put(folder: Path, texts: dict[str, str | bytes]) -> None:
    """Makes the folder hold these files; figures of examples stay."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in texts and not name.startswith("examples/figures/"):
            path.unlink()
    for name, text in texts.items():
        data = text.encode() if isinstance(text, str) else text
        path = folder / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
