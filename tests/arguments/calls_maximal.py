"""One valid call of the functions of maximal and reduced coordinates."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.maximal_coordinates import Body, System


def table(folder) -> dict[str, tuple]:
    """Name, callable and valid arguments."""
    system = kt.maximal(kt.models.double_pendulum())
    q, v = system.state([0.1, 0.2], [0.3, 0.4])
    state = dict(q=q, v=v, tau=None, f_ext=None, x=None, u=None, t=None)
    rates, of = system.accelerations(q, v).accelerations, "maximal_coordinates.System"
    of_model = "maximal_coordinates.MaximalSystem"
    arm = kt.models.double_pendulum()
    reduced = dict(q=np.array([0.1, 0.2]), v=np.array([0.3, 0.4]))
    here = dict(model=arm, **reduced)
    rows = dict(tau=[0.0, 0.0], rows=[kt.redmax.prescribed(arm, {"elbow": 1.0})], f_ext=None, x=None, u=None)
    return {
        "redmax.Rows": (
            kt.redmax.Rows,
            dict(reduced=[[1.0, 0.0]], maximal=None, target=[1.0], bias=[0.0], inequality=False, name="rows"),
        ),
        "redmax.accelerations": (kt.redmax.accelerations, here | rows | dict(t=None, method="kkt")),
        "redmax.velocities": (kt.redmax.velocities, here | rows | dict(dt=0.1, t=None, slopes=None, method="dual")),
        "redmax.prescribed": (kt.redmax.prescribed, dict(model=arm, values={"elbow": 1.0})),
        "redmax.model_rows": (kt.redmax.model_rows, here | dict(t=None, baumgarte=(1.0, 1.0))),
        "redmax.point_rows": (
            kt.redmax.point_rows,
            here | dict(frame="lower", directions=[[0, 0, 1.0]], at=(0, 0, 1.0), t=None, inequality=True, target=[0.0]),
        ),
        "maximal": (kt.maximal, dict(model=kt.models.double_pendulum())),
        "maximal_coordinates.Body": (
            Body,
            dict(name="a", mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1), pose=((0, 0, 0), (0, 0, 0)), frames={}),
        ),
        of: (
            System,
            dict(
                bodies=[Body("a", 1.0, inertia=(1, 1, 1))], joints=(), gravity=(0, 0, -9.81), forces=(), frames=None,
                redundant="raise",
            ),
        ),
        f"{of}.accelerations": (system.accelerations, state | dict(baumgarte=(1.0, 1.0), method="sparse")),
        f"{of}.closed": (system.closed, dict(q=q, steps=1, t=None)),
        f"{of}.equation": (system.equation, state),
        f"{of}.slopes": (system.slopes, dict(q=q, v=v, method="exact", x=None, u=None, t=None)),
        f"{of}.step": (
            system.step,
            dict(
                q=q, v=v, tau=None, f_ext=None, dt=0.01, x=None, u=None, t=None, slopes="exact", baumgarte=1.0,
                stabilize=True, method="sparse",
            ),
        ),
        f"{of_model}.state": (system.state, reduced | dict(t=None)),
        f"{of_model}.reduced_state": (system.reduced_state, dict(q=q, v=v, t=None)),
        f"{of_model}.reduced_accelerations": (
            system.reduced_accelerations,
            dict(q=q, v=v, accelerations=rates, t=None),
        ),
    }  # fmt: skip
