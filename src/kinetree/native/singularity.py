"""The error for a joint-space inertia that has no inverse: which joints move no mass, in which state of a batch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.algorithms.crba import crba
from kinetree.algorithms.regularity import collected_pivots, singular
from kinetree.errors import ConstraintError, KinetreeError, SingularityError
from kinetree.native.arrays import nested

PART = 1e-3
"""Joints whose share in the motion without inertia is below this part of the largest are not named."""


def singularity(spec, model, arrays: Mapping[str, np.ndarray] | None = None, batch: tuple[int, ...] = ()):
    """The error of an algorithm that met a singular joint-space inertia.

    Parameters
    ----------
    spec : Spec
    model : Model
    arrays : mapping of str to ndarray, optional
        The inputs; without them the model's structure alone makes the inertia singular, at every position.
    batch : tuple of int

    Returns
    -------
    SingularityError
        Its attribute ``joints`` names the joints that can move together without moving mass, where q or M is known.
    """
    given = arrays or {}
    if "q" in given and model.constraints and (error := _constraints(spec, model, given, batch)):
        return error
    if "M" in given:
        M = np.broadcast_to(given["M"], (*batch, model.nv, model.nv)).astype(float)
    else:
        q = given["q"] if "q" in given else model.random_q(np.random.default_rng(0))
        M = _inertia(model.at(given["t"]) if "t" in given else model, np.broadcast_to(q, (*batch, model.nq)))
    state, joints = _motion_without_inertia(model, M) if np.isfinite(M).all() else ((), [])
    where = f" at batch index {state if len(state) > 1 else state[0]}" if batch and "q" in given else ""
    if "M" in given:
        what, hint = "the given M is not positive definite", "Give the inertia of a mechanism plus stiffness terms."
    else:
        which = "this" if arrays else "every"
        what = f"the joint-space inertia of model {model.name!r} has no inverse at {which} position"
        hint = (
            "Give the massless bodies between them an inertia, or the joints an armature; in place of three hinges "
            "through one point a spherical joint has no such position."
        )
    names = ", ".join(map(repr, joints[:6])) + (f" ({len(joints)} in all)" if len(joints) > 6 else "")
    if joints:
        what += f": joint {names} moves" if len(joints) == 1 else f": joints {names} can move together"
        what += " without moving any mass" if len(joints) > 1 else " no mass"
    return SingularityError(f"{spec.name}{where}: {what}. {hint}", joints=tuple(joints), model=model.name)


def _constraints(spec, model, arrays, batch) -> KinetreeError | None:
    """The error where constraints have no solution although the inertia has an inverse; else None."""
    q = np.broadcast_to(arrays["q"], (*batch, model.nq))
    M = _inertia(model.at(arrays["t"]) if "t" in arrays else model, q)
    if not np.isfinite(M).all() or np.linalg.cond(M).max() > 1e14:
        return None
    if bounded := ", ".join(str(c) for c in model.constraints if c.row_kind == "box"):
        return ConstraintError(
            f"{spec.name}{_where(spec, model, arrays, batch)}: the forces of {bounded} of model {model.name!r} were "
            "not found in as many exchanges as compiled code makes. Another dt or a slightly other state has a "
            "solution as a rule; steps of kt.simulate find it in any state.",
            model=model.name,
        )
    if loops := [str(c) for c in model.constraints if c.frames]:
        return SingularityError(
            f"{spec.name}: rows of {', '.join(loops)} depend on each other in a state of model {model.name!r}, though "
            "they do not in general: the loop is stretched out, joints of it have given accelerations, which have "
            "to keep it closed, or velocities chosen as independent do not determine the others there. Take another "
            "position or choice.",
            model=model.name,
        )
    return None


def _where(spec, model, arrays, batch) -> str:
    """The first state of a batch in which a pivot is singular, for messages."""
    if not batch or spec.static:
        return ""
    wide = {name: np.broadcast_to(x, (*batch, *spec.shape(name, model))) for name, x in arrays.items()}
    scalars = {name: nested(x.astype(float), len(spec.shape(name, model))) for name, x in wide.items()}
    with np.errstate(all="ignore"), collected_pivots() as pivots:
        spec.function(model, **scalars)
    for pivot, scale in pivots.pairs:
        found = np.argwhere(np.broadcast_to(singular(pivot, scale), batch))
        if len(found):
            state = tuple(found[0].tolist())
            return f" at batch index {state if len(state) > 1 else state[0]}"
    return ""


def _inertia(model, q: np.ndarray) -> np.ndarray:
    M = np.empty((*q.shape[:-1], model.nv, model.nv))
    with np.errstate(all="ignore"):
        for m, row in enumerate(crba(model, list(np.moveaxis(q.astype(float), -1, 0)))):
            for n, x in enumerate(row):
                M[..., m, n] = x
    return M


def _motion_without_inertia(model, M: np.ndarray) -> tuple[tuple[int, ...], list[str]]:
    """The state in which M is nearest to singular, and the joints that move along its smallest eigenvalue.

    Rows are scaled by the diagonal, which mixes kg m^2 and kg.
    """
    diagonal = np.abs(np.diagonal(M, axis1=-2, axis2=-1))
    scale = np.sqrt(np.maximum(diagonal, 1e-15 * diagonal.max(axis=-1, keepdims=True)))
    scale[scale == 0.0] = 1.0
    values, vectors = np.linalg.eigh(M / (scale[..., :, None] * scale[..., None, :]))
    state = np.unravel_index(np.argmin(values[..., 0]), values.shape[:-1])
    motion = np.abs(vectors[(*state, slice(None), 0)])
    moving = motion > PART * motion.max()
    joints = [model.joint_name(i) for i in model.outward() if moving[model.v_slice[i]].any()]
    return tuple(int(k) for k in state), joints
