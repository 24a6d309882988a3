"""A file that kinetree writes is the old one or the new one, as a whole, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

import kinetree as kt
from kinetree import files
from kinetree.errors import FileWriteError
from kinetree.files import replacing, write_bytes, write_text

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions, links and signals of POSIX")


@pytest.fixture(params=["nameless", "named"])
def kind(request, monkeypatch):
    """The two kinds of unfinished files: those of Linux, and those of every other system."""
    if request.param == "named":
        monkeypatch.setattr(files._Nameless, "made_in", lambda folder: None)
    return request.param


def names(folder):
    """What lies in a folder, hidden files included."""
    return sorted(os.listdir(folder))


def test_the_old_file_stays_until_the_new_one_is_complete(kind, tmp_path):
    """Nobody who opens the name meanwhile sees a part of the new file."""
    path = tmp_path / "run.npz"
    write_bytes(path, b"old")
    with replacing(path) as file:
        file.write(b"new" * 100_000)
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" * 100_000
    assert names(tmp_path) == ["run.npz"]


def test_libraries_may_write_by_name(kind, tmp_path):
    """``file.name`` opens the same file, for writers that take names only."""
    with replacing(tmp_path / "a") as file, open(file.name, "wb") as other:
        other.write(b"by name")
    assert (tmp_path / "a").read_bytes() == b"by name"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_an_error_in_the_middle_leaves_the_old_file(error, kind, tmp_path):
    """Errors come through as they are; nothing half written stays."""
    path = tmp_path / "a"
    write_text(path, "old")
    with pytest.raises(error), replacing(path) as file:
        file.write(b"half")
        raise error
    assert path.read_text() == "old" and names(tmp_path) == ["a"]


def test_errors_about_other_files_are_not_taken_for_ours(kind, tmp_path):
    """A writer that misses its own input says so."""
    with pytest.raises(FileNotFoundError, match="input"), replacing(tmp_path / "a"):
        open(tmp_path / "input")
    assert names(tmp_path) == []


# Full disks, limits, kills -------------------------------------------------------------------------------------------


def run_python(code, *arguments, **options):
    """A Python process that runs this code."""
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], text=True, **options)


AS_NAMED = "from kinetree import files\nif kind == 'named': files._Nameless.made_in = lambda folder: None\n"


def test_a_limit_of_the_size_leaves_the_old_file(kind, tmp_path):
    """A file system that takes no more bytes: an error of ours with the system's number, and the old file."""
    path = tmp_path / "a.bin"
    write_text(path, "old")
    code = (
        f"import resource, sys\nkind, path = sys.argv[1:]\n{AS_NAMED}"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "try: files.write_bytes(path, bytes(100_000))\n"
        "except files.FileWriteError as error: print(error.errno, error)\n"
    )
    said, _ = run_python(code, kind, path, stdout=subprocess.PIPE).communicate(timeout=60)
    assert said.startswith(str(errno.EFBIG))
    assert f"{path}: not written: " in said and "the file that was there is unchanged. Make room" in said
    assert path.read_text() == "old" and names(tmp_path) == ["a.bin"]


