"""All frames of a model at once, as arrays in the order of ``model.frames``: poses, velocities, Jacobians.

Frame k < nb is that of body k, the first one the world's; the others follow. Shared results of frames (the transforms
of their bodies, the columns of shared joints) are computed once.
"""

from __future__ import annotations

from kinetree.algorithms.jacobian import columns_to_rows, frame_columns
from kinetree.algorithms.kinematics import accelerations, poses, twists, world_transforms
from kinetree.algorithms.spec import algorithm


def all_frames(model):
    """``(i, X_FB)`` for every frame: its body and the transform to its coordinates."""
    return [(frame.body, frame.X_FB) for frame in model.frames]


@algorithm(inputs="q", outputs="R_WF p_WF", body_frames="cheaper")
def frame_poses(model, q):
    """Poses of all frames, in the order of ``model.frames``.

    Notes
    -----
    Source: Featherstone (2008), example 4.3; a frame is a constant pose on a body.

    See Also
    --------
    frame_transforms : the same as one (nf, 4, 4) array.
    pose : one frame.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> names = [frame.name for frame in arm.frames]
    >>> R_WF, p_WF = kt.kinematics.frame_poses(arm, arm.neutral())
    >>> p_WF[names.index("tool")].round(3).tolist()
    [0.0, 0.0, 1.28]
    """
    return poses(model, q, all_frames(model))


@algorithm(inputs="q", outputs="T_WF", body_frames="cheaper")
def frame_transforms(model, q):
    """Poses of all frames as one array of homogeneous matrices, in the order of ``model.frames``.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.28 (there the inverse, for coordinates) and example 4.3.

    See Also
    --------
    frame_poses : R_WF and p_WF as two arrays.
    """
    R_WF, p_WF = poses(model, q, all_frames(model))
    return [
        [*([*row, x] for row, x in zip(R, p, strict=True)), [*[0.0] * len(p), 1.0]]
        for R, p in zip(R_WF, p_WF, strict=True)
    ]


@algorithm(inputs="q v", outputs={"V": ("nf", 6)}, static=("reference",), body_frames="cheaper")
def frame_velocities(model, q, v, *, reference):
    """Twists of all frames, in the order of ``model.frames``.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.18 and 5.14. Identity: row k is `velocity` of frame k.
    """
    return [list(V) for V in twists(model, q, v, all_frames(model), reference)]


@algorithm(inputs="q v a", outputs={"A": ("nf", 6)}, static=("reference", "kind"), body_frames="cheaper")
def frame_accelerations(model, q, v, a, *, reference, kind):
    """Accelerations of all frames, true or less gravity, in the order of ``model.frames``.

    Notes
    -----
    Source: Featherstone (2008), eq. 2.46-2.50 and 5.15; section 5.3 for the offset. Identity: row k is
    `acceleration` of frame k.
    """
    return accelerations(model, q, v, a, all_frames(model), reference, kind)


@algorithm(
    inputs="q",
    outputs={"J": ("nf", 6, "nv")},
    static=("reference",),
    body_frames="cheaper",
    symbols={"J": "; those of the world, which is frame 0, are zero."},
)
def frame_jacobians(model, q, *, reference):
    """Jacobians of all frames, in the order of ``model.frames``.

    Notes
    -----
    Source: Featherstone (2008), eq. 4.5-4.6. Identity: matrix k is `jacobian` of frame k. Cost: O(nf d), d the depth of
    the tree; for "world" a column belongs to a joint, for all frames.
    """
    X_0 = world_transforms(model, q)
    return [columns_to_rows(model, frame_columns(model, q, frame, reference, X_0)) for frame in model.frames]
