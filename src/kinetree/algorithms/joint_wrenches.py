"""The forces that joints transmit: those of bearings, and the readings of a force sensor in a joint.

Book (table 5.1)   here
``f_i``            ``f[i]``: the force on body i and all that it supports through joint i
"""

from __future__ import annotations

from kinetree.algorithms.kinematics import express, user_frames, world_transforms
from kinetree.algorithms.rnea import transmitted_forces
from kinetree.algorithms.spec import algorithm


@algorithm(
    inputs="q v a",
    optional="f_ext",
    outputs={"F": ("nb", 6)},
    static=("reference",),
    body_frames="cheaper",
    symbols={
        "F": "Row i is the wrench [moment; force] that the predecessor exerts on body i through its joint [N "
        "m, N]; the body exerts the opposite one. Row 0 is zero: the world has no joint."
    },
)
def joint_wrenches(model, q, v, a, f_ext=None, *, reference):
    """Wrenches that the joints transmit to their bodies: actuator and bearing forces together.

    Notes
    -----
    Source: Featherstone (2008), f_i of table 5.1 and eq. 3.34: ``F = T_a tau + T lambda``, the active force and that of
    the constraint. The part along the joint's motions is the joint force, ``S^T F = tau - armature a``, passive joint
    forces included; the rest is that of the bearings. Differs: the bodies' own inertias are used, where `rnea` moves
    regroupable parts to the parent. Bodies that are welded to others have no joint any more; load a robot with
    ``merge_fixed=False`` to keep theirs. Rotors are parts of their stators. Cost: O(nb).

    See Also
    --------
    rnea, body_accelerations

    Examples
    --------
    A shelf of 2 kg, its center of mass 0.3 m from the hinge with the wall: the hinge bears its weight, an actuator the
    moment about y.

    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("shelf")
    >>> hinge = kt.joints.Revolute((0, 1, 0))
    >>> b.add_body("shelf", "world", hinge, "hinge", mass=2.0, com=(0.3, 0.1, 0.0), inertia=(0.1, 0.1, 0.1))
    >>> shelf = b.build()
    >>> F = kt.dynamics.joint_wrenches(shelf, [0.0], [0.0], [0.0], reference="world")
    >>> (F[1].round(9) + 0.0).tolist()
    [1.962, -5.886, 0.0, 0.0, 0.0, 19.62]
    >>> kt.rnea(shelf, [0.0], [0.0], [0.0]).round(9).tolist()
    [-5.886]
    """
    f = transmitted_forces(model, q, v, a, f_ext)
    if reference == "local":
        return [list(X_i @ f[i]) for i, X_i in user_frames(model)]
    X_0 = world_transforms(model, q)
    return [list(express(X_i @ f[i], X_i @ X_0[i], reference)) for i, X_i in user_frames(model)]
