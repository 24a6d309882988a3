"""Public robots through the writers and back; ``python -m tests.io.round_trips`` prints docs/formats.md's table."""

from __future__ import annotations

import importlib.metadata
import pathlib
import tempfile
from typing import NamedTuple

import numpy as np

import kinetree as kt
from kinetree.io.mjcf.write import mjcf_text
from tests.engines.robots import robot_path
from tests.io.models_alike import (
    TOLERANCE,
    assert_alike,
    assert_frames_alike,
    assert_numbers_alike,
    assert_shapes_alike,
)

# File inside example-robot-data, and whether the root is free to move.
URDF = {
    "a1": ("a1_description/urdf/a1.urdf", True),
    "alex": ("alex_description/urdf/alex_nub_hands.urdf", True),
    "allegro_hand": ("allegro_hand_description/urdf/allegro_left_hand.urdf", False),
    "anymal_b": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "anymal_c": ("anymal_c_simple_description/urdf/anymal.urdf", True),
    "b1_z1": ("b1_description/urdf/b1-z1.urdf", True),
    "baxter": ("baxter_description/urdf/baxter.urdf", False),
    "bolt": ("bolt_description/robots/bolt.urdf", True),
    "borinot": ("borinot_description/urdf/borinot_flying_arm_2.urdf", True),
    "centauro": ("centauro_description/urdf/centauro.urdf", True),
    "finger_edu": ("finger_edu_description/robots/finger_edu.urdf", False),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    "go2": ("go2_description/urdf/go2.urdf", True),
    "hextilt": ("hextilt_description/urdf/hextilt_flying_arm_5.urdf", True),
    "human": ("human_description/robots/human.urdf", True),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", True),
    "icub": ("icub_description/robots/icub.urdf", True),
    "iris": ("iris_description/robots/iris.urdf", True),
    "kinova": ("kinova_description/robots/kinova.urdf", False),
    "laikago": ("laikago_description/urdf/laikago.urdf", True),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "pr2": ("pr2_description/urdf/pr2.urdf", False),
    "romeo": ("romeo_description/urdf/romeo.urdf", True),
    "simple_humanoid": ("simple_humanoid_description/urdf/simple_humanoid.urdf", True),
    "so101": ("so_arm_description/urdf/so101.urdf", False),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
    "tiago_dual": ("tiago_description/robots/tiago_dual.urdf", False),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", False),
}

# Package and file of MJCF models.
MJCF = {
    "cheetah": ("dm-control", "dm_control/suite/cheetah.xml"),
    "dog": ("dm-control", "dm_control/suite/dog.xml"),
    "fish": ("dm-control", "dm_control/suite/fish.xml"),
    "humanoid": ("dm-control", "dm_control/suite/humanoid.xml"),
    "humanoid_CMU": ("dm-control", "dm_control/suite/humanoid_CMU.xml"),
    "manipulator": ("dm-control", "dm_control/suite/manipulator.xml"),
    "quadruped": ("dm-control", "dm_control/suite/quadruped.xml"),
    "ant": ("gymnasium", "gymnasium/envs/mujoco/assets/ant.xml"),
    "reacher": ("gymnasium", "gymnasium/envs/mujoco/assets/reacher.xml"),
    "walker2d": ("gymnasium", "gymnasium/envs/mujoco/assets/walker2d_v5.xml"),
}

# Models snap entries of rotations within 1e-13 of 0 and 1, so their rotations are orthonormal to no more than that.
SNAPPED = 1e-13


def urdf_model(name: str):
    """A robot of ``URDF``; MuJoCo takes possible inertias only."""
    file, floating = URDF[name]
    return kt.load(robot_path(file), floating_base=floating, inertia="project", massless="lock", unsupported="drop")


def mjcf_path(name: str) -> pathlib.Path:
    """The file of a model of ``MJCF``; FileNotFoundError if its package is not installed."""
    package, file = MJCF[name]
    try:
        path = pathlib.Path(importlib.metadata.distribution(package).locate_file(file))
    except importlib.metadata.PackageNotFoundError:
        raise FileNotFoundError(f"{package} is not installed") from None
    if not path.is_file():
        raise FileNotFoundError(path)
    return path


def states(model, seed: int = 1, count: int = 3):
    """Random states; limits such as the 1e16 rad of some rotors are cut to 10, where sines still mean something."""
    rng = np.random.default_rng(seed)
    cut = (np.where(np.isfinite(x), np.clip(x, -10.0, 10.0), x) for x in (model.lower, model.upper))
    near = model.replace(**dict(zip(("lower", "upper"), cut, strict=True)))
    return [near.random_state(rng) for _ in range(count)]


