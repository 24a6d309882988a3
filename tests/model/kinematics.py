"""World transforms and composite inertia by the definitions: what models are compared with here."""

import numpy as np

from kinetree.spatial import Inertia, Transform


def world_transforms(model, q):
    """X_i0 of every body."""
    X = [Transform.identity()]
    for i in model.outward():
        X.append(model.joints[i].transform(model.q_of(i, list(q))) @ model.X_T[i] @ X[model.parent[i]])
    return X


def total_inertia(model, q):
    """Inertia of all moving bodies about the world's origin, as (mass, first moment, tensor) in one array of ten."""
    X, total = world_transforms(model, q), Inertia.zero()
    for i in model.outward():
        total = total + X[i].inverse_apply(model.I[i])
    return np.array([total.m, *total.h, *total.I], dtype=float)


def frame_poses(model, q):
    """4x4 matrix from world to frame coordinates, by the name of the frame."""
    X = world_transforms(model, q)
    return {frame.name: (frame.X_FB @ X[frame.body]).homogeneous() for frame in model.frames}


def mass_matrix(model, q):
    """M = sum of J_i^T I_i J_i + armature, by the definition of kinetic energy."""
    X = world_transforms(model, q)
    M = np.diag(np.array(model.armature, dtype=float))
    for i in model.outward():
        J = np.zeros((6, model.nv))
        for j in model.support(i):
            for k, S in enumerate(model.joints[j].motion_subspace(model.q_of(j, list(q)))):
                J[:, model.v_slice[j].start + k] = list(X[i] @ X[j].inverse_apply(S))
        I = model.I[i]
        h = np.array(list(I.h))
        cross = np.array([[0.0, -h[2], h[1]], [h[2], 0.0, -h[0]], [-h[1], h[0], 0.0]])
        dense = np.block([[np.array(I.I.matrix.rows), cross], [cross.T, I.m * np.eye(3)]])
        M += J.T @ dense @ J
    return M
