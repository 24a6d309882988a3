"""The command line: ``kinetree info``, ``simulate``, ``compare``, ``lint``, ``accuracy``, ``mobility``, ``convert``,
``dh``, ``codegen``, ``cache``, ``robots``, ``joints``, ``scenes``.

Nothing imports this module but the command itself, so typer stays out of ``import kinetree``.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from kinetree.arguments import choice
from kinetree.cli.ending import Errors, flushed, make_streams_safe, signal_code, signals
from kinetree.cli.ground import on_ground
from kinetree.cli.targets import check_figure, check_run, check_targets, keep_partial
from kinetree.errors import KinetreeError, ShapeError, SimulationError, UnsupportedError, unknown_name

MOST_STATES = 100_000  # some minutes of work

app = typer.Typer(
    help="Rigid-body dynamics, compiled for your own robot.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _option(help: str, *names: str, default: bool | str = False, **bounds: int):
    # In rich's markup "[s]" would be a style and vanish.
    return typer.Option(*names, help=help.replace("[", r"\["), show_default=default, **bounds)


Robot = Annotated[
    str, typer.Argument(help="A URDF, MJCF or SDF file, or the name of a shipped robot.", show_default=False)
]
Debug = Annotated[bool, _option("Show the traceback of an error.", "--debug")]
FloatingBase = Annotated[bool, _option("Let the root body move freely.", "--floating-base")]
Inertia = Annotated[str | None, _option("Impossible inertias: raise, project, diagonal or accept.")]
Massless = Annotated[str | None, _option("Joints that move no inertia: raise or lock.")]
Drop = Annotated[bool, _option("Leave out features that a model does not support.", "--drop")]
PackageDir = Annotated[list[str] | None, _option("Folders of package:// meshes; repeatable.")]
InertiaFrom = Annotated[str | None, _option("Fill shapes of links without <inertial>: collision or visual (URDF).")]
TreeOnly = Annotated[
    bool,
    _option(
        "Leave out loop joints, constraints, forces of tendons, and actuators that exert a force without a control, "
        "which are not computed yet.", "--tree-only",
    ),
]  # fmt: skip
Density = Annotated[float | None, _option("Of --inertia-from [kg/m^3].", default="1000")]


Choices = dict[str, tuple]  # from an algorithm as the user wrote it to its declaration and its own options
Load = Callable[[], object]
"""Loader of the robot with the options of the command; commands call it."""


def _load(
    robot: Robot,
    floating_base: FloatingBase = False,
    inertia: Inertia = None,
    massless: Massless = None,
    drop: Drop = False,
    package_dir: PackageDir = None,
    inertia_from: InertiaFrom = None,
    density: Density = None,
):
    import kinetree as kt

    # Options that were not given have the defaults of the format. A density of zero is given, and refused.
    given = {
        "floating_base": floating_base or None, "inertia": inertia or None, "massless": massless or None,
        "unsupported": "drop" if drop else None, "package_dirs": package_dir or None,
        "inertia_from": inertia_from or None, "density": density,
    }  # fmt: skip
    return kt.load(robot, **{name: value for name, value in given.items() if value is not None})


def command(function: Callable) -> Callable:
    """Register a command: with errors in one line, ``--debug``, and for ``load`` the robot and how to load it."""
    own = dict(inspect.signature(function, eval_str=True).parameters)
    loading = dict(inspect.signature(_load, eval_str=True).parameters) if own.pop("load", None) else {}

    @functools.wraps(function)
    def run(*, debug: bool, **given: object) -> None:
        with Errors(debug):
            load = {"load": functools.partial(_load, **{name: given[name] for name in loading})} if loading else {}
            function(**{name: given[name] for name in own}, **load)

    del run.__wrapped__
    by_name = inspect.Parameter.KEYWORD_ONLY
    debug = inspect.Parameter("debug", by_name, default=False, annotation=Debug)
    options = {**dict(tuple(loading.items())[:1]), **own, **loading, "debug": debug}  # the robot comes first
    run.__signature__ = inspect.Signature([option.replace(kind=by_name) for option in options.values()])
    run.__annotations__ = {name: x.annotation for name, x in options.items()}
    return app.command()(run)


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
def root(version: Annotated[bool, _option("Show the version and exit.", "--version")] = False) -> None:
    if version:
        typer.echo(f"kinetree {_version()}")
        raise typer.Exit


@app.command()
def robots() -> None:
    """List the robots that ship with kinetree."""
    from kinetree import data

    for name in data.robots():
        typer.echo(name)


@command
def joints(
    kind: Annotated[str | None, typer.Argument(help="One kind, such as helical.", show_default=False)] = None,
    plot: Annotated[Path | None, _option("Draw how they move: .png, .svg or .pdf.")] = None,
) -> None:
    """List the kinds of joints, with their coordinates; draw them."""
    from kinetree import viz

    check_figure(plot)
    kinds = {entry.kind: entry for entry in viz.joint_kinds()}
    if kind is not None and kind not in kinds:
        raise unknown_name("joint kind", kind, kinds, "the registry of joints")
    shown = kinds.values() if kind is None else [kinds[kind]]
    rows = [(entry.kind, str(entry)) for entry in shown]
    if plot is not None:
        viz.joint_gallery(path=plot) if kind is None else viz.plot_joint(kinds[kind].joint, path=plot)
        rows.append(("written", str(plot)))
    _print_rows(rows)


@command
def scenes(
    key: Annotated[str | None, typer.Argument(help="One scene, such as 5 or d12.", show_default=False)] = None,
    plot: Annotated[Path | None, _option("Draw the motion and the energies: .png, .svg or .pdf.")] = None,
    everything: Annotated[bool, _option("Run all scenes.", "--all")] = False,
) -> None:
    """List the scenes of REDMAX; run one in all formulations, beside the published results; draw it."""
    from kinetree.scenes import runs

    check_figure(plot)
    if key is None and not everything:
        if plot is not None:
            raise UnsupportedError("--plot is of one scene: kinetree scenes 5 --plot scene.png.", option="plot")
        _print_rows([(name, scene.title) for name, scene in runs.SCENES.items()])
        return
    keys = list(runs.SCENES) if everything else [choice("scene", key, runs.SCENES, "the scenes of REDMAX")]
    found = [runs.run(name, how) for name in keys for how in runs.formulations(runs.SCENES[name])]
    typer.echo(runs.as_text(runs.rows(found)))
    if plot is not None:
        from kinetree.scenes.plot import plot_scene

        plot_scene(keys[0], path=plot)
        typer.echo(f"written: {plot}")


@command
def info(
    load: Load,
    robot: Robot,
    as_json: Annotated[bool, _option("Machine-readable output.", "--json")] = False,
) -> None:
    """Show a robot: its bodies and joints, masses, limits, sizes, and remarks on its file."""
    model = load()
    from kinetree.viz import describe

    if as_json:
        import json

        typer.echo(json.dumps(describe.as_data(model), indent=2))
    else:
        _console().print(describe.as_tree(model))


@command
def simulate(
    load: Load,
    robot: Robot,
    duration: Annotated[float, _option("Simulated time [s].", default=True)] = 5.0,
    dt: Annotated[float, _option("Step, or distance of the samples of adaptive [s].", default=True)] = 1e-3,
    ground: Annotated[bool, _option("Stand on the ground z = 0; the root of a URDF moves freely.", "--ground")] = False,
    friction: Annotated[float | None, _option("Coefficient of friction of --ground.", default="0.8")] = None,
    self_collision: Annotated[bool, _option("Contact between bodies of the robot.", "--self-collision")] = False,
    integrator: Annotated[str, _option("auto, semi_implicit, rk4, dp54, ... or adaptive.", default=True)] = "auto",
    method: Annotated[str | None, _option("Method of adaptive: dop853, dp54, Radau, ...", default="dop853")] = None,
    rtol: Annotated[float | None, _option("Relative tolerance of adaptive.", default="1e-10")] = None,
    atol: Annotated[float | None, _option("Absolute tolerance of adaptive.", default="1e-10")] = None,
    tree_only: TreeOnly = False,
    q0: Annotated[str | None, _option('Initial positions, such as "0.1 0.2 -1", or a keyframe.')] = None,
    v0: Annotated[str | None, _option("Initial velocities.")] = None,
    tau: Annotated[str | None, _option("Constant joint forces.")] = None,
    seed: Annotated[int | None, _option("Random initial state with this seed.")] = None,
    limits: Annotated[str, _option("At position limits: soft, ignore or raise.", default=True)] = "soft",
    sample_period: Annotated[float | None, _option("Distance of the samples [s].", default="every step")] = None,
    plot: Annotated[Path | None, _option("Write a figure: .png, .svg or .pdf.")] = None,
    save: Annotated[Path | None, _option("Write the run: .npz, .nc, .h5 or .csv.")] = None,
    report: Annotated[bool, _option("Report irregularities of the run, and its energy balance.")] = False,
    quiet: Annotated[bool, _option("Print nothing but errors.", "--quiet", "-q")] = False,
) -> None:
    """Simulate a robot; print a summary, draw it, save it."""
    from kinetree.simulation.options import Inputs, Record
    from kinetree.simulation.simulate import simulate as run_simulation

    check_figure(plot)
    check_run(save)
    model, plane = on_ground(load, ground, friction)
    if model.unsupported and not tree_only:
        message = (
            f"{robot} holds {_some(model.unsupported)}; simulations do not compute that yet, --tree-only leaves it out."
        )
        raise UnsupportedError(message, unsupported=model.unsupported)
    left_out, (model, components) = model.unsupported, _with_limits(model.without_unsupported(), limits)
    try:
        run = run_simulation(
            model,
            q0 if q0 in model.keyframes else _numbers(q0, "--q0", model.keyframes), _numbers(v0, "--v0"),
            duration=duration, dt=dt, ground=plane, self_collision=self_collision,
            integrator=_integrator(integrator, method=method, rtol=rtol, atol=atol),
            inputs=Inputs(tau=_numbers(tau, "--tau")), record=Record(period=sample_period), seed=seed,
            components=components, progress=False if quiet else None,
        )  # fmt: skip
    except BaseException as error:
        keep_partial(error, save)
        raise
    written = [run.save(save)] if save is not None else []
    if plot is not None:
        run.plot(path=plot)
        written.append(plot)
    if not quiet:
        from kinetree.simulation.summary import summary_rows

        rows = summary_rows(run, model, robot, written)
        _print_rows([*rows, ("left out", _some(left_out))] if left_out else rows)
    if report:
        typer.echo(run.report())


def _with_limits(model, limits: str) -> tuple:
    """The model with its limits, soft stops where there are none, or without; and a component that ends runs there."""
    from kinetree.simulation.limits import LimitMonitor

    choice("treatment of limits", limits, ("soft", "ignore", "raise"), "--limits")
    return model.without_limits() if limits == "ignore" else model, [LimitMonitor(model)] if limits == "raise" else []


def _integrator(name: str, **options):
    """The integrator of a name, with the options that only adaptive steps have."""
    from kinetree.integrators import Adaptive

    given = {option: value for option, value in options.items() if value is not None}
    if not given:
        return name
    if name == "adaptive":
        return Adaptive(**given)
    option, value = next(iter(given.items()))
    fault = f"--{option} = {value!r} is a setting of adaptive runs, and integrator is {name!r}"
    raise SimulationError(f"{fault}. Give --integrator adaptive, or leave --{option} out.", option=option)


@command
def compare(
    first: Annotated[Path, typer.Argument(help="A run: .npz, .nc, .h5 or .csv.")],
    second: Annotated[Path, typer.Argument(help="Another.")],
    robot: Annotated[
        str | None, _option("The robot, which files of runs do not hold; for quaternions and times between samples.")
    ] = None,
    tolerance: Annotated[float, _option("Differences beyond it count.", default=True)] = 1e-6,
    joint: Annotated[list[str] | None, _option("Compare this joint only; repeatable.")] = None,
    floating_base: FloatingBase = False,
    plot: Annotated[Path | None, _option("Write a figure: .png, .svg or .pdf.")] = None,
) -> None:
    """Compare two runs joint by joint, and report where they differ. Exit code 1 beyond the tolerance."""
    import kinetree as kt

    check_figure(plot)
    if floating_base and robot is None:
        raise UnsupportedError("--floating-base is of --robot, which is not given.", option="floating_base")
    model = None if robot is None else _load(robot, floating_base)
    model = None if model is None else model.without_unsupported()
    runs = [kt.Trajectory.load(path, model) for path in (first, second)]
    comparison = runs[0].compare(runs[1], tolerance, joint or None)
    typer.echo(str(comparison))
    if plot is not None:
        comparison.plot(path=plot)
        typer.echo(f"written: {plot}")
    raise typer.Exit(0 if comparison.same else 1)


@command
def lint(
    files: Annotated[list[str], typer.Argument(help="URDF, MJCF or SDF files, or names of shipped robots.")],
    as_json: Annotated[bool, _option("Machine-readable output.", "--json")] = False,
    strict: Annotated[bool, _option("Exit with 1 if there are warnings.", "--strict")] = False,
    everything: Annotated[bool, _option("Show every finding, also of codes with many.", "--all")] = False,
    meshes: Annotated[bool, _option("Open meshes to compare their size with the inertia.", "--meshes")] = False,
    package_dir: PackageDir = None,
) -> None:
    """Find all errors in robot files, and legal input that is probably not meant.

    Exit code 2 with errors, 0 without; with --strict 1 if there are warnings only. docs/lint.md explains the codes.
    """
    import kinetree as kt
    from kinetree.viz import lint_text

    results = [kt.lint(file, package_dirs=package_dir or (), meshes=meshes) for file in files]
    if as_json:
        typer.echo(lint_text.as_json(results))
    else:
        _console().print(lint_text.as_text(results, everything=everything), end="")
    raise typer.Exit(max(result.strict_exit_code if strict else result.exit_code for result in results))


@command
def accuracy(
    load: Load,
    robot: Robot,
    states: Annotated[int | None, _option("Number of random states.", default="20", min=1, max=MOST_STATES)] = None,
    q: Annotated[str | None, _option('Positions to look at instead, such as "0.1 0.2 -1".')] = None,
    seed: Annotated[int | None, _option("Of the random states.", default="0")] = None,
    as_json: Annotated[bool, _option("Machine-readable output.", "--json")] = False,
) -> None:
    """Measure how many digits of a robot's dynamics are correct, and name the joint or body that limits them."""
    import kinetree as kt

    model = load()
    report = kt.accuracy(model, _numbers(q, "--q"), states=states, seed=seed)
    if as_json:
        typer.echo(report.to_json(indent=2))
    else:
        _print_rows(list(report.rows()))


