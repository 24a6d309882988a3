"""Locks between processes that write into one folder, held by the system and released when their holder ends."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".kinetree-lock-"  # of the names of their files
PATIENCE = 60.0  # s; a lock that is held longer belongs to a process that is stopped, and is not waited for


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """A block that one process, and one thread of it, is in at a time; on all machines where the file system has locks.

    Parameters
    ----------
    folder : Path
        For the file of the lock, which is there while it is held.
    name : str

    Notes
    -----
    Without a lock where the system has none or the file cannot be made: writing will say why.
    """
    path, descriptor = folder / f"{PREFIX}{name}", None
    try:
        descriptor = _acquired(path)
    except (OSError, ImportError):
        pass
    try:
        yield
    finally:
        if descriptor is not None:
            if _is_at(descriptor, path):
                with suppress(OSError):
                    path.unlink()
            os.close(descriptor)


def remove_left(folder: Path) -> None:
    """Remove the files of locks whose holders were killed."""
    for path in folder.glob(f"{PREFIX}*"):
        with suppress(OSError, ImportError):
            descriptor = _tried(path)
            if descriptor is not None:
                path.unlink(missing_ok=True)
                os.close(descriptor)


def _acquired(path: Path) -> int:
    """The open file of a lock that this process has then."""
    until, pause = time.monotonic() + PATIENCE, 1e-3
    while (descriptor := _tried(path)) is None:
        if time.monotonic() > until:
            path.unlink(missing_ok=True)
            until = time.monotonic() + PATIENCE
        time.sleep(pause)
        pause = min(2.0 * pause, 0.05)
    return descriptor


def _tried(path: Path) -> int | None:
    """The open file of a lock; None while another process has it, or has just removed it with its file."""
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(descriptor, path):
            return descriptor
    except BlockingIOError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one of this name."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    mine = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (mine.st_dev, mine.st_ino)
