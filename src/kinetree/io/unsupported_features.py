"""Features of a model that a file format does not support: collected while writing, then refused or reported."""

from __future__ import annotations

from kinetree.errors import UnsupportedError, unknown_name
from kinetree.model.parts import Report
from kinetree.model.plane import refuse_planar

CHOICES = ("raise", "drop")
SHOWN = 6


class UnsupportedFeatures:
    """Features that a writer leaves out, or writes in another way.

    Parameters
    ----------
    model : Model
    form : str
        Name of the format, for messages.
    unsupported : {"raise", "drop"}
        What ``report`` does if anything was left out.
    """

    def __init__(self, model, form: str, unsupported: str) -> None:
        if unsupported not in CHOICES:
            raise unknown_name("choice", unsupported, CHOICES, "kt.save(..., unsupported=...)")
        refuse_planar(model, f"writing {form}")
        self.model, self.form, self.unsupported = model, form, unsupported
        self._lost: dict[str, list[str]] = {}
        self._omitted: dict[str, list[str]] = {}
        self._notes: list[tuple[str, str, str]] = []

    def add(self, what: str, name: str = "") -> None:
        """A kind of thing ("armature"), and where ("joint 'knee'"), that the format does not support."""
        names = self._lost.setdefault(what, [])
        if name:
            names.append(name)

    def add_parts(self) -> None:
        """The parts of the model that no format has."""
        for kind, parts in (("geared rotors", self.model.rotors), ("force elements", self.model.elements)):
            for part in parts:
                self.add(kind, repr(part.name))

    def omit(self, what: str, name: str = "") -> None:
        """A kind of thing that the format does not support and that no dynamics depend on, and where: never refused."""
        names = self._omitted.setdefault(what, [])
        if name:
            names.append(name)

    def note(self, where: str, message: str, level: str = "info") -> None:
        """Nothing is lost, but it is written in another way, or needs care in reading."""
        self._notes.append((level, where, message))

    def refuse(self, message: str, **values) -> UnsupportedError:
        """The error for what cannot even be left out."""
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
    if not names:
        return kind
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{kind} ({', '.join(names[:SHOWN])}{more})"
