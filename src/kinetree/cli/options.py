"""Options that several commands have, and how they load a robot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from kinetree.cli import completion
from kinetree.errors import ShapeError


def option(help: str, *names: str, default: bool | str = False, complete: Callable | None = None, **bounds: int):
    """An option with its help text, its default as shown, and the completion of its values.

    Parameters
    ----------
    help : str
        Whole sentences.
    *names : str
        Default: from the parameter.
    default : bool or str
        The default as the help shows it.
    complete : callable, optional
        See `completion`.
    **bounds : int
        ``min`` and ``max`` of numbers.
    """
    # In rich's markup "[s]" would be a style and vanish.
    escaped = help.replace("[", r"\[")
    return typer.Option(*names, help=escaped, show_default=default, autocompletion=complete, **bounds)


def argument(help: str, complete: Callable | None = None):
    """An argument with its help text and the completion of its values.

    Parameters
    ----------
    help : str
        A whole sentence.
    complete : callable, optional
        See `completion`.
    """
    return typer.Argument(help=help, show_default=False, autocompletion=complete)


Robot = Annotated[
    str, argument("A URDF, MJCF or SDF file, or the name of a robot that ships with kinetree.", completion.robots)
]
Debug = Annotated[bool, option("Show the traceback of an error.", "--debug")]
Json = Annotated[bool, option("Print one JSON object for other programs.", "--json")]
Quiet = Annotated[bool, option("Print nothing but errors.", "--quiet", "-q")]
Figure = Annotated[
    Path | None, option("Write a figure: a .png, .svg or .pdf file.", complete=completion.files(*completion.FIGURES))
]
FloatingBase = Annotated[bool, option("Let the root body move freely.", "--floating-base")]
Inertia = Annotated[
    str | None,
    option(
        "Treatment of impossible inertias: raise, project, diagonal or accept.",
        complete=completion.words("raise project diagonal accept"),
    ),
]
Massless = Annotated[
    str | None,
    option("Treatment of joints that move no inertia: raise or lock.", complete=completion.words("raise lock")),
]
Drop = Annotated[bool, option("Leave out features that a model does not support.", "--drop")]
PackageDir = Annotated[
    list[str] | None, option("A folder of package:// meshes. Repeatable.", complete=completion.files())
]
InertiaFrom = Annotated[
    str | None,
    option(
        "Compute the inertia of links without <inertial> from these shapes: collision or visual (URDF).",
        complete=completion.words("collision visual"),
    ),
]
TreeOnly = Annotated[
    bool,
    option(
        "Leave out loop joints, constraints, forces of tendons, and actuators that exert a force without a control, "
        "where these are not computed yet.", "--tree-only",
    ),
]  # fmt: skip
Density = Annotated[float | None, option("The density of --inertia-from [kg/m^3].", default="1000")]

Load = Callable[[], object]
"""Loader of the robot with the options of the command; commands call it."""


def load(
    robot: Robot,
    floating_base: FloatingBase = False,
    inertia: Inertia = None,
    massless: Massless = None,
    drop: Drop = False,
    package_dir: PackageDir = None,
    inertia_from: InertiaFrom = None,
    density: Density = None,
):
    """The robot of a command."""
    import kinetree as kt

    # Options that were not given have the defaults of the format. A density of zero is given, and refused.
    given = {
        "floating_base": floating_base or None, "inertia": inertia or None, "massless": massless or None,
        "unsupported": "drop" if drop else None, "package_dirs": package_dir or None,
        "inertia_from": inertia_from or None, "density": density,
    }  # fmt: skip
    return kt.load(robot, **{name: value for name, value in given.items() if value is not None})


def numbers(text: str | None, option: str, names: Iterable[str] = ()) -> list[float] | None:
    """The numbers of an option such as ``--q0 "0.1 0.2 -1"``.

    Parameters
    ----------
    text : str or None
    option : str
    names : iterable of str
        Names that the option takes as well.
    """
    if text is None:
        return None
    try:
        return [float(word) for word in text.strip("[]() ").replace(",", " ").split()]
    except ValueError:
        keyframes = f", or a keyframe: {', '.join(names)}" if names else ""
        message = f'{option} is {text!r}, expected numbers such as "0.1 0.2 -1"{keyframes}.'
        raise ShapeError(message, option=option) from None
