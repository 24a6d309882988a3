"""The public robots of example-robot-data: each loads, or is refused for the reason that this table names."""

import functools
import pathlib

import pytest

import kinetree as kt
from kinetree.errors import InertiaError, KinetreeError, ModelError, URDFError
from tests.engines.robots import ROBOTS, robot_path

PLACEHOLDER = (InertiaError, r"principal moments \(0, 0, 3e-06\) break")  # all six entries 1e-6, mass 1e-6
TRIANGLE = (InertiaError, "break I3 <= I1 [+] I2")
NEGATIVE = (InertiaError, "link 'base_antenna_left_link': principal moments .* are not all positive")
MASSLESS = (ModelError, "has no inertia that resists its revolute joint")

# What is wrong with the file; everything not named here loads without options.
REFUSED = {
    "alex_description/urdf/alex_psyonic_hands.urdf": TRIANGLE,  # and a joint mimics one that is not there
    "allegro_hand_description/urdf/allegro_left_hand.urdf": TRIANGLE,
    "allegro_hand_description/urdf/allegro_right_hand.urdf": TRIANGLE,
    "anymal_b_simple_description/robots/anymal-kinova.urdf": PLACEHOLDER,
    "anymal_b_simple_description/robots/anymal.urdf": PLACEHOLDER,
    "anymal_c_simple_description/urdf/anymal.urdf": TRIANGLE,
    "b1_description/urdf/b1-z1.urdf": PLACEHOLDER,
    "b1_description/urdf/b1.urdf": PLACEHOLDER,
    "bolt_description/robots/bolt.urdf": (InertiaError, "link 'FL_FOOT': mass is 0, but the inertia is not"),
    "go1_description/urdf/go1.urdf": PLACEHOLDER,
    "hyq_description/robots/hyq_no_sensors.urdf": PLACEHOLDER,
    "pr2_description/urdf/pr2.urdf": (InertiaError, "link 'sensor_mount_link'.*break I3 <= I1 [+] I2"),
    "romeo_description/urdf/romeo.urdf": MASSLESS,
    "romeo_description/urdf/romeo_laas_small.urdf": TRIANGLE,
    "romeo_description/urdf/romeo_small.urdf": TRIANGLE,
    "tiago_description/robots/tiago.urdf": NEGATIVE,
    "tiago_description/robots/tiago_dual.urdf": NEGATIVE,
    "tiago_description/robots/tiago_no_hand.urdf": NEGATIVE,
    "ur_description/urdf/ur3.urdf": (URDFError, "the robot has no <link>"),
}
MENDED = {"inertia": "project", "massless": "lock", "unsupported": "drop"}


@functools.cache
def corpus():
    folder = pathlib.Path(robot_path("panda")).parents[2]
    return {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*.urdf"))}


def test_the_corpus_is_there():
    """The table names files of the package, and the package holds many more."""
    assert set(REFUSED) <= set(corpus()) and len(corpus()) > 60


def load_or_refuse(name):
    file = corpus()[name]
    if name not in REFUSED:
        return kt.load(file)
    error_class, message = REFUSED[name]
    with pytest.raises(error_class, match=message) as error:
        kt.load(file)
    assert str(error.value).startswith(f"{file}:{error.value.line}: ")
    if name == "ur_description/urdf/ur3.urdf":
        return None
    return kt.load(file, **MENDED)


@pytest.mark.parametrize("name", ROBOTS)
def test_well_known_robots(name):
    """The robots of the engine tests load, the faulty ones after the repair that their error offers."""
    file = pathlib.Path(robot_path(name))
    model = load_or_refuse(next(key for key, path in corpus().items() if path == file))
    assert model.nv > 0


def test_every_robot():
    """All files of the package."""
    for name in corpus():
        model = load_or_refuse(name)
        assert model is None or model.nb >= 1, name


def test_a_mimic_of_an_unknown_joint_is_refused_or_dropped():
    """A public robot whose joint mimics a joint that does not exist loads when asked to drop that."""
    file = corpus()["alex_description/urdf/alex_psyonic_hands.urdf"]
    with pytest.raises(URDFError, match="'Left_index_q2' mimics 'index_q1', and there is no such joint"):
        kt.load(file, inertia="project")
    report = kt.load(file, inertia="project", unsupported="drop").report
    assert any("'Left_index_q2' mimics 'index_q1'" in entry.message for entry in report.at_level("dropped"))


def test_repairs_are_reported():
    """Every faulty file, mended, has a warning or a dropped entry for each repair."""
    for name in REFUSED:
        if name != "ur_description/urdf/ur3.urdf":
            report = kt.load(corpus()[name], **MENDED).report
            assert report.at_level("warning") or report.at_level("dropped"), name


def test_diagonal_repair_suffices_for_the_placeholder():
    """Dropping the products of inertia mends the robots whose placeholder has equal entries."""
    for name, reason in REFUSED.items():
        if reason is PLACEHOLDER:
            kt.load(corpus()[name], inertia="diagonal")


def test_one_broken_character_never_escapes_as_another_error():
    """A file with one character replaced either loads or gives a KinetreeError: never a bare Python error."""
    import numpy as np

    rng = np.random.default_rng(0)
    text = corpus()["ur_description/urdf/ur5_robot.urdf"].read_text()
    for _ in range(300):
        at = int(rng.integers(len(text)))
        broken = text[:at] + chr(int(rng.integers(32, 127))) + text[at + 1 :]
        try:
            kt.load(broken if broken.startswith("<") else "<" + broken[1:])
        except KinetreeError:
            pass
