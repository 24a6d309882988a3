"""Compiled functions give what the interpreted source gives: every algorithm, every choice, joints of every kind.

Four methods: the compiled entry for one state, the compiled batch, the source on NumPy arrays, the source on floats.
"""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import ALGORITHMS
from kinetree.compiler.calls import public_call
from kinetree.compiler.function import CHOICES, CHOSEN
from kinetree.joints import (
    JOINTS,
    Composite,
    Cylindrical,
    Ellipsoid,
    Fixed,
    Free,
    FreeLocal,
    FreeSplit,
    FreeUnified,
    Helical,
    Planar,
    PlanarLocal,
    PlanarSplit,
    Prismatic,
    Projection,
    RackAndPinion,
    Reversed,
    Revolute,
    SphereInCylinder,
    Spherical,
    SphericalEuler,
    SphericalExponential,
    SplineCurve,
    SplineSurface,
    Translational,
    Universal,
)
from kinetree.spatial import IdentityRotation, Transform

BATCH = 17
ODD = (0.6, 0.0, -0.8)
POOLS = {
    "tree of axial joints": (
        Revolute(ODD), Reversed(Prismatic(ODD)), Helical(ODD, 0.3), Prismatic((0, 0, 1)),
        RackAndPinion(0.4), Fixed(),
    ),
    "tree of free joints": (Free(), Reversed(Revolute((0, 1, 0))), Reversed(Free()), Planar(), Cylindrical(ODD)),
    "tree of ball joints": (
        Spherical(), SphericalEuler("xzy"), Universal(), SphereInCylinder(), Reversed(SphericalEuler("zyz")),
    ),
    "tree of split joints": (
        FreeSplit("translation"), Translational(), PlanarLocal(), PlanarSplit("rotation"), FreeLocal(),
        FreeUnified(Projection.tetrahedral(0.3, 0.2, 0.4)),
    ),
    "tree of turning joints": (
        SphericalExponential(), Ellipsoid((0.3, 0.5, 0.8), True),
        Composite((Reversed(SphericalExponential()), Composite((Prismatic((0, 1, 0)), Revolute(ODD))))),
    ),
    "tree of spline joints": tuple(
        next(kind.examples(np.random.default_rng(0))) for kind in (SplineCurve, SplineSurface)
    ),
}  # fmt: skip
ROBOTS = ("arm7", "quadruped")
# Implicit steps hold derivatives and eliminations several times: a chain, a coupled arm, one tree (all: ten minutes).
IMPLICIT_STEPS = ("linearly_implicit_step", "bdf1_step", "implicit_midpoint_step", "variational_step")
IMPLICIT_SYSTEMS = ("arm7", "geared arm", "tree of axial joints")
SYSTEMS = (*POOLS, *ROBOTS, "geared arm")


class Choice(NamedTuple):
    """One function: the algorithm, whether external forces are given, and the static choices but the frame."""

    name: str
    optional: tuple[str, ...]
    static: tuple[tuple[str, str], ...]

    def __str__(self):
        return "-".join([self.name, *self.optional, *(value for _, value in self.static)])


def choices():
    """Every function that the registry offers."""
    for spec in ALGORITHMS.values():
        names = [name for name in spec.static if name in CHOICES]
        known = {"frame", "forward", *CHOSEN, *CHOICES}
        assert set(spec.static) <= known, "a static argument that this test does not know"
        for values in itertools.product(*(CHOICES[name] for name in names)):
            for optional in [(), *([tuple(spec.optional)] if spec.optional else [])]:
                yield Choice(spec.name, optional, tuple(zip(names, values, strict=True)))


def pairs(ordinary: int | None = None):
    """Every choice with every system; an ordinary run takes a sixth of the systems of each, in turn, the sweep all.

    Of the systems of an ordinary run the first so many, if a number is given.
    """
    for k, choice in enumerate(choices()):
        systems = IMPLICIT_SYSTEMS if choice.name in IMPLICIT_STEPS else SYSTEMS
        step = min(6, len(systems))
        taken = slice(None) if ordinary is None else slice(-k % step, step * ordinary, step)
        for m, system in list(enumerate(systems))[taken]:
            marks = [pytest.mark.sweep] if (k + m) % step else []
            yield pytest.param(system, choice, id=f"{system}-{choice}", marks=marks)


