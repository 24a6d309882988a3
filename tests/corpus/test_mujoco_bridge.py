"""The bridge to MuJoCo on a mechanism of free, ball, hinge and slide joints, written for each engine by hand."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

import kinetree as kt  # noqa: E402
from benchmarks.corpus.measure import compare, random_states, relative  # noqa: E402
from kinetree.joints import Free, Prismatic, Revolute, Spherical  # noqa: E402
from tests.engines.mujoco_bridge import MujocoBridge  # noqa: E402

SEED = 7
TOLERANCE = 1e-12  # a few bodies of like size: rounding of short sums, times a condition number below 1e3

MJCF = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0.3 -0.2 -9.81" density="1.2"/>
  <worldbody>
    <body name="trunk" pos="0.1 0.2 0.3">
      <freejoint/>
      <inertial pos="0.02 0.01 -0.03" mass="3" fullinertia="0.05 0.06 0.04 0.002 -0.001 0.003"/>
      <geom size="0.2" mass="0"/>
      <body name="arm" pos="0 0.1 0.2">
        <joint type="ball" damping="0.2" armature="0.01" stiffness="1.5"/>
        <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
        <body name="hand" pos="0.3 0 0" gravcomp="1">
          <joint type="hinge" axis="0 0.6 0.8" damping="0.3" armature="0.02" stiffness="2" springref="0.4"/>
          <inertial pos="0 0.02 0.1" mass="0.5" diaginertia="0.003 0.004 0.002"/>
        </body>
      </body>
      <body name="rod" pos="0 -0.1 0">
        <joint type="slide" axis="0.6 0 0.8" frictionloss="3" range="-0.5 0.5" limited="true"/>
        <inertial pos="0 0 0" mass="0.7" diaginertia="0.001 0.002 0.002"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def pair():
    """Both models and the bridge between them."""
    b = kt.ModelBuilder("mixed", gravity=(0.3, -0.2, -9.81))
    tensor = [[0.05, 0.002, -0.001], [0.002, 0.06, 0.003], [-0.001, 0.003, 0.04]]
    b.add_body("trunk", joint=Free(), mass=3.0, com=(0.02, 0.01, -0.03), inertia=tensor)
    at = (0.0, 0.1, 0.2), (0.0, 0.0, 0.0)
    own = {"damping": 0.2, "armature": 0.01, "stiffness": 1.5}
    b.add_body("arm", "trunk", Spherical(), placement=at, mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02), **own)
    at = (0.3, 0.0, 0.0), (0.0, 0.0, 0.0)
    own = {"damping": 0.3, "armature": 0.02, "stiffness": 2.0, "spring_reference": 0.4}
    inertia = (0.003, 0.004, 0.002)
    hinge = Revolute((0.0, 0.6, 0.8))
    b.add_body("hand", "arm", hinge, placement=at, mass=0.5, com=(0, 0.02, 0.1), inertia=inertia, **own)
    at = (0.0, -0.1, 0.0), (0.0, 0.0, 0.0)
    slide = Prismatic((0.6, 0.0, 0.8))
    b.add_body("rod", "trunk", slide, placement=at, mass=0.7, inertia=(0.001, 0.002, 0.002), lower=-0.5, upper=0.5)
    model = b.build()
    return model, MujocoBridge(model, mujoco.MjModel.from_xml_string(MJCF), by_order=True)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_bare_trees_agree(pair, compiled):
    """M, bias and accelerations are the same, whatever the engines call a free joint's velocity."""
    errors = compare(kt, *pair, compiled=compiled)
    assert max(errors.M, errors.bias, errors.acceleration, errors.residual) < TOLERANCE


def test_springs_and_dampers_agree(pair):
    """Passive forces of ball, hinge and slide, and the accelerations with them; no fluid, friction or compensation."""
    model, bridge = pair
    q, v, a = random_states(model, np.random.default_rng(SEED))
    for state in zip(q, v, a, strict=True):
        theirs = bridge.passive(*state[:2])
        assert relative(kt.dynamics.passive_joint_forces(model, *state[:2]) - theirs, theirs) < TOLERANCE
        theirs = bridge.forward_dynamics(*state)
        assert relative(kt.forward_dynamics(model, *state) - theirs, theirs) < TOLERANCE


def test_accelerations_go_there_and_back(pair):
    """a_from_mujoco inverts a_to_mujoco, and rnea undoes aba with armature added by hand."""
    model, bridge = pair
    q, v, a = (x[0] for x in random_states(model, np.random.default_rng(SEED)))
    assert relative(bridge.a_from_mujoco(q, v, bridge.a_to_mujoco(q, v, a)) - a, a) < TOLERANCE
    tau = bridge.crba(q) @ a + bridge.bias(q, v)
    assert relative(bridge.aba(q, v, tau) - a, a) < TOLERANCE
    assert relative(bridge.rnea(q, v, a) + np.asarray(model.armature) * a - tau, tau) < TOLERANCE


def test_joints_of_another_kind_are_refused(pair):
    """Pairing by order compares sizes."""
    model, _ = pair
    swapped = MJCF.replace('type="ball"', 'type="hinge"').replace('type="slide"', 'type="ball"')
    other = mujoco.MjModel.from_xml_string(swapped.replace(' range="-0.5 0.5" limited="true"', ""))
    with pytest.raises(ValueError, match="of another kind"):
        MujocoBridge(model, other, by_order=True)
