"""Robots of installed packages by name: example-robot-data, and robot_descriptions, which clones from the network."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kinetree.errors import FileFormatError, MissingDependencyError, UnsupportedError
from kinetree.once import once

PACKAGE = "example-robot-data"
FOLDER = "cmeel.prefix/share/example-robot-data/robots"
FIXED = {  # name of the package's loader: file of a robot with a fixed base
    "asr_twodof": "asr_twodof_description/urdf/TwoDofs.urdf",
    "allegro_left_hand": "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "allegro_right_hand": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "double_pendulum_continuous": "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "double_pendulum_simple": "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "finger_edu": "finger_edu_description/robots/finger_edu.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
    "talos_arm": "talos_data/robots/talos_left_arm.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
    "tiago_no_hand": "tiago_description/robots/tiago_no_hand.urdf",
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
}
FLOATING = {  # of robots with a free base
    "a1": "a1_description/urdf/a1.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "anymal_kinova": "anymal_b_simple_description/robots/anymal-kinova.urdf",
    "b1": "b1_description/urdf/b1.urdf",
    "bolt": "bolt_description/robots/bolt.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "go1": "go1_description/urdf/go1.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "icub_reduced": "icub_description/robots/icub_reduced.urdf",
    "iris": "iris_description/robots/iris_simple.urdf",
    "laikago": "laikago_description/urdf/laikago.urdf",
    "romeo": "romeo_description/urdf/romeo.urdf",
    "simple_humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "solo8": "solo_description/robots/solo.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "talos_full": "talos_data/robots/talos_full_v2.urdf",
}
SUFFIX = "_description"


class Found(NamedTuple):
    """A robot of a package: its file, and the options that belong to it."""

    path: Path
    options: dict


def names() -> tuple[str, ...]:
    """All names of the packages that are installed."""
    return (*_example_robots(), *_descriptions())


def find(name: str) -> Found | None:
    """The file of a robot by its name; None if no installed package has it.

    Raises
    ------
    MissingDependencyError
        The name ends in ``_description``, and robot_descriptions is not installed.
    FileFormatError
        Its files are not in the cache of robot_descriptions and cannot be cloned.
    UnsupportedError
        The description has neither URDF nor MJCF.
    """
    robots = _example_robots()
    if name in robots:
        folder = robots[name].parents[2]
        options = {"floating_base": True} if name in FLOATING else {}
        return Found(robots[name], options | {"package_dirs": [folder, folder.parent.parent]})
    if name in _descriptions():
        return _described(name)
    if name.endswith(SUFFIX) and not importlib.util.find_spec("robot_descriptions"):
        raise MissingDependencyError(
            f"no robot named {name!r} ships with kinetree; names that end in {SUFFIX} are those of the package "
            "robot_descriptions, which is not installed: pip install robot_descriptions. It clones the files of a "
            "robot from the network at the first use.",
            package="robot_descriptions",
        )
    return None


def _described(name: str) -> Found:
    """A robot of robot_descriptions; importing its module clones the files, unless they are in its cache."""
    try:
        module = importlib.import_module(f"robot_descriptions.{name}")
    except Exception as error:  # of git, of the network, of folders
        import robot_descriptions

        source = getattr(robot_descriptions.DESCRIPTIONS[name], "repository", None) or "its repository"
        reason = " ".join(str(error).split())[:200]
        raise FileFormatError(
            f"{name}: robot_descriptions clones the files of this robot from {source} at the first use, which failed: "
            f"{type(error).__name__}: {reason}. Without network clone them once elsewhere and copy the folder "
            "~/.cache/robot_descriptions (or that of ROBOT_DESCRIPTIONS_CACHE), or give kt.load a file.",
            file=name,
        ) from error
    for attribute in ("URDF_PATH", "MJCF_PATH"):
        if path := getattr(module, attribute, None):
            break
    else:
        if not hasattr(module, "XACRO_PATH"):
            raise UnsupportedError(f"{name}: this description of robot_descriptions has neither URDF nor MJCF.")
        from robot_descriptions._xacro import get_urdf_path

        path = get_urdf_path(module)
    if attribute == "MJCF_PATH" and not hasattr(module, "XACRO_PATH"):
        return Found(Path(path), {})
    folders = [Path(folder) for folder in (module.PACKAGE_PATH, module.REPOSITORY_PATH)]
    return Found(Path(path), {"package_dirs": [*folders, *(folder.parent for folder in folders)]})


@once
def _example_robots() -> dict[str, Path]:
    """The files of example-robot-data by name."""
    try:
        package = importlib.metadata.distribution(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return {}
    folder = Path(str(package.locate_file(FOLDER)))
    files = {name: folder / file for name, file in {**FIXED, **FLOATING}.items()}
    return {name: file for name, file in files.items() if file.is_file()}


def _descriptions() -> Iterable[str]:
    """The names of robot_descriptions."""
    if not importlib.util.find_spec("robot_descriptions"):
        return ()
    return importlib.import_module("robot_descriptions").DESCRIPTIONS
