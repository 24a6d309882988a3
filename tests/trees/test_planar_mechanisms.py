"""Every registered algorithm on planar models, against the spatial model of the same mechanism.

Planar vectors are those rows of the spatial ones that motion in the plane has, after both are turned into the plane's
axes. Tolerances: the same formulas on well-conditioned trees of seven bodies; 1e-11 of the largest entry leaves four
digits over the rounding, 1e-9 where a mass matrix is inverted.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.calls import public_call
from kinetree.joints import (
    Composite,
    Fixed,
    Planar,
    PlanarLocal,
    PlanarSplit,
    Prescribed,
    Prismatic,
    Reversed,
    Revolute,
    Sinusoid,
)
from kinetree.model.gears import GearedRotor
from kinetree.spatial import (
    ArticulatedInertia,
    AxialRotation,
    Force,
    GeneralRotation,
    Inertia,
    Matrix3,
    Motion,
    PlanarArticulatedInertia,
    PlanarForce,
    PlanarInertia,
    PlanarMotion,
    PlanarTransform,
    Symmetric3,
    Transform,
    Vector2,
    Vector3,
    rotation_from_matrix,
)
from tests.forces.loaded import KINDS as FORCE_KINDS
from tests.forces.loaded import internal, loaded
from tests.forces.user_elements import Thruster
from tests.spatial.counting import count

INERTIAL = [0, 1, 2, 9]  # of the ten parameters of a body: mass, h.x, h.y, I.zz
CHOICES = {
    "reference": ("local", "world", "local_world_aligned"),
    "kind": ("spatial", "classical", "spatial_offset", "classical_offset"),
}


def turned(rng) -> np.ndarray:
    """A random rotation matrix."""
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return R * np.sign(np.linalg.det(R))


def about_z(angle: float) -> np.ndarray:
    """The rotation by an angle about z."""
    return np.array(AxialRotation(2, np.cos(angle), np.sin(angle)).matrix.rows).T


def mechanism(seed: int, tilted: bool, floating: bool = False):
    """A tree in a plane: revolute, prismatic, planar, fixed and composite joints, springs, gears, bodies off the plane.

    With ``tilted`` the plane and the frames of all bodies, joints and frames are turned at random.
    """
    rng = np.random.default_rng(seed)
    b = kt.ModelBuilder("planar")
    T = turned(rng) if tilted else np.eye(3)  # from the coordinates of the parent's "flat" frame to its own
    b.gravity = tuple(T @ [1.0, -9.0, 2.0])
    frame_of, names = {"world": T}, ["world"]
    slide = (np.cos(0.7), np.sin(0.7), 0.0)
    kinds = [
        Planar() if floating else Revolute((0, 0, 1)), Prismatic(slide), Revolute((0, 0, -1)),
        Composite((Prismatic((1, 0, 0)), Revolute((0, 0, 1)))), Fixed(), Planar(), Revolute((0, 0, 1)),
    ]  # fmt: skip
    for k, flat in enumerate(kinds):
        # The joint's own frame is flat where its axes are fixed to coordinates; else it is turned with the body.
        J = turned(rng) if tilted and type(flat) in (Revolute, Prismatic) else np.eye(3)
        joint = type(flat)(tuple(J @ np.array(flat.axis))) if type(flat) in (Revolute, Prismatic) else flat
        parent = "world" if k == 0 else names[rng.integers(1 if floating else 0, len(names))]
        R = frame_of[parent] @ about_z(rng.uniform(-3, 3)) @ J.T
        moments = J @ np.diag(rng.uniform(0.5, 0.9, 3)) @ J.T
        b.add_body(
            f"body{k}", parent, joint, f"joint{k}", placement=(R, rng.uniform(-1, 1, 3)), mass=rng.uniform(0.5, 2.0),
            com=rng.uniform(-0.5, 0.5, 3), inertia=moments, armature=0.1 * (k % 2),
        )  # fmt: skip
        names.append(f"body{k}")
        frame_of[f"body{k}"] = J
    b.add_frame("eye", "body2", (turned(rng), rng.uniform(-1, 1, 3)))
    model = b.build(merge_fixed=False)
    model = model.replace(
        damping={"joint1": 0.2, "joint2": 0.1}, stiffness={"joint2": 3.0}, spring_reference={"joint2": 0.3},
        dry_friction={"joint1": 0.1},
    )  # fmt: skip
    return model


def with_rotor(model):
    """The model with a geared rotor on a body that carries a joint, and about an axis that is not across the plane."""
    i = next(i for i in model.outward() if model.parent[i] and model.joints[i].nv == 1)
    rotor = GearedRotor("rotor", i, model.parent[i], 7.0, Vector3(0.6, 0.0, 0.8), 0.01, 0.01)
    return model.replace(rotors=[rotor])


def value(model, rng, name: str, size, q, M):
    """A random value of an input, in spatial form; wrenches have planar parts alone."""
    if name in ("q", "q0", "q1", "q_d"):
        return q[0] if name not in ("q1", "q_d") else q[1]
    if name == "M":
        return M
    if name in ("L", "D"):
        return getattr(kt.sparse.ltdl_factorize(model, M), name)
    if name in ("dt", "diagonal"):
        return rng.uniform(0.01, 0.02, size)
    return rng.standard_normal(size)


def axes(planar, reference, kind="nb"):
    """Axes in which the vectors of all bodies (or frames) stand, for a reference."""
    count = planar.nb if kind == "nb" else planar.nf
    return [planar.axes_of(k if reference == "local" else 0) for k in range(count)]


def six(E):
    """The planar part of six-vectors: (3, 6)."""
    Z = np.zeros((3, 3))
    return np.block([[E, Z], [Z, E]])[[2, 3, 4]]


def flattened(planar, name, shape, x, static):
    """The planar form of an array of the spatial model: turned into the plane's axes, the rest left out."""
    reference = static.get("reference", "world")
    E_0, x = planar.axes_of(0), np.asarray(x)
    if "n_inertial" in shape:
        turns = [inertial_columns(planar.axes_of(i)) for i in range(1, planar.nb)]
        x = np.concatenate([x[..., 10 * k : 10 * k + 10] @ turn for k, turn in enumerate(turns)], axis=-1)
        return six(E_0) @ x if shape[0] == 6 else x
    if shape in (("nb", 6), ("nf", 6)):
        return np.array([six(E) @ row for E, row in zip(axes(planar, reference, shape[0]), x, strict=True)])
    if shape == ("n_loops", 6):  # of loops in the plane: tests/constraints/test_loops.py
        assert not len(x)
        return x[:, :3]
    if shape == ("n_elements", "nb", 6):
        return x @ six(E_0).T
    if shape == ("n_contacts", 3):  # contacts are in space alone
        assert not len(x)
        return x[..., 1:]
    if shape[1:] == (6, "nv"):
        local = static.get("reference", "local") if shape[0] == "nb" else reference
        return np.array([six(E) @ row for E, row in zip(axes(planar, local, shape[0]), x, strict=True)])
    if shape == (6, 6):
        S = six(planar.axes_of(static["frame"]) if reference == "local" else E_0)
        return S @ x @ S.T
    if shape and shape[0] == 6:
        return six(planar.axes_of(static["frame"]) if reference == "local" else E_0) @ x
    if name in ("R_WB", "R_WF"):
        frames = [static["frame"]] if "frame" in static else range(len(x))
        E = np.array([planar.axes_of(k) for k in frames])
        found = (E_0 @ x @ np.swapaxes(E, -1, -2))[:, :2, :2]
        return found[0] if "frame" in static else found
    if shape in (("nb", 3), ("nf", 3)):
        return (x @ E_0.T)[:, :2]
    if shape and shape[0] == 3:
        return (E_0 @ x)[:2]
    if name == "T_WF":
        R, p = flattened(planar, "R_WF", ("nf", 3, 3), x[:, :3, :3], {}), (x[:, :3, 3] @ E_0.T)[:, :2]
        return np.block([[R, p[..., None]], [np.zeros((len(R), 1, 2)), np.ones((len(R), 1, 1))]])
    return x


