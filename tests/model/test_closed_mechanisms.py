"""Closed mechanisms of the library: closed keyframes, mobility, and motions with closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error
from kinetree.errors import ArgumentError

G = 9.81
CLOSED = {  # mechanism, rows that are independent
    "four_bar": (kt.models.four_bar, 2),
    "four_bar crossed": (lambda: kt.models.four_bar(crossed=True), 2),
    "four_bar planar": (lambda: kt.models.four_bar(closure="planar"), 2),
    "ladder planar": (lambda: kt.models.ladder(2, closure="planar"), 4),
    "four_bar sphere": (lambda: kt.models.four_bar(closure="sphere_in_cylinder"), 2),
    "slider_crank": (lambda: kt.models.slider_crank(offset=0.2, angle=-0.8), 2),
    "slider_crank sphere": (lambda: kt.models.slider_crank(closure="sphere_in_cylinder"), 2),
    "spatial_slider_crank": (lambda: kt.models.spatial_slider_crank(angle=2.5), 3),
    "parallelogram": (lambda: kt.models.parallelogram(angle=-0.7), 2),
    "four_bar_chain": (lambda: kt.models.four_bar_chain(3, angle=0.4), 6),
    "ladder": (lambda: kt.models.ladder(3), 6),
    "bennett": (lambda: kt.models.bennett(1.3, (2.0, 0.8), angle=-0.9), 2),
    "delta_robot": (lambda: kt.models.delta_robot(angle=0.3), 18),
    "cassie_leg": (lambda: kt.models.cassie_leg(-1.5, -1.2), 5),
    "andrews_squeezer": (kt.models.andrews_squeezer, 6),
    "stewart_platform": (kt.models.stewart_platform, 18),
    "stewart_platform on a leg": (lambda: kt.models.stewart_platform(platform="leg"), 15),
}


@pytest.mark.parametrize("name", CLOSED)
def test_keyframes_are_closed(name):
    """To rounding in position and velocity, and with as many independent rows as the mobility leaves."""
    make, rank = CLOSED[name]
    model = make()
    q, v = model.keyframe("initial")
    assert np.abs(constraint_error(model, q.tolist())).max() < 1e-14
    assert len(model.independent_rows()) == rank
    a = kt.forward_dynamics(model, q, v, np.zeros(model.nv))  # checks q and v
    assert np.isfinite(a).all()


def test_four_bar_positions_are_those_of_the_reference():
    """Coupler and rocker angles of a four-bar 3, 1, 3, 2.5 by the law of cosines, printed to 12 digits."""
    for angle, coupler, rocker in (
        (0.3, 0.825401396811, 1.574747262427),
        (1.0, 0.585641773064, 1.554645669288),
        (2.0, 0.508527379941, 1.894735994435),
    ):
        q, _ = kt.models.four_bar(angle=angle).keyframe("initial")
        assert q == pytest.approx([angle, coupler - angle, rocker], abs=1e-12)


@pytest.mark.parametrize("closure", ["revolute", "planar", "sphere_in_cylinder"])
def test_all_closures_of_a_four_bar_move_alike(closure):
    """The acceleration of rods under gravity, from the reduced equation of motion J a + J' w^2 / 2 + V' = 0."""
    model = kt.models.four_bar(closure=closure)
    q, _ = model.keyframe("initial")
    coupler, rocker = -0.212959656108, 0.195361739317  # d/d crank, coupler angle from the ground
    v = 2.0 * np.array([1.0, coupler - 1.0, rocker])
    a = kt.forward_dynamics(model, q, v, np.zeros(3))
    inertia, torque = 2.185840715920, 17.618332006429  # J, and the torque for a = 0 at speed 2
    assert a[0] == pytest.approx(-torque / inertia, rel=1e-10)


@pytest.mark.parametrize("angle", [0.4, -0.7, 2.0])
def test_parallelograms_and_chains_are_pendulums(angle):
    """Closed forms of the docstrings; the chain's angle is from the upward vertical."""
    model = kt.models.parallelogram(0.8, 1.3, (1.0, 2.0, 1.0), angle=angle)
    q, v = model.keyframe("initial")
    a = kt.forward_dynamics(model, q, v, np.zeros(3))
    assert a[0] == pytest.approx(-3.0 * G * np.cos(angle) / ((2.0 / 3.0 + 2.0) * 0.8), rel=1e-10)
    chain = kt.models.four_bar_chain(3, angle=angle, speed=0.0)
    q, v = chain.keyframe("initial")
    a = kt.forward_dynamics(chain, q, v, np.zeros(7))
    assert a[0] == pytest.approx(G * 5.0 / (4.0 / 3.0 + 3.0) * np.sin(angle), rel=1e-10)


