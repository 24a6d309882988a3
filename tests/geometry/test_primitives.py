"""Mass properties of primitives: closed forms against trimesh's, meshes of them, and the laws they obey."""

import math

import numpy as np
import pytest

from kinetree.errors import GeometryError, ModelError
from kinetree.geometry import MassProperties, body_mass_properties, mass_properties
from kinetree.model.parts import Geometry
from tests.geometry.solids import random_rotation

trimesh = pytest.importorskip("trimesh")

SHAPES = {
    "box": (0.3, 0.5, 0.7),
    "sphere": (0.4,),
    "cylinder": (0.2, 0.9),
    "capsule": (0.2, 0.5),
    "ellipsoid": (0.2, 0.3, 0.5),
}


def assert_same(found: MassProperties, expected: MassProperties, rtol=1e-12):
    """Equal up to rounding: rtol times the size of each quantity."""
    size = found.volume ** (1.0 / 3.0) + np.abs(found.com).max()
    assert found.mass == pytest.approx(expected.mass, rel=rtol)
    assert found.volume == pytest.approx(expected.volume, rel=rtol)
    np.testing.assert_allclose(found.com, expected.com, atol=rtol * size)
    np.testing.assert_allclose(found.inertia, expected.inertia, atol=rtol * found.mass * size**2)


@pytest.mark.parametrize("kind", ["box", "sphere", "cylinder", "capsule"])
def test_closed_forms_are_those_of_trimesh(kind):
    """trimesh's primitives know exact volumes (box, sphere, cylinder, capsule) and inertias (box, sphere, cylinder)."""
    size = SHAPES[kind]
    primitive = {
        "box": lambda: trimesh.primitives.Box(extents=size),
        "sphere": lambda: trimesh.primitives.Sphere(radius=size[0]),
        "cylinder": lambda: trimesh.primitives.Cylinder(radius=size[0], height=size[1]),
        "capsule": lambda: trimesh.primitives.Capsule(radius=size[0], height=size[1]),
    }[kind]()
    found = mass_properties(Geometry(kind, size), density=1.0)
    if kind == "capsule":  # trimesh has no closed form for it
        exact = math.pi * size[0] ** 2 * (size[1] + 4.0 / 3.0 * size[0])
        assert found.volume == pytest.approx(exact, rel=1e-14)
        return
    assert found.volume == pytest.approx(float(primitive.volume), rel=1e-13)
    np.testing.assert_allclose(found.inertia, primitive.moment_inertia, atol=1e-13)


