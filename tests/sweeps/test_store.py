"""Stores of sweeps: what is finished stays, what is not is computed again; stores of other sweeps are refused."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xarray
import zarr

import kinetree as kt
from kinetree import files
from kinetree.errors import FileFormatError, FileWriteError, MissingDependencyError, SweepError
from kinetree.simulation.progress import Progress
from kinetree.sweeps import chunk as chunks
from kinetree.sweeps import store as stores
from tests.static.source_tree import ROOT
from tests.sweeps import slow_sweep

POLE = kt.models.cart_pole()
RUN = {"duration": 0.1, "dt": 0.01, "integrator": "semi_implicit"}


def tip(batch):
    return np.sin(batch.q[:, -1, 1])


def swept(path, **more):
    """A sweep of 20 samples in chunks of 6."""
    given = {"over": {"pole.density": kt.sweeps.uniform(0.5, 2.0), "q0": [[0.0, 0.1]]}, "samples": 20, "chunk": 6}
    given |= {"measure": ["q_end", "path", tip], "client": False, "simulate": RUN}
    return kt.sweep(POLE, store=path, **(given | more))


def content(path) -> dict[str, str]:
    """Digests of all files of a store."""
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    return {str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "runs.zarr"
    swept(path)
    return path


def test_a_store_is_zarr(undisturbed):
    """Arrays, chunks, dimensions and fill values as the library zarr reads and xarray opens them; no warnings."""
    data = xarray.open_zarr(undisturbed, consolidated=False)
    assert data["q_end"].dims == ("sample", "q_end_entry") and data["q"].dims == ("sample", "time", "q_entry")
    assert data["q"].shape == (20, 11, 2) and data["status"].dtype == np.int8
    group = zarr.open_group(undisturbed, mode="r")
    assert group["q"].chunks == (6, 11, 2) and np.isnan(group["q_end"].fill_value)
    assert group.attrs["kinetree_sweep"]["samples"] == 20 and group.attrs["finished"]
    np.testing.assert_array_equal(group["q_end"][:], data["q_end"].values)
    np.testing.assert_array_equal(data["q"].values[:, -1], data["q_end"].values)
    assert sorted(name for name, _ in group.members()) == sorted(data.variables)


def test_equal_sweeps_are_equal_files(undisturbed, tmp_path):
    """Every file, byte by byte."""
    swept(tmp_path / "runs.zarr")
    assert content(tmp_path / "runs.zarr") == content(undisturbed)


@pytest.mark.parametrize("written", range(6))
def test_a_chunk_whose_writing_was_cut_off_is_written_again(undisturbed, tmp_path, monkeypatch, written):
    """After any of the files of the second chunk: finished chunks are not touched, the result is the same files."""
    path, count, original = tmp_path / "runs.zarr", [0], stores.write_bytes

    def cut_off(file, data, *more):
        if ".1" in file.name or file.name == "1.json":
            if count[0] == written:
                raise KeyboardInterrupt
            count[0] += 1
        original(file, data, *more)

    monkeypatch.setattr(stores, "write_bytes", cut_off)
    with pytest.raises(KeyboardInterrupt):
        swept(path)
    monkeypatch.undo()
    before = {name: os.stat(path / name).st_mtime_ns for name in content(path) if name.split("c.")[-1][0] == "0"}
    data = xarray.open_zarr(path, consolidated=False)
    assert data["status"].values.tolist() == [1] * 6 + [0] * 14  # what is not finished is seen not to be
    run = swept(path)
    assert run.computed == 3 and content(path) == content(undisturbed)
    assert before == {name: os.stat(path / name).st_mtime_ns for name in before}
    assert swept(path).computed == 0


@pytest.mark.parametrize("written", range(5))
def test_a_store_whose_making_was_cut_off_is_made_anew(undisturbed, tmp_path, monkeypatch, written):
    """After any of its files, also by a sweep of other measures: nothing of the first one is left."""
    path, count, original = tmp_path / "runs.zarr", [0], stores.write_bytes

    def cut_off(file, data, *more):
        if count[0] == written:
            raise KeyboardInterrupt
        count[0] += 1
        original(file, data, *more)

    monkeypatch.setattr(stores, "write_bytes", cut_off)
    with pytest.raises(KeyboardInterrupt):
        swept(path, measure=["v_end", "energy_end"])
    monkeypatch.undo()
    swept(path)
    assert content(path) == content(undisturbed)


@pytest.mark.parametrize("left", ["", "status", "status/notes"])
def test_folders_of_a_store_that_was_hardly_begun_are_taken(undisturbed, tmp_path, left):
    """Its first folders are made one after the other."""
    path = tmp_path / "runs.zarr"
    (path / left).mkdir(parents=True)
    swept(path)
    assert content(path) == content(undisturbed)


def test_a_sweep_killed_after_its_last_chunk_is_completed(undisturbed, tmp_path, monkeypatch):
    """The attributes that say so are written by the next call, which computes nothing."""
    path = tmp_path / "runs.zarr"

    def killed(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(stores.Store, "finish", killed)
    with pytest.raises(KeyboardInterrupt):
        swept(path)
    monkeypatch.undo()
    assert content(path) != content(undisturbed)
    assert swept(path).computed == 0 and content(path) == content(undisturbed)


def test_files_of_killed_writers_are_removed(undisturbed, tmp_path):
    """Those of processes that are gone; they would make a store differ from that of an undisturbed sweep."""
    path = tmp_path / "runs.zarr"
    swept(path)
    (path / "zarr.json").write_bytes((path / "zarr.json").read_bytes().replace(b'"finished": true,', b""))
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    (path / "q_end" / f".kinetree-{files._machine()}-{process.pid}-{'0' * 16}.tmp").write_bytes(b"half")
    assert swept(path).computed == 0 and content(path) == content(undisturbed)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a file system")
def test_a_disk_that_is_full_indeed(tmp_path):
    """A file system of 200 kB: the error names the file and the reason, finished chunks are kept, nothing is half."""
    path, long = tmp_path / "disk" / "runs.zarr", {"simulate": RUN | {"duration": 2.0}, "chunk": 6, "samples": 60}
    path.parent.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", path.parent], stderr=subprocess.DEVNULL
    ).returncode:
        pytest.skip("may not mount a file system")
    try:
        with pytest.raises(FileWriteError, match=r"No space left on device\. Make room") as error:
            swept(path, **long)
        assert error.value.errno == errno.ENOSPC
        finished = len(list(path.glob("status/c.*")))
        assert 0 < finished < 10
        for k in range(finished):
            assert (path / "q" / f"c.{k}.0.0").stat().st_size == 6 * 201 * 2 * 8
        data = xarray.open_zarr(path, consolidated=False, chunks=None).load()
        with pytest.raises(FileWriteError, match="No space left on device"):
            swept(path, **long)
        subprocess.run(["mount", "-o", "remount,size=10m", path.parent], check=True)
        run = swept(path, **long)
        assert run.computed == 10 - finished and run.damaged() == []
        k = 6 * finished
        np.testing.assert_array_equal(run.data["q"].values[:k], data["q"].values[:k])
        swept(tmp_path / "expected.zarr", **long)
        assert content(path) == content(tmp_path / "expected.zarr")
    finally:
        subprocess.run(["umount", path.parent], check=False)


def test_a_folder_that_may_not_be_made(tmp_path):
    """The error names it."""
    (tmp_path / "file").write_text("precious")
    with pytest.raises((FileWriteError, FileFormatError), match="file"):
        swept(tmp_path / "file" / "runs.zarr")


def test_a_store_of_a_newer_version_is_refused(undisturbed, tmp_path):
    """Its format is a number."""
    path = tmp_path / "runs.zarr"
    shutil.copytree(undisturbed, path)
    text = (path / "zarr.json").read_text()
    (path / "zarr.json").write_text(text.replace('"format": 1', '"format": 2'))
    with pytest.raises(FileFormatError, match="its format is 2, this version reads 1"):
        swept(path)


def test_the_bar_counts_samples_and_failures(tmp_path, monkeypatch):
    """What is finished, of all; a sweep that continues begins where it was."""
    shown = []
    monkeypatch.setattr(Progress, "tick", lambda self, done, note="": shown.append((self._total, done, note)))
    over = {"v0": [[0.0, 1e160], *[[0.0, 0.0]] * 5]}
    kt.sweep(POLE, over, RUN, ["q_end"], tmp_path / "runs.zarr", chunk=2, client=False)
    assert shown == [(6.0, 2, "1 failed"), (6.0, 4, "1 failed"), (6.0, 6, "1 failed")]
    (tmp_path / "runs.zarr" / "status" / "c.1").unlink()
    kt.sweep(POLE, over, RUN, ["q_end"], tmp_path / "runs.zarr", chunk=2, client=False)
    assert shown[3:] == [(6.0, 6, "")]


def test_a_full_disk_keeps_finished_chunks(undisturbed, tmp_path, monkeypatch):
    """The error names the file and the reason; with room the same call continues."""
    path, original = tmp_path / "runs.zarr", stores.write_bytes

    def full(file, data, *more):
        if file.name.startswith("c.2"):
            raise FileWriteError(f"{file}: not written: No space left on device.", errno=errno.ENOSPC)
        original(file, data, *more)

    monkeypatch.setattr(stores, "write_bytes", full)
    with pytest.raises(FileWriteError, match="No space left on device"):
        swept(path)
    monkeypatch.undo()
    assert swept(path).computed == 2 and content(path) == content(undisturbed)


def test_a_limit_of_the_system_on_files_leaves_no_half_of_one(tmp_path):
    """The system's own refusal, in the middle of a file; without the limit the same call continues."""
    path, long = tmp_path / "runs.zarr", {"simulate": RUN | {"duration": 5.0}, "samples": 7}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))  # states of a chunk take 48,000 bytes
    try:
        with pytest.raises(FileWriteError, match="File too large"):
            swept(path, **long)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(path.glob("q/c.*")) and (path / "q_end" / "c.0.0").stat().st_size == 6 * 2 * 8
    assert swept(path, **long).computed == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed is 1, there 0"),
        ({"simulate": RUN | {"dt": 0.005}}, r"simulate\['dt'\] is 0.005, there 0.01"),
        (
            {"over": {"pole.density": kt.sweeps.uniform(0.5, 3.0), "q0": [[0.0, 0.1]]}},
            r"over\['pole.density'\] is uniform",
        ),
        ({"measure": ["q_end"]}, "measure 'path' is absent"),
        ({"samples": 21}, "samples is 21, there 20"),
        ({"chunk": 7}, "has chunks of 6 samples, and chunk is 7"),
    ],
)
def test_a_store_of_another_sweep_is_refused(undisturbed, change, message):
    """The message names what differs."""
    before = content(undisturbed)
    with pytest.raises(kt.errors.KinetreeError, match=message):
        swept(undisturbed, **change)
    assert content(undisturbed) == before


