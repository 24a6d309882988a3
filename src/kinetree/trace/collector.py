"""The garbage collector of Python, held off while millions of tuples are made that are all kept or freed at once.

Traces and generated code hold no cycles worth collecting, but the collector goes through all that is alive again and
again: 15 % of the time of a trace.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_holders: dict[object, int] = {}  # the thread of each use, nested ones too, that holds the collector off
_was_on = False


@contextmanager
def collector_off() -> Iterator[None]:
    """Hold off the garbage collector of the process; it comes back as it was, after errors too.

    Only for work of seconds: other threads make garbage meanwhile, which is collected afterwards.
    """
    global _was_on
    holder = object()
    try:
        _holders[holder] = threading.get_ident()
        if gc.isenabled():
            _was_on = True
            gc.disable()
        yield
    finally:
        # Without a call before the last one: the interpreter changes threads, and raises Ctrl-C, after calls.
        if holder in _holders:
            del _holders[holder]
        if _was_on and not _holders:
            _was_on = False
            gc.enable()


def _after_fork() -> None:
    """Reset after a fork: other threads that held it off have ended."""
    global _was_on
    mine = threading.get_ident()
    for holder, thread in list(_holders.items()):
        if thread != mine:
            del _holders[holder]
    if _was_on and not _holders:
        _was_on = False
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