@pytest.mark.parametrize("kind", SHAPES)
def test_inertia_is_the_integral_over_slices(kind):
    """Gauss quadrature over disks along z: dV = A dz, the moments of a thin ellipse, and z^2 by the parallel axis."""
    size = SHAPES[kind]

    def half_widths(z):
        if kind == "box":
            return size[0] / 2.0, size[1] / 2.0
        if kind in ("sphere", "ellipsoid"):
            a, b, c = size * 3 if kind == "sphere" else size
            s = math.sqrt(max(0.0, 1.0 - (z / c) ** 2))
            return a * s, b * s
        if kind == "cylinder":
            return size[0], size[0]
        beyond = max(0.0, abs(z) - size[1] / 2.0)
        return (math.sqrt(max(0.0, size[0] ** 2 - beyond**2)),) * 2

    top = {"box": size[-1] / 2, "sphere": size[0], "ellipsoid": size[-1], "cylinder": size[-1] / 2}.get(
        kind, size[0] + size[-1] / 2
    )
    breaks = [-top, -size[1] / 2.0, size[1] / 2.0, top] if kind == "capsule" else [-top, top]
    # The integrands are polynomials of degree 4 in z, so ten points are exact.
    nodes, weights = np.polynomial.legendre.leggauss(10)
    sums = np.zeros(4)  # volume, integrals of x^2, y^2, z^2
    for low, high in zip(breaks, breaks[1:], strict=False):
        for node, weight in zip(nodes, weights, strict=True):
            z = 0.5 * (low + high) + 0.5 * (high - low) * node
            a, b = half_widths(z)
            area, share = (4.0 * a * b, 3.0) if kind == "box" else (math.pi * a * b, 4.0)
            sums += weight * 0.5 * (high - low) * area * np.array([1.0, a * a / share, b * b / share, z * z])
    volume, xx, yy, zz = sums
    found = mass_properties(Geometry(kind, size), density=2.0)
    assert found.volume == pytest.approx(volume, rel=1e-13)
    expected = 2.0 * np.diag([yy + zz, zz + xx, xx + yy])
    np.testing.assert_allclose(found.inertia, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", SHAPES)
def test_lengths_scale_the_inertia_by_the_fifth_power(kind):
    """Twice as long at the same density: 8 times the mass, 32 times the inertia."""
    one = mass_properties(Geometry(kind, SHAPES[kind]), density=3.0)
    two = mass_properties(Geometry(kind, tuple(2.0 * x for x in SHAPES[kind])), density=3.0)
    assert two.mass == pytest.approx(8.0 * one.mass, rel=1e-14)
    np.testing.assert_allclose(two.inertia, 32.0 * one.inertia, rtol=1e-14)


@pytest.mark.parametrize("kind", SHAPES)
def test_density_and_mass_are_two_ways_to_say_it(kind):
    """The mass that a density gives, given as mass, gives the same body."""
    shape = Geometry(kind, SHAPES[kind], p_BG=(0.1, 0.2, 0.3))
    dense = mass_properties(shape, density=2700.0)
    assert_same(mass_properties(shape, mass=dense.mass), dense)
    assert dense.density == pytest.approx(2700.0, rel=1e-14)


@pytest.mark.parametrize("kind", SHAPES)
def test_pose_turns_the_tensor_and_moves_the_center(kind):
    """c_B = p + R c_G and I_B = R I_G R^T; a primitive's center is its origin."""
    rng = np.random.default_rng(3)
    R, p = random_rotation(rng), rng.standard_normal(3)
    plain = mass_properties(Geometry(kind, SHAPES[kind]), density=1.0)
    posed = mass_properties(Geometry(kind, SHAPES[kind], R, p), density=1.0)
    np.testing.assert_allclose(posed.com, p, atol=1e-15)
    np.testing.assert_allclose(posed.inertia, R @ plain.inertia @ R.T, atol=1e-15)


def test_capsule_is_between_cylinder_and_sphere():
    """Without length a capsule is a sphere; with a thin radius it is a rod, m l^2 / 12."""
    ball = mass_properties(Geometry("capsule", (0.5, 1e-9)), mass=1.0)
    np.testing.assert_allclose(ball.inertia, np.eye(3) * 0.4 * 0.25, rtol=1e-8)
    rod = mass_properties(Geometry("capsule", (1e-6, 2.0)), mass=1.0)
    assert rod.inertia[0, 0] == pytest.approx(4.0 / 12.0, rel=1e-5)


def test_parts_add_up_to_the_whole():
    """A box cut in eight: the parallel axis theorem puts it together again."""
    whole = Geometry("box", (0.4, 0.6, 0.8), p_BG=(1.0, 2.0, 3.0))
    parts = [
        Geometry("box", (0.2, 0.3, 0.4), p_BG=np.array((1.0, 2.0, 3.0)) + np.array((x, y, z)))
        for x in (-0.1, 0.1)
        for y in (-0.15, 0.15)
        for z in (-0.2, 0.2)
    ]
    expected = mass_properties(whole, density=500.0)
    assert_same(body_mass_properties(parts, density=500.0), expected)
    assert_same(body_mass_properties(parts, mass=expected.mass), expected)


def test_principal_axes_of_a_composite_body():
    """Right-handed, in the order of the moments; a turned box has its formula's moments along its own edges."""
    turn = random_rotation(np.random.default_rng(3))
    box = mass_properties(Geometry("box", (0.4, 0.6, 0.8)), mass=12.0)
    moments, axes = box.seen_from(turn, np.array([1.0, 2.0, 3.0])).principal
    np.testing.assert_allclose(moments, [0.36 + 0.16, 0.64 + 0.16, 0.64 + 0.36], rtol=1e-13)
    np.testing.assert_allclose(np.abs(turn.T @ axes), np.eye(3)[::-1], atol=1e-12)  # the longest edge is the easy axis
    for seed in range(20):
        rng = np.random.default_rng(seed)
        parts = [Geometry("box", rng.uniform(0.1, 1.0, 3), p_BG=rng.standard_normal(3)) for _ in range(3)]
        body = body_mass_properties(parts, density=500.0)
        moments, axes = body.principal
        np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, body.inertia, rtol=0, atol=1e-11 * moments[2])
        np.testing.assert_allclose(axes.T @ axes, np.eye(3), rtol=0, atol=1e-14)
        assert np.linalg.det(axes) == pytest.approx(1.0, abs=1e-13) and (np.diff(moments) >= 0.0).all()


def test_roles_choose_the_shapes():
    """A shape of role "both" always counts, others by their role; "both" takes all."""
    shapes = [
        Geometry("box", (1.0, 1.0, 1.0), role="visual"),
        Geometry("sphere", (1.0,), role="collision"),
        Geometry("cylinder", (1.0, 1.0), role="both"),
    ]
    ball, can = 4.0 / 3.0 * math.pi, math.pi
    for role, volume in (("visual", 1.0 + can), ("collision", ball + can), ("both", 1.0 + ball + can)):
        assert body_mass_properties(shapes, density=1.0, role=role).volume == pytest.approx(volume, rel=1e-14)


def test_a_plane_has_no_mass():
    """A plane encloses nothing."""
    with pytest.raises(GeometryError, match="plane 'floor' has no volume") as caught:
        mass_properties(Geometry("plane", name="floor"), density=1.0)
    assert caught.value.check == "kind"


def test_a_body_without_shapes_of_the_role_is_refused():
    """Nothing is no body."""
    with pytest.raises(GeometryError, match="no shape of role 'collision'"):
        body_mass_properties([Geometry("sphere", (1.0,), role="visual")], density=1.0)


@pytest.mark.parametrize("amount", [{}, {"density": 1.0, "mass": 1.0}])
def test_density_or_mass(amount):
    """Exactly one of the two says how much matter there is."""
    with pytest.raises(ModelError, match="either density= .* or mass="):
        mass_properties(Geometry("sphere", (1.0,)), **amount)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "water"])
@pytest.mark.parametrize("what", ["density", "mass"])
def test_matter_is_positive_and_finite(what, value):
    """Neither zero nor NaN becomes a body in silence."""
    with pytest.raises(ModelError, match=f"{what} is .*expected a positive finite number"):
        mass_properties(Geometry("sphere", (1.0,)), **{what: value})


def test_a_volume_beyond_floats_is_refused():
    """Lengths whose product under- or overflows give no mass of 0 or infinity."""
    for length in (1e-120, 1e120):
        with pytest.raises(GeometryError, match="its volume is"):
            mass_properties(Geometry("sphere", (length,)), density=1.0)


def test_results_are_read_only():
    """Mass properties are values."""
    found = mass_properties(Geometry("sphere", (1.0,)), density=1.0)
    with pytest.raises(ValueError, match="read-only"):
        found.inertia[0, 0] = 1.0
