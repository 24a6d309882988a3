"""Results of lint: findings with place, rule and repair, printable and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from kinetree.html_text import preformatted
from kinetree.io.lint.codes import CODES, LEVELS
from kinetree.io.xml.notes import XMLNotes
from kinetree.io.xml.reader import Document

_LEVELS = {"info": "info", "warning": "warning", "dropped": "error"}  # of entries of a report
_LEVEL_OF_CODE = ("mesh-missing", "not-computed")  # for loading, a missing mesh is no more than a remark


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of lint.

    Parameters
    ----------
    code : str
        Short name of the rule; docs/lint.md explains each.
    level : str
        "error" (the file does not load as it is), "warning" (it loads, and is probably not meant) or "info".
    file : str
    line : int or None
    element : str
        Path of the element, with names: ``robot/link[hand]/inertial``; may be empty.
    message : str
        The finding: the thing, its value and the rule.
    repair : str
        The repair; may be empty.
    """

    code: str
    level: str
    file: str
    line: int | None
    element: str
    message: str
    repair: str = ""

    @property
    def where(self) -> str:
        """``file:line``, as editors and terminals understand it."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        text = self.message.rstrip(".")
        end = f" ({self.repair.rstrip('.')})" if self.repair else ""
        return f"{self.where}: {self.level}: {text}{end} [{self.code}]"


@dataclass(frozen=True, slots=True)
class LintResult:
    """All findings about one file, in the order of its lines; immutable, printable.

    Attributes
    ----------
    file : str
    findings : tuple of Finding

    Examples
    --------
    >>> import kinetree as kt
    >>> result = kt.lint('<robot name="r"><link name="a"/><link name="a"/></robot>')
    >>> print(result)
    <string>:1: error: link name 'a' is taken (first on line 1); names of links are unique (rename one of them) [duplicate-name]
    1 error, 0 warnings, 0 infos
    >>> result.exit_code
    2
    """  # noqa: E501

    file: str
    findings: tuple[Finding, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that keep the file from loading."""
        return self.at_level("error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are probably mistakes."""
        return self.at_level("warning")

    @property
    def exit_code(self) -> int:
        """2 with errors, else 0; see ``strict_exit_code``."""
        return 2 if self.errors else 0

    @property
    def strict_exit_code(self) -> int:
        """2 with errors, 1 with warnings, else 0."""
        return 2 if self.errors else 1 if self.warnings else 0

    def at_level(self, level: str) -> tuple[Finding, ...]:
        """The findings of one level.

        Parameters
        ----------
        level : str
            "error", "warning" or "info".
        """
        return tuple(finding for finding in self.findings if finding.level == level)

    def of(self, code: str) -> tuple[Finding, ...]:
        """The findings of one code.

        Parameters
        ----------
        code : str
        """
        return tuple(finding for finding in self.findings if finding.code == code)

    @property
    def summary(self) -> str:
        """Counts by level: "2 errors, 1 warning, 0 infos"."""
        counts = [(level, len(self.at_level(level))) for level in LEVELS]
        return ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts)

    def as_data(self) -> dict:
        """The result as dicts, lists, strings and numbers."""
        counts = {f"{level}s": len(self.at_level(level)) for level in LEVELS}
        return {"file": self.file, **counts, "findings": [asdict(finding) for finding in self.findings]}

    def to_json(self, indent: int | None = None) -> str:
        """The result as JSON: file, counts by level, and all findings.

        Parameters
        ----------
        indent : int, optional
            As for ``json.dumps``.
        """
        return json.dumps(self.as_data(), indent=indent)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    _repr_html_ = preformatted

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), self.summary])


def finding(
    code: str, file: str, line: int | None, element: str | None, message: str, repair: str = "",
    level: str | None = None,
) -> Finding:  # fmt: skip
    """A finding at the level of its code, unless another is given."""
    return Finding(code, level or CODES[code], file, line, element or "", message, repair)


def findings_of(document: Document, errors: Iterable[Exception], notes: XMLNotes) -> list[Finding]:
    """The errors of a reader and the entries of its report."""
    found = [finding_of(error, document.file) for error in errors]
    for note in notes.entries:
        file = note.document.file
        found.append(finding_of_note(note.code, note.level, file, note.line, note.element, note.message))
    return found


def finding_of_note(code: str, level: str, file: str, line: int | None, element: str, message: str) -> Finding:
    """An entry of a reader's report as a finding."""
    return finding(code, file, line, element, message, level="" if code in _LEVEL_OF_CODE else _LEVELS[level])


def finding_of(error: Exception, file: str) -> Finding:
    """An error of a reader as a finding about its own file, or about this one if it names none."""
    file = getattr(error, "file", None) or file
    code = getattr(error, "code", "")
    message = getattr(error, "summary", None)
    line = getattr(error, "line", None)
    if message is None:
        message = str(error)
        for place in (f"{file}:{line}: ", f"{file}: "):
            message = message.removeprefix(place)
    element, repair = getattr(error, "element", None), getattr(error, "repair", "") or ""
    return finding(code or "model", file, line, element, message, repair, level="error")
