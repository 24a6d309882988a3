"""``kinetree codegen``: source code of functions for a robot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from kinetree.cli import completion
from kinetree.cli.convert import rows_of
from kinetree.cli.options import Load, Quiet, Robot, TreeOnly, option
from kinetree.cli.printing import Output, print_rows
from kinetree.cli.registration import command
from kinetree.errors import KinetreeError, UnsupportedError, unknown_name

Choices = dict[str, tuple]  # from an algorithm as the user wrote it to its declaration and its own options


@command
def codegen(
    load: Load,
    robot: Robot,
    function: Annotated[
        list[str],
        option(
            "An algorithm, such as aba, or several as one function: rnea,crba. Repeatable.", "--function", "-f",
            complete=completion.algorithms,
        ),
    ],
    output: Annotated[
        Path, option("The folder of the files. It is made if need be.", "--output", "-o", complete=completion.files())
    ],
    lang: Annotated[str, option("The language: c.", default=True, complete=completion.words("c"))] = "c",
    single: Annotated[bool, option("Use float instead of double.", "--float")] = False,
    parameters: Annotated[
        str,
        option(
            "Numbers of the model: baked, or input for arguments that can be changed.",
            default=True, complete=completion.words("baked input"),
        ),
    ] = "baked",
    sincos: Annotated[
        str, option("Sine and cosine: own or libm.", default=True, complete=completion.words("own libm"))
    ] = "own",
    optional: Annotated[list[str] | None, option("An optional input, such as f_ext. Repeatable.")] = None,
    frame: Annotated[str | None, option("The frame of functions that take one.")] = None,
    reference: Annotated[
        str | None,
        option(
            "The coordinates of its result: local, world or local_world_aligned.",
            complete=completion.words("local world local_world_aligned"),
        ),
    ] = None,
    kind: Annotated[
        str | None, option("The kind of accelerations: spatial, classical, or one of these with _offset.")
    ] = None,
    checks: Annotated[bool, option("Whether inputs are checked.", "--checks/--no-checks", default=True)] = True,
    tree_only: TreeOnly = False,
    quiet: Quiet = False,
) -> Output:  # fmt: skip
    """Write source code of functions for a robot: C99 for machines without Python. docs/codegen.md explains it."""
    from kinetree.compiler.fused import parsed
    from kinetree.export.c_source import to_c

    if lang != "c":
        raise UnsupportedError(f"--lang {lang}: there is no such language; known: c.", lang=lang)
    model = load()
    model = model.without_unsupported() if tree_only else model
    given = {"frame": frame, "reference": reference, "kind": kind}
    choices = [{text: parsed(model, text) for text in names.split(",")} for names in function]
    _refuse_unused({text: choice for group in choices for text, choice in group.items()}, given, optional or ())
    sources = []
    for names, group in zip(function, choices, strict=True):
        f = _function(model, names.split(","), group, given, optional or (), checks)
        sources.append(to_c(f, dtype="float32" if single else "float64", parameters=parameters, sincos=sincos))
    written = [(source, source.write(output)) for source in sources]

    def show() -> None:
        if quiet:
            return
        rows = rows_of(model)
        for source, paths in written:
            rows.append(("function", _counted(source)))
            rows += [("written", f"{path}, {path.stat().st_size} bytes") for path in paths]
        print_rows(rows)

    data = [
        {"name": s.name, "operations": s.operations.total, "scratch_bytes": s.scratch_bytes, "written": paths}
        for s, paths in written
    ]
    return Output({"robot": model.name, "functions": data}, show)


def _counted(source) -> str:
    """Operations and memory of a function."""
    n = source.operations
    counts = f"{n.multiplications} multiplications, {n.additions} additions, {n.divisions} divisions"
    size = f"{n['sincos']} sines, {source.scratch_bytes} bytes of stack"
    return f"{source.name}: {n.total} operations ({counts}), {size}"


def _refuse_unused(choices: Choices, given: dict[str, str | None], optional: Iterable[str]) -> None:
    """Options apply to those functions that take them; one that no function takes is a mistake."""
    names = ", ".join(choices)
    for key, value in given.items():
        if value is not None and not any(key in spec.static for spec, _ in choices.values()):
            raise UnsupportedError(f"--{key} {value}: none of {names} takes it.", option=key)
    known = sorted({name for spec, _ in choices.values() for name in spec.optional})
    for name in optional:
        if name not in known:
            raise unknown_name("optional input", name, known, names)


def _function(model, texts: list[str], choices: Choices, given: dict[str, str | None], optional, checks: bool):
    """The function of one --function: an algorithm, or several with commas between them; options where they apply."""
    import kinetree as kt

    wanted = {key: text for text, (spec, own) in choices.items() for key in spec.static if key not in own}
    missing = {key: text for key, text in wanted.items() if given.get(key) is None}
    if "forward" in missing:
        text = missing["forward"]
        message = f"{text} needs the joints whose force is known behind its name: {text}:JOINT+JOINT."
        raise KinetreeError(message, missing=["forward"])
    if missing:
        needing = " and ".join(dict.fromkeys(missing.values()))
        raise KinetreeError(f"{needing} needs --{' and --'.join(missing)}.", missing=list(missing))
    static = {key: given[key] for key in wanted}
    inputs = tuple(entry for entry in optional if any(entry in spec.optional for spec, _ in choices.values()))
    return kt.compile(model, texts if len(texts) > 1 else texts[0], optional=inputs, checks=checks, **static)
