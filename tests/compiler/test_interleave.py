"""The order of programs for batches: the same operations and bits, chains in turns where single ones would wait."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.tracing import trace
from kinetree.native import interleave
from kinetree.native.interleave import interleaved
from kinetree.native.kernel import Kernel
from kinetree.trace.packing import operands
from kinetree.trace.program import Program
from tests.compiler.random_programs import random_program, run_batch


def chains(count, length):
    """Chains of divisions, one after the other."""
    code, ends = [("input", 0, k) for k in range(count)], []
    for k in range(count):
        for step in range(length):
            code.append(("div", k, len(code) - 1 if step else k))
        ends.append(len(code) - 1)
    return Program((("x", (count,)),), (("y", (count,)),), tuple(code), (tuple(ends),))


def test_chains_take_turns():
    """Six chains of 40 divisions: neighbours are of different chains, and each value stands before its users."""
    program = chains(6, 40)
    ordered = interleaved(program)
    assert ordered is not program and sorted(x[0] for x in ordered.code) == sorted(x[0] for x in program.code)
    places = [k for k, operation in enumerate(ordered.code) if operation[0] == "div"]
    assert all(a < k for k in places for a in operands(ordered.code[k]))
    following = [k for k, after in zip(places, places[1:], strict=False) if k in operands(ordered.code[after])]
    assert not following


@pytest.mark.parametrize("seed", [5, 6])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_order_changes_no_bit(monkeypatch, seed, dtype):
    """Random programs in another order: the same operations, and the bits of the old order, full tiles and a rest."""
    monkeypatch.setenv("KINETREE_CACHE", "0")
    program, arrays, numbers = random_program(seed, 400, dtype=dtype)
    monkeypatch.setattr(interleave, "WORTH", 1e9)
    assert interleaved(program) is program
    status, plain = run_batch(Kernel(program, dtype, numbers=numbers), arrays, 21)
    monkeypatch.setattr(interleave, "WORTH", 0.0)
    ordered = interleaved(program)
    assert ordered.code != program.code and len(ordered.code) == len(program.code)
    again, found = run_batch(Kernel(program, dtype, numbers=numbers), arrays, 21)
    assert again == status
    for x, y in zip(plain, found, strict=True):
        np.testing.assert_array_equal(x, y)


def test_muscles_change_and_robots_do_not():
    """Curves of muscles are chains of more operations than a processor looks ahead; recursions over links are not."""
    for robot, algorithm in (("humanoid", "aba"), ("quadruped", "rnea_derivatives")):
        program = trace(ALGORITHMS[algorithm], kt.load(robot))
        assert interleaved(program) is program
    arm = kt.compile(kt.models.arm26(tendon="compliant"), "forward_dynamics", optional=("x", "u")).program
    assert interleaved(arm) is not arm
