"""The parts of a model as its constructor takes them: checked, completed, freed of residues of rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.errors import ModelError, ShapeError, unknown_name
from kinetree.forces.registry import PARAMETERS, POSITION_PARAMETERS, VELOCITY_PARAMETERS
from kinetree.model import validation as check
from kinetree.model.joint_forces import entered_forces
from kinetree.model.numbers import radius_of_gyration, snapped
from kinetree.model.parts import Frame, Geometry, check_placement, vector
from kinetree.model.topology import check_regular
from kinetree.spatial import Inertia, Transform, Vector3, rotation_from_matrix

DEFAULTS = {
    "armature": 0.0, "lower": -np.inf, "upper": np.inf, "velocity_limit": np.inf, "effort_limit": np.inf,
} | dict.fromkeys(VELOCITY_PARAMETERS, 0.0)  # fmt: skip
"""Arrays with one number for each velocity coordinate, and the number of those that are not given."""
_FINITE = ("armature", *VELOCITY_PARAMETERS)


def checked_tree(name: str, parent, body_names, joint_names, joints, X_T, I, possible: bool) -> tuple[int, ...]:
    """The parents of the bodies; all sequences fit, names are unique, joints, placements and inertias are usable."""
    parent = tuple(int(p) for p in parent)
    check_regular(parent)
    given = {"body_names": body_names, "joint_names": (None, *joint_names), "joints": joints, "X_T": X_T, "I": I}
    for what, values in given.items():
        if len(values) != len(parent):
            raise ShapeError(
                f"model {name!r}: {what} has {len(values)} entries, expected {len(parent)}, as many as parent"
            )
    check.check_names("body", body_names, name)
    check.check_names("joint", joint_names, name)
    for i, joint in enumerate(joint_names, 1):
        check.check_joint(f"joint {joint!r}", joints[i])
        check_placement(f"placement of joint {joint!r}", X_T[i])
        if possible:
            check.check_spatial_inertia(f"body {body_names[i]!r}", I[i])
    return parent


def checked_arrays(model, forces: Sequence, given: Mapping[str, object]) -> tuple[dict[str, np.ndarray], tuple]:
    """Arrays over the coordinates by name, read-only, parameters of joint forces included; and the other elements."""
    for what in given:
        if what not in DEFAULTS and what not in PARAMETERS:
            raise unknown_name("parameter", what, PARAMETERS, f"model {model.name!r}")
    arrays = {
        what: check.per_coordinate(what, given.get(what), model, default, model.v_slice)
        for what, default in DEFAULTS.items()
    }
    for what in POSITION_PARAMETERS:
        neutral = model._joint_neutral()
        arrays[what] = check.per_coordinate(what, given.get(what), model, neutral, model.q_slice, ShapeError)
        check.check_each_finite(what.replace("_", " "), model.position_labels, arrays[what])
    elements, labels = entered_forces(model, forces, arrays), model.velocity_labels
    for what in _FINITE:
        check.check_not_negative(what.replace("_", " "), labels, arrays[what])
    check.check_limits(labels, arrays["lower"], arrays["upper"])
    for what in ("velocity_limit", "effort_limit"):
        wrong = np.flatnonzero(~(arrays[what] >= 0.0))
        if len(wrong):
            k = int(wrong[0])
            raise ModelError(f"joint {labels[k]!r}: {what.replace('_', ' ')} is {arrays[what][k]}, expected >= 0")
    _refuse_limits_off_vector_joints(model, arrays["lower"], arrays["upper"])
    for array in arrays.values():
        array.setflags(write=False)
    return arrays, elements


def _refuse_limits_off_vector_joints(model, lower: np.ndarray, upper: np.ndarray) -> None:
    for i in model.outward():
        joint, k = model.joints[i], model.v_slice[i]
        if joint.nq != joint.nv and (np.any(np.isfinite(lower[k])) or np.any(np.isfinite(upper[k]))):
            raise ModelError(
                f"joint {model.joint_name(i)!r} ({joint!r}) has limits, but its positions (nq={joint.nq}) are not "
                f"one per velocity (nv={joint.nv}), so they limit nothing; remove lower and upper",
                joint=model.joint_name(i),
            )


def checked_gravity(name: str, gravity) -> Vector3:
    """The acceleration of gravity in the world [m/s^2]."""
    values = vector(f"model {name!r}: gravity", gravity, "m/s^2", ShapeError, ": a world vector").tolist()
    return Vector3(*(snapped(x, max(map(abs, values))) for x in values))


def snapped_placements(model, X_T: Sequence[Transform], inertias: Sequence[Inertia]) -> tuple[Transform, ...]:
    """Placements of the joints, with exact zeros for residues relative to their lengths and to the bodies."""
    found = [Transform.identity()]
    for i in model.outward():
        X = X_T[i]
        size = max(*map(abs, X.r), radius_of_gyration(inertias[i]), radius_of_gyration(inertias[model.parent[i]]))
        found.append(Transform(rotation_from_matrix(X.E.matrix), Vector3(*(snapped(x, size) for x in X.r))))
    return tuple(found)


def checked_geometry(name: str, geometry, nb: int) -> tuple[tuple[Geometry, ...], ...]:
    """The shapes of each body; none by default."""
    found = ((),) * nb if geometry is None else tuple(map(tuple, geometry))
    if len(found) != nb:
        raise ShapeError(f"model {name!r}: geometry has {len(found)} entries, expected {nb}, one per body")
    return found


def all_frames(body_names: Sequence[str], frames: Sequence[Frame]) -> tuple[Frame, ...]:
    """The frames of the bodies, then the others; a frame with a body's number and name replaces that body's own."""
    number = {name: i for i, name in enumerate(body_names)}
    own: list[Frame | None] = [None] * len(body_names)
    others = []
    for frame in frames:
        if not 0 <= frame.body < len(body_names):
            raise ModelError(f"frame {frame.name!r} is on body {frame.body}, expected 0 to {len(body_names) - 1}")
        check_placement(f"frame {frame.name!r}", frame.X_FB)
        if number.get(frame.name) == frame.body and own[frame.body] is None:
            own[frame.body] = frame
        else:
            others.append(frame)
    return (*(frame or Frame(name, i) for i, (name, frame) in enumerate(zip(body_names, own, strict=True))), *others)
