"""Modules import each other in one direction, inside functions too: what uses a thing is not part of it."""

from __future__ import annotations

from tests.static.source_tree import imports, module_name, package_files

CYCLES = {
    frozenset({"model.model", "model.planar"}): "model.planar() gives a PlanarModel, a subclass of Model",
    frozenset({"simulation.trajectory", "simulation.storage", "simulation.labeled", "simulation.tables"}): (
        "run.save() and Trajectory.load(): the formats of files make runs and take them"
    ),
}


def import_graph() -> dict[str, set[str]]:
    """The modules that each module of the package imports, by names without ``kinetree.``; not the package itself."""
    paths = {module_name(path): path for path in package_files()}
    graph = {}
    for module, path in paths.items():
        found = set()
        for _, name in imports(path):
            while name not in paths and "." in name:  # a name of a module
                name = name.rpartition(".")[0]
            found.add(name)
        graph[module] = {name for name in found if name in paths and name not in ("kinetree", module)}
    return {module.removeprefix("kinetree."): {n.removeprefix("kinetree.") for n in graph[module]} for module in graph}


def cycles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Sets of modules that can all reach each other (Tarjan 1972)."""
    number, low, stack, found = {}, {}, [], set()

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in number:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == number[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.add(frozenset(stack[at:]))
            del stack[at:]

    for module in graph:
        if module not in number:
            visit(module)
    return found


def test_cycles_are_found():
    """Of two cycles that share no module both are found, and nothing that merely hangs on them."""
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d", "f"}, "f": set()}
    assert cycles(graph) == {frozenset("abc"), frozenset("de")}


def test_imports_have_one_direction():
    """No cycles between modules but those named with their reason, and none is named that is no more."""
    found = cycles(import_graph())
    unknown = [" <-> ".join(sorted(cycle)) for cycle in found - set(CYCLES)]
    assert not unknown, f"modules import each other, move what both need into a third: {'; '.join(unknown)}"
    assert found == set(CYCLES), f"no longer cycles, take them from CYCLES: {set(CYCLES) - found}"
