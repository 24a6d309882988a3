"""Piles of bodies without joints: closed forms, conservation, statics and other engines."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.collision import Ground
from kinetree.contact import Pile
from kinetree.errors import ArgumentError, ModelError, SimulationError
from kinetree.model import Geometry

G = 9.81
BALL = Geometry("sphere", (0.1,))
SMOOTH = Ground(friction=0.0)


def test_a_sliding_ball_keeps_five_sevenths_of_its_speed():
    """v0 = 5 m/s without spin on mu = 0.2: it rolls from 2 v0/(7 mu g) on, at 5 v0/7 (problem 3.3)."""
    pile = Pile(BALL, [[0.0, 0.0, 0.1]], velocities=[[5.0, 0.0, 0.0]], ground=Ground(friction=0.2), softness=0.0)
    run = pile.advance(1.0, 1e-3)
    slides = run.velocities[:, 0, 0] - 0.1 * run.angular_velocities[:, 0, 1] > 1e-9
    assert run.velocities[-1, 0, 0] == pytest.approx(25.0 / 7.0, abs=1e-12)
    assert slides.sum() * 1e-3 == pytest.approx(0.728119994175, abs=1.5e-3)  # within a step
    roll = int(np.argmin(slides))
    distance = run.positions[roll, 0, 0] - 25.0 / 7.0 * (run.times[roll] - 0.728119994175)
    assert distance == pytest.approx(3.120514260750, abs=2e-3)  # O(dt v0)


@pytest.mark.parametrize("slope", [0.99, 1.01])
@pytest.mark.parametrize("direction", [0.0, 0.4, np.pi / 4, 2.0])
def test_a_box_on_an_incline_slips_where_the_slope_exceeds_friction_in_every_direction(slope, direction):
    """tan(theta) = 0.99 mu sticks, 1.01 mu slides at g (sin - mu cos), also along diagonals of its faces."""
    mu = 0.5
    theta = np.arctan(slope * mu)
    down = np.array([np.cos(direction), np.sin(direction), 0.0])
    gravity = G * (np.sin(theta) * down - np.array([0.0, 0.0, np.cos(theta)]))
    pile = Pile(Geometry("box", (0.4, 0.4, 0.1)), [[0.0, 0.0, 0.05]], gravity=gravity, ground=Ground(friction=mu),
                tolerance=1e-12, sweeps=1000, softness=0.0)  # fmt: skip
    pile.advance(0.5, 5e-3, every=100)
    expected = max(G * (np.sin(theta) - mu * np.cos(theta)) * 0.5, 0.0)
    assert pile.velocities[0] == pytest.approx(expected * down, abs=1e-9)


@pytest.mark.parametrize(
    ("e", "duration"),
    [(0.5, 1.5), (0.9, 4.0), *[pytest.param(e, 20.0, marks=pytest.mark.sweep) for e in (0.8, 0.9, 1)]],
)
def test_bounces_are_as_high_as_restitution_makes_them(e, duration):
    """Apexes h e^(2n) (problem 3.1), at rest on the floor after all of them; e = 0.9 hits within a step by gravity."""
    pile = Pile(BALL, [[0.0, 0.0, 1.1]], ground=Ground(restitution=e), softness=0.0)
    height = pile.advance(duration, 1e-3).positions[:, 0, 2] - 0.1
    peaks = height[1:-1][(height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:])]
    assert len(peaks) > 2
    expected = [e ** (2 * n) for n in range(1, len(peaks) + 1)]
    assert peaks == pytest.approx(expected, abs=G * 1e-6 / 4.0)  # apexes between two steps: g dt^2 / 8, twice
    if duration > 0.4515236410 * (1.0 + e) / max(1.0 - e, 1e-9):
        assert height[-1] == pytest.approx(0.0, abs=1e-12)
        assert np.linalg.norm(pile.velocities) < 1e-12


@pytest.mark.parametrize("duration", [2.5, pytest.param(20.0, marks=pytest.mark.sweep)])
def test_elastic_balls_keep_their_energy(duration):
    """49 balls of 10 kg from 5 m, e = 1, mu = 0: 24034.5 J (SimBenchmark "bouncing", problem 3.5)."""
    grid = np.stack(np.meshgrid(range(7), range(7)), axis=-1).reshape(-1, 2) * 0.5
    positions = np.column_stack([grid, np.full(49, 5.1)])
    pile = Pile(BALL, positions, mass=10.0, friction=0.0, ground=Ground(friction=0.0, restitution=1.0))
    energy = pile.advance(duration, 1e-3, every=200).energy - 49 * 10.0 * G * 0.1
    assert energy == pytest.approx(np.full(len(energy), 24034.5), rel=1e-12)


@pytest.mark.seeds(3)
def test_collisions_keep_momentum_and_energy_if_elastic(seed):
    """A cloud of balls and nothing else, e = 1, mu = 0: momentum, angular momentum and energy are constant."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[range(3)] * 3), axis=-1).reshape(-1, 3) * 0.25
    velocities = rng.normal(size=(27, 3)) - 3.0 * (grid - 0.25)
    pile = Pile(BALL, grid, mass=rng.uniform(1, 2, 27), velocities=velocities, friction=0.0, restitution=1.0,
                ground=None, gravity=(0, 0, 0), tolerance=1e-13, sweeps=2000)  # fmt: skip

    def momenta():
        p = pile.mass[:, None] * pile.velocities
        spin = 0.4 * 0.01 * pile.mass[:, None] * pile.angular_velocities
        return np.concatenate([p.sum(axis=0), (np.cross(pile.positions, p) + spin).sum(axis=0)])

    first, energy, hit = momenta(), pile.kinetic_energy(), 0
    for _ in range(400):
        pile.step(1e-3)
        hit += len(pile.contacts.gaps)
    assert hit > 20
    # Sweeps that end at a change of 1e-6 m/s, the default, leave 1e-8 of it where three balls touch at once.
    assert pile.kinetic_energy() == pytest.approx(energy, rel=1e-13)
    # Each contact acts on both bodies at one point, so both are exact but for the motion within a step.
    assert momenta() == pytest.approx(first, abs=1e-9)


