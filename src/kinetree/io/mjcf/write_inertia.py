"""``<inertial>``: principal moments and axes that MuJoCo accepts and that reproduce the inertia of the model."""

from __future__ import annotations

import itertools

import numpy as np

from kinetree.io.inertia_rules import project, violation
from kinetree.io.number_text import central, number_text, numbers_text, quaternion_of
from kinetree.io.writing import UnsupportedFeatures, add
from kinetree.model.builder import rotation_of_quaternion
from kinetree.spatial import Inertia

# MuJoCo refuses moving bodies with a mass or a moment up to 1e-15.
SMALLEST = 2e-15  # [kg, kg m^2]
ROUNDING = 1e-13  # of the largest moment
# MuJoCo takes an inertial frame within 1e-6 of the body's frame for that frame; a margin is left.
TAKEN_FOR_THE_BODY = 1e-5  # [m, 1]


def write_inertia(element, name: str, I: Inertia, shift, moving: bool, features: UnsupportedFeatures) -> None:
    """Add ``<inertial>`` to a body.

    Parameters
    ----------
    element : lxml element
    name : str
        Of the body, for messages.
    I : Inertia
        In our frame of the body.
    shift : (3,) array
        Origin of the file's frame in ours [m].
    moving : bool
        MuJoCo has stricter requirements for bodies with joints.
    features : UnsupportedFeatures
    """
    there = any((I.m, *I.h, *I.I))
    if not there and not moving:
        return
    if not there:
        message = f"has no mass, which MuJoCo refuses of moving bodies: {SMALLEST:g} kg"
        features.note(f"body {name!r}", message, "warning")
        add(element, "inertial", pos="0 0 0", mass=number_text(SMALLEST), diaginertia=numbers_text([SMALLEST] * 3))
        return
    mass, com, I_com = central(I, tuple(shift))
    tensor = np.array(I_com.matrix.rows)
    if broken := violation(mass, tensor):
        features.add("inertias that no body can have (inertia='project' of kt.load repairs)", f"{name!r}: {broken}")
        tensor = project(mass, tensor)
    moments, quaternion = principal(tensor)
    if _is_near_the_body(com, quaternion):
        moments, quaternion = _with_other_axes_first(moments, quaternion)
    moments = _accepted(moments, name, moving, features)
    turned = {} if quaternion is None else {"quat": numbers_text(quaternion)}
    add(element, "inertial", pos=numbers_text(com), **turned, mass=number_text(mass), diaginertia=numbers_text(moments))


def principal(I: np.ndarray) -> tuple[list[float], tuple[float, ...] | None]:
    """Principal moments, and the quaternion of their axes; None for those of the body.

    Notes
    -----
    Of the eigenvectors, each in two directions and in any order, the frame that is nearest to the body's is taken. The
    moments are those about the axes of the rounded quaternion.
    """
    if not (I - np.diag(np.diag(I))).any():
        return np.diag(I).tolist(), None
    _, V = np.linalg.eigh(I)
    order = max(itertools.permutations(range(3)), key=lambda p: sum(abs(V[k, p[k]]) for k in range(3)))
    R = V[:, order]
    R = R * np.where(np.diag(R) < 0.0, -1.0, 1.0)
    if np.linalg.det(R) < 0.0:
        R[:, int(np.argmin(np.diag(R)))] *= -1.0
    quaternion = quaternion_of(R)
    R = rotation_of_quaternion(quaternion)
    return [float(f"{x:.16g}") for x in np.einsum("ik,ij,jk->k", R, I, R)], quaternion


def _is_near_the_body(com, quaternion) -> bool:
    """Whether MuJoCo would leave out a small offset or turn of the inertial frame that is there."""
    turn = np.zeros(3) if quaternion is None else np.array(quaternion[1:])
    small = np.abs(turn).max() < TAKEN_FOR_THE_BODY
    return bool(small and (turn.any() or (any(com) and np.abs(com).max() < TAKEN_FOR_THE_BODY)))


def _with_other_axes_first(moments, quaternion) -> tuple[list[float], tuple[float, ...]]:
    """The same inertia about the same axes, in the order y, z, x."""
    R = np.eye(3) if quaternion is None else rotation_of_quaternion(quaternion)
    return [*moments[1:], moments[0]], quaternion_of(R[:, [1, 2, 0]])


def _accepted(moments: list[float], name: str, moving: bool, features: UnsupportedFeatures) -> list[float]:
    """Moments that MuJoCo takes: not zero on moving bodies, and none above the sum of the others by rounding."""
    if moving and min(moments) < SMALLEST:
        message = f"moments of inertia below {SMALLEST:g} kg m^2, refused by MuJoCo of moving bodies: raised to it"
        features.note(f"body {name!r}", message, "warning")
    moments = [max(x, SMALLEST if moving else 0.0) for x in moments]
    k = int(np.argmax(moments))
    a, b = (x for j, x in enumerate(moments) if j != k)
    if moments[k] > a + b:
        excess = (moments[k] - (a + b)) / moments[k]
        if excess > ROUNDING:
            message = f"largest moment of inertia above the sum of the others by {excess:.2g} of it: lowered to it"
            features.note(f"body {name!r}", message, "warning")
        moments[k] = a + b
    return moments
