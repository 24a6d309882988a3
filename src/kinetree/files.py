"""Reading of ordinary files only, and replacement of a file as a whole or not at all.

A path in a robot file may lead to anything: reading a pipe waits for ever, and reading a device may change it. So only
ordinary files are opened, and only up to a size.

A new file is written beside the old one, brought to the disk, and put in its place in one step. So a reader sees the
old file or the new one, and a full disk, an error or a kill in the middle leaves the old one. Where the system has
files without a name (Linux), they have one for an instant only, so a killed writer hardly ever leaves anything else
behind; the next one that writes into the folder removes such files.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from kinetree.errors import FileWriteError

_UNFINISHED = re.compile(r"\.kinetree-([0-9a-f]{8})-(\d+)-[0-9a-f]{16}\.tmp")
_ABANDONED = 86_400.0  # s without a change, after which an unfinished file of another machine counts as left behind
# Names of files that a program has open already: they are in no folder where another file could take their place.
_OPEN_ALREADY = re.compile(r"/dev/(stdin|stdout|stderr|fd/.*)|/proc/.*")
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}

LARGEST_MESH = 256 * 2**20  # bytes: five million triangles

# Files of the kernel look like ordinary ones, and some of them wait for events when they are read.
_OF_THE_KERNEL = re.compile(r"/(proc|sys)/")
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def why_not_ordinary(path: str | PathLike) -> str:
    """The kind of file at a path if it is no ordinary file ("a pipe"); "" for ordinary files and where there is none.

    Parameters
    ----------
    path : str or path

    Examples
    --------
    >>> why_not_ordinary(os.devnull), why_not_ordinary("/no/such/file")
    ('a device', '')
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # ValueError: a zero byte
        return ""
    if not stat.S_ISREG(mode):
        return next((kind for test, kind in _KINDS if test(mode)), "not an ordinary file")
    return "a file of the kernel" if _OF_THE_KERNEL.match(os.path.realpath(path)) else ""


def read_ordinary(path: str | PathLike, most: int) -> bytes:
    """Read an ordinary file, up to one byte beyond a size: a result that is longer than ``most`` is cut.

    Parameters
    ----------
    path : str or path
    most : int
        [bytes].

    Raises
    ------
    OSError
        If there is no such file, it may not be read, or it is no ordinary one: nothing else is waited for.
    """
    if kind := why_not_ordinary(path):
        raise OSError(errno.EINVAL, f"this is {kind}, no ordinary file", str(path))
    # Without waiting, and checked again once it is open: the path may lead elsewhere by now.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "this is no ordinary file", str(path))
        return stream.read(most + 1)


@contextmanager
def replacing(path: str | PathLike, tidy: bool = True) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of ``path`` when the block ends without an error.

    Parameters
    ----------
    path : str or path
        A link stays a link, and the file that it leads to is replaced. Pipes and devices are written to directly.
    tidy : bool
        Look through the folder for files of killed writers; see `remove_abandoned` for folders of very many files.

    Yields
    ------
    binary file
        Open for writing and reading. Libraries that need a name write to ``file.name``.

    Raises
    ------
    FileWriteError
        If the file cannot be made or written, or if the old one is write-protected; the old one is unchanged.

    Notes
    -----
    The new file has the permissions of the old one, and its owner and group where the system allows to set them.
    Further names of the old file (hard links) keep the old content.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.txt"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"complete")
    ...     path.exists()
    False
    >>> path.read_text()
    'complete'
    """
    path, yours = Path(path), False
    try:
        with _opened(path, tidy) as (file, finish):
            yours = True
            yield file
            yours = False
            finish()
    except OSError as error:
        if isinstance(error, FileWriteError) or (yours and error.filename is not None):
            raise  # about another file: those of write() name none
        raise _refusal(path, error) from error


def write_bytes(path: str | PathLike, data: bytes, tidy: bool = True) -> None:
    """Replace a file by one with this content, as a whole or not at all; see `replacing`.

    Parameters
    ----------
    path : str or path
    data : bytes
    tidy : bool
    """
    with replacing(path, tidy) as file:
        file.write(data)


def write_text(path: str | PathLike, text: str) -> None:
    r"""Replace a file by one with this text in UTF-8, as a whole or not at all; see `replacing`.

    Parameters
    ----------
    path : str or path
    text : str
        Its lines end in the file as they end here: "\n" stays "\n" on every system.
    """
    write_bytes(path, text.encode("utf-8"))


def make_folder(path: str | PathLike) -> None:
    """Make a folder, and those that it is in, where they are not there.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    FileWriteError
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except ValueError as error:  # a zero byte
        raise _refusal(Path(path), OSError(errno.EINVAL, str(error))) from error
    except OSError as error:
        raise _refusal(Path(path), error) from error


