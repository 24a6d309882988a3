"""Solids of tetrahedra: patch test, closed forms, MuJoCo's flexes, invariants, and solids on models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import kinetree as kt
from kinetree.deformables.accelerations import accelerations
from kinetree.deformables.rigid import Load
from kinetree.deformables.tetrahedra import TETRAHEDRA, Tetrahedron

D = kt.deformables
EXACT = kt.integrators.Adaptive("dop853", rtol=1e-9, atol=1e-9)
EVERYWHERE = (np.inf, np.inf, np.inf)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """MuJoCo writes its warnings into a file of the current folder."""
    monkeypatch.chdir(tmp_path)


class SaintVenantKirchhoff(Tetrahedron):
    """A user's own law: quadratic in Green's strain ``(F^T F - 1) / 2``."""

    kind = "saint_venant_kirchhoff"

    def density(self, F, mu, lam, fixed):
        green = [
            [0.5 * (sum(F[3 * k + i] * F[3 * k + j] for k in range(3)) - float(i == j)) for j in range(3)]
            for i in range(3)
        ]
        trace = green[0][0] + green[1][1] + green[2][2]
        return mu * sum(x * x for row in green for x in row) + 0.5 * lam * trace * trace


def beam(cells, law="linear", size=(1.0, 0.1, 0.1), clamped=True, **options):
    """A beam whose lower end is fixed."""
    material = D.Material(**{"young_modulus": 1e6, "poisson_ratio": 0.0, "density": 1000.0, "law": law} | options)
    body = D.beam(size, cells, material)
    return body.with_fixed(body.inside((-1.0, -1.0, -1.0), (1e-9, 1.0, 1.0))) if clamped else body


def stiffness(scene):
    """The stiffness matrix of free nodes at rest (3 nf, 3 nf)."""
    state = scene.state()
    entries, _ = scene.elements.matrix(state.x, state.u, 1.0, 0.0)
    return scene.matrix.blocks(entries, 0.0)[0]


@pytest.mark.parametrize("kind", TETRAHEDRA)
def test_patch(kind):
    """Affine deformations of a distorted mesh are in equilibrium at inner nodes, with the stress of the closed form.

    Forces on the boundary are those of the uniform stress P: their sum weighted by positions is ``P`` times the volume.
    """
    rng = np.random.default_rng(1)
    mesh = D.beam_mesh((1.0, 1.0, 1.0), (3, 3, 3))
    inner = np.setdiff1d(np.arange(len(mesh.nodes)), mesh.surface)
    nodes = mesh.nodes.copy()
    nodes[inner] += 0.08 * rng.standard_normal((len(inner), 3))
    material = D.Material(1.0, 0.3, 1.0, kind)
    body = D.solid(D.TetrahedralMesh(nodes, mesh.tetrahedra), material)
    A = np.eye(3) + 0.2 * rng.standard_normal((3, 3))
    forces = D.Coupled(None, body).elements.forces(nodes @ A.T, np.zeros_like(nodes))
    assert len(inner) == 8
    assert np.abs(forces[inner]).max() < 1e-14
    mu, lam = material.lame
    if kind == "linear":
        e = 0.5 * (A + A.T) - np.eye(3)
        P = 2.0 * mu * e + lam * np.trace(e) * np.eye(3)
    elif kind == "corotated":
        U, s, Vt = np.linalg.svd(A)
        P = 2.0 * mu * (A - U @ Vt) + lam * (s.sum() - 3.0) * U @ Vt
    elif kind == "neo_hookean":
        inverse = np.linalg.inv(A).T
        P = mu * (A - inverse) + lam * np.log(np.linalg.det(A)) * inverse
    else:
        m, k, J = 4.0 / 3.0 * mu, lam + 5.0 / 6.0 * mu, np.linalg.det(A)
        P = m * (1.0 - 1.0 / (np.sum(A * A) + 1.0)) * A + k * (J - 1.0 - 0.75 * m / k) * J * np.linalg.inv(A).T
    assert np.allclose(-forces.T @ nodes, P, rtol=0.0, atol=1e-14)


def flex(nodes, tetrahedra, young, around="{}", more="", option=""):
    """MuJoCo's model of an elastic flex of dimension 3, and its data."""
    mujoco = pytest.importorskip("mujoco")
    points, cells = (" ".join(map(repr, x.ravel().tolist())) for x in (nodes, tetrahedra))
    comp = f"""<flexcomp name="f" type="direct" dim="3" mass="1.6" radius="0.001" point="{points}" element="{cells}">
        <elasticity young="{young}" poisson="0.3"/><contact selfcollide="none"/><edge equality="false"/>{more}
        </flexcomp>"""
    text = f"<mujoco><option {option}/><worldbody>{around.format(comp)}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    return mujoco, model, mujoco.MjData(model)


