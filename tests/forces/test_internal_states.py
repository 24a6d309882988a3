"""Internal states and inputs of force elements, and forces without a potential: dynamics, derivatives, errors."""

from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.force_elements import gauss_newton_slopes
from kinetree.algorithms.implicit_forces import exact_slopes
from kinetree.errors import KinetreeError, ModelError, ShapeError, UnknownNameError
from kinetree.forces import ForceElement
from tests.compiler.test_c_source import loaded, with_gcc
from tests.forces.test_elements import along, machine, state
from tests.forces.user_elements import ActivatedMuscle, Drag, Servo, Thruster


def flyer():
    """A tree with four elements: a thruster, a muscle, a servo and a drag, whose states and inputs lie in between."""
    model = machine(Drag)
    return model.with_forces(
        Thruster("jet", "tip", 0.7, 0.2, 0.1), ActivatedMuscle("biceps", "j2", "b0", "b2", 3.0, 0.05),
        Servo("servo", "j3", 5.0, 0.3),
    )  # fmt: skip


X = np.array([2.0, 0.4, -0.3])
U = np.array([1.5, 0.9, 0.2, -0.6])


def test_names_sizes_and_slices():
    """By element, in the order of the model's elements; kept by surgery, pickles and numbers."""
    model = flyer()
    assert (model.nx, model.nu) == (3, 4)
    assert model.state_names == ("jet.thrust", "biceps.activation", "biceps.filtered")
    assert model.input_names == ("jet.command", "biceps.excitation", "servo.position", "servo.bias")
    assert (model.x_index("biceps"), model.u_index("servo")) == (slice(1, 3), slice(2, 4))
    assert model.x_index("drag") == slice(0, 0)
    np.testing.assert_array_equal(model.initial_state(), [0.7, 0.3, 0.5])
    assert kt.surgery.rename(model, prefix="left_").state_names[0] == "left_jet.thrust"
    bare = kt.models.pendulum()
    assert (bare.nx, bare.nu, bare.state_names, bare.initial_state().shape) == (0, 0, (), (0,))
    with pytest.raises(UnknownNameError, match="no force element named 'bicep' in model 'machine'. Did you mean 'bic"):
        model.u_index("bicep")


def test_the_dynamics_take_them_and_default_to_the_initial_state():
    """Forward, inverse, hybrid and passive forces are one law; rates are those of the elements; batches are states."""
    model = flyer()
    q, v = state(model, 3)
    tau = np.random.default_rng(0).normal(size=model.nv)
    a = kt.forward_dynamics(model, q, v, tau, x=X, u=U)
    np.testing.assert_allclose(kt.inverse_dynamics(model, q, v, a, x=X, u=U), tau, atol=1e-9 * np.abs(a).max())
    passive = kt.dynamics.passive_joint_forces(model, q, v, X, U)
    np.testing.assert_allclose(kt.aba(model, q, v, tau + passive), a, rtol=1e-9, atol=1e-9)
    hybrid, _ = kt.hybrid_dynamics(model, q, v, tau, 0.0 * a, x=X, u=U, forward=model.joint_names)
    np.testing.assert_allclose(hybrid, a, rtol=1e-9, atol=1e-9)
    default = kt.forward_dynamics(model, q, v, tau, x=model.initial_state(), u=np.zeros(4))
    np.testing.assert_allclose(kt.forward_dynamics(model, q, v, tau), default, rtol=1e-12)
    rates = kt.dynamics.force_state_rates(model, q, v, X, U)
    biceps = model.elements[2]
    p = [kt.pose(model, q, frame=name)[1] for name in ("b0", "b2")]
    v_C = [kt.velocity(model, q, v, frame=name, reference="local_world_aligned")[3:] for name in ("b0", "b2")]
    d = p[1] - p[0]
    length = np.linalg.norm(d) + 0.3 * q[model.q_index("j2")][0]
    rate = d @ (v_C[1] - v_C[0]) / np.linalg.norm(d) + 0.3 * v[model.v_index("j2")][0]
    expected = [(1.5 - 2.0) / 0.2, (0.9 - 0.4) / biceps.time_constant, 3.0 * (length + 0.1 * rate + 0.3)]
    np.testing.assert_allclose(rates, expected, rtol=1e-12)
    many = kt.dynamics.passive_joint_forces(model, q, v, np.stack([X, 2.0 * X]), U)
    np.testing.assert_array_equal(many[0], passive)
    with kt.interpreted():
        np.testing.assert_allclose(kt.dynamics.force_state_rates(model, q, v, X, U), rates, rtol=1e-12)


