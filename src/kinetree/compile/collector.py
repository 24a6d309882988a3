"""The garbage collector of Python, held off while millions of tuples are made that are all kept or freed at once.

Traces and generated code hold no cycles worth collecting, but the collector goes through all that is alive again and
again: 15 % of the time of a trace.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_depth = 0  # how many threads and nested calls hold the collector off
_was_on = False


@contextmanager
def collector_off() -> Iterator[None]:
    """Hold off the garbage collector of the process; it comes back as it was, after errors too.

    Only for what takes seconds: other threads make garbage meanwhile, which is collected afterwards.
    """
    global _depth, _was_on
    with _lock:
        if _depth == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and _was_on:
                gc.enable()
