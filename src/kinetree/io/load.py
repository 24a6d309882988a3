"""``load``: a robot from a file or by name, whatever its format."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from kinetree import data
from kinetree.arguments import a_path, checked
from kinetree.errors import FileFormatError, UnsupportedError, unknown_name
from kinetree.io import packages
from kinetree.io.xml.reader import Document
from kinetree.io.xml.source import FileContent, decode, read_bytes
from kinetree.log import LOG

if TYPE_CHECKING:
    from kinetree.io.isolated import Isolation
    from kinetree.model.model import Model

_FORMATS = {"mujoco": "MJCF", "mujocoinclude": "MJCF", "sdf": "SDF"}  # by root element; all others: URDF
# By suffix: archives of MJCF files, and the root element assumed where it cannot be determined.
_ARCHIVES = (".zip", ".mjz")
_BY_SUFFIX = {".mjcf": "mujoco", ".sdf": "sdf", ".world": "sdf"}

_BEFORE_ROOT = re.compile(r"\s+|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>]*(\[.*?\]\s*)?>", re.DOTALL)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)")


def _a_source(what: str, value: object) -> None:
    if _library(value) is None:
        a_path(what, value)


@checked(source=_a_source)
def load(source, *, isolate: bool | Isolation = False, **options) -> Model:
    """Load a robot from a file, from text, or one of the shipped robots by name.

    Parameters
    ----------
    source : str, path, pinocchio.Model, mujoco.MjModel or mujoco.MjSpec
        A URDF, MJCF or SDF file, the text of one (it begins with ``<``), or a name: of ``kinetree.data.robots()``, of
        example-robot-data ("talos", "anymal", with a free base by default), or of robot_descriptions
        ("panda_description"), which clones from the network, where these packages are installed. The root element
        determines the format, whatever the name of the file. Or a model of Pinocchio or MuJoCo.
    isolate : bool or kinetree.io.Isolation
        True: read the file in a child process with limits of time and memory (60 s and 4 GiB, or those given), so that
        an untrusted file ends that process at most. The first such call takes half a second more.
    **options
        Those of the format: see `load_urdf`, `load_mjcf`, `load_sdf`, `load_pinocchio`, `load_mujoco`.

    Returns
    -------
    Model
        With ``model.report``: everything in the file that was ignored, assumed or changed.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    MissingDependencyError
        If the name is one of robot_descriptions, which is not installed.
    UnknownNameError
        If a bare name is neither a file nor a shipped robot, or an option is none of the format's; the message lists
        those that exist.
    UnsupportedError
        If the file is in a format that kinetree does not read, or has physics that a model does not support.
    FileFormatError
        If the file breaks its format; the message opens with file and line. With ``isolate``: or if reading it
        crashes, or takes too long or too much memory.
    InertiaError, ModelError
        If the file describes a body or a robot that cannot be.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> arm.nq, arm.nv
    (9, 9)
    """
    if (library := _library(source)) is not None:
        if isolate is not False:
            raise UnsupportedError(f"kt.load: isolate= is for files, and the source is a model of {library}")
        return _of_object(library, source, options)
    if isolate is not False:
        return _isolated(source, isolate, options)
    if isinstance(source, str) and ("\n" in source or source.lstrip("\ufeff \t\r").startswith("<")):
        return _read(_root_of(source), source, options)
    path = Path(source)
    if not path.exists():
        if isinstance(source, str) and not path.suffix and path.name == source:
            if source in data.robots():
                return _read("robot", data.path(source), options)
            if found := packages.find(source):
                return load(found.path, **found.options | options)
            known = [*data.robots(), *packages.names()]
            raise unknown_name("robot", source, known, "kinetree or installed packages, and no such file")
        raise FileNotFoundError(
            f"{source}: no such file. Shipped robots are loaded by name: {', '.join(data.robots())}."
        )
    suffix = path.suffix.lower()
    if suffix in _ARCHIVES:
        return _read("mujoco", path, options)
    root = None
    with suppress(FileFormatError):  # a file that cannot be read is left to the reader, whose errors have more detail
        path = FileContent(path, read_bytes(path, _unreadable))
        root = _root_of(decode(path.content, _unreadable))
    root = root or _BY_SUFFIX.get(suffix)
    if root is None and suffix == ".xml":
        Document(path, FileFormatError)  # its errors concern no format
    return _read(root, path, options)


def _isolated(source: str | PathLike, isolate: bool | Isolation, options: dict) -> Model:
    from kinetree.io.isolated import ChildFailed, as_isolation, isolated

    limits = as_isolation(isolate)
    options = _repeatable(options)
    try:
        return isolated(limits, load, source, **options)
    except ChildFailed as failed:
        file = "<string>" if isinstance(source, str) and "<" in source else str(source)
        message = f"{file}: {failed.message}. {failed.repair[:1].upper()}{failed.repair[1:]}."
        raise FileFormatError(message, file=file, line=None, code=failed.code, repair=failed.repair) from None


def _repeatable(options: dict) -> dict:
    """Options without iterators, which can be read once, and not be sent anywhere."""
    return {option: tuple(x) if isinstance(x, Iterator) else x for option, x in options.items()}


def _library(source: object) -> str | None:
    """The library whose model an object is, by the names of its class, so that nothing is imported."""
    cls = type(source)
    if cls.__module__.partition(".")[0] == "pinocchio" and cls.__name__ == "Model":
        return "Pinocchio"
    return "MuJoCo" if cls.__module__.partition(".")[0] == "mujoco" and cls.__name__ in ("MjModel", "MjSpec") else None


def _of_object(library: str, source, options: dict) -> Model:
    if library == "Pinocchio":
        from kinetree.io.pinocchio.read import load_pinocchio as reader
    else:
        from kinetree.io.mjcf.objects import load_mujoco as reader
    _check_options(reader, options, f"kt.load of a model of {library}")
    return reader(source, **options)


def _check_options(reader: Callable, options: dict, where: str) -> None:
    known = [p.name for p in inspect.signature(reader).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise unknown_name("option", option, known, where)


def _read(root: str | None, source: str | PathLike, options: dict) -> Model:
    """Read with the reader of a root element; unknown ones go to the URDF reader, which reports the fault."""
    form = _FORMATS.get(root, "URDF")
    reader: Callable = getattr(import_module(f"kinetree.io.{form.lower()}.read"), f"load_{form.lower()}")
    _check_options(reader, options, f"kt.load of {'a' if form == 'URDF' else 'an'} {form} file")
    options = _repeatable(options)
    model = reader(source, **options).read_with(options)
    file = "<string>" if isinstance(source, str) and "<" in source else source
    LOG.info(
        "loaded model %r from %s: nq = %d, nv = %d, report of %d",
        model.name,
        file,
        model.nq,
        model.nv,
        len(model.report),
    )
    return model


def _root_of(text: str) -> str | None:
    """The tag of the root element, without its prefix; None where the text does not come to one."""
    text = text.removeprefix("\ufeff")
    start = 0
    while skipped := _BEFORE_ROOT.match(text, start):
        start = skipped.end()
    root = _ROOT.match(text, start)
    return root[1] if root else None


def _unreadable(line: int | None, message: str, code: str, repair: str) -> Exception:
    return FileFormatError(message, line=line)
