"""``kinetree info``: the description of a robot."""

from __future__ import annotations

from kinetree.cli.options import Load, Robot
from kinetree.cli.printing import Output, console
from kinetree.cli.registration import command


@command
def info(load: Load, robot: Robot) -> Output:
    """Show a robot: its bodies and joints, masses, limits, sizes, and remarks on its file."""
    from kinetree.viz import describe

    model = load()
    return Output(describe.as_data(model), lambda: console().print(describe.as_tree(model)))
