"""Models, runs, functions and reports as HTML: complete, well-formed, and escaped whatever their names are."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np

import kinetree as kt
from kinetree.html_text import MOST

HOSTILE = '<script>alert("x")</script>&amp;'


def hostile():
    """A pendulum whose names are HTML."""
    b = kt.ModelBuilder(HOSTILE)
    b.add_body(HOSTILE, joint=kt.joints.Revolute((0, 1, 0)), joint_name=f"j{HOSTILE}", mass=1.0, com=(0, 0, -1.0),
               inertia=np.eye(3) * 0.1, lower=-1.0, upper=2.0)  # fmt: skip
    return b.build()


def parsed(thing):
    """The element tree of an object's HTML, which is well-formed."""
    text = thing._repr_html_()
    assert "<script" not in text
    return ElementTree.fromstring(text)


def test_names_are_escaped():
    """Everything that shows names: as text, never as elements."""
    model = hostile()
    run = kt.simulate(model, duration=0.02, seed=1)
    function = kt.compile(model, "rnea")
    things = [model, run, function, run.report(), kt.accuracy(model), kt.lint("<robot>"),
              kt.verify(model, states=1, seed=0), model.report]  # fmt: skip
    for thing in things:
        tree = parsed(thing)
        assert not list(tree.iter("script"))
    for thing in things[:3]:
        assert HOSTILE in "".join(parsed(thing).itertext())


def test_tables_have_the_numbers():
    """One row for each body and each position; long ones end with the number of rows left out."""
    model = kt.load("arm7")
    rows = list(parsed(model).iter("tr"))
    assert len(rows) == model.nb and f"{model.I[1].m:.6g}" in "".join(rows[1].itertext())
    run = kt.simulate(model, duration=0.02, seed=1)
    cells = [cell.text for cell in list(parsed(run).iter("tr"))[1]]
    assert cells[0] == run.coordinates.position_labels[0] and cells[3] == f"{run.q[-1, 0]:.6g}"
    text = "".join(parsed(kt.compile(model, "aba")).itertext())
    assert "tau" in text and "(9,)" in text
    chain = kt.models.n_pendulum(MOST + 5)
    assert len(list(parsed(chain).iter("tr"))) == MOST + 1 and "and 5 more" in chain._repr_html_()
