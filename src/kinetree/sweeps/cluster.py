"""Chunks on the workers of a Dask cluster: back-pressure, workers that die, a connection that is lost.

A bounded number of chunks is in flight, so memory does not grow with the sweep. A worker writes its chunk into the
store itself where it sees it, else the client does. A chunk whose worker dies goes to another one, which first looks
whether it was written before that; one that takes worker after worker with it is computed by halves, until the sample
that ends them is alone.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import errno
import hashlib
import pickle
import queue
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from kinetree.errors import FileWriteError, KinetreeError, SweepError
from kinetree.log import LOG
from kinetree.once import made_once
from kinetree.simulation.provenance import version
from kinetree.sweeps.chunk import FAILED, FINISHED, ChunkResult, Failure, computed
from kinetree.sweeps.packages import needed
from kinetree.sweeps.probe import cores
from kinetree.sweeps.store import Store

AHEAD = 2  # chunks in flight for each thread of the workers: one that is computed, one that waits
ALIVE = 1.0  # s between looks at the connection
PATIENCE = 10.0  # s, in which a scheduler answers
KILLS = 1  # workers that a chunk may take with it, in the embedded cluster, before it is handed back
KEPT = 4  # sweeps that a worker keeps compiled
UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
_PLANS: dict[str, object] = {}  # of this process, by digest


@contextmanager
def embedded(workers: int | None = None, memory: str | float = "auto") -> Iterator[object]:
    """A client of a cluster on this machine, one process with one thread for each core, closed at the end.

    Raises
    ------
    SweepError
        It does not start.
    MissingDependencyError
    """
    import multiprocessing

    dask, distributed = needed("dask"), needed("distributed")
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SweepError(
            "sweep: called while a worker imports the main script. Put the call below if __name__ == '__main__':, or "
            "give client=False."
        )
    count = workers or cores()
    settings = {
        "distributed.scheduler.allowed-failures": KILLS,
        "distributed.worker.daemon": True,
        "distributed.admin.large-graph-warning-threshold": "1 GB",
    }
    with dask.config.set(settings):
        try:
            cluster = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
                memory_limit=memory, silence_logs=50,
            )  # fmt: skip
        except Exception as error:
            raise SweepError(
                f"sweep: the cluster on this machine does not start: {error}. In a script, put the call below "
                "if __name__ == '__main__':, since workers import it; client=False takes no processes."
            ) from error
        try:
            with distributed.Client(cluster, set_as_default=False) as client:
                yield client
        finally:
            cluster.close()


@contextmanager
def connected(given) -> Iterator[object]:
    """A client: that given, or one of the address of a scheduler.

    Raises
    ------
    SweepError
    """
    distributed = needed("distributed")
    if not isinstance(given, str):
        yield given
        return
    try:
        client = distributed.Client(given, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SweepError(f"sweep: no scheduler of Dask answers at {given!r}: {error}") from error
    with client:
        yield client


class Sharing:
    """Chunks of a sweep on a cluster.

    Parameters
    ----------
    client : distributed.Client
    plan : Plan
    variables : tuple of Variable
    store : Store
    retries : int
        Of a chunk that fails as a whole.
    """

    def __init__(self, client, plan, variables, store: Store, retries: int) -> None:
        self._client, self._store, self._retries = client, store, retries
        self._packed = packed(plan, variables)
        self._digest = hashlib.sha256(self._packed).hexdigest()
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._seen: tuple[float, dict] = (-ALIVE, {})  # when the workers were looked at last
        self._shared = True  # whether workers may see the store

    def run(self, chunks: Iterable[int], report: Callable[[ChunkResult], None]) -> None:
        """Compute and write chunks, reporting each.

        Raises
        ------
        SweepError
            The connection is lost, or a chunk cannot be computed.
        FileWriteError
            The store cannot be written.
        """
        waiting, flying, tries = iter(chunks), {}, {}
        try:
            self._warm_up()
            more = True
            while more or flying:
                while more and len(flying) < self._room():
                    k = next(waiting, None)
                    if k is None:
                        more = False
                        break
                    self._submit(k, flying)
                if flying:
                    k, future = self._next()
                    if flying.get(k) is future:
                        del flying[k]
                        self._take(k, future, flying, tries, report)
        except BaseException:
            self._abandon(flying)
            raise

    def _room(self) -> int:
        """The most chunks in flight."""
        self._check_connection()
        threads = sum(worker["nthreads"] for worker in self._workers().values())
        return max(2, AHEAD * threads)

    def _workers(self) -> dict:
        """The workers by address, as they were a moment ago."""
        when, found = self._seen
        if time.monotonic() - when >= ALIVE:
            try:
                found = self._client.scheduler_info(n_workers=-1)["workers"]
            except OSError:
                self._lost()
            if not found:
                LOG.warning("sweep: the cluster has no workers; chunks wait for the first one")
            self._seen = time.monotonic(), found
        return found

    def _warm_up(self) -> None:
        """Let one worker of each machine compile, so that the others find the code on disk."""
        hosts: dict[str, str] = {}
        for address, worker in self._workers().items():
            hosts.setdefault(worker["host"], address)
        if set(hosts) == {"127.0.0.1"}:
            return  # workers of this machine: the first samples have been computed here
        futures = {
            address: self._client.submit(prepared, self._packed, self._digest, workers=[address], pure=False)
            for address in hosts.values()
        }
        for address, future in futures.items():
            while not future.done() and address in self._workers():
                self._check_connection()
                time.sleep(0.05)
            if future.status == "error" and not isinstance(error := self._fetched(future.exception), _killed()):
                raise SweepError(f"sweep: a worker cannot compute this sweep: {_text(error)}")

    def _submit(self, k: int, flying: dict, tried: int = 0) -> None:
        future = self._client.submit(
            shared_chunk, self._packed, self._digest, str(self._store.path.absolute()) if self._shared else None,
            self._store.about["digest"], k, *self._store.range_of(k), pure=False,
            key=f"sweep-{self._digest[:8]}-{k}-{tried}-{time.monotonic_ns()}",
        )  # fmt: skip
        flying[k] = future
        future.add_done_callback(lambda future, k=k: self._done.put((k, future)))

    def _next(self):
        while True:
            try:
                return self._done.get(timeout=ALIVE)
            except queue.Empty:
                self._check_connection()

    def _check_connection(self) -> None:
        if self._client.status != "running":
            self._lost()

    def _fetched(self, call: Callable):
        """What the scheduler or a worker holds: the result or the error of a chunk."""
        try:
            return call()
        except (OSError, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
            self._lost(error)

    def _lost(self, error: BaseException | None = None):
        finished = len(self._store.finished())
        raise SweepError(
            f"sweep: the connection to the scheduler is lost; {finished} of {self._store.chunks} chunks are "
            f"finished and kept in {self._store.path}. The same call continues.",
            finished=finished,
        ) from error

    def _take(self, k: int, future, flying, tries, report) -> None:
        status = future.status
        if status == "finished":
            result = self._fetched(future.result)
            if result.arrays:  # the worker does not see the store
                self._store.write(k, result)
            elif not self._store.is_finished(k) and k not in self._store.finished():
                self._shared = False  # it wrote into another folder of the same path
                self._submit(k, flying, tries.get(k, 0))
                return
            report(result)
            return
        if status in ("cancelled", "lost"):
            if self._client.status != "running":
                self._lost()
            time.sleep(ALIVE)  # the scheduler may have ended, which the client learns in a moment
            self._check_connection()
            error: BaseException = SweepError("the chunk was cancelled")
        else:
            error = self._fetched(future.exception)
        if isinstance(error, FileWriteError):
            raise error
        tries[k] = tries.get(k, 0) + 1
        if tries[k] <= self._retries:
            self._submit(k, flying, tries[k])
        elif isinstance(error, (MemoryError, _killed())):
            result = self._by_halves(*self._store.range_of(k), error)
            self._store.write(k, result)
            report(result)
        else:
            raise SweepError(
                f"sweep: chunk {k} failed {tries[k]} times: {_text(error)}. Finished chunks are kept in "
                f"{self._store.path}; the same call continues.",
                chunk=k,
            ) from error

    def _by_halves(self, start: int, stop: int, error: BaseException) -> ChunkResult:
        """A chunk in parts that come back here, until those that end workers are single samples."""
        if stop - start == 1:
            return self._failed(start, error)
        half = (start + stop) // 2
        return joined([self._part(start, half), self._part(half, stop)])

    def _part(self, start: int, stop: int) -> ChunkResult:
        future = self._client.submit(computed_part, self._packed, self._digest, start, stop, pure=False)
        while not future.done():
            self._check_connection()
            time.sleep(0.02)
        if future.status == "finished":
            return self._fetched(future.result)
        if future.status != "error":
            self._lost()
        return self._by_halves(start, stop, self._fetched(future.exception))

    def _failed(self, k: int, error: BaseException) -> ChunkResult:
        """The result of a sample that ends the process."""
        from kinetree.sweeps.chunk import emptied

        plan, variables, _ = pickle.loads(self._packed)
        message = f"the process that computed it ended: {_text(error)}"
        return emptied(plan, variables, k, message)

    def _abandon(self, flying: dict) -> None:
        """Cancel what is in flight, as far as the scheduler still listens."""
        try:
            if self._client.status == "running":
                self._client.cancel(list(flying.values()), force=True)
        except Exception:  # the connection, in any state
            return


def packed(plan, variables) -> bytes:
    """The sweep as bytes; functions of the main script by value.

    Raises
    ------
    SweepError
    """
    cloudpickle = needed("cloudpickle")
    try:
        return cloudpickle.dumps((plan, variables, version()))
    except Exception as error:
        raise SweepError(
            f"sweep: the sweep cannot be sent to workers: {error}. Measures and factories hold no open files or locks; "
            "client=False computes in this process."
        ) from error


def _unpacked(data: bytes, digest: str):
    def make():
        for old in list(_PLANS)[: -KEPT + 1]:
            _PLANS.pop(old, None)
        plan, variables, theirs = pickle.loads(data)
        if theirs != version():
            raise SweepError(f"sweep: this worker has kinetree {version()}, the client {theirs}. Install one version.")
        return plan, variables

    return made_once(_PLANS, digest, make)


def prepared(data: bytes, digest: str) -> str:
    """Compile what a sweep needs in this process."""
    plan, variables = _unpacked(data, digest)
    return computed(plan, variables, 0, 1).cpu


def computed_part(data: bytes, digest: str, start: int, stop: int) -> ChunkResult:
    """The results of a range of samples, in a worker."""
    return computed(*_unpacked(data, digest), start, stop)


def shared_chunk(
    data: bytes, digest: str, path: str | None, store_digest: str, k: int, start: int, stop: int
) -> ChunkResult:  # fmt: skip
    """Compute a chunk in a worker, and write it where the worker sees the store; else its arrays are in the result.

    A chunk that is there already, since the worker that wrote it died before it could say so, is not computed again.
    """
    store = None if path is None else Store.opened_for(path, store_digest)
    if store is not None and store.is_finished(k):
        return store.result_of(k)
    result = computed_part(data, digest, start, stop)
    if store is not None:
        try:
            store.write(k, result)
        except FileWriteError as error:
            if error.errno not in UNWRITABLE:
                raise
        else:
            result.arrays = {}
    return result


def joined(parts: list[ChunkResult]) -> ChunkResult:
    """Results of ranges that follow each other as one."""
    first, last = parts[0], parts[-1]
    arrays = {name: np.concatenate([part.arrays[name] for part in parts]) for name in first.arrays}
    failures: list[Failure] = [failure for part in parts for failure in part.failures]
    status = np.concatenate([part.status for part in parts])
    assert set(status.tolist()) <= {FINISHED, FAILED}
    return ChunkResult(first.start, last.stop, arrays, status, failures, first.cpu, sum(part.seconds for part in parts))


def _killed() -> type:
    from distributed.scheduler import KilledWorker

    return KilledWorker


def _text(error: BaseException) -> str:
    return str(error) if isinstance(error, KinetreeError) else f"{type(error).__name__}: {error}"