@pytest.mark.seeds(3)
def test_a_tumbling_box_keeps_angular_momentum_and_energy_to_second_order(seed):
    """Free rotation: angular momentum exactly, kinetic energy to O(dt^2)."""
    w = np.random.default_rng(seed).normal(size=(1, 3)) * 4.0
    drifts = []
    for dt in (4e-3, 2e-3):
        box = Geometry("box", (0.1, 0.2, 0.3))
        pile = Pile(box, [[0, 0, 0]], angular_velocities=w, ground=None, gravity=(0, 0, 0))
        energy = pile.kinetic_energy()
        run = pile.advance(0.4, dt)
        drifts.append(np.abs(run.kinetic_energy - energy).max() / energy)
    assert drifts[0] < 1e-2
    assert drifts[1] < 0.35 * drifts[0]


def test_forces_in_a_column_are_weights():
    """Each ball of a column carries those above it (problem 3.12): (n - k) m g to 1e-9 of one weight."""
    n = 6
    pile = Pile(
        BALL, [[0.0, 0.0, 0.1 + 0.2 * k] for k in range(n)], mass=2.0, tolerance=1e-13, sweeps=2000, softness=0.0
    )
    pile.advance(0.05, 1e-3, every=50)
    forces = np.sort(pile.contacts.impulses[:, 2] / 1e-3)
    assert forces == pytest.approx(2.0 * G * np.arange(1, n + 1), abs=2e-8)
    assert np.abs(pile.velocities).max() < 1e-10


def test_a_ball_in_a_groove_presses_on_both_sides():
    """N = m g / (2 sin b) on each side of a V-groove of half angle b, without friction."""
    b = 0.6
    normals = [(np.cos(b), 0.0, np.sin(b)), (-np.cos(b), 0.0, np.sin(b))]
    sides = [Ground(friction=0.0, normal=n) for n in normals]
    pile = Pile(BALL, [[0.0, 0.0, 0.1 / np.sin(b)]], mass=1.0, ground=sides)
    pile.advance(0.1, 1e-3, every=100)
    forces = np.linalg.norm(pile.contacts.impulses, axis=1) / 1e-3
    assert forces == pytest.approx([G / (2.0 * np.sin(b))] * 2, rel=1e-4)


def test_forces_and_torques_act():
    """F = m a, and torque about a principal axis."""
    pile = Pile(Geometry("box", (0.3, 0.2, 0.1)), [[0.0, 0.0, 1.0]], mass=3.0, ground=None, gravity=(0.0, 0.0, 0.0))
    pile.forces[0], pile.torques[0] = (3.0, 0.0, 6.0), (0.0, 0.0, 0.1)
    pile.advance(1.0, 1e-2)
    assert pile.velocities[0] == pytest.approx([1.0, 0.0, 2.0])
    assert pile.angular_velocities[0] == pytest.approx([0.0, 0.0, 0.1 / (3.0 * (0.3**2 + 0.2**2) / 12.0)])


