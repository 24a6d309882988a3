"""Time stepping at the level of velocities: contacts, joint limits, friction and loops as one problem in each step.

    H (v+ - v) = dt (tau - c + ...) + J^T lambda + B^T mu + K^T nu,     q+ = q (+) dt v+

with the implicit passive forces of `semi_implicit_step` in H, contacts J in Coulomb's cone, bounded rows B (limits, dry
friction) and equalities K. `kinetree.algorithms.contact_sweeps` solves for the impulses.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from kinetree.algorithms.bounded_rows import bounded_constraints, bounded_places, column_laws, row_laws, wide_rows
from kinetree.algorithms.complete import COMPLETE
from kinetree.algorithms.contact_sweeps import SWEEPS, BoundedRow, Cone, Frictionless, NearCone, swept
from kinetree.algorithms.contacts import BodyPlaces
from kinetree.algorithms.free_step import free_step, normal_target
from kinetree.algorithms.hunt_crossley import HuntCrossley, YieldingCone, YieldingContact
from kinetree.algorithms.manifold import straight_step
from kinetree.algorithms.natural_map import contact_natural_maps
from kinetree.algorithms.nearness import near_points
from kinetree.algorithms.spec import algorithm
from kinetree.constraints.row_law import RowLaw
from kinetree.integrators.contact_islands import ContactIslands
from kinetree.integrators.kernels import END, FORCES, finished, implicit_states, part
from kinetree.integrators.memory import Memory
from kinetree.integrators.trials import RUNAWAY, is_sane
from kinetree.spatial.scalar import absolute, is_zero, maximum, where

FEW = 24  # contacts, whose sliding is computed only where they slip: that is two more tests in each visit
EXACT = 1e-9  # of the change of a rate by its impulse: less is rounding
TOLERANCE = 1e-7  # [m/s] residual of a step in `simulate`
STILL = 1e-10  # [m/s] residual of the last impulses, up to which they are those of an exact step, too
SOLVING = 12  # sweeps of such a step, at most
SLACK = 10.0  # tolerances that islands which are not exact may be off after one such step, beside exact ones
REPEATED = 7  # how often these follow each other


def stepped_velocities(model, q, v, impulses, tau, dt, f_ext=None, x=None, u=None, sweeps=(SWEEPS,), many=True):
    """Velocities and impulses at the end of a step, and the largest change of a rate in the last sweep."""
    return solved_step(model, q, v, impulses, tau, dt, f_ext, x, u, sweeps, many)[:3]


def solved_step(model, q, v, impulses, tau, dt, f_ext=None, x=None, u=None, sweeps=(SWEEPS,), many=True) -> tuple:
    """`stepped_velocities`; the free step, z at the end, and the blocks of bounded rows."""
    step, bounded, contacts = step_problem(model, q, v, impulses, tau, dt, f_ext, x, u, many)
    z, residual = swept([*bounded.values(), *contacts], step.momentum, *sweeps)  # contacts last, to obey laws best
    after = [x + dx for x, dx in zip(step.before, step.space.velocities(z), strict=True)]
    found = [x for block in contacts for x in block.all_impulses]
    found += [bounded[n].impulses[0] if n in bounded else 0.0 for n in range(len(found), model.n_impulses)]
    return held_exactly(bounded.values(), after, step.predicted), found, residual, step, z, bounded


def step_problem(model, q, v, impulses, tau, dt, f_ext=None, x=None, u=None, many=True):
    """The free step, and the blocks of bounded rows and of contacts.

    ``many`` is whether contacts are skipped where they are far away.
    """
    step = free_step(model, q, v, tau, dt, f_ext, x, u)
    given = model, step.kin, step.space, dt, step.before, step.predicted, impulses
    return step, bounded_blocks(*given), contact_blocks(*given, many)


def measured_velocities(model, q, v, impulses, tau, dt, f_ext=None, x=None, u=None):
    """Velocities and impulses at the end of a step, and the residuals: of each contact, then of each bounded row.

    Those of contacts are natural maps, of all candidates, also of those that the step has skipped; those of rows the
    changes of their rates by one more visit, which is their natural map.
    """
    after, found, _, step, z, bounded = solved_step(model, q, v, impulses, tau, dt, f_ext, x, u)
    residuals = contact_natural_maps(model, step, dt, after, found)
    rows = range(model.n_contact_rows, model.n_impulses)
    return after, found, [*residuals, *(bounded[n].visit(list(z)) if n in bounded else 0.0 for n in rows)]


def contact_residuals(model, q, v, impulses, tau, dt, f_ext=None, u=None):
    """For each contact the largest change of its rates by one more sweep, after a step with these impulses."""
    v, x = v[: model.nv], v[model.nv :] if model.nx else None
    step, bounded, contacts = step_problem(model, q, v, impulses, tau, dt, f_ext, x, u, many=False)
    z, blocks = list(step.momentum), [*bounded.values(), *contacts]
    for block in blocks:
        block.start(z)
    return [block.visit(z) for block in blocks][len(bounded) :]


def bounded_blocks(model, kin, space, dt, before, predicted, impulses) -> dict[int, BoundedRow]:
    """Blocks of bounded rows by their place among the impulses; rows that bound one velocity are one block."""
    places, rows, columns, found = bounded_places(model), row_laws(model, kin, dt, predicted), space.system.columns, {}
    for m, law in column_laws(rows, columns).items():
        if law.bounds:
            at = places[min(n for k, _ in columns[m] for n, _ in rows.get(k, ()))]
            master = columns[m][0][0]
            found[at] = BoundedRow(space.row({master: 1.0}), before[master], law, impulses[at : at + 1], columns[m])
    for n, each in wide_rows(model, kin, dt, predicted).items():
        at = places[n]
        found[at] = BoundedRow(space.row(each.row), each.rate(before), each.law, impulses[at : at + 1])
    return found


def contact_blocks(model, kin, space, dt, before, predicted, impulses, many: bool) -> list:
    """Blocks of contacts; of many contacts each is skipped where it is far away."""
    found, places = [], BodyPlaces(model, kin)
    candidates = near_points(model, kin, dt, many)
    for (pair, near, point), first in zip(candidates, range(0, model.n_contact_rows, 3), strict=True):
        make = partial(_block, (pair, point), (model, kin, space, dt, before, predicted), impulses[first : first + 3])
        if near is True:
            found.append(make(places))
        else:
            found.append(NearCone(near, space.places(places.coordinates(pair)), make, model.n_contacts <= FEW))
    return found


def _block(candidate, step, guess, places=None):
    """The block of a contact. What a stretch that may be skipped computes, no other may use: so it has own places."""
    (pair, point), (model, kin, space, dt, before, predicted) = candidate, step
    places = places or BodyPlaces(model, kin)
    x = places.contact(pair, places.points(pair)[0] if point is None else point)
    rates = x.rates(before)
    if pair.law == "hunt_crossley":
        law = HuntCrossley(x.gap, dt, pair.stiffness, pair.dissipation, pair.exponent)
        if is_zero(pair.friction):
            return YieldingContact(space.row(x.rows[2]), rates[2], guess[2:], law)
        return YieldingCone(map(space.row, x.rows), rates, pair.friction, guess, law)
    least, compliance = normal_target(pair, x.gap, dt, rates[2], x.rates(predicted)[2])
    if is_zero(pair.friction):
        return Frictionless(space.row(x.rows[2]), rates[2], RowLaw(lower=least), guess[2:], compliance=compliance)
    rates[2] = rates[2] - least
    return Cone(map(space.row, x.rows), rates, pair.friction, guess, compliance)


def held_exactly(bounded, v, predicted) -> list:
    """Velocities with those exactly at rest, or at a bound, that are but for rounding."""
    v = list(v)
    for block in bounded:
        if block.column:
            master, held, rate = block.column[0][0], block.held, block.rate
            exact = held & (absolute(v[master] - rate) <= EXACT * absolute(predicted[master] - rate))
            for k, ratio in block.column:
                v[k] = where(exact, rate * ratio, v[k])
    return v


@algorithm(
    inputs={"q": "nq", "v": "nv", "impulses": "n_impulses", "tau": "nv", "dt": ()},
    optional="f_ext x u",
    outputs={"q_next": "nq", "v_next": "nv", "impulses_next": "n_impulses"},
    further={"residuals": "n_residuals"},
    domains=COMPLETE,
    symbols={
        "tau": "Actuator forces during the step [N m or N].",
        "impulses": "First guess, those of the last step or zeros [N s or N m s]: (t1, t2, n) of each contact, then "
        "one of each bounded row.",
        "impulses_next": "Impulses of the step [N s or N m s], on the second bodies of contact pairs.",
        "residuals": "Distance of the step from the laws of each contact, then of each bounded row: natural maps "
        "[m/s or rad/s].",
    },
)
def contact_step(model, q, v, impulses, tau, dt, f_ext=None, x=None, u=None, *, residuals=False):
    """One step of time stepping: contacts, joint limits, dry friction and loops as one problem.

    Notes
    -----
    Source: Moreau (1988) and Stewart, Trinkle (1996) for the scheme, with the true Coulomb cone; Sueda, eq. 1.30, for
    passive forces at the end of the step; projected block Gauss-Seidel as in Jourdan, Alart, Jean (1998), in the space
    of the factor of the mass matrix, see `kinetree.algorithms.contact_sweeps`.
    Each row is an inequality of velocities at the end of the step: ``rate + gap / dt >= 0`` of open contacts, so that
    they land without penetration; closed ones recover a fifth of a penetration, at 1 m/s at most. Soft contact obeys
    ``lambda = -dt k (gap + (dt + tau_d) rate)``, or the law of Hunt and Crossley (1975) with gap and rate at the end of
    the step. Residuals are those of `kinetree.contact.natural_map`; they cost a second detection of all candidates.

    See Also
    --------
    semi_implicit_step, rollout
    """
    solve = measured_velocities if residuals else stepped_velocities
    v_next, found, misfits = solve(model, q, v, impulses, tau, dt, f_ext, x, u)
    end = *stepped_positions(model, q, v_next, dt), found
    return (*end, misfits) if residuals else end


def stepped_positions(model, q, v_next, dt):
    """Positions of a step to these velocities, at hard limits exactly, and the velocities in the axes there."""
    q_next, v_next = straight_step(model, q, v_next, dt)
    for c in bounded_constraints(model):
        for j, q_j in c.landed(model, q, q_next).items():
            q_next[j] = q_j
    return finished(model.after(dt), q_next, v_next, closing=3)


def _solved_step(model, q, v, impulses, tau, dt, f_ext=None, u=None):
    """A step with sweeps until the step is solved, at most `SOLVING`, and its residual.

    That is infinite where the velocities are not usable.
    """
    q_next, w_next, found, residual = _any_step(model, q, v, impulses, tau, dt, f_ext, u, SOLVING, TOLERANCE)
    speed = sum((x * x for x in w_next[: model.nv]), start=0.0)
    return q_next, w_next, found, [where(speed < RUNAWAY * RUNAWAY, residual, math.inf)]


def _given_step(model, q, v, impulses, tau, dt, f_ext=None, u=None):
    """A step by given impulses, and the largest change of a rate by a sweep from there.

    Bounded rows are visited before the end, which finds the rates that are held exactly.
    """
    w, x = v[: model.nv], v[model.nv :] if model.nx else None
    step, bounded, contacts = step_problem(model, q, w, impulses, tau, dt, f_ext, x, u)
    z, residual = list(step.momentum), 0.0
    for block in [*bounded.values(), *contacts]:
        block.start(z)
    for block in bounded.values():
        residual = block.visit(z, residual)
    found = [x for block in contacts for x in block.all_impulses]
    found += [bounded[n].impulses[0] if n in bounded else 0.0 for n in range(len(found), model.n_impulses)]
    after = [x + dx for x, dx in zip(step.before, step.space.velocities(z), strict=True)]
    for block in contacts:
        residual = block.visit(z, residual)
    v_next = held_exactly(bounded.values(), after, step.predicted)
    return (*_ended(model, q, w, v_next, dt, x, u), found, [residual])


def _ended(model, q, v, v_next, dt, x, u):
    """The end of a step to these velocities, with the internal states of force elements behind them."""
    q_next, v_next = stepped_positions(model, q, v_next, dt)
    later = implicit_states(model, q, v, x, u, dt, v_next) if model.nx else []
    return q_next, [*v_next, *later]


def _any_step(model, q, v, impulses, tau, dt, f_ext, u, *sweeps):
    """`contact_step` with the internal states of force elements behind the velocities, and its residual.

    Without a number of sweeps that is the residuals of all contacts and bounded rows.
    """
    v, x = v[: model.nv], v[model.nv :] if model.nx else None
    solve = partial(stepped_velocities, sweeps=sweeps) if sweeps else measured_velocities
    v_next, found, residual = solve(model, q, v, impulses, tau, dt, f_ext, x, u)
    return (*_ended(model, q, v, v_next, dt, x, u), found, residual)


def _time_step(model, q, v, impulses, tau, dt, f_ext=None, u=None):
    """`contact_step` with the internal states of force elements behind the velocities."""
    return _any_step(model, q, v, impulses, tau, dt, f_ext, u, SWEEPS)[:3]


def _measured_step(model, q, v, residuals, impulses, tau, dt, f_ext=None, u=None):
    """`_time_step`; before the impulses the largest residual of the step, and of all steps so far."""
    q_next, w_next, found, misfits = _any_step(model, q, v, impulses, tau, dt, f_ext, u)
    worst = 0.0
    for x in misfits:
        worst = maximum(x, worst)
    return q_next, w_next, [worst, maximum(worst, residuals[1])], found


def _none_measured(model, q, v, tau, dt, f_ext=None, u=None):
    """Residuals and impulses before the first step."""
    return [0.0, 0.0], [0.0] * model.n_impulses


def _no_impulses(model, q, v, tau, dt, f_ext=None, u=None):
    """Impulses before the first step."""
    return [0.0] * model.n_impulses


START = part("contact_start", _no_impulses, "q[nq] v[nw] tau[nv] dt", "impulses[n_impulses]", FORCES, domains=COMPLETE)
STEP = part("time_stepping_step", _time_step, "q[nq] v[nw] impulses[n_impulses] tau[nv] dt",
            f"{END} impulses_next[n_impulses]", FORCES, domains=COMPLETE)  # fmt: skip
MEASURED_START = part("contact_start_measured", _none_measured, "q[nq] v[nw] tau[nv] dt",
                      "residuals[#2] impulses[n_impulses]", FORCES, domains=COMPLETE)  # fmt: skip
MEASURED = part("time_stepping_measured", _measured_step, "q[nq] v[nw] residuals[#2] impulses[n_impulses] tau[nv] dt",
                f"{END} residuals_next[#2] impulses_next[n_impulses]", FORCES, domains=COMPLETE)  # fmt: skip
SOLVED = part("time_stepping_solved", _solved_step, "q[nq] v[nw] impulses[n_impulses] tau[nv] dt",
              f"{END} impulses_next[n_impulses] residual[#1]", FORCES, domains=COMPLETE)  # fmt: skip
GIVEN = part("time_stepping_given", _given_step, "q[nq] v[nw] impulses[n_impulses] tau[nv] dt",
             f"{END} impulses_next[n_impulses] residual[#1]", FORCES, domains=COMPLETE)  # fmt: skip
RESIDUALS = part("contact_residuals", contact_residuals, "q[nq] v[nw] impulses[n_impulses] tau[nv] dt",
                 "residuals[n_contacts]", FORCES, domains=COMPLETE)  # fmt: skip


class TimeStepping:
    """Contacts, joint limits, dry friction and loops in one problem of velocities and impulses, in each step.

    Semi-implicit Euler with impulses: passive joint forces at the end of the step, contacts with the true Coulomb
    cone, solved by sweeps that begin with the impulses of the last step. Impacts need no event. Order 1.

    Parameters
    ----------
    system : System
        The dynamics.

    Notes
    -----
    Source: see `contact_step`. Without contacts and bounded rows the steps are those of "semi_implicit", but for bodies
    that move freely: these keep their momentum. A step of `simulate` whose residual is above 1e-7 m/s is solved again
    from its impulses, up to 7 times; where that fails, as in a stack, the contacts that act on each other there are
    solved exactly, from then on until they are at rest. Steps of rollouts have a fixed cost.
    """

    name = "time_stepping"
    algorithm, start = STEP, START  # the step under constant forces, for rollouts, and the impulses before it
    order = 1
    contacts = internal_states = True

    def __init__(self, system) -> None:
        self._step, self._memory = system.function(SOLVED, checks=False), Memory()
        self._none, self._h, self._h_array = np.zeros(system.model.n_impulses), None, None
        self.impulses = self._none  # of the last step: (t1, t2, n) of each contact, then one of each bounded row
        self._system, self._end = system, None
        self._islands = ContactIslands(system)
        self._some_exact = False  # whether some islands are to be exact
        self.is_sane = True  # whether the last step ended in usable numbers

    def reset(self) -> None:
        """Discard the impulses of the last step."""
        self._memory.clear()
        self._islands.reset()
        self._some_exact, self.is_sane = False, True

    def get_state(self):
        """The impulses of the last step, and which islands are exact."""
        return self._memory.get_state(), self._islands.get_state()

    def set_state(self, state) -> None:
        """Restore a state of `get_state`."""
        memory, islands = state
        self.is_sane = True
        self._memory.set_state(memory)
        self._islands.set_state(islands)
        self._some_exact = self._islands.any_exact

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        if h != self._h:
            self._h, self._h_array = h, np.array(h)
        memory = self._memory
        end = memory.end
        if end is not None and end[1] is q and end[2] is v:  # as `Memory.at`, without a call
            guess = memory.data
        else:
            guess = memory.at(t, h, q, v)
            guess = self._none if guess is None else guess
        given = tau(t), self._h_array, *f_ext(t)
        done = self._with_islands(q, v, guess, given) if self._some_exact else None
        if done is None:
            q_next, v_next, found, residual = self._step(q, v, guess, *given)
            if residual.item() > TOLERANCE:
                self.is_sane = is_sane(q_next, v_next)
                if self.is_sane:
                    q_next, v_next, found = self._solved(q, v, guess, found, given)
        else:
            q_next, v_next, found = done
        memory.end, memory.data = (t + h, q_next, v_next), found
        self.impulses = found
        return q_next, v_next

    def _solved(self, q, v, guess, found, given):
        """The step by further sweeps, or by exact islands where these do not converge."""
        for _ in range(REPEATED):
            q_next, v_next, found, residual = self._step(q, v, found, *given)
            if residual.item() <= TOLERANCE:
                return q_next, v_next, found
        if not self._islands.is_possible or not is_sane(q_next, v_next):
            return q_next, v_next, found
        exact = self._ended(q, v, self._islands.problem(q, v, guess, given), found, TOLERANCE, given)
        return (q_next, v_next, found) if exact is None else exact

    def _with_islands(self, q, v, guess, given):
        """The step with some exact islands, after sweeps where others need them; None where one was not solved."""
        q_next, v_next, found, residual = self._given()(q, v, guess, *given)
        if residual.item() <= STILL:  # at rest, or in steady motion
            return q_next, v_next, found
        problem, found = self._islands.problem(q, v, guess, given), guess
        if not self._islands.are_all_exact(problem):
            q_next, v_next, found, _ = self._step(q, v, guess, *given)
            if not is_sane(q_next, v_next):
                return None
        return self._ended(q, v, problem, found, SLACK * TOLERANCE, given)

    def _ended(self, q, v, problem, found, least, given):
        """The end of a step with exact islands; None where one of them was not solved."""
        impulses = self._islands.solved(problem, found, TOLERANCE, least)
        end = None
        if impulses is not None:
            end = self._given()(q, v, impulses, *given)[:3]
            self._islands.after(v, end[1])
        self._some_exact = self._islands.any_exact
        return end

    def _given(self):
        """The step by given impulses, compiled when it is first needed."""
        if self._end is None:
            self._end = self._system.function(GIVEN, checks=False)
        return self._end


class MeasuredTimeStepping(TimeStepping):
    """`TimeStepping` whose step for rollouts gives its residual and the largest one so far, before the impulses."""

    algorithm, start = MEASURED, MEASURED_START
