"""Examine the corpus in several processes, keep the rows, write the table."""

from __future__ import annotations

import argparse
import os
import time

from benchmarks import machine, store
from benchmarks.corpus import report, workers
from benchmarks.corpus.catalog import CORPORA, GROUPED, File, absent, selected
from benchmarks.corpus.examine import examine

RESULT = "corpus"
PACKAGES = ("kinetree", "numpy", "pin", "mujoco")


def rows_of(files: list[File], jobs: int, timeout: float, progress=None) -> list[dict[str, object]]:
    """One row per file, in the order of the files; a file that breaks its process has a row that says so."""
    found = {}
    for file, how, outcome in workers.run(examine, files, jobs, timeout):
        if how != "done":
            outcome = {"corpus": file.corpus, "file": file.name, "verdict": how, "reason": outcome}
        found[file] = outcome
        if progress:
            progress(file, outcome)
    return [found[file] for file in files]


def merged(old: list[dict], new: list[dict]) -> list[dict]:
    """The rows of a selection replace their predecessors; rows of files that are gone go too."""
    again = {row["corpus"] for row in new if row["corpus"] in GROUPED}
    known = {(row["corpus"], row["file"]): row for row in [*old, *new] if row["corpus"] not in GROUPED}
    together = [row for row in [*(old if not again else ()), *new] if row["corpus"] in GROUPED]
    return report.collapsed([known[file] for file in selected([]) if file in known] + together)


def main() -> None:
    """``python -m benchmarks.corpus [PATTERN ...]``."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus", description=__doc__)
    parser.add_argument("pattern", nargs="*", help="files whose corpus or path holds one of these; default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one file")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    options = parser.parse_args()

    console = Console()
    files = selected(options.pattern)
    if not files:
        raise SystemExit(f"no installed corpus has a file that matches; corpora: {', '.join(CORPORA)}")
    begin = time.monotonic()
    # Worker processes hold one file each; a second thread of the linear algebra would only compete with them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("corpus", total=len(files))

        def progress(file: File, row: dict) -> None:
            bar.update(task, advance=1, description=file.name[-40:])
            if row["verdict"] in report.FAULTS:
                bar.console.print(f"{row['verdict']}: {file.corpus}: {file.name}: {row.get('reason', '')}")

        rows = report.collapsed(rows_of(files, options.jobs, options.timeout, progress))
    result = {"versions": versions(), "seconds": time.monotonic() - begin, "absent": absent(), "rows": rows}
    if options.pattern:
        try:
            whole = store.read(RESULT)
            result |= {"rows": merged(whole["rows"], rows), "seconds": whole["seconds"]}
        except FileNotFoundError:
            pass
    for line in report.summary(rows):
        console.print(line, markup=False)
    if not options.dry:
        store.write(RESULT, result)
        report.write(store.read(RESULT))


def versions() -> dict[str, str]:
    """Versions of the engines, and of the packages that hold the files."""
    names = (*PACKAGES, *dict.fromkeys(corpus.package for corpus in CORPORA.values()))
    return machine.versions(names)
