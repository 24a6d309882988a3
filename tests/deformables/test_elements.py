"""Element laws: forces and matrices against finite differences of energies, invariances, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.deformables.element_kernels import run
from kinetree.deformables.springs import BENDING, SPRING
from kinetree.deformables.tetrahedra import TETRAHEDRA

LAWS = [SPRING, BENDING, *TETRAHEDRA.values()]
CORNER = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
MU, LAM = 1.3, 2.1
COUNT = 40


def sample(law, rng, amplitude=0.25, viscosity=0.0, damping=0.0):
    """Positions, velocities and parameters of elements; neo-Hookean ones not near their singularity."""
    if law is SPRING:
        x = rng.standard_normal((COUNT, 2, 3))
        p = np.tile([10.0, 1.0, damping, viscosity], (COUNT, 1))
    elif law is BENDING:
        x, p = rng.standard_normal((COUNT, 3, 3)), np.tile([10.0, viscosity], (COUNT, 1))
    else:
        rest = CORNER + 0.1 * rng.standard_normal((COUNT, 4, 3))
        x = rest + amplitude * rng.standard_normal((COUNT, 4, 3))
        edges = (rest[:, 1:] - rest[:, :1]).transpose(0, 2, 1)
        if law.kind == "neo_hookean":
            J = np.linalg.det((x[:, 1:] - x[:, :1]).transpose(0, 2, 1)) / np.linalg.det(edges)
            x[J < 0.3] = rest[J < 0.3] * 1.1
        inverse = np.linalg.inv(edges).reshape(-1, 9)
        constants = np.tile([MU, LAM, viscosity], (COUNT, 1))
        p = np.column_stack((inverse, np.linalg.det(edges) / 6.0, constants))
    return x, rng.standard_normal(x.shape), p


def unpacked(packed):
    """Symmetric matrices from their lower triangles."""
    n = round((np.sqrt(8 * packed.shape[1] + 1) - 1) / 2)
    found, (i, j) = np.zeros((len(packed), n, n)), np.tril_indices(n)
    found[:, i, j] = found[:, j, i] = packed
    return found


def central(f, x, step):
    """Derivatives of a function of the elements' positions, by central differences (ne, ..., 3 size)."""
    columns = []
    for k in range(x[0].size):
        dx = np.zeros(x[0].size)
        dx[k] = step
        dx = dx.reshape(x[0].shape)
        columns.append((f(x + dx) - f(x - dx)) / (2.0 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.kind)
def test_forces_are_the_gradient_of_the_energy(law):
    """Central differences of order h^2 with h = 1e-5: errors of 1e-10 relative, rounding 1e-11."""
    x, v, p = sample(law, np.random.default_rng(1))
    (forces,) = run(law, "forces", x, v, p)
    gradient = central(lambda x: run(law, "energy", x, v, p)[0], x, 1e-5)
    assert np.abs(forces.reshape(COUNT, -1) + gradient).max() < 1e-8 * np.abs(forces).max()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.kind)
def test_rate_of_forces_is_their_derivative_along_the_velocities(law):
    """The rate of the kernel of matrices, without projection."""
    x, v, p = sample(law, np.random.default_rng(2))
    _, rate = run(law, "matrix", x, v, p, np.array([1.0, 0.0]))
    K = central(lambda x: run(law, "forces", x, v, p)[0].reshape(COUNT, -1), x, 1e-5)
    expected = np.einsum("emn,en->em", K, v.reshape(COUNT, -1))
    assert np.abs(rate.reshape(COUNT, -1) - expected).max() < 1e-8 * np.abs(K).max()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.kind)
def test_stiffness_is_projected_in_the_space_of_the_strain(law):
    """NumPy's eigenvalue decomposition of finite differences over the strain, negative eigenvalues set to zero."""
    x, v, p = sample(law, np.random.default_rng(3))
    K = unpacked(run(law, "matrix", x, v, p, np.array([1.0, 0.0]))[0])
    forces = lambda x: run(law, "forces", x, v, p)[0].reshape(COUNT, -1)  # noqa: E731
    H = -central(forces, x, 1e-5)
    size = law.size
    if law is SPRING:
        G = np.tile(np.column_stack((-np.eye(3), np.eye(3))), (COUNT, 1, 1))
    elif law is BENDING:
        G = np.tile(np.column_stack((np.eye(3), -2.0 * np.eye(3), np.eye(3))), (COUNT, 1, 1))
    else:
        inverse = p[:, :9].reshape(-1, 3, 3)
        B = np.concatenate((-inverse.sum(axis=1, keepdims=True), inverse), axis=1)  # node by column of F
        G = np.einsum("eaj,ik->eijak", B, np.eye(3)).reshape(COUNT, 9, 12)
    G_inverse = np.linalg.pinv(G)
    inner = np.einsum("emk,emn,enl->ekl", G_inverse, H, G_inverse)
    values, vectors = np.linalg.eigh(0.5 * (inner + inner.transpose(0, 2, 1)))
    positive = np.einsum("ekn,en,eln->ekl", vectors, np.maximum(values, 0.0), vectors)
    expected = np.einsum("ekm,ekl,eln->emn", G, positive, G)
    assert K.shape == (COUNT, 3 * size, 3 * size)
    assert np.abs(K - expected).max() < 1e-7 * np.abs(expected).max()
    assert np.linalg.eigvalsh(K).min() > -1e-13 * np.abs(K).max()
    if law.projection != "none":
        assert values.min() < -1e-3 * np.abs(values).max()  # the sample has what is projected


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.kind)
def test_viscous_forces_dissipate_and_have_the_matrix_as_slope(law):
    """``f(v) - f(0) = -D v``, and the power ``v D v`` is not negative."""
    x, v, p = sample(law, np.random.default_rng(4), viscosity=0.3, damping=0.7)
    D = unpacked(run(law, "matrix", x, v, p, np.array([0.0, 1.0]))[0])
    (moving,), (still,) = run(law, "viscous_forces", x, v, p), run(law, "viscous_forces", x, 0.0 * v, p)
    damping = (moving - still).reshape(COUNT, -1)
    assert np.allclose(damping, -np.einsum("emn,en->em", D, v.reshape(COUNT, -1)), atol=1e-13 * np.abs(D).max())
    assert np.all(np.einsum("em,em->e", damping, v.reshape(COUNT, -1)) < 1e-12)
    assert np.abs(damping).max() > 0.1


