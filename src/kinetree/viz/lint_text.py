"""Findings of lint, as text for a terminal and as plain data for other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

SHOWN = {"error": 10, "warning": 5, "info": 2}  # findings of one code before the rest is only counted
_STYLES = {"error": "bold red", "warning": "yellow", "info": "dim"}


def as_data(results: Sequence) -> dict:
    """All results as plain data: ``files``, and the sums ``errors``, ``warnings``, ``infos``.

    Parameters
    ----------
    results : sequence of LintResult
    """
    files = [result.as_data() for result in results]
    sums = {key: sum(file[key] for file in files) for key in ("errors", "warnings", "infos")}
    return {**sums, "files": files}


def as_text(results: Sequence, *, everything: bool = False):
    """All results as a rich renderable: one line per finding, which opens with file and line; then a summary per file.

    Parameters
    ----------
    results : sequence of LintResult
    everything : bool
        Show all findings; otherwise of each code the first few, and how many more there are.
    """
    from rich.text import Text

    text = Text()
    for result in results:
        for finding, more in _chosen(result, everything):
            text.append(f"{finding.where}: ")
            text.append(finding.level, style=_STYLES[finding.level])
            text.append(f": {finding.message.rstrip('.')}")
            if finding.repair:
                text.append(f" ({finding.repair.rstrip('.')})", style="italic")
            text.append(f" [{finding.code}]\n", style="dim")
            if more:
                text.append(f"{result.file}: {finding.level}: {more} more of this kind; --all shows them")
                text.append(f" [{finding.code}]\n", style="dim")
        worst = "error" if result.errors else "warning" if result.warnings else ""
        text.append(f"{result.file}: {result.summary}\n", style=_STYLES.get(worst, "green"))
    return text


def _chosen(result, everything: bool) -> Iterator[tuple[object, int]]:
    """The findings to show, errors first, each with the number of those like it that are left out after it."""
    for level, most in SHOWN.items():
        counts = Counter(finding.code for finding in result.at_level(level))
        seen: Counter = Counter()
        for finding in result.at_level(level):
            seen[finding.code] += 1
            nth, count = seen[finding.code], counts[finding.code]
            # One line more than the limit takes no more room than the line that would count it.
            is_cut = not everything and count > most + 1
            if not is_cut or nth <= most:
                yield finding, count - most if is_cut and nth == most else 0
