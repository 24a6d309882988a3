"""What a chunk of a sweep costs, measured here, and sweeps over a real cluster against the simulation of one.

Samples of the comparison sleep, so that more threads than cores keep the simulation's rules: one sweep is undisturbed,
a worker of the other one is killed.
"""

from __future__ import annotations

import os
import pathlib
import pickle
import signal
import tempfile
import threading
import time

import numpy as np

from benchmarks import store
from benchmarks.cluster_events import Cluster, Load, Simulation
from benchmarks.sweeps import DT, Work

PROCESSES, EACH = 2, 4  # workers and their threads


def pause(batch) -> np.ndarray:
    """A measure that takes between 0.3 and 0.6 s for a chunk of one sample."""
    if len(batch) == 1:
        time.sleep(pause_of(int(batch.index[0])))
    return batch.q[:, -1, 0]


def pause_of(k: int) -> float:
    """How long [s]."""
    return 0.3 + 0.3 * ((k * 0.618034) % 1.0)


def kernels(kt, folder: pathlib.Path, samples: int) -> dict[str, float]:
    """Seconds of one core for an evaluation, and bytes of a sample, from a small sweep of the panda."""
    work = Work(kt, samples, 1000, folder)
    arrays = work.arrays(work.sweep("rk4", client=False))
    q, v, tau = arrays
    roll = kt.simulation.Rollout(work.model, "rk4", threads=1, checks=False)
    times = []
    for _ in range(4):
        start = time.process_time()
        roll(q, v, tau[:, None], DT, steps=work.steps, record=kt.Record(every=work.steps))
        times.append(time.process_time() - start)
    sizes = {}
    for name, options in {
        "ends": {},
        "paths": {"measure": ["path"], "simulate": {"record": kt.Record(every=10)}},
    }.items():
        work.sweep("rk4", client=False, **options)
        files = [file for file in (folder / "runs.zarr").rglob("c.*")]
        sizes[name] = sum(file.stat().st_size for file in files) / samples
    feet = store.read("contact")["rows"]
    steps = {row["case"]: row["sets"]["walk"]["seconds"]["kinetree"]["median"] for row in feet}
    return {
        "seconds of an evaluation": min(times[1:]) / (samples * work.steps * 4),
        "bytes, ends kept": sizes["ends"],
        "bytes, paths kept": sizes["paths"],
        "seconds of a step, anymal_b, 4 feet": steps["anymal_b, 4 feet"],
        "seconds of a step, anymal_b, all shapes": steps["anymal_b, all shapes"],
    }


def written_times(path: pathlib.Path) -> np.ndarray:
    """When the chunks of a store were finished."""
    return np.sort([file.stat().st_mtime for file in (path / "status").glob("c.*")])


def sleeping(kt, client, path: pathlib.Path, samples: int, measure) -> np.ndarray:
    """A sweep of chunks of one sample; times of its chunks."""
    kt.sweep(
        kt.models.pendulum(), {"q0": kt.sweeps.uniform([-1.0], [1.0])}, {"duration": 0.01, "dt": 0.01}, measure, path,
        samples=samples, chunk=1, client=client, progress=False,
    )  # fmt: skip
    return written_times(path)


def messages(kt) -> float:
    """Bytes of a chunk between client, scheduler and worker: its task, and the result without arrays."""
    from kinetree.sweeps.chunk import computed
    from kinetree.sweeps.cluster import packed
    from kinetree.sweeps.design import Design
    from kinetree.sweeps.measures import measures_of
    from kinetree.sweeps.plan import Plan
    from kinetree.sweeps.probe import here, probed
    from kinetree.sweeps.runs import Runs

    with tempfile.TemporaryDirectory() as folder:
        work = Work(kt, 64, 1, pathlib.Path(folder))
        runs = Runs.of({"duration": DT, "dt": DT, "integrator": "rk4"})
        plan = Plan(work.model, Design.of(work.over, samples=64), runs, measures_of(["q_end", "v_end"]))
        probe = probed(plan, here(plan))
        result = computed(plan, probe.measures, 0, 64)
        result.arrays = {}
        return 2.0 * len(packed(plan)) + 2.0 * len(pickle.dumps(result))  # client, scheduler, worker


def warm_up() -> float:
    """Time of the first sample in a fresh process: modules, code from the disk [s]."""
    start = time.perf_counter()
    import kinetree as kt

    with tempfile.TemporaryDirectory() as folder:
        sleeping(kt, False, pathlib.Path(folder) / "runs.zarr", 1, ["q_end"])
    return time.perf_counter() - start


def real(kt, folder: pathlib.Path, samples: int) -> dict[str, object]:
    """Costs of a chunk on a cluster of this machine, and sweeps over it against the simulation."""
    import distributed

    def cluster(workers: int, threads: int):
        return distributed.LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address="127.0.0.1:0")

    short = ["q_end"]
    with cluster(1, 1) as one, distributed.Client(one) as client:
        warm = client.submit(warm_up).result()
        sleeping(kt, client, folder / "first.zarr", 8, short)
        times = sleeping(kt, client, folder / "one.zarr", samples, short)
        overhead = float(times[-1] - times[0]) / (samples - 1)
    with cluster(PROCESSES, EACH) as many, distributed.Client(many) as client:
        sleeping(kt, client, folder / "second.zarr", 8, short)
        start = time.process_time()
        times = sleeping(kt, client, folder / "many.zarr", samples, short)
        service = (time.process_time() - start) / samples  # client and scheduler are this process
        disk = float(times[-1] - times[0]) / (samples - 1)
        costs = [pause_of(k) for k in range(samples)]
        load = Load(samples, costs, max(0.0, overhead - disk), service, bytes=disk, bandwidth=1.0)
        here = Cluster(PROCESSES, EACH)
        times = sleeping(kt, client, folder / "quiet.zarr", samples, {"x": pause})
        quiet = Simulation(load, here).run()
        found = {
            "chunks": samples,
            "overhead [s]": overhead,
            "disk [s]": disk,
            "service [s]": service,
            "first chunk of a process [s]": warm,
            "undisturbed [s]": [float(times[-1] - times[0]), quiet.written[-1] - quiet.written[0]],
        }
        after, back = 0.3 * (quiet.written[-1] - quiet.written[0]), []
        thread = threading.Thread(target=_kill, args=(client, folder / "killed.zarr", after, back))
        thread.start()
        times = sleeping(kt, client, folder / "killed.zarr", samples, {"x": pause})
        thread.join()
        kills = [(quiet.written[0] + after, 0)]
        killed = Simulation(load, Cluster(PROCESSES, EACH, repair=back[0], warm=warm), kills=kills).run()
        found["back after [s]"] = back[0]
        found["worker killed [s]"] = [float(times[-1] - times[0]), killed.written[-1] - killed.written[0]]
    for name in ("undisturbed [s]", "worker killed [s]"):
        measured, simulated = found[name]
        print(f"{name}: measured {measured:.2f}, simulated {simulated:.2f}", flush=True)
    return found


def _kill(client, path: pathlib.Path, after: float, back: list[float]) -> None:
    """Kill a worker some time after the first chunk; when it is back."""
    while not list(path.glob("status/c.*")):
        time.sleep(0.005)
    time.sleep(max(0.0, written_times(path)[0] + after - time.time()))
    start = time.monotonic()
    pids = client.run(os.getpid)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    gone = set(pids)
    while True:
        now = set(client.scheduler_info(n_workers=-1)["workers"])
        if len(now) == len(gone) and now != gone:
            back.append(time.monotonic() - start)
            return
        time.sleep(0.01)
