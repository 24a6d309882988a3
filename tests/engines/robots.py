"""The public robots that the engine tests and the benchmarks share, from the package example-robot-data."""

from __future__ import annotations

import importlib.metadata
import pathlib
from typing import NamedTuple


class Robot(NamedTuple):
    """One robot: its URDF inside the package, and whether its root is free to move."""

    urdf: str
    floating_base: bool


ROBOTS = {
    "double_pendulum": Robot("double_pendulum_description/urdf/double_pendulum.urdf", False),
    "ur5": Robot("ur_description/urdf/ur5_robot.urdf", False),
    "panda": Robot("panda_description/urdf/panda.urdf", False),
    "kinova": Robot("kinova_description/robots/kinova.urdf", False),
    "anymal_b": Robot("anymal_b_simple_description/robots/anymal.urdf", True),
    "hyq": Robot("hyq_description/robots/hyq_no_sensors.urdf", True),
    "solo12": Robot("solo_description/robots/solo12.urdf", True),
    "talos_reduced": Robot("talos_data/robots/talos_reduced.urdf", True),
    "icub": Robot("icub_description/robots/icub.urdf", True),
    "tiago_no_hand": Robot("tiago_description/robots/tiago_no_hand.urdf", False),
}


def robot_path(name_or_urdf: str) -> str:
    """The path of a robot of ``ROBOTS``, or of any file below the package's folder of robots."""
    urdf = ROBOTS[name_or_urdf].urdf if name_or_urdf in ROBOTS else name_or_urdf
    # Version 6 of the package ships the data without an importable module, so the distribution is asked.
    package = importlib.metadata.distribution("example-robot-data")
    path = pathlib.Path(package.locate_file("cmeel.prefix/share/example-robot-data/robots")) / urdf
    if not path.is_file():
        raise FileNotFoundError(f"example-robot-data {package.version} has no robot file {urdf}")
    return str(path)
