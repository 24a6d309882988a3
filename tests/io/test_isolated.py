"""Files that nobody vouches for are read in a child process: what happens to it happens to nobody else."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import kinetree as kt
from kinetree import errors
from kinetree.io.isolated import ChildFailed, Isolation, _waiting, isolated

PENDULUM = '<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>'
# A file that makes MuJoCo 4.0 crash. If a later one does not, the test needs another.
CRASHES = """<mujoco><worldbody><flexcomp name="f" type="grid" count="2 2 2" spacing=".1 .1 .1" mass="1" dim="3">
  <contact activelayers="-1000000000"/></flexcomp></worldbody></mujoco>"""
# As many copies as are allowed, for which MuJoCo takes minutes: its time grows with their square.
SLOW = """<mujoco><worldbody><body><joint/><replicate count="90000" offset="1 0 0"><geom size=".1"/></replicate></body>
  </worldbody></mujoco>"""


def failure(limits, function, *arguments):
    with pytest.raises(ChildFailed) as error:
        isolated(limits, function, *arguments)
    return error.value.code


def test_what_a_child_may_not_do_ends_the_child():
    """Memory, time and a crash, each by name; the next call gets another child."""
    assert failure(Isolation(memory=2**28), bytearray, 2**32) == "memory-limit"
    assert failure(Isolation(seconds=0.3), time.sleep, 60.0) == "time-limit"
    assert failure(Isolation(), os.abort) == "crash"
    assert failure(Isolation(), os._exit, 3) == "crash"
    assert isolated(Isolation(memory=2**28), abs, -1) == 1
    assert len(isolated(Isolation(memory=2**30), bytes, 2**24)) == 2**24, "answers of any size arrive"


def test_a_child_is_used_again_and_one_that_has_gone_is_replaced():
    """One start for many files; a child that ended between two calls costs another start, and no error."""
    first = isolated(Isolation(), os.getpid)
    assert isolated(Isolation(), os.getpid) == first != os.getpid()
    os.kill(first, signal.SIGKILL)
    assert isolated(Isolation(), os.getpid) not in (first, os.getpid())


def test_threads_have_children_of_their_own():
    """Four calls at a time, and no more than two children wait afterwards."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: isolated(Isolation(), abs, -k), range(8)))
    assert found == list(range(8))
    assert len(_waiting) <= 2


def test_ctrl_c_ends_the_child():
    """The wait is interrupted at once, and the child is gone."""
    pid = isolated(Isolation(), os.getpid)
    clock = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        clock.start()
        isolated(Isolation(), time.sleep, 60.0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_folders_environment_and_output_are_those_of_the_caller(tmp_path, monkeypatch):
    """Relative names and package paths mean the same; what the child prints is no answer."""
    isolated(Isolation(), abs, 1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROS_PACKAGE_PATH", "somewhere")
    assert isolated(Isolation(), os.getcwd) == str(tmp_path)
    assert isolated(Isolation(), os.getenv, "ROS_PACKAGE_PATH") == "somewhere"
    assert isolated(Isolation(), print, "hello") is None
    (tmp_path / "json.py").write_text("raise SystemExit('code of the current folder ran')")
    (tmp_path / "robot.xml").write_text(PENDULUM)
    while _waiting:
        _waiting.pop().end()
    assert kt.load("robot.xml", isolate=True).nv == 1


@pytest.mark.parametrize("source", ["arm7", PENDULUM])
def test_models_and_errors_are_those_of_this_process(source):
    """The model that comes back is the one that loading here gives, report and all; so are errors."""
    here, there = kt.load(source), kt.load(source, isolate=True)
    assert there.structure() == here.structure()
    assert (there.numbers().values == here.numbers().values).tobytes() == b"\1" * len(here.numbers().values)
    assert str(there.report) == str(here.report)
    for wrong, options in (("<robot/>", {}), (PENDULUM.replace(".1", "-1"), {}), (source, {"no": 1}), ("no.xml", {})):
        with pytest.raises((errors.KinetreeError, FileNotFoundError)) as mine:
            kt.load(wrong, **options)
        with pytest.raises(type(mine.value)) as theirs:
            kt.load(wrong, isolate=True, **options)
        assert str(theirs.value) == str(mine.value)
        assert vars(theirs.value) == vars(mine.value)


def test_all_errors_can_be_sent():
    """Each class of errors keeps its message and its attributes."""
    kinds = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(kinds) > 15
    for kind in kinds:
        sent = pickle.loads(pickle.dumps(kind("what", line=3, file="f")))
        assert (type(sent), str(sent), sent.line, sent.file) == (kind, "what", 3, "f")


def test_files_that_crash_or_take_long_are_findings_and_errors(tmp_path):
    """Lint does that by default, loading if it is asked to; the process that called goes on."""
    short = Isolation(seconds=1.0)  # in which a busy machine may not even start the child
    for name, text, code, limits in (("crash", CRASHES, "crash", True), ("slow", SLOW, "time-limit", short)):
        path = tmp_path / f"{name}.xml"
        path.write_text(text)
        result = kt.lint(path, isolate=limits)
        assert [(each.code, each.level, each.file) for each in result] == [(code, "error", str(path))]
        with pytest.raises(errors.FileFormatError, match=f"{name}.xml: .*isolate=") as error:
            kt.load(path, isolate=limits)
        assert error.value.code == code


@pytest.mark.parametrize("wrong", [1, "yes", None, {"seconds": 3}])
def test_wrong_limits_are_refused(wrong):
    """By value, with what was expected."""
    for call in (kt.lint, kt.load):
        with pytest.raises(errors.KinetreeError, match="expected True, False or kinetree.io.Isolation"):
            call("arm7", isolate=wrong)
    for name in ("seconds", "memory"):
        for value in (0, -1.0, float("nan"), float("inf"), "3", True):
            with pytest.raises(errors.KinetreeError, match=f"Isolation: {name} is .*expected a finite number above 0"):
                Isolation(**{name: value})
