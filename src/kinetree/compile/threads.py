"""Threads that share the work of one large call.

Results do not depend on how many there are: every state is computed by the same machine code, in a block of its own
rows. Helpers wait for work between calls; the calling thread works too and never waits for a helper that has not begun.
"""

from __future__ import annotations

import functools
import operator
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

VARIABLE = "KINETREE_NUM_THREADS"

_helpers = 0
_queue: SimpleQueue = SimpleQueue()
_lock = threading.Lock()


def available() -> int:
    """How many threads a large call may use: the environment's KINETREE_NUM_THREADS, else the processor's cores.

    Raises
    ------
    ValueError
        The variable is not a whole number above 0.
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        return _cores()
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise ValueError(f"{VARIABLE} is {text!r}, expected a whole number above 0, for example {VARIABLE}=4.")
    return count


def checked_threads(threads: int | None) -> int | None:
    """The argument ``threads=`` of a function: None, or a whole number above 0.

    Raises
    ------
    ValueError, TypeError
    """
    if threads is None:
        return None
    try:
        count = operator.index(threads)
    except TypeError:
        raise TypeError(f"threads is {threads!r}, expected a whole number above 0, or None for all cores.") from None
    if count < 1:
        raise ValueError(f"threads is {count}, expected a whole number above 0, or None for all cores.")
    return count


@functools.lru_cache(maxsize=1)
def _cores() -> int:
    """The cores that this process may use: those it is bound to, within the share that its container is given."""
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        cores = os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
        cores = min(cores, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):  # no such limit here
        pass
    return cores


class _Job:
    """Work that any number of threads may join until it is finished."""

    __slots__ = ("active", "closed", "error", "idle", "lock", "status", "work")

    def __init__(self, work: Callable[[], int]) -> None:
        self.work = work
        self.lock = threading.Lock()
        self.idle = threading.Event()
        self.active = self.status = 0
        self.closed = False
        self.error: BaseException | None = None

    def join(self) -> None:
        """Take part, unless all is done."""
        with self.lock:
            if self.closed:
                return
            self.active += 1
        try:
            status = self.work()
        except BaseException as error:
            status, self.error = 0, error
        with self.lock:
            self.status |= status
            self.active -= 1
            if self.closed and not self.active:
                self.idle.set()

    def close(self) -> None:
        """Let nobody join any more, and wait for those who did."""
        with self.lock:
            self.closed = True
            waiting = self.active > 0
        if waiting:
            self.idle.wait()


def together(work: Callable[[], int], threads: int) -> int:
    """Run the same function in several threads at once, the calling one included.

    Parameters
    ----------
    work : callable
        Takes pieces of the work until none is left, and returns a status; it must not need the others to progress.
    threads : int

    Returns
    -------
    int
        The union of the statuses.
    """
    if threads < 2:
        return work()
    _start(threads - 1)
    job = _Job(work)
    for _ in range(threads - 1):
        _queue.put(job)
    try:
        status = work()
    finally:
        job.close()
    if job.error is not None:
        raise job.error
    return status | job.status


def _start(count: int) -> None:
    global _helpers
    if _helpers >= count:
        return
    with _lock:
        while _helpers < count:
            threading.Thread(target=_help, args=(_queue,), name=f"kinetree-{_helpers + 1}", daemon=True).start()
            _helpers += 1


def _help(queue: SimpleQueue) -> None:
    while True:
        queue.get().join()


def _forget() -> None:
    """After a fork the child has no helpers, and a lock may have been held by a thread that is no more."""
    global _helpers, _queue, _lock
    _helpers, _queue, _lock = 0, SimpleQueue(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
