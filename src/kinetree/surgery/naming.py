"""Other names for bodies, joints, frames and equipment; nothing else changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from kinetree.arguments import a_model, a_name, checked, new_names
from kinetree.errors import DuplicateNameError, unknown_name
from kinetree.model import Model
from kinetree.model.builder import WORLD
from kinetree.model.equipment import REFERRING
from kinetree.model.parts import Geometry
from kinetree.surgery.model_editor import ModelEditor

Names = Mapping[str, str] | Callable[[str], str] | None


@checked(
    model=a_model, bodies=new_names, joints=new_names, frames=new_names, equipment=new_names, prefix=a_name,
    suffix=a_name,
)  # fmt: skip
def rename(
    model: Model,
    *,
    bodies: Names = None,
    joints: Names = None,
    frames: Names = None,
    equipment: Names = None,
    prefix: str = "",
    suffix: str = "",
) -> Model:
    """The same model under other names.

    Parameters
    ----------
    model : Model
    bodies, joints, frames, equipment : mapping or callable, optional
        From old names to new ones; names that a mapping does not hold stay. A body's frame is renamed with it;
        ``frames`` are those besides. ``joints`` may name joints that were merged away. ``equipment`` are loop joints,
        equalities, tendons, actuators and keyframes.
    prefix, suffix : str
        Put around every name, after the changes above; around names of shapes too.

    Returns
    -------
    Model
        Couplings, merged joints and equipment follow. The world keeps its name, the report its words.

    Raises
    ------
    UnknownNameError
        If a mapping holds a name that does not exist.
    DuplicateNameError
        If two would have one name.

    Notes
    -----
    *Identities* All numbers are the same to the last bit.

    Examples
    --------
    >>> import kinetree as kt
    >>> left = kt.surgery.rename(kt.models.double_pendulum(), joints={"elbow": "knee"}, prefix="left_")
    >>> left.body_names, left.joint_names
    (('world', 'left_upper', 'left_lower'), ('left_shoulder', 'left_knee'))
    """
    editor = ModelEditor.of(model)
    owned = [piece.name for kind in REFERRING for piece in getattr(model.equipment, kind) if piece.name]
    owned += [part.name for part in model.named_parts()]
    others = [frame for frame in editor.frame_names() if frame != WORLD and frame not in editor._bodies]

    def new_names(kind: str, names: Iterable[str], changes: Names, unique: bool = True) -> dict[str, str]:
        names = list(names)
        if isinstance(changes, Mapping):
            for name in changes:
                if name not in names:
                    raise unknown_name(kind, name, names, f"model {model.name!r}")
            change = lambda name: changes.get(name, name)  # noqa: E731
        else:
            change = changes or (lambda name: name)
        table = {name: f"{prefix}{change(name)}{suffix}" for name in names}
        if unique:
            _refuse_doubles(model, kind, table)
        return table

    def label(shape: str) -> str:
        return f"{prefix}{shape}{suffix}" if shape else ""

    def labeled(shapes: Iterable[Geometry]) -> list[Geometry]:
        return [replace(x, name=label(x.name), link=frame.get(x.link, x.link)) for x in shapes]

    body = new_names("body", model.body_names[1:], bodies)
    frame = new_names("frame", others, frames)
    _refuse_doubles(model, "frame", {**body, **frame, WORLD: WORLD})
    joint = new_names("joint", [*model.joint_names, *model.welded], joints)
    own = new_names("piece of equipment", owned, equipment, unique=False)  # its kinds have names of their own
    frame = {WORLD: WORLD, **body, **frame}

    for record in editor._bodies.values():
        record.name, record.joint_name = body[record.name], joint[record.joint_name]
        record.parent = frame[record.parent]
        record.geometry = labeled(record.geometry)
    editor._bodies = {record.name: record for record in editor._bodies.values()}
    editor._joint_names = {record.joint_name: record.name for record in editor._bodies.values()}
    editor._frames = {frame[name]: (frame[on], X) for name, (on, X) in editor._frames.items()}
    editor._welded = {joint[name]: frame.get(carried, carried) for name, carried in editor._welded.items()}
    either = lambda name: joint.get(name, own.get(name, name))  # of the tree, or of a loop  # noqa: E731
    editor._constraints = [c.renamed(either, frame.__getitem__) for c in editor._constraints]
    editor._forces = [f.renamed(either, frame.__getitem__, own.get(f.name)) for f in editor._forces]
    editor._contacts = [pair.renamed(frame.__getitem__, lambda x: f"{prefix}{x}{suffix}") for pair in editor._contacts]
    editor._gears = [(joint[j], frame[on], replace(gear, name=own[gear.name])) for j, on, gear in editor._gears]
    editor._world_geometry = labeled(editor._world_geometry)
    editor.equipment = editor.equipment.renamed(frame.__getitem__, joint.__getitem__, own.__getitem__, label)
    return editor.result()


def _refuse_doubles(model: Model, kind: str, table: Mapping[str, str]) -> None:
    seen: dict[str, str] = {}
    for old, new in table.items():
        if new in seen:
            message = f"model {model.name!r}: {kind}s {seen[new]!r} and {old!r} would both be named {new!r}"
            raise DuplicateNameError(message, kind=kind, name=new)
        seen[new] = old
