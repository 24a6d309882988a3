"""Projection of states on the constraints: closed loops, least in the metric of the mass matrix.

With the rows K of loops at q and ``A = K M^-1 K^T``, positions take Newton's step and velocities lose their part across
the constraints,

    q <- q (+) dv,  dv = -M^-1 K^T A^-1 phi(q);      v <- v - M^-1 K^T A^-1 (K v + g),

the least changes ``dv^T M dv`` that close the loops to first order (book, section 8.3; Hairer and Wanner, Solving ODEs
II, section VII.2). Further steps of positions, and the velocities, take the factors of the first (chord steps).
"""

from __future__ import annotations

from kinetree.algorithms.constrained import constrained_system, given_rates, remaining_rows
from kinetree.algorithms.crba import crba
from kinetree.algorithms.domain import UNIT_QUATERNIONS
from kinetree.algorithms.manifold import apply_couplings, integrate
from kinetree.algorithms.singular_positions import PassingSystem
from kinetree.algorithms.spec import algorithm
from kinetree.constraints.explicit_constraint import in_order
from kinetree.state_kinematics import Kinematics

NEWTON = 3  # steps with new factors of the public calls: a gap e becomes about e^8


def system_at(model, q):
    """The factors of M and ``K M^-1 K^T`` at a position."""
    kin = Kinematics(model, q)
    if model._is_passing:
        return PassingSystem(model, crba(model, q), kin, {})
    return constrained_system(model, kin, given={})


def projected_position(model, q, iterations, system=None):
    """Positions after so many chord steps, with the factors of ``system``, or of those at q."""
    system = system_at(model, q) if system is None else system
    for _ in range(iterations):
        q = integrate(model, q, system.correction(position_errors(model, system.numbers, q)))
    return q


def projected_velocity(model, q, v, system=None):
    """Velocities that hold loops closed at q, with the factors of ``system``, or of those at q."""
    system = system_at(model, q) if system is None else system
    r = velocity_errors(model, system.numbers, q, v)
    return [x + dx for x, dx in zip(v, system.correction(r), strict=True)]


def closed(model, q, v, iterations=1):
    """The state after a step with its loops closed: chord steps of positions, then of velocities, by one solution.

    Prescribed joints are put where they have to be; loops are left as they are without ``iterations``.
    """
    q, v = with_given_motions(model, q, v) if model.has_given_motions else (q, v)
    if not iterations or not is_projected(model):
        return q, v
    q, v = with_followers(model, q, v)
    if len(following(model)) == len(remaining_rows(model)):
        return q, v
    system = system_at(model, q)
    q = projected_position(model, q, iterations, system)
    for _ in range(max(1, iterations - 1)):
        v = projected_velocity(model, q, v, system)
    return q, v


def with_given_motions(model, q, v):
    """The state in which prescribed coordinates, and those that follow them, are where their motions have them."""
    kin, dv, v = Kinematics(model, q, v), [0.0] * model.nv, list(v)
    rates = given_rates(model, kin)
    if not rates:  # loops alone depend on time
        return q, v
    for c in model.constraints:
        if given := c.given_rates(kin):
            for k, error in zip(given, c.residual(kin), strict=True):
                dv[k] = -error
    for k, (rate, _) in rates.items():
        v[k] = rate
    return apply_couplings(model, integrate(model, q, dv), v)


def with_followers(model, q, v):
    """The state in which joints of explicit constraints follow the others: ``q = gamma(y)``, ``v = G y``."""
    for c in following(model):
        q, v = list(q), list(v)
        for joint, (x, rate) in zip(c.followers, c.followed(Kinematics(model, q, v)), strict=True):
            q[model.q_index(joint).start], v[model.v_index(joint).start] = x, rate
        q, v = apply_couplings(model, q, v) if model.couplings else (q, v)
    return q, v


def following(model) -> list:
    """Explicit constraints in order, without those of joints that are locked, prescribed or stabilized."""
    kin = Kinematics(model, ())
    given = {k for c in model.constraints for k in c.velocity_map(kin)}
    return [
        c
        for place, c in in_order(model.constraints)
        if model.stabilization(place) is None and given.isdisjoint(map(kin.dof, c.followers))
    ]


def has_loops(model) -> bool:
    """Whether rows are left that steps have to keep: those of loops, and a user's own without a map of velocities."""
    return bool(model.constraints and remaining_rows(model))


