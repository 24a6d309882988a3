"""Rolling and blades against closed forms: disk, ball on a slope and on a turntable, Chaplygin's sleigh."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_bias, constraint_jacobian
from kinetree.constraints import Kinematics, KnifeEdge, RollingBall, RollingDisk, RollingWheel

G, R = 9.81, 0.3
M, A, C = 2.0, 0.05, 0.09  # mass, moments about a diameter and about the axle


def body(joint, inertia, mass=M, com=(0, 0, 0)):
    b = kt.ModelBuilder("body")
    b.add_body("body", joint=joint, mass=mass, com=com, inertia=inertia)
    return b.build()


@pytest.fixture(scope="module")
def disk():
    return body(kt.joints.Free(), np.diag([A, A, C])).with_constraints(RollingDisk("body", R))


def rolling(lean, spin, turn, tilt):
    """Position and velocity of the disk whose axle has the angle ``lean`` to the vertical, in body coordinates.

    The body is turned about x by ``lean``: the axle is (0, -sin, cos), the heading is -x, and z' = y sin + z cos.
    """
    q = [0.7, -0.2, R * np.sin(lean), np.cos(0.5 * lean), np.sin(0.5 * lean), 0.0, 0.0]
    E = np.array([[1, 0, 0], [0, np.cos(lean), np.sin(lean)], [0, -np.sin(lean), np.cos(lean)]])
    w = E @ [tilt, 0.0, turn] + [0.0, 0.0, spin]  # turn about the vertical, tilt about the heading
    center = -np.cross(w, [0.0, -R, 0.0])  # the lowest point is at -R along y of the body
    return np.array(q), np.concatenate([w, center])


@pytest.mark.parametrize("lean", [0.4, 1.1, 1.5])
@pytest.mark.parametrize("turn", [-2.0, 0.7])
def test_a_disk_in_steady_precession(disk, lean, turn):
    """The spin at which the lean stays: (C + M R^2) w3 W sin = A W^2 sin cos - M g R cos, w3 = spin + W cos."""
    s, c = np.sin(lean), np.cos(lean)
    axial = (A * turn * turn * s * c - M * G * R * c) / ((C + M * R * R) * turn * s)
    q, v = rolling(lean, axial - turn * c, turn, 0.0)
    assert np.array(constraint_jacobian(disk, q.tolist()), float) @ v == pytest.approx(0.0, abs=1e-12)
    a = kt.forward_dynamics(disk, q, v, np.zeros(6))
    # In steady motion the vertical part and the axial part of the angular velocity stay, and all turns about the
    # vertical: the rate of w in body coordinates is that of a vertical vector seen from the spinning body.
    E = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    vertical = turn * E @ [0.0, 0.0, 1.0]
    assert a[:3] == pytest.approx(-np.cross(v[:3], vertical), abs=1e-11)


def test_the_equation_of_a_falling_disk(disk):
    """(A + M R^2) lean'' = A W^2 sin cos - (C + M R^2) w3 W sin - M g R cos, at any rates."""
    lean, spin, turn, tilt = 1.2, 4.0, -0.8, 0.5
    s, c = np.sin(lean), np.cos(lean)
    q, v = rolling(lean, spin, turn, tilt)
    a = kt.forward_dynamics(disk, q, v, np.zeros(6))
    axial = spin + turn * c
    expected = (A * turn * turn * s * c - (C + M * R * R) * axial * turn * s - M * G * R * c) / (A + M * R * R)
    # In the body w_x = lean' cos(phi) + turn sin(lean) sin(phi), here at phi = 0 with phi' = spin.
    assert a[0] == pytest.approx(expected + turn * s * spin, rel=1e-11)


def test_a_rolling_disk_keeps_its_energy_and_its_contact(disk):
    """The lowest point stays on the ground and at rest; the ground does no work."""
    q, v = rolling(1.2, 9.0, -0.8, 0.5)
    run = kt.simulate(disk, q, v, duration=0.5)
    error = [np.abs(disk.constraints[0].residual(Kinematics(disk, x.tolist()))).max() for x in run.q]
    assert max(error) < 1e-9 and np.ptp(run.energy) < 1e-5 * np.ptp(run.potential_energy) + 1e-9


def test_a_ball_on_a_slope():
    """It goes down with 5/7 g sin; the friction is 2/7 of the weight along the slope."""
    slope = 0.4
    ball = body(kt.joints.FreeSplit(), np.eye(3) * 0.4 * M * R * R).replace(
        gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope))
    )
    ball = ball.with_constraints(RollingBall("body", R))
    spin, q = [0.3, -2.0, 1.0], [0.0, 0.0, R, 1.0, 0.0, 0.0, 0.0]
    v = [*spin, R * spin[1], -R * spin[0], 0.0]
    a, force = kt.forward_dynamics(ball, q, v, np.zeros(6), multipliers=True)
    assert a[3:] == pytest.approx([5.0 / 7.0 * G * np.sin(slope), 0.0, 0.0], abs=1e-12)
    assert force == pytest.approx([M * G * np.cos(slope), -2.0 / 7.0 * M * G * np.sin(slope), 0.0], abs=1e-12)
    soft = ball.replace(constraints=RollingBall("body", R, spin=False))
    assert soft.nc == 4 and kt.forward_dynamics(soft, q, [0, -2.0, 0, R * -2.0, 0, 0], np.zeros(6)) == pytest.approx(
        [0.0, a[4] + a[3] / R, 0.0, *a[3:]], abs=1e-12
    )


def test_a_ball_on_a_turntable_moves_in_circles():
    """Its center turns at 2/7 of the table's rate, whatever the radius: a = (2/7) W x v (Pars; Weltner 1979)."""
    b = kt.ModelBuilder("turntable")
    b.add_body("table", joint=kt.joints.Revolute(), mass=1.0, inertia=np.eye(3) * 1e9)  # too heavy to be slowed down
    b.add_body("ball", joint=kt.joints.FreeSplit(), mass=M, inertia=np.eye(3) * 0.4 * M * R * R)
    model = b.build().with_constraints(RollingBall("ball", R, "table"))
    turn, at = 3.0, np.array([0.8, -0.3])
    spin = np.array([0.4, -1.1, 0.2])
    # The contact point moves with the table: v + w x (-R z) = W z x p.
    v = np.array([-turn * at[1] + R * spin[1], turn * at[0] - R * spin[0]])
    q = [0.5, *at, R, 1.0, 0.0, 0.0, 0.0]
    a = kt.forward_dynamics(model, q, [turn, *spin, *v, 0.0], np.zeros(7))
    assert a[4:6] == pytest.approx(2.0 / 7.0 * turn * np.array([-v[1], v[0]]), rel=1e-7)


