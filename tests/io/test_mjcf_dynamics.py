"""MJCF models have MuJoCo's own numbers: mass matrix, bias, springs and dampers, accelerations, poses."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.io.mjcf.read import load_mjcf
from tests.io.mjcf_random import random_mjcf

mujoco = pytest.importorskip("mujoco")
oracle = pytest.importorskip("tests.io.mjcf_oracle")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo itself, beside which models are put here, writes warnings into the working folder."""
    monkeypatch.chdir(tmp_path)


def check(text: str, seed: int) -> None:
    """The text as both engines read it."""
    oracle.assert_same_physics(load_mjcf(text), mujoco.MjModel.from_xml_string(text), seed)


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_have_mujocos_numbers(seed):
    """M, bias, springs and dampers, accelerations and poses of bodies and sites, several joints on a body."""
    check(random_mjcf(seed), seed)


@pytest.mark.parametrize("kind", ["hinge", "slide", "ball"])
def test_each_joint_alone_has_mujocos_numbers(kind):
    """One type of joint at a time, so that a failure names it."""
    for seed in range(3):
        check(random_mjcf(seed, bodies=3, kinds=(kind,), free=False), seed)


def test_a_free_joint_alone_has_mujocos_numbers():
    """A damped free body, whose velocity is in other axes there."""
    text = """<mujoco><worldbody><body name="b" pos="1 2 3" quat="1 2 3 4"><joint type="free" damping="0.7"/>
    <geom type="box" size=".1 .2 .3" pos=".1 .2 .3"/></body></worldbody></mujoco>"""
    check(text, 0)


ARM = """<mujoco><option{option}>{flag}</option><worldbody><body name="a"><joint name="j" axis="0 1 0" damping=".3"
    stiffness="2" springref="20" armature=".1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".05"/>
    <body name="b" pos=".3 0 0"><joint name="s" type="slide" axis="1 0 0" damping=".2"/><geom size=".1"/></body></body>
    </worldbody>{more}</mujoco>"""


def arm(option="", flag="", more=""):
    return ARM.format(option=option, flag=flag, more=more)


@pytest.mark.parametrize("flag", ["gravity", "spring", "damper"])
def test_flags_switch_physics_off(flag):
    """What a flag disables there is absent here, and the report says so."""
    if not hasattr(mujoco.mjtDisableBit, "mjDSBL_SPRING"):
        pytest.skip("this MuJoCo has one flag for all passive forces")
    text = arm(flag=f'<flag {flag}="disable"/>')
    check(text, 3)
    assert "switched off by a flag" in str(load_mjcf(text).report)


DRIVES = hasattr(mujoco.MjModel.from_xml_string("<mujoco/>"), "actuator_armature")


@pytest.mark.skipif(not DRIVES, reason="in this MuJoCo drives have no armature")
def test_armature_and_damping_of_drives_reach_their_joints():
    """A drive with gear g adds g^2 times its armature and damping to the joint."""
    text = arm(more='<actuator><motor joint="j" gear="3" armature=".5" damping=".2"/></actuator>')
    check(text, 4)
    assert load_mjcf(text).armature[0] == pytest.approx(0.1 + 9 * 0.5)


def test_gravity_of_the_file_is_kept():
    """<option gravity> is the model's gravity."""
    text = arm(option=' gravity="1 2 3"')
    assert list(load_mjcf(text).gravity) == [1.0, 2.0, 3.0]
    check(text, 5)


def test_a_model_with_unlimited_and_limited_joints_keeps_its_limits():
    """Ranges of slide and hinge are limits in radians and meters, where the file limits them; infinite elsewhere."""
    model = load_mjcf("""<mujoco><worldbody><body><joint name="a" range="-90 45"/><joint name="b" type="slide"
        limited="false" range="0 1"/><joint name="c" type="slide" axis="1 0 0" range="0 2" actuatorfrcrange="-3 5"/>
        <geom size=".1"/></body></worldbody></mujoco>""")
    np.testing.assert_allclose(model.lower, [-np.pi / 2, -np.inf, 0.0])
    np.testing.assert_allclose(model.upper, [np.pi / 4, np.inf, 2.0])
    assert model.effort_limit.tolist() == [np.inf, np.inf, 5.0]


def test_dry_friction_is_kept_per_joint():
    """frictionloss is the dry friction of each freedom, of a ball joint in its three."""
    model = load_mjcf("""<mujoco><worldbody><body><joint name="a" frictionloss=".4"/><geom size=".1"/>
        <body><joint type="ball" frictionloss=".2"/><geom size=".1"/></body></body></worldbody></mujoco>""")
    assert model.dry_friction.tolist() == [0.4, 0.2, 0.2, 0.2]
