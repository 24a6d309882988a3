"""The rules that a mechanism must obey, each with the error that names the element, the value and the rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kinetree.errors import InertiaError, JointError, ModelError, NonFiniteError
from kinetree.joints import Joint
from kinetree.model.gears import reflected_inertia
from kinetree.model.parts import check_finite, numeric, one_number, two_named
from kinetree.spatial import Inertia

# A violation below these is rounding of a file's decimals or of a change of coordinates: a share of the largest moment,
# and the moment of the whole mass at a micrometer.
INERTIA_TOLERANCE = 1e-6
GYRATION_TOLERANCE = 1e-6  # [m]
SYMMETRY_TOLERANCE = 1e-9  # of the largest entry of a rotational inertia
LONGEST_NAME = 1000  # characters
SINGULAR = 1e-13  # of the largest value that this inertia about the joint could have


def check_names(kind: str, names: Iterable[str], model: str) -> None:
    """Names of one kind must be different strings for files: not empty, visible, and not too long."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise ModelError(f"model {model!r}: a {kind} is named {name!r}, expected a non-empty string", name=name)
        if not name.isprintable() or not name.strip() or len(name) > LONGEST_NAME:
            shown = repr(name) if len(name) <= LONGEST_NAME else f"{name[:60]!r}... ({len(name)} characters)"
            raise ModelError(
                f"model {model!r}: a {kind} is named {shown}; names are of visible characters, at most {LONGEST_NAME}. "
                "Remove tabs, line ends and other control characters",
                name=name,
            )
        if name in seen:
            where = " (every body is a frame too)" if kind == "frame" else ""
            raise two_named(kind, name, model, where, "bodies" if kind == "body" else "")
        seen.add(name)


def check_joint(what: str, joint: object) -> None:
    """A joint must be an instance of a Joint class."""
    if isinstance(joint, type) and issubclass(joint, Joint):
        raise JointError(f"{what} is the class {joint.__name__}, expected an instance: {joint.__name__}()", joint=joint)
    if not isinstance(joint, Joint):
        raise JointError(
            f"{what} is {joint!r}, expected a Joint such as kinetree.joints.Revolute((0, 0, 1))", joint=joint
        )


def as_rotational_inertia(what: str, inertia) -> np.ndarray:
    """A symmetric (3, 3) array from a tensor or from its three diagonal entries."""
    I = numeric(f"{what}: inertia", inertia)
    if I.shape == (3,):
        I = np.diag(I)
    if I.shape != (3, 3):
        raise InertiaError(
            f"{what}: inertia has shape {I.shape}, expected (3, 3), or (3,) for its diagonal [kg m^2]", inertia=inertia
        )
    check_finite(f"{what}: inertia", I, "kg m^2")
    defect = float(np.abs(I - I.T).max())
    if defect > SYMMETRY_TOLERANCE * float(np.abs(I).max()):
        raise InertiaError(
            f"{what}: rotational inertia is not symmetric: I - I^T has an entry {defect:.6g} kg m^2 (tolerance "
            f"{SYMMETRY_TOLERANCE:g} of the largest entry)",
            inertia=I,
            defect=defect,
        )
    return 0.5 * (I + I.T)


def check_mass(what: str, mass: float) -> None:
    """A mass is finite and not negative."""
    mass = one_number(f"{what}: mass", mass)
    check_finite(f"{what}: mass", mass, "kg")
    if mass < 0.0:
        raise InertiaError(f"{what}: mass {mass:g} kg is negative", mass=mass)


