"""The default integrator of a model, by the stiffness of its joint forces; and warnings in the notes of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.couplings import coupling_columns
from kinetree.algorithms.force_elements import gauss_newton_slopes, laws
from kinetree.algorithms.passive import joint_forces
from kinetree.collision.pair import shapes_of
from kinetree.constraints.redundancy import kept_equalities
from kinetree.errors import SimulationError
from kinetree.forces import DryFriction
from kinetree.integrators.methods import FIXED_STEP, Adaptive, is_built_in
from kinetree.integrators.system import System, time_argument
from kinetree.integrators.trials import STIFF
from kinetree.model.closing import inside_limits
from kinetree.model.contact_shapes import MOST_VERTICES

RESOLVED = 1.0  # of dt times the fastest rate: Runge-Kutta of order 4 is stable up to 2.8, and inertias vary
STABLE = 1.5  # the same with all stops in contact, which are seldom all, and which no method resolves as they are hit
POSITIONS = 15  # at random
EVALUATIONS = 1e5  # of the dynamics in a second of simulated time, from which on there is a note: about a second
MOST_STEPS = 1e8  # of an adaptive run: an hour
REACH = 6.0  # of an explicit method of order 8: the longest stable step times the rate
VISIBLE = 0.01  # of the amplitude of a spring, lost in a second


@dataclass(frozen=True, slots=True)
class Stiffness:
    """How fast a model's joints move under their own forces alone.

    Attributes
    ----------
    friction : str or None
        A joint with dry friction, which is stiff near rest at any dt.
    stops : bool
        Whether there are stops. A joint runs into them in an instant, which costs every method its order; alone they
        are left to the cheaper one.
    rate, joint : float, str or None
        The fastest rate [1/s] of springs and dampers, or of these and stops in contact; and the joint that moves most
        in it.
    frequency, spring : float, str or None
        The highest frequency of the springs [rad/s], and the joint that moves most in it; None without springs.
    limit : float
        The longest step times the rate.

    Notes
    -----
    Eigenvalues of ``[[0, 1], [-M^-1 K, -M^-1 D]]``, all stops in contact: springs and stops in K, dampers and stops in
    D. The largest of the neutral position and of some that are drawn at random, since M may vary much.
    """

    friction: str | None
    stops: bool
    rate: float
    joint: str | None
    frequency: float
    spring: str | None
    limit: float = RESOLVED

    @classmethod
    def of(cls, model, stops: bool = True) -> Stiffness:
        """Of a model with the stops that its run has, in contact or not."""
        names = [model.joint_name(i) for i in model.outward() for _ in range(model.joints[i].nv)]
        friction = next((force.joint for force in model.forces if force.stiff_at_rest), None)
        springs = any(force.is_spring for force in model.forces)
        damping = any(not (force.is_spring or force.kinked or force.commanded) for force in model.forces)
        stops = stops and any(force.beyond_limits for force in model.forces)
        if not springs and (friction is not None or stops or not damping):  # the choice does not depend on rates
            return cls(friction, stops, 0.0, None, 0.0, None)
        inertias, G, positions = _inertias(model)
        if not G.shape[2]:  # all motions are prescribed
            return cls(friction, stops, 0.0, None, 0.0, None)
        if not len(inertias):
            return cls(friction, stops, math.inf, names[0], 0.0, None)
        K, D, contact, pressed = (np.zeros((model.nv, model.nv)) for _ in range(4))
        for coordinates, force, at in joint_forces(model, model.neutral().tolist()):
            if force.stiff_at_rest or (force.beyond_limits and not stops):
                continue
            slopes = zip(coordinates, *force.largest_slopes(at), strict=True)
            for k, stiffness, d in slopes:
                (contact if force.beyond_limits else K)[k, k] += stiffness
                (pressed if force.beyond_limits else D)[k, k] += d
        if model.laws:
            start = model.at(0.0)
            of = laws(start)
            slopes = [gauss_newton_slopes(start, q.tolist(), [0.0] * model.nv, of=of) for q in positions]
            others = np.array(slopes, dtype=float)
            K, D = K + others[:, 0], D + others[:, 1]
        limit, (rate, joint) = RESOLVED, _fastest(inertias, K, D, G, names)
        if stops:
            touching, at = _fastest(inertias, K + contact, D + pressed, G, names)
            if touching / STABLE > rate / RESOLVED:
                limit, rate, joint = STABLE, touching, at
        frequency, spring = _fastest(inertias, K, 0.0 * D, G, names) if springs else (0.0, None)
        return cls(friction, stops, rate, joint, frequency, spring, limit)

    @property
    def asks_dt(self) -> bool:
        """Whether the choice is one of dt."""
        return 0.0 < self.longest < math.inf

    @property
    def longest(self) -> float:
        """The longest step that resolves all [s]: zero for dry friction and mere stops, infinite where nothing acts."""
        if self.friction is not None or (self.stops and self.spring is None):
            return 0.0
        return self.limit / self.rate if self.rate > 0.0 else math.inf

    def integrator(self, dt: float) -> str:
        """The method for steps of dt [s]."""
        return "rk4" if dt <= self.longest else "semi_implicit"

    def range(self) -> list[str]:
        """A note on the method for each range of dt."""
        return [f"rk4 is chosen up to dt = {self.longest:.3g} s, semi_implicit for longer steps"]

    def notes(self, dt: float, integrator: str, automatic: bool) -> list[str]:
        """Notes for models with springs: the method with the reason, and its damping of their vibrations."""
        if self.spring is None:
            return []
        spring = f"the spring of joint {self.spring!r} ({self.frequency:.3g} rad/s)"
        if integrator == "semi_implicit":
            loss = 1.0 - (1.0 + (dt * self.frequency) ** 2) ** (-0.5 / dt)
        elif integrator == "rk4":  # its amplification of x' = i w x is below 1 by (h w)^6 / 144, to leading order
            loss = 1.0 - max(0.0, 1.0 - (dt * self.frequency) ** 6 / 144.0) ** (1.0 / dt)
        else:
            return []
        chosen = f"{integrator} was chosen: {self._reason(dt, spring)}" if automatic else ""
        if loss < VISIBLE:
            return [chosen] if chosen else []
        part = f"{100.0 * loss:.2g} %" if loss < 0.995 else "all"
        damps = (
            f"{integrator} damps free vibrations: {spring} loses {part} of its amplitude in a second at "
            f"dt = {dt:g} s. A smaller dt loses less, integrator='implicit_midpoint' or 'variational' nothing"
        )
        return [f"{chosen}. {damps}" if chosen else damps]

    def _reason(self, dt: float, spring: str) -> str:
        if self.friction is not None:
            return f"joint {self.friction!r} has dry friction, which is stiff near rest"
        if dt <= self.longest:
            return f"dt = {dt:g} s resolves {spring} and all other passive forces of the joints"
        forces = f"the passive forces of joint {self.joint!r} ({self.rate:.3g} 1/s)"
        upto = f"; rk4 is chosen up to dt = {self.longest:.3g} s" if self.asks_dt else ""
        return f"dt = {dt:g} s does not resolve {forces}{upto}"


def chosen_method(model, integrator, dt: float, has_constraints: bool):
    """The method for "auto", else the one given; and notes on it. Contact is computed by time stepping.

    Parameters
    ----------
    model : Model
        With the stops that its run has.
    integrator : object
        As `integrator_of` gives it.
    dt : float
        [s]
    has_constraints : bool
        Whether joints stick, are locked or stopped: semi-implicit Euler is the method for that.
    """
    if integrator == "auto" and model.contacts:
        return FIXED_STEP["time_stepping"], []
    is_automatic = integrator == "auto" and not has_constraints
    if integrator == "auto" and not is_automatic:
        integrator = FIXED_STEP["semi_implicit"]
    noted = not isinstance(integrator, Adaptive) and any(force.is_spring for force in model.forces)
    if not (is_automatic or noted):
        return integrator, []
    stiffness = Stiffness.of(model)
    integrator = FIXED_STEP[stiffness.integrator(dt)] if is_automatic else integrator
    return integrator, stiffness.notes(dt, integrator.name, is_automatic)


def contact_notes(model) -> list[str]:
    """Note that free bodies pass through the floor of their file, and bodies through each other; and which are hulls.

    Neighbors in the tree, which the joint between them lets overlap, are no reason for a note, nor are bodies whose
    contacts the model has.
    """
    solid = [sum(shape.role != "visual" for shape in shapes) for shapes in model.geometry]
    touching = [[model.frame(frame).body == 0 for frame in pair.frames] for pair in model.contacts]
    falls = any(model.joints[i].nv == 6 for i in model.children(0))
    passed = []
    if solid[0] and falls and not any(map(any, touching)):
        passed.append(f"the {f'{solid[0]} collision shapes' if solid[0] > 1 else 'collision shape'} of the world")
    moving = [i for i in model.outward() if solid[i]]
    neighbors = sum(any(solid[p] for p in model.support(i)[:-1]) for i in moving)
    if len(moving) * (len(moving) - 1) // 2 > neighbors and all(map(any, touching)):
        passed.append("each other")
    missing = "contacts between them are" if model.contacts else "contacts are"
    notes = [f"bodies pass through {' and '.join(passed)}: {missing} not simulated"] if passed else []
    if hulls := sum(shape.kind == "hull" for shape in shapes_of(model.contacts).values()):
        notes.append(f"meshes touch by their convex hulls, of at most {MOST_VERTICES} vertices: {hulls}")
    return notes


def friction_notes(model, method, dt: float) -> list[str]:
    """Notes on the accuracy or cost of an explicit method with dry friction."""
    adaptive, explicit = isinstance(method, Adaptive), is_built_in(method) and getattr(method, "explicit", False)
    if not (explicit or adaptive) or not any(force.stiff_at_rest for force in model.forces):
        return []
    stiff = f"the model has dry friction, which is stiff below {DryFriction.rounding_velocity:g} rad/s or m/s: "
    if explicit:
        return [
            f"{stiff}{method.name} at dt = {dt:g} s may be inaccurate near rest without a sign of it. Compare with a "
            "smaller dt, with integrator='semi_implicit', or with kt.integrators.Adaptive('LSODA')"
        ]
    if method.method in STIFF:
        return []
    return [
        f"{stiff}{method.method} is explicit and takes tiny steps near rest; kt.integrators.Adaptive('LSODA') or "
        "'Radau' is suited to it"
    ]


def slow_steps(model, method: Adaptive) -> tuple[float, list[str]]:
    """Lower bound of the steps for a second of simulated time by an explicit adaptive method; a note, if many.

    Springs and dampers bound its steps however little they move; stops only while they are in contact, so they do not
    count here.
    """
    if method.method in STIFF:
        return 0.0, []
    stiffness = Stiffness.of(model, stops=False)
    if stiffness.joint is None or not math.isfinite(stiffness.rate):
        return 0.0, []
    steps = stiffness.rate / REACH
    if 12.0 * steps < EVALUATIONS:
        return steps, []
    return steps, [
        f"joint {stiffness.joint!r} is stiff ({stiffness.rate:.3g} 1/s by its spring or damper): {method.method} is "
        f"explicit and takes at least {steps:.2g} steps for every second; kt.integrators.Adaptive('Radau') or 'BDF' is "
        "suited to it"
    ]


def refuse_endless(steps: float, duration: float, method, notes) -> None:
    """Raise an error for a run that would take hours, as an explicit method needs tiny steps for stiff forces."""
    if steps * duration > MOST_STEPS:
        why = next(note for note in notes if "is stiff" in note and "every second" in note)
        raise SimulationError(
            f"simulate: {why}. That is {steps * duration:.2g} steps in {duration:g} s. Take "
            "integrator=kt.integrators.Adaptive('Radau'), 'BDF' or 'LSODA', or 'semi_implicit'.",
            method=method.method,
            steps=steps * duration,
        )


def _inertias(model) -> tuple[np.ndarray, np.ndarray, list]:
    """Inertias (n, m, m) of independent velocities, all velocities (n, nv, m) from these, and the positions.

    None where coordinates are singular: how stiff a spring is has no bound there. Positions of loops are closed ones:
    a light rod moves with all that it drives.
    """
    if model.loop_rows().positions is not None:
        positions = inside_limits(model, model.loop_rows().positions[::2])
        G = _allowed(kept_equalities(model, positions))
    else:
        rng = np.random.default_rng(0)
        positions = [model.neutral(), *(model.random_q(rng) for _ in range(POSITIONS))]
        columns = coupling_columns(model)
        G = np.zeros((len(positions), model.nv, len(columns)))
        for n, column in enumerate(columns):
            for k, ratio in column:
                G[:, k, n] = float(ratio)
    crba = System(model.without_limits()).function("crba", checks=False)
    M = np.array([crba(np.asarray(q, dtype=float), *time_argument(model, 0.0)) for q in positions])
    M = G.swapaxes(1, 2) @ M @ G
    usable = np.isfinite(M).all() and (not M.size or np.linalg.cond(M).max() < 1e12)
    return M if usable else M[:0], G, positions


def _allowed(rows) -> np.ndarray:
    """Orthonormal velocities (n, nv, m) that rows (n, r, nv) allow: as many at all positions."""
    return np.linalg.svd(np.nan_to_num(rows))[2][:, rows.shape[1] :].swapaxes(1, 2)


def _fastest(inertias, K, D, G, names) -> tuple[float, str]:
    """The largest of all eigenvalues of ``M x'' + D x' + K x = 0`` [1/s], and the joint that moves most in it."""
    (K, D), n = (G.swapaxes(1, 2) @ X @ G for X in (K, D)), G.shape[2]
    A = np.zeros((len(inertias), 2 * n, 2 * n))
    A[:, :n, n:] = np.eye(n)
    A[:, n:, :n], A[:, n:, n:] = -np.linalg.solve(inertias, K), -np.linalg.solve(inertias, D)
    values, vectors = np.linalg.eig(A)
    which, m = np.unravel_index(int(np.argmax(np.abs(values))), values.shape)
    velocities = np.abs(G[which] @ vectors[which, n:, m])
    return float(np.abs(values[which, m])), names[int(np.argmax(velocities))]
