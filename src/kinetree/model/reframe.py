"""Turn the body frames so that every joint has its cheapest form; nothing in joint coordinates changes."""

from __future__ import annotations

from kinetree.model.gears import gears_seen_from
from kinetree.model.link_frames import Links, cheapest_links
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
    R_0 = 1) the link transform ``X_J X_T`` becomes ``X_J' (R_i X_T R_p^-1)``: the bracket is the new X_T. Where links
    between revolute joints are turned by general angles, the frames are chosen so that links are cheap, too
    (`link_frames`): then origins may also be shifted along their joint's axis.
    """
    forms = [(IdentityRotation(), None), *(joint.canonical() for joint in model.joints[1:])]
    links = cheapest_links(model, forms) or _canonical_links(model, forms)
    if links is None:
        return model
    turn = links.turn  # from the old coordinates of each body to the new
    frames = []
    for frame in model.frames:
        R_BF, p_BF = pose_of_transform(frame.X_FB @ turn[frame.body].inverse())
        frames.append(Frame(frame.name, frame.body, R_BF, p_BF))
    changes = {
        "joints": links.joints,
        "X_T": links.X_T,
        "I": tuple(turn[i] @ I for i, I in enumerate(model.I)),
        "frames": tuple(frames),
        **gears_seen_from(model, turn),
        "geometry": tuple(
            tuple(shape.seen_from(turn[i].inverse()) for shape in shapes) for i, shapes in enumerate(model.geometry)
        ),
    }
    made = type(model)(**{**model._arguments(), **changes})
    made._set(_reframed=made, _independent_rows=model.independent_rows(), X_user=tuple(X.inverse() for X in turn))
    return made


def _canonical_links(model, forms) -> Links | None:
    """Frames turned for the sake of each joint alone; None if nothing changes."""
    if all(isinstance(R, IdentityRotation) and new is old for (R, new), old in zip(forms, model.joints, strict=True)):
        return None
    turn = tuple(Transform(R, Vector3.zero()) for R, _ in forms)
    X_T = (turn[i] @ model.X_T[i] @ turn[model.parent[i]].inverse() for i in model.outward())
    return Links(turn, (None, *(joint for _, joint in forms[1:])), (model.X_T[0], *X_T))