def test_another_model_and_another_function_are_refused(undisturbed):
    """Numbers of the model and the instructions of measures belong to the sweep."""

    def other(batch):
        return np.cos(batch.q[:, -1, 1])

    other.__name__ = "tip"
    with pytest.raises(SweepError, match="measure 'tip' is function"):
        swept(undisturbed, measure=["q_end", "path", other])
    with pytest.raises(SweepError, match="model is"):
        kt.sweep(
            POLE.replace(gravity=(0, 0, -1.6)), {"pole.density": kt.sweeps.uniform(0.5, 2.0), "q0": [[0.0, 0.1]]}, RUN,
            ["q_end", "path", tip], undisturbed, samples=20, client=False,
        )  # fmt: skip


def test_overwrite_begins_anew(undisturbed, tmp_path):
    """A store of another sweep is removed on request."""
    path = tmp_path / "runs.zarr"
    swept(path, seed=1)
    assert content(path) != content(undisturbed)
    assert swept(path, overwrite=True).computed == 4 and content(path) == content(undisturbed)


@pytest.mark.parametrize("kind", ["file", "folder", "zarr"])
def test_what_is_no_store_is_left_alone(tmp_path, kind):
    """A file, a folder with something else, a Zarr group of other origin: refused also with overwrite."""
    path = tmp_path / "runs.zarr"
    if kind == "file":
        path.write_text("precious")
    elif kind == "folder":
        path.mkdir()
        (path / "thesis.tex").write_text("precious")
    else:
        zarr.create_group(path)
    before = content(tmp_path)
    for overwrite in (False, True):
        with pytest.raises(FileFormatError, match="no store of a sweep"):
            swept(path, overwrite=overwrite)
    assert content(tmp_path) == before


