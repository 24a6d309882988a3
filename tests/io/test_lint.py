"""Lint finds every fault at once, blames nothing for another's fault, and is silent about sound robots."""

import json
import math
import pathlib
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.errors import KinetreeError
from kinetree.io.lint.checks import rounded_multiple
from kinetree.io.lint.codes import CODES, LEVELS
from tests.io.test_corpus import corpus
from tests.io.test_urdf_errors import LIMIT, MALFORMED, joint, robot
from tests.io.test_urdf_errors import LINK as ONES
from tests.static.source_tree import PACKAGE, ROOT

LINK = re.sub(r'(i[xyz]{2})="1"', r'\1="0.1"', ONES)  # moments of 1 would be called placeholders
A, B, C = map(LINK.format, "abc")


def codes(text, level="error"):
    return [(each.line, each.code) for each in kt.lint(text).at_level(level)]


def test_the_page_explains_all_codes():
    """The table of docs/lint.md has a row for every code, once, with its level and a meaning; and no other row."""
    page = (ROOT / "docs" / "lint.md").read_text()
    table = page.partition("<!-- codes:begin -->\n")[2].partition("<!-- codes:end -->")[0]
    head, line, *rows = table.splitlines()
    assert (head, line) == ("| code | level | meaning |", "| --- | --- | --- |")
    found = [re.fullmatch(r"\| `([a-z-]+)` \| (\w+) \| (\S.+) \|", row).groups() for row in rows]
    assert len(found) == len(CODES) and {code: level for code, level, _ in found} == CODES


