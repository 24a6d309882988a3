"""Sweeps of simulation files: those of the same Python calls, and errors with the place of the value."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.errors import FileFormatError, SweepError
from tests.static.source_tree import ROOT
from tests.static.test_documents import blocks
from tests.sweeps.test_store import content

pytest.importorskip("yaml")

SCENE = """
model: {file: double_pendulum, gravity: [0, 0, -5]}
initial: {positions: {shoulder: 0.4}, velocities: [0.1, 0.2]}
forces: [{kind: point_spring, name: cord, start: world, end: tip, start_at: [1, 0, 0], stiffness: 20, damping: 1}]
controller: {kind: computed_torque, kp: {shoulder: 9, elbow: 4}, kd: 3, target: {elbow: 1}, effort_limit: 7}
duration: 0.05
dt: 1e-3
integrator: semi_implicit
record: {every: 5}
sweep:
  over:
    cord.stiffness: [10, 30]
    controller.kp.elbow: {kind: linspace, start: 2, stop: 4, count: 3}
    q0.elbow: {kind: normal, mean: 0, deviation: 0.1}
    v0: {kind: uniform, low: [0, -1], high: [1, 1]}
  measure:
    end: q_end
    gap: {kind: distance, frame: tip, target: [0.5, 0, 0], over: path}
  samples: 4
  sampling: sobol
  seed: 5
  store: results.zarr
  chunk: 8
"""


@pytest.fixture
def written(tmp_path):
    """Write a text as a file."""

    def written(text: str, name="scene.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def test_a_sweep_is_that_of_the_python_calls(written, tmp_path):
    """To the same files: model, force, controller, start, records, parameters, measures, design."""
    run = kt.sweeps.run_file(written(SCENE), client=False)
    cord = kt.forces.PointSpring("cord", "world", "tip", 20.0, damping=1.0, start_at=(1.0, 0.0, 0.0))
    model = kt.load("double_pendulum").replace(gravity=(0.0, 0.0, -5.0)).with_forces(cord)
    controller = kt.control.ComputedTorque(model, [0.4, 1.0], {"shoulder": 9, "elbow": 4}, 3, effort_limit=7)
    expected = kt.sweep(
        model,
        {
            "cord.stiffness": [10, 30], "controller.kp.elbow": np.linspace(2, 4, 3),
            "q0.elbow": kt.sweeps.normal(0, 0.1), "v0": kt.sweeps.uniform([0, -1], [1, 1]),
        },
        {
            "duration": 0.05, "q0": [0.4, 0.0], "v0": [0.1, 0.2], "controller": controller,
            "integrator": "semi_implicit", "record": kt.Record(every=5),
        },
        {"end": "q_end", "gap": kt.sweeps.Distance("tip", (0.5, 0.0, 0.0), "path")},
        tmp_path / "expected.zarr", samples=4, sampling="sobol", seed=5, chunk=8, client=False,
    )  # fmt: skip
    assert run.store == tmp_path / "results.zarr" and run.samples == 24
    assert content(run.store) == content(expected.store)


STANDING = """
<robot name="standing">
  <link name="trunk">
    <inertial><mass value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>
    {feet}
  </link>
  <link name="arm">
    <inertial><origin xyz="0.1 0 0"/><mass value="0.5"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.002"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="trunk"/><child link="arm"/><origin xyz="0.1 0 0.1"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="10"/>
  </joint>
