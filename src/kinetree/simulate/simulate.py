"""The simulation loop."""

from __future__ import annotations

import difflib
import math
import time as clock

import numpy as np

from kinetree.algorithms.passive import FRICTION_VELOCITY
from kinetree.errors import NonFiniteError, SimulationError
from kinetree.integrate import FIXED_STEP, System, solve_adaptive
from kinetree.integrate.adaptive import METHODS
from kinetree.integrate.system import clock as model_time
from kinetree.simulate.drive import Drive
from kinetree.simulate.initial import initial_state
from kinetree.simulate.limits import Guard, with_soft_stops
from kinetree.simulate.progress import Progress
from kinetree.simulate.trajectory import Trajectory

RUNAWAY = 1e50  # [rad, m, per second] no mechanism is there: the numbers are about to overflow
STIFF_METHODS = ("Radau", "BDF", "LSODA")
CHECK_EVERY = 64  # steps between looks at the state: often enough to name the time, too rarely to cost any


def simulate(
    model,
    q0=None,
    v0=None,
    *,
    duration: float,
    dt: float = 1e-3,
    integrator: str = "semi_implicit",
    controller=None,
    tau=None,
    f_ext=None,
    record_every: int = 1,
    sample_period: float | None = None,
    limits: str = "soft",
    rtol: float = 1e-10,
    atol: float = 1e-10,
    method: str = "DOP853",
    progress: bool | None = None,
    seed: int | None = None,
) -> Trajectory:
    """Simulate the motion of a mechanism.

    Parameters
    ----------
    model : Model
        The mechanism, with everything it holds: springs, damping, dry friction, limits, couplings.
    q0 : (nq,) array_like or str, optional
        Initial positions [rad or m; quaternions unit, (w, x, y, z)], or the name of one of ``model.keyframes``.
        Default: the keyframe "initial" if the model's file gave one, else ``model.neutral()``, moved inside the limits.
    v0 : (nv,) array_like, optional
        Initial velocities [rad/s or m/s]. Default: those of the keyframe, else zero.
    duration : float
        Simulated time [s].
    dt : float
        Step of the fixed-step methods, distance of the samples of "adaptive" [s]. The last step is shortened so that
        the run ends at ``duration``.
    integrator : {"semi_implicit", "rk4", "adaptive"}
        "semi_implicit": order 1, stable for any joint damping, stiffness and friction, the fastest. "rk4": order 4, for
        smooth motions. "adaptive": SciPy's ``solve_ivp``, to the given tolerances. See the notes.
    controller : callable, optional
        ``controller(t, q, v) -> tau``. With fixed steps it is a digital controller: it is called once per step and its
        answer is held over the step. With "adaptive" it is evaluated continuously, as often as the solver likes, and
        must depend on its arguments only. An object with ``reset()`` is reset before the run.
    tau : (nv,) array_like or callable, optional
        Constant joint forces [N m or N], or ``tau(t)``. Default: zero.
    f_ext : (nb, 6) array_like, mapping or callable, optional
        External wrenches on the bodies [N m, N], in world coordinates about the world's origin; by body name,
        or ``f_ext(t)``.
    record_every : int
        Record every so many steps (the last state always).
    sample_period : float, optional
        Distance of the recorded samples [s], a multiple of dt; the other way to say ``record_every``.
    limits : {"soft", "ignore", "raise"}
        At position limits without a stop in the model: add soft stops (critically damped, time constant 0.02 s, scaled
        with the joint-space inertia at q0; the trajectory's notes tell their numbers), let the joints pass, or stop
        with an error. "ignore" and "raise" apply to the model's own stops too.
    rtol, atol : float
        Tolerances of "adaptive", for each entry of (q, v).
    method : str
        Method of "adaptive": "DOP853", "RK45", "RK23", or for stiff motions "Radau", "BDF", "LSODA".
    progress : bool, optional
        Show a progress bar; by default if the run takes longer than a second and stderr is a terminal.
    seed : int, optional
        Without q0: start from a random state drawn with this seed, ``model.random_state``.

    Returns
    -------
    Trajectory
        Times, states, accelerations, forces and energies of the recorded samples; its notes tell what was chosen or
        added, and what to be careful about.

    Raises
    ------
    SimulationError
        The motion is no longer finite, the solver cannot go on, or the controller's answer is unusable; names the time.
    LimitError
        The initial position, or with ``limits="raise"`` the motion, is outside a limit.
    ShapeError, NonFiniteError, QuaternionError, CouplingError
        The initial state is not one of this model.

    Notes
    -----
    How to choose an integrator:

    - "semi_implicit" for robots as they are, with stiff joints, stops, friction and digital controllers: no joint
      damping, spring or friction makes it unstable. It is of order 1: the error is proportional to dt, and what should
      be conserved is so only to that order (a tumbling quadruped loses up to 0.5 % of its momentum in a second at
      1 ms). Halve dt to see the error.
    - "rk4" for smooth conservative motions: order 4, explicit. Stiff springs, stops and damping must be resolved by dt.
    - "adaptive" for accuracy: reference solutions to the tolerances. "DOP853" is for smooth motions; "LSODA" and
      "Radau" are for stiff ones.

    Dry friction reverses within 1e-3 rad/s or m/s about rest, which makes it stiff there. "rk4" with a step that does
    not resolve it loses accuracy without blowing up (hundredths of a radian at 1 ms); an explicit adaptive method keeps
    its tolerances, by tiny steps. Use "semi_implicit", a smaller dt, or "adaptive"
    with ``method="LSODA"`` or "Radau"; the trajectory's notes say so when it applies.

    The time begins at 0, also for joints that depend on it.

    Source: Sueda et al., eq. 2.19-2.21; Munthe-Kaas (1999) for "rk4" on joints with quaternions.

    Examples
    --------
    >>> import kinetree as kt
    >>> run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.5, integrator="adaptive")
    >>> len(run), bool(abs(run.energy[-1] - run.energy[0]) < 1e-9)
    (501, True)
    """
    steps, every = _schedule(duration, dt, record_every, sample_period)
    _one_of("integrator", integrator, (*FIXED_STEP, "adaptive"))
    _one_of("limits", limits, ("soft", "ignore", "raise"))
    _one_of("method", method, METHODS)
    q, v, notes = initial_state(model, q0, v0, seed, limits)
    notes += _contact_notes(model)
    if limits == "soft":
        active, stops = with_soft_stops(model, q)
        notes += stops
    else:
        active = model.without_limits()
    notes += _stiffness_notes(active, integrator, method, dt)
    guard = Guard(model) if limits == "raise" else None
    drive = Drive(active, controller, tau, f_ext)
    system = System(active, drive.has_wrenches)
    times = np.append(np.arange(0, steps, every) * dt, duration)

    stepper = FIXED_STEP[integrator](system) if integrator in FIXED_STEP else None
    _compile_ahead(system, stepper, drive, q, v, dt)
    bar = Progress(duration, progress)
    start = clock.perf_counter()
    try:
        if stepper is not None:
            Q, V, TAU = _march(system, stepper, drive, guard, q, v, times, (duration, dt, steps, every), bar)
        else:
            Q, V, TAU = _adapt(system, drive, guard, q, v, times, (method, rtol, atol), bar)
    finally:
        bar.close()
    wall_time = clock.perf_counter() - start

    wrenches, now = drive.wrenches(times), model_time(active, times)
    forces = () if wrenches is None else (wrenches,)
    return Trajectory(
        time=times,
        q=Q,
        v=V,
        a=system.function("forward_dynamics")(Q, V, TAU, *now, *forces),
        tau=TAU,
        kinetic_energy=system.function("kinetic_energy")(Q, V, *now),
        potential_energy=system.function("potential_energy")(Q, *now),
        elastic_energy=system.function("elastic_energy")(Q),
        model_name=model.name,
        coordinates=system.coordinates,
        integrator=integrator if stepper is not None else f"adaptive ({method}, rtol={rtol:g}, atol={atol:g})",
        dt=dt,
        steps=steps if stepper is not None else None,
        wall_time=wall_time,
        notes=tuple(notes),
        model=active,
    )


