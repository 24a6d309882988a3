"""Side files of URDF files: loops and constraints as TOML and YAML, read, written, found, refused with repair."""

import dataclasses
import json
import sys
import tomllib

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.constraint_rows import constraint_error, constraint_jacobian
from kinetree.errors import FileFormatError, URDFError
from kinetree.io.urdf.loop_file import MOST_BYTES, TYPES, LoopFile, loops_text
from kinetree.io.urdf.loop_syntax import MOST_VALUES

ROBOT = """<robot name="bar"><link name="base"/>{links}</robot>"""
LINK = """<link name="{name}"><inertial><origin xyz=".5 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="to_{name}" type="continuous"><parent link="{parent}"/><child link="{name}"/><origin xyz="{at} 0 0"/>
<axis xyz="0 1 0"/></joint>"""
TIP = """<link name="tip"/><joint name="tip" type="fixed"><parent link="rocker"/><child link="tip"/>
<origin xyz="1 0 0"/></joint>"""
URDF = ROBOT.format(
    links="".join(
        LINK.format(name=name, parent=parent, at=at)
        for name, parent, at in (("crank", "base", 0), ("coupler", "crank", 1), ("rocker", "coupler", 1))
    )
    + TIP
)
LOOPS = """# a parallelogram
[[loop]]
name = "closure"
type = "revolute"
predecessor = "world"
successor = "tip"
axis = [0, 1, 0]
at_predecessor = { xyz = [1, 0, 0] }
stiffness = 3.0
"""


@pytest.fixture
def files(tmp_path):
    """The robot, and its loops beside it."""
    (tmp_path / "bar.urdf").write_text(URDF)
    (tmp_path / "bar.loops.toml").write_text(LOOPS)
    return tmp_path


def test_loops_beside_the_file_are_read(files):
    """By default, by name, or not at all; the robot is the parallelogram of the closed form."""
    path = files / "bar.urdf"
    bar, bare = kt.load(path), kt.load(path, loops=False)
    assert bar.nc == 5 and bar.unsupported == () and bare.nc == 0
    assert "1 constraint of bar.loops.toml" in str(bar.report)
    assert kt.load(path, loops=files / "bar.loops.toml").structure() == bar.structure()
    assert kt.load(URDF).nc == 0 and kt.load(URDF, loops=str(files / "bar.loops.toml")).nc == 5
    angle = 0.7
    q = np.array([angle, -angle, angle - np.pi])
    with kt.interpreted():
        a = kt.forward_dynamics(bar.replace(stiffness=0.0, forces=()), q, np.zeros(3), np.zeros(3))
    inertia = 2 * (0.1 + 0.25) + 1.0
    assert a == pytest.approx(2 * 9.81 * np.cos(angle) / inertia * np.array([1, -1, 1]), rel=1e-9)
    with pytest.raises(FileNotFoundError):
        kt.load(URDF, loops=str(files / "none.toml"))
    with pytest.raises(kt.errors.ArgumentError):
        kt.load(URDF, loops=3.0)


def test_every_kind_of_table(files):
    """Rods, couplings and polynomials beside loops of every type."""
    kinds = {"axis": "axis = [0, 0.6, 0.8]", "pitch": "pitch = 0.2"}
    text = ""
    for type_ in TYPES:
        given = [line for what, line in kinds.items() if what in getattr(TYPES[type_], "__dataclass_fields__", {})]
        text += f'[[loop]]\nname = "{type_}"\ntype = "{type_}"\npredecessor = "base"\nsuccessor = "tip"\n'
        text += "\n".join(given) + "\nactive = false\nat_successor = [0.1, 0.2, 0.3]\n"
    text += '[[distance]]\npredecessor = "crank"\nsuccessor = "tip"\nlength = 0.9\nat_successor = [0, 0, 0.1]\n'
    text += '[[coupling]]\nname = "belt"\njoints = ["to_crank", "to_coupler", "to_rocker"]\nratios = [1, 1, -2]\n'
    text += '[[polynomial]]\njoint = "to_rocker"\nmaster = "to_crank"\ncoefficients = [0, 1, 0.5]\n'
    (files / "bar.loops.toml").write_text(text)
    model = kt.load(files / "bar.urdf")
    assert [loop.joint.kind for loop in model.loops] == list(TYPES) and model.loops[5].joint.pitch == 0.2
    assert [c.kind for c in model.constraints] == ["distance", "linear_coupling", "polynomial_coupling"]


