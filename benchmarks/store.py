"""Results on disk: one JSON file per measurement under ``benchmarks/results``."""

from __future__ import annotations

import datetime
import json
import pathlib

RESULTS = pathlib.Path(__file__).parent / "results"


def write(name: str, result: dict) -> pathlib.Path:
    """Write a result under its name, with the date; numbers keep five significant digits."""
    path = RESULTS / f"{name}.json"
    RESULTS.mkdir(exist_ok=True)
    dated = {"date": datetime.date.today().isoformat(), **_rounded(result)}
    path.write_text(json.dumps(dated, indent=1) + "\n")
    return path


def read(name: str) -> dict:
    """A result by its name."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def _rounded(value):
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(entry) for entry in value]
    return value
