"""The numbered scenes of REDMAX: published energies and end states, in every formulation that has some."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.scenes.accelerations import ACCELERATIONS
from kinetree.scenes.linkages import four_bar
from kinetree.scenes.runs import SCENES, formulations, run
from kinetree.scenes.trees import of_mesh_bodies
from kinetree.scenes.velocity_euler import VelocityEuler

ORDINARY = ("-1", "3", "6", "11", "12", "15", "24", "32", "d3", "d7", "d10", "d14")
DRIFT = 1e-6  # of the energy, relative to the largest kinetic energy
PUBLISHED = [(key, how) for key, scene in SCENES.items() for how in (*scene.expected, "redmax_euler")
             if how != "exact" and how in formulations(scene)]  # fmt: skip
EXACT = [key for key, scene in SCENES.items() if scene.has_exact_motion]
FIXED = ("rk4", "implicit_midpoint", "variational", "bdf2", "generalized_alpha")


def ordinary(values, key=lambda x: x):
    """Parameters of a test: some in the ordinary run, all in the sweep."""
    return [pytest.param(x, marks=() if key(x) in ORDINARY else pytest.mark.sweep, id=str(x)) for x in values]


@pytest.mark.parametrize("case", ordinary(PUBLISHED, key=lambda case: case[0]))
def test_published_ends(case):
    """Energies to 1e-7 relative, positions and velocities to the printed digits (1e-6 where the source's solver stops
    early): as in the source for all its implicit schemes."""
    found = run(*case)
    assert found.error < 1e-7
    assert found.state_error < max(2.0 * found.expected.tolerance, 1e-8)


@pytest.mark.parametrize("key", ordinary(EXACT))
def test_adaptive_runs_meet_exact_solutions(key):
    """Energy of unforced scenes constant; forced ones end as DOP853 of other programs."""
    found, scene = run(key), SCENES[key]
    if scene.conservative:
        assert found.drift < DRIFT
    if "exact" in scene.expected:
        assert found.error < 1e-7 and found.state_error < 1e-8


@pytest.mark.parametrize("name", ordinary(FIXED, key=lambda name: "-1" if name == "rk4" else ""))
def test_fixed_steps_approach_the_exact_end(name):
    """Scene 1 by methods of order 2 and more: half the step, at most a third of the error."""
    scene, errors = SCENES["1"], []
    exact = np.array(scene.expected["exact"].q)
    for dt in (2e-3, 1e-3):
        q0, v0 = scene.start
        found = kt.simulate(scene.model, q0, v0, duration=scene.duration, dt=dt, integrator=name)
        errors.append(np.abs(scene.in_source_order(found.q[-1]) - exact).max())
    assert errors[1] < errors[0] / 3.0


@pytest.mark.parametrize("key", ordinary(EXACT))
def test_accelerations_in_maximal_and_reduced_coordinates(key):
    """All bodies with all joints as constraints, and REDMAX, at states of the adaptive run: to 1e-8."""
    found, model = run(key), SCENES[key].model
    for formulation in ACCELERATIONS.values():
        accelerations = formulation(model)
        for n in np.linspace(0, len(found.time) - 1, 4).astype(int):
            t, now = float(found.time[n]), {"t": float(found.time[n])} if model.has_given_motions else {}
            state = found.q[n], found.v[n], SCENES[key].tau(t)
            a, scale = kt.forward_dynamics(model, *state, **now), 0.1 * np.abs(found.v[n]).max() ** 2
            assert accelerations(t, *state) == pytest.approx(a, abs=1e-8 * (scale + np.abs(a).max()))


@pytest.mark.sweep
@pytest.mark.parametrize("formulation", list(ACCELERATIONS))
@pytest.mark.parametrize("key", EXACT)
def test_runs_in_maximal_and_reduced_coordinates(key, formulation):
    """The motion of the adaptive run in joint coordinates; the energy of unforced scenes stays."""
    found, exact = run(key, formulation), run(key)
    assert found.drift < DRIFT or not found.scene.conservative
    assert found.q[-1] == pytest.approx(exact.q[-1], abs=1e-6)


@pytest.mark.parametrize("key", ordinary(("13", "32")))
def test_driven_scenes_converge_to_their_exact_motion(key):
    """Motions prescribed on velocities, and as joints that depend on time: 1/8 and 1/16 of the step, extrapolated."""
    scene, energies = SCENES[key], []
    for n in (8, 16):
        _, q, v = VelocityEuler(dataclasses.replace(scene, dt=scene.dt / n)).states()
        T, V = scene.energies(q[[0, -1]], v[[0, -1]])
        energies.append(T[1] + V[1] - V[0])
    exact = run(key).energy[-1]
    assert abs(2.0 * energies[1] - energies[0] - exact) < 0.1 * abs(energies[1] - exact)


def test_values_with_the_errors_of_the_source():
    """An upper limit that yields outward (6), damping that opposes the change of a rate (24), a moved vertex (26)."""

    class Outward:
        is_bound = True

        def __call__(self, model, q, t):
            k = model.coordinate("j2")
            beyond = abs(q[k]) >= math.pi / 4
            C, c = np.zeros((int(beyond), 2)), np.full(int(beyond), math.pi / 4 - q[k])
            C[:, k], c = np.sign(q[k]), np.where(q[k] > 0.0, c, -math.pi / 4 - q[k])
            return C, c, np.zeros(int(beyond))

    class Damped(VelocityEuler):
        def slip(self, D, v):
            return D @ v

    moved = of_mesh_bodies(
        6.000001,
        (-2.083333e-8, 1.666667e-7, 6.25e-8),
        (
            (6.500001675, 1.25e-7, 7.5e-8),
            (1.25e-7, 5.00000075, -3.75e-7),
            (7.5e-8, -3.75e-7, 2.500001075),
        ),
    )
    cases = (
        (VelocityEuler, dataclasses.replace(SCENES["6"], rows=(Outward(),)), 36957.4418737),
        (Damped, SCENES["24"], -18398.2926338097677),
        (VelocityEuler, dataclasses.replace(SCENES["26"], build=lambda: moved), 59.8820887155682),
    )
    for scheme, scene, published in cases:
        _, q, v = scheme(scene).states()
        T, V = scene.energies(q[[0, -1]], v[[0, -1]])
        assert T[1] + V[1] - V[0] == pytest.approx(published, rel=1e-9)


def test_the_linkage_closes_where_it_starts():
    """The lengths of the four-bar linkage of scene 32 come from Heron's formula: both ends of the loop coincide."""
    model = four_bar()
    ends = [kt.pose(model, SCENES["32"].start[0], frame=name).p_WF for name in ("end", "ground")]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


