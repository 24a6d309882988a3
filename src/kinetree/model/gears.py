"""Geared rotors, as data of a model: no bodies of their own, yet with all of their dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinetree.errors import InertiaError, ModelError, NonFiniteError, TopologyError, unknown_name
from kinetree.model.parts import numeric, two_named
from kinetree.spatial import Inertia, Symmetric3, Transform, Vector3
from kinetree.spatial.scalar import SNAP

SYMMETRIC = 1e-9  # relative tolerance of the inertias of a flat disk, and of its stator


@dataclass(frozen=True, slots=True, eq=False)
class GearedRotor:
    """A body of revolution that a gear turns with a joint: the rotor of a motor, a wheel of the gear, a flywheel.

    It turns in its stator by the angle ``ratio * q`` of the joint. Because it is symmetric about its axis, its mass and
    its inertia do not depend on that angle: they are part of the stator's inertia, ``model.I``. The effect of the
    rotation depends on the axial inertia J alone: the angular momentum ``J ratio v`` along the axis, with its
    gyroscopic moment.

    Parameters
    ----------
    name : str
        Unique among the rotors of a model.
    joint : int
        Number of the joint of one freedom that turns with it (of the body it moves).
    body : int
        Number of the stator's body: one that supports the joint, that is moved by it, or the world.
    ratio : float
        Angle of the rotor in the stator per angle (or length [rad/m]) of the joint; may be negative.
    axis : Vector3
        Unit vector about which the rotor turns, in the stator's body coordinates [1].
    axial_inertia : float
        Inertia J about the axis [kg m^2].
    transverse_inertia : float
        Inertia about axes across it through the center of mass [kg m^2].
    mass : float
        [kg].
    center : Vector3
        Center of mass, on the axis, in the stator's body coordinates [m].

    Notes
    -----
    Mass, center and transverse inertia take part in the dynamics through the stator's inertia only; the record keeps
    them so that the rotor can be taken out of it again (``kinetree.surgery.expand_gears``).

    *Source* Featherstone (2008), section 9.6, example 9.5.
    """

    name: str
    joint: int
    body: int
    ratio: float
    axis: Vector3
    axial_inertia: float
    transverse_inertia: float = 0.0
    mass: float = 0.0
    center: Vector3 = Vector3(0.0, 0.0, 0.0)

    @property
    def locked_inertia(self) -> Inertia:
        """Its inertia about the stator's body origin, whether it turns or not."""
        a, J, T = self.axis, self.axial_inertia, self.transverse_inertia
        d = J - T  # T 1 + (J - T) a a^T
        about = Symmetric3(T + d * a.x * a.x, d * a.x * a.y, T + d * a.y * a.y, d * a.x * a.z, d * a.y * a.z,
                           T + d * a.z * a.z)  # fmt: skip
        return Inertia.from_com(self.mass, self.center, about)

    def numbers(self) -> dict[str, object]:
        """Inputs of compiled functions, by name."""
        return {"ratio": self.ratio, "axial_inertia": self.axial_inertia}

    def with_numbers(self, values: Sequence) -> GearedRotor:
        """The same rotor with other such numbers."""
        return replace(self, ratio=values[0], axial_inertia=values[1])

    def seen_from(self, X: Transform, body: int | None = None) -> GearedRotor:
        """The same rotor in other coordinates, X from the stator's to these; ``body`` if they are another body's."""
        new = self.body if body is None else body
        return replace(self, axis=X.E @ self.axis, center=X.apply_point(self.center), body=new)

    def __str__(self) -> str:
        return f"rotor {self.name!r}"


def unit_axis(what: str, axis) -> Vector3:
    """A unit vector along the axis, with exact zeros and ones."""
    axis = numeric(f"{what}: axis", axis)
    length = float(np.linalg.norm(axis)) if axis.shape == (3,) else 0.0
    if not (np.isfinite(length) and length > 0.0):
        raise ModelError(f"{what}: axis is {axis.tolist()}, expected three finite numbers that are not all zero")
    return Vector3(*(0.0 if abs(x) < SNAP else float(np.sign(x)) if abs(abs(x) - 1.0) < SNAP else x
                     for x in (axis / length).tolist()))  # fmt: skip


