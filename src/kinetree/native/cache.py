"""Object code on disk, so that a robot is compiled once per machine and not once per process.

One file per entry, in the user's cache directory:

* ``KINETREE_CACHE_DIR`` names another directory, ``KINETREE_CACHE=0`` turns the cache off;
* otherwise ``%LOCALAPPDATA%\\kinetree`` on Windows, else ``$XDG_CACHE_HOME/kinetree`` or ``~/.cache/kinetree``;
* ``KINETREE_CACHE_SIZE`` bounds its size ("200 MB", "2 GB", bytes), 512 MB by default.

Keys are free strings; whoever stores an entry puts into the key all that its content depends on. An entry is written to
a temporary file and renamed, so readers never see half of one and writers in several processes do not disturb each
other; there are no locks, so none can stay behind. Every file carries a checksum over its key and content: a damaged or
foreign file counts as absent.

Entries are run as machine code, so the folder and the entries must not be writable by other
users (`private_folder`). No failure of the disk stops the caller: without a usable directory nothing is
stored and nothing is found. A warning gives the reason, once for each reason.

The bound is kept by *sweeps*: those not used for longest go first. A store of n bytes sweeps with probability n / (size
/ 32). So one sweep is expected for every 32nd of the size stored, by however many processes, without anything that
processes would have to share; in between the size is exceeded by about that much. Temporary files whose writers were
killed go with the first store of every process.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kinetree.log import LOG
from kinetree.native.private_folder import PrivateFolder, UntrustedError
from kinetree.once import once

MAGIC = b"kinetree-cache-1\n"
SUFFIX = ".bin"
PREFIX, TEMPORARY = "kinetree-", ".tmp"
_OURS = re.compile(rf"[0-9a-f]{{40}}\{SUFFIX}|{PREFIX}.*\{TEMPORARY}")

DEFAULT_SIZE = 512 * 2**20
FILLED = 0.9
"""Part of the size that a sweep leaves, at most."""
SHARE = 32
"""A sweep is expected for every such part of the size that is stored."""
ABANDONED = 300.0
"""Age from which a temporary file counts as left behind [s]. A writer that is at work all the same stores nothing."""
NOTED = 3600.0
"""A use is noted when the last one is longer ago [s]: most loads write nothing."""

_said: set[str] = set()  # reasons of this process's warnings
_tidied: set[Path] = set()  # folders in which this process has looked for the leftovers of killed writers


@dataclass(frozen=True, slots=True)
class Usage:
    """Number and size of the entries of the cache.

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
    chosen = os.environ.get("KINETREE_CACHE_DIR", "")
    if chosen.strip():
        try:
            return _absolute(chosen)
        except OSError:  # a relative one, and the working directory is gone
            return None
    base = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        return Path(base, "kinetree")
    try:
        return Path.home() / ".cache" / "kinetree"
    except RuntimeError:  # no home directory
        return None


@once
def _absolute(chosen: str) -> Path:
    """The absolute path of a folder at its first use: the working directory may change."""
    return Path(os.path.abspath(os.path.expanduser(chosen)))


def size_limit() -> int:
    """Bytes that the cache may hold, from ``KINETREE_CACHE_SIZE``."""
    text = os.environ.get("KINETREE_CACHE_SIZE", "").strip()
    if not text:
        return DEFAULT_SIZE
    found = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if found is None:
        _say(
            "size", f"KINETREE_CACHE_SIZE is {text!r}, expected a size such as '200 MB' or '2 GB'; 512 MB are allowed."
        )
        return DEFAULT_SIZE
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))


def load(key: str) -> bytes | None:
    """The content stored under a key, or None.

    Parameters
    ----------
    key : str
        Any string.
    """
    found = _loaded(key)
    if found is None:
        LOG.debug("cache: no entry %s", _name(key))
    else:
        LOG.debug("cache: %d bytes of %s", len(found), _name(key))
    return found


def _loaded(key: str) -> bytes | None:
    folder, name = directory(), _name(key)
    if folder is None:
        return None
    try:
        with PrivateFolder(folder) as files:
            data, used = files.read(name)
            if abs(time.time() - used) > NOTED:
                files.use(name)
    except UntrustedError as error:
        _say_untrusted(error, folder)
        return None
    except OSError:
        return None
    head = len(MAGIC) + hashlib.sha256().digest_size
    content = data[head:]
    return content if data[:head] == MAGIC + _checksum(key, content) else None


