"""Loop joints with fewer rows that would remove the overconstraint of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kinetree.analysis.loop_rows import NOISE, LoopRows, dense
from kinetree.constraints import Kinematics, LoopJoint
from kinetree.joints import Cylindrical, Joint, Reversed, Revolute, SphereInCylinder, Spherical, Universal
from kinetree.spatial import Transform, Vector3, rotation_from_matrix

FIRM = 1e-3  # of the least singular value now, which a replacement has to keep
WEAKER = (SphereInCylinder(), Reversed(SphereInCylinder()), Spherical(), Cylindrical(), Universal(), Revolute())
"""Loop joints to try, along an axis z, by their number of rows."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A loop joint with fewer rows in place of another one; the mechanism moves alike.

    Attributes
    ----------
    name : str
        Of the loop joint.
    rows, fewer : int
        Number of rows now, and of the new joint.
    loop : LoopJoint
        The new one, between the same frames.
    """

    name: str
    rows: int
    fewer: int
    loop: LoopJoint

    def __str__(self) -> str:
        return f"{self.name}: {self.loop.joint!r}, {self.fewer} rows instead of {self.rows}"


def replacements(loops: LoopRows) -> tuple[Replacement, ...]:
    """Replacements that together leave the rank as it is and have the fewest rows."""
    model, found, rank = loops.model, [], loops.generic_rank
    constraints = list(model.constraints)
    firmness = [_firmness(loops, constraints, k) for k in range(len(loops.places))]
    for n, c in enumerate(model.constraints):
        count = sum(x.count(model) for x in constraints if x.row_kind == "equality")
        if not isinstance(c, LoopJoint) or count <= rank:
            continue
        best = None
        for candidate in _weaker(loops, c):
            rows = candidate.count(model)
            if rows >= (best or c).count(model) or count - c.count(model) + rows < rank:
                continue
            others = [candidate if x is c else x for x in constraints]
            if all(_firmness(loops, others, k) > FIRM * least for k, least in enumerate(firmness)):
                best = candidate
        if best is not None:
            constraints[n] = best
            found.append(Replacement(c.name, c.count(model), best.count(model), best))
    return tuple(found)


def _firmness(loops: LoopRows, constraints, k: int) -> float:
    """The least singular value that counts, of the rows of these constraints at one of the positions."""
    kin, rank = Kinematics(loops.model, loops.places[k].tolist()), int(loops.ranks[k])
    rows = [row for c in constraints if c.row_kind == "equality" for row in c.rows(kin)]
    K = dense(rows, loops.model.nv) @ loops.roots[k]
    size = np.linalg.norm(K, axis=1)
    K = K[size > NOISE * size.max(initial=0.0)] / size[size > NOISE * size.max(initial=0.0), None]
    return float(np.linalg.svd(K, compute_uv=False)[rank - 1]) if rank and len(K) >= rank else 0.0


def _weaker(loops: LoopRows, c: LoopJoint) -> Iterator[LoopJoint]:
    """Loop joints at the same place that exert no force which this one does not exert."""
    kin = Kinematics(loops.model, loops.places[0].tolist())
    X = kin.relative(c.predecessor, c.successor, c.X_P, c.X_S).X
    own = _forces(c.joint, X)
    for axis in _axes(c.joint):
        turn = Transform.of(rotation_from_matrix(_frame(axis).tolist()), Vector3.zero())
        turned = replace(c, X_P=turn @ c.X_P, X_S=turn @ c.X_S)
        for joint in WEAKER:
            candidate = replace(turned, joint=joint)
            forces = _forces(joint, turn @ X @ turn.inverse()) @ _spatial(turn)
            independent = np.linalg.matrix_rank(forces, tol=1e-9) == len(forces)
            if independent and np.linalg.matrix_rank(np.vstack([own, forces]), tol=1e-9) == len(own):
                yield candidate


def _axes(joint: Joint) -> list[np.ndarray]:
    own = getattr(joint, "axis", None)
    return [np.asarray(own, dtype=float)] if own is not None else [np.eye(3)[k] for k in (2, 0, 1)]


def _frame(axis: np.ndarray) -> np.ndarray:
    """The rotation to axes of which this one is the third."""
    if abs(axis[2]) == 1.0:
        return np.eye(3) * [1.0, axis[2], axis[2]]
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(axis, x), axis])


def _forces(joint: Joint, X: Transform) -> np.ndarray:
    """The joint's constraint forces as unit rows, in the coordinates of the successor."""
    T = np.array([[float(x) for x in (*f.angular, *f.linear)] for f in joint.at(0.0).implicit(X)[1]]).reshape(-1, 6)
    size = np.linalg.norm(T, axis=1)  # zero for a universal joint whose axes are parallel
    return T / np.where(size > 0.0, size, 1.0)[:, None]


def _spatial(turn: Transform) -> np.ndarray:
    """The matrix by which rows of forces return to the coordinates before a rotation."""
    E = np.array(turn.E.matrix.rows, dtype=float)
    return np.kron(np.eye(2), E)
