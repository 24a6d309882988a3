"""All options of the public functions and of the command line, as (who, option)."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator

import typer.main

import kinetree as kt
from kinetree.cli import app
from kinetree.model.builder import Builder

APART = (
    "kt.model.",  # fields of plain data
    "kt.integrators.System", "kt.integrators.explicit_method",  # called by simulate
    "kt.io.Isolation", "kt.io.load_",  # `of_files`
)  # fmt: skip


def _callables(module, prefix: str, seen: set) -> Iterator[tuple[str, object]]:
    for name in sorted(getattr(module, "__all__", None) or [x for x in vars(module) if not x.startswith("_")]):
        entry, path = getattr(module, name), f"{prefix}.{name}"
        if isinstance(entry, types.ModuleType):
            if entry.__name__.startswith("kinetree.") and entry.__name__ not in seen:
                seen.add(entry.__name__)
                yield from _callables(entry, path, seen)
        elif getattr(entry, "__module__", "") == "kinetree.arguments":
            continue  # a check that the module uses
        elif callable(entry) and getattr(entry, "__module__", "").startswith("kinetree") and id(entry) not in seen:
            seen.add(id(entry))
            yield path, entry
            if inspect.isclass(entry):
                shared = vars(Builder) if issubclass(entry, Builder) else {}
                for method, found in {**shared, **vars(entry)}.items():
                    if not method.startswith("_") and (
                        inspect.isfunction(found) or isinstance(found, (classmethod, staticmethod))
                    ):
                        yield f"{path}.{method}", getattr(entry, method)


def of_python() -> set[tuple[str, str]]:
    """Parameters with a default, and those that take any keyword, of ``kinetree.__all__`` and the modules in it."""
    found = set()
    for who, function in _callables(kt, "kt", set()):
        if inspect.isclass(function) and issubclass(function, Exception):
            continue  # what they are given become attributes
        if who.startswith(APART) and "MechanismGraph" not in who:
            continue
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            continue
        for p in parameters:
            if (p.default is not p.empty or p.kind is p.VAR_KEYWORD) and not p.name.startswith("_"):
                found.add((who, p.name))
    return found


def of_files() -> set[tuple[str, str]]:
    """Keywords of the readers, which `kinetree.load` hands on."""
    from kinetree.io.mjcf.read import load_mjcf
    from kinetree.io.sdf.read import load_sdf
    from kinetree.io.urdf.read import load_urdf

    readers = (load_urdf, load_mjcf, load_sdf)
    return {(f.__name__, p) for f in readers for p in inspect.signature(f).parameters if p != "source"}


def of_commands() -> set[tuple[str, str]]:
    """Options of the subcommands."""
    commands = typer.main.get_command(app).commands.items()
    return {
        (f"kinetree {name}", max(p.opts, key=len))
        for name, command in commands
        for p in command.params
        if p.param_type_name == "option" and p.name != "help"
    }