def flexible(mesh, young, masses, nodes=None):
    """The same body here."""
    parameters = D.Material(young, 0.3).parameters(mesh.inverse_edges, mesh.volumes)
    elements = D.Elements(SaintVenantKirchhoff(), mesh.tetrahedra, parameters)
    return D.Deformable("flex", mesh.nodes if nodes is None else nodes, masses, (elements,))


def test_flexes_of_mujoco():
    """MuJoCo's elastic flex of dimension 3 at large strains: its law, as a user writes it, gives the same forces."""
    mesh = D.beam_mesh((0.3, 0.1, 0.1), (3, 1, 1))
    mujoco, engine, data = flex(mesh.nodes, mesh.tetrahedra, 1e4)
    moved = 0.01 * np.random.default_rng(2).standard_normal(mesh.nodes.shape)
    data.qpos[:] = moved.ravel()
    mujoco.mj_forward(engine, data)
    body = flexible(mesh, 1e4, np.ones(len(mesh.nodes)))
    forces = D.Coupled(None, body).elements.forces(mesh.nodes + moved, np.zeros_like(moved))
    expected = data.qfrc_passive.reshape(-1, 3)
    assert np.abs(forces - expected).max() < 1e-12 * np.abs(expected).max() > 0.0


def test_flex_on_a_pendulum_moves_as_in_mujoco():
    """Coupled motion: a flex that is pinned to a swinging body, 250 steps of MuJoCo's RK4 against tolerances.

    MuJoCo's pinned nodes have no mass, and its free ones an inertia, which is set to nearly nothing.
    """
    mesh, T = D.beam_mesh((0.3, 0.1, 0.1), (3, 1, 1)), 0.05
    nodes = mesh.nodes + [0.05, 0.0, -0.5]
    pinned = np.flatnonzero(mesh.nodes[:, 0] < 1e-9)
    around = """<body name="bob"><joint type="hinge" axis="0 1 0"/>
        <inertial pos="0 0 -0.4" mass="1.5" diaginertia="0.02 0.03 0.01"/>{}</body>"""
    pin = f'<pin id="{" ".join(map(str, pinned))}"/>'
    option = 'timestep="2e-4" integrator="RK4"'
    mujoco, engine, data = flex(nodes, mesh.tetrahedra, 3e4, around, pin, option)
    engine.body_inertia[2:] = 1e-16
    engine.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    data.qvel[0] = 2.0
    for _ in range(250):
        mujoco.mj_step(engine, data)
    mujoco.mj_forward(engine, data)
    b = kt.ModelBuilder("pendulum")
    b.add_body("bob", joint=kt.joints.Revolute((0, 1, 0)), mass=1.5, com=(0, 0, -0.4), inertia=(0.02, 0.03, 0.01))
    masses = np.full(len(nodes), engine.body_mass[-1])
    masses[pinned] = 1e-13
    scene = D.Coupled(b.build(), flexible(mesh, 3e4, masses, nodes), D.Attachment(pinned, "bob"))
    exact = kt.integrators.Adaptive("dop853", rtol=1e-10, atol=1e-10)
    run = scene.simulate(T, T, v0=[2.0], velocities=np.cross([0.0, 2.0, 0.0], nodes), integrator=exact)
    assert run.q[-1, 0] == pytest.approx(data.qpos[0], rel=1e-10)
    assert np.abs(run.x[-1] - data.flexvert_xpos).max() < 1e-10
    turned = run.x[0] @ kt.pose(scene.model, run.q[-1], frame="bob").R_WF.T
    assert np.abs(run.x[-1] - turned).max() > 2e-3  # it bends, too