def checked_rotors(model, rotors: Sequence[GearedRotor], possible: bool) -> tuple[GearedRotor, ...]:
    """The rotors with snapped axes, after checks of names, places and numbers.

    Parameters
    ----------
    model : Model
        With its structure and inertias.
    rotors : sequence of GearedRotor
    possible : bool
        Raise an error for rotors that their stators' inertias cannot contain.

    Raises
    ------
    ModelError
        Or one of its kinds: DuplicateNameError, TopologyError, InertiaError, NonFiniteError.
    """
    checked, names = [], set()
    for rotor in rotors:
        what = f"model {model.name!r}: rotor {rotor.name!r}"
        if rotor.name in names:
            raise two_named("rotor", rotor.name, model.name)
        names.add(rotor.name)
        _check_place(model, rotor, what)
        check_rotor_numbers(rotor, what)
        checked.append(replace(rotor, axis=unit_axis(what, list(rotor.axis))))
    if possible:
        for body in {rotor.body for rotor in checked} - {0}:
            _check_contained(model, body, [rotor for rotor in checked if rotor.body == body])
    return tuple(checked)


def _check_place(model, rotor: GearedRotor, what: str) -> None:
    joint, body = rotor.joint, rotor.body
    if not (1 <= joint < model.nb and 0 <= body < model.nb):
        raise ModelError(f"{what}: joint {joint} or body {body} does not exist; they are numbered up to {model.nb - 1}")
    if model.joints[joint].nv != 1:
        raise ModelError(
            f"{what} is geared to joint {model.joint_name(joint)!r} ({model.joints[joint]!r}) with "
            f"{model.joints[joint].nv} freedoms; a gear ratio needs one",
            joint=model.joint_name(joint),
        )
    if body and body not in model.support(joint) and joint not in model.support(body):
        raise TopologyError(
            f"{what}: its stator {model.body_names[body]!r} and joint {model.joint_name(joint)!r} are on different "
            "branches. It would couple the branches, and the mass matrix would lose the zeros that all algorithms rely "
            "on; make the rotor a body on a revolute joint and couple that joint to it (add_coupling)",
            joint=model.joint_name(joint),
            body=model.body_names[body],
        )


def check_rotor_numbers(rotor: GearedRotor, what: str) -> None:
    """Raise an error for an impossible rotor, whatever its stator."""
    J, T = rotor.axial_inertia, rotor.transverse_inertia
    numbers = {"ratio": rotor.ratio, "axial_inertia": J, "transverse_inertia": T, "mass": rotor.mass,
               **{f"center.{axis}": x for axis, x in zip("xyz", rotor.center, strict=True)}}  # fmt: skip
    for name, x in numbers.items():
        if not np.isfinite(x):
            raise NonFiniteError(f"{what}: {name} is {x}, expected a finite number")
    if J < 0.0 or T < 0.0 or rotor.mass < 0.0:
        raise InertiaError(f"{what}: axial inertia {J:g}, transverse inertia {T:g} kg m^2 and mass {rotor.mass:g} kg, "
                           "expected none of them negative")  # fmt: skip
    if J > 2.0 * T * (1.0 + SYMMETRIC):
        raise InertiaError(
            f"{what}: axial inertia {J:g} kg m^2 is more than twice the transverse inertia {T:g} kg m^2; no body is "
            "flatter than a disk, which has twice"
        )