def with_all_inputs():
    """Every choice; an ordinary run takes every other one of those with all optional inputs, the sweep all."""
    number = itertools.count()
    for choice in choices():
        complete = choice.optional == tuple(ALGORITHMS[choice.name].optional)
        marks = [] if complete and next(number) % 2 == 0 else [pytest.mark.sweep]
        yield pytest.param(choice, id=str(choice), marks=marks)


# Algorithms that solve with the mass matrix lose what its condition number takes.
SOLVES = {
    "forward_dynamics_crba", "ltl_solve", "ltdl_solve", "lower_solve", "lower_transpose_solve",
    "aba", "forward_dynamics", "semi_implicit_acceleration", "semi_implicit_step", "rk4_step",
    "linearly_implicit_step", "bdf1_step", "implicit_midpoint_step", "variational_step",
    "hybrid_aba", "hybrid_crba", "hybrid_recursive", "hybrid_dynamics",
    "floating_base_forward_dynamics", "floating_base_inverse_dynamics", "floating_base_reduced_coefficients",
}  # fmt: skip


@functools.cache
def model_of(system: str):
    """The system's model; the trees have springs, dampers, friction and, where a joint can, soft stops."""
    if system == "geared arm":
        model = kt.models.geared_arm()
    elif system in ROBOTS:
        model = kt.load(system, floating_base=system == "quadruped")
    else:
        pool = POOLS[system]
        model = kt.models.random_tree(len(pool), seed=len(pool), joints=pool)
    if system not in ROBOTS:
        rng = np.random.default_rng(1)
        names = ("damping", "stiffness", "dry_friction", "armature")
        model = model.replace(**{name: rng.uniform(0.1, 1.0, model.nv) for name in names})
    return model


@functools.cache
def inputs_of(system: str) -> dict[str, np.ndarray]:
    """Arrays for every name of an input, a batch of states each, inside all limits and couplings."""
    model, rng = model_of(system), np.random.default_rng(2)
    q = np.array([model.random_q(rng) for _ in range(BATCH)])
    v, a, tau, dv, xi = rng.standard_normal((5, BATCH, model.nv))
    terms = 0.3 * np.random.default_rng(3).standard_normal((BATCH, model.nb, 6, 6))
    with kt.interpreted():
        q, v = kt.kinematics.apply_couplings(model, q, v)
        q1 = kt.integrate(model, q, 0.5 * dv)
        M = kt.crba(model, q)
        factors = kt.dynamics.articulated_factorization(model, q)
    return {
        "q": q, "v": v, "a": a, "tau": tau, "tau_joints": tau[:, model.nv_base :],
        "a_joints": a[:, model.nv_base :], "dv": dv, "xi": 0.3 * xi, "q0": q, "q1": q1,
        "dt": np.linspace(1e-3, 2e-3, BATCH), "f_ext": rng.standard_normal((BATCH, model.nb, 6)),
        "y": rng.standard_normal((BATCH, model.nb, 6)), "wrenches": rng.standard_normal((BATCH, model.nb, 6)),
        "impulses": np.zeros((BATCH, model.n_impulses)), "x": a, "b": tau, "M": M, "L": np.tril(M),
        "D": np.diagonal(M, axis1=-2, axis2=-1), "diagonal": rng.uniform(0.1, 1.0, (BATCH, model.nv)),
        "q_d": q1, "v_d": tau, "a_d": dv, "kp": M, "kd": M, "stiffness": M, "damping": M,
        "R_d": np.linalg.qr(rng.standard_normal((BATCH, 3, 3)))[0], "p_d": rng.standard_normal((BATCH, 3)),
        "V_d": rng.standard_normal((BATCH, 6)),
        "frame_stiffness": np.tile(np.diag([1.0, 2, 3, 4, 5, 6]), (BATCH, 1, 1)),
        "frame_damping": np.tile(np.eye(6), (BATCH, 1, 1)), "a_independent": a[:, : model.ny], "weights": tau**2 + 1.0,
        "multipliers": tau[:, : model.nc], "body_terms": terms @ np.swapaxes(terms, -1, -2),
        **factors._asdict(),
    }  # fmt: skip


