"""Tendons of public MuJoCo models, from the packages that are installed; no package is needed by the ordinary tests."""

from __future__ import annotations

from importlib import metadata

import mujoco
import pytest

from kinetree.io.mjcf.read import load_mjcf
from tests.tendons.test_mujoco_tendons import assert_same, needs_winding_rule

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
