"""Sweeps on clusters: the files are those of one process, whoever is killed when."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, FileWriteError, SweepError
from kinetree.sweeps import cluster as clusters
from kinetree.sweeps import probe
from kinetree.sweeps import store as stores
from tests.static.source_tree import ROOT
from tests.sweeps.slow_sweep import (
    CHUNK,
    DEADLY,
    GO_ON,
    SAMPLES,
    deadly,
    deadly_from_the_first,
    late,
    swept,
)  # fmt: skip
from tests.sweeps.test_store import content

distributed = pytest.importorskip("distributed")
KilledWorker = pytest.importorskip("distributed.scheduler").KilledWorker
CHUNKS = SAMPLES // CHUNK
SOON = 300.0  # s, in which anything that these tests wait for has happened, also on a busy machine


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Content of the store of a run in one process."""
    path = tmp_path_factory.mktemp("sweep") / "runs.zarr"
    swept(path)
    return content(path)


@pytest.fixture(scope="module")
def client():
    """Of a cluster of threads of this process: starts at once, and sees what is patched here."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:  # fmt: skip
        with distributed.Client(cluster, set_as_default=False) as client:
            yield client


def eventually(condition, what: str):
    """Wait until a condition holds."""
    until = time.monotonic() + SOON
    while not (found := condition()):
        assert time.monotonic() < until, what
        time.sleep(0.01)
    return found


def some_finished(path, least=3) -> bool:
    """Whether a sweep has begun in earnest."""
    return len(list(path.glob("status/c.*"))) >= least


def started(*words):
    """A Python process that runs a module."""
    return subprocess.Popen(
        [sys.executable, "-m", *map(str, words)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"SECONDS_OF_A_CHUNK": "0.3"},  # so that it is ended long before its last chunk
    )  # fmt: skip


def ended(pid: int) -> bool:
    """Whether a process is gone, or only waits to be counted."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


# Deaths -------------------------------------------------------------------------------------------------------------


def test_the_client_is_killed(undisturbed, tmp_path):
    """Its workers end with it; what was finished is neither lost nor computed again; then the files are the same."""
    path = tmp_path / "runs.zarr"
    process = started("tests.sweeps.slow_sweep", path, "local")
    try:
        eventually(lambda: some_finished(path) or process.poll() is not None, "no chunk is finished")
        children = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()
    finally:
        process.kill()
        process.wait()
    eventually(lambda: all(ended(int(child)) for child in children), "the workers live on")
    before = {name: os.stat(path / name).st_mtime_ns for name in content(path) if name.startswith("status/c.")}
    run = swept(path)
    assert run.computed == CHUNKS - len(before) > 0 and content(path) == undisturbed
    assert before == {name: os.stat(path / name).st_mtime_ns for name in before}