@pytest.mark.parametrize("law", [law for law in LAWS if law.kind != "linear"], ids=lambda law: law.kind)
def test_energies_do_not_change_by_rotation(law):
    """So there is no torque on an element: moments of the forces vanish with it."""
    x, v, p = sample(law, np.random.default_rng(5))
    R = Rotation.from_rotvec([0.7, -1.1, 0.4]).as_matrix()
    energy, (forces,) = run(law, "energy", x, v, p)[0], run(law, "forces", x, v, p)
    turned = run(law, "energy", x @ R.T + [1.0, 2.0, 3.0], v, p)[0]
    assert np.allclose(turned, energy, rtol=0.0, atol=1e-13 * max(1.0, np.abs(energy).max()))
    scale = np.abs(forces).max()
    assert np.abs(forces.sum(axis=1)).max() < 1e-14 * scale
    assert np.abs(np.cross(x, forces).sum(axis=1)).max() < 1e-14 * scale


@pytest.mark.parametrize("kind", TETRAHEDRA)
def test_laws_agree_with_linear_elasticity_near_rest(kind):
    """Energies of small strains differ by third order: 1e-4 of theirs for strains of 1e-4."""
    rng = np.random.default_rng(6)
    x, v, p = sample(TETRAHEDRA["linear"], rng)
    rest = x.copy()
    edges = (rest[:, 1:] - rest[:, :1]).transpose(0, 2, 1)
    p[:, :9], p[:, 9] = np.linalg.inv(edges).reshape(-1, 9), np.abs(np.linalg.det(edges)) / 6.0
    moved = rest + 1e-4 * rng.standard_normal(rest.shape) * np.linalg.norm(edges, axis=(1, 2))[:, None, None]
    F = np.einsum("eij,ejk->eik", (moved[:, 1:] - moved[:, :1]).transpose(0, 2, 1), p[:, :9].reshape(-1, 3, 3))
    small = np.abs(F - np.eye(3)).max(axis=(1, 2)) < 1e-3
    linear = run(TETRAHEDRA["linear"], "energy", moved, v, p)[0]
    found = run(TETRAHEDRA[kind], "energy", moved, v, p)[0]
    assert small.sum() > 20
    assert np.abs(found / linear - 1.0)[small].max() < 1e-2
    assert np.abs(run(TETRAHEDRA[kind], "energy", rest, v, p)[0]).max() < 1e-14


def test_uniaxial_stress_of_neo_hookean_elasticity():
    """``P = mu (s - 1/s) + lam log(J) / s`` with lateral stretches free of stress, by force on a stretched cube."""
    law, s = TETRAHEDRA["neo_hookean"], 1.6

    def lateral(w):
        return MU * (w * w - 1.0) + LAM * np.log(s * w * w)

    w = brentq(lateral, 0.3, 1.0, xtol=1e-15)
    x = (CORNER * [s, w, w])[None]
    p = np.concatenate((np.eye(3).ravel(), [1.0 / 6.0, MU, LAM, 0.0]))[None]
    (forces,) = run(law, "forces", x, x, p)
    stress = -6.0 * forces[0, 1:].T  # P B^T volume, with B = 1
    expected = MU * (s - 1.0 / s) + LAM * np.log(s * w * w) / s
    assert np.allclose(stress, np.diag([expected, 0.0, 0.0]), atol=1e-13)


def test_corotated_energy_is_that_of_the_polar_decomposition():
    """``mu |F - R|^2 + lam tr(S - 1)^2 / 2`` by SciPy's polar decomposition."""
    from scipy.linalg import polar

    law = TETRAHEDRA["corotated"]
    x, v, p = sample(law, np.random.default_rng(7), 0.15)
    found = run(law, "energy", x, v, p)[0]
    for k in range(COUNT):
        F = (x[k, 1:] - x[k, :1]).T @ p[k, :9].reshape(3, 3)
        R, S = polar(F)
        if np.linalg.det(F) > 0.1:
            expected = p[k, 9] * (MU * np.sum((F - R) ** 2) + 0.5 * LAM * np.trace(S - np.eye(3)) ** 2)
            assert found[k] == pytest.approx(expected, rel=1e-12)


def test_kernels_agree_with_the_interpreted_program():
    """The corotated matrix, the longest program, without machine code."""
    from kinetree.deformables.element_kernels import element_program

    law = TETRAHEDRA["corotated"]
    x, v, p = sample(law, np.random.default_rng(8))
    weights = np.array([0.7, 0.2])
    found = run(law, "matrix", x, v, p, weights)
    expected = element_program(law, "matrix").interpret([x, v, p, weights])
    for a, b in zip(found, expected, strict=True):
        assert np.allclose(a, b, rtol=0.0, atol=1e-11 * np.abs(b).max())


def test_material_of_steel():
    """Lame's parameters from Young's modulus and Poisson's ratio."""
    mu, lam = kt.deformables.Material(young_modulus=210e9, poisson_ratio=0.3).lame
    assert mu == pytest.approx(80.77e9, rel=1e-4) and lam == pytest.approx(121.15e9, rel=1e-4)
