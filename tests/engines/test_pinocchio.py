"""Every quantity of the tree against Pinocchio on six public robots, fixed and floating base.

Fifty random states each; errors are relative to the largest entry of the quantity. The forward dynamics' error grows
with the condition of M, which reaches 1e12 on iCub: there the tolerance is scaled, and the extended-precision run of
our own source says who is off.
"""

from __future__ import annotations

import functools

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from tests.engines.pinocchio_bridge import _SWAP, Bridge, pinocchio_model
from tests.engines.robots import robot_path

SIX_ROBOTS = ("panda", "ur5", "anymal_b", "hyq", "talos_reduced", "icub")
STATES = 50
TOLERANCE = 1e-10
EPS = np.finfo(float).eps

CASES = [(name, floating) for name in SIX_ROBOTS for floating in (False, True)]
each_robot = pytest.mark.parametrize(
    ("name", "floating"), CASES, ids=[f"{n}-{'floating' if f else 'fixed'}" for n, f in CASES]
)


@functools.cache
def case(name, floating):
    """The robot in both engines and fifty random states (q, v, a, tau)."""
    file = robot_path(name)
    # Two of the six have an inertia tensor that no body can have; Pinocchio takes it as it is, so must we to compare.
    model = kt.load(file, floating_base=floating, inertia="accept")
    bridge = Bridge(model, pinocchio_model(file, floating))
    seed = sum(map(ord, name)) + floating
    return model, bridge, bridge.random_state(np.random.default_rng(seed), (STATES,))


