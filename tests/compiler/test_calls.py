"""The plain calls: what they accept, what they give back, and what they say when something is wrong."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import ALGORITHMS
from kinetree.compiler.calls import public_call
from kinetree.errors import NonFiniteError, QuaternionError, ShapeError, UnknownNameError
from kinetree.joints import Free, Revolute


@pytest.fixture(scope="module")
def arm():
    """A double pendulum: joints "shoulder" and "elbow", bodies "upper" and "lower"."""
    return kt.models.double_pendulum()


@pytest.fixture(scope="module")
def floater():
    """A free body "trunk" with a leg on the hinge "hip": nq = 8, nv = 7."""
    b = kt.ModelBuilder("floater")
    b.add_body("trunk", joint=Free(), joint_name="base", mass=3.0, inertia=(0.1, 0.2, 0.25))
    b.add_body("leg", "trunk", Revolute(), "hip", mass=1.0, com=(0.3, 0.0, 0.0), inertia=(0.01, 0.02, 0.02))
    return b.build()


def states(model, *batch, seed=0):
    """q, v, a and f_ext for a batch of any shape."""
    rng = np.random.default_rng(seed)
    q = np.array([model.random_q(rng) for _ in range(int(np.prod(batch)))]).reshape(*batch, model.nq)
    v, a = rng.standard_normal((2, *batch, model.nv))
    return q, v, a, rng.standard_normal((*batch, model.nb, 6))


both_ways = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])


def raising(compiled, error, call):
    """The text of the error that ``call`` raises, compiled or interpreted."""
    with pytest.raises(error) as caught:
        if compiled:
            call()
        else:
            with kt.interpreted():
                call()
    return str(caught.value)


# Shapes ---------------------------------------------------------------------------------------------------------------


@both_ways
def test_wrong_shape_lists_the_joints(floater, compiled):
    """The message says what was found and expected, and where the entries belong."""
    q, v, a, _ = states(floater)
    text = raising(compiled, ShapeError, lambda: kt.rnea(floater, q[:5], v, a))
    assert text == (
        "rnea: q has shape (5,), expected (..., 8) for model 'floater' (nq=8: free 'base' 7, revolute 'hip' 1)."
    )


def test_wrong_shape_asks_whether_q_and_v_were_confused(floater):
    """A q of the length of v, and the other way around."""
    q, v, a, _ = states(floater)
    with pytest.raises(ShapeError, match=r"q has shape \(7,\).* Did you pass a velocity\? nv is 7"):
        kt.rnea(floater, v, v, a)
    with pytest.raises(ShapeError, match=r"v has shape \(8,\).* Did you pass positions\? nq is 8"):
        kt.rnea(floater, q, q, a)


def test_states_in_columns_are_recognized(arm):
    """A (2, 5) array for five states of a model with two freedoms."""
    with pytest.raises(ShapeError, match="Did you pass one state per column"):
        kt.crba(arm, np.zeros((2, 5)))


def test_long_models_are_not_listed_in_full():
    """Six joints are shown, the others counted."""
    with pytest.raises(ShapeError, match=r"'joint6' 1, \.\.\. 14 more joints\)"):
        kt.crba(kt.models.chain_gu(20), np.zeros(3))


def test_attributes_of_a_shape_error(arm):
    """Name, found and expected shape are attributes; a ShapeError is a ValueError."""
    with pytest.raises(ValueError) as caught:
        kt.crba(arm, np.zeros(3))
    assert (caught.value.name, caught.value.found, caught.value.expected) == ("q", (3,), (2,))


def test_wrong_shape_of_external_forces(arm):
    """f_ext needs a row for every body, the world included."""
    with pytest.raises(ShapeError, match=r"f_ext has shape \(2, 6\), expected \(\.\.\., 3, 6\).*the world is row 0"):
        kt.rnea(arm, np.zeros(2), np.zeros(2), np.zeros(2), np.zeros((2, 6)))


def test_entries_must_be_real_numbers(arm):
    """Complex numbers, text and ragged lists are refused by name."""
    for bad in (np.zeros(2, complex), ["a", "b"]):
        with pytest.raises(ShapeError, match="crba: q has entries of type .*, expected real numbers"):
            kt.crba(arm, bad)
    with pytest.raises(ShapeError, match="crba: q is not an array"):
        kt.crba(arm, [[0.0, 1.0], [2.0]])


@both_ways
def test_batches_that_do_not_broadcast(arm, compiled):
    """All leading axes are shown."""
    q, v, a, _ = states(arm, 3)
    text = raising(compiled, ShapeError, lambda: kt.rnea(arm, q, v[:2], a[0]))
    assert "rnea: the leading (batch) axes of the arrays do not broadcast together (q: (3,), v: (2,), a: ())" in text


# Values ---------------------------------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(floater, bad, compiled):
    """The joint and, in a batch, the state are named; NaN never becomes a number in silence."""
    q, v, a, _ = states(floater, 4)
    v[2, 6] = bad
    text = raising(compiled, NonFiniteError, lambda: kt.rnea(floater, q, v, a))
    assert text.startswith(f"rnea at batch index 2: v[6] is {bad} (joint 'hip').")
    text = raising(compiled, NonFiniteError, lambda: kt.rnea(floater, q[2], v[2], a[2]))
    assert text.startswith(f"rnea: v[6] is {bad} (joint 'hip').")
    assert "checks=False" in text


def test_external_force_that_is_not_finite_names_the_body(arm):
    """f_ext[i, k] belongs to a body."""
    f_ext = np.zeros((3, 6))
    f_ext[2, 4] = np.nan
    with pytest.raises(NonFiniteError, match=r"rnea: f_ext\[2, 4\] is nan \(body 'lower'\)"):
        kt.rnea(arm, np.zeros(2), np.zeros(2), np.zeros(2), f_ext)


def test_without_checks_nan_reaches_what_depends_on_it(arm):
    """checks=False: the accelerations of all joints are NaN; nothing is raised, no result is a number by accident."""
    f = kt.compile(arm, "aba", checks=False)
    assert np.all(np.isnan(f(np.zeros(2), np.array([np.nan, 0.0]), np.zeros(2))))
    g = kt.compile(arm, "rnea", checks=False)
    tau = g(np.zeros((3, 2)), np.zeros((3, 2)), np.array([[0.0, 0.0], [0.0, np.nan], [1.0, 1.0]]))
    np.testing.assert_array_equal(np.isnan(tau), [[False, False], [True, True], [False, False]])


ON_UNIT_QUATERNIONS = sorted(name for name, spec in ALGORITHMS.items() if "q" in spec.inputs and name not in (
    "normalize", "apply_couplings"))  # fmt: skip


@both_ways
@pytest.mark.parametrize("name", ON_UNIT_QUATERNIONS)
def test_quaternions_must_be_of_unit_length(floater, name, compiled):
    """Every algorithm that takes q, but for the one that normalizes, refuses to take 1.01 for a rotation."""
    spec = ALGORITHMS[name]
    q, v, a, _ = states(floater)
    q[3:7] *= 1.01
    inputs = {"q": q, "dt": np.array(1e-3)} | {
        entry: np.resize(v, spec.shape(entry, floater)) for entry in spec.inputs if entry not in ("q", "dt")
    }
    static = {"frame": "leg", "reference": "local", "kind": "spatial", "axes": "world", "forward": (1,)}
    static |= {"independent": None, "actuated": None}
    arguments = {entry: inputs[entry] for entry in spec.inputs} | {entry: static[entry] for entry in spec.static}
    text = raising(compiled, QuaternionError, lambda: public_call(name)(floater, **arguments))
    assert text.startswith(f"{name}: the quaternion of joint 'base' in q has length 1.01, expected 1 within")
    assert "kt.normalize(model, q)" in text


def test_quaternion_in_a_batch(floater):
    """The state is named, by all its axes."""
    q, *_ = states(floater, 2, 3)
    q[1, 2, 3:7] *= 0.5
    with pytest.raises(QuaternionError, match=r"crba at batch index \(1, 2\): the quaternion of joint 'base'"):
        kt.crba(floater, q)


# Names ----------------------------------------------------------------------------------------------------------------


def test_unknown_body_among_external_forces(arm):
    """The closest name is suggested, all are listed."""
    with pytest.raises(UnknownNameError, match=r"no body named 'lowr' .*Did you mean 'lower'\? Known: world, upper"):
        kt.rnea(arm, np.zeros(2), np.zeros(2), np.zeros(2), {"lowr": np.zeros(6)})


def test_wrench_of_wrong_length(arm):
    """The convention is part of the message."""
    with pytest.raises(ShapeError, match=r"wrench on body 'lower' has shape \(3,\), .* \[moment; force\]"):
        kt.rnea(arm, np.zeros(2), np.zeros(2), np.zeros(2), {"lower": np.zeros(3)})


def test_unknown_algorithm(arm):
    """kt.compile suggests the closest algorithm."""
    with pytest.raises(UnknownNameError, match="no algorithm named 'rna' in kinetree. Did you mean 'rnea'"):
        kt.compile(arm, "rna")


def test_unknown_optional_input(arm):
    """kt.compile knows the optional inputs of each algorithm."""
    with pytest.raises(UnknownNameError, match="no optional input named 'fext' .*Did you mean 'f_ext'"):
        kt.compile(arm, "rnea", optional=("fext",))


@both_ways
def test_unknown_frame(arm, compiled):
    """The closest frame is suggested, in plain calls as in kt.compile."""
    text = raising(compiled, UnknownNameError, lambda: kt.jacobian(arm, np.zeros(2), frame="uper", reference="local"))
    assert "'uper'" in text and "Did you mean 'upper'" in text and "'double_pendulum'" in text
    with pytest.raises(UnknownNameError, match="Did you mean 'upper'"):
        kt.compile(arm, "jacobian", frame="uper", reference="local")


@both_ways
def test_reference_has_no_default(arm, compiled):
    """A silent choice of frame is refused, and the choices are listed."""
    text = raising(compiled, TypeError, lambda: kt.jacobian(arm, np.zeros(2), frame="lower"))
    assert "jacobian needs the keyword argument reference= one of local, world, local_world_aligned" in text


@both_ways
def test_unknown_reference(arm, compiled):
    """The closest choice is suggested."""
    text = raising(compiled, UnknownNameError, lambda: kt.jacobian(arm, np.zeros(2), frame="lower", reference="wold"))
    assert "no reference named 'wold' in jacobian. Did you mean 'world'?" in text


def test_arguments_as_of_any_python_function(arm):
    """Missing, surplus and unknown arguments are TypeErrors that name them."""
    zero = np.zeros(2)
    with pytest.raises(TypeError, match="rnea: missing v, a"):
        kt.rnea(arm, zero)
    with pytest.raises(TypeError, match="too many positional arguments"):
        kt.crba(arm, zero, zero)
    with pytest.raises(TypeError, match="qd"):
        kt.rnea(arm, q=zero, qd=zero, a=zero)
    f = kt.compile(arm, "rnea")
    with pytest.raises(TypeError, match=r"rnea takes 3 arrays \(q, v, a\), 4 were given"):
        f(zero, zero, zero, zero)
    with pytest.raises(TypeError, match="rnea: missing a"):
        f(zero, v=zero)
    with pytest.raises(TypeError, match="unexpected argument 'qd'"):
        f(zero, zero, zero, qd=zero)
    with pytest.raises(TypeError, match="q is given twice"):
        f(zero, zero, zero, q=zero)


@pytest.mark.parametrize("found", ["arm7", np.zeros(2), None])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: kt.compile(x, "rnea"),
        lambda x: kt.compile(x, ["rnea", "crba"]),
        lambda x: kt.differentiate(x, "rnea", wrt="q"),
        lambda x: kt.rnea(x, np.zeros(2), np.zeros(2), np.zeros(2)),
        lambda x: kt.crba(x, q=np.zeros(2)),
        lambda x: kt.pose(x, np.zeros(2), frame="lower"),
    ],
)
def test_the_first_argument_is_the_model(call, found):
    """A file's name or an array in the model's place is named, whatever is called."""
    with pytest.raises(TypeError, match="model is .*, expected a Model, (as )?kt.load"):
        call(found)


def test_a_single_optional_input_needs_no_tuple(arm):
    """A name alone is a list of one, as for kt.differentiate."""
    assert kt.compile(arm, "rnea", optional="f_ext").input_names == ("q", "v", "a", "f_ext")


# What calls accept ----------------------------------------------------------------------------------------------------


@both_ways
def test_external_forces_as_array_and_by_name(arm, compiled):
    """A mapping leaves out the bodies without a wrench, and broadcasts batches of its entries."""
    q, v, a, f_ext = states(arm, 4)
    f_ext[:, :2] = 0.0
    by_array, by_name = (lambda: kt.rnea(arm, q, v, a, f_ext)), (lambda: kt.rnea(arm, q, v, a, {"lower": f_ext[:, 2]}))
    if compiled:
        np.testing.assert_array_equal(by_array(), by_name())
    else:
        with kt.interpreted():
            np.testing.assert_array_equal(by_array(), by_name())
    one, many = np.arange(6.0), f_ext[:, 2]
    both = np.zeros((4, 3, 6))
    both[:, 1], both[:, 2] = one, many
    np.testing.assert_array_equal(kt.rnea(arm, q, v, a, {"upper": one, "lower": many}), kt.rnea(arm, q, v, a, both))


def test_no_external_forces(arm):
    """None and an empty mapping are calls without wrenches."""
    q, v, a, _ = states(arm)
    np.testing.assert_array_equal(kt.rnea(arm, q, v, a, None), kt.rnea(arm, q, v, a))
    np.testing.assert_allclose(kt.rnea(arm, q, v, a, {}), kt.rnea(arm, q, v, a), rtol=1e-14)


@pytest.mark.parametrize(
    "batches",
    [((1,), (4,), (4,)), ((3, 1), (4,), ()), ((1, 1), (4,), (3, 1)), ((1, 1), (1,), ()), ((0, 1), (4,), (1, 4))],
)
@pytest.mark.parametrize("checks", [True, False])
def test_leading_axes_broadcast_as_numpys(arm, batches, checks):
    """Axes of one entry and missing axes: each result is that of its own state, to the bit; out= takes it too."""
    rng = np.random.default_rng(8)
    f = kt.compile(arm, "rnea", checks=checks)
    arrays = [rng.standard_normal((*batch, 2)) for batch in batches]
    batch = np.broadcast_shapes(*batches)
    full = [np.broadcast_to(x, (*batch, 2)) for x in arrays]
    found, out = f(*arrays), np.empty((*batch, 2))
    assert found.shape == (*batch, 2) and f(*arrays, out=out) is out
    np.testing.assert_array_equal(out, found)
    for index in np.ndindex(batch):
        np.testing.assert_array_equal(found[index], f(*[x[index] for x in full]))
    if checks and found.size:
        arrays[1][(0,) * arrays[1].ndim] = np.nan
        with pytest.raises(NonFiniteError, match=r"v\[0\] is nan"):
            f(*arrays)


def test_single_states_broadcast_against_batches(arm):
    """One q for many v; batches of several axes; axes of length one."""
    q, v, a, f_ext = states(arm, 3, 5)
    expected = kt.rnea(arm, np.broadcast_to(q[0, 0], q.shape), v, a)
    np.testing.assert_array_equal(kt.rnea(arm, q[0, 0], v, a), expected)
    np.testing.assert_array_equal(kt.rnea(arm, q[:1, :1], v, a), expected)
    mixed = kt.rnea(arm, q[:, :1], v[0], a[0, 0], f_ext[0, 0])
    assert mixed.shape == (3, 5, 2)
    np.testing.assert_array_equal(mixed[2, 4], kt.rnea(arm, q[2, 0], v[0, 4], a[0, 0], f_ext[0, 0]))


@both_ways
@pytest.mark.parametrize("batch", [(0,), (3, 0)])
def test_empty_batch(arm, batch, compiled):
    """No states in, no states out, in the right shape."""
    q, zero = np.zeros((*batch, 2)), np.zeros(2)
    if compiled:
        M, pose = kt.crba(arm, q), kt.pose(arm, q, frame="lower")
        assert kt.rnea(arm, q, zero, zero).shape == (*batch, 2)
    else:
        with kt.interpreted():
            M, pose = kt.crba(arm, q), kt.pose(arm, q, frame="lower")
    assert M.shape == (*batch, 2, 2)
    assert pose.R_WF.shape == (*batch, 3, 3) and pose.p_WF.shape == (*batch, 3)


def test_strided_inputs(arm):
    """Columns of a wider array, reversed rows, Fortran order, a read-only array."""
    q, v, a, _ = states(arm, 6)
    expected = kt.rnea(arm, q, v, a)
    wide = np.full((6, 7), np.nan)
    wide[:, 1:7:3], wide[:, 2:7:3] = q, v
    np.testing.assert_array_equal(kt.rnea(arm, wide[:, 1:7:3], wide[:, 2:7:3], a), expected)
    np.testing.assert_array_equal(kt.rnea(arm, q[::-1], v[::-1], a[::-1]), expected[::-1])
    np.testing.assert_array_equal(kt.rnea(arm, np.asfortranarray(q), v, np.asfortranarray(a)), expected)
    np.testing.assert_array_equal(kt.rnea(arm, wide[0, 1:7:3], v[0], a[0]), expected[0])
    q.setflags(write=False)
    np.testing.assert_array_equal(kt.rnea(arm, q, v, a), expected)


def test_integers_and_lists_count_as_double(arm):
    """Whole numbers, Booleans and lists give float64, also beside float32."""
    q, v, a = [1, 2], [0, -1], [3, 0]
    expected = kt.rnea(arm, *(np.array(x, float) for x in (q, v, a)))
    for convert in (list, tuple, np.array, lambda x: np.array(x, np.int8)):
        tau = kt.rnea(arm, convert(q), convert(v), convert(a))
        np.testing.assert_array_equal(tau, expected)
        assert tau.dtype == np.float64
    assert kt.rnea(arm, np.array(q, np.float32), v, a).dtype == np.float64
    assert kt.rnea(arm, np.array(q, np.float32), np.array(v, np.float16), np.array(a, np.float32)).dtype == np.float32
    assert kt.rnea(arm, np.array(q, np.float32), np.array(v, float), np.array(a, np.float32)).dtype == np.float64


def test_a_number_of_python_leaves_the_precision_to_the_arrays(arm):
    """As in NumPy: a step of 0.01 does not make doubles out of single precision; an array of doubles does."""
    f = kt.compile(arm, "semi_implicit_step")
    q, v, tau, _ = states(arm, 3)
    single = [x.astype(np.float32) for x in (q, v, tau)]
    mass = next(name for name in arm.numbers().names if name.endswith("mass"))
    for g in (f, f.with_parameters({mass: np.linspace(1.0, 1.1, 3)})):
        found = g(*single, 0.01)
        assert found.q_next.dtype == np.float32
        np.testing.assert_array_equal(found.q_next, g(*single, np.float32(0.01)).q_next)
        assert g(*single, np.float64(0.01)).q_next.dtype == g(q, v, tau, 0.01).q_next.dtype == np.float64
    with kt.interpreted():
        assert kt.integrators.semi_implicit_step(arm, *single, 0.01).q_next.dtype == np.float32


def test_byte_order_does_not_matter(arm):
    """Arrays from big-endian files."""
    q, v, a, _ = states(arm)
    np.testing.assert_array_equal(kt.rnea(arm, q.astype(">f8"), v, a.astype(">f8")), kt.rnea(arm, q, v, a))


def test_inputs_are_not_changed(floater):
    """No call writes to its inputs."""
    arrays = states(floater, 4)
    before = [x.copy() for x in arrays]
    kt.aba(floater, *arrays)
    kt.aba(floater, *(x[0] for x in arrays))
    with kt.interpreted():
        kt.aba(floater, *arrays)
    for x, y in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(x, y)


def test_scalar_outputs_are_numbers(arm):
    """One state gives a NumPy float, a batch an array."""
    q, v, *_ = states(arm, 3)
    T = kt.kinetic_energy(arm, q[0], v[0])
    assert isinstance(T, np.float64) and np.ndim(T) == 0
    assert kt.kinetic_energy(arm, q, v).shape == (3,)


def test_several_outputs_have_names(arm):
    """Named tuples, alike for one state and a batch."""
    for q in (np.zeros(2), np.zeros((4, 2))):
        pose = kt.pose(arm, q, frame="lower")
        assert pose._fields == ("R_WF", "p_WF")
        assert pose.p_WF is pose[1]


# out= -----------------------------------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("batch", [(), (4,), (2, 3)])
def test_out_is_filled_and_returned(arm, batch, compiled):
    """The result is the very array that was given; f_ext and out work together."""
    q, v, a, f_ext = states(arm, *batch)
    out = np.full((*batch, 2), np.nan)
    if compiled:
        result = kt.rnea(arm, q, v, a, f_ext, out=out)
    else:
        with kt.interpreted():
            result = kt.rnea(arm, q, v, a, f_ext, out=out)
    assert result is out
    np.testing.assert_allclose(out, kt.rnea(arm, q, v, a, f_ext), rtol=1e-13)


def test_out_of_several_outputs(arm):
    """A tuple of arrays, returned in the named tuple."""
    for batch in ((), (3,)):
        R, p = np.empty((*batch, 3, 3)), np.empty((*batch, 3))
        pose = kt.pose(arm, np.ones((*batch, 2)), frame="lower", out=(R, p))
        assert pose.R_WF is R and pose.p_WF is p
        np.testing.assert_array_equal(p, kt.pose(arm, np.ones((*batch, 2)), frame="lower").p_WF)


def test_out_may_be_strided_or_an_input(arm):
    """A view that is not contiguous, and an output over an input."""
    q, v, a, _ = states(arm, 4)
    expected = kt.rnea(arm, q, v, a)
    wide = np.zeros((4, 5))
    view = wide[:, 1:4:2]
    assert kt.rnea(arm, q, v, a, out=view) is view
    np.testing.assert_array_equal(wide[:, 1:4:2], expected)
    np.testing.assert_array_equal(wide[:, ::2], 0.0)
    assert kt.rnea(arm, q, v, a, out=a) is a
    np.testing.assert_array_equal(a, expected)


@both_ways
@pytest.mark.parametrize(
    ("out", "found"),
    [
        (np.zeros(3), r"found shape \(3,\), float64"),
        (np.zeros((1, 2)), r"found shape \(1, 2\), float64"),
        (np.zeros(2, np.float32), r"found shape \(2,\), float32"),
        ([0.0, 0.0], "found list"),
    ],
)
def test_out_of_wrong_shape_or_type(arm, out, found, compiled):
    """The message says what out must be; nothing is converted in silence."""
    zero = np.zeros(2)
    text = raising(compiled, ShapeError, lambda: kt.rnea(arm, zero, zero, zero, out=out))
    assert "rnea: out for tau must be a writable array of shape (2,) and type float64" in text
    assert re.search(found, text)


def test_out_that_is_read_only(arm):
    """A read-only array is not written to."""
    out = np.zeros(2)
    out.setflags(write=False)
    with pytest.raises(ShapeError, match=r"must be a writable array .* found shape \(2,\), float64, read-only"):
        kt.rnea(arm, np.ones(2), np.ones(2), np.ones(2), out=out)
    np.testing.assert_array_equal(out, 0.0)


def test_out_of_wrong_number(arm):
    """Two outputs need a tuple of two."""
    for batch in ((), (3,), (3,)):
        with pytest.raises(ShapeError, match=r"pose: out needs a tuple of 2 arrays \(R_WF, p_WF\)"):
            kt.pose(arm, np.zeros((*batch, 2)), frame="lower", out=np.zeros((*batch, 3, 3)))


# Functions beside the model -------------------------------------------------------------------------------------------


def test_functions_are_kept_beside_the_model():
    """One Function per algorithm, optional inputs and static choice; a second call makes no other."""
    model = kt.models.double_pendulum()
    zero = np.zeros(2)
    assert not model.functions
    kt.rnea(model, zero, zero, zero)
    (f,) = model.functions.values()
    assert isinstance(f, kt.compiler.Function) and f.model is model
    kt.rnea(model, np.ones((3, 2)), zero, a=zero)
    assert list(model.functions.values()) == [f]
    kt.rnea(model, zero, zero, zero, {"lower": np.zeros(6)})
    kt.jacobian(model, zero, frame="lower", reference="world")
    kt.jacobian(model, zero, reference="world", frame="lower")
    kt.jacobian(model, zero, frame="lower", reference="local")
    assert len(model.functions) == 4
    with kt.interpreted():
        kt.crba(model, zero)
    assert len(model.functions) == 4


def test_functions_are_not_pickled(arm):
    """A model that went through pickle computes the same and compiles for itself."""
    q, v, a, _ = states(arm)
    kt.rnea(arm, q, v, a)
    other = pickle.loads(pickle.dumps(arm))
    assert not other.functions
    np.testing.assert_array_equal(kt.rnea(other, q, v, a), kt.rnea(arm, q, v, a))


def test_models_of_one_structure_have_functions_of_their_own(arm):
    """A heavier arm has the same structure, other numbers: its results are its own, three times the forces."""
    heavy = kt.models.double_pendulum(mass=3.0)
    assert heavy.structure() == arm.structure()
    q, v, a, _ = states(arm)
    np.testing.assert_allclose(kt.rnea(heavy, q, v, a), 3.0 * kt.rnea(arm, q, v, a), rtol=1e-14)
    np.testing.assert_allclose(kt.rnea(arm, q, v, a), kt.rnea(heavy, q, v, a) / 3.0, rtol=1e-14)


def test_threads_share_a_function():
    """Threads that meet a model for the first time together all get right results, alone and in batches."""
    model = kt.models.chain_gu(5)
    arrays = states(model, 50)[:3]
    with kt.interpreted():
        expected = kt.rnea(model, *arrays)
    problems, start = [], threading.Barrier(4)

    def work(k):
        try:
            start.wait()
            for i in range(k, 50, 4):
                single = kt.rnea(model, *(x[i] for x in arrays))
                np.testing.assert_allclose(single, expected[i], rtol=0.0, atol=1e-12)
                np.testing.assert_allclose(kt.rnea(model, *arrays), expected, rtol=0.0, atol=1e-12)
        except Exception as problem:  # handed over to the test's own thread
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(model.functions) == 1


def test_interpreted_belongs_to_its_thread():
    """`with kt.interpreted()` in one thread leaves others compiled; it ends with its block, also by an exception."""
    model, zero, seen = kt.models.double_pendulum(), np.zeros(2), []

    def other():
        kt.crba(model, zero)
        seen.append(len(model.functions))

    with pytest.raises(ZeroDivisionError):
        with kt.interpreted():
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            kt.rnea(model, zero, zero, zero)
            1 / 0  # noqa: B018
    assert seen == [1] and len(model.functions) == 1
    kt.rnea(model, zero, zero, zero)
    assert len(model.functions) == 2


# Documentation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_signature_and_docstring_hold_out(name):
    """help() shows the algorithm's own arguments and out=, which the docstring explains before the results."""
    call, spec = public_call(name), ALGORITHMS[name]
    parameters = inspect.signature(call).parameters
    assert list(parameters)[: 1 + len(spec.inputs)] == ["model", *spec.inputs]
    assert {*spec.optional, *spec.static, "out"} <= set(parameters)
    assert parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY
    assert getattr(importlib.import_module(call.__module__), call.__name__) is call
    doc = call.__doc__
    assert doc.index("\nParameters\n") < doc.index("\nout : array") < doc.index("\nReturns\n")
    assert call is not spec.function and "out" not in inspect.signature(spec.function).parameters


