"""Checks of the files that a command is to write, before its work."""

from __future__ import annotations

import os
from pathlib import Path

from kinetree.errors import KinetreeError


def check_targets(*paths: Path | None) -> None:
    """Refuse files that cannot be written.

    Parameters
    ----------
    *paths : Path or None
    """
    for path in paths:
        if path is None:
            continue
        if not path.parent.is_dir():
            raise KinetreeError(f"{path}: there is no folder {str(path.parent)!r} to write to.")
        if path.is_dir():
            raise KinetreeError(f"{path}: it is a folder; give the name of a file in it.")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise KinetreeError(f"{path}: it may not be written to.")


def check_figure(path: Path | None) -> None:
    """Refuse a figure that cannot be written, or whose format is unknown.

    Parameters
    ----------
    path : Path or None
    """
    check_targets(path)
    if path is not None:
        from kinetree.viz.style import check_format

        check_format(path)


def check_run(path: Path | None) -> None:
    """Refuse a file of a run that cannot be written, because of its suffix or a missing package.

    Parameters
    ----------
    path : Path or None
    """
    check_targets(path)
    if path is not None:
        from kinetree.simulation.storage import check_suffix

        check_suffix(path)


def partial_path(path: Path) -> Path:
    """The path of a run that ended early: its file, or one beside an existing file.

    Parameters
    ----------
    path : Path
    """
    path = path if path.suffix else path.with_suffix(".npz")
    return path.with_name(f"{path.stem}.partial{path.suffix}") if path.exists() else path


def keep_partial(error: BaseException, save: Path | None) -> None:
    """Write the partial run of an error, and its path to ``error.kept``.

    Parameters
    ----------
    error : BaseException
        With ``trajectory``, if there is one.
    save : Path or None
        The path of the whole run.
    """
    run = getattr(error, "trajectory", None)
    if run is None:
        return
    where = f"at t = {run.time[-1]:.9g} s"
    if save is None:
        error.kept = f"{where}; the run up to there is lost: --save keeps it."
        return
    try:
        path = run.save(partial_path(save))
    except (KinetreeError, OSError, MemoryError) as second:
        error.kept = f"{where}; the run up to there is lost: {second}"
    else:
        error.kept = f"{where}; the run up to there is in {path}, marked as partial: {len(run)} samples."
