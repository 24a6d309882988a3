"""Code of the user between the steps: it cannot write to the state, and what it returns is copied."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

import kinetree as kt
from kinetree.integrators import RungeKutta4
from kinetree.joints import Revolute
from kinetree.liegroup import Projection
from kinetree.liegroup.single_body import unified_rk4_step
from kinetree.simulation.components import HOOKS, Channel, StateReset
from kinetree.spatial import Inertia, Motion, Symmetric3, Transform, Vector3

ARM, START = kt.load("double_pendulum"), [1.0, 0.5]
WAYS = {
    "fixed step": {"integrator": "rk4"},
    "own adaptive method": {"integrator": kt.integrators.Adaptive("dp54", rtol=1e-6, atol=1e-6)},
    "explicit of SciPy": {"integrator": kt.integrators.Adaptive("scipy:RK45", rtol=1e-6, atol=1e-6)},
    "implicit of SciPy": {"integrator": kt.integrators.Adaptive("Radau", rtol=1e-6, atol=1e-6)},
}


def spoil(x):
    """What a computation in place does to an array that it was handed."""
    x *= 0.5
    return x


def zero(*arrays):
    """No force, after computing in place with what was handed over."""
    for x in arrays:
        spoil(x)
    return np.zeros(ARM.nv)


class Element:
    """Every hook that gets arrays, computing in place with one of them."""

    def __init__(self, hook: str, which: int) -> None:
        self.which = which
        setattr(self, hook, getattr(self, f"_{hook}"))

    def _joint_forces(self, t, q, v, tau):
        spoil((q, v, tau)[self.which])
        return tau

    def _after_step(self, step):
        spoil((step.q0, step.v0, step.q1, step.v1, step.tau)[self.which])

    def _wrap(self, stepper, system):
        which = self.which

        class Wrapped:
            name, order = "wrapped", 1

            def step(self, t, h, q, v, tau, f_ext):
                spoil((q, v, tau(t), *f_ext(t))[which])
                return stepper.step(t, h, q, v, tau, f_ext)

        return Wrapped()

    def _channels(self, run):
        spoil((run.time, run.q, run.v, run.a, run.tau, run.kinetic_energy, run.metadata.wrenches)[self.which])
        return {}


# Hooks that get arrays, and how many; the others get a model, a time, or what they returned themselves.
HOOKS_WITH_ARRAYS = {"joint_forces": 3, "after_step": 5, "wrap": 4, "channels": 7}
HOOKS_WITHOUT = {"prepare", "reset", "next_time", "after_reset", "get_state", "set_state"}


def integrator(which: int) -> type:
    """A fixed step of the user's own that computes in place with the state or the forces."""

    class Mine(RungeKutta4):
        name = "mine"

        def step(self, t, h, q, v, tau, f_ext):
            spoil((q, v, tau(t), *f_ext(t))[which])
            return super().step(t, h, q, v, tau, f_ext)

    return Mine


def _both(make: Callable) -> dict[str, dict]:
    return {"q": make(lambda q, v: spoil(q)), "v": make(lambda q, v: spoil(v))}


# Settings of a simulation in which code of the user computes in place, by what that code is.
PLACES = {
    **{f"controller {k}": {"controller": lambda t, q, v, k=k: zero((q, v)[k == "v"])} for k in "qv"},
    "sampled controller": {"controller": kt.control.Sampled(lambda t, q, v: zero(q), 0.01)},
    "late controller": {
        "controller": kt.control.Delayed(kt.control.Sampled(lambda t, q, v: zero(v), 0.01), 0.005)
    },
    "sum of controllers": {"controller": [lambda t, q, v: zero(), lambda t, q, v: zero(v)]},
    "wrench of the state": {"inputs": kt.Inputs(f_ext=lambda t, q, v: (spoil(q), np.zeros((ARM.nb, 6)))[1])},
    "function of an event": {"events": kt.Event(lambda t, q, v: float(spoil(q)[0]) + 9.0)},
    "action of an event": {
        "events": kt.Event(lambda t, q, v: t - 0.0153, action=lambda t, q, v: (q, spoil(v)))
    },
    **{f"element {hook} {n}": {"components": (hook, n)} for hook, count in HOOKS_WITH_ARRAYS.items()
       for n in range(count)},
    **{f"integrator {n}": {"integrator": integrator(n)} for n in range(4)},
}  # fmt: skip


