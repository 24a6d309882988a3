"""Shapes of the robots of public packages: queries and the choice of contact pairs, file by file.

``python -m benchmarks.contact_corpus`` runs over the files of `benchmarks.corpus` that are installed and writes the
table of docs/collision_queries.md; a word after it selects files whose corpus or path holds it, and writes nothing.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections import Counter

import numpy as np

import kinetree as kt
from benchmarks.corpus.catalog import GROUPED, File, selected
from benchmarks.corpus.loading import load, told
from kinetree.errors import KinetreeError
from kinetree.queries.scene import Scene

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "collision_queries.md"
BEGIN, END = "<!-- contact_corpus:begin -->", "<!-- contact_corpus:end -->"
HEAD = ("corpus", "models", "shapes", "of them meshes", "pairs", "all distances", "refused by name",
        "pairs in each other", "distances, us a pair", "colliding pairs, us", "with ground")  # fmt: skip
STATES = 3


def examine(file: File) -> dict[str, object]:
    """Load a file and query its shapes at random states; errors that are not kinetree's pass through."""
    loaded = load(kt, file.path)
    if loaded.model is None:
        return {"models": 0}
    model, row = loaded.model, {"models": 1}
    try:
        scene = Scene.of(model)
    except KinetreeError as error:
        return row | {"refused": told(error, file.path)}
    row |= {"shapes": len(scene.shapes), "pairs": len(scene.pairs)}
    row["meshes"] = sum(shape.geometry.kind == "mesh" for shape in scene.shapes)
    rng, seconds = np.random.default_rng(0), np.zeros(2)
    for k in range(STATES + 1):
        q = model.neutral() if k == 0 else model.random_state(rng)[0]
        start = time.process_time()
        near = kt.collision.colliding_pairs(model, q)
        middle = time.process_time()
        every = kt.collision.distances(model, q)
        if k:  # the first call compiles
            seconds += (middle - start, time.process_time() - middle)
        assert np.isfinite(every.distance).all() and len(every) == row["pairs"], file
        expected = [pair for pair, d in zip(every.pairs, every.distance, strict=True) if d <= 0.0]
        assert list(near) == expected, file
        gap = np.abs(every.second - every.first - every.distance[:, None] * every.normal)
        assert not len(every) or gap.max() < 1e-6 * (1.0 + np.abs(every.first).max()), file
        points = kt.collision.contact_manifold(model, q)
        assert np.isfinite(points.position).all(), file
        if k == 0:
            row["colliding"] = len(near)
    row |= {"broad": seconds[0] / STATES, "all": seconds[1] / STATES}
    try:
        row["ground"] = bool(model.with_contacts(ground=True, meshes="hull").n_contacts)
    except KinetreeError as error:
        row["no ground"] = told(error, file.path)
    return row


def line(corpus: str, rows: list[dict]) -> str:
    """A row of the table."""

    def total(what):
        return sum(row.get(what, 0) for row in rows)

    pairs = max(total("pairs"), 1)
    cells = [corpus, total("models"), total("shapes"), total("meshes"), total("pairs"),
             sum("pairs" in row for row in rows), sum("refused" in row for row in rows), total("colliding"),
             f"{1e6 * total('all') / pairs:.1f}", f"{1e6 * total('broad') / max(total('models'), 1):.0f}",
             total("ground")]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    patterns = sys.argv[1:]
    rows: dict[str, list[dict]] = {}
    refusals: Counter = Counter()
    for file in selected(patterns):
        if file.corpus in GROUPED:
            continue
        row = examine(file)
        rows.setdefault(file.corpus, []).append(row)
        for what in ("refused", "no ground"):
            if what in row:
                refusals[what] += 1
                print(f"{file.corpus}/{file.name}: {what}: {row[what][:200]}", flush=True)
    table = [f"| {' | '.join(HEAD)} |", f"| --- |{' ---: |' * (len(HEAD) - 1)}"]
    table += [line(corpus, found) for corpus, found in rows.items()]
    table.append(line("**all**", [row for found in rows.values() for row in found]))
    print("\n".join(table), dict(refusals), sep="\n")
    if not patterns:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(table) + f"\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
