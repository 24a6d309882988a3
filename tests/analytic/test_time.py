"""Closed forms of mechanisms that are moved: Kapitza's pendulum, turntables, trains; and their simulation."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import SimulationError
from kinetree.joints import Free, MovingFrame, Planar, Polynomial, Prescribed, Prismatic, Revolute, Sinusoid, Spherical
from kinetree.simulation.summary import energy_summary
from kinetree.spatial.scalar import cos, exp, sin
from tests.identities.systems import close

g, L, M = 9.81, 0.7, 2.0


def pendulum(x=0.0, z=0.0):
    """A point mass on a rod that hangs on a pivot at (x(t), z(t)), free to swing about y."""
    b = kt.ModelBuilder("pendulum")
    b.add_body("pivot", "world", MovingFrame((x, 0.0, z)), "drive")
    b.add_body("bob", "pivot", Revolute((0, 1, 0)), "hinge", mass=M, com=(0.0, 0.0, -L), inertia=(0.0, 0.0, 0.0))
    return b.build()


@pytest.mark.parametrize("axis", "xz")
def test_pendulum_on_a_shaken_pivot(axis):
    """q'' = -((g + z'') sin q + x'' cos q ...) / L for a pivot at (x, z), q from the vertical, turning towards -x."""
    A, w = 0.05, 40.0
    model = pendulum(**{axis: Sinusoid(A, w)})
    rng = np.random.default_rng(0)
    t, q, v, tau = rng.uniform(0.0, 3.0, 40), *rng.normal(size=(3, 40))
    second = -A * w**2 * np.sin(w * t)
    x2, z2 = (second, 0.0) if axis == "x" else (0.0, second)
    # The bob is at (x - L sin q, z - L cos q): L q'' = x'' cos q - (g + z'') sin q.
    expected = (x2 * np.cos(q) - (g + z2) * np.sin(q)) / L + tau / (M * L**2)
    found = kt.aba(model, q[:, None], v[:, None], tau[:, None], t)[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(kt.rnea(model, q[:, None], v[:, None], found[:, None], t)[:, 0], tau, atol=1e-12)


@pytest.mark.parametrize("amplitude, stays", [(0.04, True), (0.02, False)])
def test_kapitza_pendulum_stands_upright_if_shaken_enough(amplitude, stays):
    """Upright is stable if (A w)^2 > 2 g L (Kapitza, 1951): here A w = 5.2 and 2.6 m/s against 3.7 m/s."""
    w = 130.0
    assert ((amplitude * w) ** 2 > 2 * g * L) is stays
    run = kt.simulate(pendulum(z=Sinusoid(amplitude, w)), [np.pi - 0.1], duration=3.0, dt=5e-4, integrator="rk4")
    assert bool(np.abs(run.q[:, 0] - np.pi).max() < 0.5) is stays


def test_energy_balance_knows_what_the_pivot_does():
    """T + U of the shaken pendulum changes by the work of the drive, to the error of the sums over the samples."""
    run = kt.simulate(pendulum(z=Sinusoid(0.04, 30.0)), [0.9], duration=1.9, dt=2e-4, integrator="rk4")
    balance = energy_summary(run)
    assert abs(balance.change) > 0.01 and not balance.is_conservative
    assert abs(balance.unexplained) < 1e-5  # of trapezoids of 30 rad/s with 2e-4 s: (w dt)^2 / 12 of joules


def test_integrators_agree_on_a_shaken_pendulum():
    """Fixed steps of order 4 reach the adaptive solution at their order; rollouts take the same steps as simulate."""
    model = pendulum(x=Sinusoid(0.1, 9.0))
    end = kt.simulate(model, [0.4], duration=1.0, dt=0.01, integrator="adaptive").q[-1, 0]
    errors = []
    for dt in (0.02, 0.01):
        run = kt.simulate(model, [0.4], duration=1.0, dt=dt, integrator="rk4")
        errors.append(abs(run.q[-1, 0] - end))
    assert errors[1] < 2e-7 and 10.0 < errors[0] / errors[1] < 25.0
    for integrator in ("rk4", "semi_implicit"):
        run = kt.simulate(model, [0.4], duration=1.0, dt=0.01, integrator=integrator)
        q, v = kt.rollout(model, [0.4], None, None, 0.01, steps=100, integrator=integrator)
        close(q, run.q, ulps=1e5)
        with kt.interpreted():
            close(kt.rollout(model, [0.4], None, None, 0.01, steps=100, integrator=integrator)[1], v)


def test_rollouts_begin_at_their_own_times():
    """A batch of starting times gives the motions of pendulums whose drives are ahead by these times."""
    late = np.array([0.0, 0.3, 1.1])
    q, _ = kt.rollout(pendulum(x=Sinusoid(0.1, 9.0)), [0.4], None, None, 0.01, steps=50, t0=late)
    for row, t0 in zip(q, late, strict=True):
        ahead = pendulum(x=Sinusoid(0.1, 9.0, phase=9.0 * t0))
        close(row, kt.rollout(ahead, [0.4], None, None, 0.01, steps=50)[0], ulps=1e6)
    with pytest.raises(SimulationError, match="does not depend on time"):
        kt.rollout(kt.models.pendulum(), [0.4], None, None, 0.01, steps=5, t0=1.0)


def test_puck_on_a_turntable_feels_centrifugal_and_coriolis_forces():
    """On a table that turns with w(t): a = 2 w (y', -x') + w^2 (x, y) + w' (y, -x), in the table's axes."""
    angle = Polynomial((0.2, 1.3, 0.4))
    b = kt.ModelBuilder("turntable", gravity=(0.0, 0.0, 0.0))
    b.add_body("table", "world", MovingFrame(axes="z", angles=(angle,)), "motor")
    b.add_body("slide", "table", Prismatic((1, 0, 0)), "x")
    b.add_body("puck", "slide", Prismatic((0, 1, 0)), "y", mass=M, com=(0.0, 0.0, 0.0), inertia=(1e-3, 1e-3, 1e-3))
    model, t = b.build(), 0.9
    (x, y), (dx, dy) = q, v = np.array([0.3, -0.5]), np.array([1.1, 0.7])
    w, dw = 1.3 + 0.8 * t, 0.8
    expected = [2 * w * dy + w**2 * x + dw * y, -2 * w * dx + w**2 * y - dw * x]
    np.testing.assert_allclose(kt.aba(model, q, v, np.zeros(2), t), expected, rtol=1e-13)


def test_a_free_puck_runs_straight_whatever_the_table_does():
    """Without forces the puck's path in the world is a straight line, with the table as its frame of reference."""
    b = kt.ModelBuilder("turntable", gravity=(0.0, 0.0, 0.0))
    table = MovingFrame((Sinusoid(0.3, 2.0), 0.0, 0.1), "zx", (Polynomial((0.0, 2.0)), 0.3))
    b.add_body("table", "world", table, "motor")
    b.add_body("puck", "table", Free(), "free", mass=M, com=(0.0, 0.0, 0.0), inertia=(0.01, 0.02, 0.025))
    model = b.build()
    v0 = np.array([0.3, -0.2, 0.5, 0.4, 0.2, -0.1])
    run = kt.simulate(model, model.neutral(), v0, duration=1.5, dt=0.01, integrator="adaptive")
    _, p = kt.forward_kinematics(model, run.q, run.time)
    path = p[:, model.body("puck")]
    line = path[0] + np.outer(run.time / run.time[-1], path[-1] - path[0])
    np.testing.assert_allclose(path, line, atol=1e-8)
    h = kt.momentum(model, run.q, run.v, run.time)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-8)