def closed_models():
    """The mechanisms of the library that URDF's joints can have, as they are written."""
    for name in ("four_bar", "slider_crank"):
        model = getattr(kt.models, name)()
        yield model.replace(gravity=kt.models.pendulum().gravity)
    bar = kt.load(URDF).with_constraints(
        kt.constraints.LoopJoint(
            'a "quoted"\\name', kt.joints.Helical((0.6, 0.0, 0.8), -0.03), "coupler", "world",
            kt.spatial.Transform.shift(kt.spatial.Vector3(0.1, 1e-17, 1 / 3)),
            kt.spatial.Transform.of(kt.spatial.rotations.rx(0.3), kt.spatial.Vector3(0.0, 0.0, 2.0)),
            damping=0.1, lower=-1.0, limit_stiffness=5.0, limit_damping=0.25,
        ),
        kt.constraints.Distance("crank", "tip", 1.25, (0.1, 0.2, 0.3)),
        kt.constraints.LinearCoupling(("to_crank", "to_coupler", "to_rocker"), (1.0, 1.5, -2.0), 0.1, "belt"),
        kt.constraints.PolynomialCoupling("to_rocker", "to_crank", (0.0, 1.0, 0.5), 0.1, 0.2),
    )  # fmt: skip
    yield bar


def test_saved_robots_keep_their_loops(tmp_path):
    """Written, read and written: the same constraints, numbers and text."""
    for k, model in enumerate(closed_models()):
        path = tmp_path / f"robot {k}.urdf"
        report = kt.save(model, path, unsupported="drop")
        again = kt.load(path)
        assert f"robot {k}.loops.toml" in str(report) and again.nc == model.nc > 0
        q = model.random_q(np.random.default_rng(k)).tolist()
        for rows in (constraint_error, constraint_jacobian):
            found, expected = (np.array(rows(m, q), float) for m in (again, model))
            np.testing.assert_allclose(found, expected, atol=1e-13)
        text = (tmp_path / f"robot {k}.loops.toml").read_text()
        assert loops_text([c for c in again.constraints if c.kind != "coupling"])[0] == text
        assert [(f.name, f.numbers()) for f in again.loop_forces] == [(f.name, f.numbers()) for f in model.loop_forces]


def test_losses_of_saving_are_named(files):
    """What no table holds is refused or reported; a file that was there loses its loops with the robot."""
    model, path = kt.load(files / "bar.urdf"), files / "bar.urdf"
    odd = model.with_constraints(kt.constraints.Lock("to_crank"))
    with pytest.raises(kt.errors.UnsupportedError, match="constraints .*lock of 'to_crank'"):
        kt.save(odd, path)
    kt.save(odd, path, unsupported="drop")
    assert kt.load(path).nc == 5
    report = kt.save(model.replace(constraints=()), path)
    assert kt.load(path).nc == 0 and "has no constraints now" in str(report)
    with pytest.raises(kt.errors.UnsupportedError, match="loop joints .'closure'."):
        kt.io.to_urdf(model)


WRONG = [
    ("closure = 1", 1, "'closure' is not one of the tables", "[[loop]]"),
    ("[loop]\nname = 'a'", 1, "'loop' is not one of the tables", ""),
    ("[[loops]]\nname = 'a'", 1, "'loops' is not one of the tables", "[[loop]]?"),
    ("[[loop]]\nname = 'a", 2, "not TOML", "toml.io"),
    (LOOPS.replace("type", "typ"), 4, "'typ' is no entry of it", "did you mean 'type'?"),
    (LOOPS.replace('type = "revolute"\n', ""), 2, "'type' is missing", "write type"),
    (LOOPS.replace("revolute", "revolut"), 4, "type is 'revolut'", "did you mean 'revolute'?"),
    (LOOPS.replace("revolute", "spherical"), 7, "a spherical joint has no axis", "remove it"),
    (LOOPS.replace('"tip"', '"tipp"'), 2, "the robot has no link 'tipp'", "did you mean 'tip'?"),
    (LOOPS.replace("[0, 1, 0]", "[0, 1]"), 7, "axis is [0, 1], expected [x, y, z]", ""),
    (LOOPS.replace("[0, 1, 0]", "[0, 0, 0]"), 2, "axis", ""),
    (LOOPS.replace("3.0", "nan"), 9, "stiffness is nan, expected a number", "finite"),
    (LOOPS.replace("3.0", "1" + "0" * 400), 9, "stiffness is 1", "finite"),
    (LOOPS.replace("3.0", "-3.0"), 2, "stiffness is -3.0, expected a finite number, not negative", ""),
    (LOOPS.replace("{ xyz = [1, 0, 0] }", "{ xzy = [1, 0, 0] }"), 8, "expected { xyz", ""),
    (LOOPS.replace('"world"', '"crank"').replace('"tip"', '"crank"'), 2, "both on body 'crank', open by 1 m", ""),
    (LOOPS + LOOPS, 11, "two constraints are named 'closure'", "rename"),
    (LOOPS + '[[coupling]]\njoints = ["to_crank", "rocker"]\nratios = [1, 2]', 10, "no joint 'rocker'", "to_rocker"),
    (LOOPS + '[[coupling]]\njoints = ["to_crank", "to_rocker"]\nratios = [1]', 10, "2 numbers that are not zero", ""),
    (LOOPS + '[[distance]]\npredecessor = "crank"\nsuccessor = "tip"\nlength = 0', 10, "positive", ""),
    ("a = " + "[" * 5000 + "]" * 5000, None, "nested too deep", ""),
    ("#" * (MOST_BYTES + 1), None, "expected at most", "Is this a loop file?"),
    ("\x00", 1, "not TOML", ""),
]


