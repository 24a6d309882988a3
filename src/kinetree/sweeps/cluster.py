"""Chunks on the workers of a Dask cluster: back-pressure, workers that die, a connection that is lost.

A bounded number of chunks is in flight, so memory does not grow with the sweep. A worker writes its chunk into the
store itself where it sees it, while it computes the next one; else the client does. A chunk whose worker dies goes to
another one, which first looks whether it was written before that. At the end, chunks that are late are computed twice,
and those whose workers died again and again are computed one by one, by halves, until samples that end them are alone.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import errno
import hashlib
import pickle
import queue
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import numpy as np

from kinetree.errors import FileWriteError, KinetreeError, SweepError
from kinetree.log import LOG
from kinetree.model import Model
from kinetree.once import made_once
from kinetree.simulation.provenance import version
from kinetree.sweeps.chunk import FAILED, FINISHED, ChunkResult, Failure, computed, emptied
from kinetree.sweeps.packages import needed
from kinetree.sweeps.probe import Probe, chunk_size, cores
from kinetree.sweeps.store import Store

AHEAD = 2  # chunks in flight for each thread of the workers: one that is computed, one that waits
ALIVE = 1.0  # s between looks at the connection
PATIENCE = 10.0  # s, in which a scheduler answers
KILLS = 1  # workers that a chunk may take with it, in the embedded cluster, before it is handed back
SETTINGS = {
    "distributed.scheduler.allowed-failures": KILLS,
    "distributed.scheduler.http.routes": [],  # nobody looks at pages
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
    "distributed.worker.daemon": True,
    "distributed.deploy.lost-worker-timeout": "365 days",  # processes that end again and again are started again
    "distributed.admin.large-graph-warning-threshold": "1 GB",
}
"""Of the embedded cluster."""
KEPT = 4  # sweeps that a worker keeps compiled
READY = 64  # workers, at most, that load modules and the sweep while one of them computes the first samples
LATE = 3.0  # times of a chunk after which one that is still computed at the end of a sweep is computed twice
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
    with dask.config.set(SETTINGS):
        try:
            cluster = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
                memory_limit=memory, silence_logs=50, scheduler_kwargs={"dashboard": False},
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
def starting(workers: int | None = None) -> Iterator[Callable[[], object]]:
    """A function that waits for the client of a cluster on this machine, whose processes start meanwhile.

    Raises
    ------
    MissingDependencyError
    """
    needed("distributed")
    with ExitStack() as stack, ThreadPoolExecutor(1) as pool:
        yield pool.submit(stack.enter_context, embedded(workers)).result


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
    """

    def __init__(self, client, plan) -> None:
        self._client = client
        self._packed = packed(plan.but(threads=1))
        self._digest = hashlib.sha256(self._packed).hexdigest()
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._seen: tuple[float, dict] = (-ALIVE, {})  # when the workers were looked at last
        self._shared = True  # whether workers may see the store
        self._compiled = False  # whether a worker has computed samples
        self._store: Store | None = None

    def chunk(self, probe: Probe, count: int) -> int:
        """Samples of a chunk, for one thread of a worker."""
        return chunk_size(probe, count, max(1, self._threads()))

    def _threads(self) -> int:
        return sum(worker["nthreads"] for worker in self._workers().values())

    def call(self, function: Callable, *arguments):
        """The result of a function of the plan, in a worker; those of this machine load what they need meanwhile.

        Raises
        ------
        SweepError
            The connection is lost.
        Exception
            Of the function, or of Dask for one that ends its workers.
        """
        others = [] if self._compiled else list(self._workers())[:READY]
        ready = [self._client.submit(loaded, self._packed, self._digest, workers=[x], pure=False) for x in others]
        future = self._client.submit(called, self._packed, self._digest, function, *arguments, pure=False)
        result = self._result(future)
        self._compiled = True
        del ready
        return result

    def run(self, store: Store, variables, chunks: Iterable[int], retries: int, report: Callable) -> None:
        """Compute and write chunks, reporting the result of each.

        Parameters
        ----------
        store : Store
        variables : tuple of Variable
            Of the measures.
        chunks : iterable of int
        retries : int
            Of a chunk that fails as a whole.
        report : callable

        Raises
        ------
        SweepError
            The connection is lost, or a chunk cannot be computed.
        FileWriteError
            The store cannot be written.
        """
        self._store, self._variables, self._retries = store, variables, retries
        waiting, flying, tries, self._suspects = iter(chunks), {}, {}, []
        late = Late(LATE)
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
                    found = self._next()
                    if found is None:
                        if not more and late.is_it():
                            self._duplicate(flying, tries)
                        continue
                    k, future = found
                    if future in flying.get(k, ()):
                        flying[k].remove(future)
                        if future.status == "finished" or not flying[k]:
                            for other in flying.pop(k):
                                other.cancel()
                            self._take(k, future, flying, tries, lambda result: (late.took(result), report(result)))
            for k in self._suspects:
                report(store.write(k, self._alone(*store.range_of(k))))
        except BaseException:
            self._abandon(flying)
            raise

    def _room(self) -> int:
        """The most chunks in flight."""
        self._check_connection()
        return max(2, AHEAD * self._threads())

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
        if len(hosts) == 1 and (self._compiled or set(hosts) == {"127.0.0.1"}):
            return  # the first samples have been computed there
        futures = {
            address: self._client.submit(
                prepared, self._packed, self._digest, self._variables, workers=[address], pure=False
            )
            for address in hosts.values()
        }  # fmt: skip
        for address, future in futures.items():
            while not future.done() and address in self._workers():
                self._check_connection()
                time.sleep(0.05)
            if future.status == "error" and not isinstance(error := self._fetched(future.exception), _killed()):
                raise SweepError(f"sweep: a worker cannot compute this sweep: {_text(error)}")

    def _submit(self, k: int, flying: dict, tried: int = 0, workers=None) -> None:
        future = self._client.submit(
            shared_chunk, self._packed, self._digest, self._variables,
            str(self._store.path.absolute()) if self._shared else None,
            self._store.about["digest"], k, *self._store.range_of(k), pure=False, workers=workers,
            key=f"sweep-{self._digest[:8]}-{k}-{tried}-{time.monotonic_ns()}",
        )  # fmt: skip
        flying.setdefault(k, []).append(future)
        future.add_done_callback(lambda future, k=k: self._done.put((k, future)))

    def _next(self):
        """A chunk and its future that is done; None if there is none for a moment."""
        try:
            return self._done.get(timeout=ALIVE)
        except queue.Empty:
            self._check_connection()
            return None

    def _duplicate(self, flying: dict, tries: dict) -> None:
        """Give chunks that are late to workers that have nothing to do: the first result counts, all have its bits."""
        try:
            busy = self._client.processing()
        except OSError as error:
            self._lost(error)
        idle = [address for address in self._workers() if not busy.get(address)]
        single = [k for k, futures in flying.items() if len(futures) == 1 and k not in tries]
        for address, k in zip(idle, single, strict=False):
            LOG.info("sweep: chunk %d is late and computed a second time, by %s", k, address)
            self._submit(k, flying, workers=[address])

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
        if self._store is None:
            raise SweepError("sweep: the connection to the scheduler is lost; nothing is computed yet.") from error
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
                result = self._store.write(k, result)
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
        if isinstance(error, (MemoryError, _killed())):
            self._suspects.append(k)  # or it was another chunk that ended the worker
        elif tries[k] <= self._retries:
            self._submit(k, flying, tries[k])
        else:
            raise SweepError(
                f"sweep: chunk {k} failed {tries[k]} times: {_text(error)}. Finished chunks are kept in "
                f"{self._store.path}; the same call continues.",
                chunk=k,
            ) from error

    def _alone(self, start: int, stop: int) -> ChunkResult:
        """Samples with nothing else in flight; in parts, until those that end workers are single samples."""
        future = self._client.submit(
            computed_part, self._packed, self._digest, self._variables, start, stop, pure=False
        )  # fmt: skip
        try:
            return self._result(future)
        except SweepError:
            raise
        except Exception as error:
            if stop - start == 1:
                return self._failed(start, error)
        half = (start + stop) // 2
        return joined([self._alone(start, half), self._alone(half, stop)])

    def _result(self, future):
        """The result of a future, or its error; SweepError if the connection is lost while it is waited for."""
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(ALIVE):
            self._check_connection()
            self._workers()
        if future.status == "finished":
            return self._fetched(future.result)
        if future.status != "error":
            self._lost()
        raise self._fetched(future.exception)

    def _failed(self, k: int, error: BaseException) -> ChunkResult:
        """The result of a sample that ends the process."""
        plan, _ = pickle.loads(self._packed)
        message = f"the process that computed it ended: {_text(error)}"
        return emptied(plan, self._variables, k, message)

    def _abandon(self, flying: dict) -> None:
        """Cancel what is in flight, as far as the scheduler still listens."""
        try:
            if self._client.status == "running":
                self._client.cancel([future for copies in flying.values() for future in copies], force=True)
        except Exception:  # the connection, in any state
            return


