"""The text of a file before it is XML: the kinds of files that are read, their size and encoding.

Only ordinary files up to ``MAX_BYTES`` are read, so that a device, a folder or a renamed log ends in a message and not
in a full memory.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from kinetree.files import read_ordinary, why_not_ordinary

MAX_BYTES = 64 * 2**20  # the largest robot files of the public collections have 3 MiB

# Builds the error: (line or None, message, code, repair).
Refuse = Callable[[int | None, str, str, str], Exception]

# The marks of UTF-32 begin with those of UTF-16, so they come first; without a mark "<" decides.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)["']""")
# Python also has codecs that are no encodings of files: punycode, unicode_escape, rot13.
_USUAL = re.compile(r"utf-?8|ascii|iso8859|latin|cp\d|koi8|mac|gb|big5|euc|shift_jis", re.ASCII)
_KINDS = (
    (b"\x1f\x8b", "a gzip archive", "unpack it first: gunzip"),
    (b"PK\x03\x04", "a zip archive", "unpack it first"),
    (b"\x89PNG", "an image", ""),
    (b"%PDF", "a PDF", ""),
)
_SAVE = 'save it as UTF-8, or name its encoding in the first line: <?xml version="1.0" encoding="iso-8859-1"?>'


@dataclass(frozen=True, slots=True)
class FileContent(PathLike):
    """A file that was read already: a path wherever its name is needed, its bytes for `Document`."""

    path: Path
    content: bytes

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__


def read_bytes(path: Path, refuse: Refuse) -> bytes:
    """Return the content of an ordinary file of at most ``MAX_BYTES`` bytes.

    Raises
    ------
    FileNotFoundError, PermissionError
        If there is no such file, or it may not be read.
    FileFormatError
        If it is a folder or a device, or too large.
    """
    try:
        if not path.exists():
            dangling = f", because this link leads to {path.readlink()}" if path.is_symlink() else ""
            raise FileNotFoundError(f"{path}: no such file{dangling}")
        if kind := why_not_ordinary(path):
            repair = "name the robot file inside it" if kind == "a folder" else "save it as a file first"
            raise refuse(None, f"this is {kind}, no ordinary file", "not-a-file", repair)
        size = path.stat().st_size
        # No more is read than that, even from a file that grows.
        content = read_ordinary(path, MAX_BYTES) if size <= MAX_BYTES else b""
    except PermissionError:
        raise PermissionError(f"{path}: the file may not be read (permission denied)") from None
    if max(size, len(content)) > MAX_BYTES:
        raise refuse(None, _too_large(max(size, len(content))), "too-large", "is this a robot file at all?")
    return content


def _too_large(size: int) -> str:
    return f"{size / 2**20:.1f} MiB; files above {MAX_BYTES // 2**20} MiB are not read"


def check_length(text: str, refuse: Refuse) -> None:
    """Refuse a text that would be too large as a file."""
    if len(text) > MAX_BYTES:
        raise refuse(None, _too_large(len(text)), "too-large", "is this a robot file at all?")


def decode(content: bytes, refuse: Refuse) -> str:
    """Return the text of a file: by its byte order mark, else by the encoding it declares, else as UTF-8."""
    for magic, kind, repair in _KINDS:
        if content.startswith(magic):
            raise refuse(None, f"this is {kind}, expected XML text", "not-xml", repair)
    mark = next(((mark, encoding) for mark, encoding in _MARKS if content.startswith(mark)), None)
    if mark is not None:
        return _decoded(content, mark[1], "by its first bytes", refuse).removeprefix("\ufeff")
    declared = _DECLARED.match(content[:1024])
    if declared is None:
        return _decoded(content, "utf-8", "no encoding is declared", refuse)
    name = declared[1].decode("ascii", "replace")
    try:
        encoding = codecs.lookup(name).name
    except (LookupError, ValueError):
        encoding = ""
    if encoding.startswith(("utf-16", "utf-32")):
        message = f"the first line declares encoding '{name}', but the bytes of the file are not {name.upper()}"
        raise refuse(1, message, "encoding", 'write encoding="utf-8" there')
    if not _USUAL.match(encoding):
        raise refuse(1, f"the first line declares the unknown encoding '{name[:40]}'", "encoding", _SAVE)
    return _decoded(content, encoding, "as the first line declares", refuse)


def _decoded(content: bytes, encoding: str, why: str, refuse: Refuse) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if not content.lstrip()[:1] == b"<" and b"\0" in content:
            shown = content[:8]
            raise refuse(
                None, f"this is a binary file (it begins with {shown!r}), expected XML text", "not-xml", ""
            ) from None
        line = content.count(b"\n", 0, error.start) + 1
        bad = content[error.start]
        message = f"byte 0x{bad:02x} is not {encoding.upper()} ({why})"
        raise refuse(line, message, "encoding", _SAVE) from None