def test_the_places_are_all_hooks():
    """Every hook of an element is either tried below or gets no arrays."""
    assert set(HOOKS) == set(HOOKS_WITH_ARRAYS) | HOOKS_WITHOUT


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
def test_user_code_cannot_write_to_the_state(place, way):
    """Computing in place is an error of the user's code, which says what to do, wherever it is called from."""
    settings = PLACES[place]
    if "components" in settings:
        settings = {"components": Element(*settings["components"])}
    fixed = place.startswith(("integrator", "element wrap"))
    if fixed and way != "fixed step":
        pytest.skip("a fixed step")
    # Wrenches of the time, so that there are arrays of them; a controller, so that a motion has forces.
    given = {"inputs": kt.Inputs(f_ext=np.zeros((ARM.nb, 6))), "controller": lambda t, q, v: np.ones(ARM.nv)}
    given |= WAYS[way] | settings
    with pytest.raises(ValueError, match="read-only") as error:
        _ = kt.simulate(ARM, START, duration=0.05, dt=0.005, **given).energy_balance
    if not place.startswith("element"):
        notes = "\n".join(getattr(error.value, "__notes__", ()))
        assert "kinetree: raised by" in notes and "compute on a copy" in notes


def test_a_force_on_a_single_body_cannot_write_to_its_velocities():
    """The steps of `kinetree.liegroup` hand out tuples."""

    def force(t, X, w):
        w[0] = 0.0
        return [0.0] * 6

    cube = Projection.hexahedral()
    body = Inertia.from_com(1.0, Vector3.zero(), Symmetric3.diagonal(1.0, 2.0, 3.0))
    w = cube.coordinates(Motion.of([0.0, 0.0, 2.0, 0.0, 0.0, 0.0]))
    with pytest.raises(TypeError, match="does not support item assignment"):
        unified_rk4_step(cube, body, 0.1, Transform.identity(), w, force=force)


class Doubling(Revolute):
    """A joint of the user's own that computes in place."""

    def transform(self, q):
        (angle,) = q
        angle *= 2.0
        return super().transform((angle,))


def test_an_interpreted_joint_cannot_write_to_the_inputs():
    """Over a batch the methods of joints get arrays: those of the caller, which stay as they are."""
    b = kt.ModelBuilder("doubling")
    b.add_body("arm", joint=Doubling((0.0, 1.0, 0.0)), mass=1.0, com=(0.3, 0.0, 0.0), inertia=np.eye(3))
    q = np.linspace(0.1, 0.9, 5)[:, None]
    before = q.copy()
    with kt.interpreted(), pytest.raises(ValueError, match="read-only"):
        kt.crba(b.build(), q)
    assert np.array_equal(q, before)


class Buffer:
    """A function that returns one buffer of its own every time, and fills it anew."""

    def __init__(self, make: Callable, shape) -> None:
        self.make, self.buffer = make, np.zeros(shape)

    def __call__(self, *arguments):
        self.buffer[...] = self.make(*arguments)
        return self.buffer


def spin(t, q, v):
    """Joint forces that differ from step to step."""
    return np.array([np.cos(40.0 * t), np.sin(40.0 * t) - q[0]])


def wind(t, *state):
    """Wrenches that differ from step to step."""
    wrenches = np.zeros((ARM.nb, 6))
    wrenches[-1, 3] = np.sin(50.0 * t)
    return wrenches


class MyStep(RungeKutta4):
    """A fixed step that returns buffers of its own."""

    name = "mine"

    def __init__(self, system) -> None:
        super().__init__(system)
        self.buffers = np.zeros(system.model.nq), np.zeros(system.model.nv)

    def step(self, t, h, q, v, tau, f_ext):
        for buffer, x in zip(self.buffers, super().step(t, h, q, v, tau, f_ext), strict=True):
            buffer[...] = x
        return self.buffers