@pytest.mark.parametrize("wrt", ["x", "u", "q"])
def test_derivatives_are_those_of_differences(wrt):
    """d(acceleration) and d(rate) with respect to internal states, inputs and positions."""
    model = flyer()
    q, v = state(model, 1)
    for name, before in (("forward_dynamics", (np.ones(model.nv),)), ("force_state_rates", ())):
        call = kt.compile(model, name, optional=("x", "u"))
        exact = kt.differentiate(model, name, wrt=wrt, optional=("x", "u"))(q, v, *before, X, U)
        if wrt == "q":
            found = along(model, lambda q: call(q, v, *before, X, U), q)  # noqa: B023
        else:
            steps = [(h, 0.0 * U) for h in 1e-6 * np.eye(3)] if wrt == "x" else [(0.0 * X, h) for h in 1e-6 * np.eye(4)]
            ends = ((call(q, v, *before, X + h, U + k), call(q, v, *before, X - h, U - k)) for h, k in steps)
            found = np.stack([(b - a) / 2e-6 for b, a in ends], axis=-1)
        np.testing.assert_allclose(exact, found, atol=1e-6 * max(1.0, np.abs(found).max()))


def test_slopes_are_those_at_the_states_and_inputs():
    """-df/dq and -df/dv at x and u; Gauss-Newton's D is the exact one, K symmetric."""
    model = flyer()
    q, v = state(model, 2)
    x, u = X.tolist(), U.tolist()
    f = kt.dynamics.passive_joint_forces
    K, D = (np.array(part, float) for part in exact_slopes(model, q.tolist(), v.tolist(), x, u))
    np.testing.assert_allclose(K, -along(model, lambda q: f(model, q, v, X, U), q), atol=1e-6 * np.abs(K).max())
    ends = ((f(model, q, v + h, X, U), f(model, q, v - h, X, U)) for h in 1e-6 * np.eye(model.nv))
    np.testing.assert_allclose(D, -np.stack([(b - a) / 2e-6 for b, a in ends], axis=-1), atol=1e-6 * np.abs(D).max())
    K_gn, D_gn = (np.array(part, float) for part in gauss_newton_slopes(model, q.tolist(), v.tolist(), x, u))
    np.testing.assert_allclose(D_gn, D, atol=1e-12 * np.abs(D).max())
    np.testing.assert_allclose(K_gn, K_gn.T, atol=1e-12 * np.abs(K_gn).max())


def test_a_thruster_is_an_external_wrench():
    """The same accelerations by f_ext: the force at the frame's origin, its moment about the world's."""
    model = machine(Thruster)
    q, v = state(model, 5)
    (jet,) = model.elements
    R, p = kt.pose(model, q, frame=jet.frame)
    force = 4.0 * R[:, 2]
    wrench = np.concatenate((np.cross(p, force) - jet.drag * force, force))
    f_ext = np.zeros((model.nb, 6))
    f_ext[model.frame(jet.frame).body] = wrench
    tau = np.zeros(model.nv)
    found = kt.forward_dynamics(model, q, v, tau, x=[4.0])
    np.testing.assert_allclose(found, kt.forward_dynamics(model.replace(forces=[]), q, v, tau, f_ext), rtol=1e-9)