def inertial_columns(E):
    """(10, 4): the spatial parameters of a body that has given planar ones, in its own coordinates."""
    back, columns = Transform(rotation_from_matrix(E.T.tolist()), Vector3.zero()), []
    for k in INERTIAL:
        unit = [float(k == m) for m in range(10)]
        I = back @ Inertia(unit[0], Vector3(*unit[1:4]), Symmetric3(*unit[4:]))
        columns.append([I.m, *I.h, *I.I])
    return np.array(columns).T


def cases():
    """Every algorithm with every combination of its static choices."""
    for name, spec in ALGORITHMS.items():
        choices = [{}]
        for entry in spec.static:
            joints = {"forward": (("joint1", "joint3"),), "independent": (None,), "actuated": (None,)}
            options = {**CHOICES, **joints, "frame": ("eye", "body5"), "axes": ("world",)}[entry]
            choices = [{**c, entry: option} for c in choices for option in options]
        for c in choices:
            yield pytest.param(name, c, id="-".join([name, *(str(x) for x in c.values() if isinstance(x, str))]))


#: What algorithms hand on to one another, in coordinates of their own: compared through the answer.
INTERNAL = {"articulated_factorization", "articulated_solve"}
#: Laws of frames in space, which refuse planar models.
SPATIAL = {"cartesian_impedance"}
KINDS = {"flat": (3, False, False), "tilted": (4, True, False), "floating": (5, True, True)}


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    """A mechanism in a plane of the axes, in any plane, and one that floats in it."""
    return mechanism(*KINDS[request.param])