def test_cantilever_converges_to_beam_theory():
    """Euler-Bernoulli's ``F L^3 / (3 E I)`` with Timoshenko's shear, ``+ F L / (k G A)``, k = 5/6, nu = 0.

    Tetrahedra of constant strain are too stiff, by an error that tends to order h^2; extrapolation leaves 1 %.
    """
    size, force, E = (1.0, 0.2, 0.2), 1.0, 1e6
    inertia, area = size[1] * size[2] ** 3 / 12.0, size[1] * size[2]
    expected = force / (3.0 * E * inertia) + force / (5.0 / 6.0 * 0.5 * E * area)
    found = []
    for n in (2, 4, 8):
        scene = D.Coupled(None, beam((5 * n, n, n), size=size))
        nodes = scene.elements
        load = np.zeros((len(nodes), 3))
        tip = np.flatnonzero(nodes.rest[:, 0] > 1.0 - 1e-9)
        load[tip, 2] = force * nodes.masses[tip] / nodes.masses[tip].sum()
        K = stiffness(scene)
        u = scene.matrix.solve(K, load[nodes.free].reshape(-1, 1)).reshape(-1, 3)
        found.append(np.mean(u[np.isin(nodes.free, tip), 2]))
    errors = expected - np.array(found)
    assert np.all(errors > 0.0)
    assert errors[0] / errors[1] > 2.5 and errors[1] / errors[2] > 3.5
    extrapolated = found[2] + (found[2] - found[1]) / 3.0
    assert extrapolated == pytest.approx(expected, rel=0.01)


def test_axial_frequencies_of_a_bar():
    """Fixed and free: ``(2 k - 1) / (4 L) sqrt(E / rho)`` with nu = 0, to the order h^2 of the mesh."""
    errors = []
    for n in (8, 16):
        scene = D.Coupled(None, beam((n, 1, 1), size=(1.0, 0.1, 0.1)))
        nodes = scene.elements
        M = np.repeat(nodes.masses[nodes.free], 3)
        values, modes = eigh(stiffness(scene).toarray() / np.sqrt(M[:, None] * M[None]))
        axial = np.sum((modes.reshape(-1, 3, len(values))[:, 0]) ** 2, axis=0) > 0.9
        found = np.sqrt(values[axial][:2]) / (2.0 * np.pi)
        errors.append(found / (np.array([1.0, 3.0]) / 4.0 * np.sqrt(1e6 / 1000.0)) - 1.0)
    assert np.abs(errors[1]).max() < 0.01
    assert np.all(np.abs(errors[0] / errors[1] - 4.0) < 0.7)


def test_frequencies_of_a_strand():
    """The discrete closed form of equal masses and springs, ``2 sqrt(k/m) sin((2 i - 1) pi / (2 (2 n + 1)))``."""
    n, mass, EA = 12, 0.39, 250.0
    rope = D.strand((0, 0, 0), (0, 0, -2.0), n, mass=mass, axial_stiffness=EA, fixed=[0])
    K = stiffness(D.Coupled(None, rope)).toarray()[2::3, 2::3]
    found = np.sqrt(np.linalg.eigvalsh(K) / (mass / (n + 1)))
    k = np.arange(1, n + 1)
    expected = 2.0 * np.sqrt(EA * n / 2.0 / (mass / (n + 1))) * np.sin((2 * k - 1) * np.pi / (2 * (2 * n + 1)))
    assert np.allclose(found, expected, rtol=1e-12)


