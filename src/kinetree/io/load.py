"""``load``: a robot from a file or by name, whatever its format."""

from __future__ import annotations

import inspect
from os import PathLike
from pathlib import Path

from kinetree import data
from kinetree.errors import FileFormatError, UnsupportedError, unknown_name
from kinetree.io.urdf import load_urdf

_PLANNED = {".xml": "MJCF", ".mjcf": "MJCF", ".sdf": "SDF", ".world": "SDF", ".usd": "USD", ".usda": "USD"}


def load(source: str | PathLike, **options):
    """Load a robot from a file, from text, or one of the shipped robots by name.

    Parameters
    ----------
    source : str or path
        A URDF file, the text of one (it begins with ``<``), or a name of ``kinetree.data.robots()``.
    **options
        Those of the format: see `load_urdf`.

    Returns
    -------
    Model
        With ``model.report``: everything in the file that was ignored, assumed or changed.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    UnknownNameError
        If a bare name is neither a file nor a shipped robot, or an option is none of the format's; the message lists
        those that exist.
    UnsupportedError
        If the file is in a format that kinetree does not read yet: MJCF, SDF, USD.
    FileFormatError
        If the file breaks its format; the message opens with file and line.
    InertiaError, ModelError
        If the file describes a body or a robot that cannot be.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> arm.nq, arm.nv
    (9, 9)
    """
    _check_options(options)
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("<")):
        return load_urdf(source, **options)
    path = Path(source)
    if not path.exists():
        if isinstance(source, str) and not path.suffix and path.name == source:
            if source not in data.robots():
                raise unknown_name("file or shipped robot", source, data.robots(), "the shipped robots")
            return load_urdf(data.path(source), **options)
        raise FileNotFoundError(
            f"{source}: no such file. Shipped robots are loaded by name: {', '.join(data.robots())}."
        )
    suffix = path.suffix.lower()
    if suffix == ".xacro":
        raise FileFormatError(
            f"{source}: this is a xacro macro file; expand it first: xacro {path.name} > {path.stem}",
            file=str(source),
            line=None,
        )
    if suffix in _PLANNED and not _is_urdf(path):
        form = _PLANNED[suffix]
        raise UnsupportedError(
            f"{source}: this looks like {form}, which kinetree does not read yet; it reads URDF. Convert the file, or "
            "build the model with ModelBuilder.",
            file=str(source),
            format=form,
        )
    return load_urdf(path, **options)


def _check_options(options) -> None:
    known = [p.name for p in inspect.signature(load_urdf).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise unknown_name("option", name, known, "kt.load of a URDF file")


def _is_urdf(path: Path) -> bool:
    """Whether the root element is <robot>; some URDF files are called .xml."""
    from lxml import etree

    try:
        for _, element in etree.iterparse(str(path), events=("start",), no_network=True, resolve_entities=False):
            return element.tag == "robot"
    except etree.XMLSyntaxError:
        pass
    return False
