"""The command line: ``kinetree view``, ``info``, ``simulate``, ``sweep``, ``schema``, ``compare``, ``lint``,
``accuracy``, ``mobility``, ``verify``, ``convert``, ``dh``, ``codegen``, ``bench``, ``robots``, ``joints``, ``scenes``,
``cache``.

Nothing imports this package but the command itself, so typer stays out of ``import kinetree``.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

# Commands register themselves; the help lists them in this order.
# isort: off
import kinetree.cli.view  # noqa: F401
import kinetree.cli.info  # noqa: F401
import kinetree.cli.simulate  # noqa: F401
import kinetree.cli.sweep  # noqa: F401
import kinetree.cli.schema  # noqa: F401
import kinetree.cli.compare  # noqa: F401
import kinetree.cli.lint  # noqa: F401
import kinetree.cli.analyses  # noqa: F401
import kinetree.cli.convert  # noqa: F401
import kinetree.cli.codegen  # noqa: F401
import kinetree.cli.bench  # noqa: F401
import kinetree.cli.catalogs  # noqa: F401
import kinetree.cli.cache  # noqa: F401

# isort: on
from kinetree.cli.ending import Errors, flushed, make_streams_safe, signal_code, signals
from kinetree.cli.options import option
from kinetree.cli.printing import version as version_of_package
from kinetree.cli.registration import app


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    The exit code is 0 on success, 2 on an error of kinetree or of the arguments, 1 on other failures, 130 after Ctrl-C,
    128 plus the number of another signal that ended it.

    Parameters
    ----------
    arguments : list of str, optional
        Default: those of the process.
    """
    make_streams_safe()
    code = 0
    try:
        with signals():
            app(arguments, prog_name="kinetree")
    except SystemExit as end:
        code = signal_code(end) or (end.code if isinstance(end.code, int) else int(end.code is not None))
    except BaseException as error:
        if hasattr(error, "with_traceback_shown"):  # --debug
            raise
        try:
            with Errors(debug=False):
                raise error
        except typer.Exit as end:
            code = end.exit_code
    sys.exit(flushed(code))


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, option("Show the version and exit.", "--version")] = False) -> None:
    if version:
        typer.echo(f"kinetree {version_of_package()}")
        raise typer.Exit
