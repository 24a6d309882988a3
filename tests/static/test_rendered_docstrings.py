"""Docstrings of algorithms are rendered from their declarations: what a symbol means is written once."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys

import pytest

import kinetree as kt
from kinetree.algorithms.docstrings import docstring
from kinetree.algorithms.spec import ALGORITHMS, Spec, algorithm
from kinetree.algorithms.symbols import ARRAYS, CHOICES, ERRORS
from kinetree.compiler.calls import public_call
from tests.static.test_docstrings import SHAPE, UNIT, entries, sections

NAMES = sorted(ALGORITHMS)


def spec(doc=None, **declared):
    """A declaration of an algorithm that nobody registers."""

    def step(model, q, v):
        return q

    step.__doc__ = doc
    return Spec("step", step, {"q": ("nq",), "v": ("nv",)}, {}, {"q_next": ("nq",)}, **declared)


@pytest.mark.parametrize("name", NAMES)
def test_every_array_has_its_declared_shape_a_meaning_and_a_unit(name):
    """Parameters and Returns are those of the declaration, in its order."""
    algorithm = ALGORITHMS[name]
    doc = sections(algorithm.doc)
    for title, tables in (("Parameters", (algorithm.inputs, algorithm.optional)), ("Returns", (algorithm.outputs,))):
        shapes = {key: shape for table in tables for key, shape in table.items()}
        if title == "Returns":  # those on request are last
            shapes |= {more: other.outputs[more] for more, other in algorithm.variants.items()}
        found = {entry.names[0]: entry for entry in entries(doc[title])}
        choices = {"model", *algorithm.static, *algorithm.variants, *(["method"] if algorithm.methods else [])}
        others = choices if title == "Parameters" else set()
        assert set(found) == set(shapes) | others
        assert [key for key in found if key in shapes] == list(shapes)
        for key, shape in shapes.items():
            assert SHAPE.search(found[key].type)[0] == f"({', '.join(map(str, ('...', *shape)))})"
            assert UNIT.search(found[key].description), f"{name}: {key} lacks a unit"
        assert all(found[key].description for key in algorithm.static if title == "Parameters")
    assert ("optional" in doc["Parameters"]) == bool(algorithm.optional)


@pytest.mark.parametrize("name", NAMES)
def test_every_error_is_one_of_the_library_and_says_when(name):
    """Raises lists the errors of arrays, domains, static choices and those that are declared."""
    found = {entry.type: entry.description for entry in entries(sections(ALGORITHMS[name].doc)["Raises"])}
    names = {error for line in found for error in line.split(", ")}
    assert all(issubclass(getattr(kt.errors, error), kt.errors.KinetreeError) for error in names)
    assert all(found.values())
    errors = {domain.error for domain in ALGORITHMS[name].domains if domain.error}  # that of given motions has none
    assert errors <= names and {*ALGORITHMS[name].raises} <= names


@pytest.mark.parametrize("name", NAMES)
def test_sources_repeat_nothing(name):
    """What is rendered stands in no source: no such section, and no text that is the symbol's own."""
    algorithm = ALGORITHMS[name]
    assert not {"Parameters", "Returns", "Raises"} & set(sections(algorithm.function.__doc__))
    arrays = {*algorithm.inputs, *algorithm.optional, *algorithm.outputs, *algorithm.variants}
    named = {"model", *arrays, *algorithm.static}
    errors = {error for domain in algorithm.domains for error in [domain.error]} | set(algorithm.raises)
    assert set(algorithm.symbols) <= named | errors
    standard = {key: text for key, (_, text) in ARRAYS.items()} | {key: text for key, (_, text, _) in CHOICES.items()}
    assert all(text != (standard | ERRORS).get(key) for key, text in algorithm.symbols.items())


def test_symbols_are_those_of_several_algorithms():
    """Each symbol of the table occurs in an algorithm, with the shape of the table unless it declares another one."""
    used = {key for a in ALGORITHMS.values() for key in (*a.inputs, *a.optional, *a.outputs, *a.static, *a.variants)}
    assert {*ARRAYS, *CHOICES} - used == {"t"}


def test_an_algorithm_replaces_or_continues_a_text():
    """A declared text takes the place of the symbol's; one that begins with ";" follows it."""
    text = docstring(spec("Step.", symbols={"q": "Angles [rad].", "v": "; read at the end."}))
    assert "q : (..., nq) array\n    Angles [rad].\n" in text
    assert "v : (..., nv) array\n    Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``; read" in text
    assert text.index("Parameters\n") < text.index("Returns\n") < text.index("Raises\n")


def test_sections_of_an_author_stay():
    """A user's own algorithm may have a docstring of its own, in whole or in part, or none at all."""
    own = "Step.\n\nParameters\n----------\nq : array\n    Mine.\n\nNotes\n-----\nNone.\n"
    text = docstring(spec(own), ("out",))
    assert "q : array\n    Mine.\nout : array" in text and "Joint positions" not in text
    assert "Returns\n-------\nq_next : (..., nq) array\n    Positions after" in text and text.endswith("None.\n")
    assert docstring(spec()).startswith("The algorithm 'step'.\n\nParameters\n")


def test_shapes_of_names_alone_are_those_of_the_symbols():
    """``inputs="q v"`` declares what a mapping to shapes does; q brings its condition, unit quaternions, along."""

    def first_of_two_named_declarations(model, q, v):
        return q

    try:
        algorithm(inputs="q v", outputs="q_next")(first_of_two_named_declarations)
        made = ALGORITHMS["first_of_two_named_declarations"]
    finally:
        ALGORITHMS.pop("first_of_two_named_declarations", None)
    assert made.inputs == {"q": ("nq",), "v": ("nv",)} and made.outputs == {"q_next": ("nq",)}
    assert [domain.name for domain in made.domains] == ["unit quaternions"]


def test_help_shows_the_rendered_text():
    """``help(kt.rnea)`` and ``kt.rnea?`` read the docstring of the call."""
    shown = pydoc.plain(pydoc.render_doc(kt.rnea))
    assert "rnea(model, q, v, a, f_ext=None, *, t=None, out=None)" in shown
    assert "Joint positions [rad or m; quaternions unit, (w, x, y, z)]." in inspect.getdoc(kt.rnea)
    assert inspect.getdoc(kt.rnea) in inspect.cleandoc(shown.replace("\n    ", "\n"))


@pytest.mark.parametrize("name", NAMES)
def test_the_source_of_a_call_is_the_listing(name):
    """``kt.rnea??`` shows the algorithm, not what checks its arrays: by ``__wrapped__``, as IPython and inspect do."""
    call = public_call(name)
    listing = inspect.unwrap(call)
    packages = ("algorithms", "textbook", "integrators", "control", "redmax")
    assert listing.__module__.startswith(tuple(f"kinetree.{package}." for package in packages))
    source = inspect.getsource(call)
    assert source.startswith("@algorithm(") and re.search(rf"\ndef {name}\(\s*model", source)
    assert source == inspect.getsource(listing)


def test_import_renders_nothing():
    """Texts are put together when they are read, not when kinetree is imported."""
    code = "import sys, kinetree; print('kinetree.algorithms.docstrings' in sys.modules); kinetree.rnea; "
    code += "print('kinetree.algorithms.docstrings' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
