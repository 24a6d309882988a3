"""Lint of SDF and MJCF files: every fault at once, each on its line, and the same verdict as loading."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.errors import KinetreeError
from kinetree.io.lint.codes import CODES


def codes(text, level="error"):
    return [(each.line, each.code) for each in kt.lint(text).at_level(level)]


# One element per line, so that a fault is another line; the tensors fit bodies of 10 cm.
SDF = """<sdf version="1.9"><model name="m">
<frame name="f"><pose>0 0 1 0 0 0</pose></frame>
<frame name="g" attached_to="f"/>
<link name="a"><inertial><mass>1</mass>
<inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia></inertial>
<collision name="c"><geometry><box><size>.2 .2 .2</size></box></geometry></collision></link>
<link name="b"><pose relative_to="f">0 0 0 0 0 0</pose><inertial><mass>1</mass>
<inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia></inertial></link>
<link name="c"><inertial><mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia></inertial></link>
<link name="d"><inertial><mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia></inertial></link>
<link name="e"><inertial><mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia></inertial></link>
<link name="h"><inertial><mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia></inertial></link>
<joint name="ja" type="revolute"><parent>world</parent><child>a</child>
<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper><effort>5</effort></limit></axis></joint>
<joint name="jb" type="revolute"><parent>a</parent><child>b</child><axis>
<xyz>0 1 0</xyz><dynamics><damping>.1</damping></dynamics></axis></joint>
<joint name="jc" type="prismatic"><parent>b</parent><child>c</child><axis>
<xyz>0 1 0</xyz></axis></joint>
<joint name="jd" type="revolute"><parent>c</parent><child>d</child><axis><xyz>1 0 0</xyz></axis></joint>
<joint name="je" type="ball"><parent>d</parent><child>h</child></joint>
<frame name="k"><pose rotation_format="euler_rpy">0 0 0 0 0 0</pose></frame>
<static>false</static>
</model></sdf>"""

# What a fault replaces on its line, by what, and the code of its finding.
SDF_FAULTS = {
    2: ("0 0 1 0 0 0", "0 0 1 0 nan 0", "bad-number"),
    3: ('attached_to="f"', 'attached_to="ff"', "unknown-name"),
    4: ("<mass>1<", "<mass>-1<", "negative-mass"),
    6: (".2 .2 .2", ".2 .2", "bad-number"),
    7: ("<mass>1<", "<mass>1,5<", "bad-number"),
    9: ("<mass>1<", "<mass>0x10<", "bad-number"),
    10: ("<izz>.01<", "<izz>.5<", "impossible-inertia"),
    11: ('name="e"', 'name="d"', "duplicate-name"),
    14: ("<lower>-1<", "<lower>3<", "limit-order"),
    16: (".1<", "-.1<", "negative-dissipation"),
    18: ("0 1 0", "0 0 0", "zero-axis"),
    19: ("revolute", "revolut", "unknown-joint-type"),
    20: ("<parent>d<", "<parent>nobody<", "unknown-name"),
    21: ("euler_rpy", "wxyz", "bad-choice"),
    22: ("false", "maybe", "bad-boolean"),
}

MJCF = """<mujoco><compiler angle="radian"/>
<default><default class="k"><joint damping=".1"/></default></default>
<asset><mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset>
<worldbody>
<geom name="floor" type="plane" size="1 1 1"/>
<body name="a"><joint name="ja" class="k" axis="0 0 1"/>
<inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
<geom name="ga" type="box" size=".1 .1 .1"/>
<body name="b"><joint name="jb" axis="0 1 0" range="-1 1"/>
<geom name="gb" size=".1"/>
<body name="c" pos="0 0 .1"><joint name="jc" type="slide"/>
<inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
<geom name="gc" type="capsule" size=".1 .1"/>
<body name="d" quat="1 0 0 0"><joint name="jd" stiffness="1"/>
<geom name="gd" type="mesh" mesh="m"/><site name="s"/>
<body name="e"><joint name="je" limited="true" range="-1 1"/>
<inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
</body></body></body></body></body></worldbody>
<contact><exclude body1="a" body2="b"/></contact>
<equality><joint joint1="jb" joint2="jd"/></equality>
<actuator><motor name="ma" joint="ja"/>
<motor name="mb" joint="jb"/></actuator>
<sensor><jointpos joint="jc"/></sensor>
<keyframe><key name="q" qpos="0 0 0 0 0"/></keyframe>
</mujoco>"""

MJCF_FAULTS = {
    2: ('damping=".1"', 'damping="x"', "bad-number"),
    3: ("0 0 0 .1 0 0 0 .1 0 0 0 .1", "0 0 0 .1 0 0", "bad-geometry"),
    6: ('axis="0 0 1"', 'axis="0 0 0"', "zero-axis"),
    7: ('mass="1"', 'mass="-1"', "negative-mass"),
    8: ('type="box"', 'type="bxo"', "bad-choice"),
    9: ('range="-1 1"', 'limited="true" range="1 -1"', "limit-order"),
    10: ('size=".1"', 'size="-.1"', "bad-geometry"),
    11: ('type="slide"', 'type="slid"', "unknown-joint-type"),
    12: ('.01 .01 .01"', '.01 .01 .5"', "impossible-inertia"),
    13: ('size=".1 .1"', 'siez=".1 .1"', "not-in-format"),
    14: ('stiffness="1"', 'stiffness="-1"', "negative-dissipation"),
    16: ('name="je"', 'name="ja"', "duplicate-name"),
    17: ('mass="1"', 'mass="nan"', "bad-number"),
    19: ('body2="b"', 'body2="nobody"', "unknown-name"),
    20: ('joint2="jd"', 'joint2="nobody"', "unknown-name"),
    22: ('joint="jb"', 'joint="nobody"', "unknown-name"),
    23: ("jointpos", "jointpso", "not-in-format"),
    24: ('qpos="0 0', 'qpos="0 0 0', "bad-number"),
}
FORMATS = {"sdf": (SDF, SDF_FAULTS), "mjcf": (MJCF, MJCF_FAULTS)}


def broken(form, lines):
    """A file with the faults of these lines, and what lint has to say of them."""
    text, faults = FORMATS[form]
    rows = text.split("\n")
    for line in lines:
        old, new, _ = faults[line]
        assert old in rows[line - 1], line
        rows[line - 1] = rows[line - 1].replace(old, new, 1)
    return "\n".join(rows), [(line, faults[line][2]) for line in sorted(lines)]


@pytest.mark.parametrize("form", FORMATS)
def test_the_files_are_sound_without_faults(form):
    """No error and no warning."""
    result = kt.lint(FORMATS[form][0])
    assert not result.errors and not result.warnings, str(result)


@pytest.mark.parametrize("form", FORMATS)
def test_all_faults_at_once_are_all_found(form):
    """Fifteen and more faults of one file in one run, each on its line, and nothing that follows from them."""
    text, expected = broken(form, FORMATS[form][1])
    assert codes(text) == expected and len(expected) >= 14


@pytest.mark.parametrize("form", FORMATS)
def test_any_choice_of_faults_is_found(form):
    """One, and any few, as alone; loading raises one of them."""
    rng = np.random.default_rng(3)
    lines = list(FORMATS[form][1])
    choices = [[line] for line in lines]
    choices += [rng.choice(lines, size=rng.integers(2, 7), replace=False).tolist() for _ in range(25)]
    for chosen in choices:
        text, expected = broken(form, chosen)
        assert codes(text) == expected
        with pytest.raises(KinetreeError) as strict:
            kt.load(text)
        assert (strict.value.line, strict.value.code) in expected


def mutilated(text, rng):
    """Values exchanged, elements removed or doubled."""
    words = ("nan", "-1", "0", "1e30", "", "inf", "1 2 3", "fixed", "free", "world", "1e-40", "&#9;", "a", "jb")
    for _ in range(rng.integers(1, 4)):
        values = list(re.finditer(r'(?<==)"([^"]*)"|>([^<>\n]+)<', text))
        elements = list(re.finditer(r"<(\w+)[^<>]*(/>|>[^<>]*</\1>)", text))
        value, other = (values[k] for k in rng.integers(len(values), size=2))
        group = 1 if value[1] is not None else 2
        new = (str(rng.choice(words)), other[1] if other[1] is not None else other[2])[rng.integers(2)]
        element = elements[rng.integers(len(elements))]
        text = (
            text[: value.start(group)] + new + text[value.end(group) :],
            text[: element.start()] + text[element.end() :],
            text[: element.end()] + element[0] + text[element.end() :],
        )[rng.integers(3)]
    return text


@pytest.mark.parametrize("form", FORMATS)
def test_lint_and_loading_agree_on_mutilated_files(form):
    """Lint never raises, has an error exactly where loading raises, and names that one too."""
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        text = mutilated(FORMATS[form][0], rng)
        result = kt.lint(text)
        assert all(each.code in CODES for each in result)
        try:
            kt.load(text)
            assert not result.errors, text
        except KinetreeError as error:
            refused += 1
            assert (error.line, error.code) in {(each.line, each.code) for each in result.errors}, text
    assert 15 < refused < 59


# References and parts ------------------------------------------------------------------------------------------------


def test_what_cannot_be_read_is_not_blamed_on_who_refers_to_it():
    """A link, a body or a class that is lost hides unknown names only where they may mean it."""
    lost = SDF.replace('<link name="b">', '<link name="b&#10;">')
    assert [code for _, code in codes(lost)] == ["bad-name"]
    twice = SDF.replace('<link name="b">', '<link name="a">').replace("<parent>c<", "<parent>x<")
    assert [code for _, code in codes(twice)] == ["duplicate-name", "unknown-name", "unknown-name", "unknown-name"]
    tag = MJCF.replace('<joint name="jb"', '<oint name="jb"').replace("<site", "<unheard")
    assert codes(tag) == [(9, "not-in-format"), (15, "not-in-format")]


def test_one_circle_is_one_error():
    """Poses and frames that refer to each other; other faults are found beside them."""
    frames = '<frame name="p"><pose relative_to="q"/></frame>\n<frame name="q"><pose relative_to="p"/></frame>'
    text = SDF.replace('<frame name="g" attached_to="f"/>', frames).replace("<mass>1<", "<mass>-1<", 1)
    assert [code for _, code in codes(text)] == ["pose-cycle", "negative-mass"]


def test_each_massless_leaf_of_sdf_is_found():
    """The model names one at a time; lint goes on."""
    empty = "<mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia>"
    links = [f'<link name="{name}"><inertial>{empty}</inertial></link>' for name in "ab"]
    joints = [f'<joint name="j{name}" type="revolute"><parent>world</parent><child>{name}</child><axis><xyz>0 0 1</xyz>'
              "</axis></joint>" for name in "ab"]  # fmt: skip
    text = '<sdf version="1.7"><model name="m">\n' + "\n".join(links + joints) + "</model></sdf>"
    assert codes(text) == [(4, "massless-leaf"), (5, "massless-leaf")]


def test_faults_in_included_files_have_their_file_and_line(tmp_path):
    """Both formats read several files; a missing one is an error with the line that asks for it."""
    body = '<body name="{}"><joint {}/><geom size="{}"/></body>\n'
    part = body.format("p", 'axis="0 0 0"', "x")
    (tmp_path / "part.xml").write_text(f"<mujocoinclude>\n\n{part}</mujocoinclude>")
    main = tmp_path / "main.xml"
    main.write_text(
        f"""<mujoco><worldbody>\n<include file="part.xml"/>\n{body.format("m", 'type="hing"', 1)}"""
        '</worldbody><include file="gone.xml"/>\n</mujoco>'
    )
    found = {(each.file.rpartition("/")[2], each.line, each.code) for each in kt.lint(main).errors}
    assert found == {("part.xml", 3, "zero-axis"), ("part.xml", 3, "bad-number"), ("main.xml", 3, "unknown-joint-type"),
                     ("main.xml", 4, "include-not-found")}  # fmt: skip
    inner = SDF.replace("<mass>1<", "<mass>-1<", 1)
    (tmp_path / "inner.sdf").write_text(inner)
    world = tmp_path / "world.sdf"
    includes = "".join(f"<include><uri>{name}.sdf</uri></include>\n" for name in ("inner", "no"))
    world.write_text(f'<sdf version="1.9"><world name="w">\n{includes}<gravity>0 0 x</gravity></world></sdf>')
    found = {(each.file.rpartition("/")[2], each.line, each.code) for each in kt.lint(world).errors}
    assert found == {("inner.sdf", 4, "negative-mass"), ("world.sdf", 3, "include-not-found"),
                     ("world.sdf", 4, "bad-number")}  # fmt: skip


def test_a_file_that_is_included_twice_is_an_error(tmp_path):
    """MuJoCo takes a file once; what else is wrong is found too."""
    (tmp_path / "part.xml").write_text("<mujocoinclude><geom size='.1'/></mujocoinclude>")
    twice = '<include file="part.xml"/>\n' * 2
    main = tmp_path / "main.xml"
    body = '<body><joint axis="0 0 0"/><geom size=".1"/></body>'
    main.write_text(f"<mujoco><worldbody>\n{twice}{body}</worldbody></mujoco>")
    assert [(each.line, each.code) for each in kt.lint(main).errors] == [(3, "include-cycle"), (4, "zero-axis")]


def test_misspelled_words_of_mjcf_get_the_likely_ones():
    """What MuJoCo does not know is compared with the format's words and with the names of the file."""
    text = MJCF.replace('joint2="jd"', 'joint2="jdd"').replace('"box"', '"bxo"').replace("stiffness", "stifness")
    repairs = {each.line: each.repair for each in kt.lint(text).errors}
    assert repairs == {8: "did you mean 'box'?", 14: "did you mean 'stiffness'?", 20: "did you mean 'jd'?"}


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ('<motor jiont="j"/>', "did you mean 'joint'?"),
        ('<motr joint="j"/>', "did you mean 'motor'?"),
        ('<motor pos="1" joint="j"/>', "remove it"),  # only other elements have qpos
        ('<body joint="j"/>', "remove it"),  # a word of the format, in the wrong place
    ],
)
def test_hints_are_words_that_the_element_may_have(wrong, hint):
    """The format's words are those of the installed MuJoCo, and what is misplaced is not misspelled."""
    body = '<body><joint name="j"/><geom size=".1"/></body>'
    first = kt.lint(f"<mujoco><worldbody>{body}</worldbody><actuator>{wrong}</actuator></mujoco>").errors[0]
    assert (first.code, first.repair) == ("not-in-format", hint)