def answers(model, name, static, given):
    """Results of a plain call, by name."""
    found = public_call(name)(model, **given, **static)
    spec = ALGORITHMS[name]
    return dict(zip(spec.outputs, found if len(spec.outputs) > 1 else [found], strict=True))


def both(model, name, static, spatial=True):
    """Results of the spatial model in planar form, and those of the planar model."""
    spec, rng = ALGORITHMS[name], np.random.default_rng(8)
    knows_rotors = spec.function.__name__ == name and not hasattr(spec.function, "__wrapped__")
    if knows_rotors and name != "forward_dynamics_clusters":  # it refuses rotors far from their joints
        model = with_rotor(model)
    if name.startswith("potential_energy"):  # its zero is arbitrary: heights across the plane do not count
        in_plane = six(model.planar().axes_of(0))[1:, 3:]
        model = model.replace(gravity=in_plane.T @ in_plane @ list(model.gravity))
    planar, q = model.planar(), (model.random_q(rng), model.random_q(rng))
    M = kt.crba(model, q[0])
    given = {}
    for entry, shape in (*spec.inputs.items(), *spec.optional.items()):
        size = tuple(getattr(model, s) if isinstance(s, str) else s for s in shape)
        given[entry] = value(model, rng, entry, size, q, M)
    flat = {}
    for entry, x in given.items():
        shape = {**spec.inputs, **spec.optional}[entry]
        if shape == ("nb", 6):
            reference = static.get("reference", "world") if entry != "f_ext" else "world"
            x = np.array([six(E) @ row for E, row in zip(axes(planar, reference), x, strict=True)])
            given[entry] = np.array([six(E).T @ row for E, row in zip(axes(planar, reference), x, strict=True)])
        flat[entry] = x
    if not spatial:
        return None, answers(planar, name, static, flat)
    expected = {
        entry: flattened(planar, entry, spec.outputs[entry], x, static)
        for entry, x in answers(model, name, static, given).items()
    }
    return expected, answers(planar, name, static, flat)


def alike(found, expected, tolerance=1e-9):
    """Assert that all results agree, relative to the largest entry of each."""
    for entry, x in expected.items():
        assert np.shape(found[entry]) == np.shape(x), entry
        scale = max(1.0, np.abs(x).max(initial=0.0))
        np.testing.assert_allclose(found[entry], x, rtol=0.0, atol=tolerance * scale, err_msg=entry)


