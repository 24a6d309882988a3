"""What is compiled in frames of the compiler's choice is what the listings give in the model's own frames."""

import dataclasses

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.rnea import rnea
from kinetree.compiler.calls import public_call
from kinetree.joints import Joint, Prismatic, Revolute, Spherical
from kinetree.joints.elementary import TurnedRevolute
from kinetree.model import ModelBuilder
from kinetree.models import chain_gu, random_tree
from kinetree.spatial import Motion, Transform, Vector3
from kinetree.spatial.rotations import rz

ROUNDING = 1e-11  # by two routes, of some thousand terms of order ten


@dataclasses.dataclass(frozen=True, eq=False)
class Wheel(Joint):
    """A joint of the user's: rolling along x without slipping."""

    radius: float
    nq = nv = 1

    def transform(self, q):
        return Transform(rz(q[0]), Vector3(-self.radius * q[0], 0.0, 0.0))

    def motion_subspace(self, q):
        return (Motion(Vector3(0.0, 0.0, 1.0), rz(q[0]) @ Vector3(-self.radius, 0.0, 0.0)),)


def mixed(seed, floating):
    """Revolute joints about several axes among other joints, the user's among them; armatures on some."""
    joints = [Revolute(), Revolute((1, 2, 3)), Revolute((0, -1, 0)), Revolute(), Prismatic((1, 1, 0)), Spherical()]
    model = random_tree(16, seed, joints=[*joints, Wheel(0.3)], floating=floating)
    assert any(isinstance(joint, TurnedRevolute) for joint in model.reframed().joints)
    assert any(x != 0.0 for x in model.armature)
    return model


def state(model, seed=0, count=5):
    rng = np.random.default_rng(seed)
    q = np.array([model.random_q(rng) for _ in range(count)])
    return q, *rng.normal(size=(2, count, model.nv))


def agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING * np.abs(expected).max())


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_dynamics_with_external_forces(seed, floating):
    """rnea, crba and aba of mixed trees, forces given in world coordinates, per body."""
    model = mixed(seed, floating)
    q, v, a = state(model)
    f_ext = np.random.default_rng(9).normal(size=(len(q), model.nb, 6))
    found = kt.rnea(model, q, v, a, f_ext=f_ext), kt.crba(model, q), kt.aba(model, q, v, a, f_ext=f_ext)
    with kt.interpreted():
        expected = kt.rnea(model, q, v, a, f_ext=f_ext), kt.crba(model, q), kt.aba(model, q, v, a, f_ext=f_ext)
    for one, other in zip(found, expected, strict=True):
        agree(one, other)


def test_frames_are_those_of_the_model():
    """Poses and Jacobians of bodies whose frames were moved, and of frames on them."""
    model = mixed(3, True)
    q, *_ = state(model)
    moved = [i for i in model.outward() if isinstance(model.reframed().joints[i], TurnedRevolute)]
    for i in moved[:3]:
        name = model.body_names[i]
        for reference in ("local", "world", "local_world_aligned"):
            found = kt.jacobian(model, q, frame=name, reference=reference)
            with kt.interpreted():
                agree(found, kt.jacobian(model, q, frame=name, reference=reference))


def test_couplings():
    """A joint that follows another through an oblique gear: the reduced dynamics are the same."""
    tree = kt.ModelBuilder.of(chain_gu(5, seed=2))
    tree.add_coupling("joint4", "joint2", -1.5)
    model = tree.build()
    assert isinstance(model.reframed().joints[4], TurnedRevolute) and model.reframed().couplings
    q, v, tau = state(model)
    q[:, 3], v[:, 3] = -1.5 * q[:, 1], -1.5 * v[:, 1]
    found = kt.forward_dynamics(model, q, v, tau)
    with kt.interpreted():
        agree(found, kt.forward_dynamics(model, q, v, tau))


def test_parameters_of_every_state():
    """Offsets, moments and masses vary from state to state, also such as break a zero of the chosen frames."""
    model = chain_gu(4, seed=1)
    q, v, a = state(model)
    f = kt.compile(model, "rnea")
    scale = np.linspace(0.5, 1.5, len(q))
    varied = {
        name: model.numbers().as_dict()[name] * scale
        for name in ("body2.mass", "body3.h.z", "body4.I.xy", "joint3.r.x", "gravity.z")
    }
    found = f.with_parameters(varied)(q, v, a)
    for k in range(len(q)):
        numbers = model.numbers().as_dict() | {name: float(x[k]) for name, x in varied.items()}
        with kt.interpreted():
            other = model.with_numbers(list(numbers.values()))
            expected = rnea(other, list(q[k]), list(v[k]), list(a[k]))
        agree(found[k], np.array(expected))


def far(distance, seed):
    """A general chain that stands far from the world's origin."""
    model = chain_gu(5, seed)
    X = model.X_T[1]
    placed = Transform(X.E, Vector3(distance, -0.7 * distance, 0.3 * distance))
    return model.replace(X_T=(model.X_T[0], placed, *model.X_T[2:]))


@pytest.mark.parametrize("distance", [1.0, 1e2, 1e4])
@pytest.mark.parametrize("algorithm", ["rnea", "aba"])
def test_no_digits_are_lost_far_from_the_origin(distance, algorithm):
    """Errors against extended precision do not grow with the distance of the robot from the world's origin.

    Of aba they are of the order of eps times the condition of M. Frames moved along their axes by that distance would
    lose it squared.
    """
    if np.finfo(np.longdouble).eps >= np.finfo(float).eps:
        pytest.skip("this machine has no extended precision")
    for seed in range(4):
        model = far(distance, seed)
        arrays = state(model, seed, 30)
        with kt.interpreted():
            exact = public_call(algorithm)(model, *(x.astype(np.longdouble) for x in arrays))
        found = public_call(algorithm)(model, *arrays)
        error = np.abs(found - exact).max(axis=1) / np.abs(exact).max(axis=1)
        condition = np.linalg.cond(kt.crba(model, arrays[0])) if algorithm == "aba" else 1.0
        assert np.all(error < 100 * np.finfo(float).eps * condition)


def test_links_of_very_different_sizes():
    """A gripper of millimeters on a boom of 50 m: each keeps the digits of its own size."""
    if np.finfo(np.longdouble).eps >= np.finfo(float).eps:
        pytest.skip("this machine has no extended precision")
    b = ModelBuilder("boom")
    parent, rng = "world", np.random.default_rng(3)
    for k, size in enumerate((50.0, 30.0, 0.02, 0.005), 1):
        placement = (rng.uniform(0.3, 1.0, 3) * (0.0, 50.0, 30.0, 0.02)[k - 1], rng.uniform(0.2, 1.2, 3))
        inertia = size**5 * np.array([0.5, 0.6, 0.7])
        com = 0.3 * size * rng.normal(size=3)
        b.add_body(f"link{k}", parent, Revolute(), f"joint{k}", placement, mass=size**3, com=com, inertia=inertia)
        parent = f"link{k}"
    model = b.build()
    q, v, a = state(model, 1, 30)
    with kt.interpreted():
        exact = kt.rnea(model, *(x.astype(np.longdouble) for x in (q, v, a)))
        own = kt.rnea(model, q, v, a)
    found = kt.rnea(model, q, v, a)
    scale = np.median(np.abs(exact), axis=0)
    error, before = (np.abs(y - exact).max(axis=0) / scale for y in (found, own))
    assert np.all(error < 10 * before + 10 * np.finfo(float).eps)