def agree(found, expected, tolerance=TOLERANCE):
    """Equality relative to the largest entry, state by state."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    axes = tuple(range(1, expected.ndim))
    size = np.maximum(np.max(np.abs(expected), axis=axes), 1e-12)
    error = np.max(np.abs(found - expected), axis=axes) / size
    assert np.max(error) <= tolerance, f"relative error {np.max(error):.2e} at state {np.argmax(error)}"


@each_robot
def test_rnea(name, floating):
    """Inverse dynamics."""
    model, bridge, (q, v, a, _) = case(name, floating)
    agree(kt.rnea(model, q, v, a), [bridge.rnea(*s) for s in zip(q, v, a, strict=True)])


@each_robot
def test_crba(name, floating):
    """Mass matrix, both triangles."""
    model, bridge, (q, *_) = case(name, floating)
    agree(kt.crba(model, q), [bridge.crba(s) for s in q])


@each_robot
def test_aba(name, floating):
    """Forward dynamics, within the error that the condition of M explains, and as close to the truth as Pinocchio.

    Truth: the same source in extended precision. A backward stable solve is off by about eps cond(M) relative; 1e-10
    is asked for wherever that is smaller.
    """
    model, bridge, (q, v, _, tau) = case(name, floating)
    found = kt.aba(model, q, v, tau)
    condition = np.linalg.cond(kt.crba(model, q))
    with kt.interpreted():
        truth = kt.aba(model, *(x.astype(np.longdouble) for x in (q, v, tau)))
    size = np.max(np.abs(truth), axis=1)
    error = np.max(np.abs(found - truth), axis=1) / size
    assert np.all(error <= np.maximum(TOLERANCE, EPS * condition))
    peer = np.array([bridge.aba(*s) for s in zip(q, v, tau, strict=True)])
    difference = np.max(np.abs(found - peer), axis=1) / size
    assert np.all(difference <= np.maximum(TOLERANCE, 2.0 * EPS * condition))


@each_robot
def test_bias_and_gravity_forces(name, floating):
    """Nonlinear effects and generalized gravity."""
    model, bridge, (q, v, *_) = case(name, floating)
    p, d = bridge.pin_model, bridge.data
    expected = [
        pin.nonLinearEffects(p, d, bridge.q_to_pin(a), bridge.v_to_pin(b)).copy() for a, b in zip(q, v, strict=True)
    ]
    agree(kt.bias_forces(model, q, v), bridge.tau_from_pin(expected))
    expected = [pin.computeGeneralizedGravity(p, d, bridge.q_to_pin(a)).copy() for a in q]
    agree(kt.gravity_forces(model, q), bridge.tau_from_pin(expected))


@each_robot
def test_coriolis_matrix_acts_like_pinocchios(name, floating):
    """C v; the matrices themselves may differ where joints have several velocities."""
    model, bridge, (q, v, *_) = case(name, floating)
    p, d = bridge.pin_model, bridge.data
    expected = [
        pin.computeCoriolisMatrix(p, d, bridge.q_to_pin(a), bridge.v_to_pin(b)) @ bridge.v_to_pin(b)
        for a, b in zip(q, v, strict=True)
    ]
    C = kt.coriolis_matrix(model, q, v)
    agree(np.einsum("nij,nj->ni", C, v), bridge.tau_from_pin(expected))


@each_robot
def test_energies(name, floating):
    """Kinetic and potential energy."""
    model, bridge, (q, v, *_) = case(name, floating)
    p, d = bridge.pin_model, bridge.data
    expected = [
        pin.computeKineticEnergy(p, d, bridge.q_to_pin(a), bridge.v_to_pin(b)) for a, b in zip(q, v, strict=True)
    ]
    agree(kt.kinetic_energy(model, q, v), expected)
    if not floating:  # a fixed base's own mass lies in Pinocchio's world, ours has none: compare differences
        expected = np.array([pin.computePotentialEnergy(p, d, bridge.q_to_pin(a)) for a in q])
        found = kt.potential_energy(model, q)
        agree((found - found[0])[1:, None], (expected - expected[0])[1:, None], 1e-9)
    else:
        agree(kt.potential_energy(model, q), [pin.computePotentialEnergy(p, d, bridge.q_to_pin(a)) for a in q])


@each_robot
def test_centroidal_quantities(name, floating):
    """Centroidal momentum and its matrix; center of mass of the moving bodies."""
    model, bridge, (q, v, *_) = case(name, floating)
    p, d = bridge.pin_model, bridge.data
    A, h, c = [], [], []
    for a, b in zip(q, v, strict=True):
        qp, vp = bridge.q_to_pin(a), bridge.v_to_pin(b)
        pin.ccrba(p, d, qp, vp)
        A.append(bridge.jacobian_from_pin(d.Ag.copy()))
        h.append(d.hg.vector[_SWAP].copy())
        c.append(pin.centerOfMass(p, d, qp).copy())
    agree(kt.centroidal.momentum_matrix(model, q), A)
    agree(kt.centroidal.momentum(model, q, v), h)
    agree(kt.center_of_mass(model, q), c)


@each_robot
def test_jacobians_and_their_rates(name, floating):
    """Frame Jacobians and their time derivatives of the last link of the longest branch, in all references."""
    model, bridge, (q, v, *_) = case(name, floating)
    frame = model.body_names[max(model.outward(), key=lambda i: len(model.support(i)))]
    p, d, f = bridge.pin_model, bridge.data, bridge.frame_id(frame)
    references = {
        "local": pin.ReferenceFrame.LOCAL,
        "world": pin.ReferenceFrame.WORLD,
        "local_world_aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    }
    for reference, theirs in references.items():
        J, rate = [], []
        for a, b in zip(q, v, strict=True):
            qp, vp = bridge.q_to_pin(a), bridge.v_to_pin(b)
            pin.computeJointJacobiansTimeVariation(p, d, qp, vp)
            pin.updateFramePlacements(p, d)
            J.append(bridge.jacobian_from_pin(pin.getFrameJacobian(p, d, f, theirs)))
            rate.append(bridge.jacobian_from_pin(pin.getFrameJacobianTimeVariation(p, d, f, theirs)))
        agree(kt.jacobian(model, q, frame=frame, reference=reference), J)
        agree(kt.kinematics.jacobian_rate(model, q, v, frame=frame, reference=reference), rate)


@each_robot
def test_frame_poses_velocities_and_accelerations(name, floating):
    """Poses of all link frames; twist, spatial and classical acceleration of one."""
    model, bridge, (q, v, a, _) = case(name, floating)
    p, d = bridge.pin_model, bridge.data
    R_WF, p_WF = kt.kinematics.frame_poses(model, q)
    names = [frame.name for frame in model.frames]
    # Under a free base, Pinocchio moves a root link called 'world' (UR5), which for us is the world.
    common = [n for n in names if n != "world" and p.existFrame(n, pin.FrameType.BODY)]
    assert len(common) >= model.nb - 1
    frame = model.body_names[-1]
    f = bridge.frame_id(frame)
    twists, spatial, classical = [], [], []
    for s in range(STATES):
        pin.forwardKinematics(p, d, *(x for x in (bridge.q_to_pin(q[s]), bridge.v_to_pin(v[s]), bridge.a_to_pin(a[s]))))
        pin.updateFramePlacements(p, d)
        for n in common:
            M, k = d.oMf[bridge.frame_id(n)], names.index(n)
            assert (
                np.max(np.abs(R_WF[s, k] - M.rotation)) < 1e-12 and np.max(np.abs(p_WF[s, k] - M.translation)) < 1e-12
            )
        local = pin.ReferenceFrame.LOCAL
        twists.append(pin.getFrameVelocity(p, d, f, local).vector[_SWAP])
        spatial.append(pin.getFrameAcceleration(p, d, f, local).vector[_SWAP])
        classical.append(pin.getFrameClassicalAcceleration(p, d, f, local).vector[_SWAP])
    choice = {"frame": frame, "reference": "local"}
    agree(kt.velocity(model, q, v, **choice), twists)
    agree(kt.acceleration(model, q, v, a, kind="spatial", **choice), spatial)
    agree(kt.acceleration(model, q, v, a, kind="classical", **choice), classical)


@each_robot
def test_manifold(name, floating):
    """integrate and difference."""
    model, bridge, (q, v, *_) = case(name, floating)
    p = bridge.pin_model
    moved = np.array([pin.integrate(p, bridge.q_to_pin(a), bridge.v_to_pin(b)) for a, b in zip(q, v, strict=True)])
    agree(bridge.q_to_pin(kt.integrate(model, q, v)) ** 2, moved**2, 1e-10)  # a quaternion's sign is free
    back = np.array([pin.difference(p, bridge.q_to_pin(a), m) for a, m in zip(q, moved, strict=True)])
    agree(kt.difference(model, q, kt.integrate(model, q, v)), bridge.v_from_pin(back), 1e-9)
