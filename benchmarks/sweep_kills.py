"""A sweep on a Dask cluster that is killed three times, by SIGKILL: the client, then a worker, then the scheduler.

The sweep is started again after the deaths that end it. Then every file of its store must be, byte by byte, that of a
sweep in one process that nothing disturbed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

PATIENCE = 300.0  # s that a sweep may take to the next finished chunk


def digests(store: pathlib.Path) -> dict[str, str]:
    """SHA-256 of all files of a store by name."""
    files = [file for file in sorted(store.rglob("*")) if file.is_file()]
    return {str(file.relative_to(store)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def finished(store: pathlib.Path) -> int:
    """Chunks that are on the disk."""
    return len(list(store.glob("status/c.*")))


class Cluster:
    """A scheduler and its workers as processes of their own."""

    def __init__(self, folder: pathlib.Path, workers: int) -> None:
        self.file, self.folder, self.workers = folder / "scheduler.json", folder, workers
        self.scheduler = self.supervisor = None

    def start(self) -> None:
        """Start scheduler and workers; the file has the address."""
        self.file.unlink(missing_ok=True)
        more = ["--scheduler-file", str(self.file), "--no-dashboard"]
        self.scheduler = self._started("distributed.cli.dask_scheduler", "--port", "0", *more)
        self.supervisor = self._started(
            "distributed.cli.dask_worker", "--nworkers", str(self.workers), "--nthreads", "1",
            "--local-directory", str(self.folder), *more,
        )  # fmt: skip
        _wait(self.file.exists, self.scheduler)

    def _started(self, module: str, *arguments: str):
        log = (self.folder / f"{module.rpartition('.')[2]}.log").open("a")
        return subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=log, stderr=log)

    def processes_of_workers(self) -> list[int]:
        """Their ids."""
        import distributed

        with distributed.Client(scheduler_file=str(self.file)) as client:
            client.wait_for_workers(self.workers)
            return list(client.run(os.getpid).values())

    def address(self) -> str:
        """Of the scheduler."""
        return json.loads(self.file.read_text())["address"]

    def stop(self) -> None:
        """End all processes."""
        for process in (self.supervisor, self.scheduler):
            if process is not None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(30)
                process.kill()
                process.wait()


def _wait(condition, process, patience: float = PATIENCE) -> None:
    """Wait until something is so, while a process lives."""
    end = time.monotonic() + patience
    while not condition():
        if process.poll() is not None:
            raise RuntimeError(f"a process ended with status {process.returncode} before its time")
        if time.monotonic() > end:
            raise TimeoutError(f"nothing happened within {patience:.0f} s")
        time.sleep(0.02)


def disturbed(folder: pathlib.Path, client_command, chunks: int, workers: int = 2) -> dict[str, object]:
    """Run a sweep through its three interruptions.

    Parameters
    ----------
    folder : Path
        Of the store "killed.zarr".
    client_command : callable
        ``client_command(address, store)``, the command of a process that sweeps over that cluster.
    chunks, workers : int

    Returns
    -------
    dict
        Finished chunks at each death, what the interrupted clients did, times.
    """
    store, cluster, story = folder / "killed.zarr", Cluster(folder, workers), []
    log = (folder / "client.log").open("a")

    def client():
        return subprocess.Popen(client_command(cluster.address(), store), stdout=log, stderr=log)

    def until(share: float, process) -> None:
        _wait(lambda: finished(store) >= share * chunks, process)

    def killed(what: str, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        story.append({"killed": what, "finished chunks": finished(store)})

    try:
        cluster.start()
        process = client()
        until(0.2, process)
        killed("client", process.pid)
        process.wait()
        workers_before = cluster.processes_of_workers()
        process = client()
        until(0.45, process)
        killed("worker", workers_before[0])
        until(0.7, process)
        killed("scheduler", cluster.scheduler.pid)
        story[-1]["client's status"] = process.wait(PATIENCE)  # it ends with an error
        cluster.stop()
        cluster.start()
        left = chunks - finished(store)
        process = client()
        if process.wait(PATIENCE):
            raise RuntimeError(f"the last client ended with status {process.returncode}; see {folder / 'client.log'}")
        story.append({"killed": "nothing", "finished chunks": finished(store), "left for the last client": left})
    finally:
        cluster.stop()
    return {"chunks": chunks, "events": story}
