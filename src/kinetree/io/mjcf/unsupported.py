"""What the report of an MJCF model says of its equipment: what the dynamics do not compute, and what exerts nothing."""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.io.mjcf.notes import Notes
from kinetree.model import Actuator, Equality, Equipment, LoopJoint, RotationLimit, Tendon

SHOWN = 6  # names in one entry
CODE = "not-computed"
# By type: the kind of element, one of them, several.
_KINDS = {
    LoopJoint: ("equality", "loop joint", "loop joints"),
    Equality: ("equality", "equality", "equalities"),
    RotationLimit: ("joint", "limit of a ball joint", "limits of ball joints"),
    Tendon: ("tendon", "tendon with forces", "tendons with forces"),
}
_REFUSED = "so forward_dynamics, simulate, ... refuse the model"


def report_equipment(equipment: Equipment, notes: Notes) -> None:
    """Add an entry for each kind of unsupported equipment, and one for the actuators that exert nothing by themselves.

    Parameters
    ----------
    equipment : Equipment
    notes : Notes
    """
    acting = [c for c in (*equipment.loops, *equipment.equalities) if c.active]
    acting += [tendon for tendon in equipment.tendons if tendon.forces]
    for kind, (element, one, several) in _KINDS.items():
        pieces = [piece for piece in acting if isinstance(piece, kind)]
        names = [piece.joint if isinstance(piece, RotationLimit) else piece.name for piece in pieces]
        if names:
            count = f"1 {one} is" if len(names) == 1 else f"{len(names)} {several} are"
            message = f"{count} not computed, {_REFUSED}: {_listed(names)}"
            notes.warning(notes.sources.where(element, names[0]), message, CODE)
    _report_actuators(equipment.actuators, notes)


def _report_actuators(actuators: Iterable[Actuator], notes: Notes) -> None:
    """One entry for each law that exerts a force without a control, one for all others, one for those switched off."""
    groups: dict[object, list[Actuator]] = {}
    for actuator in actuators:
        groups.setdefault(actuator.forces if actuator.active else "off", []).append(actuator)
    for forces, group in groups.items():
        names, (s, single) = [a.name for a in group], ("", "s") if len(group) == 1 else ("s", "")
        where = notes.sources.where("actuator", names[0])
        count = f"{len(names)} {'motor' if all(a.is_motor for a in group) else 'actuator'}{s}"
        if forces == "off":
            notes.info(where, f"{count} switched off by the file: {_listed(names)}")
        elif forces:
            law = ", ".join(forces)
            message = f"{count} exert{single} forces that are not computed ({law}), {_REFUSED}: {_listed(names)}"
            notes.warning(where, message, CODE)
        else:
            message = f"{count} exert{single} nothing without a control: kept as data, driven by tau or a controller"
            notes.info(where, f"{message}: {_listed(names)}")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + more
