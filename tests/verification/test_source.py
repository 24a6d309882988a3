"""A model that is not the one its file describes is a finding of kt.verify, and engines compute the model as it is."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.joints import Spherical
from kinetree.model.equipment import Equipment, LoopJoint
from kinetree.spatial import Transform, Vector3, rotation_from_matrix
from kinetree.verification.states import States
from kinetree.verification.verify import all_checks

OFF_AXIS = Transform(rotation_from_matrix(np.eye(3)), Vector3(0.1, 0.0, 0.0))


@pytest.fixture
def path(tmp_path):
    """A URDF file of an arm."""
    path = tmp_path / "arm.urdf"
    kt.save(kt.models.puma_like(), path)
    return path


def rows(model, *quantities: str, modified: bool = False) -> list:
    """The rows of some quantities, without computing the others."""
    states = States(model, 2, 0, compiled=False, modified=modified)
    return [check.row(states) for check in all_checks() if check.quantity in quantities]


def changed(model) -> str:
    """The differences named in the row about the model's file."""
    row = rows(model, "model")[0]
    assert row.verdict == "changed", row
    return row.note


def written_into(model, name: str, value: float):
    """The model, one of whose inertias was written to as no user of the library should."""
    object.__setattr__(model.I[model.body("link2")], name, value)
    return model


def test_a_model_as_loaded_is_that_of_its_file(path):
    """Whatever the options: they are known to the model, and to its copies and pickles."""
    for options in ({}, {"merge_fixed": False}, {"name": "other"}, {"inertia": "project", "massless": "lock"}):
        assert rows(kt.load(path, **options), "model")[0].verdict == "ok", options
    floating = kt.load(kt.data.path("quadruped"), floating_base=True)
    assert rows(floating, "model")[0].verdict == rows(floating.replace(), "model")[0].verdict == "ok"


def test_a_changed_model_is_not_ok(path, monkeypatch):
    """The finding names every number that differs, with both values; the exit code of the command follows."""
    model = kt.load(path).replace(gravity=(0.0, 0.0, -1.6))
    result = kt.verify(model, 2, fast=True)
    assert not result.ok and not result.off and [row.quantity for row in result.changed] == ["model"]
    assert result.findings[0].endswith("arm.urdf describes: gravity.z is -1.6, not -9.81")
    assert "not the one of its file" in result.summary and "changed" in str(result)
    monkeypatch.setattr(kt, "load", lambda *_, **__: model)
    done = CliRunner().invoke(app, ["verify", str(path), "--states", "2", "--fast"])
    assert done.exit_code == 1 and "gravity.z is -1.6, not -9.81" in " ".join(done.stdout.split())


def test_what_was_changed_on_purpose_is_no_finding(path):
    """With modified=True the row still names the difference."""
    row = rows(kt.load(path).replace(damping=0.5), "model", modified=True)[0]
    assert row.verdict == "left out" and "on purpose" in row.note and "damping is 0.5, not 0" in row.note


def test_an_inertia_that_was_written_to_is_found(path):
    """Before anything was computed only the file can tell; afterwards also the numbers kept for compiled code."""
    assert changed(written_into(kt.load(path), "m", 50.0)).endswith("link2.mass is 50, not 17.4")
    model = kt.load(path)
    model.numbers()
    of_file, kept = rows(written_into(model, "m", 50.0), "model")
    assert of_file.verdict == "changed"
    assert kept.verdict == "off" and kept.where == "link2.mass" and "model.replace" in kept.note


def test_surgery_and_loops_are_found(path):
    """A body more, a joint less, a loop that the file does not have."""
    arm = kt.load(path)
    tool = kt.surgery.attach(arm, kt.models.pendulum(), at=arm.body_names[-1], prefix="tool_")
    assert "body 'tool_bob' is not in the file" in changed(tool)
    locked = kt.surgery.lock(arm, [arm.joint_names[-1]])
    assert f"joint {arm.joint_names[-1]!r} of the file is missing" in changed(locked)
    loop = LoopJoint("loop", Spherical(), arm.body_names[1], arm.body_names[-1], OFF_AXIS, OFF_AXIS)
    assert changed(arm.replace(equipment=Equipment(loops=(loop,)))).endswith("it has 1 loops, not 0")


def test_engines_read_the_model_as_it_is(path):
    """Pinocchio gets the changed model, written; so its rows agree and say what they were computed on."""
    pytest.importorskip("pinocchio")
    model = kt.load(path)
    heavy = model.replace(I=(*model.I[:-1], model.I[-1] + model.I[2]))
    for row in rows(heavy, "Pinocchio"):
        assert row.verdict == "ok" and "as it is written: the file is not the model" in row.note, row
    # The written model is what is compared: read from the file instead, the rows deviate.
    deceived = States(heavy, 2, 0, compiled=False)
    deceived.once("source", lambda: type("Source", (), {"describes": True, "path": path, "differences": ()}))
    assert {c.row(deceived).verdict for c in all_checks() if c.quantity == "Pinocchio"} == {"off"}


def test_mujoco_reads_the_model_as_it_is(tmp_path):
    """The same for MJCF, which can say armatures too."""
    pytest.importorskip("mujoco")
    path = tmp_path / "arm.xml"
    kt.save(kt.models.puma_like(), path)
    for row in rows(kt.load(path).replace(armature=0.3), "MuJoCo"):
        assert row.verdict == "ok" and "as it is written" in row.note, row


def test_what_cannot_be_written_is_left_out_with_the_reason(path):
    """URDF has no armature."""
    pytest.importorskip("pinocchio")
    for row in rows(kt.load(path).replace(armature=0.3), "Pinocchio"):
        assert row.verdict == "left out" and "armature" in row.note and "the file is not the model" in row.note


def test_a_file_that_is_gone_is_said(path):
    """There is nothing to compare with."""
    model = kt.load(path)
    path.unlink()
    row = rows(model, "model")[0]
    assert row.verdict == "left out" and row.note.endswith("arm.urdf is not there")


def test_a_file_that_was_edited_is_found(path):
    """The model was right when it was loaded, and is not what the file says now."""
    model = kt.load(path)
    path.write_text(path.read_text().replace('<mass value="17.4"/>', '<mass value="17.5"/>'))
    assert "link2.mass is 17.4, not 17.5" in changed(model)
    path.write_text("<robot>")
    assert "reading it again fails" in changed(model)


def test_an_inertia_of_nan_is_a_finding_with_its_name(path):
    """No error of NumPy ends the verification, and none is among the first findings."""
    result = kt.verify(written_into(kt.load(path), "m", float("nan")), 2, fast=True)
    assert not result.ok and result.condition == np.inf
    assert "link2.mass is nan" in result.findings[0] and "data: numbers" in result.findings[1]
    assert not any("LinAlgError" in finding for finding in result.findings)


def test_a_root_called_world_moves_nothing(tmp_path):
    """Of such a file Pinocchio would free the world itself: it gets the model that kinetree reads."""
    pytest.importorskip("pinocchio")
    path = tmp_path / "arm.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path.write_text(
        f"""<robot name="r"><link name="world"/><link name="base">{inertial}</link><link name="tip">{inertial}</link>
        <joint name="hold" type="fixed"><origin xyz="1 2 3"/><parent link="world"/><child link="base"/></joint>
        <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/></joint></robot>"""
    )
    for row in rows(kt.load(path, floating_base=True), "Pinocchio"):
        assert row.verdict == "ok" and "is elsewhere" in row.note, row
