"""Small MJCF files that stand for endless ones are refused before MuJoCo's compiler runs."""

from __future__ import annotations

import os
import struct
import zlib

import pytest

import kinetree as kt
from kinetree.errors import MJCFError
from kinetree.io.mjcf.checks import MOST_COPIES, MOST_NUMBERS
from kinetree.io.mjcf.sources import DEEPEST

BODY = '<body name="b"><joint name="j"/><geom size=".1"/>{}</body>'


def file(body="", *, head="", asset="", tail=""):
    return f"<mujoco>{head}<asset>{asset}</asset><worldbody>{BODY.format(body)}</worldbody>{tail}</mujoco>"


def nested(levels, inner):
    for _ in range(levels):
        inner = f'<replicate count="100" offset="1 0 0">{inner}</replicate>'
    return inner


SIZES = {
    "replicate": file('<replicate count="1000000000" offset="0 0 1"><geom size=".1"/></replicate>'),
    "nested replicates": file(nested(5, '<geom size=".1"/>')),
    "flexcomp": file('<flexcomp name="f" type="grid" count="1000 1000 1000" spacing=".1 .1 .1" mass="1" dim="3"/>'),
    "cells": file('<flexcomp name="f" type="grid" dof="trilinear" cellcount="900 900 900" count="2 2 2" mass="1"/>'),
    "keys": file(head='<size nkey="1000000000"/>'),
    "height field": file(asset='<hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/>'),
    "activations": file(tail='<actuator><general joint="j" dyntype="user" actdim="100000000"/></actuator>'),
    "user sensor": file(tail='<sensor><user dim="1000000000"/></sensor>'),
    "contact sensor": file(tail='<sensor><contact num="1000000000" body1="b"/></sensor>'),
    "camera": file('<camera name="c" resolution="30000 30000"/>', tail='<sensor><rangefinder camera="c"/></sensor>'),
    "camera by default": file("<camera name='c'/>" * 20, head='<default><camera resolution="1000 1000"/></default>'),
    "samples": file(tail='<sensor><jointpos joint="j" nsample="20000000" delay=".1"/></sensor>'),
    "mesh": file(asset='<mesh name="m" builtin="cone" params="100000000 .5"/>'),
    "length range": file(head='<compiler><lengthrange inttotal="1e12"/></compiler>',
                         tail='<actuator><muscle joint="j"/></actuator>'),
}  # fmt: skip


@pytest.mark.parametrize("case", SIZES)
def test_counts_that_would_fill_the_memory_or_never_end_are_refused(case):
    """Loading names the line, lint agrees, and neither calls the compiler (which would take GiB, or hours)."""
    with pytest.raises(MJCFError, match="(at most|Is a (count|size) too large)") as error:
        kt.load(SIZES[case])
    assert (error.value.line, error.value.code) == (1, "too-large")
    assert "too-large" in [each.code for each in kt.lint(SIZES[case]).errors]


def test_what_robots_have_is_compiled():
    """A field of 1000 x 1000 points, 200 copies, a grid of flexible points, keyframes: all far below the limits."""
    text = file(
        '<replicate count="200" offset="0 0 .3"><geom size=".1"/></replicate>',
        asset='<hfield name="h" nrow="1000" ncol="1000" size="1 1 1 1"/>',
        head='<size nkey="20" memory="10G" nuserdata="100"/>',
    )
    model = kt.load(text)
    assert len(model.geometry[1]) == 201
    assert MOST_COPIES >= 100_000 and MOST_NUMBERS >= 4096**2


def test_workspace_of_mujoco_is_not_reserved():
    """MuJoCo would take 900 GiB for simulations that nobody asked for; a texture of 10 GiB is a picture."""
    text = file(
        head='<size memory="900G" nuserdata="2000000000"/>',
        asset='<texture name="t" type="2d" builtin="flat" width="60000" height="60000"/>',
    )
    assert kt.load(text).nv == 1


# Files that are part of themselves --------------------------------------------------------------------------------


def attaching(file_, more=""):
    return (
        f'<mujoco model="m"><asset><model name="s" file="{file_}"/></asset>'
        f'<worldbody><attach model="s" prefix="a_"/>{more}</worldbody></mujoco>'
    )