def test_a_worker_is_killed(undisturbed, tmp_path):
    """Its chunks go to the others; the sweep ends as if nothing had been."""
    path = tmp_path / "runs.zarr"
    with clusters.embedded(2) as client:
        victim = next(iter(client.run(os.getpid).values()))

        def kill():
            eventually(lambda: some_finished(path), "no chunk is finished")
            os.kill(victim, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        run = swept(path, client)
        thread.join()
        assert victim not in client.run(os.getpid).values()
    assert run.computed == CHUNKS and not run.failures and content(path) == undisturbed


def test_the_scheduler_is_killed(undisturbed, tmp_path):
    """An error says what is finished, the same call with another client continues; then the files are the same."""
    path, address = tmp_path / "runs.zarr", tmp_path / "scheduler.json"
    common = ["--scheduler-file", address]
    scheduler = started("distributed.cli.dask_scheduler", *common, "--port", "0", "--no-dashboard")
    worker = started("distributed.cli.dask_worker", *common, "--no-dashboard")
    try:
        eventually(address.exists, "the scheduler does not start")
        with distributed.Client(scheduler_file=str(address), timeout=SOON, set_as_default=False) as client:

            def kill():
                eventually(lambda: some_finished(path), "no chunk is finished")
                scheduler.kill()

            thread = threading.Thread(target=kill)
            thread.start()
            with pytest.raises(SweepError, match="connection to the scheduler is lost; .* finished and kept"):
                swept(path, client)
            thread.join()
        assert 3 <= len(list(path.glob("status/c.*"))) < CHUNKS
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    assert 0 < swept(path).computed <= CHUNKS - 3 and content(path) == undisturbed


@pytest.mark.sweep
@pytest.mark.parametrize(("measure", "bad"), [(deadly, DEADLY), (deadly_from_the_first, 0)])
def test_a_sample_that_ends_its_process_is_a_failed_sample(tmp_path, measure, bad):
    """Also one of the first, which are computed before all others; the rest of its chunk keep their results."""
    run = swept(tmp_path / "runs.zarr", "local", ["q_end", measure], workers=1, samples=24, retries=0)
    (failure,) = run.failures
    assert (failure.index, failure.seed) == (bad, 7) and "the process that computed it ended" in failure.message
    status = run.data["status"].values
    assert status[bad] == 2 and (np.delete(status, bad) == 1).all()
    np.testing.assert_array_equal(
        np.delete(run.data[measure.__name__].values, bad), np.delete(run.data["q_end"].values[:, 0], bad)
    )  # fmt: skip


def hanging(length):
    """A factory that ends its process for the first value."""
    if length == 0.5:
        os.kill(os.getpid(), signal.SIGKILL)
    return kt.models.n_pendulum(1, length=length)


@pytest.mark.sweep
def test_a_factory_that_ends_its_process(tmp_path):
    """The first model is made where samples are computed, too."""
    run = kt.sweep(
        hanging, {"length": [0.5, 1.0, 1.5]}, {"duration": 0.1, "dt": 0.01}, ["q_end"], tmp_path / "runs.zarr",
        client="local", workers=1, retries=0, chunk=1,
    )  # fmt: skip
    assert [failure.index for failure in run.failures] == [0] and run.data["status"].values.tolist() == [2, 1, 1]


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(6))
def test_processes_are_killed_again_and_again(undisturbed, tmp_path, seed):
    """The client and single workers at random instants, until the sweep is complete."""
    path, rng, tries = tmp_path / "runs.zarr", np.random.default_rng(seed), 0
    while not some_finished(path, CHUNKS):
        tries += 1
        assert tries <= CHUNKS, "each try adds a chunk"
        process, more = started("tests.sweeps.slow_sweep", path, "local"), len(list(path.glob("status/c.*"))) + 1
        eventually(
            lambda process=process, more=more: some_finished(path, more) or process.poll() is not None, "nothing new"
        )
        time.sleep(rng.uniform(0.0, 0.5))
        children = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()
        if children and rng.random() < 0.5:
            try:
                os.kill(int(rng.choice(children)), signal.SIGKILL)
            except ProcessLookupError:
                pass
            time.sleep(rng.uniform(0.0, 0.5))
        process.kill()
        process.wait()
    swept(path)
    assert content(path) == undisturbed


# One cluster, many ways ---------------------------------------------------------------------------------------------


def quick(path, client=False):
    """The sweep without the measure that takes long."""
    return swept(path, client, ["q_end", "path"])


@pytest.fixture(scope="module")
def quickly(tmp_path_factory):
    """Content of the store of such a run in one process."""
    path = tmp_path_factory.mktemp("sweep") / "runs.zarr"
    quick(path)
    return content(path)


def test_a_bounded_number_of_chunks_is_in_flight(quickly, client, tmp_path, monkeypatch):
    """Two for each thread of the workers, whatever the number of chunks; the files are those of one process."""
    most, original = [], clusters.Sharing._submit

    def submitted(self, k, flying, *rest):
        original(self, k, flying, *rest)
        most.append(len(flying))

    monkeypatch.setattr(clusters.Sharing, "_submit", submitted)
    run = quick(tmp_path / "runs.zarr", client)
    assert max(most) == clusters.AHEAD * 2 and run.computed == CHUNKS and content(run.store) == quickly


