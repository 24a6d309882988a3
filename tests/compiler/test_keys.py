"""Programs on disk are found by what they compute: by content, not by names, sizes and time stamps."""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree import content
from kinetree.algorithms.domain import Domain
from kinetree.algorithms.spec import ALGORITHMS, Spec, algorithm
from kinetree.compiler.derivative_functions import derivative_spec
from kinetree.compiler.function import Function
from kinetree.compiler.fused import resolved
from kinetree.compiler.time_argument import with_time
from kinetree.errors import DuplicateNameError, LimitError
from kinetree.integrators import FIXED_STEP
from kinetree.integrators.charts import EXACT_TANGENT
from kinetree.integrators.explicit import explicit_method
from kinetree.integrators.tableaus import MIDPOINT, RALSTON3, Tableau
from tests.static.source_tree import PACKAGE, imports, module_name, package_files

# Processes ------------------------------------------------------------------------------------------------------------


def in_process(script: str, cache: Path, sources: Path = PACKAGE.parent) -> str:
    """What a fresh process prints, with this cache and these sources."""
    settings = os.environ | {"KINETREE_CACHE_DIR": str(cache), "PYTHONPATH": str(sources)}
    settings["PYTHONDONTWRITEBYTECODE"] = "1"  # Python itself finds compiled modules by size and time stamp
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=settings, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


METHOD = """
import kinetree as kt, numpy as np, sys
from kinetree.compiler.function import Function
from kinetree.integrators.charts import EXACT_TANGENT, Chart
from kinetree.integrators.explicit import explicit_method
from kinetree.integrators.tableaus import MIDPOINT, RK4, Tableau
from fractions import Fraction as F
half = F(1, 2)
{define}
model = kt.models.pendulum()
f = Function(explicit_method("mine", tableau, chart).algorithm, model, (), {{}}, True)
found = f(np.array([1.0]), np.array([2.0]), np.zeros(1), np.array(0.1))
print(*(x[0].hex() for x in found))
"""
FIRST = "tableau, chart = Tableau('mine', ((), (half,)), (F(0), F(1)), 2), EXACT_TANGENT"
ANOTHER_TABLEAU = "tableau, chart = Tableau('mine', ((), (F(2, 3),)), (F(1, 4), F(3, 4)), 2), EXACT_TANGENT"
ANOTHER_CHART = (
    "tableau = Tableau('mine', ((), (half,)), (F(0), F(1)), 2)\n"
    "def slow(model, q, xi): return EXACT_TANGENT.move(model, q, [0.5 * x for x in xi])\n"
    "chart = Chart('exact', slow, EXACT_TANGENT.rate, EXACT_TANGENT.first, EXACT_TANGENT.position)"
)


def test_a_method_under_an_old_name_is_another_method(tmp_path):
    """A user's tableau or chart is changed, its name is not: the next process computes with the new one."""
    old = in_process(METHOD.format(define=FIRST), tmp_path / "cache")
    for another in (ANOTHER_TABLEAU, ANOTHER_CHART):
        new = in_process(METHOD.format(define=another), tmp_path / "cache")
        alone = in_process(METHOD.format(define=another), tmp_path / f"empty{len(another)}")
        assert new == alone != old
    assert in_process(METHOD.format(define=FIRST), tmp_path / "cache") == old


TURN = """
import kinetree as kt, numpy as np
body = kt.models.random_tree(1, seed=0, joints=[kt.joints.Spherical()])
found = kt.integrate(body, body.neutral(), np.array([0.1, 0.2, 0.3]))
with kt.interpreted():
    expected = kt.integrate(body, body.neutral(), np.array([0.1, 0.2, 0.3]))
assert np.allclose(found, expected, rtol=0, atol=1e-12), (found, expected)
print(found[0])
"""


