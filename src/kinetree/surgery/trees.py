"""Another spanning tree for the same mechanism with closed loops."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from kinetree.arguments import a_model, a_word, checked, of_kind, some_names
from kinetree.errors import ModelError, UnsupportedError
from kinetree.model import Model
from kinetree.model.equipment import LoopJoint
from kinetree.model.gears import gears_of_joint
from kinetree.model.graph import MechanismGraph
from kinetree.model.loop_joints import DATA, named_loops
from kinetree.model.mechanism import ACTUATOR_LIMITS, Link, acyclic, is_identity, placed_bodies
from kinetree.model.spanning import SpanningTree
from kinetree.spatial import Transform
from kinetree.surgery.model_editor import ModelEditor
from kinetree.surgery.states import with_keyframes

LIMITS = ("lower", "upper", *ACTUATOR_LIMITS)  # infinite where there are none


@checked(
    model=a_model, chords=some_names, keep=some_names, order=a_word, tree=of_kind("SpanningTree", "chords", "joints"),
    unsupported=a_word,
)  # fmt: skip
def retree(
    model: Model,
    *,
    chords: Iterable[str] = (),
    keep: Iterable[str] = (),
    order: str = "breadth_first",
    tree: SpanningTree | None = None,
    unsupported: str = "raise",
) -> Model:
    """The same mechanism on another spanning tree: loop joints and tree joints change places.

    Parameters
    ----------
    model : Model
        With loop joints.
    chords : iterable of str
        Joints that shall close the loops; an active loop joint without a name is "loop 0", "loop 1", ...
    keep : iterable of str
        Joints that shall be in the tree. Those that couplings, actuators or other equipment refer to, or whose data
        loop joints do not hold, stay there by themselves as far as the loops allow.
    order : {"breadth_first", "depth_first", "given"}
        See `MechanismGraph.spanning_tree`.
    tree : SpanningTree, optional
        A tree of ``MechanismGraph.of(model)``; then the options above are not used.
    unsupported : {"raise", "drop"}
        Treatment of a chord that loses data (armature, soft stops), couplings or equipment: ``"drop"`` reports it.

    Returns
    -------
    Model
        Joints keep their names, positions, velocities and forces, frames keep theirs. ``StateMap(model, result)`` maps
        closed states, also to the joints that were chords.

    Raises
    ------
    UnknownNameError, TopologyError
    ModelError
        If a joint that becomes a chord has data, or is referred to in ways, that only tree joints support.

    Notes
    -----
    *Identities* At mapped states all frames are where they were, with the same energies; tree algorithms (``rnea``)
    are those of the other tree, and agree after projection on the motions that the loops allow.

    *Source* Featherstone (2008), sections 4.1 and 8.6.

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.joints import Revolute
    >>> b = kt.MechanismBuilder("triangle")
    >>> b.add_body("a", mass=1.0, com=(0.5, 0, 0))
    >>> b.add_body("b", mass=1.0, com=(0.5, 0, 0))
    >>> b.add_joint("left", "world", "a", Revolute())
    >>> b.add_joint("top", "a", "b", Revolute(), at_predecessor=((1, 0, 0), (0, 0, 0)))
    >>> b.add_joint("right", "world", "b", Revolute(), at_predecessor=((1, 0, 0), (0, 0, 0)),
    ...             at_successor=((1, 0, 0), (0, 0, 0)))
    >>> chain = b.build(chords=["right"])
    >>> other = kt.surgery.retree(chain, chords=["left"])
    >>> other.body_names, other.joint_names, [loop.name for loop in other.loops]
    (('world', 'b', 'a'), ('right', 'top'), ['left'])
    """
    if unsupported not in ("raise", "drop"):
        raise UnsupportedError(f"retree: unsupported={unsupported!r}; known: raise, drop", unsupported=unsupported)
    graph, links, closing = MechanismGraph.of(model), _links(model), named_loops(model)
    if tree is None:
        chords, keep = list(chords), list(keep)
        wanted = [name for name in links if name not in closing and (links[name].only_in_tree or _users(model, name))]
        tree = graph.spanning_tree(chords=chords, keep=acyclic(graph, chords, keep, wanted), order=order)
    opened = [name for name in tree.joints if name in closing]  # chords that become joints of the tree
    closed = [name for name in tree.chords if name not in closing]
    if not opened:
        return model
    editor = ModelEditor.of(model)
    keyframes = editor.equipment.keyframes
    records = {name: _record(editor, links[name], model, unsupported) for name in closed}
    _forget(editor, model, closed, unsupported)
    softness = [name for name in opened if closing[name].softness is not None]
    for name in softness:
        editor.note("info", f"joint {name!r}", "is a joint of the tree now, exact; its softness is not kept")
    placed = placed_bodies(tree, links)
    for x in placed:
        if not is_identity(x.Y):
            editor.reframe(x.body, x.Y)
    for x in placed:
        body = editor._bodies[x.body]
        body.parent, body.joint, body.joint_name, body.X = x.parent, x.joint, x.joint_name, x.X_T
        body.data = dict(links[x.joint_name].data)
    editor._joint_names = {x.joint_name: x.body for x in placed}
    editor._bodies = {x.body: editor._bodies[x.body] for x in placed}
    left = tuple(loop for loop in editor.equipment.loops if not any(loop is closing[name] for name in opened))
    editor.equipment = dataclasses.replace(editor.equipment, loops=(*left, *records.values()), keyframes=())
    return with_keyframes(model, editor.result(), keyframes)


def _links(model: Model) -> dict[str, Link]:
    """All joints of a model, of the tree and of loops, between bodies in the model's coordinates."""
    editor, links = ModelEditor.of(model), {}
    for body in editor._bodies.values():
        data = {what: values for what, values in body.data.items() if _says_something(body, what, values)}
        link = Link(body.joint_name, body.joint, body.parent, body.name, body.X, Transform.identity(), data)
        links[link.name] = link.straight()
    for name, loop in named_loops(model).items():
        P, S = model.frame(loop.predecessor), model.frame(loop.successor)
        data = {
            what: np.array(loop.along(what)) for what in DATA
            if getattr(loop, what) != LoopJoint.__dataclass_fields__[what].default
        }  # fmt: skip
        ends = (model.body_names[P.body], model.body_names[S.body])
        links[name] = Link(name, loop.joint, *ends, loop.X_P @ P.X_FB, loop.X_S @ S.X_FB, data).straight()
    return links


