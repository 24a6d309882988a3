"""The base of a robot: fixed, floating or planar; and the choice of its body."""

from __future__ import annotations

import dataclasses
import itertools

from kinetree.arguments import a_joint, a_joint_or_name, a_model, a_name, checked
from kinetree.errors import DuplicateNameError, ModelError, TopologyError, unknown_name
from kinetree.joints import Fixed, Free, Joint, Planar
from kinetree.joints.reversed import reversed_joint
from kinetree.model import Model
from kinetree.model.builder import WORLD, as_transform
from kinetree.spatial import Transform
from kinetree.state_kinematics import world_transforms
from kinetree.surgery.model_editor import ENDLESS, ModelEditor, checked_body
from kinetree.surgery.states import with_keyframes

BASES = {"fixed": Fixed, "floating": Free, "planar": Planar}
ROOT_JOINT = "root_joint"


@checked(model=a_model, joint=a_joint_or_name, name=a_name, base=a_name)
def with_base(
    model: Model, joint: str | Joint, *, name: str = ROOT_JOINT, base: str | None = None, placement=None
) -> Model:
    """The same robot on another base joint.

    Parameters
    ----------
    model : Model
    joint : {"fixed", "floating", "planar"} or Joint
        Joint between the base and the world.
    name : str
        Name of this joint.
    base : str, optional
        The base: a body that hangs on the world, whose joint is replaced, or a frame of the world, which becomes the
        body that holds everything welded to the world. By default the only body on the world if its joint is free,
        planar or fixed; else all parts welded to the world, in the frame of its first link.
    placement : Transform, (xyz, rpy), (R, p) or (4, 4) array, optional
        Pose of the joint in the world [m, rad]: that of the base when the joint is in its neutral position. By
        default that of the base's joint.

    Returns
    -------
    Model
        Endless planes and bodies that float by themselves stay on the world. The report names the new base.

    Raises
    ------
    UnknownNameError
    TopologyError
        If the base is ambiguous.
    ModelError
        If nothing is welded to the world that could move.

    Notes
    -----
    *Identities* A floating base that is locked is a fixed one. For a URDF file, the result is that of
    ``load(..., floating_base=True)``.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> floating = kt.surgery.with_base(arm, "floating")
    >>> floating.body_names[:2], floating.nv - arm.nv
    (('world', 'base'), 6)
    >>> table = kt.surgery.with_base(floating, "fixed", placement=((0, 0, 0.8), (0, 0, 0)))
    >>> table.nv == arm.nv, table.frame("base").p_BF.tolist()
    (True, [0.0, 0.0, 0.8])
    """
    if isinstance(joint, str):
        if joint not in BASES:
            raise unknown_name("base joint", joint, BASES, "with_base (or give a Joint)")
        joint = BASES[joint]()
    moves = joint.nv > 0
    editor = ModelEditor.of(model)
    body = _base(editor, model, base, (Free, Planar), moves)
    record = editor._bodies[body]
    X = record.X if placement is None else as_transform("with_base: placement", placement)
    if record.joint.nv:
        old = f"joint {record.joint_name!r} ({record.joint!r}) of {body!r}"
        editor.note("info", "with_base", f"{old} replaced by {joint!r}")
    editor.set_joint(body, joint, _root_name(editor, name, record.joint_name, "with_base"), X)
    if joint.rigid:
        editor.absorb(body)
    return editor.result()


@checked(model=a_model, body=a_name, joint=a_joint, name=a_name, base=a_name)
def reroot(
    model: Model,
    body: str,
    *,
    joint: Joint | None = None,
    name: str | None = None,
    base: str | None = None,
    placement=None,
) -> Model:
    """The same robot with another body at its root: the joints between it and the old base are reversed.

    Parameters
    ----------
    model : Model
    body : str
        The new base.
    joint : Joint, optional
        Joint to the world. By default ``Free()`` if the old base was free, else ``Fixed()``.
    name : str, optional
        Name of that joint; by default that of the old free joint, or "root_joint".
    base : str, optional
        For a robot on the world: the frame of the world that becomes the body which holds all that was welded there;
        by default that of its first link.
    placement : Transform, (xyz, rpy), (R, p) or (4, 4) array, optional
        Pose of the joint in the world [m, rad]. By default that of the old free joint, or, for a robot on the
        world, of the body in the neutral position.

    Returns
    -------
    Model
        All other joints keep their names, positions, velocities, forces and data (the axes of turned revolute,
        prismatic, helical and cylindrical joints are negated, others become ``Reversed``). ``StateMap(model, result)``
        maps whole states; keyframes are mapped so if the new root floats.

    Raises
    ------
    UnknownNameError, TopologyError
    ModelError
        If nothing with mass was welded to the world, so that the old base would be a massless leaf.

    Notes
    -----
    *Identities* At mapped states all frames are where they were, with the same kinetic energy and the same differences
    of potential energy; with velocities v' = G v, M = G^T M' G.

    *Source* Featherstone, section 4.1: any body can be the root of the spanning tree; table 4.2 for reversed joints.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("humanoid", floating_base=True)
    >>> standing = kt.surgery.reroot(robot, "left_foot")
    >>> standing.body_names[:4]
    ('world', 'left_foot', 'left_ankle', 'left_shank')
    >>> [name for name in standing.joint_names[:3]]
    ['root_joint', 'left_ankle_roll', 'left_ankle_pitch']
    """
    top = checked_body(model, body, "reroot")
    first = model.support(model.body(top))[0]
    editor = ModelEditor.of(model)
    if isinstance(model.joints[first], Free):
        old = model.body_names[first]
        record = editor._bodies[old]
        root, root_name, X = Free(), record.joint_name, record.X
    else:
        old = _base(editor, model, base, (), True)
        root, root_name = Fixed(), ROOT_JOINT
        X = world_transforms(model, model.neutral().tolist())[model.body(top)]
    if old == top and joint is name is placement is None:
        return model
    root, root_name = joint or root, name or root_name
    if placement is not None:
        X = as_transform("reroot: placement", placement)
    if root_name != editor._bodies[old].joint_name:
        root_name = _root_name(editor, root_name, editor._bodies[old].joint_name, "reroot")
    keyframes = editor.equipment.keyframes if isinstance(root, Free) else ()
    if keyframes:  # put back as the states of the new root
        editor.equipment = dataclasses.replace(editor.equipment, keyframes=())
    _turn(editor, old, top)
    editor.set_joint(top, root, root_name, X)
    if root.rigid:
        editor.absorb(top)
    return with_keyframes(model, editor.result(), keyframes)


