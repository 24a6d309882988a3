"""Whatever bytes a reader gets, it loads a valid model or raises an error of ours, soon."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.fuzz.harness import FORMATS, run, seeds
from tests.fuzz.mutate import TAGS, VALUES, mutated
from tests.fuzz.verdict import judged

SWEEP = 35_000  # files of each format, so more than 100,000 in all


@pytest.mark.parametrize("form", FORMATS)
def test_mutated_files_load_or_raise_our_errors(form):
    """Some hundred mutated files of each format: no crash, no hang, no foreign error, no number that is not finite."""
    counts, findings, _ = run(form, first=10_000_000, count=300)
    assert findings == []
    assert counts.get("loaded", 0) > 15 and sum(counts.values()) - counts["loaded"] > 15, counts


@pytest.mark.sweep
@pytest.mark.parametrize("form", FORMATS)
def test_a_hundred_thousand_mutated_files(form):
    """The same at length; the results are recorded in docs/fuzzing.md."""
    counts, findings, slowest = run(form, first=0, count=SWEEP, show=True)
    print(f"{form}: slowest {slowest:.2f} s, {counts}")
    assert findings == []


NAMES = st.sampled_from(("a", "b", "c", "base", "world"))
ATTRIBUTES = (
    "name", "link", "joint", "type", "xyz", "rpy", "value", "mass", "radius", "length", "size", "lower", "upper",
    "effort", "velocity", "multiplier", "filename", "pos", "axis", "range", "ixx", "iyy", "izz", "ixy", "ixz", "iyz",
    "class", "version",
)  # fmt: skip
NUMBERS = st.floats(allow_nan=True, allow_infinity=True).map(repr)
VECTORS = st.lists(NUMBERS, min_size=0, max_size=4).map(" ".join)
VALUE = NAMES | NUMBERS | VECTORS | st.sampled_from([value for value in VALUES if value.isprintable()])


def elements(children):
    tags = st.sampled_from([tag for tag in TAGS if ":" not in tag])
    return st.tuples(tags, st.dictionaries(st.sampled_from(ATTRIBUTES), VALUE, max_size=5), VALUE, children)


TREES = st.recursive(elements(st.just([])), lambda inner: elements(st.lists(inner, max_size=6)), max_leaves=25)


def written(tag: str, tree) -> bytes:
    """An XML file with this root element."""

    def element(name, attributes, text, children):
        made = etree.Element(name, attributes)
        made.text = text
        made.extend([element(*child) for child in children])
        return made

    return etree.tostring(element(tag, *tree[1:]))


@pytest.mark.parametrize(("form", "tag"), [("urdf", "robot"), ("mjcf", "mujoco"), ("sdf", "sdf")])
@given(tree=TREES, seed=st.integers(0, 10**6))
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_generated_files_load_or_raise_our_errors(tmp_path_factory, form, tag, tree, seed):
    """Files made of the formats' words in any order."""
    path = tmp_path_factory.getbasetemp() / f"generated{FORMATS[form][0]}"
    path.write_bytes(written(tag, tree))
    judged(str(path), random.Random(seed))


@pytest.mark.parametrize("form", FORMATS)
def test_there_are_seeds_and_mutations_differ(form):
    """The mutations change the files, and depend on the seed alone."""
    files = seeds(form)
    assert len(files) >= 3
    content = files[0].read_bytes()
    made = [mutated(content, [content], random.Random(seed)) for seed in range(50)]
    assert made == [mutated(content, [content], random.Random(seed)) for seed in range(50)]
    assert sum(other != content for other in made) > 40
