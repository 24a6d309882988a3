"""The side file of a URDF file: loop joints and other constraints, which URDF itself does not have, as TOML or YAML.

Python reads TOML itself; YAML needs PyYAML. Neither may have references, tags or code that a hostile file could use
(`kinetree.io.urdf.loop_syntax`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from kinetree.constraints import Constraint, Distance, LinearCoupling, LoopJoint, PolynomialCoupling
from kinetree.errors import FileFormatError, KinetreeError, closest
from kinetree.io.number_text import rpy_of
from kinetree.io.urdf.loop_syntax import YAML_SUFFIXES, SyntaxFault, Tables, parsed, table_text
from kinetree.io.xml.source import read_bytes
from kinetree.joints import Cylindrical, Fixed, Helical, Joint, Planar, Prismatic, Revolute, Spherical, Universal
from kinetree.model.loop_joints import DATA, LIMITS
from kinetree.model.mechanism import is_identity
from kinetree.model.parts import pose_of_transform, rotation_of_rpy, transform_of_pose

SUFFIXES = tuple(f".loops{suffix}" for suffix in (".toml", *YAML_SUFFIXES))
MOST_BYTES = 2**20
TYPES = {cls.kind: cls for cls in (Fixed, Spherical, Revolute, Prismatic, Cylindrical, Helical, Universal, Planar)}
_NUMBER, _TEXT, _NAME, _FLAG, _POINT, _PLACE = "a number", "text", "a name", "true or false", "[x, y, z]", "a pose"
_NUMBERS, _NAMES = "a list of numbers", "a list of names"
_EACH = "a number, or a list of one for each freedom"
_ENDS = {"predecessor": _NAME, "successor": _NAME}
# Entries of each kind of table, and those that must be there.
ENTRIES = {
    "loop": {"name": _NAME, "type": _TEXT, **_ENDS, "axis": _POINT, "pitch": _NUMBER, "at_predecessor": _PLACE,
             "at_successor": _PLACE, **dict.fromkeys(DATA, _EACH), "active": _FLAG},
    "distance": {"name": _NAME, **_ENDS, "length": _NUMBER, "at_predecessor": _POINT, "at_successor": _POINT},
    "coupling": {"name": _NAME, "joints": _NAMES, "ratios": _NUMBERS, "total": _NUMBER},
    "polynomial": {"name": _NAME, "joint": _NAME, "master": _NAME, "coefficients": _NUMBERS,
                   "joint_reference": _NUMBER, "master_reference": _NUMBER},
}  # fmt: skip
NEEDED = {"loop": ("name", "type", *_ENDS), "distance": (*_ENDS, "length"), "coupling": ("joints", "ratios"),
          "polynomial": ("joint", "coefficients")}  # fmt: skip


def loop_file_of(source: object, loops: str | PathLike | bool | None) -> Path | None:
    """The side file of a URDF file: the one given, or by default the one beside it, if there is one.

    Parameters
    ----------
    source : object
        The URDF file, or its text.
    loops : str, path, bool or None
        The option; False for none.
    """
    if loops is False:
        return None
    if loops is not None and loops is not True:
        return Path(loops)
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("", "<"):
        return None
    path = Path(source)
    found = beside(path)
    return found if loops is True or os.path.exists(found) else None


def beside(path: Path, chosen: Path | None = None) -> Path:
    """The side file of a URDF file: the chosen one, or that beside it, in TOML if there is none yet.

    Raises
    ------
    FileFormatError
        Others beside it, which would be read, too.
    """
    found = [path.with_suffix(suffix) if path.name else path / suffix for suffix in SUFFIXES]
    there = [each for each in found if os.path.exists(each)]  # False for names that no file can have
    both = [*dict.fromkeys([*there, *([] if chosen is None else [chosen])])]
    if there and len(both) > 1:
        names = " and ".join(each.name for each in both)
        raise _error(path, None, f"it has two files of loops, {names}", f"keep one, remove {there[0].name}?")
    return chosen or (there or found)[0]


@dataclass(frozen=True, slots=True)
class LoopFile:
    """Constraints of a side file, each with its line.

    Attributes
    ----------
    path : Path
    constraints : tuple of (Constraint, int)
    """

    path: Path
    constraints: tuple[tuple[Constraint, int], ...]

    @classmethod
    def read(cls, path: Path) -> LoopFile:
        """Read a file.

        Raises
        ------
        FileFormatError, FileNotFoundError
        """

        def refuse(line: int | None, message: str, code: str, repair: str) -> FileFormatError:
            return _error(path, line, message, repair)

        content = read_bytes(path, refuse)
        if len(content) > MOST_BYTES:
            raise _error(path, None, f"{len(content)} bytes, expected at most {MOST_BYTES}", "is this a loop file?")
        try:
            tables = parsed(content.decode("utf-8-sig"), path.suffix.lower())
        except UnicodeDecodeError as error:
            raise _error(path, None, f"byte {error.start} is not UTF-8", "save it as UTF-8") from None
        except SyntaxFault as fault:
            message, line, repair = fault.args
            raise _error(path, line, message, repair) from None
        return cls(path, tuple(constraints_of(path, tables)))

    def check(self, frames: Iterable[str], joints: Iterable[str]) -> None:
        """Raise an error for names that a robot does not have.

        Raises
        ------
        FileFormatError
        """
        known = {"link": list(frames), "joint": list(joints)}
        for c, line in self.constraints:
            for kind, names in (("link", c.frames), ("joint", c.joints)):
                for name in names:
                    if name not in known[kind]:
                        close = closest(name, known[kind])
                        repair = f"did you mean '{close[0]}'?" if close else f"{kind}s: {', '.join(known[kind][:12])}"
                        raise _error(self.path, line, f"{c}: the robot has no {kind} '{name}'", repair)

    def fail(self, error: KinetreeError) -> FileFormatError:
        """An error that a model raised about one of these constraints, with the line of the file."""
        name = getattr(error, "loop", None) or getattr(error, "name", None)
        line = next((line for c, line in self.constraints if c.name and c.name == name), None)
        return _error(self.path, line, error.message, "")


def _error(path: Path, line: int | None, message: str, repair: str) -> FileFormatError:
    where, ended = f"{path}:{line}" if line else str(path), "" if message.endswith((".", "?")) else "."
    text = f"{where}: {message}{ended}" + (f" {repair[:1].upper()}{repair[1:]}" if repair else "")
    return FileFormatError(text, file=str(path), line=line, code="loop-file", repair=repair, summary=message)


# Reading -------------------------------------------------------------------------------------------------------------


def constraints_of(path: Path, tables: Tables) -> Iterator[tuple[Constraint, int | None]]:
    """The constraints of tables, each with its line.

    Parameters
    ----------
    path : Path
        For errors.
    tables : Tables

    Raises
    ------
    FileFormatError
    """
    names: set[str] = set()
    for kind, entries in tables.content.items():
        if kind not in ENTRIES or not isinstance(entries, list) or not all(isinstance(x, dict) for x in entries):
            close = closest(kind, ENTRIES)
            known = f"did you mean [[{close[0]}]]?" if close else f"known: {', '.join(f'[[{k}]]' for k in ENTRIES)}"
            raise _error(path, tables.line_of(kind), f"'{kind}' is not one of the tables of a loop file", known)
        for k in range(len(entries)):
            entry = _Table(path, tables, kind, k)
            made = entry.constraint()
            if made.name and made.name in names:
                raise _error(path, entry.line, f"two constraints are named '{made.name}'", "rename one of them")
            names.add(made.name)
            yield made, entry.line


class _Table:
    """One table of a file: its values, checked."""

    def __init__(self, path: Path, tables: Tables, kind: str, k: int) -> None:
        self.path, self.tables, self.kind, self.k = path, tables, kind, k
        self.line, table = tables.line_of(kind, k), tables.content[kind][k]
        name = table.get("name")
        self.what = f"{kind} '{name}'" if isinstance(name, str) and name else f"[[{kind}]]"
        for key in table:
            if key not in ENTRIES[kind]:
                close = closest(key, ENTRIES[kind])
                repair = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(ENTRIES[kind])}"
                raise self.error(f"'{key}' is no entry of it", repair, key)
        for key in NEEDED[kind]:
            if key not in table:
                raise self.error(f"'{key}' is missing", f"write {key} = {_EXAMPLES.get(key, '...')}")
        self.values = {key: self.value(key, value, ENTRIES[kind][key]) for key, value in table.items()}

    def error(self, message: str, repair: str = "", key: str | None = None) -> FileFormatError:
        line = self.line if key is None else self.tables.line_of(self.kind, self.k, key)
        return _error(self.path, line, f"{self.what}: {message}", repair)

    def value(self, key: str, value: object, kind: str) -> object:
        """A value of an entry, of the kind that it must have."""
        if kind in (_NAME, _TEXT) and isinstance(value, str) and value:
            return value
        if kind == _FLAG and isinstance(value, bool):
            return value
        if kind in (_NUMBER, _EACH) and _is_number(value, infinite=key in LIMITS):
            return float(value)
        if kind == _EACH and isinstance(value, list) and all(_is_number(x, infinite=key in LIMITS) for x in value):
            return tuple(map(float, value))
        if kind == _POINT and _numbers(value, 3):
            return tuple(map(float, value))
        if kind == _NUMBERS and _numbers(value):
            return tuple(map(float, value))
        if kind == _NAMES and isinstance(value, list) and value and all(isinstance(x, str) and x for x in value):
            return tuple(value)
        if kind == _PLACE and _numbers(value, 3):
            return transform_of_pose(np.eye(3), value)
        if kind == _PLACE and isinstance(value, dict) and set(value) <= {"xyz", "rpy"}:
            xyz, rpy = (value.get(part, [0.0, 0.0, 0.0]) for part in ("xyz", "rpy"))
            if _numbers(xyz, 3) and _numbers(rpy, 3):
                return transform_of_pose(rotation_of_rpy(*rpy), xyz)
        shown = repr(value) if len(repr(value)) < 60 else f"{repr(value)[:60]}..."
        expected = "{ xyz = [x, y, z], rpy = [r, p, y] }" if kind == _PLACE else kind
        raise self.error(f"{key} is {shown}, expected {expected}", "numbers are finite, in SI units", key)

    def constraint(self) -> Constraint:
        """The constraint of the table."""
        given = dict(self.values)
        try:
            if self.kind == "loop":
                return self._loop(given)
            if self.kind == "distance":
                for old, new in (("at_predecessor", "at_P"), ("at_successor", "at_S")):
                    if old in given:
                        given[new] = given.pop(old)
                return Distance(**given)
            if self.kind == "coupling":
                return LinearCoupling(**given)
            return PolynomialCoupling(**{"master": None} | given)
        except FileFormatError:
            raise
        except KinetreeError as error:
            raise self.error(error.message) from None

    def _loop(self, given: dict) -> LoopJoint:
        kind = given.pop("type")
        if kind not in TYPES:
            close = closest(kind, TYPES)
            repair = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(TYPES)}"
            raise self.error(f"type is '{kind}'", repair, "type")
        taken = {what: given.pop(what) for what in ("axis", "pitch") if what in given}
        for what in taken:
            if what not in getattr(TYPES[kind], "__dataclass_fields__", {}):
                raise self.error(f"a {kind} joint has no {what}", "remove it", what)
        for old, new in (("at_predecessor", "X_P"), ("at_successor", "X_S")):
            if old in given:
                given[new] = given.pop(old)
        return LoopJoint(joint=TYPES[kind](**taken), **given)


_EXAMPLES = {"name": '"closure"', "type": '"revolute"', "predecessor": '"world"', "successor": '"rod"', "length": "0.5",
             "joints": '["a", "b"]', "ratios": "[1.0, -2.0]", "joint": '"a"', "coefficients": "[0.0, 1.0]"}  # fmt: skip


def _is_number(value: object, infinite: bool = False) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        x = float(value)
    except OverflowError:
        return False
    return math.isfinite(x) or (infinite and not math.isnan(x))


def _numbers(value: object, count: int | None = None) -> bool:
    """Whether a value is a list of finite numbers, of this length."""
    right = isinstance(value, list) and bool(value) and (count is None or len(value) == count)
    return right and all(map(_is_number, value))


# Writing -------------------------------------------------------------------------------------------------------------


def loops_text(constraints: Iterable[Constraint], suffix: str = ".toml") -> tuple[str, list[Constraint]]:
    """The text of a side file, and the constraints that it cannot hold.

    Parameters
    ----------
    constraints : iterable of Constraint
    suffix : {".toml", ".yaml", ".yml"}
    """
    tables: dict[str, list[dict]] = {}
    lost = []
    for c in constraints:
        entries = _entries(c)
        if entries is None:
            lost.append(c)
            continue
        tables.setdefault(entries[0], []).append(entries[1])
    parts = ["# Loop joints and constraints of the robot in the URDF file of this name."]
    return "\n\n".join([*parts, *(table_text(kind, made, suffix) for kind, made in tables.items())]) + "\n", lost


def _entries(c: Constraint) -> tuple[str, dict] | None:
    """The kind of table and its entries, defaults left out; None for what no table holds."""
    name = {"name": c.name} if getattr(c, "name", "") else {}
    if isinstance(c, LoopJoint):
        return _loop_entries(c)
    if isinstance(c, Distance):
        ends = {"predecessor": c.predecessor, "successor": c.successor, "length": c.length}
        at = {"at_predecessor": c.at_P, "at_successor": c.at_S}
        return "distance", name | ends | {key: list(x) for key, x in at.items() if any(x)}
    if isinstance(c, LinearCoupling):
        return "coupling", name | {"joints": list(c.joints), "ratios": list(c.ratios), "total": c.total}
    if isinstance(c, PolynomialCoupling):
        master = {"master": c.master} if c.master else {}
        references = {what: getattr(c, what) for what in ("joint_reference", "master_reference") if getattr(c, what)}
        return "polynomial", name | {"joint": c.joint} | master | {"coefficients": list(c.coefficients)} | references
    return None


def _loop_entries(loop: LoopJoint) -> tuple[str, dict] | None:
    if TYPES.get(loop.joint.kind) is not type(loop.joint) or not loop.name:
        return None
    values = {"name": loop.name, "type": loop.joint.kind, "predecessor": loop.predecessor, "successor": loop.successor}
    values |= {what: _listed(x) for what, x in _parameters(loop.joint).items()}
    for key, X in (("at_predecessor", loop.X_P), ("at_successor", loop.X_S)):
        R, p = pose_of_transform(X)
        if not is_identity(X):
            values[key] = {"xyz": p.tolist(), "rpy": list(rpy_of(R))}
    for what in DATA:
        if getattr(loop, what) != LoopJoint.__dataclass_fields__[what].default:
            values[what] = _listed(getattr(loop, what))
    return "loop", values | ({} if loop.active else {"active": False})


def _parameters(joint: Joint) -> dict:
    return {what: x for what, x in joint._parameters().items() if what in ("axis", "pitch")}


def _listed(x):
    return list(x) if isinstance(x, tuple) else x
