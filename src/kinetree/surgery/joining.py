"""Additions to a model: one robot on another, and payloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kinetree.arguments import a_joint, a_model, a_name, a_number, a_word, an_array, checked
from kinetree.errors import DuplicateNameError, TopologyError
from kinetree.joints import Fixed, Free, Joint
from kinetree.model import Model
from kinetree.model.builder import WORLD, as_transform
from kinetree.surgery.model_editor import ENDLESS, ModelEditor
from kinetree.surgery.naming import rename


@checked(
    model=a_model, other=a_model, at=a_name, on=a_name, joint=a_joint, joint_name=a_name, prefix=a_name,
    free_base=a_word,
)  # fmt: skip
def attach(
    model: Model,
    other: Model,
    *,
    at: str,
    placement=None,
    on: str | None = None,
    joint: Joint | None = None,
    joint_name: str | None = None,
    prefix: str = "",
    free_base: str = "replace",
) -> Model:
    """A robot with another on it: a gripper on an arm, an arm on a mobile base.

    Parameters
    ----------
    model : Model
        The model that carries the other.
    other : Model
        The model that is carried.
    at : str
        Frame or body of ``model`` to which ``other`` is attached.
    placement : Transform, (xyz, rpy), (R, p) or (4, 4) array, optional
        Pose of the base of ``other`` in that frame [m, rad]; the identity by default.
    on : str, optional
        Frame of the base of ``other`` that is put there, instead of the base's own.
    joint : Joint, optional
        Between the two; by default they are welded.
    joint_name : str, optional
        Its name.
    prefix : str
        Put before every name of ``other``.
    free_base : {"replace", "keep"}
        If one free body carries all of ``other``: it is the base, and the free joint is replaced; or it floats
        relative to ``at``. Otherwise the world of ``other`` is the base, with all that is welded to it.

    Returns
    -------
    Model
        The bodies of ``model``, then those of ``other``. The base is a frame (with a joint of freedoms, a body) named
        after ``other`` and "world" if it was its world. Keyframes of one name are one state. Gravity is that of
        ``model``. Parts left out are in the report.

    Raises
    ------
    UnknownNameError
    DuplicateNameError
        If both use a name; a prefix helps.
    TopologyError
        If ``on`` is no frame of the base, or the base is ambiguous.

    Notes
    -----
    *Identities* The kinetic energy is that of ``model`` plus that of ``other`` moved with the frame.

    Examples
    --------
    >>> import kinetree as kt
    >>> dog, arm = kt.load("quadruped", floating_base=True), kt.load("arm7")
    >>> both = kt.surgery.attach(dog, arm, at="trunk", placement=((0.1, 0, 0.05), (0, 0, 0)), prefix="arm_")
    >>> both.nv == dog.nv + arm.nv, both.body_names[both.frame("arm_base").body]
    (True, 'trunk')
    """
    if free_base not in ("replace", "keep"):
        raise TopologyError(f"attach: free_base is {free_base!r}; known: replace, keep")
    mount = model.frame(at)
    editor = ModelEditor.of(model)
    guest = ModelEditor.of(rename(other, prefix=prefix) if prefix else other)
    base, name = _base(guest, other, prefix, free_base)
    name = joint_name or name
    if on is not None:
        guest.reframe(base, guest.pose_of(_frame_of_base(guest, other, prefix + on, base)))
    _refuse_common_names(editor, guest, model, other, prefix, base, name)
    X = as_transform(f"attach of {other.name!r} at {at!r}", placement) @ mount.X_FB
    guest.set_joint(base, joint or Fixed(), name, X)
    guest._bodies[base].parent = model.body_names[mount.body]
    if list(model.gravity) != list(other.gravity):
        editor.note("warning", "attach", f"gravity is that of {model.name!r}, {list(model.gravity)}, not that of "
                                        f"{other.name!r}, {list(other.gravity)} m/s^2")  # fmt: skip
    _take_over(editor, guest, other)
    if joint is None or joint.rigid:
        editor.absorb(base)
    return editor.result()


@checked(model=a_model, at=a_name, mass=a_number, com=an_array, inertia=an_array)
def add_payload(model: Model, at: str, mass: float, com: Sequence[float] = (0.0, 0.0, 0.0), inertia=None) -> Model:
    """A model that carries a load: only the inertia of one body changes, so compiled functions are shared.

    Parameters
    ----------
    model : Model
    at : str
        Frame or body to which the load is fixed.
    mass : float
        [kg].
    com : (3,) array
        Center of mass of the load in that frame [m].
    inertia : (3, 3) or (3,) array, optional
        Rotational inertia of the load about its center of mass, in the axes of that frame [kg m^2]; a point by default.

    Returns
    -------
    Model

    Raises
    ------
    UnknownNameError, InertiaError

    Notes
    -----
    *Identities* The kinetic energy grows by that of the load, moved with the frame.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> loaded = kt.surgery.add_payload(arm, "tool", 2.5, com=(0.0, 0.0, 0.1))
    >>> round(loaded.total_mass - arm.total_mass, 9)
    2.5
    """
    frame = model.frame(at)
    editor = ModelEditor.of(model)
    load = editor._inertia(f"payload at {at}", mass, com, inertia)
    I = list(model.I)
    I[frame.body] = I[frame.body] + frame.X_FB.inverse_apply(load)
    editor.note("info", "add_payload", f"{float(mass):.6g} kg at {at!r}")
    return model.replace(I=I, report=editor.report)


def _base(guest: ModelEditor, other: Model, prefix: str, free_base: str) -> tuple[str, str]:
    """The base body of a guest, and a name for its joint."""
    roots = guest.roots()
    free = [name for name in roots if isinstance(guest._bodies[name].joint, Free)]
    if free and free_base == "replace":
        if len(roots) > 1:
            fault = f"model {other.name!r} has {len(roots)} bodies on its world, of which {free[0]!r} is free"
            repair = "submodel() takes one of them, free_base='keep' all"
            raise TopologyError(f"attach: {fault}, so the body to attach is not clear; {repair}", roots=roots)
        [base] = roots
        left = [*guest.frames_on(WORLD), *(shape.name or shape.kind for shape in guest._world_geometry)]
        if left:
            guest.note("info", "attach", f"left behind on its world: {', '.join(left)}")
        guest.clear_world()
        guest._cut_references({WORLD}, ())
        return base, guest._bodies[base].joint_name
    base = f"{prefix}{WORLD}" if prefix else f"{other.name}_{WORLD}"
    guest.embody_world(base, base)
    for name in free:  # relative to the base from now on
        guest._bodies[name].parent = base
    planes = [shape.name or shape.kind for shape in guest._world_geometry if shape.kind == ENDLESS]
    if planes:
        guest.note("info", "attach", f"planes left behind on its world: {', '.join(planes)}")
    guest.equipment = guest.equipment.renamed(lambda frame: base if frame == WORLD else frame, str, str)
    return base, base


def _frame_of_base(guest: ModelEditor, other: Model, on: str, base: str) -> str:
    names = [name for name in guest.frame_names() if guest.body_of(name) == base]
    if on not in names:
        fault = f"attach: {on!r} is not on the base of model {other.name!r}, whose frames are: {', '.join(names)}"
        raise TopologyError(f"{fault}. reroot() makes another body the base.", frame=on)
    return on


def _refuse_common_names(
    editor: ModelEditor, guest: ModelEditor, model: Model, other: Model, prefix: str, base: str, joint_name: str
) -> None:
    frames = {name for name in guest.frame_names() if name != WORLD}
    joints = {name for name in guest.joint_names() if name != guest._bodies[base].joint_name}
    common = {
        "body or frame": frames & set(editor.frame_names()),
        "joint": {*joints, *guest._welded, joint_name} & {*editor.joint_names(), *editor._welded},
    }
    for kind in ("loops", "equalities", "tendons", "actuators"):  # keyframes of one name are joined
        here, there = ({piece.name for piece in getattr(e, kind)} for e in (editor.equipment, guest.equipment))
        common[kind.rstrip("s")] = here & there - {""}
    for kind, here in editor.named_parts().items():
        common[kind] = here & guest.named_parts()[kind]
    doubled = [f"{kind} {name!r}" for kind, names in common.items() for name in sorted(names)]
    if doubled:
        more = f" and {len(doubled) - 6} more" if len(doubled) > 6 else ""
        better = f"{other.name if other.name != model.name else 'second'}_"
        raise DuplicateNameError(
            f"attach: models {model.name!r} and {other.name!r} both have {', '.join(doubled[:6])}{more}; "
            f"give prefix={better!r}" + (f" instead of {prefix!r}" if prefix else ""),
            names=doubled,
        )


def _take_over(editor: ModelEditor, guest: ModelEditor, other: Model) -> None:
    """Everything of the guest but its world becomes the editor's."""
    editor._bodies.update(guest._bodies)
    editor._joint_names.update(guest._joint_names)
    editor._frames.update({name: place for name, place in guest._frames.items() if place[0] != WORLD})
    editor._welded.update(guest._welded)
    editor._constraints += guest._constraints
    editor._forces += guest._forces
    editor._contacts += guest._contacts
    for joint, on, gear in guest._gears:
        if on == WORLD:
            editor.note("dropped", "attach", f"{gear} of joint {joint!r}: its stator is the world, left behind")
        else:
            editor._gears.append((joint, on, gear))
    editor.accept_impossible_inertia |= guest.accept_impossible_inertia
    for entry in guest.report:
        editor.note(entry.level, f"{other.name}: {entry.where}" if entry.where else other.name, entry.message)
    keys = {key.name: key for key in editor.equipment.keyframes}
    for key in guest.equipment.keyframes:
        here = keys.get(key.name)
        parts = ("q", "v", "controls", "activations")
        keys[key.name] = replace(key, **{x: {**getattr(here, x), **getattr(key, x)} for x in parts}) if here else key
    both = editor.equipment + guest.equipment
    editor.equipment = replace(both, keyframes=tuple(keys.values()))