def test_a_force_is_along_its_velocity():
    """The power of the joint forces is that of the pairs, also along differences of velocities."""

    @dataclass(frozen=True)
    class Winch(ForceElement):
        name: str
        start: str
        end: str
        frame_fields = ("start", "end")
        inputs = ("tension",)

        def force(self, kin, x, u):
            d = kin.point(self.end) - kin.point(self.start)
            return [(kin.time_derivative(kt.forces.norm(d)), -u.tension)]

    model = machine(Drag)
    spring = kt.forces.PointSpring("w", "b0", "tip", 0.0, 0.0, 1.0)
    q, v = state(model, 7)
    winch = kt.dynamics.passive_joint_forces(model.replace(forces=[Winch("w", "b0", "tip")]), q, v, u=[2.0])
    p = [kt.pose(model, q, frame=name)[1] for name in ("b0", "tip")]
    v_F = [kt.velocity(model, q, v, frame=name, reference="local_world_aligned")[3:] for name in ("b0", "tip")]
    rate = (p[1] - p[0]) @ (v_F[1] - v_F[0]) / np.linalg.norm(p[1] - p[0])
    assert winch @ v == pytest.approx(-2.0 * rate)
    damper = kt.dynamics.passive_joint_forces(model.replace(forces=[spring]), q, v)
    np.testing.assert_allclose(winch, damper * 2.0 / rate, rtol=1e-10, atol=1e-12)


def made(**methods):
    """An element of a class with these attributes on a machine."""
    cls = type("Odd", (ForceElement,), {"__annotations__": {"name": str, "frame": str}, **methods})
    return dataclass(frozen=True)(cls)("odd", "b1")


def test_wrong_laws_are_named():
    """Names, rates, initial states and pairs that are not as they should be."""
    model = machine(Drag)
    q, v = state(model)
    force = lambda self, kin, x, u: [(kin.velocity(self.frame), kin.point(self.frame))]  # noqa: E731
    rate = lambda self, kin, x, u: [1.0]  # noqa: E731
    for element, message in (
        (made(states=("a", "a"), force=force, state_rate=rate), r"Odd: states is \('a', 'a'\), expected a tuple of"),
        (made(inputs="excitation", force=force), "inputs is 'excitation', expected a tuple"),
        (made(states=("a",), force=force), r"has states, a: define state_rate\(kin, x, u\)"),
        (made(states=("a",), force=force, state_rate=rate, initial_state=lambda self: []),
         r"initial_state\(\) gives 0 numbers, expected 1, one for each of its states: a"),
        (made(states=("a",), force=force, state_rate=rate, initial_state=lambda self: [np.nan]), "of a is nan"),
    ):  # fmt: skip
        with pytest.raises(KinetreeError, match=message):
            model.replace(forces=[element])
    for element, message in (
        (made(states=("a", "b"), force=force, state_rate=rate), "state_rate gives 1 rates, expected 2, one for each"),
        (made(force=lambda self, kin: [3.0]), r"force\(kin\) gives 3.0, expected pairs \(velocity, force\)"),
        (made(force=lambda self, kin: [(kin.velocity(self.frame), 1.0)]), "of two vectors or two scalars"),
        (made(force=lambda self, kin: [(kin.point(self.frame),) * 2]), "something that does not move"),
    ):
        with pytest.raises(ModelError, match=message):
            kt.dynamics.passive_joint_forces(model.replace(forces=[element]), q, v)
    with pytest.raises(ShapeError, match=r"x has shape \(2,\), expected \(..., 3\) for model 'machine'"):
        kt.dynamics.passive_joint_forces(flyer(), q, v, [1.0, 2.0])


@with_gcc
def test_generated_c_takes_them(tmp_path):
    """forward_dynamics and a step with x and u as C: the library's results."""
    model = flyer()
    q, v = state(model, 1)
    tau = np.ones(model.nv)
    a = np.empty(model.nv)
    call = loaded(kt.export.to_c(kt.compile(model, "forward_dynamics", optional=("x", "u"))), tmp_path)
    call(q, v, tau, X, U, a)
    np.testing.assert_allclose(a, kt.forward_dynamics(model, q, v, tau, x=X, u=U), rtol=1e-12)
