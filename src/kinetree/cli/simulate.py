"""``kinetree simulate``: runs of a robot."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated

import typer

from kinetree.arguments import choice
from kinetree.cli import completion
from kinetree.cli.ground import on_ground
from kinetree.cli.options import Figure, Load, Quiet, TreeOnly, argument, numbers, option
from kinetree.cli.printing import Output, print_rows, some
from kinetree.cli.registration import command
from kinetree.cli.targets import check_figure, check_run, check_targets, keep_partial
from kinetree.cli.wording import spelled
from kinetree.errors import SimulationError, UnsupportedError


def _integrators() -> list[str]:
    from kinetree.integrators import FIXED_STEP

    return ["auto", "adaptive", *FIXED_STEP]


def robots_and_files(incomplete: str) -> list[str]:
    """Candidates: robots and simulation files.

    Parameters
    ----------
    incomplete : str
    """
    files = completion.files(*completion.SIMULATIONS)(incomplete)
    return completion.robots(incomplete) + [path for path in files if not path.endswith("/")]


def _methods() -> list[str]:
    from kinetree.integrators import ADAPTIVE

    return list(ADAPTIVE)


@command
def simulate(
    load: Load,
    robot: Annotated[
        str, argument("A robot, as for other commands, or a simulation file: .yaml or .yml.", robots_and_files)
    ],
    duration: Annotated[float, option("The simulated time [s].", default=True)] = 5.0,
    dt: Annotated[float, option("The step, or the distance of the samples of adaptive [s].", default=True)] = 1e-3,
    ground: Annotated[
        bool, option("Stand on the ground z = 0; the root of a URDF moves freely then.", "--ground")
    ] = False,
    friction: Annotated[float | None, option("The coefficient of friction of --ground.", default="0.8")] = None,
    self_collision: Annotated[
        bool, option("Compute contact between bodies of the robot.", "--self-collision")
    ] = False,
    integrator: Annotated[
        str,
        option(
            "The integrator: auto, semi_implicit, rk4, dp54, ... or adaptive. docs/integrators.md lists all.",
            default=True, complete=completion.words(_integrators),
        ),
    ] = "auto",
    method: Annotated[
        str | None,
        option(
            "The method of adaptive: dop853, dp54, Radau, ...", default="dop853", complete=completion.words(_methods)
        ),
    ] = None,
    rtol: Annotated[float | None, option("The relative tolerance of adaptive.", default="1e-10")] = None,
    atol: Annotated[float | None, option("The absolute tolerance of adaptive.", default="1e-10")] = None,
    tree_only: TreeOnly = False,
    q0: Annotated[str | None, option('Initial positions, such as "0.1 0.2 -1", or a keyframe.')] = None,
    v0: Annotated[str | None, option("Initial velocities.")] = None,
    tau: Annotated[str | None, option("Constant joint forces.")] = None,
    seed: Annotated[int | None, option("Start from a random state with this seed.")] = None,
    limits: Annotated[
        str,
        option(
            "Treatment of position limits: soft, ignore or raise.",
            default=True, complete=completion.words("soft ignore raise"),
        ),
    ] = "soft",
    sample_period: Annotated[
        float | None, option("The distance of the samples [s].", default="every step")
    ] = None,
    plot: Figure = None,
    save: Annotated[
        Path | None,
        option(
            "Write the run: .npz, .nc, .h5 or .csv; or show its motion: .html, .glb, .mp4, .gif or .png.",
            complete=completion.files(*completion.RUNS, *completion.FILMS),
        ),
    ] = None,
    report: Annotated[
        bool, option("Report irregularities of the run, and its energy balance.", "--report")
    ] = False,
    quiet: Quiet = False,
) -> Output:  # fmt: skip
    """Simulate a robot or a simulation file; print a summary, draw the run, save it.

    A simulation file describes model, forces, contacts, controller, start and outputs: docs/simulation_files.md.
    """
    given = {**load.keywords, **locals()}
    from kinetree.simulation.options import Inputs, Record
    from kinetree.simulation.simulate import simulate as run_simulation

    check_figure(plot)
    check_run(save)
    if Path(robot).suffix.lower() in completion.SIMULATIONS:
        return _of_file(robot, given, plot=plot, save=save, report=report, quiet=quiet)
    model, plane = on_ground(load, ground, friction)
    if model.unsupported and not tree_only:
        message = (
            f"{robot} holds {some(model.unsupported)}; simulations do not compute that yet, --tree-only leaves it out."
        )
        raise UnsupportedError(message, unsupported=model.unsupported)
    left_out, (model, components) = model.unsupported, _with_limits(model.without_unsupported(), limits)
    try:
        run = run_simulation(
            model,
            q0 if q0 in model.keyframes else numbers(q0, "--q0", model.keyframes), numbers(v0, "--v0"),
            duration=duration, dt=dt, ground=plane, self_collision=self_collision,
            integrator=_integrator(integrator, method=method, rtol=rtol, atol=atol),
            inputs=Inputs(tau=numbers(tau, "--tau")), record=Record(period=sample_period), seed=seed,
            components=components, progress=False if quiet else None,
        )  # fmt: skip
    except BaseException as error:
        keep_partial(error, save)
        raise
    written = [run.save(save)] if save is not None else []
    if plot is not None:
        run.plot(path=plot)
        written.append(plot)
    return summarized(run, model, robot, written, left_out=left_out, report=report, quiet=quiet)


def _of_file(path: str, given: dict, *, plot: Path | None, save: Path | None, report: bool, quiet: bool) -> Output:
    """Run a simulation file; options that belong into it are refused."""
    from kinetree.simulation_files.running import simulated, written
    from kinetree.simulation_files.simulation_file import SimulationFile

    for name, parameter in _file_options().items():
        if given[name] != parameter.default:
            fault = f"{spelled(name)} is not taken beside a simulation file"
            raise UnsupportedError(f"{fault}: write it into {path}, docs/simulation_files.md shows where.", option=name)
    file = SimulationFile.read(Path(path))
    outputs = file.outputs()
    check_targets(*outputs.values())
    try:
        run = simulated(file, progress=False if quiet else None)
    except BaseException as error:
        keep_partial(error, save or outputs.get("trajectory"))
        raise
    paths = written(file, run)
    paths += [run.save(save)] if save is not None else []
    if plot is not None:
        run.plot(path=plot)
        paths.append(plot)
    return summarized(run, run.model, path, paths, report=report, quiet=quiet)


def _file_options() -> dict:
    """The options of a run that a simulation file has as entries."""
    apart = ("robot", "plot", "save", "report", "quiet", "as_json", "debug")
    return {name: x for name, x in inspect.signature(simulate).parameters.items() if name not in apart}


def summarized(run, model, robot: str, written: list[Path], *, left_out=(), report: bool, quiet: bool) -> Output:
    """The summary of a run as text and data.

    Parameters
    ----------
    run : Trajectory
    model : Model
        As it was loaded.
    robot : str
        The name of the user.
    written : list of Path
    left_out : sequence of str
        Parts of the robot that are not simulated.
    report : bool
        Print the report of the run, too.
    quiet : bool
        Print no summary.
    """
    from kinetree.simulation.summary import summary_rows

    findings = run.report() if report else None

    def show() -> None:
        if not quiet:
            rows = summary_rows(run, model, robot, written)
            print_rows([*rows, ("left out", some(left_out))] if left_out else rows)
        if report:
            typer.echo(findings)

    data = {
        "robot": run.model_name, "integrator": run.integrator, "dt": run.dt, "steps": run.steps,
        "duration": run.duration, "samples": len(run), "wall_time": run.wall_time,
        "energy_start": run.energy[0], "energy_end": run.energy[-1], "joints": list(run.coordinates.velocity_labels),
        "q_end": run.q[-1], "v_end": run.v[-1], "notes": run.notes, "left_out": left_out, "written": written,
        "report": None if findings is None else [finding.text for finding in findings.findings],
    }  # fmt: skip
    return Output(data, show)


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
