"""The meaning of every entry of an array, as the comments and constants of a C header."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kinetree.algorithms.spec import sized
from kinetree.forces.registry import PARAMETERS, POSITION_PARAMETERS
from kinetree.model.gears import gear_unit
from kinetree.native.c_names import comment, identifiers

_FORCE = {"rad/s": "N m", "m/s": "N"}
_INERTIA = {"rad/s": "kg m^2", "m/s": "kg"}
_COMPONENTS = {3: ("x", "y", "z"), 6: ("angular x", "angular y", "angular z", "linear x", "linear y", "linear z")}
_WRENCH = ("moment x", "moment y", "moment z", "force x", "force y", "force z")
_BODY_UNITS = {"mass": "kg", "h": "kg m", "I": "kg m^2", "r": "m", "gravity": "m/s^2"}
_LABELS = {"nq": "position_labels", "nv": "velocity_labels", "nb": "body_names", "nc": "constraint_labels"}
_LABELS |= {"n_inertial": "inertial_labels", "nx": "state_names", "nu": "input_names"}
LAST_BIT = 30
"""The bit of the status that all checks from the thirtieth on share."""


def axis_labels(model, size: str | int, name: str) -> list[str]:
    """A label for every place along one axis of an array."""
    if size == "nf":
        return [frame.name for frame in model.frames]
    if size == "nw":
        return [*model.velocity_labels, *model.state_names]
    if size in _LABELS:
        return list(getattr(model, _LABELS[size]))
    labels = _WRENCH if size == 6 and name.startswith("f") else _COMPONENTS.get(size)
    return list(labels or map(str, range(*sized((size,), model))))


def units(model, declared: Sequence[str | int], name: str) -> list[str] | None:
    """Units along the single axis of a joint-space vector; None where the name does not determine them.

    Parameters
    ----------
    model : Model
    declared : sequence
        The shape as declared: ("nq",).
    name : str
        ``v, a, tau`` and their kin.
    """
    if tuple(declared) == ("nq",):
        rate = name.endswith("dot")
        return [f"{unit}/s" for unit in model.position_units] if rate else list(model.position_units)
    if tuple(declared) != ("nv",):
        return None
    velocity = model.velocity_units
    stem = name.split("_")[0]
    if stem == "v":
        return list(velocity)
    if stem == "a":
        return [f"{unit}^2" for unit in velocity]
    if stem in ("tau", "c", "g"):
        return [_FORCE.get(unit, "J") for unit in velocity]
    return None


def table(model, declared: Sequence[str | int], name: str) -> list[str]:
    """Lines that label each entry of an array, by the names of joints and bodies."""
    axes = [axis_labels(model, size, name) for size in declared]
    if not axes:
        return ["[0]"]
    if len(axes) == 1:
        known = units(model, declared, name)
        joints = _joints(model, declared[0], len(axes[0]))
        lines = []
        for k, label in enumerate(axes[0]):
            unit = f"  [{known[k]}]" if known else ""
            lines.append(f"[{k}] {label}{joints[k]}{unit}")
        return lines
    inner = prod(len(axis) for axis in axes[1:])
    shape = " x ".join(str(len(axis)) for axis in axes)
    lines = [f"{shape}, row after row: entry (i, j, ...) stands at " + _strides([len(axis) for axis in axes]) + "."]
    lines += [f"[{k * inner}..{(k + 1) * inner - 1}] row {k}: {label}" for k, label in enumerate(axes[0]) if inner]
    for depth, axis in enumerate(axes[1:], 1):
        lines += [f"along index {'ijkl'[depth]}: " + ", ".join(f"{k} {label}" for k, label in enumerate(axis))]
    return lines


def _strides(sizes: list[int]) -> str:
    terms = []
    for depth in range(len(sizes)):
        step = prod(sizes[depth + 1 :])
        terms.append("ijkl"[depth] if step == 1 else f"{step} {'ijkl'[depth]}")
    return "[" + " + ".join(terms) + "]"


def _joints(model, size, count: int) -> list[str]:
    """The kind of joint behind each coordinate, "" for axes of other things."""
    if size not in ("nq", "nv"):
        return [""] * count
    slices = model.q_slice if size == "nq" else model.v_slice
    return [f" ({model.joints[i].kind})" for i in model.outward() for _ in range(slices[i].stop - slices[i].start)]


def enumeration(prefix: str, model, name: str, declared: Sequence[str | int], taken: set[str]) -> list[str]:
    """Lines of an enum with an array's size and, for joint-space vectors, the index of every coordinate.

    Parameters
    ----------
    prefix : str
        Opens every constant.
    model : Model
    name : str
        C name of the array.
    declared : sequence
        Its shape as declared.
    taken : set of str
        Identifiers of the header so far; the new ones are added.
    """
    labels = axis_labels(model, declared[0], name) if tuple(declared) in (("nq",), ("nv",)) else []
    words = identifiers([f"{prefix}_{name}_size", *(f"{prefix}_{name}_{label}" for label in labels)], taken)
    taken.update(words)
    values = [prod(sized(declared, model)), *range(len(labels))]
    lines = [f"    {word} = {value}" for word, value in zip(words, values, strict=True)]
    return ["enum {", *(line + "," for line in lines[:-1]), lines[-1], "};"]


def number_unit(model, name: str) -> str:
    """The unit of a model number by its name: "forearm.mass", "elbow.armature"."""
    head, _, last = name.rpartition(".")
    if last in "xyz" and head == "gravity":
        return _BODY_UNITS["gravity"]
    kind = head.rpartition(".")[2]
    if kind in ("h", "I", "r"):
        return _BODY_UNITS[kind]
    if last == "mass":
        return "kg"
    if last in ("ratio", "axial_inertia"):
        return gear_unit(model, head, last)
    if any(element.name == head for element in model.elements):
        return "SI"
    if last in POSITION_PARAMETERS:
        return dict(zip(model.position_labels, model.position_units, strict=True)).get(head, "1")
    rate = dict(zip(model.velocity_labels, model.velocity_units, strict=True)).get(head, "1/s")
    force = _FORCE.get(rate, "J")
    position = rate.removesuffix("/s")
    known = {
        "armature": _INERTIA.get(rate, "J s^2"),
        **{name: x.unit.replace("force", force).replace("position", position) for name, x in PARAMETERS.items()},
        "lower": position,
        "upper": position,
    }
    return known.get(last, "SI")


def check_lines(program, model, spec, present: Sequence[str]) -> list[str]:
    """A line per check: its bit, the condition violated, and the entries of the inputs that it reads."""
    names = [name for name, _ in program.inputs]
    lines, shared = [], []
    for k, (label, value) in enumerate(program.checks):
        bit, what = k + 1, f"{label} violated, by {_entries(program, model, spec, names, value)}"
        if bit < LAST_BIT or len(program.checks) == LAST_BIT:
            lines.append(f"{1 << bit}: {what}")
        else:
            shared.append(what)
    return [*lines, f"{1 << LAST_BIT}: one of", *(f"  {what}" for what in shared)] if shared else lines


def _entries(program, model, spec, names: list[str], value: int) -> str:
    seen, stack, entries = set(), [value], []
    while stack:
        k = stack.pop()
        if k in seen:
            continue
        seen.add(k)
        op, *args = program.code[k]
        if op == "input":
            entries.append(tuple(args))
        elif op not in ("const", "param"):
            stack.extend(args)
    shown = []
    for array, entry in sorted(entries):
        declared = {**spec.inputs, **spec.optional}.get(names[array], ())
        label = ""
        if tuple(declared) in (("nq",), ("nv",)):
            label = f" ({axis_labels(model, declared[0], names[array])[entry]})"
        shown.append(f"{names[array]}[{entry}]{label}")
    return ", ".join(shown) or "the model's numbers"


def block(lines: Sequence[str]) -> str:
    """A C comment of several lines; spaces that open a line are kept."""
    shown = [" " * (len(line) - len(line.lstrip())) + comment(line) for line in lines]
    return "/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in shown) + " */\n"
