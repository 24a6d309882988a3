"""Stiff springs, dampers, stops, friction: what implicit methods are for, and what they say when they fail."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.integrators import FIXED_STEP, System
from kinetree.integrators.linearly_implicit import LinearlyImplicit, linearly_implicit_acceleration
from kinetree.joints import Prismatic, Revolute, Spherical
from tests.integrators.test_implicit_orders import ORDERS

IMPLICIT = tuple(ORDERS)


def stiff_pendulum(stiffness=1e6, damping=0.0):
    """A double pendulum whose second joint holds by a spring of 1e6 N m/rad."""
    model = kt.models.double_pendulum()
    return model.replace(stiffness=[0.0, stiffness], damping=[0.0, damping])


@pytest.mark.parametrize("name", IMPLICIT)
def test_a_stiff_spring_does_not_explode(name):
    """h = 2 ms, a vibration of less than 1 ms: implicit methods move as the rigid body does, to 1e-2 rad after 1 s."""
    rigid = kt.surgery.lock(kt.models.double_pendulum(), {kt.models.double_pendulum().joint_names[1]: 0.0})
    exact = kt.simulate(rigid, [1.0], duration=1.0, dt=1.0, integrator="adaptive").q[-1]
    found = kt.simulate(stiff_pendulum(), [1.0, 0.0], duration=1.0, dt=2e-3, integrator=name)
    assert found.q[-1][0] == pytest.approx(exact[0], abs=1e-2)
    assert np.abs(found.q[:, 1]).max() < 1e-4


@pytest.mark.parametrize("name", ["rk4"])
def test_the_same_spring_explodes_in_explicit_methods(name):
    """So the test above can fail."""
    with pytest.raises(kt.errors.SimulationError, match="no longer finite"):
        kt.simulate(stiff_pendulum(), [1.0, 0.0], duration=1.0, dt=2e-3, integrator=name)


@pytest.mark.parametrize("name", IMPLICIT)
def test_a_stiff_damper_creeps(name):
    """Damping 1e4 N m s: the speed follows the torque, v = g(q) / d to 1e-3 of it, at h = 20 ms."""
    model = kt.models.pendulum().replace(damping=1e4)
    run = kt.simulate(model, [1.0], duration=1.0, dt=0.02, integrator=name)
    expected = -kt.gravity_forces(model, run.q[-1]) / 1e4
    mean = 0.5 * (run.v[-1] + run.v[-2])  # symmetric methods keep an alternating part, which the mean has not
    assert mean == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", IMPLICIT)
def test_dry_friction_holds_a_pendulum(name):
    """Friction above the weight: the pendulum creeps at less than v_s, and Newton's iteration does not cycle."""
    model = kt.models.pendulum().replace(dry_friction=20.0)
    run = kt.simulate(model, [1.0], duration=0.5, dt=5e-3, integrator=name)
    assert abs(run.q[-1, 0] - 1.0) < 1e-3


@pytest.mark.parametrize("name", ["implicit_midpoint", "variational"])
def test_friction_that_stops_a_joint_within_a_step_takes_few_iterations(name):
    """A slider at 10 mm/s, friction that stops it in a fifth of the step: at rest after it, by ten iterations.

    Slopes of friction alone would throw the velocity from one direction to the other and back, forever.
    """
    b = kt.ModelBuilder("slider")
    b.add_body("slider", joint=Prismatic((1, 0, 0)), mass=1.0, dry_friction=5.0)
    method = FIXED_STEP[name](System(b.build()))
    rest = np.zeros(1)
    _, v = method.step(0.0, 0.01, rest, np.array([0.01]), lambda t: rest, lambda t: ())
    count = method.iterations if name == "variational" else method._newton.iterations
    assert abs(v[0]) < 0.011 and count <= 10  # the midpoint rule turns the velocity round and keeps its mean at rest


def ball_on_springs():
    """A body on a ball joint with another stiffness about each axis."""
    b = kt.ModelBuilder("ball on springs")
    b.add_body("ball", joint=Spherical(), mass=1.0, com=(0.1, 0.2, -0.3), inertia=np.diag([0.2, 0.3, 0.4]),
               stiffness=(50.0, 80.0, 20.0), damping=0.1)  # fmt: skip
    return b.build()


