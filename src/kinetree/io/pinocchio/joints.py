"""Joints of Pinocchio as joints of kinetree, and back: each joint is a row of parts with placements between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.errors import UnsupportedError
from kinetree.joints import (
    Composite,
    Ellipsoid,
    Free,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Reversed,
    Revolute,
    Spherical,
    SphericalEuler,
    Translational,
    Universal,
)

Part = tuple[np.ndarray, np.ndarray, Joint]
"""R and p of a joint's predecessor frame in the successor of the part before, and the joint."""

_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_ALONG = {"R": Revolute, "RUB": Revolute, "P": Prismatic, "H": Helical}
_PLAIN = {
    "JointModelFreeFlyer": Free, "JointModelSpherical": Spherical, "JointModelPlanar": Planar,
    "JointModelTranslation": Translational, "JointModelSphericalZYX": SphericalEuler,
}  # fmt: skip
_UNALIGNED = {
    "JointModelRevoluteUnaligned": Revolute, "JointModelPrismaticUnaligned": Prismatic,
    "JointModelHelicalUnaligned": Helical, "JointModelRevoluteUnboundedUnaligned": Revolute,
}  # fmt: skip
_ALIGNED = {f"JointModel{kind}{axis}": (cls, _AXES[axis]) for kind, cls in _ALONG.items() for axis in "XYZ"}
KNOWN = (*_ALIGNED, *_UNALIGNED, *_PLAIN, "JointModelUniversal", "JointModelEllipsoid", "JointModelComposite")


def parts_of(joint, name: str) -> list[Part]:
    """The parts of a joint of Pinocchio; several for a composite one.

    Parameters
    ----------
    joint : pinocchio.JointModel or one of its kinds
    name : str
        Of the joint, for the message.

    Raises
    ------
    UnsupportedError
        The joint is of a kind that has no equivalent here.
    """
    kind = joint.shortname()
    own = joint.extract() if hasattr(joint, "extract") else joint
    here = np.eye(3), np.zeros(3)
    if kind == "JointModelComposite":
        found: list[Part] = []
        for place, inner in zip(own.jointPlacements, own.joints, strict=True):
            (R, p, first), *others = parts_of(inner, name)
            R_outer, p_outer = np.array(place.rotation), np.array(place.translation)
            found += [(R_outer @ R, R_outer @ p + p_outer, first), *others]
        return found
    if kind in _ALIGNED:
        cls, axis = _ALIGNED[kind]
        return [(*here, cls(axis, float(own.pitch)) if cls is Helical else cls(axis))]
    if kind in _UNALIGNED:
        cls, axis = _UNALIGNED[kind], _axis(own)
        return [(*here, cls(axis, float(own.pitch)) if cls is Helical else cls(axis))]
    if kind in _PLAIN:
        return [(*here, _PLAIN[kind]())]
    if kind == "JointModelUniversal":
        axes = [tuple(np.array(axis, dtype=float).ravel().tolist()) for axis in (own.axis1, own.axis2)]
        plain = axes == [_AXES["X"], _AXES["Y"]]
        return [(*here, Universal() if plain else Composite(tuple(map(Revolute, axes))))]
    if kind == "JointModelEllipsoid":
        return [(*here, Ellipsoid((float(own.radius_x), float(own.radius_y), float(own.radius_z))))]
    more = ""
    if kind == "JointModelMimic":
        more = (
            " Pinocchio's Python interface does not tell which joint a mimic joint is: build the model with mimic=False"
        )
    raise UnsupportedError(
        f"joint {name!r} of the Pinocchio model is a {kind}, which kinetree does not read; it reads "
        f"{', '.join(word.removeprefix('JointModel') for word in KNOWN)}.{more}",
        joint=name,
        kind=kind,
    )


def _axis(joint) -> tuple[float, ...]:
    """Of a joint along one axis; where Pinocchio does not tell it, from the motion subspace."""
    if hasattr(joint, "axis"):
        axis = joint.axis
    else:
        data = joint.createData()
        joint.calc(data, np.array([1.0, 0.0]))  # an angle by its cosine and sine
        axis = np.array(data.S).ravel()[3:]
    return tuple(np.array(axis, dtype=float).ravel().tolist())


def joined(parts: Sequence[Part]) -> list[Part]:
    """Parts without a placement between them as one joint, as far as a body has freedoms for it."""
    first, *others = parts
    same = all(np.array_equal(R, np.eye(3)) and not p.any() for R, p, _ in others)
    if not others or not same or sum(joint.nv for *_, joint in parts) > 6:
        return list(parts)
    return [(*first[:2], Composite(tuple(joint for *_, joint in parts)))]


