"""A folder that no other user can write to, for files that are run as machine code.

The rules are those of OpenSSH for keys and of sudo for its files. Every folder on the way to it, links resolved,
belongs to this user or to root, and only they may write there; in a folder with the sticky bit, such as /tmp, others
may, since they cannot replace files of others. The folder itself has no such exception. A group that is the owner's
alone, as many systems give to each user, counts as the owner.

The folder is opened once, and its files by that handle: the one examined is the one read. Permissions are looked at on
systems that have users in this sense (POSIX). Of access lists those of Linux count, since their mask stands in the
group's permissions; others, NFSv4's and Windows' for example, are not read.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from kinetree.once import once

_BY_HANDLE = {os.open, os.stat, os.utime, os.rename, os.unlink} <= os.supports_dir_fd and os.listdir in os.supports_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | sum(getattr(os, x, 0) for x in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))


class UntrustedError(Exception):
    """Another user could have written the data to be read. The text names the file or folder and the reason."""


class PrivateFolder:
    """An open folder; a context manager.

    Parameters
    ----------
    path : Path
        Absolute.
    create : bool
        Whether to make missing folders, for this user alone.
    trusted : bool
        Whether it must be private; without that, only list and remove.

    Raises
    ------
    UntrustedError
        Others can write to it or replace it.
    OSError
    """

    def __init__(self, path: Path, *, create: bool = False, trusted: bool = True) -> None:
        self._path = os.path.realpath(path)
        self._handle: int | None = None
        if not _BY_HANDLE:
            if create:
                os.makedirs(self._path, exist_ok=True)
            if not os.path.isdir(self._path):
                raise _no_folder(self._path)
            return
        examined = _examined(self._path, create) if trusted else None
        self._handle = os.open(self._path, _FOLDER)
        if examined is not None and not os.path.samestat(examined, os.fstat(self._handle)):
            self.__exit__()
            raise UntrustedError(f"{self._path} was replaced while it was examined")

    def __enter__(self) -> PrivateFolder:
        return self

    def __exit__(self, *_: object) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def read(self, name: str) -> tuple[bytes, float]:
        """The content of a file, and when it was last used [s since 1970].

        Raises
        ------
        UntrustedError
            Another user may write to it, or it is no ordinary file.
        OSError
        """
        with self._file(name, "rb", _READ) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UntrustedError(f"{self._path}{os.sep}{name} is no ordinary file")
            if fault := _fault(status):
                raise UntrustedError(f"{self._path}{os.sep}{name} {fault}")
            return file.read(), status.st_mtime

    def write(self, name: str, data: bytes, temporary: str) -> None:
        """Write a file, replacing one of the same name, as a whole or not at all.

        Parameters
        ----------
        name : str
        data : bytes
        temporary : str
            The name while it is written; a killed writer leaves a file of this name.
        """
        try:
            with self._file(temporary, "wb", _NEW) as file:
                file.write(data)
            both = self._folder("src_dir_fd", "dst_dir_fd")
            os.replace(self._place(temporary), self._place(name), **both)
        except BaseException:
            self.remove(temporary)
            raise

    def use(self, name: str) -> None:
        """Note that a file is used now; nothing where that cannot be noted."""
        with suppress(OSError):
            os.utime(self._place(name), **self._folder("dir_fd"))

    def remove(self, name: str) -> bool:
        """Remove a file; whether it was there and could be removed."""
        try:
            os.unlink(self._place(name), **self._folder("dir_fd"))
        except OSError:
            return False
        return True

    def names(self) -> list[str]:
        """Names of the files in the folder."""
        return os.listdir(self._path if self._handle is None else self._handle)

    def status(self, name: str) -> os.stat_result | None:
        """Size and times of a file; None if it is gone."""
        try:
            return os.stat(self._place(name), follow_symlinks=False, **self._folder("dir_fd"))
        except OSError:
            return None

    def _file(self, name: str, mode: str, flags: int) -> BinaryIO:
        return open(name, mode, opener=lambda *_: os.open(self._place(name), flags, 0o600, **self._folder("dir_fd")))

    def _place(self, name: str) -> str:
        return name if self._handle is not None else os.path.join(self._path, name)

    def _folder(self, *keywords: str) -> dict[str, int]:
        return {} if self._handle is None else dict.fromkeys(keywords, self._handle)


def _examined(path: str, create: bool) -> os.stat_result:
    """The state of a folder to which only this user and root can write, it and all on the way to it.

    From the top down: no other user can change the folders examined before, so paths keep their meaning.
    """
    current, *rest = Path(path).parts[0], *Path(path).parts[1:]
    status = os.lstat(current)
    for part in rest:
        if fault := _fault(status, sticky=True):
            raise UntrustedError(f"{current} {fault}")
        current = os.path.join(current, part)
        try:
            status = os.lstat(current)
        except FileNotFoundError:
            if not create:
                raise
            with suppress(FileExistsError):  # another process was faster
                os.mkdir(current, 0o700)
            status = os.lstat(current)
        if not stat.S_ISDIR(status.st_mode):
            raise _no_folder(current)
    if fault := _fault(status):
        raise UntrustedError(f"{current} {fault}")
    return status


def _no_folder(path: str) -> NotADirectoryError:
    what = "is a link that leads nowhere" if os.path.islink(path) else "is a file, no folder"
    return NotADirectoryError(f"{path} {what}" if os.path.lexists(path) else f"{path} does not exist")


def _fault(status: os.stat_result, sticky: bool = False) -> str:
    """Other users who may write there, in words; empty if none. ``sticky``: whether the sticky bit makes up for it."""
    if not hasattr(os, "geteuid"):
        return ""
    mode, owner = status.st_mode, status.st_uid
    if owner not in (os.geteuid(), 0):
        return f"belongs to {_user(owner)}"
    if sticky and mode & stat.S_ISVTX:
        return ""
    if mode & stat.S_IWOTH:
        return f"may be written by everyone (mode {stat.S_IMODE(mode):04o})"
    if mode & stat.S_IWGRP and not _is_private(status.st_gid, owner):
        return f"may be written by its group (mode {stat.S_IMODE(mode):04o})"
    return ""


def _user(number: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(number).pw_name!r}"
    except KeyError:
        return f"the user with the number {number}"


@once
def _is_private(group: int, owner: int) -> bool:
    """Whether a group is the owner's alone: the first group of the user, of the same name, with no other member."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(owner), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