def test_unsupported_physics_of_mjcf_is_found_beside_errors():
    """What loading refuses for the whole model, one finding for each."""
    free = '<body name="z"><joint name="y" type="free" armature="1"/><geom size=".1"/></body>'
    text = MJCF.replace('axis="0 0 1"', 'axis="0 0 0"').replace("<worldbody>", f"<worldbody>{free}", 1)
    found = codes(text)
    assert sorted(code for _, code in found) == ["unsupported", "zero-axis"] and (6, "zero-axis") in found


def test_the_search_has_an_end(monkeypatch):
    """After so many errors of MuJoCo an info says that there may be more."""
    monkeypatch.setattr("kinetree.io.lint.mjcf.ROUNDS", 3)
    result = kt.lint(broken("mjcf", MJCF_FAULTS)[0], isolate=False)
    assert 1 < len(result.errors) <= 3 and [each.level for each in result.of("unfinished")] == ["info"]


# Legal, and probably not meant ---------------------------------------------------------------------------------------


BALL = "<mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia>"
BOX = '<collision name="s"><geometry><box><size>.1 .1 .1</size></box></geometry></collision>'
LIMIT = "<lower>-1</lower><upper>1</upper><effort>5</effort>"


def sdf(inertial=BALL, pose="0 0 0 0 0 0", limit=LIMIT):
    """The sound file with another link h, or other limits of joint ja."""
    link = f'<link name="h"><pose>{pose}</pose>{BOX}<inertial>{inertial}</inertial></link>'
    return re.sub('<link name="h">.*', link, SDF).replace(LIMIT, limit)


