"""Work-precision diagrams: the references are right, errors mean what they say, the tables read the curves off."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks import problems, solvers, tumbling_top, work_precision, work_precision_page


def test_the_swing_in_closed_form_obeys_the_pendulum():
    """sin(q/2) = k sn(K + w t) against DOP853 at its tightest tolerances, 1e-11."""
    w2 = 9.81
    found = solve_ivp(lambda t, y: (y[1], -w2 * math.sin(y[0])), (0, 10), (2.0, 0.0), "DOP853", rtol=1e-13, atol=1e-14)
    q, v = problems.swing(2.0, math.sqrt(w2), 10.0)
    assert found.y[:, -1] == pytest.approx((q[0], v[0]), abs=1e-11)


def test_the_tumbling_top_in_closed_form_obeys_euler():
    """I w' = (I w) x w after half a second, central differences of 1e-5 s: 1e-7; and the start is the start."""
    assert tumbling_top.exact_rates(0.0) == pytest.approx(tumbling_top.RATES, rel=1e-14)
    moments, h = np.array(tumbling_top.MOMENTS), 1e-5
    w, before, after = (tumbling_top.exact_rates(0.5 + x) for x in (0.0, -h, h))
    assert (after - before) / (2 * h) == pytest.approx(np.cross(moments * w, w) / moments, abs=1e-7)


def test_the_error_of_a_state_is_measured_on_the_manifold():
    """q and -q are one attitude; a turn of 1e-3 rad is an error of 1e-3; NaN is infinitely far."""
    top = problems.top()
    assert top.error(top.q, top.v) < 1e-15
    minus = top.q.copy()
    minus[-4:] *= -1.0
    assert top.error(minus, top.v) < 1e-15
    import kinetree as kt

    turned = kt.integrate(top.model, top.q, np.array([0.0, 1e-3, 0.0, 0.0, 0.0, 0.0]))
    assert top.error(turned, top.v) == pytest.approx(1e-3, rel=1e-9)
    assert top.error(top.q, top.v * np.nan) == math.inf


def test_all_contenders_converge_on_the_pendulum():
    """Three points each: only methods of order 1 are still far off with the shortest step or tolerance."""
    result = work_precision.measure(["pendulum"], quick=True)
    curves = {(c["family"], c["name"]): c for c in result["problems"][0]["curves"]}
    assert {family for family, _ in curves} >= {"kinetree, rollout", "SciPy on kt.aba", "MuJoCo", "kinetree, adaptive"}
    for key, curve in curves.items():
        if key[1] not in ("euler", "linearly_implicit", "bdf1"):
            assert curve["errors"][-1] < 0.5, key
    for theirs, ours in (("RK4", "rk4"), ("Euler", "semi_implicit")):  # the same methods, where joints are hinges
        found, expected = (curves[key]["errors"] for key in (("MuJoCo", theirs), ("kinetree, rollout", ours)))
        assert found == pytest.approx(expected, rel=1e-6)


def test_runners_of_one_method_end_at_the_same_place():
    """Rollout, batch, simulate and loop of rk4: the same motion to rounding."""
    p = problems.pendulum()
    way = p.model, p.q0, p.v0, p.duration, "rk4", 200
    runners = [solvers.rollout(*way), solvers.rollout(*way, 4), solvers.simulated(*way), solvers.stepped(*way)]
    ends = [runner.end(runner.run()) for runner in runners]
    for (q, v), evaluations in ends:
        assert evaluations == 800
        assert np.concatenate((q, v)) == pytest.approx(np.concatenate(ends[0][0]), abs=1e-10)


def test_costs_are_read_off_between_the_points():
    """Order 1: an error of 1e-3 between 1e-2 at 1 s and 1e-4 at 100 s costs 10 s; what is not reached costs nothing."""
    curve = {"errors": [1e-2, 1e-4], "seconds": [1.0, 100.0]}
    assert work_precision_page.cost(curve, 1e-3) == pytest.approx(10.0)
    assert work_precision_page.cost(curve, 1e-5) is None
    assert work_precision_page.cost(curve, 0.1) == 1.0


def test_rollouts_end_where_mujocos_do():
    """Panda: every runner of the rollout benchmark against MuJoCo's Euler and RK4 after ten steps; rounding, 1e-12."""
    import kinetree as kt
    from benchmarks.rollout import Task

    errors = Task(kt, "panda", 8, 10).verify()
    assert max(errors[name] for name in ("rollout", "rollout, rk4", "step in batches", "step by calls")) < 1e-12
