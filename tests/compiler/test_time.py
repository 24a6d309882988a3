"""The time as an input of functions, for models whose joints depend on it, and for these alone."""

import inspect
import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.calls import public_call
from kinetree.joints import Composite, MovingFrame, Polynomial, Prescribed, Revolute, Sinusoid, Spherical, TimeSpline
from kinetree.joints.time_functions import derivatives
from tests.identities.systems import close

NOW = np.linspace(0.0, 2.4, 5)
PATH = TimeSpline((0.0, 0.5, 1.2, 2.0), (0.0, 0.3, -0.2, 0.0), ends="periodic")


def model_on(*joints, n=5, seed=2):
    """A random tree of these joints."""
    return kt.models.random_tree(n, seed=seed, joints=joints)


TREE = model_on(
    Composite((MovingFrame((Sinusoid(0.3, 2.0), 0.0, PATH), "zx", (PATH, Polynomial((0.0, 0.4, 0.1)))), Revolute())),
    Prescribed(kt.joints.Cylindrical((1, 2, 2)), (None, Sinusoid(0.4, 3.0))),
    Spherical(),
)


def states(model, n=5):
    rng = np.random.default_rng(1)
    return np.array([model.random_q(rng) for _ in range(n)]), *rng.standard_normal((3, n, model.nv))


def test_compiled_agrees_with_interpreted():
    """One state, batches with times of their own, and one state at many times: rnea, aba and their derivatives."""
    q, v, a, _ = states(TREE)
    for name in ("rnea", "aba", "rnea_derivatives", "aba_derivatives", "body_accelerations", "coriolis_matrix"):
        arrays = (q, v) if name == "coriolis_matrix" else (q, v, a)
        static = {"reference": "world", "kind": "spatial"} if name == "body_accelerations" else {}
        call = public_call(name)
        batch = call(TREE, *arrays, NOW, **static)
        with kt.interpreted():
            expected = call(TREE, *arrays, NOW, **static)
        for x, y in zip(*(r if isinstance(r, tuple) else (r,) for r in (batch, expected)), strict=True):
            close(x, y, ulps=1e6)
        one = call(TREE, *(x[3] for x in arrays), NOW[3], **static)
        for x, y in zip(*(r if isinstance(r, tuple) else (r,) for r in (one, batch)), strict=True):
            assert np.array_equal(x, y[3])
    still = kt.rnea(TREE, q[0], v[0], a[0], NOW)
    assert still.shape == (len(NOW), TREE.nv)
    assert np.array_equal(still[2], kt.rnea(TREE, q[0], v[0], a[0], NOW[2]))


def test_time_is_an_input_by_place_and_by_name():
    """Last of the inputs that must be given, before external wrenches; everything finds it there."""
    q, v, a, _ = (x[0] for x in states(TREE))
    W = np.random.default_rng(3).normal(size=(TREE.nb, 6))
    f = kt.compile(TREE, "rnea", optional="f_ext")
    assert f.input_names == ("q", "v", "a", "t", "f_ext")
    expected = f(q, v, a, 0.4, W)
    assert np.array_equal(kt.rnea(TREE, q, v, a, 0.4, W), expected)
    assert np.array_equal(kt.rnea(TREE, q, v, a, f_ext=W, t=0.4), expected)
    assert np.array_equal(f(q, v, a, t=np.array(0.4), f_ext=W), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(f))(q, v, a, 0.4, W), expected)
    frame = TREE.body_names[-1]
    J = kt.jacobian(TREE, q, 0.4, frame=frame, reference="world")
    assert np.array_equal(J, kt.jacobian(TREE, q, t=0.4, frame=frame, reference="world"))
    out = np.empty(TREE.nv)
    assert kt.rnea(TREE, q, v, a, 0.4, out=out) is out and np.array_equal(out, kt.rnea(TREE, q, v, a, 0.4))


def test_what_does_not_move_bodies_takes_no_time():
    """Positions have the same manifold at all times."""
    q, v, *_ = (x[0] for x in states(TREE))
    assert kt.integrate(TREE, q, 0.1 * v).shape == kt.q_dot(TREE, q, v).shape == (TREE.nq,)
    assert kt.compile(TREE, "difference").input_names == ("q0", "q1")


def test_missing_time_is_explained():
    """The error names the joints that need it; so does a joint that is asked without one."""
    model = model_on(MovingFrame((Sinusoid(0.1, 1.0), 0, 0)), Revolute(), n=2)
    q = model.neutral()
    moving = next(model.joint_name(i) for i in model.outward() if model.joints[i].time_dependent)
    for call in (lambda: kt.crba(model, q), lambda: kt.compile(model, "crba")(q)):
        with pytest.raises(TypeError, match=rf"crba: missing t. In model .* joint '{moving}' depends on time"):
            call()
    kt.crba(model, q, 0.0)
    with pytest.raises(TypeError, match="missing t"):  # and again, once the function exists
        kt.crba(model, q)
    with pytest.raises(kt.errors.JointError, match=r"depends on time, so .*joint.at\(t\)"):
        model.joints[model.joint(moving)].transform(())
    with pytest.raises(kt.errors.NonFiniteError, match="t is nan"):
        kt.crba(model, q, np.nan)


