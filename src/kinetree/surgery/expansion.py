"""Geared rotors made bodies of the tree, which couplings turn."""

from __future__ import annotations

from dataclasses import replace

from kinetree.arguments import a_model, checked
from kinetree.joints import Revolute
from kinetree.model import Model
from kinetree.model.builder import WORLD
from kinetree.spatial import IdentityRotation, Transform, Vector3
from kinetree.surgery.model_editor import ModelEditor


@checked(model=a_model)
def expand_gears(model: Model) -> Model:
    """The same mechanism with a body on a revolute joint for every geared rotor, coupled to the joint of its gear.

    Parameters
    ----------
    model : Model

    Returns
    -------
    Model
        Bodies and joints have the rotors' names and follow the others; the stators no longer contain them. The
        complete dynamics are the same, with the rotors' joints following: ``apply_couplings`` sets them. So is every
        algorithm of the bare tree without rotors, on a tree that has more freedoms.

    Raises
    ------
    DuplicateNameError
        If a body, joint or frame has the name of a rotor.

    Notes
    -----
    *Source* Featherstone (2008), section 9.6, eq. 9.26: with ``q = gamma(y)``, ``v = G ydot`` the mechanism has the
    inertia ``G^T M G``.

    *Identities* ``forward_dynamics`` and ``inverse_dynamics`` of both are the same at the joints of the model.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> b = kt.ModelBuilder.of(kt.models.double_pendulum())
    >>> b.add_rotor("motor", "elbow", 50.0, 1e-5, axis=(0, 1, 0), mass=0.1)
    >>> geared = b.build()
    >>> explicit = kt.surgery.expand_gears(geared)
    >>> a = kt.forward_dynamics(geared, [0.1, 0.2], [0.3, 0.4], [0.0, 1.0])
    >>> a_explicit = kt.forward_dynamics(explicit, [0.1, 0.2, 10.0], [0.3, 0.4, 20.0], [0.0, 1.0, 0.0])
    >>> bool(np.allclose(a_explicit, [*a, 50.0 * a[1]], rtol=1e-12))
    True
    """
    editor = ModelEditor.of(model)
    for joint, stator, rotor in editor._gears:
        editor._give_inertia(stator, rotor.locked_inertia * -1.0)
        place = Transform(IdentityRotation(), rotor.center)
        axis = tuple(map(float, rotor.axis))
        editor.add_body(rotor.name, stator, Revolute(axis), placement=place, mass=rotor.mass)
        record = editor._bodies[rotor.name]
        record.inertia = replace(rotor, center=Vector3.zero()).locked_inertia
        editor.add_coupling(rotor.name, joint, rotor.ratio)
        if rotor.mass == 0.0:
            editor.note("warning", f"body {rotor.name!r}", "impossible inertia taken as it is: moments without mass")
            editor.accept_impossible_inertia = True
        where = "the world" if stator == WORLD else f"{stator!r}"
        editor.note("info", "expand_gears", f"{rotor} is a body on {where}, coupled to joint {joint!r}")
    editor._gears = []
    return editor.result()
