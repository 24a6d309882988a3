"""Memory of a sweep over time: resident bytes of this process and of its children, sampled by a thread."""

from __future__ import annotations

import threading
import time

PERIOD = 0.1  # s


class Memory:
    """Samples in a ``with`` block.

    Parameters
    ----------
    **processes : int
        Process ids by the names that they have in the result, beside "client" (this process) and its children, of which
        those that hold more than the least count as workers.
    """

    LEAST = 60e6  # bytes: trackers of resources and supervisors of workers hold less

    def __init__(self, **processes: int) -> None:
        self.named, self.samples, self._end = processes, [], threading.Event()

    def __enter__(self) -> Memory:
        import psutil

        self._me = psutil.Process()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._start = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *error) -> None:
        self._end.set()
        self._thread.join()

    def _sample(self) -> None:
        import psutil

        named = {name: psutil.Process(pid) for name, pid in self.named.items()}
        while not self._end.wait(PERIOD):
            try:
                workers = [p for p in self._me.children(recursive=True) if p.pid not in self.named.values()]
                sizes = [p.memory_info().rss for p in workers]
                row = {"client": self._me.memory_info().rss, "workers": [x for x in sizes if x > self.LEAST]}
                row |= {name: p.memory_info().rss for name, p in named.items()}
            except psutil.Error:  # a process that has just ended
                continue
            self.samples.append((time.perf_counter() - self._start, row))

    def summary(self, points: int = 40) -> dict[str, object]:
        """Largest sizes [MB], and some samples over time."""
        chosen = self.samples[:: max(1, len(self.samples) // points)]
        names = ["client", *self.named]
        most = {name: max((row[name] for _, row in self.samples), default=0) / 1e6 for name in names}
        return {
            "largest [MB]": most | {"worker": max((max(row["workers"], default=0) for _, row in self.samples)) / 1e6},
            "time [s]": [t for t, _ in chosen],
            "client [MB]": [row["client"] / 1e6 for _, row in chosen],
            "workers [MB]": [sum(row["workers"]) / 1e6 for _, row in chosen],
        }