def test_other_models_take_no_time():
    """Their calls, inputs and errors are what they were; None is no time."""
    model = kt.models.pendulum()
    zero = np.zeros(1)
    assert not model.time_dependent and model.at(1.0) is model
    assert kt.compile(model, "rnea").input_names == ("q", "v", "a")
    assert np.array_equal(kt.rnea(model, zero, zero, zero, t=None), kt.rnea(model, zero, zero, zero))
    with pytest.raises(TypeError, match="model 'pendulum' does not depend on time, so it takes no t"):
        kt.rnea(model, zero, zero, zero, t=1.0)
    with pytest.raises(TypeError):
        kt.rnea(model, zero, zero, zero, 1.0, None)


def test_signatures_and_docstrings_tell_of_time():
    """Where it may be given, and nowhere else."""
    for call, has in ((kt.rnea, True), (kt.crba, True), (kt.integrate, False), (kt.q_dot, False)):
        assert ("t" in inspect.signature(call).parameters) == has == ("\nt : (...) array" in call.__doc__)


def test_fused_functions_and_derivatives_take_one_time():
    """Several quantities share it, and all are differentiated with respect to it."""
    q, v, a, _ = (x[0] for x in states(TREE))
    f = kt.compile(TREE, ["rnea", "crba", "rnea_derivatives", "integrate"])
    assert f.input_names == ("q", "v", "a", "dv", "t")
    found = f(q, v, a, v, 0.7)
    close(found.rnea, kt.rnea(TREE, q, v, a, 0.7))
    close(found.crba, kt.crba(TREE, q, 0.7))
    d = kt.differentiate(TREE, "rnea", wrt=("t", "numbers"), numbers=("*.mass",))(q, v, a, 0.7)
    h = 1e-3
    at = [kt.rnea(TREE, q, v, a, 0.7 + k * h) for k in (-2, -1, 1, 2)]
    np.testing.assert_allclose(d.dtau_dt, (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h), rtol=1e-6, atol=1e-6)
    push = kt.differentiate(TREE, "rnea", "jvp", wrt="t")(q, v, a, 0.7, 2.0)
    close(push, 2.0 * d.dtau_dt)


def test_other_numbers_and_packed_results():
    """Parameters, statewise too, and packed functions know the time."""
    q, v, a, _ = states(TREE)
    f = kt.compile(TREE, "rnea")
    heavier = f.with_parameters({f"{TREE.body_names[-1]}.mass": np.linspace(5.0, 6.0, len(NOW))})
    one = f.with_parameters({f"{TREE.body_names[-1]}.mass": 6.0})
    close(heavier(q, v, a, NOW)[-1], one(q[-1], v[-1], a[-1], NOW[-1]))
    g = kt.compiler.packed(kt.compile(TREE, "crba"))
    close(g.unpack(g(q, NOW)), kt.crba(TREE, q, NOW))
    single = [x.astype(np.float32) for x in (q, v, a)]
    np.testing.assert_allclose(kt.rnea(TREE, *single, NOW.astype(np.float32)), f(q, v, a, NOW), rtol=2e-3, atol=2e-3)


def test_generated_sources_name_the_time():
    """C has it as an array, between the last input and the results."""
    source = kt.export.to_c(kt.compile(TREE, "aba"))
    assert "const double *t" in source.header


def test_large_models_are_told_the_time():
    """Traces with marks, of 60 bodies, agree with the interpreted algorithm."""
    model = kt.models.random_tree(60, seed=1, joints=[*(Revolute() for _ in range(5)), TREE.joints[1]], branching=0.0)
    assert model.time_dependent
    rng = np.random.default_rng(0)
    q, v, a = model.random_q(rng), *rng.normal(size=(2, model.nv))
    tau = kt.rnea(model, q, v, a, 0.4)
    with kt.interpreted():
        close(tau, kt.rnea(model, q, v, a, 0.4), ulps=1e6)


def test_numbers_of_functions_are_structure():
    """Two amplitudes are two functions; the same ones share their code and are stored between processes."""
    from kinetree.compiler.program_cache import _key, joint_classes

    models = [model_on(Composite((MovingFrame((Sinusoid(x, 2.0), 0, 0)), Revolute())), n=2) for x in (0.1, 0.2, 0.1)]
    zero = np.zeros(2)
    found = [kt.rnea(model, zero, zero, zero, 0.3) for model in models]
    assert not np.allclose(found[0], found[1]) and np.array_equal(found[0], found[2])
    spec = kt.compile(models[0], "rnea").spec
    assert _key(spec, models[0]) == _key(spec, models[2]) and joint_classes(models[0]) == joint_classes(models[2])
    foreign = model_on(MovingFrame((lambda t: t * t, 0, 0)), Revolute(), n=2)
    assert _key(spec, foreign) is None


