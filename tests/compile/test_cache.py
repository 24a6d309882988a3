"""The disk cache: what is stored comes back, what is damaged does not, and failures of the disk stay silent."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kinetree.compile import cache
from kinetree.compile.kernel import Kernel
from kinetree.compile.program import Program

PROGRAM = Program((("x", (2,)),), (("y", (2,)),), (("input", 0, 0), ("input", 0, 1), ("exp", 0), ("sin", 1)), ((2, 3),))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A directory for each test."""
    monkeypatch.delenv("KINETREE_CACHE", raising=False)
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder):
    """The files of the cache."""
    return sorted(folder.glob("*.bin"))


def test_stored_content_comes_back(folder):
    """load(key) is what store(key) was given, byte for byte, and None for other keys."""
    assert cache.directory() == folder
    assert cache.load("a key / with: anything") is None
    assert cache.store("a key / with: anything", b"\0content\xff")
    assert cache.load("a key / with: anything") == b"\0content\xff"
    assert cache.load("another") is None
    assert cache.store("a key / with: anything", b"")
    assert cache.load("a key / with: anything") == b""


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "foreign", "append"])
def test_damaged_entry_counts_as_absent(folder, damage):
    """Any change to the file is noticed."""
    cache.store("key", b"content" * 100)
    (path,) = entries(folder)
    data = path.read_bytes()
    changed = {
        "truncate": data[:-5],
        "flip": data[:200] + bytes([data[200] ^ 1]) + data[201:],
        "empty": b"",
        "foreign": b"something else",
        "append": data + b"x",
    }
    path.write_bytes(changed[damage])
    assert cache.load("key") is None


def test_entry_of_another_key_is_refused(folder):
    """The checksum covers the key: a renamed file is not taken for another entry."""
    cache.store("one", b"1")
    (path,) = entries(folder)
    cache.store("two", b"2")
    other = next(p for p in entries(folder) if p != path)
    other.write_bytes(path.read_bytes())
    assert cache.load("two") is None


def test_cache_can_be_turned_off(folder, monkeypatch):
    """KINETREE_CACHE=0: nothing is written or found."""
    cache.store("key", b"content")
    monkeypatch.setenv("KINETREE_CACHE", "0")
    assert cache.directory() is None
    assert cache.load("key") is None
    assert not cache.store("other", b"content")
    assert cache.clear() == 0
    assert len(entries(folder)) == 1


def test_default_directory_follows_the_platform(monkeypatch, tmp_path):
    """XDG_CACHE_HOME, or %LOCALAPPDATA% on Windows."""
    monkeypatch.delenv("KINETREE_CACHE_DIR")
    monkeypatch.setenv("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", str(tmp_path))
    assert cache.directory() == tmp_path / "kinetree"


def test_unusable_directory_is_silent(tmp_path, monkeypatch):
    """A file where the directory should be: kernels work, nothing is stored."""
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(blocked / "cache"))
    assert not cache.store("key", b"content")
    assert cache.load("key") is None
    assert evaluate() == reference()


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_directory_open_to_everyone_is_not_used(folder):
    """Machine code that anyone may have written is not run."""
    cache.store("key", b"content")
    folder.chmod(0o777)
    assert cache.load("key") is None
    assert not cache.store("key", b"content")


def test_clear_removes_everything(folder):
    """clear() counts and removes the entries."""
    cache.store("one", b"1")
    cache.store("two", b"2")
    assert cache.clear() == 2
    assert entries(folder) == []


def evaluate():
    """Bytes of the kernel's result at one state."""
    return Kernel(PROGRAM).entry(np.array([0.3, 0.7])).tobytes()


def reference():
    """The same, compiled without the cache."""
    off = os.environ.get("KINETREE_CACHE")
    os.environ["KINETREE_CACHE"] = "0"
    try:
        kernel = Kernel(PROGRAM)
        assert not kernel.cached
        return kernel.entry(np.array([0.3, 0.7])).tobytes()
    finally:
        os.environ.pop("KINETREE_CACHE") if off is None else os.environ.update(KINETREE_CACHE=off)


def test_second_kernel_is_loaded_with_the_same_bits(folder):
    """The second kernel comes from the cache; precision and checks have entries of their own."""
    first = Kernel(PROGRAM)
    second = Kernel(PROGRAM)
    assert (first.cached, second.cached) == (False, True)
    assert evaluate() == reference()
    assert not Kernel(PROGRAM, "float32").cached
    assert not Kernel(PROGRAM, checks=False).cached
    assert len(entries(folder)) == 3


def test_corrupt_object_is_compiled_again_and_replaced(folder):
    """A damaged file is neither trusted nor kept."""
    Kernel(PROGRAM)
    (path,) = entries(folder)
    good = path.read_bytes()
    path.write_bytes(good[: len(good) // 2])
    kernel = Kernel(PROGRAM)
    assert not kernel.cached
    assert evaluate() == reference()
    assert path.read_bytes() == good
    assert Kernel(PROGRAM).cached


SCRIPT = """
import sys, numpy as np
sys.path.insert(0, {root!r})
from tests.compile.test_cache import Kernel, PROGRAM, cache
results = set()
for _ in range(8):
    cache.clear()
    results.add(Kernel(PROGRAM).entry(np.array([0.3, 0.7])).tobytes().hex())
print(*results)
"""


def test_two_processes_may_compile_clear_and_load_at_once():
    """Each process gets the right bits while the other removes and replaces the same entry."""
    script = SCRIPT.format(root=str(Path(__file__).parents[2]))
    workers = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        for _ in range(2)
    ]
    outputs = [worker.communicate(timeout=120)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert outputs == [[reference().hex()]] * 2