def test_workers_that_do_not_see_the_store_send_their_results(quickly, client, tmp_path, monkeypatch):
    """The client writes them: the same files."""
    monkeypatch.setattr(stores.Store, "opened_for", classmethod(lambda cls, path, digest: None))
    assert content(quick(tmp_path / "runs.zarr", client).store) == quickly


def test_workers_that_see_another_folder_of_the_same_path_send_their_results(quickly, client, tmp_path, monkeypatch):
    """Such as a copy of the store on a disk of their own: what they wrote there is noticed to be missing."""
    elsewhere, original = tmp_path / "elsewhere.zarr", stores.Store.opened_for
    quick(elsewhere)
    for file in elsewhere.glob("status/c.*"):
        file.unlink()
    monkeypatch.setattr(
        stores.Store, "opened_for", classmethod(lambda cls, path, digest: original(elsewhere, digest))
    )  # fmt: skip
    assert content(quick(tmp_path / "runs.zarr", client).store) == quickly


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_workers_that_may_not_write_send_their_results(quickly, client, tmp_path, monkeypatch, number):
    """Where they see the store of a read-only disk, or as another user."""
    original = stores.Store.write

    def write(self, k, result):
        if threading.current_thread() is not threading.main_thread():
            raise FileWriteError("no", errno=number)
        return original(self, k, result)

    monkeypatch.setattr(stores.Store, "write", write)
    assert content(quick(tmp_path / "runs.zarr", client).store) == quickly


def test_a_chunk_is_not_computed_again_if_its_worker_died_after_writing_it(quickly, client, tmp_path, monkeypatch):
    """The scheduler knows nothing of it and asks for it once more."""
    original, computed = stores.Store.write, []

    def write(self, k, result):
        written = original(self, k, result)
        computed.append(k)
        if computed.count(3) == 1 and k == 3:
            raise RuntimeError("died before it could say so")
        return written

    monkeypatch.setattr(stores.Store, "write", write)
    assert content(quick(tmp_path / "runs.zarr", client).store) == quickly
    assert sorted(computed) == list(range(CHUNKS))


def test_a_full_disk_of_a_worker(quickly, client, tmp_path, monkeypatch):
    """Its error is that of the call, with its number; with room the same call continues."""
    path, original = tmp_path / "runs.zarr", stores.write_bytes

    def full(file, data, *more):
        if file.name.startswith("c.9"):
            raise FileWriteError(f"{file}: not written: No space left on device.", errno=errno.ENOSPC)
        original(file, data, *more)

    monkeypatch.setattr(stores, "write_bytes", full)
    with pytest.raises(FileWriteError, match="No space left on device") as error:
        quick(path, client)
    assert error.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert quick(path, client).computed < CHUNKS and content(path) == quickly


def test_a_chunk_that_fails_as_a_whole_is_an_error_in_the_end(quickly, client, tmp_path, monkeypatch):
    """After its retries; finished chunks are kept."""
    path, original, tried = tmp_path / "runs.zarr", clusters.computed, []

    def computed(plan, variables, start, stop):
        if start == 5 * CHUNK:
            tried.append(start)
            raise OSError("a device is gone")
        return original(plan, variables, start, stop)

    monkeypatch.setattr(clusters, "computed", computed)
    with pytest.raises(SweepError, match="chunk 5 failed 3 times: OSError: a device is gone. Finished chunks are kept"):
        quick(path, client)
    assert len(tried) == 3
    monkeypatch.undo()
    assert quick(path, client).computed < CHUNKS and content(path) == quickly


