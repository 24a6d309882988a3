"""Which values stay in registers: never too many, and what leaves is found again."""

import dataclasses

import numpy as np
import pytest

from kinetree.native.engine import Target
from kinetree.native.kernel import Kernel
from kinetree.native.llvm_plan import plan
from kinetree.native.llvm_registers import SPARE, RegisterPlan
from kinetree.trace.program import Program
from tests.compiler.random_programs import random_program, run_batch, run_scalar


def crowded(count):
    """Values all alive at once and nowhere in memory, used again from the first on and from the last on."""
    code = [("input", 0, k) for k in range(4)]
    code += [("fma", k % 4, (k + 1) % 4, max(k + 3, 0)) for k in range(count)]
    first, total = 4, 4 + count - 1
    for order in (range(first, first + count), reversed(range(first, first + count))):
        for k in order:
            code.append(("fms", k, k, total))
            total = len(code) - 1
    return Program((("x", (4,)),), (("y", (1,)),), tuple(code), ((total,),))


PROGRAMS = {
    "crowded": crowded(90),
    "random": random_program(71, 500)[0],
    "no params": random_program(72, 500, params=False)[0],
}


@pytest.mark.parametrize("registers, constants", [(5, False), (16, False), (32, False), (5, True), (32, True)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_operands_are_in_registers_or_in_memory(name, registers, constants):
    """At every step an operand is in a register or can be loaded; two values never share a place at one time."""
    program = PROGRAMS[name]
    made_plan = plan(program, 8, True, 200, reread=True)
    kept = {*made_plan.slots, *made_plan.stored}  # in memory as soon as they are made
    for chunk in made_plan.chunks:
        register_plan, stored = RegisterPlan(made_plan, chunk, registers, constants), {}
        inside, here = set(), set(chunk)
        for step, value in enumerate(chunk):
            used = made_plan.operands[value]
            for a in used:
                if a in here and a not in inside and a not in kept and program.code[a][0] not in COMPARED:
                    assert stored[register_plan.scratch[a]] == a
            made = [twin for twin, _ in made_plan.pairs.get(program.code[value][1], ())]
            made = made if program.code[value][0] in ("sin", "cos") else [value]
            inside |= {*used, *made}
            for leaving, place in register_plan.after(step, used, made):
                inside.remove(leaving)
                if place is not None:
                    assert stored.get(place) not in register_plan.scratch or stored[place] == leaving
                    stored[place] = leaving
            assert len(register_plan._next) <= registers - SPARE
            assert set(register_plan._next) <= inside


COMPARED = ("lt", "le", "eq", "and", "or", "not")


def test_few_values_leave_nothing():
    """Where registers suffice, nothing is stored and nothing is loaded twice."""
    program = crowded(20)
    made_plan = plan(program, 8)
    register_plan = RegisterPlan(made_plan, made_plan.chunks[0], 32)
    for step, value in enumerate(made_plan.chunks[0]):
        assert not register_plan.after(step, made_plan.operands[value], [value])
    assert register_plan.count == 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_number_of_registers_changes_no_bit(name, monkeypatch):
    """With 5 registers, 16 or 32: single states and batches."""
    monkeypatch.setenv("KINETREE_CACHE", "0")
    program = PROGRAMS[name]
    rng = np.random.default_rng(7)
    arrays = [rng.uniform(0.5, 1.5, (20, *shape)) for _, shape in program.inputs]
    numbers = None if program.prologue is None else rng.uniform(0.5, 1.5, program.prologue.inputs[0][1])
    results = set()
    for registers in (5, 16, 32):
        monkeypatch.setattr(Target, "registers", registers)
        kernel = Kernel(program, numbers=numbers, checks=False, chunk=150)
        results.add(tuple(y.tobytes() for y in run_batch(kernel, arrays, 20)[1]))
        results.add(tuple(y.tobytes() for y in run_scalar(kernel, arrays, 20)))
    assert len(results) == 1


def test_registers_of_processors():
    """Sixteen on x86 before AVX-512, else thirty-two."""
    target = dataclasses.replace(Target.host(), triple="x86_64-unknown-linux-gnu", vector_bytes=32)
    assert target.registers == 16
    assert dataclasses.replace(target, vector_bytes=64).registers == 32
    assert dataclasses.replace(target, triple="aarch64-unknown-linux-gnu", vector_bytes=16).registers == 32