@command
def mobility(
    load: Load,
    robot: Robot,
    q: Annotated[str | None, _option('A closed position, such as "0.1 0.2 -1".')] = None,
    actuated: Annotated[str | None, _option('Joints with motors, such as "hip+knee".')] = None,
    as_json: Annotated[bool, _option("Machine-readable output.", "--json")] = False,
) -> None:
    """Count the freedoms of a robot with closed loops: mobility, redundant constraints, singularity, actuation."""
    import kinetree as kt

    report = kt.closed_loops.mobility(load(), _numbers(q, "--q"), actuated=actuated)
    if as_json:
        typer.echo(report.to_json(indent=2))
    else:
        _print_rows(list(report.table()))


@command
def verify(
    load: Load,
    states: Annotated[int, _option("Random states.", default=True, min=1, max=MOST_STATES)] = 8,
    seed: Annotated[int, _option("Of the random states.", default=True)] = 0,
    fast: Annotated[bool, _option("Compile nothing: for big robots.", "--fast")] = False,
    everything: Annotated[bool, _option("Show rows that do not apply to this robot, too.", "--all")] = False,
    as_json: Annotated[bool, _option("Machine-readable output.", "--json")] = False,
    save: Annotated[Path | None, _option("Write the report as JSON.")] = None,
    quiet: Annotated[bool, _option("Print deviations only.", "--quiet", "-q")] = False,
) -> None:
    """Compute every quantity by all independent methods on random states; report deviations beyond rounding.

    Exit code 0 if all agree, 1 if something is off. docs/verify.md explains the table.
    """
    from kinetree.verification.command import command

    check_targets(save)
    model = load()
    code = command(
        model, states=states, seed=seed, fast=fast, as_json=as_json, everything=everything, quiet=quiet, write=save
    )
    raise typer.Exit(code)


