"""Forward kinematics: poses, velocities and accelerations of bodies and frames.

Symbols: ``X[i]`` takes coordinates of the parent to coordinates of body i (book: ``i_X_lambda(i) = X_J X_T(i)``),
``R_WB`` and ``p_WB`` are the pose of a body in the world, ``V``, ``A`` its twist and its acceleration, ``S`` the
joint's motion subspace.
"""

from __future__ import annotations

from kinetree.algorithms.spec import algorithm
from kinetree.state_kinematics import body_twists, link_transform, motion_subspace, world_transforms

REFERENCES = ("local", "world", "local_world_aligned")
KINDS = ("spatial", "classical", "spatial_offset", "classical_offset")
AXES = ("world", "local")


def links(model, q):
    """``i_X_lambda(i)`` and ``S_i`` of every body: two lists."""
    return link_transforms(model, q), [None] + [motion_subspace(model, i, q) for i in model.outward()]


def link_transforms(model, q):
    """``i_X_lambda(i)`` of every body."""
    return [None] + [link_transform(model, i, q) for i in model.outward()]


def user_frames(model):
    """``(i, X)`` for every body, X from the coordinates in which it is computed to the user's."""
    return list(enumerate(model.X_user))


def poses(model, q, frames):
    """R and p of every frame, given as its body and the transform from there: two nested lists."""
    X_0 = world_transforms(model, q)
    found = [_pose(X @ X_0[i]) for i, X in frames]
    return [rows(R) for R, _ in found], [list(p) for _, p in found]


def _pose(X):
    """The pose (R_WB, p_WB) that belongs to the coordinate transform ``X = B_X_W``."""
    return X.E.T.matrix, X.r


def rows(matrix):
    """A matrix as nested lists, the shape in which algorithms return arrays."""
    return [list(row) for row in matrix.rows]


@algorithm(inputs="q", outputs="R_WB p_WB", body_frames="cheaper")
def forward_kinematics(model, q):
    """Poses of all bodies.

    Notes
    -----
    Source: Featherstone (2008), example 4.3.

    Examples
    --------
    >>> import kinetree as kt
    >>> R_WB, p_WB = kt.forward_kinematics(kt.models.double_pendulum(), [0.0, 0.0])
    >>> R_WB.shape, p_WB.shape
    ((3, 3, 3), (3, 3))
    """
    return poses(model, q, user_frames(model))


@algorithm(
    inputs="q",
    outputs={"R_WF": (3, 3), "p_WF": (3,)},
    static=("frame",),
    symbols={
        "R_WF": "Orientation of the frame in the world [1].",
        "p_WF": "Position of its origin in world coordinates [m].",
    },
)
def pose(model, q, *, frame):
    """Pose of one frame (a body's name is also the name of its frame).

    Notes
    -----
    Source: Featherstone (2008), example 4.3.
    """
    frame = model.frame(frame)
    X_0 = world_transforms(model, q, model.support(frame.body))
    R, p = _pose(frame.X_FB @ X_0[frame.body])
    return rows(R), list(p)


def world_axes_twists(model, q, v, X_0, reference, bodies=None):
    """Twists with the world's axes: about the world's origin ("world"), or the body's ("local_world_aligned").

    A joint adds its motion subspace turned to the world's axes, which are the rows of ``X_0``; so this costs less
    than turning twists of body coordinates.
    """
    V = [model.algebra.Motion.zero()] + [None] * (model.nb - 1)
    for i in model.outward() if bodies is None else bodies:
        p = model.parent[i]
        V_J = model.joints[i].velocity(model.q_of(i, q), model.v_of(i, v))
        inherited = V[p] if reference == "world" else shifted(model, V[p], offset(model, i, q, X_0))
        V[i] = inherited + express(V_J, X_0[i], reference)
    return V


def offset(model, i, q, X_0):
    """From the origin of body i's parent to that of body i, in the world's axes."""
    return X_0[model.parent[i]].E.inverse_apply(link_transform(model, i, q).collapse().r)


def shifted(model, motion, r):
    """A motion vector at a point that lies r further, without turning the axes."""
    return model.algebra.Transform.shift(r) @ motion


def twists(model, q, v, frames, reference, bodies=None):
    """Twists of frames, in the coordinates that ``reference`` names."""
    if reference == "local":
        _, V = body_twists(model, q, v, bodies)
        return [X @ V[i] for i, X in frames]
    X_0 = world_transforms(model, q, bodies)
    V = world_axes_twists(model, q, v, X_0, reference, bodies)
    if reference == "world":
        return [V[i] for i, _ in frames]
    return [shifted(model, V[i], X_0[i].E.inverse_apply(X.r)) for i, X in frames]


def body_fields(model, q, v, a, bodies=None, gravity=None):
    """Acceleration fields in body coordinates of all bodies or of these; less ``gravity`` where it is given."""
    field = [model.algebra.falling(model.gravity.zero() if gravity is None else gravity)] + [None] * (model.nb - 1)
    for i in model.outward() if bodies is None else bodies:
        joint, q_i, v_i = model.joints[i], model.q_of(i, q), model.v_of(i, v)
        A_J = joint.bias(q_i, v_i) + motion_subspace(model, i, q) @ model.v_of(i, a)
        field[i] = (link_transform(model, i, q) @ field[model.parent[i]]).with_joint(joint.velocity(q_i, v_i), A_J)
    return field