def to_joint(pin, joint: Joint):
    """The joint as one of Pinocchio's kinds; None where there is no equivalent.

    Parameters
    ----------
    pin : module
        Pinocchio.
    joint : Joint
    """
    if type(joint) is Reversed and type(joint.joint) in (Revolute, Prismatic):
        joint = type(joint.joint)(tuple(-x for x in joint.joint.axis))
    axis = np.array(getattr(joint, "axis", (0.0, 0.0, 0.0)), dtype=float)
    letter = {value: name for name, value in _AXES.items()}.get(tuple(axis.tolist()))
    match joint:
        case Revolute():
            return getattr(pin, f"JointModelR{letter}")() if letter else pin.JointModelRevoluteUnaligned(axis)
        case Prismatic():
            return getattr(pin, f"JointModelP{letter}")() if letter else pin.JointModelPrismaticUnaligned(axis)
        case Helical():
            pitch = float(joint.pitch)
            return (
                getattr(pin, f"JointModelH{letter}")(pitch) if letter else pin.JointModelHelicalUnaligned(axis, pitch)
            )
        case Universal():
            return pin.JointModelUniversal(np.array(_AXES["X"]), np.array(_AXES["Y"]))
        case SphericalEuler(sequence="zyx"):
            return pin.JointModelSphericalZYX()
        case Ellipsoid(exact_normal=False):
            return pin.JointModelEllipsoid(*map(float, joint.radii))
        case Composite():
            found = [to_joint(pin, part) for part in joint.joints]
            if any(part is None for part in found):
                return None
            row = pin.JointModelComposite(found[0], pin.SE3.Identity())
            for part in found[1:]:
                row.addJoint(part, pin.SE3.Identity())
            return row
    kinds = {cls: name for name, cls in _PLAIN.items() if cls is not SphericalEuler}
    return getattr(pin, kinds[type(joint)])() if type(joint) in kinds else None


def positions_there(joint) -> list[int]:
    """Numbers of positions of the parts of a joint of Pinocchio, as `parts_of` lists them."""
    own = joint.extract() if hasattr(joint, "extract") else joint
    if joint.shortname() != "JointModelComposite":
        return [int(joint.nq)]
    return [n for inner in own.joints for n in positions_there(inner)]


def velocity_order(joint: Joint) -> np.ndarray:
    """Numbers there of the velocities here: ``v[k]`` is ``v_there[order[k]]``."""
    if isinstance(joint, Composite):
        parts = [velocity_order(part) for part in joint.joints]
        starts = np.cumsum([0, *(len(part) for part in parts)])
        return np.concatenate([part + start for part, start in zip(parts, starts[:-1], strict=True)])
    return np.roll(np.arange(joint.nv), {Free: 3, Planar: 1}.get(type(joint), 0))


def position_from(joint, q_there: np.ndarray) -> np.ndarray:
    """The position here of a joint of Pinocchio at a position there."""
    kind = joint.shortname()
    if kind == "JointModelComposite":
        parts = list(joint.extract().joints if hasattr(joint, "extract") else joint.joints)
        ends = np.cumsum([int(part.nq) for part in parts])[:-1]
        return np.concatenate([position_from(*pair) for pair in zip(parts, np.split(q_there, ends), strict=True)])
    if kind == "JointModelPlanar":
        return np.array([np.arctan2(q_there[3], q_there[2]), *q_there[:2]])
    if "RUB" in kind or "Unbounded" in kind:
        return np.arctan2(q_there[1:], q_there[:1])
    if kind in ("JointModelFreeFlyer", "JointModelSpherical"):
        return np.concatenate([q_there[:-4], q_there[-1:], q_there[-4:-1]])
    return q_there


def position_to(joint: Joint, q: np.ndarray) -> np.ndarray:
    """The position there of a joint that `to_joint` has made."""
    if isinstance(joint, Composite):
        ends = np.cumsum([part.nq for part in joint.joints])[:-1]
        return np.concatenate([position_to(*pair) for pair in zip(joint.joints, np.split(q, ends), strict=True)])
    if isinstance(joint, Planar):
        return np.array([*q[1:], np.cos(q[0]), np.sin(q[0])])
    if isinstance(joint, (Free, Spherical)):
        return np.concatenate([q[:-4], q[-3:], q[-4:-3]])
    return q
