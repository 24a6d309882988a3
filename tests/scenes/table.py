"""Writes the table of docs/scenes.md: ``python -m tests.scenes.table``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinetree.scenes.runs import SCENES, formulations, rows, run

PAGE = Path(__file__).parents[2] / "docs" / "scenes.md"
BEGIN, END = "<!-- {}:begin -->\n", "<!-- {}:end -->"
OTHER = ("redmax_euler", "maximal", "redmax")


def published() -> str:
    """All scenes in the formulations of the source, and by adaptive steps."""
    chosen = [(key, name) for key, scene in SCENES.items() for name in formulations(scene) if name not in OTHER]
    return table(rows(run(*case) for case in chosen))


def others() -> str:
    """Maximal coordinates and REDMAX: the published end, the motion of adaptive steps, the energy."""
    lines = [("scene", *(f"{name}: {what}" for name, what in HEADINGS))]
    for key, scene in SCENES.items():
        found = {name: run(key, name) for name in formulations(scene) if name in (*OTHER, "adaptive")}
        cells = {name: f"{found[name].error:.1e}" for name in found if name == "redmax_euler"}
        for name in ("maximal", "redmax"):
            if name in found:
                apart = np.abs(found[name].q[-1] - found["adaptive"].q[-1]).max()
                cells |= {name: f"{apart:.1e}", f"{name} drift": f"{found[name].drift:.1e}" * scene.conservative}
        names = ("redmax_euler", "maximal", "maximal drift", "redmax", "redmax drift")
        lines.append((key, *(cells.get(name, "") for name in names)))
    return table(lines)


HEADINGS = (
    ("`redmax_euler`", "energy"), ("`maximal`", "positions"), ("`maximal`", "drift"), ("`redmax`", "positions"),
    ("`redmax`", "drift"),
)  # fmt: skip


def table(lines) -> str:
    """Rows of texts as a table of Markdown."""
    head, *rest = lines
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *rest))


if __name__ == "__main__":
    for name, made in {"scenes": published, "formulations": others}.items():
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = PAGE.read_text().partition(begin)
        PAGE.write_text(before + begin + made() + end + rest.partition(end)[2])
