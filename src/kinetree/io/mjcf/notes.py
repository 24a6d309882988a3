"""The report of an MJCF model, and the treatment of unsupported physics."""

from __future__ import annotations

from kinetree.errors import UnsupportedError
from kinetree.io.mjcf.sources import Sources
from kinetree.io.xml.notes import Note, XMLNotes
from kinetree.io.xml.reader import Node


class Notes(XMLNotes):
    """Collects the entries of a report while a file becomes a model.

    Parameters
    ----------
    sources : Sources
    drop : bool
        Report physics that the model does not support as "dropped", instead of refusing the file.

    Notes
    -----
    An entry is about an element, an object by kind and name (``("joint", "knee")``), or the file (None). ``refused``
    lists the unsupported features for `raise_refused`.
    """

    __slots__ = ("sources", "refused")

    def __init__(self, sources: Sources, drop: bool) -> None:
        super().__init__(*sources.documents, drop=drop)
        self.sources = sources
        self.refused: list[Note] = []

    def note(self, at: Node | tuple[str, str] | None, level: str, message: str, code: str) -> Note:
        document, place = self.sources.place(at)
        return Note(document, place.line if isinstance(place, Node) else place, "", level, message, code)

    def unsupported(self, at: Node | tuple[str, str] | None, message: str) -> None:
        """Report unsupported physics: dropped, or refused by `raise_refused`."""
        note = self.note(at, "dropped", message, "unsupported")
        (self.entries if self.drop else self.refused).append(note)

    def raise_refused(self) -> None:
        """Refuse the file for all that was found unsupported; of collecting documents it is kept in ``refused``.

        Raises
        ------
        UnsupportedError
            Names each; ``features`` is the list of (where, what).
        """
        if not self.refused or self.sources.main.problems is not None:
            return
        features = tuple((note.document.where(note.line), note.message) for note in self.refused)
        others = [f"{where}: {what}" for where, what in features[1:4]]
        more = f"; and {len(features) - 4} more" if len(features) > 4 else ""
        rest = f" Also: {'; '.join(others)}{more}." if others else ""
        raise UnsupportedError(
            f"{': '.join(features[0])}: this is physics that a model does not hold.{rest} unsupported='drop' loads "
            "without it, and reports each.",
            features=features,
            file=self.sources.main.file,
            line=self.refused[0].line,
            code="unsupported",
        )
