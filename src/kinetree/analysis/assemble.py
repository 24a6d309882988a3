"""Closed positions and consistent velocities of mechanisms with loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.constraint_rows import CONSTRAINT_JACOBIAN
from kinetree.arguments import a_model, array, checked, names, refuse
from kinetree.errors import AssemblyError
from kinetree.integrators.system import System, dynamics_time, time_argument
from kinetree.model.closing import HELD, closed_position, usual_position
from kinetree.state_kinematics import Kinematics


class AssembledState(NamedTuple):
    """A position and a velocity that obey all constraints.

    Attributes
    ----------
    q : (nq,) array
        [rad or m].
    v : (nv,) array
        [rad/s or m/s].
    """

    q: np.ndarray
    v: np.ndarray


@checked(model=a_model)
def assemble(model, q_guess=None, fixed: str | Sequence[str] = (), *, v=None) -> np.ndarray | AssembledState:
    """A position near a guess in which all loops are closed and all other constraints hold.

    Parameters
    ----------
    model : Model
    q_guess : (nq,) array, mapping or str, optional
        Where the search begins [rad or m; quaternions unit]: positions, those of some joints by name, or the name of a
        keyframe; it decides between assembly branches. Default, also for joints that are not named: the keyframe
        "initial" if there is one, else ``model.neutral()``.
    fixed : str or sequence of str
        Joints that keep the positions of the guess. Locked joints do so, too.
    v : (nv,) array or mapping, optional
        Velocities [rad/s or m/s] to be made consistent: the least change in the metric of the mass matrix; those of
        fixed joints are kept. Those of some joints by name, the others zero.

    Returns
    -------
    q : (nq,) array
        [rad or m]; with ``v`` an `AssembledState` of q and v.

    Raises
    ------
    AssemblyError
        A constraint stays open; the message names it and has its gap [m or rad]. Attributes: ``constraint``, ``gap``
        and ``q``, the nearest position found. Also if fixed joints leave no consistent velocities.
    UnknownNameError, ShapeError, ArgumentError
        No such joint or keyframe, or arrays of another size.

    Notes
    -----
    Source: Levenberg-Marquardt steps (Nocedal and Wright, Numerical Optimization, section 10.3) on the manifold of the
    positions: the shortest step that closes the linearized constraints, damped where errors do not fall. From the guess
    first, then from random positions farther and farther from it, always the same ones. Joint limits are kept where a
    closed position within them is found. Constraints that depend on time are those at t = 0.

    See Also
    --------
    simulate

    Examples
    --------
    >>> import kinetree as kt
    >>> linkage = kt.models.four_bar()
    >>> q = assemble(linkage, [1.2, 0.0, 1.5], fixed="crank")
    >>> q.round(6).tolist()
    [1.2, -0.65053, 1.602497]
    >>> q, v = assemble(linkage, q, fixed="crank", v={"crank": 1.0})
    >>> v.round(6).tolist()
    [1.0, -1.150269, 0.278785]
    """
    fixed = names("assemble: fixed", fixed)
    for name in fixed:
        model.joint(name)
    q = closed_position(model, guess_of(model, q_guess), fixed)
    if v is None:
        return q
    if isinstance(v, Mapping):
        v = _by_joint("v", v, np.zeros(model.nv), model.v_index)
    v = array("assemble: v", v, "velocities (or those of joints by name)", shape=(model.nv,))
    return AssembledState(q, _consistent(model, q, v, fixed))


def guess_of(model, q_guess) -> np.ndarray:
    """The position at which a search begins."""
    if isinstance(q_guess, str):
        return model.keyframe(q_guess)[0]
    if isinstance(q_guess, Mapping):
        q_guess = _by_joint("q_guess", q_guess, np.array(usual_position(model)), model.q_index)
    if q_guess is not None:
        expected = "a position, positions of joints by name, or the name of a keyframe"
        q = array("assemble: q_guess", q_guess, expected, shape=(model.nq,))
        q = np.array([x for i in model.outward() for x in model.joints[i].normalize(model.q_of(i, q.tolist()))])
        if not np.isfinite(q).all():
            refuse("assemble: q_guess", q_guess, "finite positions, and quaternions that are not zero")
        return q
    return usual_position(model)


def _by_joint(what: str, given: Mapping, x: np.ndarray, place) -> np.ndarray:
    """The array with the values of joints that are named."""
    for joint, value in given.items():
        slot = place(joint)
        shape = (slot.stop - slot.start,)
        x[slot] = array(f"assemble: {what} of joint {joint!r}", np.atleast_1d(value), shape=shape)
    return x


def _consistent(model, q, v, fixed) -> np.ndarray:
    """The nearest velocities that obey all constraints, in the metric of the mass matrix."""
    now = time_argument(model, 0.0)
    system = System(model)
    M = system.function("crba")(q, *now)
    kin = Kinematics(model.at(0.0), q.tolist(), v.tolist())
    G = system.function(CONSTRAINT_JACOBIAN, checks=False)(q, *dynamics_time(model, 0.0))
    rates = np.array([float(x) for c in model.constraints for x in c.rate(kin)])
    solved = np.isin(np.arange(len(rates)), list(model.loop_rows().inexact), invert=True)
    G, rates = G * solved[:, None], rates * solved  # decimals of a file do not hold motions
    held = [k for name in fixed for k in range(*model.v_index(name).indices(model.nv))]
    free = np.setdiff1d(np.arange(model.nv), held)
    half = np.linalg.cholesky(np.linalg.inv(M[np.ix_(free, free)]))
    change = -half @ (np.linalg.pinv(G[:, free] @ half, rcond=1e-9) @ rates)
    left = np.abs(rates + G[:, free] @ change)
    if left.max(initial=0.0) > HELD * max(1.0, np.abs(v).max()):
        n = int(np.argmax(left))
        label = model.constraint_labels[n]
        raise AssemblyError(
            f"assemble: no velocities obey constraint {label!r} with those of {', '.join(map(repr, fixed)) or 'v'} "
            f"fixed: {left[n]:.3g} m/s or rad/s are left. Fix fewer joints, or give consistent velocities of them",
            constraint=label,
            gap=float(left[n]),
            q=q,
        )
    v = v.copy()
    v[free] += change
    return v
