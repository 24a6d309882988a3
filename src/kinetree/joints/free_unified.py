"""Free motion in unified local velocity coordinates: six velocities of points of the body instead of a twist."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.joints.free import Free
from kinetree.liegroup.se3 import right_jacobian_solve
from kinetree.liegroup.unified import Projection
from kinetree.spatial import Motion

FREE = Free()
CUBE = Projection.hexahedral()


@dataclass(frozen=True, slots=True, eq=False)
class FreeUnified(Joint):
    """Unrestrained motion: q = (position, quaternion), v = w, the velocities ``b_i . v(y_i)`` of six points.

    Positions are those of `Free`. The columns of S are those of D^-1, which are constant, so every algorithm and every
    integrator runs in these coordinates: `crba` gives M, `rnea` the force M dw/dt + Gamma(w) w, and generalized forces
    are forces [N] along b_i at y_i.

    Parameters
    ----------
    projection : Projection
        Points and directions in successor coordinates; by default the hexahedral one with half edges of 1 m, whose D
        is orthogonal.

    Notes
    -----
    *Source* Holzinger, Gerstmayr, Schoeberl, eqs. 18 to 27, 51 to 56, 71, 72. *Differs* see
    :mod:`kinetree.liegroup.unified`.

    *Identities* S = D^-1; M = D^-T I D^-1; energy and motion do not depend on the projection.

    See Also
    --------
    Free : the same motion with the twist as its velocity.

    Examples
    --------
    >>> joint = FreeUnified()
    >>> joint.q_dot(joint.neutral(), joint.projection.coordinates(Motion.of([0.0, 0.0, 2.0, 0.5, 0.0, 0.0])))[0]
    0.5
    """

    projection: Projection = CUBE

    kind = "free_unified"
    nq, nv = 7, 6
    constant_subspace = True
    position_names, position_units = Free.position_names, Free.position_units
    velocity_names, velocity_units = ("w1", "w2", "w3", "w4", "w5", "w6"), ("m/s",) * 6
    transform, neutral, random, normalize, defect, implicit = (
        Free.transform, Free.neutral, Free.random, Free.normalize, Free.defect, Free.implicit,
    )  # fmt: skip

    def motion_subspace(self, q):
        return self.projection.motions

    def velocity(self, q, v):
        return self.projection.twist(v)

    def q_dot(self, q, v):
        return FREE.q_dot(q, list(self.projection.twist(v)))

    def integrate(self, q, dv):
        return FREE.integrate(q, list(self.projection.twist(dv)))

    def difference(self, q0, q1):
        return self.projection.coordinates(Motion.of(FREE.difference(q0, q1)))

    def tangent_rate(self, xi, v):
        n, V = self.projection.twist(xi), self.projection.twist(v)
        return self.projection.coordinates(right_jacobian_solve(n, V))

    @classmethod
    def examples(cls, rng):
        yield cls()
        yield cls(Projection.hexahedral(0.3, 0.2, 0.5))
        yield cls(Projection.tetrahedral())
        yield cls(Projection(rng.normal(size=(6, 3)).tolist(), rng.normal(size=(6, 3)).tolist()))
