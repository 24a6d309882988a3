"""Parts of a model as models of their own: a subtree or a chain, and a model without some of its limbs."""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.arguments import a_joint, a_model, a_name, checked, some_names
from kinetree.errors import ModelError, TopologyError
from kinetree.joints import Joint
from kinetree.model import Model
from kinetree.model.builder import WORLD
from kinetree.state_kinematics import world_transforms
from kinetree.surgery.model_editor import ModelEditor, as_names, checked_body
from kinetree.surgery.position import position


@checked(model=a_model, root=a_name, joint=a_joint, tips=some_names)
def submodel(model: Model, root: str, *, joint: Joint | None = None, q=None, tips: str | Iterable[str] = ()) -> Model:
    """A body and all that it carries, as a model of its own.

    Parameters
    ----------
    model : Model
    root : str
        The body at the root.
    joint : Joint, optional
        Joint between the root and the world. By default its own joint: its parent stands still. ``Fixed()`` welds it,
        ``Free()`` lets it float.
    q : (nq,) array, optional
        Position of the whole model at which the parent is held (and the root is put, with another joint) [rad or m];
        neutral by default. So gravity acts as it does on the whole.
    tips : str or sequence of str, optional
        Frames or bodies at which chains end: keep only the bodies on the paths to them. By default all.

    Returns
    -------
    Model
        Frames, shapes, couplings, equipment and keyframes inside stay. All that crossed the cut is in the report,
        "dropped" where it is physics. Parts welded to the world are left out.

    Raises
    ------
    UnknownNameError
    TopologyError
        If a tip is not carried by the root.

    Notes
    -----
    *Identities* With its own joint, the submodel moves as that part of the whole does when all other joints are locked
    at q.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("humanoid", floating_base=True)
    >>> leg = kt.surgery.submodel(robot, "left_thigh", tips="left_sole")
    >>> leg.joint_names
    ('left_hip_pitch', 'left_knee', 'left_ankle_pitch', 'left_ankle_roll')
    """
    top = checked_body(model, root, "submodel")
    i = model.body(top)
    kept = set(model.subtree(i))
    if tips := as_names(tips):
        paths: set[int] = set()
        for tip in tips:
            body = model.frame(tip).body
            if body not in kept:
                raise TopologyError(f"submodel of {top!r}: tip {tip!r} is on body {model.body_names[body]!r}, which "
                                    f"{top!r} does not carry", tip=tip)  # fmt: skip
            paths.update(model.support(body))
        kept &= paths
    X_0 = world_transforms(model, position(model, q))
    editor = ModelEditor.of(model)
    editor.clear_world()
    place = editor._bodies[top]
    place.parent = WORLD
    place.X = model.X_T[i] @ X_0[model.parent[i]]
    editor.cut([model.body_names[k] for k in model.outward() if k not in kept])
    if joint is not None:
        editor.set_joint(top, joint, place.joint_name, X_0[i])
        if joint.rigid:
            editor.absorb(top)
    return editor.result()


@checked(model=a_model, bodies=some_names)
def prune(model: Model, bodies: str | Iterable[str]) -> Model:
    """A model without some of its bodies and all that these carry.

    Parameters
    ----------
    model : Model
    bodies : str or sequence of str

    Returns
    -------
    Model
        The rest as it was. All that crossed the cut is in the report, "dropped" where it is physics.

    Raises
    ------
    UnknownNameError
    ModelError
        If nothing would be left, or a joint would have nothing with inertia to move.

    Notes
    -----
    *Identities* With the pruned joints locked and the pruned bodies' inertia zero, the whole model has the same M.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.load("arm7")
    >>> bare = kt.surgery.prune(arm, ["left_finger", "right_finger"])
    >>> bare.nv, round(arm.total_mass - bare.total_mass, 6)
    (7, 0.12)
    """
    gone = {k for name in as_names(bodies) for k in model.subtree(model.body(checked_body(model, name, "prune")))}
    editor = ModelEditor.of(model)
    if len(gone) == model.nb - 1 and not (editor.frames_on(WORLD) or model.geometry[0]):
        raise ModelError(f"prune: without {', '.join(as_names(bodies))} nothing would be left of model {model.name!r}")
    editor.cut([model.body_names[k] for k in sorted(gone)])
    return editor.result()
