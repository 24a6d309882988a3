"""Memory that a run needs and memory available, compared before the run."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from kinetree.errors import MemoryLimitError

LEAST = 2**26  # bytes, from which on the free memory is checked

_GROUPS = (  # files with the limit of this process's group, its use, and the part of it that is cache
    ("memory.max", "memory.current", "memory.stat", "file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_cache"),
)


def available_memory() -> float:
    """Memory available for new arrays [bytes], by the machine, the container and the limits of the process.

    Infinite where the system does not report it.
    """
    return max(0.0, min(_of_machine(), _of_group(Path("/sys/fs/cgroup")), _of_process()))


def _of_machine() -> float:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = dict(line.split(":") for line in file)
        return 1024.0 * int(found["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        try:
            return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, OSError, ValueError):
            return math.inf


def _of_group(root: Path) -> float:
    for limit, used, stat, cache in _GROUPS:
        with suppress(OSError, KeyError, ValueError):  # "max" is no number: no limit
            most, now = (int((root / name).read_text()) for name in (limit, used))
            cached = dict(line.split() for line in (root / stat).read_text().splitlines())
            return float(most - now + int(cached[cache]))
    return math.inf


def _of_process() -> float:
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            return float(limit - pages * resource.getpagesize())
    return math.inf


def sample_bytes(model, wrenches: bool, wrench_of_state: bool) -> int:
    """Largest memory for a sample of a simulation, while the trajectory is made of the record [bytes].

    Then there are the record, its copy, and this with the last state; accelerations, energies, forces.
    """
    row = 1 + model.nq + model.nv + model.nw + model.nu + model.n_impulses + 6 * model.nb * wrench_of_state
    return 8 * (3 * row + 2 * model.nv + 3 + 6 * model.nb * wrenches)


def check_room(what: str, count: float, each: float, advice: Callable[[int], str]) -> None:
    """Raise an error for arrays that do not fit into memory.

    Parameters
    ----------
    what : str
        Opens the message: "simulate: the samples of 10 s".
    count : float
        Number of items.
    each : float
        Size of each [bytes].
    advice : callable
        ``advice(times)``: a remedy that divides the count by ``times``.

    Raises
    ------
    MemoryLimitError
        With the attributes needed and available [bytes].
    """
    needed = count * each
    if needed < LEAST or needed <= (room := min(available_memory(), sys.maxsize)):  # no array is larger
        return
    raise MemoryLimitError(
        f"{what} would take {_shown(needed)} ({count:.3g} of {each:.3g} bytes at the most), and {_shown(room)} are "
        f"available. {advice(math.ceil(2.0 * needed / max(room, 1.0)))}",  # with as much again for all else
        needed=needed,
        available=room,
    )


def _shown(size: float) -> str:
    return f"{size / 2**30:.3g} GiB" if size >= 2**29 else f"{size / 2**20:.3g} MiB"
