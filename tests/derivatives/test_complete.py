"""The complete dynamics: passive joint forces, stops and couplings are differentiated with the rest."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from tests.derivatives.states import LONG, along, close, state

DIFFERENCES = 1e-10  # extended precision; stops and friction are stiff


@functools.cache
def machine(coupled: bool):
    """A branched tree with springs, damping, friction and stops; two joints follow another if coupled."""
    rng = np.random.default_rng(4)
    n = 5
    model = kt.models.chain_gu(n, seed=4).replace(
        damping=rng.uniform(0.1, 1.0, n),
        stiffness=rng.uniform(1.0, 9.0, n),
        spring_reference=rng.uniform(-1.0, 1.0, n),
        dry_friction=[0.0, 0.2, 0.0, 0.1, 0.0],
        armature=rng.uniform(0.01, 0.1, n),
        lower=[-1.0] * n,
        upper=[1.0] * n,
        limit_stiffness=[100.0] * n,
        limit_damping=[2.0] * n,
    )
    if not coupled:
        return model
    builder = kt.ModelBuilder.of(model)
    builder.add_coupling("joint4", "joint2", ratio=0.5, offset=0.1)
    builder.add_coupling("joint5", "joint2", ratio=-2.0)
    return builder.build()


def coupled_state(model, seed):
    """Some joints beyond their stops, the coupled ones where their masters put them."""
    q, v, a, tau, _ = state(model, seed, LONG)
    q = np.array([1.3, 0.2, -1.2, 0.4, -0.6], LONG)
    q, v = kt.kinematics.apply_couplings(model, q, v) if model.couplings else (q, v)
    return q, v, a, tau


@pytest.mark.parametrize("method", ["forward", "reverse"])
@pytest.mark.parametrize("coupled", [False, True], ids=["free", "coupled"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_complete_dynamics_are_finite_differences(name, coupled, method):
    """In q, v and the third array; with checks off, because single entries leave the coupling."""
    model = machine(coupled)
    q, v, a, tau = coupled_state(model, 1)
    third, x = ("a", a) if name == "inverse_dynamics" else ("tau", tau)
    f = kt.compile(model, name, checks=False)
    g = kt.differentiate(model, name, wrt=("q", "v", third), method=method, checks=False)
    arrays = (q, v, x)
    for k, found in enumerate(g(*arrays)):
        expected = along(lambda y, k=k: f(*arrays[:k], y, *arrays[k + 1 :]), lambda s, k=k: arrays[k] + s, model.nv)
        close(found, expected, DIFFERENCES)


def test_compiled_derivative_of_coupled_dynamics():
    """The same numbers from machine code."""
    model = machine(True)
    q, v, _, tau = coupled_state(model, 2)
    g = kt.differentiate(model, "forward_dynamics", wrt=("q", "v", "tau"))
    exact = g(q, v, tau)
    for found, expected in zip(g(*(x.astype(float) for x in (q, v, tau))), exact, strict=True):
        close(found, expected, 1e-11)


def test_stop_adds_its_stiffness_beyond_the_limit_only():
    """Inside, dtau/dq is the spring's; beyond, the stop's stiffness comes on top."""
    model = kt.models.pendulum().replace(
        gravity=(0.0, 0.0, 0.0), lower=[-1.0], upper=[1.0], limit_stiffness=[50.0], limit_damping=[3.0], stiffness=[2.0]
    )
    slope = kt.differentiate(model, "inverse_dynamics", wrt="q")
    close(slope([0.9], [0.0], [0.0]), [[2.0]], 1e-15)
    close(slope([1.1], [0.0], [0.0]), [[52.0]], 1e-15)


def test_held_physics_is_refused_by_derivatives_too():
    """What the complete dynamics cannot compute, their derivatives do not leave out."""
    tendons = "<tendon><spatial name='t' armature='1'><site site='a'/><site site='b'/></spatial></tendon>"
    text = (
        "<mujoco><worldbody><site name='a'/><body><joint axis='0 1 0'/><geom size='.1' pos='0 0 -.3'/>"
        f"<site name='b' pos='0 0 -.4'/></body></worldbody>{tendons}</mujoco>"
    )
    model = kt.load(text)
    with pytest.raises(kt.errors.UnsupportedError, match="tendon"):
        kt.dynamics.forward_dynamics_derivatives(model, [0.1], [0.0], [0.0])
