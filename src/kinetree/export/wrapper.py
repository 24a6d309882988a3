"""Base of functions for other packages: the package is loaded when one is made, arrays are bound by name."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from kinetree.compiler.tracing import numbers_model
from kinetree.errors import MissingDependencyError


def imported(package: str, message: str):
    """A package that need not be installed; the message names the feature that needs it and the way to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingDependencyError(message) from error


def params_of(function) -> np.ndarray | None:
    """The values of the program's params for the function's model; None without."""
    prologue = function.program.prologue
    if prologue is None:
        return None
    return prologue.interpret([numbers_model(function.spec, function.model).number_values()])[0]


class Wrapper:
    """A compiled function called with the arrays of another package.

    Attributes
    ----------
    function : Function
        The compiled function.
    plain : Function
        The function whose inputs a call names: of one with numbers for every state, its base.
    """

    package = ""
    """As it is called in texts."""

    def __init__(self, function) -> None:
        self.function, self.plain = function, getattr(function, "base", function)
        self.__name__ = self.__qualname__ = function.name
        names = ", ".join(self.plain.input_names)
        self.__doc__ = f"{function.name}({names}) for model {function.model.name!r}, in {self.package}."

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.function.name} for model {self.function.model.name!r}>"

    def bound(self, args: tuple, named: dict) -> tuple:
        """The arrays in the order of the inputs."""
        complete = not named and len(args) == len(self.plain.input_names)
        return args if complete else self.plain._bound(args, named)

    def derivative(self, mode: str, wrt: tuple[str, ...]):
        """A derivative of the function, compiled, with the same numbers."""
        from kinetree.compiler.derivative_functions import differentiate

        f = self.plain
        optional = f.input_names[len(f.spec.inputs) :]
        options = {"wrt": wrt, "optional": optional, "tangent": False, "checks": False}
        found = differentiate(f.model, f.spec.parts or f.name, mode, **options, **f.static)
        return found if f is self.function else found.with_parameters(self.function.values)