def test_a_disk_that_is_full_only_when_asked_to_keep(kind, tmp_path, monkeypatch):
    """Some file systems find out when the data must go to the disk."""
    write_text(tmp_path / "a", "old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileWriteError, match="No space left on device; the file that was there is unchanged. Make"):
        write_text(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old" and names(tmp_path) == ["a"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is always full")
def test_the_device_that_is_always_full():
    """A device is written to directly, and its error is ours."""
    with pytest.raises(FileWriteError, match="/dev/full: not written: No space left on device. Make room") as error:
        write_text("/dev/full", "x")
    assert error.value.errno == errno.ENOSPC and isinstance(error.value, OSError)


def killed_writer(kind, path):
    """Start a writer, and kill it when it has written half."""
    code = (
        f"import sys, time\nkind, path = sys.argv[1:]\n{AS_NAMED}"
        "with files.replacing(path) as file:\n"
        "    file.write(b'half'); file.flush(); print('half', flush=True); time.sleep(600)\n"
    )
    process = run_python(code, kind, path, stdout=subprocess.PIPE)
    assert process.stdout.readline() == "half\n"
    return process


def test_a_killed_writer_leaves_the_old_file_alone(kind, tmp_path):
    """Linux leaves nothing else; elsewhere the next writer of the folder removes what is left."""
    path = tmp_path / "a"
    write_text(path, "old")
    process = killed_writer(kind, path)
    write_text(tmp_path / "b", "another, while the first still writes")
    unfinished = [name for name in names(tmp_path) if name not in ("a", "b")]
    assert len(unfinished) == (kind == "named")
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert path.read_text() == "old"
    write_text(tmp_path / "c", "the next")
    assert names(tmp_path) == ["a", "b", "c"]


def test_an_unfinished_file_of_another_machine_is_removed_after_a_day(tmp_path, monkeypatch):
    """Whether its writer runs cannot be asked, so age decides."""
    monkeypatch.setattr(files._Nameless, "made_in", lambda folder: None)
    fresh, old = (tmp_path / f".kinetree-{k:08x}-1-{'0' * 16}.tmp" for k in (1, 2))
    for path in (fresh, old):
        path.write_text("half")
    os.utime(old, (time.time() - 100_000,) * 2)
    write_text(tmp_path / "a", "x")
    assert names(tmp_path) == [fresh.name, "a"]


def test_writers_of_one_name_do_not_mix(kind, tmp_path):
    """Eight threads, one name: the content of one of them."""
    path = tmp_path / "a"
    contents = [bytes([k]) * 50_000 for k in range(8)]
    threads = [threading.Thread(target=write_bytes, args=(path, content)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents and names(tmp_path) == ["a"]


# Permissions, links, devices -----------------------------------------------------------------------------------------


def test_permissions_of_the_old_file_are_kept(kind, tmp_path):
    """Readable by whom the old one was."""
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_any_new_file(kind, tmp_path):
    """The mask of the process decides, as for open()."""
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_owner_and_group_are_kept(kind, tmp_path):
    """A file of another user that root rewrites stays that user's."""
    path = tmp_path / "a"
    path.write_text("old")
    os.chown(path, 1234, 5678)
    write_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


def test_a_write_protected_file_is_not_replaced(kind, tmp_path, monkeypatch):
    """Renaming would get round the protection (asked of a stand-in: the tests may run as root)."""
    path = tmp_path / "a"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(FileWriteError, match="a: not written: the file that is there is write-protected") as error:
        write_text(path, "new")
    assert error.value.errno == errno.EACCES and path.read_text() == "old"


def test_links_stay_links(kind, tmp_path):
    """Also one that leads to no file yet; a circle is refused."""
    (tmp_path / "link").symlink_to("real")
    for text in ("first", "second"):
        write_text(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == text
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(FileWriteError, match="circle: not written: the links lead in a circle"):
        write_text(tmp_path / "circle", "x")


def test_folders_that_are_not_there(kind, tmp_path):
    """The message names the folder; a folder in the place of the file is no file."""
    with pytest.raises(FileWriteError, match=f"there is no folder {re.escape(str(tmp_path))}/no. Make it first"):
        write_text(tmp_path / "no" / "a", "x")
    with pytest.raises(FileWriteError, match="not written: Is a directory"):
        write_text(tmp_path, "x")


def test_the_longest_names_can_be_written(kind, tmp_path):
    """The name of the unfinished file is not longer than the name itself may be."""
    path = tmp_path / ("\N{ROBOT FACE}" * 63)  # 252 bytes
    write_text(path, "x")
    assert path.read_text() == "x"


def test_pipes_are_written_to(tmp_path):
    """A pipe keeps its place; what is written comes out of it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_text(pipe, "through")
    reader.join(60.0)
    assert read == [b"through"] and stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_standard_output_keeps_what_it_has(tmp_path):
    """What is open already is written to at its end, and not replaced behind the back of the one who opened it."""
    code = (
        "from kinetree.files import write_text\n"
        "print('before', flush=True)\nwrite_text('/dev/stdout', 'text ')\nprint('after')"
    )
    with (tmp_path / "out").open("ab") as out:
        assert run_python(code, stdout=out).wait(60) == 0
    assert (tmp_path / "out").read_text() == "before\ntext after\n"


def test_a_model_that_cannot_be_saved_leaves_the_old_one(tmp_path):
    """kt.save stands on this."""
    path = tmp_path / "robot.urdf"
    kt.save(kt.models.pendulum(), path)
    code = (
        "import resource, sys, kinetree as kt\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: kt.save(kt.load('arm7'), sys.argv[1])\n"
        "except kt.errors.FileWriteError as error: print(error)\n"
    )
    said, _ = run_python(code, path, stdout=subprocess.PIPE).communicate(timeout=60)
    assert "robot.urdf: not written" in said
    assert kt.load(path).name == "pendulum" and names(tmp_path) == ["robot.urdf"]


def test_what_a_kill_left_in_the_last_instant_is_removed(kind, tmp_path):
    """Files without a name get one just before they take the place of the old one; a kill there leaves that name."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    left = tmp_path / f".kinetree-{files._machine()}-{process.pid}-{'0' * 16}.tmp"
    left.write_text("complete, but not in its place")
    write_text(tmp_path / "a", "x")
    assert names(tmp_path) == ["a"]
