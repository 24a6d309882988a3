"""The table of the README, made from ``benchmarks/results``: ``python -m benchmarks.table``."""

from __future__ import annotations

import pathlib

from benchmarks import store

SOURCE = "pinocchio"
FUNCTION = ("kinetree out=", "kinetree")  # the compiled Function, with and without an array to fill
BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"
README = pathlib.Path(__file__).parent.parent / "README.md"


def table(result: dict) -> str:
    """The measured rows as Markdown, with the machine and the way they were measured."""
    lines = [
        "| robot (nv) | algorithm | one call, us | Pinocchio | ratio | batch, ns per state | Pinocchio | ratio |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in result["rows"]:
        cells = [f"{row['robot']} ({row['nv']})", row["algorithm"]]
        for kind, scale in (("call", 1e6), ("batch", 1e9)):
            part = row[kind]
            road = min(FUNCTION, key=lambda name: part["seconds"][name]["median"])
            ours, theirs = part["seconds"][road], part["seconds"][part["rival"]]
            digits = 2 if kind == "call" else 0
            cells += [f"{each['median'] * scale:.{digits}f}" for each in (ours, theirs)]
            cells.append(f"**{part['ratios'][road]['median']:.1f}x**")
        lines.append("| " + " | ".join(cells) + " |")
    about, method, versions = result["machine"], result["method"], result["versions"]
    vector = next((name for name in ("avx512f", "avx2", "asimd") if name in about["flags"]), "no vector extension")
    error = max(max(each["errors"].values()) for each in result["verification"])
    lines += [
        "",
        f"{about['processor']} ({vector}), one core, Python {about['python']}, Pinocchio {versions['pin']}, "
        f"numpy {versions['numpy']}, llvmlite {versions['llvmlite']}; {result['date']}. CPU time, medians of "
        f"{method['repeats']} interleaved repeats. Both sides are called from Python with prepared arrays: kinetree as "
        "`f = kt.compile(model, ...)`, with or without `out=`; Pinocchio by its fastest road (calls in a loop in "
        f"either convention, or its own batch functions with one thread). Batches of {method['batch_states']} states. "
        f"The answers agree: the largest relative difference is {error:.0e}.",
    ]
    if result["first_results"]:
        lines += ["", *first_results(result["first_results"])]
    return "\n".join(lines)


def first_results(rows: list[dict]) -> list[str]:
    """CPU seconds of fresh processes, from their start to the first result."""
    lines = [
        "| CPU seconds of a fresh process until its first result | compiling | from the cache | Pinocchio |",
        "| --- | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = [f"{row[road]['first result']:.2f}" for road in ("cold", "cached", "pinocchio")]
        lines.append(f"| {row['robot']} {row['algorithm']} | " + " | ".join(cells) + " |")
    return [
        *lines,
        "",
        "Importing numpy is part of every column. One BLAS thread (`OMP_NUM_THREADS=1`): the start of a second one "
        "adds about 0.1 s of CPU time to each (`python -m benchmarks.startup` measures that).",
    ]


def update_readme() -> None:
    """Put the table between the markers of the README."""
    text = README.read_text()
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"{README.name} lacks the markers {BEGIN} and {END}")
    README.write_text(f"{before}{BEGIN}\n{table(store.read(SOURCE))}\n{END}{after}")
    print(f"wrote the table of {README.name}")


if __name__ == "__main__":
    update_readme()
