"""``kinetree schema``: the schema of simulation files."""

from __future__ import annotations

import json

import typer

from kinetree.cli.printing import Output
from kinetree.cli.registration import command


@command
def schema() -> Output:
    """Print the JSON schema of simulation files, by which editors complete and check them."""
    from kinetree.simulation_files import schema as simulation_files

    content = simulation_files.schema()
    return Output(content, lambda: typer.echo(json.dumps(content, indent=1)))
