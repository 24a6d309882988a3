"""Output of ``kinetree verify``: a table that fills during the run, then deviations and their likely causes."""

from __future__ import annotations

import sys
from pathlib import Path

from kinetree.files import write_text
from kinetree.verification.report import HEADINGS, Row, Verification, row_cells
from kinetree.verification.verify import verify

_STYLES = {"ok": "green", "off": "bold red", "changed": "bold red", "left out": "dim"}


def command(
    model, *, states: int, seed: int, fast: bool, as_json: bool, everything: bool, quiet: bool, write: Path | None
) -> int:
    """Verify a model and print the result.

    Parameters
    ----------
    model : Model
    states, seed : int
    fast : bool
        As for `verify`.
    as_json, quiet : bool
        Print JSON; print only deviations.
    everything : bool
        Show rows that were left out, too.
    write : Path or None
        Write the report as JSON.

    Returns
    -------
    int
        Exit code: 0 if all agree, 1 if something is off, or the model is not the one that its file describes.
    """
    result = verify(model, states, seed=seed, fast=fast)
    if write is not None:
        write_text(write, result.to_json() + "\n")
    if as_json:
        sys.stdout.write(result.to_json() + "\n")
    else:
        show(result, everything=everything, quiet=quiet)
    return 0 if result.ok else 1


def show(result: Verification, *, everything: bool = False, quiet: bool = False) -> None:
    """Print a report: a table of rich in terminals, plain lines elsewhere.

    Parameters
    ----------
    result : Verification
    everything, quiet : bool
        As for `command`.
    """
    from rich.console import Console
    from rich.text import Text

    # Into a pipe or a file, lines are never cut or wrapped.
    terminal = sys.stdout.isatty()
    console = Console(highlight=False) if terminal else Console(highlight=False, soft_wrap=True, width=10_000)
    shown = ("off", "changed") if quiet else ("off", "changed", "ok", *(("left out",) if everything else ()))
    rows = [row for row in result if row.verdict in shown]
    if rows:
        console.print(_table(rows, terminal))
    for sentence in result.findings:
        console.print(Text(sentence, style="bold red"))
    if result.not_verified and not quiet:
        console.print(Text(result.not_verified, style="yellow"))
    if not (quiet and result.ok):
        console.print(Text(result.summary, style="green" if result.ok else "bold red"))


def _table(rows: list[Row], terminal: bool):
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False)
    for heading in HEADINGS:
        number = heading in ("deviation", "tolerance", "ratio")
        table.add_column(heading, justify="right" if number else "left", no_wrap=number or not terminal)
    before = None
    for row in rows:
        cells = row_cells(row)
        cells = ("" if cells[0] == before and terminal else cells[0], *cells[1:])
        before = row.quantity
        table.add_row(*(Text(cell, style=_STYLES[row.verdict] if k == 6 else "") for k, cell in enumerate(cells)))
    return table
