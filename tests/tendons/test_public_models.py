"""Tendons of public MuJoCo models, from the packages that are installed; no package is needed by the ordinary tests."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.io.mjcf.read import load_mjcf
from tests.forces.test_actuators import ours, theirs
from tests.tendons.ring_paths import by_rings
from tests.tendons.test_mujoco_tendons import MuJoCo, assert_same, needs_winding_rule

# Distribution and file; the tolerance where tendons pass inside shapes is that of MuJoCo's iteration.
MODELS = {
    **{f"warp {name}": ("mujoco-warp", f"test_data/tendon/{name}.xml", 1e-12)
       for name in ("armature", "damping", "fixed", "fixed_site", "pulley_site", "pulley_wrap", "site", "wrap")},
    "muscle": ("mujoco-warp", "test_data/actuation/muscle.xml", 1e-12),
    **{name: ("dm-control", f"suite/{name}.xml", 1e-12) for name in ("ball_in_cup", "quadruped", "dog", "point_mass")},
    "rodent": ("dm-control", "walkers/assets/rodent.xml", 1e-12),
    "fruit fly": ("dm-control", "assets/fruitfly_v2/fruitfly.xml", 1e-12),
    "arm26": ("mujoco-mjx", "test_data/actuator/arm26.xml", 1e-12),
    "134 muscles": ("musclemimic-models", "model/arm/myoarm_bimanual.xml", 1e-6),
}  # fmt: skip


def installed(package: str, inside: str) -> str | None:
    try:
        files = metadata.files(package) or ()
    except metadata.PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if str(file).endswith(inside)), None)


@pytest.mark.sweep
@needs_winding_rule
@pytest.mark.parametrize("name", MODELS)
def test_lengths_jacobians_and_rates_are_mujocos(name):
    """At random states, relative to the largest entry."""
    package, inside, tolerance = MODELS[name]
    path = installed(package, inside)
    if path is None:
        pytest.skip(f"{package} is not installed")
    spec = mujoco.MjSpec.from_file(path)
    spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE  # MuJoCo 4 finds no ranges of length of arm26
    assert_same(load_mjcf(path, unsupported="drop"), spec.compile(), 20, tolerance)


ACTUATED = ("muscle", "quadruped", "dog", "rodent", "fruit fly", "arm26", "134 muscles")


def free_of_constraints(path: str, folder: Path) -> str:
    """The file as MuJoCo writes it, without what it solves by soft constraints; muscles have ranges of lengths."""
    spec = mujoco.MjSpec.from_file(path)
    spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
    for equality in list(spec.equalities):
        spec.delete(equality)
    for tendon in spec.tendons:
        tendon.frictionloss, tendon.limited, tendon.range = 0.0, 0, [0.0, 0.0]
    for joint in spec.joints:
        joint.frictionloss, joint.limited = 0.0, 0
    for actuator in list(spec.actuators):
        if actuator.trntype == mujoco.mjtTrn.mjTRN_BODY:  # adhesion: a force of contacts
            spec.delete(actuator)
    mj = spec.compile()
    for actuator in spec.actuators:
        if actuator.gaintype == mujoco.mjtGain.mjGAIN_MUSCLE:
            actuator.lengthrange = np.array([0.7, 1.3]) * mj.actuator_length0[actuator.id]
    spec.compile()
    for what in ("meshdir", "texturedir"):
        setattr(spec, what, str(Path(path).parent / getattr(spec, what)))
    text = folder / Path(path).name
    text.write_text(spec.to_xml())
    return str(text)


@pytest.mark.sweep
@needs_winding_rule
@pytest.mark.parametrize("name", ACTUATED)
def test_forces_of_actuators_and_accelerations_are_mujocos(name, tmp_path):
    """At random states, controls and activations: lengths, forces, rates, joint forces, qacc."""
    package, inside, tolerance = MODELS[name]
    path = installed(package, inside)
    if path is None:
        pytest.skip(f"{package} is not installed")
    path = free_of_constraints(path, tmp_path)
    model, mj = load_mjcf(path), mujoco.MjModel.from_xml_path(path)
    mj.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    assert model.n_actuators == mj.nu and not model.unsupported
    for n in range(3):
        rng = np.random.default_rng(n)
        q, v = model.random_q(rng), rng.normal(size=model.nv)
        x, u = rng.uniform(0.05, 0.5, size=model.nx), rng.uniform(-1.0, 1.0, size=model.nu)
        expected = theirs(model, mj, q, v, x, u)
        with kt.interpreted():
            found = ours(model, q, v, x, u)
        for what, numbers in expected.items():
            scale = max(1.0, float(np.abs(numbers).max(initial=0.0)))
            np.testing.assert_allclose(np.asarray(found[what], float), numbers, 0.0, tolerance * scale, err_msg=what)


@pytest.mark.sweep
@needs_winding_rule
def test_paths_inside_rings_are_exact_and_mujocos_are_not():
    """The rings of an arm of 134 muscles in 40 digits: rates exact here, MuJoCo's to 1e-8: it iterates too little.

    So the difference between both in `test_lengths_jacobians_and_rates_are_mujocos` is MuJoCo's.
    """
    package, inside, _ = MODELS["134 muscles"]
    path = installed(package, inside)
    if path is None:
        pytest.skip(f"{package} is not installed")
    spec = mujoco.MjSpec.from_file(path)
    spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
    model, mj = load_mjcf(path, unsupported="drop"), spec.compile()
    there, data, rng = MuJoCo(model, mj, by_order=True), mujoco.MjData(mj), np.random.default_rng(0)
    lengths, velocities = (kt.compile(model, f"tendon_{what}") for what in ("lengths", "velocities"))
    ours, theirs, count = 0.0, 0.0, 0
    for _ in range(20):
        q, v = model.random_q(rng), rng.normal(size=model.nv)
        data.qpos[:], data.qvel[:] = there.q_to(q), there.v_to(q, v)
        mujoco.mj_forward(mj, data)
        L, rates = lengths(q), velocities(q, v)
        for t, tendon in enumerate(model.tendons):
            found = by_rings(model, tendon.path, q, v)
            if found is not None and found[2]:
                count += 1
                ours = max(ours, abs(L[t] - found[0]), abs(rates[t] - found[1]))
                theirs = max(theirs, abs(data.ten_velocity[t] - found[1]))
    assert count > 100
    assert ours < 1e-14
    assert theirs > 1e-9
