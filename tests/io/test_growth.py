"""A file that is four times as long takes four times the work, whatever it is that it repeats."""

from __future__ import annotations

import sys
import time

import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, URDFError
from kinetree.io.xml.numbers import BadNumber, parse_number
from kinetree.io.xml.reader import MOST_ATTRIBUTES
from tests.io.growing import DOCUMENTS, robot

CASES = [(form, what) for form, documents in DOCUMENTS.items() for what in documents]


def calls(function, source) -> int:
    """How many functions are called, those of libraries in C included: the same number on every machine."""
    count = 0

    def watch(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        function(source)
    except KinetreeError:
        pass
    finally:
        sys.setprofile(before)
    return count


def growth(function, document, n: int) -> float:
    """Work for the second n of 2 n to 4 n things over that for n to 2 n: 2 if all are alike, 4 if each meets each."""
    function_of = [calls(function, document(m)) for m in (n, n, 2 * n, 4 * n)][1:]  # the first run fills caches
    return (function_of[2] - function_of[1]) / max(function_of[1] - function_of[0], n)


def lint(source):
    return kt.lint(source, isolate=False)


def load(source):
    return kt.load(source, unsupported="drop")


@pytest.mark.parametrize(("form", "what"), CASES)
def test_work_grows_with_the_length_of_the_file(form, what):
    """Counted in calls: a pass over everything for each of n things would more than double the growth."""
    document = DOCUMENTS[form][what]
    for function in (load,) if form == "mjcf" else (lint,):
        assert growth(function, document, 40) < 2.6


@pytest.mark.sweep
@pytest.mark.parametrize(("form", "what"), CASES)
def test_time_grows_with_the_length_of_the_file(form, what):
    """The same for work that calls nothing, such as that of lists and expressions: 1,000 things against 4,000."""
    document = DOCUMENTS[form][what]
    for function in (lint, load):
        seconds = []
        for n in (990, 990, 3960):
            text = document(n)
            start = time.process_time()
            try:
                function(text)
            except KinetreeError:
                pass
            seconds.append(time.process_time() - start)
        assert seconds[2] < max(2.0, 10.0 * seconds[1]), "linear is 4, each with each is 16"


def test_the_count_tells_passes_within_passes():
    """What the test above would see if somebody wrote a pass over all for each."""

    def each_with_each(items):
        return [abs(a) for a in items for _ in items]

    assert growth(each_with_each, lambda n: [0] * n, 40) > 3.9
    assert growth(lambda items: [abs(a) for a in items], lambda n: [0] * n, 40) < 2.1


# What takes place within one call of a library ------------------------------------------------------------------------

LONG = 200_000  # each of these took minutes when it was looked at again from every place


@pytest.mark.parametrize(
    "text",
    [
        robot("<![CDATA[" + "<!--" * LONG + "]]>", head="<!DOCTYPE robot>"),
        robot("<![CDATA[" + "<?" * LONG + "]]>", head="<!DOCTYPE robot>"),
        robot("<![CDATA[" + "<!-- <?" * LONG + "]]>", head="<!DOCTYPE robot>"),
        robot(head="<!DOCTYPE " + " " * LONG + "robot>"),
        robot(head="<!DOCTYPE robot [" + "] " * LONG + "]>"),
        robot(head="<!-- x -->" * LONG),
        "<!--" * LONG,
        "<?x " * LONG,
    ],
    ids=["open comments", "open instructions", "both", "blanks", "brackets", "comments", "no end", "no end of another"],
)
def test_what_stands_before_the_root_is_read_once(text):
    """Expressions that begin anew at each place would take minutes; the bound is a hundred times what it takes."""
    start = time.process_time()
    for function in (kt.load, lint):
        try:
            function(text)
        except KinetreeError:
            pass
    assert time.process_time() - start < 20.0


def test_long_numbers_are_read_once():
    """Digits that no number follows."""
    start = time.process_time()
    with pytest.raises(BadNumber):
        parse_number("0" * LONG + "x")
    assert time.process_time() - start < 10.0


def test_an_element_has_no_hundred_thousand_attributes():
    """Each would be looked up by going through the others."""
    text = robot(attributes="".join(f' a{k}="1"' for k in range(100_000)))
    with pytest.raises(URDFError, match=f"<robot> has 100001 attributes, at most {MOST_ATTRIBUTES} are read") as error:
        kt.load(text)
    assert (error.value.line, error.value.code) == (1, "too-large")
