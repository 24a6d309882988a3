"""Writes the files that are made from the sources: ``python -m tests.static.generate``.

A test checks that they are current. Stubs (``.pyi``) show editors and type checkers what is loaded when it is used.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import textwrap
from pathlib import Path

import kinetree
from kinetree.public import ALGORITHMS as NAMES
from kinetree.public import CALLS, NAMESPACES, PLACES, shortened
from kinetree.simulation_files.schema import schema
from tests.static.source_tree import PACKAGE, ROOT, module_name, package_files

BY_HAND = "Generated: python -m tests.static.generate."
HEADER = f"""# {BY_HAND}
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike, NDArray

from kinetree.model.model import Model
from kinetree.model.parts import Frame

"""
TYPES = {
    "frame": "str | int | Frame",
    "reference": 'Literal["local", "world", "local_world_aligned"]',
    "kind": 'Literal["spatial", "classical", "spatial_offset", "classical_offset"]',
    "axes": 'Literal["world", "local"]',
    "forward": "str | Sequence[str]",
    "independent": "str | Sequence[str] | None = None",
    "actuated": "str | Sequence[str] | None = None",
}
"""The types of static choices."""


def algorithm_modules() -> dict[str, str]:
    """The module of every function that ``@algorithm`` decorates, by its name."""
    found = {}
    for path in package_files():
        text = path.read_text()
        if "@algorithm(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id == "algorithm"
                for d in node.decorator_list
            ):
                found[node.name] = module_name(path)
    return dict(sorted(found.items()))


def index() -> str:
    """The text of ``algorithms/index.py``."""
    found: dict[str, list[str]] = {}
    for name, module in algorithm_modules().items():
        found.setdefault(module.removeprefix("kinetree."), []).append(name)
    lines = []
    for module, names in sorted(found.items()):
        wrapped = textwrap.wrap(" ".join(names), 105, drop_whitespace=False)
        short = len(wrapped) == 1 and len(module) + len(wrapped[0]) < 108
        rows = "\n".join(f'        "{row}"' for row in wrapped)
        lines.append(f'    "{module}": ' + (f"{rows.strip()}," if short else f"(\n{rows}\n    ),"))
    head = [f'"""Where each algorithm is defined. {BY_HAND}"""', "", "_DEFINED = {", *lines, "}"]
    table = '{name: f"kinetree.{module}" for module, names in _DEFINED.items() for name in names.split()}'
    return "\n".join([*head, f"MODULES = {table}", ""])


def array_type(shape: tuple, given: bool) -> str:
    """The type of an array that is given or returned: wrenches go by name, too; one number is a number."""
    if given:
        return "ArrayLike | Mapping[str, ArrayLike]" if shape == ("nb", 6) else "ArrayLike"
    return "NDArray[Any]" if shape else "Any"


def call(namespace: str, algorithm: str) -> str:
    """The stub of a compiled call: arrays in, arrays out, with its docstring up to the results."""
    from kinetree.algorithms.spec import ALGORITHMS
    from kinetree.compiler.calls import public_call

    spec, name = ALGORITHMS[algorithm], shortened(algorithm, namespace)
    lines, result = [], f"_{algorithm}"
    if len(spec.outputs) == 1:
        result = array_type(*spec.outputs.values(), given=False)
    else:
        lines += [f"class {result}(NamedTuple):"]
        lines += [f"    {key}: {array_type(shape, given=False)}" for key, shape in spec.outputs.items()] + [""]
    parameters = ["model: Model"]
    for key, p in inspect.signature(public_call(algorithm)).parameters.items():
        if p.kind is p.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        if key in spec.inputs:
            parameters.append(f"{key}: {array_type(spec.inputs[key], given=True)}")
        elif key in spec.optional:
            parameters.append(f"{key}: {array_type(spec.optional[key], given=True)} | None = None")
        elif key in spec.static:
            parameters.append(f"{key}: {TYPES[key]}")
        elif key == "method":
            values = ", ".join(f'"{method}"' for method in spec.methods)
            parameters.append(f"method: Literal[{values}] = {p.default!r}".replace("'", '"'))
        elif key in spec.variants:
            parameters.append(f"{key}: Literal[False] = False")
        elif key != "model":
            parameters.append(f"{key}: {'Any' if key == 'out' else 'ArrayLike'} | None = None")
    if "*" in parameters and "t: ArrayLike | None = None" in parameters:  # also the last of the arrays
        parameters.remove("t: ArrayLike | None = None")
        parameters.insert(parameters.index("*"), "t: ArrayLike | None = None")
    about, _, _ = inspect.getdoc(public_call(algorithm)).partition("\n\nRaises\n")
    text = textwrap.indent(f'r"""{about}\n"""\n', "    ", lambda line: line.strip())
    plain = f"def {name}({', '.join(parameters)}) -> {result}:\n{text}"
    if not spec.variants:
        return "\n".join(lines) + f"\n{plain}"
    asked = ", ".join(parameters).replace("Literal[False] = False", "Literal[True]")
    return "\n".join(lines) + f"\n@overload\n{plain}@overload\ndef {name}({asked}) -> tuple[NDArray[Any], ...]: ...\n"


def own_names(module, others: set[str]) -> list[str]:
    """The names of a module that are there when it is imported."""
    places = {
        alias.name: node.module
        for node in ast.walk(ast.parse(Path(module.__file__).read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names = [name for name in module.__all__ if name not in others]
    return [f"from {places[x]} import {x} as {x}" if x in places else f"{x}: Any" for x in names]


def stub(namespace: str) -> str:
    """The stub of a namespace whose names are made when they are used."""
    module, lines = importlib.import_module(namespace), []
    for name, place in sorted(PLACES.get(namespace, {}).items()):
        lines.append(f"from kinetree.{place} import {name} as {name}")
    if namespace == "kinetree":
        for name, place in sorted(NAMESPACES.items()):
            folder, _, own = f"kinetree.{place}".rpartition(".")
            lines.append(f"from {folder} import {own} as {name}")
        lines += ["", "__version__: str"]
    else:
        lines += own_names(module, {*PLACES.get(namespace, ()), *CALLS.get(namespace, ())})
    calls = [call(namespace, name) for name in NAMES.get(namespace, "").split()]
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in sorted(module.__all__)), "]"]
    text = "\n".join(lines) + "\n" + "\n".join(calls)
    return (HEADER.replace("NamedTuple\n", "NamedTuple, overload\n") if "@overload" in text else HEADER) + text


def joint_arrays() -> str:
    """The stub of the arrays that a model has for each kind of joint force."""
    from kinetree.forces.registry import PARAMETERS

    lines = [f"    {name}: NDArray[Any]" for name in sorted(PARAMETERS)]
    head = f"# {BY_HAND}\nfrom typing import Any\n\nfrom numpy.typing import NDArray\n\n"
    return head + "\n".join(["from kinetree.model.tree import Tree", "", "class JointArrays(Tree):", *lines, ""])


PAGE = """# Names

