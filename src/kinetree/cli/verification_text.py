"""Text of ``kinetree verify``: a summary, a table of quantities, then deviations and their likely causes."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kinetree.cli.printing import WIDTH, show_table
from kinetree.verification.report import Row, Verification

_STYLES = {"ok": "green", "off": "bold red", "changed": "bold red", "left out": "dim"}


def show(result: Verification, *, everything: bool = False, quiet: bool = False) -> None:
    """Print a report in at most 80 columns, or the terminal's.

    Parameters
    ----------
    result : Verification
    everything : bool
        Show a row for each comparison, also for those that were left out.
    quiet : bool
        Print deviations only.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    if not (quiet and result.ok):
        console.print(Text(result.summary, style="green" if result.ok else "bold red"))
    for sentence in result.findings:
        console.print(Text(sentence, style="bold red"))
    if result.not_verified and not quiet:
        console.print(Text(result.not_verified, style="yellow"))
    if everything:
        show_table(_comparisons(result.rows))
    else:
        if not quiet:
            show_table(_quantities(result))
        for row in (*result.off, *result.changed):
            console.print(Text(str(row), style="bold red"))


def _quantities(result: Verification):
    """The number of comparisons of each quantity, and the largest deviation in units of its tolerance."""
    table = _table(("quantity", "n", "worst ratio", "of the method", "verdict"), ("n", "worst ratio"))
    rows: dict[str, list[Row]] = {}
    for row in result:
        if row.ratio is not None or row.verdict in ("off", "changed"):
            rows.setdefault(row.quantity, []).append(row)
    for quantity, group in rows.items():
        worst = max(group, key=lambda row: row.ratio or 0.0)
        verdict = next((row.verdict for row in group if row.verdict != "ok"), "ok")
        ratio = _ratio(worst)
        method = worst.method if worst.ratio else ""
        table.add_row(quantity, str(len(group)), ratio, method, _verdict(verdict))
    return table


def _comparisons(rows: Sequence[Row]):
    """A row for each comparison; reasons of those left out are in their place."""
    table = _table(("quantity", "method", "against", "ratio", "verdict"), ("ratio",))
    for row in rows:
        table.add_row(row.quantity, row.method, row.note or row.against, _ratio(row), _verdict(row.verdict))
    return table


def _table(headings: Sequence[str], right: Sequence[str]):
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD if sys.stdout.isatty() else None, pad_edge=False)
    for heading in headings:
        number = heading in right
        table.add_column(heading, justify="right" if number else "left", no_wrap=number or heading == "verdict")
    return table


def _ratio(row: Row) -> str:
    """The deviation over its tolerance; 0 where all bits agree."""
    return "" if row.ratio is None else f"{row.ratio:.1e}" if row.ratio else "0"


def _verdict(word: str):
    from rich.text import Text

    return Text(word, style=_STYLES[word])