def test_function_says_what_it_is(arm):
    """The repr of a Function lists names and shapes of its arrays."""
    f = kt.compile(arm, "rnea", optional=("f_ext",))
    assert repr(f) == ("<Function rnea(q (2,), v (2,), a (2,), f_ext (3, 6)) -> tau (2,) for model 'double_pendulum'>")


def test_misaligned_arrays_are_taken():
    """An array that starts at an odd address gives what an aligned one gives."""
    model = kt.models.double_pendulum()
    memory = np.zeros(8 * 6 + 1, np.uint8)
    v = memory[1:].view(np.float64).reshape(3, 2)
    v[...] = np.arange(6.0).reshape(3, 2)
    q = np.full((3, 2), 0.3)
    assert not v.flags.aligned
    assert np.array_equal(kt.bias_forces(model, q, v), kt.bias_forces(model, q, v.copy()))
    assert np.array_equal(kt.bias_forces(model, q[0], v[1]), kt.bias_forces(model, q[0], v[1].copy()))


@pytest.mark.parametrize("name", ["q0", "q1"])
def test_difference_refuses_quaternions_that_are_not_unit(name):
    """The message names the argument that is wrong."""
    model = kt.models.free_body(1.0, np.eye(3))
    good = model.neutral()
    bad = good * np.array([1, 1, 1, 1.1, 1, 1, 1])
    q0, q1 = (bad, good) if name == "q0" else (good, bad)
    with pytest.raises(QuaternionError, match=rf"difference: the quaternion of joint '\w+' in {name} has length 1.1"):
        kt.difference(model, q0, q1)


