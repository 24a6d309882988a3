"""Islands of steps that sweeps leave unsolved, against the step of many sweeps."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import HardLimits, StickingFriction
from kinetree.integrators import contact_islands
from kinetree.integrators.contact_islands import ContactIslands
from kinetree.integrators.system import System
from kinetree.model import Geometry
from tests.forces.user_elements import Thruster
from tests.time_stepping.test_exact import on_floor, settled, sprung
from tests.time_stepping.test_forces import leg

DT, TOLERANCE = 1e-3, 1e-10


@pytest.fixture(scope="module")
def standing():
    """A quadruped with dry friction and a limit that holds, on two balls, and the last step of its settling."""
    legs = sprung(kt.load("quadruped").replace(dry_friction=0.4))
    legs = legs.replace(lower={"FL_knee": -1.35}, limit_stiffness={"FL_knee": 10.0})
    model = on_floor(legs, ["FR_shank", "RR_shank"], -0.33)
    model = model.with_constraints(StickingFriction(), HardLimits())
    tau = np.array([0.0, 0.0, -4.0, *3.0 * np.random.default_rng(0).standard_normal(9)])
    before, _ = settled(model, np.tile([0.1, 0.7, -1.3], 4), np.zeros(12), tau, 400)
    return model, before, tau


def solved(model, q, v, guess, given, **more):
    """The impulses of a step whose islands are all solved."""
    islands = ContactIslands(System(model, **more))
    return islands.solved(islands.problem(q, v, guess, given), guess, TOLERANCE, TOLERANCE)


@pytest.mark.parametrize("guessed", [True, False])
def test_velocities_are_those_of_the_step(standing, guessed):
    """Under other joint forces, from the impulses of the last step and from none; those of friction are not unique."""
    model, (q, v, impulses), tau = standing
    tau, many = tau + np.random.default_rng(1).uniform(-0.3, 0.3, 12), impulses
    guess = impulses if guessed else 0.0 * impulses
    found = solved(model, q, v, guess, (tau, np.array(DT)))
    for _ in range(60):
        _, expected, many = kt.integrators.contact_step(model, q, v, many, tau, DT)
    _, velocities, _, misfits = kt.integrators.contact_step(model, q, v, found, tau, DT, residuals=True)
    assert velocities == pytest.approx(expected, abs=1e-8) and np.abs(velocities).max() > 1e-5
    assert misfits.max() < 1e-9
    assert (found[[2, 5]] > 0.0).all() and np.count_nonzero(found[6:]) >= 10


def test_contacts_that_were_left_out_are_tested(standing, monkeypatch):
    """With no contact in the first problem, those that would sink join the next one."""
    model, (q, v, impulses), tau = standing
    given, none = (tau, np.array(DT)), 0.0 * impulses
    monkeypatch.setattr(contact_islands, "NEAR", -1e9)
    found = solved(model, q, v, none, given)
    assert (found[[2, 5]] > 0.0).all()
    misfits = kt.integrators.contact_step(model, q, v, found, tau, DT, residuals=True)[-1]
    assert misfits.max() < 1e-9


def test_internal_states_wrenches_and_inputs_are_given():
    """A thruster whose force is an internal state, and a wrench: the impulse of the tip is that of the step."""
    model = leg(damping=1.0)
    model = model.with_forces(Thruster("jet", model.body_names[-1], 0.0, 0.1, 0.0))
    q, v, tau, x, u = np.array([0.95, -0.6]), np.array([-3.0, 0.5]), np.array([2.0, 0.0]), np.array([9.0]), np.ones(1)
    q[0] += 0.5 * kt.collision.contact_gaps(model, q)[0]
    wrenches = np.zeros((model.nb, 6))
    wrenches[-1, 5] = -30.0
    given = tau, np.array(DT), wrenches, u
    found = solved(model, q, np.concatenate([v, x]), np.zeros(3), given, wrenches=True)
    impulses = np.zeros(3)
    for _ in range(20):
        impulses = kt.integrators.contact_step(model, q, v, impulses, tau, DT, f_ext=wrenches, x=x, u=u)[2]
    assert impulses[2] > 0.0 and found == pytest.approx(impulses, abs=1e-9)


def test_yielding_contacts_are_left_to_sweeps():
    """The law of Hunt and Crossley is no problem over cones; nor do time steps with prescribed joints have one."""
    model = leg()
    law = {"stiffness": 1e4, "dissipation": 0.1, "law": "hunt_crossley"}
    soft = [kt.collision.ContactPair(c.name, c.first, c.second, 0.5, **law) for c in model.contacts]
    assert ContactIslands(System(model)).is_possible
    assert not ContactIslands(System(model.replace(contacts=soft))).is_possible


def test_bodies_that_touch_are_one_island():
    """Two balls on the ground and one on top of both: their contacts are one island, those of a fourth ball another."""
    builder, radius = kt.ModelBuilder("balls"), 0.1
    places = {"a": (0.0, 0.1), "b": (0.2 - 1e-9, 0.1), "top": (0.1, 0.1 + 0.1 * np.sqrt(3.0)), "far": (1.0, 0.1)}
    for name in places:
        builder.add_body(name, joint=kt.joints.Free(), mass=1.0, inertia=4e-3 * np.eye(3))
        builder.add_geometry(name, Geometry("sphere", (radius,), name=name))
    pairs = [("a", "top"), ("b", "top"), ("top", "far")]
    model = builder.build().with_contacts(kt.collision.Ground(), bodies=["a", "b", "far"], pairs=pairs)
    q, v = model.neutral(), np.zeros(model.nv)
    for name, (x, z) in places.items():
        q[model.q_index(name).start + np.array([0, 2])] = x, z
    islands = ContactIslands(System(model))
    problem = islands.problem(q, v, np.zeros(model.n_impulses), (np.zeros(model.nv), np.array(DT)))
    names = [pair.name for pair in model.contacts]
    found = [{names[k] for k in part.contacts} for part in islands._islands(problem)]
    assert found == [{"ground/a", "ground/b", "a/top", "b/top"}, {"ground/far"}]
    first = islands.solved(problem, 0.0 * problem.guess, TOLERANCE, TOLERANCE)
    v_next = kt.integrators.contact_step(model, q, v, first, np.zeros(model.nv), DT)[1]
    islands.after(v, v_next)
    assert islands.any_exact and islands.are_all_exact(problem)
    state = islands.get_state()
    islands.reset()
    assert not islands.any_exact
    islands.set_state(state)
    assert islands.any_exact
    for _ in range(contact_islands.STAY + 1):  # in quick motion they are left to sweeps
        islands.solved(problem, first, TOLERANCE, TOLERANCE)
        islands.after(v, v + 1.0)
    assert not islands.any_exact
