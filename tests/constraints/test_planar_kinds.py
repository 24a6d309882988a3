"""Laws over leaves in planar models: the same rows, biases and accelerations as in the spatial model."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_bias, constraint_error, constraint_jacobian
from kinetree.constraints import (
    Distance,
    KnifeEdge,
    LinearCoupling,
    PointOnCurve,
    PositionConstraint,
    RollingDisk,
    TendonLength,
)
from kinetree.tendons import ViaPoint

SLIDE = kt.joints.Prismatic((0.8, 0.0, 0.6))


def arm():
    """Hinges about -y and a slide in the x-z plane, body frames turned about other axes, and frames off the plane."""
    b = kt.ModelBuilder("arm")
    turn = (0.0, 0.3, 0.0)
    rod = {"mass": 1.2, "com": (0.1, 0.05, -0.4), "inertia": np.diag([0.1, 0.2, 0.15])}
    b.add_body("upper", joint=kt.joints.Revolute((0, -1, 0)), joint_name="shoulder", **rod)
    b.add_body("lower", "upper", kt.joints.Revolute((0, -1, 0)), "elbow", placement=((0, 0.2, -0.8), turn), **rod)
    b.add_body("hand", "lower", SLIDE, "slide", placement=((0.1, 0, -0.7), (0, 0, 0)), **rod)
    b.add_frame("tip", "hand", ((0.1, 0.3, -0.2), (0.4, -0.2, 0.9)))
    b.add_frame("hook", "world", ((1.0, 0.1, 0.3), (0.1, 0.5, 0.0)))
    return b.build()


class Tilt(PositionConstraint):
    """The angle of a body, by the entries of its rotation."""

    name, of, frame_fields = "tilt", ("tip", "hook"), ("of",)

    def phi(self, kin):
        return kin.rotation("tip", "hook")[0, 1] - 0.3


CASES = {
    "distance": Distance("hook", "tip", 1.1, (0.1, 0.2, 0.3), (0.2, 0.0, -0.1)),
    "tendon": TendonLength((ViaPoint("hook"), ViaPoint("upper"), ViaPoint("tip")), reference=1.5),
    "curve": PointOnCurve("hook", "tip", lambda x, y, z: (x * x + 0.5 * y - z, x + y * z)),
    "blade": KnifeEdge("tip", (0.3, 0.5, 0.8), (0.1, 0.0, 0.2)),
    "sum": LinearCoupling(("shoulder", "elbow", "slide"), (1.0, 2.0, -1.5)),
    "rotation": Tilt(),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_and_biases_are_those_of_the_spatial_model(name):
    """Leaves are raised to space: any frames and points."""
    spatial = arm().with_constraints(CASES[name])
    planar, rng = spatial.planar(), np.random.default_rng(0)
    assert planar.nc == spatial.nc
    q, v = rng.uniform(-1.0, 1.0, 3).tolist(), rng.standard_normal(3).tolist()
    for f, given in ((constraint_error, ()), (constraint_jacobian, ()), (constraint_bias, (v,))):
        expected = np.array(f(spatial, q, *given), float)
        assert np.array(f(planar, q, *given), float) == pytest.approx(expected, abs=1e-12)
    assert len(planar.independent_rows()) == len(spatial.independent_rows())


def test_accelerations_of_a_rod_in_the_plane():
    """Compiled, with multipliers, and kept closed in runs."""
    spatial = arm().with_constraints(CASES["distance"])
    q = kt.assemble(spatial, [0.2, -0.3, 0.1])
    q = getattr(q, "q", q)
    planar = spatial.planar()
    for model in (spatial, planar):
        assert np.abs(constraint_error(model, q.tolist())).max() < 1e-9
    one, other = (kt.forward_dynamics(m, q, np.zeros(3), [0.3, 0.2, 0.1], multipliers=True) for m in (spatial, planar))
    assert one[0] == pytest.approx(other[0], rel=1e-10) and one[1] == pytest.approx(other[1], rel=1e-10)
    runs = [kt.simulate(m, q, duration=0.1, dt=1e-3) for m in (spatial, planar)]
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], abs=1e-10)


def test_a_hoop_rolls_in_the_plane():
    """a = F / (m + I / r^2), with the axle across the plane; what acts across the plane is left out."""
    b = kt.ModelBuilder("hoop")
    slides = [kt.joints.Prismatic(axis) for axis in ((1, 0, 0), (0, 0, 1))]
    joint = kt.joints.Composite((*slides, kt.joints.Revolute((0, 1, 0))))
    b.add_body("hoop", joint=joint, mass=2.0, inertia=np.diag([0.1, 0.2, 0.1]))
    hoop = b.build().with_constraints(RollingDisk("hoop", 0.5, (0, 1, 0)))
    planar = hoop.planar()
    v = [1.5, 0.0, 3.0]
    a, lam = kt.forward_dynamics(planar, [0.0, 0.5, 0.4], v, [4.0, 0.0, 0.0], multipliers=True)
    assert a == pytest.approx([4.0 / 2.8, 0.0, 4.0 / 1.4], abs=1e-12)
    assert lam == pytest.approx([2.0 * 9.81, -4.0 * 0.8 / 2.8, 0.0], abs=1e-12)
    assert kt.forward_dynamics(hoop, [0.0, 0.5, 0.4], v, [4.0, 0.0, 0.0]) == pytest.approx(a, abs=1e-12)
