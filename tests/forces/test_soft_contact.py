"""Soft contact by its laws in closed form: rebound, rest, recovery, sticking and sliding."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

import kinetree as kt
from kinetree.collision import ContactPair, Ground, Shape
from kinetree.errors import ArgumentError
from kinetree.forces import SoftContact

G = 9.81
FINE = kt.integrators.Adaptive("dop853", rtol=1e-10, atol=1e-12)


def ball(axes=((0, 0, 1),), gravity: float = 0.0, ground=True, **numbers) -> kt.Model:
    """A ball of 1 kg and radius 0.1 m that slides along axes, on soft ground; its friction is that of the ground."""
    b = kt.ModelBuilder("ball", gravity=(0.0, 0.0, -gravity))
    shape = kt.model.Geometry("sphere", (0.1,), name="ball")
    for k, axis in enumerate(axes):
        last = k == len(axes) - 1
        b.add_body(f"b{k}", f"b{k - 1}" if k else "world", kt.joints.Prismatic(axis), mass=float(last),
                   geometry=[shape] if last else [])  # fmt: skip
    hard = b.build().with_contacts(ground=ground)
    return hard.replace(contacts=()).with_forces(*SoftContact.of_contacts(hard, **numbers))


def slope(angle: float, friction: float, stiffness: float = 1e5) -> kt.Model:
    """The same on a slope that rises along x."""
    ground = Ground(friction=friction, normal=(-math.sin(angle), 0.0, math.cos(angle)))
    return ball(((1, 0, 0), (0, 1, 0), (0, 0, 1)), G, ground, stiffness=stiffness, damping=600.0)


@pytest.mark.parametrize("law", ["surface", "kelvin_voigt"])
@pytest.mark.parametrize(("ratio", "e"), [(0.05, 0.858758101775), (0.1, 0.744079397722), (0.2, 0.571740027585)])
def test_rebound_of_a_damped_spring(law, ratio, e):
    """The contact ends where the force is zero: ``e = exp(-z/s atan2(2 z s, 2 z^2 - 1))``, s = sqrt(1 - z^2)."""
    s = math.sqrt(1.0 - ratio**2)
    assert abs(math.exp(-ratio / s * math.atan2(2.0 * ratio * s, 2.0 * ratio**2 - 1.0)) - e) < 1e-12
    model = ball(friction=False, stiffness=1e4, damping=200.0 * ratio, law=law)
    run = kt.simulate(model, [0.1], [-1.0], duration=0.05, dt=0.01, integrator=FINE)
    assert abs(run.v[-1, 0] - e) < 2e-9


def test_undamped_rebound():
    """Contact lasts ``pi sqrt(m / k)``, the greatest penetration is ``v sqrt(m / k)``, the speed is kept."""
    model = ball(friction=False, stiffness=1e4, damping=0.0, law="kelvin_voigt")
    run = kt.simulate(model, [0.1], [-1.0], duration=math.pi / 100.0, dt=math.pi / 200.0, integrator=FINE)
    np.testing.assert_allclose(run.q[:, 0], [0.1, 0.09, 0.1], atol=1e-9)
    np.testing.assert_allclose(run.v[:, 0], [-1.0, 0.0, 1.0], atol=1e-7)


@pytest.mark.parametrize(("exponent", "d"), [(1.5, 0.3), (1.0, 0.1)])
def test_hunt_and_crossley(exponent, d):
    """``v dv / (1 + d v) = -k x^n dx``: a first integral is the same at both ends of the contact."""
    model = ball(friction=False, stiffness=1e5, damping=d, law="hunt_crossley", exponent=exponent)
    run = kt.simulate(model, [0.1], [-1.0], duration=0.1, dt=0.05, integrator=FINE)
    first, last = ((v / d - math.log1p(d * v) / d**2) for v in (1.0, -run.v[-1, 0]))
    assert abs(first - last) < 1e-8 and 0.5 < run.v[-1, 0] < 1.0


def test_rest_and_recovery():
    """At rest the surface is compressed by m g / K; left alone it recovers as exp(-K t / D)."""
    model = ball(gravity=G, friction=False, stiffness=981.0, damping=40.0)
    run = kt.simulate(model, [0.1], [0.0], duration=2.0, dt=0.5, integrator=FINE)
    np.testing.assert_allclose([run.q[-1, 0] - 0.1, run.x[-1, 0]], -0.01, atol=1e-8)
    K, D, z, t = 1e3, 50.0, -0.02, 0.03
    free = ball(friction=False, stiffness=K, damping=D)
    run = kt.simulate(free, [0.2], [0.0], x0=[z], duration=t, dt=t, integrator=FINE)
    assert abs(run.x[-1, 0] - z * math.exp(-K / D * t)) < 1e-10 and run.v[-1, 0] == 0.0


def test_a_surface_is_touched_again_before_it_has_recovered():
    """No force acts on a ball above a surface that is still compressed; where it touches it there is never a pull."""
    model = ball(friction=False, stiffness=1e3, damping=50.0)
    force = lambda gap, rate, z: kt.dynamics.passive_joint_forces(model, [0.1 + gap], [rate], x=[z])[0]  # noqa: E731
    assert force(-0.01, -1.0, -0.02) == 0.0
    assert abs(force(-0.02, -1.0, -0.02) - 70.0) < 1e-12
    assert force(-0.02, 0.5, -0.02) == 0.0


@pytest.mark.parametrize("direction", [0.0, 0.7, 2.0])
def test_a_block_sticks_or_slides(direction):
    """On a slope of 20 degrees: with mu 1 % above tan it stays where it is, 1 % below it slides as Coulomb says.

    The cone has no preferred direction: the slope's tangents are turned against the axes of the contact.
    """
    angle = math.radians(20.0)
    n = np.array([-math.sin(angle) * math.cos(direction), -math.sin(angle) * math.sin(direction), math.cos(angle)])
    down = np.array([-math.cos(angle) * math.cos(direction), -math.cos(angle) * math.sin(direction), -math.sin(angle)])
    found = {}
    for part in (1.01, 0.99):
        mu = part * math.tan(angle)
        model = ball(((1, 0, 0), (0, 1, 0), (0, 0, 1)), G, Ground(friction=mu, normal=tuple(n)), stiffness=1e5,
                     damping=600.0)  # fmt: skip
        depth, held = G * math.cos(angle) / 1e5, G * math.sin(angle) / 1e5
        start = n * (0.1 - depth) + down * (held if part > 1.0 else 0.99 * held)
        axes = [np.array(list(a)) for a in kt.collision.contact_axes(kt.spatial.Vector3(*n))[:2]]
        x0 = [-depth, *(down @ axis * (held if part > 1.0 else 0.99 * held) for axis in axes)]
        run = kt.simulate(model, start, np.zeros(3), x0=x0, duration=0.4, dt=0.1, integrator=FINE)
        found[part] = run.v[-1] @ down
        assert np.abs(run.v @ np.cross(n, down)).max() < 1e-9
    a = G * (math.sin(angle) - 0.99 * math.tan(angle) * math.cos(angle))
    assert abs(found[1.01]) < 1e-9 and abs(found[0.99] - 0.4 * a) < 1e-4


def test_sliding_tends_to_the_rigid_solution():
    """A block stops after v^2 / (2 mu g); the error falls with the stiffness."""
    errors = []
    for stiffness in (1e3, 1e4, 1e5):
        axes, damping = ((1, 0, 0), (0, 0, 1)), 2.0 * math.sqrt(stiffness)
        model = ball(axes, G, Ground(friction=0.5), stiffness=stiffness, damping=damping)
        depth = G / stiffness
        run = kt.simulate(model, [0.0, 0.1 - depth], [1.0, 0.0], x0=[-depth, 0.0, 0.0], duration=0.5, dt=0.1,
                          integrator=kt.integrators.Adaptive("dop853", rtol=1e-7, atol=1e-9))  # fmt: skip
        errors.append(abs(run.q[-1, 0] - 1.0 / G))
        assert abs(run.v[-1, 0]) < 0.05
    assert errors[1] < 0.2 * errors[0] and errors[2] < 0.2 * errors[1] < 1e-4


def test_a_solver_for_stiff_equations():
    """Radau goes from sliding to rest, where the rates do not depend on the tangential deflections."""
    model = ball(((1, 0, 0), (0, 0, 1)), G, Ground(friction=0.5), stiffness=1e3, damping=60.0)
    start, run = ([0.0, 0.09], [1.0, 0.0]), {}
    for method in ("Radau", "dop853"):
        options = kt.integrators.Adaptive(method, rtol=1e-8, atol=1e-10)
        run[method] = kt.simulate(model, *start, x0=[-0.01, 0.0, 0.0], duration=0.5, dt=0.1, integrator=options)
    np.testing.assert_allclose(run["Radau"].q, run["dop853"].q, atol=1e-7)


def test_momentum_is_kept_between_two_bodies():
    """Free balls that meet off center, with friction: both momenta stay, energy falls."""
    b = kt.ModelBuilder("balls", gravity=(0, 0, 0))
    for name in ("one", "two"):
        b.add_body(name, joint=kt.joints.Free(), mass=1.0, inertia=0.004 * np.eye(3))
    shapes = [Shape(name, "sphere", (0.1,), name=f"ball {name}") for name in ("one", "two")]
    pair = ContactPair("pair", *shapes, friction=0.4)
    model = b.build().with_forces(SoftContact("pair", pair, stiffness=1e4, damping=20.0))
    q, v = model.neutral(), np.zeros(model.nv)
    q[model.q_index("two")][:3] = (0.19, 0.05, 0.06)
    q[model.q_index("one")][:3] = (0.0, 0.0, -0.01)
    v[3], v[9] = 1.0, -0.5
    run = kt.simulate(model, q, v, duration=0.05, dt=0.01, integrator=FINE)
    h = kt.momentum(model, run.q, run.v)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-9)
    energy = kt.kinetic_energy(model, run.q, run.v)
    assert energy[-1] < 0.99 * energy[0] and np.abs(run.v[-1, :3]).max() > 0.1


def test_wrong_numbers_are_named():
    """Dampings that have to be positive, tangential springs that are needed, unknown laws."""
    floor, foot = Shape("world", "plane", name="floor"), Shape("bob", "sphere", (0.1,), name="foot")
    pair = ContactPair("pair", floor, foot)
    for values, message in (
        (dict(stiffness=0.0), "SoftContact 'a': stiffness is 0.0, expected a positive"),
        (dict(stiffness=-1.0), "SoftContact 'a': stiffness is -1.0"),
        (dict(stiffness=1.0), "SoftContact 'a': damping is 0.0, expected a positive damping"),
        (dict(stiffness=1.0, law="kelvin_voigt"), "tangential_damping is 0.0, expected a positive number, since"),
        (dict(stiffness=1.0, law="hunt_crossley", damping=0.1), "tangential_stiffness is 0.0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            SoftContact("a", pair, **values)
    with pytest.raises(kt.errors.UnknownNameError, match="hertz"):
        SoftContact("a", pair, 1.0, 1.0, law="hertz")


def two(K1=2e3, D1=30.0, K2=1e3, D2=5.0, gravity=0.0, friction=0.0, **numbers):
    """A ball that falls on ground whose surface yields, as does its own."""
    hard = ball(gravity=gravity, friction=False, stiffness=1.0, damping=1.0)
    (single,) = hard.elements
    pair = ContactPair("pair", *single.pair.shapes, friction=friction)
    element = SoftContact("two", pair, K1, D1, second_stiffness=K2, second_damping=D2, **numbers)
    return hard.replace(forces=[element])


def test_two_surfaces_of_equal_lag_are_one_in_series():
    """K / D the same: springs and dampers in series, the same rebound; and either surface has its share of p."""
    K1, D1, part = 3e4, 60.0, 0.4
    K2, D2 = part * K1, part * D1
    run = {}
    for name, model in (
        ("two", two(K1, D1, K2, D2)),
        ("one", ball(friction=False, stiffness=K1 * K2 / (K1 + K2), damping=D1 * D2 / (D1 + D2))),
    ):
        run[name] = kt.simulate(model, [0.1], [-1.0], duration=0.02, dt=0.005, integrator=FINE)
    np.testing.assert_allclose(run["two"].q, run["one"].q, atol=1e-10)
    np.testing.assert_allclose(run["two"].x.sum(axis=1), run["one"].x[:, 0], atol=1e-9)
    np.testing.assert_allclose(run["two"].x[1:, 0] / run["two"].x[1:, 1], part, rtol=1e-6)


def test_two_surfaces_at_rest_and_under_a_constant_rate():
    """At rest each is compressed by m g / K_i; pressed at a constant rate by ``(K_1 + K_2) z = K_2 p + D_2 p' ...``."""
    model = two(gravity=G)
    run = kt.simulate(model, [0.1], [0.0], duration=9.0, dt=3.0, integrator=FINE)
    np.testing.assert_allclose(run.x[-1], [-G / 2e3, -G / 1e3], atol=1e-8)
    np.testing.assert_allclose(run.q[-1, 0] - 0.1, -G * (1.0 / 2e3 + 1.0 / 1e3), atol=1e-8)
    K1, D1, K2, D2, rate = 2e3, 30.0, 1e3, 5.0, -0.2
    p = -0.01
    z = (-0.004, -0.006)
    f = -(rate + K1 * z[0] / D1 + K2 * z[1] / D2) / (1.0 / D1 + 1.0 / D2)
    force = kt.dynamics.passive_joint_forces(two(), [0.1 + p], [rate], x=z)[0]
    assert force == pytest.approx(f, rel=1e-14) and f > 0.0
    rates = kt.dynamics.force_state_rates(two(), [0.1 + p], [rate], x=z)
    assert rates.sum() == pytest.approx(rate, abs=1e-14)  # they move with the gap
    np.testing.assert_allclose(-(np.array([K1, K2]) * z + [D1, D2] * rates), f, rtol=1e-13)  # and carry one force


