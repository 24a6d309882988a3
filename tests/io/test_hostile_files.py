"""Files that are broken on purpose or by accident: each ends at once in one message that says what to do."""

import codecs
import gzip
import os
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError, KinetreeError, URDFError
from kinetree.io import load_urdf
from kinetree.io.xml.source import MAX_BYTES

GOOD = '<robot name="r">\n<link name="a"/>\n</robot>'
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def written(folder, content, name="robot.urdf"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(source, message, code):
    """Load, and return the seconds that the refusal took (processor time: the machine may be busy)."""
    start = time.process_time()
    with pytest.raises(FileFormatError, match=message) as error:
        load_urdf(source)
    assert error.value.code == code
    return time.process_time() - start


LAUGHS = "".join(f"<!ENTITY e{k} '{f'&e{k - 1};' * 10}'>" for k in range(1, 11))
ENTITIES = {
    "billion laughs in an attribute": f"<!DOCTYPE r [<!ENTITY e0 'ha'>{LAUGHS}]><robot name='&e10;'/>",
    "billion laughs in a text": f"<!DOCTYPE r [<!ENTITY e0 'ha'>{LAUGHS}]><robot>&e10;</robot>",
    "quadratic blow-up": f"<!DOCTYPE r [<!ENTITY e '{'x' * 100_000}'>]><robot name='{'&e;' * 10_000}'/>",
    "external entity": "<!DOCTYPE r [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><robot name='r'>&e;</robot>",
    "external parameter entity": "<!DOCTYPE r [<!ENTITY % e SYSTEM 'file:///etc/passwd'> %e;]><robot/>",
    "external document type": "<!DOCTYPE robot SYSTEM 'http://example.org/robot.dtd'>\n<robot/>",
    "public document type": "<!DOCTYPE robot PUBLIC 'x' 'file:///etc/passwd'>\n<robot/>",
    "after a comment that looks like the root": "<!-- <robot> --><!DOCTYPE r [<!ENTITY e 'x'>]><robot name='&e;'/>",
    "after a processing instruction": "<?x <robot> ?><!DOCTYPE r [<!ENTITY e 'x'>]><robot name='&e;'/>",
}


@pytest.mark.parametrize("case", ENTITIES)
def test_entities_are_refused_within_milliseconds(case, tmp_path):
    """Nothing is expanded and nothing outside the file is read, from text and from a file in any encoding."""
    message = "document type declares entities or an external file.*Remove <!DOCTYPE"
    seconds = refused(ENTITIES[case], message, "entities")
    assert seconds < 0.5
    for encoding in ("utf-8", "utf-16"):
        refused(written(tmp_path, ENTITIES[case].encode(encoding)), "document type declares entities", "entities")


def test_undeclared_entities_are_refused():
    """&foo; without a declaration names its line and what to write."""
    refused('<robot>\n<link name="&foo;"/></robot>', ":2: .*foo.*Write &amp;", "entities")


@pytest.mark.parametrize("text", ["<a>" * 10_000 + "</a>" * 10_000, "<a>" * 1_000_000])
def test_deep_nesting_is_refused_within_milliseconds(text):
    """Ten thousand levels, closed or not, meet the guard of the parser."""
    assert refused(text, "elements are nested deeper than 256", "nesting") < 0.5


def test_files_above_the_largest_size_are_not_read(tmp_path):
    """100 MB are refused by their size alone: the file is sparse, and reading it would take longer."""
    path = tmp_path / "large.urdf"
    with path.open("wb") as stream:
        stream.write(GOOD.encode())
        stream.truncate(100_000_000)
    assert refused(path, r"large.urdf: 95.4 MiB; files above 64 MiB are not read", "too-large") < 0.1
    refused(" " * MAX_BYTES + GOOD, "files above 64 MiB are not read", "too-large")


def test_one_endless_attribute_is_refused():
    """An attribute above ten million characters meets the guard of the parser."""
    refused(f'<robot name="{"x" * 10_000_001}"/>', "longer than 10 million characters", "too-large")


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "iso-8859-1", "cp1252"]
)
def test_encodings_are_told_by_mark_first_bytes_or_declaration(encoding, tmp_path):
    """A name with an umlaut arrives from every usual encoding; lines stay right."""
    declared = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding in ("iso-8859-1", "cp1252") else "<!-- -->"
    text = declared + '\n<robot name="B\u00e4r">\n<link name="a" twist="1"/></robot>'
    model = load_urdf(written(tmp_path, text.encode(encoding)))
    assert model.name == "B\u00e4r"
    assert any(entry.where.endswith(":3") and "'twist'" in entry.message for entry in model.report)