def check_inertia(what: str, mass: float, I_com: np.ndarray, rounding: float = 0.0) -> None:
    """A body must be a distribution of positive mass.

    Parameters
    ----------
    what : str
        Opens the message.
    mass : float
        [kg].
    I_com : (3, 3) array
        Rotational inertia about the center of mass [kg m^2].
    rounding : float
        Rounding error of the entries [kg m^2].

    Raises
    ------
    InertiaError
        A negative mass or moment, moments that break the triangle inequality, a rotational inertia without mass.

    Notes
    -----
    The second moments about the center of mass form a positive semidefinite matrix, so that I1, I2, I3 >= 0 and none
    exceeds the sum of the other two; thin rods and points, with equality, are allowed.
    """
    check_mass(what, mass)
    if mass == 0.0:
        largest = float(np.abs(I_com).max())
        if largest > rounding:
            raise InertiaError(
                f"{what}: mass is 0, but the rotational inertia is not (largest entry {largest:.6g} kg m^2). A body "
                "without mass has none; the reflected inertia of a motor belongs into armature=.",
                mass=mass,
                inertia=I_com,
            )
        return
    moments = np.linalg.eigvalsh(I_com)
    tolerance = INERTIA_TOLERANCE * float(np.abs(moments).max()) + GYRATION_TOLERANCE**2 * mass + rounding
    shown = ", ".join(f"{moment:.6g}" for moment in moments)
    excess = float(moments[2] - moments[0] - moments[1])
    if moments[0] < -tolerance:
        raise InertiaError(
            f"{what}: principal moments ({shown}) kg m^2 are not all positive; was the tensor given about another "
            "point than the center of mass?",
            moments=moments,
        )
    if excess > tolerance:
        raise InertiaError(
            f"{what}: principal moments ({shown}) kg m^2 break I3 <= I1 + I2 by {excess:.6g} kg m^2; was the tensor "
            "given about the wrong point, or with wrong signs of its products?",
            moments=moments,
            excess=excess,
        )


def central_inertia(I: Inertia) -> np.ndarray:
    """Rotational inertia about the center of mass of a body with floats; zeros if it has no mass."""
    about_origin = np.array(I.I.matrix.rows, dtype=float)
    if I.m == 0.0:
        return about_origin
    h = np.array(list(I.h), dtype=float)
    return about_origin - (h @ h * np.eye(3) - np.outer(h, h)) / I.m


def check_spatial_inertia(what: str, I: Inertia) -> None:
    """A spatial inertia about a body's origin must be that of a distribution of mass."""
    h, about_origin = np.array(list(I.h), dtype=float), np.array(list(I.I), dtype=float)
    check_finite(f"{what}: first moment", h, "kg m")
    check_finite(f"{what}: inertia", about_origin, "kg m^2")
    check_mass(what, I.m)
    if I.m == 0.0 and np.any(h != 0.0):
        raise InertiaError(f"{what}: mass is 0, but the first moment is {h.tolist()} kg m", mass=I.m, first_moment=h)
    check_inertia(what, I.m, central_inertia(I), rounding=1e-14 * float(np.abs(about_origin).max()))


def check_each_finite(what: str, labels: Sequence[str], values: np.ndarray) -> None:
    """NaN and infinity are refused with the label of their coordinate."""
    for label, value in zip(labels, values.tolist(), strict=True):
        if not math.isfinite(value):
            raise NonFiniteError(f"joint {label!r}: {what} is {value}, expected a finite number", joint=label)


def check_not_negative(what: str, labels: Sequence[str], values: np.ndarray) -> None:
    """Damping, friction, armature and stiffness only oppose a motion; NaN and infinity are refused too."""
    check_each_finite(what, labels, values)
    for label, value in zip(labels, values.tolist(), strict=True):
        if value < 0.0:
            raise ModelError(f"joint {label!r}: {what} {value:g} is negative, expected >= 0", joint=label, value=value)


def check_limits(labels: Sequence[str], lower: np.ndarray, upper: np.ndarray) -> None:
    """lower <= upper; infinite means no limit."""
    for label, low, high in zip(labels, lower.tolist(), upper.tolist(), strict=True):
        if math.isnan(low) or math.isnan(high):
            raise NonFiniteError(f"joint {label!r}: limits [{low}, {high}] have NaN; inf means no limit", joint=label)
        if low > high or low == math.inf or high == -math.inf:
            raise ModelError(
                f"joint {label!r}: lower limit {low:g} is above the upper limit {high:g}; were they exchanged?",
                joint=label,
                lower=low,
                upper=high,
            )


