"""Importing kinetree loads NumPy, the standard library and itself, and leaves the process as it was."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, sys, warnings
import numpy as np
before = set(sys.modules)
state = lambda: repr((np.geterr(), np.get_printoptions(), warnings.filters, sys.getrecursionlimit()))
was = state()
import kinetree
print(json.dumps({
    "modules": sorted({name.partition(".")[0] for name in set(sys.modules) - before}),
    "before": was, "after": state(),
}))
"""


def fresh_import():
    """Top-level names of the modules that ``import kinetree`` adds to NumPy's, and global settings around it."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_import_loads_no_third_party_module_but_numpy():
    """No compiler, viewer, plotter, parser, nor SciPy is loaded before it is used."""
    loaded = set(fresh_import()["modules"])
    assert "kinetree" in loaded
    assert loaded - set(sys.stdlib_module_names) == {"kinetree"}


def test_import_changes_no_global_state():
    """NumPy's error handling and print options, the warning filters and the recursion limit stay as they were."""
    found = fresh_import()
    assert found["after"] == found["before"]
