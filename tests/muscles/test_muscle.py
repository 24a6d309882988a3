"""Muscles as force elements: derivatives through the equilibrium, simulation, detached values, bad parameters."""

import dataclasses

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.implicit_forces import implicit_terms
from kinetree.errors import ArgumentError, ModelError
from kinetree.spatial.scalar import detach, maximum, with_slopes
from kinetree.trace.differentiate import adjoints, tangents
from kinetree.trace.evaluate import evaluate
from kinetree.trace.graph import Graph
from kinetree.trace.lowering import lower

PATH = (kt.tendons.ViaPoint("world", (0.1, 0.0, 0.0)), kt.tendons.ViaPoint("bob", (0.0, 0.0, -0.3)))


@pytest.fixture(scope="module", params=["rigid", "compliant"])
def arm(request):
    return kt.models.arm26(request.param)


def state(arm, seed=0):
    """Positions, velocities and internal states near equilibrium, excitations."""
    rng = np.random.default_rng(seed)
    q, v, u = rng.uniform(0.2, 1.2, 2), rng.normal(size=2), rng.uniform(0.0, 1.0, 6)
    x = np.array(arm.initial_internal(), dtype=float)
    of_one = arm.nx // arm.n_muscles
    x[::of_one] = rng.uniform(0.1, 1.0, 6)
    x = kt.muscles.equilibrate(arm, q, x=x)
    if of_one == 2:
        x[1::2] *= rng.uniform(0.99, 1.002, 6)
    return q, v, x, u


def test_derivatives_pass_through_the_equilibrium(arm):
    """d(acceleration)/dx, d(state rates)/dx and /dq of the solved fiber rates against differences."""
    q, v, x, u = state(arm)
    tau = np.zeros(2)
    compiled = kt.differentiate(arm, "force_state_rates", wrt=("q", "x"), optional=("x", "u"))(q, v, x, u)
    by_q, by_x = compiled

    def rates(q, x):
        return kt.dynamics.force_state_rates(arm, q, v, x=x, u=u)

    for found, at in ((by_x, lambda d: rates(q, x + d)), (by_q, lambda d: rates(q + d, x))):
        h = 1e-7
        expected = np.transpose([(at(h * e) - at(-h * e)) / (2 * h) for e in np.eye(found.shape[-1])])
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * np.abs(expected).max())
    found = kt.differentiate(arm, "forward_dynamics", wrt="x", optional=("x",))(q, v, tau, x)
    h = 1e-7
    steps = h * np.eye(arm.nx)
    ahead, behind = (kt.forward_dynamics(arm, q, v, tau, x=x + s * steps) for s in (1, -1))
    expected = np.transpose((ahead - behind) / (2 * h))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_simulation_by_excitations(arm):
    """Named excitations; implicit steps, of tendons that are stiff as well, approach Runge and Kutta's with order 1."""
    q, _, x, _ = state(arm, 1)
    biceps = lambda t: 0.3 + 0.2 * np.sin(20.0 * t)  # noqa: E731
    inputs = kt.Inputs(control={"BICshort.excitation": biceps, "TRIlat.excitation": 0.2})
    options = {"duration": 0.1, "x0": x, "inputs": inputs}
    fine = kt.simulate(arm, q, dt=2e-4, integrator="rk4", **options)
    errors = []
    for dt in (1e-3, 5e-4):
        run = kt.simulate(arm, q, dt=dt, integrator="linearly_implicit", **options)
        errors.append(np.abs(run.q[-1] - fine.q[-1]).max())
    assert errors[1] < 0.7 * errors[0] and errors[1] < 0.01
    index = list(arm.state_names).index("BICshort.activation")
    assert 0.05 < fine.x[-1, index] < 0.6
    balance = fine.energy_balance
    assert np.abs(balance.remainder).max() < 1e-4 * balance.scale


