"""The robots that ship with kinetree: small URDF files without meshes.

>>> from kinetree import data
>>> data.robots()
('arm7', 'cart_pole', 'double_pendulum', 'humanoid', 'quadruped')
"""

from __future__ import annotations

from pathlib import Path

from kinetree.arguments import choice

_FOLDER = Path(__file__).parent


def robots() -> tuple[str, ...]:
    """Return the names of the shipped robots, in alphabetical order."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.urdf")))


def path(name: str) -> Path:
    """Return the file of a shipped robot.

    Parameters
    ----------
    name : str
        One of ``robots()``.

    Raises
    ------
    UnknownNameError
        If no shipped robot has this name; the message lists those that exist.
    ArgumentError
        If the name is no text.
    """
    known = choice("robot", name, robots(), "the robots shipped with kinetree")
    return _FOLDER / f"{known}.urdf"
