"""Wrenches of loop joints, from the multipliers of their rows."""

from __future__ import annotations

from kinetree.algorithms.kinematics import express
from kinetree.algorithms.spec import algorithm
from kinetree.state_kinematics import Kinematics


@algorithm(
    inputs="q multipliers",
    outputs={"F": ("n_loops", 6)},
    static=("reference",),
    body_frames="loops",
    symbols={
        "multipliers": "; as `forward_dynamics` and others give them.",
        "F": "Row n is the wrench [moment; force] that the predecessor exerts on the successor of the n-th loop joint "
        "held, in the order of `Model.loop_joints` [N m, N]; ``reference`` is about the frame S of the joint.",
    },
)
def closed_loops_wrenches(model, q, multipliers, *, reference):
    r"""Constraint forces of loop joints as wrenches on their successors.

    .. math:: f_k = T_k\, \lambda_k, \qquad J_{L,k}^T f_k = K_k^T \lambda_k

    Notes
    -----
    Source: Featherstone (2008), eq. 8.28-8.33. Forces of springs, dampers and motors in the loop joint are not in it.
    Where rows are redundant, those that are left out have no force; `forward_dynamics` with the method "pivoted" shares
    the load. Identity: the power of F in the relative motion is that of the multipliers in the rows.

    See Also
    --------
    forward_dynamics, joint_wrenches, closed_loops_jacobian

    Examples
    --------
    The force of the pin of a four-bar at rest, in world axes:

    >>> import kinetree as kt, numpy as np
    >>> bar = kt.models.four_bar()
    >>> q, v = bar.keyframe("initial")
    >>> _, lam = kt.forward_dynamics(bar, q, v, np.zeros(3), multipliers=True)
    >>> kt.closed_loops.wrenches(bar, q, lam, reference="local_world_aligned").shape
    (1, 6)
    """
    kin, found = Kinematics(model, q), []
    loops, world = [loop for _, loop in model.loop_joints()], model.algebra.Transform.identity()
    for c, numbers in model.constraint_rows():
        if any(c is loop for loop in loops):
            X = kin.relative(model.frames[0].name, c.successor, world, c.X_S).X
            f = model.algebra.Force.zero()
            for T, n in zip(c.force_basis(kin), numbers, strict=True):
                f = f + T * multipliers[n]
            found.append(list(express(f, X, reference)))
    return found
