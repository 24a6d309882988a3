"""Simulation files: the run is that of the same Python calls, errors have the place of the value, one schema."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.constraints import CONSTRAINTS
from kinetree.errors import FileFormatError
from kinetree.forces.registry import FORCES
from kinetree.simulation_files.schema import schema
from kinetree.simulation_files.simulation_file import SimulationFile
from tests.static.source_tree import ROOT
from tests.static.test_documents import blocks

pytest.importorskip("yaml")
PAGE = ROOT / "docs" / "simulation_files.md"


@pytest.fixture
def run(tmp_path):
    """Run a text as a file."""

    def run(text: str):
        path = tmp_path / "file.yaml"
        path.write_text(text)
        return kt.simulation.run_file(path)

    return run


def test_a_run_is_that_of_the_python_calls(run, tmp_path):
    """To the same bits: model, force, constraint, controller, start, method, records; and the outputs are there."""
    found = run("""
model: {file: double_pendulum, gravity: [0, 0, -5]}
initial: {positions: {shoulder: 0.4}, velocities: [0.1, 0.2]}
forces: [{kind: point_spring, name: cord, start: world, end: tip, start_at: [1, 0, 0], stiffness: 20, damping: 1}]
controller: {kind: computed_torque, kp: {shoulder: 9, elbow: 4}, kd: 3, target: {elbow: 1}, effort_limit: 7}
duration: 0.2
dt: 2e-3
integrator: rk4
record: {every: 5}
outputs: {trajectory: a.npz, csv: a.csv, plot: a.png}
""")
    cord = kt.forces.PointSpring("cord", "world", "tip", 20.0, damping=1.0, start_at=(1.0, 0.0, 0.0))
    model = kt.load("double_pendulum").replace(gravity=(0.0, 0.0, -5.0)).with_forces(cord)
    controller = kt.control.ComputedTorque(model, [0.0, 1.0], {"shoulder": 9, "elbow": 4}, 3, effort_limit=7)
    expected = kt.simulate(
        model, [0.4, 0.0], [0.1, 0.2], duration=0.2, dt=2e-3, integrator="rk4", controller=controller,
        record=kt.Record(every=5),
    )  # fmt: skip
    assert len(found) == 21 and np.array_equal(found.q, expected.q) and np.array_equal(found.tau, expected.tau)
    assert all((tmp_path / f"a{suffix}").stat().st_size for suffix in (".npz", ".csv", ".png"))


def test_without_a_target_controllers_hold_the_start(run):
    """Also gravity compensation, from a start at rest."""
    for kind in ("gravity_compensation", "joint_impedance, stiffness: 50, damping: 5"):
        start = "model: double_pendulum\ninitial: {positions: [0.5, 0.3]}\nduration: 0.1\n"
        found = run(f"{start}controller: {{kind: {kind}}}")
        assert np.allclose(found.q[-1], [0.5, 0.3], rtol=0, atol=1e-9)


ROBOT = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial></link><link name="b"><inertial><origin xyz="0 0 -1"/><mass value="1"/><inertia ixx="1" iyy="1"
izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="slide" type="prismatic"><parent link="a"/>
<child link="b"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>"""


def test_loops_are_those_of_side_files(run, tmp_path):
    """The robot beside the simulation file; the loop is the same as from a file of loops."""
    ends = "predecessor: world, successor: b, at_predecessor: [0, 0, -1], at_successor: [0, 0, -1]"
    loop = f"loop: [{{name: pin, type: spherical, {ends}}}]"
    (tmp_path / "r.urdf").write_text(ROBOT)
    found = run(f"model: {{file: r.urdf, floating_base: true}}\n{loop.replace('loop', 'loops', 1)}\nduration: 0.02")
    (tmp_path / "r.loops.yaml").write_text(loop)
    expected = kt.simulate(kt.load(tmp_path / "r.urdf", floating_base=True), duration=0.02)
    assert [loop.name for loop in found.model.loops] == ["pin"] and np.array_equal(found.q, expected.q)


