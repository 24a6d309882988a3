"""Public docstrings are contracts: every parameter is described, arrays have shape and unit, algorithms a source."""

from __future__ import annotations

import importlib
import inspect
import operator
import re
from typing import NamedTuple

import pytest

import kinetree
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.public import CALLS, PLACES, names

SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w[\w, *]*?)(?: : (.+))?$")
# Names that always mean a physical array, whatever their type says.
PHYSICAL = {"q", "v", "a", "tau", "f_ext", "q0", "v0", "dv"}
SHAPE = re.compile(r"\((?:\.\.\.|\w+|\w+ ?[+*-] ?\w+)(?:, ?(?:\.\.\.|\w+|\w+ ?[+*-] ?\w+))*,?\)")
UNIT = re.compile(r"\[[^\]]+\]")


class Entry(NamedTuple):
    """One described parameter or result."""

    names: tuple[str, ...]
    type: str
    description: str

    @property
    def is_physical_array(self) -> bool:
        """Whether it is an array of numbers with a unit; booleans, integers and names have none."""
        if "array" not in self.type:
            return False
        return not re.search(r"\b(bool|int|integers?|str|complex step)\b", self.type)


def sections(doc: str) -> dict[str, str]:
    """The numpydoc sections of a docstring by title; the text before the first is under the empty title."""
    pieces = SECTION.split(inspect.cleandoc(doc))
    return {"": pieces[0], **dict(zip(pieces[1::2], pieces[2::2], strict=True))}


def entries(text: str) -> list[Entry]:
    """The described names of a Parameters, Returns or Attributes section."""
    found: list[Entry] = []
    for line in text.strip("\n").splitlines():
        if line and not line.startswith(" "):
            match = ENTRY.match(line)
            names, kind = (match[1], match[2] or "") if match else ("", line)
            if match and match[2] is None:  # Returns may name the type alone
                names, kind = "", line
            found.append(Entry(tuple(name.strip(" *") for name in names.split(",")), kind, ""))
        elif found:
            found[-1] = found[-1]._replace(description=f"{found[-1].description} {line.strip()}")
    return found


ELSEWHERE = (
    "identify.inertial_parameters", "identify.with_inertial_parameters", "model.MechanismGraph",
)  # fmt: skip


def public_names():
    """What is public, and where it is."""
    for space in sorted({*PLACES, *CALLS}):
        module = importlib.import_module(space)
        for name in names(space):
            yield name if space == "kinetree" else f"{space.removeprefix('kinetree.')}.{name}", getattr(module, name)
    for path in ELSEWHERE:
        yield path, operator.attrgetter(path)(kinetree)


def members(cls: type, public) -> dict[str, object]:
    """Those of a class, and of its bases that have no public name of their own."""
    bases = [x for x in cls.__mro__ if x is cls or (x.__module__.startswith("kinetree") and x not in public)]
    return {name: value for base in reversed(bases) for name, value in vars(base).items()}


def public_callables():
    """Functions and classes of the public face, and the public methods and properties of its classes, by full name."""
    classes = {thing for _, thing in public_names() if inspect.isclass(thing)}
    for name, thing in public_names():
        if inspect.ismodule(thing):
            continue
        if inspect.isclass(thing) and thing.__module__.startswith("kinetree"):
            yield name, thing
            for member, value in members(thing, classes).items():
                function = getattr(value, "__func__", value)
                function = getattr(function, "fget", function)
                if not member.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{member}", function
        elif callable(thing):
            yield name, thing


PUBLIC = dict(public_callables())
FUNCTIONS = {
    name: thing
    for name, thing in PUBLIC.items()
    if not inspect.isclass(thing) and getattr(thing, "__qualname__", "") == name.rpartition(".")[2]
}


def test_docstring_opens_with_a_summary():
    """The first paragraph is a sentence on its own."""
    summaries = {name: inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0] for name, thing in PUBLIC.items()}
    assert len(summaries) > 800
    assert not {name: text for name, text in summaries.items() if not text.rstrip().endswith((".", ":"))}


def faults_of_parameters(name):
    """What is wrong with the Parameters section of a function."""
    doc, signature = sections(FUNCTIONS[name].__doc__ or ""), inspect.signature(FUNCTIONS[name])
    catch_all = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values())
    expected = [key for key, p in signature.parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    described = [key for entry in entries(doc.get("Parameters", "")) for key in entry.names]
    if missing := set(expected) - set(described):
        yield f"{name}: not described: {missing}"
    if not catch_all and (others := set(described) - set(expected)):
        yield f"{name}: described, but no parameter: {others}"


def test_every_parameter_is_described():
    """The Parameters section names the parameters of the signature, all of them and no others."""
    wrong = [fault for name in FUNCTIONS for fault in faults_of_parameters(name)]
    assert len(FUNCTIONS) > 250 and not wrong, "\n".join(wrong)


def faults_of_arrays(name):
    """What physical arrays among parameters, results and attributes lack."""
    doc = sections(PUBLIC[name].__doc__ or "")
    for title in ("Parameters", "Returns", "Attributes"):
        for entry in entries(doc.get(title, "")):
            if entry.names == ("out",):  # as the result, whose shape and unit are given
                continue
            physical = entry.is_physical_array or (title == "Parameters" and set(entry.names) & PHYSICAL)
            shown = ", ".join(entry.names) or entry.type
            if physical and not SHAPE.search(entry.type):
                yield f"{name}: {title}: {shown} : {entry.type!r} lacks a shape such as (..., nv)"
            if physical and not UNIT.search(entry.type + entry.description):
                yield f"{name}: {title}: {shown} lacks a unit such as [N m], or [1] for a pure number"


def test_arrays_have_a_shape_and_a_unit():
    """Each physical array among parameters, results and attributes has its shape in its type, its unit in brackets."""
    wrong = [fault for name in PUBLIC for fault in faults_of_arrays(name)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_names_its_source(name):
    """The Notes of an algorithm say which equation or table of which author it implements."""
    doc = ALGORITHMS[name].function.__doc__ or ""
    assert re.search(r"Source: \S+", doc), f"{name}: no line 'Source: author (year), section, table or equation'"
