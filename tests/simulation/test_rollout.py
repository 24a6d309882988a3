"""Rollouts: the motion of `simulate`, for many states at once, whatever the form of the inputs and the threads."""

from __future__ import annotations

import copy
import functools
import itertools
import pickle
import threading
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import Composite, Free, Prismatic, Revolute, Spherical
from kinetree.model.equipment import Equipment, LoopJoint
from kinetree.native import drivers
from kinetree.native import kernel as kernel_module

DT = 2e-3
INTEGRATORS = ("semi_implicit", "rk4")
both = pytest.mark.parametrize("integrator", INTEGRATORS)


@functools.cache
def walker():
    """A free base with a ball joint and hinges: damping, springs, dry friction, a stop, an armature and a coupling."""
    rng = np.random.default_rng(5)
    b = kt.ModelBuilder("walker")
    parts = [("base", "world", Free(), {}), ("thigh", "base", Spherical(), {"damping": 0.05}),
             ("shank", "thigh", Revolute((0, 1, 0)), {"stiffness": 2.0, "armature": 0.02, "dry_friction": 0.1}),
             ("tail", "base", Revolute((1, 0, 0)), {"lower": -0.2, "upper": 0.3, "limit_stiffness": 50.0,
                                                    "limit_damping": 0.5}),
             ("tip", "tail", Prismatic((0, 0, 1)), {})]  # fmt: skip
    for name, parent, joint, passive in parts:
        A = rng.normal(size=(3, 3)) * 0.1
        b.add_body(name, parent, joint, f"{name}_joint", placement=(rng.uniform(-0.4, 0.4, 3), rng.uniform(-1, 1, 3)),
                   mass=rng.uniform(0.5, 2.0), com=rng.uniform(-0.2, 0.2, 3),
                   inertia=np.trace(A @ A.T) * np.eye(3) - A @ A.T, **passive)  # fmt: skip
    b.add_coupling("tip_joint", "tail_joint", ratio=0.4, offset=0.1)
    return b.build()


@functools.cache
def inputs(model, n: int, steps: int, seed: int = 0):
    """Random states inside limits and couplings, and forces of every state in every step."""
    rng = np.random.default_rng(seed)
    q = np.array([model.random_q(rng) for _ in range(n)])
    v, tau = 0.5 * rng.standard_normal((n, model.nv)), rng.standard_normal((n, steps, model.nv))
    q, v = kt.kinematics.apply_couplings(model, q, v)
    return q, v, tau


def simulated(model, q, v, tau, integrator, **options):
    """The same motion by `simulate`, with a controller that holds the forces of each step."""
    held = itertools.chain(tau, tau[-1:])
    run = kt.simulate(model, q, v, duration=len(tau) * DT, dt=DT, integrator=integrator,
                      controller=lambda t, q, v: next(held), **options)  # fmt: skip
    return run.q, run.v


def close(found, expected, tolerance=1e-12):
    """Equal to rounding, relative to the largest entry: both sides do the same operations, but for some that fold."""
    for x, y in zip(found, expected, strict=True):
        assert x.shape == y.shape
        assert np.abs(x - y).max() <= tolerance * max(1.0, np.abs(y).max())


def same(found, expected):
    """Equal to the last bit."""
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y, strict=True)


# The motion ----------------------------------------------------------------------------------------------------------


@both
def test_a_rollout_is_the_motion_of_simulate(integrator):
    """Every state and step, with everything that a model may hold: passive forces, a stop, a coupling."""
    model = walker()
    q, v, tau = inputs(model, 3, 130)
    Q, V = kt.rollout(model, q, v, tau, DT, integrator=integrator)
    for k in range(3):
        close((Q[k], V[k]), simulated(model, q[k], v[k], tau[k], integrator))


