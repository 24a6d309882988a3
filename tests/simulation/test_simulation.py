"""A run as an object: pieces and wholes, snapshots, checkpoints and killed processes all give the same bits."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, FileFormatError, SimulationError
from kinetree.integrators import FIXED_STEP
from tests.analytic.mechanisms import pendulum, slider

TOP = kt.models.random_tree(4, 3, joints=[kt.joints.Spherical(), kt.joints.Revolute((0, 0, 1))], armature=False)


class Integral:
    """A controller with a memory, and noise of its own."""

    def __init__(self, nv):
        self.nv, self.sum, self.rng = nv, np.zeros(nv), np.random.default_rng(0)

    def reset(self):
        self.sum, self.rng = np.zeros(self.nv), np.random.default_rng(0)

    def __call__(self, t, q, v):
        self.sum = self.sum + 0.01 * v
        return -self.sum - 0.1 * v + 0.01 * self.rng.normal(size=self.nv)


def simulation(integrator="semi_implicit", **settings):
    rng = np.random.default_rng(5)
    q, v = TOP.random_q(rng), 0.3 * rng.normal(size=TOP.nv)
    return kt.Simulation(TOP, q, v, integrator=integrator, controller=Integral(TOP.nv), **settings)


def assert_same_bits(one, two):
    for name in ("time", "q", "v", "a", "tau", "kinetic_energy"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


@pytest.mark.parametrize("integrator", FIXED_STEP)
def test_pieces_and_restored_runs_have_the_bits_of_the_whole(integrator):
    """Every fixed step: one run of 150 steps; pieces and single steps; another object that takes up a pickled snapshot.

    The pieces end off the multiples of 64 steps at which rounding is removed.
    """
    whole = simulation(integrator)
    whole.advance(0.15)
    pieces = simulation(integrator)
    pieces.advance(0.04)
    for _ in range(30):
        pieces.step()
    snapshot = pickle.loads(pickle.dumps(pieces.save()))
    pieces.advance(0.08)
    other = simulation(integrator)
    other.restore(snapshot)
    other.advance(0.08)
    assert whole.time == pieces.time == other.time
    assert_same_bits(pieces.trajectory(), whole.trajectory())
    assert_same_bits(other.trajectory(), whole.trajectory())


@pytest.mark.parametrize("method", ["scipy:DOP853", "scipy:RK45", "Radau", "BDF", "LSODA", "dp54"])
def test_adaptive_runs_go_on_to_the_same_bits_between_advances(method):
    """An adaptive solver starts anew with every advance, so a snapshot taken between two of them misses nothing."""
    settings = {"integrator": kt.integrators.Adaptive(method, rtol=1e-6, atol=1e-6), "dt": 0.01}
    rng = np.random.default_rng(2)
    q, v = TOP.random_q(rng), rng.normal(size=TOP.nv)
    one, two = (kt.Simulation(TOP, q, v, **settings) for _ in range(2))
    one.advance(0.05)
    two.restore(one.save())
    for run in (one, two):
        run.advance(0.05)
    assert_same_bits(two.trajectory(), one.trajectory())


def test_simulate_is_the_short_form():
    """The same bits as the object, and as a rollout under constant forces."""
    model, q, v = pendulum(damping=0.1), [1.0], [0.3]
    run = kt.simulate(model, q, v, duration=0.3, integrator="rk4")
    one = kt.Simulation(model, q, v, integrator="rk4")
    one.advance(0.3)
    assert np.array_equal(one.trajectory().q, run.q) and run.time[-1] == 0.3
    rolled, _ = kt.rollout(model, q, v, None, 1e-3, steps=300, integrator="rk4")
    assert np.array_equal(rolled, run.q)


def test_going_back_in_one_object():
    """restore takes the same object back, controller, noise and samples included."""
    run = simulation()
    run.advance(0.05)
    snapshot = run.save()
    run.advance(0.05)
    first = run.trajectory()
    run.restore(snapshot)
    assert run.time == 0.05 and len(run.trajectory()) == 51
    run.advance(0.05)
    assert_same_bits(run.trajectory(), first)


def test_reading_a_trajectory_changes_nothing():
    """The controller is asked once for each instant, however often someone looks."""
    quiet, watched = simulation(), simulation()
    quiet.advance(0.1)
    for _ in range(10):
        watched.advance(0.01)
        watched.trajectory(), watched.tau, watched.save()
    assert_same_bits(watched.trajectory(), quiet.trajectory())


def test_snapshots_are_files(tmp_path):
    """Written, read and taken up; a broken file and one of something else are named."""
    run = simulation("rk4")
    run.advance(0.02)
    path = run.save().save(tmp_path / "state.ckpt")
    other = simulation("rk4")
    other.restore(path)
    assert np.array_equal(other.q, run.q) and os.listdir(tmp_path) == ["state.ckpt"]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileFormatError, match=r"state.ckpt: the snapshot cannot be read"):
        other.restore(path)
    path.write_text("something else")
    with pytest.raises(FileFormatError, match="not a snapshot"):
        other.restore(path)


def test_the_automatic_integrator_asks_what_is_stiff():
    """Order 4 where dt resolves the passive forces and stops; else the method that none of them makes unstable."""
    assert kt.Simulation(pendulum()).integrator == "rk4"
    for what in ("damping", "stiffness"):
        assert kt.Simulation(pendulum().replace(**{what: 0.1})).integrator == "rk4"
        assert kt.Simulation(pendulum().replace(**{what: 4e6})).integrator == "semi_implicit"
    assert kt.Simulation(pendulum().replace(dry_friction=0.1)).integrator == "semi_implicit"
    limited = pendulum().replace(lower=-1.0, upper=1.0)
    assert kt.Simulation(limited).integrator == "semi_implicit"
    assert kt.Simulation(limited.without_limits()).integrator == "rk4"
    sprung = limited.replace(stiffness=1.0)
    assert kt.Simulation(sprung).integrator == "rk4"  # stops of 50 rad/s
    assert kt.Simulation(sprung, dt=0.04).integrator == "semi_implicit"
    assert kt.Simulation(limited.with_constraints(kt.constraints.HardLimits())).integrator == "semi_implicit"


def test_a_snapshot_of_another_run_is_refused_by_what_differs():
    """Other numbers of the model, another integrator, another step."""
    snapshot = kt.Simulation(pendulum(), [1.0]).save()
    with pytest.raises(SimulationError, match="integrator 'rk4' there, 'semi_implicit' here; dt 0.001 there, 0.01"):
        kt.Simulation(pendulum(), [1.0], integrator="semi_implicit", dt=0.01).restore(snapshot)
    with pytest.raises(SimulationError, match="numbers of the model"):
        kt.Simulation(pendulum(mass=2.0), [1.0]).restore(snapshot)


def test_state_that_cannot_be_written_is_named(tmp_path):
    """A controller's state that pickle does not take is the controller's fault, and no file is left behind."""

    class Odd:
        def __call__(self, t, q, v):
            return np.zeros(1)

        def get_state(self):
            return {"f": type("Local", (), {})}

        def set_state(self, state):
            """Nothing."""

    run = kt.Simulation(pendulum(), [1.0], controller=Odd())
    with pytest.raises(SimulationError, match="get_state"):
        run.save().save(tmp_path / "x")
    assert not os.listdir(tmp_path)


def test_an_interrupted_run_can_be_read_and_goes_on():
    """Ctrl-C inside a controller: the state is that of the last whole step; the rest has the bits of a whole run."""

    class Impatient:
        left = 30

        def __call__(self, t, q, v):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return -v

    run, whole = (kt.Simulation(pendulum(), [1.0], controller=c) for c in (Impatient(), lambda t, q, v: -v))
    with pytest.raises(KeyboardInterrupt):
        run.advance(0.1)
    assert run.time == pytest.approx(0.029)
    run.advance(0.1 - run.time)
    whole.advance(0.1)
    assert_same_bits(run.trajectory(), whole.trajectory())


SCRIPT = """
import sys, numpy as np, kinetree as kt
sys.path.insert(0, {root!r})
from tests.simulation.test_simulation import TOP, Integral
class Slow(Integral):
    def __call__(self, t, q, v):
        if {slow} and t > 0.30:
            import time; print("ready", flush=True); time.sleep(60.0)
        return super().__call__(t, q, v)