def test_out_of_a_number_is_filled_and_returned():
    """A scalar result goes into a 0-d array, in the short and in the explaining way, compiled and interpreted."""
    model, q, v = kt.models.double_pendulum(), np.array([0.3, 0.2]), np.ones(2)
    expected = kt.kinetic_energy(model, q, v)
    for positions in (q, q.tolist()):
        out = np.empty(())
        assert kt.kinetic_energy(model, positions, v, out=out) is out and out == expected
    with kt.interpreted():
        assert kt.kinetic_energy(model, q, v, out=out) is out


@pytest.mark.parametrize("batch", [(), (9,), (20000,)])
def test_results_that_share_memory_are_refused(batch):
    """One array cannot hold several results, whole or in part; interleaved columns can."""
    model = kt.models.double_pendulum()
    f = kt.compile(model, "rnea_derivatives", threads=2)
    arrays = np.random.default_rng(0).normal(size=(3, *batch, 2))
    expected = f(*arrays)
    one = np.empty((*batch, 2, 2))
    with pytest.raises(ShapeError, match="share memory"):
        f(*arrays, out=(one, np.empty_like(one), one))
    columns = np.empty((*batch, 2, 2, 3))
    f(*arrays, out=tuple(columns[..., k] for k in range(3)))
    for k in range(3):
        np.testing.assert_array_equal(columns[..., k], expected[k])


@pytest.mark.parametrize("shift", [0, 1, 300])
def test_large_batches_may_overlap_their_results(shift):
    """Threads do not read what others have written: a result over an input, in place or shifted, is right."""
    f = kt.compile(kt.models.double_pendulum(), "rnea", threads=2)
    n = 200_000
    q, v, rows = np.random.default_rng(1).normal(size=(3, n + 300, 2))
    q, v, a, out = q[:n], v[:n], rows[:n], rows[shift : n + shift]
    expected = f(q, v, a.copy())
    np.testing.assert_array_equal(f(q, v, a, out=out), expected)
