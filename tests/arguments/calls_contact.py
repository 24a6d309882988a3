"""One valid call of the functions of contact problems."""

from __future__ import annotations

import numpy as np

import kinetree as kt


def table(folder) -> dict[str, tuple]:
    """Name, callable and valid arguments."""
    fields = dict(
        delassus=np.eye(4), free_velocity=[0.1, 0.0, -1.0, 1.0], friction=0.5, restitution=0.0, compliance=0.0,
        labels=("foot",), bias=0.0, bounds=[(-1.0, 1.0)],
    )  # fmt: skip
    problem, of = kt.contact.ContactProblem(**fields), "contact.ContactProblem"
    ball = kt.collision.Shape("lower", "sphere", (0.1,), name="ball")
    pair = kt.collision.ContactPair("ball", kt.collision.Shape("world", "plane", name="ground"), ball)
    arm = kt.models.double_pendulum().replace(contacts=[pair])
    state = dict(q=[0.1, 0.2], v=[0.0, 0.0], tau=[0.0, 0.0], dt=0.01)
    step = kt.contact.ContactProblem.of(arm, **state)
    force, u = [[0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]]
    return {
        "contact.ContactProblem": (kt.contact.ContactProblem, fields),
        f"{of}.solve": (
            problem.solve, dict(method="exact", warm_start=None, tolerance=1e-9, iterations=100),
        ),
        f"{of}.of": (kt.contact.ContactProblem.of, dict(model=arm, **state, f_ext=None, x=None, u=None)),
        "contact.StepProblem.joint_velocities": (step.joint_velocities, dict(solution=step.solve())),
        "contact.JointSurface": (
            kt.contact.JointSurface, dict(joint="elbow", radius=0.1, friction=0.5, length=0.1, points=8),
        ),
        "contact.joint_friction_step": (
            kt.contact.joint_friction_step,
            dict(
                model=kt.models.double_pendulum(), **state, surfaces=[kt.contact.JointSurface("elbow", 0.1, 0.5)],
                warm_start=None, tolerance=1e-6, iterations=5,
            ),
        ),
        f"{of}.evaluate": (problem.evaluate, dict(impulses=[0.0, 0.0, 1.0, 0.0])),
        "contact.natural_map": (
            kt.contact.natural_map, dict(impulses=force, velocities=u, friction=0.5, mass=1.0),
        ),
        "contact.solve_lcp": (
            kt.contact.solve_lcp,
            dict(M=np.eye(2), d=[-1.0, 1.0], method="lemke", tolerance=1e-9, iterations=100),
        ),
    }  # fmt: skip