def check_moving_inertia(model) -> None:
    """Every joint must have some inertia to move: its subtree's, all distal joints locked, or its armature.

    Parameters
    ----------
    model : Model
        Massless bodies are allowed between others (the links of a universal joint), but not at the end of a moving
        chain.

    Raises
    ------
    ModelError
        Names the joint; the mass matrix would be singular whatever the position.
    """
    suspects = [i for i in model.outward() if model.joints[i].nv and not _is_regular(model.I[i])]
    if not suspects:
        return
    rng = np.random.default_rng(0)  # inertia that vanishes at one random position vanishes at all
    composite = list(model.I)
    q = model.random_q(rng).tolist()
    joints = model.at(float(rng.uniform())).joints
    for i in model.inward():
        p = model.parent[i]
        X = joints[i].transform(model.q_of(i, q)) @ model.X_T[i]
        composite[p] = composite[p] + X.inverse_apply(composite[i])
    for i in suspects:
        S = joints[i].motion_subspace(model.q_of(i, q))
        inertia, bound = _inertia_about_joint(model, i, S, composite[i])
        weakest = _weakest_direction(inertia, bound)
        if weakest is None:
            continue
        bodies = [model.body_names[j] for j in model.subtree(i)]
        moved = ", ".join(map(repr, bodies[:4])) + (f" and {len(bodies) - 4} more" if len(bodies) > 4 else "")
        label = model.velocity_labels[model.v_slice[i].start + weakest]
        raise ModelError(
            f"massless moving leaf: joint {label!r} ({model.joints[i]!r}) moves {moved} with mass "
            f"{composite[i].m:g} kg, which has no inertia about it, so its acceleration is undefined; give the body "
            "mass and inertia, give the joint an armature, or make the joint fixed",
            joint=model.joint_name(i),
            bodies=bodies,
        )


def _is_regular(I: Inertia) -> bool:
    if I.m == 0.0:
        return False
    moments = np.linalg.eigvalsh(central_inertia(I))
    return bool(moments[0] > 1e-9 * moments[2])


def _inertia_about_joint(model, i: int, S: Sequence, I: Inertia) -> tuple[np.ndarray, np.ndarray]:
    """S^T I S + armature, and for each column of S the largest value that S_k^T I S_k could have."""
    k = model.v_slice[i].start
    D = np.array([[float(column.dot(I @ other)) for other in S] for column in S])
    rotational = float(np.abs(list(I.I)).max())
    bound = np.array([
        rotational * float(column.angular.dot(column.angular)) + I.m * float(column.linear.dot(column.linear)) for
        column in S
    ])  # fmt: skip
    armature = np.array(model.armature[k : k + len(S)], dtype=float)
    if len(S) == 1:
        armature += reflected_inertia(model, i, S[0].angular)
    return D + np.diag(armature), bound + armature


def _weakest_direction(D: np.ndarray, bound: np.ndarray) -> int | None:
    """A coordinate that takes part in a motion without inertia, or None."""
    scale = np.sqrt(bound)
    if np.any(scale == 0.0):
        return int(np.argmin(scale))
    values, vectors = np.linalg.eigh(D / np.outer(scale, scale))
    return int(np.argmax(np.abs(vectors[:, 0]))) if values[0] <= SINGULAR else None


def with_entries(what: str, array: np.ndarray, by_joint: Mapping, model, slices: Sequence[slice]) -> np.ndarray:
    """The array with the entries of some joints changed, in place; ``slices`` are the model's q_slice or v_slice."""
    for joint, value in by_joint.items():
        i = model.joint(joint)
        array[slices[i]] = of_joint(model.joint_name(i), what, value, slices[i].stop - slices[i].start)
    return array


def of_joint(joint_name: str, what: str, value, size: int) -> np.ndarray:
    """The entries of one joint from a number for all or a sequence."""
    array = numeric(f"joint {joint_name!r}: {what}", value)
    if array.ndim == 0:
        return np.full(size, float(array))
    if array.shape != (size,):
        raise ModelError(
            f"joint {joint_name!r}: {what} has shape {array.shape}, expected ({size},) or one number", joint=joint_name
        )
    return array


def per_coordinate(what: str, value, model, default, slices: Sequence[slice], error: type = ModelError) -> np.ndarray:
    """An array over the velocities or positions from a number for all, a sequence, or a mapping from joint names.

    Parameters
    ----------
    what : str
        Opens the message.
    value : None, float, sequence or mapping
        Numbers or sequences, by joint names.
    model : Tree
        Gives the joints' names and sizes.
    default : float or array
        For joints that the mapping does not name.
    slices : sequence of slice
        The model's ``v_slice`` or ``q_slice``.
    error : type
        Raised for a wrong shape.
    """
    size = slices[-1].stop
    array = np.array(np.broadcast_to(default, size), dtype=float)
    if isinstance(value, Mapping):
        return with_entries(what, array, value, model, slices)
    if value is None:
        return array
    found = numeric(f"model {model.name!r}: {what}", value)
    if found.ndim and found.shape != (size,):
        raise error(
            f"model {model.name!r}: {what} has shape {found.shape}, expected ({size},), a number for all, or a mapping "
            "of joint names",
            shape=found.shape,
        )
    array[:] = found
    return array
