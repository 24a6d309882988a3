"""Jacobians of frames and their rates.

Columns are joint motion subspaces ``S`` in the coordinates that ``reference`` names: "local" (the frame's, at
its origin), "world" (the world's, at the world's origin), "local_world_aligned" (the world's axes, at the frame's
origin).
"""

from __future__ import annotations

from kinetree.algorithms.kinematics import link_transform, motion_subspace, offset, world_axes_twists, world_transforms
from kinetree.algorithms.spec import algorithm
from kinetree.spatial import Columns


def columns_to_rows(model, columns):
    """Six-vectors by velocity coordinate (None: zero) as the rows of a 6 x nv array."""
    d = model.algebra.dimension
    columns = [list(column) if column is not None else [0.0] * d for column in columns]
    return [[column[row] for column in columns] for row in range(d)]


def to_reference(model, q, frame, reference, X_0):
    """``(i, take)`` for the bodies that support a frame, from the frame down to the root.

    ``take`` takes motions from the coordinates of body i to those of the reference. ``X_0`` are the world transforms
    of these bodies; it is not used for "local".
    """
    i, found = frame.body, []
    if reference == "local":
        X = frame.X_FB
        while i:
            found.append((i, X.__matmul__))
            X = X @ link_transform(model, i, q).collapse()
            i = model.parent[i]
        return found
    # From the body to the frame in the world's axes, as a sum of steps: no difference of large positions is taken.
    d = X_0[i].E.inverse_apply(frame.X_FB.r)
    while i:
        X = X_0[i] if reference == "world" else model.algebra.Transform.of(X_0[i].E, -d)
        found.append((i, X.inverse_apply))
        d = d + offset(model, i, q, X_0)
        i = model.parent[i]
    return found


def frame_columns(model, q, frame, reference, X_0):
    """The columns of the Jacobian of a frame, by velocity coordinate; None where it is zero."""
    columns = [None] * model.nv
    for i, take in to_reference(model, q, frame, reference, X_0):
        columns[model.v_slice[i]] = take(motion_subspace(model, i, q))
    return columns


@algorithm(inputs="q", outputs="J", static=("frame", "reference"))
def jacobian(model, q, *, frame, reference):
    """Jacobian of a frame: its twist is ``J @ v``.

    Notes
    -----
    Source: Featherstone (2008), eq. 4.5-4.6. Identity: ``J @ v = velocity``, less the velocity that joints have
    which depend on time: that is ``velocity`` at v = 0.

    See Also
    --------
    jacobian_rate, velocity

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.double_pendulum()
    >>> kt.jacobian(model, [0.2, 0.1], frame=model.body_names[-1], reference="world").shape
    (6, 2)
    """
    frame = model.frame(frame)
    X_0 = world_transforms(model, q, model.support(frame.body))
    return columns_to_rows(model, frame_columns(model, q, frame, reference, X_0))


@algorithm(inputs="q v", outputs="J_dot", static=("frame", "reference"))
def jacobian_rate(model, q, v, *, frame, reference):
    """Time derivative of a frame's Jacobian.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.43 and 3.42: a column ``s`` fixed in body i has the rate ``v_i x s``, seen from
    a moving frame ``(v_i - v_F) x s``. For "local_world_aligned" v_F has no angular part, for "world" it is zero.
    Identity: ``J a + J_dot v`` is the spatial `acceleration` of the same reference, unless joints depend on time.
    """
    frame = model.frame(frame)
    support = model.support(frame.body)
    X_0 = world_transforms(model, q, support)
    V_0 = world_axes_twists(model, q, v, X_0, reference, support)  # not used, so not computed, for "local"
    # Twist of body i relative to the frame, in the coordinates of the reference, gathered from the frame to the root.
    Motion = model.algebra.Motion
    V_rel = Motion.zero()
    columns = [None] * model.nv
    for i, take in to_reference(model, q, frame, reference, X_0):
        S, S_rate = take(motion_subspace(model, i, q)), subspace_rate(model, i, q, v)
        # (v_i - v_O) x s, with v_O the twist of the reference: "world" rests, "local_world_aligned" moves along only.
        V_i = {"local": V_rel, "world": V_0[i], "local_world_aligned": Motion(V_0[i].angular, V_rel.linear)}[reference]
        columns[model.v_slice[i]] = V_i.cross(S) if S_rate is None else V_i.cross(S) + take(S_rate)
        V_rel = V_rel - S @ model.v_of(i, v)
        if model.joints[i].rheonomic:
            V_rel = V_rel - take(model.joints[i].sigma(model.q_of(i, q)))
    return columns_to_rows(model, columns)


def subspace_rate(model, i, q, v):
    """Apparent rate of S of joint i in successor coordinates, or None when it is constant there."""
    joint = model.joints[i]
    if joint.constant_subspace:
        return None
    return Columns(joint.subspace_rate(model.q_of(i, q), model.v_of(i, v)), model.algebra.Motion)
