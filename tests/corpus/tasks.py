"""Tasks for worker processes; they stand in a module of their own because the processes import them."""

from __future__ import annotations

import os
import time


def task(what: str) -> str:
    """Answer, fail, crash or hang."""
    if what == "raise":
        raise ValueError("no good")
    if what == "crash":
        os._exit(3)
    if what == "hang":
        time.sleep(60.0)
    return what.upper()
