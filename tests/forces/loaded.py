"""Random mechanisms with joint forces and force elements of every kind."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.forces import JointForce
from kinetree.forces.actuator import Actuator, FrameActuator
from kinetree.forces.orientation_servo import OrientationServo
from kinetree.forces.registry import FORCES
from tests.forces.user_elements import ActivatedMuscle, Servo, Thruster

AT_FRAMES = (kt.forces.Bushing, kt.forces.PointSpring, kt.forces.PointForce, kt.forces.BodyDamping, kt.forces.Drag,
             kt.forces.BoxDrag, kt.forces.EllipsoidDrag, kt.forces.InverseSquareForce, Thruster)
"""Kinds that need no joint of one coordinate."""
KINDS = [cls for cls in FORCES.values() if not issubclass(cls, JointForce) and not cls.commanded]
ACTUATORS = (Actuator, FrameActuator, OrientationServo)


def loaded(bare, seed: int, share: float = 0.5):
    """The model with random joint forces, and elements of a random part of all kinds, some with internal states.

    Parameters
    ----------
    bare : Model
    seed : int
    share : float
        Probability of each kind.
    """
    rng = np.random.default_rng(seed)
    numbers = {name: rng.uniform(0.1, 2.0, bare.nv) for name in ("damping", "stiffness", "dry_friction")}
    model = bare.replace(**numbers)
    single = any(joint.nq == joint.nv == 1 for joint in bare.joints[1:])
    kinds_of_joints = {joint.kind for joint in bare.joints[1:]}
    kinds = (*KINDS, ActivatedMuscle, Servo, Thruster, *ACTUATORS)
    elements = []
    for cls in kinds:
        own = np.random.default_rng([seed, *cls.kind.encode()])  # further kinds leave the others as they are
        fits = cls.joint_kind in kinds_of_joints if cls.joint_kind else single or cls in (*AT_FRAMES, *ACTUATORS)
        if own.random() < share and fits:
            elements.append(cls.example(bare, own))
    return model.with_forces(*elements)


def tree(seed: int):
    """A random tree with joints of every kind, floating for every third seed, and its forces."""
    return loaded(kt.models.random_tree(5 + seed % 4, seed=seed, floating=seed % 3 == 0), seed)


def internal(model, seed: int) -> dict:
    """Random internal states and inputs of a model that has some, as keywords."""
    rng = np.random.default_rng(seed)
    sizes = {"x": model.nx, "u": model.nu}
    return {name: rng.uniform(0.2, 0.8, n) for name, n in sizes.items() if n}


def joint_forces(model, q, v, **given):
    """The joint forces of all force elements and joints, those of actuators among them [N m or N]."""
    passive = kt.dynamics.passive_joint_forces(model, q, v, **given)
    return passive + kt.dynamics.actuator_joint_forces(model, q, v, **given) if model.n_actuators else passive
