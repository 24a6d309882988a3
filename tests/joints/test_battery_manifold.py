"""The manifold of positions: finite steps, their inverse, valid positions."""

import pickle

import numpy as np

from kinetree.joints.contract import Joint

from .calculus import columns, matrix


def small_enough(joint, rng, length):
    """A step whose rotations stay below half a turn, where difference is unique."""
    dv = rng.normal(size=joint.nv)
    turn = np.linalg.norm(columns(joint.motion_subspace(joint.neutral()))[:3] @ dv)  # may exceed the size of dv
    return [float(x) for x in length * dv / max(np.linalg.norm(dv), turn, 1e-300)]


def test_difference_recovers_the_step(joint, q, rng):
    """difference(q, integrate(q, dv)) = dv for steps below half a turn, also tiny and close to pi."""
    for length in (0.0, 1e-12, 1e-7, 1e-4, 0.01, 1.0, 3.1, np.pi - 1e-6):
        dv = small_enough(joint, rng, length)
        back = joint.difference(q, joint.integrate(q, dv))
        np.testing.assert_allclose(np.array(back, dtype=float), dv, rtol=0, atol=1e-13 + 1e-9 * (length > 3.14))


def test_tiny_steps_keep_their_digits(joint, rng):
    """From the neutral position, difference after a step of 1e-20 is exact to its round-off, not merely zero."""
    q = joint.neutral()
    dv = small_enough(joint, rng, 1e-20)
    back = np.array(joint.difference(q, joint.integrate(q, dv)), dtype=float)
    np.testing.assert_allclose(back, dv, rtol=1e-14, atol=1e-15 * np.abs(dv).max(initial=0.0))


def test_integrate_reaches_the_difference(joint, rng):
    """integrate(q0, difference(q0, q1)) is the position q1, compared as transforms."""
    q0, q1 = joint.random(rng), joint.random(rng)
    reached = joint.integrate(q0, joint.difference(q0, q1))
    np.testing.assert_allclose(matrix(joint.transform(reached)), matrix(joint.transform(q1)), atol=1e-12)


def test_constant_velocity_composes(joint, q, v):
    """Two half steps with the same v are one step: the curve is the exact solution for constant v."""
    half = [0.5 * x for x in v]
    twice = joint.integrate(joint.integrate(q, half), half)
    whole = joint.integrate(q, v)
    np.testing.assert_allclose(np.array(twice, dtype=float), np.array(whole, dtype=float), atol=1e-13)


def test_long_steps_compose(joint, q, v):
    """The same over many turns, where an approximation of the exponential would fail."""
    third = [10.0 * x for x in v]
    thrice = joint.integrate(joint.integrate(joint.integrate(q, third), third), third)
    whole = joint.integrate(q, [30.0 * x for x in v])
    np.testing.assert_allclose(np.array(thrice, dtype=float), np.array(whole, dtype=float), atol=1e-11)


def test_straight_steps_compose_and_have_their_rates(joint, q, v):
    """Two half steps are one; velocities change at ``straight_rate``, positions at ``q_dot``."""
    once, halfway = joint.straight_step(q, v, 1.0), joint.straight_step(q, v, 0.5)
    for found, expected in zip(joint.straight_step(*halfway, 0.5), once, strict=True):
        np.testing.assert_allclose(np.array(found, dtype=float), np.array(expected, dtype=float), atol=1e-12)
    h = 1e-6
    (q1, v1), (q0, v0) = joint.straight_step(q, v, h), joint.straight_step(q, v, -h)
    for ahead, behind, rate in ((q1, q0, joint.q_dot(q, v)), (v1, v0, joint.straight_rate(q, v))):
        slope = (np.array(ahead, dtype=float) - np.array(behind, dtype=float)) / (2.0 * h)
        np.testing.assert_allclose(slope, np.array(rate, dtype=float), atol=1e-8)


def test_straight_steps_that_turn_velocities_lead_straight_on(joint, q, v):
    """The successor's origin moves along a line at constant speed."""
    if type(joint).straight_step is not Joint.straight_step:
        start, middle, end = (joint.transform(joint.straight_step(q, v, h)[0]).r for h in (0.0, 0.5, 1.0))
        np.testing.assert_allclose([*(middle - start)], [*(end - middle)], atol=1e-12)


def test_neutral_position_is_valid_and_aligns_the_frames(joint):
    """At neutral the defect is zero and X_J = 1 (every built-in joint can align its frames)."""
    q = joint.neutral()
    assert len(q) == joint.nq
    assert [float(x) for x in joint.defect(q)] == [0.0] * len(joint.defect(q))
    np.testing.assert_allclose(matrix(joint.transform(q)), np.eye(6), atol=0)


def test_random_positions_are_valid_floats_and_differ(joint, rng):
    """random gives nq Python floats of zero defect, and not the same twice."""
    q, other = joint.random(rng), joint.random(rng)
    assert len(q) == joint.nq and all(type(x) is float for x in q)
    assert all(abs(x) < 1e-14 for x in joint.defect(q))
    assert not joint.nq or q != other


def test_normalize_repairs_a_scaled_quaternion(joint, q):
    """normalize brings the defect to zero and leaves a valid position alone."""
    np.testing.assert_allclose(np.array(joint.normalize(q), dtype=float), q, atol=4e-15)
    for defect in joint.defect(joint.normalize([1.5 * x for x in q])):
        assert abs(defect) < 1e-14


def test_defect_sees_an_invalid_quaternion(joint, q):
    """A joint has one scalar that tells for every quaternion: |1.1 p|^2 - 1 = 0.21."""
    defect = joint.defect([1.1 * x for x in q])
    assert len(defect) == joint.nq - joint.nv
    np.testing.assert_allclose(defect, [0.21] * len(defect), atol=1e-14)


def test_names_and_units_cover_the_variables(joint):
    """One label and unit per variable, and describe() shows them."""
    for names in (joint.position_names, joint.position_units):
        assert len(names) == joint.nq
    for names in (joint.velocity_names, joint.velocity_units):
        assert len(names) == joint.nv
    assert len(set(joint.position_names)) == joint.nq
    labels = zip(joint.position_names, joint.position_units, strict=True)
    assert all(f"{name} [{unit}]" in joint.describe() for name, unit in labels)


def test_a_joint_at_a_time_keeps_its_labels():
    """The joint of an instant has the coordinates of the joint, so it has their names and units, too."""
    from kinetree.joints import Cylindrical, Prescribed, Reversed, Sinusoid

    moved = Prescribed(Cylindrical(), (None, Sinusoid(0.4, 3.0)))
    for now in (moved.at(0.3), Reversed(moved).at(0.3)):
        assert (now.position_names, now.position_units) == (("angle",), ("rad",))
        assert (now.velocity_names, now.velocity_units) == (moved.velocity_names, moved.velocity_units)


def test_joints_survive_pickling(timeless):
    """A copy from a pickle is equal, with the same hash."""
    twin = pickle.loads(pickle.dumps(timeless))
    assert twin == timeless and hash(twin) == hash(timeless)


def test_joints_are_values(timeless):
    """Equal by content, hashable, immutable, and the repr rebuilds them."""
    import kinetree.joints as namespace

    twin = eval(repr(timeless), vars(namespace).copy())
    assert twin == timeless and hash(twin) == hash(timeless) and twin is not timeless
