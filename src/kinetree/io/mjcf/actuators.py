"""Actuators of a compiled MJCF model as named transmissions, muscles' parameters as data."""

from __future__ import annotations

import numpy as np

from kinetree.io.mjcf.constraints import trimmed
from kinetree.io.mjcf.layout import Layout
from kinetree.io.mjcf.names import of_kind, unique
from kinetree.io.mjcf.notes import Notes
from kinetree.io.mjcf.options import Physics
from kinetree.model import Actuator, Equipment, ModelBuilder
from kinetree.model.actuators import EVERYWHERE

_TRANSMISSIONS = {0: "joint", 1: "joint_in_parent", 2: "slider_crank", 3: "tendon", 4: "site", 5: "body"}
_GROUPS = 31  # of actuators, which an option of the file switches off


def add_actuators(builder: ModelBuilder, place: Layout, physics: Physics, tendons: list[str], notes: Notes) -> None:
    """Add the actuators; one that acts in another way than a model holds is refused, or dropped."""
    mj = place.mj
    count = len(mj.actuator_trntype)
    names = unique(of_kind(mj, "actuator", count), "actuator")
    outputs = getattr(mj, "actuator_outadr", np.arange(count))  # before MuJoCo 4 each had one output
    made = []
    for k, name in enumerate(names):
        where = notes.sources.where("actuator", name)
        ends = _ends(place, tendons, int(mj.actuator_trntype[k]), *map(int, mj.actuator_trnid[k]))
        if ends is None:
            notes.unsupported(where, f"actuator '{name}', whose transmission is none that a model holds")
            continue
        transmission, target, reference = ends
        if target is None:
            notes.warning(where, f"actuator '{name}' acts on a joint that is fixed now: left out")
            continue
        out, controls = outputs[k], _controls(mj, k)
        made.append(
            Actuator(
                name,
                transmission,
                target,
                gear=tuple(map(float, mj.actuator_gear[out])),
                dynamics=_law("mjtDyn", "mjDYN_", mj.actuator_dyntype[k]),
                gain=_law("mjtGain", "mjGAIN_", mj.actuator_gaintype[k]),
                bias=_law("mjtBias", "mjBIAS_", mj.actuator_biastype[k]),
                dynamics_parameters=trimmed(mj.actuator_dynprm[k]),
                gain_parameters=trimmed(mj.actuator_gainprm[k]),
                bias_parameters=trimmed(mj.actuator_biasprm[k]),
                control_range=_control_range(mj, controls) if physics.clamps_controls else EVERYWHERE,
                force_range=_range(mj.actuator_forcelimited[k], mj.actuator_forcerange[k]),
                activation_range=_range(mj.actuator_actlimited[k], mj.actuator_actrange[k]),
                length_range=tuple(map(float, mj.actuator_lengthrange[out])),
                reference=reference,
                crank_length=float(mj.actuator_cranklength[k]),
                plugin=_plugin(notes, name) if mj.actuator_plugin[k] >= 0 else "",
                active=physics.actuation and not _is_off(mj, k),
            )
        )
        if len(controls) > 1:
            notes.info(where, f"actuator '{name}' has several controls, of which the first one's range is kept")
    builder.equipment += Equipment(actuators=tuple(made))


def _ends(place: Layout, tendons: list[str], kind: int, first: int, second: int):
    """(transmission, target or None if that is fixed now, reference); None for a kind that a model does not hold."""
    transmission = _TRANSMISSIONS.get(kind)
    if transmission is None:
        return None
    if transmission in ("joint", "joint_in_parent"):
        return transmission, place.joints[first], None
    if transmission == "tendon":
        return transmission, tendons[first], None
    if transmission == "body":
        return transmission, place.bodies[first], None
    return transmission, place.sites[first], place.sites[second] if second >= 0 else None


def _controls(mj, k: int) -> range:
    """Numbers of an actuator's controls; before MuJoCo 4 each had one."""
    first = int(getattr(mj, "actuator_ctrladr", np.arange(len(mj.actuator_trntype)))[k])
    return range(first, first + int(getattr(mj, "actuator_ctrlnum", np.ones(len(mj.actuator_trntype)))[k]))


def _control_range(mj, controls: range) -> tuple[float, float]:
    """The range of the first control; an actuator without any has none."""
    return _range(mj.actuator_ctrllimited[controls[0]], mj.actuator_ctrlrange[controls[0]]) if controls else EVERYWHERE


def _is_off(mj, k: int) -> bool:
    """Whether the file's ``actuatorgroupdisable`` names the group of an actuator."""
    group = int(mj.actuator_group[k])
    return 0 <= group < _GROUPS and bool(int(mj.opt.disableactuator) >> group & 1)


def _plugin(notes: Notes, name: str) -> str:
    """The plugin that drives an actuator, by its name in the file."""
    node = notes.sources.find("actuator", name)
    named = [] if node is None else [node.element.get(attribute) for attribute in ("plugin", "instance")]
    return next(filter(None, named), "unnamed")


def _law(enumeration: str, prefix: str, value) -> str:
    import mujoco

    return getattr(mujoco, enumeration)(int(value)).name.removeprefix(prefix).lower()


def _range(limited, values) -> tuple[float, float]:
    return (float(values[0]), float(values[1])) if limited else EVERYWHERE
