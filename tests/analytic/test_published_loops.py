"""Published problems of mechanisms with loops and of nonholonomic systems, to the digits of their references.

Origins: A01, A02, A05 of the IFToMM library of multibody benchmarks, with answers recomputed by SciPy in minimal
coordinates at rtol 1e-11 or better; "andrews" and "caraxis" of the test set of Mazzia and Magherini (solutions of
PSIDE); Neimark and Fufaev (rolling disk), Chaplygin (sleigh); a four-bar whose table was computed from closed forms.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error
from kinetree.constraints import Distance, PositionConstraint, PrescribedMotion
from kinetree.joints import Prescribed, Prismatic
from kinetree.spatial.scalar import sin, sqrt

G = 9.81
EXACT = kt.integrators.Adaptive("dop853", rtol=1e-12, atol=1e-12)


def gap(model, q) -> float:
    """The largest error of position at some samples [m or rad]."""
    return max(np.abs(constraint_error(model, x.tolist())).max() for x in q)


# A01: a pendulum in Cartesian coordinates -----------------------------------------------------------------------------


@functools.cache
def bob():
    """A point mass on a rod, from (-1, 0) at rest."""
    b = kt.ModelBuilder("A01", gravity=(0.0, -G, 0.0))
    b.add_body("slide", joint=Prismatic((1, 0, 0)), joint_name="x")
    b.add_body("bob", "slide", Prismatic((0, 1, 0)), "y", mass=1.0)
    return b.build().with_constraints(Distance("world", "bob", 1.0))


def test_a01_pendulum_by_a_distance():
    """Positions and the angular velocity at 1, 5, 9.99 and 10 s, and the energy 0 that the library asks for."""
    run = kt.simulate(bob(), [-1.0, 0.0], duration=10.0, dt=0.01, integrator=EXACT)
    for t, x, y, rate in (
        (1.0, 0.986291751132, -0.165010853126, 1.799309016907),
        (5.0, -0.942305435044, -0.334754338414, 2.562787568192),
        (9.99, -0.316436469914, -0.948613704576, 4.314139645836),
        (10.0, -0.275087462577, -0.961419205099, 4.343160692864),
    ):
        k = round(t / 0.01)
        assert run.q[k] == pytest.approx([x, y], abs=1e-10)
        assert x * run.v[k, 1] - y * run.v[k, 0] == pytest.approx(rate, abs=1e-9)
    assert np.abs(run.energy).max() < 1e-10


@pytest.mark.parametrize("dt", [4e-3, 2e-3])
def test_a01_meets_the_criterion_of_the_library(dt):
    """Energy error below 5e-5 J by the default method, at steps of several milliseconds."""
    run = kt.simulate(bob(), [-1.0, 0.0], duration=10.0, dt=dt)
    assert np.abs(run.energy).max() < 5e-5
    assert run.q[-1] == pytest.approx([-0.275087462577, -0.961419205099], abs=1e-3 * (dt / 4e-3) ** 4)


# A02: a chain of four-bars that passes singular positions -------------------------------------------------------------


def test_a02_passes_singular_positions():
    """N = 2: the tip and its speed after up to ten passages of the horizontal, where the mobility is 3 (RK4, 1 ms)."""
    model = kt.models.four_bar_chain(2)
    run = kt.simulate(model, duration=10.0, dt=1e-3)
    assert run.integrator == "rk4"
    for t, phi, x, y, rate in (
        (1.0, 3.337870803105, -0.195020301950, -0.980799205662, 6.807385240870),
        (2.0, 6.341033361312, 0.057815795768, 0.998327267863, 1.018964591438),
        (4.0, 12.684259593513, 0.117616102376, 0.993059138451, 1.076511180084),
        (5.0, 16.654353486650, -0.811310461003, -0.584615545352, 6.105067553525),
        (10.0, 31.750597186982, 0.328458111537, 0.944518538180, 1.506642180829),
    ):
        k = round(t / 1e-3)
        assert kt.pose(model, run.q[k], frame="crank0_tip").p_WF == pytest.approx([x, y, 0.0], abs=1e-9)
        assert run.q[k, :] == pytest.approx([phi, -phi, phi, -phi, phi], abs=1e-9)
        assert run.v[k, 0] == pytest.approx(rate, abs=1e-9)
    assert np.ptp(run.energy) < 1e-9 and gap(model, run.q[::500]) < 1e-12


def test_a02_passes_singular_positions_with_adaptive_steps():
    """As above, by dop853 at its default tolerances of 1e-10, of which ten passages leave 1e-7."""
    run = kt.simulate(kt.models.four_bar_chain(2), duration=10.0, dt=0.1, integrator="adaptive")
    assert run.q[-1, 0] == pytest.approx(31.750597186982, abs=1e-7)
    assert run.v[-1, 0] == pytest.approx(1.506642180829, abs=1e-6) and gap(run.model, run.q) < 1e-12


@pytest.mark.parametrize(("n", "closure"), [(1, "planar"), (3, "revolute"), (4, "sphere_in_cylinder")])
def test_a02_chains_are_pendulums(n, closure):
    """phi'' = g ((n + 1) / 2 + n) / ((n + 1) / 3 + n) sin(phi), by SciPy; through the horizontal twice."""
    model = kt.models.four_bar_chain(n, closure=closure)
    factor = G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    found = solve_ivp(lambda t, y: [y[1], factor * np.sin(y[0])], (0.0, 2.0), [0.0, 1.0], rtol=1e-12, atol=1e-13)
    run = kt.simulate(model, duration=2.0, dt=1e-3)
    assert run.q[-1, 0] == pytest.approx(found.y[0, -1], abs=1e-9)
    assert run.v[-1, 0] == pytest.approx(found.y[1, -1], abs=1e-9)


# A03: Andrews' squeezer -----------------------------------------------------------------------------------------------

PSIDE = {
    "beta": (0.1581077119629904e2, 0.1139920302151208e4, -0.2463176316945196e5),
    "theta": (-0.1575637105984298e2, -0.1424379294994111e4, 0.5185037701610329e5),
    "gamma": (0.4082224013073101e-1, 0.1103291221937134e2, 0.3241025686413781e6),
    "phi": (-0.5347301163226948, 0.1929337464421385e2, 0.5667493645176213e6),
    "delta": (0.5244099658805304, 0.5735699284790808, 0.1674362929479361e5),
    "omega": (0.5347301163226948, -0.1929337464421385e2, -0.5667493645176222e6),
    "epsilon": (0.1048080741042263e1, 0.3231791658026955, 0.9826520791458422e4),
}
PSIDE_FORCES = (199.1753333731910, -29.75531228015052, 23.06654119098399,
                31.45271365475927, 22.64249232082739, 11.61740700019673)  # fmt: skip


def squeezer_gaps(beta, theta, gamma, phi, delta, omega, epsilon):
    """The six equations of the test set, whose multipliers it states."""
    d, e, rr, ss, u, zf, zt = 0.028, 0.02, 0.007, 0.035, 0.04, 0.02, 0.04
    sin, cos = np.sin, np.cos
    x, y = rr * cos(beta) - d * cos(beta + theta), rr * sin(beta) - d * sin(beta + theta)
    return np.array([
        x - ss * sin(gamma) + 0.03635, y + ss * cos(gamma) - 0.03273,
        x - e * sin(phi + delta) - zt * cos(delta) + 0.06934, y + e * cos(phi + delta) - zt * sin(delta) + 0.00227,
        x - zf * cos(omega + epsilon) - u * sin(epsilon) + 0.06934,
        y - zf * sin(omega + epsilon) + u * cos(epsilon) + 0.00227,
    ])  # fmt: skip


def test_a03_andrews_squeezer():
    """Positions, velocities and accelerations at 0.03 s, after 2.5 turns of the crank, and the energy of its motor."""
    model = kt.models.andrews_squeezer()
    tau = np.zeros(7)
    tau[model.v_index("beta")] = 0.033
    run = kt.simulate(model, duration=0.03, dt=5e-3, integrator=EXACT, inputs=kt.Inputs(tau=lambda t: tau))
    a = kt.forward_dynamics(model, run.q[-1], run.v[-1], tau)
    for name, (q, v, acceleration) in PSIDE.items():
        k = model.v_index(name)
        # The accuracy of the reference: here RK4 and dop853 agree to 1e-12, 1e-11 and 1e-11 with each other.
        assert run.q[-1, k] == pytest.approx(q, rel=5e-10), name
        assert run.v[-1, k] == pytest.approx(v, rel=1e-7), name
        assert a[k] == pytest.approx(acceleration, rel=2e-6), name
    for t, name, angle in ((1, "beta", 0.211076385903), (2, "beta", 2.16011313153), (4, "beta", 8.18490588966),
                           (2, "gamma", 0.158516758001), (4, "gamma", 0.209536913385)):  # fmt: skip
        assert run.q[t, model.q_index(name)] == pytest.approx(angle, rel=1e-9)
    places = [model.v_index(name).start for name in ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")]
    end, h = run.q[-1, places].astype(complex), 1e-30
    assert np.abs(squeezer_gaps(*end)).max() < 1e-12
    rows = np.array([np.imag(squeezer_gaps(*(end + 1j * h * unit))) / h for unit in np.eye(7)])  # by coordinates
    left = (kt.inverse_dynamics(model.replace(constraints=()), run.q[-1], run.v[-1], a) - tau)[places]
    found, *_ = np.linalg.lstsq(rows, -left, rcond=None)
    assert found == pytest.approx(PSIDE_FORCES, abs=1e-7 * 199.0)  # M a + G^T lambda = f
    turned = run.q[-1, model.q_index("beta")] - run.q[0, model.q_index("beta")]
    assert run.energy[-1] - run.energy[0] == pytest.approx(0.033 * turned[0], rel=1e-9)


def test_a03_in_fixed_steps_keeps_all_fifteen_rows():
    """RK4 in 3000 steps: the crank to 1e-6, with nine redundant rows."""
    model = kt.models.andrews_squeezer()
    tau = np.zeros(7)
    tau[model.v_index("beta")] = 0.033
    run = kt.simulate(model, duration=0.03, dt=1e-5, inputs=kt.Inputs(tau=lambda t: tau), integrator="rk4")
    assert run.q[-1, model.q_index("beta")] == pytest.approx(PSIDE["beta"][0], rel=1e-6)
    assert gap(model, run.q[::300]) < 1e-12


# A05: flyball governor ------------------------------------------------------------------------------------------------

GOVERNOR = {  # t: phi, theta, s, and their rates
    0.1: (0.6221066814, 0.4961738691, 0.5238364756, 6.1037178088, -0.5226739298, 0.4592718104),
    0.5: (2.8076794884, 0.2594913815, 0.7432494248, 5.1034154220, -0.0539052185, 0.0521197802),
    1.0: (5.5863469659, 0.5218333016, 0.5014209224, 6.2711257419, 0.1408855795, -0.1221514929),
    2.0: (11.1732670757, 0.5166637974, 0.5059092943, 6.2362236144, 0.2769261886, -0.2407831470),
    5.0: (27.9425319910, 0.4828745766, 0.5355631037, 6.0224964998, 0.6139170474, -0.5436826903),
    10.0: (55.935409909, 0.390073702, 0.619622917, 5.548203623, 0.808467051, -0.747603354),
}


@pytest.mark.parametrize("duration", [1.0, pytest.param(10.0, marks=pytest.mark.sweep)])
def test_a05_stiff_flyball_governor(duration):
    """Springs of 8e5 N/m with dampers of 4e4 N s/m, by Radau; the angular momentum about the shaft is constant."""
    model = kt.models.governor()
    radau = kt.integrators.Adaptive("Radau", rtol=1e-10, atol=1e-12)
    run = kt.simulate(model, duration=duration, dt=0.1, integrator=radau)
    for t, (phi, theta, s, phi_rate, theta_rate, s_rate) in GOVERNOR.items():
        if t <= duration:
            k, rates = round(t / 0.1), [phi_rate, s_rate, theta_rate, theta_rate]
            assert run.q[k] == pytest.approx([phi, s, theta, theta], rel=2e-8 * max(1.0, t)), t
            assert run.v[k] == pytest.approx(rates, abs=1e-7 * max(1.0, t)), t
    momentum = kt.momentum(model, run.q, run.v)[:, 2]
    assert momentum == pytest.approx(53.86899865841844, rel=1e-8)


def test_a_governor_with_rigid_links_in_minimal_coordinates():
    """Two distances close loops: s = 1 - sin(theta), so Lagrange's equation in theta at constant angular momentum."""
    model = kt.models.governor("rods")
    run = kt.simulate(model, duration=1.0, dt=0.5, integrator=EXACT)
    m, M, I, axial = 0.3, 5.0, 0.3 * (1 + 1e-4) / 12, 0.3 * 2e-4 / 12
    shaft = axial + 3.0 * 0.1**2 / 6.0

    def about_shaft(x):  # of shaft, slider and two rods with balls
        c, s = np.cos(x), np.sin(x)
        rod = I * c * c + axial * s * s + m * (0.05 + 0.5 * c) ** 2 + M * (0.05 + c) ** 2
        return shaft + 2.0 * rod

    def across(x):  # inertia of theta: rods and balls turn, the slider rises with -cos(theta) theta'
        return 2.0 * (I + m / 4.0 + M) + 3.0 * np.cos(x) ** 2

    L = about_shaft(np.pi / 6) * 2.0 * np.pi
    assert L == pytest.approx(53.86899865841844, rel=1e-12)

    def rate(t, y):
        _, x, w = y
        h = 1e-30
        slope = np.imag(about_shaft(x + 1j * h)) / h
        force = 0.5 * L**2 * slope / about_shaft(x) ** 2 + 3.0 * np.cos(x) * np.sin(x) * w * w
        weight = G * np.cos(x) * (2.0 * (0.5 * m + M) + 3.0)  # V = -g sin(theta) (2 (m / 2 + M) + 3)
        return [L / about_shaft(x), w, (force + weight) / across(x)]

    found = solve_ivp(rate, (0.0, 1.0), [0.0, np.pi / 6, 0.0], rtol=1e-12, atol=1e-13, t_eval=[0.5, 1.0]).y
    for k in (0, 1):
        phi, theta, w = found[:, k]
        assert run.q[k + 1] == pytest.approx([phi, 1.0 - np.sin(theta), theta, theta], abs=1e-9)
        assert run.v[k + 1, 2] == pytest.approx(w, abs=1e-8)


