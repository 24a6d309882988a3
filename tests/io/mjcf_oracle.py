"""A loaded MJCF model beside MuJoCo's own: every quantity of the tree at random states.

Tolerances: both engines sum the same few hundred products in other orders, so quantities agree within some 1e-14 of
their largest entry; accelerations lose the condition of M, at most 1e5 here.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt
from tests.engines.mujoco_bridge import MujocoBridge


def assert_close(ours, theirs, tolerance):
    scale = max(1e-9, float(np.abs(theirs).max(initial=0.0)))
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=tolerance * scale)


def assert_same_physics(model, mj, seed: int, states: int = 2, frames: bool = True) -> None:
    """Mass matrix, bias, springs and dampers, accelerations, and poses of bodies and sites.

    Couplings, tendons and constraints are left out on both sides: what is compared is the tree. So are limits and dry
    friction, which MuJoCo holds softly.
    """
    theirs, rng = MujocoBridge(model, mj, by_order=True), np.random.default_rng(seed)
    for t in range(mj.ntendon):
        theirs.mj_model.tendon_stiffness[t] = theirs.mj_model.tendon_damping[t] = 0.0
    bare = model.without_unsupported("loops", "equalities", "tendons", "actuators")
    tree = bare.without_limits().replace(dry_friction=0.0)
    for _ in range(states):
        q, v = model.random_state(rng)
        tau = rng.normal(size=model.nv)
        with kt.interpreted():
            assert_close(kt.crba(tree, q), theirs.crba(q), 1e-12)
            assert_close(kt.rnea(tree, q, v, np.zeros(model.nv)), theirs.bias(q, v), 1e-12)
            assert_close(kt.dynamics.passive_joint_forces(tree, q, v), theirs.passive(q, v), 1e-11)
            if not model.couplings:
                assert_close(kt.forward_dynamics(tree, q, v, tau), theirs.forward_dynamics(q, v, tau), 1e-10)
            if frames:
                assert_same_frames(model, mj, theirs, q)


def assert_same_frames(model, mj, theirs, q) -> None:
    """Poses of all bodies and sites that have names."""
    for b in range(1, mj.nbody):
        if name := mj.body(b).name:
            R, p = kt.pose(model, q, frame=name)
            R_mj, p_mj = theirs.body_pose(q, name)
            assert_close(R, R_mj, 1e-12)
            assert_close(p, p_mj, 1e-12)
    bodies = {mj.body(b).name for b in range(mj.nbody)}
    for s in range(mj.nsite):
        if name := mj.site(s).name:
            R, p = kt.pose(model, q, frame=f"{name}_site" if name in bodies else name)
            site = theirs.data.site(name)
            assert_close(R, site.xmat.reshape(3, 3), 1e-12)
            assert_close(p, site.xpos, 1e-12)
