"""Operation counts of the algorithms on the bodies as they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kinetree.algorithms.rnea import body_forces, inward_pass
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.tracing import trace
from kinetree.errors import unknown_name


def operation_counts(model, names: Sequence[str]) -> dict[str, int]:
    """Multiplications, additions and divisions of algorithms on this model.

    Parameters
    ----------
    model : Model
    names : sequence of str
        Algorithms without static arguments. "rnea" is counted on the inertias that the model has: ``kt.rnea`` takes
        base inertias instead.

    Returns
    -------
    dict
        From names to counts.

    Raises
    ------
    UnknownNameError
    """
    counts = {}
    for name in names:
        if name not in ALGORITHMS:
            raise unknown_name("algorithm", name, sorted(ALGORITHMS), "operation_counts")
        spec = ALGORITHMS[name]
        if name == "rnea":
            spec = dataclasses.replace(spec, function=_rnea_of_bodies)
        counts[name] = trace(spec, model).operations.total
    return counts


def _rnea_of_bodies(model, q, v, a, f_ext=None):
    """`rnea` without base inertias."""
    tau = inward_pass(model, *body_forces(model, q, v, a, f_ext, model.I))
    return [tau[k] + model.armature[k] * a[k] for k in range(model.nv)]
