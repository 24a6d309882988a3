"""The result of a verification: one row for each quantity and method, and a verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from kinetree.analysis.accuracy import finite_or_none
from kinetree.html_text import preformatted

HEADINGS = ("quantity", "method", "against", "deviation", "tolerance", "ratio", "verdict", "worst at")


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes
    ----------
    quantity : str
        The computed quantity.
    method : str
        The method.
    against : str
        The reference.
    verdict : str
        "ok", "off" (it deviates by more than rounding explains), "changed" (the model is not the one that its file
        describes) or "left out" (it does not apply; ``note`` has the reason).
    deviation, tolerance : float or None
        At the worst entry, in the quantity's own unit.
    ratio : float or None
        Deviation over tolerance at the worst entry: the largest of all.
    state : int or None
        The state of the worst entry.
    where : str
        Joint, body or frame of the worst entry.
    also : tuple of str
        All others beyond their tolerance, in the order of the model.
    note : str
        Why a row was left out, the change, or the interpretation of a deviation.
    """

    quantity: str
    method: str
    against: str
    verdict: str
    deviation: float | None = None
    tolerance: float | None = None
    ratio: float | None = None
    state: int | None = None
    where: str = ""
    also: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        if self.deviation is None:
            return f"{self.quantity}: {self.method}: {self.verdict}: {self.note}"
        place = f" at {self.where}" if self.where else ""
        place += f", state {self.state}" if self.state is not None else ""
        return (
            f"{self.quantity}: {self.method} against {self.against}: {self.verdict}, {self.deviation:.2g} of "
            f"{self.tolerance:.2g} allowed{place}{f'; {self.note}' if self.note else ''}"
        )


@dataclass(frozen=True)
class Verification:
    """The rows of `verify`, iterable; ``ok`` if none is off or changed, ``str`` is a table.

    Attributes
    ----------
    model_name : str
    rows : tuple of Row
    states, seed : int
        ``States(model, states, seed)`` gives the same states again.
    fast : bool
    condition : float
        Largest condition of M among the states, its diagonal scaled to 1.
    seconds : float
    findings : tuple of str
        Interpretation of all rows that deviate, taken together; the likely cause first.
    unsupported : tuple of str
        Parts of the model that are not computed yet: see `Model.unsupported`.
    """

    model_name: str
    rows: tuple[Row, ...]
    states: int
    seed: int
    fast: bool
    condition: float
    seconds: float
    findings: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.off and not self.changed

    @property
    def off(self) -> tuple[Row, ...]:
        """The rows that deviate."""
        return tuple(row for row in self.rows if row.verdict == "off")

    @property
    def changed(self) -> tuple[Row, ...]:
        """The row about a model that is not the one that its file describes; none if it is."""
        return tuple(row for row in self.rows if row.verdict == "changed")

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def summary(self) -> str:
        """One line: the number of comparisons, the number of deviations, the worst of them."""
        done = [row for row in self.rows if row.ratio is not None]
        worst = max((row.ratio for row in done), default=0.0)
        left_out = sum(row.verdict == "left out" for row in self.rows)
        states = "1 state" if self.states == 1 else f"{self.states} states"
        text = f"{len(done)} comparisons on {states}, {left_out} left out"
        text += f", condition of M up to {self.condition:.2g}"
        if self.off:
            return f"{self.model_name}: {len(self.off)} deviate: {text}, worst {worst:.2g} times its tolerance"
        agree = "all agree, on a model that is not the one of its file" if self.changed else "all agree"
        return f"{self.model_name}: {agree}: {text}, worst {worst:.2g} of its tolerance, {self.seconds:.1f} s"

    @property
    def not_verified(self) -> str:
        """One line about parts of the model that are not computed yet; empty without them."""
        names = self.unsupported
        shown = "; ".join(names[:6]) + (f"; ... ({len(names)} in all)" if len(names) > 6 else "")
        return f"not computed yet, so not verified: {shown}" if names else ""

    def as_data(self) -> dict:
        """Nested dicts and lists for JSON."""
        values = {key: x for key, x in asdict(self).items() if key != "rows"}
        return {"ok": self.ok, **values, "findings": list(self.findings), "rows": [asdict(row) for row in self.rows]}

    def to_json(self, indent: int | None = 2) -> str:
        """The report as JSON text; numbers that are not finite are null."""
        return json.dumps(finite_or_none(self.as_data()), indent=indent)

    _repr_html_ = preformatted

    def __str__(self) -> str:
        cells = [HEADINGS, *map(row_cells, self.rows)]
        widths = [max(len(line[k]) for line in cells) for k in range(7)]
        lines = [
            "  ".join([*(x.ljust(w) for x, w in zip(line, widths, strict=False)), line[7]]).rstrip() for line in cells
        ]
        footer = [*self.findings, *filter(None, [self.not_verified]), self.summary]
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], *footer])

    def to_markdown(self) -> str:
        """The rows as a table of Markdown."""
        head = "| quantity | method | against | deviation | tolerance | ratio | verdict |\n" + "| --- " * 7 + "|"
        return "\n".join([head, *("| " + " | ".join(row_cells(row)[:7]) + " |" for row in self.rows)])


def row_cells(row: Row) -> tuple[str, ...]:
    """A row as text, column by column."""
    if row.deviation is None:
        return row.quantity, row.method, row.against, "", "", "", row.verdict, row.note
    place = f"{row.where}, state {row.state}" if row.where and row.state is not None else row.where
    numbers = f"{row.deviation:.1e}", f"{row.tolerance:.1e}", f"{row.ratio:.1e}"
    return row.quantity, row.method, row.against, *numbers, row.verdict, place
