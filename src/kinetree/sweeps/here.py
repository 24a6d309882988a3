"""Chunks of a sweep in this process: by its threads, and written while the next ones are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from kinetree.sweeps.chunk import ChunkResult, computed
from kinetree.sweeps.plan import Plan
from kinetree.sweeps.probe import Probe, chunk_size, cores
from kinetree.sweeps.store import Store


class Here:
    """This process, as `kinetree.sweeps.cluster.Sharing` is a cluster.

    Parameters
    ----------
    plan : Plan
        Its threads compute.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def call(self, function: Callable, *arguments):
        """The result of a function of the plan."""
        return function(self._plan, *arguments)

    def chunk(self, probe: Probe, count: int) -> int:
        """Samples of a chunk, on which all threads work."""
        threads = self._plan.threads or cores()
        return chunk_size(replace(probe, seconds=probe.seconds / threads), count, 1)

    def run(
        self, store: Store, variables, chunks: Iterable[int], retries: int, report: Callable[[ChunkResult], None]
    ) -> None:  # fmt: skip
        """Compute and write chunks, reporting the result of each; ``retries`` is for clusters.

        Raises
        ------
        FileWriteError
            The store cannot be written.
        """
        with ThreadPoolExecutor(1) as writer:
            writing: Future | None = None
            for k in chunks:
                if store.is_finished(k):  # by another process
                    report(store.result_of(k))
                    continue
                result = computed(self._plan, variables, *store.range_of(k))
                if writing is not None:
                    report(writing.result())
                writing = writer.submit(store.write, k, result)
            if writing is not None:
                report(writing.result())