@pytest.mark.parametrize("forces", ["all", "passive"])
def test_slopes_are_those_of_the_forces(forces):
    """K and D of the step against central differences of the inverse dynamics along the manifold (1e-6 of the largest).

    ``a = (M + h D - h^2 K)^-1 (f + h K v)``, whose matrix is found from differences of f alone.
    """
    from kinetree.integrators.implicit import force_slopes, passive_slopes

    model, rng = ball_on_springs(), np.random.default_rng(0)
    q, v = model.random_q(rng), rng.standard_normal(3)
    if forces == "all":
        dq, dv, _ = force_slopes(model, list(q), list(v), [0.0] * 3)
        K, D = -np.array(dq, float), np.array(dv, float)

        def force(q, v):
            return -kt.inverse_dynamics(model, q, v, np.zeros(3))
    else:
        K, D = passive_slopes(model, list(q), list(v))
        K, D = np.array(K, float), np.array(D, float)

        def force(q, v):
            return kt.dynamics.passive_joint_forces(model, q, v)

    e = 1e-6
    K_found = np.array([(force(kt.integrate(model, q, e * x), v) - force(kt.integrate(model, q, -e * x), v)) / (2 * e)
                        for x in np.eye(3)]).T  # fmt: skip
    D_found = -np.array([(force(q, v + e * x) - force(q, v - e * x)) / (2 * e) for x in np.eye(3)]).T
    assert pytest.approx(K_found, abs=1e-6 * np.abs(K_found).max()) == K
    assert pytest.approx(D_found, abs=1e-6 * max(1.0, np.abs(D_found).max())) == D


@pytest.mark.parametrize("slopes", ["exact", "symmetric"])
@pytest.mark.parametrize("forces", ["all", "passive"])
def test_every_linearly_implicit_step_solves_its_equation(forces, slopes):
    """(M + h D - h^2 K) a = f + h K v, with K and D by name, exact or symmetrized; by a dense solution to 1e-12."""
    from kinetree.integrators.implicit import force_slopes, passive_slopes

    model, rng, h = ball_on_springs(), np.random.default_rng(1), 0.01
    q, v = model.random_q(rng), rng.standard_normal(3)
    dq, dv, M = (np.array(x, float) for x in force_slopes(model, list(q), list(v), [0.0] * 3))
    K, D = (-dq, dv) if forces == "all" else (np.array(x, float) for x in passive_slopes(model, list(q), list(v)))
    if slopes == "symmetric":
        K, D = 0.5 * (K + K.T), 0.5 * (D + D.T)
    f = -kt.inverse_dynamics(model, q, v, np.zeros(3))
    expected = np.linalg.solve(M + h * D - h * h * K, f + h * K @ v)
    found = linearly_implicit_acceleration(model, list(q), list(v), [0.0] * 3, h, None, forces, slopes)
    assert np.array(found, float) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    step = LinearlyImplicit(forces, slopes)(System(model))
    _, v_next = step.step(0.0, h, q, v, lambda t: np.zeros(3), lambda t: ())
    assert v_next == pytest.approx(v + h * expected, rel=1e-11)


def test_unknown_choices_are_refused():
    """The message lists the choices."""
    with pytest.raises(kt.errors.UnknownNameError, match="no forces named 'some'.*all, passive"):
        LinearlyImplicit(forces="some")
    with pytest.raises(kt.errors.SimulationError, match="positive definite"):
        LinearlyImplicit(solver="conjugate_gradients")


@pytest.mark.parametrize("name", ["implicit_midpoint", "variational", "bdf2", "generalized_alpha"])
def test_a_step_without_an_end_names_the_joint_and_the_time(name):
    """Steps of 1 s at 100 rad/s: sooner or later Newton's iteration fails, and says which joint and when."""
    model = kt.models.double_pendulum()
    joints = "|".join(model.joint_names)
    with pytest.raises(kt.errors.SimulationError, match=f"(?s)Newton.*joint '({joints})'.*residual") as caught:
        for seed in range(20):
            rng = np.random.default_rng(seed)
            kt.simulate(model, rng.standard_normal(2), 100.0 * rng.standard_normal(2), duration=50.0, dt=1.0,
                        integrator=name)  # fmt: skip
    assert caught.value.joint in model.joint_names and caught.value.time >= 0.0 and caught.value.iterations > 0


@pytest.mark.parametrize("name", IMPLICIT)
def test_couplings_hold(name):
    """A coupled joint follows its master to rounding, and the motion is that of the adaptive solution."""
    b = kt.ModelBuilder("geared")
    b.add_body("a", joint=Revolute((0, 1, 0)), joint_name="ja", mass=1.0, com=(0, 0, -0.5), inertia=0.1 * np.eye(3))
    b.add_body("b", "a", Revolute((0, 1, 0)), "jb", placement=((0, 0, -1.0), (0, 0, 0)), mass=1.0, com=(0, 0, -0.4),
               inertia=0.1 * np.eye(3))  # fmt: skip
    b.add_coupling("jb", "ja", ratio=-2.0, offset=0.1)
    model = b.build()
    q0 = np.array([0.7, -1.3])
    run = kt.simulate(model, q0, duration=0.5, dt=5e-4, integrator=name)
    exact = kt.simulate(model, q0, duration=0.5, dt=0.5, integrator="adaptive")
    assert run.q[:, 1] == pytest.approx(-2.0 * run.q[:, 0] + 0.1, abs=1e-14)
    assert run.q[-1] == pytest.approx(exact.q[-1], abs=2e-3 if ORDERS[name] == 1 else 1e-5)
