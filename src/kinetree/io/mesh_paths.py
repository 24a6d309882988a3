"""Where the mesh files of a robot lie: package://, model://, file:// and plain names, as paths or None.

Only paths are computed here; no mesh is read. A mesh that is not found costs a picture, never physics.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote


def resolve(filename: str, base: Path | None, package_dirs: Iterable[str | Path] = ()) -> Path | None:
    """Find the file that a mesh name stands for.

    Parameters
    ----------
    filename : str
        As the robot file writes it: ``package://name/rest``, ``model://name/rest``, ``file:///path``, or a path, which
        is relative to the robot file.
    base : Path or None
        Folder of the robot file; None if the robot came as text.
    package_dirs : iterable of str or Path
        Folders that hold packages, or that are a package themselves; searched first. Then those of the environment
        variable ``ROS_PACKAGE_PATH``, then the folders above the robot file.

    Returns
    -------
    Path or None
        An existing file, or None.
    """
    scheme, separator, rest = filename.partition("://")
    if not separator:
        found = [Path(filename) if base is None else base / filename]
    elif scheme == "file":
        found = [Path(unquote(rest))]
    elif scheme in ("package", "model"):
        found = list(_in_packages(unquote(rest), base, package_dirs))
    else:
        return None
    return next((path for path in found if path.is_file()), None)


def _in_packages(name: str, base: Path | None, package_dirs: Iterable[str | Path]) -> Iterator[Path]:
    package, _, inner = name.partition("/")
    folders = [Path(folder) for folder in package_dirs]
    folders += [Path(folder) for folder in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if folder]
    if base is not None:
        folders += base.resolve().parents
    for folder in folders:
        yield folder / package / inner
        if folder.name == package:
            yield folder / inner
