"""Registration of commands: ``--json`` and ``--debug`` of all, errors in one line, loading of robots."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable

import typer
from typer.core import TyperGroup

from kinetree.cli.ending import USAGE, Errors, print_error
from kinetree.cli.options import Debug, Json, load
from kinetree.cli.printing import Output, envelope
from kinetree.cli.wording import usage_message

# typer has its own copy of click in newer versions: the class that its errors of usage have in common.
UsageFault = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")


class Group(TyperGroup):
    """The commands; errors of usage are one line, as all errors are."""

    def main(self, *arguments, standalone_mode: bool = True, **options):
        """Run a command; see `TyperGroup.main`."""
        if not standalone_mode:
            return super().main(*arguments, standalone_mode=False, **options)
        try:
            code = super().main(*arguments, standalone_mode=False, **options)
        except UsageFault as fault:
            if type(fault).__name__ == "NoArgsIsHelpError":
                typer.echo(fault.ctx.get_help())
                sys.exit(0)
            words = (options.get("args") or (arguments[0] if arguments else None)) or sys.argv[1:]
            message = usage_message(fault, words)
            if "--json" in words:
                command = getattr(getattr(fault, "ctx", None), "info_name", "") or ""
                typer.echo(envelope(command, USAGE, error=message))
            print_error(message)
            sys.exit(USAGE)
        except typer.Abort:
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(
    cls=Group,
    help="Rigid-body dynamics, compiled for your own robot.",
    epilog="kinetree COMMAND --help describes a command; docs/command_line.md has examples of all.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def command(function: Callable[..., Output]) -> Callable:
    """Register a command, which returns its `Output`.

    It gets ``--json``, ``--debug``, errors in one line with the names of its options, and for a parameter ``load`` the
    robot and the options of loading. A command without a parameter ``robot`` has the robot as its first argument then.
    """
    own = dict(inspect.signature(function, eval_str=True).parameters)
    loading = dict(inspect.signature(load, eval_str=True).parameters) if own.pop("load", None) else {}
    name = function.__name__

    @functools.wraps(function)
    def run(*, debug: bool, as_json: bool, **given: object) -> None:
        with Errors(debug, name if as_json else None, tuple(given)):
            loader = {"load": functools.partial(load, **{name: given[name] for name in loading})} if loading else {}
            output = function(**{name: given[name] for name in own}, **loader)
            if as_json:
                typer.echo(envelope(name, output.code, output.data))
            else:
                output.show()
            raise typer.Exit(output.code)

    del run.__wrapped__
    by_name = inspect.Parameter.KEYWORD_ONLY
    common = {
        "as_json": inspect.Parameter("as_json", by_name, default=False, annotation=Json),
        "debug": inspect.Parameter("debug", by_name, default=False, annotation=Debug),
    }
    # The robot comes first, with the command's own description of it, if there is one.
    options = {**dict(tuple(loading.items())[:1]), **own, **loading, **own, **common}
    run.__signature__ = inspect.Signature([option.replace(kind=by_name) for option in options.values()])
    run.__annotations__ = {name: x.annotation for name, x in options.items()}
    return app.command()(run)
