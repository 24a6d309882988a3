"""Tendons around spheres and cylinders: lengths, gradients, second derivatives, singular positions."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import Kinematics, TendonLength
from kinetree.errors import ArgumentError, ModelError, UnsupportedError
from kinetree.joints import Free, Revolute, Spherical, Translational
from kinetree.spatial import Vector3
from kinetree.tendons import Pulley, ViaPoint, WrapShape, path_length
from kinetree.tendons.inside import inside_length
from kinetree.tendons.path import path_of
from kinetree.tendons.wrapping import wrapped_length
from tests.tendons.ring_paths import by_rings

RADIUS = 0.3
CASES = [(kind, side) for kind in ("sphere", "cylinder") for side in ("none", "outside", "inside")]
needs_winding_rule = pytest.mark.skipif(
    not mujoco.__version__.startswith("4."), reason="MuJoCo before 4 chooses the side of a path by another rule"
)


def shape_of(kind: str, side: str) -> WrapShape:
    return WrapShape(kind, "shape", RADIUS, None if side == "none" else "side", side == "inside")


def random_points(side: str, n: int) -> np.ndarray:
    """Two ends and a side point, (n, 3, 3); the side point is in or out of the shape."""
    P = np.random.default_rng(1).uniform(-1.0, 1.0, (n, 3, 3))
    distance = np.linalg.norm(P[:, 2], axis=1, keepdims=True)
    P[:, 2] *= (0.2 if side == "inside" else np.maximum(distance, 1.1 * RADIUS)) / distance
    return P


def mujoco_lengths(kind: str, side: str, P: np.ndarray) -> np.ndarray:
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = "".join(f'<body>{slides}<geom size=".01"/><site name="{name}"/></body>' for name in "abs")
    along = "" if side == "none" else 'sidesite="s"'
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><geom name="g" type="{kind}" size="{RADIUS} 1"/>{bodies}</worldbody><tendon><spatial>
        <site site="a"/><geom geom="g" {along}/><site site="b"/></spatial></tendon></mujoco>"""
    )
    data, found = mujoco.MjData(model), []
    for points in P:
        data.qpos[:] = points.ravel()
        mujoco.mj_fwdPosition(model, data)
        found.append(data.ten_length[0])
    return np.array(found)


@needs_winding_rule
@pytest.mark.parametrize(("kind", "side"), CASES)
def test_lengths_are_mujocos(kind, side):
    """At random points; MuJoCo ends the iteration inside a ring at an angle of 1e-6, so its length at 1e-12."""
    P = random_points(side, 500)
    a, b, s = (Vector3(*np.ascontiguousarray(P[:, k].T)) for k in range(3))
    found = wrapped_length(shape_of(kind, side), a, b, s if side == "outside" else None)
    expected = mujoco_lengths(kind, side, P)
    assert np.abs(found - expected).max() < (1e-11 if side == "inside" else 1e-14)
    assert 0.1 < np.mean(np.abs(found - np.linalg.norm(P[:, 0] - P[:, 1], axis=1)) > 1e-6) < 0.9


def test_closed_forms():
    """A quarter of a great circle; a helix; the reflected path inside a ring."""
    r, t = 0.5, 1.2
    ball = WrapShape("sphere", "g", r)
    a, b = Vector3(r, -t, 0.0), Vector3(-t, r, 0.0)
    side, turn = Vector3(0.7, 0.7, 0.0), 2 * t + r * math.pi / 2
    assert wrapped_length(ball, a, b, side) == pytest.approx(turn, rel=1e-15)
    long = wrapped_length(ball, b, -b, Vector3(0.3, 1.0, 0.0))
    d = math.hypot(t, r)
    assert long == pytest.approx(2 * t + r * (math.pi - 2 * math.acos(r / d)), rel=1e-15)
    lifted = wrapped_length(WrapShape("cylinder", "g", r), a, Vector3(-t, r, 0.8), side)
    assert lifted == pytest.approx(math.hypot(turn, 0.8), rel=1e-15)
    ring = WrapShape("sphere", "g", r, inside=True)
    a, b = Vector3(1.0, 0.4, 0.0), Vector3(1.0, -0.4, 0.0)
    assert wrapped_length(ring, a, b, None) == pytest.approx(2 * math.hypot(1.0 - r, 0.4), rel=1e-14)


def test_the_path_inside_a_ring_is_the_shortest():
    """Over all points of the circle, by a fine search."""
    rng = np.random.default_rng(2)
    l0, l1 = rng.uniform(1.05, 4.0, (2, 40))
    G = rng.uniform(0.05, 1.0, 40) * (np.arccos(1 / l0) + np.arccos(1 / l1))
    found = inside_length(l0**2, l1**2, G, 1.0)
    at = np.linspace(0.0, 1.0, 20001)[:, None] * G
    legs = np.sqrt(l0**2 + 1 - 2 * l0 * np.cos(at)) + np.sqrt(l1**2 + 1 - 2 * l1 * np.cos(G - at))
    best = legs.min(axis=0)
    assert np.all(found <= best + 1e-13) and np.abs(found - best).max() < 1e-7


