"""Values that all threads of a process share, made once: the first thread that needs one makes it, the others wait.

Caches of machine code, of addresses and of loaded modules go through `made_once` and `once`. Looking up an existing
value takes no lock. While something is made:

* other threads that need it wait, and do not make a second one, whose memory would be freed;
* an error, Ctrl-C included, reaches the thread that makes it; those that wait try for themselves;
* `os.fork` in another thread waits until it is made, at most `PATIENCE` seconds. So a child does not inherit locks of
  libraries that no thread is left to release. The locks of this module are released in the child, and unfinished
  values are made anew there.

Forks wait for imports of kinetree and of its dependencies, too: Python's lock of a module that is half imported would
stay closed in the child for ever, and kinetree imports most of itself where it is first used.

Making one thing may need others. These dependencies form no cycle, so waiting threads never block each other.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable

PATIENCE = 10.0
"""How long a fork waits for other threads [s]; then it takes place between two calls of the compiler."""

_MISSING = object()
_locks: dict[Hashable, threading.RLock] = {}
_makers: dict[object, int] = {}  # the thread of each call of `alone` whose function runs
_gate = threading.RLock()  # held for a moment when a value is about to be made, and by a fork while it takes place
_held_by_forks: list[threading.RLock] = []
_IMPORTED = {"kinetree", "numpy", "scipy", "llvmlite", "matplotlib", *sys.stdlib_module_names}
_acquire_imports = (
    importlib._bootstrap._imp.acquire_lock
)  # no import begins while it is held; Python's fork takes it too
_release_imports = importlib._bootstrap._imp.release_lock


def lock(name: Hashable) -> threading.RLock:
    """The lock of this name: the same one for all threads, released in a child after a fork.

    Ctrl-C between ``with lock(name):`` and its block, or at the end of the block, releases it too. That holds for the
    locks of the interpreter only, so they are returned unwrapped.
    """
    return _locks.get(name) or _locks.setdefault(name, threading.RLock())


def alone(name: Hashable, function: Callable, *args):
    """Call a function while no other thread is in a call of the same name; see the module."""
    held, maker = lock(name), object()
    try:
        with held:
            with _gate:
                _makers[maker] = threading.get_ident()
            return function(*args)
    finally:
        _makers.pop(maker, None)
        _locks.pop(name, None)  # waiting threads have it already, and first check whether anything is left to make


def made_once(made: dict, key: Hashable, make: Callable, *args):
    """``made[key]``, which becomes ``make(*args)`` if it is not there; never replaced.

    Parameters
    ----------
    made : dict
        Values made so far.
    key : hashable
    make : callable
        Called by one thread at a time for the same key, and by none after it has returned.
    *args
        Its arguments.
    """
    found = made.get(key, _MISSING)
    if found is not _MISSING:
        return found

    def look_again():
        found = made.get(key, _MISSING)
        # The same thread may come here twice: a signal handler or a finalizer needs the value being made. So the first
        # that is finished counts.
        return made.setdefault(key, make(*args)) if found is _MISSING else found

    return alone((id(made), key), look_again)


def once(function: Callable | None = None, *, most: int | None = None) -> Callable:
    """A function that is computed once for the same positional arguments, by one thread.

    Instead of `functools.cache`, which lets two threads compute two results and gives each its own.

    Parameters
    ----------
    function : callable
    most : int, optional
        How many results are kept, the latest ones; default all.
    """
    if function is None:
        return functools.partial(once, most=most)
    made: dict[tuple, object] = {}

    @functools.wraps(function)
    def found(*args):
        result = made.get(args, _MISSING)
        if result is _MISSING:
            result = made_once(made, args, function, *args)
            while most is not None and len(made) > most:
                made.pop(list(made)[0], None)
        return result

    found.cache_clear = made.clear
    return found


# Forks ----------------------------------------------------------------------------------------------------------------


def hold_during_forks(held: threading.RLock) -> None:
    """Let every fork wait for a lock of another library, so that the child does not inherit it closed."""
    _held_by_forks.append(held)


def _before_fork() -> None:
    mine, end = threading.get_ident(), time.monotonic() + PATIENCE
    while True:
        _gate.acquire()
        _acquire_imports()
        if _importers() | set(_makers.copy().values()) <= {mine} or time.monotonic() > end:
            break
        _release_imports()
        _gate.release()
        time.sleep(0.001)
    for held in _held_by_forks:
        held.acquire()


def _importers() -> set[int]:
    """The threads that import a module of kinetree, of its dependencies or of the standard library."""
    locks = getattr(importlib._bootstrap, "_module_locks", {})  # weak references by name
    ours = (name for name in list(locks) if name.partition(".")[0] in _IMPORTED)
    return {getattr(locks[name](), "owner", None) for name in ours} - {None}


def _after_fork() -> None:
    for release in (*(held.release for held in reversed(_held_by_forks)), _release_imports, _gate.release):
        try:
            release()
        except RuntimeError:  # Ctrl-C ended the wait for it
            pass


def _after_fork_in_child() -> None:
    mine = threading.get_ident()
    _locks.clear()
    for maker, thread in list(_makers.items()):
        if thread != mine:
            del _makers[maker]
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
