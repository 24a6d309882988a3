"""Docstrings of public names are well-formed reStructuredText, so that the whole site builds without warnings.

The whole build takes minutes and is behind the marker `sweep`; this finds its warnings about docstrings in seconds.
"""

from __future__ import annotations

import inspect
import io

import pytest

from docs.site.names import public_names

ROLES = ("class", "doc", "func", "meth", "mod", "obj", "ref")  # of Sphinx, which docutils does not have
DIRECTIVES = ("index", "only", "seealso")


def docstrings() -> dict[str, str]:
    """Those of all public names and of the members of classes, each text once."""
    found: dict[str, str] = {}
    for name, entry in public_names().items():
        if entry.kind == "data":
            continue
        members = vars(entry.thing).items() if entry.kind == "class" else ()
        things = {name: entry.thing} | {f"{name}.{key}": x for key, x in members if not key.startswith("_")}
        for key, thing in things.items():
            found.setdefault(inspect.getdoc(thing) or "", key)
    return {key: text for text, key in found.items() if text}


def test_docstrings_have_no_faults_of_markup():
    """numpydoc's rendering of each is parsed without a warning."""
    pytest.importorskip("sphinx", reason="the extra `docs` is not installed: no sphinx")
    from docutils import nodes
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Directive, Parser, directives, roles
    from docutils.utils import new_document
    from numpydoc.docscrape_sphinx import SphinxDocString
    from sphinx.util.docutils import docutils_namespace

    class Block(Directive):
        """A directive with any content."""

        has_content, optional_arguments, final_argument_whitespace = True, 1, True

        def run(self):
            block = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, block)
            return [block]

    def faults_of(name: str, text: str) -> str:
        settings.warning_stream = io.StringIO()
        rendered = str(SphinxDocString(text, config={"show_class_members": False}))
        parser.parse(rendered, new_document(name, settings))
        return settings.warning_stream.getvalue()

    parser = Parser()
    settings = get_default_settings(parser)
    settings.report_level, settings.halt_level = 2, 5  # warnings and all above are listed, none raises
    with docutils_namespace():
        for role in ROLES:
            roles.register_generic_role(role, nodes.literal)
        for directive in DIRECTIVES:
            directives.register_directive(directive, Block)
        assert "WARNING" in faults_of("sample", "Values (n, *shape)."), "the check finds a fault"
        found = docstrings()
        assert len(found) > 1000
        assert [faults for name, text in found.items() if (faults := faults_of(name, text))] == []