@command
def convert(
    load: Load,
    robot: Robot,
    path: Annotated[Path, typer.Argument(help="The file to write: .urdf, or .xml or .mjcf for MJCF.")],
    drop: Drop = False,
    meshes: Annotated[str, _option("Names of meshes: keep, relative (to the file) or drop.", default=True)] = "keep",
    quiet: Annotated[bool, _option("Print nothing but errors.", "--quiet", "-q")] = False,
) -> None:
    """Read a robot and write it into a file, of another format or the same; report changes."""
    import kinetree as kt
    from kinetree.io.save import SUFFIXES

    check_targets(path)
    if path.suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise UnsupportedError(f"{path}: the suffix {path.suffix!r} names no format to write; known: {known}.")
    model = load()
    report = kt.save(model, path, unsupported="drop" if drop else "raise", meshes=meshes)
    if quiet:
        return
    rows = _rows_of(model)
    rows += [("note", str(entry)) for entry in report]
    _print_rows([*rows, ("written", str(path))])


@command
def dh(
    robot: Robot,
    convention: Annotated[str, _option("standard (distal) or modified (Craig).", default=True)] = "modified",
    tip: Annotated[str | None, _option("The frame or body at the end of the chain, where the tree branches.")] = None,
    positive_a: Annotated[bool, _option("Let no length a be negative.", "--positive-a")] = False,
) -> None:
    """Print the Denavit-Hartenberg parameters of a serial chain."""
    import kinetree as kt

    typer.echo(kt.io.to_dh(kt.load(robot), convention, tip=tip, positive_a=positive_a))


