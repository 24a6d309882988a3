"""The harness of the benchmarks: what it would report if an answer were wrong, and what it writes where."""

import importlib.util
import pathlib
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from benchmarks import __main__ as suite
from benchmarks import table, timing
from benchmarks.rivals import contest
from benchmarks.rivals.run import verified


class Reference:
    """Stands for Pinocchio: every answer is one."""

    def reference(self, quantity, count):
        return np.ones((count, 2))


def offer(value, **options):
    """An offer whose results are all `value`."""
    return contest.Offer("rival", "rnea", "batch", lambda n: None, lambda: np.full((3, 2), value), 3, 0.0, **options)


@pytest.mark.parametrize("wrong", [1.0 + 1e-6, np.nan])
def test_wrong_answers_are_not_timed(wrong, capsys):
    """An offer that is off by more than its tolerance, or NaN, is named and left out."""
    right, errors = verified([offer(1.0), offer(wrong)], Reference())
    assert [each["right"] for each in errors] == [True, False]
    assert len(right) == 1
    assert "WRONG: rival rnea" in capsys.readouterr().out


@pytest.mark.parametrize("name", suite.present())
def test_every_measurement_runs_as_a_script(name):
    """What `python -m benchmarks` starts does something when it is started; nothing is imported for that."""
    found = importlib.util.find_spec(f"benchmarks.{name}")
    file = pathlib.Path(found.origin)
    source = file.with_name("__main__.py") if found.submodule_search_locations else file
    assert 'if __name__ == "__main__":' in source.read_text()


def test_times_are_per_unit_of_work():
    """A contender of ten states has a tenth of the time per state, with a clock that counts runs."""
    clock = iter(range(10**6))
    runs = {"one": lambda n: None, "ten": lambda n: None}
    sizes = timing.block_size
    timing.block_size = lambda run, block: 1
    try:
        times = timing.interleaved(runs, {"one": 1, "ten": 10}, repeats=3, clock=lambda: float(next(clock)))
    finally:
        timing.block_size = sizes
    assert times == {"one": [1.0] * 3, "ten": [0.1] * 3}


def test_tables_go_between_their_markers(tmp_path):
    """Only the text between the markers changes; a page without them is refused."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a:begin -->\nold\n<!-- a:end -->\nafter\n")
    table.put(page, "a", "new")
    assert page.read_text() == "before\n<!-- a:begin -->\nnew\n<!-- a:end -->\nafter\n"
    with pytest.raises(ValueError, match="lacks the markers"):
        table.put(page, "b", "new")


def test_shared_robot_file_keeps_what_dynamics_needs(tmp_path):
    """Meshes, damping and mimic tags go, origins are written, impossible inertias lose their products."""
    file = tmp_path / "robot.urdf"
    file.write_text(
        """<robot name="r"><link name="a"><visual><geometry><mesh filename="x.dae"/></geometry></visual></link>
        <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="1" ixz="1" iyz="1"/></inertial>
        </link><joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
        <dynamics damping="1"/><limit lower="0" upper="1" effort="1" velocity="1" current="3"/><mimic joint="k"/>
        </joint><gazebo/></robot>"""
    )
    root = ET.fromstring(contest.stripped(str(file)))
    assert {element.tag for element in root.iter()} == {
        "robot", "link", "joint", "inertial", "mass", "inertia", "origin", "parent", "child", "axis", "limit"
    }  # fmt: skip
    assert root.find("joint/origin").get("xyz") == "0 0 0"
    assert root.find("joint/limit").get("current") is None
    assert [root.find("link/inertial/inertia").get(k) for k in ("ixx", "ixy")] == ["1", "0"]
