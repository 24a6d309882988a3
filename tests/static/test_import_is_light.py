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
    "own": sorted(name for name in sys.modules if name.startswith("kinetree")),
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


def test_import_loads_nothing_before_it_is_used():
    """The package, its table of names and the guard of forks; the rest when it is used, and then not everything."""
    assert fresh_import()["own"] == ["kinetree", "kinetree.once", "kinetree.public"]
    loaded = printed("import sys, kinetree as kt; kt.rnea; print(*sys.modules)").split()
    assert "kinetree.algorithms.rnea" in loaded
    assert not {"kinetree.simulation.simulate", "kinetree.textbook.aba_variants", "kinetree.io.save"} & set(loaded)


def printed(code: str) -> str:
    """The output of a fresh process."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


FIRST_USES = """
import inspect, threading
from concurrent.futures import ThreadPoolExecutor
import kinetree as kt
from kinetree.public import CALLS, PLACES, names
barrier = threading.Barrier(4)

def everything(k):
    barrier.wait()
    spaces = sorted({*PLACES, *CALLS}, reverse=k % 2)
    modules = [kt if space == "kinetree" else getattr(kt, space.partition(".")[2]) for space in spaces]
    return {(m.__name__, name): id(getattr(m, name)) for m in modules for name in names(m.__name__)}

with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(everything, range(4)))
print(all(x == found[0] for x in found), len(found[0]) == sum(len(names(s)) for s in {*PLACES, *CALLS}))
print(set(dict(inspect.getmembers(kt))) >= set(kt.__all__))
"""


def test_first_uses_from_several_threads_give_one_thing():
    """All names of all namespaces, looked up by four threads at once: each has one value, and inspect lists them."""
    assert printed(FIRST_USES).split() == ["True"] * 3
