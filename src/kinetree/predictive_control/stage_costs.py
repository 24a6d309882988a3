"""Costs of a state and its forces, with their gradients and Hessians on tangent vectors, compiled."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from kinetree.algorithms.spec import Spec
from kinetree.compiler.derivative_functions import derivative_spec
from kinetree.compiler.function import Function
from kinetree.once import once
from kinetree.simulation.objective import scalar_objective


class StageCost:
    """A cost at an instant and its derivatives with respect to (q, v) or (q, v, tau).

    Parameters
    ----------
    model : Model
    function : callable
        Of an instant, as for `kinetree.simulation.DifferentiableRollout`.
    forces : bool
        Whether the instant has joint forces.
    reference : int
        Entries of a row of the reference.
    threads : int or None
    """

    def __init__(self, model, function: Callable, forces: bool, reference: int, threads) -> None:
        value, slope, curvature = _specs(function, forces, reference)
        self._value, self._slope, self._curvature = (
            Function(spec, model, (), {}, False, threads) for spec in (value, slope, curvature)
        )
        sizes = (model.nv,) * (3 if forces else 2)
        self._unit = np.split(np.eye(sum(sizes)), np.cumsum(sizes)[:-1], axis=-1)

    def value(self, *at) -> np.ndarray:
        """Costs (...) at q, v, then tau and the reference where there are these."""
        return self._value(*at)

    def derivatives(self, *at) -> tuple[np.ndarray, np.ndarray]:
        """Gradients (..., n) and symmetric Hessians (..., n, n)."""
        gradient = np.concatenate(self._slope(*at, 1.0), axis=-1)
        rows = self._curvature(*(x[..., None, :] for x in at), *self._unit, 1.0)
        H = np.concatenate(rows, axis=-1)
        return gradient, 0.5 * (H + np.swapaxes(H, -1, -2))


@once(most=64)
def _specs(function: Callable, forces: bool, reference: int) -> tuple[Spec, Spec, Spec]:
    """Value, gradient and Hessian products; the same objects for the same function, since code is found by them."""
    shapes = {"q": ("nq",), "v": ("nv",)} | ({"tau": ("nv",)} if forces else {})
    variables = tuple(shapes)
    shapes |= {"reference": (str(reference),)} if reference else {}
    value = Spec(
        "stage_cost",
        scalar_objective(function),
        MappingProxyType(shapes),
        MappingProxyType({}),
        MappingProxyType({"cost": ()}),
    )
    return value, *(derivative_spec(value, mode, variables, ("cost",)) for mode in ("vjp", "hvp"))
