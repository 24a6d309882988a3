"""Results shared with another algorithm: beside it they cost a few operations, on their own a whole pass.

Derivatives of the dynamics go through the motion and the forces of every body, so the dynamics themselves are
intermediate results, which a function of several quantities shares. Equal operations below are one node of the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kinetree.algorithms.aba import aba
from kinetree.algorithms.derivatives import (
    accelerations,
    body_maps,
    composites,
    external_wrenches,
    joint_motions,
    less,
    summed,
)
from kinetree.algorithms.matrices import chained
from kinetree.algorithms.response import Articulated
from kinetree.algorithms.rnea import rnea


class SharedResult(NamedTuple):
    """The formula for a quantity from the results of another algorithm."""

    host: str
    value: Callable


def inertia_matrix(model, arrays: Mapping, derivatives: Sequence):
    """``M = dtau_da``."""
    return derivatives[2]


def joint_forces(model, arrays: Mapping, derivatives: Sequence):
    """``tau = S^T F`` with the forces on subtrees of `rnea_derivatives`."""
    q, v, a, f_ext = (arrays.get(name) for name in ("q", "v", "a", "f_ext"))
    if model.geared:
        return rnea(model, q, v, a, f_ext)
    motions = joint_motions(model, q, v)
    _, _, F = composites(model, motions, accelerations(model, motions, a))
    if f_ext is not None:
        F = less(F, summed(model, external_wrenches(model, q, f_ext)))
    tau = [0.0] * model.nv
    for i in model.outward():
        for k, S_k in enumerate(motions.S[i], model.v_slice[i].start):
            tau[k] = chained(S_k, F[i], model.armature[k] * a[k])
    return tau


def joint_accelerations(model, arrays: Mapping, derivatives: Sequence):
    """The accelerations at which `aba_derivatives` differentiates."""
    q, v, tau, f_ext = (arrays.get(name) for name in ("q", "v", "tau", "f_ext"))
    if model.geared:
        return aba(model, q, v, tau, f_ext)
    motions = joint_motions(model, q, v)
    I, B = body_maps(model, motions)
    A = accelerations(model, motions, None)
    f = [None] + [I[i] @ A[i] + B[i] @ motions.V[i] for i in model.outward()]
    if f_ext is not None:
        f = less(f, external_wrenches(model, q, f_ext))
    return Articulated(model, motions.S, I, loads=[(f, tau)]).outward()


SHARED_RESULTS = {
    "rnea": SharedResult("rnea_derivatives", joint_forces),
    "crba": SharedResult("rnea_derivatives", inertia_matrix),
    "aba": SharedResult("aba_derivatives", joint_accelerations),
}
"""By name of the quantity; its inputs are among those of the host."""