class Jolt:
    """A component that changes the state once, and refills the buffers of its reset later."""

    def __init__(self, keeps: bool) -> None:
        self.keeps, self.q, self.v = keeps, np.zeros(2), np.zeros(2)

    def reset(self, simulation):
        self.done = False

    def after_step(self, step):
        self.q[...], self.v[...] = 7.0, 7.0
        if self.done or step.t1 < 0.02:
            return None
        self.done = True
        q, v = (self.q, self.v) if self.keeps else (np.zeros(2), np.zeros(2))
        q[...], v[...] = step.q1, 0.5 * step.v1
        return StateReset(step.t1, q, v, "jolt", before=step.v1)


class Shaper:
    """An element that returns one buffer of its own, in front of one that looks at it."""

    def __init__(self, keeps: bool) -> None:
        self.forces = Buffer(lambda t, tau: tau * (1.0 + t), 2) if keeps else lambda t, tau: tau * (1.0 + t)

    def joint_forces(self, t, q, v, tau):
        return self.forces(t, tau)


# Settings with a fresh result in every call, and with one buffer that is filled again and again.
BUFFERS = {
    "controller": (lambda: {"controller": spin}, lambda: {"controller": Buffer(spin, 2)}),
    "sampled controller": tuple(
        lambda make=make: {"controller": kt.control.Sampled(make(), 0.007)}
        for make in (lambda: spin, lambda: Buffer(spin, 2))
    ),
    "late controller": tuple(
        lambda make=make: {"controller": kt.control.Delayed(make(), 0.01)}
        for make in (lambda: spin, lambda: Buffer(spin, 2))
    ),
    "wrench of the state": (
        lambda: {"inputs": kt.Inputs(f_ext=lambda t, q, v: wind(t))},
        lambda: {"inputs": kt.Inputs(f_ext=(lambda b: lambda t, q, v: b(t))(Buffer(wind, (ARM.nb, 6))))},
    ),
    "wrench of the time": (
        lambda: {"inputs": kt.Inputs(f_ext=lambda t: wind(t))},
        lambda: {"inputs": kt.Inputs(f_ext=(lambda b: lambda t: b(t))(Buffer(wind, (ARM.nb, 6))))},
    ),
    "forces of the time": tuple(
        lambda make=make: {"inputs": kt.Inputs(tau=(lambda f: lambda t: f(t, START, 0.0))(make()))}
        for make in (lambda: spin, lambda: Buffer(spin, 2))
    ),
    "disturbance": tuple(
        lambda make=make: {"inputs": kt.Inputs(disturbance=(lambda f: lambda t: f(t, START, 0.0))(make()))}
        for make in (lambda: spin, lambda: Buffer(spin, 2))
    ),
    "integrator": (lambda: {"integrator": RungeKutta4}, lambda: {"integrator": MyStep}),
    "state reset": (lambda: {"components": Jolt(False)}, lambda: {"components": Jolt(True)}),
    "element": tuple(lambda keeps=keeps: {"controller": spin, "components": Shaper(keeps)} for keeps in (False, True)),
    "action": (
        lambda: {"events": kt.Event(lambda t, q, v: t - 0.021, action=lambda t, q, v: (q + 0.0, 0.5 * v))},
        lambda: {"events": kt.Event(lambda t, q, v: t - 0.021, action=(
            lambda b: lambda t, q, v: (q + 0.0, b(v)))(Buffer(lambda v: 0.5 * v, 2)))},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BUFFERS)
def test_a_result_is_copied(name):
    """A function that fills one buffer again and again gives the same run as one with fresh arrays, to the bit."""
    fresh, kept = (
        kt.simulate(ARM, START, duration=0.1, dt=0.005, **({"integrator": "rk4"} | make())) for make in BUFFERS[name]
    )
    for what in ("time", "q", "v", "a", "tau"):
        assert np.array_equal(getattr(fresh, what), getattr(kept, what)), what
    for what, values in fresh.energy_balance.channels.items():
        assert np.array_equal(values, kept.energy_balance.channels[what]), what


@pytest.mark.parametrize("name", ["wrench", "force"])
def test_constants_are_copied(name):
    """An array that was given as a constant may be changed after the simulation was made."""
    given = np.zeros((ARM.nb, 6)) if name == "wrench" else np.zeros(ARM.nv)
    sim = kt.Simulation(ARM, START, inputs=kt.Inputs(**{"f_ext" if name == "wrench" else "tau": given}))
    given += 100.0
    sim.advance(0.1)
    assert np.array_equal(sim.q, kt.simulate(ARM, START, duration=0.1).q[-1])


def test_the_answer_that_a_sampled_controller_holds_cannot_be_written_to():
    """A controller around a sampled one, which adds to its answer in place, would add to the sample again and again."""
    inner = kt.control.Sampled(lambda t, q, v: -q, 0.02)

    class Around:
        begin, next_time, reset = inner.begin, inner.next_time, inner.reset

        def __call__(self, t, q, v):
            tau = inner(t, q, v)
            tau += 1.0
            return tau

    with pytest.raises(ValueError, match="read-only"):
        kt.simulate(ARM, START, duration=0.05, controller=Around())


def _arrays(x, name="", seen=None):
    """The arrays among the fields of dataclasses, mappings and sequences, by what leads there."""
    seen = set() if seen is None else seen
    if isinstance(x, np.ndarray):
        yield name, x
    elif id(x) not in seen and not isinstance(x, (str, type, kt.Model)):
        seen.add(id(x))
        if dataclasses.is_dataclass(x):
            parts = ((field.name, getattr(x, field.name)) for field in dataclasses.fields(x))
        elif isinstance(x, dict):
            parts = x.items()
        elif isinstance(x, (list, tuple)):
            parts = enumerate(x)
        else:
            return
        for part, value in parts:
            yield from _arrays(value, f"{name}.{part}", seen)


class Heat:
    """A row of the energy balance from a buffer that the element keeps."""

    def channels(self, run):
        self.kept = np.zeros(len(run))
        return {"heat": Channel("power", self.kept)}


def _results():
    run = kt.simulate(
        ARM.replace(forces=(kt.forces.Motor(ARM.joint_names[0]),)),
        START,
        duration=0.02,
        inputs=kt.Inputs(f_ext={ARM.body_names[-1]: [0, 0, 0, 1, 0, 0]}, disturbance=lambda t: np.zeros(2)),
        events=kt.Event(lambda t, q, v: t - 0.01),
        controller=spin,
        components=Heat(),
    )
    _ = run.energy_balance
    q, v, a = (np.random.default_rng(0).normal(size=(30, 2)) for _ in range(3))
    return {
        "Trajectory": run,
        "part of a trajectory": run[::3],
        "resampled trajectory": run.resample(dt=0.003),
        "trajectories in sequence": kt.Trajectory.concatenate([run, run], tolerance=10.0),
        "FramePath": run.frame(ARM.body_names[-1]),
        "Quantity": [*run.channels.values(), run.channels["v"].derivative()],
        "RunComparison": run.compare(run),
        "Snapshot": kt.Simulation(ARM, START).save(),
        "Factorization": list(kt.dynamics.factorize(ARM, START).factors),
        "FourierTrajectory": kt.identify.FourierTrajectory(1.0, np.zeros(2), np.ones((2, 1)), np.ones((2, 1))),
        "Identification": kt.identify.fit(ARM, q, v, a, kt.rnea(ARM, q, v, a)),
    }


def test_arrays_of_results_are_read_only():
    """What later calls compute with is not changed in passing: arrays that a result keeps cannot be written to."""
    for what, result in _results().items():
        found = list(_arrays(result))
        assert found, what
        assert not [name for name, x in found if x.size and x.flags.writeable], what


def test_outputs_of_compiled_functions_are_fresh():
    """Results are the caller's own: writing to one changes neither the next nor what the function works with."""
    q = np.array([0.3, 0.2])
    for f in (lambda: kt.crba(ARM, q), lambda: kt.dynamics.factorize(ARM, q).solve(q), lambda: kt.rnea(ARM, q, q, q)):
        first = f()
        kept = first.copy()
        first[...] = np.nan
        assert np.array_equal(f(), kept)


def test_the_element_keeps_its_own_arrays():
    """Arrays that an element returns for the energy balance are copied: its own stay writable."""
    heat = Heat()
    run = kt.simulate(ARM, START, duration=0.01, components=heat)
    assert not run.energy_balance.powers["heat"].flags.writeable and heat.kept.flags.writeable