def test_a_fixed_ball_carries_others():
    """A fixed body does not move, whatever lies on it."""
    pile = Pile(BALL, [[0.0, 0.0, 1.0], [0.0, 0.0, 1.2]], fixed=[True, False], mass=1.0, ground=None, softness=0.0)
    pile.advance(0.2, 1e-3, every=200)
    assert pile.positions == pytest.approx(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.2]]), abs=1e-12)
    assert pile.contacts.impulses[0] == pytest.approx([0.0, 0.0, G * 1e-3])


@pytest.fixture(scope="module")
def heap():
    """60 balls that have fallen on each other between four walls."""
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(range(4), range(4), range(4)), axis=-1).reshape(-1, 3)[:60] * 0.22
    inward = {(1, 0, 0.01): -0.15, (-1, 0, 0.01): -0.85, (0, 1, 0.01): -0.15, (0, -1, 0.01): -0.85}
    walls = [Ground(friction=0.5, normal=normal, height=height) for normal, height in inward.items()]
    positions = grid + [0.0, 0.0, 0.2] + rng.normal(size=(60, 3)) * 2e-3
    return Pile(
        BALL, positions, friction=0.5, ground=[Ground(friction=0.5), *walls], tolerance=1e-10, sweeps=400, softness=0.0
    )


def test_a_heap_comes_to_rest_without_penetration(heap):
    """Energy never grows; gaps stay above -1e-5 m; the ground carries all weights in the end."""
    run = heap.advance(2.0, 2e-3, every=10)
    assert (np.diff(run.energy) < 1e-6 * run.energy[0]).all()
    assert heap.contacts.gaps.min() > -1e-5
    of_planes = (heap.contacts.bodies < 0).any(axis=1)
    weight = heap.contacts.impulses[of_planes].sum(axis=0) / 2e-3
    assert weight == pytest.approx([0.0, 0.0, heap.mass.sum() * G], abs=2e-2 * heap.mass.sum() * G)


def test_impulses_satisfy_coulomb_and_signorini(heap):
    """Cone, complementarity and maximal dissipation of the solved contacts, computed from the velocities by hand."""
    heap.step(2e-3)
    c = heap.contacts
    a, b = c.bodies.T
    lever = 0.1 * c.normals

    def velocity(body, arm):
        v = heap.velocities[body] + np.cross(heap.angular_velocities[body], arm)
        return np.where(body[:, None] < 0, 0.0, v)

    u = velocity(b, -lever) - velocity(a, lever)
    normal = np.einsum("nk,nk->n", u, c.normals) + np.where(c.gaps > 0.0, c.gaps, 0.2 * c.gaps) / 2e-3
    lam = np.einsum("nk,nk->n", c.impulses, c.normals)
    tangent = c.impulses - lam[:, None] * c.normals
    slip = u - np.einsum("nk,nk->n", u, c.normals)[:, None] * c.normals
    assert lam.min() >= -1e-14
    # Sweeps over contacts that slip end in small cycles: 2e-5 m/s were measured.
    assert normal.min() > -1e-4
    assert np.minimum(lam / heap.mass[0], normal).max() < 1e-4
    size = np.linalg.norm(tangent, axis=1)
    assert (size <= 0.5 * lam + 1e-12).all()
    slides = (np.linalg.norm(slip, axis=1) > 1e-3) & (lam > 1e-9)
    cosine = -np.einsum("nk,nk->n", tangent, slip)[slides] / (0.5 * lam * np.linalg.norm(slip, axis=1))[slides]
    assert cosine == pytest.approx(1.0, abs=1e-3)


def test_results_do_not_depend_on_the_path_of_a_run():
    """A run in two parts is the run in one, to the bit."""
    positions = [[0.0, 0.0, 0.1], [0.05, 0.02, 0.32], [0.0, 0.1, 0.6]]
    whole, parts = Pile(BALL, positions), Pile(BALL, positions)
    whole.advance(0.4, 1e-3, every=400)
    parts.advance(0.1, 1e-3, every=100)
    parts.advance(0.3, 1e-3, every=300)
    assert whole.positions.tobytes() == parts.positions.tobytes()


