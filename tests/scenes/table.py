"""Writes the table of docs/scenes.md: ``python -m tests.scenes.table``."""

from __future__ import annotations

from pathlib import Path

from kinetree.scenes.runs import SCENES, formulations, rows, run

PAGE = Path(__file__).parents[2] / "docs" / "scenes.md"
BEGIN, END = "<!-- scenes:begin -->\n", "<!-- scenes:end -->"


def table() -> str:
    """All scenes in all formulations with published results."""
    head, *lines = rows(run(key, name) for key, scene in SCENES.items() for name in formulations(scene))
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *lines))


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2])
