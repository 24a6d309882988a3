"""The chapters as notebooks, from the scripts in examples/chapters."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "chapters"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(path: Path):
    """A script in the percent format as a notebook: its docstring becomes the title and the first text."""
    import jupytext
    import nbformat

    text = path.read_text()
    doc = ast.get_docstring(ast.parse(text))
    title, _, about = doc.partition("\n")
    book = jupytext.reads(text.split('"""', 2)[2], fmt="py:percent")
    head = nbformat.v4.new_markdown_cell(f"# {title.rstrip('.')}\n{about}")
    book.cells.insert(0, head)
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number}"  # the same notebook each time
    book.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return book


def pages() -> dict[str, str]:
    """All notebooks and their list."""
    import nbformat

    texts, rows, names = {}, [], []
    for path in sorted(FOLDER.glob("*.py")):
        book = notebook(path)
        texts[f"chapters/{path.stem}.ipynb"] = nbformat.writes(book)
        title = book.cells[0].source.partition("\n")[0].lstrip("# ")
        rows.append(f"- [{title}]({path.stem}.ipynb)")
        names.append(path.stem)
    head = "# Chapters\n\nThe documents that kinetree implements, chapter by chapter, with figures.\n"
    contents = "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])
    texts["chapters/index.md"] = "\n".join([head, *rows, "", contents, ""])
    return texts
