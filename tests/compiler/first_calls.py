"""What a fresh process of `test_first_calls` runs: first calls from many threads at once. Prints what was computed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import kinetree as kt

THREADS = 4
STATES = 64


def model(seed: int):
    """An arm of its own for each seed: other numbers, axes and lengths."""
    rng = np.random.default_rng(seed)
    b, parent = kt.ModelBuilder(f"arm {seed}"), "world"
    for k in range(2 + seed % 3):
        axis = np.eye(3)[(seed + k) % 3]
        b.add_body(
            f"link {k}", parent, kt.joints.Revolute(axis), f"joint {k}", (rng.normal(size=3) / 4, (0, 0, 0)),
            mass=1 + rng.random(), com=rng.normal(size=3) / 8, inertia=(0.2, 0.25, 0.3),
        )  # fmt: skip
        parent = f"link {k}"
    return b.build()


def batches(seed: int) -> np.ndarray:
    """A batch and a single state of three algorithms."""
    arm, rng = model(seed), np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, STATES, arm.nv))
    many = kt.rnea(arm, q, v, a)
    one = kt.aba(arm, q[0], v[0], many[0])
    return np.concatenate([many.ravel(), one, kt.crba(arm, q).ravel()])


def run(seed: int) -> np.ndarray:
    """A short simulation."""
    arm = model(seed)
    return kt.simulate(arm, duration=0.02, dt=1e-3, integrator="rk4").q.ravel()


def pool(task) -> list[np.ndarray]:
    """The task with four models in four threads, all of which begin at the same moment."""
    barrier = threading.Barrier(THREADS)

    def begin(seed):
        barrier.wait()
        return task(seed)

    with ThreadPoolExecutor(THREADS) as executor:
        return list(executor.map(begin, range(THREADS)))


def children(task) -> list[np.ndarray]:
    """Fork while other threads compile; every child makes first calls of its own, and has to come to an end."""
    statuses = []
    with ThreadPoolExecutor(THREADS) as executor:
        working = [executor.submit(task, seed) for seed in range(THREADS)]
        for _ in range(4):
            child = os.fork()
            if not child:
                status = 1
                signal.alarm(60)  # ends it if it hangs
                try:
                    task(5)
                    status = 0
                finally:
                    os._exit(status)  # the threads of the pool are not here, and nobody waits for them
            statuses.append(os.waitpid(child, 0)[1])
        results = [future.result() for future in working]
    assert statuses == [0] * len(statuses), statuses
    return results


if __name__ == "__main__":
    how, what = sys.argv[1:]
    found = {"threads": pool, "forks": children}[how]({"batches": batches, "simulate": run}[what])
    sys.stdout.write(np.concatenate(found).tobytes().hex())