class Late:
    """Whether the last chunks of a sweep take longer than chunks do.

    Parameters
    ----------
    times : float
        Of the median.
    """

    def __init__(self, times: float) -> None:
        self._times, self._seconds, self._last = times, [], time.monotonic()

    def took(self, result: ChunkResult) -> None:
        """Note a result."""
        self._last = time.monotonic()
        if result.seconds:
            self._seconds.append(result.seconds)

    def is_it(self) -> bool:
        """Whether the next result should have been here for long."""
        if not self._seconds:
            return False
        return time.monotonic() - self._last > self._times * statistics.median(self._seconds)


def packed(plan) -> bytes:
    """The sweep as bytes; functions of the main script by value.

    Raises
    ------
    SweepError
    """
    cloudpickle = needed("cloudpickle")
    try:
        return cloudpickle.dumps((plan, version()))
    except Exception as error:
        raise SweepError(
            f"sweep: the sweep cannot be sent to workers: {error}. Measures and factories hold no open files or locks; "
            "client=False computes in this process."
        ) from error


# In a worker --------------------------------------------------------------------------------------------------------


def _unpacked(data: bytes, digest: str):
    def make():
        for old in list(_PLANS)[: -KEPT + 1]:
            _PLANS.pop(old, None)
        plan, theirs = pickle.loads(data)
        if theirs != version():
            raise SweepError(f"sweep: this worker has kinetree {version()}, the client {theirs}. Install one version.")
        return plan

    return made_once(_PLANS, digest, make)


