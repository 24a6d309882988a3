"""One file: its row of the table."""

from __future__ import annotations

from benchmarks.corpus.catalog import COMPILED, File


def examine(file: File) -> dict[str, object]:
    """Load a file, compare it, and say what came of it; never raises for what the file holds."""
    import kinetree as kt
    from benchmarks.corpus import mjcf, sdf, urdf

    form = {".urdf": urdf, ".xml": mjcf, ".sdf": sdf}[file.suffix]
    row = {"corpus": file.corpus, "file": file.name, **form.examine(kt, file)}
    if file in COMPILED and "errors" in row:
        again = form.examine(kt, file, compiled=True)
        row["compiled"] = again["errors"]
        if again["verdict"] != row["verdict"]:
            row |= {"verdict": again["verdict"], "reason": "compiled code differs from its source"}
    return row
