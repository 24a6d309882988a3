"""The packages in their order: a lower one never imports a higher one, not even inside a function."""

from __future__ import annotations

import ast

from tests.static.source_tree import PACKAGE, ROOT, imports, module_name, package_files

FLOORS = (
    "errors",
    "log",
    "html_text",
    "foreign_names",
    "public",
    "arguments",
    "files",
    "once",
    "content",
    "kinds",
    "data",
    "spatial",
    "liegroup",
    "joints",
    "state_kinematics",
    "collision",
    "tendons",
    "muscles",
    "actuators",
    "forces",
    "constraints",
    "model",
    "trace",
    "surgery",
    "geometry",
    "io",
    "algorithms",
    "textbook",
    "native",
    "compiler",
    "export",
    "conventions",
    "queries",
    "contact",
    "integrators",
    "maximal_coordinates",
    "redmax",
    "control",
    "simulation",
    "predictive_control",
    "deformables",
    "identify",
    "analysis",
    "verification",
    "viz",
    "viewer",
    "scenes",
    "sweeps",
    "simulation_files",
    "environments",
    "cli",
)
# Conveniences that reach up when they are called: run.plot() and run.view() belong to the run and draw with viz.
# What a simplification saves is counted on compiled code, when it is asked for; hulls of meshes are made of files.
UPWARD = {
    ("kinetree.simulation.trajectory", "viz"),
    ("kinetree.simulation.comparison", "viz"),
    ("kinetree.surgery.equivalence", "analysis"),
    ("kinetree.deformables.run", "viz"),
    ("kinetree.model.contact_shapes", "geometry"),
    ("kinetree.simulation.trajectory", "viewer"),
    ("kinetree.simulation.simulate", "viewer"),
    ("kinetree.deformables.run", "viewer"),
}
FACE = (
    "kinetree", "centroidal", "closed_loops", "dynamics", "floating_base", "kinematics", "models", "regressors",
    "sparse",
)  # fmt: skip
FREE = ("cli", "__main__")  # the command line stands on the public face, as a user does


def floor_of(module: str) -> str:
    """The floor a module belongs to; the package itself is its own."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "kinetree"


def floor_files():
    """The files that stand on a floor: all but the public face, which may import everything."""
    return [path for path in package_files() if floor_of(module_name(path)) not in (*FACE, *FREE)]


def test_every_folder_of_the_package_is_a_known_floor():
    """A new floor must be put in its place in ``FLOORS`` before anything can stand on it."""
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and list(path.glob("*.py"))}
    assert folders <= set(FLOORS)


def too_high(path, submodules):
    """The imports of a file that reach up."""
    mine = floor_of(module_name(path))
    if mine not in FLOORS:
        yield f"{path}: {mine} is no floor: add it to FLOORS in its place"
        return
    for line, name in imports(path):
        if name.split(".")[0] != "kinetree":
            continue
        theirs = floor_of(name)
        if theirs not in submodules:  # a public name taken from the package itself
            yield f"{path}:{line}: {name} is imported from the public face; import the floor it lives on"
        elif (module_name(path), theirs) in UPWARD:
            continue
        elif theirs in FLOORS and FLOORS.index(theirs) > FLOORS.index(mine):
            yield f"{path}:{line}: {mine} imports {name}, a higher floor"


def test_no_floor_imports_a_higher_one():
    """Each import of kinetree in a file names its own floor or a lower one."""
    submodules = {entry.stem for entry in PACKAGE.iterdir() if entry.suffix == ".py" or entry.is_dir()}
    found = [fault for path in floor_files() for fault in too_high(path, submodules)]
    assert len(floor_files()) > 800 and not found, "\n".join(found)


CONTRIBUTING = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- packages:begin -->\n", "<!-- packages:end -->"


def package_list() -> str:
    """The packages from the lowest to the highest, each with the first sentence of its docstring."""
    lines = []
    for name in FLOORS:
        path = PACKAGE / name / "__init__.py" if (PACKAGE / name).is_dir() else PACKAGE / f"{name}.py"
        if path.exists():
            paragraph = ast.get_docstring(ast.parse(path.read_text())).split("\n\n")[0].replace("``", "`")
            lines.append(f"- `{name}`: {' '.join(paragraph.split())}\n")
    return "".join(lines)


def with_package_list(text: str) -> str:
    """The text of CONTRIBUTING with the list as it should be."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + package_list() + END + rest.partition(END)[2]


def test_contributing_lists_the_packages_in_their_order():
    """The list is generated: ``python -m tests.static.test_floors`` writes it."""
    text = CONTRIBUTING.read_text()
    assert text == with_package_list(text), "run python -m tests.static.test_floors"


if __name__ == "__main__":
    CONTRIBUTING.write_text(with_package_list(CONTRIBUTING.read_text()))
