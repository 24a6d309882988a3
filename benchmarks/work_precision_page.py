"""Tables and picture of ``docs/work_precision.md``, made from ``benchmarks/results/work_precision.json``."""

from __future__ import annotations

import math
import pathlib
import re

from benchmarks import store
from benchmarks.figure_style import pyplot
from benchmarks.table import ROOT, machine_line, put

PAGE = ROOT / "docs" / "work_precision.md"
PICTURE = ROOT / "docs" / "work_precision.svg"
LEVELS = (1e-3, 1e-6, 1e-9)
SHOWN = {  # curves of the picture with a name and a color; the others are gray
    ("kinetree, rollout", "semi_implicit"): ("kinetree semi_implicit", "C0", "o-"),
    ("kinetree, rollout", "rk4"): ("kinetree rk4", "C0", "s-"),
    ("kinetree, rollout", "dp54"): ("kinetree dp54", "C0", "^-"),
    ("kinetree, rollout", "dop853"): ("kinetree dop853", "C0", "d-"),
    ("kinetree, rollout of 64", "dop853"): ("kinetree dop853, of 64 states", "C9", "d-"),
    ("kinetree, rollout", "variational"): ("kinetree variational", "C2", "v-"),
    ("kinetree, simulate", "rk4"): ("kinetree rk4, simulate", "C4", "s-"),
    ("kinetree, adaptive", "dop853"): ("kinetree dop853, adaptive", "C4", "d--"),
    ("SciPy on kt.aba", "RK45"): ("SciPy RK45", "C1", "^--"),
    ("SciPy on kt.aba", "DOP853"): ("SciPy DOP853", "C1", "d--"),
    ("SciPy on kt.aba", "LSODA"): ("SciPy LSODA", "C1", "x--"),
    ("MuJoCo", "Euler"): ("MuJoCo Euler", "C3", "o-"),
    ("MuJoCo", "implicitfast"): ("MuJoCo implicitfast", "C3", "v-"),
    ("MuJoCo", "RK4"): ("MuJoCo RK4", "C3", "s-"),
}


def cost(curve: dict, level: float, what: str = "seconds") -> float | None:
    """What an error of this level costs, read off between the points of a curve; None if it is not reached."""
    pairs = [(e, c) for e, c in zip(curve["errors"], curve[what], strict=True) if e > 0.0 and c]
    found = [c for e, c in pairs if e <= level]
    for (e1, c1), (e2, c2) in zip(pairs, pairs[1:], strict=False):
        if e1 > level >= e2:
            part = math.log(e1 / level) / math.log(e1 / e2)
            found.append(c1 * (c2 / c1) ** part)
    return min(found, default=None)


def seconds_shown(x: float) -> str:
    """Three figures at most, in us, ms or s."""
    for unit, size in (("us", 1e-6), ("ms", 1e-3), ("s", 1.0)):
        if x < 999.5 * size or unit == "s":
            return f"{x / size:.3g} {unit}"
    raise AssertionError


def families(result: dict) -> str:
    """The cheapest method of each family for three errors, with its CPU time."""
    names = [row["problem"] for row in result["problems"]]
    lines = ["| error | family | " + " | ".join(names) + " |", "| --- | --- |" + " --- |" * len(names)]
    order = list(dict.fromkeys(c["family"] for row in result["problems"] for c in row["curves"]))
    for level in LEVELS:
        for family in order:
            cells = []
            for row in result["problems"]:
                each = [(cost(c, level), c["name"]) for c in row["curves"] if c["family"] == family]
                best = min((x for x in each if x[0] is not None), default=None)
                cells.append("" if best is None else f"{seconds_shown(best[0])} ({best[1]})")
            lines.append(f"| {level:.0e} | {family} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", _foot(result)])