def _check_contained(model, body: int, rotors: Sequence[GearedRotor]) -> None:
    """The body without its rotors must have mass and moments that are not negative."""
    whole, mass = model.I[body], sum(rotor.mass for rotor in rotors)
    names = ", ".join(repr(rotor.name) for rotor in rotors)
    left, moments = whole, 0.0
    for rotor in rotors:
        inside = rotor.locked_inertia
        left = left + inside * -1.0
        moments += inside.I.trace
    origin = np.array(list(whole.com)) if whole.m > 0.0 else np.zeros(3)
    h, m = np.array(list(left.h)), left.m
    # About the body's center of mass, near which both are, so that large offsets do not hide a deficit.
    about = np.array(left.I.matrix.rows) + (m * (origin @ origin) - 2.0 * (origin @ h)) * np.eye(3)
    about += np.outer(origin, h) + np.outer(h, origin) - m * np.outer(origin, origin)
    lowest = float(np.linalg.eigvalsh(about)[0])
    if m < -SYMMETRIC * mass or lowest < -SYMMETRIC * (moments + abs(float(whole.I.trace))):
        raise InertiaError(
            f"body {model.body_names[body]!r} ({whole.m:g} kg) cannot contain its rotors {names} ({mass:g} kg): the "
            f"rest has {m:g} kg and a moment of {lowest:.3g} kg m^2. model.I includes the rotors; "
            "ModelBuilder.add_rotor adds them",
            body=model.body_names[body],
        )


# The rotors of a model in other forms --------------------------------------------------------------------------------


def gear_unit(model, rotor_name: str, number: str) -> str:
    """The unit of such a number."""
    if number == "axial_inertia":
        return "kg m^2"
    joint = next((model.joints[rotor.joint] for rotor in model.rotors if rotor.name == rotor_name), None)
    return "rad/m" if joint and joint.velocity_units[0] == "m/s" else "1"


def reflected_inertia(model, i: int, axis: Vector3) -> float:
    """The rotors' part of the inertia at joint i, which turns its body about the axis while the parent rests."""
    total = 0.0
    for rotor in model.rotors:
        if rotor.joint == i:  # in a body that the joint moves it turns less or more than by the ratio
            spin = float(rotor.axis.dot(axis)) if rotor.body == i else 0.0
            total += rotor.axial_inertia * rotor.ratio * (rotor.ratio + 2.0 * spin)
    return total


def turned_gears(model, turn: Sequence) -> dict[str, tuple[GearedRotor, ...]]:
    """The part of a model of its rotors, with stators in turned frames."""
    return {"rotors": tuple(rotor.seen_from(turn[rotor.body]) for rotor in model.rotors)}


def gears_in_plane(model, axes: Sequence) -> dict[str, tuple[GearedRotor, ...]]:
    """That part of a planar model: only the component of an axis across the plane acts, the rest is constrained."""
    return {"rotors": tuple(replace(x, axis=(axes[x.body] @ x.axis).z) for x in model.rotors)}


def gears_of_joint(model, i: int) -> list[str]:
    """The rotors that joint i turns, as text."""
    return [str(rotor) for rotor in model.rotors if rotor.joint == i]


def gear_texts(model) -> list[tuple]:
    """Name, joint, stator and axis of every rotor, to compare models."""
    return [(rotor.name, rotor.joint, rotor.body, repr(rotor.axis)) for rotor in model.rotors]


def gear_structure(model) -> tuple:
    """The structure of the gears, without numbers: equal for models with one structure."""
    return tuple((rotor.joint, rotor.body, repr(rotor.axis)) for rotor in model.rotors)


def placed_gears(builder, joints: Mapping, welded: Mapping, host: Mapping, bodies: Mapping) -> dict[str, tuple]:
    """The part of a model from the records of a builder: joints and bodies by number, stators on their hosts."""
    placed = []
    for joint, stator, rotor in builder._gears:
        where = f"model {builder.name!r} (rotor {rotor.name!r})"
        if joint in welded:
            raise ModelError(f"rotor {rotor.name!r} is geared to joint {joint!r}, which is fixed", joint=joint)
        if joint not in joints:
            raise unknown_name("joint", joint, joints, where)
        if stator not in host:
            raise unknown_name("body", stator, host, where)
        on, X = host[stator]
        placed.append(replace(rotor.seen_from(X.inverse(), bodies[on]), joint=joints[joint]))
    return {"rotors": tuple(placed)}