@pytest.mark.parametrize(("name", "static"), [case for case in cases() if case.values[0] not in INTERNAL | SPATIAL])
def test_interpreted(model, name, static):
    """The planar algebra gives the rows 3, 4, 5 of what the spatial one gives (C02.34, C05 to C07)."""
    if name.startswith("floating_base") and model.planar().nv_base:
        pytest.skip("the base floats in the plane, not in space: tested below")
    with kt.interpreted():
        expected, found = both(model, name, static)
    alike(found, expected)


@pytest.fixture(scope="module")
def tilted():
    """A mechanism in any plane."""
    return mechanism(*KINDS["tilted"])


@pytest.mark.parametrize(("name", "static"), [case for case in cases() if case.values[0] not in INTERNAL | SPATIAL])
def test_compiled(tilted, name, static):
    """The same, compiled, and the same operations as the interpreted ones."""
    with kt.interpreted():
        expected, interpreted = both(tilted, name, static)
    _, found = both(tilted, name, static, spatial=False)
    alike(found, expected)
    alike(found, interpreted)


def test_floating_in_the_plane():
    """A planar base that floats: the equations of section 9.4 give M, c and the accelerations of the whole tree."""
    model = mechanism(*KINDS["floating"])
    planar, rng = model.planar(), np.random.default_rng(2)
    assert (model.nv_base, planar.nv_base, planar.nv_joints) == (0, 3, model.nv - 3)
    q, (v, tau) = model.random_q(rng), rng.standard_normal((2, model.nv))
    tau[:3] = 0.0
    M, c, a = kt.crba(model, q), kt.bias_forces(model, q, v), kt.aba(model, q, v, tau)
    found = kt.floating_base.coefficients(planar, q, v)
    alike(found._asdict(), {"I0c": M[:3, :3], "F": M[:3, 3:], "H": M[3:, 3:], "p0c": c[:3], "C": c[3:]})
    reduced = kt.floating_base.reduced_coefficients(planar, q, v)
    gain = M[3:, :3] @ np.linalg.inv(M[:3, :3])
    alike(reduced._asdict(), {"H_fl": M[3:, 3:] - gain @ M[:3, 3:], "C_fl": c[3:] - gain @ c[:3]})
    forward = kt.floating_base.forward_dynamics(planar, q, v, tau[3:])
    alike(forward._asdict(), {"a_base": a[:3], "a_joints": a[3:]})
    inverse = kt.floating_base.inverse_dynamics(planar, q, v, a[3:])
    alike(inverse._asdict(), {"a_base": a[:3], "tau_joints": tau[3:]})
    J = kt.jacobian(planar, q, frame="eye", reference="world")
    J_fl = kt.floating_base.jacobian(planar, q, frame="eye", reference="world")
    alike({"J": J_fl}, {"J": J[:, 3:] - J[:, :3] @ gain.T})


def test_factors_solve(tilted):
    """``kt.dynamics.factorize`` keeps its data in the plane's own coordinates, and solves as the spatial one does."""
    rng = np.random.default_rng(3)
    q, x = tilted.random_q(rng), rng.standard_normal(tilted.nv)
    planar = kt.dynamics.factorize(tilted.planar(), q)
    alike({"x": planar.solve(x)}, {"x": np.linalg.solve(kt.crba(tilted, q), x)})


def test_derivatives_of_the_graph(tilted):
    """``kt.differentiate`` of planar inverse dynamics is `rnea_derivatives` of the spatial model."""
    rng = np.random.default_rng(4)
    q, (v, a) = tilted.random_q(rng), rng.standard_normal((2, tilted.nv))
    expected = kt.rnea_derivatives(tilted, q, v, a).dtau_dq
    found = kt.differentiate(tilted.planar(), "rnea", wrt=("q",))(q, v, a)
    alike({"dtau_dq": found[0] if isinstance(found, tuple) else found}, {"dtau_dq": expected})