def methods(result: dict, level: float = 1e-6) -> str:
    """CPU time and evaluations of every contender for one error."""
    names = [row["problem"] for row in result["problems"]]
    lines = ["| family | method | " + " | ".join(names) + " |", "| --- | --- |" + " ---: |" * len(names)]
    for family, name in dict.fromkeys((c["family"], c["name"]) for row in result["problems"] for c in row["curves"]):
        cells = []
        for row in result["problems"]:
            curve = next(c for c in row["curves"] if (c["family"], c["name"]) == (family, name))
            seconds, evaluations = cost(curve, level), cost(curve, level, "evaluations")
            if seconds is None:
                cells.append(f"({min(curve['errors']):.0e})" if curve["errors"] else "")
            else:
                cells.append(seconds_shown(seconds) + (f", {evaluations:.0f}" if evaluations else ""))
        lines.append(f"| {family} | `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def problems(result: dict) -> str:
    """What is integrated, and how well its end is known."""
    lines = ["| problem | nv | motion | time, s | end known from | to |", "| --- | ---: | --- | ---: | --- | ---: |"]
    for row in result["problems"]:
        lines.append(f"| {row['problem']} | {row['nv']} | {row['about']} | {row['duration']:g} | {row['reference']} "
                     f"| {row['uncertainty']:.0e} |")  # fmt: skip
    return "\n".join(lines)


def tumbling(result: dict) -> str:
    """The top at defaults."""
    lines = ["| engine | method | dt, ms | energy | rates at the end, rad/s | CPU, ms | 1e-9 and 1e-6 |",
             "| --- | --- | ---: | ---: | ---: | ---: | --- |"]  # fmt: skip
    for row in result["tumbling_top"]:
        reached = row["energy"] <= 1e-9 and row["rates"] <= 1e-6
        step = "" if row["dt"] is None else f"{1e3 * row['dt']:g}"
        lines.append(f"| {row['engine']} | {row['method']} | {step} | {row['energy']:.1e} | {row['rates']:.1e} "
                     f"| {1e3 * row['seconds']:.0f} | {'reached' if reached else 'missed'} |")  # fmt: skip
    return "\n".join(lines)


def _foot(result: dict) -> str:
    before, after = (result["machine"][key][0] for key in ("load_average_before", "load_average"))
    cores = result["machine"]["cores"]
    busy = " **Measured on a busy machine: times are upper bounds.**" if max(before, after) > 1.5 else ""
    return f"{machine_line(result)} Load {before:.1f} before and {after:.1f} after, {cores} cores.{busy}"


def draw(result: dict, file: pathlib.Path = PICTURE) -> None:
    """Error against CPU time on the left, against evaluations on the right; a row for each problem."""
    plt = pyplot()
    rows = result["problems"]
    # As wide as a page, so that letters keep their size.
    figure, axes = plt.subplots(len(rows), 2, figsize=(7.8, 2.5 * len(rows) + 0.9), squeeze=False, sharey=True)
    handles = {}
    for k, row in enumerate(rows):
        for what, axis in zip(("seconds", "evaluations"), axes[k], strict=True):
            others: list[tuple[float, float]] = []  # as one line with gaps: a small file
            for curve in row["curves"]:
                label, color, style = SHOWN.get((curve["family"], curve["name"]), ("", "", ""))
                points = [(c, e) for c, e in zip(curve[what], curve["errors"], strict=True) if c and e > 1e-13]
                if what == "evaluations" and (" of " in curve["family"] or curve["family"].endswith("simulate")):
                    continue  # the same as in a rollout
                if not label:
                    others += [*points, (math.nan, math.nan)]
                elif points:
                    (handles[label],) = axis.plot(
                        *zip(*points, strict=True), style, color=color, linewidth=1.3, markersize=3.6
                    )
            if others:
                (handles["others"],) = axis.plot(*zip(*others, strict=True), "-", color="0.86", linewidth=0.6, zorder=1)
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.set_ylim(1e-13, 10.0)
            axis.minorticks_off()
            for each in (axis.xaxis, axis.yaxis):
                each.set_major_formatter(lambda x, _: f"1e{round(math.log10(x))}")
        axes[k, 0].set_title(f"{row['problem']}, {row['duration']:g} s")
    axes[-1, 0].set_xlabel("CPU time [s]")
    axes[-1, 1].set_xlabel("evaluations of the dynamics")
    for axis in axes[:, 0]:
        axis.set_ylabel("error at the end")
    order = [*dict.fromkeys(label for label, _, _ in SHOWN.values()), "others"]
    shown = [label for label in order if label in handles]
    figure.tight_layout(rect=(0.0, 0.0, 1.0, 0.945))
    figure.legend([handles[x] for x in shown], shown, loc="upper center", ncols=4)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    plt.close(figure)
    if file.suffix == ".svg":  # a hundredth of a point is enough
        text = re.sub(r"(\d\.\d\d)\d+", r"\1", file.read_text())
        # The markers' outlines have their color already.
        text = re.sub(r'style="fill: (#\w+); stroke: \1(?:; stroke-linejoin: miter)?"', r'fill="\1"', text)
        file.write_text(re.sub(r" *\n *", "\n", text))


def update() -> None:
    """Rewrite the tables and the picture."""
    result = store.read("work_precision")
    tables = {"problems": problems, "families": families, "methods": methods, "tumbling_top": tumbling}
    for name, table in tables.items():
        put(PAGE, name, table(result))
    draw(result)
    print(f"wrote the tables of docs/{PAGE.name} and docs/{PICTURE.name}")
