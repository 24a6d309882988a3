"""kt.verify on sound mechanisms, its report, and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import kinetree as kt
from kinetree.cli import app
from kinetree.errors import ModelError
from kinetree.joints import Composite, Free, MovingFrame, Revolute, Sinusoid
from kinetree.verification.differences import derivative, steps
from kinetree.verification.plain import PRECISE, Plain, solve_symmetric
from kinetree.verification.states import States
from kinetree.verification.verify import all_checks
from tests.verification.test_damage import replaced


def robots():
    """Robots with everything that the dynamics know: a floating base, springs and friction, couplings, rotors."""
    yield kt.load("arm7")
    yield kt.load("quadruped", floating_base=True)
    yield kt.models.geared_arm()
    yield kt.models.satellite()
    yield kt.models.star(4)
    yield kt.models.double_pendulum().replace(damping=0.3, stiffness=2.0, dry_friction=0.1)
    b = kt.ModelBuilder.of(kt.models.puma_like())
    b.add_rotor("motor", joint="elbow", body="link2", ratio=50.0, axis=(0, 0, 1), axial_inertia=1e-4)
    yield b.build().replace(name="puma with a rotor")


@pytest.mark.parametrize("model", list(robots()), ids=lambda model: model.name)
def test_sound_robots_pass(model):
    """Nothing deviates; the worst rounding is within what follows from the sizes of the terms."""
    result = kt.verify(model, 4, fast=True)
    assert result.ok, str(result)
    assert all(row.ratio is None or row.ratio <= 1.0 for row in result)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_pass(seed):
    """Joints of every kind, fixed and floating, and such that depend on time."""
    model = kt.models.random_tree(5, seed=seed, floating=seed % 3 == 0, time_dependent=seed % 2 == 1)
    result = kt.verify(model, 3, seed=seed, fast=True)
    assert result.ok, str(result)


def test_compiled_passes_and_single_calls_are_the_bits_of_batches():
    """Machine code, of all methods, on a small arm."""
    result = kt.verify(kt.models.double_pendulum(), 5)
    assert result.ok, str(result)
    forms = {row.method: row for row in result if row.quantity == "forms"}
    assert forms["aba, compiled"].verdict == "ok"
    assert forms["rnea, batch"].deviation == 0.0


def test_far_from_the_origin_only_absolute_coordinates_lose_digits():
    """At 10 km rnea_world may be, and is, off by far more than body coordinates are."""
    b = kt.ModelBuilder("far")
    b.add_body(
        "first",
        joint=Revolute((0, 0, 1)),
        placement=((1e4, 0, 0), (0.1, 0.2, 0.3)),
        mass=1.0,
        com=(0.3, 0.1, 0),
        inertia=(0.1, 0.1, 0.1),
    )
    b.add_body("second", "first", Revolute((0, 1, 0)), placement=((0.5, 0, 0), (0, 0, 0)), mass=1.0, com=(0.3, 0, 0),
               inertia=(0.1, 0.1, 0.1))  # fmt: skip
    result = kt.verify(b.build(), 4, fast=True)
    assert result.ok, str(result)
    methods = {row.method: row for row in result if row.quantity.startswith("joint forces")}
    assert methods["rnea_world"].deviation > 1e2 * methods["rnea"].deviation


def test_a_base_on_a_moving_frame_does_not_float():
    """Its six velocities are relative to the frame: it is no floating base, and everything else holds."""
    frame = MovingFrame((Sinusoid(0.3, 2.0), 0.0, 0.0))
    b = kt.ModelBuilder("swimmer")
    b.add_body("hull", joint=Composite((frame, Free())), mass=2.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.25))
    b.add_body("fin", "hull", Revolute((0, 1, 0)), mass=0.5, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    model = b.build()
    assert model.nv_base == 0
    result = kt.verify(model, 3, fast=True)
    assert result.ok, str(result)


def test_what_does_not_apply_says_why():
    """Methods that invert bodies' inertias are left out for point masses, floating forms for fixed bases."""
    left_out = {
        row.method: row.note for row in kt.verify(kt.models.pendulum(), 2, fast=True) if row.verdict == "left out"
    }
    assert "point or a rod" in left_out["aba_inverse_inertias"]
    assert left_out["floating_base_forward_dynamics"] == "the base does not float"
    assert "not from a file" in left_out["mj_rne"] and left_out["in memory"] == "the model is not from a file"