def test_muscles_have_paths_over_points_and_joints(run):
    """A tendon along a joint is a spring of it; controls are by name."""
    path = "[{joint: shoulder, coefficient: 1}]"
    found = run(
        "model: double_pendulum\nduration: 0.05\ninitial: {positions: {shoulder: 0.2}}\n"
        f"forces: [{{kind: tendon_force, name: t, path: {path}, stiffness: 3}}]"
    )
    model = kt.load("double_pendulum").with_forces(kt.forces.Spring("shoulder", 3.0))
    assert np.allclose(found.q, kt.simulate(model, [0.2, 0.0], duration=0.05).q, rtol=0, atol=1e-12)


def test_a_reference_moves(run, tmp_path):
    """Waypoints, a sinusoid and a recorded run: the joints are where the functions say, as controllers in Python do."""
    elbow = "{kind: time_spline, times: [0, 0.1, 0.2], values: [0, 0.3, 0.1], ends: rest}"
    reference = f"{{shoulder: {{kind: sinusoid, amplitude: 0.5, omega: 6}}, elbow: {elbow}}}"
    start = "model: double_pendulum\nduration: 0.2\ndt: 5e-4\n"
    gains = "kind: computed_torque, kp: 400, kd: 40"
    found = run(
        f"{start}initial: {{velocities: {{shoulder: 3}}}}\n"
        f"controller: {{{gains}, reference: {reference}}}\n"
        "outputs: {trajectory: recorded.npz}"
    )
    at = np.array([0.0, 0.1, 0.2])
    q = found.q[[0, 200, 400]]
    # The forces of a step are held, an error of first order in the step: half of it has half the error.
    assert np.allclose(q, np.stack([0.5 * np.sin(6 * at), [0.0, 0.3, 0.1]], axis=1), rtol=0, atol=2e-3)
    again = run(f"{start}initial: {{velocities: [3, 0]}}\ncontroller: {{{gains}, reference: recorded.npz}}")
    assert np.allclose(again.q, found.q, rtol=0, atol=2e-3) and not np.array_equal(again.q, found.q)


def test_a_regulator_is_that_of_python(run):
    """The same states to the last bit, with the joints that have actuators."""
    controller = "{kind: lqr, Q: 1, R: [0.1], actuated: [slider], target: {hinge: 0}}"
    found = run(f"model: cart_pole\ninitial: {{positions: {{hinge: 0.1}}}}\nduration: 0.05\ncontroller: {controller}")
    model = kt.load("cart_pole")
    regulator = kt.control.lqr(model, [0.0, 0.0], Q=1.0, R=[0.1], actuated="slider")
    assert np.array_equal(found.q, kt.simulate(model, [0.0, 0.1], duration=0.05, controller=regulator).q)


def test_tendons_wrap_around_shapes(run):
    """A path over a cylinder and a pulley has the length of the same path in Python."""
    path = "[{frame: world, at: [0.3, 0, -0.2]}, {wrap: cylinder, frame: upper_rod, radius: 0.05}, {frame: tip}, "
    path += "{pulley: 2}, {frame: tip}, {frame: world}]"
    found = run(
        "model: double_pendulum\nduration: 0.01\n"
        f"forces: [{{kind: tendon_force, name: t, path: {path}, stiffness: 3, rest_length: 0.1}}]"
    )
    tendons = kt.tendons
    parts = (
        tendons.ViaPoint("world", (0.3, 0.0, -0.2)), tendons.WrapShape("cylinder", "upper_rod", 0.05),
        tendons.ViaPoint("tip"), tendons.Pulley(2.0), tendons.ViaPoint("tip"), tendons.ViaPoint("world"),
    )  # fmt: skip
    (element,) = [force for force in found.model.forces if force.name == "t"]
    assert element.path == parts


def test_pages_and_films_are_written(run, tmp_path):
    """The page needs no extra; the film, of stick figures or shapes, needs the one of videos."""
    run("model: double_pendulum\nduration: 0.1\nrecord: {period: 0.05}\noutputs: {html: run.html, video: run.gif}")
    page = (tmp_path / "run.html").read_text()
    assert page.startswith("<!doctype html>") and len(page) > 10**5
    assert (tmp_path / "run.gif").read_bytes()[:4] == b"GIF8"