def test_planar_trees_at_a_time():
    """A cart on a prescribed path with a pendulum, over the planar algebra, is the spatial one."""
    from kinetree.algorithms.aba import aba
    from kinetree.model.planar import PlanarModel

    b = kt.ModelBuilder("crane", gravity=(0.0, -9.81, 0.0))
    b.add_body("cart", "world", MovingFrame((Sinusoid(0.3, 2.0), PATH, 0.0), "z", (PATH,)), "path", mass=1.0,
               com=(0.1, 0.0, 0.0), inertia=(1.0, 1.0, 1.0))  # fmt: skip
    b.add_body("rope", "cart", Revolute(), "hook", mass=2.0, com=(0.0, -0.7, 0.0), inertia=(0.1, 0.1, 0.1))
    b.add_body("load", "rope", Revolute(), "end", ((0.0, -1.4, 0.0), (0.0, 0.0, 0.0)), mass=2.0, com=(0.0, -0.2, 0.0),
               inertia=(0.1, 0.1, 0.1))  # fmt: skip
    model = b.build()
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2)).tolist()
    planar = PlanarModel(model)
    close(aba(planar.at(0.6), q, v, tau), kt.aba(model, q, v, tau, 0.6))


# Functions of time -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", ["natural", "rest", "periodic"])
def test_splines_in_time(ends):
    """They meet their values, are smooth at knots and ends as stated, and repeat or go on as stated."""
    times, values = (0.2, 0.5, 1.2, 2.0), (0.1, 0.3, -0.2, 0.1)
    f = TimeSpline(times, values, ends)
    np.testing.assert_allclose([f(t) for t in times], values, atol=1e-15)
    for t in times:
        before, after = (np.array(derivatives(f, t + s)) for s in (-1e-9, 1e-9))
        smooth = 2 if ends == "rest" and t in (times[0], times[-1]) else 3
        np.testing.assert_allclose(before[:smooth], after[:smooth], atol=1e-6)
    if ends == "periodic":
        np.testing.assert_allclose(derivatives(f, 0.7), derivatives(f, 0.7 - 3 * 1.8), atol=1e-12)
    else:
        assert derivatives(f, -1.0)[2] == derivatives(f, 5.0)[2] == 0.0
        assert (derivatives(f, -1.0)[1] == 0.0) is (ends == "rest")
        np.testing.assert_allclose(derivatives(f, 0.2)[2 if ends == "natural" else 1], 0.0, atol=1e-12)


def test_splines_are_scipys():
    """The same interpolant as scipy.interpolate.CubicSpline with the same ends, second derivatives included."""
    from scipy.interpolate import CubicSpline

    times, values = (0.2, 0.5, 1.2, 2.0, 2.1), (0.1, 0.3, -0.2, 0.4, 0.1)
    t = np.linspace(0.2001, 2.0999, 50)
    for ends, kind in (("natural", "natural"), ("rest", "clamped"), ("periodic", "periodic")):
        found, expected = derivatives(TimeSpline(times, values, ends), t), CubicSpline(times, values, bc_type=kind)
        for order in range(3):
            np.testing.assert_allclose(found[order], expected(t, order), rtol=1e-11, atol=1e-11)


def test_functions_of_time_are_refused_by_name():
    """What cannot be a function of time says so when the joint is made."""
    import math

    for wrong, message in (
        (lambda t: math.sin(t), "cannot be differentiated .* use sin, cos"),
        (np.sin, "cannot be differentiated"),
        ("up", "expected a number or a function of time"),
        (lambda t: [t, t], "cannot be differentiated"),
    ):
        with pytest.raises(kt.errors.JointError, match=rf"moving_frame joint: position\[2\].*{message}"):
            MovingFrame((0.0, 0.0, wrong))
    for make, message in (
        (lambda: MovingFrame((0.0, 0.0)), "position has 2 functions, expected 3"),
        (lambda: MovingFrame(axes="zq", angles=(0.1, 0.2)), "axes 'zq' and 2 angles"),
        (lambda: Prescribed(Spherical(), 1.0), "has nq=4 and nv=3"),
        (lambda: Prescribed(kt.joints.Planar(), {0: PATH}), "not the rates of its positions"),
        (lambda: Prescribed(Revolute(), {"height": PATH}), r"has no coordinate 'height'; it has 0 \(angle\)"),
        (lambda: Prescribed(Revolute(), (None,)), "at least one function"),
        (lambda: Prescribed(Prescribed(Revolute(), PATH), PATH), "depends on time itself"),
        (lambda: TimeSpline((0.0, 1.0), (0.0, 1.0), "periodic"), "ends where it began"),
        (lambda: TimeSpline((0.0, 0.0), (0.0, 1.0)), "do not increase"),
        (lambda: Sinusoid(np.inf, 1.0), "sinusoid: amplitude must be finite; got inf"),
    ):
        with pytest.raises(kt.errors.JointError, match=message):
            make()
