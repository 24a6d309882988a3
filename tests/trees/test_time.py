"""Joints that depend on time, in whole trees: the algorithms are right for prescribed motions.

The reference without sigma is the *whole* tree: the same mechanism with ordinary joints, which move as
the functions of time say; and differences of positions and velocities along the motion.
"""

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.calls import public_call
from kinetree.joints import (
    Composite,
    Cylindrical,
    Planar,
    Prescribed,
    Prismatic,
    RackAndPinion,
    Reversed,
    Revolute,
    Sinusoid,
    Spherical,
    SphericalEuler,
    Universal,
)
from kinetree.joints.time_functions import derivatives
from tests.identities.systems import close

NOW = 0.83
H = 2e-4
SEEDS = range(6)


@functools.cache
def tree(seed):
    """A random tree with joints of all kinds, of which those that depend on time occur most."""
    rng = np.random.default_rng(seed)
    pool = [joint for _, joint in kt.joints.examples(rng, time_dependent=True)]
    moving = [joint for joint in pool if joint.time_dependent]
    some = [moving[k] for k in rng.permutation(len(moving))[:4]]
    others = [Revolute((1, 2, 2)), Spherical(), RackAndPinion(0.3), Reversed(RackAndPinion(0.4)), Planar()]
    return kt.models.random_tree(8, seed=seed, joints=[*some, *others], floating=seed % 3 == 0)


def state(model, seed=0):
    rng = np.random.default_rng(seed)
    return model.random_q(rng), *rng.standard_normal((3, model.nv))


def along(model, function, q, v, a, t=NOW):
    """d/dt of ``function(q, v, t)`` as the mechanism moves with velocity v and acceleration a; see `systems.along`."""

    def at(k):
        s = k * H
        return np.asarray(function(kt.integrate(model, q, s * v + 0.5 * s * s * a), v + s * a, t + s))

    f = [at(k) for k in (-2, -1, 1, 2)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * H)


@pytest.fixture(params=SEEDS)
def model(request):
    with kt.interpreted():
        yield tree(request.param)


# The whole tree ----------------------------------------------------------------------------------------------------

PRESCRIBED = (
    Prescribed(Cylindrical((1, 2, 2)), (None, Sinusoid(0.4, 3.0))),
    Prescribed(Cylindrical(), (Sinusoid(0.3, 2.0, 0.4), None)),
    Prescribed(Prismatic((0, 1, 0)), Sinusoid(0.5, 2.0, 1.0)),
    Prescribed(SphericalEuler("zyx"), (None, Sinusoid(0.4, 3.0, 0.2), None)),
    Prescribed(Universal(), (None, kt.joints.TimeSpline((0.0, 0.5, 1.0, 1.5), (0.0, 0.4, -0.2, 0.3)))),
    Reversed(Prescribed(RackAndPinion(0.4), kt.joints.FourierSeries(2.0, (0.3,), (0.1, 0.2)))),
    Composite((Revolute((0, 1, 0)), Prescribed(Prismatic((1, 0, 0)), Sinusoid(0.3, 4.0)))),
)


def without_prescription(joint):
    """The joint whose coordinates are all free, and for each of these None or its function of time."""
    if isinstance(joint, Prescribed):
        return joint.joint, list(joint.motion)
    if isinstance(joint, Reversed):
        inner, motion = without_prescription(joint.joint)
        return Reversed(inner), motion
    if isinstance(joint, Composite):
        parts = [without_prescription(part) for part in joint.joints]
        return Composite(tuple(part for part, _ in parts)), [f for _, motion in parts for f in motion]
    return joint, [None] * joint.nv


@functools.cache
def driven_and_whole(seed):
    """A tree with prescribed coordinates, the same one without, and the functions of time of its coordinates."""
    driven = kt.models.random_tree(
        9, seed=seed, joints=[*PRESCRIBED, Revolute(), Universal()], floating=False, armature=False
    )
    return driven, *whole_of(driven)