def _says_something(body, what: str, values: np.ndarray) -> bool:
    """Whether data of a joint differ from those of a joint without them."""
    if what == "spring_reference":
        return bool(np.any(body.data["stiffness"]))
    return bool(np.any(np.isfinite(values) if what in LIMITS else values))


def _users(model: Model, joint: str) -> list[str]:
    """References to a joint of the tree, keyframes left out."""
    users = [f"the {c}" for c in model.constraints if joint in c.joints]
    equipment = dataclasses.replace(model.equipment, keyframes=())
    frames = [frame.name for frame in model.frames]
    users += equipment.missing(frames, [name for name in model.joint_names if name != joint])
    i = model.joint(joint)
    return users + gears_of_joint(model, i)


def _record(editor: ModelEditor, link: Link, model: Model, unsupported: str) -> LoopJoint:
    """A joint of the tree as a loop joint, between frames in the coordinates that the bodies have before they move."""
    if lost := link.only_in_tree:
        if unsupported == "raise":
            link.as_loop()
        editor.note("dropped", f"joint {link.name!r}", f"closes a loop, where {', '.join(lost)} is not kept")
    if given := [what for what in ACTUATOR_LIMITS if what in link.data]:
        editor.note("info", f"joint {link.name!r}", f"closes a loop, where {', '.join(given)} is not kept")
    data = {what: value for what, value in link.data.items() if what not in lost}
    # The frames with the bodies' names stay where they are, wherever in the body that is.
    seen = [model.frame(body).X_FB.inverse() for body in (link.predecessor, link.successor)]
    return dataclasses.replace(link, X_P=link.X_P @ seen[0], X_S=link.X_S @ seen[1], data=data).as_loop()


def _forget(editor: ModelEditor, model: Model, closed: list[str], unsupported: str) -> None:
    """Take out references to joints that leave the tree, or refuse."""
    for name in closed:
        if (users := _users(model, name)) and unsupported == "raise":
            message = (
                f"joint {name!r} cannot become a chord: {', '.join(users[:4])} would lose its coordinate; "
                f"keep=[{name!r}] leaves it in the tree, unsupported='drop' gives these up"
            )
            raise ModelError(message, joint=name, users=users)
        for user in users:
            editor.note("dropped", "retree", f"{user}: joint {name!r} closes a loop now")
    editor.equipment = dataclasses.replace(editor.equipment, keyframes=())
    forces = editor._forces  # whose laws take coordinates of loop joints too
    editor._forces = [force for force in forces if force.commanded]
    editor._cut_references(frames=(), joints=closed)
    editor._forces = [force for force in forces if not force.commanded or force in editor._forces]
    for name in closed:
        editor._lock_gears(name, "its joint closes a loop")
