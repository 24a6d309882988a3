"""One run of lint: the reader of the format, then the checks that all formats share."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from kinetree import data
from kinetree.errors import FileFormatError, KinetreeError
from kinetree.io.isolated import ChildFailed, Isolation, isolated
from kinetree.io.lint.checks import check
from kinetree.io.lint.codes import LEVELS
from kinetree.io.lint.facts import Facts
from kinetree.io.lint.result import Finding, LintResult, finding, finding_of
from kinetree.io.lint.urdf import examine_urdf
from kinetree.io.xml.reader import Document


def run(source: str | PathLike, package_dirs: tuple, meshes: bool, limits: Isolation | None = None) -> LintResult:
    """All findings about a source; the parameters are those of `kinetree.io.lint.lint.lint`.

    With limits, what libraries in C read is read in a child process.
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
            return isolated(limits, run, source, package_dirs, meshes)
        except ChildFailed as failed:
            return LintResult(file, (finding(failed.code, file, None, "", failed.message, failed.repair),))
    if form == "mjcf":
        from kinetree.io.lint.mjcf import examine_mjcf

        found, facts = examine_mjcf(source, file, package_dirs)
    elif form == "sdf":
        from kinetree.io.lint.sdf import examine_sdf

        found, facts = examine_sdf(document, package_dirs)
    else:
        found, facts = examine_urdf(document, package_dirs)
    return _result(file, found, facts, meshes)


def _result(file: str, found: list[Finding], facts: Facts | None, meshes: bool) -> LintResult:
    """The findings of the reader and those of the checks, in the order of their lines."""
    suspicious = check(facts, meshes=meshes) if facts is not None else []
    order = sorted(dict.fromkeys(found + suspicious), key=lambda each: (each.line or 0, LEVELS.index(each.level)))
    return LintResult(file, tuple(order))
