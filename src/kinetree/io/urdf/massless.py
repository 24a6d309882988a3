"""Joints that move nothing that resists them: their acceleration is undefined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.errors import ModelError
from kinetree.io.inertia_rules import Mass
from kinetree.io.urdf.notes import Notes
from kinetree.io.urdf.records import UNKNOWN, JointRecord


def settle_massless(order: Sequence[JointRecord], masses: Mapping[str, Mass], choice: str, notes: Notes) -> set[str]:
    """Find the joints that move no inertia and apply the user's choice; return the names of those to lock.

    Parameters
    ----------
    order : sequence of JointRecord
        All joints, parents first.
    masses : mapping of str to Mass
        Of every link, in its own frame.
    choice : {"raise", "lock"}
    notes : Notes

    Raises
    ------
    ModelError
        If there is such a joint and the choice is "raise".

    Notes
    -----
    A joint is found if all that it carries has no mass at all, or if it carries one rigid piece with all its mass on
    the axis of a revolute joint. Chains of joints without mass between them are fine as long as their end has some: so
    do many files write joints of several degrees of freedom.
    """
    found = _unresisted(order, masses)
    if not found:
        return set()
    if choice == "raise":
        _refuse(found)
        return set()
    for joint in found:
        notes.warning(joint.node, f"joint '{joint.name}' moves no inertia: made fixed", "massless-leaf")
    return {joint.name for joint in found}


def _refuse(found: Sequence[JointRecord]) -> None:
    """Raise about the first of these joints and name the others; a collecting document keeps an error for each."""
    names = ", ".join(f"'{joint.name}' (line {joint.node.line})" for joint in found[:8])
    if len(found) > 8:
        names += f", ... ({len(found)} in all)"
    for joint in found:
        others = f" Joints concerned: {names}." if joint.node.document.problems is None else ""
        joint.node.reject(
            f"link '{joint.child}' has no inertia that resists its {joint.type} joint '{joint.name}', so its "
            f"acceleration is undefined.{others}",
            error=ModelError,
            code="massless-leaf",
            repair="give the link mass and inertia, or choose massless='lock', which makes such joints fixed, or "
            "inertia_from='collision', which fills the shapes of links that have no <inertial> with matter",
            joints=tuple(joint.name for joint in found),
        )


def _unresisted(order: Sequence[JointRecord], masses: Mapping[str, Mass]) -> list[JointRecord]:
    """The joints without inertia beyond them, in the given order."""
    # Per link: all mass below it, and the rigid piece it belongs to seen from it (None once a joint moves within).
    below = {link: mass.mass for link, mass in masses.items()}
    piece: dict[str, Mass] = dict(masses)
    carries_joint: dict[str, bool] = dict.fromkeys(masses, False)
    found = []
    for joint in reversed(order):
        mass = piece[joint.child]
        below[joint.parent] += below[joint.child]
        if joint.type == "fixed":
            piece[joint.parent] = _joined(piece[joint.parent], _moved(mass, joint))
            carries_joint[joint.parent] |= carries_joint[joint.child]
            continue
        empty = below[joint.child] == 0.0 and not mass.I.any()
        if joint.type == UNKNOWN:
            empty = False
        turns_one_piece = joint.type in ("revolute", "continuous") and not carries_joint[joint.child]
        if empty or (turns_one_piece and _on_axis(mass, joint)):
            found.append(joint)
        carries_joint[joint.parent] = True
    return list(reversed(found))


def _on_axis(mass: Mass, joint: JointRecord) -> bool:
    """Whether a rigid piece has no moment of inertia about the axis of its joint."""
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    lever = np.cross(axis, mass.com)
    moment = axis @ mass.I @ axis + mass.mass * (lever @ lever)
    # Less than the mass at a nanometer: no moment was meant.
    return moment <= 1e-18 * mass.mass


def _moved(mass: Mass, joint: JointRecord) -> Mass:
    """The same piece seen from the parent link."""
    R = joint.origin.R
    return Mass(mass.mass, R @ mass.com + np.array(joint.origin.xyz), R @ mass.I @ R.T)


def _joined(a: Mass, b: Mass) -> Mass:
    """Two pieces as one, about their common center of mass."""
    mass = a.mass + b.mass
    if mass == 0.0:
        return Mass(0.0, a.com, a.I + b.I)
    com = (a.mass * a.com + b.mass * b.com) / mass
    I = a.I + b.I
    for piece in (a, b):
        d = piece.com - com
        I = I + piece.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    return Mass(mass, com, I)
