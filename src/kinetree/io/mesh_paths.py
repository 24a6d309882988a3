"""Paths of a robot's mesh files: package://, model://, file:// and plain names, as paths or reasons for a miss.

Only paths are computed here; no mesh is opened. A mesh that is not found affects pictures, never physics.

Files within reach of a name:

* ``package://`` and ``model://`` name a file inside a package. A name that leaves it (``..``, a drive, a second
  absolute path, also percent-encoded) is refused, wherever it would lead.
* Plain names and ``file://`` are followed as written, also upwards and to absolute paths: robot files beside a folder
  of meshes need that. Opening the meshes of an untrusted robot opens the files that it names.
* Links are followed, also out of a package: ``colcon build --symlink-install`` makes every mesh one.
* Only regular files count: no folders, devices or pipes. Nothing is fetched, from no scheme and no other machine.

``os.path`` looks files up where ``Path`` would raise: names too long for the system, folders closed to us.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from kinetree.files import read_ordinary
from kinetree.once import once

# Variables that hold lists of folders, and the path between such a folder and the packages.
ROS_VARIABLES = {"ROS_PACKAGE_PATH": "", "AMENT_PREFIX_PATH": "share"}
GAZEBO_VARIABLES = {"GZ_SIM_RESOURCE_PATH": "", "IGN_GAZEBO_RESOURCE_PATH": "", "GAZEBO_MODEL_PATH": ""}

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?=//)|(file):", re.IGNORECASE)  # one letter is a drive
_DRIVE = re.compile(r"/?([A-Za-z]):(?=[/\\]|$)")
_IGNORE = ("CATKIN_IGNORE", "COLCON_IGNORE", "AMENT_IGNORE")
_DEPTH = 4  # levels below a folder of packages at which a package.xml is looked for
_MOST_FOLDERS = 5000  # looked at below one folder of packages
_MANIFEST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class MeshPath:
    """The result of looking up a mesh name.

    Parameters
    ----------
    name : str
        As the robot file writes it.
    path : Path or None
        An existing regular file, absolute; None if there is none.
    reason : str
        The reason for a miss, with the folders that were searched; the end of a sentence "mesh '...' not found: ".
    note : str
        The source of a path that the name alone does not give, for example a package's manifest.
    """

    name: str
    path: Path | None
    reason: str = ""
    note: str = ""


def as_folders(package_dirs: str | Path | Iterable[str | Path]) -> tuple[Path, ...]:
    """One folder or several, as absolute paths; ``~`` is the user's home."""
    folders = [package_dirs] if isinstance(package_dirs, (str, os.PathLike)) else package_dirs
    return tuple(Path(os.path.expanduser(folder)).absolute() for folder in folders)


