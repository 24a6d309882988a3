"""Robots by name from installed packages: the same as from their files; errors name the fix."""

from __future__ import annotations

import importlib.metadata
import sys

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError, MissingDependencyError, UnknownNameError
from kinetree.io import packages
from tests.engines.robots import robot_path

FAKE = {
    "__init__": 'DESCRIPTIONS = dict.fromkeys(["near_description", "far_description", "bare_description"])',
    "near_description": "PACKAGE_PATH = REPOSITORY_PATH = {folder!r}\nURDF_PATH = {urdf!r}",
    "far_description": 'raise OSError("Could not resolve host: github.com")',
    "bare_description": "SRDF_PATH = 'x.srdf'",
}


@pytest.fixture
def descriptions(tmp_path, monkeypatch):
    """A package robot_descriptions with one robot in its cache and one that would be cloned."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    package = tmp_path / "robot_descriptions"
    package.mkdir()
    urdf = str(kt.data.path("arm7"))
    for name, text in FAKE.items():
        given = text.format(folder=str(tmp_path), urdf=urdf) if name.startswith("near") else text
        (package / f"{name}.py").write_text(given)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        del sys.modules[name]


@pytest.mark.parametrize("name", ["panda", "talos"])
def test_names_of_example_robot_data(name):
    """Pinocchio's mass of the same file; legged robots have a free base, unless another is asked for."""
    model = kt.load(name, unsupported="drop")
    other = pin.buildModelFromUrdf(robot_path({"panda": "panda", "talos": "talos_reduced"}[name]), *(
        [pin.JointModelFreeFlyer()] if name == "talos" else []))  # fmt: skip
    assert model.total_mass == pytest.approx(pin.computeTotalMass(other), rel=1e-12)
    assert (model.nq, model.nv) == ((39, 38) if name == "talos" else (9, 9))
    if name == "talos":
        assert kt.load("talos", floating_base=False, unsupported="drop").nv == 32
    found = packages.find(name)
    assert found.path.is_file() and all(folder.is_dir() for folder in found.options["package_dirs"])


def test_shipped_names_come_first_and_all_files_exist():
    """No name of the table hides a shipped robot; every file of the table is in the installed package."""
    assert not set(packages.FIXED | packages.FLOATING) & set(kt.data.robots())
    assert set(packages._example_robots()) == set(packages.FIXED | packages.FLOATING)
    assert not set(packages.FIXED) & set(packages.FLOATING)


def test_misspelled_names_have_suggestions():
    """Of all packages."""
    with pytest.raises(UnknownNameError, match="Did you mean 'talos'"):
        kt.load("taloss")


def test_names_of_robot_descriptions(descriptions):
    """From the cache; without network the error names the folder of the cache; misspelled names have suggestions."""
    assert np.array_equal(kt.load("near_description").parent, kt.load("arm7").parent)
    with pytest.raises(FileFormatError, match="clones the files.*Could not resolve host.*~/.cache/robot_descriptions"):
        kt.load("far_description")
    with pytest.raises(kt.errors.UnsupportedError, match="neither URDF nor MJCF"):
        kt.load("bare_description")
    with pytest.raises(UnknownNameError, match="Did you mean 'near_description'"):
        kt.load("neer_description")


def test_without_packages(monkeypatch):
    """The command that installs robot_descriptions; shipped robots need no package."""
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(packages, "_example_robots", dict)
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="pip install robot_descriptions"):
        kt.load("panda_description")
    with pytest.raises(UnknownNameError, match="no robot named 'panda'"):
        kt.load("panda")
    assert kt.load("arm7").nv == 9
