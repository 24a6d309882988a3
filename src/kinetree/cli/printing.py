"""Output of commands: text for people, one JSON object for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import typer

WIDTH = 80  # of tables, where the output is no terminal


@dataclass(frozen=True, slots=True)
class Output:
    """The result of a command.

    Attributes
    ----------
    data : object
        For ``--json``: dicts, lists, strings, numbers, arrays.
    show : callable
        Prints the text.
    code : int
        Exit code.
    """

    data: object
    show: Callable[[], None]
    code: int = 0


def envelope(command: str, code: int, result: object = None, error: str | None = None) -> str:
    """The JSON object of ``--json``; docs/command_line.md describes it.

    Parameters
    ----------
    command : str
    code : int
        Exit code.
    result : object
        The command's own data; None after an error.
    error : str, optional
    """
    content = {"command": command, "version": version(), "exit_code": code, "error": error, "result": plain(result)}
    return json.dumps(content, indent=2, allow_nan=False)


def version() -> str:
    """The version of kinetree."""
    from importlib.metadata import version

    return version("kinetree")


def plain(value: object) -> object:
    """A value as JSON has it: arrays are lists, numbers that are not finite null, all else its text.

    Parameters
    ----------
    value : object
    """
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def console(width: int | None = None):
    """A console of rich. Into a pipe or a file, lines are neither cut nor wrapped, unless a width is given.

    Parameters
    ----------
    width : int, optional
        Where the output is no terminal.
    """
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, soft_wrap=width is None, width=width or 10_000)


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Print labels and values in two columns; in a terminal long values wrap inside theirs.

    Parameters
    ----------
    rows : iterable of (label, value)
    """
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    if not sys.stdout.isatty():
        width = max(14, *(len(label) + 2 for label, _ in rows))
        typer.echo("\n".join(f"{label:<{width}}{value}" for label, value in rows))
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for label, value in rows:
        table.add_row(Text(label, style="bold"), Text(value))
    console().print(table)


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Print a table that fits the terminal, or 80 columns; long cells wrap by words.

    Parameters
    ----------
    headings : sequence of str
    rows : iterable of sequences of str
    right : sequence of str
        Headings of columns of numbers.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if sys.stdout.isatty() else None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", no_wrap=heading in right)
    for row in rows:
        table.add_row(*map(Text, row))
    show_table(table)


def show_table(table) -> None:
    """Print a table of rich within the terminal, or within 80 columns and without blanks at the ends of its lines.

    Parameters
    ----------
    table : rich.table.Table
    """
    output = console(WIDTH)
    if sys.stdout.isatty():
        output.print(table)
        return
    with output.capture() as captured:
        output.print(table)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def some(names: Sequence[str]) -> str:
    """The first names of many.

    Parameters
    ----------
    names : sequence of str
    """
    return "; ".join(names[:3]) + (f"; ... ({len(names)} in all)" if len(names) > 3 else "")