@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
def test_lengths_and_rates_inside_a_ring_in_high_precision(kind):
    """Against the point of the ring by bisection in 40 digits: to rounding, where MuJoCo's iteration leaves 1e-7."""
    rng, b = np.random.default_rng(3), kt.ModelBuilder("ring")
    b.add_frame("shape", "world", (rng.uniform(-0.2, 0.2, 3), rng.uniform(-1, 1, 3)))
    for name in ("start", "end"):
        b.add_body(name, joint=Translational(), mass=1.0)
    path, model = (ViaPoint("start"), shape_of(kind, "inside"), ViaPoint("end")), b.build()
    bent = 0
    for _ in range(60):
        q, v = rng.uniform(-1.0, 1.0, (2, 6))
        length, rate, is_bent = by_rings(model, path, q, v)
        kin, bent = Kinematics(model, q, v), bent + is_bent
        assert abs(path_length(path, kin) - length) < 1e-14
        assert abs(TendonLength(path).rate(kin)[0] - rate) < 1e-13
    assert bent > 10


def arm(kind: str, side: str):
    """Joints of several freedoms with a path around a shape on a moving body."""
    model = kt.models.random_tree(4, seed=2, joints=(Spherical(), Revolute((0.6, 0.0, 0.8)), Free()))
    b, rng = kt.ModelBuilder.of(model), np.random.default_rng(5)
    for name, body in (("shape", 1), ("start", 0), ("end", 3)):
        place = rng.uniform(-0.5, 0.5, 3)
        b.add_frame(name, model.body_names[body], (place, rng.uniform(-1, 1, 3)))
        if name == "shape":
            b.add_frame("side", model.body_names[body], (place + (0.5, 0.3, 0.1), (0, 0, 0)))
    path = ViaPoint("start", (0.1, 0.0, -0.2)), shape_of(kind, side), ViaPoint("end", (0.0, 0.2, 0.1))
    return b.build(), path


def detour(path, kin) -> float:
    """By how much the path is longer than the straight line."""
    return float(path_length(path, kin) - path_length((path[0], path[2]), kin))


@pytest.mark.parametrize(("kind", "side"), CASES)
def test_rows_and_biases_are_derivatives_of_the_length(kind, side):
    """By central differences along the manifold; of both straight and wrapped paths there are some."""
    model, path = arm(kind, side)
    row, rng, wraps, h = TendonLength(path), np.random.default_rng(0), [], 1e-5

    def length(q):
        return float(path_length(path, Kinematics(model, q.tolist())))

    for _ in range(12):
        q, v = model.random_q(rng), rng.normal(size=model.nv)
        kin = Kinematics(model, q.tolist(), v.tolist())
        ((entries),) = row.rows(kin)
        G = np.array([entries.get(k, 0.0) for k in range(model.nv)], float)
        wraps.append(detour(path, kin) > 1e-9)
        with kt.interpreted():
            steps = [(kt.integrate(model, q, h * e), kt.integrate(model, q, -h * e)) for e in np.eye(model.nv)]
            along = [kt.integrate(model, q, s * v) for s in (h, -h)]
        expected = [(length(p) - length(m)) / (2 * h) for p, m in steps]
        assert G == pytest.approx(expected, abs=1e-8)
        rates = [row.rate(Kinematics(model, q_s.tolist(), v.tolist()))[0] for q_s in along]
        assert row.bias(kin)[0] == pytest.approx((rates[0] - rates[1]) / (2 * h), rel=1e-6, abs=1e-6)
    assert any(wraps) and not all(wraps)


SINGULAR = {
    "opposite": ((1.0, 0.0, 0.0), (-0.7, 0.0, 0.0)),
    "opposite along z": ((0.0, 0.0, 1.0), (0.0, 0.0, -0.7)),
    "opposite aslant": ((0.5, 0.5, 0.0), (-0.5, -0.5, 0.0)),
    "one behind the other": ((1.0, 0.2, 0.0), (0.5, 0.1, 0.0)),
    "at the center": ((0.0, 0.0, 0.0), (0.5, 0.1, 0.0)),
    "both inside": ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0)),
    "in one point": ((0.6, 0.0, 0.1), (0.6, 0.0, 0.1)),
    "on the surface": ((RADIUS, 0.0, 0.0), (-0.5, 0.0, 0.0)),
}


