"""Reference pages: one for each public name, from its docstring, and one for each namespace."""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path

from docs.site.book import where
from docs.site.names import PublicName, about, namespaces, public_names

ROOT = Path(__file__).parents[2]
DIRECTIVES = {
    "class": "autoclass",
    "exception": "autoexception",
    "function": "autofunction",
    "module": "automodule",
    "data": "autodata",
}


def uses() -> dict[str, list[tuple[str, str]]]:
    """For each public name the pages, with their titles, and the examples in which it occurs."""
    files = {path: path.stem for path in sorted((ROOT / "docs").glob("*.md"))}
    found: dict[str, list[tuple[str, str]]] = {}
    for path in [*files, *sorted((ROOT / "docs" / "start").glob("*.md")), *sorted((ROOT / "examples").glob("*.py"))]:
        text = path.read_text()
        if path.suffix == ".md":
            title, page = (
                text.partition("\n")[0].lstrip("# "),
                "/" + path.relative_to(ROOT / "docs").with_suffix("").as_posix(),
            )
            text = "\n".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))
        else:
            title, page = text.lstrip('r"').partition("\n")[0].rstrip(".?"), f"/examples/{path.stem}"
            title = f"Example: {title}"
        for name in set(re.findall(r"\bkt\.\w+(?:\.\w+)?", text)):
            found.setdefault(name, []).append((title, page))
            if name.count(".") == 2:
                found.setdefault(name.rpartition(".")[0], []).append((title, page))
        for module, names in re.findall(r"^from kinetree\.(\w+) import \(?([\w, ]+)", text, flags=re.MULTILINE):
            for name in names.split(","):
                found.setdefault(f"kt.{module}.{name.strip()}", []).append((title, page))
    return {name: sorted(set(places)) for name, places in found.items()}


def has_example(entry: PublicName) -> bool:
    """Whether the docstring of a name has an example."""
    return entry.kind != "data" and ">>>" in (getattr(entry.thing, "__doc__", None) or "")


@cache
def blocks_of_pages() -> list[tuple[str, str, str]]:
    """Title, page and text of the Python blocks of all pages, which tests run: those of short examples first."""
    found = []
    folder = ROOT / "docs"
    for path in [folder / "api_examples.md", *sorted(folder.glob("*.md")), *sorted((folder / "start").glob("*.md"))]:
        text = path.read_text()
        title, page = text.partition("\n")[0].lstrip("# "), path.relative_to(folder).with_suffix("").as_posix()
        blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
        found += [(title, f"/{page}", block) for block in blocks]
    return found


def example(entry: PublicName) -> tuple[str, str, str] | None:
    """The first block in which a name occurs, with title and address of its page."""
    name, module = re.escape(entry.name), re.escape(entry.full.rpartition(".")[0])
    word = re.compile(rf"(?<![\w.]){re.escape(entry.shown)}\b|^from {module} import [^\n]*\b{name}\b", re.MULTILINE)
    return next((found for found in blocks_of_pages() if word.search(found[2])), None)


def doctest_of(entry: PublicName) -> list[str]:
    """The lines of the first example of a docstring."""
    text = inspect.getdoc(entry.thing)
    return text[text.index(">>>") :].split("\n\n")[0].splitlines()


def made_by(entry: PublicName) -> list[PublicName]:
    """Functions and classes with an example that return, or take, what a class is."""
    if entry.kind != "class":
        return []
    word = re.compile(rf"\b{entry.name}\b")
    return [
        other
        for other in public_names().values()
        if other.name != entry.name and has_example(other) and word.search(inspect.getdoc(other.thing) or "")
    ]


def page(entry: PublicName, used: list[tuple[str, str]], first: bool) -> str:
    """The page of one name; ``first``: no other page documents the same thing."""
    up = f"{entry.namespace} <index>"
    lines = [entry.shown, "=" * len(entry.shown), "", f":doc:`{up}`", ""]
    lines += [f".. {DIRECTIVES[entry.kind]}:: {entry.full}"]
    if entry.kind in ("class", "module"):
        lines += ["   :members:"]
    if not first:
        lines += ["   :no-index:"]
    lines += [""]
    block = None if has_example(entry) else example(entry)
    if block:
        title, place, code = block
        lines += [".. rubric:: Example", "", f"From :doc:`{title} <{place}>`.", "", ".. code-block:: python", ""]
        lines += [*(f"   {line}".rstrip() for line in code.rstrip().splitlines()), ""]
    makers = [] if block or has_example(entry) else made_by(entry)[:4]
    if makers:
        shown = ", ".join(f":doc:`{maker.shown} </{maker.page}>`" for maker in makers)
        lines += [".. rubric:: Example", "", f"Of :doc:`{makers[0].shown} </{makers[0].page}>`:", ""]
        lines += [*(f"   {line}".rstrip() for line in doctest_of(makers[0])), "", f"Made or taken by {shown}.", ""]
    found = where(entry.shown)
    if found:
        path, symbol = found
        lines += [".. rubric:: Source", "", f":source:`{path} <{path}{'#' if symbol else ''}{symbol}>`", ""]
    if used:
        lines += [".. rubric:: Used in", "", *(f"- :doc:`{title} <{page}>`" for title, page in used[:8]), ""]
    return "\n".join([":orphan:", "", *lines])


def summary(entry: PublicName) -> str:
    """The first sentence about a name, or the value of a constant."""
    text = (getattr(entry.thing, "__doc__", "") or "").strip() if entry.kind != "data" else ""
    first = " ".join(text.split("\n\n")[0].split())
    return first.replace("|", "\\|")


def pages() -> dict[str, str]:
    """All pages of the reference."""
    found, used, seen = public_names(), uses(), set()
    texts = {}
    for name, entry in found.items():
        texts[f"{entry.page}.rst"] = page(entry, used.get(name, []), id(entry.thing) not in seen)
        seen.add(id(entry.thing))
    listing = [
        "API reference",
        "=============",
        "",
        "Every public name has a page. ``kt`` is ``import kinetree as kt``.",
        "",
    ]
    listing += [".. list-table::", "   :widths: 22 78", ""]
    contents = []
    for namespace in namespaces():
        folder = namespace.partition(".")[2] or "kt"
        entries = [entry for entry in found.values() if entry.namespace == namespace]
        lines = [namespace, "=" * len(namespace), "", about(namespace), "", ".. list-table::", "   :widths: 30 70", ""]
        for entry in entries:
            lines += [f"   * - :doc:`{entry.name} </{entry.page}>`", f"     - {summary(entry)}"]
        texts[f"api/{folder}/index.rst"] = "\n".join([*lines, ""])
        listing += [f"   * - :doc:`{namespace} </api/{folder}/index>`", f"     - {about(namespace)}"]
        contents.append(f"   {folder}/index")
    texts["api/index.rst"] = "\n".join([*listing, "", ".. toctree::", "   :hidden:", "", *contents, ""])
    return texts
