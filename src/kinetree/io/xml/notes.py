"""The report of robot files in XML: its entries with file and line, collected while files become a model."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.errors import UnsupportedError
from kinetree.io.mesh_paths import MeshPath
from kinetree.io.xml.reader import Document, Node
from kinetree.model.parts import Report, ReportEntry


@dataclass(frozen=True, slots=True)
class Note:
    """One entry before it is text: its file and line, the element's path, and the rule's short name."""

    document: Document
    line: int | None
    element: str
    level: str
    message: str
    code: str


class XMLNotes:
    """Collects the entries of a report.

    Parameters
    ----------
    *documents : Document
        The files that the report is about.
    drop : bool
        Leave out physics that the model does not support, instead of refusing it.

    Notes
    -----
    The levels are those of `kinetree.model.parts.ReportEntry`: ``info`` is no physics, ``warning`` is physics that was
    assumed or changed, ``dropped`` is physics left out. The codes are listed in docs/lint.md.
    """

    __slots__ = ("documents", "drop", "entries")

    def __init__(self, *documents: Document, drop: bool = False) -> None:
        self.drop = drop
        self.documents: list[Document] = []
        self.entries: list[Note] = []
        for document in documents:
            self.add_document(document)

    def add_document(self, document: Document) -> None:
        """Add a file to the report."""
        self.documents.append(document)
        for line, message in document.remarks:
            self.entries.append(Note(document, line, document.root.tag, "info", message, "xml-version"))

    def note(self, node: Node, level: str, message: str, code: str) -> Note:
        """An entry about an element, which is not in the report yet."""
        return Note(node.document, node.line, node.path, level, message, code)

    def info(self, node: Node, message: str, code: str = "assumption") -> None:
        self.entries.append(self.note(node, "info", message, code))

    def warning(self, node: Node, message: str, code: str = "assumption") -> None:
        self.entries.append(self.note(node, "warning", message, code))

    def dropped(self, node: Node, message: str, code: str = "unsupported") -> None:
        self.entries.append(self.note(node, "dropped", message, code))

    def unsupported(
        self, node: Node, message: str, code: str = "unsupported", repair: str = "unsupported='drop' leaves it out"
    ) -> None:
        """Refuse physics that the model does not support, or report that it was left out.

        Raises
        ------
        UnsupportedError
            A collecting document keeps it.
        """
        if self.drop:
            self.dropped(node, message, code)
        else:
            node.reject(message, error=UnsupportedError, code=code, repair=repair)

    def mesh(self, node: Node, found: MeshPath, name: str) -> str:
        """The path of a mesh, or its name in the file if there is none; reports a missing or relocated file."""
        if found.path is None:
            self.info(node, f"mesh {name} not found: {found.reason}", "mesh-missing")
        elif found.note:
            self.info(node, f"mesh {name}: {found.note}", "mesh-found")
        return found.name if found.path is None else str(found.path)

    def report(self) -> Report:
        """Return the entries file by file, in the order of their lines."""
        order = {id(document): k for k, document in enumerate(self.documents)}
        entries = sorted(self.entries, key=lambda entry: (order[id(entry.document)], entry.line or 0))
        return Report(tuple(ReportEntry(e.level, e.document.where(e.line), e.message) for e in entries))