@pytest.mark.parametrize("seed", range(4))
def test_a_rollout_is_the_motion_of_simulate_on_random_trees(seed):
    """Trees with joints of all kinds, of which some float."""
    model = kt.models.random_tree(4 + seed, seed=seed, floating=seed % 2 == 0)
    q, v, tau = inputs(model, 2, 30)
    for integrator in ("auto", "semi_implicit"):
        Q, V = kt.rollout(model, q, v, tau, DT, integrator=integrator)
        for k in range(2):
            close((Q[k], V[k]), simulated(model, q[k], v[k], tau[k], integrator))


@both
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 7, 8, 19, 64])
def test_a_rollout_is_the_step_repeated(n, dtype, integrator):
    """To the last bit: a tile in machine code, a tile that is not full, and calls of the step from Python."""
    model = walker()
    q, v, tau = (x.astype(dtype) for x in inputs(model, n, 12))
    q = kt.normalize(model, q)
    found = kt.rollout(model, q, v, tau, DT, integrator=integrator)
    step, h = kt.compile(model, f"{integrator}_step"), np.array(DT, dtype)
    Q, V = [q], [v]
    for t in range(12):
        q, v = step(q, v, np.ascontiguousarray(tau[:, t]), h)
        Q.append(q)
        V.append(v)
    same(found, (np.stack(Q, 1), np.stack(V, 1)))
    assert found.q.dtype == dtype


@both
def test_interpreted_and_in_extended_precision(integrator):
    """The same source without a compiler gives the same motion; in extended precision it differs by rounding only."""
    model = walker()
    q, v, tau = inputs(model, 3, 20)
    found = kt.rollout(model, q, v, tau, DT, integrator=integrator, record=kt.Record(every=5))
    with kt.interpreted():
        close(kt.rollout(model, q, v, tau, DT, integrator=integrator, record=kt.Record(every=5)), found)
    extended = kt.rollout(model, q, v, tau, DT, integrator=integrator, record=kt.Record(every=5), dtype=np.longdouble)
    assert extended.q.dtype == np.longdouble
    close(found, extended)


@pytest.mark.parametrize("integrator, order", [("semi_implicit", 1), ("rk4", 4)])
def test_energy_of_the_double_pendulum(integrator, order):
    """The energy's largest error over 1 s falls as dt^order (semi-implicit Euler) or faster (Runge-Kutta)."""
    model = kt.models.double_pendulum()
    q0, drift = np.array([[1.0, 0.5], [2.0, -1.0]]), []
    for steps in (200, 400, 800):
        q, v = kt.rollout(model, q0, None, None, 1.0 / steps, steps=steps, integrator=integrator)
        energy = kt.kinetic_energy(model, q, v) + kt.potential_energy(model, q)
        drift.append(np.abs(energy - energy[:, :1]).max())
    measured = np.log2(np.array(drift[:-1]) / np.array(drift[1:]))
    assert np.all(measured > order - 0.2) and np.all(measured < order + 1.3), measured
    assert drift[-1] < (0.2 if order == 1 else 1e-6)


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-15), ("float32", 5e-7)])
def test_constraints_of_the_state_hold_over_long_rollouts(dtype, tolerance):
    """After 20 000 steps quaternions have length 1 and coupled joints stand where their masters say, to rounding."""
    model = walker()
    q, v, _ = (x.astype(dtype) for x in inputs(model, 8, 1))
    q = kt.normalize(model, q)
    Q, V = kt.rollout(model, q, v, None, 1e-3, steps=20_000, record=kt.Record(every=20_000))
    last = Q[:, -1].astype(float)
    for joint in (model.joint("base_joint"), model.joint("thigh_joint")):
        quaternion = last[:, model.q_slice[joint]][:, -4:]
        assert np.abs(np.linalg.norm(quaternion, axis=1) - 1.0).max() < tolerance
    tail, tip = (last[:, model.q_index(name)].ravel() for name in ("tail_joint", "tip_joint"))
    assert np.abs(tip - (0.4 * tail + 0.1)).max() < tolerance
    assert np.abs(V[:, -1, -1] - 0.4 * V[:, -1, -2]).max() < tolerance * max(1.0, np.abs(V[:, -1]).max())


# Forms of the inputs -------------------------------------------------------------------------------------------------


