"""Coverage-guided fuzzing of the readers with atheris (Linux wheels; not among the test dependencies).

``python -m tests.fuzz.coverage_guided urdf -max_total_time=600`` mutates with `mutate.mutated`, keeps what reaches new
lines of ``kinetree.io`` and ``kinetree.model``, and stops at the first misbehavior. Further arguments go to libFuzzer.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["kinetree.io", "kinetree.model"]):
    from tests.fuzz.harness import FORMATS, seeds
    from tests.fuzz.mutate import mutated
    from tests.fuzz.verdict import judged


def main() -> None:
    """Fuzz one format until the time given to libFuzzer is over."""
    form, *arguments = sys.argv[1:]
    others = [path.read_bytes() for path in seeds(form)]
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for k, content in enumerate(others):
            (corpus / str(k)).write_bytes(content)
        path = Path(folder) / f"case{FORMATS[form][0]}"

        def one_input(data: bytes) -> None:
            path.write_bytes(data)
            judged(str(path), random.Random(data))

        def mutate(data: bytes, max_size: int, seed: int) -> bytes:
            rng = random.Random(seed)
            return mutated(data, [rng.choice(others)], rng)[:max_size]

        atheris.Setup(
            [sys.argv[0], str(corpus), "-max_len=60000", "-timeout=5", *arguments], one_input, custom_mutator=mutate
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
