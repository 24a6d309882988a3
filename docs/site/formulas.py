"""Formulas as MathML, made when the site is built.

Browsers have drawn MathML since 2023, so pages need no script and nothing from a server: MathJax is 2 MB that every
reader would load, or a copy in the project, for about a hundred formulas.
"""

from __future__ import annotations

from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def mathml(node, display: str) -> str:
    """The element of one formula; a formula that cannot be read is a warning, which ends the build."""
    from latex2mathml.converter import convert

    text = node.astext().strip()
    if display == "block" and r"\\" in text and r"\begin" not in text:  # several lines
        text = rf"\begin{{aligned}} {text} \end{{aligned}}"
    try:
        return convert(text, display=display)
    except Exception as error:  # the library raises many kinds
        LOGGER.warning("formula %r: %s: %s", text, type(error).__name__, error, location=node)
        return ""


def inline(self, node) -> None:
    """A formula within a line."""
    from docutils.nodes import SkipNode

    self.body.append(mathml(node, "inline"))
    raise SkipNode


def display(self, node) -> None:
    """A formula of its own."""
    from docutils.nodes import SkipNode

    self.body.append(f'<div class="formula">{mathml(node, "block")}</div>\n')
    raise SkipNode


def setup(app) -> dict:
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
