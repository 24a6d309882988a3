"""The public names of kinetree: for each one its page, its kind and where it is defined."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import kinetree
from kinetree.algorithms.spec import ALGORITHMS as SPECS
from kinetree.public import ALGORITHMS, NAMESPACES, shortened

ROOT = Path(__file__).parents[2]


class PublicName(NamedTuple):
    """A public name: that of its namespace ("kt", "kt.control"), its own, and the thing."""

    namespace: str
    name: str
    thing: object

    @property
    def shown(self) -> str:
        """As users write it: ``kt.control.ComputedTorque``."""
        return f"{self.namespace}.{self.name}"

    @property
    def full(self) -> str:
        """As Python imports it: ``kinetree.control.ComputedTorque``."""
        return self.shown.replace("kt", "kinetree", 1)

    @property
    def kind(self) -> str:
        """ "class", "exception", "function", "module" or "data"."""
        if isinstance(self.thing, ModuleType):
            return "module"
        if inspect.isclass(self.thing):
            return "exception" if issubclass(self.thing, BaseException) else "class"
        return "function" if callable(self.thing) else "data"

    @property
    def page(self) -> str:
        """The page, without suffix. File systems may ignore case: a class beside a function of its name is marked."""
        folder = self.namespace.partition(".")[2] or "kt"
        twins = [x for x in names_of(self.namespace) if x.lower() == self.name.lower()]
        mark = "-class" if len(twins) > 1 and self.kind == "class" else ""
        return f"api/{folder}/{self.name}{mark}"


def names_of(namespace: str) -> list[str]:
    """The public names in a namespace ("kt", "kt.control"), sorted; those of "kt" without the namespaces."""
    module = kinetree if namespace == "kt" else getattr(kinetree, namespace.removeprefix("kt."))
    own = [x for x, thing in list(vars(module).items()) if getattr(thing, "__module__", "") == module.__name__]
    shown = sorted(x for x in getattr(module, "__all__", own) if not x.startswith("_"))
    return [x for x in shown if namespace != "kt" or x not in NAMESPACES]


def namespaces() -> list[str]:
    """ "kt" and its namespaces."""
    return ["kt", *(f"kt.{name}" for name in sorted(NAMESPACES))]


def about(namespace: str) -> str:
    """The first sentence about a namespace."""
    if namespace == "kt":
        return "The main calls."
    module = getattr(kinetree, namespace.removeprefix("kt."))
    return " ".join(inspect.getdoc(module).split("\n\n")[0].split())


@cache
def public_names() -> dict[str, PublicName]:
    """All public names by the name that users write."""
    found = {}
    for namespace in namespaces():
        module = kinetree if namespace == "kt" else getattr(kinetree, namespace.removeprefix("kt."))
        for name in names_of(namespace):
            entry = PublicName(namespace, name, getattr(module, name))
            found[entry.shown] = entry
    return found


def algorithm_of(entry: PublicName):
    """The declaration of the algorithm that a name calls, or None."""
    namespace = "kinetree" + entry.namespace.removeprefix("kt")
    for algorithm in ALGORITHMS.get(namespace, "").split():
        if shortened(algorithm, namespace) == entry.name:
            return SPECS[algorithm]
    return None
