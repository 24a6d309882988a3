"""Object code on disk, so that a robot is compiled once per machine and not once per process.

One file per entry, in the user's cache directory:

* ``KINETREE_CACHE_DIR`` names another directory, ``KINETREE_CACHE=0`` turns the cache off;
* otherwise ``%LOCALAPPDATA%\\kinetree`` on Windows, else ``$XDG_CACHE_HOME/kinetree`` or ``~/.cache/kinetree``.

Keys are free strings; whoever stores an entry puts into the key all that its content depends on. An entry is written to
a temporary file and renamed, so readers never see half of one and writers in several processes do not disturb each
other. Every file carries a checksum over its key and content: a damaged or foreign file counts as absent. No failure of
the disk reaches the caller: without a usable directory nothing is stored and nothing is found.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

MAGIC = b"kinetree-cache-1\n"
SUFFIX = ".bin"


def directory() -> Path | None:
    """Where entries are kept, or None when the cache is turned off. The directory need not exist."""
    if os.environ.get("KINETREE_CACHE", "").strip().lower() in ("0", "off", "no", "false"):
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
    try:
        data = _file(folder, key).read_bytes()
    except OSError:
        return None
    head = len(MAGIC) + hashlib.sha256().digest_size
    content = data[head:]
    return content if data[:head] == MAGIC + _checksum(key, content) else None


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
        return False
    temporary = None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _trusted(folder):
            return False
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + _checksum(key, content) + content)
        os.replace(temporary, _file(folder, key))
    except OSError:  # read-only, full, or on Windows: the entry is open in another process, which has the same content
        if temporary is not None:
            try:
                os.unlink(temporary)
            except OSError:
                pass
        return False
    return True


def clear() -> int:
    """Remove every entry; returns how many there were."""
    folder = directory()
    count = 0
    if folder is None:
        return count
    for pattern in (f"*{SUFFIX}", "*.tmp"):
        for path in folder.glob(pattern):
            try:
                path.unlink()
                count += pattern != "*.tmp"
            except OSError:
                pass
    return count


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
