"""Geared rotors while a model is taken apart, as records (joint, stator's body, rotor) by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from kinetree.model.builder import WORLD
from kinetree.model.gears import GearedRotor
from kinetree.spatial import Transform

Gear = tuple[str, str, GearedRotor]
KIND = "rotor"  # in messages
Note = tuple[str, str]  # level and message


def shifted(gears: Iterable[Gear], stator: str, to: str, X: Transform, but: Collection[str] = ()) -> list[Gear]:
    """The rotors in a body given to another one, X from its coordinates to those of the other; not those of joints."""
    return [
        (joint, to, rotor.seen_from(X)) if on == stator and joint not in but else (joint, on, rotor)
        for joint, on, rotor in gears
    ]


def without_joint(gears: Iterable[Gear], name: str, why: str) -> tuple[list[Gear], list[Note]]:
    """Rotors whose joint goes stand still in their stators, which contain them already."""
    locked = [("info", f"{rotor} is locked in {on!r}: {why}") for joint, on, rotor in gears if joint == name]
    return [gear for gear in gears if gear[0] != name], locked


def cut(
    gears: Iterable[Gear], bodies: Collection[str], joints: Collection[str], moves: Callable[[str, str], bool]
) -> tuple[list[Gear], list[Note]]:
    """Rotors without some bodies and joints; ``moves(joint, body)``: whether it does.

    A joint of a cut stands still, and so does what supports it: its rotors do not turn but with the joint.
    """
    kept, notes = [], []
    for joint, on, rotor in gears:
        if joint in joints:
            if on not in bodies:
                notes.append(("info", f"{rotor} is locked in {on!r}: joint {joint!r} is not there any more"))
        elif on not in bodies:
            kept.append((joint, on, rotor))
        elif moves(joint, on):
            notes.append(("dropped", f"{rotor} of joint {joint!r}: its stator {on!r} is not there any more"))
        else:
            notes.append(("info", f"{rotor}: its stator {on!r} stands still"))
            kept.append((joint, WORLD, rotor))
    return kept, notes


def attached(gears: Iterable[Gear]) -> tuple[list[Gear], list[Note]]:
    """The rotors of a mechanism that is put on another one: the world stays behind."""
    left = [
        ("dropped", f"{rotor} of joint {joint!r}: its stator is the world, left behind")
        for joint, on, rotor in gears
        if on == WORLD
    ]
    return [gear for gear in gears if gear[1] != WORLD], left


def renamed(gears: Iterable[Gear], joint: dict, frame: dict, own: dict) -> list[Gear]:
    """With other names of joints, bodies and rotors."""
    return [(joint[j], frame[on], replace(rotor, name=own[rotor.name])) for j, on, rotor in gears]


def names(gears: Iterable[Gear]) -> set[str]:
    """The names of the rotors."""
    return {rotor.name for _, _, rotor in gears}
