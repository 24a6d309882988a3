"""Paths of tendons: lengths over points in frames, numbers, names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, ModelError
from kinetree.tendons import JointTerm, Pulley, ViaPoint, path_length
from kinetree.tendons.path import names_in, path_numbers, path_of

PATH = (ViaPoint("world", (0.1, 0.0, 0.2)), ViaPoint("upper", (0, 0.3, -0.1)), Pulley(2.0), ViaPoint("upper"),
        ViaPoint("lower", (0.2, 0.1, 0.0)))  # fmt: skip


@dataclass(frozen=True)
class Rubber(kt.forces.ForceElement):
    """A spring along a path."""

    name: str
    path: tuple
    stiffness: float

    def length(self, kin):
        return path_length(self.path, kin)

    def stored(self, length):
        return 0.5 * self.stiffness * length * length


def points(model, q) -> list[np.ndarray]:
    poses = {name: kt.pose(model, q, frame=name) for name in ("world", "upper", "lower")}
    vias = [part for part in PATH if isinstance(part, ViaPoint)]
    return [p + R @ np.array(via.at) for via in vias for R, p in [poses[via.frame]]]


def test_points_given_in_frames():
    """The length is the sum of the distances of points, divided in the branch of a pulley."""
    model = kt.models.double_pendulum()
    q = np.array([0.4, -0.7])
    a, b, c, d = points(model, q)
    expected = np.linalg.norm(b - a) + np.linalg.norm(d - c) / 2.0
    assert float(path_length(PATH, kt.constraints.Kinematics(model, q.tolist()))) == pytest.approx(expected, rel=1e-14)


def test_forces_and_constraints_have_the_same_length():
    """The energy of a spring along a path is that of its length; the row of a constraint is the length's gradient."""
    model = kt.models.double_pendulum()
    q = np.array([0.4, -0.7])
    with kt.interpreted():
        spring = model.with_forces(Rubber("rubber", PATH, 3.0))
        L = np.sqrt(2.0 * kt.dynamics.elastic_energy(spring, q) / 3.0)
        held = model.with_constraints(kt.constraints.TendonLength(PATH, reference=1.0))
        assert kt.closed_loops.error(held, q)[0] + 1.0 == pytest.approx(L, rel=1e-14)
        tau = kt.dynamics.passive_joint_forces(spring, q, np.zeros(2))
        assert tau == pytest.approx(-3.0 * L * kt.closed_loops.jacobian(held, q)[0], rel=1e-13)


def test_numbers_of_the_points_are_inputs():
    """Coordinates of points, coefficients and divisors are numbers of the model by name, zeros are structure."""
    model = kt.models.double_pendulum().with_forces(Rubber("rubber", PATH, 3.0))
    numbers = model.numbers().as_dict()
    assert numbers["rubber.path.1.at.1"] == 0.3 and numbers["rubber.path.2.divisor"] == 2.0
    moved = path_of("path", (PATH[0], ViaPoint("upper", (0.0, 0.5, -0.1)), *PATH[2:]))
    other = kt.models.double_pendulum().with_forces(Rubber("rubber", moved, 3.0))
    f = kt.compile(model, "passive_joint_forces").with_parameters({"rubber.path.1.at.1": 0.5})
    q, v = np.array([0.4, -0.7]), np.zeros(2)
    with kt.interpreted():
        expected = kt.dynamics.passive_joint_forces(other, q, v)
    assert f(q, v) == pytest.approx(expected, rel=1e-12)


def test_names_follow_the_model():
    """Frames of a path are checked, and renamed with the model."""
    model = kt.models.double_pendulum().with_forces(Rubber("rubber", PATH, 3.0))
    renamed = kt.surgery.rename(model, bodies={"upper": "thigh"})
    assert names_in(renamed.forces[0].path, "frame") == ("world", "thigh", "lower") == renamed.forces[0].frames
    with pytest.raises(kt.errors.UnknownNameError, match="tibia"):
        kt.models.double_pendulum().with_forces(Rubber("r", (ViaPoint("world"), ViaPoint("tibia")), 1.0))


def test_coinciding_points_have_a_finite_gradient():
    """Where points meet, the length is zero, its gradient and the force too: no NaN."""
    path = (ViaPoint("world"), ViaPoint("upper"))  # which is at the origin
    model = kt.models.double_pendulum().with_forces(Rubber("rubber", path, 3.0))
    with kt.interpreted():
        assert kt.dynamics.passive_joint_forces(model, [0.3, 0.1], [0.0, 0.0]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ((), ModelError, "expected joint terms alone"),
        ((ViaPoint("a"),), ModelError, "fewer than two points"),
        ((ViaPoint("a"), ViaPoint("b"), Pulley(2.0), ViaPoint("c")), ModelError, "fewer than two points"),
        ((ViaPoint("a"), ViaPoint("b"), Pulley(0.0), ViaPoint("b"), ViaPoint("c")), ModelError, "divisor is 0.0, exp"),
        ((ViaPoint("a"), JointTerm("b", 1.0)), ModelError, "joint terms alone"),
        ((JointTerm("b", float("nan")),), ArgumentError, "finite number"),
        (("a", "b"), ModelError, "has the part 'a'"),
    ],
)  # fmt: skip
def test_impossible_paths_are_refused(path, error, message):
    """By name, with the value found and the values expected."""
    with pytest.raises(error, match=message):
        path_of("tendon 'cord': path", path)


def test_points_are_three_numbers():
    """Of a point in a frame."""
    with pytest.raises(ArgumentError, match="three coordinates"):
        ViaPoint("a", (0.0, 1.0))
    with pytest.raises(ArgumentError, match="'a'"):
        ViaPoint("a", (0.0, 1.0, float("nan")))
    assert path_numbers((ViaPoint("a", (0, 1, 2)),), "path") == {"path.0.at.0": 0, "path.0.at.1": 1, "path.0.at.2": 2}