@pytest.mark.parametrize("bad", [0, 9])
def test_first_samples_that_end_their_process(client, tmp_path, monkeypatch, bad):
    """Shapes are those of the first sample that is computed; the speed is its own where others end the process."""
    original, asked = clusters.Sharing.call, []

    def call(self, function, *arguments):
        asked.append((function.__name__, arguments))
        k = arguments[0] if function is probe.results_of else arguments[1]
        if k == bad or (k is None and bad < probe.LANES):
            raise KilledWorker(f"sample {bad}", None, 1)
        return original(self, function, *arguments)

    monkeypatch.setattr(clusters.Sharing, "call", call)
    run = swept(tmp_path / "runs.zarr", client, ["q_end"], samples=12)
    assert run.data["q_end"].shape == (12, 2) and not run.failures
    names = [(name, arguments[-1]) for name, arguments in asked]
    if bad == 0:
        assert names == [("results_of", 0), ("results_of", 1), ("seconds_of", 1)]
    else:
        assert names == [("results_of", 0), ("seconds_of", None), ("seconds_of", 0)]


def test_late_chunks_are_computed_twice(client, tmp_path):
    """One whose computation does not return holds nobody up; what it would have written it leaves alone."""
    path = tmp_path / "runs.zarr"
    try:
        run = swept(path, client, ["q_end", late])
        assert run.computed == CHUNKS and not run.failures and run.damaged() == []
        before = content(path)
    finally:
        GO_ON.set()
    eventually(lambda: not any(client.processing().values()), "the late one does not end")
    assert content(path) == before
    swept(tmp_path / "again.zarr", measure=["q_end", late])
    assert content(tmp_path / "again.zarr") == before


@pytest.mark.sweep
def test_a_worker_that_is_stopped_holds_nobody_up(undisturbed, tmp_path):
    """Its chunks are computed by the other one at the end."""
    path = tmp_path / "runs.zarr"
    with clusters.embedded(2) as client:
        victim = next(iter(client.run(os.getpid).values()))

        def stop():
            eventually(lambda: some_finished(path), "no chunk is finished")
            os.kill(victim, signal.SIGSTOP)

        thread = threading.Thread(target=stop)
        thread.start()
        try:
            run = swept(path, client)
            thread.join()
        finally:
            os.kill(victim, signal.SIGCONT)
    assert run.computed == CHUNKS and not run.failures and content(path) == undisturbed


def test_clients_that_cannot_be(client, tmp_path, monkeypatch):
    """Nobody answers, or the address is none; what is sent must be data."""
    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    with pytest.raises(SweepError, match=r"no scheduler of Dask answers at 'tcp://127.0.0.1:9'"):
        swept(tmp_path / "a.zarr", "tcp://127.0.0.1:9")
    with pytest.raises(SweepError, match="no scheduler of Dask answers at 'nonsense://a'"):
        swept(tmp_path / "b.zarr", "nonsense://a")
    with pytest.raises(ArgumentError, match="client is 'nonsense', expected the address of a scheduler such as"):
        swept(tmp_path / "b.zarr", "nonsense")
    lock = threading.Lock()

    def locked(batch):
        with lock:
            return batch.q[:, -1, 0]

    with pytest.raises(SweepError, match="cannot be sent to workers: .*client=False computes in this process"):
        swept(tmp_path / "c.zarr", client, [locked])


def test_asynchronous_clients_are_refused(tmp_path):
    """Their calls return before anything is done."""

    class Asynchronous:
        asynchronous = submit = scheduler_info = status = True

    with pytest.raises(ArgumentError, match="client is asynchronous"):
        swept(tmp_path / "runs.zarr", Asynchronous())


@pytest.mark.sweep
def test_a_script_without_a_guard_is_told_so(tmp_path):
    """Workers import the main script: without the guard each would begin the sweep again."""
    script = tmp_path / "script.py"
    script.write_text("from tests.sweeps.slow_sweep import swept\nswept('runs.zarr', 'local', workers=1)\n")
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=SOON,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    assert done.returncode and "if __name__ == '__main__'" in done.stderr
