"""The order of execution: fewer values alive than in the order of the trace, and arguments before their users."""

import importlib

import pytest

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.tracing import trace
from kinetree.trace.schedule import pressure, schedule

assembly = importlib.import_module("kinetree.trace.assembly")

# Mean number of values alive relative to the order of the trace, as measured, plus 1 % for other roundings of angles.
MEASURED = {
    ("humanoid", "rnea"): 0.96,
    ("humanoid", "crba"): 0.98,
    ("humanoid", "aba"): 0.96,
    ("quadruped", "rnea"): 0.98,
    ("quadruped", "aba"): 0.95,
    ("quadruped", "rnea_derivatives"): 0.90,
}


@pytest.mark.parametrize("robot, algorithm", MEASURED)
def test_fewer_values_are_alive_than_in_trace_order(monkeypatch, robot, algorithm):
    """Trees with legs and arms on a free root: fewer values alive on average, and not more at any time."""
    model = kt.load(robot, floating_base=robot == "humanoid")
    ordered = pressure(trace(ALGORITHMS[algorithm], model))
    monkeypatch.setattr(assembly, "schedule", sorted)
    traced = pressure(trace(ALGORITHMS[algorithm], model))
    assert ordered.most <= traced.most
    assert ordered.mean <= (MEASURED[robot, algorithm] + 0.01) * traced.mean


def test_a_value_whose_operands_end_with_it_goes_first():
    """Of two chains that are asked for in turns, each sum goes as soon as its products are there."""
    code = {k: ("input", 0, k) for k in range(4)}
    code |= {4: ("sqrt", 0), 5: ("sqrt", 1), 6: ("sqrt", 2), 7: ("sqrt", 3), 8: ("add", 4, 5), 9: ("add", 6, 7)}
    computed = [k for k in schedule(code) if k >= 4]
    assert computed == [4, 5, 8, 6, 7, 9]


def test_the_order_is_an_order():
    """Every node once, arguments before users, leaves no earlier than needed: right before their first user."""
    program = trace(ALGORITHMS["aba"], kt.models.chain_gu(4))
    code = dict(enumerate(program.code))
    order = schedule(code)
    place = {k: n for n, k in enumerate(order)}
    assert sorted(order) == sorted(code)
    for k, (op, *arguments) in code.items():
        if op not in ("const", "input", "param"):
            assert all(place[a] < place[k] for a in arguments)