# Car axis: a constraint that depends on time --------------------------------------------------------------------------


@dataclass(frozen=True)
class Across(PositionConstraint):
    """The left spring stays perpendicular to the road."""

    left: str
    road: str
    frame_fields = ("left", "road")

    def phi(self, kin):
        return kin.point(self.left).dot(kin.point(self.road))


ROAD = (lambda t: sqrt(1.0 - 0.01 * sin(10.0 * t) * sin(10.0 * t)), lambda t: 0.1 * sin(10.0 * t))
CAR = (0.0493455784275402809122, 0.496989460230171153861, 1.04174252488542151681, 0.373911027265361256927)
CAR_SPEED = (-0.0770583684040972357970, 0.00744686658723778553466, 0.0175568157537232222276, 0.770341043779251976443)


def car_axis(by_joints: bool):
    """Two masses on springs, on a road whose right end moves by joints that depend on time, or by constraints."""
    b, axes = kt.ModelBuilder("car_axis", gravity=(0.0, -1.0, 0.0)), (Prismatic((1, 0, 0)), Prismatic((0, 1, 0)))
    for body, mass in (("left", 5e-4), ("right", 5e-4), ("road", 1.0)):
        moving = body == "road" and by_joints
        X, Y = (Prescribed(joint, f) for joint, f in zip(axes, ROAD, strict=True)) if moving else axes
        b.add_body(f"{body} slide", joint=X, joint_name=f"{body} x")
        b.add_body(body, f"{body} slide", Y, f"{body} y", mass=mass)
    b.add_force(kt.forces.PointSpring("left spring", "world", "left", 1.0, 0.5))
    b.add_force(kt.forces.PointSpring("right spring", "road", "right", 1.0, 0.5))
    given = [] if by_joints else [PrescribedMotion(f"road {x}", f) for x, f in zip("xy", ROAD, strict=True)]
    return b.build().with_constraints(*given, Across("left", "road"), Distance("left", "right", 1.0))


