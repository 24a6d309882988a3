"""Mesh names become paths: relative, file://, package://, through options, ROS_PACKAGE_PATH and the folders above."""

import pytest

from kinetree.io.mesh_paths import resolve


@pytest.fixture
def share(tmp_path, monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    mesh = tmp_path / "share" / "arm description" / "meshes" / "a.stl"
    mesh.parent.mkdir(parents=True)
    mesh.touch()
    return tmp_path / "share"


def test_relative_names_start_at_the_robot_file(share):
    """A plain name is relative to the file that holds it, if there is one."""
    base = share / "arm description"
    assert resolve("meshes/a.stl", base) == base / "meshes" / "a.stl"
    assert resolve("meshes/a.stl", None) is None
    assert resolve(str(base / "meshes" / "a.stl"), None) == base / "meshes" / "a.stl"


@pytest.mark.parametrize("name", ["package://arm description/meshes/a.stl", "model://arm%20description/meshes/a.stl"])
def test_package_dirs_hold_packages_or_are_one(share, name):
    """Both the folder above the package and the package itself are understood."""
    found = share / "arm description" / "meshes" / "a.stl"
    assert resolve(name, None, [share]) == found
    assert resolve(name, None, [share / "arm description"]) == found
    assert resolve(name, None) is None


def test_packages_are_found_in_the_environment_and_above_the_file(share, monkeypatch):
    """ROS_PACKAGE_PATH and the folders that contain the robot file are searched."""
    name, found = "package://arm description/meshes/a.stl", share / "arm description" / "meshes" / "a.stl"
    assert resolve(name, share / "arm description" / "urdf") == found
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{share}")
    assert resolve(name, None) == found


def test_file_urls_and_foreign_schemes(share):
    """file:// is a path; nothing is fetched from elsewhere."""
    path = share / "arm description" / "meshes" / "a.stl"
    assert resolve(path.as_uri(), None) == path
    assert resolve("http://example.org/a.stl", share) is None
