"""Equipment of locked joints: constants leave tendon lengths and polynomials, drives are removed.

A *shift* is the constant by which a tendon's length was longer before its locked joints left it; every number that is
compared with that length moves with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinetree.errors import CouplingError
from kinetree.model import Actuator, Equality, Equipment, Keyframe, RotationLimit, Tendon
from kinetree.surgery.position import CONSISTENT
from kinetree.tendons import JointTerm

Note = Callable[[str, str, str], None]


def locked_equipment(equipment: Equipment, positions: Mapping[str, Sequence[float]], note: Note) -> Equipment:
    """The equipment of the model whose joints stand still at these positions.

    Parameters
    ----------
    equipment : Equipment
    positions : mapping of joint name to sequence of float
        [rad or m].
    note : callable
        Takes level, place and message of an entry of the report.

    Raises
    ------
    CouplingError
        If an active equality is broken, or would hold a joint that stays free at roots of a polynomial.
    """
    tendons, shifts, constant = [], {}, {}
    for tendon in equipment.tendons:
        shift = sum(part.coefficient * positions[part.joint][0] for part in _locked_terms(tendon, positions))
        path = tuple(part for part in tendon.path if part not in _locked_terms(tendon, positions))
        shifts[tendon.name] = shift
        if path:
            tendons.append(_shifted_tendon(tendon, path, shift) if len(path) < len(tendon.path) else tendon)
        else:
            constant[tendon.name] = shift
            note("info", "lock", f"{tendon} has the constant length {shift:.6g} and is left out")
    constraints, actuators = [], []
    for c in equipment.equalities:
        if isinstance(c, RotationLimit):
            constraints += _rotation_limit(c, positions, note)
        else:
            constraints += _equality(c, positions, constant, shifts, note)
    for a in equipment.actuators:
        actuators += _actuator(a, positions, constant, shifts, note)
    keyframes = (_keyframe(key, positions, note) for key in equipment.keyframes)
    left = tuple(each for each in equipment.force_ranges if each.joint not in positions)
    changed = {"equalities": constraints, "tendons": tendons, "actuators": actuators, "keyframes": tuple(keyframes)}
    return replace(equipment, **changed, force_ranges=left)


def _locked_terms(tendon: Tendon, positions) -> list[JointTerm]:
    return [part for part in tendon.path if isinstance(part, JointTerm) and part.joint in positions]


def _shifted_tendon(tendon: Tendon, path: tuple, shift: float) -> Tendon:
    rest_length = tuple(length - shift for length in tendon.rest_length)
    return replace(tendon, path=path, rest_length=rest_length, lower=tendon.lower - shift, upper=tendon.upper - shift)


def _equality(c: Equality, positions, constant, shifts, note: Note) -> tuple:
    """The equality that is left: none, the same, or one with a constant side."""
    known = {joint: q[0] for joint, q in positions.items() if len(q) == 1} if c.of == "joint" else constant
    if c.of == "tendon":  # lengths lost their constants, so the references lose them too; the constants are in `known`
        shift_y = 0.0 if c.follower in constant else shifts[c.follower]
        shift_x = 0.0 if c.master is None or c.master in constant else shifts[c.master]
        c = replace(c, follower_reference=c.follower_reference - shift_y, master_reference=c.master_reference - shift_x)
    if c.follower not in known and c.master not in known:
        return (c,)
    if c.master in known:  # y - y0 = c0 + c1 (x - x0) + ... is a number now
        value = float(np.polyval(c.coefficients[::-1], known[c.master] - c.master_reference))
        c = replace(c, master=None, coefficients=(value,), master_reference=0.0)
    if c.follower not in known:
        held = c.follower_reference + sum(c.coefficients)
        note("info", "lock", f"{c} holds it at {held:.6g}: its master is locked")
        return (c,)
    y = known[c.follower] - c.follower_reference
    if c.master is None:
        return _settled(c, y, note)
    return _solved(c, y, note)


def _settled(c: Equality, y: float, note: Note) -> tuple:
    """Both sides stand still: fulfilled, or impossible."""
    off = y - (c.coefficients[0] if c.coefficients else 0.0)
    if c.active and abs(off) > CONSISTENT * max(1.0, abs(y)):
        raise CouplingError(f"{c} is broken by {off:.6g} at the locked positions; lock {c.follower!r} at "
                            f"{c.follower_reference + y - off:.9g}", joint=c.follower, off=off)  # fmt: skip
    note("info", "lock", f"{c}: both sides are locked" + ("" if c.active else " (it is switched off)"))
    return ()


def _solved(c: Equality, y: float, note: Note) -> tuple:
    """The follower stands still and holds the master where the polynomial has its value."""
    c0, c1, *higher = (*c.coefficients, 0.0, 0.0)
    if c1 != 0.0 and not any(higher):
        x = (y - c0) / c1
        held = replace(c, follower=c.master, master=None, coefficients=(x,), follower_reference=c.master_reference)
        note("info", "lock", f"{held} holds it at {c.master_reference + x:.6g}: its follower is locked")
        return (held,)
    if not c.active:
        note("info", "lock", f"{c}, which is switched off, is left out: {c.follower!r} is locked")
        return ()
    where = f"lock {c.master!r} too, where the polynomial has the value {y:.6g}"
    message = f"{c}: {c.follower!r} is locked, {c.master!r} is not; {where}"
    raise CouplingError(message, joint=c.follower, master=c.master)


def _rotation_limit(c: RotationLimit, positions, note: Note) -> tuple:
    if c.joint not in positions:
        return (c,)
    q = positions[c.joint]
    if len(q) == 4:
        w, *vector = q
        turn = 2.0 * math.atan2(math.hypot(*vector), abs(w))
        if turn > c.angle:
            note("warning", "lock", f"{c}: locked at {turn:.6g} rad, beyond it")
    return ()


def _actuator(a: Actuator, positions, constant, shifts, note: Note) -> tuple:
    still = {"joint": positions, "joint_in_parent": positions, "tendon": constant}.get(a.transmission, ())
    if a.target in still:
        note("info", "lock", f"{a} has nothing to move and is left out")
        return ()
    if a.transmission == "tendon" and shifts[a.target] != 0.0:
        return (_shifted_actuator(a, a.gear[0] * shifts[a.target], note),)
    return (a,)


def _shifted_actuator(a: Actuator, shift: float, note: Note) -> Actuator:
    """Laws that read the length: an affine one is c0 + c1 length + c2 velocity, a muscle's uses its range."""
    changes: dict[str, object] = {"length_range": tuple(length - shift for length in a.length_range)}
    if a.length_range == (0.0, 0.0):
        changes = {}
    for law, parameters in (("gain", "gain_parameters"), ("bias", "bias_parameters")):
        if getattr(a, law) == "affine":
            c0, c1, *others = (*getattr(a, parameters), 0.0, 0.0)
            changes[parameters] = (c0 + c1 * shift, c1, *others)
        elif getattr(a, law) not in ("fixed", "none", "muscle"):
            note("warning", "lock", f"{a}: its {law} may read the length, which is now shorter by {shift:.6g}")
    if a.plugin:
        note("warning", "lock", f"{a}: its law may read the length, which is now shorter by {shift:.6g}")
    return replace(a, **changes)


def _keyframe(key: Keyframe, positions, note: Note) -> Keyframe:
    locked = {joint: q for joint, q in key.q.items() if joint in positions}
    elsewhere = [joint for joint, q in locked.items() if not np.allclose(q, positions[joint], rtol=0, atol=CONSISTENT)]
    if elsewhere:
        note("info", "lock", f"keyframe {key.name!r} had {', '.join(map(repr, elsewhere))} elsewhere")
    parts = {what: {j: x for j, x in getattr(key, what).items() if j not in positions} for what in ("q", "v")}
    return replace(key, **parts)