def test_every_code_is_used_and_every_used_code_is_known():
    """The readers and lint use the codes of the table, and all of them."""
    folders = {"urdf", "sdf", "mjcf", "lint", "xml"}
    files = [*PACKAGE.glob("io/*/*.py"), PACKAGE / "io" / "inertia_rules.py", PACKAGE / "io" / "isolated.py"]
    assert folders <= {path.parent.name for path in files}
    text = "".join(path.read_text() for path in files if path.name != "codes.py")
    used = set(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', text))
    assert not set(CODES) - used
    assert set(re.findall(r'code="([a-z-]+)"', text)) <= set(CODES)
    assert set(CODES.values()) == set(LEVELS)


@pytest.mark.parametrize("case", MALFORMED)
def test_one_fault_is_one_error(case):
    """Lint finds what strict loading finds, at the same line, and nothing that follows from it."""
    text, _ = MALFORMED[case]
    if case == "wrong root":  # an empty MJCF file, for lint
        text = "<robots/>"
    with pytest.raises(KinetreeError) as strict:
        kt.io.load_urdf(text)
    result = kt.lint(text)
    # These lack several things.
    several = {"ixy missing": 5, "two inertials": 3, "type missing": 3, "parent missing": 2, "mass missing": 2}
    assert len(result.errors) == several.get(case, 1)
    assert (strict.value.line, strict.value.code) in codes(text)
    assert all(each.message and each.code in CODES for each in result)


BROKEN = robot(
    A,
    LINK.format("b").replace('mass value="1"', 'mass value="-1"'),
    LINK.format("c").replace('ixx="0.1"', 'ixx="nan"').replace('iyy="0.1"', 'iyy="1,5"'),
    '<link name="d"/>',
    LINK.format("e").replace('izz="0.1"', 'izz="9"'),
    A,
    '<link name="f"><visual><geometry/></visual>',
    '<collision><geometry><sphere radius="-1"/></geometry></collision></link>',
    joint("ab", inside='<axis xyz="0 0 0"/>\n<limit lower="1" upper="-1" efort="1" velocity="x"/>'),
    joint("bc", type_="gearbox", parent="b", child="c", inside='\n<dynamics damping="-1"/>'),
    joint("cd", parent="c", child="d", inside=LIMIT + '\n<mimic joint="nobody"/>'),
    joint("ce", parent="c", child="e", inside=LIMIT + '\n<mimic joint="ce2"/>'),
    joint("ce2", parent="b", child="e", inside=LIMIT),
    joint("ab", "fixed", parent="e", child="f"),
    '<gazebo><joint name="loop"/></gazebo>',
)


def test_a_file_with_many_faults_gets_them_all():
    """Eighteen faults of one file in one pass, each on its line."""
    assert codes(BROKEN) == [
        (3, "negative-mass"),
        (4, "bad-number"),
        (4, "bad-number"),
        (6, "impossible-inertia"),
        (7, "duplicate-name"),
        (8, "bad-geometry"),
        (9, "bad-geometry"),
        (10, "zero-axis"),
        (11, "bad-number"),
        (11, "limit-order"),
        (11, "misspelled"),
        (12, "unknown-joint-type"),
        (13, "negative-dissipation"),
        (14, "massless-leaf"),
        (15, "mimic-unknown"),
        (18, "two-parents"),
        (19, "duplicate-name"),
        (20, "unsupported"),
    ]


def test_faults_in_two_places_are_both_found():
    """Pairs of faults: those of a link and those of a joint do not hide one another."""
    links = {
        "negative-mass": LINK.format("b").replace('"1"/><inertia', '"-1"/><inertia'),
        "impossible-inertia": LINK.format("b").replace('iyy="0.1"', 'iyy="3"'),
        "bad-number": LINK.format("b").replace('iyy="0.1"', 'iyy="0x1"'),
        "bad-geometry": LINK.format("b").replace("</link>", "<visual><geometry/></visual></link>"),
    }
    joints = {
        "zero-axis": joint(inside=LIMIT + '<axis xyz="0 0 0"/>'),
        "limit-order": joint(inside='<limit lower="2" upper="1" effort="1" velocity="1"/>'),
        "unknown-joint-type": joint(type_="ball"),
        "mimic-unknown": joint(inside=LIMIT + '<mimic joint="x"/>'),
        "unknown-link": joint(parent="x"),
        "bad-name": joint(name="a&#10;b"),
    }
    for of_link, link in links.items():
        for of_joint, other in joints.items():
            assert codes(robot(A, link, other)) == [(3, of_link), (4, of_joint)]


def test_all_cycles_and_all_second_parents_are_found():
    """Two rings beside the tree, and two links with two parents."""
    names = "abcdefgh"
    text = robot(
        *map(LINK.format, names),
        joint("1", parent="b", child="c"), joint("2", parent="c", child="b"),
        joint("3", parent="d", child="e"), joint("4", parent="e", child="d"), joint("5", parent="e", child="f"),
        joint("6", parent="a", child="g"), joint("7", parent="a", child="h"), joint("8", parent="g", child="h"),
        joint("9", parent="h", child="f"),
    )  # fmt: skip
    assert sorted(code for _, code in codes(text)) == ["cycle", "cycle", "two-parents", "two-parents"]


def test_a_missing_link_is_not_blamed_on_the_others():
    """A link whose name cannot be read: neither its joints nor its children are called disconnected."""
    text = robot(A, LINK.format(""), C, joint(child="b"), joint("k", parent="b", child="c"))
    assert codes(text) == [(3, "empty-attribute")]


def one(inside="", link=B, **options):
    return robot(A, link, joint(inside=inside or LIMIT, **options))


BOX = '<collision><origin xyz="{}"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>'


def heavy(mass, moment, com="0 0 0", shape="0 0 0"):
    inertial = (
        f'<inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia ixx="{moment}" ixy="0" ixz="0" iyy="{moment}" '
        f'iyz="0" izz="{moment}"/></inertial>'
    )
    return f'<link name="b">{inertial}{BOX.format(shape)}'


def looks(link, shape, material=""):
    return link.replace("</link>", f"<visual><geometry>{shape}</geometry>{material}</visual></link>")


def limit(lower=-1, upper=1, effort=1, velocity=1):
    return f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/>'


SUSPICIOUS = {
    "placeholder-inertia": one(link=heavy(1, 1)),
    "large-inertia": one(link=heavy(0.01, 0.002)),
    "small-inertia": one(link=heavy(1, 1e-6)),
    "com-outside": one(link=heavy(1, 0.01, com="0 200 0")),
    "huge-mass": robot(heavy(20_000, 100)),
    "mass-ratio": robot(
        A,
        B,
        C.replace('"1"/><inertia', '"1e-5"/><inertia').replace("0.1", "1e-7"),
        joint(),
        joint("k", "revolute", "b", "c"),
    ),
    "missing-inertial": robot(A, '<link name="b">' + BOX.format("0 0 0"), C, joint(), joint("k", "fixed", "b", "c")),
    "zero-effort": one(limit(effort=0)),
    "zero-velocity": one(limit(velocity=0)),
    "equal-limits": one(limit(0.5, 0.5)),
    "wide-limit": one(limit(-90, 90)),
    "missing-limit": one('<limit effort="1" velocity="1"/>'),
    "far-offset": one('<origin xyz="150 0 0"/>' + LIMIT),
    "rounded-angle": one('<origin rpy="0 1.57 0"/>' + LIMIT),
    "similar-names": robot(A, LINK.format("A"), joint(child="A")),
    "mesh-missing": one(link=looks(B, '<mesh filename="x.stl"/>')),
    "mesh-scale": one(link=looks(B, '<mesh filename="x.stl" scale="1000 1000 1000"/>')),
}


@pytest.mark.parametrize("code", SUSPICIOUS)
def test_what_is_legal_and_probably_not_meant_is_a_warning(code):
    """Each check on the smallest robot that it is about; the file loads."""
    result = kt.lint(SUSPICIOUS[code])
    assert not result.errors
    expected = {"mesh-scale": {"mesh-scale", "mesh-missing"}}.get(code, {code})
    assert {each.code for each in result.warnings} - {"placeholder-inertia"} | {code} == expected
    assert result.of(code) and result.of(code)[0].line
    assert (result.exit_code, result.strict_exit_code) == (0, 1)
    kt.load(SUSPICIOUS[code])


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("truncated-angle", one('<origin rpy="0 1.5708 0"/>' + LIMIT)),
        ("unused-material", robot('<material name="m"/>', A)),
        ("color-range", robot(looks(A, '<sphere radius="1"/>', '<material><color rgba="255 0 0 1"/></material>'))),
        ("mimic-idle", robot(A, B, C, joint(), joint("k", "fixed", "a", "c", '<mimic joint="j"/>'))),
        ("ignored", robot(A, "<transmission/>")),
        ("missing-effort", one('<limit lower="0" upper="1"/>')),
        ("axis-length", one('<axis xyz="0 0 2"/>' + LIMIT)),
        ("idle-limit", one(LIMIT, type_="fixed")),
        ("idle-dynamics", one('<dynamics damping="1"/>', type_="fixed")),
        ("unnamed-robot", robot(A).replace(' name="r"', "")),
        ("xml-version", '<?xml version="0.0"?>\n' + robot(A)),
        ("empty-shape", robot(looks(A, '<sphere radius="0"/>'))),
    ],
)  # fmt: skip
def test_what_is_good_to_know_is_an_info(code, text):
    """No reason to fail, with or without --strict."""
    found = kt.lint(text).of(code)
    assert found and all(each.level == "info" for each in found)