def test_an_edited_source_is_another_program(tmp_path):
    """A number in a source that `kt.integrate` reaches through two others, at the same size and time stamp."""
    shutil.copytree(PACKAGE, tmp_path / "src" / "kinetree", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / "src" / "kinetree" / "liegroup" / "so3.py"
    past = (1.7e9, 1.7e9)
    for file in (tmp_path / "src").rglob("*.py"):
        os.utime(file, past)
    before = in_process(TURN, tmp_path / "cache", tmp_path / "src")
    text = source.read_text()
    edited = text.replace("0.25 * ", "0.26 * ")
    assert edited != text
    source.write_text(edited)
    os.utime(source, past)
    assert in_process(TURN, tmp_path / "cache", tmp_path / "src") != before  # and what is interpreted agrees


# One process ----------------------------------------------------------------------------------------------------------


def test_two_methods_of_one_name_in_one_process(monkeypatch):
    """Simulations and rollouts of one model compute with the method that is there now."""
    model = kt.models.pendulum()
    ends = []
    for tableau in (MIDPOINT, RALSTON3):
        monkeypatch.setitem(FIXED_STEP, "mine", explicit_method("mine", tableau))
        run = kt.simulate(model, [1.0], [2.0], duration=0.5, dt=0.05, integrator="mine")
        q, _ = kt.rollout(model, [1.0], [2.0], np.zeros((10, 1)), 0.05, integrator="mine")
        assert run.q[-1, 0] == pytest.approx(q[-1, 0], rel=1e-12)
        ends.append(q[-1, 0])
    assert abs(ends[0] - ends[1]) > 1e-6


def test_a_declaration_with_other_domains_is_another_function():
    """The same function, checked in another way: the code of the first is not taken."""
    model, spec = kt.models.pendulum(), ALGORITHMS["gravity_forces"]
    strict = Domain("small", ("q",), lambda model, x: [x["q"][0] > 1.0], lambda *args: LimitError("too large"))
    q = np.array([2.0])
    Function(spec, model, (), {}, True)(q)
    with pytest.raises(LimitError, match="too large"):
        Function(dataclasses.replace(spec, domains=(strict,)), model, (), {}, True)(q)


def test_names_of_the_library_are_its_own():
    """A user's algorithm may not take the place of one that others call by its name."""
    with pytest.raises(DuplicateNameError, match="algorithm 'rnea' of its own"):

        @algorithm(inputs={"q": "nq"}, outputs={"tau": "nv"})
        def rnea(model, q):
            return q


# Keys -----------------------------------------------------------------------------------------------------------------


def test_all_code_of_the_library_has_keys_and_no_two_are_equal():
    """Every algorithm, every step, their derivatives, fused and with_time the time: stored, each under its own key."""
    model = kt.models.double_pendulum()
    specs = [*ALGORITHMS.values()]
    specs += [m.algorithm for m in FIXED_STEP.values() if isinstance(m.algorithm, Spec)]
    specs += [
        derivative_spec(ALGORITHMS[name], "jvp", ("q",), tuple(ALGORITHMS[name].outputs)) for name in ("rnea", "aba")
    ]
    specs += [
        resolved(model, names, {})[0] for names in (["rnea", "crba"], ["crba", "rnea"], ["aba", "aba_derivatives"])
    ]
    specs += [with_time(ALGORITHMS["rnea"]), EXACT_TANGENT.position]
    keys = {spec.identity: spec.key for spec in specs}
    assert None not in keys.values()
    assert len(set(keys.values())) == len(keys)


def test_all_joints_of_the_library_have_keys():
    """Splines, functions of time, composites, reversed ones: what they are made of is known."""
    joints = [joint for _, joint in kt.joints.examples(np.random.default_rng(0), time_dependent=True)]
    keys = [content.key(joint) for joint in joints]
    assert None not in keys
    assert len(set(keys)) == len(set(joints))


def own(model, q):
    return list(q)


@functools.wraps(ALGORITHMS["rnea"].function)
def disguised(model, *args):
    return own(model, *args)


def test_code_of_a_user_has_no_key():
    """Alone, with the name and module of the library's, within a derivative or beside the time, or as a check."""
    assert disguised.__module__.startswith("kinetree.")
    base = ALGORITHMS["gravity_forces"]
    foreign = [dataclasses.replace(base, function=f) for f in (own, disguised, functools.partial(own), lambda *_: 0)]
    foreign.append(dataclasses.replace(base, domains=(Domain("mine", ("q",), own, own),)))
    foreign += [with_time(spec) for spec in foreign]
    foreign += [derivative_spec(spec, "jvp", ("q",), tuple(base.outputs)) for spec in foreign[:4]]
    assert [spec.key for spec in foreign] == [None] * len(foreign)
    assert base.key is not None


def test_content_is_what_is_computed():
    """Equal data have equal keys; what differs in one bit, one type or one name has another one."""
    tableau = Tableau("mine", MIDPOINT.a, MIDPOINT.b, 2)
    same = Tableau("mine", ((), tuple(MIDPOINT.a[1])), tuple(MIDPOINT.b), 2)
    assert content.key(tableau) == content.key(same) != content.key(dataclasses.replace(tableau, order=3))
    array = np.arange(3000.0)
    other = array.copy()
    other[1500] += 1e-12
    different = [array, other, array.astype("f4"), 1, 1.0, True, "1", b"1", (1,), [1], {1: 1}, {1}, None, -0.0, 0.0]
    assert len({content.key(x) for x in different}) == len(different)
    circle = [1]
    circle.append(circle)
    assert content.key(circle) not in (None, content.key([1, [1]]))
    assert content.key(object()) is None and content.key(os) is None and content.key(np.sin) is None


def test_sources_are_all_that_is_imported():
    """The quick reading of imports finds, in every source of the library, what the parser finds."""
    known = {module_name(path) for path in package_files()}
    for path in package_files():
        found = set(content._source(module_name(path))[1])
        expected = {full if full in known else full.rpartition(".")[0] for _, full in imports(path)} & known
        assert expected <= found, path
    assert "kinetree.liegroup.so3" in content.sources(ALGORITHMS["integrate"].function.__module__, "kinetree.joints")


def test_a_source_that_changed_after_loading_is_unknown(monkeypatch):
    """The code that runs is not what the file says now: nothing is stored under it."""
    content._source.cache_clear()
    monkeypatch.setattr(content, "_LOADED", 0.0)
    try:
        assert content.key(own := ALGORITHMS["rnea"].function) is None, own
    finally:
        content._source.cache_clear()
    monkeypatch.undo()
    assert content.key(ALGORITHMS["rnea"].function) is not None