def test_damaged_chunks_are_found(tmp_path):
    """By the checksums that were written with them."""
    run = swept(tmp_path / "runs.zarr")
    assert run.damaged() == []
    file = tmp_path / "runs.zarr" / "q_end" / "c.2.0"
    data = bytearray(file.read_bytes())
    data[5] ^= 1
    file.write_bytes(data)
    assert run.damaged() == [2]


def test_the_processor_is_noted(undisturbed, tmp_path, monkeypatch):
    """Results of several kinds of processors are equal to rounding only, so the store says which there were."""
    path, count = tmp_path / "runs.zarr", [0]

    def another(device="cpu"):
        count[0] += 1
        return "another" if count[0] == 2 else "this"

    monkeypatch.setattr(chunks, "processor", another)
    run = swept(path)
    assert run.processors == ("another", "this")
    attributes = json.loads((path / "zarr.json").read_bytes())["attributes"]
    assert attributes["processors"] == ["another", "this"]
    assert len(json.loads((undisturbed / "zarr.json").read_bytes())["attributes"]["processors"]) == 1


def test_reading_without_xarray_says_what_to_install(undisturbed, monkeypatch):
    """Sweeps in one process need no package of the extra until their results are read."""
    monkeypatch.setitem(sys.modules, "xarray", None)
    run = swept(undisturbed)
    with pytest.raises(MissingDependencyError, match="xarray: pip install dask distributed 'zarr>=3' xarray"):
        run.data  # noqa: B018


