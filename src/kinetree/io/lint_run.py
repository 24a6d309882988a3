"""One run of lint: the reader of the format, then the checks that all formats share."""

from __future__ import annotations

import re
from dataclasses import replace
from os import PathLike
from pathlib import Path

from kinetree import data
from kinetree.errors import FileFormatError, InertiaError, KinetreeError, UnsupportedError
from kinetree.io.lint_checks import check
from kinetree.io.lint_codes import LEVELS
from kinetree.io.lint_facts import Facts, facts_of_model
from kinetree.io.lint_result import Finding, LintResult, finding, finding_of
from kinetree.io.lint_urdf import examine_urdf
from kinetree.io.load import load
from kinetree.io.xml_reader import Document
from kinetree.model.parts import ReportEntry

# Root elements of the formats that are examined through the model they load to.
_LOADED = ("mujoco", "mujocoinclude", "sdf")
_ARCHIVES = (".zip", ".mjz")
# How to load a file whose strict loading failed, so that the checks have a model; a reader takes what it knows of it.
_LENIENT = {"unsupported": "drop", "inertia": "accept", "massless": "lock"}
# What the report of such a load says of what strict loading refuses.
_MENDED = (
    ("impossible inertia taken as it is", "impossible-inertia"),
    ("moves no inertia: made fixed", "massless-leaf"),
)


def run(source: str | PathLike, package_dirs: tuple, meshes: bool) -> LintResult:
    """All findings about a source; the parameters are those of `kinetree.io.lint.lint`."""
    if isinstance(source, str) and source in data.robots() and not Path(source).exists():
        source = data.path(source)
    file = "<string>" if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("", "<") else str(source)
    options = {"package_dirs": package_dirs}
    if file.lower().endswith(_ARCHIVES):
        return _result(file, *_examine_loaded(source, file, options), meshes)
    try:
        document = Document(source, FileFormatError, collect=True)
    except OSError as error:
        message = str(error).removeprefix(f"{file}: ")
        return LintResult(file, (finding("unreadable", file, None, "", message),))
    except KinetreeError as error:
        return LintResult(file, (finding_of(error, file),))
    if document.root.tag in _LOADED:
        found, facts = _examine_loaded(source, file, options)
    else:
        found, facts = examine_urdf(document, options["package_dirs"])
    return _result(file, found, facts, meshes)


def _result(file: str, found: list[Finding], facts: Facts | None, meshes: bool) -> LintResult:
    """The findings of the reader and those of the checks, in the order of their lines."""
    suspicious = check(facts, meshes=meshes) if facts is not None else []
    order = sorted(dict.fromkeys(found + suspicious), key=lambda each: (each.line or 0, LEVELS.index(each.level)))
    return LintResult(file, tuple(order))


def _examine_loaded(source: str | PathLike, file: str, options: dict) -> tuple[list[Finding], Facts | None]:
    """Load strictly; if that fails, load as leniently as the reader can: its report says all that it had to mend."""
    refusal: list[Finding] = []
    try:
        model = _load(source, options)
    except (KinetreeError, OSError) as error:
        refusal = [finding_of(error, file)]
        if isinstance(error, (InertiaError, UnsupportedError)):
            kind = "impossible-inertia" if isinstance(error, InertiaError) else "unsupported"
            refusal = [replace(refusal[0], code=kind)]
        try:
            model = _load(source, options | _LENIENT)
        except (KinetreeError, OSError):
            return refusal, None
    found = [_of_report(entry, file) for entry in model.report]
    mended = {each.code for each in found if each.level == "error"}
    return [each for each in refusal if each.code not in mended] + found, facts_of_model(model, file)


def _of_report(entry: ReportEntry, file: str) -> Finding:
    at = re.search(r":(\d+)$", entry.where)
    code = next((code for words, code in _MENDED if words in entry.message), "report")
    level = "error" if code != "report" else entry.level
    if entry.level == "dropped":
        code, level = "unsupported", "error"
    return finding(code, file, int(at[1]) if at else None, "" if at else entry.where, entry.message, level=level)


def _load(source: str | PathLike, options: dict):
    """Load with those of the options that the format has."""
    options = dict(options)
    while True:
        try:
            return load(source, **options)
        except KinetreeError as error:
            if getattr(error, "kind", None) != "option" or error.name not in options:
                raise
            del options[error.name]