ROD = 'pos="0 0 0" mass="1" diaginertia=".01 .01 .01"'


def mjcf(inertial=ROD, body="", joint="", tail="", compiler='angle="radian"'):
    """The sound file with another body e, or one more actuator."""
    head, _, last = MJCF.replace('angle="radian"', compiler).rpartition(f"<inertial {ROD}/>")
    text = f'{head}<geom type="box" size=".05 .05 .05"/><inertial {inertial}/>{last}'
    text = text.replace('<body name="e">', f'<body name="e" {body}>').replace("</actuator>", f"{tail}</actuator>")
    return text.replace('joint name="je"', f'joint name="je" {joint}')


TENSOR = "<inertia><ixx>{0}</ixx><iyy>{0}</iyy><izz>{0}</izz></inertia>"
SUSPICIOUS = {
    "sdf placeholder": (sdf("<mass>1</mass>" + TENSOR.format(1)), "placeholder-inertia"),
    "sdf large": (sdf("<mass>.01</mass>" + TENSOR.format(0.002)), "large-inertia"),
    "sdf far": (sdf("<pose>0 200 0 0 0 0</pose><mass>1</mass>" + TENSOR.format(0.01)), "com-outside"),
    "sdf masses": (sdf("<mass>1e-5</mass>" + TENSOR.format(1e-8)), "mass-ratio"),
    "sdf angle": (sdf(pose="0 0 0 0 0 1.57"), "rounded-angle"),
    "sdf effort": (sdf(limit="<lower>-1</lower><upper>1</upper><effort>0</effort>"), "zero-effort"),
    "sdf equal": (sdf(limit="<lower>1</lower><upper>1</upper>"), "equal-limits"),
    "sdf degrees": (sdf(limit="<lower>-90</lower><upper>90</upper>"), "wide-limit"),
    "sdf offset": (sdf(pose="150 0 0 0 0 0"), "far-offset"),
    "sdf mass": (SDF.replace('<joint name="ja"', '<link name="z"/><joint name="ja"'), "missing-inertial"),
    "mjcf placeholder": (mjcf('pos="0 0 0" mass="1" diaginertia="1 1 1"'), "placeholder-inertia"),
    "mjcf large": (mjcf('pos="0 0 0" mass=".01" diaginertia=".002 .002 .002"'), "large-inertia"),
    "mjcf far": (mjcf('pos="0 200 0" mass="1" diaginertia=".01 .01 .01"'), "com-outside"),
    "mjcf masses": (mjcf('pos="0 0 0" mass="1e-5" diaginertia="1e-8 1e-8 1e-8"'), "mass-ratio"),
    "mjcf angle": (mjcf(body='euler="0 0 1.57"'), "rounded-angle"),
    "mjcf radians": (mjcf(body='euler="0 0 1.57"', compiler=""), "radians"),
    "mjcf range": (mjcf(compiler="").replace('range="-1 1"', 'range="-1.5708 1"'), "radians"),
    "mjcf gear": (mjcf(tail='<motor joint="ja" gear="0"/>'), "zero-effort"),
    "mjcf effort": (mjcf(joint='actuatorfrcrange="0 0"'), "zero-effort"),
    "mjcf upside down": (MJCF.replace('axis="0 1 0" range="-1 1"', 'axis="0 1 0" range="1 -1"'), "limit-order"),
    "mjcf offset": (mjcf(body='pos="150 0 0"'), "far-offset"),
    "mjcf names": (MJCF.replace('name="e"', 'name="A"'), "similar-names"),
}