def test_command(tmp_path):
    """Scenes are listed; one is run beside the published results and drawn; others are refused by name."""
    runner = CliRunner()
    assert "d14" in runner.invoke(app, ["scenes"]).stdout
    shown = runner.invoke(app, ["scenes", "--plot", str(tmp_path / "a.png"), "d6"])
    assert shown.exit_code == 0 and "21283.33333" in shown.stdout and (tmp_path / "a.png").exists()
    found = json.loads(runner.invoke(app, ["scenes", "-1", "--formulation", "rk4", "--json"]).stdout)["result"]
    assert [x["formulation"] for x in found] == ["rk4"] and isinstance(found[0]["energy"], float)
    assert found[0]["expected"] is found[0]["drift"] is None
    with pytest.raises(kt.errors.UnsupportedError, match="one scene, or --all"):
        runner.invoke(app, ["scenes", "5", "--all", "--debug"], catch_exceptions=False)
    with pytest.raises(kt.errors.ArgumentError, match="expected runs of scene '-1'"):
        kt.scenes.plot_scene("-1", runs=[run("d6", "bdf1")])
    with pytest.raises(kt.errors.UnknownNameError, match="no scene named '99'"):
        run("99")
    with pytest.raises(kt.errors.UnknownNameError, match="'velocity_euler'"):
        run("d3", "velocity_euler")
    assert formulations(SCENES["9"]) == ("velocity_euler", "redmax_euler")
