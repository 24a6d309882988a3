"""docs/algorithms.md lists every public algorithm, with its arguments and its cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS

PAGE = Path(__file__).parents[2] / "docs" / "algorithms.md"
STATIC = {
    "frame": "body6", "reference": "local_world_aligned", "kind": "spatial", "axes": "world",
    "forward": ("joint4", "joint5", "joint6"),
    "independent": None, "actuated": None,
}  # fmt: skip


def rows() -> dict[str, list[str]]:
    """The cells of the row of each call."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {re.match(r"`(\w+)", row[0]).group(1): row for row in cells}


def test_every_algorithm_has_a_row():
    """No call is missing and none is invented."""
    assert sorted(rows()) == sorted(ALGORITHMS)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_arguments_and_cost_are_those_of_the_code(name):
    """The signature is that of the algorithm, and its operations on GU(6) are as stated within 10 %."""
    call, _, _, _, operations, link = rows()[name]
    spec = ALGORITHMS[name]
    named = (*spec.inputs, *(f"[{x}]" for x in spec.optional), *(f"{x}=" for x in spec.static))
    assert call == f"`{name}({', '.join(named)})`"
    model, static = kt.models.chain_gu(6), {key: STATIC[key] for key in spec.static}
    if name.startswith("floating_base"):
        model = kt.load("quadruped", floating_base=True)
        static = {key: value if key != "frame" else model.body_names[-1] for key, value in static.items()}
    counted = kt.compile(model, name, **static).operations.total
    assert abs(counted - int(operations)) <= 0.1 * counted
    assert spec.function.__module__.rsplit(".", 1)[-1] + ".py" in link
