"""All methods of inverse and forward dynamics on random trees with joints of every registered kind, fixed and floating.

Each method is compared with plain 6 x 6 matrices in extended precision (`kinetree.verification.plain`). Relative means:
of the largest entry of the answer at that state. Forces, M and bias agree to 1e-9 outright. What solves with M may
lose the condition of M (its diagonal scaled to 1), and a method that eliminates joints or inverts bodies alone loses
what `kinetree.verification.methods.losses` says: up to a product of 1e5 the bound is 1e-9 outright, beyond it grows
with it, which leaves 1e-14 for the method itself. Beside that every entry keeps within the rounding that `kt.verify`
allows it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Composite, Reversed
from kinetree.verification.check import LeftOut
from kinetree.verification.methods import METHODS, QUANTITIES, losses
from kinetree.verification.states import States

RELATIVE = 1e-9
LOST = 1e5
DIRECT = {
    "joint forces", "joint forces, about the world", "bias forces", "mass matrix", "mass matrix, half the joints",
}  # fmt: skip


@dataclass
class Sweep:
    """What was found on many trees."""

    trees: int = 0
    floating: int = 0
    timed: int = 0
    kinds: set = field(default_factory=set)
    condition: float = 1.0
    worst: dict = field(default_factory=dict)  # (quantity, method) -> relative residual, share of its tolerance, trees

    def table(self) -> str:
        lines = [f"{self.trees} trees, {self.floating} floating, {self.timed} depend on time, condition of M up to "
                 f"{self.condition:.1e}, {len(self.kinds)} kinds of joints"]  # fmt: skip
        for (quantity, method), (relative, share, count) in self.worst.items():
            lines.append(f"| {quantity} | {method} | {relative:.1e} | {share:.1e} | {count} |")
        return "\n".join(lines)


def kinds_in(joint) -> set:
    """The kinds of a joint and of those it is made of."""
    inside = {Reversed: lambda: [joint.joint], Composite: lambda: joint.joints}.get(type(joint), list)()
    return {joint.kind}.union(*(kinds_in(part) for part in inside))


def compare(sweep: Sweep, seed: int) -> None:
    """All methods on one tree, two states."""
    model = kt.models.random_tree(6 + seed % 5, seed=seed, floating=seed % 3 == 0, time_dependent=True)
    s = States(model, 2, seed, compiled=False)
    sweep.trees += 1
    sweep.floating += seed % 3 == 0
    sweep.timed += model.time_dependent
    sweep.kinds |= set().union(*(kinds_in(joint) for joint in model.joints[1:]))
    condition = float(s.condition.max())
    sweep.condition = max(sweep.condition, condition)
    for method in METHODS:
        quantity = QUANTITIES[method.quantity]
        try:
            found = method.compute(s)
        except LeftOut:
            continue
        expected, loss = quantity.value(s), losses(s, method.loss)
        error = np.abs(found - expected).astype(float).reshape(2, -1)
        size = np.abs(expected).astype(float).reshape(2, -1).max(axis=1)
        relative = float((error.max(axis=1) / np.maximum(size, 1e-300)).max())
        tolerance = np.asarray(quantity.tolerance(s) * loss, float).reshape(2, -1)
        share = float((error / np.maximum(tolerance, 1e-300)).max())
        allowed = RELATIVE if method.quantity in DIRECT else RELATIVE * max(1.0, condition * loss / LOST)
        where = (
            f"seed {seed}, {method.name}: {relative:.1e} relative, {share:.1e} of its rounding, cond {condition:.1e}"
        )
        assert relative <= allowed, where
        assert share <= 1.0, where
        old = sweep.worst.get((method.quantity, method.name), (0.0, 0.0, 0))
        sweep.worst[method.quantity, method.name] = max(old[0], relative), max(old[1], share), old[2] + 1


def test_all_methods_agree_on_twenty_trees():
    """The sweep's first trees."""
    sweep = Sweep()
    for seed in range(20):
        compare(sweep, seed)
    assert len(sweep.worst) == len(METHODS)


@pytest.mark.sweep
def test_all_methods_agree_on_a_thousand_trees(capsys):
    """1,000 trees with every registered joint kind, fixed and floating: 1e-9 relative."""
    sweep, start = Sweep(), time.perf_counter()
    for seed in range(1000):
        compare(sweep, seed)
        if seed % 100 == 99:
            with capsys.disabled():
                print(f"\n{time.perf_counter() - start:.0f} s\n{sweep.table()}", flush=True)
    assert sweep.kinds >= set(kt.joints.JOINTS)