@pytest.mark.parametrize(("text", "line", "message", "repair"), WRONG, ids=[message for *_, message, _ in WRONG])
def test_errors_have_file_line_and_repair(files, text, line, message, repair, syntax="toml"):
    """Also of hostile files: nested, long, binary."""
    path = files / f"bar.loops.{syntax}"
    path.write_text(text)
    with pytest.raises(FileFormatError) as error:
        kt.load(files / "bar.urdf")
    shown = str(error.value)
    assert not isinstance(error.value, URDFError) and error.value.file == str(path)
    assert message in shown and repair.lower() in shown.lower() and error.value.line == line, shown
    assert shown.startswith(f"{path}:{line}: " if line else f"{path}: ")
    (finding,) = kt.lint(files / "bar.urdf").errors
    assert finding.code == "loop-file" and finding.file == str(path) and finding.line == line


YAML = """# a parallelogram
loop:
  - name: closure
    type: revolute
    predecessor: world
    successor: tip
    axis: [0, 1, 0]
    at_predecessor: {xyz: [1, 0, 0]}
    stiffness: 3.0
"""


def test_yaml_has_the_same_tables(files):
    """The same constraints as of TOML, whatever the style, by the file beside the robot or by name."""
    pytest.importorskip("yaml")
    path, expected = files / "bar.urdf", kt.load(files / "bar.urdf")
    (files / "bar.loops.toml").unlink()
    block = YAML.replace("[0, 1, 0]", "\n      - 0\n      - 1e0\n      - 0.")
    for text in (YAML, block, json.dumps(tomllib.loads(LOOPS)), f"---\n{YAML}...\n", YAML.replace("world", "'world'")):
        for name in ("bar.loops.yaml", "bar.loops.yml"):
            (files / name).write_text(text)
            assert repr(kt.load(path).loops) == repr(expected.loops), text
            with pytest.raises(FileFormatError, match="it has two files of loops, bar.loops.toml and bar.loops.y"):
                (files / "bar.loops.toml").write_text(LOOPS)
                kt.load(path)
            (files / "bar.loops.toml").unlink()
            assert repr(kt.load(path, loops=files / name).loops) == repr(expected.loops)
            (files / name).unlink()
    (files / "bar.loops.yaml").write_text("# nothing\n")
    assert kt.load(path).nc == 0


def test_saved_yaml_is_read_again(tmp_path):
    """The form follows the suffix, the file that is there, or TOML; odd characters of names are kept."""
    pytest.importorskip("yaml")
    for k, model in enumerate(closed_models()):
        path, side = tmp_path / f"robot {k}.urdf", tmp_path / f"robot {k}.loops.yaml"
        kt.save(model, path, unsupported="drop", loops=side)
        text, again = side.read_text(encoding="utf-8"), kt.load(path)
        kt.save(again, path, unsupported="drop")
        assert side.read_text(encoding="utf-8") == text and "\nloop:\n  - name: " in text
        assert again.nc == model.nc and [loop.name for loop in again.loops] == [loop.name for loop in model.loops]
        with pytest.raises(FileFormatError, match="two files of loops"):
            kt.save(model, path, unsupported="drop", loops=tmp_path / "other.toml")
    odd = [kt.constraints.Distance("a", 'b\u2028\x85\x7f\ufeff\U0001f980\\"\t: #', 1e-7, name="- [yes")]
    odd_file = tmp_path / "odd.yaml"
    odd_file.write_text(loops_text(odd, ".yaml")[0], encoding="utf-8")
    assert [c for c, _ in LoopFile.read(odd_file).constraints] == odd
    with pytest.raises(kt.errors.UnsupportedError, match="is for URDF files"):
        kt.save(kt.models.four_bar(), tmp_path / "robot.xml", loops="robot.loops.yaml")