def test_slider_crank_follows_its_closed_form():
    """Slider velocity and acceleration from derivatives of x(q) at the angle, by the multiplier equations."""
    model = kt.models.slider_crank(offset=0.1, angle=0.7)
    q, _ = model.keyframe("initial")
    a, b, e = 0.5, 2.0, 0.1
    s, c = np.sin(0.7), np.cos(0.7)
    rise = a * s - e
    D = np.sqrt(b * b - rise * rise)
    slope = -a * s - rise * a * c / D
    curvature = -a * c - (a * c) ** 2 / D + rise * a * s / D - (rise * a * c) ** 2 / D**3
    w = 3.0
    v = np.array([w, -a * c * w / D - w, slope * w])
    acc = kt.forward_dynamics(model, q, v, np.zeros(3))
    assert acc[2] == pytest.approx(slope * acc[0] + curvature * w * w, rel=1e-10)


def test_spatial_slider_crank_keeps_the_length_of_its_rod():
    """The distance from slider to crank pin, and its second derivative along the computed motion."""
    model = kt.models.spatial_slider_crank(angle=2.5)
    q, _ = model.keyframe("initial")
    tip = kt.pose(model, q, frame="crank_tip")[1]
    assert np.linalg.norm(tip - [q[model.q_index("slider")][0], 0.0, 0.0]) == pytest.approx(0.3, rel=1e-14)
    w = 5.0
    arm = tip - [0.0, 0.1, 0.12]
    pin = w * np.cross([1.0, 0.0, 0.0], arm)
    r = tip - [q[model.q_index("slider")][0], 0.0, 0.0]
    speed = (r @ pin) / r[0]  # of the slider
    J = kt.jacobian(model, q, frame="rod_tip", reference="world")
    at_tip = J[3:] + np.cross(J[:3], tip, axis=0)
    v = np.zeros(4)
    v[model.v_index("crank")], v[model.v_index("slider")] = w, speed
    rod = model.v_index("rod")
    v[rod] = np.linalg.lstsq(at_tip[:, rod], pin - at_tip[:, model.v_index("slider")] @ [speed], rcond=None)[0]
    a = kt.forward_dynamics(model, q, v, np.zeros(4))
    a_pin = a[model.v_index("crank")] * np.cross([1.0, 0.0, 0.0], arm) - w**2 * arm
    relative = pin - [speed, 0.0, 0.0]
    expected = (r @ a_pin + relative @ relative) / r[0]
    assert a[model.v_index("slider")] == pytest.approx(expected, rel=1e-9)


def test_both_trees_of_the_stewart_platform_move_alike():
    """The platform falls at the same rate; and inverse kinematics: legs are as long as the distances of anchors."""
    rates = []
    for platform in ("free", "leg"):
        model = kt.models.stewart_platform(platform=platform)
        q, v = model.keyframe("initial")
        a, _ = kt.forward_dynamics(model, q, v, np.zeros(model.nv), multipliers=True)
        rates.append([a[model.v_index(f"prismatic{k}")][0] for k in range(1, 7)])
    assert rates[0] == pytest.approx(rates[1], rel=1e-9) and rates[0] == pytest.approx([rates[0][0]] * 6, rel=1e-9)
    assert rates[0][0] < -5.0


def test_mechanisms_that_cannot_close_are_errors():
    """With the distance that is missing."""
    with pytest.raises(ArgumentError, match=r"rods of 1 m and 1 m do not span 4.055 m, by 2.06 m"):
        kt.models.four_bar((5.0, 1.0, 1.0, 1.0), angle=0.3)
    with pytest.raises(ArgumentError, match=r"2.08 m are missing"):
        kt.models.slider_crank(offset=-4.0, angle=0.16)
    with pytest.raises(ArgumentError, match="reaches the slider's line"):
        kt.models.spatial_slider_crank(pivot=(0.0, 0.4, 0.0))
    with pytest.raises(ArgumentError, match=r"4 positive numbers \(ground, crank, coupler, rocker\)"):
        kt.models.four_bar((1.0, 1.0, 0.0, 1.0))


@pytest.mark.parametrize(("angle", "twists"), [(1.0, (0.5, 1.2)), (-2.0, (1.2, 0.5)), (2.5, (0.4, 2.9))])
def test_bennetts_linkage_turns_by_its_closed_form(angle, twists):
    """Speeds and accelerations of hinge 2 are derivatives of tan(q1/2) tan(q2/2) = constant."""
    model = kt.models.bennett(0.7, twists, angle=angle)
    (first, second, _), _ = model.keyframe("initial")
    t1, t2 = np.tan(first / 2), np.tan(second / 2)
    K = t1 * t2
    slope = -K * (1 + t1 * t1) / (t1 * t1) / (1 + t2 * t2)
    w = 1.5
    v = w * np.array([1.0, slope, slope])
    a = kt.forward_dynamics(model, [first, second, second], v, np.zeros(3))
    # q2 = 2 atan(K / tan(q1 / 2)), q2' = -K / (sin^2 + K^2 cos^2), its derivative by the chain rule
    s, c = np.sin(first / 2), np.cos(first / 2)
    D = s * s + K * K * c * c
    assert slope == pytest.approx(-K / D, rel=1e-12)
    assert a[1] == pytest.approx(slope * a[0] + K * s * c * (1 - K * K) / D**2 * w * w, rel=1e-9)
    assert a[2] == pytest.approx(a[1], rel=1e-9)


