"""The containers that runs are saved in, npz and HDF5: their contents are checked before they are decompressed."""

from __future__ import annotations

import json
import math
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinetree.errors import FileFormatError, KinetreeError, MissingDependencyError

SUFFIXES = ".npz and .nc or .h5 (NetCDF 4; complete), .csv (columns), .parquet and .mat (for other programs)"
INSTALL = 'pip install ".[data]" in a checkout'
SLASH = "|"  # NetCDF takes a slash in a name for a group
LONGEST_TEXT = 2**27  # bytes of settings, labels and events
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Header(NamedTuple):
    """Shape and type of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        """[bytes]"""
        return math.prod(self.shape) * self.dtype.itemsize


def foreign(path: Path, why) -> FileFormatError:
    """The error for a file that is no trajectory."""
    why = why if isinstance(why, str) else f"{type(why).__name__}: {why}".rstrip(": ")
    return FileFormatError(
        f"{path}: not a trajectory of kinetree ({why}). Trajectory.load reads the files of Trajectory.save: "
        f"{SUFFIXES}.",
        file=str(path),
    )


@contextmanager
def reading(path: Path, mode: str = "rb", **options):
    """Open a file; any error of its decoders with damaged content becomes one that names the file.

    Parameters
    ----------
    path : Path
    mode : str
    **options
        Of `open`.

    Yields
    ------
    file

    Raises
    ------
    FileFormatError
        Anything but an error of kinetree goes wrong in the block.
    OSError
        The file cannot be opened.
    """
    if path.exists() and not path.is_file():
        raise foreign(path, "it is no regular file")
    with path.open(mode, **options) as file:
        try:
            yield file
        except KinetreeError:
            raise
        except MemoryError as error:
            raise FileFormatError(f"{path}: there is not enough memory to load it.", file=str(path)) from error
        except Exception as error:  # zlib, zipfile, csv, json, HDF5 and NumPy have dozens of their own
            raise foreign(path, error) from error


class Npz:
    """Arrays and texts in an npz file.

    Parameters
    ----------
    path : Path
    file : binary file

    Attributes
    ----------
    headers : dict of str to Header
        Of every array, the texts too.
    """

    def __init__(self, path: Path, file) -> None:
        self._path, self._zip = path, zipfile.ZipFile(file)
        entries = self._zip.infolist()
        if len({entry.filename for entry in entries}) < len(entries):
            raise foreign(path, "two arrays have one name")
        self.headers = {entry.filename.removesuffix(".npy"): self._header(entry) for entry in entries}

    def _header(self, entry: zipfile.ZipInfo) -> Header:
        with self._zip.open(entry) as file:
            version = np.lib.format.read_magic(file)
            if version not in HEADERS:
                raise foreign(self._path, f"array {entry.filename!r} is of version {version} of NumPy's format")
            shape, _, dtype = HEADERS[version](file)
            header = Header(shape, dtype)
            if dtype.hasobject or min(shape, default=0) < 0 or file.tell() + header.size != entry.file_size:
                raise foreign(self._path, f"array {entry.filename!r} has not the length in its header")
        return header

    def text(self, name: str) -> str | None:
        """A text; None if there is no such."""
        if name not in self.headers:
            return None
        if self.headers[name].dtype.kind != "U" or self.headers[name].shape or self.headers[name].size > LONGEST_TEXT:
            raise foreign(self._path, f"{name!r} is no text")
        return str(self.read(name))

    def read(self, name: str) -> np.ndarray:
        """An array."""
        with self._zip.open(f"{name}.npy") as file:
            return np.lib.format.read_array(file, allow_pickle=False)


class Hdf5:
    """Arrays and texts in a NetCDF 4 file.

    Parameters
    ----------
    path : Path
    file : binary file

    Attributes
    ----------
    headers : dict of str to Header
        Of every array of floats.
    """

    ATTRIBUTES = {"meta": "kinetree", "session": "session"}

    def __init__(self, path: Path, file) -> None:
        try:
            import h5py
        except ImportError as error:
            raise MissingDependencyError(
                f"NetCDF files need h5py: pip install h5py, or {INSTALL}", package="h5py"
            ) from error
        self._path, self._file = path, h5py.File(file, "r")
        self.headers = {}
        for name in self._file:
            link = self._file.get(name, getlink=True)
            entry = self._file[name] if isinstance(link, h5py.HardLink) else None
            # Links, external data and virtual ones would read other files.
            if isinstance(entry, h5py.Dataset) and not (entry.external or entry.is_virtual) and entry.dtype.kind == "f":
                self.headers[name.replace(SLASH, "/")] = Header(entry.shape, entry.dtype)

    def text(self, name: str) -> str | None:
        """A text; None if there is no such."""
        name = self.ATTRIBUTES[name]
        if name not in self._file.attrs:
            return None
        if self._file.attrs.get_id(name).get_storage_size() > LONGEST_TEXT:
            raise foreign(self._path, f"attribute {name!r} is no text")
        text = self._file.attrs[name]
        if not isinstance(text, str):
            raise foreign(self._path, f"attribute {name!r} is no text")
        return text

    def read(self, name: str) -> np.ndarray:
        """An array."""
        return self._file[name.replace("/", SLASH)][...]


def read_json(path: Path, text: str, what: str):
    """Plain data from a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise foreign(path, f"{what} cannot be read: {error}") from error