def test_muscles_work_in_rollouts(arm):
    """A rollout with excitations over time is the simulation with the same ones."""
    q, _, x, _ = state(arm, 2)
    steps, dt = 20, 1e-3
    u = 0.5 + 0.4 * np.sin(np.arange(steps) * 0.3)
    q_r, _, x_r = kt.rollout(arm, q, None, None, dt, x0=x, control={"BRA.excitation": u}, integrator="semi_implicit")
    inputs = kt.Inputs(control={"BRA.excitation": lambda t: u[min(int(t / dt + 0.5), steps - 1)]})
    run = kt.simulate(arm, q, duration=steps * dt, dt=dt, x0=x, integrator="semi_implicit", inputs=inputs)
    np.testing.assert_allclose(q_r[-1], run.q[-1], atol=1e-12)
    np.testing.assert_allclose(x_r[-1], run.x[-1], atol=1e-12)


def test_detached_values_have_no_derivative_and_cost_nothing():
    """Of detach(x) y only y is differentiated, also in a second derivative; nothing of it is left in programs."""
    graph = Graph()
    x, y = graph.input(0, 0), graph.input(0, 1)
    product = detach(x) * y * x
    seeds = {x.id: {0: graph.ONE}, y.id: {1: graph.ONE}}
    (rates,) = tangents(graph, [product.id], seeds)
    gradient = adjoints(graph, {product.id: graph.ONE}, [x.id, y.id])
    for found in (gradient, [rates[0], rates[1]]):
        outputs = [("y", (2,), [graph.wrap(k) for k in found])]
        code = lower(graph, [("x", (2,))], outputs).code
        assert [op for op, *_ in code] == ["input", "input", "mul", "mul"]  # x y and x x
    assert detach(2.5) == 2.5 and detach(np.ones(2)).tolist() == [1.0, 1.0]
    cube = with_slopes(detach(x * x * x), lambda z: [3.0 * z * z], x)
    ids = [cube.id]
    for _ in range(2):
        ids.append(tangents(graph, ids[-1:], seeds)[0][0])
    assert evaluate(graph, ids, lambda op, args: 2.0) == [8.0, 12.0, 12.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_isometric_force": -1.0}, "max_isometric_force is -1.0, expected a positive force"),
        ({"optimal_fiber_length": 0.0}, "optimal_fiber_length is 0.0, expected a positive length"),
        ({"tendon_slack_length": -0.1}, "tendon_slack_length is -0.1, expected a length"),
        ({"pennation": 1.6}, "pennation is 1.6, expected an angle in rad, 0 or more and less than pi/2"),
        ({"pennation": 1.5}, "max_pennation is .*, expected more than the pennation"),
        ({"activation_time": 0.0}, "activation_time is 0.0, expected a positive time"),
        ({"minimum_activation": 2.0}, "minimum_activation is 2.0, expected a number from 0 to 1"),
        ({"fiber_damping": 0.0, "tendon": "compliant"}, "fiber_damping is 0.0, expected a positive number where the"),
        ({"tendon_slack_length": 0.0, "tendon": "compliant"}, "tendon_slack_length is 0.0, expected a positive"),
        ({"tendon": "soft"}, "tendon is 'soft', expected .*rigid"),
        ({"curves": "hill"}, "name is 'hill'"),
        ({"max_contraction_velocity": "fast"}, "max_contraction_velocity is 'fast'"),
    ],
)
def test_impossible_parameters(options, message):
    """Each is an error with the muscle's name, the value and the value expected."""
    given = {"max_isometric_force": 100.0, "optimal_fiber_length": 0.1, "tendon_slack_length": 0.1, **options}
    with pytest.raises((ArgumentError, ModelError), match=message):
        kt.forces.Muscle("flexor", PATH, **given)


@dataclasses.dataclass(frozen=True)
class Parabola(kt.muscles.Curve):
    stiffness: float

    def __call__(self, x):
        return self.stiffness * maximum(x - 1.0, 0.0) ** 2

    def slope(self, x):
        return 2.0 * self.stiffness * maximum(x - 1.0, 0.0)

    def integral(self, x):
        return self.stiffness / 3.0 * maximum(x - 1.0, 0.0) ** 3


