"""The reduced system of mechanisms with loops: null space, mass matrix, Jacobians, and forward dynamics by it."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_jacobian
from kinetree.errors import ConstraintError, SingularityError, UnknownNameError, UnsupportedError
from kinetree.spatial.scalar import sin

MECHANISMS = [("spatial", 3), ("spatial", 6), ("planar", 5), ("spherical", 8)]
METHODS = ("null_space", "partitioning", "pseudovelocities")


@pytest.fixture(scope="module", params=MECHANISMS, ids=lambda each: each[0] + str(each[1]))
def mechanism(request):
    """A random mechanism with one or two loops, and its state."""
    family, seed = request.param
    return kt.models.random_loops(seed, bodies=7, loops=1 + seed % 2, family=family)


def test_the_rates_of_a_four_bar_are_the_published_ones():
    """d coupler / d crank and d rocker / d crank, effective inertia and potential of the table of problem 1.10."""
    for angle, coupler, rocker, inertia in (
        (0.3, -0.468072417235, -0.294533037117, 2.112520225162),
        (1.0, -0.212959656108, 0.195361739317, 2.185840715920),
        (2.0, 0.035628495585, 0.405633102362, 4.227136696617),
    ):
        model = kt.models.four_bar(angle=angle)
        q, v = model.keyframe("initial")
        G = kt.closed_loops.null_space(model, q, independent="crank")
        assert G[:, 0] == pytest.approx([1.0, coupler - 1.0, rocker], abs=2e-12)
        M = kt.closed_loops.reduced_mass_matrix(model, q, independent="crank")
        assert M[0, 0] == pytest.approx(inertia, abs=2e-12)


def test_the_null_space_has_the_velocities_that_rows_allow(mechanism):
    """K G = 0, unit rows at the independent velocities, and v = G y of any v that is allowed."""
    model, q, v = mechanism
    G, free = kt.closed_loops.null_space(model, q), list(model.independent_velocities())
    assert G.shape == (model.nv, model.ny) and model.ny == model.nv - len(model.independent_rows())
    assert np.abs(np.array(constraint_jacobian(model, q.tolist())) @ G).max() < 1e-11 * np.abs(G).max()
    assert G[free].tolist() == np.eye(model.ny).tolist()
    assert G @ v[free] == pytest.approx(v, abs=1e-10)


def test_the_equation_of_motion_in_independent_velocities(mechanism):
    """Energy; G^T rnea; accelerations of the whole tree; the regressor; the twist of the last body."""
    model, q, v = mechanism
    free, rng = list(model.independent_velocities()), np.random.default_rng(0)
    G, M = kt.closed_loops.null_space(model, q), kt.closed_loops.reduced_mass_matrix(model, q)
    assert v[free] @ M @ v[free] / 2 == pytest.approx(kt.kinetic_energy(model, q, v))
    y = rng.standard_normal(model.ny)
    a = kt.closed_loops.accelerations(model, q, v, y)
    assert a[free] == pytest.approx(y)
    tau = kt.inverse_dynamics(model, q, v, a)  # refuses accelerations that open a loop
    assert kt.forward_dynamics(model, q, v, tau) == pytest.approx(a, rel=1e-8, abs=1e-9 * np.abs(a).max())
    h = kt.closed_loops.reduced_bias_forces(model, q, v)
    force = G.T @ kt.rnea(model, q, v, a)
    assert M @ y + h == pytest.approx(force, rel=1e-9, abs=1e-9 * np.abs(force).max())
    Y = kt.closed_loops.reduced_regressor(model, q, v, y)
    of_bodies = Y @ kt.identify.inertial_parameters(model) + G.T @ (model.armature * a)
    assert of_bodies == pytest.approx(force, rel=1e-9, abs=1e-8 * np.abs(force).max())
    frame = {"frame": model.body_names[-1], "reference": "local"}
    J = kt.closed_loops.reduced_jacobian(model, q, **frame)
    assert J @ v[free] == pytest.approx(kt.velocity(model, q, v, **frame), abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_forward_dynamics_agree(mechanism, method):
    """With multipliers, to 1e-9 of the largest acceleration."""
    model, q, v = mechanism
    tau = np.random.default_rng(1).standard_normal(model.nv)
    expected = kt.forward_dynamics(model, q, v, tau)
    assert kt.forward_dynamics(model, q, v, tau, method=method) == pytest.approx(
        expected, rel=1e-9, abs=1e-9 * np.abs(expected).max()
    )


def with_flywheel():
    """A four-bar and a body that turns by itself."""
    b = kt.ModelBuilder.of(kt.models.four_bar())
    b.add_body("flywheel", joint=kt.joints.Revolute(), joint_name="flywheel", mass=2.0, inertia=np.eye(3) * 0.3)
    return b.build()


@pytest.mark.parametrize("method", METHODS)
def test_couplings_and_prescribed_motions_are_part_of_all_methods(method):
    """A flywheel geared to the crank, and a crank that moves as given."""
    bar = kt.models.four_bar()
    model = with_flywheel().with_constraints(kt.constraints.Coupling("flywheel", "crank", -2.0))
    q, v = bar.keyframe("initial")[0], np.zeros(4)
    assert model.ny == 1
    expected = kt.forward_dynamics(model, [*q, -2.0 * q[0]], v, v)
    assert expected[3] == pytest.approx(-2.0 * expected[0]) and abs(expected[0]) > 0.1
    assert kt.forward_dynamics(model, [*q, -2.0 * q[0]], v, v, method=method) == pytest.approx(expected, rel=1e-10)
    driven = bar.with_constraints(kt.constraints.PrescribedMotion("crank", lambda t: 1.0 + 0.3 * sin(2.0 * t)))
    G, zero = kt.closed_loops.null_space(bar, q, independent="crank")[:, 0], np.zeros(3)
    a = kt.forward_dynamics(driven, q, 0.6 * G, zero, t=0.0)
    assert driven.ny == 0 and a[0] == pytest.approx(0.0, abs=1e-12) and abs(a[1]) > 1e-3
    assert kt.forward_dynamics(driven, q, 0.6 * G, zero, t=0.0, method=method) == pytest.approx(a, abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_trees_need_no_constraints(method):
    """Without rows all methods are those of the mass matrix."""
    model = kt.models.puma_like()
    q, v, tau = np.full(6, 0.3), np.ones(6), np.arange(6.0)
    assert kt.forward_dynamics(model, q, v, tau, method=method) == pytest.approx(kt.aba(model, q, v, tau), rel=1e-9)
    assert kt.closed_loops.null_space(model, q).tolist() == np.eye(6).tolist()


@pytest.mark.parametrize(
    "name, expected",
    [
        ("four_bar", ["crank"]),
        ("slider_crank", ["crank"]),
        ("stewart_platform", [f"prismatic{k}" for k in range(1, 7)]),
        ("delta_robot", ["arm1", "arm2", "arm3"]),
    ],
)
def test_the_independent_velocities_are_those_of_usual_motors(name, expected):
    """Joints of one freedom, from the root outward, where they determine the others well."""
    model = getattr(kt.models, name)()
    assert [model.velocity_labels[k] for k in model.independent_velocities()] == expected


def test_planar_models_and_batches():
    """The same four-bar in the planar algebra, at several positions in one call."""
    model = kt.models.four_bar()
    states = [kt.models.four_bar(angle=angle).keyframe("initial")[0] for angle in (0.3, 1.0, 2.0)]
    flat, Q = model.planar(), np.stack(states)
    M = kt.closed_loops.reduced_mass_matrix(model, Q, independent="rocker")
    assert kt.closed_loops.reduced_mass_matrix(flat, Q, independent="rocker") == pytest.approx(M, rel=1e-12)
    for q, one in zip(Q, M, strict=True):
        assert kt.closed_loops.reduced_mass_matrix(model, q, independent="rocker") == pytest.approx(one, rel=1e-14)


def test_wrong_choices_of_independent_velocities_are_named():
    """Too many, unknown, coupled to each other by the loops, and singular at one position alone."""
    model = kt.models.four_bar()
    q, _ = model.keyframe("initial")
    with pytest.raises(ConstraintError, match=r"2 velocities \(crank, rocker\), expected 1"):
        kt.closed_loops.null_space(model, q, independent=["crank", "rocker"])
    with pytest.raises(UnknownNameError, match="knee"):
        kt.closed_loops.null_space(model, q, independent=["knee"])
    with pytest.raises(ConstraintError, match="relate crank, rocker to each other"):
        kt.closed_loops.null_space(with_flywheel(), [*q, 0.0], independent=["crank", "rocker"])
    # Crank and coupler in line: the rocker's rate does not determine theirs.
    cosine = (3.0**2 + 4.0**2 - 2.5**2) / (2 * 3.0 * 4.0)
    dead = np.array([np.arccos(cosine), 0.0, 0.0])
    tip = 4.0 * np.array([np.cos(dead[0]), np.sin(dead[0])]) - [3.0, 0.0]
    dead[2] = np.arctan2(tip[1], tip[0])
    with pytest.raises(SingularityError, match="chosen as independent do not determine"):
        kt.closed_loops.null_space(model, dead, independent=["rocker"])
    assert kt.closed_loops.null_space(model, dead, independent=["crank"])[2, 0] == pytest.approx(0.0, abs=1e-12)


def test_bounded_rows_are_left_to_multipliers():
    """Friction that sticks has no place in methods without multipliers."""
    model = kt.models.cart_pole().replace(dry_friction=1.0).with_constraints(kt.constraints.StickingFriction())
    with pytest.raises(UnsupportedError, match="bounded forces"):
        kt.forward_dynamics(model, np.zeros(2), np.zeros(2), np.zeros(2), method="null_space")
