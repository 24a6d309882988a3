"""Which tests run when: theorems on few or many seeds, and what belongs to the first minute of checking a change."""

from __future__ import annotations

import pytest

TIMES = 10
"""Seeds of the sweep for each seed of the ordinary run."""
FAST = (
    "spatial", "liegroup", "model", "geometry", "joints.test_battery", "joints.test_contract", "joints.test_golden",
    "joints.test_tracing", "static.test_exports", "static.test_floors", "static.test_source_files",
    "static.test_docstrings", "compiler.test_graph", "compiler.test_program", "compiler.test_lowering",
    "integrators.test_tableaus", "control.test_digital", "io.test_urdf_semantics", "io.test_xml_reader",
)  # fmt: skip
"""Folders and modules of tests that need milliseconds: algebra, joints, models, graphs, rules of the source tree."""
SLOW = ("spatial.test_compact_and_dense", "compiler.test_first_calls")
"""Modules none of whose tests are fast."""


def pytest_generate_tests(metafunc):
    """``@pytest.mark.seeds(20)`` runs a test on seeds 0 to 19, and with ``-m sweep`` on seeds 20 to 199.

    The seeds of the sweep are made only when they are asked for: collecting them would cost more than the ordinary run.
    Seed 0 is among the fast tests.
    """
    for mark in metafunc.definition.iter_markers("seeds"):
        (ordinary,) = mark.args
        first = [] if name(metafunc).startswith(SLOW) else [pytest.mark.fast]
        seeds = [pytest.param(0, marks=first), *range(1, ordinary)]
        chosen = metafunc.config.option.markexpr
        if not chosen or ("sweep" in chosen and "not sweep" not in chosen):
            seeds += [pytest.param(seed, marks=pytest.mark.sweep) for seed in range(ordinary, TIMES * ordinary)]
        metafunc.parametrize("seed", seeds)


def pytest_collection_modifyitems(items):
    """Tests of the modules in ``FAST`` get the marker ``fast``: ``pytest -m fast`` takes less than a minute."""
    for item in items:
        if name(item).startswith(FAST) and not name(item).startswith(SLOW):
            item.add_marker(pytest.mark.fast)


def name(test) -> str:
    """Of the test's module: ``"trees.test_rotors"``."""
    return test.module.__name__.removeprefix("tests.")
