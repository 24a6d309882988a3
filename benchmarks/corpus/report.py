"""``docs/corpus.md``: what came of each file, from ``benchmarks/results/corpus.json``."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Iterator

from benchmarks.corpus.catalog import CORPORA, GROUPED
from benchmarks.corpus.measure import SINGULAR, STATES, TOLERANCE

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "corpus.md"
FAULTS = ("disagrees", "raised", "crashed", "timed out")
LONGEST_REASON = 260

HEAD = """# Robot files of public packages

For users who ask whether their robot loads: every model file that these packages ship, loaded by `kt.load` and compared
with another engine that reads the same file. Generated, not written: `python -m benchmarks.corpus` from the root of the
repository examines the installed packages (they are not imported, only their files are read) and writes this page and
`benchmarks/results/corpus.json`; a word after it selects files whose corpus or path holds it.

```bash
pip install pin mujoco
pip install --no-deps example-robot-data pybullet dm-control gymnasium mujoco-mjx musclemimic-models
python -m benchmarks.corpus
```
"""

MEASURE = f"""## Comparison

URDF files are compared with Pinocchio, welded to the world and, unless the root link is called world or the mechanism
has no mass to float with, with a free base; the larger error counts. Where Pinocchio refuses a file, MuJoCo is asked.
MJCF files are compared with MuJoCo. No engine here reads SDF: its trees are built link by link in Pinocchio, from the
raw XML. Numbers are the largest relative errors over {STATES} random states within the joint limits:

* **M**: the mass matrix (`crba`); **bias**: the joint forces at zero acceleration (`rnea`: gravity, Coriolis and
  centrifugal); **a**: the accelerations of forward dynamics (`aba`) under the forces that give each joint an
  acceleration of order one. All three concern the bare tree with armature. In MJCF also **springs**: the joint forces
  of springs, dampers, tendons, fluids and compensation of gravity (`passive_joint_forces`, `qfrc_passive`), and
  **complete**: `forward_dynamics` with them, against `qacc` without contacts, constraints, limits, dry friction,
  actuators and inertia of tendons.
* **load** is the wall time of one reading, which other work on the machine lengthens.
* Coordinates are scaled so that M has a unit diagonal; errors are relative to the largest entry. A finger counts as
  much as a hip, and units do not matter.
* An error is accepted up to {TOLERANCE:.0e}. Where M is ill-conditioned no two engines agree on accelerations; then
  the residual of M a = tau - bias, with the other engine's M and bias, decides, and both are given with the condition
  number of the scaled M. Where that is beyond {SINGULAR:.0e}, M and bias alone are compared.

Mimic joints are coordinates of their own, as in the bare tree of both engines; in "complete" linear joint equalities
hold exactly, and MuJoCo's M and forces are projected onto them. `options` are those that the file needs to load:
`inertia="accept"` takes an inertia that no body can have as it is, as the other engines do; `massless="lock"` fixes
joints that move no mass, and `unsupported="drop"` leaves out the parts that the message names; both are done to the
other engine's model too. MJCF is compiled by MuJoCo for both sides (defaults, inertias of geoms), so these rows compare
the readers of the compiled model, not the compiler.

