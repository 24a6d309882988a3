"""Gradients of rollouts by the adjoint steps: difference quotients, PyTorch and JAX, batches, segments."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import (
    ArgumentError,
    NonFiniteError,
    ShapeError,
    SimulationError,
    UnknownNameError,
    UnsupportedError,
)
from kinetree.scenes.parts import chain
from kinetree.simulation import DifferentiableRollout, reverse_pass, rollout_tensors

STEPS, DT = 12, 0.01
# Of extrapolated difference quotients, relative to the largest derivative; the gradient itself is exact to rounding.
TOLERANCE = 1e-8


def of_state(s):
    """An objective that depends on all entries of a state, differently on each."""
    total = 0.0
    for k, x in enumerate((*s.q, *s.v, *s.x)):
        total = total + (0.3 + 0.1 * k) * x * x + 0.2 * x
    return total


def of_inputs(s):
    """The same of the state, and the effort."""
    total = of_state(s)
    for k, x in enumerate((*s.tau, *s.u)):
        total = total + (0.1 + 0.01 * k) * x * x
    return total


@functools.cache
def tree(seed: int):
    """A tree with springs and dampers in its joints."""
    model = kt.models.random_tree(4, seed)
    rng = np.random.default_rng(seed)
    stiffness, damping = rng.uniform(0.5, 2.0, (2, model.nv))
    return model.replace(stiffness=stiffness, damping=damping) if seed % 2 else model.replace(damping=damping)


def state(model, seed: int = 0):
    rng = np.random.default_rng(seed)
    return model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=(STEPS, model.nv))


def checked_start(model, q, v, tau, **options):
    """The gradient by the start against difference quotients."""
    given = {name: options.pop(name) for name in ("x0", "control", "f_ext", "reference", "t0") if name in options}
    roll = DifferentiableRollout(model, of_inputs, of_state, **options)
    found = roll(q, v, tau, DT, **given)

    def along_q(d):
        return roll(kt.integrate(model, q, d), v, tau, DT, **given).value

    def along_v(d):
        return roll(q, d, tau, DT, **given).value

    for function, x, slopes in ((along_q, np.zeros(model.nv), found.q0), (along_v, v, found.v0)):
        check = kt.check_gradient(function, x, slopes, directions=3, step=1e-2)
        assert check.error < TOLERANCE + 10.0 * check.uncertainty, str(check)
    return roll, found


@pytest.mark.parametrize(
    "integrator", ["semi_implicit", "rk4", "linearly_implicit", "implicit_midpoint", "variational", "bdf2"]
)
def test_each_step_is_differentiated_exactly(integrator):
    """Reverse mode through 12 steps of a ball joint's and a hinge's motion, by each kind of step."""
    model = kt.models.random_tree(2, 0, joints=[kt.joints.Spherical(), kt.joints.Revolute()])
    q, v, tau = state(model)
    roll, found = checked_start(model, q, v, tau, integrator=integrator)
    check = kt.check_gradient(lambda x: roll(q, v, x, DT).value, tau, found.tau, directions=4, vectorized=True)
    assert check.error < TOLERANCE, str(check)


PUBLISHED = (  # scheme, forces of joints 2 and 1 over 1e5, value, derivatives by them
    ("bdf1", (0.0, 0.0), 11041.0581468453, (9545.73759969912, 8438.55365979942)),
    ("bdf1", (1.0, -0.5), 9770.68372681683, (104497.381403864, 22466.6425953497)),
    ("bdf2", (0.0, 0.0), 8943.98554613134, (-12129.38612, -7201.39801)),
    ("bdf2", (1.0, -0.5), 9797.40428301229, (-136183.34665, -25429.91488)),
)


@pytest.mark.parametrize(("integrator", "p", "value", "slopes"), PUBLISHED)
def test_published_gradients_of_backward_differentiation(integrator, p, value, slopes):
    """Differentiable REDMAX, scenes 100 and 101: a chain of two links with springs, pulled to a target.

    The derivatives for BDF2 are extrapolated differences with 8 digits: the published adjoint leaves the start out.
    """
    q0 = np.array([np.pi / 2, np.pi / 4])
    model = chain("chain", 2).build().replace(stiffness=1e4, damping=1e4, spring_reference=q0)
    tip, side = model.frames[-1].name, 10.0 if integrator == "bdf1" else -10.0

    def miss(s):
        d = s.point(tip, (10.0, 0.0, 0.0)) - kt.spatial.Vector3(side, 0.0, -10.0)
        return 50.0 * d.dot(d)

    tau = 1e5 * np.array(p[::-1])
    found = kt.rollout_gradient(
        model, q0, [1.0, 1.0], tau, 0.01, steps=100, terminal=miss, integrator=integrator
    )  # fmt: skip
    p = np.array(p)
    np.testing.assert_allclose(found.value + 0.5e-2 * p @ p, value, rtol=1e-11)
    np.testing.assert_allclose(
        1e5 * found.tau[::-1] + 1e-2 * p, slopes, rtol=1e-10 if integrator == "bdf1" else 1e-7
    )  # fmt: skip


def test_rollouts_by_bdf2():
    """They are the runs of `simulate`, whatever is recorded; loops and changing coordinates are refused by name."""
    model = kt.models.random_tree(3, 1, joints=[kt.joints.Spherical(), kt.joints.Revolute()])
    q, v, _ = state(model)
    roll = kt.simulation.Rollout(model, "bdf2")
    path = roll(q, v, None, DT, steps=STEPS)
    run = kt.simulate(model, q, v, duration=STEPS * DT, dt=DT, integrator="bdf2")
    np.testing.assert_allclose(path.q, run.q, atol=1e-10)
    np.testing.assert_allclose(path.v, run.v, atol=1e-9)
    few = roll(q, v, None, DT, steps=STEPS, record=kt.Record(every=4))
    np.testing.assert_array_equal(few.q, path.q[::4])
    many = roll(np.stack([q, q]), v, None, DT, steps=STEPS)
    np.testing.assert_array_equal(many.q[1], path.q)
    with kt.interpreted():
        np.testing.assert_allclose(roll(q, v, None, DT, steps=3).q, path.q[:4], atol=1e-13)
    with pytest.raises(UnsupportedError, match="no loops"):
        kt.rollout(kt.models.four_bar(), [0.0, 0.0, 0.0], None, None, DT, steps=2, integrator="bdf2", checks=False)
    turning = kt.models.random_tree(1, 0, joints=[kt.joints.SphericalExponential()])
    with pytest.raises(UnsupportedError, match="change their coordinates"):
        kt.rollout(turning, turning.neutral(), None, None, DT, steps=2, integrator="bdf2")


@pytest.mark.seeds(3)
def test_trees_with_all_joint_types(seed):
    """Positions of any joint: the gradient is that along the manifold."""
    model = tree(seed)
    checked_start(model, *state(model, seed), integrator="semi_implicit")


@dataclass(frozen=True)
class Lagging(kt.forces.ForceElement):
    """A motor with a lag and a spring: an internal state, an input."""

    name: str
    joint: str
    time_constant: float
    stiffness: float
    states, inputs = ("torque",), ("command",)

    def force(self, kin, x, u):
        return [(kin.rate(self.joint), x.torque - self.stiffness * kin.coordinate(self.joint))]

    def state_rate(self, kin, x, u):
        return [(u.command - x.torque) / self.time_constant]


@functools.cache
def lagging():
    """A double pendulum with such a motor."""
    model = kt.models.double_pendulum()
    return model.with_forces(Lagging("motor", model.joint_names[0], 0.05, 2.0))


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "bdf1"])
def test_internal_states_inputs_and_numbers(integrator):
    """Gradients with respect to x0, control, external wrenches and numbers of the model."""
    model = lagging()
    rng = np.random.default_rng(3)
    q, v, tau = state(model)
    given = {"x0": rng.normal(size=1), "control": rng.normal(size=(STEPS, 1)), "f_ext": rng.normal(size=(STEPS, 3, 6))}
    wrt = {"wrt": ("tau", "control", "f_ext", "numbers"), "numbers": ("*.mass", "motor.*")}
    roll, found = checked_start(model, q, v, tau, integrator=integrator, **given, **wrt)
    for name, slopes in (("x0", found.x0), ("control", found.control), ("f_ext", found.f_ext)):
        check = kt.check_gradient(
            lambda x, name=name: roll(q, v, tau, DT, **given | {name: x}).value, given[name], slopes, directions=3
        )
        assert check.error < TOLERANCE, f"{name}: {check}"
    all_names, values = model.numbers().names, np.array(model.numbers().values)
    places = [all_names.index(name) for name in roll.numbers]

    def of_numbers(x):
        rows = np.tile(values, (len(x), 1))
        rows[:, places] = x
        return roll.with_parameters(rows)(q, v, tau, DT, **given).value

    check = kt.check_gradient(of_numbers, values[places], found.numbers, vectorized=True, step=1e-3)
    assert check.error < TOLERANCE, str(check)


def test_loops():
    """With a projection in each step, along changes of the start that keep the loop closed."""
    model = kt.models.four_bar()
    q, v = kt.assemble(model, [0.4, 0.3, 1.0]), np.zeros(model.nv)
    tau = np.full((STEPS, model.nv), 0.5)
    roll = DifferentiableRollout(model, None, of_state, integrator="rk4")
    found = roll(q, v, tau, DT)
    check = kt.check_gradient(lambda x: roll(q, v, x, DT).value, tau, found.tau, directions=4, vectorized=True)
    assert check.error < TOLERANCE, str(check)
    G = kt.closed_loops.null_space(model, q)[:, 0]

    def along(s):
        moved = kt.closed_loops.project_position(model, kt.integrate(model, q, s[0] * G))
        return roll(moved, v, tau, DT).value

    check = kt.check_gradient(along, np.zeros(1), [G @ found.q0], step=1e-2)
    assert check.error < 1e-6, str(check)  # a start is closed to 1e-10 only


def test_batches_segments_and_single_rollouts_agree(monkeypatch):
    """Rollouts of a batch, those of single states, and long ones that are computed twice in segments."""
    model, rng = tree(1), np.random.default_rng(4)
    q = np.array([model.random_q(rng) for _ in range(6)]).reshape(2, 3, -1)
    v, tau = rng.normal(size=(3, model.nv)), rng.normal(size=(2, 1, STEPS, model.nv))
    roll = DifferentiableRollout(model, of_inputs, of_state, integrator="semi_implicit")
    many = roll(q, v, tau, DT)
    assert many.value.shape == (2, 3) and many.q0.shape == many.v0.shape == (2, 3, model.nv)
    assert many.tau.shape == (2, 3, STEPS, model.nv)
    one = roll(q[1, 2], v[2], tau[1, 0], DT)
    monkeypatch.setattr(reverse_pass, "KEPT", 5 * 8 * 6 * (model.nq + model.nv))  # five steps at a time
    parts = roll(q, v, tau, DT)
    for name in ("value", "q0", "v0", "tau"):
        np.testing.assert_allclose(getattr(many, name)[1, 2], getattr(one, name), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(getattr(parts, name), getattr(many, name), rtol=1e-12, atol=1e-12)


def test_constant_inputs_have_gradients_without_time():
    """Forces held over all steps: the sum of those over the steps."""
    model = kt.models.double_pendulum()
    q, v, _ = state(model)
    roll = DifferentiableRollout(model, of_inputs, of_state, integrator="rk4")
    tau = np.array([0.3, -0.2])
    steady, varying = roll(q, v, tau, DT, steps=STEPS), roll(q, v, np.tile(tau, (STEPS, 1)), DT)
    np.testing.assert_allclose(steady.tau, varying.tau.sum(axis=0), rtol=1e-12)
    assert roll(q, v, tau[None], DT, steps=STEPS).tau.shape == (1, 2)
    assert roll(q, v, None, DT, steps=STEPS).tau.shape == (STEPS, 2)
    assert steady.control is None and steady.numbers is None


def test_references_and_cotangents():
    """A tracking objective with a reference over time equals the pullback of its derivatives by the states."""
    model = kt.models.double_pendulum()
    q, v, tau = state(model)
    reference = np.random.default_rng(7).normal(size=(STEPS + 1, 2))

    def miss(s):
        return sum(((a - b) * (a - b) for a, b in zip(s.q, s.reference, strict=True)), start=0.0)

    roll = DifferentiableRollout(model, miss, miss, integrator="rk4")
    found = roll(q, v, tau, DT, reference=reference)
    path = kt.rollout(model, q, v, tau, DT, integrator="rk4").q
    weights = np.append(np.full(STEPS, DT), 1.0)[:, None]
    np.testing.assert_allclose(found.value, (weights * (path - reference) ** 2).sum(), rtol=1e-13)
    two = roll(q, v, tau, DT, reference=np.stack([reference, 0.0 * reference]))  # two targets of one motion
    np.testing.assert_array_equal(two.tau[0], found.tau)
    assert two.value.shape == (2,) and two.q0.shape == (2, model.nv)
    same = roll.pull_back(q, v, tau, DT, 2.0 * weights * (path - reference), np.zeros((STEPS + 1, 2)))
    for name in ("q0", "v0", "tau"):
        np.testing.assert_allclose(getattr(same, name), getattr(found, name), rtol=1e-11, atol=1e-13)


def test_time_dependent_models():
    """A crank whose angle is a function of time: instants have the time, references are not needed."""
    trees = (kt.models.random_tree(3, seed, time_dependent=True) for seed in range(40))
    model = next(tree for tree in trees if tree.time_dependent)
    q, v, tau = state(model, 2)
    roll = DifferentiableRollout(model, lambda s: of_inputs(s) * s.t, of_state, integrator="rk4")
    found = roll(q, v, tau, DT, t0=0.3)
    check = kt.check_gradient(lambda x: roll(q, x, tau, DT, t0=0.3).value, v, found.v0, directions=3)
    assert check.error < TOLERANCE, str(check)


def test_descent_by_the_gradient_moves_the_tip_to_a_target():
    """Descent by the gradient of kinematics in the objective."""
    arm = kt.models.double_pendulum()
    frame, tau = arm.frames[-1].name, np.zeros((50, 2))

    def miss(s):
        d = s.point(frame) - kt.spatial.Vector3(*s.reference)
        return d.dot(d)

    target = kt.pose(arm, [0.5, -0.3], frame=frame)[1]
    values = []
    for _ in range(60):
        found = kt.rollout_gradient(arm, [0.1, 0.1], None, tau, 0.02, terminal=miss, integrator="rk4", reference=target)
        values.append(float(found.value))
        tau = tau - 20.0 * found.tau
    assert values[-1] < 1e-2 * values[0]


def test_named_errors():
    """What is missing, misspelled, or not finite."""
    model = kt.models.double_pendulum()
    q, v, tau = state(model)
    with pytest.raises(UnknownNameError, match="variable named 'torque'"):
        DifferentiableRollout(model, wrt=("torque",))
    with pytest.raises(UnknownNameError, match=r"\*\.masses"):
        DifferentiableRollout(model, wrt=("numbers",), numbers=("*.masses",))
    with pytest.raises(UnsupportedError, match="f_ext is a variable"):
        DifferentiableRollout(model, wrt=("f_ext",), integrator="rk4")(q, v, tau, DT)
    with pytest.raises(ArgumentError, match="running"):
        DifferentiableRollout(model, running=3.0)
    with pytest.raises(ArgumentError, match="expected a number"):
        kt.rollout_gradient(model, q, v, tau, DT, terminal=lambda s: s.q, integrator="rk4")
    with pytest.raises(ShapeError, match="one row for each"):
        kt.rollout_gradient(model, q, v, tau, DT, terminal=of_state, integrator="rk4", reference=np.zeros((4, 1)))
    with pytest.raises(ShapeError, match="leading axes of reference"):
        many = np.stack([q, q, q])
        kt.rollout_gradient(model, many, v, tau, DT, terminal=of_state, integrator="rk4", reference=np.zeros((2, 1, 1)))
    with pytest.raises(SimulationError, match="not finite"):
        root = kt.spatial.scalar.sqrt
        kt.rollout_gradient(
            model, [0.0, 0.0], None, 0.0 * tau, DT, running=lambda s: root(s.v[0] ** 2), integrator="rk4"
        )
    with pytest.raises(ShapeError, match="shape"):
        kt.check_gradient(lambda x: 0.0, np.zeros(2), np.zeros(3))
    with pytest.raises(NonFiniteError):
        kt.check_gradient(lambda x: np.nan, np.zeros(2), np.zeros(2))


def test_check_gradient_finds_a_wrong_entry():
    """A gradient with one entry off by a millionth."""
    x = np.array([0.4, -1.2, 2.0])
    slopes = np.cos(x)
    assert kt.check_gradient(lambda x: np.sin(x).sum(), x, slopes).error < 1e-11
    slopes[1] += 1e-6
    check = kt.check_gradient(lambda x: np.sin(x).sum(), x, slopes)
    assert 0.9e-6 < check.error * np.abs(slopes).max() < 1.1e-6
    assert "[1]" in str(check).splitlines()[2]


def test_functions_of_tensors_take_internal_states():
    """On arrays, without JAX or PyTorch: the motions of `rollout`, and gradients, by the states at the start, too."""
    model, rng = lagging(), np.random.default_rng(0)
    bridge = rollout_tensors._Bridge(model, "semi_implicit", "projection", True, 1)
    assert bridge.names == ("q0", "v0", "tau", "control", "x0")
    q, v, tau = state(model)
    arrays = bridge.arrays((np.stack([q, 0.5 * q]), v, tau), {"control": rng.normal(size=(STEPS, 1)), "x0": [0.4]})
    path = bridge.values(DT, *arrays)
    weights = [rng.normal(size=x.shape) for x in path]
    found = bridge.pulled_back(DT, arrays, weights)

    def at(k, x):
        found = bridge.values(DT, *arrays[:k], x, *arrays[k + 1 :])
        return sum((w * y).sum() for w, y in zip(weights, found, strict=True))

    for k, slopes in enumerate(found):
        x = np.asarray(arrays[k], float)
        assert kt.check_gradient(partial(at, k), x, slopes, directions=2, step=1e-2).error < TOLERANCE
    np.testing.assert_array_equal(bridge.arrays((q, v, tau, tau[:, :1]), {})[-1], model.initial_state())
    for given, named, error, message in (
        ((q, v, tau), {}, TypeError, "expected q0, v0, tau, control, x0, found 3 arrays"),
        ((q, v, tau, tau), {}, ShapeError, r"control has shape \(12, 2\), expected \(..., T, 1\)"),
        ((q, v, tau, tau[:, :1]), {"x0": [0.0, 1.0]}, ShapeError, r"x0 has shape \(2,\), expected \(..., 1\)"),
    ):
        with pytest.raises(error, match=message):
            bridge.arrays(given, named)


def test_tensors_of_pytorch():
    """PyTorch's own comparison with differences, with a batch of one argument."""
    torch = pytest.importorskip("torch", reason="the package torch is not installed")
    roll = kt.simulation.rollout_to_torch(kt.models.cart_pole(), 0.02, integrator="rk4")
    options = {"dtype": torch.float64, "requires_grad": True}
    args = torch.randn(3, 2, **options), torch.randn(2, **options), torch.randn(5, 2, **options)
    assert torch.autograd.gradcheck(roll, args)


def test_arrays_of_jax():
    """jit, grad and vmap, against the gradient without JAX."""
    jax = pytest.importorskip("jax", reason="the package jax is not installed")
    model, rng = kt.models.cart_pole(), np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 2)), rng.normal(size=2), rng.normal(size=(5, 2))
    roll = kt.simulation.rollout_to_jax(model, 0.02, integrator="rk4")

    def last(q, v, tau):
        return (roll(q, v, tau)[0][..., -1, :] ** 2).sum()

    found = jax.jit(jax.grad(last, argnums=(0, 1, 2)))(q, v, tau)
    mapped = jax.vmap(jax.grad(last), in_axes=(0, None, None))(q, v, tau)
    expected = kt.rollout_gradient(
        model, q, v, tau, 0.02, terminal=lambda s: s.q[0] * s.q[0] + s.q[1] * s.q[1], integrator="rk4"
    )
    for x, y in zip(found, (expected.q0, expected.v0.sum(axis=0), expected.tau.sum(axis=0)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)  # float32 unless JAX is set to float64
    np.testing.assert_allclose(mapped, expected.q0, rtol=1e-4, atol=1e-4)
