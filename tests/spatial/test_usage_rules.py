"""The rules for using spatial vectors (Featherstone, section 2.7), held against particles and their Newton's laws."""

import numpy as np
import pytest

from kinetree.liegroup import se3
from kinetree.spatial import AccelerationField, Force, Inertia, Motion, Symmetric3, Vector3

from . import samples
from .samples import close

RNG = np.random.default_rng(27)
STEP = 1e-4  # central differences: truncation and rounding stay below 1e-7 for quantities of order ten


def particles(n=5):
    """(mass, position) of the particles of a rigid cloud."""
    return [(float(m), samples.vector(RNG)) for m in RNG.uniform(0.5, 2.0, n)]


def inertia_of(cloud):
    return sum((Inertia.from_com(m, p, Symmetric3.zero()) for m, p in cloud), start=Inertia.zero())


def momentum_of(cloud, velocity_at):
    """Sum of m v and of p x m v over the particles."""
    return sum((Force.at_point(velocity_at(p) * m, p) for m, p in cloud), start=Force.zero())


def carried(v, a, p, t):
    """Where a particle of a body with velocity v and acceleration a is after a short time t, to second order."""
    return p + v.velocity_at(p) * t + AccelerationField.from_spatial(v, a).at(p) * (t * t / 2.0)


def test_relative_velocity():
    """v_rel = v_2 - v_1: the distance between points of two bodies changes as the field of v_rel says."""
    v1, v2, p = samples.motion(RNG), samples.motion(RNG), samples.vector(RNG)
    assert close((v2 - v1).velocity_at(p), v2.velocity_at(p) - v1.velocity_at(p))
    X = samples.transform(RNG)
    assert close(X @ v2 - X @ v1, X @ (v2 - v1))  # whoever looks on


def test_rigid_connection():
    """Bodies keep their distances if and only if their velocities are the same."""
    v, other = samples.motion(RNG), samples.motion(RNG)
    pairs = [(samples.vector(RNG), samples.vector(RNG)) for _ in range(6)]

    def stretching(v1, v2):  # d|p2 - p1|^2 / 2dt
        return np.array([(p2 - p1).dot(v2.velocity_at(p2) - v1.velocity_at(p1)) for p1, p2 in pairs])

    assert close(stretching(v, v), np.zeros(6))
    lengths = np.array([Force.at_point(p2 - p1, p1).array() for p1, p2 in pairs])  # six lines of sight
    assert np.linalg.matrix_rank(lengths) == 6
    assert close(np.linalg.solve(lengths, stretching(v, other)), other - v, k=1e5)  # condition of some hundred


def test_summation_of_forces():
    """f_1 + f_2 does to a body what both do: equal power on every motion, equal acceleration."""
    I, v = samples.inertia(RNG), samples.motion(RNG)
    f1, f2 = (Force.at_point(samples.vector(RNG), samples.vector(RNG)) for _ in range(2))
    assert np.isclose((f1 + f2).dot(v), f1.dot(v) + f2.dot(v), rtol=1e-13, atol=1e-13)
    assert close(I.inverse_apply(f1 + f2), I.inverse_apply(f1) + I.inverse_apply(f2), k=1e4)


def test_action_and_reaction():
    """f on the one body and -f on the other leave the total momentum alone and do work on the relative motion only."""
    bodies, v = [samples.inertia(RNG) for _ in range(2)], [samples.motion(RNG) for _ in range(2)]
    f = samples.force(RNG)
    rates = []
    for I, v_i, f_i in zip(bodies, v, (-f, f), strict=True):
        a = I.inverse_apply(f_i - v_i.cross(I @ v_i))
        rates.append(I @ a + v_i.cross(I @ v_i))
    assert close(rates[0] + rates[1], np.zeros(6), k=1e5)  # moments of a few hundred before they cancel
    assert np.isclose((-f).dot(v[0]) + f.dot(v[1]), f.dot(v[1] - v[0]), rtol=1e-12)


def test_power():
    """f . v is the sum of force times velocity over the points where the forces act."""
    v = samples.motion(RNG)
    forces = [(samples.vector(RNG), samples.vector(RNG)) for _ in range(4)]
    total = sum((Force.at_point(f, p) for f, p in forces), start=Force.zero())
    assert np.isclose(total.dot(v), sum(f.dot(v.velocity_at(p)) for f, p in forces), rtol=1e-13)


