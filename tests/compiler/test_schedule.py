"""The order of execution: fewer values alive than in the order of the trace, and arguments before their users."""

import importlib

import pytest

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.tracing import trace
from kinetree.trace.program import LEAVES, Program
from kinetree.trace.schedule import schedule

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


def pressure(program):
    """The most and the mean number of values that are alive when the code runs in its order.

    Alive are values that are computed and still to be used; leaves, sines and cosines are not counted.
    """
    code = program.code
    counted = [op not in LEAVES + ("sin", "cos") for op, *_ in code]
    last = {}
    for k, (op, *args) in enumerate(code):
        if op not in LEAVES:
            for a in args:
                if counted[a]:
                    last[a] = k
    dying = {}
    for k in last.values():
        dying[k] = dying.get(k, 0) + 1
    alive, history = 0, []
    for k in range(len(code)):
        alive += (k in last) - dying.get(k, 0)
        if counted[k]:
            history.append(alive)
    return max(history, default=0), sum(history) / max(1, len(history))


def test_the_measure_counts_values_still_to_be_used():
    """Of two products and their sum both products are alive together, the sum is an output."""
    two_products = ("input", 0, 0), ("mul", 0, 0), ("mul", 1, 0), ("add", 1, 2)
    assert pressure(Program((("x", (1,)),), (("y", (1,)),), two_products, ((3,),))) == (2, 1.0)


@pytest.mark.parametrize("robot, algorithm", MEASURED)
def test_fewer_values_are_alive_than_in_trace_order(monkeypatch, robot, algorithm):
    """Trees with legs and arms on a free root: fewer values alive on average, and not more at any time."""
    model = kt.load(robot, floating_base=robot == "humanoid")
    ordered = pressure(trace(ALGORITHMS[algorithm], model))
    monkeypatch.setattr(assembly, "schedule", sorted)
    traced = pressure(trace(ALGORITHMS[algorithm], model))
    assert ordered[0] <= traced[0]
    assert ordered[1] <= (MEASURED[robot, algorithm] + 0.01) * traced[1]


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
