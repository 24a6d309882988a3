"""One valid call of the public callables of mechanisms with loops."""

from __future__ import annotations

import pathlib

import numpy as np

import kinetree as kt


def table(folder: pathlib.Path) -> dict:
    """As `tests.arguments.calls.table`."""
    bar = kt.models.four_bar()
    q, still = bar.keyframe("initial")[0], np.zeros(3)
    return {
        "closed_loops.branches": (
            kt.closed_loops.branches, dict(model=bar, q_guess=q, driver={"crank": 1.0}, starts=8)
        ),
        "closed_loops.mobility": (kt.closed_loops.mobility, dict(model=bar, q=q, actuated=["crank"])),
        "closed_loops.linearize": (
            kt.closed_loops.linearize,
            dict(model=bar, q=q, v=still, tau=None, actuated=["crank"], independent="crank", f_ext=None),
        ),
        "closed_loops.torque_family": (
            kt.closed_loops.torque_family,
            dict(model=bar, q=q, v=still, a=still, actuated=["crank"], weights=np.ones(3), f_ext=None),
        ),
    }
