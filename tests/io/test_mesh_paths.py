"""Mesh names become paths, or reasons why not: relative, file://, package://, model://, and names that are refused."""

import os
from pathlib import Path

import pytest

from kinetree.io.mesh_paths import GAZEBO_VARIABLES, ROS_VARIABLES, MeshFinder


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    """No variable of this machine takes part."""
    for variable in (*ROS_VARIABLES, *GAZEBO_VARIABLES):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def share(tmp_path):
    """A folder with the package "arm description" and a mesh in it."""
    mesh = tmp_path / "share" / "arm description" / "meshes" / "a.stl"
    mesh.parent.mkdir(parents=True)
    mesh.touch()
    return tmp_path / "share"


def package(folder, name=None, mesh="meshes/a.stl"):
    """A package with one mesh; with a manifest if it is named."""
    path = folder / mesh
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    if name is not None:
        (folder / "package.xml").write_text(f'<?xml version="1.0"?>\n<package><name> {name} </name></package>')
    return path


def resolve(name, base, package_dirs=()):
    """The path of a name, or None."""
    return MeshFinder(base, package_dirs).find(name).path


def reason(name, base=None, package_dirs=(), **values):
    """Why a name has no path."""
    found = MeshFinder(base, package_dirs, **values).find(name)
    assert found.path is None and found.reason
    return found.reason


# Plain names and file:// --------------------------------------------------------------------------------------------


def test_relative_names_start_at_the_robot_file(share):
    """A plain name is relative to the file that holds it, also upwards."""
    base = share / "arm description"
    assert resolve("meshes/a.stl", base) == base / "meshes" / "a.stl"
    (base / "urdf").mkdir()
    assert resolve("../meshes/a.stl", base / "urdf").samefile(base / "meshes" / "a.stl")
    assert resolve(str(base / "meshes" / "a.stl"), None) == base / "meshes" / "a.stl"


def test_relative_names_of_text_start_in_the_current_folder(share, monkeypatch):
    """A robot given as text lies nowhere; the reason for a miss says where was looked, and paths are absolute."""
    assert "came as text" in reason("meshes/a.stl")
    monkeypatch.chdir(share / "arm description")
    assert resolve("meshes/a.stl", None) == share / "arm description" / "meshes" / "a.stl"


def test_relative_names_are_also_looked_up_in_package_dirs(share):
    """After the robot's own folder; a note says that the name alone does not give the place."""
    home = share / "arm description"
    found = MeshFinder(share, [home]).find("meshes/a.stl")
    assert found.path == home / "meshes" / "a.stl"
    assert found.note == f"found below {home}"
    assert MeshFinder(home, [home]).find("meshes/a.stl").note == ""


def test_package_dirs_may_be_one_path(share):
    """A single string is one folder, not its letters."""
    assert resolve("meshes/a.stl", None, str(share / "arm description")) is not None
    assert resolve("package://arm description/meshes/a.stl", None, share) is not None


def test_file_urls(share):
    """file:// with and without a machine, percent-encoded, and with one slash."""
    path = share / "arm description" / "meshes" / "a.stl"
    assert resolve(path.as_uri(), None) == path
    assert "%20" in path.as_uri()
    assert resolve(f"file://localhost{path}", None) == path
    assert resolve(f"FILE://{path}", None) == path
    assert resolve(f"file:{path}", None) == path


def test_file_urls_of_relative_paths(share):
    """file://meshes/a.stl names a machine 'meshes'; a relative path was meant, which the note says."""
    found = MeshFinder(share / "arm description").find("file://meshes/a.stl")
    assert found.path == share / "arm description" / "meshes" / "a.stl"
    assert "without 'file://'" in found.note
    assert "names a machine 'server'" in reason("file://server/a.stl", share)


@pytest.mark.parametrize(
    "name", ["http://example.org/a.stl", "https://example.org/a.stl", "ftp://h/a.stl", "smb://h/a"]
)
def test_nothing_is_fetched(share, name):
    """Other schemes are no places on this machine."""
    assert "nothing is fetched" in reason(name, share)


@pytest.mark.parametrize("name", [r"\\server\share\a.stl", "//server/share/a.stl"])
def test_other_machines_are_not_asked(name):
    """On Windows these names would open a connection, so they are not even looked at."""
    assert "nothing is fetched" in reason(name, None, windows=True)


