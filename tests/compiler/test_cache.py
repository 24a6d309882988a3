"""The disk cache: what is stored comes back, what is damaged does not, and failures of the disk stay silent."""

import dataclasses
import errno
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.cli import app
from kinetree.compiler.program_cache import cached_program, signature_of
from kinetree.native import cache, variants
from kinetree.native.engine import Target, assemble, is_object
from kinetree.native.kernel import Kernel
from kinetree.native.private_folder import PrivateFolder
from kinetree.trace.program import Program

PROGRAM = Program((("x", (2,)),), (("y", (2,)),), (("input", 0, 0), ("input", 0, 1), ("exp", 0), ("sin", 1)), ((2, 3),))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A directory for each test."""
    monkeypatch.delenv("KINETREE_CACHE", raising=False)
    monkeypatch.delenv("KINETREE_CACHE_SIZE", raising=False)
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


@pytest.fixture
def said(monkeypatch):
    """The warnings of this test; whether the process has warned before is forgotten."""
    monkeypatch.setattr(cache, "_said", set())
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def messages(said):
    """Texts of the cache's warnings."""
    return [text for text in (str(w.message) for w in said) if "KINETREE_CACHE" in text]


def test_unusable_directory_is_said_once(tmp_path, monkeypatch, said):
    """A file where the directory should be: kernels work, nothing is stored, one warning in all."""
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(blocked / "cache"))
    assert not cache.store("key", b"content")
    assert not cache.store("other", b"content")
    assert cache.load("key") is None
    assert evaluate() == reference()
    (message,) = messages(said)
    assert str(blocked) in message and "KINETREE_CACHE=0" in message


def test_missing_home_is_said_once(monkeypatch, said):
    """Without a home directory nothing is stored; with KINETREE_CACHE=0 that is no news."""
    monkeypatch.delenv("KINETREE_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", raise_no_home)
    monkeypatch.setenv("KINETREE_CACHE", "0")
    assert not cache.store("key", b"content") and not messages(said)
    monkeypatch.delenv("KINETREE_CACHE")
    assert not cache.store("key", b"content") and cache.load("key") is None
    assert evaluate() == reference()
    assert ["no home directory" in message for message in messages(said)] == [True]
    assert cache.usage().directory is None and cache.clear() == 0


def raise_no_home():
    """What pathlib does where the system knows no home."""
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_full_and_read_only_disks_are_said_once(folder, monkeypatch, said, code):
    """The write fails: what is there is still read, results are right, and no temporary file stays."""
    cache.store("old", b"content")

    def refuse(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(cache.os, "replace", refuse)
    assert not cache.store("new", b"content") and not cache.store("newer", b"content")
    assert cache.load("old") == b"content" and cache.load("new") is None
    assert evaluate() == reference()
    assert [os.strerror(code) in message for message in messages(said)] == [True]
    assert not list(folder.glob("*.tmp"))


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_read_only_directory_is_read(folder, said):
    """Entries of a directory without write permission serve; nothing new is stored."""
    if os.getuid() == 0:
        pytest.skip("permissions do not bind root")
    cache.store("key", b"content")
    (path,) = entries(folder)
    os.utime(path, (1e9, 1e9))
    folder.chmod(0o500)
    try:
        assert cache.load("key") == b"content"
        assert not cache.store("other", b"content")
        assert len(messages(said)) == 1
    finally:
        folder.chmod(0o700)


def test_clear_removes_everything(folder):
    """clear() counts and removes the entries."""
    cache.store("one", b"1")
    cache.store("two", b"2")
    assert cache.clear() == 2
    assert entries(folder) == []


def test_foreign_files_are_left_alone(folder):
    """KINETREE_CACHE_DIR may hold other things: neither clear() nor a sweep touches them."""
    cache.store("key", b"1")
    foreign = [folder / name for name in ("data.bin", "notes.tmp", "README", "a" * 40 + ".bin.txt")]
    for path in foreign:
        path.write_bytes(b"x" * 1000)
    assert (cache.usage().entries, cache.usage().size) == (1, entries(folder)[0].stat().st_size)
    with PrivateFolder(folder) as files:
        cache._sweep(files, 0)
    cache.clear()
    assert all(path.exists() for path in foreign)


# Size --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, size",
    [("", 512 * 2**20), ("1000", 1000), ("2 GB", 2**31), ("1.5MiB", 1572864), ("64k", 65536), ("0", 0)],
)
def test_sizes_are_read(monkeypatch, text, size):
    """Bytes, or with a unit of powers of 1024."""
    monkeypatch.setenv("KINETREE_CACHE_SIZE", text)
    assert cache.size_limit() == size


def test_unreadable_size_is_said(monkeypatch, said):
    """The default serves, and a warning shows what was found."""
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "lots")
    assert cache.size_limit() == cache.DEFAULT_SIZE
    assert ["'lots'" in message for message in messages(said)] == [True]


