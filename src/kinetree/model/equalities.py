"""The constraints that the equalities of a model's equipment are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kinetree.constraints import Constraint, PolynomialCoupling, TendonLength
from kinetree.forces.contract import ForceElement
from kinetree.forces.rotation_stop import RotationStop
from kinetree.model.equipment import Equality, Equipment, RotationLimit
from kinetree.tendons import JointTerm


def equality_constraints(equipment: Equipment, others: Sequence[Constraint]) -> dict[Equality, Constraint]:
    """The constraints of the active equalities that are computed.

    Parameters
    ----------
    equipment : Equipment
    others : sequence of Constraint
        Further constraints of the model.
    """
    tendons = {tendon.name: tendon for tendon in equipment.tendons}
    active = [c for c in equipment.equalities if isinstance(c, Equality) and c.active]
    uses = Counter(joint for c in others for joint in getattr(c, "joints", ()))
    uses.update(name for c in active if c.of == "joint" for name in (c.follower, c.master) if name)
    found = {}
    for c in active:
        if c.of == "joint":
            found[c] = _of_joints(c, uses)
        else:
            path, master = (tendons[name].path if name in tendons else () for name in (c.follower, c.master))
            references = c.follower_reference, c.master_reference if master else 0.0
            found[c] = TendonLength(path, _coefficients(c), master, *references, c.name)
    return found


def _of_joints(c: Equality, uses: Counter) -> Constraint:
    """Polynomials as they are; linear ones as rows, since one joint may be in several of them, even in a circle."""
    c0, c1, *higher = (*_coefficients(c), 0.0)
    if any(higher) or (c.master is None and uses[c.follower] == 1):
        x0 = c.master_reference if c.master else 0.0
        return PolynomialCoupling(c.follower, c.master, _coefficients(c), c.follower_reference, x0, c.name)
    terms = (JointTerm(c.follower, 1.0), *([JointTerm(c.master, -c1)] if c.master and c1 else []))
    offset = c0 - (c1 * c.master_reference if c.master else 0.0)
    return TendonLength(terms, (offset,), (), c.follower_reference, 0.0, c.name)


def _coefficients(c: Equality) -> tuple[float, ...]:
    """One at least; without a master only the constant counts."""
    return (c.coefficients or (0.0,)) if c.master else (c.coefficients or (0.0,))[:1]


def parts_without_rows(equipment: Equipment, held: Sequence, elements: Sequence[ForceElement]) -> list:
    """The active loop joints, equalities and limits that are neither held by rows nor by stops among the elements."""
    stopped = {force.joint for force in elements if isinstance(force, RotationStop)}
    limits = {x for x in equipment.equalities if isinstance(x, RotationLimit) and x.joint in stopped}
    parts = (*equipment.loops, *equipment.equalities)
    return [x for x in parts if x.active and x not in held and x not in limits]


def without_constraints(equipment: Equipment) -> Equipment:
    """The equipment without loop joints and equalities that are constraints."""
    held = equality_constraints(equipment, ())
    loops = tuple(loop for loop in equipment.loops if not loop.has_rows)
    return replace(equipment, loops=loops, equalities=tuple(c for c in equipment.equalities if c not in held))