def difference(found, expected) -> float:
    """Largest difference, relative to the largest entry; NaN is an error, for no comparison would notice it."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert np.all(np.isfinite(found)) and np.all(np.isfinite(expected)), "not finite"
    return float(np.max(np.abs(found - expected), initial=0.0) / max(np.max(np.abs(expected), initial=0.0), 1e-300))


def mass_difference(found, expected) -> float:
    """Largest difference of two mass matrices, entry ij relative to sqrt(M_ii M_jj), so that light links count."""
    size = np.sqrt(np.diag(expected))
    return difference(found / np.outer(size, size), expected / np.outer(size, size))


def dynamics_differ(found, expected) -> float:
    """Worst difference of mass matrix and bias of two models with the same coordinates, at random states."""
    worst = 0.0
    for q, v in states(expected):
        worst = max(worst, mass_difference(kt.crba(found, q), kt.crba(expected, q)))
        worst = max(worst, difference(kt.rnea(found, q, v, 0.0 * v), kt.rnea(expected, q, v, 0.0 * v)))
    return worst


def engine_differs(model, bridge, bias) -> float:
    """Worst difference of mass matrix and bias between a model and another engine, at random states."""
    worst = 0.0
    for q, v in states(model):
        worst = max(worst, mass_difference(bridge.crba(q), kt.crba(model, q)))
        worst = max(worst, difference(bias(bridge, q, v), kt.rnea(model, q, v, 0.0 * v)))
    return worst


class Result(NamedTuple):
    """What became of one robot; differences of bias are relative to its largest entry."""

    bodies: int
    nq: int
    same_text: bool
    urdf: float  # our dynamics after reading the written URDF
    mjcf: float
    pinocchio: float  # Pinocchio's dynamics of the written URDF
    mujoco: float
    warnings: int  # where MuJoCo takes no inertia as small as that of the model


def through_urdf(model):
    """Write as URDF and read: asserts the identity; returns the model and whether writing again gives the same text."""
    text = kt.io.to_urdf(model)
    again = kt.load(text, inertia="accept")
    assert_alike(again, model, rotations=SNAPPED)
    assert_shapes_alike(again, model)
    assert dict(again.welded) == dict(model.welded)
    return again, kt.io.to_urdf(again) == text


def through_mjcf(model):
    """Write a model that was read from URDF as MJCF and read: asserts all but what the report warns of."""
    text, report = mjcf_text(model, meshes="drop")
    again = kt.load(text)
    assert again.body_names == model.body_names
    assert again.joint_names == model.joint_names
    assert_frames_alike(again, model, SNAPPED)
    for what in ("lower", "upper", "damping", "dry_friction"):
        np.testing.assert_array_equal(getattr(again, what), getattr(model, what))
    effort = np.where(model.effort_limit > 0.0, model.effort_limit, np.inf)  # MuJoCo has no drive without force
    np.testing.assert_array_equal(again.effort_limit, effort)
    if not report.at_level("warning"):
        assert_numbers_alike(again, model, TOLERANCE)
    assert sorted(again.couplings, key=str) == sorted(model.couplings, key=str)
    return again, text, report


def run(name: str) -> Result:
    """All methods of one robot."""
    import mujoco

    from tests.engines.mujoco_bridge import MujocoBridge
    from tests.engines.pinocchio_bridge import Bridge, pinocchio_model

    model = urdf_model(name)
    again, same_text = through_urdf(model)
    other, text, report = through_mjcf(model)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "robot.urdf"
        kt.save(model, path)
        pin_bridge = Bridge(model, pinocchio_model(str(path)))
    mj_bridge = MujocoBridge(model, mujoco.MjModel.from_xml_string(text), by_order=True)
    return Result(
        model.nb - 1,
        model.nq,
        same_text,
        dynamics_differ(again, model),
        dynamics_differ(other, model),
        engine_differs(model, pin_bridge, lambda b, q, v: b.rnea(q, v, 0.0 * v)),
        engine_differs(model, mj_bridge, lambda b, q, v: b.bias(q, v)),
        len(report.at_level("warning")),
    )


def main() -> None:
    print("| robot | bodies | nq | same text | URDF | MJCF | Pinocchio | MuJoCo | warnings |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in URDF:
        r = run(name)
        differences = " | ".join(f"{x:.0e}" if x else "0" for x in r[3:7])
        text = "yes" if r.same_text else "no"
        print(f"| {name} | {r.bodies} | {r.nq} | {text} | {differences} | {r.warnings} |", flush=True)


if __name__ == "__main__":
    main()