def test_chaplygins_sleigh():
    """v' = a w^2, w' = -M a v w / (J + M a^2), with the center of mass a ahead of the blade: its run is a tanh."""
    ahead, J = 0.4, 0.7
    sleigh = body(kt.joints.Planar(), np.diag([1.0, 1.0, J]), com=(ahead, 0, 0)).with_constraints(KnifeEdge("body"))
    w, v = 1.5, -0.8
    a, side = kt.forward_dynamics(sleigh, [0.3, 1.0, 2.0], [w, v, 0.0], np.zeros(3), multipliers=True)
    assert a == pytest.approx([-M * ahead * v * w / (J + M * ahead**2), ahead * w * w, 0.0], abs=1e-12)
    assert side[0] == pytest.approx(M * (a[0] * ahead + v * w))
    # E = (M v^2 + K w^2) / 2 stays, and v = c tanh(a c M / K (t - t0)), with c = sqrt(2 E / M), K = J + M a^2.
    K = J + M * ahead**2
    c = np.sqrt((M * v * v + K * w * w) / M)
    run = kt.simulate(sleigh, [0.3, 1.0, 2.0], [w, v, 0.0], duration=2.0, dt=2e-3)
    rate = ahead * c * M / K
    expected = c * np.tanh(rate * run.time + np.arctanh(v / c))
    assert run.v[:, 1] == pytest.approx(expected, abs=2e-5 * c)


