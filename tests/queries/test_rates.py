"""Rates of normals and nearest points: finite differences, rolling, polyhedra; contacts gained and lost."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import UnsupportedError
from kinetree.model import Geometry
from tests.queries.pairs_of_shapes import SHAPES, pair, random_q, two_shapes

STEP = 1e-5
PAIRS = [
    (a, b)
    for a in ("sphere", "capsule", "box", "ellipsoid", "plane")
    for b in ("sphere", "capsule", "box", "ellipsoid")
] + [("cylinder", "sphere"), ("cylinder", "ellipsoid"), ("plane", "cylinder")]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_rates_are_the_derivatives_of_distances(a, b):
    """Central differences along v, of round and flat surfaces, edges and corners."""
    rng, model, compared = np.random.default_rng(1), pair(a, b), 0
    for _ in range(10):
        q, v = random_q(rng, 0.4, 0.8), rng.normal(size=6)
        found = kt.collision.contact_rates(model, q, v)
        if found.distance[0] < 1e-3:
            continue
        compared += 1
        ends = [kt.collision.distances(model, kt.integrate(model, q, h * v), refine=True) for h in (STEP, -STEP)]
        for name, rate in (("distance", found.distance_rate), ("normal", found.normal_rate),
                           ("first", found.first_rate), ("second", found.second_rate)):  # fmt: skip
            difference = (getattr(ends[0], name) - getattr(ends[1], name)) / (2.0 * STEP)
            # h^2 times a third derivative, and 1e-14 / h of rounding; coal measures boxes to 1e-11
            np.testing.assert_allclose(rate, difference, atol=2e-6 * (1.0 + np.abs(difference).max()), err_msg=name)
    assert compared >= 2


def test_distance_rate_is_a_row_of_the_contact_jacobian():
    """The third row of each contact times v, where its point is the nearest one."""
    ball = Geometry("sphere", (0.1,), p_BG=(0.0, 0.1, -1.0), name="ball")
    b = kt.ModelBuilder.of(kt.models.double_pendulum())
    b.add_geometry("lower", ball)
    model = b.build().with_contacts(ground=kt.collision.Ground(height=-3.0, normal=(0.1, 0.2, 1.0)))
    rng = np.random.default_rng(2)
    for _ in range(5):
        q, v = rng.normal(size=2), rng.normal(size=2)
        found = kt.collision.contact_rates(model, q, v, model.contacts)
        np.testing.assert_allclose(found.distance_rate, (kt.collision.contact_jacobian(model, q) @ v)[2::3], atol=1e-12)


def test_a_ball_that_rolls_in_a_bowl_and_on_a_ball():
    """On a ball of radius R the center circles with R + r: the normal turns with v / (R + r), the point is at rest."""
    R, r, speed = 2.0, 0.5, 0.3
    model = two_shapes(Geometry("sphere", (R,), name="a"), Geometry("sphere", (r,), name="b"))
    rolling = [0.0, speed / r, 0.0, speed, 0.0, 0.0]  # the velocity of the ball's material point of contact is zero
    found = kt.collision.contact_rates(model, [0.0, 0.0, R + r, 1.0, 0.0, 0.0, 0.0], rolling)
    np.testing.assert_allclose(found.normal_rate, [[speed / (R + r), 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(found.first_rate, [[speed * R / (R + r), 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(found.second_rate, found.first_rate, atol=1e-12)
    assert found.distance_rate[0] == pytest.approx(0.0, abs=1e-15)


def icosphere(path, levels: int) -> str:
    """A polyhedron with corners on the unit sphere, 20 4^levels triangles."""
    import trimesh

    trimesh.creation.icosphere(subdivisions=levels, radius=1.0).export(path)
    return str(path)


def test_polyhedra_have_no_rate_of_the_normal(tmp_path):
    """A ball on a true sphere: its normal turns; on a fine polyhedron it stands still on a face and jumps at edges.

    The jumps make up for all of the turn, so the mean over the way is right, and no finer mesh makes the rate right.
    """
    ball, q, v = Geometry("sphere", (0.1,), name="b"), np.array([0.05, 0.03, 1.1, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)
    v[3] = 1.0
    true = kt.collision.contact_rates(two_shapes(Geometry("sphere", (1.0,), name="a"), ball), q, v)
    assert np.linalg.norm(true.normal_rate[0]) == pytest.approx(1.0 / np.linalg.norm(q[:3]), rel=2e-3)
    for levels in (1, 2, 3):
        mesh = Geometry("mesh", mesh=icosphere(tmp_path / f"{levels}.stl", levels), name="a")
        model = two_shapes(mesh, ball)
        rates, normals = [], []
        for x in np.linspace(-0.6, 0.6, 121):
            at = np.array([x, 0.031, 1.2, 1.0, 0.0, 0.0, 0.0])
            found = kt.collision.contact_rates(model, at, v)
            rates.append(np.linalg.norm(found.normal_rate[0]))
            normals.append(found.normal[0])
        on_faces = np.array(rates) < 1e-9
        assert on_faces.mean() > 0.3  # over faces nothing turns; over edges and corners the ball sees no radius
        assert np.array(rates).max() > 3.0 * np.linalg.norm(true.normal_rate[0])
        turned = np.arccos(normals[0] @ normals[-1])
        assert turned == pytest.approx(2.0 * np.arctan2(0.6, 1.2), abs=0.8 / 2.0**levels)


def test_undetermined_rates_are_not_numbers():
    """The point on parallel faces is any of them; the normal is theirs while they stay parallel."""
    model = pair("plane", "box")
    q = [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]
    sliding = kt.collision.contact_rates(model, q, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(sliding.normal_rate, np.zeros((1, 3)), atol=1e-12)
    assert np.isnan(sliding.first_rate).all()
    assert sliding.distance_rate[0] == pytest.approx(0.0, abs=1e-12)


def test_height_fields_are_refused():
    field = Geometry("heightfield", (1.0, 1.0, 1.0), heights=np.zeros((3, 3)), name="a")
    model = two_shapes(field, Geometry("sphere", (0.1,), name="b"))
    with pytest.raises(UnsupportedError, match="heightfield 'a' has no single normal"):
        kt.collision.contact_rates(model, [0, 0, 1, 1, 0, 0, 0], np.zeros(6))


# Contacts gained and lost ------------------------------------------------------------------------------------------


def test_changes_of_contact():
    """A box on a table: it lands, slides over the edge, is lifted off."""
    table = Geometry("box", (1.0, 1.0, 0.2), name="table")
    model = two_shapes(table, Geometry("box", SHAPES["box"], name="box"))

    def at(x, z):
        return np.array([x, 0.0, 0.15 + z, 1.0, 0.0, 0.0, 0.0])

    (landed,) = kt.collision.contact_changes(model, at(0.0, 0.01), at(0.0, 1e-4))
    assert landed.kind == "gain" and landed.pair == ("table", "box") and landed.height == pytest.approx(1e-4, abs=1e-6)
    (off,) = kt.collision.contact_changes(model, at(0.64, 0.0), at(0.66, 0.0))
    assert off.kind == "loss by geometry" and off.height == pytest.approx(0.0, abs=1e-6)
    (lifted,) = kt.collision.contact_changes(model, at(0.0, 0.0), at(0.01, 0.005))
    assert lifted.kind == "separation" and lifted.height == pytest.approx(0.005, abs=1e-6)
    assert kt.collision.contact_changes(model, at(0.0, 0.0), at(0.1, 0.0)) == ()
