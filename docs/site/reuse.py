"""Work of Sphinx that is the same for many pages is done once: most of the time of a build went there.

The tree of the sidebar was made anew for each page; it is the same for all pages of a folder that are not in it
themselves, those of names and of source files. With ``--quick`` the others share it, too: their own place in it is not
marked. Stems of words were computed at each place of a word, and numpydoc compiled its template for each docstring.
"""

from __future__ import annotations

from functools import cache, lru_cache

from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx.search.en import SearchEnglish


class English(SearchEnglish):
    """English, which computes the stem of a word once."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.stem = lru_cache(maxsize=None)(super().stem)


def links_from(page: str, listed: frozenset[str]) -> tuple[str, int]:
    """What links from a page to listed ones depend on: the folder of both, and the number of folders below it.

    Examples
    --------
    >>> listed = frozenset(["index", "api/kt/index"])
    >>> links_from("api/kt/rnea", listed), links_from("source/src/kinetree/model.py", listed)
    (('api/kt/', 0), ('', 3))
    """
    folders = page.split("/")[:-1]
    for size in range(len(folders), 0, -1):
        prefix = "/".join(folders[:size]) + "/"
        if any(other.startswith(prefix) for other in listed):
            return prefix, len(folders) - size
    return "", len(folders)


def setup(app) -> dict:
    """Sphinx calls this."""
    trees: dict[tuple, str] = {}

    @cache
    def listed() -> frozenset[str]:
        includes = app.env.toctree_includes
        return frozenset([app.config.root_doc, *(page for pages in includes.values() for page in pages)])

    def keep_tree(_, page, template, context, doctree) -> None:
        make = context.get("toctree")
        if make is None or page in listed() and not app.config.kinetree_quick:
            return
        place = links_from(page, listed())

        def tree(**options) -> str:
            key = (place, *sorted(options.items()))
            if key not in trees:
                trees[key] = make(**options)
            return trees[key]

        context["toctree"] = tree

    environments: list[SandboxedEnvironment] = []

    def environment(loader) -> SandboxedEnvironment:
        environments.extend([] if environments else [SandboxedEnvironment(loader=loader)])
        return environments[0]

    docscrape_sphinx.SandboxedEnvironment = environment  # which keeps what it has compiled
    app.connect("html-page-context", keep_tree, priority=400)  # before the theme, which makes the tree
    app.add_search_language(English)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
