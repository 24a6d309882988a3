"""Lengths of the tendons of a model, their rates, and their Jacobian, in the order of ``model.tendon_names``."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.algorithms.force_elements import in_coordinates
from kinetree.algorithms.leaves import Leaves
from kinetree.algorithms.spec import algorithm
from kinetree.state_kinematics import Kinematics
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph


def _lengths(model) -> Iterator[tuple[Leaves, Expr]]:
    """The length of each tendon over leaves."""
    for element in model.tendon_forces:
        graph, numbers = Graph(), list(element.numbers().values())
        symbols = [x if isinstance(x, float) else graph.param(j) for j, x in enumerate(numbers)]
        leaves = Leaves(graph, element, numbers)
        yield leaves, element.with_numbers(symbols).length(leaves)


@algorithm(
    inputs="q",
    outputs={"lengths": ("n_tendons",)},
    body_frames="cheaper",
    symbols={"lengths": "Of each tendon of ``model.tendon_names`` [m, or the unit of its joint terms]."},
)
def tendon_lengths(model, q):
    """Lengths of the tendons of a model: over points, shapes and pulleys, or sums of joint positions.

    Notes
    -----
    Source: MuJoCo, "Computation: Tendon", ``ten_length``. See `kinetree.tendons`.

    See Also
    --------
    tendon_jacobian, tendon_velocities
    """
    kin = Kinematics(model, q)
    return [leaves.outer([length.id], kin)[0] for leaves, length in _lengths(model)]


@algorithm(
    inputs="q v",
    outputs={"velocities": ("n_tendons",)},
    body_frames="cheaper",
    symbols={"velocities": "Rate of each length [m/s], positive where a tendon gets longer."},
)
def tendon_velocities(model, q, v):
    """Rates of the lengths of the tendons.

    Notes
    -----
    Source: MuJoCo, ``ten_velocity``. Identity: ``tendon_jacobian(q) @ v``.

    See Also
    --------
    tendon_lengths, tendon_jacobian
    """
    kin = Kinematics(model, q, v)
    return [leaves.outer([leaves.time_derivative(length).id], kin)[0] for leaves, length in _lengths(model)]


@algorithm(
    inputs="q",
    outputs={"J": ("n_tendons", "nv")},
    body_frames="cheaper",
    symbols={"J": "Rows: the rate of each length for a unit of each velocity coordinate [m/rad or 1]."},
)
def tendon_jacobian(model, q):
    """Jacobian of the lengths of the tendons; moment arms are minus its entries.

    Notes
    -----
    Source: MuJoCo, ``ten_J``. Identity: a tension T of tendon n gives the joint forces ``-T J[n]``.

    See Also
    --------
    tendon_lengths, tendon_velocities
    """
    kin = Kinematics(model, q)
    rows = [in_coordinates(leaves, kin, leaves.gradient(length)) for leaves, length in _lengths(model)]
    return [[row.get(k, 0.0) for k in range(model.nv)] for row in rows]