@pytest.mark.parametrize(("kind", "side"), CASES)
@pytest.mark.parametrize("where", SINGULAR)
def test_singular_positions_have_finite_derivatives(kind, side, where):
    """Ends in line with the center, at it, inside, or together: numbers, and rows of at most the length of a rope's."""
    b = kt.ModelBuilder("point", gravity=(0, 0, 0))
    b.add_body("bead", joint=Translational(), mass=1.0, inertia=np.eye(3))
    b.add_frame("shape", "world")
    b.add_frame("side", "world", ((0.0, 0.2 if side == "inside" else 0.6, 0.1), (0, 0, 0)))
    model = b.build()
    start, end = SINGULAR[where]
    row = TendonLength((ViaPoint("world", start), shape_of(kind, side), ViaPoint("bead")))
    kin = Kinematics(model, list(end), [0.3, -0.2, 0.5])
    ((entries),) = row.rows(kin)
    G = np.array([entries.get(k, 0.0) for k in range(3)], float)
    assert np.isfinite([*G, *row.bias(kin), *row.residual(kin)]).all() and np.linalg.norm(G) < 1.0 + 1e-12
    if where.startswith("opposite") and side != "inside" and (kind, where) != ("cylinder", "opposite along z"):
        assert np.linalg.norm(G) == pytest.approx(1.0)  # the path leaves along a tangent
        assert row.residual(kin)[0] > np.linalg.norm(np.subtract(end, start)) + 0.01


def test_tendons_around_shapes_of_other_radius():
    """The radius is a number of the model: compiled once, right for others."""
    model, path = arm("cylinder", "outside")
    held = model.with_constraints(TendonLength(path, name="cord"))
    wider = model.with_constraints(TendonLength((path[0], WrapShape("cylinder", "shape", 0.4, "side"), path[2])))
    rng = np.random.default_rng(4)
    q = max((model.random_q(rng) for _ in range(9)), key=lambda q: detour(path, Kinematics(model, q.tolist())))
    f = kt.compile(held, "closed_loops_error").with_parameters({"cord.path.1.radius": 0.4})
    expected = float(path_length(wider.constraints[0].path, Kinematics(model, q.tolist())))
    assert f(q)[0] == pytest.approx(expected, abs=1e-13)
    assert abs(expected - kt.compile(held, "closed_loops_error")(q)[0]) > 1e-3


A, B, BALL = ViaPoint("a"), ViaPoint("b"), WrapShape("sphere", "c", 0.1)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: WrapShape("sphere", "c", 0.0), ArgumentError, r"frame 'c': radius is 0.0, expected a positive radius"),
        (lambda: WrapShape("sphere", "c", -0.1), ArgumentError, "positive radius"),
        (lambda: WrapShape("sphere", "c", float("nan")), ArgumentError, "positive radius"),
        (lambda: WrapShape("box", "c", 0.1), ArgumentError, "kind is 'box', expected one of 'sphere', 'cylinder'"),
        (lambda: WrapShape("ellipsoid", "c", 0.1), UnsupportedError, "kind 'ellipsoid' are not computed"),
        (lambda: WrapShape("sphere", "c", 0.1, inside=1), ArgumentError, "True or False"),
        (lambda: path_of("cord", (A, BALL)), ModelError, "fewer than two points"),
        (lambda: path_of("cord", (BALL, A, B)), ModelError, "not between two points"),
        (lambda: path_of("cord", (A, BALL, BALL, B)), ModelError, "not between two points"),
        (lambda: path_of("cord", (A, B, Pulley(2.0), BALL, A, B)), ModelError, "not between two points"),
        (lambda: path_of("cord", (A, A, B)), ModelError, "cord collapses: .*'a'.* twice in a row"),
    ],
)
def test_impossible_shapes_are_refused(make, error, message):
    """By name, with the value found and the values expected."""
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(("kind", "side"), CASES)
def test_curves_have_the_length_of_the_path(kind, side):
    """The polygon of many points is shorter by at most its sagitta; straight paths have two points."""
    model, path = arm(kind, side)
    rng, counts = np.random.default_rng(6), set()
    for _ in range(20):
        q = model.random_q(rng)
        (curve,) = kt.tendons.path_points(model, q, path, per_turn=2000)
        length = float(path_length(path, Kinematics(model, q.tolist())))
        assert np.linalg.norm(np.diff(curve, axis=0), axis=1).sum() == pytest.approx(length, rel=1e-5)
        counts.add(len(curve) > 2)
    assert counts == {True, False}


def test_drawings_show_tendons():
    """Of tendons, force elements and constraints, with the outline of their shapes, once each."""
    pytest.importorskip("matplotlib")
    model, path = arm("sphere", "none")
    drawn = [model, model.with_forces(kt.forces.TendonForce("cord", path, 2.0)),
             model.with_constraints(TendonLength(path, reference=1.0))]  # fmt: skip
    q = model.random_q(np.random.default_rng(1))
    lines = [len(kt.viz.plot_mechanism(each, q).axes[0].lines) for each in drawn]
    assert lines[1] == lines[2] == lines[0] + 1 + 3  # the curve, three circles