# Two at once --------------------------------------------------------------------------------------------------------


def result_of(store, k, value, cpu):
    """A chunk in which all numbers are one."""
    start, stop = store.range_of(k)
    arrays = {v.name: np.full((stop - start, *v.shape), value, v.dtype) for v in store.variables}
    return chunks.ChunkResult(start, stop, arrays, np.full(stop - start, 1, np.int8), cpu=cpu)


def test_a_chunk_of_two_writers_is_one_of_theirs(undisturbed, tmp_path, monkeypatch):
    """The second waits while the first is in the middle of it, and gets what is in the store; no file is of another."""
    about = stores.Store.opened(undisturbed).about
    path, original, middle = tmp_path / "runs.zarr", stores.write_bytes, threading.Barrier(2)
    store, waits = stores.Store.made(path, about), []

    def slow(file, data, *more):
        original(file, data, *more)
        if file.name == "c.1.0.0" and not waits:
            waits.append(file)
            middle.wait()  # now the other one begins
            time.sleep(0.05)

    monkeypatch.setattr(stores, "write_bytes", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(store.write, 1, result_of(store, 1, 1.0, "one"))
        middle.wait()
        second = pool.submit(store.write, 1, result_of(store, 1, 2.0, "other")).result()
    assert first.result().cpu == second.cpu == "one" and not second.arrays
    assert {float(x) for v in store.variables for x in store.values_of(v, 1).ravel()} == {1.0}
    assert store.damaged() == [] and store.processors() == ["one"] and not list(path.rglob(".kinetree-*"))


def test_a_lock_whose_holder_was_killed_is_free(undisturbed, tmp_path):
    """The system releases it; its file is removed with the next chunk or at the end."""
    store = stores.Store.made(tmp_path / "runs.zarr", stores.Store.opened(undisturbed).about)
    for name in ("0", "1"):
        (store.path / "status" / f".kinetree-lock-{name}").touch()
    store.write(0, result_of(store, 0, 1.0, "one"))
    assert [file.name for file in (store.path / "status").glob(".kinetree-lock-*")] == [".kinetree-lock-1"]
    store.finish()
    assert not list(store.path.rglob(".kinetree-*"))


def test_two_who_make_a_store_at_once_get_one(undisturbed, tmp_path):
    """With chunks of one size, and nothing that the first has written is lost."""
    about, path = stores.Store.opened(undisturbed).about, tmp_path / "runs.zarr"
    begin = threading.Barrier(8)

    def make(k):
        begin.wait()
        store = stores.Store.made(path, about | {"chunk": 4 + k % 2})
        store.write(0, result_of(store, 0, float(k), str(k)))
        return store.chunk

    with ThreadPoolExecutor(8) as pool:
        sizes = set(pool.map(make, range(8)))
    store = stores.Store.opened(path)
    assert sizes == {store.chunk} and store.finished() == [0] and store.damaged() == []


@pytest.mark.sweep
def test_two_clients_on_different_processors(tmp_path):
    """Bits differ by rounding, so each chunk is wholly of one of them, and its note says of which."""
    alone = {who: tmp_path / f"{who}.zarr" for who in ("here", "other")}
    path = tmp_path / "runs.zarr"

    def sweep(store, who):
        words = [sys.executable, "-m", "tests.sweeps.slow_sweep", str(store), who]
        return subprocess.Popen(words, cwd=ROOT)

    process = sweep(alone["other"], "other")
    slow_sweep.swept(alone["here"], measure=slow_sweep.QUICK)
    assert process.wait() == 0
    for process in [sweep(path, who) for who in alone]:
        assert process.wait() == 0
    by_processor = {stores.Store.opened(store).processors()[0]: store for store in alone.values()}
    assert len(by_processor) == 2
    store, differ = stores.Store.opened(path), 0
    notes = store.notes()
    assert [note["chunk"] for note in notes] == list(range(store.chunks)) and store.damaged() == []
    for note in notes:
        k, theirs = note["chunk"], stores.Store.opened(by_processor[note["processor"]])
        for v in (*store.variables, stores.STATUS):
            assert store._file(v, k).read_bytes() == theirs._file(v, k).read_bytes()
        one, other = (stores.Store.opened(each) for each in alone.values())
        differ += any(not np.array_equal(one.values_of(v, k), other.values_of(v, k)) for v in store.variables)
        for v in store.variables:
            np.testing.assert_allclose(one.values_of(v, k), other.values_of(v, k), rtol=1e-12, atol=1e-13)
    assert differ > 0  # otherwise nothing is shown
    attributes = json.loads((path / "zarr.json").read_bytes())["attributes"]
    assert attributes["finished"] and attributes["processors"] == store.processors()
    assert not list(path.rglob(".kinetree-*"))