def test_bending_of_a_clamped_strand():
    """Under a force at the tip: the discrete closed form, which tends to ``F L^3 / (3 EI)``; and the first frequency.

    Both clamped nodes do not move, so the first curvature is at node 1: ``F l^3 / EI (n - 1) n (2 n - 1) / 6``.
    """
    n, EI, force = 40, 2.5, 1e-3
    rope = D.strand((0, 0, 0), (1.6, 0, 0), n, mass=0.8, axial_stiffness=1e5, bending_stiffness=EI, fixed=[0, 1])
    scene = D.Coupled(None, rope)
    K = stiffness(scene)
    load = np.zeros((n - 1, 3))
    load[-1, 2] = force
    tip = scene.matrix.solve(K, load.reshape(-1, 1))[-1, 0]
    assert tip == pytest.approx(force * (1.6 / n) ** 3 / EI * (n - 1) * n * (2 * n - 1) / 6, rel=1e-9)
    assert tip == pytest.approx(force * 1.6**3 / (3.0 * EI), rel=0.04)
    lateral = np.linalg.eigvalsh(K.toarray()[2::3, 2::3] / (0.8 / (n + 1)))
    assert np.sqrt(lateral[0]) == pytest.approx(3.516 * np.sqrt(EI / (0.5 * 1.6**4)), rel=0.02)


@pytest.mark.parametrize("law", ["corotated", "neo_hookean", "stable_neo_hookean"])
def test_invariants_of_a_free_body(law):
    """Momentum, spin and energy of a body that flies and vibrates, within tolerances."""
    body = beam((2, 1, 1), law, (0.4, 0.2, 0.2), clamped=False, young_modulus=1e4, poisson_ratio=0.3)
    scene = D.Coupled(None, body)
    u = np.array([0.3, 0.2, 1.0]) + np.cross([2.0, -1.0, 3.0], body.nodes) + 5.0 * body.nodes * [1.0, -1.0, 0.5]
    run = scene.simulate(0.2, 0.05, velocities=u, integrator=EXACT)
    momentum = np.einsum("n,tni->ti", body.masses, run.u) + body.mass * 9.81 * run.time[:, None] * [0.0, 0.0, 1.0]
    center = np.einsum("n,tni->ti", body.masses, run.x) / body.mass
    spin = np.einsum("n,tni->ti", body.masses, np.cross(run.x - center[:, None], run.u))
    assert np.ptp(run.elastic) > 0.05 * run.kinetic[0]
    assert np.abs(momentum - momentum[0]).max() < 1e-10 * np.abs(momentum).max()
    assert np.abs(spin - spin[0]).max() < 1e-7 * np.abs(spin).max()
    assert np.abs(run.unexplained).max() < 1e-7 * run.kinetic[0]


@pytest.mark.parametrize("integrator, order", [("linearly_implicit", 1), ("bdf1", 1), ("bdf2", 2)])
@pytest.mark.parametrize("law", ["corotated", "neo_hookean"])
def test_order_of_implicit_steps(law, integrator, order):
    """With viscosity, against tolerances; projected second derivatives change the order of none."""
    body = beam((2, 1, 1), law, (0.4, 0.2, 0.2), young_modulus=2e4, poisson_ratio=0.3, viscosity=2e-3, mass_damping=1.0)
    scene = D.Coupled(None, body)
    exact = scene.simulate(0.05, 0.05, integrator=EXACT)
    errors = []
    for dt in (1e-3, 5e-4):
        run = scene.simulate(0.05, dt, integrator=integrator, record=kt.Record(every=round(0.05 / dt)))
        errors.append(np.abs(run.x[-1] - exact.x[-1]).max())
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.2)
    assert errors[1] < 0.05 * np.abs(exact.x[-1] - exact.x[0]).max()


def test_inverted_elements_recover():
    """A crushed cube of stable neo-Hookean elasticity comes back to its shape."""
    body = beam((2, 2, 2), "stable_neo_hookean", (0.2, 0.2, 0.2), poisson_ratio=0.4, viscosity=0.02, young_modulus=1e4)
    scene = D.Coupled(None, body, gravity=(0.0, 0.0, 0.0))
    x = body.nodes.copy()
    x[:, 0] *= -0.5
    run = scene.simulate(2.0, 1e-2, nodes=x, integrator="bdf1")
    assert np.abs(run.x[-1] - body.nodes).max() < 1e-3 * 0.2


