"""Processes that examine files one at a time: a file that hangs or crashes its process is a row, not the end."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait


class Worker:
    """A process, the task it has, and until when."""

    def __init__(self, target: Callable, timeout: float) -> None:
        self.target, self.timeout = target, timeout
        self.task: object = None
        self.deadline = 0.0
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.target), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, task: object) -> None:
        """Begin a task."""
        self.task, self.deadline = task, time.monotonic() + self.timeout
        self.connection.send(task)

    def restart(self) -> None:
        """End the process, whatever it does, and start another."""
        self.stop()
        self._start()

    def stop(self) -> None:
        """End the process."""
        self.connection.close()
        self.process.kill()
        self.process.join()


def run(target: Callable, tasks: list, jobs: int, timeout: float) -> Iterator[tuple[object, str, object]]:
    """Yield (task, "done" | "raised" | "crashed" | "timed out", result or message), in the order they end.

    Parameters
    ----------
    target : function of one task
        Importable by its name; it runs in other processes.
    tasks : list
    jobs : int
        Number of processes.
    timeout : float
        For each task [s].
    """
    waiting = list(reversed(tasks))
    workers = [Worker(target, timeout) for _ in range(min(jobs, len(tasks)))]
    try:
        for worker in workers:
            worker.give(waiting.pop())
        while busy := [worker for worker in workers if worker.task is not None]:
            patience = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
            ready = wait([worker.connection for worker in busy], timeout=min(patience, 1.0))
            for worker in busy:
                if worker.connection in ready:
                    try:
                        outcome = worker.connection.recv()
                    except (EOFError, ConnectionError):
                        worker.process.join()
                        outcome = "crashed", f"the process ended with exit code {worker.process.exitcode}"
                        worker.restart()
                elif time.monotonic() > worker.deadline:
                    outcome = "timed out", f"no result within {timeout:g} s"
                    worker.restart()
                else:
                    continue
                task, worker.task = worker.task, None
                yield task, *outcome
                if waiting:
                    worker.give(waiting.pop())
    finally:
        for worker in workers:
            worker.stop()


def _serve(connection: Connection, target: Callable) -> None:
    # Engines and parsers write their complaints to the terminal; the rows say what matters.
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            outcome = "done", target(task)
        except Exception as error:  # whatever it is, it is this task's result
            outcome = "raised", f"{type(error).__name__}: {error}"
        connection.send(outcome)