@command
def codegen(
    load: Load,
    robot: Robot,
    function: Annotated[
        list[str], _option("An algorithm, such as aba; several as one: rnea,crba; repeatable.", "--function", "-f")
    ],
    output: Annotated[Path, _option("Folder of the files; it is made if need be.", "--output", "-o")],
    lang: Annotated[str, _option("The language: c.", default=True)] = "c",
    single: Annotated[bool, _option("float instead of double.", "--float")] = False,
    parameters: Annotated[
        str, _option("Numbers of the model: baked, or input for arguments that can be changed.", default=True)
    ] = "baked",
    sincos: Annotated[str, _option("Sine and cosine: own or libm.", default=True)] = "own",
    optional: Annotated[list[str] | None, _option("An optional input, such as f_ext; repeatable.")] = None,
    frame: Annotated[str | None, _option("The frame of functions that take one.")] = None,
    reference: Annotated[str | None, _option("Its coordinates: local, world or local_world_aligned.")] = None,
    kind: Annotated[str | None, _option("Of accelerations: spatial, classical, or one of these with _offset.")] = None,
    checks: Annotated[bool, _option("Whether inputs are checked.", "--checks/--no-checks", default=True)] = True,
    tree_only: TreeOnly = False,
    quiet: Annotated[bool, _option("Print nothing but errors.", "--quiet", "-q")] = False,
) -> None:
    """Write source code of functions for a robot: C99 for machines without Python. docs/codegen.md explains it."""
    from kinetree.compiler.fused import parsed
    from kinetree.export.c_source import to_c

    if lang != "c":
        raise UnsupportedError(f"--lang {lang}: there is no such language; known: c.", lang=lang)
    model = load()
    model = model.without_unsupported() if tree_only else model
    given = {"frame": frame, "reference": reference, "kind": kind}
    rows = _rows_of(model)
    choices = [{text: parsed(model, text) for text in names.split(",")} for names in function]
    _refuse_unused({text: choice for group in choices for text, choice in group.items()}, given, optional or ())
    sources = []
    for names, group in zip(function, choices, strict=True):
        f = _function(model, names.split(","), group, given, optional or (), checks)
        sources.append(to_c(f, dtype="float32" if single else "float64", parameters=parameters, sincos=sincos))
    for source in sources:
        n = source.operations
        counts = f"{n.multiplications} multiplications, {n.additions} additions, {n.divisions} divisions"
        size = f"{n['sincos']} sines, {source.scratch_bytes} bytes of stack"
        rows.append(("function", f"{source.name}: {n.total} operations ({counts}), {size}"))
        rows += [("written", f"{path}, {path.stat().st_size} bytes") for path in source.write(output)]
    if not quiet:
        _print_rows(rows)


