"""The progress bar of a verification."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def shown(title: str, total: int, progress: Callable | bool | None) -> Iterator[Callable[[int, int, str], None]]:
    """What to call with ``(done, total, what)``: a bar on stderr, the caller's own function, or nothing.

    Parameters
    ----------
    title : str
    total : int
    progress : bool or callable, optional
        See `verify`.
    """
    if callable(progress):
        yield progress
        return
    if not (sys.stderr is not None and sys.stderr.isatty() if progress is None else progress):
        yield lambda done, total, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[what]}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, what="")
        yield lambda done, total, what: bar.update(task, completed=done, what=what)
