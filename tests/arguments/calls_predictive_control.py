"""One valid call of the public callables of predictive control."""

from __future__ import annotations

import pathlib

import numpy as np

import kinetree as kt


def _cost(s):
    return (s.q[..., 0] ** 2).sum(axis=1)


def _instant(s):
    return s.q[0] ** 2 + s.tau[0] ** 2


def _last(s):
    return s.v[0] ** 2


def table(folder: pathlib.Path) -> dict:
    """As `tests.arguments.calls.table`."""
    pendulum, control = kt.models.pendulum(), kt.control
    sampled = dict(
        model=pendulum, cost=_cost, dt=0.05, horizon=4, samples=8, covariance=4.0, iterations=1, plan=None, knots=2,
        actuated="pivot", effort_limit=10.0, substeps=2, integrator="semi_implicit", ground=None, seed=0, threads=1,
        dtype=np.float64,
    )  # fmt: skip
    search = dict(
        model=pendulum, running=_instant, terminal=_last, dt=0.05, horizon=4, method="ilqr", actuated="pivot",
        effort_limit=10.0, integrator="semi_implicit", iterations=2, tolerance=1e-6, threads=1, progress=False,
    )  # fmt: skip
    cem = sampled | dict(elite_fraction=0.25, smoothing=0.1, least_deviation=0.1)
    cost = dict(model=pendulum, running=_instant, terminal=_last, reference=None, threads=1)
    return {
        "control.MPPI": (control.MPPI, sampled | dict(temperature=0.5, control_weight=0.5)),
        "control.CEM": (control.CEM, cem),
        "control.iLQR": (control.iLQR, search),
        "control.MotionCost": (control.MotionCost, cost),
    }
