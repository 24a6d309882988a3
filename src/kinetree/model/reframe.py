"""Turn the body frames so that every joint has its cheapest form; nothing in joint coordinates changes."""

from __future__ import annotations

from kinetree.model.parts import Frame, pose_of_transform
from kinetree.spatial import IdentityRotation, Transform, Vector3


def reframed(model):
    """The model with canonical joints.

    Parameters
    ----------
    model : Model

    Returns
    -------
    Model
        The same model if its joints are canonical.

    Notes
    -----
    A joint's ``canonical()`` gives R_i and J_i' with ``X_J = R_i^-1 X_J' R_i``. With body frames turned by R_i (and
    R_0 = 1) the link transform ``X_J X_T`` becomes ``X_J' (R_i X_T R_p^-1)``: the bracket is the new X_T.
    """
    forms = [(IdentityRotation(), None), *(joint.canonical() for joint in model.joints[1:])]
    if all(isinstance(R, IdentityRotation) and new is old for (R, new), old in zip(forms, model.joints, strict=True)):
        return model
    turn = [Transform(R, Vector3.zero()) for R, _ in forms]  # from the old coordinates of each body to the new
    frames = []
    for frame in model.frames:
        R_BF, p_BF = pose_of_transform(frame.X_FB @ turn[frame.body].inverse())
        frames.append(Frame(frame.name, frame.body, R_BF, p_BF))
    changes = {
        "joints": (None, *(joint for _, joint in forms[1:])),
        "X_T": (
            model.X_T[0],
            *(turn[i] @ model.X_T[i] @ turn[model.parent[i]].inverse() for i in model.outward()),
        ),
        "I": tuple(turn[i] @ I for i, I in enumerate(model.I)),
        "frames": tuple(frames),
        "geometry": tuple(
            tuple(shape.seen_from(turn[i].inverse()) for shape in shapes) for i, shapes in enumerate(model.geometry)
        ),
    }
    return type(model)(**{**model._arguments(), **changes})
