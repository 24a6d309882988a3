"""Pictures and tables of joints: every registered kind is drawn, listed by the command line and in docs/joints.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.errors import KinetreeError, UnknownNameError
from kinetree.joints import JOINTS, Helical, Joint, Reversed, Revolute, SplineCurve, register
from kinetree.spatial import IdentityRotation, Motion, Transform, Vector3
from kinetree.viz.joints import courses

pytest.importorskip("matplotlib")
DOCS = Path(__file__).parents[2] / "docs"
KINDS = {entry.kind: entry for entry in kt.viz.joint_kinds()}


class Slot(Joint):
    """A user's joint: two coordinates, no names."""

    nq = nv = 2

    def transform(self, q):
        return Transform(IdentityRotation(), Vector3(q[0], q[1], 0.0))

    def motion_subspace(self, q):
        return tuple(Motion(Vector3.zero(), Vector3.unit(k)) for k in range(2))


@pytest.fixture
def registry():
    """The registry, restored afterwards."""
    before = dict(JOINTS)
    yield JOINTS
    JOINTS.clear()
    JOINTS.update(before)


# What is drawn --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", JOINTS)
def test_every_kind_is_drawn(kind):
    """One panel, titled by the class: two bodies, and for each coordinate a line of text and two finite curves."""
    figure = kt.viz.plot_joint(kind)
    (axes,) = figure.axes
    joint = KINDS[kind].joint
    assert axes.get_title() == type(joint).__name__
    now = joint.at(0.0) if joint.time_dependent else joint
    labels = [text.get_text() for text in axes.texts if "[" in text.get_text()]
    assert len(labels) == now.nv + bool(joint.time_dependent)
    curves = [np.array(line.get_data_3d()) for line in axes.lines]
    assert len(curves) >= 3 + 2 * len(labels) and all(np.isfinite(curve).all() for curve in curves)
    bodies = len(axes.collections)
    assert bodies == 2 + 2 * len(labels) * (len(labels) < 4)


def test_courses_are_the_joints_motion():
    """Along a helix the origin climbs by pitch per angle, from one end of the range to the other."""
    R, p, (course,) = courses(Helical((0, 0, 1), pitch=0.2))
    np.testing.assert_allclose(p, 0.0, atol=0)
    np.testing.assert_allclose(R, np.eye(3), atol=0)
    climb = course.p[:, 2]
    np.testing.assert_allclose(course.R[:, 0, 0], np.cos(climb / 0.2), atol=1e-12)
    assert climb[-1] - climb[0] == pytest.approx(0.2 * 2 * np.pi, rel=0.01) and course.label == "angle [rad]"


def test_a_curve_is_drawn_over_its_whole_length():
    """Splines have ranges of their own: the course covers nearly all knots."""
    line = SplineCurve([((float(k), 0.0, 0.0), (0.0, 0.0, 0.0)) for k in range(9)])
    _, _, (course,) = courses(line)
    assert np.ptp(course.p[:, 0]) > 0.98 * line.length


def test_what_stands_in_the_picture_is_within_it():
    """Tips of all drawn frames and paths are inside the panel."""
    from mpl_toolkits.mplot3d import proj3d

    for kind in ("revolute", "spline_surface", "free", "ellipsoid"):
        figure = kt.viz.plot_joint(kind)
        (axes,) = figure.axes
        figure.canvas.draw()
        for line in axes.lines:
            if line.get_linestyle() != "-" or line.get_linewidth() < 0.6:
                continue
            x, y, _ = proj3d.proj_transform(*line.get_data_3d(), axes.get_proj())
            seen = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack([x, y])))
            assert -0.1 < seen.min() and seen.max() < 1.1


def test_gallery_has_a_panel_for_each_registered_kind(registry, tmp_path):
    """A user's registered joint gets its panel, too."""
    register(Slot)
    figure = kt.viz.joint_gallery(path=tmp_path / "all.svg")
    titles = [axes.get_title().split("\n")[0] for axes in figure.axes]
    assert titles == [entry.name for entry in KINDS.values()] + ["Slot"]
    assert (tmp_path / "all.svg").stat().st_size > 10_000


def test_gallery_of_chosen_joints():
    """Titles and joints as given."""
    figure = kt.viz.joint_gallery({"one": Revolute(), "two": Reversed(Helical(pitch=0.1))}, columns=1)
    assert [axes.get_title() for axes in figure.axes] == ["one", "two"]


def test_errors_name_what_is_wrong():
    """Unknown kinds, things that are no joints, empty galleries."""
    with pytest.raises(UnknownNameError, match="no joint kind named 'helicla'.*Did you mean 'helical'"):
        kt.viz.plot_joint("helicla")
    with pytest.raises(KinetreeError, match="3.0 is neither a joint nor the name of a registered kind"):
        kt.viz.plot_joint(3.0)
    with pytest.raises(KinetreeError, match="nothing to draw"):
        kt.viz.joint_gallery({})


# The command line -----------------------------------------------------------------------------------------------------


def test_command_line_lists_all_kinds_and_draws(tmp_path):
    """kinetree joints: one row for each kind; with --plot a picture."""
    result = CliRunner().invoke(app, ["joints"])
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(JOINTS)
    path = tmp_path / "screw.png"
    result = CliRunner().invoke(app, ["joints", "helical", "--plot", str(path)])
    assert "q = (angle [rad])" in result.stdout and str(path) in result.stdout
    assert path.read_bytes().startswith(b"\x89PNG")


def test_command_line_refuses_unknown_kinds():
    """The closest name is offered."""
    result = CliRunner().invoke(app, ["joints", "revolut"])
    assert result.exit_code == 2 and "Did you mean 'revolute'?" in result.output


# The page -------------------------------------------------------------------------------------------------------------


def rows() -> dict[str, list[str]]:
    """The cells of each kind's row in docs/joints.md."""
    lines = [line for line in (DOCS / "joints.md").read_text().splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row for row in cells}


def test_page_has_a_row_for_every_kind():
    """None is missing, none is invented, in the registry's order."""
    assert list(rows()) == list(JOINTS)


@pytest.mark.parametrize("kind", JOINTS)
def test_page_says_what_the_code_says(kind):
    """Class, file, sizes, coordinates with units, and whether it can close a loop."""
    entry = KINDS[kind]
    _, link, nq, nv, q, v, text, loop, source = rows()[kind]
    name, path = re.fullmatch(r"\[(\w+)\]\(\.\./(.*)\)", link).groups()
    assert name == entry.name
    assert re.search(rf"^class {name}\b", (DOCS.parent / path).read_text(), re.MULTILINE)
    assert (nq, nv) == entry.sizes
    if nq != "any":
        written = q.replace("quaternion (w, x, y, z)", ", ".join(f"quaternion {x}" for x in "wxyz"))
        assert (written, v) == (entry.position or "none", entry.velocity or "none")
        assert loop == ("yes" if entry.implicit else "no")
    assert text and re.search(r"^(F|S) (table|eq\.|example|section|\d)|\(\d{4}\)", source)


def test_picture_is_small_and_shows_every_kind():
    """docs/joints.png is below 400 kB; its description names the panels: `kinetree joints --plot docs/joints.png`."""
    image = pytest.importorskip("PIL.Image")
    path = DOCS / "joints.png"
    assert path.stat().st_size < 400_000
    with image.open(path) as picture:
        titles = picture.text["Description"].split(", ")
    assert [title.split()[0] for title in titles] == [entry.name for entry in KINDS.values()]