def test_what_was_not_used_for_longest_goes_first(folder, monkeypatch):
    """A load counts as use; after the sweep the size is below nine tenths of the limit."""
    old = time.time() - 10 * 86400
    for k in range(10):
        cache.store(f"entry {k}", bytes(1000))
        os.utime(folder / cache._name(f"entry {k}"), (old + k, old + k))
    assert cache.load("entry 0") is not None
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "6000")
    assert cache.store("last", bytes(1000))  # a sixth of the limit: certain to sweep
    assert [k for k in range(10) if cache.load(f"entry {k}") is not None] == [0, 7, 8, 9]
    assert cache.load("last") is not None
    assert cache.usage().size <= 0.9 * 6000


def test_size_stays_near_the_limit(folder, monkeypatch):
    """A thousand stores, each a 540th of the limit: the size stays near it with few looks at the folder."""
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "100 kB")
    looks, sizes = [], []
    sweep = cache._sweep
    monkeypatch.setattr(cache, "_sweep", lambda *args: looks.append(sizes.append(cache.usage().size)) or sweep(*args))
    for k in range(1000):
        cache.store(f"entry {k}", bytes(140))
    sizes.append(cache.usage().size)
    # A sweep is due every 32nd of the limit. That none comes for 19 times as long has the probability e^-19.
    assert max(sizes) < 102400 * (1 + 19 / 32)
    assert 20 < len(looks) < 120  # 59 expected, deviation 7.5


def test_entry_beyond_the_limit_is_not_stored(folder, monkeypatch):
    """It would drive all others out and then itself."""
    cache.store("small", b"1")
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "1000")
    assert not cache.store("large", bytes(2000))
    assert cache.load("small") == b"1"


# Kernels -----------------------------------------------------------------------------------------------------------


def built(*args, **options):
    """A kernel whose scalar form is there."""
    kernel = Kernel(PROGRAM, *args, **options)
    assert kernel.scalar_entry is not None
    return kernel


def evaluate():
    """Bytes of the kernel's result at one state."""
    return Kernel(PROGRAM).scalar_entry(np.array([0.3, 0.7])).tobytes()


def reference():
    """The same, compiled without the cache."""
    off = os.environ.get("KINETREE_CACHE")
    os.environ["KINETREE_CACHE"] = "0"
    try:
        kernel = built()
        assert not kernel.cached
        return kernel.scalar_entry(np.array([0.3, 0.7])).tobytes()
    finally:
        os.environ.pop("KINETREE_CACHE") if off is None else os.environ.update(KINETREE_CACHE=off)


def test_second_kernel_is_loaded_with_the_same_bits(folder):
    """The second kernel comes from the cache; precision and checks have entries of their own."""
    first = built()
    second = built()
    assert (first.cached, second.cached) == (False, True)
    assert evaluate() == reference()
    assert not built("float32").cached
    assert not built(checks=False).cached
    assert len(entries(folder)) == 3


