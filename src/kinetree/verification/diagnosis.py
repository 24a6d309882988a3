"""The likely cause of deviations: dependencies between quantities, and methods that deviate alone."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.verification.report import Row

FIRST = 3  # ranks below are data, joints and kinematics: everything else depends on them


def findings(rows: Sequence[Row], checks: Sequence) -> tuple[str, ...]:
    """Sentences, the likely cause first; none if nothing is off and the model is the one of its file."""
    found = [row.note for row in rows if row.verdict == "changed"]
    off = [(check.cause, row) for row, check in zip(rows, checks, strict=True) if row.verdict == "off"]
    lowest = min((cause for cause, _ in off), default=FIRST)
    if lowest >= FIRST:
        return (*found, *_by_quantity(rows, [row for _, row in off]))
    first = [row for cause, row in off if cause == lowest]
    for row in first:
        why = f": {row.note}" if row.note else ""
        found.append(f"{row.quantity}, {row.method}, deviates{_at(row.also or (row.where,))}{why}")
    if len(off) > len(first):
        found.append(f"{len(off) - len(first)} other rows deviate too: they depend on it")
    return tuple(found)


def _at(places: Sequence[str]) -> str:
    """Where something is off, as the end of a sentence."""
    places = list(dict.fromkeys(filter(None, places)))
    shown = ", ".join(places[:4]) + (f" and {len(places) - 4} more" if len(places) > 4 else "")
    return f" at {shown}" if shown else ""


def _by_quantity(rows: Sequence[Row], off: Sequence[Row]) -> list[str]:
    """For every quantity with deviations: whether one method is alone or all are."""
    found = []
    for quantity in dict.fromkeys(row.quantity for row in off):
        wrong = [row for row in off if row.quantity == quantity]
        right = [row for row in rows if row.quantity == quantity and row.verdict == "ok"]
        names = ", ".join(dict.fromkeys(row.method for row in wrong))
        where = _at([place for row in wrong for place in row.also or (row.where,)])
        notes = "; ".join(dict.fromkeys(row.note for row in wrong if row.note))
        if right:
            agree = ", ".join(dict.fromkeys(row.method for row in right))
            found.append(f"{quantity}: {names} deviate{where}, while {agree} agree{f': {notes}' if notes else ''}")
        else:
            found.append(f"{quantity}: every method deviates{where} ({names}){f': {notes}' if notes else ''}")
    return found
