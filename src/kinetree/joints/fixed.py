"""Fixed joint: no freedom at all; as a loop joint it can close any loop."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.joints.contract import Joint
from kinetree.spatial import Force, Transform, Vector3


@dataclass(frozen=True, slots=True, eq=False)
class Fixed(Joint):
    """The zero-DoF joint: both frames coincide.

    Notes
    -----
    *Source* Featherstone, table 8.1, zero-DoF: the universal loop joint.

    Examples
    --------
    >>> Fixed().motion_subspace([])
    ()
    """

    kind = "fixed"
    nq = nv = 0
    constant_subspace = True
    regroupable = ("m", "h.x", "h.y", "h.z", "P.xx", "P.xy", "P.yy", "P.xz", "P.yz", "P.zz")

    def transform(self, q):
        return Transform.identity()

    def motion_subspace(self, q):
        return ()

    def implicit(self, X):
        basis = tuple(Force.of([float(k == row) for k in range(6)]) for row in range(6))
        return [*half_skew(X), *X.r], basis


def half_skew(X: Transform) -> Vector3:
    """The rotation vector of a nearly identical E, to first order: half the skew-symmetric part of E."""
    E = X.E.matrix
    return Vector3(E[1, 2] - E[2, 1], E[2, 0] - E[0, 2], E[0, 1] - E[1, 0]) * 0.5
