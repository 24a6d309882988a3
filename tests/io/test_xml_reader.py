"""The XML reader: lines, typed attributes, what it refuses, and that it forgets nothing it was not asked for."""

import pytest

from kinetree.errors import FileFormatError, URDFError
from kinetree.io.xml.reader import Document


def read(text):
    return Document(text, URDFError)


def test_lines_count_from_the_start_of_the_text():
    """Leading blank lines of a text count, although the XML declaration must come first."""
    document = read("\n\n<?xml version='1.0' encoding='latin-1'?>\n<robot name='\u00e9'>\n<a/></robot>")
    assert (document.root.line, document.root.children("a")[0].line) == (4, 5)
    assert document.root.text("name") == "\u00e9"


def test_error_carries_file_and_line(tmp_path):
    """The error opens with file:line and has both as attributes."""
    file = tmp_path / "bad.urdf"
    file.write_text("<robot>\n  <a x='1 2'/>\n</robot>")
    with pytest.raises(URDFError) as error:
        Document(file, URDFError).root.child("a").number("x")
    assert str(error.value) == f"{file}:2: robot/a: attribute 'x' is '1 2', expected one number"
    assert (error.value.file, error.value.line) == (str(file), 2)
    assert isinstance(error.value, FileFormatError)


@pytest.mark.parametrize("word", ["nan", "NaN", "inf", "1_000", "0x10", "1,5", "1e999", "\u0661", "--1", "1e", "."])
def test_only_finite_decimal_numbers_pass(word):
    """What Python's float() accepts beyond decimal numbers, or turns into infinity, is refused."""
    with pytest.raises(URDFError, match="is not a finite number"):
        read(f"<r x='{word}'/>").root.number("x")


@pytest.mark.parametrize(("word", "value"), [("1", 1.0), (" -.5 ", -0.5), ("1.e-3", 1e-3), ("+2E4", 2e4)])
def test_decimal_numbers_pass(word, value):
    """Signs, missing digits around the point and exponents are decimal numbers."""
    assert read(f"<r x='{word}'/>").root.number("x") == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1,0 2", "2 numbers, expected 3 .numbers are separated by spaces"),
        ("1,0 2 3", "'1,0' is not a finite number. The decimal separator is a point"),
        ("", "0 numbers, expected 3"),
        ("1 2 3 4", "4 numbers, expected 3"),
        ("1 nan 3", "'nan' is not a finite number"),
    ],
)
def test_vectors_have_their_length(value, message):
    """A vector of another length, or with commas, is refused and the message says why."""
    with pytest.raises(URDFError, match=message):
        read(f"<r x='{value}'/>").root.vector("x", 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this text is empty"),
        ("hello\nworld", "does not begin with '<'"),
        ("<a>\n<b>\n</a>", "<string>:3: not well-formed XML: Opening and ending tag mismatch"),
        ("<a><b>", "not well-formed XML: Premature end"),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]>\n<a b='&x;'/>", "declares entities"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'>\n<a/>", "declares entities or an external file"),
    ],
)
def test_malformed_and_hostile_text_is_refused(text, message):
    """No entity is expanded and nothing outside the file is read."""
    with pytest.raises(URDFError, match=message):
        read(text)


def test_exponential_entities_are_refused():
    """Ten levels of tenfold entities (the billion laughs) end in an error, not in gigabytes."""
    levels = "".join(f"<!ENTITY e{k} '{f'&e{k - 1};' * 10}'>" for k in range(1, 11))
    with pytest.raises(URDFError):
        read(f"<!DOCTYPE a [<!ENTITY e0 'ha'>{levels}]><a b='&e10;'>&e10;</a>")


def test_deep_nesting_is_refused():
    """A file nested a thousand deep meets libxml2's guard."""
    with pytest.raises(URDFError, match="elements are nested deeper than 256"):
        read("<a>" * 1000 + "</a>" * 1000)


def test_a_missing_and_an_empty_file(tmp_path):
    """A missing file is Python's own error; an empty one names itself."""
    with pytest.raises(FileNotFoundError, match="nowhere.urdf: no such file"):
        Document(tmp_path / "nowhere.urdf", URDFError)
    empty = tmp_path / "empty.urdf"
    empty.touch()
    with pytest.raises(URDFError, match="empty.urdf: the file is empty"):
        Document(empty, URDFError)


def test_unread_lists_exactly_what_was_not_asked_for():
    """Elements and attributes that no reader asked for are listed once, their content is not."""
    root = read("<r a='1' b='2'>\n<x c='3'><y/></x>\n<z><w/></z></r>").root
    root.text("a")
    root.child("x")
    left = [(node.path, attribute) for node, attribute in root.document.unread()]
    assert left == [("r", "b"), ("r/x", "c"), ("r/x/y", None), ("r/z", None)]


def test_an_element_that_is_allowed_once_is_refused_twice():
    """The second of two equal elements is named with the line of the first."""
    with pytest.raises(URDFError, match=r":3: r holds <a> twice \(first on line 2\)"):
        read("<r>\n<a/>\n<a/></r>").root.child("a")