def test_two_surfaces_recover_each_on_its_own():
    """Nothing touches: ``z_i exp(-K_i t / D_i)``, in closed form at any step."""
    z, t = np.array([-0.02, -0.01]), 0.02
    expected = z * np.exp(-np.array([2e3 / 30.0, 1e3 / 5.0]) * t)
    for integrator, dt in ((FINE, t), ("semi_implicit", t), ("semi_implicit", t / 3.0), ("time_stepping", t)):
        run = kt.simulate(two(), [0.3], [0.0], x0=z, duration=t, dt=dt, integrator=integrator)
        np.testing.assert_allclose(run.x[-1], expected, atol=1e-10 if integrator is FINE else 1e-16)


def test_a_step_on_two_surfaces_is_exact_at_a_constant_speed():
    """The gap goes on at p': ``(D_1 + D_2) z' = K_2 p + D_2 p' - (K_1 + K_2) z``, here by scipy's exponential."""
    K1, D1, K2, D2, rate, h, p = 2e3, 30.0, 1e3, 5.0, -0.2, 0.004, -0.01
    z = (-0.004, -0.006)
    pressed = two().replace(armature=1e12)  # its velocity does not change
    run = kt.simulate(pressed, [0.1 + p], [rate], x0=z, duration=h, dt=h, integrator="semi_implicit")
    A = np.array([[-(K1 + K2) / (D1 + D2), K2 / (D1 + D2), D2 * rate / (D1 + D2)], [0, 0, rate], [0, 0, 0]])
    first, gap, _ = expm(h * A) @ [z[0], p, 1.0]
    np.testing.assert_allclose(run.x[-1], [first, gap - first], atol=1e-14)


def test_friction_of_two_surfaces_is_that_of_springs_in_series():
    """Tangential numbers are those of both surfaces; a slip relaxes to ``-f / K`` in closed form."""
    (element,) = two(friction=0.5).elements
    assert element.tangential_stiffness == pytest.approx(2e3 / 3.0)
    assert element.tangential_damping == pytest.approx(30.0 / 7.0)
    with pytest.raises(ArgumentError, match="second_damping is None, expected a positive number"):
        SoftContact("a", element.pair, 1.0, 1.0, second_stiffness=1.0)
    with pytest.raises(ArgumentError, match="second_stiffness.*only law 'surface'"):
        SoftContact("a", element.pair, 1.0, 1.0, "kelvin_voigt", second_stiffness=1.0, second_damping=1.0)
    assert [x.split(".")[1] for x in two(friction=0.5).state_names] == ["z0", "second0", "x0", "y0"]
