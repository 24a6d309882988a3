"""The short form of a simulation: one call, one trajectory."""

from __future__ import annotations

from kinetree.arguments import checked, number, progress_bar, refuse
from kinetree.simulation.options import A_TIME, MOVED, Checkpoint, Inputs, Record
from kinetree.simulation.simulation import Simulation
from kinetree.simulation.trajectory import Trajectory


@checked(MOVED, progress=progress_bar)
def simulate(
    model,
    q0=None,
    v0=None,
    *,
    duration: float,
    x0=None,
    dt: float = 1e-3,
    ground=None,
    self_collision: bool = False,
    integrator="auto",
    controller=None,
    inputs: Inputs | None = None,
    record: Record | None = None,
    checkpoint: Checkpoint | None = None,
    events=(),
    components=(),
    closure="projection",
    seed: int | None = None,
    progress: bool | None = None,
    view=False,
) -> Trajectory:
    """Simulate the motion of a mechanism.

    Parameters
    ----------
    model : Model
        The mechanism with its springs, damping, dry friction, limits and couplings.
    q0 : (nq,) array_like or str, optional
        Initial positions [rad or m; quaternions unit, (w, x, y, z)], or the name of one of ``model.keyframes``.
        Default: the keyframe "initial" if the model's file gave one, else ``model.neutral()``, put inside the limits,
        with loops closed by `assemble`. Given positions may leave loops open by up to 1e-6, which projection closes.
    v0 : (nv,) array_like, optional
        Initial velocities [rad/s or m/s], which obey the constraints. Default: those of the keyframe, else zero,
        projected on the loops.
    x0 : (nx,) array_like, optional
        Initial internal states of force elements, in the order of ``model.state_names`` [as the elements define
        them]. Default: ``model.initial_state()``.
    duration : float
        Simulated time [s].
    dt : float
        Step of the fixed-step methods, distance of the samples of "adaptive" [s]. The last step is shortened so that
        the run ends at ``duration``.
    ground : None, bool, float or Ground
        Contact with the ground: True for the planes of the world of the model's file, or z = 0 if it has none, a number
        for a plane at this height [m], a `kinetree.collision.Ground` with friction, slope and stiffness; besides the
        contacts of the model. None: these alone. False: those with the world are left out. Without q0, a mechanism that
        floats is placed with its lowest point on the ground. Meshes touch by their convex hulls. `Model.with_contacts`
        has more choices.
    self_collision : bool
        Contact between bodies of the model, too, but for neighbors and those that `Model.with_contacts` leaves out.
    integrator : str or object
        A method with fixed steps, or "adaptive" for steps that keep tolerances; a name, or a method of
        `kinetree.integrators` with its options: ``Adaptive("Radau", rtol=1e-8)``, ``GeneralizedAlpha(rho=0.6)``.
        "semi_implicit": order 1, stable for any joint damping, stiffness and friction, the fastest, but damps
        vibrations. "rk4": order 4, for smooth motions. "auto": "rk4" where dt resolves damping and springs, with the
        stops beside them, and no joint has dry friction, else "semi_implicit"; with springs, a note has the choice
        and the damping of a vibration. Models with contacts: "time_stepping". All others are listed in the page on
        integrators, docs/integrators.md: explicit ones up to order 8, implicit and energy-keeping ones. See the notes.
    controller : callable or sequence of callables, optional
        ``controller(t, q, v) -> tau``; of several, the sum. With fixed steps it is a digital controller: it is called
        once per step and its value is constant over the step. With "adaptive" it is evaluated continuously, as often as
        the solver needs, and must depend on its arguments only, unless it has a rate of its own:
        ``kt.control.Sampled(controller, sample_time)``, and ``Delayed(controller, delay)`` for delays. An object
        with ``reset()`` is reset before the run.
    inputs : Inputs, optional
        Other inputs: joint forces, wrenches on bodies, a disturbance, inputs of force elements.
    record : Record, optional
        Which states are recorded; default all.
    checkpoint : Checkpoint, optional
        A file that keeps the state of the run while it lasts. If it exists, the run continues from there, to the same
        bits; it is removed when the run is complete.
    events : sequence of Event, optional
        Events to locate: zeros of functions of time and state, which may end the run or change its state. The
        trajectory has them as ``run.events``; see `Event`.
    components : sequence
        Additional components: motors, stiction, events; see `kinetree.simulation.components`.
    closure : str, Baumgarte or mapping
        How steps keep loops closed: "projection" of positions and velocities at the end of each step, least in the
        metric of the mass matrix; `kinetree.integrators.Baumgarte`, by accelerations that let errors decay; "none", for
        study: errors of the steps add up. A mapping of names of loops to these; the others are projected.
    seed : int, optional
        Instead of q0: start from a random state drawn with this seed, ``model.random_state``.
    progress : bool, optional
        Show a progress bar; by default if the run takes longer than a second and stderr is a terminal.
    view : bool or Viewer
        Show the run in a browser while it lasts, and replay it afterwards: True opens a viewer, see `kinetree.view`;
        one that is open is used. Results are the same to the last bit; a run that nobody looks at is as fast as
        without. Adaptive methods show the replay alone.

    Returns
    -------
    Trajectory
        Times, states, accelerations, forces and energies of the recorded samples; its notes have the choices made and
        warnings.

    Raises
    ------
    SimulationError
        The motion is no longer finite, the solver stops, or the controller's value is invalid; names the time.
        ``error.trajectory`` is the run up to there.
    UnsupportedError
        The integrator computes no contact, or there is no law for two shapes.
    LimitError
        The initial position is farther outside a limit than soft stops deflect, 0.2 rad or m, or those of the model.
    MemoryLimitError
        The samples would not fit into memory; the message has a distance of samples that fits.
    ShapeError, NonFiniteError, QuaternionError, CouplingError, ConstraintError
        The initial state is not one of this model: a loop is open, for example.
    AssemblyError
        No closed position is found next to the default one.

    Notes
    -----
    How to choose an integrator:

    - "semi_implicit" for robots with stiff joints, stops, friction and digital controllers: no joint
      damping, spring or friction makes it unstable. It is of order 1: the error is proportional to dt, and conserved
      quantities are constant only to that order (a tumbling quadruped loses up to 0.5 % of its momentum in a second at
      1 ms). Halve dt to see the error.
    - "rk4" for smooth conservative motions: order 4, explicit. Stiff springs, stops and damping must be resolved by dt.
    - "adaptive" for accuracy: reference solutions to the tolerances. "dop853" is for smooth motions; "LSODA" and
      "Radau" are for stiff ones.

    Stops are part of the model. At position limits without one soft stops are added: critically damped, time constant
    0.02 s, scaled with the joint-space inertia at q0; the trajectory's notes have their numbers. To let joints pass,
    simulate ``model.without_limits()``; to end the run with an error there, give ``components=`` a
    `kinetree.simulation.LimitMonitor`. Limits that nothing passes, friction that sticks, locks and prescribed motions
    are constraints of the model: ``model.with_constraints(...)`` with `kinetree.constraints.HardLimits`,
    `StickingFriction`, `Lock`, `PrescribedMotion`.

    Dry friction reverses within 1e-3 rad/s or m/s about rest, which makes it stiff there. "rk4" with a step that does
    not resolve it loses accuracy without blowing up (hundredths of a radian at 1 ms); an explicit adaptive method keeps
    its tolerances, by tiny steps. Use "semi_implicit", a smaller dt, or ``kt.integrators.Adaptive("LSODA")`` or
    "Radau"; the trajectory's notes mention it when it applies.

    Loops at singular positions, such as a flat four-bar: explicit methods, "adaptive" and "semi_implicit" go through on
    the branch of the velocity, see `kinetree.algorithms.singular_positions`; the notes have the time and the loop.

    The time begins at 0, also for joints that depend on it. `Simulation` is the same run as an object, step by step.

    Source: Sueda et al., eq. 2.19-2.21; Munthe-Kaas (1999) for "rk4" on joints with quaternions.

    Examples
    --------
    >>> import kinetree as kt
    >>> run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.5, integrator="adaptive")
    >>> len(run), bool(abs(run.energy[-1] - run.energy[0]) < 1e-9)
    (501, True)
    """
    duration = number("simulate: duration", duration, A_TIME, above=0.0)
    run = Simulation(
        model, q0, v0, x0=x0, dt=dt, ground=ground, self_collision=self_collision, integrator=integrator,
        controller=controller, inputs=inputs, record=record, checkpoint=checkpoint, events=events,
        components=components, closure=closure, seed=seed,
    )  # fmt: skip
    if checkpoint is not None and checkpoint.file.exists():
        run.restore(checkpoint.file)
        run.notes += (f"continued from the checkpoint {checkpoint.file.name!r} at t = {run.time:.9g} s",)
    viewer = _viewer_of(view, run.model)
    if run.time < duration and not run.is_over:
        _advance(run, duration - run.time, progress, viewer)
    trajectory = run.trajectory(end=None if run.is_over else duration)
    if viewer is not None:
        viewer.replay(trajectory)
    if checkpoint is not None:
        checkpoint.file.unlink(missing_ok=True)
    return trajectory


def _viewer_of(view, model):
    """The viewer that shows a run; None without one."""
    if view is False or view is None:
        return None
    from kinetree.viewer.live import show_model
    from kinetree.viewer.live import view as opened

    if view is True:
        return opened(model)
    if not (hasattr(view, "offer") and hasattr(view, "replay")) or isinstance(view, type):
        refuse("simulate: view", view, "True, False or a viewer that kt.view has opened")
    show_model(view, model)
    return view


def _advance(run: Simulation, duration: float, progress, viewer) -> None:
    if viewer is None or run.is_adaptive:
        run.advance(duration, progress)
        return
    from kinetree.viewer.live import advance_watched

    advance_watched(run, duration, viewer, progress)
