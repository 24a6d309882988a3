"""Builds the site: ``python -m docs.site``. Warnings are errors.

``--quick`` makes every page, but runs nothing: no figures of examples, no results of notebooks; sources have no colors.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def build(folder: Path, quick: bool = False) -> int:
    """Stages the pages below a folder and runs Sphinx; its exit code."""
    from sphinx.cmd.build import main as sphinx

    from docs.site.pages import stage

    os.environ.setdefault("MPLBACKEND", "Agg")
    pages = folder / "pages"
    stage(pages, quick)
    options = ["-W", "--keep-going", "-q", "-c", str(HERE), "-d", str(folder / "doctrees")]
    options += ["-D", f"kinetree_quick={int(quick)}"]
    options += [
        "-D",
        f"nb_execution_mode={'off' if quick else 'cache'}",
        "-D",
        f"nb_execution_cache_path={folder / 'cache'}",
    ]
    return sphinx([*options, "-b", "html", str(pages), str(folder / "html")])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m docs.site", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="no figures of examples, no results of notebooks, no colors of sources"
    )
    parser.add_argument("--output", type=Path, default=Path("build/site"), help="a folder (default: build/site)")
    options = parser.parse_args()
    code = build(options.output.resolve(), options.quick)
    if not code:
        print(f"The site is {options.output / 'html' / 'index.html'}.")
    sys.exit(code)


if __name__ == "__main__":
    main()
