"""One run of lint: the reader of the format, then the checks that all formats share."""

from __future__ import annotations

import re
from dataclasses import replace
from os import PathLike
from pathlib import Path

from kinetree import data
from kinetree.errors import FileFormatError, InertiaError, KinetreeError, MissingDependencyError, UnsupportedError
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
# The codes of errors that carry none.
_KINDS = (
    (MissingDependencyError, "missing-dependency"),
    (InertiaError, "impossible-inertia"),
    (UnsupportedError, "unsupported"),
)
# How to load a file whose strict loading failed, so that the checks have a model; a reader takes what it knows of it.
_LENIENT = {"unsupported": "drop", "inertia": "accept", "massless": "lock"}
# What the report of such a load says of what strict loading refuses: how it was mended, the code, what to do about it.
_MENDED = (
    (
        re.compile(r"impossible inertia taken as it is: (?=mass is 0)"),
        "inertia-without-mass",
        "give the body the mass it has, or the inertia 0",
    ),
    (
        re.compile("impossible inertia taken as it is: "),
        "impossible-inertia",
        "was the tensor given about another point, or with a wrong sign? inertia='project' takes the nearest possible "
        "tensor",
    ),
    (
        re.compile(": made fixed$"),
        "massless-leaf",
        "give the body mass and inertia; massless='lock' makes such joints fixed",
    ),
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
    refusal: Finding | None = None
    try:
        model = _load(source, options)
    except (KinetreeError, OSError) as error:
        refusal = finding_of(error, file)
        for kind, code in _KINDS:
            if isinstance(error, kind) and refusal.code == "model":
                refusal = replace(refusal, code=code)
        try:
            model = _load(source, options | _LENIENT)
        except (KinetreeError, OSError):
            return [refusal], None
    found = [_of_report(entry, file) for entry in model.report]
    if refusal is not None:
        found = _with_refusal(refusal, found)
    return found, facts_of_model(model, file)


def _with_refusal(refusal: Finding, found: list[Finding]) -> list[Finding]:
    """What strict loading refused, in the place of the entry that says how the same was mended."""
    alike = [each for each in found if each.level == "error" and each.code == refusal.code]
    same = next((each for each in alike if each.line == refusal.line), None)
    if same is not None:
        return [refusal if each is same else each for each in found]
    return found if alike else [refusal, *found]


def _of_report(entry: ReportEntry, file: str) -> Finding:
    at = re.search(r":(\d+)$", entry.where)
    code, level, message, repair = "report", entry.level, entry.message, ""
    for words, rule, advice in _MENDED:
        if words.search(message):
            code, level, message, repair = rule, "error", words.sub("", message), advice
            break
    if entry.level == "dropped":
        code = "misspelled" if "did you mean" in message else "unsupported"
        level, repair = "error", "unsupported='drop' leaves it out"
    line = int(at[1]) if at else None
    return finding(code, file, line, "" if at else entry.where, message, repair, level=level)


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
