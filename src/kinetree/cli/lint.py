"""``kinetree lint``: all errors of robot files."""

from __future__ import annotations

from typing import Annotated

from kinetree.cli import completion
from kinetree.cli.options import PackageDir, argument, option
from kinetree.cli.printing import Output, console
from kinetree.cli.registration import command


@command
def lint(
    files: Annotated[
        list[str], argument("URDF, MJCF or SDF files, or names of robots that ship with kinetree.", completion.robots)
    ],
    strict: Annotated[bool, option("Exit with 1 if there are warnings.", "--strict")] = False,
    everything: Annotated[bool, option("Show every finding, also of codes with many.", "--all")] = False,
    meshes: Annotated[bool, option("Open meshes to compare their size with the inertia.", "--meshes")] = False,
    package_dir: PackageDir = None,
) -> Output:
    """Find all errors in robot files, and legal input that is probably not meant.

    The exit code is 2 with errors and 0 without; with --strict it is 1 if there are warnings only. docs/lint.md
    explains the codes.
    """
    import kinetree as kt
    from kinetree.viz import lint_text

    results = [kt.lint(file, package_dirs=package_dir or (), meshes=meshes) for file in files]
    code = max(result.strict_exit_code if strict else result.exit_code for result in results)
    return Output(
        lint_text.as_data(results),
        lambda: console().print(lint_text.as_text(results, everything=everything), end=""),
        code,
    )
