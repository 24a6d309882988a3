"""Pinocchio's C++ in this process: its headers compiled by g++ into a shared library that ctypes calls.

The headers and Boost come with the package ``pin``; Eigen's come with ``cmeel-eigen`` or the system. The model travels
as text, which Pinocchio's Python package writes and the library reads. ``python -m benchmarks.rivals.pinocchio_cpp``
compiles (minutes, once: the library is kept in ``build/benchmarks``), verifies and prints nanoseconds per call.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.metadata
import pathlib
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable

import numpy as np

SOURCE = pathlib.Path(__file__).with_name("pinocchio_loop.cpp")
BUILD = pathlib.Path(__file__).parents[2] / "build" / "benchmarks"
FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-fPIC", "-shared", "-w", "-fno-gnu-unique")
EXPORTS = "{ global: robot_*; local: *; };"
"""What the library shows. The Python package has the same templates in this process, compiled for other alignments:
were any of them shared, memory would be allocated by one and freed by the other."""
DEFINITIONS = (  # those of the package's own CMake files
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
METHODS = {  # number of the algorithm in the C++ source, by quantity and convention; the fastest counts
    "rnea": {"": 0},
    "crba": {" local": 1, " world": 2},
    "aba": {" local": 3, " world": 4},
    "rnea_derivatives": {"": 5},
    "aba_derivatives": {"": 6},
}


class NoCompiler(RuntimeError):
    """Pinocchio's C++ cannot be compiled here; the message says what is missing."""


def _prefix(package: str) -> pathlib.Path | None:
    """Where a package of the cmeel family keeps its headers and libraries."""
    try:
        return pathlib.Path(str(importlib.metadata.distribution(package).locate_file("cmeel.prefix")))
    except importlib.metadata.PackageNotFoundError:
        return None


def include_folders() -> list[pathlib.Path]:
    """Where Pinocchio's, Boost's and Eigen's headers are."""
    prefix = _prefix("libpinocchio")
    if prefix is None:
        raise NoCompiler("the package pin is not installed")
    eigen = [p / "include" / "eigen3" for p in (prefix, _prefix("cmeel-eigen")) if p]
    eigen.append(pathlib.Path("/usr/include/eigen3"))
    found = [folder for folder in eigen if (folder / "Eigen" / "Core").is_file()]
    if not found:
        raise NoCompiler("no headers of Eigen: pip install cmeel-eigen")
    return [prefix / "include", prefix / "include" / "pinocchio" / "deprecated", found[0]]


def library(source: pathlib.Path = SOURCE) -> tuple[ctypes.CDLL, dict[str, object]]:
    """The compiled loop, and how it was compiled; `NoCompiler` if that is impossible."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise NoCompiler("no C++ compiler (g++)")
    folders = include_folders()
    libraries = folders[0].parent / "lib"
    command = [compiler, *FLAGS, *DEFINITIONS, *[f"-I{folder}" for folder in folders], str(source)]
    command += [f"-L{libraries}", "-lboost_serialization", f"-Wl,-rpath,{libraries}"]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    versions = importlib.metadata.version("pin"), _eigen(folders[-1])
    about = "\n".join([*FLAGS, *DEFINITIONS, EXPORTS, version, *versions, source.read_text(), _processor()])
    path = BUILD / f"pinocchio-{hashlib.sha256(about.encode()).hexdigest()[:16]}.so"
    seconds = 0.0
    if not path.is_file():
        BUILD.mkdir(parents=True, exist_ok=True)
        print("compiling Pinocchio's headers; this takes minutes, once", flush=True)
        start = time.perf_counter()
        scratch, exports = path.with_suffix(".tmp"), path.with_suffix(".exports")
        exports.write_text(EXPORTS)
        command += [f"-Wl,--version-script={exports}", "-o", str(scratch)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoCompiler(f"{compiler} failed:\n{done.stderr[-2000:]}")
        scratch.rename(path)
        seconds = time.perf_counter() - start
    loaded = ctypes.CDLL(str(path))
    loaded.robot_open.restype = ctypes.c_void_p
    return loaded, {"compiler": version, "flags": " ".join(FLAGS), "seconds": seconds}


def _eigen(folder: pathlib.Path) -> str:
    """The lines of Eigen's headers that hold its version."""
    for name in ("Eigen/Version", "Eigen/src/Core/util/Macros.h"):
        if (folder / name).is_file():
            lines = (folder / name).read_text().splitlines()
            return "\n".join(line for line in lines if "_VERSION " in line and line.startswith("#define"))
    return ""


def _processor() -> str:
    """What -march=native depends on."""
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else [platform.processor()]
    return next((line for line in lines if line.startswith(("flags", "Features"))), lines[0])


class PinocchioCpp:
    """Pinocchio's C++ loop over given states.

    Parameters
    ----------
    pin_model : pinocchio.Model
    states : mapping of str to ndarray
        "q", "v", "a", "tau" in Pinocchio's order, one state per row.
    """

    def __init__(self, pin_model, states) -> None:
        self._library, self.about = library()
        rows = [np.ascontiguousarray(states[name], float) for name in ("q", "v", "a", "tau")]
        self.count, self._nv = len(rows[0]), pin_model.nv
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.txt"
            pin_model.saveToText(str(file))
            pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in rows]
            address = self._library.robot_open(str(file).encode(), ctypes.c_long(self.count), *pointers)
        if not address:
            raise RuntimeError("Pinocchio's C++ could not read the model that its Python package wrote")
        self._robot = ctypes.c_void_p(address)

    def methods(self, quantity: str) -> dict[str, Callable[[int], None]]:
        """``run(n)`` for each convention: n times all states; the result of each stays in Pinocchio's Data."""
        return {name: self._runner(number) for name, number in METHODS[quantity].items()}

    def _runner(self, number: int) -> Callable[[int], None]:
        run, robot = self._library.robot_run, self._robot

        def runner(n: int) -> None:
            run(robot, number, ctypes.c_long(n))

        return runner

    def results(self, quantity: str, method: str = "") -> np.ndarray:
        """The result of every state: (count, k, nv), where k is 1, nv or, for derivatives, 3 nv."""
        nv = self._nv
        columns = {"rnea": 1, "aba": 1, "crba": nv}.get(quantity, 3 * nv)
        out = np.full((self.count, columns, nv), np.nan)
        for state in range(self.count):
            number = METHODS[quantity][method]
            place = out[state].ctypes.data_as(ctypes.c_void_p)
            self._library.robot_result(self._robot, number, ctypes.c_long(state), place)
        return out

    def __del__(self) -> None:
        if getattr(self, "_robot", None):
            self._library.robot_close(self._robot)


def main() -> None:
    """Compile, and print nanoseconds per call for the three robots of the issue of speed."""
    import kinetree as kt
    from benchmarks import timing
    from benchmarks.contenders import CALL_STATES, Task
    from benchmarks.verify import verify

    for robot in ("panda", "anymal_b", "talos_reduced"):
        task = Task(kt, robot, CALL_STATES)
        for quantity in METHODS:
            verify(task, quantity)
            times = timing.interleaved(task.cpp.methods(quantity), CALL_STATES)
            shown = ", ".join(f"{method.strip() or 'call'} {1e9 * min(each):.0f} ns" for method, each in times.items())
            print(f"{robot:14} {quantity:17} {shown}", flush=True)


if __name__ == "__main__":
    main()
