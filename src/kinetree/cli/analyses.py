"""``kinetree accuracy``, ``mobility`` and ``verify``: analyses of a robot's dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from kinetree.cli import completion
from kinetree.cli.options import Load, Robot, numbers, option
from kinetree.cli.printing import Output, print_rows
from kinetree.cli.registration import command
from kinetree.cli.targets import check_targets

MOST_STATES = 100_000  # some minutes of work


@command
def accuracy(
    load: Load,
    robot: Robot,
    states: Annotated[
        int | None, option("The number of random states.", default="20", min=1, max=MOST_STATES)
    ] = None,
    q: Annotated[str | None, option('Positions to use instead of random ones, such as "0.1 0.2 -1".')] = None,
    seed: Annotated[int | None, option("The seed of the random states.", default="0")] = None,
) -> Output:
    """Measure how many digits of a robot's dynamics are correct, and name the joint or body that limits them."""
    import kinetree as kt

    report = kt.accuracy(load(), numbers(q, "--q"), states=states, seed=seed)
    return Output(report.as_data(), lambda: print_rows(report.rows()))


@command
def mobility(
    load: Load,
    robot: Robot,
    q: Annotated[str | None, option('A closed position, such as "0.1 0.2 -1".')] = None,
    actuated: Annotated[str | None, option('The joints with motors, such as "hip+knee".')] = None,
) -> Output:
    """Count the freedoms of a robot with closed loops: mobility, redundant constraints, singularity, actuation."""
    import kinetree as kt

    report = kt.closed_loops.mobility(load(), numbers(q, "--q"), actuated=actuated)
    return Output(report.as_data(), lambda: print_rows(report.table()))


@command
def verify(
    load: Load,
    states: Annotated[int, option("The number of random states.", default=True, min=1, max=MOST_STATES)] = 8,
    seed: Annotated[int, option("The seed of the random states.", default=True)] = 0,
    fast: Annotated[bool, option("Compile nothing. This is for big robots.", "--fast")] = False,
    everything: Annotated[
        bool, option("Show every comparison, also those that do not apply to this robot.", "--all")
    ] = False,
    save: Annotated[Path | None, option("Write the report as JSON.", complete=completion.files(".json"))] = None,
    quiet: Annotated[bool, option("Print deviations only.", "--quiet", "-q")] = False,
) -> Output:
    """Compute every quantity by all independent methods on random states, and report deviations beyond rounding.

    The exit code is 0 if all agree, 1 if something is off. docs/verify.md explains the table.
    """
    from kinetree.cli.verification_text import show
    from kinetree.files import write_text
    from kinetree.verification.verify import verify as run_verification

    check_targets(save)
    result = run_verification(load(), states, seed=seed, fast=fast)
    if save is not None:
        write_text(save, result.to_json() + "\n")
    return Output(
        result.as_data(), lambda: show(result, everything=everything, quiet=quiet), 0 if result.ok else 1
    )