def express(motion, X, reference):
    """A motion vector given in local coordinates, in those that ``reference`` names; ``X`` is local_X_world."""
    if reference == "local":
        return motion
    if reference == "world":
        return X.inverse_apply(motion)
    return X.turn().inverse_apply(motion)


@algorithm(inputs="q v", outputs="V", static=("reference",), body_frames="cheaper")
def body_velocities(model, q, v, *, reference):
    """Twists of all bodies.

    Notes
    -----
    Source: Featherstone (2008), eq. 5.14.
    """
    return [list(V) for V in twists(model, q, v, user_frames(model), reference)]


@algorithm(
    inputs="q v",
    outputs={"V": (6,)},
    static=("frame", "reference"),
    symbols={"V": "Twist [angular; linear], [rad/s, m/s]."},
)
def velocity(model, q, v, *, frame, reference):
    """Twist of one frame.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.18 and 5.14. Identity: equals ``jacobian(model, q, ...) @ v``.
    """
    frame = model.frame(frame)
    (V,) = twists(model, q, v, [(frame.body, frame.X_FB)], reference, model.support(frame.body))
    return list(V)


def _expressed_acceleration(Motion, field, v, X, reference, kind):
    """Acceleration of a frame with this field, in the coordinates of ``reference``; ``X`` is local_X_world.

    The classical linear part is the acceleration of the material point at the reference's origin. The spatial one is
    the derivative of the twist of the same name: ``a - w x v`` with the origin's velocity v (book, eq. 2.48-2.50),
    given in local coordinates as the field is.
    """
    if kind.startswith("spatial"):
        if reference != "local_world_aligned":
            return express(field.twist_rate(v), X, reference)
        # The origin of this reference moves with the frame but does not turn: its twist (w, v) has the derivative
        # (dw, a).
        return express(Motion(field.dw, field.a), X, reference)
    if reference == "world":
        origin = -(X.E @ X.r)  # the world's origin in local coordinates: the body's material point there
        return Motion(X.E.inverse_apply(field.dw), X.E.inverse_apply(field.at(origin)))
    return express(Motion(field.dw, field.a), X, reference)


def accelerations(model, q, v, a, frames, reference, kind, bodies=None):
    """Accelerations of frames, as lists of six; the offset kinds are those of fields that gravity is taken from."""
    X_0 = world_transforms(model, q, bodies)
    _, V = body_twists(model, q, v, bodies)
    field = body_fields(model, q, v, a, bodies, model.gravity if kind.endswith("offset") else None)
    Motion = model.algebra.Motion
    return [
        list(_expressed_acceleration(Motion, X @ field[i], (X @ V[i]).linear, X @ X_0[i], reference, kind))
        for i, X in frames
    ]


@algorithm(inputs="q v a", outputs="A", static=("reference", "kind"), body_frames="cheaper")
def body_accelerations(model, q, v, a, *, reference, kind):
    """Accelerations of all bodies, spatial or classical, true or less gravity.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.46-2.50 and 5.15; section 5.3 for the offset.

    "spatial" is the time derivative of the twist of the same reference, component by component: for "local" the
    derivative of the body-coordinate twist, for "world" Featherstone's spatial acceleration, for "local_world_aligned"
    the angular acceleration and the acceleration of the origin. "classical" is the angular acceleration and the
    acceleration of the material point at the reference's origin.

    These are true accelerations: a body in free fall has the acceleration of gravity, a body at rest has none. The
    kinds "spatial_offset" and "classical_offset" are those less the acceleration of gravity, in the same coordinates:
    that of `rnea`, in which the base accelerates upward, of ``f = I a + v x* I v`` with the weight of the body
    included, and the reading of an accelerometer ("classical_offset", "local").
    """
    return accelerations(model, q, v, a, user_frames(model), reference, kind)


@algorithm(
    inputs="q v a",
    outputs={"A": (6,)},
    static=("frame", "reference", "kind"),
    symbols={"A": "Acceleration [angular; linear], [rad/s^2, m/s^2]."},
)
def acceleration(model, q, v, a, *, frame, reference, kind):
    """Acceleration of one frame, spatial or classical, true or less gravity.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.46-2.50 and 5.15. The kinds are those of `body_accelerations`.

    Examples
    --------
    >>> import kinetree as kt
    >>> wheel = kt.models.pendulum().replace(gravity=(0.0, 0.0, 0.0))
    >>> where = {"frame": "bob", "reference": "local_world_aligned"}
    >>> with kt.interpreted():  # a uniform turn
    ...     spatial = kt.acceleration(wheel, [0.3], [3.0], [0.0], kind="spatial", **where)
    >>> abs(spatial).max().item()
    0.0
    """
    frame = model.frame(frame)
    frames = [(frame.body, frame.X_FB)]
    (A,) = accelerations(model, q, v, a, frames, reference, kind, model.support(frame.body))
    return A