def test_batches_float32_and_other_numbers(tilted):
    """A batch, float32, and other masses without compiling again."""
    planar, rng = tilted.planar(), np.random.default_rng(5)
    q = np.array([tilted.random_q(rng) for _ in range(9)])
    v, a = rng.standard_normal((2, 9, tilted.nv))
    tau = kt.rnea(tilted, q, v, a)
    alike({"tau": kt.rnea(planar, q, v, a)}, {"tau": tau})
    single = kt.rnea(planar, *(x.astype(np.float32) for x in (q, v, a)))
    assert single.dtype == np.float32
    alike({"tau": single}, {"tau": tau}, 1e-5)
    heavier = kt.compile(planar, "rnea").with_parameters({"body2.mass": 3.0})
    I = [Inertia(3.0, I.h, I.I) if name == "body2" else I for name, I in zip(tilted.body_names, tilted.I, strict=True)]
    assert not np.allclose(heavier(q, v, a), tau)
    alike({"tau": heavier(q, v, a)}, {"tau": kt.rnea(tilted.replace(I=I), q, v, a)})
    alike({"tau": heavier(q, v, a)}, {"tau": kt.rnea(heavier.model, q, v, a)})


def test_wrenches_by_name(tilted):
    """External forces are planar, too: (n, f_x, f_y)."""
    planar, q = tilted.planar(), tilted.neutral()
    still, E = np.zeros(tilted.nv), tilted.planar().axes_of(0)
    wrench = np.array([0.3, -1.0, 2.0])
    tau = kt.rnea(planar, q, still, still, f_ext={"body3": wrench})
    alike({"tau": tau}, {"tau": kt.rnea(tilted, q, still, still, f_ext={"body3": six(E).T @ wrench})})
    with pytest.raises(kt.errors.ShapeError, match=r"expected \(\.\.\., 3\)"):
        kt.rnea(planar, q, still, still, f_ext={"body3": np.zeros(6)})


def test_a_run_is_that_of_the_spatial_model(tilted):
    """`simulate` takes planar models."""
    q = tilted.random_q(np.random.default_rng(6))
    runs = [kt.simulate(m, q0=q, duration=0.05, dt=0.01) for m in (tilted, tilted.planar())]
    alike({"q": runs[1].q}, {"q": runs[0].q})


def test_a_long_planar_chain_compiles():
    """From 48 bodies on the trace is taken in pieces."""
    model = kt.models.auto_tree(60)
    rng = np.random.default_rng(7)
    q, (v, a) = model.random_q(rng), rng.standard_normal((2, model.nv))
    alike({"tau": kt.rnea(model.planar(), q, v, a)}, {"tau": kt.rnea(model, q, v, a)})


@pytest.mark.parametrize(
    "joint",
    [PlanarLocal(), PlanarSplit("translation"), PlanarSplit("rotation"), Reversed(Planar()), Reversed(Revolute()),
     Composite((Revolute(), Prismatic((0, 1, 0)), Revolute((0, 0, -1))))],
    ids=repr,
)  # fmt: skip
def test_whatever_keeps_to_the_plane(joint):
    """Joints are asked how they move, not what they are called."""
    model = kt.models.random_tree(3, seed=1, joints=[Revolute()], branching=0.0, armature=False)
    b, parent = kt.ModelBuilder("plane", gravity=(1.0, -9.0, 0.5)), "world"
    for k, own in enumerate((Revolute(), joint, Prismatic((1, 0, 0)))):
        I = model.I[k + 1]
        c = np.array(list(I.com))
        about = np.array(I.I.matrix.rows) - I.m * (c @ c * np.eye(3) - np.outer(c, c))
        b.add_body(f"b{k}", parent, own, placement=((0.3, 0.1, 0.2), (0, 0, 0.4)), mass=I.m, com=c, inertia=about)
        parent = f"b{k}"
    model = b.build()
    planar, rng = model.planar(), np.random.default_rng(9)
    q, (v, a) = model.random_q(rng), rng.standard_normal((2, model.nv))
    with kt.interpreted():
        for name, inputs in {"rnea": (q, v, a), "crba": (q,), "aba": (q, v, a), "rnea_derivatives": (q, v, a)}.items():
            found, expected = (np.asarray(public_call(name)(m, *inputs)) for m in (planar, model))
            alike({name: found}, {name: expected})