def test_car_axis_by_accelerations():
    """Positions, velocities and multipliers at t = 3 (PSIDE), by the index-1 form and SciPy."""
    f = kt.compile(car_axis(True), "forward_dynamics", multipliers=True, checks=False)
    none, start = np.zeros(4), [0.0, 0.5, 1.0, 0.5, -0.5, 0.0, -0.5, 0.0]

    def rate(t, y):
        return np.concatenate([y[4:], f(y[:4], y[4:], none, t)[0]])

    y = solve_ivp(rate, (0.0, 3.0), start, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    assert y[:4] == pytest.approx(CAR, abs=1e-9) and y[4:] == pytest.approx(CAR_SPEED, abs=1e-8)
    # The published distance row is |p|^2 - L^2, ours a half of it over L = 1.
    lam = f(y[:4], y[4:], none, 3.0)[1]
    assert lam == pytest.approx([-0.00473688659084893324729, 2.0 * -0.00110468033125734368808], abs=1e-9)


def test_car_axis_by_steps():
    """The same by the steps of `simulate` with order 5, which keep a constraint that depends on time."""
    q, v = [0.0, 0.5, 1.0, 0.5, 1.0, 0.0], [-0.5, 0.0, -0.5, 0.0, 0.0, 1.0]
    run = kt.simulate(car_axis(False), q, v, duration=3.0, dt=1e-3, integrator="dp54")
    assert run.q[-1, :4] == pytest.approx(CAR, abs=5e-10) and run.v[-1, :4] == pytest.approx(CAR_SPEED, abs=1e-7)


# A four-bar: inverse and forward dynamics of a closed chain -----------------------------------------------------------

FOUR_BAR = {  # angle: rates of coupler and rocker by the crank; J; torques at (v, a) = (2, 0), (2, 3), (0, 0)
    0.3: (-0.468072417235, -0.294533037117, 2.112520225162, 7.356965445018, 13.694526120505, 18.822184727708),
    1.0: (-0.212959656108, 0.195361739317, 2.185840715920, 17.618332006429, 24.175854154190, 10.813521895409),
    2.0: (0.035628495585, 0.405633102362, 4.227136696617, -16.927038236068, -4.245628146216, -16.872770399060),
}
POTENTIAL = {0.3: 73.241330060541, 1.0: 83.944614773206, 2.0: 81.776332923119}


@pytest.mark.parametrize("angle", FOUR_BAR)
def test_four_bar_torques(angle):
    """The motor at the crank, by inverse and by hybrid dynamics; with a second motor the power is the same."""
    coupler, rocker, J, *torques = FOUR_BAR[angle]
    model = kt.models.four_bar(angle=angle)
    q, _ = model.keyframe("initial")
    direction = np.array([1.0, coupler - 1.0, rocker])
    tree = model.replace(constraints=())
    assert direction @ kt.crba(tree, q) @ direction == pytest.approx(J, rel=1e-10)
    assert kt.potential_energy(model, q) == pytest.approx(POTENTIAL[angle], rel=1e-11)
    for (speed, acceleration), torque in zip(((2.0, 0.0), (2.0, 3.0), (0.0, 0.0)), torques, strict=True):
        v = speed * direction
        a, tau = kt.hybrid_dynamics(
            model, q, v, np.zeros(3), [acceleration, 0.0, 0.0], forward=["coupler", "rocker"]
        )  # fmt: skip
        assert tau == pytest.approx([torque, 0.0, 0.0], abs=1e-9) and a[0] == pytest.approx(acceleration, abs=1e-10)
        assert kt.inverse_dynamics(model, q, v, a, actuated=["crank"]) == pytest.approx([torque, 0.0, 0.0], abs=1e-9)
        both = kt.inverse_dynamics(model, q, v, a, actuated=["crank", "rocker"])
        assert abs(both[2]) > 1e-3 and both @ direction == pytest.approx(torque, abs=1e-9)


def test_four_bar_free_motion():
    """From rest at 1 rad; through 5 s of more than two turns."""
    run = kt.simulate(kt.models.four_bar(), duration=5.0, dt=0.5, integrator=EXACT)
    expected = {0.5: 0.12433074272, 1.0: -2.09953199656, 2.0: -4.41708262853, 5.0: -3.36003467717}
    for t, angle in expected.items():
        assert run.q[round(t / 0.5), 0] == pytest.approx(angle, abs=1e-9)
    assert run.v[4, 0] == pytest.approx(0.28446513786, abs=1e-9) and run.v[10, 0] == pytest.approx(
        -4.25834095244, abs=1e-9
    )


def test_computed_torque_follows_a_trajectory():
    """With the exact torque of the crank at each step the closed chain follows to the error of the integrator."""
    model = kt.models.four_bar(angle=1.0)
    q0, v0 = kt.assemble(model, model.keyframe("initial")[0], fixed="crank", v=[0.6, 0.0, 0.0])

    f = kt.compile(model, "hybrid_dynamics", forward=("coupler", "rocker"), checks=False)  # stages are off the loop

    def torque(t, q, v):
        return f(q, v, np.zeros(3), [-0.3 * 4.0 * np.sin(2.0 * t), 0.0, 0.0])[1]

    run = kt.simulate(model, q0, v0, duration=1.0, dt=0.25, integrator=EXACT, controller=torque)
    assert run.q[:, 0] == pytest.approx(1.0 + 0.3 * np.sin(2.0 * np.linspace(0.0, 1.0, 5)), abs=1e-8)


# Nonholonomic ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("radius", "lean", "circle", "precession", "spin", "ratio"),
    [
        (0.05, np.radians(20.0), 0.2, 3.579796822548, 14.319187290191, 0.238923607227),
        (1.0, np.radians(45.0), 2.0, 2.153102546073, 4.306205092147, 0.610974492399),
    ],
)
def test_a_disk_rolls_on_a_steady_circle(radius, lean, circle, precession, spin, ratio):
    """After a quarter of the circle the state is turned by 90 degrees; friction over normal force at the contact."""
    model = kt.models.rolling_disk(radius, 2.0, lean=lean, circle=circle)
    q, v = model.keyframe("initial")
    # Spin along the axle: relative to the precessing frame, and the frame's own part of it.
    assert v[2] == pytest.approx(spin - precession * np.sin(lean), rel=1e-11)
    _, (normal, forward, side) = kt.forward_dynamics(model, q, v, np.zeros(6), multipliers=True)
    assert np.hypot(forward, side) / normal == pytest.approx(ratio, rel=1e-11) and normal == pytest.approx(2.0 * G)
    run = kt.simulate(model, duration=np.pi / 2 / precession, dt=1.0, integrator=EXACT)
    x, y, z = run.q[-1, :3]
    assert (x, y, z) == pytest.approx((0.0, q[0], q[2]), abs=1e-9)
    R, axle = kt.pose(model, run.q[-1], frame="disk").R_WF, np.array([0.0, -np.cos(lean), -np.sin(lean)])
    assert R[:, 2] == pytest.approx(axle, abs=1e-9) and run.energy[-1] == pytest.approx(run.energy[0], rel=1e-11)


def test_chaplygins_sleigh():
    """Speed, turning and the place of the blade at 1 and 2 s; energy; the speed of the straight motion at the end."""
    model = kt.models.chaplygin_sleigh()
    run = kt.simulate(model, duration=30.0, dt=1.0, integrator=EXACT)
    for k, values in (
        (1, (0.8916121097865, 1.0517142180687, 1.3080231195138, 0.3735623722445, 0.4059603876305)),
        (2, (1.1487755974433, 0.5577479428522, 2.0968657878852, 0.1812516962958, 1.4080231519527)),
    ):
        found = (run.v[k, 1], run.v[k, 0], run.q[k, 0], run.q[k, 1], run.q[k, 2])
        assert found == pytest.approx(values, abs=1e-10)
    assert run.v[-1, 1] == pytest.approx(1.2349089035228, abs=1e-9) and np.abs(run.v[:, 2]).max() < 1e-12
    assert run.energy == pytest.approx(run.energy[0], rel=1e-11)