def test_inputs_of_every_shape():
    """None, constants, inputs over time, of every state or of all: each is the same as the full array."""
    model = walker()
    n, steps, nv = 10, 6, model.nv
    q, v, tau = inputs(model, n, steps)
    roll = kt.simulation.Rollout(model)
    over_time, constants = tau[0], tau[:, 0]
    forms = [
        (None, np.zeros((n, steps, nv))),
        (constants[0], np.broadcast_to(constants[0], (n, steps, nv))),
        (over_time, np.broadcast_to(over_time, (n, steps, nv))),
        (over_time[None], np.broadcast_to(over_time, (n, steps, nv))),
        (constants, np.broadcast_to(constants[:, None], (n, steps, nv))),
        (constants[:, None], np.broadcast_to(constants[:, None], (n, steps, nv))),
        (tau.tolist(), tau),
        (np.asfortranarray(tau), tau),
        (tau[:, ::-1], np.ascontiguousarray(tau[:, ::-1])),
    ]
    for given, full in forms:
        expected = roll(q, v, np.ascontiguousarray(full), DT)
        same(roll(q, v, given, DT, steps=steps), expected)
        if np.ndim(given) == 3 and np.shape(given)[-2] == steps:
            same(roll(q, v, given, DT), expected)


def test_one_start_and_many_inputs():
    """Leading axes broadcast: states of shape (3, 1), inputs of (4, T), and the other way round; single rollouts."""
    model = walker()
    q, v, tau = inputs(model, 4, 5)
    roll = kt.simulation.Rollout(model)
    full = roll(np.repeat(q[:3], 4, axis=0), np.repeat(v[:3], 4, axis=0), np.tile(tau, (3, 1, 1)), DT)
    grid = roll(q[:3, None], v[:3, None], tau, DT)
    assert grid.q.shape == (3, 4, 6, model.nq)
    same((grid.q.reshape(12, 6, -1), grid.v.reshape(12, 6, -1)), full)
    same(roll(q[0], v[0], tau, DT), (grid.q[0], grid.v[0]))
    same(roll(q[0], v[0], tau[2], DT), (grid.q[0, 2], grid.v[0, 2]))
    same(roll(q[:, None], v[2], tau[:, None], DT)[1], roll(q, np.tile(v[2], (4, 1)), tau, DT).v[:, None])


@both
def test_external_wrenches(integrator):
    """As an array over time and by name of the body, against `simulate`."""
    model = walker()
    q, v, tau = inputs(model, 3, 8)
    rng = np.random.default_rng(3)
    f_ext = np.zeros((3, 8, model.nb, 6))
    f_ext[:, :, model.body("shank")] = wrench = rng.normal(size=(3, 8, 6))
    found = kt.rollout(model, q, v, tau, DT, f_ext=f_ext, integrator=integrator)
    same(kt.rollout(model, q, v, tau, DT, f_ext={"shank": wrench}, integrator=integrator), found)
    assert np.abs(found.v - kt.rollout(model, q, v, tau, DT, integrator=integrator).v).max() > 1e-3
    constant = kt.rollout(model, q, v, tau, DT, f_ext=f_ext[0, 0], integrator=integrator)
    close(
        (constant.q[1], constant.v[1]),
        simulated(model, q[1], v[1], tau[1], integrator, inputs=kt.Inputs(f_ext=f_ext[0, 0])),
    )
    same(kt.rollout(model, q, v, tau, DT, f_ext=f_ext[:, :1], integrator=integrator),
         kt.rollout(model, q, v, tau, DT, f_ext=np.repeat(f_ext[:, :1], 8, axis=1), integrator=integrator))  # fmt: skip