def _rows_of(model) -> list[tuple[str, str]]:
    """Name and size of a model, and warnings and changes of its report."""
    rows = [("robot", f"{model.name}: {model.nb - 1} moving bodies, nq={model.nq}, nv={model.nv}")]
    return rows + [("read", str(entry)) for entry in model.report if entry.level != "info"]


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


@command
def cache(clear: Annotated[bool, _option("Remove every entry.", "--clear")] = False) -> None:
    """Show the path and size of the cache of compiled code; empty it."""
    from kinetree.native import cache as files

    removed = [("removed", f"{files.clear()} entries")] if clear else []
    usage = files.usage()
    if usage.directory is None:
        _print_rows([("folder", "none: turned off by KINETREE_CACHE, or there is no home directory")])
        return
    limit = f"{usage.limit / 2**20:.4g} MB (KINETREE_CACHE_SIZE)"
    size = f"{usage.size / 2**20:.3g} MB of {limit}"
    _print_rows([("folder", str(usage.directory)), ("entries", str(usage.entries)), ("size", size), *removed])


def _console():
    from rich.console import Console

    # Into a pipe or a file, lines are never cut or wrapped.
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, soft_wrap=True, width=10_000)


def _print_rows(rows: list[tuple[str, str]]) -> None:
    """Labels and values in two columns; in a terminal long values wrap inside theirs."""
    from rich.table import Table
    from rich.text import Text

    if not sys.stdout.isatty():
        width = max(14, *(len(label) + 2 for label, _ in rows))
        typer.echo("\n".join(f"{label:<{width}}{value}" for label, value in rows))
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for label, value in rows:
        table.add_row(Text(label, style="bold"), Text(value))
    _console().print(table)


def _some(names: tuple[str, ...]) -> str:
    """The first names of many."""
    return "; ".join(names[:3]) + (f"; ... ({len(names)} in all)" if len(names) > 3 else "")


def _numbers(text: str | None, option: str, names: Iterable[str] = ()) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(word) for word in text.strip("[]() ").replace(",", " ").split()]
    except ValueError:
        keyframes = f", or a keyframe: {', '.join(names)}" if names else ""
        message = f'{option} is {text!r}, expected numbers such as "0.1 0.2 -1"{keyframes}.'
        raise ShapeError(message, option=option) from None


def _version() -> str:
    from importlib.metadata import version

    return version("kinetree")
