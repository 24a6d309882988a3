"""The plot of ``docs/benchmarks.md``: how many times kinetree's time each engine takes."""

from __future__ import annotations

import pathlib

from benchmarks import store
from benchmarks.figure_style import pyplot
from kinetree.viz.style import COLORS, INK

FILE = pathlib.Path(__file__).parent.parent / "docs" / "benchmarks.svg"
QUANTITIES = ("rnea", "crba", "aba", "rnea_derivatives", "aba_derivatives")


def rivals() -> None:
    """Draw the best offer of every engine for every robot, per quantity, against kinetree's batch (or call)."""
    plt = pyplot()
    result = store.read("rivals")
    engines = list(
        dict.fromkeys(
            (row["rival"], row["mode"])
            for robot in result["robots"]
            for row in robot["rows"]
            if not row["rival"].startswith("kinetree")
        )
    )
    figure, axes = plt.subplots(1, len(QUANTITIES), figsize=(9.0, 0.42 * len(engines) + 1.6), sharey=True)
    robots = result["robots"]
    for axis, quantity in zip(axes, QUANTITIES, strict=True):
        for k, robot in enumerate(robots):
            for j, (rival, mode) in enumerate(engines):
                ratios = [
                    row["ratio"] for row in robot["rows"]
                    if (row["rival"], row["mode"], row["quantity"]) == (rival, mode, quantity)
                ]  # fmt: skip
                if ratios:
                    offset = 0.8 * (k / max(1, len(robots) - 1) - 0.5) * 0.7
                    axis.plot(min(ratios), j + offset, "o", color=COLORS[k], markersize=4)
        axis.axvline(1.0, color=INK, linewidth=1.0)
        axis.set_xscale("log")
        axis.margins(x=0.08)
        axis.set_title(quantity)
        axis.grid(visible=False, axis="y")
    axes[0].set_yticks(range(len(engines)), [f"{rival} ({mode})" for rival, mode in engines])
    axes[0].invert_yaxis()
    figure.supxlabel("time over kinetree's (one call: its call; otherwise its batch), one core, float64", fontsize=9)
    handles = [plt.Line2D([], [], marker="o", markersize=4, linestyle="", color=COLORS[k]) for k in range(len(robots))]
    figure.legend(handles, [robot["robot"] for robot in robots], loc="outside upper center", ncols=len(robots))
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    figure.savefig(FILE, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    rivals()
