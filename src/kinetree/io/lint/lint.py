"""``lint``: all errors in a robot file, and legal input that is probably not meant, at once.

The reader of the format first, then the checks that all formats share.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from os import PathLike
from pathlib import Path

from kinetree import data
from kinetree.arguments import a_path, a_truth_value, checked, some_paths
from kinetree.errors import FileFormatError, KinetreeError
from kinetree.io.isolated import ChildFailed, Isolation, as_isolation, isolated
from kinetree.io.lint.checks import check
from kinetree.io.lint.codes import LEVELS
from kinetree.io.lint.result import LintResult, finding, finding_of
from kinetree.io.mesh_paths import as_folders
from kinetree.io.xml.reader import Document


@checked(source=a_path, package_dirs=some_paths, meshes=a_truth_value)
def lint(
    source: str | PathLike,
    *,
    package_dirs: str | PathLike | Iterable[str | PathLike] = (),
    meshes: bool = False,
    isolate: bool | Isolation = True,
) -> LintResult:
    """Find all errors in a robot file at once, and legal input that is probably not meant.

    Parameters
    ----------
    source : str or path
        A URDF, MJCF or SDF file, the text of one (it begins with ``<``), or the name of a shipped robot.
    package_dirs : path or iterable of paths
        Folders in which ``package://`` mesh names are looked up.
    meshes : bool
        Open mesh files to compare the size of links with their inertia; this needs trimesh.
    isolate : bool or kinetree.io.Isolation
        Read MJCF files, and meshes, in a child process with limits of time and memory: 60 s and 4 GiB, or those given.
        A crash or an exceeded limit is a finding. False: in this process.

    Returns
    -------
    LintResult
        Findings with code, level, file, line, element, message and repair; printable, ``to_json()``, ``exit_code``.
        A file that does not exist or is not XML is a finding too.

    Notes
    -----
    Every broken rule is found in one run, by the reader that loads the file: there is an error exactly where
    `kinetree.load` raises one. MJCF files are compiled by MuJoCo, which names one error at a time: it gets copies in
    which the last one is repaired, at most 300. The codes are explained in docs/lint.md.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.lint("cart_pole").exit_code
    0
    """
    return _lint(source, as_folders(package_dirs), meshes, as_isolation(isolate))


def _lint(source: str | PathLike, package_dirs: tuple, meshes: bool, limits: Isolation | None = None) -> LintResult:
    """All findings about a source, in the order of their lines.

    With limits, files that C libraries read are read in a child process.
    """
    if isinstance(source, str) and source in data.robots() and not Path(source).exists():
        source = data.path(source)
    file = "<string>" if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("", "<") else str(source)
    try:
        document = Document(source, FileFormatError, collect=True)
    except OSError as error:
        message = str(error).removeprefix(f"{file}: ")
        return LintResult(file, (finding("unreadable", file, None, "", message),))
    except KinetreeError as error:
        return LintResult(file, (finding_of(error, file),))
    form = {"mujoco": "mjcf", "mujocoinclude": "mjcf", "sdf": "sdf"}.get(document.root.tag, "urdf")
    if limits is not None and (form == "mjcf" or meshes):
        try:
            return isolated(limits, _lint, source, package_dirs, meshes)
        except ChildFailed as failed:
            return LintResult(file, (finding(failed.code, file, None, "", failed.message, failed.repair),))
    found, facts = import_module(f"kinetree.io.lint.{form}").examine(source, document, package_dirs)
    found = dict.fromkeys(found + (check(facts, meshes=meshes) if facts is not None else []))
    return LintResult(file, tuple(sorted(found, key=lambda each: (each.line or 0, LEVELS.index(each.level)))))