@pytest.mark.parametrize("alpha", [0.3, -2.0])
def test_scaling(alpha):
    """A velocity v makes in alpha units of time the movement that alpha v makes in one."""
    v = samples.motion(RNG)
    quarter = se3.exp_se3(v * (alpha / 4.0))
    assert close((quarter @ quarter @ quarter @ quarter).matrix(), se3.exp_se3(v * alpha).matrix())


def test_summation_of_inertias():
    """I_1 + I_2 of bodies that are one: kinetic energy and momentum are those of all particles."""
    first, second, v = particles(), particles(), samples.motion(RNG)
    I = inertia_of(first) + inertia_of(second)
    energy = sum(m * v.velocity_at(p).dot(v.velocity_at(p)) / 2.0 for m, p in first + second)
    assert np.isclose(I.kinetic_energy(v), energy, rtol=1e-13)
    assert close(I @ v, momentum_of(first + second, v.velocity_at))


def test_momentum():
    """I v is the momentum, linear and angular, of the particles (eq. 2.58-2.61)."""
    cloud, v = particles(), samples.motion(RNG)
    assert close(inertia_of(cloud) @ v, momentum_of(cloud, v.velocity_at))


def test_equation_of_motion():
    """d(I v)/dt = I a + v x* I v is the force: the particles' momentum, differentiated along their paths."""
    cloud, v, a = particles(), samples.motion(RNG), samples.motion(RNG)

    def momentum(t):  # velocities are differences of positions, so that nothing of the algebra enters but the path
        now = [carried(v, a, p, t) for _, p in cloud]
        soon, late = ([carried(v, a, p, t + h) for _, p in cloud] for h in (STEP, -STEP))
        moving = zip(cloud, now, soon, late, strict=True)
        return sum((Force.at_point((s - l) * (m / (2.0 * STEP)), p) for (m, _), p, s, l in moving), Force.zero())

    rate = (momentum(STEP).array() - momentum(-STEP).array()) / (2.0 * STEP)
    I = inertia_of(cloud)
    assert np.allclose((I @ a + v.cross(I @ v)).array(), rate, rtol=1e-6, atol=1e-6)


def test_uniqueness():
    """Different velocities move some point differently; different forces do different work on some motion."""
    points = [Vector3.zero(), Vector3.unit(0), Vector3.unit(1)]
    field = np.array([[x for p in points for x in Motion.of(e).velocity_at(p)] for e in np.eye(6)])
    assert np.linalg.matrix_rank(field) == 6
    power = np.array([[Force.of(e).dot(Motion.of(d)) for d in np.eye(6)] for e in np.eye(6)])
    assert np.array_equal(power, np.eye(6))


def test_accelerations_add_as_velocities_do():
    """a_rel = a_2 - a_1 (eq. 2.51): no Coriolis term, which classical accelerations do need.

    Body 1 turns and travels at a constant velocity w, body 2 moves on it at a constant velocity u: in fixed coordinates
    v_rel is carried along, so a_rel = w x u. Points of body 2 are differentiated along their actual paths.
    """
    w, u, p = samples.motion(RNG), samples.motion(RNG), samples.vector(RNG)

    def path(t):  # poses are inverses of coordinate transforms
        return (se3.exp_se3(u * t) @ se3.exp_se3(w * t)).inverse_apply_point(p).array()

    acceleration = (path(STEP) - 2.0 * path(0.0) + path(-STEP)) / STEP**2
    a1, a_rel = Motion.zero(), w.cross(u)
    body2 = AccelerationField.from_spatial(w + u, a1 + a_rel)
    assert np.allclose(body2.at(p).array(), acceleration, atol=1e-6)  # h^2 + eps / h^2, times ten
    on_body1 = AccelerationField.from_spatial(u, Motion.zero()).at(p)  # what an observer on body 1 measures
    classical = AccelerationField.from_spatial(w, a1).at(p) + on_body1
    coriolis = w.angular.cross(u.velocity_at(p)) * 2.0
    assert close(body2.at(p) - classical, coriolis)
    assert np.max(np.abs(coriolis.array())) > 0.1
