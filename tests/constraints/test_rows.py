"""Errors, Jacobian and bias of all constraints as public quantities, against the motion that they describe."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt


@pytest.fixture(scope="module")
def machine():
    """A four-bar with a rod to the ground, a disk, and gears."""
    return kt.models.rolling_disk(), kt.models.slider_crank()


def test_rows_describe_the_motion(machine):
    """K v is the rate of the errors, K a + bias is zero in any motion; batches, and compiled as interpreted."""
    h = 1e-6
    for model in machine:
        q, v = model.keyframe("initial")
        K, bias = kt.closed_loops.jacobian(model, q), kt.closed_loops.bias(model, q, v)
        assert K.shape == (model.nc, model.nv) and K @ v == pytest.approx(0.0, abs=1e-9)
        a = kt.forward_dynamics(model, q, v, np.zeros(model.nv))
        assert K @ a + bias == pytest.approx(0.0, abs=1e-8)
        dv = np.random.default_rng(0).standard_normal(model.nv)
        moved = np.array([kt.integrate(model, q, s * dv) for s in (h, -h)])
        errors = kt.closed_loops.error(model, moved)
        held = [x for c in model.constraints for x in c.position_level(model)]
        assert ((errors[0] - errors[1]) / (2 * h))[held] == pytest.approx((K @ dv)[held], abs=1e-7)
        with kt.interpreted():
            assert kt.closed_loops.jacobian(model, q) == pytest.approx(K, abs=1e-13)


def test_rows_of_models_with_given_motions_take_the_time():
    """As the last input."""
    swing = kt.constraints.PrescribedMotion("elbow", kt.joints.Sinusoid(0.3, 2.0))
    arm, t = kt.models.double_pendulum().with_constraints(swing), 0.4
    assert kt.closed_loops.error(arm, [0.1, 0.5], t) == pytest.approx([0.5 - 0.3 * np.sin(2 * t)])
    assert kt.closed_loops.bias(arm, [0.1, 0.5], [0.0, 0.0], t) == pytest.approx([1.2 * np.sin(2 * t)])
    assert kt.closed_loops.jacobian(arm, [0.1, 0.5], t).tolist() == [[0.0, 1.0]]


def test_rows_of_a_long_chain_are_chosen_in_seconds():
    """32 parallelograms with common cranks, 65 joints in one group: 64 rows; a closed form of their motion."""
    n, angle = 32, 0.4
    model = kt.models.four_bar_chain(n, angle=angle)
    assert len(model.loop_rows().coordinates) == 2 * n and model.loop_rows().gap < 1e-9
    q, v = model.keyframe("initial")
    with kt.interpreted():
        a = kt.forward_dynamics(model, q, 0.0 * v, np.zeros(model.nv))
    # All cranks turn alike, couplers shift: n + 1 rods about their ends, n at the tips.
    expected = 9.81 * np.sin(angle) * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    cranks = np.concatenate([a[model.v_index(f"crank{k}")] for k in range(n + 1)])
    assert np.abs(cranks) == pytest.approx(expected, rel=1e-9)


def crank_and_rocker(x: float):
    """A four-bar of thin rods of 1, 3 and 2.5 m, 3 m apart on a ground at x."""
    b, shift = kt.ModelBuilder("bars", gravity=(0.0, -9.81, 0.0)), kt.spatial.Transform.shift
    rods = {"crank": ("world", x, 1.0), "coupler": ("crank", 1.0, 3.0), "rocker": ("world", x + 3.0, 2.5)}
    for name, (parent, at, length) in rods.items():
        thin = np.diag([0.0, 1.0, 1.0]) * length**2 / 12.0
        placement, com = shift(kt.spatial.Vector3(at, 0.0, 0.0)), (length / 2, 0.0, 0.0)
        b.add_body(name, parent, kt.joints.Revolute(), name, placement, mass=1.0, com=com, inertia=thin)
    ends = [shift(kt.spatial.Vector3(length, 0.0, 0.0)) for length in (3.0, 2.5)]
    return b.build().with_constraints(
        kt.constraints.LoopJoint("closure", kt.joints.Revolute(), "coupler", "rocker", *ends)
    )


def test_rows_do_not_depend_on_where_a_mechanism_stands():
    """A four-bar of some meters, 10 km from the world's origin: the same rows, of the same sizes."""
    q, tau = kt.models.four_bar().keyframe("initial")[0], np.array([1.0, 2.0, 3.0])
    near, far = crank_and_rocker(0.0), crank_and_rocker(1e4)
    assert len(far.loop_rows().kept) == 2 and far.loop_rows().kept == near.loop_rows().kept
    for n, size in near.loop_rows().natural.items():
        assert far.loop_rows().natural[n] == pytest.approx(size, rel=1e-9)
    with kt.interpreted():
        a = kt.forward_dynamics(near, q, np.zeros(3), tau)
        assert kt.forward_dynamics(far, q, np.zeros(3), tau) == pytest.approx(a, rel=1e-9)
