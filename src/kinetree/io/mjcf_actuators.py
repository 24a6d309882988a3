"""Actuators of a compiled MJCF model as named transmissions, muscles' parameters as data."""

from __future__ import annotations

import numpy as np

from kinetree.io.mjcf_layout import Layout
from kinetree.io.mjcf_names import of_kind, unique
from kinetree.io.mjcf_notes import Notes
from kinetree.model import Actuator, Equipment, ModelBuilder
from kinetree.model.equipment import EVERYWHERE

_TRANSMISSIONS = {0: "joint", 1: "joint_in_parent", 2: "slider_crank", 3: "tendon", 4: "site", 5: "body"}


def add_actuators(builder: ModelBuilder, place: Layout, tendons: list[str], notes: Notes) -> None:
    """Add the actuators whose transmission is a joint, tendon, site, slider-crank or body."""
    mj = place.mj
    count = len(mj.actuator_trntype)
    names = unique(of_kind(mj, "actuator", count), "actuator")
    outputs = _addresses(mj, "actuator_outadr", count)
    controls = _addresses(mj, "actuator_ctrladr", count)
    made = []
    for k, name in enumerate(names):
        where = notes.sources.where("actuator", name)
        kind, (first, second) = int(mj.actuator_trntype[k]), map(int, mj.actuator_trnid[k])
        if kind not in _TRANSMISSIONS:
            notes.warning(where, f"actuator '{name}' left out: its transmission is none that a model holds")
            continue
        transmission = _TRANSMISSIONS[kind]
        reference = None
        if transmission in ("joint", "joint_in_parent"):
            target = place.joints[first]
        elif transmission == "tendon":
            target = tendons[first]
        elif transmission == "body":
            target = place.bodies[first]
        else:
            target, reference = place.sites[first], place.sites[second] if second >= 0 else None
        if target is None:
            notes.warning(where, f"actuator '{name}' acts on a joint that is fixed now: left out")
            continue
        if mj.actuator_plugin[k] >= 0:
            notes.warning(where, f"actuator '{name}' is driven by a plugin, whose law is not kept")
        out, control = outputs[k], controls[k]
        made.append(
            Actuator(
                name,
                transmission,
                target,
                gear=tuple(map(float, mj.actuator_gear[out])),
                dynamics=_law("mjtDyn", "mjDYN_", mj.actuator_dyntype[k]),
                gain=_law("mjtGain", "mjGAIN_", mj.actuator_gaintype[k]),
                bias=_law("mjtBias", "mjBIAS_", mj.actuator_biastype[k]),
                dynamics_parameters=_trimmed(mj.actuator_dynprm[k]),
                gain_parameters=_trimmed(mj.actuator_gainprm[k]),
                bias_parameters=_trimmed(mj.actuator_biasprm[k]),
                control_range=_range(mj.actuator_ctrllimited[control], mj.actuator_ctrlrange[control]),
                force_range=_range(mj.actuator_forcelimited[k], mj.actuator_forcerange[k]),
                activation_range=_range(mj.actuator_actlimited[k], mj.actuator_actrange[k]),
                length_range=tuple(map(float, mj.actuator_lengthrange[out])),
                reference=reference,
                crank_length=float(mj.actuator_cranklength[k]),
            )
        )
        if getattr(mj, "actuator_ctrlnum", np.ones(count))[k] > 1:
            notes.info(where, f"actuator '{name}' has several controls, of which the first one's range is kept")
    builder.equipment += Equipment(actuators=tuple(made))


def _addresses(mj, field: str, count: int) -> np.ndarray:
    """First entry of each actuator in arrays over outputs or controls; before MuJoCo 4 each had one."""
    return getattr(mj, field, np.arange(count))


def _law(enumeration: str, prefix: str, value) -> str:
    import mujoco

    return getattr(mujoco, enumeration)(int(value)).name.removeprefix(prefix).lower()


def _trimmed(values) -> tuple[float, ...]:
    found = [float(x) for x in values]
    while found and found[-1] == 0.0:
        found.pop()
    return tuple(found)


def _range(limited, values) -> tuple[float, float]:
    return (float(values[0]), float(values[1])) if limited else EVERYWHERE
