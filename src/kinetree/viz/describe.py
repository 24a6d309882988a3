"""A model as text: a tree of its bodies for the terminal, and plain data for other programs."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from pathlib import Path

from kinetree.errors import ConstraintError
from kinetree.forces.registry import COEFFICIENTS

SHOWN = 8  # names of one kind in a line
DEEPEST = 32  # levels of the tree: beyond, indentation leaves no room for text
_IGNORED = re.compile(r"(?:\S*/)?([^/\[\s]+)(?:\[[^\]]*\])? ignored: (.*)", re.DOTALL)


def as_data(model) -> dict:
    """The model as nested dicts, lists, strings and numbers (JSON without loss of meaning: no limit is null).

    Parameters
    ----------
    model : Model

    Returns
    -------
    dict
        ``name, nb, nq, nv, mass`` (of moving bodies) [kg], ``welded_mass`` (fixed to the world) [kg], ``gravity``
        [m/s^2], ``bodies`` (with the joint of each), ``couplings``, ``rotors``, ``loops``,
        ``redundant_rows`` (of loops, that others imply), ``constraints`` (the others), ``equalities``, ``tendons``,
        ``actuators`` (``forces``: those without a control), ``keyframes``, ``unsupported`` (refused by the complete
        dynamics), ``report``.
    """
    return {
        **_fields(model, "name", "nb", "nq", "nv"),
        "mass": model.total_mass,
        "welded_mass": float(model.I[0].m),
        "gravity": [float(x) for x in model.gravity],
        "bodies": [_body(model, i) for i in model.outward()],
        "couplings": [
            _fields(c, "joint", "master") | {"ratio": float(c.ratio), "offset": float(c.offset)}
            for c in model.couplings
        ],
        "rotors": [
            {"name": rotor.name, "joint": model.joint_name(rotor.joint), "body": model.body_names[rotor.body]}
            | {"ratio": float(rotor.ratio), "axial_inertia": float(rotor.axial_inertia)}
            for rotor in model.rotors
        ],
        "loops": [
            {"name": loop.name, "kind": loop.joint.kind, **_fields(loop, "predecessor", "successor", "active")}
            for loop in model.loops
        ],
        "redundant_rows": [row._asdict() for row in _redundant(model)],
        "constraints": [str(c) for c in model.own_constraints if c.kind != "coupling"],
        "equalities": [str(equality) for equality in model.equalities],
        "tendons": [{"name": tendon.name, "forces": list(tendon.forces)} for tendon in model.tendons],
        "actuators": [
            _fields(a, "name", "transmission", "target")
            | {"muscle": a.is_muscle, "motor": a.is_motor, "active": a.active, "forces": list(a.forces)}
            for a in model.actuators
        ],
        "keyframes": list(model.keyframes),
        "unsupported": list(model.unsupported),
        "report": [str(entry) for entry in _report(model)],
    }


def as_tree(model):
    """The model as a rich renderable: totals, a tree of bodies with their joints, equipment, loading report."""
    from rich.console import Group
    from rich.text import Text
    from rich.tree import Tree

    heading = Text.assemble(
        (model.name, "bold"),
        f"   {model.nb - 1} moving bodies, nq = {model.nq}, nv = {model.nv}, moving mass {model.total_mass:.6g} kg",
        ", gravity (",
        ", ".join(f"{float(x):g}" for x in model.gravity),
        ") m/s^2",
    )
    world, welded = Text(model.body_names[0], style="dim"), float(model.I[0].m)
    if welded > 0.0:
        world.append(f"  {welded:.6g} kg welded to it")
    tree = Tree(world, guide_style="dim")
    nodes = {0: tree}
    for i in model.outward():
        if model.depth[i] > DEEPEST:
            continue
        nodes[i] = nodes[model.parent[i]].add(_line(_body(model, i)))
        if model.depth[i] == DEEPEST and model.children(i):
            nodes[i].add(Text(f"{len(model.subtree(i)) - 1} more bodies (--json lists them)", style="dim"))
    parts = [heading, tree, *map(Text, _equipment(model))]
    if report := _report(model):
        parts.append(Text(f"report on {model.source}" if model.source else "report", style="bold"))
        parts += [Text(f"  {line}", style="dim" if level == "info" else "yellow") for level, line in _grouped(report)]
    return Group(*parts)


def _equipment(model) -> list[str]:
    """A line for each kind of equipment, couplings, rotors and loop joints one by one."""
    data = as_data(model)
    lines = [f"coupling  {c['joint']} = {c['ratio']:g} {c['master']}{_signed(c['offset'])}" for c in data["couplings"]]
    lines += [
        f"rotor     {r['name']} of {r['joint']} in {r['body']}  ratio {r['ratio']:g}, {r['axial_inertia']:g} kg m^2"
        for r in data["rotors"]
    ]
    lines += [
        f"loop      {loop.name}  {loop.joint.kind}  {loop.predecessor} to {loop.successor}"
        + ("" if loop.active else "  (switched off)")
        for loop in model.loops
    ]
    if rows := _redundant(model):
        lines.append(f"{len(rows)} rows of loops that others imply, left out: {', '.join(map(str, rows))}")
    kinds = (
        ("constraint", data["constraints"], ""),
        ("equality", data["equalities"], ""),
        ("tendon", [tendon.name for tendon in model.tendons], ""),
        ("actuator", [a.name for a in model.actuators], _of_actuators(model.actuators)),
        ("keyframe", data["keyframes"], ""),
    )
    for kind, names, more in kinds:
        if names:
            shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
            lines.append(f"{len(names)} {kind}{'s' if len(names) > 1 else ''}{more}: {shown}")
    if names := model.unsupported:
        shown = "; ".join(names[:SHOWN]) + ("; ..." if len(names) > SHOWN else "")
        lines.append(f"{len(names)} not computed yet, so that forward_dynamics and simulate refuse the model: {shown}")
    return lines


def _redundant(model) -> tuple:
    """The rows of loops that others imply; none of loops that cannot close."""
    with suppress(ConstraintError):
        return model.redundant_rows()
    return ()


def _of_actuators(actuators) -> str:
    """Numbers of muscles and of motors among the actuators; motors exert nothing without a control."""
    muscles, motors = (sum(getattr(a, kind) for a in actuators) for kind in ("is_muscle", "is_motor"))
    parts = [f"{n} {kind}{'s' if n > 1 else ''}" for n, kind in ((muscles, "muscle"), (motors, "motor")) if n]
    return f", of which {' and '.join(parts)}" if parts else ""


def _grouped(report) -> list[tuple[str, str]]:
    """The report with equal lines about many elements merged: changes of physics first."""
    places: dict[tuple[str, str], list[str]] = {}
    for entry in report:
        ignored = _IGNORED.fullmatch(entry.message)
        message = f"{ignored[1]} ignored: {ignored[2]}" if ignored else entry.message
        places.setdefault((entry.level, message), []).append(entry.where)
    order = ("dropped", "warning", "info")
    lines = []
    for (level, message), where in sorted(places.items(), key=lambda item: order.index(item[0][0])):
        more = f" and {len(where) - 1} more" if len(where) > 1 else ""
        place = f" {Path(where[0]).name}{more}:" if where[0] else ""
        lines.append((level, f"{level}:{place} {message}"))
    return lines


def _line(body: dict):
    from rich.text import Text

    joint = body["joint"]
    line = Text.assemble((body["name"], "bold cyan"), f"  {body['mass']:.6g} kg", ("   " + joint["name"], "green"))
    line.append(f"  {joint['kind']}")
    if len(joint["coordinates"]) > 1:
        line.append(f" ({joint['nq']} positions, {len(joint['coordinates'])} velocities)", style="dim")
    if joint["axis"] is not None:
        line.append(f" ({', '.join(f'{x:g}' for x in joint['axis'])})")
    for coordinate in joint["coordinates"]:
        if coordinate["lower"] is not None or coordinate["upper"] is not None:
            low = "-inf" if coordinate["lower"] is None else f"{coordinate['lower']:g}"
            high = "inf" if coordinate["upper"] is None else f"{coordinate['upper']:g}"
            line.append(f"  [{low}, {high}] {coordinate['unit']}", style="dim")
    for key in ("armature", *COEFFICIENTS):
        values = [f"{coordinate[key]:g}" for coordinate in joint["coordinates"]]
        if set(values) != {"0"} and values:
            text = values[0] if len(set(values)) == 1 else f"({', '.join(values)})"
            line.append(f"  {key.replace('_', ' ')} {text}", style="dim")
    return line


def _body(model, i: int) -> dict:
    joint, v_slice = model.joints[i], model.v_slice[i]
    axis = getattr(joint, "axis", None)
    coordinates = []
    position_units = joint.position_units if joint.nq == joint.nv else ("1",) * joint.nv
    for m, k in enumerate(range(v_slice.start, v_slice.stop)):
        limited = model.has_limit(k)
        coordinates.append(
            {
                "name": joint.velocity_names[m],
                "unit": position_units[m],
                "velocity_unit": joint.velocity_units[m],
                "lower": _finite(model.lower[k]) if limited else None,
                "upper": _finite(model.upper[k]) if limited else None,
                **{what: float(getattr(model, what)[k]) for what in ("armature", *COEFFICIENTS)},
            }
        )
    m = float(model.I[i].m)
    return {
        "index": i,
        "name": model.body_names[i],
        "parent": model.body_names[model.parent[i]],
        "mass": m,
        "center_of_mass": [float(x) / m for x in model.I[i].h] if m > 0.0 else None,
        "joint": {
            "name": model.joint_name(i),
            **_fields(joint, "kind", "nq"),
            "axis": None if axis is None else [float(x) for x in axis],
            "coordinates": coordinates,
        },
    }


def _report(model) -> list:
    return list(getattr(model, "report", None) or [])


def _fields(part, *names: str) -> dict[str, object]:
    return {name: getattr(part, name) for name in names}


def _finite(x) -> float | None:
    return float(x) if math.isfinite(float(x)) else None


def _signed(x: float) -> str:
    return f" {'+' if x > 0 else '-'} {abs(x):g}" if x else ""
