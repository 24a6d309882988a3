"""The report of an MJCF model, and what to do with physics that a model cannot hold."""

from __future__ import annotations

import re

from kinetree.errors import UnsupportedError
from kinetree.io.mjcf.sources import Sources
from kinetree.model.parts import Report


class Notes:
    """Collects the entries of a report while a file becomes a model.

    Parameters
    ----------
    sources : Sources
    drop : bool
        Report physics that the model cannot hold as "dropped", instead of refusing the file.

    Notes
    -----
    The levels are those of `kinetree.model.parts.ReportEntry`: ``info`` is no physics, ``warning`` is physics that was
    assumed or changed, ``dropped`` is physics left out. The codes stand in docs/lint.md; ``codes`` has those of entries
    that are more than an "assumption". ``refused`` lists (where, what) that `raise_refused` is about.
    """

    __slots__ = ("sources", "_drop", "codes", "refused", "report")

    def __init__(self, sources: Sources, drop: bool) -> None:
        self.sources = sources
        self._drop = drop
        self.refused: list[tuple[str, str]] = []
        self.report = Report()
        self.codes: dict[str, str] = {}

    def info(self, where: str, message: str, code: str = "assumption") -> None:
        self._add("info", where, message, code)

    def warning(self, where: str, message: str, code: str = "assumption") -> None:
        self._add("warning", where, message, code)

    def _add(self, level: str, where: str, message: str, code: str) -> None:
        self.report = self.report.with_entry(level, where, message)
        if code != "assumption":
            self.codes[message] = code

    def unsupported(self, where: str, what: str) -> None:
        """Physics that the model cannot hold: dropped, or refused by `raise_refused`."""
        if self._drop:
            self.report = self.report.with_entry("dropped", where, what)
        else:
            self.refused.append((where, what))

    def raise_refused(self) -> None:
        """Refuse the file for all that was found unsupported.

        Raises
        ------
        UnsupportedError
            Names each; ``features`` is the list of (where, what).
        """
        if not self.refused:
            return
        where, what = self.refused[0]
        others = [f"{place}: {each}" for place, each in self.refused[1:4]]
        more = len(self.refused) - 1 - len(others)
        rest = f" Also: {'; '.join(others)}{f'; and {more} more' if more else ''}." if others else ""
        raise UnsupportedError(
            f"{where}: {what}: this is physics that a model does not hold.{rest} unsupported='drop' loads without it, "
            "and reports each.",
            features=tuple(self.refused),
            file=self.sources.main.file,
            line=int(at[1]) if (at := re.search(r":(\d+)$", where)) else None,
            code="unsupported",
        )