"No models" are files that are parts of others or hold no body. Refused files have the message, and the other
engines' verdict. Evaluated on NumPy arrays, without compiling; files marked "compiled too" also by compiled code.
"""


def write(result: dict) -> None:
    """Write the page of a result."""
    rows = result["rows"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items() if name != "kinetree")
    lines = [HEAD, *summary(rows), ""]
    if result["absent"]:
        lines += [f"Not installed when this was written: {', '.join(result['absent'])}.", ""]
    lines += [f"{result['date']}, {result['seconds']:.0f} s for all files; {versions}.", "", MEASURE]
    for corpus in CORPORA:
        mine = [row for row in rows if row["corpus"] == corpus]
        if mine:
            lines += [f"## {corpus}", "", *(grouped(mine) if corpus in GROUPED else table(mine)), ""]
    DOCUMENT.write_text("\n".join(lines).rstrip() + "\n")


# --- the summary ------------------------------------------------------------------------------------------------------


def summary(rows: list[dict]) -> list[str]:
    """One line per corpus, and one for all."""
    lines = [
        "| corpus | files | no models | models | load | without options | load, of those that any engine reads | "
        "agree | nothing moves | no rival | refused | faults |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for corpus in CORPORA:
        mine = [row for row in rows if row["corpus"] == corpus]
        if mine:
            lines.append(_counts(corpus, mine))
    few = [row for row in rows if row["corpus"] not in GROUPED]
    if len(few) < len(rows):
        lines.append(_counts("**all but random_urdfs**", few))
    return [*lines, _counts("**all**", rows)]


def loads(row: dict) -> bool:
    """Whether a model came of the file."""
    return "load_seconds" in row


def _counts(name: str, rows: list[dict]) -> str:
    models = [row for row in rows if row["verdict"] != "not a model"]
    loaded = [row for row in models if loads(row)]

    def verdict(*which):
        return _files(row for row in models if row["verdict"] in which)

    cells = [
        _files(rows),
        _files(rows) - _files(models),
        _files(models),
        _share(_files(loaded), _files(models)),
        _share(_files(row for row in loaded if not row["options"]), _files(models)),
        _share(_files(loaded), _files(loaded) + _files(row for row in models if _read_elsewhere(row))),
        verdict("agrees"),
        verdict("loads, nothing moves"),
        verdict("loads, no rival"),
        verdict("refused"),
        verdict(*FAULTS),
    ]
    return f"| {name} | " + " | ".join(map(str, cells)) + " |"


def _files(rows: Iterable[dict]) -> int:
    """How many files the rows stand for."""
    return sum(row.get("files", 1) for row in rows)


def _share(part: int, whole: int) -> str:
    return f"{part} ({100.0 * part / whole:.1f} %)" if whole else "0"


def _read_elsewhere(row: dict) -> bool:
    """Whether another engine reads a file that was refused."""
    return any(said.endswith("reads it") for said in row.get("rivals_say", "").split("; "))


def _share(part: int, whole: int) -> str:
    return f"{part} ({100.0 * part / whole:.1f} %)" if whole else "0"


# --- the tables -------------------------------------------------------------------------------------------------------


def table(rows: list[dict]) -> Iterator[str]:
    """One line per file."""
    passive = any("passive" in row for row in rows)
    head = ["file", "nq, nv", "bodies", "loops, equalities, tendons, actuators", "options", "rival", "M", "bias", "a"]
    head += ["springs", "complete"] if passive else []
    head += ["load, ms", "result"]
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        cells = [row["file"]]
        if loads(row):
            equipment = [row[what] for what in ("loops", "equalities", "tendons", "actuators")]
            cells += [f"{row['nq']}, {row['nv']}", row["bodies"], _nonzero(equipment), _options(row)]
        else:
            cells += [""] * 4
        cells += [row.get("rival", "").partition(",")[0], *_errors(row)]
        if passive:
            cells += [_number(row.get("passive")), _number(row.get("complete"))]
        cells += [f"{1e3 * row['load_seconds']:.0f}" if loads(row) else "", _result(row)]
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def collapsed(rows: list[dict]) -> list[dict]:
    """One row for all files of a grouped corpus of which the same can be said, with the largest numbers."""
    kept: list[dict] = []
    alike: dict[tuple, list[dict]] = {}
    for row in rows:
        if row["corpus"] not in GROUPED:
            kept.append(row)
            continue
        said = [re.sub("'[^']*'", "", str(row.get(what))) for what in ("options", "reason", "rivals_say", "refusal")]
        key = row["corpus"], row["verdict"], row.get("nv"), tuple(said)
        alike.setdefault(key, []).append(row)
    for mine in alike.values():
        row = {**mine[0], "files": sum(row.get("files", 1) for row in mine)}
        if "errors" in row:
            row["errors"] = {what: max(each["errors"][what] for each in mine) for what in row["errors"]}
        if loads(row):
            row["load_seconds"] = max(each["load_seconds"] for each in mine)
        kept.append(row)
    order = list(CORPORA)
    return sorted(kept, key=lambda row: order.index(row["corpus"]))


def grouped(rows: list[dict]) -> Iterator[str]:
    """The table of collapsed rows."""
    yield "| files, the first | nv | options | M | bias | a | load, ms | result |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in rows:
        cells = [f"{row.get('files', 1)}, {row['file']}", row.get("nv", ""), _options(row) if loads(row) else ""]
        cells += [*_errors(row), f"up to {1e3 * row['load_seconds']:.0f}" if loads(row) else "", _result(row)]
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _nonzero(counts: list[int]) -> str:
    return ", ".join(map(str, counts)) if any(counts) else ""


def _options(row: dict) -> str:
    return ", ".join(f'`{name}="{value}"`' for name, value in row["options"].items())


def _number(x: float | None) -> str:
    if x is None:
        return ""
    return "0" if x == 0.0 else f"{x:.0e}"


def _errors(row: dict) -> list[str]:
    if "errors" not in row or not row["nv"]:
        return ["", "", ""]
    errors = row["errors"]
    acceleration = _number(errors["acceleration"])
    if errors["condition"] > SINGULAR:
        acceleration = ""
    elif not errors["acceleration"] <= TOLERANCE:
        acceleration += f"; residual {_number(errors['residual'])}, condition {_number(errors['condition'])}"
    return [_number(errors["M"]), _number(errors["bias"]), acceleration]


def _result(row: dict) -> str:
    """The verdict, and everything that explains it, cut to a line."""
    said = [row["verdict"]]
    if row.get("base") == ["welded", "free"]:
        said[0] += ", free base too"
    if "compiled" in row:
        said.append("compiled too")
    for what in ("reason", "rivals_say", "refusal", "complete_reason"):
        text = row.get(what)
        if text and not (what == "refusal" and row["verdict"] == "refused"):
            said.append(_short(f"options because of {text}" if what == "refusal" else text))
    return "; ".join(said)


def _short(text: str) -> str:
    """The first sentence, or as much as fits."""
    text = text.partition(". ")[0].strip()
    return text if len(text) <= LONGEST_REASON else text[:LONGEST_REASON].rsplit(" ", 1)[0] + " ..."