def whole_of(driven):
    """The same tree with all coordinates free, and for each of these None or its function of time."""
    pairs = [without_prescription(joint) for joint in driven.joints[1:]]
    per_joint = (
        "armature", "damping", "dry_friction", "stiffness", "lower", "upper", "limit_stiffness", "limit_damping",
        "velocity_limit", "effort_limit", "spring_reference",
    )  # fmt: skip
    joints = (None, *(joint for joint, _ in pairs))
    whole = kt.model.Model(**{**driven._arguments(), **dict.fromkeys(per_joint), "joints": joints})
    return whole, [f for _, motion in pairs for f in motion]


def whole_state(functions, t, *free):
    """q, v and a of the whole tree, from those of the free coordinates."""
    places = [k for k, f in enumerate(functions) if f is None]
    found = []
    for order, x in enumerate(free):
        y = np.array([0.0 if f is None else derivatives(f, t)[order] for f in functions])
        y[places] = x
        found.append(y)
    return (*found, places)


@pytest.mark.seeds(6)
def test_the_whole_tree_moves_and_feels_the_same(seed):
    """C03.18: with the prescribed coordinates as ordinary ones that move alike, all forces, motions, energies agree."""
    driven, whole, functions = driven_and_whole(seed)
    q, v, a, _ = state(driven, seed)
    Q, V, A, free = whole_state(functions, NOW, q, v, a)
    f_ext = np.random.default_rng(seed).normal(size=(driven.nb, 6))
    with kt.interpreted():
        tau = kt.rnea(whole, Q, V, A, f_ext)
        close(kt.rnea(driven, q, v, a, NOW, f_ext), tau[free])
        only_driven = np.where(np.isin(range(whole.nv), free), 0.0, A)
        close(kt.bias_forces(driven, q, v, NOW), kt.rnea(whole, Q, V, only_driven)[free])
        close(kt.aba(driven, q, v, tau[free], NOW, f_ext), a, ulps=1e7)  # the condition of M
        close(kt.crba(driven, q, NOW), kt.crba(whole, Q)[np.ix_(free, free)])
        close(kt.gravity_forces(driven, q, NOW), kt.gravity_forces(whole, Q)[free])
        for name in ("kinetic_energy", "momentum", "centroidal_momentum", "center_of_mass_velocity"):
            close(public_call(name)(driven, q, v, NOW), public_call(name)(whole, Q, V))
        for reference in ("local", "world", "local_world_aligned"):
            close(
                kt.kinematics.body_velocities(driven, q, v, NOW, reference=reference),
                kt.kinematics.body_velocities(whole, Q, V, reference=reference),
            )
            close(
                kt.kinematics.frame_jacobians(driven, q, NOW, reference=reference),
                kt.kinematics.frame_jacobians(whole, Q, reference=reference)[..., free],
            )
            for kind in ("spatial", "classical"):
                close(
                    kt.kinematics.body_accelerations(driven, q, v, a, NOW, reference=reference, kind=kind),
                    kt.kinematics.body_accelerations(whole, Q, V, A, reference=reference, kind=kind),
                )
            names = {"frame": driven.body_names[-1], "reference": reference}
            close(
                kt.kinematics.jacobian_rate(driven, q, v, NOW, **names),
                kt.kinematics.jacobian_rate(whole, Q, V, **names)[..., free],
            )
        close(kt.coriolis_matrix(driven, q, v, NOW), kt.coriolis_matrix(whole, Q, V)[np.ix_(free, free)])
        power = sum(tau[k] * V[k] for k in range(whole.nv) if k not in free)
        close(kt.dynamics.prescribed_power(driven, q, v, a, NOW, f_ext), power)