@pytest.mark.parametrize("name", [r"meshes\a.stl", r".\meshes\a.stl", r"meshes\sub\..\a.stl"])
def test_backslashes_are_slashes(share, name):
    """Exporters on Windows write them."""
    (share / "arm description" / "meshes" / "sub").mkdir()
    found = resolve(name, share / "arm description")
    assert found.samefile(share / "arm description" / "meshes" / "a.stl")


@pytest.mark.parametrize("name", [r"C:\meshes\a.stl", "c:/meshes/a.stl", "file:///C:/meshes/a.stl", "file://C:/a.stl"])
def test_drives_are_named(share, name):
    """A path of another system is not taken for a relative one."""
    assert "Windows path (drive" in reason(name, share, windows=False)


def test_drives_on_windows_are_paths(tmp_path, monkeypatch):
    """With drives, file:///C:/a.stl is C:/a.stl: shown with a folder called C: in the current one."""
    if os.name == "nt":
        pytest.skip("here C: is a real drive")
    (tmp_path / "C:").mkdir()
    (tmp_path / "C:" / "a.stl").touch()
    monkeypatch.chdir(tmp_path)
    for name in ("file:///C:/a.stl", "C:/a.stl", r"C:\a.stl"):
        assert MeshFinder(None, windows=True).find(name).path == tmp_path / "C:" / "a.stl"


def test_percent_signs_in_names_of_files(tmp_path):
    """The name as written comes first: a file called 50%25.stl is found before 50%.stl."""
    literal, decoded = tmp_path / "50%25.stl", tmp_path / "50%.stl"
    decoded.touch()
    assert resolve("50%25.stl", tmp_path) == decoded
    literal.touch()
    assert resolve("50%25.stl", tmp_path) == literal


# Packages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "package://arm description/meshes/a.stl",
        "package:///arm description/meshes/a.stl",
        "package://arm description//meshes/./a.stl",
        "package://arm description/urdf/../meshes/a.stl",
        r"package://arm description\meshes\a.stl",
        "model://arm%20description/meshes/a.stl",
        "Package://arm%20description/meshes%2Fa.stl",
    ],
)
def test_package_dirs_hold_packages_or_are_one(share, name):
    """Both the folder above the package and the package itself are understood, in all ways that files write a name."""
    found = share / "arm description" / "meshes" / "a.stl"
    assert resolve(name, None, [share]) == found
    assert resolve(name, None, [share / "arm description"]) == found
    assert resolve(name, None) is None


def test_packages_above_the_robot_file(share):
    """The folders that contain the robot file are searched, from it outwards."""
    name, found = "package://arm description/meshes/a.stl", share / "arm description" / "meshes" / "a.stl"
    assert resolve(name, share / "arm description" / "urdf") == found
    assert resolve(name, share / "other" / "urdf" / "deep") == found


@pytest.mark.parametrize("variable", [*ROS_VARIABLES, *GAZEBO_VARIABLES])
@pytest.mark.parametrize("scheme", ["package", "model"])
def test_packages_in_the_environment(tmp_path, variable, scheme):
    """Each variable is a list of folders; AMENT_PREFIX_PATH holds packages in share/."""
    prefix = tmp_path / "here"
    path = package((prefix / "share" if variable == "AMENT_PREFIX_PATH" else prefix) / "arm")
    environment = {variable: os.pathsep.join(["", str(tmp_path / "nowhere"), str(prefix)])}
    assert MeshFinder(None, environment=environment).find(f"{scheme}://arm/meshes/a.stl").path == path


def test_order_of_the_places(tmp_path):
    """package_dirs first; then, for package://, ROS, the folders above and Gazebo, and for model:// Gazebo first."""
    places = {name: package(tmp_path / name / "arm") for name in ("given", "ros", "above", "gazebo")}
    environment = {"ROS_PACKAGE_PATH": str(tmp_path / "ros"), "GAZEBO_MODEL_PATH": str(tmp_path / "gazebo")}
    orders = {"package": ("given", "ros", "above", "gazebo"), "model": ("given", "gazebo", "ros", "above")}
    for scheme, order in orders.items():
        for k, expected in enumerate(order):
            left = order[k:]  # without the places before it, each is the first
            finder = MeshFinder(
                tmp_path / "above" / "robots" if "above" in left else None,
                [tmp_path / "given"] if "given" in left else [],
                environment={v: folder for v, folder in environment.items() if Path(folder).name in left},
            )
            assert finder.find(f"{scheme}://arm/meshes/a.stl").path == places[expected]