def _contact_notes(model) -> list[str]:
    """Say that nothing stops a free body at the floor that its file describes."""
    solid = sum(shape.role != "visual" for shape in model.geometry[0])
    falls = any(model.joints[i].nv == 6 for i in model.children(0))
    if not (solid and falls):
        return []
    what = "the collision shape" if solid == 1 else f"the {solid} collision shapes"
    return [f"bodies pass through {what} of the world: contacts are not simulated"]


def _stiffness_notes(model, integrator: str, method: str, dt: float) -> list[str]:
    """What an explicit method makes of dry friction."""
    if integrator == "semi_implicit" or not any(model.has_friction(k) for k in range(model.nv)):
        return []
    stiff = f"the model has dry friction, which is stiff below {FRICTION_VELOCITY:g} rad/s or m/s: "
    if integrator == "rk4":
        return [
            f"{stiff}rk4 at dt = {dt:g} s may be inaccurate near rest without a sign of it. Compare with a smaller dt, "
            "with integrator='semi_implicit', or with 'adaptive' and method='LSODA'"
        ]
    if method in STIFF_METHODS:
        return []
    return [f"{stiff}{method} is explicit and takes tiny steps near rest; method='LSODA' or 'Radau' is made for it"]


def _compile_ahead(system, stepper, drive, q, v, dt) -> None:
    """Compile before the clock starts, by one step that is thrown away: the wall time is that of the motion."""
    rest, wrenches = np.zeros(system.model.nv), drive.f_ext(0.0)
    system.function("normalize")(q)
    if stepper is not None:
        stepper.step(0.0, dt, q, v, lambda t: rest, lambda t: wrenches)
    else:
        system.function("q_dot")(q, v)
        system.function("forward_dynamics")(q, v, rest, *wrenches)