WRONG = """
duration: -1                                              | 2: duration is -1, expected a number above 0
controler: {}                                             | 3: controler is no entry here. Did you mean 'controller'?
controller: {kp: 1}                                       | controller.kind is missing. Known: gravity_compensation
controller: {kind: pid}                                   | controller.kind is 'pid'. Known: gravity_compensation
controller: {kind: computed_torque, kp: x, kd: 1}         | controller.kp is 'x', expected a number or a list of numbers
controller: {kind: computed_torque, kp: 1}                | controller.kd is missing. Write 'kd: ...'
controller: {kind: computed_torque, kp: -1, kd: 1}        | controller: kp has the eigenvalue -1, expected a positive
controller: {kind: lqr, Q: 1}                             | controller.R is missing
controller: {kind: lqr, Q: 1, R: 1, actuated: [slider], target: {hinge: 1}} | controller: lqr:
controller: {FOLLOW, reference: {hing: {kind: polynomial, coefficients: [1]}}} | controller.reference.hing: no
controller: {FOLLOW, reference: {hinge: {kind: sine}}} | controller.reference.hinge.kind is 'sine'. Known
controller: {FOLLOW, reference: {hinge: {kind: time_spline, times: [0, 0], values: [1, 2]}}} | time spline: the times
controller: {FOLLOW, reference: none.npz} | controller.reference:
controller: {FOLLOW, target: {hinge: 0}, reference: {}} | controller.target and controller.reference
forces: [{TENDON, path: [{wrap: sphere}]}] | forces[0]: path has the entry {'wrap': 'sphere'}, expected
forces: [{TENDON, path: [{wrap: cone}]}] | forces[0].path[0].wrap is 'cone'. Known: sphere, cylinder
initial: {positions: {hing: 1}}                           | initial.positions.hing: no joint named 'hing'
initial: {positions: {hinge: [1, 2]}}                     | initial.positions.hinge: has 2 numbers, expected 1
initial: {positions: [1, 2, 3]}                           | initial.positions has 3 numbers, expected 2. In this order
initial: {positions: {slider: 9}}                         | initial.positions leaves the limits | model.limits: ignore
initial: {keyframe: home}                                 | initial.keyframe: no keyframe named 'home'
initial: {seed: 1, positions: {}}                         | initial.positions and initial.seed both give a start
initial: {seed: 1.5}                                      | initial.seed is 1.5, expected a whole number of at least 0
forces: [{kind: point_spring, name: a}]                   | forces[0].start is missing
forces: [{kind: sprng}]                                   | forces[0].kind is 'sprng'. Did you mean 'spring'?
forces: [{kind: drag, name: a, frame: nobody}]            | forces[0]: Drag 'a': no frame named 'nobody'
forces: {kind: drag}                                      | forces is {'kind': 'drag'}, expected a list of mappings
constraints: [{kind: lock, joint: hing}]                  | constraints[0]: no joint named 'hing'
loops: [{name: a, type: revolut, predecessor: world, successor: pole}] | loops[0].type is 'revolut'. Did you mean
integrator: newmark                                       | integrator is 'newmark'. Known: auto
integrator: {kind: adaptive, method: rk}                  | integrator.method is 'rk'. Known: bs32
ground: {friction: -1}                                    | ground.friction is -1, expected a number of at least 0
ground: {normal: [0, 1]}                                  | ground.normal has 2 entries, expected 3
record: {period: 0.0015}                                  | record.period = 0.0015 s is not a multiple of dt
controls: {motor: 1}                                      | controls is given, but no force element
joint_forces: {slider: .nan}                              | joint_forces.slider is nan, expected a number
self_collision: 1                                         | self_collision is 1, expected true or false
outputs: {plot: a.npz}                                    | outputs.plot is 'a.npz'. Known suffixes: .png, .svg, .pdf
model: cart_pol                                           | model: no robot named 'cart_pol' | Did you mean 'cart_pole'?
model: {file: cart_pole, inertia: maybe}                  | model.inertia is 'maybe'. Known: raise, project
model: [1                                                 | not YAML
dt: 0                                                     | dt is 0, expected a number above 0
"""
WORDS = {"FOLLOW": "kind: computed_torque, kp: 1, kd: 1", "TENDON": "kind: tendon_force, name: t"}
for word, text in WORDS.items():
    WRONG = WRONG.replace(word, text)
CASES = [tuple(part.strip() for part in line.split("|")) for line in WRONG.strip().splitlines()]