def test_a_package_without_the_file_does_not_hide_another(tmp_path):
    """The search goes on: an overlay may hold a part of a package only."""
    (tmp_path / "overlay" / "arm").mkdir(parents=True)
    path = package(tmp_path / "base" / "arm")
    assert resolve("package://arm/meshes/a.stl", None, [tmp_path / "overlay", tmp_path / "base"]) == path


def test_packages_by_their_manifests(tmp_path):
    """A checkout may be called otherwise than the package: package.xml says what it is."""
    path = package(tmp_path / "ws" / "src" / "stack" / "arm-main", "arm")
    name = "package://arm/meshes/a.stl"
    for dirs in ([tmp_path / "ws"], [tmp_path / "ws" / "src" / "stack"], [path.parents[1]]):
        found = MeshFinder(None, dirs).find(name)
        assert found.path == path
        assert found.note == f"package 'arm' is {path.parents[1]} by its package.xml"
    assert MeshFinder(None, environment={"ROS_PACKAGE_PATH": str(tmp_path / "ws")}).find(name).path == path
    assert resolve(name, path.parents[1] / "urdf") == path, "the robot lies in the package"


def test_manifests_are_not_searched_without_end(tmp_path):
    """Not deeper than four levels, not in hidden or ignored folders, not inside packages, nor around links."""
    name = "package://arm/meshes/a.stl"
    package(tmp_path / "1" / "2" / "3" / "4" / "5", "arm")
    package(tmp_path / ".hidden" / "x", "arm")
    package(tmp_path / "off" / "x", "arm")
    (tmp_path / "off" / "COLCON_IGNORE").touch()
    package(tmp_path / "other", "other")
    package(tmp_path / "other" / "inner", "arm")
    (tmp_path / "1" / "round").symlink_to(tmp_path)
    assert resolve(name, None, [tmp_path]) is None
    assert resolve(name, None, [tmp_path / "1"]) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not xml",
        "<other><name>arm</name></other>",
        '<!DOCTYPE package [<!ENTITY n "arm">]><package><name>&n;</name></package>',
        '<!DOCTYPE package [<!ENTITY n SYSTEM "name.txt">]><package><name>&n;</name></package>',
    ],
)
def test_broken_or_tricky_manifests_name_no_package(tmp_path, text):
    """A manifest is read without expanding entities; what is no manifest is passed over."""
    (tmp_path / "name.txt").write_text("arm")
    package(tmp_path / "x")
    (tmp_path / "x" / "package.xml").write_text(text)
    assert resolve("package://arm/meshes/a.stl", None, [tmp_path / "x"]) is None


def test_huge_manifests_and_pipes_are_not_read(tmp_path):
    """Only regular files of a sensible size are opened: a pipe would wait for ever."""
    package(tmp_path / "x", "arm")
    with open(tmp_path / "x" / "package.xml", "a") as file:
        file.write(" " * (2 << 20))
    assert resolve("package://arm/meshes/a.stl", None, [tmp_path / "x"]) is None
    if hasattr(os, "mkfifo"):
        package(tmp_path / "y")
        os.mkfifo(tmp_path / "y" / "package.xml")
        assert resolve("package://arm/meshes/a.stl", None, [tmp_path / "y"]) is None


# What is refused --------------------------------------------------------------------------------------------------

ESCAPES = [
    "package://arm/../secret.stl",
    "package://arm/meshes/../../secret.stl",
    "package://arm/meshes/../../../../secret.stl",
    r"package://arm\..\secret.stl",
    "package://arm/%2e%2e/secret.stl",
    "package://arm/..%2fsecret.stl",
    "package://arm/%2E%2E%5Csecret.stl",
    "model://arm/../secret.stl",
]


@pytest.mark.parametrize("name", ESCAPES)
def test_names_may_not_leave_their_package(tmp_path, name):
    """Dots, slashes and backslashes, also encoded: the file exists, and is refused by its name alone."""
    package(tmp_path / "arm")
    for folder in (tmp_path, tmp_path.parent):
        (folder / "secret.stl").touch()
    assert "leaves the package 'arm', which is refused" in reason(name, tmp_path / "arm" / "urdf", [tmp_path])