@pytest.mark.seeds(6)
def test_derivatives_are_those_of_the_whole_tree(seed):
    """dtau/dq, dtau/dv and M of the driven tree are the blocks of its free coordinates; da follow from them."""
    driven, whole, functions = driven_and_whole(seed)
    q, v, a, _ = state(driven, seed)
    Q, V, A, free = whole_state(functions, NOW, q, v, a)
    with kt.interpreted():
        found, expected = kt.rnea_derivatives(driven, q, v, a, NOW), kt.rnea_derivatives(whole, Q, V, A)
        for x, y in zip(found, expected, strict=True):
            close(x, y[np.ix_(free, free)])
        tau = kt.rnea(driven, q, v, a, NOW)
        da = kt.aba_derivatives(driven, q, v, tau, NOW)
    close(da.da_dtau, np.linalg.inv(found.dtau_da), ulps=1e7)
    close(da.da_dq, -da.da_dtau @ found.dtau_dq, ulps=1e8)
    close(da.da_dv, -da.da_dtau @ found.dtau_dv, ulps=1e8)


# Calculus, with every kind -----------------------------------------------------------------------------------------


def test_forward_dynamics_undoes_inverse_dynamics(model):
    """aba(q, v, rnea(q, v, a, t), t) = a, and rnea = M a + bias."""
    q, v, a, _ = state(model)
    tau = kt.rnea(model, q, v, a, NOW)
    close(kt.aba(model, q, v, tau, NOW), a, ulps=1e8)
    close(tau, kt.crba(model, q, NOW) @ a + kt.bias_forces(model, q, v, NOW))


def test_velocities_and_accelerations_are_rates(model):
    """The twist is the rate of the pose, the spatial acceleration that of the twist, J_dot that of J."""
    q, v, a, _ = state(model)
    world = {"reference": "world"}
    R, p = kt.forward_kinematics(model, q, NOW)
    V = kt.kinematics.body_velocities(model, q, v, NOW, reference="local_world_aligned")
    close(along(model, lambda q, v, t: kt.forward_kinematics(model, q, t)[1], q, v, a), V[:, 3:], ulps=1e6)
    R_dot = along(model, lambda q, v, t: kt.forward_kinematics(model, q, t)[0], q, v, a)
    close(R_dot, np.cross(V[:, None, :3], R.swapaxes(1, 2)).swapaxes(1, 2), ulps=1e6)
    rate = along(model, lambda q, v, t: kt.kinematics.body_velocities(model, q, v, t, **world), q, v, a)
    close(kt.kinematics.body_accelerations(model, q, v, a, NOW, kind="spatial", **world), rate, ulps=1e6)
    for reference in ("local", "world", "local_world_aligned"):
        names = {"frame": model.body_names[-1], "reference": reference}
        rate = along(model, lambda q, v, t, n=names: kt.jacobian(model, q, t, **n), q, v, a)
        close(kt.kinematics.jacobian_rate(model, q, v, NOW, **names), rate, ulps=1e6)


def test_energy_changes_by_the_power_of_joint_forces_and_motions(model):
    """d(T + U)/dt = tau v + f . sigma, the sum over the joints that depend on time."""
    q, v, a, _ = state(model)

    def energy(q, v, t):
        return kt.kinetic_energy(model, q, v, t) + kt.potential_energy(model, q, t)

    power = kt.rnea(model, q, v, a, NOW) @ v + kt.dynamics.prescribed_power(model, q, v, a, NOW)
    close(power, along(model, energy, q, v, a), scale=max(1.0, abs(energy(q, v, NOW))), ulps=1e7)


def test_mass_matrix_rate_is_the_coriolis_matrix_and_its_transpose(model):
    """dM/dt = C + C^T, the time's own part included."""
    q, v, a, _ = state(model)
    C = kt.coriolis_matrix(model, q, v, NOW)
    close(C + C.T, along(model, lambda q, v, t: kt.crba(model, q, t), q, v, a), ulps=1e7)


def test_derivatives_of_inverse_dynamics_are_those_of_the_graph(model):
    """rnea_derivatives equals the differentiated rnea, whose derivative with respect to t is the difference in time."""
    q, v, a, _ = state(model)
    by_hand = kt.rnea_derivatives(model, q, v, a, NOW)
    f = kt.differentiate(model, "rnea", wrt=("q", "v", "a", "t"))
    spec = f.spec
    graph = spec.function(model, **{n: x.tolist() for n, x in (("q", q), ("v", v), ("a", a))}, t=NOW)
    for x, y in zip(by_hand, graph, strict=False):
        close(x, np.array(y, dtype=float), ulps=1e6)
    fd = [kt.rnea(model, q, v, a, NOW + k * H) for k in (-2, -1, 1, 2)]
    close(graph[3], (fd[0] - 8.0 * fd[1] + 8.0 * fd[2] - fd[3]) / (12.0 * H), ulps=1e7)


