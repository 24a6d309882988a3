"""Models of the library against the numbers of their sources."""

import numpy as np
import pytest

from kinetree import models as library
from kinetree.joints import JOINTS, Free
from kinetree.model.validation import central_inertia
from tests.model.kinematics import frame_poses, mass_matrix


def test_zigzag_arm_has_the_mass_matrix_of_the_book():
    """Featherstone, section 10.2, at alternating +75 and -75 degrees: H 1 to three figures and cond(H) = 725.

    The ten decimals come from an independent computation in double precision.
    """
    H = mass_matrix(library.zigzag_arm(), np.radians([75.0, -75.0] * 3))
    forces = [126.4936759426, 97.4663236170, 69.9762284355, 43.7998475335, 21.9371809109, 6.1646857030]
    np.testing.assert_allclose(H @ np.ones(6), forces, rtol=0, atol=1e-10)
    assert np.linalg.cond(H) == pytest.approx(725.3876, abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "diagonal"),
    [
        (
            (8, 1, 0.0, 1.0),
            "129.21322962419 96.793456047015 65.9771359507141 39.0564060594989 19.4882512015331 7.92706228877346 "
            "2.36587337601383 0.334583333333333",
        ),
        (
            (8, 1, np.pi / 3, 0.95),
            "44.2433763715289 24.6411949332253 15.5176637019391 9.51954491022924 4.4556655526867 1.54107811682915 "
            "0.411924184983701 0.0555687322258536",
        ),
        ((7, 2, np.pi / 2, 1.0), "27.1093852293053 4.82303769679193 4.90407671769441" + 4 * " 0.334583333333333"),
    ],
    ids=["chain", "tapering", "binary"],
)
def test_auto_tree_mass_matrices(arguments, diagonal):
    """Diagonals from a run of spatial_v2 in Octave at q_i = 0.3 i - 0.05 i^2, printed to 15 digits."""
    model = library.auto_tree(*arguments)
    i = np.arange(1, model.nv + 1)
    H = mass_matrix(model, 0.3 * i - 0.05 * i**2)
    np.testing.assert_allclose(np.diag(H), [float(x) for x in diagonal.split()], rtol=1e-13)


def test_auto_tree_parents():
    """parent(i) = floor((i - 2 + ceil(bf)) / bf)."""
    assert library.auto_tree(7, 2).parent == (-1, 0, 1, 1, 2, 2, 3, 3)
    assert library.auto_tree(4, 1).parent == (-1, 0, 1, 2, 3)


def test_shapes_of_the_families():
    """Chain, star and binary tree."""
    assert library.chain_gu(5).parent == (-1, 0, 1, 2, 3, 4)
    assert library.star(4).parent == (-1, 0, 0, 0, 0)
    assert library.binary_tree(3).parent == (-1, 0, 1, 1, 2, 2, 3, 3)
    assert library.binary_tree(3).depth == (0, 1, 2, 2, 3, 3, 3, 3)


def test_star_has_a_diagonal_mass_matrix():
    """Bodies on different branches do not feel each other."""
    model = library.star(6)
    H = mass_matrix(model, model.random_q(np.random.default_rng(0)))
    assert np.count_nonzero(H - np.diag(np.diag(H))) == 0


def test_box_cylinder_as_one_body():
    """With both freedoms locked the box carries diag(I1 + I2, ..., m1 + m2): the limit of example 7.1."""
    model = library.box_cylinder()
    H = mass_matrix(model, model.neutral())
    np.testing.assert_allclose(np.diag(H)[:6], [0.8, 0.8, 0.8, 3.0, 3.0, 3.0], rtol=1e-14)


def test_box_cylinder_articulated_inertia_by_projection():
    """Example 7.1: I^A = diag(I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2), the Schur complement of the freedoms."""
    model = library.box_cylinder(m1=2.0, I1=0.5, m2=1.0, I2=0.3)
    H = mass_matrix(model, model.neutral())
    IA = H[:6, :6] - H[:6, 6:] @ np.linalg.solve(H[6:, 6:], H[6:, :6])
    np.testing.assert_allclose(IA, np.diag([0.5, 0.8, 0.8, 3.0, 2.0, 3.0]), atol=1e-14)


def test_puma_like_stands_as_its_denavit_hartenberg_parameters_say():
    """The last link is where the product of modified Denavit-Hartenberg matrices (Craig, eq. 3.6) puts it."""
    model = library.puma_like()
    q = np.array([0.3, -0.4, 0.5, 0.6, -0.7, 0.8])
    right = np.pi / 2
    rows = [(0, 0, 0), (0, -right, 0), (0.4318, 0, 0.15), (0.0203, -right, 0.4318), (0, right, 0), (0, -right, 0)]
    T = np.eye(4)
    for (a, alpha, d), theta in zip(rows, q, strict=True):
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        T = T @ [[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]]
    np.testing.assert_allclose(np.linalg.inv(frame_poses(model, q)["link6"]), T, atol=1e-14)


def test_random_trees_hold_every_kind_of_joint():
    """The theorems that run on them cover the whole registry."""
    kinds = {joint.kind for joint in library.random_tree(200, seed=0).joints[1:]}
    timeless = {kind for kind, cls in JOINTS.items() if cls.time_dependent is not True}
    assert kinds == timeless
    assert set(JOINTS) - timeless <= {j.kind for j in library.random_tree(250, seed=0, time_dependent=True).joints[1:]}


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_are_reproducible_and_possible(seed):
    """Same seed, same tree; all principal moments obey the triangle inequality."""
    model = library.random_tree(9, seed=seed, floating=True)
    assert model.structure() == library.random_tree(9, seed=seed, floating=True).structure()
    assert isinstance(model.joints[1], Free) and all(1 in model.support(i) for i in model.outward())
    for i in model.outward():
        I1, I2, I3 = np.linalg.eigvalsh(central_inertia(model.I[i]))
        assert 0 < I1 and I3 < I1 + I2