class TestErrors:
    """Each names the thing."""

    def test_bodies_in_each_other(self):
        with pytest.raises(ModelError, match=r"body 0 \(sphere\) and body 1 \(sphere\) are 0.05 m in each other"):
            Pile(BALL, [[0.0, 0.0, 1.0], [0.0, 0.15, 1.0]])

    def test_negative_friction(self):
        with pytest.raises(ArgumentError, match="friction"):
            Pile(BALL, [[0.0, 0.0, 1.0]], friction=-0.1)

    def test_a_plane_as_a_body(self):
        with pytest.raises(ModelError, match="shape 0 is a plane"):
            Pile(Geometry("plane"), [[0.0, 0.0, 1.0]])

    def test_a_shape_away_from_its_body(self):
        with pytest.raises(ArgumentError, match="at the origin of its body"):
            Pile(Geometry("sphere", (0.1,), p_BG=(0.0, 0.0, 0.1)), [[0.0, 0.0, 1.0]])

    def test_nan_during_a_run(self):
        pile = Pile(BALL, [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
        pile.forces[1] = np.nan
        with pytest.raises(SimulationError, match="velocity of body 1 is not finite after a step"):
            pile.step(1e-3)

    def test_no_amount_of_matter(self):
        with pytest.raises(ArgumentError, match="either density"):
            Pile(BALL, [[0.0, 0.0, 1.0]], density=1.0, mass=1.0)


def test_public():
    assert kt.contact.Pile is Pile


def stack(n: int = 10, **options) -> Pile:
    """Boxes of 20 cm and 1 kg on each other."""
    positions = [[0.0, 0.0, 0.1 + 0.2 * k] for k in range(n)]
    return Pile(Geometry("box", (0.2, 0.2, 0.2)), positions, mass=1.0, **options)


def test_a_stack_of_boxes_stands_on_its_weights():
    """Forces between boxes are (n - k) m g to 1e-9 after settling (problem 3.12)."""
    pile = stack(tolerance=1e-14, sweeps=3000, softness=0.0)
    pile.advance(0.02, 5e-3, every=4)
    upper = np.where(pile.contacts.bodies.min(axis=1) < 0, 0, pile.contacts.bodies.max(axis=1))
    forces = np.abs(np.bincount(upper, pile.contacts.impulses[:, 2] * np.where(pile.contacts.normals[:, 2] > 0, 1, -1)))
    assert forces / 5e-3 == pytest.approx(G * np.arange(10, 0, -1), abs=1e-9 * G * 10)


@pytest.mark.parametrize("duration", [1.0, pytest.param(60.0, marks=pytest.mark.sweep)])
def test_a_stack_of_boxes_stays_where_it_is(duration):
    """Ten boxes, default options: after they have settled by some um, they drift by 1 um at most."""
    pile = stack()
    pile.advance(0.5, 5e-3, every=100)
    start = pile.positions
    pile.advance(duration, 5e-3, every=200)
    assert pile.positions == pytest.approx(start, abs=1e-6)
    assert pile.contacts.gaps.min() > -1e-5
    assert np.abs(pile.velocities).max() < 1e-4


@pytest.mark.parametrize("duration", [0.5, pytest.param(4.0, marks=pytest.mark.sweep)])
def test_balls_roll_on_a_pushed_box(duration):
    """25 balls on a box that a force pushes along no axis of it (SimBenchmark "rolling", problem 3.4)."""
    direction = np.array([0.5, 0.866025403784439, 0.0])
    grid = np.stack(np.meshgrid(range(5), range(5)), axis=-1).reshape(-1, 2) - 2.0
    shapes = [Geometry("box", (20.0, 20.0, 0.2)), *[Geometry("sphere", (0.5,))] * 25]
    positions = [[0.0, 0.0, 0.1], *([x * 1.4, y * 1.4, 0.7] for x, y in grid)]
    pile = Pile(shapes, positions, mass=[10.0] + [1.0] * 25, friction=0.8, ground=Ground(friction=0.4), tolerance=1e-9)
    pile.forces[0] = 150.0 * direction
    pile.advance(duration, 1e-3, every=500)
    f1 = 0.4 * (10.0 + 25.0) * G
    f2 = (150.0 - f1) / 10.0 / (3.5 + 25.0 / 10.0)
    along = pile.velocities @ direction
    assert along[0] == pytest.approx(duration * (150.0 - f1 - 25.0 * f2) / 10.0, rel=1e-6)
    assert along[1:] == pytest.approx(np.full(25, duration * f2), rel=1e-6)
    assert np.abs(pile.velocities - along[:, None] * direction).max() < 1e-5


def test_666_balls_stay_apart():
    """6 x 6 x 6 balls of 10 kg without friction fall and spread (SimBenchmark "666", problem 3.5)."""
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*[range(6)] * 3), axis=-1).reshape(-1, 3) * 0.21 + [0.0, 0.0, 0.11]
    positions = grid + rng.uniform(-1e-3, 1e-3, size=grid.shape)
    pile = Pile(BALL, positions, mass=10.0, friction=0.0, ground=SMOOTH)
    deepest = 0.0
    for _ in range(300):
        pile.step(2e-3)
        deepest = min(deepest, pile.contacts.gaps.min(initial=0.0))
    assert deepest > -1e-4