@pytest.mark.parametrize(
    "files",
    [
        {"main.xml": attaching("main.xml")},
        {"main.xml": attaching("other.xml"), "other.xml": attaching("main.xml")},
        {"main.xml": attaching("other.xml"), "other.xml": attaching("other.xml")},
        {
            "main.xml": '<mujoco><include file="part.xml"/></mujoco>',
            "part.xml": '<mujocoinclude><asset><model name="s" file="main.xml"/></asset></mujocoinclude>',
        },
    ],
    ids=["itself", "each other", "another one", "through an include"],
)
def test_models_that_attach_themselves_are_refused(tmp_path, files):
    """MuJoCo follows the circle until its stack ends, and the process with it."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(MJCFError, match="is part of itself") as error:
        kt.load(tmp_path / "main.xml")
    assert error.value.code == "include-cycle"
    assert "include-cycle" in [each.code for each in kt.lint(tmp_path / "main.xml").errors]


def test_attached_models_multiply(tmp_path):
    """Each of 20 files attaches the next one ten times: what is written has 500 lines, what is meant 1e20 bodies."""
    for k in range(20):
        (tmp_path / f"m{k}.xml").write_text(attaching(f"m{k + 1}.xml", '<attach model="s" prefix="b_"/>' * 9))
    (tmp_path / "m20.xml").write_text(file())
    with pytest.raises(MJCFError, match="at most 100000 copies"):
        kt.load(tmp_path / "m0.xml")


@pytest.mark.parametrize("order", [range(DEEPEST + 10), reversed(range(DEEPEST + 10))], ids=["down", "up"])
def test_chains_of_files_end(tmp_path, order):
    """Files within files, however they are found, are a message and no recursion error."""
    for k in range(DEEPEST + 10):
        (tmp_path / f"m{k}.xml").write_text(attaching(f"m{k + 1}.xml"))
    (tmp_path / f"m{DEEPEST + 10}.xml").write_text(file())
    models = "".join(f'<model name="n{k}" file="m{k}.xml"/>' for k in order)
    (tmp_path / "main.xml").write_text(f"<mujoco><asset>{models}</asset></mujoco>")
    with pytest.raises(MJCFError, match=f"files are nested deeper than {DEEPEST}"):
        kt.load(tmp_path / "main.xml")


# Ordinary files only ----------------------------------------------------------------------------------------------

OPENED = {
    "include": '<mujoco><include file="pipe.xml"/></mujoco>',
    "include in a part": '<mujoco><include file="part.xml"/></mujoco>',
    "model": attaching("pipe.xml"),
    "mesh": file('<geom type="mesh" mesh="m"/>', asset='<mesh name="m" file="pipe.stl"/>'),
    "mesh in a folder": file(head='<compiler meshdir="meshes"/>', asset='<mesh file="pipe.stl"/>'),
    "height field": file(asset='<hfield name="h" file="pipe.png" size="1 1 1 1"/>'),
    "skin": file(asset='<skin name="s" file="pipe.skn"/>'),
    "flexible body": file('<flexcomp name="f" type="mesh" file="pipe.obj" mass="1"/>'),
    "flexible body in a folder": file('<flexcomp name="f" type="gmsh" file="pipe.msh" mass="1"/>',
                                      head='<compiler assetdir="meshes"/>'),
}  # fmt: skip


@pytest.fixture
def pipes(tmp_path):
    """A folder in which all that a model could name is a pipe: whoever opens one waits for ever."""
    (tmp_path / "meshes").mkdir()
    for folder in (tmp_path, tmp_path / "meshes"):
        for suffix in ("xml", "stl", "png", "skn", "obj", "msh", "urdf", "sdf"):
            os.mkfifo(folder / f"pipe.{suffix}")
    (tmp_path / "part.xml").write_text('<mujocoinclude><include file="pipe.xml"/></mujocoinclude>')
    return tmp_path


@pytest.mark.parametrize("case", OPENED)
def test_pipes_are_not_opened(pipes, case):
    """Each kind of file that MuJoCo opens."""
    (pipes / "main.xml").write_text(OPENED[case])
    with pytest.raises(MJCFError, match="is a pipe, no ordinary file") as error:
        kt.load(pipes / "main.xml")
    assert error.value.code == "not-a-file"
    assert "not-a-file" in [each.code for each in kt.lint(pipes / "main.xml").errors]


def test_textures_are_not_opened_at_all(pipes):
    """They are pictures."""
    (pipes / "main.xml").write_text(file(asset='<texture name="t" type="2d" file="pipe.png"/>'))
    assert kt.load(pipes / "main.xml").nv == 1


def test_devices_and_files_of_the_kernel_are_not_opened(tmp_path):
    """A link hides them from the name; reading /dev/zero has no end, /proc/kmsg waits for the kernel."""
    for target in ("/dev/zero", "/proc/self/maps"):
        (tmp_path / "mesh.stl").unlink(missing_ok=True)
        (tmp_path / "mesh.stl").symlink_to(target)
        (tmp_path / "main.xml").write_text(file(asset='<mesh name="m" file="mesh.stl"/>'))
        with pytest.raises(MJCFError, match="is a (device|file of the kernel), no ordinary file"):
            kt.load(tmp_path / "main.xml")


def test_enormous_meshes_are_not_read(tmp_path):
    """The file is sparse: it takes no room on the disk, and would take 10 GiB of memory."""
    with (tmp_path / "mesh.stl").open("wb") as stream:
        stream.truncate(10 * 2**30)
    (tmp_path / "main.xml").write_text(file(asset='<mesh name="m" file="mesh.stl"/>'))
    with pytest.raises(MJCFError, match="10240 MiB; meshes above 256 MiB are not read"):
        kt.load(tmp_path / "main.xml")


def test_pictures_that_unfold_are_not_read(tmp_path):
    """A PNG file of 100 bytes may state a size of gigabytes."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + header
    data = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    (tmp_path / "hill.png").write_bytes(data)
    (tmp_path / "main.xml").write_text(file(asset='<hfield name="h" file="hill.png" size="1 1 1 1"/>'))
    with pytest.raises(MJCFError, match="3600000000 points; at most"):
        kt.load(tmp_path / "main.xml")


def test_other_formats_wait_for_no_pipe(pipes):
    """The file itself, meshes whose mass is asked for, and what SDF includes."""
    for name in ("pipe.urdf", "pipe.sdf", "pipe.xml"):
        with pytest.raises(kt.errors.FileFormatError, match="this is a pipe, no ordinary file"):
            kt.load(pipes / name)
    urdf = (
        '<robot name="r"><link name="a"><collision><geometry><mesh filename="pipe.stl"/></geometry></collision></link>'
        "</robot>"
    )
    (pipes / "main.urdf").write_text(urdf)
    assert kt.load(pipes / "main.urdf").name == "r"
    (pipes / "main.sdf").write_text(
        '<sdf version="1.7"><world name="w"><include><uri>pipe.sdf</uri></include></world></sdf>'
    )
    with pytest.raises(kt.errors.SDFError, match=r"pipe\.sdf"):
        kt.load(pipes / "main.sdf")
