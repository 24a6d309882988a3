"""A sweep of some seconds, for tests that end its processes or run several of it.

``python -m tests.sweeps.slow_sweep STORE CLIENT``; ``CLIENT`` is "here" for that process, without the measure that is
slow, and "other" the same as if it ran on another processor, without fused multiply-add: results differ by rounding.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import kinetree as kt

SAMPLES, CHUNK = 240, 6
QUICK = ("q_end", "path")
DEADLY = 13  # the sample that ends the process that computes it
LATE = 5  # the chunk whose first computation waits
GO_ON = threading.Event()  # until then
_late = []


def lasting(batch):
    """A measure that takes 50 ms for each chunk, or what the environment says: longer where processes are ended."""
    time.sleep(float(os.environ.get("SECONDS_OF_A_CHUNK", "0.05")))
    return batch.q[:, -1, 0] ** 2


def deadly(batch):
    """A measure that ends processes as the system does when memory is short."""
    if DEADLY in batch.index:
        os.kill(os.getpid(), signal.SIGKILL)
    return batch.q[:, -1, 0]


def deadly_from_the_first(batch):
    """The same for the first sample."""
    if 0 in batch.index:
        os.kill(os.getpid(), signal.SIGKILL)
    return batch.q[:, -1, 0]


def late(batch):
    """A measure that does not return when it is first called for one of the chunks."""
    if batch.index[0] == LATE * CHUNK and len(batch) == CHUNK and not _late:
        _late.append(threading.get_ident())
        GO_ON.wait()
    return batch.q[:, -1, 0]


def on_another_processor() -> None:
    """Compile for one of the first of its kind."""
    from kinetree.native.engine import Target

    host = Target.host()
    other = Target(host.triple, "x86-64", "", 16, False)
    Target.host = staticmethod(lambda: other)


def swept(store, client=False, measure=("q_end", "path", lasting), **more):
    """The sweep."""
    over = {"pole.density": kt.sweeps.uniform(0.5, 2.0), "q0": kt.sweeps.normal([0.0, 0.2], [0.1, 0.1])}
    run = {"duration": 0.1, "dt": 0.01, "integrator": "semi_implicit"}
    given = {"samples": SAMPLES, "chunk": CHUNK, "seed": 7, "client": client, "progress": False} | more
    return kt.sweep(kt.models.cart_pole(), over, run, list(measure), store, **given)


if __name__ == "__main__":
    if sys.argv[2] in ("here", "other"):
        if sys.argv[2] == "other":
            on_another_processor()
        swept(sys.argv[1], measure=QUICK)
    else:
        swept(sys.argv[1], sys.argv[2])