def test_wheels_of_a_cart_turn_it():
    """A differential drive: two wheels on a planar body; forward speed and turn follow from the wheels' rates."""
    b = kt.ModelBuilder("cart")
    b.add_body("cart", joint=kt.joints.Planar(), mass=4.0, inertia=np.diag([1.0, 1.0, 0.3]))
    for name, y in (("left", 0.25), ("right", -0.25)):
        b.add_body(name, "cart", kt.joints.Revolute((0, 1, 0)), name, placement=((0, y, 0.1), (0, 0, 0)),
                   mass=0.5, inertia=np.diag([1e-3, 2e-3, 1e-3]))  # fmt: skip
    b.add_frame("ground", "world")
    wheels = [RollingWheel(name, 0.1, (0, 1, 0), name=f"{name} wheel") for name in ("left", "right")]
    cart = b.build().with_constraints(*wheels)
    assert cart.nc == 4 and len(cart.independent_rows()) == 3  # both wheels stop the cart from slipping sideways
    left, right = 3.0, 5.0
    v = [0.1 * (right - left) / 0.5, 0.1 * (left + right) / 2.0, 0.0, left, right]
    a, lam = kt.forward_dynamics(cart, [0.4, 1.0, 2.0, 0.0, 0.0], v, [0, 0, 0, 0.2, -0.1], multipliers=True)
    kin = Kinematics(cart, [0.4, 1.0, 2.0, 0.0, 0.0], v)
    assert [x for c in cart.constraints for x in c.rate(kin)] == pytest.approx([0.0] * 4, abs=1e-13)
    # Lagrange's equations of the two wheel rates.
    forward, turn = np.array([0.05, 0.05]), np.array([-0.2, 0.2])
    mass, moment = 5.0, 0.3 + 2 * (1e-3 + 0.5 * 0.25**2)
    H = mass * np.outer(forward, forward) + moment * np.outer(turn, turn) + 2e-3 * np.eye(2)
    assert a[3:] == pytest.approx(np.linalg.solve(H, [0.2, -0.1]), rel=1e-9)
    assert a[1] == pytest.approx(forward @ a[3:]) and a[0] == pytest.approx(turn @ a[3:])


def test_the_lowest_point_is_at_rest(disk):
    """Rows are the velocity of the disk's material point, its bias the acceleration of the lowest point's row."""
    rng = np.random.default_rng(2)
    q, v = disk.random_q(rng), rng.standard_normal(6)
    kin = Kinematics(disk, q.tolist(), v.tolist())
    axle = np.array(kin.rotation("body").rows, float)[:, 2]
    up = np.array([0.0, 0.0, 1.0]) - axle * axle[2]
    up /= np.linalg.norm(up)
    low = np.array([*kin.velocity("body")], float) - R * np.cross([*kin.angular_velocity("body")], up)
    heading = np.cross(axle, [0, 0, 1]) / np.hypot(axle[0], axle[1])
    side = np.array([axle[0], axle[1], 0.0]) / np.hypot(axle[0], axle[1])
    rates = disk.constraints[0].rate(kin)
    assert rates == pytest.approx([low[2], low @ heading, low @ side], abs=1e-12)
    h = 1e-6
    moved = [disk.constraints[0].rate(Kinematics(disk, kt.integrate(disk, q, s * v).tolist(), v.tolist()))
             for s in (h, -h)]  # fmt: skip
    difference = (np.array(moved[0]) - np.array(moved[1])) / (2 * h)
    assert constraint_bias(disk, q.tolist(), v.tolist()) == pytest.approx(difference, abs=1e-7)
    assert disk.constraints[0].position_level(disk) == (True, False, False)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "generalized_alpha", "bdf2", "adaptive"])
def test_steps_keep_rolling(disk, integrator):
    """Contact to rounding and no slip, in all steps that keep loops closed; they agree to their order."""
    q, v = rolling(1.2, 9.0, -0.8, 0.5)
    reference = kt.simulate(disk, q, v, duration=0.1, dt=5e-4)
    run = kt.simulate(disk, q, v, duration=0.1, dt=1e-3, integrator=integrator)
    kin = Kinematics(disk, run.q[-1].tolist(), run.v[-1].tolist())
    error, rate = (np.array(x, float) for x in (disk.constraints[0].residual(kin), disk.constraints[0].rate(kin)))
    assert np.abs(error).max() < 1e-9 and np.abs(rate[1:]).max() < 1e-9
    close = {"semi_implicit": 2e-2, "generalized_alpha": 2e-4, "bdf2": 2e-3}.get(integrator, 1e-7)
    assert run.q[-1] == pytest.approx(reference.q[-1], abs=close)


def test_a_rolling_disk_is_verified_and_assembled(disk):
    """Verification covers rows of velocities; closed positions leave them out: the disk is set down where it is."""
    assert kt.verify(disk, states=2, fast=True).ok
    q, _ = rolling(1.2, 0.0, 0.0, 0.0)
    q[2] += 0.05
    found = kt.assemble(disk, q)
    found = getattr(found, "q", found)
    assert np.abs(disk.constraints[0].residual(Kinematics(disk, found.tolist()))).max() < 1e-10
    assert found[:2] == pytest.approx(q[:2], abs=0.02)
