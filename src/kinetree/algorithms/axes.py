"""Directions of the axes about which joints turn."""

from __future__ import annotations

from kinetree.spatial import IdentityRotation


def turns_about_several_axes(model) -> bool:
    """Whether two joints turn about axes that are not parallel; if there are none, axes stay parallel."""
    if model.algebra.turns == 1:
        return False
    E_0, first = [IdentityRotation()] + [None] * (model.nb - 1), None
    for i in model.outward():
        joint = model.joints[i]
        if joint.time_dependent:
            return True  # it may turn the axes beyond it
        q_i = joint.neutral()
        E_0[i] = joint.transform(q_i).E @ (model.X_T[i].E @ E_0[model.parent[i]])
        for S_k in joint.motion_subspace(q_i):
            axis = E_0[i].inverse_apply(S_k.angular)
            if not all(isinstance(x, float) for x in axis):
                return True  # time or traced parameters may change it
            first = axis if first is None and max(map(abs, axis)) > 0.0 else first
            if first is not None and max(map(abs, first.cross(axis))) > 1e-9:
                return True
    return False
