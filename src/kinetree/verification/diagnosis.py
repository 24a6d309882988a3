"""The likely cause of deviations: dependencies between quantities, and methods that deviate alone."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.verification.report import Row

FIRST = 3  # ranks below are data, joints and kinematics: everything else depends on them


def findings(rows: Sequence[Row], checks: Sequence) -> tuple[str, ...]:
    """Sentences, the likely cause first; none if nothing is off and the model is the one of its file."""
    return (*(row.note for row in rows if row.verdict == "changed"), *_deviations(rows, checks))


def _deviations(rows: Sequence[Row], checks: Sequence) -> tuple[str, ...]:
    off = [(check.cause, row) for row, check in zip(rows, checks, strict=True) if row.verdict == "off"]
    if not off:
        return ()
    lowest = min(cause for cause, _ in off)
    first = [row for cause, row in off if cause == lowest]
    found = [_finding(row) for row in first]
    others = len(off) - len(first)
    if lowest < FIRST:
        if others:
            found.append(f"{others} other rows deviate too: they depend on it")
        return tuple(found)
    return (*_by_quantity(rows, [row for _, row in off]),)


def _finding(row: Row) -> str:
    """One row as a sentence."""
    place = ", ".join(row.also[:4]) + (f" and {len(row.also) - 4} more" if len(row.also) > 4 else "") or row.where
    why = f": {row.note}" if row.note else ""
    return f"{row.quantity}, {row.method}, deviates{f' at {place}' if place else ''}{why}"


def _by_quantity(rows: Sequence[Row], off: Sequence[Row]) -> list[str]:
    """For every quantity with deviations: whether one method is alone or all are."""
    found = []
    for quantity in dict.fromkeys(row.quantity for row in off):
        wrong = [row for row in off if row.quantity == quantity]
        right = [row for row in rows if row.quantity == quantity and row.verdict == "ok"]
        names = ", ".join(dict.fromkeys(row.method for row in wrong))
        places = list(dict.fromkeys(place for row in wrong for place in (row.also or (row.where,)) if place))
        place = ", ".join(places[:4]) + (f" and {len(places) - 4} more" if len(places) > 4 else "")
        where = f" at {place}" if place else ""
        notes = "; ".join(dict.fromkeys(row.note for row in wrong if row.note))
        if right:
            agree = ", ".join(dict.fromkeys(row.method for row in right))
            found.append(f"{quantity}: {names} deviate{where}, while {agree} agree{f': {notes}' if notes else ''}")
        else:
            found.append(f"{quantity}: every method deviates{where} ({names}){f': {notes}' if notes else ''}")
    return found
