"""What a result depends on besides the code: processor, operating system, versions."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
from collections.abc import Sequence

PACKAGES = ("kinetree", "numpy", "llvmlite", "pin", "example-robot-data")
FLAGS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512vl", "asimd", "sve")


def machine() -> dict[str, object]:
    """Processor, its vector extensions, cores, load and operating system."""
    fields: dict[str, str] = {}
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    return {
        "processor": fields.get("model name") or platform.processor() or platform.machine(),
        "flags": [flag for flag in FLAGS if flag in flags],
        "cores": os.cpu_count(),
        "load_average": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Versions of the packages that take part."""
    found = {}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