def test_a_train_that_runs_evenly_changes_nothing():
    """Galilei: on a frame at constant velocity forces and inertias are those at rest."""
    arm = kt.models.random_tree(5, seed=3, joints=[Revolute((1, 2, 2)), Spherical(), Planar()])
    b = kt.ModelBuilder.of(arm)
    train = MovingFrame((Polynomial((1.0, 30.0)), Polynomial((0.0, -7.0)), 0.0))
    b.add_body("train", "world", train, "track", mass=1.0, com=(0.0, 0.0, 0.0), inertia=(1.0, 1.0, 1.0))
    for body in b._bodies.values():
        if body.parent == "world" and body.name != "train":
            body.parent = "train"
    moving = b.build(merge_fixed=False)
    rng = np.random.default_rng(5)
    q, v, a = arm.random_q(rng), *rng.normal(size=(2, arm.nv))
    order = np.concatenate([np.arange(arm.nv)[arm.v_slice[arm.joint(moving.joint_name(i))]] for i in moving.outward()
                            if moving.joint_name(i) != "track"])  # fmt: skip
    assert np.array_equal(order, np.arange(arm.nv))
    with kt.interpreted():
        close(kt.rnea(moving, q, v, a, 2.0), kt.rnea(arm, q, v, a), ulps=1e6)
        close(kt.crba(moving, q, 2.0), kt.crba(arm, q))


def test_functions_of_a_users_own_are_differentiated():
    """Any callable over scalars drives a joint: exp(-t) sin(t^2), whose rates are found without being given."""

    def chirp(t):
        return exp(-t) * sin(t * t)

    b = kt.ModelBuilder("cart")
    b.add_body("cart", "world", Prescribed(Prismatic((1, 0, 0)), chirp), "track")
    b.add_body("bob", "cart", Revolute((0, 1, 0)), "hinge", mass=M, com=(0.0, 0.0, -L), inertia=(0.0, 0.0, 0.0))
    model, t, h = b.build(), 0.8, 1e-4
    x = np.exp(-(t + h * np.arange(-2, 3))) * np.sin((t + h * np.arange(-2, 3)) ** 2)
    second = np.dot((-1, 16, -30, 16, -1), x) / (12 * h**2)  # error about eps / h^2 = 2e-8
    found = kt.aba(model, [0.6], [0.3], [0.0], t)[0]
    np.testing.assert_allclose(found, (second * np.cos(0.6) - g * np.sin(0.6)) / L, atol=2e-7)


def test_two_functions_of_a_users_own_are_two():
    """Machine code of one is never taken for the other, though both are made alike, one after the other."""
    found = []
    for k in (1.0, 2.0, 3.0):
        model = pendulum(x=lambda t, k=k: k * cos(t))
        found.append(float(kt.aba(model, [0.0], [0.0], [0.0], 0.0)[0] * L))
        del model
    np.testing.assert_allclose(found, [-1.0, -2.0, -3.0], rtol=1e-12)
