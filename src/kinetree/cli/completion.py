"""Completion of arguments and of values of options in shells, by typer: ``kinetree --install-completion``.

A completion is a function from the word typed so far to the candidates.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

FIGURES = (".png", ".svg", ".pdf")
RUNS = (".npz", ".nc", ".h5", ".csv")
FILMS = (".html", ".glb", ".mp4", ".gif")
ROBOTS = (".urdf", ".xml", ".mjcf", ".sdf")
SIMULATIONS = (".yaml", ".yml")


def words(names: str | Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Completion by fixed words, or by those that a function returns.

    Parameters
    ----------
    names : str or callable
        Words with blanks between them; or the function, which runs when a shell completes.
    """

    def complete(incomplete: str) -> list[str]:
        known = names.split() if isinstance(names, str) else names()
        return sorted(name for name in known if name.startswith(incomplete))

    return complete


def files(*suffixes: str) -> Callable[[str], list[str]]:
    """Completion by files of some suffixes and by folders; without suffixes by folders alone.

    Parameters
    ----------
    *suffixes : str
        Such as ".urdf".
    """

    def complete(incomplete: str) -> list[str]:
        return _paths(incomplete, suffixes)

    return complete


def _paths(incomplete: str, suffixes: tuple[str, ...]) -> list[str]:
    """Files and folders that begin with a path; a folder that is alone is replaced by its content.

    Shells end a single candidate with a blank. So a single folder would need another Tab, and the blank removed.
    """
    folder, begin = os.path.split(incomplete)
    try:
        entries = sorted(os.scandir(os.path.expanduser(folder) or "."), key=lambda entry: entry.name)
    except OSError:
        return []
    found = []
    for entry in entries:
        hidden = entry.name.startswith(".") and not begin.startswith(".")
        if hidden or not entry.name.startswith(begin):
            continue
        path = os.path.join(folder, entry.name)
        if entry.is_dir():
            found.append(f"{path}/")
        elif entry.name.lower().endswith(suffixes) and suffixes:
            found.append(path)
    if suffixes and len(found) == 1 and found[0].endswith("/"):
        return _paths(found[0], suffixes) or found
    return found


def robots(incomplete: str) -> list[str]:
    """Robots that ship with kinetree, and robot files.

    Parameters
    ----------
    incomplete : str
    """
    from kinetree import data

    return words(data.robots)(incomplete) + _paths(incomplete, ROBOTS)


def algorithms(incomplete: str) -> list[str]:
    """Names of algorithms, also behind a comma.

    Parameters
    ----------
    incomplete : str
    """
    from kinetree.algorithms.spec import ALGORITHMS

    before, comma, begin = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in sorted(ALGORITHMS) if name.startswith(begin)]
