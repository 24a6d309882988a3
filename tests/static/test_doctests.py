"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.static.source_tree import module_name, package_files

MODULES = [module_name(path) for path in package_files() if ">>>" in path.read_text() and path.name != "__main__.py"]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name, tmp_path, monkeypatch):
    """The doctests of one module pass, in a folder of their own and without a display."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = importlib.import_module(name)
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(test, out=report.append)
    assert runner.tries, f"{name} has no example that doctest finds"
    assert not runner.failures, "".join(report)
