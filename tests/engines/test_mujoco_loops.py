"""Mechanisms with loops against MuJoCo: the same files, stiff equalities, the same motions."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt

mujoco = pytest.importorskip("mujoco")
DT = 1e-3


def theirs(model, duration: float):
    """Changes of the positions of the joints that both have, by MuJoCo's RK4, with its stiffest stable equalities."""
    m = mujoco.MjModel.from_xml_string(kt.io.to_mjcf(model))
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, DT
    m.opt.tolerance, m.opt.iterations = 1e-14, 200
    m.eq_solref[:], m.eq_solimp[:] = (2.0 * DT, 1.0), (0.9999, 0.99999, 1e-3, 0.5, 2.0)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    start, found = d.qpos.copy(), {}
    for _ in range(round(duration / DT)):
        mujoco.mj_step(m, d)
    for name in model.joint_names:
        j = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_JOINT, name)
        if j >= 0:
            first, size = m.jnt_qposadr[j], model.joints[model.joint(name)].nq
            found[name] = (d.qpos - start)[first : first + size]
    return found


@pytest.mark.parametrize(
    ("make", "duration"),
    [(kt.models.four_bar, 1.0), (kt.models.slider_crank, 1.0), (kt.models.stewart_platform, 0.5)],
)
def test_motions_are_those_of_mujoco(make, duration):
    """Within the softness of its equalities, 1e-7 rad or m at motions of several radians."""
    model = make()
    run = kt.simulate(model, duration=duration, dt=DT)
    change, reference = run.q[-1] - run.q[0], theirs(model, duration)
    assert len(reference) >= 3 and np.abs(change).max() > 1.0
    for name, x in reference.items():
        assert change[model.q_index(name)] == pytest.approx(x, abs=2e-6), name