class MeshFinder:
    """Finds the meshes of one robot; caches packages and folders.

    Parameters
    ----------
    base : Path or None
        Folder of the robot file; None if the robot came as text.
    package_dirs : iterable of str or Path
        Folders that hold packages, or that are a package themselves.
    environment : mapping of str to str, optional
        Default: ``os.environ``.
    windows : bool, optional
        Whether paths may have drives; default: as this machine has it.

    Notes
    -----
    ``package://name/rest`` is searched in ``package_dirs``, then ``ROS_PACKAGE_PATH`` and ``share/`` of
    ``AMENT_PREFIX_PATH``, then the folders above the robot file (not the root of the file system), then
    ``GZ_SIM_RESOURCE_PATH``, ``IGN_GAZEBO_RESOURCE_PATH`` and ``GAZEBO_MODEL_PATH``; for ``model://name/rest`` the last
    three come before those of ROS. In each folder, a package is a folder of that name, or the folder itself by its name
    or by ``<name>`` of its ``package.xml``. If no folder of that name holds the file, manifests up to four levels
    below ``package_dirs`` and ``ROS_PACKAGE_PATH`` are read. A name is tried as written, then with percent signs
    decoded, then with backslashes as slashes. Case counts if the file system is case-sensitive; a miss names a
    file that differs in case alone as its reason. Relative names start at the robot file, then at ``package_dirs``.
    """

    def __init__(
        self,
        base: Path | None,
        package_dirs: Iterable[str | Path] = (),
        *,
        environment: Mapping[str, str] | None = None,
        windows: bool = os.name == "nt",
    ) -> None:
        self.base = None if base is None else Path(base).absolute()
        self.package_dirs = as_folders(package_dirs)
        self._environment = os.environ if environment is None else environment
        self._windows = windows
        # Each folder is read once.
        self._roots, self._packages_below = once(self._search_roots), once(self._search_below)
        self._manifest_name, self._listing = once(_manifest_name), once(_listing)

    def find(self, name: str) -> MeshPath:
        """The file of a mesh name, or the reason for a miss.

        Parameters
        ----------
        name : str
            As the robot file writes it.
        """
        if not name.strip() or "\0" in name:
            return MeshPath(name, None, "the name is empty" if not name.strip() else "the name holds a zero byte")
        match = _SCHEME.match(name)
        if match is None:
            return self._plain(name, name)
        scheme, rest = (match[1] or match[2]).lower(), name[match.end() :]
        if scheme == "file":
            return self._file_url(name, rest)
        if scheme in ("package", "model"):
            return self._in_packages(name, scheme, rest[2:])
        return MeshPath(name, None, f"'{scheme}://' is not a place on this machine, and nothing is fetched")

    # Plain names and file:// ------------------------------------------------------------------------------------

    def _plain(self, name: str, text: str) -> MeshPath:
        if (drive := _DRIVE.match(text)) and not self._windows:
            return MeshPath(name, None, f"it is a Windows path (drive {drive[1]}:), and this machine has no drives")
        if text.startswith("\\\\") or (self._windows and text.startswith("//")):
            return MeshPath(name, None, "it lies on another machine, and nothing is fetched")
        start = Path.cwd() if self.base is None else self.base
        for spelling in _spellings(text):
            for folder in (start, *self.package_dirs):
                if os.path.isfile(path := folder / spelling):
                    note = "" if folder == start or Path(spelling).is_absolute() else f"found below {folder}"
                    return MeshPath(name, path, note=note)
        path = start / list(_spellings(text))[-1]
        reason = f"there is no file {path}"
        if self.package_dirs and not Path(text).is_absolute():
            reason += f", nor below {_shown(self.package_dirs)}"
        if self.base is None and not Path(text).is_absolute():
            reason += " (the robot came as text, so relative names start in the current folder)"
        anchor = Path(path.anchor)
        return MeshPath(name, None, reason + self._case_hint(anchor, path.parts[1:]))

    def _file_url(self, name: str, rest: str) -> MeshPath:
        if not rest.startswith("//"):
            return self._plain(name, rest)
        rest = rest[2:]
        host, slash, path = rest.partition("/")
        if host.lower() in ("", "localhost") and slash:
            return self._plain(name, (path if self._windows and _DRIVE.match(path) else f"/{path}"))
        # file://meshes/a.stl names the machine 'meshes'; a relative path was meant, or a drive.
        found = self._plain(name, rest)
        if found.path is not None:
            note = found.note or "a relative path is written without 'file://'"
            return MeshPath(name, found.path, note=note)
        if _DRIVE.match(rest):
            return found
        return MeshPath(name, None, f"it names a machine '{host}'; a file of this one is file:///path. {found.reason}")

    # Packages ---------------------------------------------------------------------------------------------------

    def _in_packages(self, name: str, scheme: str, rest: str) -> MeshPath:
        refused = missing = ""
        for spelling in dict.fromkeys(text.replace("\\", "/") for text in (rest, unquote(rest))):
            package, inner, problem = self._split(spelling)
            if problem:
                refused = refused or problem
                continue
            homes = []
            for home, note in self._homes(package, scheme):
                if os.path.isfile(path := home.joinpath(*inner)):
                    return MeshPath(name, path, note=note)
                if home not in homes:
                    homes.append(home)
            missing = missing or self._package_reason(package, inner, scheme, homes)
        return MeshPath(name, None, refused or missing)

    def _split(self, text: str) -> tuple[str, list[str], str]:
        """Package, parts of the path inside it, and their fault."""
        parts = [part for part in text.split("/") if part]  # package:///name and name//rest are written too
        package = parts[0] if parts else ""
        if not package:
            return "", [], "it names no package"
        if package in (".", "..") or ":" in package:
            return package, [], f"'{package}' is no name of a package"
        inner: list[str] = []
        for part in parts[1:]:
            if part == ".." and not inner:
                return package, [], f"the path leaves the package '{package}', which is refused"
            if part == "..":
                inner.pop()
            elif part != ".":
                inner.append(part)
        if self._windows and any(":" in part for part in inner):
            return package, [], f"the path leaves the package '{package}' by a drive, which is refused"
        return package, inner, "" if inner else f"it names the package '{package}' and no file in it"

    def _homes(self, package: str, scheme: str) -> Iterator[tuple[Path, str]]:
        """Folders that are the package, best first, with a note where this does not follow from the name alone."""
        roots = self._roots(scheme)
        for root in roots:
            if os.path.isdir(root / package):
                yield root / package, ""
            if root.name == package:
                yield root, ""
            elif self._manifest_name(root) == package:
                yield root, f"package '{package}' is {root} by its package.xml"
        for root in (*self.package_dirs, *self._folders({"ROS_PACKAGE_PATH": ""})):
            home = self._packages_below(root).get(package)
            if home is not None:
                yield home, f"package '{package}' is {home} by its package.xml"

    def _search_roots(self, scheme: str) -> tuple[Path, ...]:
        above: list[Path] = []
        if self.base is not None:
            for base in (self.base, Path(os.path.realpath(self.base))):  # a link to a robot file has two places
                above += [folder for folder in (base, *base.parents) if folder.parent != folder]
        ros, gazebo = self._folders(ROS_VARIABLES), self._folders(GAZEBO_VARIABLES)
        order = (ros, above, gazebo) if scheme == "package" else (gazebo, ros, above)
        return tuple(dict.fromkeys([*self.package_dirs, *(folder for group in order for folder in group)]))

    def _folders(self, variables: Mapping[str, str]) -> list[Path]:
        return [
            Path(folder).absolute() / inner
            for variable, inner in variables.items()
            for folder in self._environment.get(variable, "").split(os.pathsep)
            if folder
        ]

    def _package_reason(self, package: str, inner: list[str], scheme: str, homes: list[Path]) -> str:
        if homes:
            hints = "".join(self._case_hint(home, inner) for home in homes)
            return f"package '{package}' is {_shown(homes)}, which has no file '{'/'.join(inner)}'{hints}"
        roots = self._roots(scheme)
        if not roots:
            return f"no folder is known that holds packages such as '{package}'; name it with package_dirs="
        hints = "".join(self._case_hint(root, [package]) for root in roots)
        return f"there is no package '{package}' in {_shown(roots)}{hints}; name its folder with package_dirs="

    def _search_below(self, root: Path) -> dict[str, Path]:
        """Packages below a folder by the names in their manifests, nearest first; packages hold no packages."""
        found: dict[str, Path] = {}
        level, seen = [root], 0
        for _ in range(_DEPTH + 1):
            deeper: list[Path] = []
            for folder in level:
                seen += 1
                names = self._listing(folder)
                if seen > _MOST_FOLDERS or any(mark in names for mark in _IGNORE):
                    continue
                if "package.xml" in names:
                    name = self._manifest_name(folder)
                    if name is not None:
                        found.setdefault(name, folder)
                    continue
                deeper += [folder / name for name in names if name[0] != "." and os.path.isdir(folder / name)]
            level = deeper
        return found

    # Case -------------------------------------------------------------------------------------------------------

    def _case_hint(self, folder: Path, parts: Iterable[str]) -> str:
        """ ", but X exists ..." if the path exists in other case."""
        differs = False
        for part in parts:
            if not os.path.exists(folder / part):
                part = next((other for other in self._listing(folder) if other.casefold() == part.casefold()), None)
                if part is None:
                    return ""
                differs = True
            folder = folder / part
        return f", but {folder} exists: upper and lower case differ" if differs else ""


def _spellings(text: str) -> Iterator[str]:
    decoded = unquote(text)
    yield from dict.fromkeys((text, decoded, text.replace("\\", "/"), decoded.replace("\\", "/")))


def _shown(folders: Iterable[Path]) -> str:
    names = [str(folder) for folder in folders]
    return ", ".join(names[:6]) + (f", ... ({len(names)} in all)" if len(names) > 6 else "")


def _listing(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(sorted(os.listdir(folder)))
    except (OSError, ValueError):
        return ()


def _manifest_name(folder: Path) -> str | None:
    """``<name>`` of a folder's package.xml; None if there is none, or if it is not a plain small XML file."""
    from lxml import etree

    try:
        content = read_ordinary(folder / "package.xml", _MANIFEST_BYTES)
        if len(content) > _MANIFEST_BYTES:
            return None
        # No entity is expanded and nothing is fetched.
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        root = etree.fromstring(content, parser)
    except (OSError, ValueError, etree.XMLSyntaxError):
        return None
    name = root.findtext("name") if root.tag == "package" else None
    return name.strip() if name and name.strip() else None