def test_curves_of_a_users_own():
    """A parabola for the passive fiber: tensions differ from Millard's by F0 times the difference of both curves."""
    millard = kt.muscles.curves("millard")
    soft = dataclasses.replace(millard, name="soft", passive_force_length=Parabola(2.0))
    path = (kt.tendons.ViaPoint("world", (0.1, 0.0, 0.0)), kt.tendons.ViaPoint("bob", (0.0, 0.0, -0.2)))
    q, v, x = [1.9], [0.3], [0.4]
    models = [
        kt.models.pendulum().with_forces(kt.forces.Muscle("m", path, 100.0, 0.1, 0.12, curves=curves))
        for curves in (millard, soft)
    ]
    with kt.interpreted():
        (before,), (after,) = (kt.muscles.tensions(model, q, v, x=x) for model in models)
        fiber = (kt.muscles.lengths(models[0], q)[0] - 0.12) / 0.1
        assert fiber > 1.5
        change = 100.0 * (2.0 * (fiber - 1.0) ** 2 - millard.passive_force_length(fiber))
        assert after - before == pytest.approx(change, rel=1e-12)
        compliant = kt.models.pendulum().with_forces(
            kt.forces.Muscle("m", path, 100.0, 0.1, 0.12, curves=soft, tendon="compliant")
        )
        state = kt.muscles.equilibrate(compliant, q, x=[0.4, 0.1])
        ratio, stretch = state[1] / 0.1, (kt.muscles.lengths(compliant, q)[0] - state[1]) / 0.12
        pull = 0.4 * millard.active_force_length(ratio) + 2.0 * (ratio - 1.0) ** 2
        assert millard.tendon_force_length(stretch) == pytest.approx(pull, rel=1e-9)
        assert kt.dynamics.force_state_rates(compliant, q, [0.0], x=state)[1] == pytest.approx(0.0, abs=1e-9)


def test_slack_and_extreme_states_give_finite_forces():
    """Paths shorter than the tendon, fibers below their bound and far beyond, fast motions: finite; NaN stays NaN."""
    for tendon, curves in (("rigid", "millard"), ("compliant", "millard"), ("compliant", "cubic"), ("rigid", "thelen")):
        muscle = kt.forces.Muscle("m", PATH, 100.0, 0.1, 0.5, 0.3, tendon=tendon, curves=curves)
        model = kt.models.pendulum().with_forces(muscle)
        f = kt.compile(model, "forward_dynamics", optional=("x",), checks=False)
        for fiber in (-0.1, 0.0, 1e-3, 0.5):
            for v in (-100.0, 100.0):
                assert np.isfinite(f([0.3], [v], [0.0], [0.5, fiber][: model.nx])).all()
        assert np.isnan(f([0.3], [0.0], [0.0], np.full(model.nx, np.nan))).all()
        rate = kt.dynamics.force_state_rates(model, [0.3], [0.0], x=[0.5, 1e-3][: model.nx], u=[1.0])
        assert np.isfinite(rate).all() and (tendon == "rigid" or rate[1] >= 0.0)


def test_thelen_fibers_slow_down_with_activation():
    """At a quarter of the largest velocity and no activation the force over velocity is that of full speed."""
    muscle = kt.forces.Muscle("m", PATH, 100.0, 0.1, 0.2, curves="thelen", minimum_activation=0.0, fiber_damping=0.0)
    model = kt.models.pendulum().with_forces(muscle)
    T = kt.muscles.tensions(model, [0.3], [0.0], x=[0.4])
    fast = dataclasses.replace(muscle, max_contraction_velocity=5.0)
    assert T == kt.muscles.tensions(kt.models.pendulum().with_forces(fast), [0.3], [0.0], x=[0.4])
    R = float(kt.muscles.moment_arms(model, [0.3])[0, 0])
    v = 0.55 * 10.0 * 0.1 / R  # shortens with the largest velocity at activation 0.4, 0.25 + 0.75 * 0.4
    passive = kt.muscles.tensions(model, [0.3], [0.0], x=[0.0])
    assert kt.muscles.tensions(model, [0.3], [v], x=[0.4])[0] == pytest.approx(passive[0], abs=1e-9)