def test_time_dependent_joints():
    """A joint that moves by itself in the plane; the time is the last input."""
    shaken = Prescribed(Prismatic((1, 0, 0)), Sinusoid(0.1, omega=5.0))
    b = kt.ModelBuilder("driven")
    b.add_body("stand", joint=shaken, mass=1.0, com=(0.1, 0.0, 0.0), inertia=np.eye(3))
    b.add_body("arm", "stand", Revolute((0, 1, 0)), mass=1.0, com=(0.3, 0.0, 0.0), inertia=np.eye(3))
    model = b.build()
    q, v = np.array([0.4]), np.array([1.5])
    expected = kt.aba(model, q, v, v, 0.3)
    alike({"a": kt.aba(model.planar(), q, v, v, 0.3)}, {"a": expected})
    with kt.interpreted():
        alike({"a": kt.aba(model.planar(), q, v, v, 0.3)}, {"a": expected})
        power = kt.dynamics.prescribed_power(model, q, v, v, t=0.3)
        alike({"power": kt.dynamics.prescribed_power(model.planar(), q, v, v, t=0.3)}, {"power": power})


def _operands(s, planar: bool):
    """A transform, a motion, a force, an inertia and an articulated inertia of unknown numbers."""
    if planar:
        r = Vector2(s(), s())
        A = PlanarArticulatedInertia((s(), s(), s()), r, s())
        return PlanarTransform(s(), s(), r), PlanarMotion(s(), r), PlanarForce(s(), r), PlanarInertia(s(), r, s()), A

    def three():
        return Vector3(s(), s(), s())

    def matrix():
        return tuple(tuple(s() for _ in range(3)) for _ in range(3))

    X = Transform(GeneralRotation(matrix()), three())
    I, M = (Symmetric3(*[s() for _ in range(6)]) for _ in range(2))
    A = ArticulatedInertia(M, Matrix3(matrix()), I)
    return X, Motion(three(), three()), Force(three(), three()), Inertia(s(), three(), I), A