def test_elastic_666_balls_keep_their_energy():
    """The same with e = 1: collisions keep the energy; those slower than 2 g dt are plastic, 2e-5 of it in all."""
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*[range(6)] * 3), axis=-1).reshape(-1, 3) * 0.21 + [0.0, 0.0, 0.15]
    positions = grid + rng.uniform(-1e-3, 1e-3, size=grid.shape)
    pile = Pile(BALL, positions, mass=10.0, friction=0.0, restitution=1.0, tolerance=1e-10,
                ground=Ground(friction=0.0, restitution=1.0))  # fmt: skip
    run = pile.advance(0.6, 1e-3, every=50)
    assert run.energy == pytest.approx(np.full(len(run.energy), run.energy[0]), rel=1e-4)


def test_boxes_and_balls_come_to_rest_on_each_other():
    """Mixed shapes: at rest within 3 s, without penetration."""
    rng = np.random.default_rng(3)
    shapes = [Geometry("box", (0.3, 0.2, 0.15)) if k % 2 else BALL for k in range(12)]
    positions = [[0.05 * (k % 3), 0.04 * (k % 4), 0.2 + 0.3 * k] for k in range(12)]
    pile = Pile(shapes, positions, rng.normal(size=(12, 4)), friction=0.6)
    run = pile.advance(4.0, 2e-3, every=50)
    assert (np.diff(run.energy) < 1e-6 * run.energy[0]).all()
    assert pile.contacts.gaps.min() > -1e-4
    boxes = [k % 2 == 1 for k in range(12)]
    assert np.abs(run.velocities[-1][boxes]).max() < 1e-2 or run.kinetic_energy[-1] < 0.1 * run.kinetic_energy.max()


@pytest.mark.seeds(5)
def test_a_step_is_that_of_the_exact_solver(seed):
    """Velocities after a step of sliding and spinning balls, by a dense Delassus matrix made here from the contacts."""
    rng = np.random.default_rng(seed)
    dt, mass = 1e-3, rng.uniform(1.0, 3.0, 4)
    positions = np.array([[0.0, 0.0, 0.1], [0.2, 0.0, 0.1], [0.1, 0.1732, 0.1], [0.1, 0.0577, 0.2633]])
    v, w = rng.normal(size=(2, 4, 3)) * [[[0.3]], [[3.0]]]
    pile = Pile(BALL, positions, velocities=v, angular_velocities=w, mass=mass, friction=0.4,
                ground=Ground(friction=0.4), softness=0.0, tolerance=1e-13, sweeps=20_000)  # fmt: skip
    pile.step(dt)
    c = pile.contacts
    assert len(c.gaps) >= 5
    J = np.zeros((len(c.gaps), 3, 4, 6))
    for row, bodies, point, normal in zip(J, c.bodies.tolist(), c.positions, c.normals, strict=True):
        first = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.5 else [0.0, 1.0, 0.0])
        axes = np.array([first, np.cross(normal, first), normal])
        axes /= np.linalg.norm(axes, axis=1)[:, None]
        for body, sign in zip(bodies, (-1.0, 1.0), strict=True):
            if body >= 0:
                row[:, body, :3] = sign * axes
                row[:, body, 3:] = sign * np.cross(point - positions[body], axes)
    J = J.reshape(-1, 24)
    inverse = np.column_stack([1.0 / mass] * 3 + [1.0 / (0.4 * 0.01 * mass)] * 3).ravel()
    free = np.concatenate([v + [0.0, 0.0, -G * dt], w], axis=1).ravel()
    rates = (J @ free).reshape(-1, 3)
    rates[:, 2] += np.where(c.gaps > 0.0, c.gaps, 0.2 * c.gaps) / dt
    solution = kt.contact.ContactProblem((J * inverse) @ J.T, rates.ravel(), 0.4).solve("exact")
    assert solution.status == "solved"
    after = (free + inverse * (J.T @ np.ravel(solution.impulses))).reshape(4, 6)
    assert pile.velocities == pytest.approx(after[:, :3], abs=1e-7)
    assert pile.angular_velocities == pytest.approx(after[:, 3:], abs=1e-6)
