"""Joints that become fixed: locked at given positions, or merged because they never moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from kinetree.arguments import a_model, checked, some_names
from kinetree.errors import CouplingError
from kinetree.model import Model
from kinetree.model.loop_joints import CLOSED, misfit
from kinetree.surgery.locked_equipment import locked_equipment
from kinetree.surgery.model_editor import ModelEditor, as_mapping
from kinetree.surgery.position import CONSISTENT, joint_position


@checked(model=a_model, joints=some_names)
def lock(model: Model, joints: str | Iterable[str] | Mapping[str, object]) -> Model:
    """Joints that stand still: their bodies become one with the bodies that carry them.

    Parameters
    ----------
    model : Model
    joints : mapping, sequence of str, or str
        Joint names, and the positions at which they are locked [rad or m; quaternions unit]: nq entries each, or one
        number; None, or names alone, mean neutral. Joints that follow a locked one are locked too.

    Returns
    -------
    Model
        The bodies on locked joints are frames of their carrying bodies, of the same names. Damping, friction, springs,
        armatures, limits and drives of locked joints are gone; tendon lengths are measured without the constant part
        of locked joints. The report lists locked joints and positions beyond limits.

    Raises
    ------
    UnknownNameError, ShapeError, NonFiniteError, QuaternionError
        For names and positions that are wrong.
    CouplingError
        If a joint that follows another is locked alone or elsewhere than its master puts it, or an equality is broken.

    Notes
    -----
    *Identities* M of the result is M of the whole at that position without the rows and columns of the locked joints;
    the bias forces and the poses of all frames are equal.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> held = kt.surgery.lock(arm, {"left_finger_slide": 0.02})  # the other finger follows it
    >>> arm.nv, held.nv, held.body_names[held.frame("right_finger").body]
    (9, 7, 'flange_link')
    >>> print(held.report.entries[-1])
    info: lock: joint 'right_finger_slide' locked at 0.02
    """
    positions = _with_followers(model, as_mapping(joints))
    editor = ModelEditor.of(model)
    for joint, q in positions.items():
        _report(editor, model, joint, q)
    for joint, q in positions.items():
        editor.absorb(editor._joint_names[joint], q)
    editor._constraints = [left for c in editor._constraints if (left := c.where_locked(positions)) is not None]
    editor.equipment = locked_equipment(editor.equipment, positions, editor.note)
    _leave_out_rigid_loops(editor)
    return editor.result()


@checked(model=a_model)
def merge_fixed(model: Model) -> Model:
    """A model whose bodies on fixed joints are frames of the bodies that carry them.

    Parameters
    ----------
    model : Model
        With fixed joints as joints, from ``load(..., merge_fixed=False)`` or ``build(merge_fixed=False)``.

    Returns
    -------
    Model
        With the same dynamics; frames keep their names, ``model.welded`` lists the joints.

    Notes
    -----
    *Identities* M, the bias forces and the poses of all frames are equal.

    Examples
    --------
    >>> import kinetree as kt
    >>> whole = kt.load("arm7", merge_fixed=False)
    >>> kt.surgery.merge_fixed(whole).nb - whole.nb
    -3
    """
    editor = ModelEditor.of(model)
    fixed = [i for i in model.outward() if model.joints[i].rigid]
    for i in fixed:
        editor.absorb(model.body_names[i])
    editor.equipment = locked_equipment(editor.equipment, {model.joint_name(i): () for i in fixed}, editor.note)
    _leave_out_rigid_loops(editor)
    return editor.result()


def _with_followers(model: Model, joints: Mapping[str, object]) -> dict[str, list[float]]:
    """The positions of all that stands still, in the order of the joints."""
    given = {model.joint_name(model.joint(joint)): value for joint, value in joints.items()}
    positions = {joint: joint_position(model, joint, value) for joint, value in given.items()}
    for c in model.couplings:
        joint, master = c.joint, c.master
        if master in positions:
            there = c.ratio * positions[master][0] + c.offset
        elif joint in positions and c.ratio == 0.0:
            there = c.offset
        elif joint in positions:
            [q] = positions[joint]
            repair = f"lock {master!r} at {(q - c.offset) / c.ratio:.6g}, and {joint!r} is locked at {q:.6g} with it"
            message = f"joint {joint!r} follows {master!r} and cannot be locked alone; {repair}"
            raise CouplingError(message, joint=joint, master=master)
        else:
            continue
        if given.get(joint) is not None and abs(positions[joint][0] - there) > CONSISTENT * max(1.0, abs(there)):
            puts = f"joint {joint!r} follows {master!r}, which puts it at {there:.9g}"
            message = f"{puts}; it cannot be locked at {positions[joint][0]:.9g}"
            raise CouplingError(message, joint=joint, master=master)
        positions[joint] = [there]
    return {joint: positions[joint] for joint in model.joint_names if joint in positions}


def _report(editor: ModelEditor, model: Model, joint: str, q: list[float]) -> None:
    i = model.joint(joint)
    shown = f"{q[0]:.6g}" if len(q) == 1 else f"({', '.join(f'{x:.6g}' for x in q)})"
    editor.note("info", "lock", f"joint {joint!r} locked" + (f" at {shown}" if q else ""))
    slot = model.v_slice[i]
    if len(q) == slot.stop - slot.start:
        beyond = (np.array(q) < model.lower[slot]) | (np.array(q) > model.upper[slot])
        for k in np.flatnonzero(beyond):
            low, high = model.lower[slot][k], model.upper[slot][k]
            editor.note("warning", "lock", f"joint {joint!r} is locked at {q[k]:.6g}, beyond its limits "
                                          f"[{low:g}, {high:g}]")  # fmt: skip


def _leave_out_rigid_loops(editor: ModelEditor) -> None:
    """Take out active loop joints between two frames of one body; the report has the misfit of those that are open."""
    left = []
    for loop in editor.equipment.loops:
        on = [editor.body_of(name) for name in (loop.predecessor, loop.successor)]
        if not loop.has_rows or on[0] != on[1]:
            left.append(loop)
            continue
        P, S = (editor.pose_of(name) for name in (loop.predecessor, loop.successor))
        gap, unit = misfit(loop, P, S)
        level, state = ("info", "closed") if gap < CLOSED else ("warning", f"open by {gap:.3g} {unit}")
        editor.note(level, "lock", f"{loop} now connects two frames of one body, {state}: left out")
    editor.equipment = replace(editor.equipment, loops=tuple(left))
    for c in list(editor._constraints):
        if c.frames and not c.joints and len({editor.body_of(name) for name in c.frames}) == 1 and len(c.frames) > 1:
            editor.note("info", "lock", f"{c} now connects frames of one body: left out")
            editor._constraints.remove(c)
