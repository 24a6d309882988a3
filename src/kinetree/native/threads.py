"""Threads that share the work of one large call.

Results do not depend on how many there are: every state is computed by the same machine code, in a block of its own
rows. Helpers wait for work between calls; the calling thread works too and never waits for a helper that has not begun.
There are at most `most_threads` of them in a process, whatever number is requested.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

from kinetree.once import once

VARIABLE = "KINETREE_NUM_THREADS"
MOST = 64
"""Threads that a call may use on any machine, and twice the cores on one that has more than half as many."""

_helpers = 0
_queue: SimpleQueue = SimpleQueue()
_lock = threading.Lock()


def available() -> int:
    """How many threads a large call may use: the environment's KINETREE_NUM_THREADS, else the processor's cores.

    At most `most_threads`.

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
    return min(count, most_threads())


def checked_threads(threads: int | None) -> int | None:
    """The argument ``threads=`` of a function: None, or a whole number above 0; at most `most_threads`.

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
    return min(count, most_threads())


def most_threads() -> int:
    """How many threads a call uses at most: more than the cores gain nothing, and thousands take the memory."""
    return max(MOST, 2 * _cores())


@once
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
        self.work: Callable[[], int] | None = work
        self.lock = threading.Lock()
        self.idle = threading.Lock()  # no Event: its methods are written in Python, and Ctrl-C may leave it closed
        self.idle.acquire()
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
                self.idle.release()

    def close(self) -> None:
        """Let no more threads join, and wait for those that did. May be called again when Ctrl-C has ended it."""
        with self.lock:
            self.closed = True
            waiting = self.active > 0
        if waiting:
            self.idle.acquire()
        self.work = None  # a helper that comes too late must not keep its arrays alive


def together(work: Callable[[], int], threads: int) -> int:
    """Run the same function in several threads at once, the calling one included.

    Parameters
    ----------
    work : callable
        Takes pieces of the work until none is left, and returns a status; it must not need the others to progress. It
        keeps alive all memory that it uses.
    threads : int
        The most threads; fewer where this many cannot be had.

    Returns
    -------
    int
        The union of the statuses.

    Notes
    -----
    Nobody works any more when it returns, or raises an error: of the work, of another thread's, or `KeyboardInterrupt`.
    """
    if threads < 2:
        return work()
    job, interrupt = _Job(work), None
    try:
        for _ in range(_start(min(threads, most_threads()) - 1)):
            _queue.put(job)
        status = work()
    finally:
        while True:
            try:
                job.close()
                break
            except KeyboardInterrupt as error:
                interrupt = error
    if interrupt or job.error:
        raise interrupt or job.error
    return status | job.status


def _start(count: int) -> int:
    """Start helpers up to this number; returns how many of them there are."""
    global _helpers
    if _helpers < count:
        with _lock:
            while _helpers < count:
                name = f"kinetree-{_helpers + 1}"
                helper = threading.Thread(target=_help, args=(_queue,), name=name, daemon=True)
                try:
                    helper.start()
                except RuntimeError:  # the system has no more
                    break
                _helpers += 1
    return min(count, _helpers)


def _help(queue: SimpleQueue) -> None:
    while True:
        queue.get().join()


def _forget() -> None:
    """Reset after a fork: the child has no helpers, and a thread that ended may have held a lock."""
    global _helpers, _queue, _lock
    _helpers, _queue, _lock = 0, SimpleQueue(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