def is_projected(model) -> bool:
    """Whether steps close some of these rows by projection; others are stabilized by accelerations, or drift."""
    return has_loops(model) and not all(
        model.stabilization(n) is not None for n, c in enumerate(model.constraints) if c in remaining_rows(model)
    )


def position_errors(model, numbers, q) -> list:
    """phi(q) of the rows of these numbers; zero for rows that hold velocities alone, or are not projected."""
    kin = Kinematics(model, q)
    return _of_rows(model, numbers, lambda c: c.residual(kin))


def velocity_errors(model, numbers, q, v) -> list:
    """``K v + g`` of the rows of these numbers; zero for rows that are not projected."""
    kin = Kinematics(model, q, v)
    return _of_rows(model, numbers, lambda c: c.rate(kin))


def _of_rows(model, numbers, values) -> list:
    """The values of the rows of these numbers, by a function of constraints that may have none."""
    found, first = {}, 0
    for place, c in enumerate(model.constraints):
        last = first + c.count(model)
        if any(first <= n < last for n in numbers):
            errors = values(c) if model.stabilization(place) is None else None
            found |= enumerate(errors or [0.0] * (last - first), first)
        first = last
    return [found[n] for n in numbers]


@algorithm(
    inputs="q",
    outputs="q_next",
    domains=(UNIT_QUATERNIONS,),
    body_frames="loops",
    symbols={
        "q": "Joint positions near closed ones [rad or m; quaternions unit, (w, x, y, z)].",
        "q_next": "Positions in which loops are closed [rad or m; quaternions unit].",
    },
)
def closed_loops_project_position(model, q):
    r"""The nearest positions in which all loops are closed, in the metric of the mass matrix.

    .. math:: q \leftarrow q \oplus \left(-M^{-1} K^T (K M^{-1} K^T)^{-1} \varphi(q)\right)

    Notes
    -----
    Source: Featherstone (2008), section 8.3; Hairer and Wanner, Solving ODEs II, section VII.2. Three steps of Newton's
    method: a gap e [m or rad] becomes about e^8. Far from closed positions take `assemble`, which finds them or raises
    an error. Couplings and locks are kept; models without loops get q back.
    Cost: three mass matrices with the factors of their constraints.

    See Also
    --------
    closed_loops_project_velocity, integrate

    Examples
    --------
    A chain whose third body is pinned to the world, 1.5 m beside its base:

    >>> import kinetree as kt
    >>> X = kt.spatial.Transform.shift(kt.spatial.Vector3(1.5, 0.0, 0.0))
    >>> pin = kt.constraints.LoopJoint("pin", kt.joints.Spherical(), "world", "rod3", X)
    >>> chain = kt.models.n_pendulum(3).with_constraints(pin)
    >>> q = kt.closed_loops.project_position(chain, [-0.9, -1.5, 0.0])
    >>> [round(float(x), 9) + 0.0 for x in kt.pose(chain, q, frame="rod3").p_WF]
    [1.5, 0.0, 0.0]
    """
    model.check_held("project_position")
    if not has_loops(model):
        return list(q)
    q, _ = apply_couplings(model, q, [0.0] * model.nv)
    for _ in range(NEWTON):
        q = projected_position(model, q, 1)
    return q


@algorithm(
    inputs="q v",
    outputs="v_next",
    domains=(UNIT_QUATERNIONS,),
    body_frames="loops",
    symbols={"v_next": "Velocities that obey all constraints at q [rad/s or m/s]."},
)
def closed_loops_project_velocity(model, q, v):
    r"""The nearest velocities that keep all loops closed, in the metric of the mass matrix.

    .. math:: v \leftarrow v - M^{-1} K^T (K M^{-1} K^T)^{-1} (K v + g)

    Notes
    -----
    Source: Featherstone (2008), sections 8.3 and 11.8: the change of velocity by impulses of the loops alone, as by
    their sudden closing; it never raises the kinetic energy of loops at rest.

    See Also
    --------
    closed_loops_project_position
    """
    model.check_held("project_velocity")
    if not has_loops(model):
        return list(v)
    kin, v = Kinematics(model, q, v), list(v)
    for c in model.constraints:
        for k, pairs in c.velocity_map(kin).items():
            v[k] = sum((v[m] * ratio for m, ratio in pairs), start=0.0)
    for k, (rate, _) in given_rates(model, kin).items():
        v[k] = rate
    return projected_velocity(model, q, v)