All public names: about 45 calls in `kinetree` (imported as `kt`), everything else in namespaces. A name that another
library has for the same (`fk`, `computeJointJacobians`, `mj_step`) is an error that gives ours.

In `kt.compile` an algorithm is one word: `kt.floating_base.jacobian` is "floating_base_jacobian" there,
`kt.regressors.momentum` is "momentum_regressor", `kt.centroidal.momentum` is "centroidal_momentum"; the others have the
name of their call. Where several algorithms give one quantity, the call takes `method=`; "mass_matrix:columns" is that
in `kt.compile`.

| where | contents | names |
| --- | --- | --- |
"""


def page() -> str:
    """The text of ``docs/names.md``."""
    rows = []
    for name in ("kt", *sorted(NAMESPACES)):
        module = kinetree if name == "kt" else getattr(kinetree, name)
        own = [x for x, thing in list(vars(module).items()) if getattr(thing, "__module__", "") == module.__name__]
        shown = sorted(x for x in getattr(module, "__all__", own) if not x.startswith("_"))
        shown = [x for x in shown if name != "kt" or x not in NAMESPACES]
        about = "the main calls" if name == "kt" else " ".join(inspect.getdoc(module).split("\n\n")[0].split())
        rows.append(f"| `{name if name == 'kt' else f'kt.{name}'}` | {about} | {', '.join(f'`{x}`' for x in shown)} |")
    return PAGE + "\n".join(rows) + "\n"


def algorithms_page() -> str:
    """The text of ``docs/algorithms.md`` with the table of symbols, with shapes and meanings as `help` shows them."""
    from kinetree.algorithms.symbols import ARRAYS, CHOICES

    table = ["| symbol | shape or type | meaning |", "| --- | --- | --- |"]
    table += [f"| {key} | ({', '.join(map(str, ('...', *shape)))}) | {text} |" for key, (shape, text) in ARRAYS.items()]
    table += [f"| {key} | {kind} | {text} |" for key, (kind, text, _) in CHOICES.items()]
    before, head, rest = (ROOT / "docs" / "algorithms.md").read_text().partition(table[0])
    return before + "\n".join(table if head else []) + "\n\n" + rest.partition("\n\n")[2]


def files() -> dict[Path, str]:
    """All generated files and their texts."""
    found = {PACKAGE / "algorithms" / "index.py": index(), PACKAGE / "model" / "joint_arrays.pyi": joint_arrays()}
    found |= {ROOT / "docs" / "names.md": page(), ROOT / "docs" / "algorithms.md": algorithms_page()}
    found[PACKAGE / "simulation_files" / "schema.json"] = json.dumps(schema(), indent=1) + "\n"
    for namespace in {*PLACES, *NAMES}:
        file = Path(importlib.import_module(namespace).__file__)
        found[file.with_suffix(".pyi")] = stub(namespace)
    return found


if __name__ == "__main__":
    (PACKAGE / "algorithms" / "index.py").write_text(index())
    for path, text in files().items():
        path.write_text(text)
