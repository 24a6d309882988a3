"""Joints that files do not have, against Pinocchio's and MuJoCo's own: the same trees built in both, by hand."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.joints import Composite, Ellipsoid, FreeSplit, Prismatic, Revolute, Translational

RADII = (0.3, 0.5, 0.8)


def pinocchio_series(*joints):
    """Pinocchio's composite joint: it starts with the first one and adds the others."""
    composite = pin.JointModelComposite(joints[0])
    for joint in joints[1:]:
        composite.addJoint(joint)
    return composite


AXIS = np.array([0.48, 0.6, 0.64])
PAIRS = {
    "translational": (Translational(), lambda: pin.JointModelTranslation()),
    "ellipsoid": (Ellipsoid(RADII), lambda: pin.JointModelEllipsoid(*RADII)),
    "composite": (
        Composite((Revolute((0, 1, 0)), Prismatic(AXIS), Revolute((1, 0, 0)))),
        lambda: pinocchio_series(pin.JointModelRY(), pin.JointModelPrismaticUnaligned(AXIS), pin.JointModelRX()),
    ),
    "composite of several freedoms": (
        Composite((Ellipsoid(RADII), Translational())),
        lambda: pinocchio_series(pin.JointModelEllipsoid(*RADII), pin.JointModelTranslation()),
    ),
}


def tree(joint, pin_joint):
    """An arm, the joint, and an arm behind it, in both libraries, with general offsets and bodies."""
    rng, builder, other = np.random.default_rng(11), kt.ModelBuilder("tree"), pin.Model()
    parent, at = "world", 0
    chain = (("arm", Revolute((0, 0, 1)), pin.JointModelRZ()), ("body", joint, pin_joint),
             ("tip", Revolute((1, 0, 0)), pin.JointModelRX()))  # fmt: skip
    for name, ours, theirs in chain:
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        R *= np.sign(np.linalg.det(R))
        p, root, mass, com = rng.normal(size=3), rng.normal(size=(3, 3)), rng.uniform(1.0, 2.0), rng.normal(size=3)
        I_c = np.trace(root @ root.T) * np.eye(3) - root @ root.T
        builder.add_body(name, parent, ours, placement=(R, p), mass=mass, com=com, inertia=I_c)
        at = other.addJoint(at, theirs, pin.SE3(R, p), name)
        other.appendBodyToJoint(at, pin.Inertia(mass, com, I_c), pin.SE3.Identity())
        parent = name
    return builder.build(), other


@pytest.mark.parametrize("kind", PAIRS)
def test_dynamics_are_those_of_pinocchio(kind):
    """Inverse dynamics, M and forward dynamics of a tree with the joint in its middle; q and v are the same numbers."""
    joint, make = PAIRS[kind]
    model, other = tree(joint, make())
    data, rng = other.createData(), np.random.default_rng(12)
    assert (model.nq, model.nv) == (other.nq, other.nv)
    with kt.interpreted():
        for _ in range(5):
            q, v = model.random_state(rng)
            a = rng.normal(size=model.nv)
            tau = pin.rnea(other, data, q, v, a)
            np.testing.assert_allclose(kt.rnea(model, q, v, a), tau, rtol=0, atol=1e-13 * np.abs(tau).max())
            M = np.triu(pin.crba(other, data, q))
            M = M + np.triu(M, 1).T
            np.testing.assert_allclose(kt.crba(model, q), M, rtol=0, atol=1e-13 * np.abs(M).max())
            back = kt.aba(model, q, v, tau)
            np.testing.assert_allclose(back, a, rtol=0, atol=1e-14 * np.linalg.cond(M) * np.abs(a).max())


MJCF = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="base" pos="0 0 0"><freejoint/>
  <inertial pos="0.1 -0.2 0.3" mass="2" fullinertia="0.3 0.4 0.5 0.02 -0.03 0.04"/>
  <body name="arm" pos="0.2 0.1 -0.3"><joint axis="0 1 0"/>
  <inertial pos="0.2 0.1 0.05" mass="1.2" fullinertia="0.1 0.2 0.15 0.01 0.02 -0.01"/></body></body></worldbody>
</mujoco>"""


def test_split_free_joint_is_that_of_mujoco():
    """FreeSplit("translation"): MuJoCo's q, and its v with the parts exchanged; M and inverse dynamics."""
    builder = kt.ModelBuilder("split")
    builder.add_body(
        "base", joint=FreeSplit("translation"), mass=2.0, com=(0.1, -0.2, 0.3),
        inertia=[[0.3, 0.02, -0.03], [0.02, 0.4, 0.04], [-0.03, 0.04, 0.5]],
    )  # fmt: skip
    builder.add_body(
        "arm", "base", Revolute((0, 1, 0)), placement=((0.2, 0.1, -0.3), (0.0, 0.0, 0.0)), mass=1.2,
        com=(0.2, 0.1, 0.05), inertia=[[0.1, 0.01, 0.02], [0.01, 0.2, -0.01], [0.02, -0.01, 0.15]],
    )  # fmt: skip
    model, theirs = builder.build(), mujoco.MjModel.from_xml_string(MJCF)
    data, rng, swap = mujoco.MjData(theirs), np.random.default_rng(13), [3, 4, 5, 0, 1, 2, 6]
    for _ in range(5):
        q, v = model.random_state(rng)
        a = rng.normal(size=model.nv)
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v[swap], a[swap]
        mujoco.mj_inverse(theirs, data)
        np.testing.assert_allclose(kt.rnea(model, q, v, a), data.qfrc_inverse[swap], rtol=0, atol=1e-12)
        M = np.empty((model.nv, model.nv))
        mujoco.mj_fullM(theirs, data, M)
        np.testing.assert_allclose(kt.crba(model, q), M[np.ix_(swap, swap)], rtol=0, atol=1e-13)