OPERATORS = {
    "transform of a motion": lambda X, m, f, I, A: X @ m,
    "transform of a force": lambda X, m, f, I, A: X @ f,
    "momentum, I v": lambda X, m, f, I, A: I @ m,
    "transform of an inertia": lambda X, m, f, I, A: X @ I,
    "transform of an articulated inertia": lambda X, m, f, I, A: X @ A,
    "I^A S": lambda X, m, f, I, A: A @ m,
    "I^A - U U^T / D": lambda X, m, f, I, A: A.minus_dyad(f, 2.5),
    "sum of articulated inertias": lambda X, m, f, I, A: A + A,
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_costs_of_the_operators(operator):
    """The table of docs/planar.md: multiplications and additions in space and in the plane."""
    page = (Path(__file__).parents[2] / "docs" / "planar.md").read_text()
    costs = []
    for planar in (False, True):
        counted = count(lambda o: OPERATORS[operator](*o), lambda s, planar=planar: _operands(s, planar))
        costs.append("{} + {}".format(*counted))
    assert f"| {operator} | {costs[0]} | {costs[1]} |" in page


@pytest.mark.parametrize("count", [3, 4, 6])
def test_counts_of_numbers_are_not_those_of_vectors(count):
    """Derivatives with respect to 3, 4 or 6 numbers have as many columns: in the plane only vectors are shorter."""
    planar, x = kt.models.double_pendulum().planar(), np.array([0.3, -0.2])
    names = planar.numbers().names
    whole = kt.differentiate(planar, "rnea", wrt="numbers")(x, x, x)
    part = kt.differentiate(planar, "rnea", wrt="numbers", numbers=names[:count])(x, x, x)
    np.testing.assert_array_equal(part, whole[:, :count])


def test_derivatives_of_planar_vectors_are_those_of_differences():
    """The Jacobian of the momentum (3 entries in the plane) by central differences, error h^2 and eps / h."""
    planar, q, v, h = kt.models.double_pendulum().planar(), np.array([0.3, -0.2]), np.array([1.0, 2.0]), 1e-5
    steps = h * np.eye(2)
    expected = (kt.momentum(planar, q + steps, v) - kt.momentum(planar, q - steps, v)).T / (2.0 * h)
    np.testing.assert_allclose(kt.differentiate(planar, "momentum", wrt="q")(q, v), expected, rtol=0.0, atol=1e-9)


def test_packed_results_and_parameters_of_states_in_the_plane():
    """A mass matrix of three distinct entries is packed into three; states may have numbers of their own."""
    planar, q = kt.models.double_pendulum().planar(), np.array([0.3, -0.2])
    f = kt.compile(planar, "crba")
    packed = kt.compiler.packed(f)
    np.testing.assert_array_equal(packed.unpack(packed(q)), f(q))
    values = np.tile(planar.numbers().values, (2, 1))
    np.testing.assert_allclose(f.with_parameters(values)(q), [f(q), f(q)], rtol=1e-14)


@pytest.mark.parametrize("tilted", [False, True])
@pytest.mark.seeds(2)
def test_force_elements_act_in_the_plane(seed, tilted):
    """Elements of every kind, between points off the plane, too: forces, slopes, energies, rates of their states."""
    model = loaded(mechanism(seed, tilted), seed, share=1.0)
    flat, rng = model.planar(), np.random.default_rng(seed)
    q = kt.integrate(model, model.neutral(), rng.standard_normal(model.nv))
    v, tau = rng.standard_normal((2, model.nv))
    given = internal(model, seed)
    kinds = {Thruster, *(kind for kind in FORCE_KINDS if not kind.joint_kind)}  # ball joints are not planar
    assert {type(element) for element in flat.elements} >= kinds and model.nx and model.nu
    with kt.interpreted():
        for call in (kt.dynamics.passive_joint_forces, kt.dynamics.force_state_rates, kt.dynamics.elastic_energy):
            more = given if call is not kt.dynamics.elastic_energy else {}
            state = (q, v) if more else (q,)
            np.testing.assert_allclose(call(flat, *state, **more), call(model, *state, **more), rtol=1e-9, atol=1e-9)
        a = kt.forward_dynamics(model, q, v, tau, **given)
        np.testing.assert_allclose(kt.forward_dynamics(flat, q, v, tau, **given), a, rtol=1e-8, atol=1e-8)
        for call in (kt.dynamics.stiffness_matrix, kt.dynamics.damping_matrix):
            for method in ("exact", "gauss_newton"):
                expected = call(model, q, v, method=method, **given)
                size = 1e-9 * np.abs(expected).max()
                np.testing.assert_allclose(call(flat, q, v, method=method, **given), expected, atol=size)
        found, expected = (kt.dynamics.forces_by_element(m, q, v, **given) for m in (flat, model))
    for name in ("tau", "energy", "power", "length", "rate", "tension"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-8, atol=1e-8, err_msg=name)
    wrenches = expected.wrenches @ six(flat.axes_of(0)).T
    np.testing.assert_allclose(found.wrenches, wrenches, rtol=1e-8, atol=1e-8 * np.abs(wrenches).max())


def test_contacts_are_in_space():
    """A planar model with contacts is refused: they would be left out without a word."""
    builder = kt.ModelBuilder.of(kt.models.pendulum())
    builder.add_geometry("bob", kt.model.Geometry("sphere", (0.1,)))
    model = builder.build().with_contacts(ground=-2.0)
    with pytest.raises(kt.errors.ModelError, match=r"contacts .*spatial model"):
        model.planar()
    with pytest.raises(kt.errors.ModelError, match=r"contacts .*spatial model"):
        builder.build().planar().with_contacts(ground=-2.0)
