"""A sweep of some seconds, for tests that end its processes: `python -m tests.sweeps.slow_sweep STORE CLIENT`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time

import kinetree as kt

SAMPLES, CHUNK = 240, 6
DEADLY = 13  # the sample that ends the worker that computes it


def lasting(batch):
    """A measure that takes 50 ms for each chunk."""
    time.sleep(0.05)
    return batch.q[:, -1, 0] ** 2


def deadly(batch):
    """A measure that ends workers as the system does when memory is short; the client measures its speed, too."""
    if DEADLY in batch.index and multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return batch.q[:, -1, 0]


def swept(store, client=False, measure=("q_end", "path", lasting), **more):
    """The sweep."""
    over = {"pole.density": kt.sweeps.uniform(0.5, 2.0), "q0": kt.sweeps.normal([0.0, 0.2], [0.1, 0.1])}
    run = {"duration": 0.1, "dt": 0.01, "integrator": "semi_implicit"}
    given = {"samples": SAMPLES, "chunk": CHUNK, "seed": 7, "client": client, "progress": False} | more
    return kt.sweep(kt.models.cart_pole(), over, run, list(measure), store, **given)


if __name__ == "__main__":
    swept(sys.argv[1], sys.argv[2])
