"""Pages of the example scripts: what one learns, the figure, the output, and the code.

The output is that of the docstring, which a test compares with what the script prints; so only figures need a run.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import inspect
import io
import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def figure_of(path: Path, folder: Path) -> None:
    """Runs an example with ``plot=`` and keeps the figure, unless it is newer than the script."""
    target = folder / "examples" / "figures" / f"{path.stem}.png"
    if target.is_file() and target.stat().st_mtime > path.stat().st_mtime:
        return
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if "plot" in inspect.signature(module.main).parameters:
        target.parent.mkdir(parents=True, exist_ok=True)
        here = os.getcwd()
        os.chdir(target.parent)  # examples may write other files
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                module.main(plot=str(target))
        finally:
            os.chdir(here)


def parts(text: str) -> tuple[str, str, str]:
    """Title, text and printed output of a docstring."""
    doc = ast.get_docstring(ast.parse(text))
    title, _, rest = doc.partition("\n")
    about, _, output = rest.partition("Output::\n")
    return title.rstrip("."), about.strip(), inspect.cleandoc(output)


def page(path: Path, figure: bool) -> str:
    """The page of one example, in Markdown."""
    text = path.read_text()
    title, about, output = parts(text)
    about = re.sub(r"((?:^    .*\n?)+)", lambda m: f"```sh\n{inspect.cleandoc(m[1])}\n```\n", about, flags=re.MULTILINE)
    about = about.replace("``", "`")
    code = text.split('"""', 2)[2].lstrip("\n")
    lines = [f"# {title}", "", about, ""]
    if figure:
        lines += [f"![{title}](figures/{path.stem}.png)", ""]
    if output:
        lines += ["It prints", "", "```text", output, "```", ""]
    return "\n".join(
        [
            *lines,
            "## The script",
            "",
            f"{{source}}`examples/{path.name} <examples/{path.name}>`",
            "",
            "```python",
            code.rstrip(),
            "```",
            "",
        ]
    )


def pages(folder: Path | None) -> dict[str, str]:
    """The pages of all examples and their list; with figures where a folder is given in which they are made."""
    texts, rows = {}, []
    paths = sorted((ROOT / "examples").glob("*.py"))
    for path in paths:
        if folder:
            figure_of(path, folder)
        has_figure = bool(folder) and (folder / "examples" / "figures" / f"{path.stem}.png").is_file()
        texts[f"examples/{path.stem}.md"] = page(path, has_figure)
        title, about, _ = parts(path.read_text())
        picture = (
            f'<img src="../_images/{path.stem}.png" alt="" loading="lazy">'
            if has_figure
            else '<span class="none"></span>'
        )
        lesson = about.split("\n\n")[0].replace("\n", " ")
        rows.append(f'<a class="card" href="{path.stem}.html">{picture}<b>{title}</b><small>{lesson}</small></a>')
    head = "# Examples\n\nScripts of at most 80 lines. Each checks a law of physics on its own result.\n"
    contents = "\n".join(["```{toctree}", ":hidden:", "", *(path.stem for path in paths), "```"])
    texts["examples/index.md"] = "\n".join(
        [head, "```{raw} html", '<div class="cards">', *rows, "</div>", "```", "", contents, ""]
    )
    return texts
