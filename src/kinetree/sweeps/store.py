"""Zarr stores of sweeps: one file of a variable for each chunk of samples, and a mark that the chunk is finished.

The files of a chunk are written to the disk one after the other, each as a whole or not at all; the last one is the
chunk of the variable "status". So a chunk is finished when its part of "status" exists, and everything else of it is
complete then, whatever was killed when. Chunks have one writer, files hold numbers without compression as Zarr version
3 lays them out, so a worker needs no Zarr, and equal sweeps are equal files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import numpy as np

from kinetree.errors import FileFormatError, KinetreeError
from kinetree.files import write_bytes
from kinetree.sweeps.chunk import ChunkResult, Failure, Variable

FORMAT = 1
NOTES = "notes"  # folder beside the chunks of "status": failures, processors and checksums as JSON
_FILLS = {"f": "NaN", "b": False, "i": -1, "u": None}


class Store:
    """A store in a folder.

    Parameters
    ----------
    path : path-like
    about : dict
        The attribute "kinetree_sweep": the description of the sweep and its sizes.
    """

    def __init__(self, path, about: dict) -> None:
        self.path, self.about = Path(path), about
        self.count, self.chunk = about["samples"], about["chunk"]
        self.variables = tuple(
            Variable(v["name"], tuple(v["shape"]), v["dtype"], v["labels"] and tuple(v["labels"]))
            for v in about["variables"]
        )

    @classmethod
    def made(cls, path, about: dict) -> Store:
        """A new store without any samples; its parts exist before anything is computed.

        Raises
        ------
        FileWriteError
        """
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        store = cls(path, about)
        for variable in (*store.variables, Variable("status", (), "int8")):
            folder = path / variable.name
            folder.mkdir(exist_ok=True)
            write_bytes(folder / "zarr.json", _json(store._array(variable)))
        (path / "status" / NOTES).mkdir(exist_ok=True)
        store._write_group({})
        _sync_folders(path, *(path / v.name for v in store.variables), path / "status")
        return store

    @classmethod
    def opened(cls, path) -> Store | None:
        """The store of a sweep at a path; None where there is nothing.

        Raises
        ------
        FileFormatError
            There is something else.
        """
        path = Path(path)
        if not path.exists():
            return None
        try:
            attributes = json.loads((path / "zarr.json").read_bytes())["attributes"]
            return cls(path, attributes["kinetree_sweep"])
        except FileNotFoundError:
            # Without its description, which is written last, there is nothing of a sweep yet.
            if path.is_dir() and not any(path.glob("status/c.*")):
                names = {entry.name for entry in path.iterdir()}
                if not names or (path / "status" / NOTES).is_dir():
                    return None
            raise FileFormatError(f"{path}: this is no store of a sweep. Give another path.", file=str(path)) from None
        except (KeyError, ValueError, TypeError, OSError) as error:
            raise FileFormatError(
                f"{path}: this is no store of a sweep ({type(error).__name__}: {error}). Give another path.",
                file=str(path),
            ) from None

    def ranges(self) -> list[tuple[int, int]]:
        """First and last sample of each chunk."""
        return [(k, min(k + self.chunk, self.count)) for k in range(0, self.count, self.chunk)]

    def is_finished(self, k: int) -> bool:
        """Whether a chunk is complete."""
        return (self.path / "status" / f"c.{k}").is_file()

    @classmethod
    def opened_for(cls, path, digest: str) -> Store | None:
        """The store of this sweep, where this process sees it: a worker may be on another machine."""
        try:
            found = cls.opened(path)
        except (KinetreeError, OSError):
            return None
        return found if found is not None and found.about["digest"] == digest else None

    def write(self, k: int, result: ChunkResult) -> None:
        """Write a chunk.

        Raises
        ------
        FileWriteError
            For example of a full disk; finished chunks are unchanged.
        """
        contents = {v.name: self._content(v, result.arrays[v.name]) for v in self.variables}
        sums = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
        failures = [asdict(failure) for failure in result.failures]
        note = _json({"chunk": k, "processor": result.cpu, "sha256": sums, "failures": failures})
        notes = self.path / "status" / NOTES
        files = [(self._file(v, k), contents[v.name]) for v in self.variables]
        _together(write_bytes, [*files, (notes / f"{k}.json", note)])
        _together(_sync_folders, [*((self.path / v.name,) for v in self.variables), (notes,)])
        status = Variable("status", (), "int8")
        write_bytes(self._file(status, k), self._content(status, result.status))
        _sync_folders(self.path / "status")

    def finish(self) -> None:
        """Note in the attributes of the store that all chunks are complete, and on which processors they were."""
        self._write_group({"finished": True, "processors": self.processors()})
        _sync_folders(self.path)

    def notes(self) -> list[dict]:
        """The notes of finished chunks."""
        return [
            json.loads((self.path / "status" / NOTES / f"{k}.json").read_bytes())
            for k in range(len(self.ranges()))
            if self.is_finished(k)
        ]

    def processors(self) -> list[str]:
        """Names of the processors that computed chunks."""
        return sorted({note["processor"] for note in self.notes()})

    def failures(self) -> list[Failure]:
        """Samples that failed."""
        return [Failure(**failure) for note in self.notes() for failure in note["failures"]]

    def damaged(self) -> list[int]:
        """Finished chunks whose files are not those that were written."""
        found = []
        for note in self.notes():
            for v in self.variables:
                try:
                    data = self._file(v, note["chunk"]).read_bytes()
                except OSError:
                    data = b""
                if hashlib.sha256(data).hexdigest() != note["sha256"][v.name]:
                    found.append(note["chunk"])
                    break
        return found

    def remove(self) -> None:
        """Remove the store; its description goes first, so that a half of it is no store."""
        (self.path / "zarr.json").unlink(missing_ok=True)
        shutil.rmtree(self.path)

    def open_dataset(self):
        """All variables as an xarray.Dataset, read when they are used.

        Raises
        ------
        MissingDependencyError
        """
        from kinetree.sweeps.packages import needed

        xarray = needed("xarray")
        needed("zarr")
        data = xarray.open_zarr(self.path, consolidated=False)
        data = data.set_coords([name for name in self.about["parameters"] if name in data])
        labels = {f"{v.name}_entry": list(v.labels) for v in self.variables if v.labels and len(v.shape)}
        return data.assign_coords({dim: names for dim, names in labels.items() if dim in data.dims})

    # Files ----------------------------------------------------------------------------------------------------------

    def _file(self, v: Variable, k: int) -> Path:
        return self.path / v.name / ".".join(["c", str(k), *["0"] * len(v.shape)])

    def _content(self, v: Variable, x: np.ndarray) -> bytes:
        """A chunk as a file: little-endian, the last one filled up."""
        whole = np.zeros((self.chunk, *v.shape), np.dtype(v.dtype).newbyteorder("<"))
        whole[: len(x)] = x
        return whole.tobytes()

    def _array(self, v: Variable) -> dict:
        dtype = np.dtype(v.dtype)
        fill = 0 if v.name == "status" else _FILLS[dtype.kind]
        fill = np.iinfo(dtype).max.item() if fill is None else fill
        codec = {"name": "bytes", **({"configuration": {"endian": "little"}} if dtype.itemsize > 1 else {})}
        rows = "time" if len(v.shape) == 2 and v.name in ("q", "v") else None
        dimensions = [f"{v.name}_axis{j}" for j in range(len(v.shape))]
        if dimensions:
            dimensions[-1] = f"{v.name}_entry"
        if rows:
            dimensions[0] = rows
        attributes = {"labels": list(v.labels)} if v.labels else {}
        if v.name == "status":
            attributes = {"meaning": {"0": "unfinished", "1": "finished", "2": "failed"}}
        return {
            "zarr_format": 3, "node_type": "array", "shape": [self.count, *v.shape],
            "data_type": dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [self.chunk, *v.shape]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
            "fill_value": fill, "codecs": [codec], "attributes": attributes,
            "dimension_names": ["sample", *dimensions], "storage_transformers": [],
        }  # fmt: skip

    def _write_group(self, more: dict) -> None:
        attributes = {"kinetree_sweep": self.about, **more}
        write_bytes(self.path / "zarr.json", _json({"zarr_format": 3, "node_type": "group", "attributes": attributes}))


def _json(content: dict) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def _together(work: Callable, calls: list[tuple]) -> None:
    """Calls side by side: the system brings files to the disk together, in the time that one of them takes."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for future in [pool.submit(work, *call) for call in calls]:
            future.result()


def _sync_folders(*folders: Path) -> None:
    """Bring the names of new files to the disk, where the system can."""
    if os.name != "posix":
        return
    for folder in folders:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