@functools.cache
def conditions(system: str) -> np.ndarray:
    """The condition number of M in every state."""
    with kt.interpreted():
        return np.linalg.cond(kt.crba(model_of(system), inputs_of(system)["q"]))


def prepared(system: str, choice: Choice):
    """The plain call's keywords, and the arrays by name."""
    if choice.name in IMPLICIT_STEPS and system not in IMPLICIT_SYSTEMS:
        pytest.skip("derivatives and a solution, several times in one program: minutes of compiling for large trees")
    if system == "geared arm" and choice.name in ("aba_inverse_inertias", "aba_implicit_joints"):
        pytest.skip("the arm's links are rods, which have no inverse inertia: refused by name")
    spec, model, inputs = ALGORITHMS[choice.name], model_of(system), inputs_of(system)
    static = dict(choice.static)
    if "frame" in spec.static:
        static["frame"] = model.frames[-1].name
    if "forward" in spec.static:  # every other joint, coupled ones all
        coupled = {model.joint(name) for c in model.couplings for name in c.joints}
        static["forward"] = [i for i in model.outward() if i % 2 or i in coupled]
    if {"x", "u"} & set(choice.optional):  # of force elements, of which these models have none
        inputs = inputs | {"x": np.zeros((BATCH, model.nx)), "u": np.zeros((BATCH, model.nu))}
    return static, {name: inputs[name] for name in (*spec.inputs, *choice.optional)}


def as_tuple(result) -> tuple:
    """The outputs of a call: one array, or a named tuple of several."""
    return tuple(result) if isinstance(result, tuple) else (result,)


def assert_agree(found, expected, tolerance) -> None:
    """Compare outputs state by state, relative to the largest entry of each state's output."""
    for x, y in zip(as_tuple(found), as_tuple(expected), strict=True):
        x, y = np.atleast_1d(x), np.atleast_1d(y)
        assert x.shape == y.shape
        states = x.shape[0]
        scale = np.maximum(1.0, np.max(np.abs(y.reshape(states, -1)), axis=1, initial=0.0))
        error = np.max(np.abs((x - y).reshape(states, -1)), axis=1, initial=0.0) / scale
        assert np.all(error <= tolerance), f"relative error {np.max(error):.3g}, allowed {np.max(tolerance):.3g}"


def tolerances(system: str, choice: Choice, tolerance: float) -> np.ndarray:
    """One tolerance per state."""
    return tolerance * (np.maximum(1.0, conditions(system) / 100.0) if choice.name in SOLVES else np.ones(BATCH))


def test_every_kind_of_joint_occurs():
    """The trees of this file hold every built-in kind but those that depend on time."""
    kinds = {joint.kind for system in POOLS for joint in model_of(system).joints[1:]}
    assert kinds == {kind for kind, cls in JOINTS.items() if _is_ours(cls)}


def _is_ours(cls) -> bool:
    return cls.__module__.startswith("kinetree.") and cls.time_dependent is not True


@pytest.mark.parametrize(("system", "choice"), list(pairs()))
def test_compiled_agrees_with_interpreted(system, choice):
    """Entry and batches of 1, 3, 17 have the same bits; they agree with the source on arrays and floats to 1e-12."""
    model, (static, arrays) = model_of(system), prepared(system, choice)
    f = kt.compile(model, choice.name, optional=choice.optional, **static)
    batches = {n: as_tuple(f(*(x[:n] for x in arrays.values()))) for n in (1, 3, BATCH)}
    singles = [as_tuple(f(*(np.array(x[k]) for x in arrays.values()))) for k in range(3)]
    for m, whole in enumerate(batches[BATCH]):
        for n, batch in batches.items():
            np.testing.assert_array_equal(batch[m], whole[:n])
        np.testing.assert_array_equal([single[m] for single in singles], whole[:3])

    plain = public_call(choice.name)
    with kt.interpreted():
        on_arrays = plain(model, **arrays, **static)
        on_floats = [plain(model, **{name: x[k] for name, x in arrays.items()}, **static) for k in range(2)]
    allowed = tolerances(system, choice, 1e-12)
    assert_agree(batches[BATCH], on_arrays, allowed)
    for m, whole in enumerate(batches[BATCH]):
        assert_agree(whole[:2], np.array([as_tuple(x)[m] for x in on_floats]), allowed[:2])


