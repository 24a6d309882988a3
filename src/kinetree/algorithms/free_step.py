"""A step at the level of velocities before its impulses: the part that all impulses act on."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.algorithms.complete import semi_implicit_terms
from kinetree.algorithms.constrained import ConstrainedSystem, given_accelerations, rest_rates, stiffened_matrix
from kinetree.algorithms.contact_sweeps import FactorSpace
from kinetree.algorithms.manifold import straight_rates
from kinetree.algorithms.matrices import minus
from kinetree.algorithms.rnea import bias_forces, rnea
from kinetree.constraints.row_law import infinite
from kinetree.errors import UnsupportedError
from kinetree.forces.contract import present
from kinetree.spatial.scalar import is_zero, where
from kinetree.state_kinematics import Kinematics

RETURN = 0.2  # of a penetration, made up for in each step
FASTEST = 1.0  # rate at which deep ones are [m/s]


class FreeStep(NamedTuple):
    """A step without contacts and bounded rows.

    Attributes
    ----------
    kin : Kinematics
        At its start.
    space : FactorSpace
        In which impulses act; those of equalities are eliminated.
    before : list
        Velocities at its start, projected on the rows of equalities.
    momentum : list
        z of all smooth forces.
    predicted : list
        Velocities at its end.
    """

    kin: Kinematics
    space: FactorSpace
    before: list
    momentum: list
    predicted: list


def free_step(model, q, v, tau, dt, f_ext=None, x=None, u=None) -> FreeStep:
    """The step without impulses: passive forces at its end, equalities kept."""
    force, f_ext, diagonal, more = semi_implicit_terms(model, q, v, tau, dt, f_ext, x, u)
    M, force = stiffened_matrix(model, q, diagonal, more), minus(force, straight_bias(model, q, v, f_ext))
    kin = Kinematics(model, q, v)
    given = {k: dt * a_k for k, a_k in given_accelerations(model, kin).items()}
    system = ConstrainedSystem(model, M, kin, {})
    f = [dt * x for x in force]
    for k, dv in given.items():
        f = [x - row[k] * dv for x, row in zip(f, M, strict=True)]
    before = [v_k + given[k] if k in given else v_k for k, v_k in enumerate(v)]
    space = FactorSpace(system)
    if system.rows:
        rates = zip(rest_rates(model, system.numbers, q), system.rows, strict=True)
        closing = space.closing([rate - along(row, before) for rate, row in rates])
        before = [x + dx for x, dx in zip(before, closing, strict=True)]
    z = space.momentum(f)
    return FreeStep(kin, space, before, z, [x + dx for x, dx in zip(before, space.velocities(z), strict=True)])


def straight_bias(model, q, v, f_ext):
    """Joint forces of a motion whose velocities are constant in the axes of the start of the step.

    Velocities of a step are in these axes, so that free bodies keep their momentum, and rows hold for them.
    """
    rates = straight_rates(model, q, v)
    return bias_forces(model, q, v, f_ext) if all(map(is_zero, rates)) else rnea(model, q, v, rates, f_ext)


def along(row, v):
    """The product of a sparse row and velocities."""
    return sum((x * v[k] for k, x in row.items()), start=0.0)


def normal_target(pair, gap, dt, arriving, predicted):
    """The least normal rate of a contact at the end of a step, and its compliance.

    Rigid: open contacts close at most, closed ones recover a part of their penetration; or they rebound. Soft: the
    force of spring and damper at the end of the step, ``lambda = -dt k (gap + (dt + tau_d) rate)``; before it touches
    the spring alone.

    Raises
    ------
    UnsupportedError
        The pair yields by the law of Hunt and Crossley, which is no bound of a rate.
    """
    if pair.law != "linear":
        raise UnsupportedError(
            f"{pair} has the law {pair.law!r}, whose force is no linear function of the rate, so a step is no problem "
            "over cones. integrator='time_stepping' and rollouts take it; others need law='linear', or stiffness=inf."
        )
    if not infinite(pair.stiffness):
        delay = where(gap > 0.0, dt, dt + pair.relaxation_time) if present(pair.relaxation_time) else dt
        return -gap / delay, 1.0 / (pair.stiffness * dt * delay)
    recovery = (RETURN / dt) * gap
    least = -where(gap > 0.0, gap / dt, where(recovery < -FASTEST, -FASTEST, recovery))
    if present(pair.restitution):
        back = -(pair.restitution * arriving)
        rebounds = (gap + dt * predicted < 0.0) & (arriving < 0.0) & (back > arriving - predicted)
        least = where(rebounds, back, least)  # where an impact lasts for two steps; else the contact rests
    return least, 0.0
