"""Strands on models: published numbers, an equivalent model of point masses, orders, momentum, attached nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import kinetree as kt
from kinetree.deformables.accelerations import accelerations
from kinetree.deformables.rigid import Load
from tests.deformables.scenes import D, equivalent_model, scene_12, strings, two_chain

EXACT = kt.integrators.Adaptive("dop853", rtol=1e-11, atol=1e-11)


@pytest.fixture(scope="module")
def scene():
    return scene_12()


@pytest.fixture(scope="module")
def exact(scene):
    return scene.simulate(0.5, 0.1, integrator=EXACT)


def test_published_end_of_scene_12():
    """sueda/redmax scene 12 by its own scheme: rows with Baumgarte's gain 5 at the attachments, terms of the old state.

    Energies, positions and velocities at the end were recomputed independently to 1e-10; digits as printed there.
    """
    model, h = two_chain(), 5e-3
    nodes = D.Coupled(model, strings()).elements
    frames = {2: "b2 tip", 3: "b1 middle", 4: "b2 middle"}
    q, x, w = np.zeros(2), nodes.rest.copy(), np.zeros(17)
    start = float(kt.potential_energy(model, q)) - np.sum(nodes.weight * x)
    masses = np.repeat(nodes.masses, 3)
    for _ in range(200):
        M = np.diag(np.concatenate((np.zeros(2), masses)))
        M[:2, :2] = kt.crba(model, q)
        forces = nodes.forces(x, np.zeros_like(x)) + nodes.weight
        f = np.concatenate((-kt.bias_forces(model, q, w[:2]), forces.ravel()))
        G, g = np.zeros((12, 17)), np.zeros(12)
        G[:3, 2:5], g[:3] = -np.eye(3), [30.0, 0.0, 10.0] - x[0]
        for k, (node, frame) in enumerate(frames.items(), 1):
            rows = slice(3 * k, 3 * k + 3)
            G[rows, :2] = kt.jacobian(model, q, frame=frame, reference="local_world_aligned")[3:]
            G[rows, 2 + 3 * node : 5 + 3 * node] = -np.eye(3)
            g[rows] = kt.pose(model, q, frame=frame).p_WF - x[node]
        A = np.block([[M, G.T], [G, np.zeros((12, 12))]])
        w = np.linalg.solve(A, np.concatenate((M @ w + h * f, -5.0 * g)))[:17]
        q, x = q + h * w[:2], x + h * w[2:].reshape(-1, 3)
    T = float(kt.kinetic_energy(model, q, w[:2])) + 0.5 * masses @ w[2:] ** 2
    V = float(kt.potential_energy(model, q)) - np.sum(nodes.weight * x) + nodes.elastic_energy(x) - start
    assert T == pytest.approx(27921.25095911, rel=1e-11)
    assert pytest.approx(-39661.65231564, rel=1e-11) == V
    assert T + V == pytest.approx(-11740.4013565, rel=1e-10)
    assert np.allclose(q, [0.299561202588, -0.4133744125], rtol=0.0, atol=1e-10)
    assert np.allclose(w[:2], [-6.39927004252, 7.03615009184], rtol=0.0, atol=1e-9)


def test_strands_agree_with_a_model_of_point_masses(exact):
    """Two programs: nodes and attachments here; there a translational joint, payloads and spring elements."""
    run = kt.simulate(equivalent_model(), duration=0.5, dt=0.1, integrator=EXACT)
    assert np.allclose(exact.q, run.q[:, :2], rtol=0.0, atol=1e-8)
    assert np.allclose(exact.x[:, 1] - [25.0, 0.0, 5.0], run.q[:, 2:], rtol=0.0, atol=1e-7)
    assert abs(exact.unexplained).max() < 1e-8 * np.ptp(exact.gravitational)


def test_nets_agree_with_their_models_of_point_masses():
    """Accelerations of a damped net between an arm, a fixed node and the air, in a random state, by both."""
    rng = np.random.default_rng(1)
    arm = kt.models.puma_like()
    q, v = rng.standard_normal(arm.nq), rng.standard_normal(arm.nv)
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)]
    net = D.spring_network(
        "net", rng.standard_normal((5, 3)), rng.uniform(0.5, 1.0, 5), pairs, stiffness=rng.uniform(10.0, 20.0, 6),
        rest_lengths=0.8, damping=rng.uniform(0.1, 1.0, 6), fixed=[4],
    )  # fmt: skip
    scene = D.Coupled(arm, net, D.Attachment([0, 1], arm.body_names[-1], rng.standard_normal((2, 3))))
    moved = np.vstack((0.2 * rng.standard_normal((4, 3)), np.zeros(3)))
    state = scene.state(q, v, net.nodes + moved, rng.standard_normal((5, 3)))
    tau, f_ext = rng.standard_normal(arm.nv), rng.standard_normal((arm.nb, 6))
    dv, du = accelerations(scene, state, Load(tau, f_ext))
    model = scene.point_mass_model()
    q, v = [*q, *(state.x - net.nodes)[2:4].ravel()], [*v, *state.u[2:4].ravel()]
    wrenches = np.vstack((f_ext, np.zeros((2, 6))))
    a = kt.forward_dynamics(model, q, v, [*tau, *np.zeros(6)], wrenches)
    assert np.abs(np.concatenate((dv, du.ravel())) - a).max() < 1e-11 * np.abs(a).max()
    energies = scene.energies(state)
    assert float(kt.dynamics.elastic_energy(model, q)) == pytest.approx(energies["elastic"], rel=1e-12)


@pytest.mark.parametrize(
    "integrator, order", [("semi_implicit", 1), ("linearly_implicit", 1), ("bdf1", 1), ("bdf2", 2)]
)
def test_order_of_the_steps(scene, exact, integrator, order):
    """Halving the step divides the error by 2^order, within 15 % at these steps."""
    errors = []
    for dt in (1e-3, 5e-4):
        run = scene.simulate(0.1, dt, integrator=integrator, record=kt.Record(every=round(0.1 / dt)))
        errors.append(np.abs(run.x[-1] - exact.x[1]).max())
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.15)


def test_cloths_of_triangles():
    """A ball of trimesh: by Euler's formula 3 n - 6 edges, as many bends; masses balance; internal forces do, too.

    A rectangle of two triangles per cell has the edges of `cloth`, one diagonal per cell, and its mass at its middle.
    """
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=1, radius=0.1)
    options = {"mass": 0.02, "stretch_stiffness": 50.0}
    skin = D.cloth_of_triangles(ball.vertices, ball.faces, bend_stiffness=5.0, **options)
    n = len(skin.nodes)
    assert len(skin.elements[0].nodes) == 2 * (3 * n - 6) and skin.mass == pytest.approx(0.02, rel=1e-14)
    assert skin.masses @ skin.nodes == pytest.approx(np.zeros(3), abs=1e-16)
    run = D.Coupled(None, skin, gravity=(0, 0, 0)).simulate(0.02, 1e-3, nodes=skin.nodes * [1.2, 1.0, 0.9])
    assert skin.masses @ run.u[-1] == pytest.approx(np.zeros(3), abs=1e-13) and np.abs(run.u[-1]).max() > 0.1
    flag = D.cloth((0, 0, 0), (1, 0, 0), (0, 0.6, 0), (4, 3), mass=0.02, stretch_stiffness=50.0)
    same = D.cloth_of_triangles(flag.nodes, flag.triangles, **options)
    pairs = {tuple(sorted(pair)) for pair in same.elements[0].nodes.tolist()}
    assert {tuple(sorted(pair)) for pair in flag.elements[0].nodes.tolist()} <= pairs and len(pairs) == 31 + 12
    assert same.masses @ same.nodes == pytest.approx(0.02 * np.array([0.5, 0.3, 0.0]), abs=1e-15)


@pytest.mark.parametrize("integrator", ["semi_implicit", "linearly_implicit", "bdf1", "bdf2"])
def test_attached_nodes_are_on_their_bodies(scene, integrator):
    """At every record to rounding; their velocities are those of the points of the bodies."""
    run = scene.simulate(0.1, 5e-3, integrator=integrator)
    model = scene.model
    for q, v, x, u in zip(run.q, run.v, run.x, run.u, strict=True):
        for node, frame in ((2, "b2 tip"), (3, "b1 middle"), (4, "b2 middle")):
            J = kt.jacobian(model, q, frame=frame, reference="local_world_aligned")[3:]
            assert np.abs(x[node] - kt.pose(model, q, frame=frame).p_WF).max() < 1e-12 * 30.0
            assert np.abs(u[node] - J @ v).max() < 1e-12 * max(1.0, np.abs(u).max())
    assert np.all(run.x[:, 0] == [30.0, 0.0, 10.0])


@dataclass(frozen=True)
class Winch(kt.forces.ForceElement):
    """A tension that follows an input with a lag of 50 ms."""

    name: str
    start: str
    end: str
    frame_fields = ("start", "end")
    states = ("tension",)
    inputs = ("pull",)

    def length(self, kin):
        return kt.forces.norm(kin.point(self.end) - kin.point(self.start))

    def tension(self, length, rate, x, u):
        return x.tension

    def state_rate(self, kin, x, u):
        return [(u.pull - x.tension) / 0.05]


def test_inputs_act_as_in_simulations_of_the_model_alone():
    """A controller, wrenches, inputs and internal states of force elements, beside a rope that is not attached.

    Fixed steps tend to the same motion, with order 1.
    """
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    b.add_frame("wall", "world", ((1.0, 0.5, -1.0), (0.0, 0.0, 0.0)))
    b.add_force(Winch("winch", "wall", "lower"))
    model = b.build()
    push = np.zeros((model.nb, 6))
    push[1] = [0.1, 0.5, 0.2, 1.0, -0.5, 0.3]
    inputs = kt.Inputs(f_ext=push, control={model.input_names[0]: lambda t: 3.0 * np.sin(5.0 * t)})
    options = dict(inputs=inputs, controller=lambda t, q, v: -0.5 * v + [0.2, 0.1])
    rope = D.strand((0, 0, 0), (0, 0, -1), 2, mass=0.1, axial_stiffness=10.0, fixed=[0])
    run = D.Coupled(model, rope).simulate(0.3, 0.1, [0.4, 0.2], integrator=EXACT, **options)
    alone = kt.simulate(model, [0.4, 0.2], duration=0.3, dt=0.1, integrator=EXACT, **options)
    still = D.Coupled(model, rope).simulate(0.3, 0.1, [0.4, 0.2], integrator=EXACT)
    assert np.allclose(run.q, alone.q, rtol=0.0, atol=1e-8)
    assert run.internal.shape == (4, 1) and abs(run.internal[-1, 0]) > 1.0
    assert np.abs(run.q - still.q).max() > 0.01
    fine = D.Coupled(model, rope).simulate(0.3, 2e-3, [0.4, 0.2], integrator=EXACT, **options)
    assert abs(fine.unexplained[-1]) < 1e-4 * abs(fine.work[-1])
    for integrator in ("semi_implicit", "linearly_implicit", "bdf1"):
        errors = []
        for dt in (2e-3, 1e-3):
            steps = D.Coupled(model, rope).simulate(0.3, dt, [0.4, 0.2], integrator=integrator, **options)
            errors.append(np.abs(steps.q[-1] - run.q[-1]).max())
        assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.15)


def test_attachment_jacobian_and_its_rate():
    """Sueda, eq. 2.87-2.89, against differences on the manifold of an arm with a free base."""
    model = kt.load("quadruped", floating_base=True)
    rng = np.random.default_rng(3)
    q, v = kt.integrate(model, model.neutral(), 0.3 * rng.standard_normal(model.nv)), rng.standard_normal(model.nv)
    body, at = model.body_names[-1], rng.standard_normal((3, 3))
    rope = D.strand((0, 0, 0), (1, 0, 0), 3, mass=1.0, axial_stiffness=10.0)
    scene = D.Coupled(model, rope, [D.Attachment((0, 1, 2), body, at)])
    J, bias = scene.attachment_jacobian(q, v)

    def place(step):
        return scene.state(kt.integrate(model, q, step)).x[:3]

    h = 1e-6
    for k, unit in enumerate(np.eye(model.nv)):
        assert np.abs(J[:, :, k] - (place(h * unit) - place(-h * unit)) / (2.0 * h)).max() < 1e-8
    ahead, back = (scene.attachment_jacobian(kt.integrate(model, q, s * v))[0] for s in (h, -h))
    assert np.abs(bias - (ahead - back) @ v / (2.0 * h)).max() < 1e-6 * max(1.0, np.abs(bias).max())


@pytest.mark.parametrize("integrator", ["semi_implicit", "linearly_implicit", "bdf1", "bdf2"])
def test_momentum_of_a_free_net(integrator):
    """Inner forces change neither the linear momentum nor, for the explicit method, the angular one."""
    net = D.cloth((0, 0, 0), (1, 0, 0), (0, 1, 0), (3, 3), mass=1.0, stretch_stiffness=50.0, shear_stiffness=20.0)
    scene = D.Coupled(None, net, gravity=(0.0, 0.0, 0.0))
    u = np.random.default_rng(4).standard_normal((16, 3))
    run = scene.simulate(0.2, 1e-2, velocities=u, integrator=integrator)
    momentum = np.einsum("n,tni->ti", net.masses, run.u)
    assert np.abs(momentum - momentum[0]).max() < 1e-9
    if integrator == "semi_implicit":
        spin = np.einsum("n,tni->ti", net.masses, np.cross(run.x, run.u))
        assert np.abs(spin - spin[0]).max() < 1e-12


def test_strand_on_a_loop():
    """A rope on a four-bar: loops stay closed, energy is constant within tolerances, and the orders are right."""
    model = kt.models.four_bar()
    q0 = kt.assemble(model, np.full(model.nq, 0.7), fixed=model.joint_names[0])
    frame = model.body_names[-1]
    p = kt.pose(model, q0, frame=frame).p_WF
    rope = D.strand(p, p + [0.3, 0.0, 0.0], 3, mass=0.4, axial_stiffness=300.0)
    scene = D.Coupled(model, rope, [D.Attachment(0, frame)], q=q0)
    exact = scene.simulate(0.1, 0.1, q0, integrator=EXACT)
    assert abs(exact.unexplained[-1]) < 1e-8
    for integrator, order in (("linearly_implicit", 1), ("bdf2", 2)):
        errors = []
        for dt in (2e-3, 1e-3):
            run = scene.simulate(0.1, dt, q0, integrator=integrator)
            errors.append(np.abs(run.x[-1] - exact.x[-1]).max())
            gap = kt.closed_loops.error(model, run.q[-1])
            assert np.abs(gap).max() < 1e-9
        assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.2)


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
def test_stiff_rope_is_stable_at_long_steps(stiffness):
    """At EA = 1e7 N the explicit method needs dt below 2e-6 s. Implicit Euler never raises the energy.

    One linearization stretches what turns by an angle per step, so linearly implicit Euler does, for a while.
    """
    model = kt.models.pendulum()
    frame = model.body_names[-1]
    p = kt.pose(model, model.neutral(), frame=frame).p_WF
    rope = D.strand(p, p + [1.0, 0.0, 0.0], 10, mass=0.5, axial_stiffness=stiffness)
    scene = D.Coupled(model, rope, [D.Attachment(0, frame)])
    for integrator in ("linearly_implicit", "bdf1", "bdf2"):
        run = scene.simulate(1.0, 1e-2, integrator=integrator)
        assert run.energy[-1] < run.energy[0]
        if integrator == "bdf1":
            assert np.diff(run.energy).max() < 1e-9 * np.abs(run.energy).max()
        length = np.linalg.norm(np.diff(run.x[-1], axis=0), axis=1).sum()
        assert length == pytest.approx(1.0, abs=1e-4 + 20.0 / stiffness)


def test_energy_balance_of_dampers():
    """The power of dampers explains the loss of energy, but for the trapezoidal rule, whose error is of order 2."""
    rope = D.strand((0, 0, 0), (0, 0, -1), 4, mass=1.0, axial_stiffness=100.0, damping=2.0, mass_damping=0.5, fixed=[0])
    scene = D.Coupled(None, rope)
    found = [scene.simulate(0.5, dt, integrator=EXACT).energy_balance() for dt in (2e-3, 1e-3)]
    assert found[0]["dissipated"] > 0.01
    ratio = found[0]["unexplained"] / found[1]["unexplained"]
    assert ratio == pytest.approx(4.0, rel=0.1) and abs(found[1]["unexplained"]) < 1e-3 * found[1]["dissipated"]


def test_saved_runs_are_read_back(tmp_path, exact):
    """All arrays, exactly."""
    exact.save(tmp_path / "run.npz")
    found = D.load_run(tmp_path / "run.npz")
    assert found.names == exact.names and found.integrator == exact.integrator
    assert np.array_equal(found.nodes("string2"), exact.x[:, 3:])
    assert np.array_equal(found.energy, exact.energy)