def sync_folder(path: str | PathLike) -> None:
    """Bring the names of new files in a folder to the disk, where the system can.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    FileWriteError
    """
    if os.name != "posix":
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _refusal(Path(path), error) from error


def _refusal(path: Path, error: OSError) -> FileWriteError:
    """The error of the system, with the name and the state of the file."""
    reason, repair = error.strerror or str(error), ""
    if isinstance(error, FileNotFoundError):
        reason, repair = f"there is no folder {path.absolute().parent}", ". Make it first."
    elif error.errno in _FULL:
        repair = ". Make room, or write elsewhere."
    unchanged = "; the file that was there is unchanged" if os.path.isfile(path) else ""
    message = f"{path}: not written: {reason}{unchanged}{repair}"
    return FileWriteError(message, file=str(path), filename=str(path), errno=error.errno, strerror=error.strerror)


# Writers: a file, and the function that puts it in its place --------------------------------------------------------


@contextmanager
def _opened(path: Path, tidy: bool) -> Iterator[tuple[BinaryIO, Callable[[], None]]]:
    """A pipe, a device, or a file that is open already, at its end; else a new file in the folder of the old one."""
    if _OPEN_ALREADY.fullmatch(os.path.abspath(path)) or (path.exists() and not path.is_file()):
        with path.open("ab") as file:
            yield file, file.close
        return
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, "the links lead in a circle")
    old = target.stat() if target.exists() else None
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file that is there is write-protected")
    if tidy:
        remove_abandoned(target.parent)
    draft = _Nameless.made_in(target.parent) or _Named(target.parent)

    def finish() -> None:
        draft.file.flush()
        os.fsync(draft.file.fileno())
        if old is not None:
            _adopt(draft.file.fileno(), old)
        draft.publish(target)

    try:
        yield draft.file, finish
    finally:
        with suppress(OSError):  # errors of unwritten content are raised already, or do not matter
            draft.file.close()
        draft.discard()


def _adopt(descriptor: int, old: os.stat_result) -> None:
    """Give a new file the permissions, the owner and the group of the old one, as far as the system allows."""
    if hasattr(os, "fchown"):
        for owner in ((-1, old.st_gid), (old.st_uid, -1)):
            with suppress(OSError):
                os.fchown(descriptor, *owner)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


class _Nameless:
    """A file that has no name until it is complete, and vanishes with the process."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        self._folder = folder
        self._name = f"/proc/self/fd/{descriptor}"
        self.file = open(self._name, "r+b", opener=lambda name, flags: descriptor)

    @classmethod
    def made_in(cls, folder: Path) -> _Nameless | None:
        """None where the system or the file system has none; other errors are then raised for a named file."""
        if not hasattr(os, "O_TMPFILE"):
            return None
        try:
            return cls(folder, os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666))
        except OSError:
            return None

    def publish(self, target: Path) -> None:
        folder, name = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY), _fresh_name()
        try:
            # A link replaces no file, so there are two steps. Python follows the link of /proc only below a folder.
            os.link(self._name, name, dst_dir_fd=folder)
            try:
                os.replace(name, target.name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                os.unlink(name, dir_fd=folder)
                raise
        finally:
            os.close(folder)

    def discard(self) -> None:
        pass


class _Named:
    """A file with a name of its own."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _fresh_name()
        # With the permissions of any new file, which tempfile would not give.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        os.close(os.open(self._path, flags, 0o666))
        self.file = self._path.open("r+b")

    def publish(self, target: Path) -> None:
        self.file.close()  # Windows renames no open file
        os.replace(self._path, target)

    def discard(self) -> None:
        self._path.unlink(missing_ok=True)


def _fresh_name() -> str:
    return f".kinetree-{_machine()}-{os.getpid()}-{os.urandom(8).hex()}.tmp"


def _machine() -> str:
    return f"{zlib.crc32(os.uname().nodename.encode()) if hasattr(os, 'uname') else 0:08x}"


def remove_abandoned(folder: Path) -> None:
    """Remove the unfinished files of processes that have ended.

    Parameters
    ----------
    folder : Path
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _UNFINISHED.fullmatch(entry.name)
            with suppress(OSError):
                if found and not _being_written(entry, found[1], int(found[2])):
                    os.unlink(entry.path)


def _being_written(entry: os.DirEntry, machine: str, process: int) -> bool:
    if os.name == "posix" and machine == _machine():
        try:
            os.kill(process, 0)  # the signal 0 only tests for existence
        except ProcessLookupError:
            return False
        except OSError:  # it runs for another user
            pass
    return time.time() - entry.stat(follow_symlinks=False).st_mtime < _ABANDONED
