"""Chapters, tutorial and start pages as notebooks: ``python -m docs.site.notebooks FOLDER`` writes them all.

Chapters are scripts in examples/chapters, in the percent format of jupytext; the other ones are made of the text and
the Python blocks of their pages. The site has pages of the chapters with results, and all notebooks without them.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "chapters"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
PAGES = ("tutorial", "start/roboticist", "start/student", "start/biomechanist", "start/engineer")


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
    return finished(book)


def notebook_of_page(text: str):
    """A Markdown page as a notebook: Python blocks become cells, links to other pages and pictures their text alone."""
    import jupytext

    pieces = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    for k in range(0, len(pieces), 2):  # between blocks of code
        pieces[k] = re.sub(r"^!\[[^\]]*\]\([^)]*\)\n+", "", pieces[k], flags=re.MULTILINE)
        pieces[k] = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", pieces[k])
    return finished(jupytext.reads("".join(pieces), fmt="md"))


def finished(book):
    """The notebook with a kernel, and the same bytes each time."""
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number}"
        cell["metadata"] = {}
    book.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return book


def files() -> dict[str, str]:
    """All notebooks, without results, by name."""
    import nbformat

    found = {path.stem: notebook(path) for path in sorted(FOLDER.glob("*.py"))}
    found |= {page.rpartition("/")[2]: notebook_of_page((ROOT / "docs" / f"{page}.md").read_text()) for page in PAGES}
    return {f"notebooks/{name}.ipynb": nbformat.writes(book) for name, book in found.items()}


def download(page: str) -> str:
    """The line of a page that leads to its notebook; empty if it has none."""
    if page not in PAGES:
        return ""
    up = "../" * page.count("/")
    return f"\n{{download}}`This page as a notebook <{up}notebooks/{page.rpartition('/')[2]}.ipynb>`\n"


def pages() -> dict[str, str]:
    """All notebooks and their list."""
    import nbformat

    texts, rows, names = {}, [], []
    for path in sorted(FOLDER.glob("*.py")):
        book = notebook(path)
        texts[f"chapters/{path.stem}.ipynb"] = nbformat.writes(book)
        title = book.cells[0].source.partition("\n")[0].lstrip("# ")
        rows.append(f"- [{title}]({path.stem}.ipynb), {{download}}`notebook <../notebooks/{path.stem}.ipynb>`")
        names.append(path.stem)
    head = "# Chapters\n\nThe documents that kinetree implements, chapter by chapter, with figures.\n"
    contents = "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])
    texts["chapters/index.md"] = "\n".join([head, *rows, "", contents, ""])
    return texts


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "notebooks")
    folder.mkdir(parents=True, exist_ok=True)
    written = files()
    for name, text in written.items():
        (folder / Path(name).name).write_text(text)
    print(f"{len(written)} notebooks in {folder}")