def test_marks_of_both_byte_orders_are_understood(tmp_path):
    """The byte order mark decides, not the machine."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        assert load_urdf(written(tmp_path, mark + GOOD.encode(encoding))).name == "r"


def test_bytes_of_another_encoding_name_line_byte_and_repair(tmp_path):
    """Latin-1 without a declaration: the line, the byte, and how to declare it."""
    path = written(tmp_path, '<robot name="r">\n<!-- gr\u00f6\u00dfe -->\n</robot>'.encode("latin-1"))
    refused(path, r'robot.urdf:2: byte 0xf6 is not UTF-8 .* encoding="iso-8859-1"', "encoding")


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ('<?xml version="1.0" encoding="utf-16"?>', "declares encoding 'utf-16', but the bytes .* are not UTF-16"),
        ('<?xml version="1.0" encoding="klingon"?>', "declares the unknown encoding 'klingon'"),
        ('<?xml version="1.0" encoding="rot13"?>', "declares the unknown encoding 'rot13'"),
        ('<?xml version="1.0" encoding="unicode_escape"?>', "declares the unknown encoding 'unicode_escape'"),
    ],
)
def test_wrong_declarations_are_named(first, message, tmp_path):
    """A declaration that contradicts the file, or that no file has."""
    refused(written(tmp_path, f"{first}\n{GOOD}"), message, "encoding")


def test_half_characters_in_a_text_are_refused():
    """A lone surrogate in a Python string has no UTF-8."""
    refused('<robot name="r">\n<link name="\ud800"/></robot>', ":2: .*lone surrogate", "encoding")


@pytest.mark.parametrize(
    ("content", "message", "code"),
    [
        (b"", "the file is empty", "empty-file"),
        (b" \n\t ", "the file is empty", "empty-file"),
        (codecs.BOM_UTF8, "the file is empty", "empty-file"),
        (gzip.compress(GOOD.encode(), mtime=0), "a gzip archive, expected XML text. Unpack it first", "not-xml"),
        (b"PK\x03\x04rest", "a zip archive", "not-xml"),
        (b"\x7fELF\0\0\xff\xfe\0", "a binary file .it begins with b'.x7fELF", "not-xml"),
        (b"solid cube\nfacet", "does not begin with '<' but with 'solid cube", "not-xml"),
        (b"\0" * 64, "does not begin with '<'", "not-xml"),
        (bytes(range(256)), "a binary file|does not begin with '<'", "not-xml"),
    ],
)
def test_files_that_are_no_xml_say_what_they_are(content, message, code, tmp_path):
    """Empty, packed, binary and foreign files."""
    refused(written(tmp_path, content), message, code)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<robot name="r">\n<link name="a">', ":2: .*Premature end.* Is the file cut off"),
        ('<robot name="r">\n<link name="a"></robot></link>', ":2: .*tag mismatch.* closed in the reverse order"),
        (GOOD + GOOD, ":3: .*Extra content.* one root element"),
        ('<!-- x -->\n<?xml version="1.0"?>\n' + GOOD, ":2: .*very beginning of the file"),
        ('<robot name="a" name="b"/>', "redefined. An element has each attribute once"),
        ('<robot name="a\x01b"/>', "Remove the control character"),
        ("<robot name='&#1;'/>", "Remove the control character"),
        ("<", "not well-formed XML"),
    ],
)
def test_syntax_errors_have_a_line_and_a_repair(text, message):
    """What the parser says, and what to do about it."""
    with pytest.raises(URDFError, match=message):
        load_urdf(text)


def test_a_version_that_does_not_exist_is_read_and_reported():
    """Many public files say version 0.0: nothing in them depends on it."""
    model = load_urdf('<?xml version="0.0" ?>\n' + GOOD)
    assert "XML version '0.0', which does not exist: read as 1.0" in str(model.report)


def test_folders_links_and_pipes(tmp_path):
    """A folder is no robot file; a link that leads nowhere says where; a pipe is not waited for."""
    refused(tmp_path, "this is a folder", "not-a-file")
    dangling = tmp_path / "dangling.urdf"
    dangling.symlink_to("nowhere.urdf")
    with pytest.raises(FileNotFoundError, match="dangling.urdf: no such file, because this link leads to nowhere.urdf"):
        load_urdf(dangling)
    loop = tmp_path / "loop.urdf"
    loop.symlink_to("loop.urdf")
    with pytest.raises(FileNotFoundError, match="loop.urdf: no such file"):
        load_urdf(loop)
    pipe = tmp_path / "pipe.urdf"
    os.mkfifo(pipe)
    refused(pipe, "this is a pipe, no ordinary file", "not-a-file")


def test_unreadable_files_say_so(tmp_path, monkeypatch):
    """Permission denied names the file (asked of a stand-in: the tests may run as root)."""
    path = written(tmp_path, GOOD)

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("kinetree.files.os.open", denied)
    with pytest.raises(PermissionError, match="robot.urdf: the file may not be read"):
        load_urdf(path)


def test_a_very_long_word_is_not_taken_for_a_path():
    """No system has file names of 5000 characters."""
    refused("x" * 5000, "this text is not XML: it does not begin with '<' but with 'xxx", "not-xml")


NUMBERS = {
    "1e999": "largest float",
    "-1e999": "largest float",
    "1e-999": "too small for a float",
    "1_000": "without underscores",
    "0x10": "as a decimal number",
    "1,5": "the decimal separator is a point",
    "nan": "a value must be known",
    "inf": "is not a finite number",
    "\u0661": "with the digits 0 to 9",
    "\uff11": "with the digits 0 to 9",
    "": "empty",
    "1e51": "too large: beyond 1e.50, products overflow",
    "1 2": "expected one number",
    "one": "is not a finite number",
    "1e": "is not a finite number",
    "1" * 400: "largest float",
}


@pytest.mark.parametrize("word", NUMBERS)
def test_malformed_numbers_name_element_attribute_value_and_repair(word):
    """Each in the mass of a link."""
    text = f'<robot name="r">\n<link name="a">{INERTIAL.replace("1", word, 1)}</link></robot>'
    with pytest.raises(URDFError, match=f"(?i)<string>:2: robot/link.a./inertial/mass: .*'value' is .*{NUMBERS[word]}"):
        load_urdf(text)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "attribute 'name' is empty"),
        (" \t ", "attribute 'name' is empty"),
        ("a&#10;b", r"is 'a\\nb', which holds the character '\\n' that cannot be seen. Remove it"),
        ("a&#x202e;b", r"the character '\\u202e' that cannot be seen"),
        ("x" * 1001, "has 1001 characters, at most 1000 are read"),
    ],
)
def test_names_are_visible_and_not_endless(name, message):
    """Of links and of joints, and where they refer to one another."""
    for text in (
        f'<robot name="r">\n<link name="{name}"/></robot>',
        f'<robot name="r"><link name="a"/>\n<joint name="{name}" type="fixed"/></robot>',
        f'<robot name="r"><link name="a"/>\n<joint name="j" type="fixed"><parent link="{name}"/></joint></robot>',
    ):
        with pytest.raises(URDFError, match=":2: .*" + message.replace("'name'", "'(name|link)'")):
            load_urdf(text)


def test_messages_stay_short():
    """A value of a megabyte is cut in the message."""
    text = f'<robot name="r"><link name="a">{INERTIAL.replace("1", "x" * 1_000_000, 1)}</link></robot>'
    with pytest.raises(URDFError, match=r"\(1000000 characters\)") as error:
        load_urdf(text)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("word", ["1e50", "-1e50", "1e-50", "1e-300", "1e16"])
def test_enormous_numbers_load_or_are_refused(word):
    """What breaks a rule is refused by name; nothing becomes NaN in silence, and no bare NumPy error escapes."""
    rng = np.random.default_rng(0)
    text = kt.data.path("arm7").read_text()
    places = [at for at in range(len(text) - 3) if text[at : at + 2] == '="' and text[at + 2] in "-0123456789"]
    for at in rng.choice(places, 60, replace=False):
        end = min(text.index(character, at + 2) for character in ' "')
        try:
            model = kt.load(text[: at + 2] + word + text[end:])
        except KinetreeError:
            continue
        for I in model.I:
            assert np.isfinite([I.m, *I.h, *I.I]).all()


def test_ten_thousand_links_are_checked_in_linear_time():
    """A chain of 10,000 links without masses and a ring of as many joints end in their errors."""
    links = "".join(f'<link name="l{k}"/>' for k in range(10_001))

    def joints(type_):
        return "".join(
            f'<joint name="j{k}" type="{type_}"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
            for k in range(10_000)
        )

    start = time.process_time()
    with pytest.raises(KinetreeError, match="has no inertia that resists .*10000 in all"):
        load_urdf(f'<robot name="r">{links}{joints("continuous")}</robot>')
    back = '<joint name="back" type="fixed"><parent link="l10000"/><child link="l0"/></joint>'
    with pytest.raises(URDFError, match="form a cycle") as error:
        load_urdf(f'<robot name="r">{links}{joints("fixed")}{back}</robot>')
    assert len(str(error.value)) < 2000
    assert time.process_time() - start < 10.0
