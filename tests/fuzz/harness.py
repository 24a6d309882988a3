"""Feed mutated files to the readers, in processes that may crash or hang without taking the run with them.

``python -m tests.fuzz.harness --count 100000`` runs the sweep; a finding is written to ``--keep`` with its seed.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import multiprocessing.connection
import os
import random
import tempfile
import time
from importlib import metadata, resources
from pathlib import Path

from tests.fuzz.mutate import mutated
from tests.fuzz.verdict import Misbehavior, judged

LIMIT = 5.0  # s of a processor for one file, and for each megabyte of it
FORMATS = {"urdf": (".urdf",), "mjcf": (".xml", ".mjcf"), "sdf": (".sdf",)}
_LARGEST = 40_000  # bytes of a seed file
_PACKAGES = {
    "example-robot-data": "cmeel.prefix/share/example-robot-data/robots",
    "pybullet": "pybullet_data",
    "dm-control": "dm_control/suite",
    "gymnasium": "gymnasium/envs/mujoco/assets",
    "mujoco-mjx": "mujoco/mjx/test_data",
}


def seeds(form: str) -> list[Path]:
    """Small files of a format: those of this folder, those that ship, and those of installed packages."""
    folders = [Path(__file__).parent / "seeds", Path(str(resources.files("kinetree.data")))]
    for package, folder in _PACKAGES.items():
        try:
            folders.append(Path(str(metadata.distribution(package).locate_file(folder))))
        except metadata.PackageNotFoundError:
            continue
    found = [path for folder in folders for suffix in FORMATS[form] for path in sorted(folder.rglob(f"*{suffix}"))]
    small = [path for path in found if path.stat().st_size <= _LARGEST and "random_urdfs" not in path.parts]
    if form == "urdf":
        return small
    return [path for path in small if f"<{'sdf' if form == 'sdf' else 'mujoco'}".encode() in path.read_bytes()]


def case(form: str, files: list[Path], seed: int) -> tuple[bytes, random.Random]:
    """The mutated file of a seed, and the generator that goes on choosing for it."""
    rng = random.Random(f"{form}/{seed}")
    content = rng.choice(files).read_bytes()
    others = [rng.choice(files).read_bytes() for _ in range(2)]
    return mutated(content, others, rng), rng


class _Worker:
    """A process that judges one file at a time, with a pipe of its own: killing it harms nobody else."""

    def __init__(self, form: str, files: list[Path], folder: str) -> None:
        context = multiprocessing.get_context("forkserver")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(form, files, other, folder), daemon=True)
        self.process.start()
        other.close()
        self.seed: int | None = None
        self.began = 0.0

    def begin(self, seed: int) -> None:
        self.seed, self.began = seed, time.perf_counter()
        self.pipe.send(seed)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _work(form: str, files: list[Path], pipe, folder: str) -> None:
    path = Path(folder) / f"{os.getpid()}{FORMATS[form][0]}"
    while True:
        seed = pipe.recv()
        content, rng = case(form, files, seed)
        path.write_bytes(content)
        start = time.process_time()
        try:
            verdict = judged(str(path), rng)
        except Misbehavior as problem:
            verdict = f"MISBEHAVIOR {problem}"
        pipe.send((verdict, (time.process_time() - start) / max(1.0, len(content) / 1e6)))


def run(form: str, first: int, count: int, workers: int = 2, show: bool = False) -> tuple[dict, list, float]:
    """Judge ``count`` mutated files.

    Returns
    -------
    counts : dict
        How many ended in which way.
    findings : list of (seed, what)
        Crashes, hangs and misbehavior.
    slowest : float
        Longest time of one file [s], of large ones per megabyte.
    """
    files, counts, findings, slowest = seeds(form), collections.Counter(), [], 0.0
    if not files:
        raise FileNotFoundError(f"no seed files of {form}")
    todo = iter(range(first, first + count))
    with tempfile.TemporaryDirectory() as folder, _progress(form, count, show) as advance:
        alive = [_Worker(form, files, folder) for _ in range(workers)]
        for worker in alive:
            worker.begin(next(todo))
        done = 0
        while done < count:
            ready = multiprocessing.connection.wait([worker.pipe for worker in alive if worker.seed is not None], 0.5)
            for k, worker in enumerate(alive):
                if worker.seed is None:
                    continue
                seed, seconds = worker.seed, time.perf_counter() - worker.began
                try:
                    if worker.pipe in ready:
                        verdict, seconds = worker.pipe.recv()
                    elif seconds > 12 * LIMIT:
                        verdict = "HANG"
                    else:
                        continue
                except EOFError:
                    worker.process.join()
                    verdict = f"CRASH exit code {worker.process.exitcode}"
                slowest = max(slowest, seconds)
                counts[verdict.split(" ")[0]] += 1
                if verdict.startswith(("MISBEHAVIOR", "HANG", "CRASH")):
                    findings.append((seed, verdict))
                elif seconds > LIMIT:
                    findings.append((seed, f"SLOW {seconds:.1f} s of a processor"))
                if verdict.startswith(("HANG", "CRASH")):
                    worker.end()
                    worker = alive[k] = _Worker(form, files, folder)
                worker.seed = None
                done += 1
                advance()
                following = next(todo, None)
                if following is not None:
                    worker.begin(following)
        for worker in alive:
            worker.end()
    return dict(counts), findings, slowest


def _progress(title: str, total: int, show: bool):
    """A context that gives a function to call after each case; a bar if it is shown."""
    import contextlib

    if not show:
        return contextlib.nullcontext(lambda: None)
    from rich.progress import Progress

    @contextlib.contextmanager
    def bar():
        with Progress() as progress:
            task = progress.add_task(title, total=total)
            yield lambda: progress.advance(task)

    return bar()


def main() -> None:
    """Run the sweep and print how it ended; the exit code counts the findings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=list(FORMATS))
    parser.add_argument("--count", type=int, default=1000, help="files of each format")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="folder for the files of the findings")
    arguments = parser.parse_args()
    total = 0
    for form in arguments.formats:
        counts, findings, slowest = run(form, arguments.first, arguments.count, arguments.workers, show=True)
        print(f"{form}: slowest {slowest:.2f} s; " + ", ".join(f"{k} {n}" for k, n in sorted(counts.items())))
        for seed, what in findings:
            print(f"  {form} {seed}: {what[:300]}")
            if arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{seed}{FORMATS[form][0]}").write_bytes(case(form, seeds(form), seed)[0])
        total += len(findings)
    raise SystemExit(min(total, 99))


if __name__ == "__main__":
    main()