@pytest.mark.parametrize(
    "name",
    ["package://../secret.stl", "package://./secret.stl", "package://%2e%2e/secret.stl", "package://C:/secret.stl"],
)
def test_dots_and_drives_are_no_packages(tmp_path, name):
    """A package is a folder below those that hold packages."""
    (tmp_path / "secret.stl").touch()
    (tmp_path / "x").mkdir()
    assert "is no name of a package" in reason(name, tmp_path / "x", [tmp_path / "x"])


def test_a_second_root_is_none(tmp_path):
    """package://arm//abs/path stays in the package, though joining paths would start anew at the root."""
    package(tmp_path / "arm")
    (tmp_path / "secret.stl").touch()
    assert "has no file" in reason(f"package://arm/{tmp_path / 'secret.stl'}", None, [tmp_path])


def test_drives_inside_a_package_are_refused():
    """On Windows C:x starts anew at a drive."""
    assert "by a drive" in reason("package://arm/C:/secret.stl", None, windows=True)


def test_the_root_of_the_file_system_holds_no_packages(tmp_path):
    """It is above every robot file, so package://etc/passwd would be /etc/passwd for all of them."""
    roots = MeshFinder(tmp_path / "robots")._roots("package")
    assert tmp_path in roots
    assert Path(tmp_path.anchor) not in roots


@pytest.mark.parametrize("name", ["", "  ", "a\0.stl", "package://", "package:///", "model://arm", "package://arm/."])
def test_names_of_nothing(tmp_path, name):
    """Empty names, zero bytes, packages without a file."""
    package(tmp_path / "arm")
    assert reason(name, tmp_path, [tmp_path])


def test_names_that_no_system_takes(tmp_path):
    """A name too long for the file system is a miss, not a crash."""
    long = "x" * 5000
    for name in (long, f"package://{long}/a.stl", f"package://arm/{long}", f"file:///{long}"):
        assert reason(name, tmp_path, [tmp_path])


def test_links_are_followed(tmp_path):
    """colcon build --symlink-install makes every mesh a link out of the package."""
    source = package(tmp_path / "src" / "arm")
    installed = tmp_path / "install" / "share" / "arm" / "meshes" / "a.stl"
    installed.parent.mkdir(parents=True)
    installed.symlink_to(source)
    found = resolve("package://arm/meshes/a.stl", None, [tmp_path / "install" / "share"])
    assert found == installed


def test_links_in_a_circle_and_special_files_are_no_meshes(tmp_path):
    """Only regular files count: reading a pipe or a device would never end."""
    (tmp_path / "a.stl").symlink_to(tmp_path / "b.stl")
    (tmp_path / "b.stl").symlink_to(tmp_path / "a.stl")
    assert reason("a.stl", tmp_path)
    (tmp_path / "folder.stl").mkdir()
    assert reason("folder.stl", tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.stl")
        assert reason("pipe.stl", tmp_path)


# Reasons ----------------------------------------------------------------------------------------------------------


def test_reasons_name_what_was_searched(share):
    """A missing package lists the folders; a missing file names the package's folder."""
    missing = reason("package://leg/a.stl", None, [share])
    assert missing == f"there is no package 'leg' in {share}; name its folder with package_dirs="
    home = share / "arm description"
    assert reason("package://arm description/b.stl", None, [share]) == (
        f"package 'arm description' is {home}, which has no file 'b.stl'"
    )
    assert reason("b.stl", home) == f"there is no file {home / 'b.stl'}"
    assert "package_dirs=" in reason("package://leg/a.stl")


@pytest.mark.parametrize(
    "name", ["Meshes/A.STL", "package://arm description/Meshes/a.stl", "package://Arm Description/meshes/a.stl"]
)
def test_reasons_name_a_file_in_other_case(share, name):
    """Written on a system that does not tell upper from lower case, read on one that does."""
    if (share / "ARM DESCRIPTION").exists():
        pytest.skip("this file system does not tell upper from lower case")
    home = share / "arm description"
    assert "exists: upper and lower case differ" in reason(name, home, [share])