def test_rounded_multiples_of_pi():
    """Rounded and cut off values are recognized; exact ones, zero, and other angles are not."""
    named = {1.57: "pi/2", 3.14: "pi", 3.1415: "pi", 0.7854: "pi/4", 4.7124: "3 pi/2", 2.0944: "2 pi/3", 6.283: "2 pi"}
    for angle, name in named.items():
        assert rounded_multiple(angle)[0] == name and rounded_multiple(-angle)[0] == f"-{name}"
    for angle in (0.0, math.pi, math.pi / 2, 1.57079632679, 1.5, 1.6, 0.52, 0.785, 1.55, 1.2345, 3.0, 1e-7):
        assert rounded_multiple(angle) is None


def test_angles_say_what_their_rounding_costs():
    """1.57 moves a point one meter away by 0.8 mm."""
    (found,) = kt.lint(SUSPICIOUS["rounded-angle"]).warnings
    assert "pi/2 but for 0.0008 rad, which moves a point 1 m away by 0.8 mm" in found.message
    assert found.repair == "write 1.5707963267948966"


def test_meshes_tell_the_size_of_a_link_on_request(tmp_path):
    """A tetrahedron of 10 cm with too much inertia; a file that is no mesh is said."""
    pytest.importorskip("trimesh")
    (tmp_path / "t.obj").write_text("v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    (tmp_path / "broken.stl").write_bytes(b"no mesh")
    path = tmp_path / "robot.urdf"
    path.write_text(one(link=looks(B, '<mesh filename="t.obj"/>')))
    assert not kt.lint(path).warnings
    assert [each.code for each in kt.lint(path, meshes=True).warnings] == ["large-inertia"]
    path.write_text(one(link=looks(B, '<mesh filename="broken.stl"/>')))
    result = kt.lint(path, meshes=True)
    assert result.of("mesh-unread") and not result.warnings


def test_fixed_links_count_as_one_mass():
    """A sensor of a milligram on a hand of a kilogram is no mass ratio; the hand's joint carries both."""
    light = LINK.format("s").replace('"1"/><inertia', '"1e-6"/><inertia')
    assert not kt.lint(robot(A, B, light, joint(), joint("k", "fixed", "b", "s"))).of("mass-ratio")


@pytest.mark.parametrize("name", kt.data.robots())
def test_shipped_robots_are_clean(name):
    """Not even an info."""
    assert len(kt.lint(name)) == 0


def test_public_robots():
    """Lint errs exactly where loading does, and warns on few of the sound ones: these files hold real oddities."""
    warned = set()
    for name, file in corpus().items():
        result = kt.lint(file)
        try:
            kt.load(file)
            assert not result.errors, name
            if result.warnings:
                warned.add(pathlib.Path(name).name)
        except KinetreeError as error:
            assert (error.line, error.code) in {(each.line, each.code) for each in result.errors}, name
    assert warned == {
        "TwoDofs.urdf", "alex_nub_hands.urdf", "alex_sake_hands.urdf", "baxter.urdf", "centauro.urdf",
        "double_pendulum.urdf", "double_pendulum_continuous.urdf", "double_pendulum_simple.urdf", "iris.urdf",
        "quadruped.urdf", "simple_humanoid.urdf", "simple_humanoid_classical.urdf", "tiago_pro.urdf",
    }  # fmt: skip


def test_mutilated_robots_fail_in_lint_exactly_where_they_fail_in_loading():
    """Values exchanged, elements removed or doubled: lint never raises, and agrees with loading on error and place."""
    rng = np.random.default_rng(0)
    words = ("nan", "-1", "0", "1e30", "", "inf", "1 2 3", "fixed", "floating", "world", "1e-40", "&#9;")
    for _ in range(150):
        text = kt.data.path(str(rng.choice(kt.data.robots()))).read_text()
        for _ in range(rng.integers(1, 4)):
            values, elements = list(re.finditer(r'"([^"]*)"', text)), list(re.finditer(r"<\w+[^<>]*/>", text))
            value, other = (values[k] for k in rng.integers(len(values), size=2))
            element = elements[rng.integers(len(elements))]
            new = (str(rng.choice(words)), other[1])[rng.integers(2)]
            text = (
                text[: value.start(1)] + new + text[value.end(1) :],
                text[: element.start()] + text[element.end() :],
                text[: element.end()] + element[0] + text[element.end() :],
            )[rng.integers(3)]
        result = kt.lint(text)
        try:
            kt.load(text)
            assert not result.errors, text
        except KinetreeError as error:
            assert (error.line, error.code) in {(each.line, each.code) for each in result.errors}, text


def test_results_are_data():
    """JSON holds every field; the text opens with file and line."""
    result = kt.lint(BROKEN)
    data = json.loads(result.to_json())
    assert data["errors"] == len(result.errors) == len([each for each in data["findings"] if each["level"] == "error"])
    assert set(data["findings"][0]) == {"code", "level", "file", "line", "element", "message", "repair"}
    assert all(re.match(r"<string>:\d+: (error|warning|info): .+ \[[a-z-]+\]$", str(each)) for each in result)
    assert str(result).endswith(result.summary) and len(list(result)) == len(result)


def test_files_that_cannot_be_read_are_findings(tmp_path):
    """Missing, empty, a folder, no XML: lint never raises about a file."""
    (tmp_path / "empty.urdf").touch()
    (tmp_path / "text.urdf").write_text("hello")
    expected = {"no.urdf": "unreadable", "empty.urdf": "empty-file", "text.urdf": "not-xml", "": "not-a-file"}
    for name, code in expected.items():
        (found,) = kt.lint(tmp_path / name)
        assert (found.level, found.code, found.file) == ("error", code, str(tmp_path / name))
    assert [each.code for each in kt.lint("")] == ["empty-file"]


SDF = """<sdf version="1.7"><model name="m">
<link name="a"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>{}</izz></inertia></inertial></link>
<link name="b"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>{}</izz></inertia></inertial></link>
<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>
<limit><lower>0</lower><upper>1</upper><effort>0</effort></limit></axis></joint></model></sdf>"""


def test_sdf_files_are_checked_through_their_model():
    """Both impossible inertias are errors, and the suspicious checks run on the repaired model."""
    sound, broken = kt.lint(SDF.format(1, 1)), kt.lint(SDF.format(5, 5))
    assert not sound.errors and sound.of("zero-effort")
    assert [each.code for each in broken.errors] == ["impossible-inertia"] * 2
    assert broken.of("zero-effort")


def test_mjcf_files_are_checked_through_their_model():
    """A body of 1 g with the inertia of a car."""
    text = """<mujoco><worldbody><body name="b"><joint type="hinge" range="-1 1" limited="true"/>
    <inertial pos="0 0 0" mass="0.001" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
    pytest.importorskip("kinetree.io.mjcf.read")
    assert [each.code for each in kt.lint(text).warnings] == ["placeholder-inertia"]
    assert kt.lint(text.replace("<joint", "<joitn")).exit_code == 2


def run(*arguments):
    return CliRunner().invoke(app, ["lint", *map(str, arguments)])


def test_command_line_exit_codes(tmp_path):
    """0 without errors, 2 with; --strict makes warnings 1; the worst of several files counts."""
    warned, broken = tmp_path / "warned.urdf", tmp_path / "broken.urdf"
    warned.write_text(SUSPICIOUS["equal-limits"])
    broken.write_text(BROKEN)
    assert [run("arm7").exit_code, run(warned).exit_code, run(broken).exit_code] == [0, 0, 2]
    assert [run("arm7", "--strict").exit_code, run(warned, "--strict").exit_code] == [0, 1]
    assert run("arm7", warned, broken, "--strict").exit_code == 2
    assert run(tmp_path / "missing.urdf").exit_code == 2


def test_command_line_text(tmp_path):
    """One line per finding, file and line first, errors before the rest; many of a kind are only counted."""
    path = tmp_path / "r.urdf"
    path.write_text(robot(A, *("<transmission/>" for _ in range(9)), "<gazebo><joint/></gazebo>"))
    lines = run(path).stdout.splitlines()
    assert lines[0].startswith(f"{path}:12: error: robot/gazebo/joint closes a kinematic loop")
    assert lines[1].startswith(f"{path}:3: info: robot/transmission ignored") and lines[1].endswith("[ignored]")
    assert "8 more of this kind; --all shows them [ignored]" in lines[3]
    assert lines[4:] == [f"{path}: 1 error, 0 warnings, 10 infos"]
    assert len(run(path, "--all").stdout.splitlines()) == 12


def test_command_line_json(tmp_path):
    """All findings of all files, and sums."""
    path = tmp_path / "r.urdf"
    path.write_text(BROKEN)
    data = json.loads(run(path, "arm7", "--json").stdout)["result"]
    assert [file["errors"] for file in data["files"]] == [18, 0] and data["errors"] == 18
    assert data["files"][0]["findings"][0]["file"] == str(path)


def sdf(*content):
    return '<sdf version="1.11"><model name="m">\n' + "\n".join(content) + "</model></sdf>"


def sdf_link(name, mass="1", tensor="<ixx>1</ixx><iyy>1</iyy><izz>1</izz>"):
    return f'<link name="{name}"><inertial><mass>{mass}</mass><inertia>{tensor}</inertia></inertial></link>'


def sdf_joint(name, parent, child, more=""):
    axis = f"<axis><xyz>0 0 1</xyz>{more}</axis>"
    return f'<joint name="{name}" type="revolute"><parent>{parent}</parent><child>{child}</child>{axis}</joint>'


MIMIC = "<mimic joint='{}'><multiplier>1</multiplier><offset>0</offset><reference>0</reference></mimic>"
SDF_FAULTS = {
    "negative mass": (sdf(sdf_link("a", "-1")), "negative-mass", 2),
    "no mass": (sdf(sdf_link("a", "0")), "inertia-without-mass", 2),
    "triangle": (sdf(sdf_link("a", tensor="<ixx>3</ixx>")), "impossible-inertia", 2),
    "asymmetric": (sdf(sdf_link("a", tensor="<iyx>0.5</iyx>")), "impossible-inertia", 2),
    "massless leaf": (sdf(sdf_link("a", "0", "<ixx>0</ixx><iyy>0</iyy><izz>0</izz>"), sdf_joint("j", "world", "a")),
                      "massless-leaf", 3),
    "mimic cycle": (sdf(sdf_link("a"), sdf_link("b"), sdf_joint("j", "world", "a", MIMIC.format("k")),
                        sdf_joint("k", "a", "b", MIMIC.format("j"))), "mimic-cycle", 4),
    "misspelled": (sdf(sdf_link("a"), sdf_joint("j", "world", "a", "<dynamics><dampening>1</dampening></dynamics>")),
                   "misspelled", 3),
}  # fmt: skip


@pytest.mark.parametrize("case", SDF_FAULTS)
def test_faults_of_sdf_files_have_the_codes_of_urdf(case):
    """One fault is one error, with its line, its code and what to do about it, in loading and in lint."""
    text, code, line = SDF_FAULTS[case]
    with pytest.raises(KinetreeError) as strict:
        kt.load(text)
    assert (strict.value.line, strict.value.code) == (line, code)
    assert codes(text) == [(line, code)]


def test_a_tensor_that_states_both_triangles_must_be_symmetric():
    """The format has the upper triangle; other entries that say the same are no harm."""
    both = '<robot name="r">\n' + A.replace('ixy="0"', 'ixy="0" iyx="{}"') + "</robot>"
    assert kt.lint(both.format("0")).errors == ()
    assert codes(both.format("0.5")) == [(2, "impossible-inertia")]
    with pytest.raises(kt.errors.InertiaError, match="not symmetric: ixy is 0, iyx is 0.5. The format has"):
        kt.load(both.format("0.5"))


def test_each_impossible_inertia_of_sdf_is_told_as_one():
    """Lint reads on after the first; nothing in the findings is about how it did that."""
    text = sdf(sdf_link("a", tensor="<ixx>3</ixx>"), sdf_link("b", tensor="<ixx>4</ixx>"))
    result = kt.lint(text)
    assert codes(text) == [(2, "impossible-inertia"), (3, "impossible-inertia")]
    assert all("taken as it is" not in each.message and "inertia='project'" in each.repair for each in result.errors)


def test_a_missing_package_has_a_code_of_its_own(monkeypatch):
    """Nothing is wrong with the file then."""
    import sys

    monkeypatch.setitem(sys.modules, "mujoco", None)
    (error,) = kt.lint("<mujoco/>", isolate=False).errors
    assert error.code == "missing-dependency" and "pip install" in error.message


def test_one_broken_link_hides_no_unknown_one():
    """Only what a link that could not be read may be is left alone."""
    twice = robot(A, A, B, joint("j", parent="a", child="b"), joint("k", parent="b", child="hnad"))
    assert [code for _, code in codes(twice)] == ["duplicate-name", "unknown-link"]