def test_bounded_energies_keep_elements_from_inversion():
    """Newton's corrections of neo-Hookean elements are shortened where an element would have no energy."""
    body = beam((2, 1, 1), "neo_hookean", (0.2, 0.1, 0.1), young_modulus=1e3, poisson_ratio=0.3)
    scene = D.Coupled(None, body, gravity=(0.0, 0.0, 0.0))
    u = np.zeros_like(body.nodes)
    u[:, 0] = -20.0 * body.nodes[:, 0]
    run = scene.simulate(0.2, 1e-2, velocities=u, integrator="bdf1")
    assert np.isfinite(run.elastic).all() and run.elastic.max() > 0.5
    assert np.diff(run.energy).max() < 1e-6 * run.energy.max()


def test_conjugate_gradients_agree_with_factors():
    """Two solutions of the same steps, of a body on a pendulum."""
    model = kt.models.pendulum()
    frame = model.body_names[-1]
    body = beam((4, 2, 2), "corotated", (0.5, 0.1, 0.1), clamped=False, viscosity=1e-3)
    end = body.inside((-1.0, -1.0, -1.0), (1e-9, 1.0, 1.0))
    found = []
    for solver in ("direct", "cg"):
        scene = D.Coupled(model, body, D.Attachment(end, frame), solver=solver)
        found.append(scene.simulate(0.1, 1e-2, [0.4]))
    assert np.allclose(found[0].x, found[1].x, rtol=0.0, atol=1e-9)
    assert np.allclose(found[0].v, found[1].v, rtol=0.0, atol=1e-8)


def test_factors_of_earlier_matrices_serve_large_systems():
    """Steps of 3,000 coordinates with factors of the first matrix and a few iterations agree with new factors."""
    scene = D.Coupled(None, beam((20, 6, 6), "corotated", (1.0, 0.3, 0.3)))
    matrix = scene.matrix
    state = scene.state()
    right = np.random.default_rng(3).standard_normal((3 * len(scene.elements.free), 1))

    def blocks(stiff):
        entries, _ = scene.elements.matrix(state.x, state.u, stiff, 0.0)
        return matrix.blocks(entries, 1.0)[0].copy()

    matrix.solve(blocks(1e-4), right)
    first, ff = matrix._factors, blocks(1.1e-4)
    found = matrix.solve(ff, right)
    assert matrix._factors is first
    assert np.abs(ff @ found - right).max() < 1e-8
    runs = [scene.simulate(0.04, 1e-2) for _ in range(2)]
    assert np.array_equal(runs[0].x, runs[1].x)  # each has factors of its own
    assert matrix._factors is first
    ff = blocks(1e-1)
    found = matrix.solve(ff, right)
    assert matrix._factors is not first
    assert np.abs(ff @ found - right).max() < 1e-9 * np.abs(ff.data).max() * np.abs(found).max()


def test_solid_whose_nodes_are_all_attached_is_a_payload():
    """Its masses and their accelerations on the body are those of point masses: the same joint accelerations."""
    model = kt.models.puma_like()
    rng, tool = np.random.default_rng(5), model.body_names[-1]
    q, v = rng.standard_normal(model.nq), rng.standard_normal(model.nv)
    body = beam((1, 1, 1), size=(0.2, 0.1, 0.1), clamped=False)
    at = rng.standard_normal((8, 3)) * 0.1
    scene = D.Coupled(model, body, D.Attachment(range(8), tool, at))
    state = scene.state(q, v)
    a, _ = accelerations(scene, state, Load(np.zeros(model.nv)))
    loaded = model
    elastic = scene.elements.forces(state.x, np.zeros_like(state.u))
    for mass, place in zip(body.masses, at, strict=True):
        loaded = kt.surgery.add_payload(loaded, tool, mass, place)
    J = scene.attachment_jacobian(q)[0]
    tau = np.einsum("nik,ni->k", J, elastic[scene.elements.attached])
    expected = kt.forward_dynamics(loaded, q, v, tau)
    assert np.abs(a - expected).max() < 1e-10 * np.abs(expected).max()


