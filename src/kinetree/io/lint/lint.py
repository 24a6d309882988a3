"""``lint``: everything that is wrong with a robot file, and what is probably not meant, at once."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING

from kinetree.arguments import a_path, a_truth_value, checked, some_paths

if TYPE_CHECKING:
    from kinetree.io.isolated import Isolation
    from kinetree.io.lint.result import LintResult


@checked(source=a_path, package_dirs=some_paths, meshes=a_truth_value)
def lint(
    source: str | PathLike,
    *,
    package_dirs: str | PathLike | Iterable[str | PathLike] = (),
    meshes: bool = False,
    isolate: bool | Isolation = True,
) -> LintResult:
    """Find all that is wrong with a robot file at once, and what is legal but probably not meant.

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
        What crashes, takes longer or takes more is a finding. False: in this process.

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
    from kinetree.io.isolated import as_isolation
    from kinetree.io.lint.run import run  # whoever never lints does not load the checks
    from kinetree.io.mesh_paths import as_folders

    return run(source, as_folders(package_dirs), meshes, as_isolation(isolate))
