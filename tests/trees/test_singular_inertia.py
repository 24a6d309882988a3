"""Positions at which the joint-space inertia has no inverse: calls that need one say so, and name the joints."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import ALGORITHMS
from kinetree.algorithms.regularity import inertia_scales
from kinetree.compiler.calls import public_call
from kinetree.compiler.function import Function
from kinetree.errors import InertiaError, SingularityError
from kinetree.joints import Free, Prismatic, Revolute
from kinetree.spatial import Transform, rotations

MOMENTS = np.diag([0.3, 0.4, 0.5])
INVERTING = {
    "aba", "aba_world", "aba_derivatives", "forward_dynamics", "forward_dynamics_crba", "semi_implicit_acceleration",
    "semi_implicit_step", "rk4_step", "inverse_mass_matrix", "inverse_mass_product", "articulated_factorization",
    "divide_and_conquer", "floating_base_forward_dynamics", "hybrid_aba", "hybrid_crba", "hybrid_recursive",
    "hybrid_dynamics", "ltl", "ltdl", "ltl_factorize", "ltdl_factorize",
}  # fmt: skip


def hinges(oblique: bool = False):
    """A body on hinges about x, y and z that meet in a point, massless bodies between them; singular at pitch pi/2."""
    turn = rotations.euler("xyz", (0.4, -0.7, 1.1)) if oblique else rotations.euler("xyz", (0.0, 0.0, 0.0))
    b = kt.ModelBuilder("hinges")
    for name, parent, axis, joint in (("a", "world", 0, "roll"), ("b", "a", 1, "pitch"), ("c", "b", 2, "yaw")):
        direction = turn @ kt.spatial.Vector3.unit(axis)
        heavy = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": MOMENTS} if name == "c" else {}
        b.add_body(name, parent, Revolute(tuple(direction)), joint, **heavy)
    return b.build()


def folded(planar: bool):
    """Two bars of one length with a point mass at the end: folded back at pi, the mass stands on the first axis."""
    b = kt.ModelBuilder("folded", gravity=(0.0, -9.81, 0.0))
    b.add_body("bar", joint=Revolute((0, 0, 1)), joint_name="shoulder")
    at = Transform.shift(kt.spatial.Vector3(0.7, 0.0, 0.0))
    b.add_body("hand", "bar", Revolute((0, 0, 1)), "elbow", placement=at,
               mass=2.0, com=(0.7, 0.0, 0.0), inertia=np.zeros((3, 3)))  # fmt: skip
    return b.build().planar() if planar else b.build()


def given(spec, model, q, batch=()):
    """Arguments of an algorithm at q: ones for forces and velocities, M where a matrix is asked for."""
    arrays = {}
    for name in spec.inputs:
        shape = spec.shape(name, model)
        arrays[name] = q if name in ("q", "q0", "q1") else kt.crba(model, q) if name == "M" else np.full(shape, 0.01)
        arrays[name] = np.broadcast_to(arrays[name], batch + shape).copy()
    return arrays


def plain(spec) -> bool:
    """Whether a call takes no choices but joints, nor factors made by another call, nor iterates to other positions."""
    known = spec.name in INVERTING or spec.function.__module__.startswith("kinetree.algorithms")
    return known and set(spec.static) <= {"forward"} and not {"L", "D", "K", "S", "D_inv"} & set(spec.inputs)


@pytest.mark.parametrize("oblique", [False, True])
def test_every_algorithm_refuses_a_singular_inertia_or_gives_numbers(oblique):
    """Over the registry, interpreted: no infinity and no NaN; the joints that move no mass together are named."""
    model, refused = hinges(oblique), set()
    q = np.array([0.3, np.pi / 2, 0.7])
    for name, spec in ALGORITHMS.items():
        if not plain(spec):
            continue
        static = {"forward": tuple(range(1, model.nb))} if spec.static else {}
        f = Function(spec, model, (), static, True)
        try:
            with kt.interpreted():
                found = f(**given(spec, model, q))
        except SingularityError as error:
            assert set(error.joints) == {"roll", "yaw"} and name in str(error)
            refused.add(name)
        except InertiaError as error:  # formulations that invert the inertia of every body
            assert "massless" in str(error)
        else:
            for x in found if isinstance(found, tuple) else (found,):
                assert np.isfinite(x).all(), name
    assert refused >= INVERTING


@pytest.mark.parametrize("name", ["aba", "aba_derivatives", "forward_dynamics", "inverse_mass_matrix", "ltdl"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_code_notices(name, dtype):
    """One state and a batch, of which the state is named; the other states are fine by themselves."""
    model, q = hinges(), np.array([0.3, np.pi / 2, 0.7])
    f = kt.compile(model, name)
    one = {x: y.astype(dtype) for x, y in given(f.spec, model, q).items()}
    with pytest.raises(SingularityError, match=rf"{name}: .*'roll', 'yaw'"):
        f(**one)
    many = {x: y.astype(dtype) for x, y in given(f.spec, model, q, (40,)).items()}
    many["q"][:, 1] += 0.02 * np.arange(-17, 23)
    with pytest.raises(SingularityError, match=rf"{name} at batch index 17: .*'roll', 'yaw'"):
        f(**many)
    many["q"][17, 1] -= 0.01
    found = f(**many)
    assert all(np.isfinite(x).all() for x in (found if isinstance(found, tuple) else (found,)))


def test_derivatives_and_fused_functions_notice():
    """A derivative is traced through a graph of its own, whose pivots are those of the function."""
    model, q, v = hinges(), np.array([0.3, np.pi / 2, 0.7]), np.zeros(3)
    for f in (kt.differentiate(model, "aba", wrt="q"), kt.compile(model, ["rnea", "forward_dynamics", "crba"])):
        with pytest.raises(SingularityError, match="'roll', 'yaw'"):
            f(**given(f.spec, model, q))
    with pytest.raises(SingularityError, match="'roll', 'yaw'"):
        kt.simulate(model, q, v, duration=0.01)
    with pytest.raises(SingularityError, match="'roll', 'yaw'"):
        kt.dynamics.articulated_inverse_inertia(model, q, handles=["c"])
    with pytest.raises(SingularityError, match="'roll', 'yaw'"):
        kt.dynamics.factorize(model, q)
    assert not np.isfinite(kt.compile(model, "aba", checks=False)(q, v, v)).all()


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("call", ["aba", "forward_dynamics"])
def test_a_mass_on_the_first_axis(planar, call):
    """M itself is rounding there, so its pivot is compared with what the model could move, not with its diagonal."""
    model = folded(planar)
    with pytest.raises(SingularityError, match="joints? .*'shoulder'"):
        public_call(call)(model, [0.2, np.pi], np.zeros(2), np.zeros(2))
    assert np.isfinite(public_call(call)(model, [0.2, np.pi - 1e-5], np.zeros(2), np.zeros(2))).all()


def test_singular_at_every_position():
    """A massless floating base whose only joint turns about one of its own axes: the joint is named, not a division."""
    b = kt.ModelBuilder("wheel")
    b.add_body("base", joint=Free(), joint_name="float")
    b.add_body("wheel", "base", Revolute((0, 0, 1)), "axle", mass=1.0, com=(0.1, 0.2, 0.3), inertia=MOMENTS)
    model = b.build()
    q, v = model.neutral(), np.zeros(model.nv)
    for call, arguments in (("aba", (q, v, v)), ("forward_dynamics", (q, v, v)), ("ltdl", (q,))):
        with pytest.raises(SingularityError, match="'float', 'axle' can move together") as refused:
            public_call(call)(model, *arguments)
        assert "every position" in str(refused.value)


@pytest.mark.parametrize("oblique", [False, True])
@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6])
def test_close_to_singular_is_regular(oblique, distance):
    """The condition of M grows with the squared distance, and so does the error against extended precision."""
    model, q = hinges(oblique), np.array([0.3, np.pi / 2 + distance, 0.7])
    v, tau = np.array([0.1, -0.2, 0.3]), np.array([0.4, 0.5, -0.6])
    exact = kt.aba(model, *(np.asarray(x, np.longdouble) for x in (q, v, tau)))
    for call in (kt.aba, kt.forward_dynamics, kt.dynamics.divide_and_conquer):
        error = np.max(np.abs(call(model, q, v, tau) - exact)) / np.max(np.abs(exact))
        assert error < 100 * np.finfo(float).eps / distance**2


def test_small_inertias_are_not_singular():
    """A needle spins about its own axis with a trillionth of its inertia across; a gram beside a thousand tons."""
    b = kt.ModelBuilder("needle", accept_impossible_inertia=True)
    b.add_body("ship", joint=Prismatic((1, 0, 0)), joint_name="rail", mass=1e6, com=(0, 0, 0), inertia=1e9 * MOMENTS)
    b.add_body("needle", "ship", Revolute((0, 0, 1)), "spin", mass=1.0, inertia=np.diag([1.0, 1.0, 1e-12]))
    b.add_body("crumb", "ship", Prismatic((0, 1, 0)), "slide", mass=1e-3, inertia=np.zeros((3, 3)))
    model = b.build()
    tau = np.array([1e6 + 1.0, 1e-12, 1e-3])
    for call in (kt.aba, kt.forward_dynamics, kt.dynamics.forward_dynamics_crba):
        np.testing.assert_allclose(call(model, np.zeros(3), np.zeros(3), tau), 1.0, rtol=2e-9)


def test_scales_bound_the_diagonal():
    """What pivots are compared with is no less than half of the diagonal of M anywhere (joints that turn)."""
    model, rng = kt.models.chain_gu(6), np.random.default_rng(2)
    M = kt.crba(model, [model.random_q(rng) for _ in range(200)])
    scales = np.array(inertia_scales(model))
    assert np.all(np.diagonal(M, axis1=1, axis2=2).max(axis=0) <= 2.0 * scales)


def test_a_matrix_that_is_not_positive_definite():
    """LTL has no real factor: an error names the joints; LTDL shows the negative pivot, and refuses a zero one."""
    model = kt.models.double_pendulum()
    M = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(SingularityError, match="ltl_factorize: the given M is not positive definite"):
        kt.sparse.ltl_factorize(model, M)
    assert kt.sparse.ltdl_factorize(model, M).D.min() == -3.0
    with pytest.raises(SingularityError, match="ltdl_factorize"):
        kt.sparse.ltdl_factorize(model, np.ones((2, 2)))


@pytest.mark.parametrize("interpreted", [False, True])
def test_normalize_refuses_a_zero_quaternion(interpreted):
    """No direction to keep, alone and in a batch; a tiny or long one has a direction."""
    model = kt.load("quadruped", floating_base=True)
    q = model.neutral()
    Q = np.tile(q, (6, 1))
    Q[4, 3:7] = 0.0
    with kt.interpreted() if interpreted else pytest.MonkeyPatch.context():
        for bad, where in ((Q[4], "normalize: "), (Q, "normalize at batch index 4: ")):
            with pytest.raises(kt.errors.QuaternionError, match=where + "the quaternion of joint .* is zero"):
                kt.normalize(model, bad)
        Q[4, 3:7] = 1e200
        with pytest.raises(kt.errors.QuaternionError, match="too long"):
            kt.normalize(model, Q)
        Q[4, 3:7] = 3e-6, 0.0, 4e-6, 0.0
        np.testing.assert_allclose(kt.normalize(model, Q)[4, 3:7], (0.6, 0.0, 0.8, 0.0), rtol=1e-15)


def test_the_zero_quaternion_is_no_rotation_anywhere():
    """Numbers and arrays, in the spatial and the Lie group floor, and in joints."""
    zero, zeros = (0.0,) * 4, tuple(np.zeros((4, 3)))
    for q in (zero, zeros):
        for call in (rotations.quaternion_normalize, kt.liegroup.so3.quaternion_log, kt.joints.Spherical().normalize):
            with pytest.raises(kt.errors.QuaternionError, match="is no rotation"):
                call(q)
