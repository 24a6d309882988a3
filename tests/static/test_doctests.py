"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import importlib.util

import pytest

from tests.static.source_tree import module_name, package_files

MODULES = [module_name(path) for path in package_files() if ">>>" in path.read_text() and path.name != "__main__.py"]
ENGINES = ("pydrake",)  # not among the packages of the tests


def can_run(test: doctest.DocTest) -> bool:
    """Whether the engines that an example imports are installed."""
    imported = " ".join(example.source for example in test.examples if "import" in example.source)
    return all(importlib.util.find_spec(engine) for engine in ENGINES if f"from {engine}." in imported)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name, tmp_path, monkeypatch):
    """The doctests of one module pass, in a folder of their own and without a display."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = importlib.import_module(name)
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        if can_run(test):
            runner.run(test, out=report.append)
    assert runner.tries, f"{name} has no example that doctest finds"
    assert not runner.failures, "".join(report)