def store(key: str, content: bytes) -> bool:
    """Store content under a key, replacing any earlier content; false when it could not be stored.

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
            _say_unusable("there is no home directory to keep it in, or KINETREE_CACHE_DIR is relative to no folder")
        return False
    data = MAGIC + _checksum(key, content) + content
    limit = size_limit()
    if len(data) > limit:
        if limit:
            _say(
                "limit",
                f"KINETREE_CACHE_SIZE allows {limit} bytes, too few for compiled code of {len(data)} bytes: it is not "
                "kept, and every process compiles it anew.",
            )
        return False
    try:
        files = PrivateFolder(folder, create=True)
    except UntrustedError as error:
        _say_untrusted(error, folder)
        return False
    except OSError as error:
        _say_unusable(f"the folder {folder} cannot be used: {error.strerror or error}")
        return False
    with files:
        try:
            files.write(_name(key), data, f"{PREFIX}{os.getpid()}-{os.urandom(8).hex()}{TEMPORARY}")
        except OSError as error:
            # Not found: another process cleared the cache meanwhile. On Windows an entry that another process reads
            # cannot be replaced, and need not be: it has the same content.
            there = sys.platform == "win32" and files.status(_name(key)) is not None
            if not isinstance(error, FileNotFoundError) and not there:
                if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
                    _sweep(files, limit)
                _say_unusable(f"nothing can be stored in {folder}: {error.strerror or error}")
            return False
        if int.from_bytes(os.urandom(6)) * limit < len(data) * SHARE * 2**48:
            _sweep(files, limit)
        elif folder not in _tidied:
            _remove_abandoned(files)
        _tidied.add(folder)
    return True


def clear() -> int:
    """Remove every entry; returns how many there were."""
    return sum(files.remove(name) and name.endswith(SUFFIX) for files in _opened() for name in _ours(files))


def usage() -> Usage:
    """Count the entries and their bytes."""
    found = [(name, status.st_size) for files in _opened() for name, status in _statuses(files)]
    entries = sum(name.endswith(SUFFIX) for name, _ in found)
    return Usage(directory(), entries, sum(size for _, size in found), size_limit())


def _opened() -> Iterator[PrivateFolder]:
    """The folder, if there is one, whoever may write to it: to look at the cache's own files and to remove them."""
    folder = directory()
    if folder is not None:
        with suppress(OSError), PrivateFolder(folder, trusted=False) as files:
            yield files


def _sweep(files: PrivateFolder, limit: int) -> None:
    """Remove abandoned temporary files, and the entries not used for longest until the rest is below the limit."""
    _remove_abandoned(files)
    found = [(status.st_mtime, status.st_size, name) for name, status in _statuses(files)]
    total = sum(size for _, size, _ in found)
    if total <= limit:
        return
    for _, size, name in sorted(found):
        if total <= FILLED * limit:
            break
        if name.endswith(SUFFIX):
            files.remove(name)  # or another process did, or it cannot be
            total -= size


def _remove_abandoned(files: PrivateFolder) -> None:
    """Remove the temporary files of writers that were killed."""
    for name in _ours(files):
        status = files.status(name) if name.endswith(TEMPORARY) else None
        if status is not None and time.time() - status.st_mtime > ABANDONED:
            files.remove(name)


def _ours(files: PrivateFolder) -> list[str]:
    """The cache's own files; others are left alone."""
    try:
        return [name for name in files.names() if _OURS.fullmatch(name)]
    except OSError:
        return []


def _statuses(files: PrivateFolder) -> list[tuple[str, os.stat_result]]:
    """The cache's own files with their sizes and the times of the last noted use."""
    found = [(name, files.status(name)) for name in _ours(files)]
    return [(name, status) for name, status in found if status is not None]


def _say(about: str, message: str) -> None:
    """One warning in a process for each reason."""
    if about not in _said:
        _said.add(about)
        warnings.warn(message, stacklevel=2)


def _say_unusable(reason: str) -> None:
    """Warn that every process compiles anew, with the reason."""
    _say(
        "folder",
        f"kinetree cannot keep its compiled code: {reason}. Every process compiles anew. Name a folder in "
        "KINETREE_CACHE_DIR, or set KINETREE_CACHE=0 to do without.",
    )


def _say_untrusted(error: UntrustedError, folder: Path) -> None:
    """Warn that other users may have written code there."""
    _say(
        "trust",
        f"kinetree does not run the compiled code in {folder}: {error}, so it could be another user's. Every process "
        "compiles anew. Take the permission away (chmod go-w), name a folder of your own in KINETREE_CACHE_DIR, or set "
        "KINETREE_CACHE=0 to do without.",
    )


def _turned_off() -> bool:
    return os.environ.get("KINETREE_CACHE", "").strip().lower() in ("0", "off", "no", "false")


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:40] + SUFFIX


def _checksum(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + content).digest()