def test_corrupt_object_is_compiled_again_and_replaced(folder):
    """A damaged file is neither trusted nor kept."""
    built()
    (path,) = entries(folder)
    good = path.read_bytes()
    path.write_bytes(good[: len(good) // 2])
    kernel = built()
    assert not kernel.cached
    assert evaluate() == reference()
    assert path.read_bytes() == good
    assert built().cached


@pytest.fixture
def stored(folder, monkeypatch):
    """What this test stores in the cache: pairs of key and content."""
    found = []
    store = cache.store
    monkeypatch.setattr(cache, "store", lambda key, content: found.append((key, content)) or store(key, content))
    return found


@pytest.mark.parametrize("content", [b"", b"garbage" * 9, b"\x7fELF" + bytes(99), b"\x64\x86" + b"\xff" * 50, "half"])
def test_an_entry_that_is_no_object_code_is_compiled_again(stored, content):
    """With the right checksum, as another program or version may have stored it: LLVM would end the process."""
    built()
    ((key, good),) = stored
    assert cache.store(key, good[: len(good) // 2] if content == "half" else content)
    kernel = built()
    assert not kernel.cached
    assert kernel.scalar_entry(np.array([0.3, 0.7])).tobytes() == reference()
    assert cache.load(key) == good and built().cached


@pytest.mark.parametrize("triple", ["x86_64-unknown-linux-gnu", "x86_64-apple-darwin", "x86_64-pc-windows-msvc"])
def test_object_files_of_all_platforms_are_known(triple):
    """ELF, Mach-O and COFF, as LLVM makes them; what is cut off is not taken for one."""
    pytest.importorskip("llvmlite")
    target = dataclasses.replace(Target.host(), triple=triple, cpu="x86-64", features="")
    try:
        data = assemble(f'target triple = "{triple}"\ndefine i32 @f() {{ ret i32 7 }}\n', target)
    except RuntimeError as error:  # an LLVM of another processor
        pytest.skip(str(error))
    assert is_object(data)
    assert not is_object(data[:12]) and not is_object(b"\0" + data) and not is_object(b"")


def test_changed_code_generator_has_entries_of_its_own(folder, monkeypatch):
    """The text of the emitting sources and LLVM's version are part of the key."""
    built()
    monkeypatch.setattr(variants, "emitter", lambda module: "another")
    assert [built().cached for _ in range(2)] == [False, True]
    assert len(entries(folder)) == 2


@pytest.mark.parametrize("content", [b"", b"garbage", b"[]", b"null", b"[1, 2]", b"\xff\xfe"])
def test_a_stored_program_that_cannot_be_read_is_traced_again(stored, content):
    """The entry of a trace holds something else, with the right checksum: the model is traced, the entry replaced."""
    spec, model = ALGORITHMS["gravity_forces"], kt.models.pendulum()
    signature = signature_of(spec, model, (), {})
    program = cached_program(spec, model, (), {}, signature)
    ((key, good),) = stored
    assert cache.store(key, content)
    assert cached_program(spec, model, (), {}, signature) == program
    assert cache.load(key) == good


def test_another_processor_has_entries_of_its_own(folder):
    """Code for a processor of another name or with other features is not taken, and its own code is found again."""
    host = Target.host()
    built()
    assert dataclasses.replace(host, features=host.features + ",+x").key != host.key
    generic = dataclasses.replace(host, cpu="generic")
    assert [built(target=generic).cached for _ in range(2)] == [False, True]
    assert built().cached and len(entries(folder)) == 2


# Processes ---------------------------------------------------------------------------------------------------------


SCRIPT = """
import sys, numpy as np
sys.path.insert(0, {root!r})
from tests.compiler.test_cache import Kernel, PROGRAM, cache
results = set()
for _ in range(8):
    cache.clear()
    results.add(Kernel(PROGRAM).scalar_entry(np.array([0.3, 0.7])).tobytes().hex())
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


STORM = """
import os, sys
sys.path.insert(0, {root!r})
from kinetree.cli import app
from kinetree.native import cache, variants
from kinetree.native import variants
seed = int(sys.argv[1])
wrong = 0
for k in range(300):
    key = f"key {{(k * 7 + seed) % 40}}"
    found = cache.load(key)
    wrong += found is not None and found != key.encode() * 300
    cache.store(key, key.encode() * 300)
    if k == 150 and seed == 0:
        cache.clear()
print(wrong)
"""


def test_many_processes_write_read_sweep_and_clear_at_once(folder, monkeypatch):
    """Six processes on forty keys, beyond the size: nobody reads what was not stored, nothing is left over."""
    monkeypatch.setenv("KINETREE_CACHE_SIZE", "40 kB")
    script = STORM.format(root=str(Path(__file__).parents[2] / "src"))
    workers = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", script, str(k)], stdout=subprocess.PIPE, text=True)
        for k in range(6)
    ]
    assert [worker.communicate(timeout=120)[0].strip() for worker in workers] == ["0"] * 6
    assert cache.usage().size < 40 * 1024 * 1.3
    assert not list(folder.glob("*.tmp"))
    assert all(cache.load(f"key {k}") in (None, f"key {k}".encode() * 300) for k in range(40))


KILLED = """
import os, resource, signal, sys
sys.path.insert(0, {root!r})
from kinetree.native import cache, variants
cache.store("done", b"content")
if {when!r} == "before the rename":
    os.replace = lambda *args, **named: os.kill(os.getpid(), signal.SIGKILL)
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python makes an error of it
cache.store("done", b"other content" * 100)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("when", ["in the middle of writing", "before the rename"])
def test_killed_writer_leaves_nothing_that_is_read(folder, monkeypatch, when):
    """The entry stays what it was; the temporary file goes with the first store of another process.

    Not before its writer, if it is at work all the same, has had its time.
    """
    script = KILLED.format(root=str(Path(__file__).parents[2] / "src"), when=when)
    assert subprocess.run([sys.executable, "-c", script]).returncode < 0
    assert cache.load("done") == b"content"
    (left,) = folder.glob("*.tmp")
    assert cache.store("early", b"content") and left.exists()
    os.utime(left, (time.time() - 2 * cache.ABANDONED,) * 2)
    monkeypatch.setattr(cache, "_tidied", set())  # another process
    assert cache.store("late", b"content")
    assert not left.exists() and cache.load("done") == b"content"


def test_a_writer_whose_temporary_file_is_gone_stores_nothing(folder, monkeypatch, said):
    """One that was stopped for longer than `ABANDONED`: no error, and nothing to say."""
    replace = os.replace

    def late(old, new, **named):
        os.unlink(folder / old)
        return replace(old, new, **named)

    monkeypatch.setattr(os, "replace", late)
    assert not cache.store("key", b"content")
    assert cache.load("key") is None and not said


def test_the_command_shows_and_clears_the_cache(folder, monkeypatch):
    """Folder, number of entries, size and limit; --clear removes them; off is said."""

    def run(*arguments):
        result = CliRunner().invoke(app, ["cache", *arguments])
        assert result.exit_code == 0
        return result.stdout

    cache.store("one", bytes(2**20))
    cache.store("two", b"2")
    shown = run()
    assert str(folder) in shown and "1 MB of 512 MB" in shown and "entries       2" in shown
    shown = run("--clear")
    assert "removed       2 entries" in shown and "entries       0" in shown
    assert entries(folder) == []
    monkeypatch.setenv("KINETREE_CACHE", "0")
    assert "turned off" in run()
