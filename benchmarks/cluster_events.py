"""A sweep on a cluster as a simulation of discrete events: chunks, threads of machines, one client, one store.

The rules are those of `kinetree.sweeps.cluster`. The client submits chunks while fewer than two for each thread are in
flight, and takes results; each costs it time, one after the other. A free thread takes the chunk that waits longest,
computes it at the speed of its machine, and writes it into a store of limited bandwidth. A machine that fails loses
what its threads compute; this waits again as soon as the scheduler notices, and the machine comes back after its
repair. Duplicates of chunks that others still compute, at the end of a sweep, are an option: here as soon as a thread
is free, in `kt.sweep` when no result has come for three times the median of a chunk.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cluster:
    """Machines.

    Parameters
    ----------
    machines, threads : int
        Threads of each machine.
    mtbf : float
        Mean time between failures of a machine [s].
    repair, notice : float
        Time from a failure until the machine is back, and until the scheduler hears of it [s].
    spread : float
        Standard deviation of the logarithm of the speeds of machines.
    slow, slowness : float
        Share of machines that are slower, and by how much.
    start : float
        Mean of the exponential distribution of the times at which machines join [s].
    warm : float
        More that the first chunk of a thread takes after its machine has joined: modules, code from the disk [s].
    """

    machines: int
    threads: int = 1
    mtbf: float = math.inf
    repair: float = 120.0
    notice: float = 0.0
    spread: float = 0.0
    slow: float = 0.0
    slowness: float = 3.0
    start: float = 0.0
    warm: float = 0.0


@dataclass(frozen=True)
class Load:
    """A sweep.

    Parameters
    ----------
    chunks : int
    seconds : float or sequence of float
        Computing a chunk on a thread of a machine of speed 1 [s]; one number for all, or each.
    overhead : float
        More that a chunk takes a thread: messages, files [s].
    service : float
        Time that a chunk takes client and scheduler [s].
    bytes, bandwidth : float
        Results of a chunk [byte], and what the store takes [byte/s].
    ahead : float
        Chunks in flight for each thread.
    duplicates : bool
    """

    chunks: int
    seconds: float | Sequence[float]
    overhead: float = 0.0
    service: float = 0.0
    bytes: float = 0.0
    bandwidth: float = math.inf
    ahead: float = 2.0
    duplicates: bool = False


@dataclass
class Outcome:
    """What happened.

    Attributes
    ----------
    makespan : float
        Until the client has the last result [s].
    written : list of float
        Times at which chunks were written [s].
    failures, lost : int
        Of machines; computations of chunks that they ended.
    wasted : float
        Time of threads for these and for the slower of duplicates [s].
    useful : float
        Time of threads for computations that counted [s].
    duplicated : int
    client, store : float
        Shares of the makespan in which client and store were busy.
    """

    makespan: float = 0.0
    written: list[float] = None
    failures: int = 0
    lost: int = 0
    wasted: float = 0.0
    useful: float = 0.0
    duplicated: int = 0
    client: float = 0.0
    store: float = 0.0


class Simulation:
    """One sweep; ``run()`` once.

    Parameters
    ----------
    load : Load
    cluster : Cluster
    seed : int
    kills : sequence of (float, int)
        Times [s] and machines that fail in addition to the random ones.
    """

    def __init__(self, load: Load, cluster: Cluster, seed: int = 0, kills: Sequence[tuple[float, int]] = ()) -> None:
        self.load, self.cluster, self.rng = load, cluster, np.random.default_rng(seed)
        n = cluster.machines
        speeds = np.exp(cluster.spread * self.rng.standard_normal(n))
        speeds[self.rng.random(n) < cluster.slow] /= cluster.slowness
        self.pace = (1.0 / speeds).tolist()  # times of machines
        given = load.seconds
        self.cost = [float(given)] * load.chunks if np.isscalar(given) else list(map(float, given))
        self.events: list[tuple] = []
        self.order = itertools.count()
        self.queue: deque[int] = deque()  # submitted, nobody computes them
        self.free: list[int] = []  # threads
        self.fresh: set[int] = set()  # threads that have not computed anything yet
        self.up = [False] * n
        self.running: dict[int, tuple[int, float, int]] = {}  # by thread: chunk, when it began, token of the event
        self.copies: dict[int, set[int]] = {}  # threads that compute a chunk
        self.returned: deque[int] = deque()  # results that wait for the client
        self.done = [False] * load.chunks
        self.next, self.flying, self.left, self.idle = 0, 0, load.chunks, True
        self.store_free = self.client_time = self.store_time = 0.0
        self.outcome = Outcome(written=[])
        joins = self.rng.exponential(cluster.start, n) if cluster.start else np.zeros(n)
        for m, t in enumerate(joins):
            self._at(float(t), self._join, m)
        for t, m in kills:
            self._at(t, self._fail, m, False)

    def run(self) -> Outcome:
        """The sweep until its end."""
        self.now = 0.0
        self._client()
        while self.left and self.events:
            self.now, _, action, arguments = heapq.heappop(self.events)
            action(*arguments)
        found = self.outcome
        found.makespan = self.now
        found.client, found.store = self.client_time / self.now, self.store_time / self.now
        return found

    def _at(self, t: float, action, *arguments) -> None:
        heapq.heappush(self.events, (t, next(self.order), action, arguments))

    # The client: one thing after the other ---------------------------------------------------------------------------

    def _client(self) -> None:
        """Begin the next thing, if there is one."""
        room = max(2.0, self.load.ahead * self.cluster.machines * self.cluster.threads)
        if self.next < self.load.chunks and self.flying < room:
            action, k, self.next, self.flying = self._submitted, self.next, self.next + 1, self.flying + 1
        elif self.returned:
            action, k = self._taken, self.returned.popleft()
        else:
            self.idle = True
            return
        self.idle = False
        self.client_time += 0.5 * self.load.service
        self._at(self.now + 0.5 * self.load.service, action, k)

    def _submitted(self, k: int) -> None:
        self._wait(k)
        self._client()

    def _taken(self, k: int) -> None:
        self.flying -= 1
        self.left -= 1
        self._client()

    def _wait(self, k: int) -> None:
        """A chunk for whoever is free."""
        if not self.done[k]:
            self.queue.append(k)
            self._employ()

    # Machines --------------------------------------------------------------------------------------------------------

    def _join(self, m: int) -> None:
        self.up[m] = True
        own = range(m * self.cluster.threads, (m + 1) * self.cluster.threads)
        self.free += own
        self.fresh |= set(own)
        if math.isfinite(self.cluster.mtbf):
            self._at(self.now + self.rng.exponential(self.cluster.mtbf), self._fail, m, True)
        self._employ()

    def _fail(self, m: int, by_chance: bool) -> None:
        if not self.up[m]:
            return
        self.up[m] = False
        self.outcome.failures += 1
        own = range(m * self.cluster.threads, (m + 1) * self.cluster.threads)
        self.free = [thread for thread in self.free if thread not in own]
        for thread in own:
            if thread in self.running:
                k = self._stopped(thread)
                self.outcome.lost += 1
                if not self.copies.get(k):
                    self._at(self.now + self.cluster.notice, self._wait, k)
        self._at(self.now + self.cluster.repair, self._join, m)

    def _employ(self) -> None:
        """Give chunks to threads that have none."""
        while self.free:
            if self.queue:
                k = self.queue.popleft()
                if self.done[k]:
                    continue
            elif not self.load.duplicates or (k := self._slowest()) is None:
                return
            else:
                self.outcome.duplicated += 1
            thread = self.free.pop()
            token = next(self.order)
            self.running[thread] = k, self.now, token
            self.copies.setdefault(k, set()).add(thread)
            t = self.cost[k] * self.pace[thread // self.cluster.threads] + self.load.overhead
            if thread in self.fresh:
                self.fresh.discard(thread)
                t += self.cluster.warm
            self._at(self.now + t, self._computed, thread, token)

    def _slowest(self) -> int | None:
        """The chunk that was begun first of those that one thread computes, when no others are left."""
        if self.next < self.load.chunks:
            return None
        alone = [(began, k) for k, began, _ in self.running.values() if len(self.copies[k]) == 1]
        return min(alone)[1] if alone else None

    def _computed(self, thread: int, token: int) -> None:
        if self._is(thread, token):
            took = self.load.bytes / self.load.bandwidth
            self.store_free = max(self.store_free, self.now) + took
            self.store_time += took
            self._at(self.store_free, self._written, thread, token)

    def _written(self, thread: int, token: int) -> None:
        if not self._is(thread, token):
            return
        k, began, _ = self.running.pop(thread)
        self.outcome.useful += self.now - began
        self.outcome.written.append(self.now)
        self.done[k] = True
        self.free.append(thread)
        self.copies[k].discard(thread)
        for other in list(self.copies.pop(k)):
            self._stopped(other)
            self.free.append(other)
        self.returned.append(k)
        if self.idle:
            self._client()
        self._employ()

    def _is(self, thread: int, token: int) -> bool:
        return thread in self.running and self.running[thread][2] == token

    def _stopped(self, thread: int) -> int:
        """End what a thread computes."""
        k, began, _ = self.running.pop(thread)
        self.outcome.wasted += self.now - began
        if k in self.copies:
            self.copies[k].discard(thread)
        return k


def expected_lost(chunks: int, seconds: float, mtbf: float) -> float:
    """Expected number of computations that failures end: each chunk is repeated until a machine lives long enough."""
    return chunks * math.expm1(seconds / mtbf)


def expected_time(seconds: float, mtbf: float) -> float:
    """Expected time of a thread for a chunk, with those computations [s]."""
    return mtbf * math.expm1(seconds / mtbf)


def ideal_makespan(chunks: int, seconds: float, threads: int, service: float) -> float:
    """Without failures and overheads, machines alike: rounds of chunks, or the client where it is slower [s]."""
    return max(math.ceil(chunks / threads) * seconds + service, chunks * service)
