"""Object code on disk, so that a robot is compiled once per machine and not once per process.

One file per entry, in the user's cache directory:

* ``KINETREE_CACHE_DIR`` names another directory, ``KINETREE_CACHE=0`` turns the cache off;
* otherwise ``%LOCALAPPDATA%\\kinetree`` on Windows, else ``$XDG_CACHE_HOME/kinetree`` or ``~/.cache/kinetree``;
* ``KINETREE_CACHE_SIZE`` bounds its size ("200 MB", "2 GB", bytes), 512 MB by default.

Keys are free strings; whoever stores an entry puts into the key all that its content depends on. An entry is written to
a temporary file and renamed, so readers never see half of one and writers in several processes do not disturb each
other; there are no locks, so none can stay behind. Every file carries a checksum over its key and content: a damaged or
foreign file counts as absent. No failure of the disk stops the caller: without a usable directory nothing is stored and
nothing is found, and the first store says so in a warning.

The bound is kept by *sweeps*: those not used for longest go first, and temporary files whose writers were killed. A
store of n bytes sweeps with probability n / (size / 32). So one sweep is expected for every 32nd of the size stored, by
however many processes, without anything that processes would have to share; in between the size is exceeded by about
that much.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"kinetree-cache-1\n"
SUFFIX = ".bin"
PREFIX, TEMPORARY = "kinetree-", ".tmp"
_OURS = re.compile(rf"[0-9a-f]{{40}}\{SUFFIX}|{PREFIX}.*\{TEMPORARY}")

DEFAULT_SIZE = 512 * 2**20
FILLED = 0.9
"""What a sweep leaves of the size, at most."""
SHARE = 32
"""A sweep is expected for every such part of the size that is stored."""
ABANDONED = 3600.0
"""Age from which a temporary file has no writer any more [s]."""
NOTED = 3600.0
"""A use is noted when the last one is longer ago [s]: most loads write nothing."""

_said = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What the cache holds.

    Attributes
    ----------
    directory : Path or None
        None when the cache is turned off or there is no home directory.
    entries, size : int
        Number of entries, bytes of all files.
    limit : int
        Bytes that sweeps keep the size below.
    """

    directory: Path | None
    entries: int
    size: int
    limit: int


def directory() -> Path | None:
    """Where entries are kept, or None when the cache is turned off. The directory need not exist."""
    if _turned_off():
        return None
    chosen = os.environ.get("KINETREE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        return Path(base, "kinetree")
    try:
        return Path.home() / ".cache" / "kinetree"
    except RuntimeError:  # no home directory
        return None


def size_limit() -> int:
    """Bytes that the cache may hold, from ``KINETREE_CACHE_SIZE``."""
    text = os.environ.get("KINETREE_CACHE_SIZE", "").strip()
    if not text:
        return DEFAULT_SIZE
    found = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if found is None:
        _say(f"KINETREE_CACHE_SIZE is {text!r}, expected a size such as '200 MB' or '2 GB'; 512 MB are allowed.")
        return DEFAULT_SIZE
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))


def load(key: str) -> bytes | None:
    """The content stored under a key, or None.

    Parameters
    ----------
    key : str
        Any string.
    """
    folder = directory()
    if folder is None or not _trusted(folder):
        return None
    path = _file(folder, key)
    try:
        with open(path, "rb") as file:
            data, used = file.read(), os.fstat(file.fileno()).st_mtime
    except OSError:
        return None
    head = len(MAGIC) + hashlib.sha256().digest_size
    content = data[head:]
    if data[:head] != MAGIC + _checksum(key, content):
        return None
    if abs(time.time() - used) > NOTED:
        try:
            os.utime(path)
        except OSError:  # a read-only cache is read all the same
            pass
    return content


def store(key: str, content: bytes) -> bool:
    """Keep content under a key, replacing what was there; false when it could not be stored.

    Parameters
    ----------
    key : str
        Any string.
    content : bytes
        Any bytes.
    """
    folder = directory()
    if folder is None:
        if not _turned_off():
            _say_unusable("there is no home directory")
        return False
    data = MAGIC + _checksum(key, content) + content
    limit = size_limit()
    if len(data) > limit:
        return False
    temporary = None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _trusted(folder):
            _say_unusable(
                f"{folder} belongs to another user or may be written by anyone, so its machine code is not run"
            )
            return False
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=PREFIX, suffix=TEMPORARY)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, _file(folder, key))
    except OSError as error:
        if temporary is not None:
            _remove(temporary)
        # Not found: another process cleared the cache meanwhile. On Windows an entry that another process reads cannot
        # be replaced, and need not be: it has the same content.
        if not isinstance(error, FileNotFoundError) and not (sys.platform == "win32" and _file(folder, key).exists()):
            if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
                _sweep(folder, limit)
            _say_unusable(f"nothing can be stored in {folder}: {error.strerror or error}")
        return False
    if int.from_bytes(os.urandom(6)) * limit < len(data) * SHARE * 2**48:
        _sweep(folder, limit)
    return True


def clear() -> int:
    """Remove every entry; returns how many there were."""
    folder = directory()
    if folder is None:
        return 0
    return sum(_remove(path) and path.endswith(SUFFIX) for path, _, _ in _files(folder))


def usage() -> Usage:
    """Count the entries and their bytes."""
    folder = directory()
    files = [] if folder is None else _files(folder)
    entries = sum(path.endswith(SUFFIX) for path, _, _ in files)
    return Usage(folder, entries, sum(size for _, size, _ in files), size_limit())


def _sweep(folder: Path, limit: int) -> None:
    """Remove abandoned temporary files, and the entries not used for longest until the rest is below the limit."""
    entries, total, now = [], 0, time.time()
    for path, size, used in _files(folder):
        if path.endswith(TEMPORARY) and now - used > ABANDONED:
            _remove(path)
            continue
        total += size
        if path.endswith(SUFFIX):
            entries.append((used, size, path))
    if total <= limit:
        return
    entries.sort(key=lambda entry: entry[0])
    for _, size, path in entries:
        if total <= FILLED * limit:
            break
        _remove(path)  # or another process did, or it cannot be
        total -= size


def _files(folder: Path) -> list[tuple[str, int, float]]:
    """Path, bytes and time of the last noted use of the cache's own files; other files are left alone."""
    files = []
    try:
        with os.scandir(folder) as found:
            for entry in found:
                if not _OURS.fullmatch(entry.name):
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:  # gone meanwhile
                    continue
                files.append((entry.path, status.st_size, status.st_mtime))
    except OSError:
        pass
    return files


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _say(message: str) -> None:
    """One warning in a process."""
    global _said
    if not _said:
        _said = True
        warnings.warn(message, stacklevel=2)


def _say_unusable(reason: str) -> None:
    """Compiling anew in every process is slow, and the reason can be mended."""
    _say(
        f"kinetree cannot keep its compiled code: {reason}. Every process compiles anew. Name a folder in "
        "KINETREE_CACHE_DIR, or set KINETREE_CACHE=0 to do without."
    )


def _turned_off() -> bool:
    return os.environ.get("KINETREE_CACHE", "").strip().lower() in ("0", "off", "no", "false")


def _file(folder: Path, key: str) -> Path:
    return folder / (hashlib.sha256(key.encode()).hexdigest()[:40] + SUFFIX)


def _checksum(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + content).digest()


def _trusted(folder: Path) -> bool:
    """Entries are run as machine code: a directory that another user owns or anyone may write to is not used."""
    if not hasattr(os, "getuid"):
        return True
    try:
        status = folder.stat()
    except OSError:
        return False
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & stat.S_IWOTH
