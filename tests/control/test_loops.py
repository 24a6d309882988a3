"""Controllers of mechanisms with closed loops: equations of errors, energies, and motors at some joints only."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.linalg import expm

import kinetree as kt
from kinetree.errors import ConstraintError

KP, KD = 25.0, 8.0


@functools.cache
def bar():
    """A four-bar, a closed position and the directions of its motion."""
    model = kt.models.four_bar()
    q, _ = model.keyframe("initial")
    return model, q, kt.closed_loops.null_space(model, q, independent="crank")[:, 0]


def beside(angle):
    """The closed position with the crank so much further."""
    model, q, G = bar()
    for _ in range(8):
        G = kt.closed_loops.null_space(model, q, independent="crank")[:, 0]
        q = kt.closed_loops.project_position(model, q + angle / 8.0 * G)
    return q


@pytest.mark.parametrize("actuated", ["crank", None])
def test_the_crank_of_a_four_bar_obeys_its_equation(actuated):
    """e'' + kd e' + kp e = 0 of the crank over a run, with a motor there alone or least forces at all joints."""
    model, q, G = bar()
    q_d, q0 = beside(0.4), q
    controller = kt.control.ComputedTorque(model, q_d, kp=KP, kd=KD, actuated=actuated)
    v = 0.7 * G
    tau = controller(0.0, q0, v)
    a = kt.forward_dynamics(model, q0, v, tau)
    independent = 0 if actuated else model.independent_velocities()[0]
    e = kt.difference(model, q0, q_d)
    assert a[independent] == pytest.approx(KP * e[independent] - KD * v[independent], rel=1e-8)
    if not actuated:
        return
    assert not tau[1:].any()
    run = kt.simulate(model, q0, duration=0.6, dt=1e-3, controller=controller)
    A = np.array([[0.0, 1.0], [-KP, -KD]])
    start = q_d[0] - q0[0]
    exact = np.array([(expm(t * A) @ [start, 0.0])[0] for t in run.time])
    assert np.abs(q_d[0] - run.q[:, 0] - exact).max() < 5e-3 * abs(start)  # torques are constant during steps


def test_gravity_is_held_and_energy_dissipated_by_the_crank_alone():
    """At the reference a four-bar rests; beside it the energy of motion and springs falls by the damping's power."""
    model, q, G = bar()
    law = functools.partial(kt.control.PDGravityCompensation, model, kp=30.0, kd=2.0)
    rest = law(q, actuated="crank")
    assert np.abs(kt.forward_dynamics(model, q, 0 * G, rest(0.0, q, 0 * G))).max() < 1e-9
    q_d, v = beside(0.3), 0.5 * G
    for actuated in ("crank", None):
        controller = law(q_d, actuated=actuated)
        power = v @ controller(0.0, q, v) - v @ law(q, actuated=actuated)(0.0, q, 0 * v)
        assert power == pytest.approx(30.0 * v @ (q_d - q) - 2.0 * v @ v, rel=1e-9)  # springs and dampers of all joints
    impedance = kt.control.JointImpedance(model, q, stiffness=30.0, damping=2.0, actuated="crank")
    assert np.allclose(impedance(0.0, q, 0 * v), rest(0.0, q, 0 * v), atol=1e-9)


def test_frames_of_a_four_bar():
    """Stiffness of the coupler by the crank's motor; a task of its position has one freedom, the rest fades out."""
    model, q, G = bar()
    frame = model.body_names[-1]
    R, p = kt.pose(model, q, frame=frame)
    J = kt.jacobian(model, q, frame=frame, reference="local_world_aligned")
    shift = 0.02 * (J @ G)[3:]
    K = np.diag([0.0, 0.0, 0.0, 50.0, 50.0, 50.0])
    soft = kt.control.CartesianImpedance(model, frame, (R, p + shift), K, 0.1 * K, actuated="crank")
    held = kt.control.CartesianImpedance(model, frame, (R, p), K, 0.1 * K, actuated="crank")
    still = 0.0 * G
    extra = soft(0.0, q, still) - held(0.0, q, still)
    assert extra @ G == pytest.approx(50.0 * shift @ (J @ G)[3:], rel=1e-9) and not extra[1:].any()
    task = kt.control.FrameTask(frame, p + shift, kp=KP)
    controller = kt.control.OperationalSpace(model, [task], actuated="crank")
    v = 0.6 * G
    a = kt.forward_dynamics(model, q, v, controller(0.0, q, v))
    found = (J @ a)[3:] + kt.acceleration(model, q, v, still, frame=frame, reference="local_world_aligned",
                                          kind="spatial")[3:]  # fmt: skip
    along = (J @ G)[3:]
    wanted = KP * shift - 2.0 * np.sqrt(KP) * (J @ v)[3:]
    assert found @ along == pytest.approx(wanted @ along, rel=1e-6)


def test_motors_have_to_reach_every_freedom():
    """A mechanism with fewer motors than freedoms is refused by name; there a regulator may still exist (lqr)."""
    with pytest.raises(ConstraintError, match="underactuated"):
        kt.control.ComputedTorque(kt.models.cart_pole(), [0.0, 0.0], kp=1.0, actuated="slider")
