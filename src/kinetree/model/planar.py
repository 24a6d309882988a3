"""A planar mechanism over the planar algebra: three numbers per vector instead of six."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetree.errors import ModelError
from kinetree.model.model import Model
from kinetree.model.tree import Tree
from kinetree.spatial import PlanarInertia, PlanarMotion, PlanarTransform, Vector2
from kinetree.spatial.algebra import PLANAR


class PlanarTree(Tree):
    """A mechanism that moves in the x-y plane of its bodies, seen by algorithms that run on the planar algebra.

    Parameters
    ----------
    model : Model
        Every joint moves in the x-y plane of its frames, and every tree transform turns about z.

    Raises
    ------
    ModelError
        A joint or a placement leaves the plane; the message names it.

    Notes
    -----
    Source: Featherstone (2008), section 2.16. Offsets along z, the inertia out of the plane and gravity across it
    have no part in the motion and are left out: the joints' constraint forces carry them. Algorithms take it like a
    Model: ``rnea(tree, q, v, a)`` of ``kinetree.algorithms`` on lists of scalars.
    """

    __slots__ = ("I", "X_T", "armature", "gravity", "rotors")

    algebra = PLANAR

    def __init__(self, model: Model) -> None:
        for name in Tree.STRUCTURE:
            self._set(**{name: getattr(model, name)})
        joints = [None] + [PlanarJoint(model.joints[i], model.joint_names[i]) for i in model.outward()]
        self._set(
            joints=tuple(joints),
            X_T=tuple(
                _in_plane(X, f"the placement of joint {name!r}")
                for X, name in zip(model.X_T, model.joint_names, strict=True)
            ),
            I=tuple(PlanarInertia(I.m, Vector2(I.h.x, I.h.y), I.I.zz) for I in model.I),
            gravity=Vector2(*list(model.gravity)[:2]),
            armature=model.armature,
            rotors=tuple(replace(rotor, axis=rotor.axis.z) for rotor in model.rotors),  # the rest is constrained
        )


class PlanarJoint:
    """A joint of the x-y plane with planar transform and motion subspace; q and v are those of the joint.

    Parameters
    ----------
    joint : Joint
    name : str
        For errors.
    """

    __slots__ = ("joint", "time_dependent")

    def __init__(self, joint, name: str) -> None:
        self.joint, self.time_dependent = joint, joint.time_dependent
        joint = joint.at(0.375)  # any time
        q = joint.random(np.random.default_rng(0))
        rates = (*joint.motion_subspace(q), joint.sigma(q))
        if any(abs(x) > 0.0 for S in rates for x in (S.angular.x, S.angular.y, S.linear.z)):
            raise ModelError(
                f"joint {name!r} ({joint!r}) leaves the x-y plane; a planar mechanism has revolute joints about z, "
                "prismatic ones across it, and planar ones.",
                joint=name,
            )
        _in_plane(joint.transform(q), f"joint {name!r}")

    def at(self, t) -> PlanarJoint:
        """The joint at a time."""
        now = object.__new__(PlanarJoint)
        now.joint, now.time_dependent = self.joint.at(t), False
        return now

    def transform(self, q: Sequence) -> PlanarTransform:
        """X_J in the plane."""
        X = self.joint.transform(q)
        return PlanarTransform(X.E.matrix[0, 0], X.E.matrix[0, 1], Vector2(X.r.x, X.r.y))

    def motion_subspace(self, q: Sequence) -> tuple[PlanarMotion, ...]:
        """The columns of S in the plane."""
        return tuple(_motion(S) for S in self.joint.motion_subspace(q))

    def velocity(self, q: Sequence, v: Sequence) -> PlanarMotion:
        """v_J in the plane."""
        return _motion(self.joint.velocity(q, v))

    def bias(self, q: Sequence, v: Sequence) -> PlanarMotion:
        """c_J in the plane."""
        return _motion(self.joint.bias(q, v))

    def defect(self, q: Sequence) -> list:
        """Scalars that vanish on valid q."""
        return self.joint.defect(q)


def _motion(m) -> PlanarMotion:
    return PlanarMotion(m.angular.z, Vector2(m.linear.x, m.linear.y))


def _in_plane(X, what: str) -> PlanarTransform:
    """The planar part of a transform, which must turn about z alone."""
    E = X.E.matrix
    if any(abs(E[i, j] - float(i == j)) > 1e-12 for i, j in ((0, 2), (1, 2), (2, 0), (2, 1), (2, 2))):
        raise ModelError(f"{what} turns out of the x-y plane; a planar mechanism turns about z alone.", element=what)
    return PlanarTransform(E[0, 0], E[0, 1], Vector2(X.r.x, X.r.y))