def test_the_report_is_data():
    """Rows can be iterated, text is a table, JSON comes back; equal seeds give equal numbers."""
    model = kt.models.double_pendulum()
    result = kt.verify(model, 3, seed=7, fast=True)
    assert len(result) == len(list(result)) == len(all_checks())
    assert bool(result) is result.ok is True and result.off == ()
    assert str(result).splitlines()[0].startswith("quantity") and result.summary in str(result)
    data = json.loads(result.to_json())
    assert data["ok"] and len(data["rows"]) == len(result) and data["seed"] == 7
    assert result.to_markdown().count("\n") == len(result) + 1
    again = kt.verify(model, 3, seed=7, fast=True)
    assert [row.deviation for row in again] == [row.deviation for row in result]


def test_progress_is_told():
    """A callable hears of every check."""
    heard = []
    kt.verify(kt.models.pendulum(), 1, fast=True, progress=lambda *told: heard.append(told))
    assert [done for done, _, _ in heard] == list(range(len(all_checks())))


def test_nothing_to_verify_is_an_error():
    """No states."""
    with pytest.raises(ModelError, match="0 states;"):
        kt.verify(kt.models.pendulum(), 0)


# The command ---------------------------------------------------------------------------------------------------------


def test_the_command_prints_a_table_and_succeeds(tmp_path):
    """Exit code 0, a row for each method, JSON on request and in a file."""
    run = CliRunner().invoke(app, ["verify", "double_pendulum", "--fast", "--states", "2", "--all"])
    assert run.exit_code == 0, run.output
    assert "newton_euler" in run.output and "double_pendulum: all agree" in run.output
    path = tmp_path / "report.json"
    run = CliRunner().invoke(
        app, ["verify", "double_pendulum", "--fast", "--states", "2", "--json", "--save", str(path)]
    )
    assert json.loads(run.output)["result"]["ok"] and json.loads(path.read_text())["ok"]


def test_the_command_fails_with_code_1_if_something_is_off(monkeypatch):
    """And says what."""
    replaced(monkeypatch, "newton_euler", lambda tau: [-x for x in tau])
    run = CliRunner().invoke(app, ["verify", "double_pendulum", "--fast", "--states", "2", "--quiet"])
    assert run.exit_code == 1
    assert "newton_euler deviate at joint 'shoulder', joint 'elbow'" in run.output


# Its own tools -------------------------------------------------------------------------------------------------------


def test_the_plain_method_is_the_closed_form_of_a_pendulum():
    """tau = m l^2 a + m g l sin q."""
    model = kt.models.pendulum(length=0.7, mass=1.3)
    q, v, a = np.array([[0.4], [2.0]]), np.array([[1.0], [-2.0]]), np.array([[0.3], [0.2]])
    plain = Plain(model, q, v)
    expected = 1.3 * 0.7**2 * a + 1.3 * 9.81 * 0.7 * np.sin(q)
    assert np.allclose(plain.joint_forces(a).astype(float), expected, rtol=1e-14)
    assert np.allclose(plain.mass_matrix().astype(float), 1.3 * 0.49, rtol=1e-14)
    assert np.allclose(plain.kinetic_energy().astype(float), 0.5 * 1.3 * 0.49 * v[:, 0] ** 2, rtol=1e-14)


def test_the_tolerance_bounds_the_rounding_of_float32():
    """Rounding 2^29 times as large is within 2^29 times the tolerance: the bound is one on rounding, not on doubles."""
    model = kt.models.random_tree(8, seed=2)
    s = States(model, 20, 0, compiled=False)
    single = States.call(s, "rnea", *(x.astype(np.float32).astype(float) for x in (s.q, s.v, s.a, s.f_ext)))
    exact = np.abs(single - s.forces).astype(float)
    # Inputs rounded to 24 bits: a relative change of 6e-8 of every one of them, so that much of the terms.
    assert np.all(exact <= 2.0**29 * s.tolerances.forces(s.a))
    assert np.any(exact > s.tolerances.forces(s.a))


def test_solving_in_extended_precision():
    """A Hilbert matrix of condition 1e13 is solved to what extended precision leaves."""
    n = 9
    H = np.array([[1 / PRECISE(i + j + 1) for j in range(n)] for i in range(n)])[None]
    x = np.arange(1.0, n + 1)[None, :, None].astype(PRECISE)
    found = solve_symmetric(H, H @ x)
    assert np.abs(found - x).max() < 1e13 * np.finfo(PRECISE).eps


@pytest.mark.parametrize(
    "f", [np.sin, np.exp, lambda x: np.abs(x - 1e-4) ** 3, lambda x: np.abs(x - 3e-4) * (x - 3e-4)]
)
def test_differences_know_their_error(f):
    """At 0, for smooth functions and for such with a kink of the third or second derivative within the stencil."""
    exact = {np.sin: 1.0, np.exp: 1.0}.get(f)
    if exact is None:
        h = PRECISE(1e-9)
        exact = (f(h) - f(-h)) / (2 * h)
    found, error = derivative(f(steps()), 1.0)
    assert abs(found - exact) <= error
    assert error < 1e-3