@pytest.mark.parametrize("angle", [0.0, 0.5])
def test_the_platform_of_a_delta_robot_does_not_turn(angle):
    """From rest it has no angular acceleration; its acceleration is that of a mass on a reduced mechanism."""
    model = kt.models.delta_robot(angle=angle)
    q, v = model.keyframe("initial")
    tau = np.zeros(model.nv)
    for k, torque in enumerate((1.0, -2.0, 0.5), start=1):
        tau[model.v_index(f"arm{k}")] = torque
    a = kt.forward_dynamics(model, q, v, tau)
    platform = a[model.v_index("platform")]
    assert np.abs(platform[:3]).max() < 1e-10 and np.abs(platform[3:]).min() > 0.1
    # Wrists stay at the rods' length from the elbows: (p - e) . (p'' - e'') = 0 from rest.
    for k in range(1, 4):
        turn = 2 * np.pi / 3 * (k - 1)
        out = np.array([np.cos(turn), np.sin(turn), 0.0])
        elbow = (0.2 + 0.235 * np.cos(angle)) * out - [0.0, 0.0, 0.235 * np.sin(angle)]
        rod = q[:3] + 0.05 * out - elbow
        assert np.linalg.norm(rod) == pytest.approx(0.8, rel=1e-13)
        down = -0.235 * (np.sin(angle) * out + [0.0, 0.0, np.cos(angle)])  # d elbow / d arm
        assert rod @ (platform[3:] - a[model.v_index(f"arm{k}")] * down) == pytest.approx(0.0, abs=1e-10)


def test_andrews_squeezer_starts_as_published():
    """Accelerations and the power of the multipliers at the start (test set of Mazzia and Magherini, "andrews")."""
    model = kt.models.andrews_squeezer()
    q, v = model.keyframe("initial")
    tau = np.zeros(7)
    tau[model.v_index("beta")] = 0.033
    a, lam = kt.forward_dynamics(model, q, v, tau, multipliers=True)
    found = {name: a[model.v_index(name)][0] for name in model.joint_names}
    assert found["beta"] == pytest.approx(14222.4439199541138705911625887, rel=1e-9)
    assert found["theta"] == pytest.approx(-10666.8329399655854029433719415, rel=1e-9)
    rest = [found[name] for name in ("gamma", "phi", "delta", "omega", "epsilon")]
    assert rest == pytest.approx(np.zeros(5), abs=1e-5)
    # The published multipliers are forces of the triangle alone, in world axes: (98.57, -6.12) N.
    force = lam[: model.loops[0].count(model)][2:4]
    assert np.linalg.norm(force) == pytest.approx(np.hypot(98.5668703962410896, -6.12268834425566265), rel=1e-9)


def test_a_cassie_leg_stands_on_its_linkages():
    """Toe below the hip, the rod as long as given, and a spring whose relaxed angle is moved pushes that way."""
    model = kt.models.cassie_leg()
    q, v = model.keyframe("initial")
    toe, hip = kt.pose(model, q, frame="foot")[1], np.zeros(3)
    assert toe[0] == pytest.approx(hip[0], abs=1e-14) and toe[1] < -0.5
    rod = kt.pose(model, q, frame="heel_tip")[1]
    assert np.linalg.norm(rod) == pytest.approx(0.5012, rel=1e-13)
    shin = model.v_index("shin").start
    bent = model.replace(spring_reference={"shin": 0.01})
    change = kt.forward_dynamics(bent, q, v, np.zeros(10))[shin] - kt.forward_dynamics(model, q, v, np.zeros(10))[shin]
    assert change > 0.0


def test_a_governor_has_the_published_angular_momentum():
    """53.86899865841844 kg m^2/s about the shaft."""
    model = kt.models.governor()
    momentum = kt.momentum(model, *model.keyframe("initial"))
    assert momentum[2] == pytest.approx(53.86899865841844, rel=1e-13)


@pytest.mark.parametrize("twists", [(0.5, 1.2), (1.2, 0.5)])
def test_bennetts_linkage_turns_over(twists):
    """Two of its five rows hold it all the way, though others that are regular at the start are not: gap and energy."""
    model = kt.models.bennett(twists=twists)
    run = kt.simulate(model, duration=10.0, dt=2e-3, integrator="rk4")
    assert np.ptp(run.q[:, 0]) > 1.5
    assert max(np.abs(constraint_error(model, q.tolist())).max() for q in run.q[::50]) < 1e-12
    assert np.ptp(run.energy) < 1e-8 * np.ptp(run.potential_energy)


def test_a_cassie_leg_swings_to_rest():
    """Two seconds without motors: linkages closed, springs short, energy that their dampers take."""
    model = kt.models.cassie_leg()
    run = kt.simulate(model, duration=2.0, dt=1e-3)
    assert max(np.abs(constraint_error(model, q.tolist())).max() for q in run.q[::50]) < 1e-12
    springs = [model.q_index(name).start for name in ("shin", "heel")]
    assert np.abs(run.q[:, springs]).max() < 0.05 and run.energy[-1] < run.energy[0] - 0.5
