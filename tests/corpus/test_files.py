"""Files of public packages against other engines: a sample in every run, all of them in the sweep.

The sweep is what ``python -m benchmarks.corpus`` does; its table is ``docs/corpus.md``.
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from benchmarks.corpus import report, run  # noqa: E402
from benchmarks.corpus.catalog import CORPORA, File, selected  # noqa: E402
from benchmarks.corpus.examine import examine  # noqa: E402

URDF = "example-robot-data URDF"
PYBULLET = "pybullet_data URDF"
AGREE = [
    File(URDF, "ur_description/urdf/ur5_robot.urdf"),
    File(URDF, "panda_description/urdf/panda.urdf"),  # mimic joints
    File(URDF, "anymal_b_simple_description/robots/anymal.urdf"),  # an impossible inertia
    File(URDF, "romeo_description/urdf/romeo.urdf"),  # joints that move no mass
    File(URDF, "icub_description/robots/icub.urdf"),  # ill-conditioned
    File(PYBULLET, "r2d2.urdf"),
    File(PYBULLET, "quadruped/minitaur.urdf"),  # states XML version 0.0
    File("gymnasium MJCF", "ant.xml"),
    File("gymnasium MJCF", "swimmer.xml"),  # a fluid
    File("dm-control suite and walkers", "suite/humanoid.xml"),  # several joints on one body
    File("dm-control suite and walkers", "suite/stacker.xml"),  # tendons and equalities
    File("mujoco-mjx test data", "sensor/sensor.xml"),  # all kinds of joints
    File("mujoco-mjx test data", "convex.xml"),  # MuJoCo rounds centers of mass
    File("mujoco-mjx test data", "actuator/general_dyntype.xml"),  # a singular mass matrix
    File("example-robot-data SDF", "cassie_description/robots/cassie.sdf"),  # loops
    File("pybullet_data SDF", "kuka_iiwa/kuka_world.sdf"),  # gravity of a world
]
NO_MODEL = [
    File("dm-control suite and walkers", "suite/common/materials.xml"),  # compiles to an empty world
    File("musclemimic-models MJCF", "leg/assets/myolegs_chain.xml"),
]
REFUSED = {
    File(URDF, "ur_description/urdf/ur3.urdf"): "no <link>",
    File(PYBULLET, "humanoid/humanoid.urdf"): "not well-formed XML",
    File(PYBULLET, "husky/husky.urdf"): "xacro",
}


def need(file: File) -> None:
    """Skip if the package that ships the file is not installed."""
    if CORPORA[file.corpus].version is None:
        pytest.skip(f"{CORPORA[file.corpus].package} is not installed")


@pytest.mark.parametrize("file", AGREE, ids=lambda file: file.name)
def test_a_sample_agrees(file):
    """M, bias forces and forward dynamics within 1e-9 of the other engine at random states."""
    need(file)
    row = examine(file)
    assert row["verdict"] == "agrees", row


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.name)
def test_a_refusal_names_its_reason(file):
    """What is refused is refused for the reason that this table names."""
    need(file)
    row = examine(file)
    assert row["verdict"] == "refused" and REFUSED[file] in row["reason"], row


@pytest.mark.parametrize("file", NO_MODEL, ids=lambda file: file.name)
def test_a_part_of_a_model_is_told_from_a_refused_model(file):
    """Files that others include do not count."""
    need(file)
    assert examine(file)["verdict"] == "not a model"


def test_springs_and_dampers_are_compared():
    """An MJCF file without constraints has the complete forward dynamics compared, beyond the bare tree's."""
    file = File("dm-control suite and walkers", "suite/cheetah.xml")
    need(file)
    row = examine(file)
    assert row["passive"] < 1e-12 and row["complete"] < 1e-12
    assert all(row["compiled"][what] < 1e-12 for what in ("M", "bias", "residual"))


def test_linear_equalities_are_compared():
    """Couplings hold exactly here and softly in MuJoCo, whose numbers are projected onto them."""
    file = File("gymnasium-robotics MJCF", "assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml")
    need(file)
    row = examine(file)
    assert row["equalities"] == 5 and row["complete"] < 1e-9


def test_an_absent_package_is_an_empty_corpus():
    """Nothing is looked for where nothing is installed."""
    absent = CORPORA[URDF]._replace(package="no-such-package-of-robots")
    assert absent.files() == [] and absent.version is None


def test_no_row_holds_a_path_of_this_machine():
    """Reasons name files as seen from the package."""
    for file in REFUSED:
        need(file)
        row = examine(file)
        folder = str(file.path).removesuffix(file.name)
        assert folder not in str(row) and folder.rstrip("/") not in str(row)


@pytest.mark.sweep
def test_every_file():
    """All files: none disagrees or breaks its process, and at least 95 % of the models load."""
    rows = run.rows_of(selected([]), jobs=os.cpu_count() or 1, timeout=120.0)
    assert not [row for row in rows if row["verdict"] in report.FAULTS]
    models = [row for row in rows if row["verdict"] != "not a model"]
    assert sum(report.loads(row) for row in models) >= 0.95 * len(models)