@pytest.mark.parametrize("case", SUSPICIOUS)
def test_what_is_legal_and_probably_not_meant_is_a_warning(case):
    """One warning with its line, in both formats as in URDF; the file loads."""
    text, code = SUSPICIOUS[case]
    kt.load(text)
    result = kt.lint(text)
    assert not result.errors and [each.code for each in result.warnings] == [code], str(result)
    assert result.warnings[0].line and (result.exit_code, result.strict_exit_code) == (0, 1)


def test_what_is_mended_is_not_judged():
    """The masses that stand in for impossible ones are no placeholders of the file."""
    result = kt.lint(broken("mjcf", [7, 12, 17])[0])
    assert len(result.errors) == 3 and not result.warnings


@pytest.mark.parametrize("form", FORMATS)
def test_levels_exit_codes_and_json_are_those_of_urdf(tmp_path, form):
    """The command line tells all formats alike."""
    path = tmp_path / f"r.{'sdf' if form == 'sdf' else 'xml'}"
    text, expected = broken(form, FORMATS[form][1])
    path.write_text(text)
    ran = CliRunner().invoke(app, ["lint", str(path), "--json"])
    data = json.loads(ran.stdout)["result"]
    assert ran.exit_code == 2 and data["errors"] == len(expected)
    fields = {"code", "level", "file", "line", "element", "message", "repair"}
    assert all(set(each) == fields and each["file"] == str(path) for each in data["files"][0]["findings"])
    path.write_text(SUSPICIOUS[f"{form} effort"][0])
    assert CliRunner().invoke(app, ["lint", str(path)]).exit_code == 0
    assert CliRunner().invoke(app, ["lint", str(path), "--strict"]).exit_code == 1
