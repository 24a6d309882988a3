"""Reading and running of a simulation file."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kinetree.arguments import a_path, a_truth_value, checked
from kinetree.errors import FileFormatError, KinetreeError, MissingDependencyError
from kinetree.io.urdf.loop_syntax import SyntaxFault, parsed
from kinetree.simulation_files.checking import check
from kinetree.simulation_files.schema import schema

SUFFIXES = (".yaml", ".yml")
MOST_BYTES = 2**20
RUNS, FIGURES, FILMS = (".npz", ".nc", ".h5"), (".png", ".svg", ".pdf"), (".mp4", ".gif")
OUTPUTS = {"trajectory": RUNS, "csv": (".csv",), "plot": FIGURES, "html": (".html",), "video": FILMS}
# Arguments in messages of functions, and the entries of files that give them.
_ENTRIES = (
    (
        re.compile(
            r"^(?:simulate|Simulation|Record|Inputs|Ground|sweep|\w*Control|[A-Z]\w+Compensation|ComputedTorque): "
        ),
        "",
    ),
    (re.compile(r"^period(?= =)"), "record.period"),
    (re.compile(r"^control(?= )"), "controls"),
    (re.compile(r"\bq0\b"), "initial.positions"),
    (re.compile(r"\bv0\b"), "initial.velocities"),
    (re.compile(r"\bsimulate model\.without_limits\(\)"), "write model.limits: ignore"),
    (re.compile(r"\bfloating_base=True\b"), "model.floating_base: true"),
    (re.compile(r"\b(inertia|massless|unsupported)='(\w+)'"), r"model.\1: \2"),
)


@dataclass(frozen=True, slots=True)
class SimulationFile:
    """A simulation file as checked data.

    Attributes
    ----------
    path : Path
    content : dict
        As the schema describes it.
    line_of : callable
        The line of a value by its path.
    """

    path: Path
    content: dict
    line_of: Callable[..., int | None]

    @classmethod
    def read(cls, path: Path) -> SimulationFile:
        """Read and check a file; nothing is loaded yet.

        Raises
        ------
        FileFormatError
            With file, line, and the path of the wrong value, such as ``controller.kp``.
        MissingDependencyError
            PyYAML is missing.
        """
        path = Path(path)
        text = path.read_bytes()
        if len(text) > MOST_BYTES:
            raise _error(path, None, "", f"{len(text)} bytes, expected at most {MOST_BYTES}", "")
        try:
            tables = parsed(text.decode("utf-8-sig"), SUFFIXES[0])
        except UnicodeDecodeError as error:
            raise _error(path, None, "", f"byte {error.start} is not UTF-8", "Save it as UTF-8.") from None
        except SyntaxFault as fault:
            message, line, repair = fault.args
            if message.startswith("expected a mapping"):
                message, repair = "expected entries", "begin with 'model: '"
            raise _error(path, line, "", message, f"{repair[:1].upper()}{repair[1:]}.") from None
        except MissingDependencyError:
            message = "simulation files need the package PyYAML: pip install pyyaml."
            raise MissingDependencyError(message, package="yaml") from None
        found = cls(path, tables.content, tables.line_of)
        check(found.content, schema(), found.fault)
        for key, name in found.content.get("outputs", {}).items():
            if Path(name).suffix.lower() not in OUTPUTS[key]:
                raise found.fault(("outputs", key), f"is {name!r}", f"Known suffixes: {', '.join(OUTPUTS[key])}.")
        return found

    def fault(self, path: tuple[str | int, ...], message: str, repair: str = "") -> FileFormatError:
        """The error of a value.

        Parameters
        ----------
        path : tuple of str and int
        message : str
            Follows the path of the value.
        repair : str
            A sentence.
        """
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
        return _error(self.path, self.line_of(*path), place, message, repair)

    @contextmanager
    def blaming(self, *path: str | int):
        """Give errors of the block the place of a value.

        Parameters
        ----------
        *path : str or int
        """
        try:
            yield
        except FileFormatError:
            raise
        except (KinetreeError, FileNotFoundError) as error:
            message = str(error)
            for pattern, word in _ENTRIES:
                message = pattern.sub(word, message)
            fault = self.fault(path, f": {message}")
            fault.trajectory = getattr(error, "trajectory", None)
            raise fault from error

    def beside(self, name: str) -> Path:
        """A file by its name in this one: names are relative to its folder.

        Parameters
        ----------
        name : str
        """
        return self.path.parent / name

    def outputs(self) -> dict[str, Path]:
        """The files to write, by kind."""
        return {key: self.beside(name) for key, name in self.content.get("outputs", {}).items()}


def _error(path: Path, line: int | None, place: str, message: str, repair: str) -> FileFormatError:
    where = f"{path}:{line}" if line else str(path)
    ended = "" if message.endswith((".", "?")) else "."
    space = " " if place and not message.startswith(":") else ""
    message = message if place else message.removeprefix(": ")
    text = f"{where}: {place}{space}{message}{ended} {repair}".strip()
    return FileFormatError(text, file=str(path), line=line, code="simulation-file", place=place)


@checked(path=a_path, write=a_truth_value)
def run_file(path, write: bool = True):
    """Simulate as a simulation file describes: model, loops, forces, ground, controller, start, method, outputs.

    Parameters
    ----------
    path : path-like
        A YAML file; see docs/simulation_files.md for its entries.
    write : bool
        Write the files of ``outputs``.

    Returns
    -------
    Trajectory
        The run.

    Raises
    ------
    FileFormatError
        The file breaks the schema, or a value does not fit the model; with the line and the path of the value.
    SimulationError
        As for `simulate`.

    Examples
    --------
    >>> import kinetree as kt
    >>> from pathlib import Path
    >>> lines = ["model: double_pendulum", "duration: 0.5", "initial: {positions: {shoulder: 1.0}}"]
    >>> _ = Path("swing.yaml").write_text("\\n".join(lines))
    >>> run = kt.simulation.run_file("swing.yaml")
    >>> len(run), run.q[0].tolist()
    (501, [1.0, 0.0])
    """
    from kinetree.simulation_files.running import simulated, written

    file = SimulationFile.read(path)
    run = simulated(file)
    if write:
        written(file, run)
    return run
