"""Elements of a written XML file, and its text."""

from __future__ import annotations

from kinetree.errors import UnsupportedError


def add(parent, tag: str, /, **attributes: str):
    """A new element below another; a trailing underscore of an attribute's name is dropped (``class_``)."""
    from lxml import etree

    element = etree.SubElement(parent, tag)
    set_attributes(element, attributes)
    return element


def root(tag: str, **attributes: str):
    """The outermost element."""
    from lxml import etree

    element = etree.Element(tag)
    set_attributes(element, attributes)
    return element


def set_attributes(element, attributes) -> None:
    for name, value in attributes.items():
        # A reader would find a space for a tab, or refuse it.
        try:
            if not value.isprintable():
                raise ValueError(value)
            element.set(name.rstrip("_"), value)
        except ValueError:
            raise UnsupportedError(
                f"XML cannot hold {value!r}, the {name} of a <{element.tag}>: it has invisible characters; rename it",
                value=value,
            ) from None


def text_of(element) -> str:
    """The whole file, indented."""
    from lxml import etree

    etree.indent(element, "  ")
    body = etree.tostring(element, encoding="unicode")
    return f'<?xml version="1.0"?>\n<!-- written by kinetree -->\n{body}\n'
