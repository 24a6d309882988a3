"""What an MJCF file says that is not in the model: one entry of the report for each kind, with count and first line."""

from __future__ import annotations

from kinetree.io.mjcf_notes import Notes


def report_ignored(mj, notes: Notes) -> None:
    """Report elements and attributes of the files that no part of the reader uses."""
