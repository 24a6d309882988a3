"""The pictures of docs/: python -m tests.view.screenshots [--only NAME] [--folder FOLDER].

Each is a function that makes a run and the options of its picture; Chromium draws them, with the page of `run.save`.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

import numpy as np

import kinetree as kt
from tests.engines.robots import robot_path
from tests.static.source_tree import ROOT

SIZE = (960, 540)


def example(name: str):
    """A script of examples/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def placed(model, **angles):
    """The neutral position with some joints elsewhere [rad or m]."""
    q = model.neutral()
    for part, angle in angles.items():
        for name in (name for name in model.joint_names if part in name):
            q[model.q_index(name)] = angle
    return q


def panda():
    """An arm with meshes of Collada files."""
    model = kt.load(robot_path("panda"))
    q = placed(model, joint1=0.4, joint2=-0.5, joint4=-2.1, joint6=1.7, joint7=0.8, finger=0.03)
    return model, {"q": q, "overlays": (), "camera": (1.0, -0.9, 0.4), "zoom": 1.35}


def anymal():
    """A quadruped with textured meshes."""
    model = kt.load(robot_path("anymal_b"), floating_base=True, inertia="project")
    q = placed(model, F_HFE=0.6, H_HFE=-0.6, F_KFE=-1.1, H_KFE=1.1)
    return model, {"q": q, "overlays": (), "zoom": 1.2}


def talos():
    """A humanoid."""
    model = kt.load(robot_path("talos_reduced"), floating_base=True)
    legs = {f"leg_{side}_{k}": x for side in ("left", "right") for k, x in ((3, -0.4), (4, 0.8), (5, -0.4))}
    q = placed(model, **legs, arm_left_2=0.35, arm_right_2=-0.35, arm_left_4=-1.2, arm_right_4=-1.2)
    return model, {"q": q, "overlays": (), "zoom": 1.2}


def four_bar():
    """A linkage as a stick figure, with the marks of its loop."""
    return kt.simulate(kt.models.four_bar(), duration=0.6, dt=2e-3), {}


def muscle_arm():
    """Muscles by their activation."""
    script = example("31_reaching_with_muscles")
    pulling = {name: 0.9 if name in script.FLEXORS else 0.02 for name in (*script.FLEXORS, *script.EXTENSORS)}
    script.excitations = lambda: {f"{name}.excitation": x for name, x in pulling.items()}
    return script.run(), {"time": 0.06}


def contact_forces():
    """A quadruped on its feet."""
    script = example("37_quadruped_on_the_ground")
    return script.drop(1.2).between(0.9), {"camera": (-1.0, -1.1, 0.4)}


def two_runs():
    """The same double pendulum from starts ten degrees apart."""
    model = kt.models.double_pendulum()
    return [kt.simulate(model, [2.0 + x, 1.0], duration=2.0) for x in (0.0, np.radians(10.0))], {"camera": (0, -1, 0.2)}


SCREENSHOTS = {
    f"view_{make.__name__}.png": make
    for make in (panda, anymal, talos, four_bar, muscle_arm, contact_forces, two_runs)
}


def write(name: str, folder: Path, **options) -> Path:
    """Write one of the pictures."""
    shown, view = SCREENSHOTS[name]()
    return kt.viz.save_view(shown, folder / name, **{"size": SIZE, "renderer": "browser"} | view | options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[*SCREENSHOTS], metavar="NAME")
    parser.add_argument("--folder", type=Path, default=ROOT / "docs")
    given = parser.parse_args()
    for name in given.only:
        print(write(name, given.folder))


if __name__ == "__main__":
    main()