@pytest.mark.parametrize("choice", list(with_all_inputs()))
@pytest.mark.parametrize("system", ["arm7", *(pytest.param(system, marks=pytest.mark.sweep) for system in POOLS)])
def test_single_precision(system, choice):
    """float32 in gives float32 out, within 1e-4 of the double-precision result for the same rounded inputs."""
    model, (static, arrays) = model_of(system), prepared(system, choice)
    f = kt.compile(model, choice.name, optional=choice.optional, **static)
    arrays = {name: x.astype(np.float32) for name, x in arrays.items()}
    single = f(*arrays.values())
    assert all(x.dtype == np.float32 for x in as_tuple(single))
    assert all(x.dtype == np.float32 for x in as_tuple(f(*(np.array(x[0]) for x in arrays.values()))))
    with kt.interpreted():  # which compiled doubles agree with: the test above
        double = public_call(choice.name)(model, **{name: x.astype(float) for name, x in arrays.items()}, **static)
    assert_agree(single, double, tolerances(system, choice, 1e-4))


@pytest.mark.parametrize(("system", "choice"), list(pairs(ordinary=1)))
def test_extended_precision(system, choice):
    """longdouble in gives longdouble out, within rounding of the double-precision result."""
    model, (static, arrays) = model_of(system), prepared(system, choice)
    f = kt.compile(model, choice.name, optional=choice.optional, **static)
    extended = f(*(x[:3].astype(np.longdouble) for x in arrays.values()))
    assert all(x.dtype == np.longdouble for x in as_tuple(extended))
    assert_agree(f(*(x[:3] for x in arrays.values())), extended, tolerances(system, choice, 1e-12)[:3])


# Joints about coordinate axes only: a unit axis or a rotation that is given in doubles is one to 53 bits.
EXACT = (
    Revolute(), Reversed(Prismatic((0, 1, 0))), Helical((1, 0, 0), 0.3), Cylindrical((0, -1, 0)), Planar(), Spherical(),
    SphericalEuler("xzy"), Universal(), RackAndPinion(0.4), Free(), Reversed(Spherical()), Reversed(Free()),
)  # fmt: skip


def exact_models():
    """Models whose axes and rotations are exact."""
    yield kt.models.n_pendulum(3)
    yield kt.models.auto_tree(5, 2, 0.0, 0.9)
    for seed in range(3):
        model = kt.models.random_tree(5, seed=seed, joints=EXACT)
        yield model.replace(X_T=[Transform(IdentityRotation(), X.r) for X in model.X_T])


@pytest.mark.skipif(np.finfo(np.longdouble).eps >= np.finfo(float).eps, reason="longdouble is double here")
@pytest.mark.parametrize("model", list(exact_models()), ids=lambda model: model.name)
def test_extended_precision_is_no_double_inside(model):
    """aba(rnea(a)) = a to far less than the rounding of doubles: no step of either falls back to 53 bits."""
    rng = np.random.default_rng(4)
    q = kt.normalize(model, model.random_q(rng).astype(np.longdouble))
    v, a = rng.standard_normal((2, model.nv)).astype(np.longdouble)
    error = np.max(np.abs(kt.aba(model, q, v, kt.rnea(model, q, v, a)) - a))
    # 2e-17 at most, where doubles leave some 1e-16 even for these small models.
    assert error < min(2e-17, 100.0 * np.finfo(np.longdouble).eps * np.linalg.cond(kt.crba(model, q).astype(float)))