def test_stiffness_and_damping_are_rank_one_in_the_moment_arm(arm):
    """Sueda's notes, eqs. 1.50 to 1.64: D = sum dT/dv r r^T; the Gauss-Newton K has dT/dL without its negative part."""
    q, v, x, _ = state(arm, 3)
    v = 0.1 * v
    R, L = kt.muscles.moment_arms(arm, q), kt.muscles.lengths(arm, q)
    rates, of_one, h = -R @ v, arm.nx // arm.n_muscles, 1e-7
    D, K = np.zeros((2, 2)), np.zeros((2, 2))
    for n, muscle in enumerate(arm.muscles):
        own = x[of_one * n : of_one * (n + 1)]

        def tension(length, rate, own=own, muscle=muscle):
            return float(muscle.parts(length, rate, own).tension)

        slope = (tension(L[n], rates[n] + h) - tension(L[n], rates[n] - h)) / (2 * h)
        D += slope * np.outer(R[n], R[n])
        passive = of_one == 1
        base = [tension(L[n] + s * h, rates[n]) for s in (1, -1)]
        rest = dataclasses.replace(muscle, minimum_activation=0.0, fiber_damping=1e-12)
        stored = [float(rest.parts(L[n] + s * h, 0.0, [0.0, *own[1:]]).tension) if passive else 0.0 for s in (1, -1)]
        by_stored, by_all = ((ahead - behind) / (2 * h) for ahead, behind in (stored, base))
        K += (by_stored + max(by_all - by_stored, 0.0)) * np.outer(R[n], R[n])
    found = kt.dynamics.damping_matrix(arm, q, v, x=x)
    np.testing.assert_allclose(found, D, rtol=1e-5, atol=1e-8 * np.abs(K).max())
    found = kt.dynamics.stiffness_matrix(arm, q, v, x=x, method="gauss_newton")
    np.testing.assert_allclose(found, K, rtol=1e-5, atol=1e-6 * np.abs(K).max())


def elbow_error(s):
    """Half the squared error of the elbow."""
    return 0.5 * (s.q[1] - 1.0) * (s.q[1] - 1.0)


def test_gradients_of_rollouts_by_excitations():
    """The adjoint of steps whose matrix has slopes of the equilibrium, its second derivatives, against differences."""
    arm = kt.models.arm26("compliant")
    q, _, x, _ = state(arm, 4)
    steps, rng = 30, np.random.default_rng(5)
    control = rng.uniform(0.1, 0.6, (steps, arm.nu))
    options = {"dt": 5e-4, "terminal": elbow_error, "integrator": "semi_implicit", "x0": x}
    found = kt.rollout_gradient(arm, q, None, None, control=control, wrt=("control",), **options)

    def value(control=control, x=x):
        q_end = kt.rollout(arm, q, None, None, 5e-4, x0=x, control=control, integrator="semi_implicit").q[-1]
        return 0.5 * (q_end[1] - 1.0) ** 2

    assert value() == pytest.approx(float(found.value), rel=1e-12)
    for gradient, at in ((found.control, lambda d: value(control=control + d)), (found.x0, lambda d: value(x=x + d))):
        along = rng.normal(size=gradient.shape) * (0.02 if gradient.shape == x.shape else 1.0)
        h = 1e-5
        expected = (at(h * along) - at(-h * along)) / (2 * h)
        assert np.sum(gradient * along) == pytest.approx(expected, rel=1e-5)


def test_single_precision(arm):
    """Accelerations and rates of internal states in float32 are those in float64 to its precision."""
    q, v, x, u = state(arm, 6)
    f = kt.compile(arm, ["forward_dynamics", "force_state_rates"], optional=("x", "u"))
    single = f(*(each.astype(np.float32) for each in (q, v, np.zeros(2), x, u)))
    for short, full in zip(single, f(q, v, np.zeros(2), x, u), strict=True):
        assert short.dtype == np.float32
        np.testing.assert_allclose(short, full, atol=3e-4 * np.abs(full).max())


