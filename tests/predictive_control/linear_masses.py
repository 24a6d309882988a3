"""Two sliding masses with springs and dampers: a linear model, whose optimal control is Riccati's."""

from __future__ import annotations

import numpy as np

import kinetree as kt

DT = 0.05


def masses() -> kt.Model:
    """Two masses in a row; steps of `semi_implicit` are linear."""
    b = kt.ModelBuilder("masses", gravity=(0.0, 0.0, 0.0))
    for k, parent in enumerate(("world", "first")):
        b.add_body(
            ("first", "second")[k], parent, kt.joints.Prismatic((1, 0, 0)), ("one", "two")[k], mass=1.0 + k,
            inertia=np.eye(3), damping=0.3, stiffness=2.0,
        )  # fmt: skip
    return b.build()


def matrices(model) -> tuple[np.ndarray, np.ndarray]:
    """A and B of a step, by unit states and forces: exact, since the step is linear."""
    unit = np.eye(6)
    q, v = kt.rollout(
        model, unit[:, :2], unit[:, 2:4], unit[:, None, 4:], DT, integrator="semi_implicit", record=kt.Record()
    )
    end = np.concatenate((q[:, 1], v[:, 1]), axis=1).T
    return end[:, :4], end[:, 4:]


def riccati(A, B, Q, R, P, T):
    """Gains (T, m, n) of the least cost ``sum x Q x + u R u`` and the last x P x, ``u = -K x``; and the first P."""
    gains = []
    for _ in range(T):
        gains.append(np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A))
        P = Q + A.T @ P @ (A - B @ gains[-1])
    return np.array(gains[::-1]), P