def test_every_and_out():
    """Every third state is recorded; given arrays are filled, also strided ones and ones that hold the inputs."""
    model = walker()
    q, v, tau = inputs(model, 9, 12)
    full = kt.rollout(model, q, v, tau, DT)
    sparse = (full.q[:, ::3].copy(), full.v[:, ::3].copy())
    same(kt.rollout(model, q, v, tau, DT, record=kt.Record(every=3)), sparse)
    same(kt.rollout(model, q, v, tau, DT, record=kt.Record(every=12)), (full.q[:, ::12], full.v[:, ::12]))
    out = np.full((9, 5, model.nq), np.nan), np.full((5, 9, model.nv), np.nan).transpose(1, 0, 2)
    result = kt.rollout(model, q, v, tau, DT, record=kt.Record(every=3), out=out)
    assert result.q is out[0] and result.v is out[1]
    same(result, sparse)
    overlapping = np.empty((9, 5, model.nq))
    start = overlapping.reshape(45, -1)[:9]  # records of the first states come to stand where the others start
    start[:] = q
    same(kt.rollout(model, start, v, tau, DT, record=kt.Record(every=3), out=(overlapping, out[1])), sparse)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 9, 100])
def test_the_number_of_threads_changes_no_bit(n, dtype, monkeypatch):
    """Tiles are shared by any number of threads; each state is computed by the same code."""
    model = walker()
    arrays = [x.astype(dtype) for x in inputs(model, n, 20)]
    arrays[0] = kt.normalize(model, arrays[0])
    monkeypatch.setattr(kernel_module, "WORTH", 0.0)
    used, together = [], drivers.threads.together
    monkeypatch.setattr(drivers.threads, "together", lambda work, k: used.append(k) or together(work, k))
    expected = kt.rollout(model, *arrays, DT, threads=1)
    for count in (2, 3, 8):
        same(kt.rollout(model, *arrays, DT, threads=count), expected)
    lanes = kernel_module.Target.host().vector_bytes // np.dtype(dtype).itemsize
    assert used == [min(count, -(-n // lanes)) for count in (1, 2, 3, 8)]  # no more than there are tiles


def test_other_python_threads_run_during_a_rollout():
    """The GIL is let go: a thread that counts goes on counting."""
    model = kt.models.double_pendulum()
    roll, q0 = kt.simulation.Rollout(model, threads=1), np.ones((512, 2))
    roll(q0, None, None, DT, steps=1)
    stamps, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            stamps.append(time.perf_counter())
            time.sleep(0.0005)

    counter = threading.Thread(target=count)
    counter.start()
    try:
        inside = []
        for _ in range(5):
            start = time.perf_counter()
            roll(q0, None, None, 1e-4, steps=3000, record=kt.Record(every=3000))
            end = time.perf_counter()
            inside.append(sum(start + 0.1 * (end - start) < t < end - 0.1 * (end - start) for t in stamps))
    finally:
        stop.set()
        counter.join()
    assert max(inside) >= 3


def test_no_states_and_float32():
    """An empty batch gives empty arrays; float32 in gives float32 out, and dtype= decides where it is given."""
    model = walker()
    q, v, tau = inputs(model, 4, 5)
    Q, V = kt.rollout(model, q[:0], v[:0], tau[0], DT)
    assert (Q.shape, V.shape) == ((0, 6, model.nq), (0, 6, model.nv))
    single = [x.astype("float32") for x in (q, v, tau)]
    assert kt.rollout(model, *single, DT).q.dtype == np.float32
    assert kt.rollout(model, single[0], v, single[2], DT).q.dtype == np.float64
    same(kt.rollout(model, q, v, tau, DT, dtype="float32"), kt.rollout(model, *single, DT))


# Limits, parameters, copies ------------------------------------------------------------------------------------------


def rail(**options):
    """A mass of 2 kg on a vertical rail between -0.5 and 1 m."""
    b = kt.ModelBuilder("rail")
    b.add_body("mass", joint=Prismatic((0, 0, 1)), joint_name="rail", mass=2.0, inertia=np.eye(3), lower=-0.5,
               upper=1.0, **options)  # fmt: skip
    return b.build()


@both
def test_soft_stops_are_those_of_simulate(integrator):
    """At limits without a stop: the same stops as in a simulation from the default position, so the same motion."""
    run = kt.simulate(rail(), duration=1.0, dt=DT, integrator=integrator)
    q, v = kt.rollout(rail(), np.zeros(1), None, None, DT, steps=500, integrator=integrator)
    assert run.q[:, 0].min() < -0.51
    close((q, v), (run.q, run.v))
    assert kt.simulation.Rollout(rail()).model.limit_stiffness.tolist() == run.model.limit_stiffness.tolist()
    own = rail(limit_stiffness=1e4, limit_damping=300.0)
    assert kt.simulation.Rollout(own).model is own
    q, _ = kt.rollout(rail(), np.full(1, -0.6), None, None, DT, steps=500)  # a start beyond the limit is pushed back
    assert -0.51 < q[-1, 0] < -0.5


@both
@pytest.mark.parametrize("stop", [{}, {"limit_stiffness": 1e4, "limit_damping": 300.0}])
def test_states_beyond_limits_are_found(stop, integrator):
    """Without limits they are passed; a monitor finds the states beyond them, of single rollouts and of batches."""
    model = rail(**stop)
    q, _ = kt.rollout(model.without_limits(), np.zeros(1), None, None, 0.01, steps=100, integrator=integrator)
    first = int(np.argmax(q[:, 0] < -0.5))
    assert first == 32
    margin = kt.simulation.LimitMonitor(model).margin
    assert int(np.argmax(margin(q) < 0.0)) == first and margin(q[:3]).min() > 0.4
    batch = np.stack((q, 0.0 * q))
    assert margin(batch).shape == batch.shape[:2] and (margin(batch)[1] == 0.5).all()
    assert margin(np.array([1.5])) == pytest.approx(-0.5)


@both
def test_other_parameters(integrator):
    """One set is the rollout of the model with those numbers; a set for every state is each state with its own."""
    model = walker()
    q, v, tau = inputs(model, 10, 6)
    roll = kt.simulation.Rollout(model, integrator)
    rotors = np.linspace(0.01, 0.5, 10)
    one = roll.with_parameters({"shank_joint.armature": rotors[3]})
    assert one.model.armature[9] == rotors[3]
    close(one(q, v, tau, DT), kt.simulation.Rollout(one.model, integrator)(q, v, tau, DT))
    many = roll.with_parameters({"shank_joint.armature": rotors})(q, v, tau, DT)
    close((many.q[3], many.v[3]), (one(q, v, tau, DT).q[3], one(q, v, tau, DT).v[3]))
    assert np.abs(many.v[4] - one(q, v, tau, DT).v[4]).max() > 1e-4
    both_changed = roll.with_parameters({"gravity.z": -1.6}).with_parameters({"shank_joint.armature": rotors[3]})
    assert (both_changed.model.gravity.z, both_changed.model.armature[9]) == (-1.6, rotors[3])
    grid = roll.with_parameters({"shank_joint.armature": rotors})(q[0], v[0], tau[0], DT)
    assert grid.q.shape == (10, 7, model.nq)
    close((grid.q[3], grid.v[3]), one(q[0], v[0], tau[0], DT))


def test_parameters_of_another_model_without_stops():
    """Another model gets its stops by the same rule before its numbers are taken."""
    heavy = rail().replace(gravity=(0.0, 0.0, -1.0))
    roll = kt.simulation.Rollout(rail()).with_parameters(heavy)
    same(roll(np.zeros(1), None, None, DT, steps=900), kt.rollout(heavy, np.zeros(1), None, None, DT, steps=900))


def test_copies_and_pickles_compute_the_same():
    """A Rollout goes to another process by its model and choices."""
    model = walker()
    q, v, tau = inputs(model, 3, 4)
    roll = kt.simulation.Rollout(model, "rk4", checks=False, threads=2).with_parameters(
        {"gravity.z": -1.6}
    )
    for other in (pickle.loads(pickle.dumps(roll)), copy.deepcopy(roll)):
        assert (other.integrator, other.checks, other.threads) == ("rk4", False, 2)
        same(other(q, v, tau, DT), roll(q, v, tau, DT))
    assert "rk4" in repr(roll) and "walker" in repr(roll)


# Errors --------------------------------------------------------------------------------------------------------------


def test_what_is_wrong_is_named():
    """Shapes, numbers and choices: the message says what was found and what was expected."""
    model = walker()
    q, v, tau = inputs(model, 6, 6)
    longer = inputs(model, 6, 8)[2]
    cases = [
        ((q[:, :-1], v, tau, DT), {}, "rollout: q0 has shape .6, 13., expected"),
        ((q, q, tau, DT), {}, "rollout: v0 has shape"),
        ((q, v, tau[..., 1:], DT), {}, "rollout: tau has shape .6, 6, 11., expected"),
        ((q, v, tau[:5], DT), {}, "leading axes do not broadcast together .q0 and v0: .6,., tau: .5,.; 6 steps"),
        ((q, v, tau, DT), {"steps": 5}, "tau has shape .6, 6, 12., expected .*, 5, 12. for 5 steps, or .6, 12"),
        ((q, v, tau[0], DT), {"steps": 6}, "could be one row per step or one per state. .* .6, 1, 12. .* .1, 6, 12."),
        ((q, v, None, DT), {}, "the number of steps is needed: steps="),
        ((q, v, tau[0, 0], DT), {}, "the number of steps is needed: steps="),
        ((q, v, tau, DT), {"steps": 0}, "steps is 0, expected a positive whole number"),
        ((q, v, tau[:, :0], DT), {}, "their axis of time is empty"),
        ((q, v, tau, DT), {"f_ext": np.zeros((3, model.nb, 6))}, "different numbers of steps"),
        ((q, v, tau, DT), {"f_ext": np.zeros((model.nb, 5))}, "rollout: f_ext has shape"),
        ((q, v, longer, DT), {"record": kt.Record(every=3)}, "8 steps are no multiple of the 3 .* take 6 steps"),
        ((q, v, tau, DT), {"every": 3}, r"rollout: every is no option of its own; give .*kt.Record\(every=...\)"),
        ((q, v, tau, DT), {"record": kt.Record(period=0.0013)}, "period = 0.0013 s is not a multiple of dt"),
        ((q, v, tau, 0.0), {}, "dt is 0.0, expected a positive time"),
        ((q, v, tau, np.nan), {}, "dt is nan, expected a positive time"),
        ((q, v, tau, DT), {"dtype": "float16"}, "dtype is float16, expected float64, float32"),
        ((q, v, tau, DT), {"out": (q, v)}, "out for q must be a writable array of shape .6, 7, 14. and type float64"),
        ((q, v, tau, DT), {"out": q}, r"out needs a tuple of 2 arrays \(q, v\)"),
        ((q, v, tau, DT), {"integrator": "rk_4"}, "no fixed-step integrator named 'rk_4'.* Did you mean 'rk4'"),
        ((q, v, tau, DT), {"limits": "raise"}, "limits is no option of its own; give .*LimitMonitor"),
        ((q, v, tau, DT), {"f_ext": {"shin": np.zeros(6)}}, "no body named 'shin'"),
    ]  # fmt: skip
    for arguments, options, message in cases:
        with pytest.raises(kt.errors.KinetreeError, match=message):
            kt.rollout(model, *arguments, **options)


def test_what_is_no_model_or_number_of_threads_is_named():
    """When the rollout is made, by either name; and results that cannot be written."""
    for make in (lambda x, **named: kt.rollout(x, [0.0], None, None, DT, steps=2, **named), kt.simulation.Rollout):
        with pytest.raises(TypeError, match=r"ollout: model is 'pole', expected a Model, kt.load\('pole'\)"):
            make("pole")
        with pytest.raises(ValueError, match="threads is 0, expected a whole number above 0"):
            make(kt.models.pendulum(), threads=0)
    out = np.zeros((3, 1)), np.broadcast_to(0.0, (3, 1))
    with pytest.raises(kt.errors.ShapeError, match=r"out for v must be .* found shape \(3, 1\), float64, read-only"):
        kt.rollout(kt.models.pendulum(), [0.0], None, None, DT, steps=2, out=out)


def test_a_start_that_is_none_of_this_model():
    """NaN, quaternions that are not unit, broken couplings: refused at the start, with the state's number."""
    model = walker()
    q, v, tau = inputs(model, 20, 4)
    start = "^rollout, at the start: semi_implicit_step at batch index 13: "
    cases = (
        (0, np.nan, kt.errors.NonFiniteError, r"q\[0\] is nan"),
        (4, 2.0, kt.errors.QuaternionError, "the quaternion of joint 'base_joint' in q has length"),
        (12, 5.0, kt.errors.CouplingError, "q breaks the coupling tip_joint"),
    )
    for entry, value, error, message in cases:
        bad = q.copy()
        bad[13, entry] = value
        with pytest.raises(error, match=start + message):
            kt.rollout(model, bad, v, tau, DT)
        with kt.interpreted(), pytest.raises(error, match=start + message):
            kt.rollout(model, bad, v, tau, DT)


@both
@pytest.mark.parametrize("step", [0, 7, 19])
def test_inputs_that_are_not_finite(step, integrator):
    """NaN in the forces of one state and step, also of the last: an error that names them; never a finite number."""
    model = walker()
    q, v, tau = inputs(model, 20, 20)
    tau = tau.copy()
    tau[13, step, 2] = np.nan
    when = "at the start" if step == 0 else rf"at step {step} \(t"
    with pytest.raises(kt.errors.NonFiniteError, match=rf"^rollout, {when}.*batch index 13: tau\[2\] is nan"):
        kt.rollout(model, q, v, tau, DT, integrator=integrator, record=kt.Record(every=20))
    good, bad = (kt.rollout(model, q, v, np.nan_to_num(tau), DT, integrator=integrator),
                 kt.rollout(model, q, v, tau, DT, integrator=integrator, checks=False))  # fmt: skip
    others = np.arange(20) != 13
    same([x[others] for x in bad], [x[others] for x in good])
    same([x[13, : step + 1] for x in bad], [x[13, : step + 1] for x in good])
    assert np.isnan(bad.v[13, step + 1 :]).any(axis=-1).all()


@both
def test_a_motion_that_blows_up(integrator):
    """An explosion is an error that names state, step and coordinate, also when only the last state has overflowed."""
    model = kt.models.pendulum()
    tau = np.zeros((12, 6, 1))
    tau[7, 3] = 1.7e308
    with pytest.raises(kt.errors.SimulationError) as caught:
        kt.rollout(model, np.ones(1), None, tau, 1e3, integrator=integrator)
    first = caught.value.step
    assert caught.value.state == (7,) and first > 3
    assert f"the motion of state 7 is no longer finite after step {first}" in str(caught.value)
    with pytest.raises(kt.errors.SimulationError, match=f"after step {first} "):
        kt.rollout(model, np.ones(1), None, tau[:, :first], 1e3, integrator=integrator)
    kt.rollout(model, np.ones(1), None, tau[:, : first - 1], 1e3, integrator=integrator)
    q, v = kt.rollout(model, np.ones(1), None, tau, 1e3, integrator=integrator, checks=False)
    assert not np.isfinite(q[7, first:]).all() or not np.isfinite(v[7, first:]).all()
    assert np.isfinite(np.delete(v, 7, axis=0)).all()


def test_physics_that_is_not_computed_is_refused():
    """A loop joint without implicit form: the complete dynamics refuse it, and so does a rollout."""
    pendulum = kt.models.double_pendulum()
    loop = LoopJoint("loop", Composite((Revolute(), Revolute())), *pendulum.body_names[::2])
    model = pendulum.replace(equipment=Equipment(loops=(loop,)))
    with pytest.raises(kt.errors.UnsupportedError, match="has parts that the complete dynamics do not compute yet"):
        kt.rollout(model, np.zeros(2), None, None, DT, steps=2)
    same(kt.rollout(model.without_unsupported(), np.ones(2), None, None, DT, steps=2),
         kt.rollout(pendulum, np.ones(2), None, None, DT, steps=2))  # fmt: skip
