"""The page of the corpus: counts and lines made from rows."""

from __future__ import annotations

from benchmarks.corpus import report

GOOD = {"M": 1e-16, "bias": 2e-16, "acceleration": 3e-14, "residual": 1e-16, "condition": 10.0}
BASE = {
    "corpus": "gymnasium MJCF", "options": {}, "load_seconds": 0.01, "nq": 2, "nv": 2, "bodies": 2, "loops": 0,
    "equalities": 0, "tendons": 1, "actuators": 1, "rival": "MuJoCo", "reason": "",
}  # fmt: skip


def row(file, **values):
    return {**BASE, "file": file, "verdict": "agrees", "errors": GOOD, **values}


def refused(file, said):
    return {
        "corpus": BASE["corpus"], "file": file, "verdict": "refused", "reason": "line 3: a | b. More",
        "rivals_say": said,
    }  # fmt: skip


def test_summary_counts_models_not_parts():
    """Parts of models do not count; a refusal counts as readable only if an engine reads more than an empty world."""
    rows = [
        row("a.xml"),
        row("b.xml", options={"inertia": "accept"}),
        refused("c.xml", "Pinocchio: no; MuJoCo reads it"),
        refused("d.xml", "MuJoCo reads it as an empty world"),
        {"corpus": BASE["corpus"], "file": "e.xml", "verdict": "not a model", "reason": "a part"},
    ]
    line = report.summary(rows)[-1]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == ["**all**", "5", "1", "4", "2 (50.0 %)", "1 (25.0 %)", "2 (66.7 %)", "2", "0", "0", "2", "0"]


def test_lines_hold_as_many_cells_as_the_head():
    """Bars in a reason are escaped, loaded and refused files have the same columns."""
    head, _, *lines = report.table([row("a.xml"), refused("c.xml", "MuJoCo reads it")])
    assert {line.replace("\\|", "").count("|") for line in lines} == {head.count("|")}


def test_an_acceleration_beyond_the_tolerance_shows_why_it_is_accepted():
    """The residual and the condition number stand beside it."""
    bad = {**GOOD, "acceleration": 2e-8, "condition": 1e8}
    line = list(report.table([row("a.xml", errors=bad)]))[-1]
    assert "2e-08; residual 1e-16, condition 1e+08" in line


def test_files_that_differ_in_numbers_only_are_one_row():
    """Rows of a grouped corpus with the same verdict and reason, names apart, keep their count and largest error."""
    group = {**BASE, "corpus": "pybullet_data random_urdfs"}
    many = [{**row(f"{n}.urdf", reason=f"link 'random_{n}' is thin"), **{"corpus": group["corpus"]}} for n in range(5)]
    many[3]["errors"] = {**GOOD, "M": 3e-12}
    (one,) = report.collapsed(many)
    assert one["files"] == 5 and one["errors"]["M"] == 3e-12
    assert report.collapsed([one, {**many[0], "verdict": "refused"}])[0]["files"] == 5
    assert report.summary([one])[-1].startswith("| **all** | 5 | 0 | 5 | 5 (100.0 %)")
