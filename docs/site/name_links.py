"""Names in the text lead to their pages: ``kt.rnea`` and ``kt.rnea(model, q, v, a)`` in literals, in all documents."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

from docs.site.names import public_names

NAME = re.compile(r"(?:kt|kinetree)((?:\.\w+)+)")


def page_of(text: str, pages: dict) -> str | None:
    """The page of the public name with which a literal begins, or None."""
    found = NAME.match(text)
    if not found or (rest := text[found.end() :]) and rest[0] not in "([, =":
        return None
    parts = found[1].split(".")[1:]
    for size in (2, 1):  # kt.control.ComputedTorque, then kt.simulate
        entry = pages.get("kt." + ".".join(parts[:size]))
        if entry and len(parts) >= size:
            return entry
    return None


class NameLinks(SphinxPostTransform):
    """Literals that are public names become links, except in headings and in other links."""

    default_priority = 50

    def run(self, **_) -> None:
        pages, here = self.env.kinetree_pages, self.env.docname
        for node in list(self.document.findall(nodes.literal)):
            inside = node.parent
            while inside is not None and not isinstance(inside, (nodes.reference, nodes.title, nodes.document)):
                inside = inside.parent
            page = page_of(node.astext(), pages) if isinstance(inside, nodes.document) else None
            if page and page != here:
                uri = relative_uri(f"{here}.html", f"{page}.html")
                node.replace_self(nodes.reference("", "", node.deepcopy(), internal=True, refuri=uri))


def known_pages(app) -> None:
    """The pages of the names."""
    pages = {}
    for name, entry in public_names().items():
        pages[name] = entry.page
        pages[entry.namespace] = f"api/{entry.namespace.partition('.')[2] or 'kt'}/index"
    app.env.kinetree_pages = pages


def setup(app) -> dict:
    """Sphinx calls this."""
    app.connect("builder-inited", known_pages)
    app.add_post_transform(NameLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
