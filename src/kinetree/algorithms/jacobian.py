"""Jacobians of frames and their rates.

Columns are joint motion subspaces ``S`` moved to the coordinates that ``reference`` names: "local" (the frame's, at
its origin), "world" (the world's, at the world's origin), "local_world_aligned" (the world's axes, at the frame's
origin).
"""

from __future__ import annotations

from kinetree.algorithms.domain import UNIT_QUATERNIONS
from kinetree.algorithms.kinematics import express, frame_twist, link_transform
from kinetree.algorithms.spec import algorithm
from kinetree.spatial import Motion, Vector3


def columns_to_rows(columns, nv):
    """Six-vectors by velocity coordinate (None: zero) as the rows of a 6 x nv array."""
    columns = [list(column) if column is not None else [0.0] * 6 for column in columns]
    return [[columns[k][row] for k in range(nv)] for row in range(6)]


def supporting_subspaces(model, q, frame):
    """``(i, F_X_i, S_i in frame coordinates)`` for the bodies that support a frame, from the frame down to the root."""
    X, i, found = frame.X_FB, frame.body, []
    while i:
        found.append((i, X, [X @ S_k for S_k in model.joints[i].motion_subspace(model.q_of(i, q))]))
        X = X @ link_transform(model, i, q).collapse()
        i = model.parent[i]
    return found, X


@algorithm(
    inputs={"q": "nq"},
    outputs={"J": (6, "nv")},
    static=("frame", "reference"),
    domains=(UNIT_QUATERNIONS,),
    body_frames=True,
)
def jacobian(model, q, *, frame, reference):
    """Jacobian of a frame: its twist is ``J @ v``.

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    frame : str
        Name of the frame or body.
    reference : {"local", "world", "local_world_aligned"}
        Coordinates of the twist: of the frame at its origin, of the world at the world's origin, of the world at the
        frame's origin.

    Returns
    -------
    J : (..., 6, nv) array
        Rows [angular; linear] [1 and m, or 1/m and 1 for sliding joints].

    Raises
    ------
    UnknownNameError
        No frame has this name.

    Notes
    -----
    Source: Featherstone (2008), eq. 4.5-4.6. Identity: ``J @ v = frame_velocity``.

    See Also
    --------
    jacobian_rate, frame_velocity

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.double_pendulum()
    >>> kt.jacobian(model, [0.2, 0.1], frame=model.body_names[-1], reference="world").shape
    (6, 2)
    """
    supports, X_FW = supporting_subspaces(model, q, model.frame(frame))
    columns = [None] * model.nv
    for i, _, S in supports:
        columns[model.v_slice[i]] = [express(S_k, X_FW, reference) for S_k in S]
    return columns_to_rows(columns, model.nv)


@algorithm(
    inputs={"q": "nq", "v": "nv"},
    outputs={"J_dot": (6, "nv")},
    static=("frame", "reference"),
    domains=(UNIT_QUATERNIONS,),
    body_frames=True,
)
def jacobian_rate(model, q, v, *, frame, reference):
    """Time derivative of a frame's Jacobian.

    Parameters
    ----------
    model : Model
    q : (..., nq) array
        Joint positions [rad or m; quaternions unit, (w, x, y, z)].
    v : (..., nv) array
        Joint velocities [rad/s or m/s].
    frame : str
        Name of the frame or body.
    reference : {"local", "world", "local_world_aligned"}
        Coordinates of the Jacobian, as for `jacobian`.

    Returns
    -------
    J_dot : (..., 6, nv) array
        dJ/dt, component by component [1/s and m/s].

    Raises
    ------
    UnknownNameError
        No frame has this name.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.43 and 3.42: a column ``s`` fixed in body i has the rate ``v_i x s``, seen from
    a moving frame ``(v_i - v_F) x s``. Identity: ``J a + J_dot v`` is the spatial `frame_acceleration` of the same
    reference.
    """
    frame = model.frame(frame)
    supports, X_FW = supporting_subspaces(model, q, frame)
    _, V_F = frame_twist(model, q, v, frame)
    # Twist of body i relative to the frame, in frame coordinates, gathered from the frame towards the root.
    V_rel = Motion.zero()
    columns = [None] * model.nv
    for i, X, S in supports:
        q_i, v_i = model.q_of(i, q), model.v_of(i, v)
        S_ring = subspace_rate(model.joints[i], q_i, v_i)
        rates = []
        for k, S_k in enumerate(S):
            rate = V_rel.cross(S_k)  # (v_i - v_F) x s
            if S_ring is not None:
                rate = rate + X @ S_ring[k]
            rates.append(_expressed_rate(S_k, rate, V_F, X_FW, reference))
        columns[model.v_slice[i]] = rates
        for S_k, v_k in zip(S, v_i, strict=True):
            V_rel = V_rel - S_k * v_k
    return columns_to_rows(columns, model.nv)


def subspace_rate(joint, q_i, v_i):
    """Apparent rate of each column of S in successor coordinates, or None when S is constant there."""
    if joint.constant_subspace:
        return None
    return joint.subspace_rate(q_i, v_i)


def _expressed_rate(S, rate, V_F, X_FW, reference):
    """Rate of the column of the Jacobian in ``reference``, from its rate seen in the frame.

    "local" is that rate itself; "world" adds the motion of the frame, V_F x S; "local_world_aligned" only its
    turning.
    """
    if reference == "world":
        return X_FW.inverse_apply(rate + V_F.cross(S))
    if reference == "local_world_aligned":
        turning = Motion(V_F.angular, Vector3.zero())
        return express(rate + turning.cross(S), X_FW, reference)
    return rate
