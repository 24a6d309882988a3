"""Public MJCF files from installed packages load, and their trees have MuJoCo's own numbers."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError
from kinetree.io.mjcf.read import load_mjcf
from tests.forces.test_actuators import assert_same

mujoco = pytest.importorskip("mujoco")
oracle = pytest.importorskip("tests.io.mjcf_oracle")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo itself, beside which models are put here, writes warnings into the working folder."""
    monkeypatch.chdir(tmp_path)


def installed(package: str, inside: str) -> Path:
    """A file of an installed package; the test is skipped where there is none."""
    try:
        listed = metadata.files(package) or ()
    except metadata.PackageNotFoundError:
        listed = ()
    found = next((file for file in listed if str(file).endswith(inside)), None)
    if found is None:
        pytest.skip(f"no {inside} in the package {package}")
    return Path(found.locate())


SUITE = (
    "acrobot", "ball_in_cup", "cartpole", "cheetah", "dog", "finger", "hopper", "humanoid", "humanoid_CMU",
    "manipulator", "pendulum", "point_mass", "quadruped", "reacher", "stacker", "walker",
)  # fmt: skip


@pytest.mark.parametrize("name", SUITE)
def test_the_suite_of_dm_control_has_mujocos_numbers(name):
    """All its models; those that swim apart."""
    path = installed("dm_control", f"suite/{name}.xml")
    mj = mujoco.MjModel.from_xml_path(str(path))
    oracle.assert_same_physics(load_mjcf(path), mj, seed=1, states=1, frames=mj.nv < 30)


@pytest.mark.parametrize("name", ["fish", "swimmer"])
def test_fluids_around_bodies_and_ellipsoids_are_mujocos(name):
    """Boxes of the bodies' inertias, and ellipsoids at geoms: forces and accelerations."""
    path = installed("dm_control", f"suite/{name}.xml")
    model = load_mjcf(path)
    assert {type(force).__name__ for force in model.own_elements} >= {"BoxDrag"}
    oracle.assert_same_physics(model, mujoco.MjModel.from_xml_path(str(path)), seed=2, states=1)


def test_the_humanoid_of_mjx_is_whole():
    """Joints, masses, drives, keyframes and shapes, as many as the file has."""
    path = installed("mujoco-mjx", "test_data/humanoid/humanoid.xml")
    model, mj = load_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    assert (model.nq, model.nv) == (mj.nq, mj.nv) == (28, 27)
    assert model.joint_names[0] == "root" and model.body_names[1] == "torso"
    assert model.total_mass == pytest.approx(float(mj.body_mass.sum()), rel=1e-14)
    assert len(model.actuators) == mj.nu == 21
    assert model.keyframes[:3] == ("squat", "stand_on_left_leg", "no_efc")
    assert sum(map(len, model.geometry)) == mj.ngeom
    q, _ = model.keyframe("squat")
    np.testing.assert_allclose(q, mj.key("squat").qpos, atol=1e-15)
    oracle.assert_same_physics(model, mj, seed=3)


def test_compiled_dynamics_of_the_humanoid_are_mujocos():
    """The compiled function, at a keyframe of the file with velocities."""
    path = installed("mujoco-mjx", "test_data/humanoid/humanoid.xml")
    model, mj = load_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    bridge = oracle.MujocoBridge(model, mj, by_order=True)
    rng = np.random.default_rng(4)
    q, v, tau = model.keyframe("squat")[0], rng.normal(size=model.nv), rng.normal(size=model.nv)
    tree = model.without_limits()
    oracle.assert_close(kt.forward_dynamics(tree, q, v, tau), bridge.forward_dynamics(q, v, tau), 1e-10)


def test_reports_of_real_files_are_short():
    """One entry per kind: the most elaborate model of the suite has hundreds of ignored elements."""
    model = load_mjcf(installed("dm_control", "suite/dog.xml"))
    assert 10 <= len(model.report) <= 30
    assert not any("not known" in entry.message for entry in model.report)


PACKAGES = ("dm_control", "gymnasium", "mujoco-mjx", "mujoco-warp", "gymnasium-robotics", "robosuite")
SINGULAR = ("general_dyntype.xml",)  # mass matrices
OFF = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT


@pytest.mark.sweep
@pytest.mark.parametrize("package", PACKAGES)
def test_actuators_of_all_files_of_a_package_are_mujocos(package):
    """Lengths, forces, rates of activations, joint forces and accelerations under random controls, without constraints.

    Compensation of gravity is a passive force here, whichever joints it acts on, and is counted as one there, too.
    """
    try:
        files = [Path(f.locate()) for f in metadata.files(package) or () if str(f).endswith(".xml")]
    except metadata.PackageNotFoundError:
        pytest.skip(f"no package {package}")
    compared = 0
    for path in files:
        if b"<actuator" not in path.read_bytes() or path.name in SINGULAR:
            continue
        try:
            mj = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:  # a part of a file, or an error in it
            continue
        try:
            model = load_mjcf(path, unsupported="drop", inertia="accept")
        except ModelError:  # joints that move no mass
            continue
        if model.nv > 70 or model.nv != mj.nv or not model.n_actuators:
            continue
        mj.opt.disableflags |= int(OFF)
        mj.jnt_actgravcomp[:] = 0
        # Dry friction and limits are constraints there.
        none = {"dry_friction": 0.0, "lower": -np.inf, "upper": np.inf}
        model = model.without_limits().replace(dry_friction=0.0, constraints=())
        tendons = tuple(replace(tendon, **none) for tendon in model.tendons)
        assert_same(model.replace(equipment=replace(model.equipment, tendons=tendons)), mj, states=2)
        compared += 1
    assert compared
