"""Parts shared by the writers of all formats: elements, unsupported features, names of mesh files, order of bodies."""

from __future__ import annotations

import os
from itertools import accumulate
from pathlib import Path

from kinetree.arguments import choice
from kinetree.errors import UnsupportedError
from kinetree.model.parts import Frame, Geometry, Report
from kinetree.model.planar import refuse_planar

SHOWN = 6  # names of one kind in a message


# Elements ---------------------------------------------------------------------------------------------------------


def add(parent, tag: str, /, **attributes: str):
    """A new element below another, or the outermost one for None."""
    from lxml import etree

    element = etree.Element(tag) if parent is None else etree.SubElement(parent, tag)
    for name, value in attributes.items():
        # A reader would find a space for a tab, or refuse it.
        try:
            if not value.isprintable():
                raise ValueError(value)
            element.set(name, value)
        except ValueError:
            raise UnsupportedError(
                f"XML cannot hold {value!r}, the {name} of a <{tag}>: it has invisible characters; rename it",
                value=value,
            ) from None
    return element


def text_of(root) -> str:
    """The whole file, indented."""
    from lxml import etree

    etree.indent(root, "  ")
    body = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0"?>\n<!-- written by kinetree -->\n{body}\n'


# Features without a place in the format ---------------------------------------------------------------------------


class UnsupportedFeatures:
    """Features that a writer leaves out, or writes in another way: collected while writing, then refused or reported.

    Parameters
    ----------
    model : Model
    form : str
        Name of the format, for messages.
    unsupported : {"raise", "drop"}
        Action of ``report`` if anything was left out.
    """

    def __init__(self, model, form: str, unsupported: str) -> None:
        choice("choice", unsupported, ("raise", "drop"), "kt.save(..., unsupported=...)")
        refuse_planar(model, f"writing {form}")
        self.model, self.form, self.unsupported = model, form, unsupported
        self._lost: dict[str, list[str]] = {}
        self._omitted: dict[str, list[str]] = {}
        self._notes: list[tuple[str, str, str]] = []

    def add(self, what: str, name: str = "") -> None:
        """A kind of thing ("armature"), and where ("joint 'knee'"), that the format does not support."""
        self._lost.setdefault(what, []).extend([name] if name else [])

    def omit(self, what: str, name: str) -> None:
        """A kind of thing that the format does not support and that no dynamics depend on, and where: never refused."""
        self._omitted.setdefault(what, []).append(name)

    def note(self, where: str, message: str, level: str = "info") -> None:
        """Nothing is lost, but it is written in another way, or needs care in reading."""
        self._notes.append((level, where, message))

    def add_parts(self, elements=None) -> None:
        """The parts of the model that no format has; of force elements those that are left, by default all."""
        elements = self.model.own_elements if elements is None else elements
        for kind, parts in (("geared rotors", self.model.rotors), ("force elements", elements)):
            for part in parts:
                self.add(kind, repr(part.name))

    def refuse(self, message: str, **values) -> UnsupportedError:
        """The error for features that cannot even be left out."""
        return UnsupportedError(
            f"model {self.model.name!r} cannot be written as {self.form}: {message}", format=self.form, **values
        )

    def report(self) -> Report:
        """The report, once writing is done.

        Raises
        ------
        UnsupportedError
            If something was left out and the choice is "raise"; ``lost`` maps each kind to names.
        """
        if self._lost and self.unsupported == "raise":
            what = "; ".join(_listed(kind, names) for kind, names in self._lost.items())
            raise self.refuse(
                f"the format does not support {what}. unsupported='drop' leaves this out",
                lost={kind: tuple(names) for kind, names in self._lost.items()},
            )
        report = Report()
        for level, found in (("dropped", self._lost), ("info", self._omitted)):
            for kind, names in found.items():
                report = report.with_entry(level, "", f"{self.form} does not support {_listed(kind, names)}: left out")
        for entry in self._notes:
            report = report.with_entry(*entry)
        return report


def _listed(kind: str, names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{kind} ({', '.join(names[:SHOWN])}{more})" if names else kind


class MeshNames:
    """Gives the name of a shape's mesh file, or None to leave it out; see ``kt.save`` for the choices.

    Parameters
    ----------
    meshes : {"keep", "relative", "drop"}
    folder : Path or None
        Folder of the written file; without one, relative names cannot be formed.
    features : UnsupportedFeatures
    """

    def __init__(self, meshes: str, folder: Path | None, features: UnsupportedFeatures) -> None:
        choice("choice", meshes, ("keep", "relative", "drop"), "kt.save(..., meshes=...)")
        self.meshes, self.folder, self.features = meshes, folder, features

    def __call__(self, shape: Geometry) -> str | None:
        if shape.mesh is not None and self.meshes == "drop":
            self.features.note(f"mesh {shape.name or shape.mesh!r}", "left out (meshes='drop')")
            return None
        if shape.mesh is not None and self.meshes == "relative" and self.folder and os.path.isabs(shape.mesh):
            try:
                return Path(os.path.relpath(shape.mesh, self.folder)).as_posix()
            except ValueError:  # another drive
                return shape.mesh
        return shape.mesh


# The order in which a file names bodies and frames, so that reading numbers them as the model does ------------------


def attachments(model) -> list[list[Frame | int]]:
    """Further frames and children of every body, in an order that keeps both lists of the model.

    Returns
    -------
    list
        Per body a list of frames of ``model.frames[model.nb:]`` and numbers of children.

    Notes
    -----
    A reader that goes depth first meets the frames of a subtree together, so a frame goes before the first child whose
    subtree holds a later frame.
    """
    own: list[list[tuple[int, Frame]]] = [[] for _ in range(model.nb)]
    first = [model.nf] * model.nb  # the first further frame in the subtree of every body
    for k, frame in enumerate(model.frames[model.nb :], start=model.nb):
        own[frame.body].append((k, frame))
        first[frame.body] = min(first[frame.body], k)
    for i in model.inward():
        first[model.parent[i]] = min(first[model.parent[i]], first[i])
    carried: list[list[Frame | int]] = []
    for i in range(model.nb):
        children = model.children(i)
        later = accumulate((first[child] % model.nf for child in children), max)  # 0: no frames in there
        ordered = sorted([*zip(later, children, strict=True), *own[i]], key=lambda entry: entry[0])
        carried.append([each for _, each in ordered])
    return carried


def is_depth_first(model) -> bool:
    """Whether every subtree is numbered without a gap, as readers of nested files number it."""
    last = list(range(model.nb))
    size = [1] * model.nb
    for i in model.inward():
        p = model.parent[i]
        last[p], size[p] = max(last[p], last[i]), size[p] + size[i]
    return all(last[i] - i + 1 == size[i] for i in model.outward())