def test_momentum_of_a_robot_with_a_beam_in_free_space():
    """Two-way coupling: momenta of the robot with a floating base and of the beam together are constant."""
    model = kt.load("quadruped", floating_base=True).replace(gravity=(0.0, 0.0, 0.0))
    foot = model.body_names[-1]
    p = kt.pose(model, model.neutral(), frame=foot).p_WF
    material = D.Material(1e3, 0.3, 500.0)
    body = D.beam((0.4, 0.1, 0.1), (2, 1, 1), material, origin=p)
    end = body.inside((-np.inf, -np.inf, -np.inf), (p[0] + 1e-9, *EVERYWHERE[1:]))
    scene = D.Coupled(model, body, D.Attachment(end, foot))
    v = 0.5 * np.random.default_rng(6).standard_normal(model.nv)
    run = scene.simulate(0.01, 0.01, v0=v, integrator=EXACT)
    found = []
    for q, v, x, u in zip(run.q, run.v, run.x, run.u, strict=True):
        h = np.array(kt.momentum(model, q, v))
        nodes = np.concatenate((np.cross(x, u), u), axis=1) * body.masses[:, None]
        found.append(h + nodes.sum(axis=0))
    assert np.abs(found[1] - found[0]).max() < 1e-7 * np.abs(found[0]).max()
    assert np.abs(run.x[1] - run.x[0]).max() > 1e-3


GMSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
6
1 0 0 0
2 1000 0 0
3 0 1000 0
4 0 0 1000
5 1000 1000 1000
6 9 9 9
$EndNodes
$Elements
3
1 2 2 0 1 1 2 6
2 4 2 0 1 1 2 3 4
3 4 2 0 1 2 3 4 5
$EndElements
"""


def test_meshes_of_files(tmp_path):
    """Gmsh's text format in millimeters: triangles and nodes that belong to them alone are left out."""
    pytest.importorskip("meshio")
    (tmp_path / "two.msh").write_text(GMSH)
    mesh = D.read_mesh(tmp_path / "two.msh", scale=1e-3)
    assert mesh.nodes.shape == (5, 3) and mesh.volumes == pytest.approx([1.0 / 6.0, 1.0 / 3.0])
    (tmp_path / "none.msh").write_text(
        GMSH.replace("2 4 2 0 1 1 2 3 4\n3 4 2 0 1 2 3 4 5\n", "").replace("\n3\n1 2 2", "\n1\n1 2 2")
    )
    with pytest.raises(kt.errors.GeometryError, match="no cells of kind 'tetra'; its cells: triangle"):
        D.read_mesh(tmp_path / "none.msh")
    (tmp_path / "broken.msh").write_text("hello")
    with pytest.raises(kt.errors.GeometryError, match="meshio cannot read it"):
        D.read_mesh(tmp_path / "broken.msh")


@pytest.mark.parametrize("law", ["linear", "corotated"])
def test_solids_in_the_hand_start_without_stress(law):
    """Placed where the frame is, turned as it is: no elastic energy; left where it was: a note on the start."""
    arm, mesh, q = kt.models.pendulum(), D.beam_mesh((0.3, 0.1, 0.1), (2, 1, 1)), np.array([1.2])
    hand = kt.pose(arm, q, frame=arm.body_names[-1])
    clamp = D.Attachment(np.flatnonzero(mesh.nodes[:, 0] > 0.2), arm.body_names[-1])
    placed = D.solid(mesh, D.Material(1e5, law=law), origin=hand.p_WF, rotation=hand.R_WF)
    run = D.Coupled(arm, placed, clamp, q=q).simulate(1e-3, 1e-3, q)
    assert run.elastic[0] < 1e-12 and not any("stretched" in note for note in run.notes)
    left = D.Coupled(arm, D.solid(mesh, D.Material(1e5, law=law)), clamp, q=arm.neutral()).simulate(1e-3, 1e-3, q)
    assert left.elastic[0] > 1.0 and "attached nodes of 'solid' start" in left.notes[-1]