</robot>
"""
FOOT = '<collision><origin xyz="{} {} 0.03"/><geometry><sphere radius="0.03"/></geometry></collision>'
STANDING = STANDING.format(feet="".join(FOOT.format(*place) for place in ((0.2, 0.0), (-0.1, 0.15), (-0.1, -0.15))))


def test_one_sample_is_the_run_of_simulate(written, tmp_path):
    """A file without its section is the nominal simulation; the sweep over what it says already is that, too."""
    (tmp_path / "standing.urdf").write_text(STANDING)
    text = "model: {file: standing.urdf, floating_base: true}\nground: {friction: 0.6}\nduration: 0.02\n"
    text += "dt: 2e-3\ncontroller: {kind: joint_impedance, stiffness: 60, damping: 3}\n"
    text += "initial: {velocities: [0, 0, 0, 0.3, 0, -0.1, 1]}\n"
    path = written(text + "sweep: {over: {contact.friction: [0.6, 0.1]}, measure: [q_end, path]}")
    nominal, swept = kt.simulation.run_file(path), kt.sweeps.run_file(path, client=False).data.load()
    # `simulate` repeats its steps of contact until they converge, rollouts take a fixed number of iterations.
    np.testing.assert_allclose(swept["q"].values[0], nominal.q, rtol=0, atol=1e-6)
    assert len(nominal.contacts.touches) == 3 and np.ptp(nominal.q[:, -1]) > 1e-4


def test_the_command_computes_continues_and_reports(written, tmp_path, monkeypatch):
    """Rows for people, an object for programs; the second time everything is there; another sweep is refused."""
    path = written(SCENE)
    monkeypatch.chdir(tmp_path)
    first = CliRunner().invoke(app, ["sweep", "scene.yaml", "--client", "none", "--workers", "1"])
    assert first.exit_code == 0 and "24 samples" in first.stdout and "end.elbow" in first.stdout
    again = json.loads(CliRunner().invoke(app, ["sweep", "scene.yaml", "--json"]).stdout)["result"]
    assert (again["samples"], again["computed"], again["chunks"], again["failures"]) == (24, 0, 3, [])
    data = kt.sweeps.run_file(path).data
    values = again["statistics"]["gap"]
    np.testing.assert_allclose(values["mean"], data["gap"].values.mean(), rtol=1e-14)
    np.testing.assert_allclose(values["deviation"], data["gap"].values.std(), rtol=1e-12)
    assert (values["least"], values["greatest"]) == (data["gap"].values.min(), data["gap"].values.max())
    written(SCENE.replace("seed: 5", "seed: 6"))
    refused = CliRunner().invoke(app, ["sweep", "scene.yaml"])
    assert refused.exit_code == 2 and "seed is 6, there 5" in refused.stderr and "--overwrite" in refused.stderr
    with pytest.raises(SweepError, match="overwrite=True"):
        kt.sweeps.run_file(path)
    assert CliRunner().invoke(app, ["sweep", "scene.yaml", "--overwrite", "--quiet"]).exit_code == 0


def test_the_command_names_failed_samples(written, tmp_path, monkeypatch):
    """With seed, values and the instant; the exit code is that of success, since the failure is a result."""
    written("model: double_pendulum\nduration: 0.1\nsweep: {over: {v0.elbow: [0, 1e160]}, seed: 3}")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["sweep", "scene.yaml"])
    assert done.exit_code == 0 and "sample 1 (seed 3; v0.elbow = 1e+160): the motion is no longer finite" in done.stdout


BASE = "model: double_pendulum\nduration: 0.1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "sweep is missing"),
        ("sweep: {measure: [q_end]}", "sweep.over is missing"),
        ("sweep: {over: {}}", "sweep.over: over is {}, expected a mapping of parameters"),
        ("sweep: {over: {q0.elbw: 1}}", "sweep.over.q0.elbw: no parameter .* Did you mean 'q0.elbow'"),
        ("sweep: {over: {q0: [1, 2]}}", r"sweep.over.q0: values of 'q0' have shape \(\), expected \(2,\)"),
        ("sweep: {over: {q0.elbow: []}}", "sweep.over.q0.elbow has 0 entries, expected at least 1"),
        ("sweep: {over: {q0.elbow: much}}", "expected a number or a list of numbers or lists or a mapping"),
        ("sweep: {over: {q0.elbow: {kind: normal, mean: 0}}}", "sweep.over.q0.elbow.deviation is missing"),
        ("sweep: {over: {q0.elbow: {kind: gauss}}}", "sweep.over.q0.elbow.kind is 'gauss'. Known: uniform"),
        (
            "sweep: {over: {q0.elbow: {kind: uniform, low: 1, high: 0}}}",
            "sweep.over.q0.elbow: uniform: low = 1.0 is not",
        ),
        ("sweep: {over: {q0.elbow: {kind: normal, mean: 0, deviation: 1}}}", "sweep.over.q0.elbow: .* samples"),
        ("sweep: {over: {q0.elbow: 1}, samples: 3}", "sweep.samples: samples is for distributions"),
        ("sweep: {over: {q0.elbow: 1}, sampling: sobol}", "sweep.sampling: .* over has none"),
        ("sweep: {over: {q0.elbow: 1}, measure: [slip]}", "sweep: measure 'slip': .* has no contacts"),
        ("sweep: {over: {q0.elbow: 1}, measure: [distance]}", "Write {kind: distance, frame: ..., target: ...}"),
        ("sweep: {over: {controller.kp: 1}}", "sweep.over.controller.kp: .* no controller"),
        ("model_: 1\nsweep: {over: {q0.elbow: 1}}", "model_ is no entry here. Did you mean 'model'"),
        ("controller: {kind: lqr, Q: 1, R: 1}\nsweep: {over: {q0.elbow: 1}}", "controller.kind is 'lqr', which is not"),
        (
            "controller: {kind: gravity_compensation}\nsweep: {over: {q0.elbow: 1}}",
            "Sweeps take pd_gravity_compensation",
        ),
        ("integrator: adaptive\nsweep: {over: {q0.elbow: 1}}", "integrator is adaptive, and samples of a sweep share"),
        ("dt: 0.03\nsweep: {over: {q0.elbow: 1}}", "duration: .* not a multiple of dt = 0.03"),
    ],
)
def test_errors_have_the_place_of_the_value(written, text, message):
    """File, line, path, fault and repair, before anything is simulated; no store is left."""
    path = written(BASE + text)
    with pytest.raises(FileFormatError, match=message) as error:
        kt.sweeps.run_file(path, client=False)
    assert str(error.value).startswith(f"{path}:")
    assert not path.with_suffix(".zarr").exists()
    with pytest.raises(FileFormatError, match="limits is 'raise', which sweeps do not take"):
        kt.sweeps.run_file(
            written("model: {file: arm7, limits: raise}\nduration: 1\nsweep: {over: {gravity.z: 0}}"), client=False
        )


def test_the_example_of_the_page_is_a_sweep(written):
    """With all of its samples."""
    (text,) = [text for text in blocks((ROOT / "docs" / "simulation_files.md").read_text(), "yaml") if "sweep:" in text]
    run = kt.sweeps.run_file(written(text), client=False)
    assert run.samples == 180 and not run.failures and run.store.name == "results.zarr"
