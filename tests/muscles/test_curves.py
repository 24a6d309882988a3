"""Curves of muscles: published values, smoothness at knots, exact slopes, integrals, continuation, damped balance."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad

import kinetree as kt
from kinetree.errors import ArgumentError
from kinetree.muscles.curves_millard import active_force_length
from kinetree.muscles.polynomials import Piecewise
from kinetree.trace.differentiate import tangents
from kinetree.trace.evaluate import evaluate
from kinetree.trace.graph import Graph

FIELDS = ("active_force_length", "passive_force_length", "force_velocity", "tendon_force_length")
RANGES = {"a": (0.35, 1.95), "p": (0.35, 1.95), "f": (-1.3, 1.3), "t": (0.98, 1.07)}
ALL = list(itertools.product(kt.muscles.CURVES, FIELDS))

# OpenSim 4.6, ActiveForceLengthCurve, FiberForceLengthCurve, ForceVelocityCurve, TendonForceLengthCurve, defaults.
MILLARD = {
    "active_force_length": {
        0.3: 0.1, 0.4441: 0.1, 0.5: 0.117653354928, 0.6: 0.451101878326, 0.7: 0.767020368569, 0.73: 0.806305246347,
        0.8: 0.870676613280, 0.9: 0.956759832543, 1.0: 1.0, 1.1: 0.957375532280, 1.2: 0.823680970871,
        1.4: 0.543730727118, 1.6: 0.263661676264, 1.7: 0.132656644428, 1.8123: 0.1, 2.0: 0.1,
    },
    "passive_force_length": {
        0.9: 0.0, 1.0: 0.0, 1.1: 0.017044835097, 1.2: 0.049692030206, 1.3: 0.126111183483, 1.4: 0.262889776607,
        1.5: 0.460261504791, 1.6: 0.717069527083, 1.7: 1.0, 1.8: 1.285714285714,
    },
    "force_velocity": {
        -1.2: 0.0, -1.0: 0.0, -0.9: 0.0125, -0.75: 0.051519395735, -0.5: 0.158085604442, -0.25: 0.387332954220,
        -0.1: 0.625214284313, 0.0: 1.0, 0.1: 1.225153837754, 0.25: 1.283210809948, 0.5: 1.331131569314,
        0.75: 1.369953900346, 1.0: 1.4, 1.2: 1.4,
    },
    "tendon_force_length": {
        0.99: 0.0, 1.0: 0.0, 1.005: 0.037604493631, 1.01: 0.099678270122, 1.02: 0.260935982615, 1.03: 0.479398712348,
        1.04: 0.747448979592, 1.049: 1.0, 1.06: 1.308673469388,
    },
}  # fmt: skip
# OpenSim's DeGrooteFregly2016Muscle.
DEGROOTE_FREGLY = {
    "active_force_length": {
        0.5: 0.054112153014, 0.7: 0.684233276772, 0.9: 0.937122843163, 1.0: 1.0, 1.1: 0.953159416985,
        1.3: 0.581188898379, 1.5: 0.226148627897,
    },
    "passive_force_length": {
        0.5: 0.000565014954, 0.7: 0.002390536576, 0.9: 0.009315959345, 1.0: 0.018228823820, 1.1: 0.035588713361,
        1.3: 0.135258816778, 1.5: 0.513374088169,
    },
    "force_velocity": {
        -1.0: 0.0, -0.5: 0.234036393549, -0.1: 0.745171585030, 0.0: 1.0, 0.1: 1.206508671260, 0.5: 1.588423401250,
        1.0: 1.794342963555,
    },
    "tendon_force_length": {1.0: 0.0, 1.01: 0.088294510735, 1.02: 0.215568624601, 1.03: 0.399030766531, 1.049: 1.0},
}  # fmt: skip
# Sueda's notes, section 1.5.
CUBIC = {
    "active_force_length": {0.4: 0.0, 0.7: 0.767020368396388, 1.0: 1.0, 1.2: 0.89, 1.81: 0.0, 0.3: 0.0, 1.9: 0.0},
    "passive_force_length": {0.9: 0.0, 1.0: 0.0, 1.3: 0.126110265892917, 1.7: 1.0},
    "force_velocity": {-1.2: 0.0, -1.0: 0.0, 0.0: 1.0, 0.05: 1.1713821138, 1.0: 1.4, 1.2: 1.4},
}


def curve_of(curves: str, field: str):
    return getattr(kt.muscles.curves(curves), field)


def test_least_active_force():
    """Table of OpenSim's curve, whose least value is 0.1; the muscle's has 0, and is the same between 0.6 and 1.4."""
    table = MILLARD["active_force_length"]
    x, y = np.array(list(table)), np.array(list(table.values()))
    np.testing.assert_allclose(active_force_length(0.1)(x), y, atol=1e-12)
    middle = (x > 0.59) & (x < 1.42)
    np.testing.assert_allclose(curve_of("millard", "active_force_length")(x[middle]), y[middle], atol=1e-12)
    np.testing.assert_allclose(curve_of("millard", "active_force_length")(np.array([0.3, 1.9])), 0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("curves", "table", "tolerance"),
    [("millard", MILLARD, 1e-12), ("degroote_fregly", DEGROOTE_FREGLY, 1e-12), ("cubic", CUBIC, 1e-10)],
)
def test_published_values(curves, table, tolerance):
    """All digits of the tables, which are rounded to twelve (ten); constant or straight beyond the ends."""
    for field, values in table.items():
        if curves == "millard" and field == "active_force_length":
            continue  # below
        x, y = np.array(list(values)), np.array(list(values.values()))
        np.testing.assert_allclose(curve_of(curves, field)(x), y, atol=tolerance, err_msg=field)
        assert curve_of(curves, field)(float(x[1])) == pytest.approx(float(y[1]), abs=tolerance)


def test_thelen_closed_forms():
    """Values that follow from the published formulas: ends of the toe, unit force, asymptote."""
    curves = kt.muscles.curves("thelen")
    assert curves.passive_force_length(1.6) == pytest.approx(1.0, abs=1e-14)
    assert curves.tendon_force_length(1.04) == pytest.approx(1.0, abs=1e-14)
    toe = 0.99 * 0.04 * np.exp(3.0) / (1.66 * np.exp(3.0) - 0.67)
    assert curves.tendon_force_length(1.0 + toe) == pytest.approx(0.33, abs=1e-14)
    assert [curves.force_velocity(v) for v in (-2.0, -1.0, 0.0)] == [0.0, 0.0, 1.0]
    assert 1.39 < curves.force_velocity(5.0) < 1.4
    assert curves.velocity_scale(0.0) == 0.25 and curves.velocity_scale(1.0) == 1.0


@pytest.mark.parametrize(
    ("field", "printed"),
    [
        ("passive_force_length", [(2.55305620081729, -7.02386028610914, 6.38855196976641, -1.91774788447456),
                                  (-2.76122280853939, 14.6587935048229, -23.0429533092186, 11.3749950550874)]),
        ("active_force_length", [(-39.881247949014, 68.3443204612586, -35.5324573534802, 5.83029153632759),
                                 (-0.322674853252855, -1.71744046959073, 4.40290549894003, -1.36279017609645),
                                 (4.85118460831817, -20.9908796589089, 28.3080866793169, -11.2356843095252)]),
        ("force_velocity", [(0.915253473864379, 2.74576042159314, 2.74576042159314, 0.915253473864378),
                            (-453.333333333333, -8.78048780487805, 5.0, 1.0),
                            (0.266648649866, -0.799945949598001, 0.799945949598001, 1.133351350134)]),
    ],
)  # fmt: skip
def test_coefficients_of_the_notes(field, printed):
    """Those computed from the stated conditions are the printed ones (eqs. 1.42, 1.44, 1.46)."""
    for (x_c, y_c), (a, b, c, d) in zip(curve_of("cubic", field).pieces, printed, strict=True):
        u = np.linspace(0.0, 1.0, 7)
        x = x_c[0] + x_c[1] * u
        np.testing.assert_allclose(np.polyval(y_c[::-1], u), ((a * x + b) * x + c) * x + d, atol=2e-11)


@pytest.mark.parametrize(("curves", "field"), ALL)
def test_slopes_are_the_derivatives(curves, field):
    """slope(x) and the derivatives of a trace, first and second, against differences; the integral's slope is y."""
    curve, rng = curve_of(curves, field), np.random.default_rng(1)
    x = rng.uniform(*RANGES[field[0]], 400)
    kinks = np.array(curve.knots if isinstance(curve, Piecewise) else [1.0, -1.0, 0.0, 1.0257])
    x = x[np.abs(x[:, None] - kinks).min(axis=1) > 1e-4]
    graph = Graph()
    symbol = graph.input(0, 0)
    ids = [curve(symbol).id]
    for _ in range(2):
        ids.append(tangents(graph, ids[-1:], {symbol.id: {0: graph.ONE}})[0].get(0, graph.ZERO))

    def found(x):
        return np.array([np.broadcast_to(y, x.shape) for y in evaluate(graph, ids, lambda op, args: x)])

    y, slope, second = found(x)
    differences = (found(x + 1e-6) - found(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(y, curve(x), atol=1e-15)
    np.testing.assert_allclose(slope, curve.slope(x), atol=1e-11)
    np.testing.assert_allclose(slope, differences[0], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(second, differences[1], rtol=1e-5, atol=2e-6 * np.abs(second).max())
    if field in ("passive_force_length", "tendon_force_length"):
        rate = (curve.integral(x + 1e-6) - curve.integral(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(rate, curve(x), atol=1e-8)
        start, end = 0.2 if curves == "degroote_fregly" and field[0] == "p" else 1.0, RANGES[field[0]][1]
        inside = [k for k in kinks if start < k < end]
        area = quad(lambda x: float(curve(float(x))), start, end, points=inside or None, epsabs=1e-12, limit=200)[0]
        assert curve.integral(end) - curve.integral(start) == pytest.approx(area, abs=1e-10)


@pytest.mark.parametrize(("curves", "field"), [each for each in ALL if each[0] in ("millard", "cubic")])
def test_smooth_at_knots(curves, field):
    """Value and slope agree from both sides of every knot; of Bezier curves the second derivative, too."""
    curve = curve_of(curves, field)
    for x in curve.knots:
        below, above = float(np.nextafter(x, -9.0)), float(np.nextafter(x, 9.0))
        assert curve(below) == pytest.approx(curve(above), abs=1e-15 * max(4.0, curve.slope(x)))
        assert curve.slope(below) == pytest.approx(curve.slope(above), abs=1e-11)
        if len(curve.pieces[0][0]) > 2 and curve.knots[0] < x < curve.knots[-1]:
            second = [(curve.slope(x + s * 1e-7) - curve.slope(x)) / (s * 1e-7) for s in (-1.0, 1.0)]
            everywhere = np.abs(np.gradient(curve.slope(np.linspace(*curve.knots[:: len(curve.knots) - 1], 500)))).max()
            assert second[0] == pytest.approx(second[1], abs=1e-3 * 500.0 * everywhere)


@pytest.mark.parametrize("curves", kt.muscles.CURVES)
@pytest.mark.parametrize("damping", [0.01, 0.1])
def test_balance_of_velocity(curves, damping):
    """gain f(v) + damping v = force on a grid of gains and forces within and beyond the curve's range; derivatives."""
    curve = curve_of(curves, "force_velocity")
    gain, force = (x.ravel() for x in np.meshgrid(np.geomspace(1e-3, 1.5, 50), np.linspace(-0.8, 3.0, 200)))
    v = curve.balance(gain, damping, force)
    np.testing.assert_allclose(gain * curve(v) + damping * v, force, atol=1e-12)

    graph = Graph()
    given = [graph.input(0, k) for k in range(3)]
    seeds = {x.id: {k: graph.ONE} for k, x in enumerate(given)}
    first = tangents(graph, [curve.balance(*given).id], seeds)[0]
    ids = [first[k] for k in range(3)]
    ids += [row.get(k, 0) for row in tangents(graph, ids, seeds) for k in range(3)]
    rng = np.random.default_rng(2)
    at = np.array([rng.uniform(0.1, 1.2, 300), np.full(300, damping), rng.uniform(0.05, 1.0, 300)])

    def slopes(at):
        values = evaluate(graph, ids, lambda op, args: at[args[1]])
        return np.array([np.broadcast_to(x, 300) for x in values])

    found = slopes(at)
    for k in range(3):
        step = np.zeros((3, 1))
        step[k] = 1e-6
        rate = (curve.balance(*(at + step)) - curve.balance(*(at - step))) / 2e-6
        smooth = np.abs(rate - found[k]) < 1e-5 * (1.0 + np.abs(rate))
        assert smooth.mean() > 0.99  # the rest straddles a knot of the slope
        second = (slopes(at + step) - slopes(at - step))[:3] / 2e-6
        close = np.abs(second - found[3:].reshape(3, 3, 300)[:, k]) < 1e-4 * (1.0 + np.abs(second))
        assert close.mean() > 0.99


def test_bad_names():
    """An unknown set names those that exist."""
    with pytest.raises(ArgumentError, match=r"curves: name is 'hill', expected .*'millard'"):
        kt.muscles.curves("hill")