def complete(line: str) -> str:
    """A file with one wrong entry."""
    given = {"model": "model: cart_pole", "duration": "duration: 0.01"}
    return "\n".join([line if line.startswith(f"{key}:") else text for key, text in given.items()] + (
        [] if line.split(":")[0] in given else [line]
    ))  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_errors_have_the_place_of_the_value(case, tmp_path):
    """One line on the command line; file, line and path of the value; exit code 2."""
    path = tmp_path / "file.yaml"
    path.write_text(complete(case[0]))
    done = CliRunner().invoke(app, ["simulate", str(path)])
    assert done.exit_code == 2 and done.stderr.startswith(f"error: {path}:") and done.stderr.count("\n") == 1
    for part in case[1:]:
        assert part in done.stderr
    assert "kt." not in done.stderr and "--" not in done.stderr


def test_another_implementation_of_the_schema_agrees(tmp_path):
    """fastjsonschema refuses the wrong files above that break the schema, and takes the examples of the page."""
    validate = pytest.importorskip("fastjsonschema").compile(schema())
    right = [SimulationFile.read(_written(tmp_path, text)).content for text in blocks(PAGE.read_text(), "yaml")]
    assert len(right) == 6 and all(validate(content) for content in right)
    import fastjsonschema
    import yaml

    refused = 0
    for line, *_ in CASES:
        try:
            ours = SimulationFile.read(_written(tmp_path, complete(line))) and True
        except FileFormatError:
            ours = False
        if line == "model: [1":
            continue
        if line.startswith("outputs") or ".nan" in line:  # suffixes and NaN are beyond the schema
            continue
        try:
            theirs = validate(yaml.safe_load(complete(line))) is not None
        except fastjsonschema.JsonSchemaException:
            theirs, refused = False, refused + 1
        assert ours == theirs, line
    assert refused > 15


def _written(folder, text: str):
    path = folder / "one.yaml"
    path.write_text(text)
    return path


def test_all_kinds_of_plain_data_are_in_the_schema():
    """Those left out have fields that are functions, shapes, joints or pairs."""
    entries = schema()["properties"]
    left_out = {}
    for key, registry in (("forces", FORCES), ("constraints", CONSTRAINTS)):
        known = {form["properties"]["kind"]["const"] for form in entries[key]["items"]["oneOf"]}
        ours = {kind for kind, cls in registry.items() if cls.__module__.startswith("kinetree.")}
        left_out[key] = ours - known
    assert left_out == {
        "forces": {"soft_contact"},
        "constraints": {"explicit_constraint", "prescribed_motion", "loop_joint", "point_on_curve", "point_on_surface"},
    }


def test_the_schema_is_shipped():
    """As package data, equal to that of the command."""
    shipped = json.loads((files("kinetree") / "simulation_files" / "schema.json").read_text())
    printed = json.loads(CliRunner().invoke(app, ["schema"]).stdout)
    assert shipped == printed == json.loads(json.dumps(schema()))


@pytest.mark.parametrize("k", range(6))
def test_examples_of_the_page_run(k, tmp_path):
    """From the command line, with their outputs."""
    path = tmp_path / "example.yaml"
    path.write_text(blocks(PAGE.read_text(), "yaml")[k])
    done = CliRunner().invoke(app, ["simulate", str(path), "--json"])
    assert done.exit_code == 0, done.output
    for name in json.loads(done.stdout)["result"]["written"]:
        assert (tmp_path / name).stat().st_size


def test_options_that_are_entries_are_refused(tmp_path):
    """With the place to write them; those of output work."""
    path = tmp_path / "file.yaml"
    path.write_text("model: cart_pole\nduration: 0.01")
    for option in (["--dt", "0.1"], ["--floating-base"], ["--ground"], ["--q0", "1 2"]):
        done = CliRunner().invoke(app, ["simulate", str(path), *option])
        assert done.exit_code == 2 and f"error: {option[0]} is not taken beside a simulation file" in done.stderr
    done = CliRunner().invoke(app, ["simulate", str(path), "--save", str(tmp_path / "x.npz"), "--quiet"])
    assert done.exit_code == 0 and done.output == "" and (tmp_path / "x.npz").exists()