def _root_name(editor: ModelEditor, wish: str, replaced: str, what: str) -> str:
    """The name of a new root joint; in place of the default one that is taken, one with a number.

    Raises
    ------
    DuplicateNameError
        The requested name belongs to another joint.
    """
    name = editor.free_joint_name(wish, replaced)
    if name != wish and wish != ROOT_JOINT:
        message = f"{what}: name={wish!r} is that of another joint; choose one that no joint has, merged ones included"
        raise DuplicateNameError(message, kind="joint", name=wish)
    if name != wish:
        editor.note("info", what, f"the root joint is named {name!r}, for there is another {wish!r}")
    return name


def _base(editor: ModelEditor, model: Model, base: str | None, joints: tuple[type, ...], moves: bool) -> str:
    """The body that is the base; made of the parts welded to the world if there is none."""
    roots = editor.roots()
    if base is None:
        kind = editor._bodies[roots[0]].joint if len(roots) == 1 else None
        if kind is not None and (isinstance(kind, joints) or kind.rigid):
            return roots[0]
        several = [root for root in roots if isinstance(editor._bodies[root].joint, joints)]
        if several:
            fault = f"model {model.name!r} has {len(roots)} bodies on its world ({', '.join(roots[:6])})"
            raise TopologyError(f"{fault}, so its base is not clear; give base={several[0]!r}", roots=roots)
    elif base in roots:
        return base
    elif base in editor._bodies:
        fault = f"base {base!r} of model {model.name!r} hangs on {editor._bodies[base].parent!r}, not on the world"
        message = f"{fault}; on the world: {', '.join(roots)}. reroot() makes it the base."
        raise TopologyError(message, base=base)
    on_world = editor.frames_on(WORLD)
    if base is not None and base not in on_world:
        raise unknown_name("base", base, [*roots, *on_world], f"model {model.name!r}")
    shapes = [shape for shape in editor._world_geometry if shape.kind != ENDLESS]
    if moves and not (on_world or shapes or editor._world_inertia.m):
        fault = "nothing is there that could move"
        if roots:
            repair = f"frees that body, whose joint {editor._bodies[roots[0]].joint_name!r} is then replaced"
            fault = f"nothing is welded to its world, so there is no base that could move; base={roots[0]!r} {repair}"
        raise ModelError(f"model {model.name!r}: {fault}", base=base)
    links = [frame for frame in on_world if frame in editor._welded.values()]
    chosen = base or next(iter(links), "base")
    while base is None and not links and chosen in editor.frame_names():
        chosen += "_"
    joint_name = next((joint for joint, frame in editor._welded.items() if frame == chosen), None)
    joint_name = joint_name or editor.free_joint_name(f"{chosen}_to_world")
    mass = editor._world_inertia.m
    editor.embody_world(chosen, joint_name, editor.pose_of(chosen))
    if moves:
        editor.note("info", "base", f"all that is welded to the world is body {chosen!r} now, with {mass:.6g} kg")
        if mass == 0.0:
            editor.note("warning", "base", f"body {chosen!r} has no mass; where it can move alone, the mass matrix is "
                                          "singular")  # fmt: skip
    return chosen


def _turn(editor: ModelEditor, old: str, top: str) -> None:
    """Turn the path between two bodies round, so that ``top`` carries ``old``; the joint of ``top`` is set later.

    Notes
    -----
    Joint i leads from p to i by ``X_J X_T``. Seen from i it starts at i's own frame and ends at the old predecessor
    frame: in the new coordinates X_T, p is the successor frame, and the joint is X_J^-1.
    """
    bodies = editor._bodies
    path = [top]
    while path[-1] != old:
        path.append(bodies[path[-1]].parent)
    links = [(bodies[i].joint, bodies[i].joint_name, bodies[i].data, bodies[i].X) for i in path[:-1]]
    old_joint = bodies[old].joint_name
    editor.forget_joint(old_joint)
    back = {top: Transform.identity()}  # from the new coordinates of each body to the old
    for (i, p), (joint, joint_name, data, X) in zip(itertools.pairwise(path), links, strict=True):
        editor.reframe(p, X)
        back[p] = X.inverse()
        turned = bodies[p]
        turned.parent, turned.joint, turned.joint_name, turned.data = i, reversed_joint(joint), joint_name, data
        editor._joint_names[joint_name] = p
        turned.X = back[i]
    bodies[top].parent, bodies[top].joint_name = WORLD, old_joint
    editor._joint_names[old_joint] = top
    editor._bodies = {name: bodies[name] for name in (*path, *(name for name in bodies if name not in path))}
