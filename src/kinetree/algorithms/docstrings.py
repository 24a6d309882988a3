"""Docstrings of algorithms: the Parameters, Returns and Raises of numpydoc, from the declaration and `symbols`.

An author writes summary, equation, notes and examples. A section in the author's text stays: a user's own
algorithm need not be declared in full.
"""

from __future__ import annotations

import inspect
import re
import textwrap

from kinetree.algorithms.symbols import ARRAYS, CHOICES, ERRORS, OPTIONAL

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
MODEL = "The robot, from `load` or a builder."
OUT = "out : array or tuple of arrays, optional", "Filled with the result and returned [as the result]; a call with it "
OUT = OUT[0], OUT[1] + "allocates nothing."


def docstring(spec, optional: tuple[str, ...] = ()) -> str:
    """The docstring of an algorithm.

    Parameters
    ----------
    spec : Spec
    optional : tuple of str
        Further parameters, of the public call: "t", "out".
    """
    pieces = SECTION.split(inspect.cleandoc(spec.function.__doc__ or f"The algorithm {spec.name!r}."))
    written = dict(zip(pieces[1::2], (text.strip("\n") for text in pieces[2::2]), strict=True))
    parameters = written.pop("Parameters", None) or _section(_parameters(spec))
    further = _section([OUT if name == "out" else _array(spec, name, (), ", optional") for name in optional])
    sections = {
        "Parameters": "\n".join(filter(None, [parameters, further])),
        "Returns": written.pop("Returns", None) or _section(_returns(spec)),
        "Raises": written.pop("Raises", None) or _section(_raises(spec)),
        **written,
    }
    texts = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items()]
    return "\n\n".join([pieces[0].strip("\n"), *texts]) + "\n"


def meaning(doc: str, name: str) -> str:
    """The text about an array or a choice in a docstring, in one line; empty if there is none."""
    head = rf"^(?:\w+, )*{re.escape(name)}(?:, \w+)* : [^\n]*\n"
    found = re.search(head + r"((?:    [^\n]*\n?)+)", doc, re.MULTILINE)
    return " ".join(found.group(1).split()) if found else ""


def _section(entries) -> str:
    """Entries, each a head and its text."""
    return "\n".join("\n".join([head, *_filled(text)]) for head, text in entries)


def _filled(text: str) -> list[str]:
    return textwrap.wrap(text, 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _text(spec, name: str, standard: str) -> str:
    """The text of a symbol: the standard one, the declaration's, or both if that begins with ``;``."""
    text = spec.symbols.get(name, "")
    return standard.removesuffix(".") + text if text.startswith(";") else text or standard


def _array(spec, name: str, shape: tuple, note: str = "") -> tuple[str, str]:
    kind = f"({', '.join(['...', *map(str, shape)])}) array"
    if shape == ("nb", 6) and name not in spec.outputs:
        kind += " or mapping of body name to (..., 6) array"
    standard = (OPTIONAL if name in spec.optional else ARRAYS).get(name, ((), ""))[1]
    return f"{name} : {kind}{note}", _text(spec, name, standard)


def _parameters(spec) -> list[tuple[str, str]]:
    found = [("model : Model", _text(spec, "model", MODEL))]
    found += [_array(spec, *item) for item in spec.inputs.items()]
    found += [_array(spec, *item, ", optional") for item in spec.optional.items()]
    for name in spec.static:
        kind, text, _ = CHOICES.get(name, ("object", "", {}))
        found.append((f"{name} : {kind}", _text(spec, name, text)))
    if spec.methods:
        kinds = ", ".join(f'"{name}"' for name in spec.methods)
        found.append((f"method : {{{kinds}}}", _text(spec, "method", "Which algorithm; see the notes.")))
    found += [(f"{name} : bool", f"Whether to give {name}, too.") for name in spec.variants]
    return found


def _returns(spec) -> list[tuple[str, str]]:
    found = [_array(spec, *item) for item in spec.outputs.items()]
    return found + [_array(spec, name, more.outputs[name], ", on request") for name, more in spec.variants.items()]


def _raises(spec) -> list[tuple[str, str]]:
    found = {"ShapeError, NonFiniteError": "An array does not fit the model, or has an entry that is no finite number."}
    found |= {domain.error: domain.meaning for domain in spec.domains if domain.error}
    for name in spec.static:
        found |= CHOICES.get(name, ("", "", {}))[2]
    if hasattr(spec.function, "__wrapped__"):  # by a check
        found["UnsupportedError"] = "The model has gears, which this algorithm leaves out."
    found |= {name: ERRORS.get(name, "") for name in spec.raises}
    return [(name, _text(spec, name, text)) for name, text in found.items()]