LOVE = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
WRONG_YAML = [
    ("closure: 1", 1, "'closure' is not one of the tables", "[[loop]]"),
    ("- loop", 1, "expected a mapping from kinds", "begin with 'loop:'"),
    ("loop: {name: a}", 1, "'loop' is not one of the tables", ""),
    ("loop:\n  - name: 'a", 2, "not YAML: ", "yaml.org"),
    (YAML.replace("type", "typ"), 4, "'typ' is no entry of it", "did you mean 'type'?"),
    (YAML.replace("revolute", "spherical"), 7, "a spherical joint has no axis", "remove it"),
    (YAML.replace("tip", "tipp"), 3, "the robot has no link 'tipp'", "did you mean 'tip'?"),
    (YAML.replace("[0, 1, 0]", "[0, 1]"), 7, "axis is [0, 1], expected [x, y, z]", ""),
    (YAML.replace("3.0", ".nan"), 9, "stiffness is nan, expected a number", "finite"),
    (YAML.replace("3.0", "1:30"), 9, "stiffness is '1:30', expected a number", ""),
    (YAML.replace("3.0", "1" + "0" * 5000), None, "too long", ""),
    (YAML.replace("world", "true"), 5, "predecessor is True, expected a name", ""),
    (YAML + "    stiffness: 2.0", 10, "'stiffness' is there twice", "leave one"),
    (YAML.replace("type", "name"), 4, "'name' is there twice", "leave one"),
    (YAML + YAML[YAML.index("loop:") :], 10, "'loop' is there twice", ""),
    (YAML + "---\nloop: []", 10, "a second document", "leave one"),
    (LOVE, 1, "anchors and aliases", "write the value itself"),
    ("loop: *x", 1, "anchors and aliases", ""),
    ("loop:\n  - {<<: {name: a}}", 2, "'<<' is no entry of it", ""),
    ("loop: !!python/object/apply:os.system ['true']", 1, "tags (tag:yaml.org,2002:python", "without it"),
    ("loop:\n  - {[a]: 1}", 2, "a key is no plain word", ""),
    ("a: " + "[" * 5000 + "]" * 5000, 1, "nested too deep", ""),
    ("- " * 5000, 1, "nested too deep", ""),
    ("#" * (MOST_BYTES + 1), None, "expected at most", "Is this a loop file?"),
    ("a: [" + "1," * MOST_VALUES + "]", 1, "more than 50000 values", "Is this a loop file?"),
    ("\x00", None, "not YAML", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message", "repair"), WRONG_YAML, ids=[x[2] for x in WRONG_YAML])
def test_errors_of_yaml_have_line_and_repair(files, text, line, message, repair):
    """As for TOML; also of hostile files: references that multiply, tags, merges, nesting."""
    pytest.importorskip("yaml")
    (files / "bar.loops.toml").unlink()
    test_errors_have_file_line_and_repair(files, text, line, message, repair, "yaml")


def test_the_missing_package_is_named(files, monkeypatch):
    """pip install pyyaml, or TOML; lint has a finding."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    (files / "bar.loops.toml").rename(files / "bar.loops.yaml")
    with pytest.raises(kt.errors.MissingDependencyError, match="pip install pyyaml.*TOML"):
        kt.load(files / "bar.urdf")
    (finding,) = kt.lint(files / "bar.urdf").errors
    assert finding.code == "missing-dependency"


def test_bytes_that_are_no_text(files):
    """Not UTF-8, and a folder in the place of the file."""
    path = files / "bar.loops.toml"
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(FileFormatError, match="byte 8 is not UTF-8"):
        kt.load(files / "bar.urdf")
    path.unlink()
    path.mkdir()
    with pytest.raises(FileFormatError, match="a folder"):
        kt.load(files / "bar.urdf")


def test_lint_reports_open_loops_with_their_gap(files):
    """At the neutral position of a URDF file, and in the position in which other files show the robot."""
    (finding,) = kt.lint(files / "bar.urdf").of("open-loop")
    assert finding.file.endswith("bar.loops.toml")
    assert "is open by 2 m at the neutral position" in finding.message
    (files / "bar.loops.toml").write_text(LOOPS.replace("xyz = [1, 0, 0]", "xyz = [3, 0, 0]"))
    assert kt.lint(files / "bar.urdf").of("open-loop") == ()


def test_a_body_with_two_parents_points_to_the_file():
    """The error of a URDF file that closes a loop by itself names the remedy."""
    second = '<joint name="second" type="fixed"><parent link="base"/><child link="rocker"/></joint>'
    with pytest.raises(URDFError, match=r"robot\.loops\.toml"):
        kt.load(URDF.replace("</robot>", second + "</robot>"))


def test_merged_and_floating_robots(files):
    """Links behind fixed joints are frames that loops may name; a floating base moves against the world."""
    floating = kt.load(files / "bar.urdf", floating_base=True)
    assert floating.nc == 5 and floating.body_names[floating.frame("tip").body] == "rocker"
    whole = kt.load(files / "bar.urdf", merge_fixed=False)
    assert whole.nc == 5 and "tip" in whole.body_names
    loops = dataclasses.replace(floating.loops[0], predecessor="base")
    with kt.interpreted():
        held = floating.replace(constraints=(loops,))
        assert held.independent_rows() and np.isfinite(constraint_error(held, held.neutral().tolist())).all()


def test_loops_between_welded_links(files):
    """Closed ones are left out with a note, open ones are errors with their gap, wherever the bodies are merged."""
    path = files / "bar.loops.toml"
    path.write_text(LOOPS.replace('"world"', '"rocker"').replace("revolute", "fixed").replace("axis = [0, 1, 0]\n", "")
                    .replace("stiffness = 3.0\n", ""))  # fmt: skip
    model = kt.load(files / "bar.urdf")
    assert model.nc == 0 and "is between parts of one body, which fixed joints connect: left out" in str(model.report)
    path.write_text(path.read_text().replace("[1, 0, 0]", "[1.5, 0, 0]"))
    with pytest.raises(FileFormatError, match=r"bar.loops.toml:2: .*and it is open by 0.5 m"):
        kt.load(files / "bar.urdf")


ALL_TABLES = LOOPS + (
    '[[distance]]\npredecessor = "crank"\nsuccessor = "tip"\nlength = 0.9\nat_successor = [0, 0, 0.1]\n'
    '[[coupling]]\nname = "belt"\njoints = ["to_crank", "to_coupler", "to_rocker"]\nratios = [1, 1, -2]\n'
    '[[polynomial]]\njoint = "to_rocker"\nmaster = "to_crank"\ncoefficients = [0, 1, 0.5]\n'
)


@pytest.mark.parametrize("suffix", [".toml", ".yaml"])
def test_damaged_files_end_in_named_errors(tmp_path, suffix):
    """Random damage of a file with all tables: it is read, or refused with its place, and nothing else."""
    rng, path, read, text = np.random.default_rng(0), tmp_path / f"x.loops{suffix}", 0, ALL_TABLES
    if suffix == ".yaml":
        pytest.importorskip("yaml")
        path.with_suffix(".toml").write_text(text)
        text = loops_text([c for c, _ in LoopFile.read(path.with_suffix(".toml")).constraints], suffix)[0]
    pieces = [*"[]{}=.,#-09\n\"':&*!?|>%@`\t ", "nan", "inf", "1e999", "true", "\\u0000", "\\U00110000", "é"]
    for _ in range(400):
        damaged = list(text)
        for _ in range(rng.integers(1, 3)):
            at = int(rng.integers(len(damaged)))
            damaged[at : at + int(rng.integers(0, 4))] = [str(rng.choice(pieces))] if rng.random() < 0.5 else []
        path.write_text("".join(damaged))
        try:
            LoopFile.read(path).check(["world", "tip", "crank"], ["to_crank", "to_coupler", "to_rocker"])
            read += 1
        except FileFormatError as error:
            assert str(error).startswith(str(path)) and error.code == "loop-file"
    assert 20 < read < 350, read


def test_data_of_several_freedoms_are_lists(tmp_path):
    """One number for each freedom, written and read again; one number is one for all."""
    data = {"damping": (0.1, 0.2), "stiffness": 3.0, "lower": (-0.5, -np.inf), "upper": (0.5, 1.0)}
    loop = kt.constraints.LoopJoint("gimbal", kt.joints.Universal(), "world", "lower", **data)
    model = kt.models.double_pendulum().with_constraints(loop)
    kt.save(model, tmp_path / "robot.urdf")
    (again,) = kt.load(tmp_path / "robot.urdf").loops
    for what in (*data, "limit_stiffness"):
        assert again.along(what) == loop.along(what)
