"""Robots of public packages stand on the ground, held by springs and dampers of their joints."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.engines.robots import robot_path

# Posture by parts of joint names, bodies that touch, stiffness and damping of all joints.
ANYMAL = {"LF_HFE": 0.4, "RF_HFE": 0.4, "LH_HFE": -0.4, "RH_HFE": -0.4,
          "LF_KFE": -0.8, "RF_KFE": -0.8, "LH_KFE": 0.8, "RH_KFE": 0.8}  # fmt: skip
SOLO = {"FL_HFE": 0.7, "FR_HFE": 0.7, "HL_HFE": -0.7, "HR_HFE": -0.7,
        "FL_KFE": -1.4, "FR_KFE": -1.4, "HL_KFE": 1.4, "HR_KFE": 1.4}  # fmt: skip
TALOS = {f"leg_{side}_{n}": angle for side in ("left", "right") for n, angle in ((3, -0.4), (4, 0.8), (5, -0.4))}
ROBOTS = [
    ("anymal_b", ANYMAL, [f"{leg}_FOOT" for leg in ("LF", "RF", "LH", "RH")], 200.0, 5.0),
    ("solo12", SOLO, [f"{leg}_LOWER_LEG" for leg in ("FL", "FR", "HL", "HR")], 20.0, 0.3),
    pytest.param("talos_reduced", TALOS, ["leg_left_6_link", "leg_right_6_link"], 8000.0, 200.0,
                 marks=pytest.mark.sweep),
]  # fmt: skip


@pytest.mark.parametrize(("name", "posture", "bodies", "stiffness", "damping"), ROBOTS)
def test_robots_stand_for_half_a_minute(name, posture, bodies, stiffness, damping):
    """After settling nothing moves: no drift, no creep, no penetration, and the feet carry the weight."""
    model = kt.load(robot_path(name), floating_base=True, inertia="project").without_limits()
    q, hinges = model.neutral(), [model.joint_name(i) for i in model.outward() if model.joints[i].nv == 1]
    for joint in hinges:
        q[model.q_index(joint).start] = next((x for part, x in posture.items() if part in joint), 0.0)
    model = model.replace(
        stiffness=dict.fromkeys(hinges, stiffness), damping=dict.fromkeys(hinges, damping),
        spring_reference={joint: float(q[model.q_index(joint).start]) for joint in hinges},
    ).with_contacts(True, bodies=bodies, meshes="box")  # fmt: skip
    q[2] -= kt.collision.contact_gaps(model, q).min()
    run = kt.simulate(model, q, duration=30.0, record=kt.Record(every=100))
    third = len(run) // 3
    assert np.abs(run.q[third:] - run.q[-1]).max() < 1e-9 and np.abs(run.v[-1]).max() < 1e-9
    assert run.contacts.gaps[-1].min() > -1e-9
    assert run.contacts.normal_forces[-1].sum() == pytest.approx(9.81 * model.total_mass, rel=1e-9)
