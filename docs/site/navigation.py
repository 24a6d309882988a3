"""The navigation of the site: docs/index.md has a heading for each section and a line for each page."""

from __future__ import annotations

import re
from typing import NamedTuple

ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)]+)\): ?(.*)$")
REFERENCE = ("API", "api/index.rst", "Every public name.")
"""The reference is made from the sources; the checkout has the page of names alone, which it precedes."""


class Group(NamedTuple):
    """A section: its part of the sidebar, its title, what it is about, its pages with titles and descriptions."""

    part: str
    title: str
    about: str
    entries: list[tuple[str, str, str]]

    @property
    def page(self) -> str:
        """The page that lists the section; none where the sidebar has the pages of the section themselves."""
        return "" if self.part == self.title else f"guide/{re.sub(r'[^a-z]+', '_', self.title.lower())}.md"

    def text(self) -> str:
        """That page."""
        rows = [f"- [{title}](../{page}): {text}" for title, page, text in self.entries]
        return "\n".join([f"# {self.title}", "", self.about, "", *rows, "", toctree([x[1] for x in self.entries], 1)])


def toctree(pages: list[str], up: int = 0, caption: str = "") -> str:
    """A hidden table of contents."""
    head = ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), ""]
    return "\n".join([*head, *("/" + re.sub(r"\.\w+$", "", page) for page in pages), "```", ""])


def sections(texts: dict[str, str]) -> list[Group]:
    """The sections of docs/index.md; pages that it leaves out are in a last one."""
    groups: list[Group] = []
    part = ""
    for block in re.split(r"^(?=##? |### )", texts["index.md"], flags=re.MULTILINE):
        head, _, body = block.partition("\n")
        if head.startswith("## "):
            part = head.removeprefix("## ").strip()
        entries, about = [], []
        for line in body.splitlines():
            found = ENTRY.match(line)
            if found:
                entries += [REFERENCE] if found[2] == "names.md" else []
                entries.append((found[1], found[2], found[3]))
            elif entries and line.startswith("  "):
                title, page, text = entries[-1]
                entries[-1] = (title, page, f"{text} {line.strip()}")
            else:
                about.append(line)
        if entries:
            title = head.lstrip("# ").strip()
            groups.append(Group(part, title, "\n".join(about).strip(), entries))
    listed = {entry[1] for group in groups for entry in group.entries} | {"index.md"}
    rest = [page for page in texts if page.endswith(".md") and page not in listed]
    if rest:
        titles = {page: re.search(r"^# (.+)$", texts[page], flags=re.MULTILINE)[1] for page in rest}
        groups.append(Group("More", "More", "", [(titles[page], page, "") for page in rest]))
    return groups


def cards(groups: list[Group]) -> str:
    """Links to the start pages by person."""
    people = [x for group in groups for x in group.entries if x[0].startswith("For ")]
    rows = []
    for title, page, text in people:
        about = f"<small>{text[0].upper()}{text[1:]}</small>"
        rows.append(f'<a class="card" href="{page.removesuffix(".md")}.html"><b>{title}</b>{about}</a>')
    return "\n".join(["```{raw} html", '<div class="cards people">', *rows, "</div>", "```", ""])


def home(text: str, groups: list[Group]) -> str:
    """The first page: what stands before the first section, and the tables of contents of all."""
    lines = [re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0].rstrip(), "", cards(groups)]
    parts: dict[str, list[str]] = {}
    for group in groups:
        parts.setdefault(group.part, []).extend([group.page] if group.page else [x[1] for x in group.entries])
    return "\n".join([*lines, *(toctree(pages, caption=part) for part, pages in parts.items())])