def test_derivatives_of_forward_dynamics_follow(model):
    """da_dq = -M^-1 dtau_dq, da_dv = -M^-1 dtau_dv."""
    q, v, a, _ = state(model)
    tau = kt.rnea(model, q, v, a, NOW)
    d, da = kt.rnea_derivatives(model, q, v, a, NOW), kt.aba_derivatives(model, q, v, tau, NOW)
    close(da.da_dq, -np.linalg.solve(d.dtau_da, d.dtau_dq), ulps=1e9)
    close(da.da_dv, -np.linalg.solve(d.dtau_da, d.dtau_dv), ulps=1e9)
    close(da.da_dtau, np.linalg.inv(d.dtau_da), ulps=1e9)


# Other methods --------------------------------------------------------------------------------------------------------

INVERSE = ("rnea_world", "newton_euler", "inverse_dynamics")
FORWARD = ("forward_dynamics", "forward_dynamics_crba", "divide_and_conquer", "aba_inverse_inertias")


@functools.cache
def driven_and_hybrid(seed):
    """A tree in which some joints have no freedom left, the whole one, its functions, and its joints that are free."""
    slide = Prescribed(Prismatic((0, 1, 0)), Sinusoid(0.5, 2.0, 1.0))
    wheel = Prescribed(RackAndPinion(0.4), Sinusoid(0.7, 3.0))
    driven = kt.models.random_tree(8, seed=seed, joints=[slide, wheel, Revolute(), Universal()], armature=False)
    whole, functions = whole_of(driven)
    free = [driven.joint_name(i) for i in driven.outward() if driven.joints[i].nv]
    return driven, whole, functions, tuple(free)


@pytest.mark.seeds(3)
@pytest.mark.parametrize("method", ["hybrid_aba", "hybrid_crba", "hybrid_recursive"])
def test_hybrid_dynamics_of_the_whole_tree_is_forward_dynamics_of_the_driven_one(method, seed):
    """C09.05, C03.18: accelerations prescribed by hybrid dynamics equal the sigma formulation; powers agree, too."""
    driven, whole, functions, forward = driven_and_hybrid(seed)
    q, v, a, tau = state(driven, seed)
    Q, V, A, free = whole_state(functions, NOW, q, v, a)
    TAU = np.zeros(whole.nv)
    TAU[free] = tau
    with kt.interpreted():
        found = public_call(method)(whole, Q, V, TAU, A, forward=forward)
        a = kt.aba(driven, q, v, tau, NOW)
        close(found.a_all[free], a, ulps=1e7)
        given = np.setdiff1d(range(whole.nv), free)
        power = kt.dynamics.prescribed_power(driven, q, v, a, NOW)
        close(power, found.tau_all[given] @ V[given], ulps=1e7)


@pytest.mark.seeds(6)
def test_all_methods_include_sigma(seed):
    """Every method for the inverse and to the forward dynamics of a driven tree leads to rnea and aba."""
    model = tree(seed)
    q, v, a, _ = state(model, seed)
    with kt.interpreted():
        tau = kt.rnea(model, q, v, a, NOW)
        for method in INVERSE:
            close(public_call(method)(model, q, v, a, NOW), tau, ulps=1e6)
        for method in FORWARD:
            close(public_call(method)(model, q, v, tau, NOW), a, ulps=1e8)
        forward = [model.joint_name(i) for i in model.outward() if model.joints[i].nv][::2]
        for method in ("hybrid_aba", "hybrid_crba", "hybrid_recursive", "hybrid_dynamics"):
            found = public_call(method)(model, q, v, tau, a, NOW, forward=forward)
            close(found.a_all, a, ulps=1e8)
            close(found.tau_all, tau, ulps=1e8)