rng = np.random.default_rng(5)
q, v = TOP.random_q(rng), 0.3 * rng.normal(size=TOP.nv)
run = kt.simulate(TOP, q, v, duration=0.5, integrator={integrator}, controller={controller},
                  checkpoint=kt.Checkpoint({checkpoint!r}, every=0.1), progress=False)
print(run.notes[-1] if run.notes else "")
np.savez({out!r}, time=run.time, q=run.q, v=run.v, tau=run.tau)
"""


@pytest.mark.parametrize(
    "integrator, method",
    [("semi_implicit", None), ("bdf2", None), ("adaptive", "dop853"), ("adaptive", "LSODA")],
)
def test_a_killed_run_goes_on_to_the_same_bits(integrator, method, tmp_path):
    """A process is killed in the middle of a run; another takes up its checkpoint: the bits of a run left alone.

    The controller has a memory; with adaptive methods it is sampled, because a continuous one may have none.
    """
    root = str(Path(__file__).parents[2])

    def script(name, slow, checkpoint):
        path = tmp_path / f"{name}.py"
        controller = "Slow(TOP.nv)"
        if integrator == "adaptive":
            controller = "kt.control.Sampled(Slow(TOP.nv), 0.01)"
        adaptive = f"kt.integrators.Adaptive({method!r}, rtol=1e-6, atol=1e-6)"
        path.write_text(SCRIPT.format(
            root=root, slow=slow, integrator=adaptive if method else repr(integrator), controller=controller,
            checkpoint=str(tmp_path / checkpoint), out=str(tmp_path / f"{name}.npz"),
        ))  # fmt: skip
        return [sys.executable, str(path)]

    process = subprocess.Popen(script("killed", True, "run.ckpt"), stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout.readline() == "ready\n"
    os.kill(process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    process.wait()
    assert not (tmp_path / "killed.npz").exists() and (tmp_path / "run.ckpt").exists()
    resume = script("resumed", False, "run.ckpt")
    done = subprocess.run(resume, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "continued from the checkpoint 'run.ckpt' at t = 0.3 s" in done.stdout
    assert not (tmp_path / "run.ckpt").exists()
    subprocess.run(script("alone", False, "other.ckpt"), capture_output=True, check=True, cwd=tmp_path)
    with np.load(tmp_path / "resumed.npz") as resumed, np.load(tmp_path / "alone.npz") as alone:
        assert len(alone["time"]) == 501
        for name in alone.files:
            np.testing.assert_array_equal(resumed[name], alone[name], err_msg=name)


def test_checkpoints_do_not_change_fixed_steps(tmp_path):
    """With and without checkpoints, also where these are no multiples of dt."""
    settings = {"duration": 0.2, "integrator": "rk4"}
    plain = kt.simulate(pendulum(), [1.0], **settings)
    saved = kt.simulate(pendulum(), [1.0], **settings, checkpoint=kt.Checkpoint(tmp_path / "c", every=0.05))
    assert_same_bits(saved, plain)
    odd = kt.simulate(pendulum(), [1.0], **settings, checkpoint=kt.Checkpoint(tmp_path / "c", every=0.0333))
    assert_same_bits(odd, plain)


def test_pieces_that_end_at_a_multiple_are_checkpointed(tmp_path):
    """A run in pieces as long as the distance of the checkpoints has one after each piece."""
    run = kt.Simulation(pendulum(), [1.0], integrator="rk4", checkpoint=kt.Checkpoint(tmp_path / "c", every=0.05))
    for k in range(1, 4):
        run.advance(0.05)
        assert kt.simulation.Snapshot.load(tmp_path / "c").time == pytest.approx(0.05 * k)


def test_every_without_a_checkpoint_is_an_error():
    """Half a setting is a slip."""
    with pytest.raises(ArgumentError, match=r"every is no option of its own; give checkpoint=kt.Checkpoint\("):
        kt.Simulation(pendulum(), every=0.1)


def test_a_piece_off_the_grid_makes_a_new_origin():
    """0.0105 s are ten steps and a half; steps count anew from there."""
    run = kt.Simulation(slider(), v0=[1.0], integrator="rk4")
    run.advance(0.0105)
    assert run.time == 0.0105
    run.advance(0.002)
    assert run.trajectory().time[-4:] == pytest.approx([0.010, 0.0105, 0.0115, 0.0125])
    assert run.q[0] == pytest.approx(0.0125, rel=1e-14)
    with pytest.raises(ArgumentError, match="duration is 0.0"):
        run.advance(0.0)


def test_long_runs_keep_time_without_drift():
    """100 000 single steps end where the product says, not where a sum of rounded steps would."""
    run = kt.Simulation(slider(), dt=1e-4, record=kt.Record(every=100_000))
    for _ in range(20_000):
        run.step()
    assert run.time == 20_000 * 1e-4


def test_a_failed_step_leaves_no_double_sample():
    """A force that fails once, within a step: the instant is recorded once, and the run goes on."""

    class Fails:
        left = 11

        def __call__(self, t):
            self.left -= 1
            if self.left == 0:
                raise OSError("once")
            return [1.0]

    run = kt.Simulation(slider(), inputs=kt.Inputs(tau=Fails()), integrator="rk4")
    with pytest.raises(OSError, match="once"):
        run.advance(0.02)
    run.advance(0.02 - run.time)
    assert np.array_equal(run.trajectory().time, 1e-3 * np.arange(21))


def test_errors_of_all_kinds_keep_the_trajectory():
    """A limit that may not be passed, in fixed steps and adaptive ones: what came before is there."""
    for integrator in ("rk4", "adaptive"):
        with pytest.raises(kt.errors.LimitError) as caught:
            model = slider(upper=0.5)
            monitor = kt.simulation.LimitMonitor(model)
            kt.simulate(model, v0=[1.0], duration=1.0, dt=0.01, integrator=integrator, components=[monitor])
        run = caught.value.trajectory
        assert 0.4 < run.time[-1] <= 0.51 and run.metadata.failed


def test_wrenches_with_a_memory_are_asked_once():
    """A force of the state that counts its calls: the record holds what acted, and looking changes nothing."""

    class Counts:
        calls = 0

        def __call__(self, t, q, v):
            self.calls += 1
            wrenches = np.zeros((2, 6))
            wrenches[1, 3] = self.calls
            return wrenches

    force = Counts()
    run = kt.Simulation(slider(2.0), inputs=kt.Inputs(f_ext=force), dt=0.01)
    run.advance(0.05)
    for _ in range(3):
        trajectory = run.trajectory()
    assert force.calls == 6 and trajectory.a[:, 0].tolist() == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert trajectory.metadata.wrenches[:, 1, 3].tolist() == [1, 2, 3, 4, 5, 6]
