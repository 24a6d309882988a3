"""``save``: a model into a file of the format that its suffix names."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from kinetree.arguments import a_model, a_path, a_word, checked, choice
from kinetree.errors import UnsupportedError
from kinetree.files import write_text
from kinetree.model.parts import Report

SUFFIXES = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}


@checked(model=a_model, path=a_path, format=a_word, unsupported=a_word, meshes=a_word, loops=a_path)
def save(
    model,
    path: str | PathLike,
    *,
    format: str | None = None,
    unsupported: str = "raise",
    meshes: str = "keep",
    loops: str | PathLike | None = None,
    **options,
) -> Report:
    """Write a model into a URDF or MJCF file, which is replaced as a whole or not at all.

    Loop joints and constraints, which URDF does not have, go into a file beside it: ``robot.loops.toml``, or the YAML
    file that is there.

    Parameters
    ----------
    model : Model
    path : str or path
        The file; an existing one is overwritten.
    format : {"urdf", "mjcf"}, optional
        By default from the suffix: .urdf, or .xml and .mjcf for MJCF.
    unsupported : {"raise", "drop"}
        Treatment of features that the format does not support: refuse the model, or leave them out and report them.
    meshes : {"keep", "relative", "drop"}
        Names of mesh files: as the model holds them (where they were found), relative to the written file, or no
        meshes at all.
    loops : str or path, optional
        Of URDF only: the file for its loops and constraints; by its suffix TOML, or YAML for .yaml and .yml.
    **options
        Of the format, see ``to_urdf`` and ``to_mjcf``.

    Returns
    -------
    Report
        Features that were left out, and those written in another form.

    Raises
    ------
    UnsupportedError
        If the format does not support features of the model, naming them all; or for an unknown suffix.
    FileFormatError
        If a URDF file would have two files of loops.
    FileWriteError
        If the file cannot be written; an existing file is unchanged.

    Notes
    -----
    *Identities* Reading the file gives the model again, but for the report's changes: ``structure()``, numbers to 1e-14
    of their size, names, frames, shapes. Writing that once more gives the same text.

    Examples
    --------
    >>> import kinetree as kt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pendulum.urdf"
    >>> print(kt.save(kt.models.pendulum(), path))
    nothing to report
    >>> kt.load(path)
    <Model 'pendulum': 1 moving bodies, nq=1, nv=1>
    """
    path = Path(path)
    format = _format(path, format)
    options |= {"unsupported": unsupported, "meshes": meshes, "folder": path.absolute().parent}
    if format == "urdf":
        return _save_urdf(model, path, loops, options)
    if loops is not None:
        raise UnsupportedError(f"save: loops={str(loops)!r} is for URDF files, {path} holds its loops itself")
    from kinetree.io.mjcf.write import mjcf_text

    text, report = mjcf_text(model, **options)
    write_text(path, text)
    return report


def _save_urdf(model, path: Path, loops: str | PathLike | None, options: dict) -> Report:
    """The file, and one with the loops; one that is there is emptied where there are none."""
    from kinetree.io.urdf.loop_file import beside, loops_text
    from kinetree.io.urdf.write import urdf_files

    side = beside(path, None if loops is None else Path(loops))
    text, content, report = urdf_files(model, side=side, **options)
    if side.exists() and not content:
        content = loops_text((), side.suffix.lower())[0]
        report = report.with_entry("info", "", f"{side.name}, which was there, has no constraints now")
    if content:
        write_text(side, content)
    write_text(path, text)
    return report


def _format(path: Path, format: str | None) -> str:
    if format is not None:
        return choice("format", format, dict.fromkeys(SUFFIXES.values()), "kt.save(..., format=...)")
    if path.suffix.lower() in SUFFIXES:
        return SUFFIXES[path.suffix.lower()]
    raise UnsupportedError(
        f"{path}: the suffix {path.suffix!r} names no format that kinetree writes; known: {', '.join(SUFFIXES)}, or "
        "give format='urdf' or 'mjcf'",
        file=str(path),
    )