def _march(system, stepper, drive, guard, q, v, times, schedule, bar):
    """Fixed steps; the recorded rows of q, v and tau."""
    duration, dt, steps, every = schedule
    model, rows = system.model, len(times)
    Q, V, TAU = np.empty((rows, model.nq)), np.empty((rows, model.nv)), np.empty((rows, model.nv))
    step, held, f_ext = stepper.step, drive.held, drive.f_ext
    tidy = _tidy(system)
    row = 0
    for n in range(steps):
        t = n * dt
        if drive.controlled:
            try:
                drive.command(t, q, v)
            except SimulationError as error:  # a runaway state makes controllers overflow: the state is to blame then
                if max(np.abs(q).max(), np.abs(v).max()) < RUNAWAY:
                    raise
                raise _blown_up(system, t, q, v, dt, stepper.name) from error
        if n % every == 0:
            Q[row], V[row], TAU[row] = q, v, held(t)
            row += 1
        h = dt if n + 1 < steps else duration - t
        q, v = step(t, h, q, v, held, f_ext)
        if guard is not None:
            guard.check(t + h, q)
        if n % CHECK_EVERY == CHECK_EVERY - 1 or n + 1 == steps:
            if not (np.isfinite(q).all() and np.isfinite(v).all()):
                raise _blown_up(system, t + h, q, v, dt, stepper.name)
            q, v = tidy(q, v)
            bar.tick(t + h)
    Q[row], V[row], TAU[row] = q, v, drive.command(duration, q, v)
    return Q, V, TAU


def _tidy(system):
    """Remove what rounding accumulates off the manifold: quaternion lengths and coupling residuals."""
    normalize = system.function("normalize")
    if not system.model.couplings:
        return lambda q, v: (normalize(q), v)
    apply_couplings = system.function("apply_couplings")
    return lambda q, v: apply_couplings(normalize(q), v)


def _adapt(system, drive, guard, q, v, times, solver, bar):
    """SciPy's adaptive solver; the rows of q, v and tau at the sample times."""
    method, rtol, atol = solver
    solution = solve_adaptive(
        system,
        q,
        v,
        times,
        drive.command,
        drive.f_ext,
        method=method,
        rtol=rtol,
        atol=atol,
        tick=bar.tick,
        event=None if guard is None else guard.margin,
    )
    if guard is not None:
        for t, q in zip(times, solution.q, strict=False):
            guard.check(float(t), q)
        if solution.event_time is not None:
            raise guard.error(solution.event_time, solution.event_state[0])
    Q, V = solution.q, solution.v
    return Q, V, np.array([drive.command(float(t), q, v) for t, q, v in zip(times, Q, V, strict=True)])


def _blown_up(system, t, q, v, dt, name) -> SimulationError:
    bad = system.coordinates.first_bad(q, v)
    other = "integrator='rk4' or 'adaptive'" if name == "semi_implicit" else "integrator='semi_implicit' or 'adaptive'"
    return SimulationError(
        f"simulate: the motion is no longer finite at t = {t:.6g} s (within the last {CHECK_EVERY} steps); the "
        f"first bad coordinate is the {bad or 'magnitude of the state'}. Use a smaller dt (now {dt:g} s), or {other}.",
        time=t,
        coordinate=bad,
    )


def _schedule(duration, dt, record_every, sample_period) -> tuple[int, int]:
    """Number of steps, and of steps between recorded samples."""
    for name, value in (("duration", duration), ("dt", dt)):
        if not (isinstance(value, (int, float, np.number)) and math.isfinite(value) and value > 0):
            raise NonFiniteError(f"simulate: {name} is {value!r}, expected a positive time in seconds.", name=name)
    if sample_period is not None:
        if record_every != 1:
            raise SimulationError("simulate: record_every and sample_period say the same thing; give one of them.")
        ratio = sample_period / dt
        record_every = round(ratio)
        if record_every < 1 or abs(ratio - record_every) > 1e-6 * ratio:
            raise SimulationError(
                f"simulate: sample_period = {sample_period:g} s is not a multiple of dt = {dt:g} s; the closest are "
                f"{max(1, math.floor(ratio)) * dt:g} and {math.ceil(ratio) * dt:g} s.",
                sample_period=sample_period,
            )
    if record_every != int(record_every) or record_every < 1:
        raise SimulationError(f"simulate: record_every is {record_every!r}, expected a positive whole number of steps.")
    # A duration that is a multiple of dt up to rounding gets no sliver of a step at its end.
    return max(1, math.ceil(duration / dt * (1.0 - 1e-9))), int(record_every)


def _one_of(what: str, value, valid) -> None:
    if value not in valid:
        close = difflib.get_close_matches(str(value), valid, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        known = ", ".join(valid)
        raise SimulationError(f"simulate: no {what} {value!r}.{hint} Known: {known}.", found=value, valid=valid)
