"""The matrix of an implicit step times a vector without the matrix, and an approximation that is factorized in O(n).

The matrix is ``M + h D + h^2 K`` with the Gauss-Newton slopes of all passive forces. Its product with velocities takes
the rates of the leaves of all laws, and pushes the forces that belong to them: O(n) and the number of elements.
"""

from __future__ import annotations

from kinetree.algorithms.articulated_factorization import articulated_factorization
from kinetree.algorithms.force_elements import hessians_of, in_coordinates, law_joint_forces
from kinetree.algorithms.force_terms import inertial_forces, transposed_product
from kinetree.algorithms.implicit_forces import laws_ahead
from kinetree.algorithms.leaves import OF_JOINTS
from kinetree.algorithms.matrices import plus
from kinetree.algorithms.passive import forces_of_joints, passive_terms
from kinetree.algorithms.rnea import bias_forces
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import Kinematics


def implicit_product(model, q, v, y, dt, x=None, u=None):
    """``(M + dt D + dt^2 K) y``."""
    slopes = _slope_product(model, q, v, y, lambda k, d: dt * (d + dt * k), dt, x, u)
    return plus(inertial_forces(model, q, y), slopes)


def implicit_right_side(model, q, v, tau, dt, f_ext=None, x=None, u=None):
    """``tau - c + f - dt K v``: all forces, those of springs after a step at constant velocities."""
    kin = Kinematics(model, q, v)
    found = laws_ahead(model, kin, dt, x, u)
    forces = plus(forces_of_joints(model, q, v), law_joint_forces(model, kin, found))
    for law in found:
        if not is_zero(law.shift):
            for k, y in in_coordinates(law.leaves, kin, law.lengths[0][1]).items():
                forces[k] = forces[k] - y * law.shift
    terms = zip(tau, forces, bias_forces(model, q, v, f_ext), strict=True)
    ahead = _slope_product(model, q, v, v, lambda k, d: dt * k, dt, x, u)
    return [t + f - c - y for (t, f, c), y in zip(terms, ahead, strict=True)]


def _slope_product(model, q, v, y, weight, dt, x, u):
    """``weight(K, D) y`` of all passive forces."""
    _, damping, stiffness = passive_terms(model, q, v, x, u, elements=False)
    total = [weight(k, d) * y_k for k, d, y_k in zip(stiffness, damping, y, strict=True)]
    if not model.laws:
        return total
    kin, moved = Kinematics(model, q, v), Kinematics(model, q, y)
    wrenches = [model.algebra.Force.zero() for _ in range(model.nb)]
    for law in laws_ahead(model, kin, dt, x, u):
        for rows, K, D, _ in hessians_of(law, kin):
            J = [[(leaf, law.leaves.outer(ids, kin)) for leaf, ids in row] for row in rows]
            rates = [sum((_dot(w, leaf.rates(moved)) for leaf, w in row), start=0.0) for row in J]
            for row, weights in zip(J, _weights(K, D, weight), strict=True):
                force = sum((w * rates[m] for m, w in weights.items()), start=0.0)
                for leaf, along in row:
                    leaf.push(kin, [force * w for w in along], wrenches, total)
    return plus(total, transposed_product(model, q, kin.X_0, wrenches))


def implicit_factors(model, q, v, dt, x=None, u=None):
    """Factors of ``M + dt D + dt^2 K`` without the elements that couple joints: those of a preconditioner.

    Elements between a body and the world are terms of the body, elements across one joint are on the diagonal of its
    velocities, and are exact there; all others are left out.
    """
    _, damping, stiffness = passive_terms(model, q, v, x, u, elements=False)
    diagonal = [dt * (d + dt * k) for d, k in zip(damping, stiffness, strict=True)]
    n, kin = len(list(model.algebra.Force.zero())), Kinematics(model, q, v)
    terms = [[[0.0] * n for _ in range(n)] for _ in range(model.nb)]
    joint_of = {k: i for i in model.outward() for k in kin.dofs_of(i)}
    for law in laws_ahead(model, kin, dt, x, u):
        for rows, K, D, _ in hessians_of(law, kin):
            H = _weights(K, D, lambda k, d: dt * (d + dt * k))
            J = [in_coordinates(law.leaves, kin, row) for row in rows]
            joints = {joint_of[k] for row in J for k in row}
            bodies = {kin.body(leaf.target) if leaf.name not in OF_JOINTS else None for row in rows for leaf, _ in row}
            bodies.discard(0)
            if len(joints) == 1:
                for row, weights in zip(J, H, strict=True):
                    for k, x_k in row.items():
                        diagonal[k] = diagonal[k] + x_k * sum(w * J[m].get(k, 0.0) for m, w in weights.items())
            elif len(bodies) == 1 and None not in bodies:
                (b,) = bodies
                F = [_body_wrench(law, kin, row, b) for row in rows]
                for row, weights in zip(F, H, strict=True):
                    for m, w in weights.items():
                        for r, c in ((r, c) for r in range(n) for c in range(n)):
                            if not is_zero(row[r]) and not is_zero(F[m][c]):
                                terms[b][r][c] = terms[b][r][c] + w * row[r] * F[m][c]
    return articulated_factorization(model, q, diagonal, terms)


def _weights(K, D, weight) -> list[dict]:
    """Rows of ``weight(K, D)`` over the rows of a law, as mappings."""
    return [{n: weight(k.get(n, 0.0), d.get(n, 0.0)) for n in {**k, **d}} for k, d in zip(K, D, strict=True)]


def _body_wrench(law, kin, row, b: int) -> list:
    """The wrench of a row's weights, in coordinates of the only body that it moves."""
    wrenches = [kin.model.algebra.Force.zero() for _ in range(kin.model.nb)]
    for leaf, ids in row:
        leaf.push(kin, law.leaves.outer(ids, kin), wrenches, [])
    return list(kin.X_0[b] @ wrenches[b])


def _dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0.0)