def pulled_pendulum():
    """A pendulum with one compliant muscle; q, v, and internal states in equilibrium."""
    path = (kt.tendons.ViaPoint("world", (0.1, 0.0, 0.0)), kt.tendons.ViaPoint("bob", (0.0, 0.0, -0.2)))
    flexor = kt.forces.Muscle("flexor", path, 200.0, 0.1, 0.2, 0.1, tendon="compliant")
    arm = kt.models.pendulum().with_forces(flexor)
    q, v = np.array([0.5]), np.array([-1.0])
    return arm, q, v, kt.muscles.equilibrate(arm, q, x=[0.3, 0.1])


def test_slopes_of_implicit_steps_have_the_fiber_yield():
    """Tension and stiffness, with states that follow the path by linearly implicit Euler: against differences."""
    arm, q, v, x = pulled_pendulum()
    h, e = 1e-3, 1e-5
    x = x * [1.0, 1.001]

    def rates(q, x):
        return kt.dynamics.force_state_rates(arm, q, v, x=x, u=[0.8])

    J = np.stack([(rates(q, x + d) - rates(q, x - d)) / (2 * e) for d in e * np.eye(2)], axis=1)
    S = h * np.linalg.inv(np.eye(2) - h * J)

    def pull(q_now):  # linear in the change of the states
        change, near = S @ rates(q_now, x), kt.muscles.tensions(arm, q_now, v, x=x)[0]
        at_q = [kt.muscles.tensions(arm, q, v, x=x + d)[0] for d in (e * change, -e * change)]
        return near + (at_q[0] - at_q[1]) / (2 * e)

    (added,), (force,) = implicit_terms(arm, q.tolist(), v.tolist(), h, x.tolist(), [0.8])
    slope = (pull(q + e) - pull(q - e)) / (2 * e)
    arm_of = -kt.muscles.moment_arms(arm, q)[0, 0]
    assert float(added[0]) == pytest.approx(h * h * arm_of * slope, rel=1e-5)
    assert float(force) == pytest.approx(-arm_of * (pull(q) + h * slope * v[0]), rel=1e-6)
    rigid = (kt.muscles.tensions(arm, q + e, v, x=x) - kt.muscles.tensions(arm, q - e, v, x=x))[0] / (2 * e)
    assert 0.0 < slope / arm_of < 0.95 * rigid / arm_of


def test_fibers_follow_the_path_within_implicit_steps():
    """Semi-implicit steps with compliant tendons: order 1 with the errors of exact slopes, stable at 4 ms; without a
    matrix the same step.
    """
    arm, q, v, x = pulled_pendulum()
    drive, duration = {name: 0.5 for name in arm.input_names}, 0.04

    def end(integrator, dt):
        roll = kt.simulation.Rollout(arm, integrator, threads=1)
        return roll(q, v, None, dt, steps=round(duration / dt), x0=x, control=drive).q[-1]

    fine = 2.0 * end("semi_implicit", 1e-5) - end("semi_implicit", 2e-5)
    errors = [np.abs(end("semi_implicit", dt) - fine).max() for dt in (4e-3, 1e-3, 2.5e-4)]
    assert np.all(np.diff(np.log2(errors)) < -1.7) and errors[0] < 1e-3
    assert errors[2] < 2.0 * np.abs(end("linearly_implicit", 2.5e-4) - fine).max()

    inputs = kt.Inputs(control=drive)
    direct, free = (
        kt.simulate(arm, q, v, x0=x, duration=0.02, dt=1e-3, inputs=inputs, integrator=kt.integrators.LinearlyImplicit(
            "passive", "gauss_newton", solver))
        for solver in ("direct", "conjugate_gradients")
    )  # fmt: skip
    np.testing.assert_allclose(free.q, direct.q, atol=1e-10)
    np.testing.assert_allclose(free.x, direct.x, atol=1e-10)
