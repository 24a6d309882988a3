"""``kinetree cache``: the cache of compiled code."""

from __future__ import annotations

from typing import Annotated

from kinetree.cli.options import option
from kinetree.cli.printing import Output, print_rows
from kinetree.cli.registration import command


@command
def cache(clear: Annotated[bool, option("Remove every entry.", "--clear")] = False) -> Output:
    """Show the path and size of the cache of compiled code, or empty it."""
    from kinetree.native import cache as files

    removed = files.clear() if clear else None
    usage = files.usage()
    data = {"folder": usage.directory, "entries": usage.entries, "bytes": usage.size, "limit": usage.limit}

    def show() -> None:
        if usage.directory is None:
            print_rows([("folder", "none: turned off by KINETREE_CACHE, or there is no home directory")])
            return
        size = f"{usage.size / 2**20:.3g} MB of {usage.limit / 2**20:.4g} MB (KINETREE_CACHE_SIZE)"
        rows = [("folder", str(usage.directory)), ("entries", str(usage.entries)), ("size", size)]
        print_rows(rows if removed is None else [*rows, ("removed", f"{removed} entries")])

    return Output({**data, "removed": removed}, show)
