"""Zarr stores of sweeps: one file of a variable for each chunk of samples, and a mark that the chunk is finished.

The files of a chunk are written to the disk one after the other, each as a whole or not at all; the last one is the
chunk of the variable "status". So a chunk is finished when its part of "status" exists, and everything else of it is
complete then, whatever was killed when. A chunk that several processes compute at once is written by one of them, which
has its lock, and left alone by the others. Files hold numbers without compression as Zarr version 3 lays them out, so a
worker needs no Zarr, and equal sweeps are equal files.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import numpy as np

from kinetree.errors import FileFormatError, KinetreeError
from kinetree.files import make_folder, remove_abandoned, sync_folder, write_bytes
from kinetree.sweeps.chunk import ChunkResult, Failure, Variable
from kinetree.sweeps.file_lock import locked, remove_left

FORMAT = 1
NOTES = "notes"  # folder beside the chunks of "status": failures, processors and checksums as JSON
STATUS = Variable("status", (), "int8")
_CHUNK = re.compile(r"c\.\d+")
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
        self.path, self.about, self.is_complete = Path(path), about, False
        self.count, self.chunk = about["samples"], about["chunk"]
        self.variables = tuple(
            Variable(v["name"], tuple(v["shape"]), v["dtype"], v["labels"] and tuple(v["labels"]))
            for v in about["variables"]
        )

    @classmethod
    def made(cls, path, about: dict) -> Store:
        """A new store without any samples, whose parts exist before anything is computed; or that which another process
        has made in the meantime.

        Raises
        ------
        FileWriteError
        """
        path = Path(path)
        make_folder(path / "status" / NOTES)  # first: it shows whose store was not made to its end
        with locked(path, "made"):
            return cls.opened(path) or cls._made(path, about)

    @classmethod
    def _made(cls, path: Path, about: dict) -> Store:
        remove_abandoned(path)
        for folder in path.iterdir():
            if folder.name != "status" and folder.is_dir():
                shutil.rmtree(folder)  # variables without chunks of one that was not made to its end
        store = cls(path, about)
        for variable in (*store.variables, STATUS):
            folder = path / variable.name
            make_folder(folder)
            write_bytes(folder / "zarr.json", _json(store._array(variable)))
        store._write_group({})
        store._sync(path, *(path / v.name for v in store.variables), path / "status")
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
        try:
            if not path.exists():
                return None
            attributes = json.loads((path / "zarr.json").read_bytes())["attributes"]
            about = attributes["kinetree_sweep"]
            if about["format"] != FORMAT:
                raise ValueError(f"its format is {about['format']}, this version reads {FORMAT}")
            found = cls(path, about)
            found.is_complete = bool(attributes.get("finished"))
            return found
        except FileNotFoundError:
            if (path / "zarr.json").is_file():  # another process has made it at this moment
                return cls.opened(path)
            # Without its description, which is written last, there is nothing of a sweep yet.
            if path.is_dir() and not any(path.glob("status/c.*")) and _is_begun(path):
                return None
            raise FileFormatError(f"{path}: this is no store of a sweep. Give another path.", file=str(path)) from None
        except (KeyError, ValueError, TypeError, OSError) as error:
            raise FileFormatError(
                f"{path}: this is no store of a sweep ({type(error).__name__}: {error}). Give another path.",
                file=str(path),
            ) from None

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.count // self.chunk)

    def range_of(self, k: int) -> tuple[int, int]:
        """The first sample of a chunk, and the one after its last."""
        return k * self.chunk, min((k + 1) * self.chunk, self.count)

    def is_finished(self, k: int) -> bool:
        """Whether a chunk is complete."""
        return self._file(STATUS, k).is_file()

    def finished(self) -> list[int]:
        """The chunks that are complete, in their order."""
        with os.scandir(self.path / "status") as entries:
            found = [int(entry.name[2:]) for entry in entries if _CHUNK.fullmatch(entry.name)]
        return sorted(k for k in found if k < self.chunks)

    @classmethod
    def opened_for(cls, path, digest: str) -> Store | None:
        """The store of this sweep, where this process sees it: a worker may be on another machine."""
        try:
            found = cls.opened(path)
        except (KinetreeError, OSError):
            return None
        return found if found is not None and found.about["digest"] == digest else None

    def write(self, k: int, result: ChunkResult) -> ChunkResult:
        """Write a chunk, unless another process has written it.

        Returns
        -------
        ChunkResult
            What is in the store.

        Raises
        ------
        FileWriteError
            For example of a full disk; finished chunks are unchanged.
        """
        with locked(self.path / "status", str(k)):
            if self.is_finished(k):
                return self.result_of(k)
            self._write(k, result)
            return result

    def _write(self, k: int, result: ChunkResult) -> None:
        contents = {v.name: self._content(v, result.arrays[v.name]) for v in self.variables}
        sums = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
        failures = [asdict(failure) for failure in result.failures]
        note = _json({"chunk": k, "processor": result.cpu, "sha256": sums, "failures": failures})
        files = [(self._file(v, k), contents[v.name], False) for v in self.variables]
        _together(write_bytes, [*files, (self._note(k), note, False)])
        _together(sync_folder, [*((self.path / v.name,) for v in self.variables), (self._note(k).parent,)])
        write_bytes(self._file(STATUS, k), self._content(STATUS, result.status), False)
        self._sync(self.path / "status")

    def finish(self) -> None:
        """Note in the attributes of the store that all chunks are complete, and on which processors they were."""
        for folder in (*(self.path / v.name for v in self.variables), self.path / "status", self._note(0).parent):
            remove_abandoned(folder)
        for folder in (self.path, self.path / "status"):
            remove_left(folder)
        self._write_group({"finished": True, "processors": self.processors()})
        self._sync(self.path)
        self.is_complete = True

    def result_of(self, k: int) -> ChunkResult:
        """The result of a chunk that is complete, without its arrays."""
        start, stop = self.range_of(k)
        note = json.loads(self._note(k).read_bytes())
        failures = [Failure(**failure) for failure in note["failures"]]
        return ChunkResult(start, stop, {}, self.status_of(k), failures, note["processor"])

    def status_of(self, k: int) -> np.ndarray:
        """The status of the samples of a chunk that is complete."""
        return self.values_of(STATUS, k)

    def values_of(self, v: Variable, k: int) -> np.ndarray:
        """The values (n, ...) of a variable in a chunk that is complete.

        Raises
        ------
        FileFormatError
        """
        start, stop = self.range_of(k)
        shape = (self.chunk, *v.shape)
        x = np.frombuffer(data := self._file(v, k).read_bytes(), np.dtype(v.dtype).newbyteorder("<"))
        if len(data) != np.dtype(v.dtype).itemsize * math.prod(shape):
            raise FileFormatError(f"{self._file(v, k)}: {len(data)} bytes, expected {x.itemsize * math.prod(shape)}.")
        return x.reshape(shape)[: stop - start]

    def notes(self) -> list[dict]:
        """The notes of finished chunks."""
        return [json.loads(self._note(k).read_bytes()) for k in self.finished()]

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
        data = xarray.open_zarr(self.path, consolidated=False, chunks=None)
        data = data.set_coords([name for name in self.about["parameters"] if name in data])
        labels = {f"{v.name}_entry": list(v.labels) for v in self.variables if v.labels and len(v.shape)}
        return data.assign_coords({dim: names for dim, names in labels.items() if dim in data.dims})

    # Files ----------------------------------------------------------------------------------------------------------

    def _file(self, v: Variable, k: int) -> Path:
        return self.path / v.name / ".".join(["c", str(k), *["0"] * len(v.shape)])

    def _note(self, k: int) -> Path:
        return self.path / "status" / NOTES / f"{k}.json"

    @staticmethod
    def _sync(*folders: Path) -> None:
        for folder in folders:
            sync_folder(folder)

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


def _is_begun(path: Path) -> bool:
    """Whether a folder is empty, or a store that is being made or was not to its end: variables without chunks."""
    for entry in path.iterdir():
        parts = sorted(part.name for part in entry.iterdir()) if entry.is_dir() else ["no folder"]
        allowed = {"zarr.json", NOTES} if entry.name == "status" else {"zarr.json"}
        parts = [part for part in parts if not part.startswith(".kinetree-")]
        if set(parts) - allowed and not entry.name.startswith(".kinetree-"):
            return False
    notes = path / "status" / NOTES
    return (notes.is_dir() or not any(path.glob("*/zarr.json"))) and not any(notes.glob("*"))