def called(data: bytes, digest: str, function: Callable, *arguments):
    """A function of the sweep."""
    return function(_unpacked(data, digest), *arguments)


def loaded(data: bytes, digest: str) -> None:
    """Load modules and the sweep, and nothing of the user's is called but what a pickle calls."""
    plan = _unpacked(data, digest)
    if plan.known is None and isinstance(plan.source, Model):
        plan.parameters  # noqa: B018


def prepared(data: bytes, digest: str, variables) -> str:
    """Compile what a sweep needs in this process."""
    return computed(_unpacked(data, digest), variables, 0, 1).cpu


def computed_part(data: bytes, digest: str, variables, start: int, stop: int) -> ChunkResult:
    """The results of a range of samples."""
    return computed(_unpacked(data, digest), variables, start, stop)


def shared_chunk(
    data: bytes, digest: str, variables, path: str | None, store_digest: str, k: int, start: int, stop: int
) -> ChunkResult:  # fmt: skip
    """Compute a chunk, and write it where this process sees the store; else its arrays are in the result.

    A chunk that is there already, such as from a worker that died before it could say so, is not computed again. While
    it is written the thread's next chunk is computed.
    """
    store = None if path is None else Store.opened_for(path, store_digest)
    if store is not None and store.is_finished(k):
        return store.result_of(k)
    result = computed_part(data, digest, variables, start, stop)
    store = None if store is None else Store.opened_for(path, store_digest)  # may have been removed meanwhile
    if store is not None:
        _leave_thread()
        try:
            result = store.write(k, result)
        except FileWriteError as error:
            if error.errno not in UNWRITABLE:
                raise
        else:
            result.arrays = {}
    return result


def _leave_thread() -> None:
    """Let a worker's thread take the next chunk while this one is written."""
    from distributed import secede

    with suppress(ValueError):  # this is no worker
        secede()


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
