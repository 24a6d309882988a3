"""Lengths, moment arms, tensions and energies of the muscles of a model."""

from __future__ import annotations

from kinetree.algorithms.leaves import Leaves
from kinetree.algorithms.spec import algorithm
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import Kinematics
from kinetree.trace.expr import Expr
from kinetree.trace.graph import Graph

_LENGTHS = {"length": "Lengths of the paths [m]."}


@algorithm(inputs="q", outputs={"length": ("n_muscles",)}, body_frames="laws", symbols=_LENGTHS)
def muscles_lengths(model, q):
    """Lengths of the paths of muscles, fiber and tendon together.

    Notes
    -----
    In the order of ``model.muscles``.

    Source: MuJoCo, XML reference, ``tendon/spatial``.

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.arm26()
    >>> dict(zip([m.name for m in model.muscles], kt.muscles.lengths(model, [0.0, 0.0]).round(6).tolist()))["BICshort"]
    0.341688
    """
    kin = Kinematics(model, q)
    return [muscle.length(kin) for muscle in model.muscles]


@algorithm(
    inputs="q",
    outputs={"moment_arm": ("n_muscles", "nv")},
    body_frames="laws",
    symbols={"moment_arm": "Moment arms ``-dL/dq``: joint force over tension [m, or 1 for joints that slide]."},
)
def muscles_moment_arms(model, q):
    """Moment arms of muscles: minus the derivatives of their lengths.

    Notes
    -----
    The joint forces of muscles are ``R^T T``; the rates of their lengths ``-R v``.

    Source: principle of virtual work; Sueda's notes, eq. 1.59.

    See Also
    --------
    muscles_lengths, muscles_tensions
    """
    kin = Kinematics(model, q)
    return [_moment_arms(model, kin, muscle) for muscle in model.muscles]


def _moment_arms(model, kin: Kinematics, muscle) -> list:
    graph = Graph()
    numbers = list(muscle.numbers().values())
    leaves = Leaves(graph, muscle, numbers)
    length = muscle.with_numbers([graph.param(k) for k in range(len(numbers))]).length(leaves)
    found = [0.0] * model.nv
    for leaf, ids in leaves.gradient(length) if isinstance(length, Expr) else ():
        weights = leaves.outer(ids, kin)
        for k, column in leaf.columns(kin).items():
            for weight, x in zip(weights, column, strict=True):
                if not is_zero(weight) and not is_zero(x):
                    found[k] = found[k] - weight * x
    return found


@algorithm(
    inputs="q v",
    optional="x",
    outputs={"tension": ("n_muscles",)},
    body_frames="laws",
    symbols={"tension": "Forces along the paths, which shorten them [N]."},
)
def muscles_tensions(model, q, v, x=None):
    """Tensions of muscles.

    Notes
    -----
    With rigid tendons ``F0 (a fl fv + fp + b v) cos(alpha)``, with compliant ones the tendon's ``F0 ft``; see
    `kinetree.forces.Muscle`.

    Source: Millard et al. (2013).

    See Also
    --------
    muscles_lengths, muscles_moment_arms, muscles_energies
    """
    return [m.parts(L, rate, x_m).tension for m, L, rate, x_m in _states(model, q, v, x)]


@algorithm(
    inputs="q v",
    optional="x u",
    outputs={"stored": ("n_muscles", "2"), "power": ("n_muscles", "2")},
    body_frames="laws",
    symbols={
        "stored": "Stored energy of tendon and passive fiber [J].",
        "power": "Power given by the active fiber, and power lost in its damping [W].",
    },
)
def muscles_energies(model, q, v, x=None, u=None):
    """Stored energies and powers of muscles.

    Notes
    -----
    The power of a muscle on the skeleton, tension times the rate of shortening, is the active power minus the loss and
    minus the rate of the stored energies.

    Source: Millard et al. (2013); the balance is an identity.

    See Also
    --------
    muscles_tensions, force_state_rates
    """
    parts = [m.parts(L, rate, x_m) for m, L, rate, x_m in _states(model, q, v, x)]
    return [[p.tendon_energy, p.fiber_energy] for p in parts], [[p.active_power, p.lost_power] for p in parts]


def _states(model, q, v, x):
    """Each muscle with its length, rate of length and internal states."""
    kin = Kinematics(model, q, v)
    for muscle, x_m, _ in model.with_internal(x):
        if muscle in model.muscles:
            arms = _moment_arms(model, kin, muscle)
            rate = sum((-(r * v_k) for r, v_k in zip(arms, v, strict=True) if not is_zero(r)), start=0.0)
            yield muscle, muscle.length(kin), rate, x_m
