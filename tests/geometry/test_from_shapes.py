"""Models whose bodies get mass and inertia from their shapes: values, choices, reports and errors."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import GeometryError, ModelError, UnknownNameError
from kinetree.geometry import inertia_from_geometry, inertia_of_shapes, mass_properties
from kinetree.model.parts import Geometry
from kinetree.model.validation import central_inertia

BOX = Geometry("box", (0.1, 0.2, 0.4), p_BG=(0.0, 0.0, 0.2), role="collision")
BALL = Geometry("sphere", (0.1,), p_BG=(0.3, 0.0, 0.0), role="collision")
SKIN = Geometry("cylinder", (0.1, 0.5), role="visual")


def arm(carrier=(BOX, SKIN), hand=(BALL,), **inertia):
    """Two links; the first has no mass, which the second one's armature and mass allow."""
    builder = kt.ModelBuilder("arm")
    turn = kt.joints.Revolute((0.0, 1.0, 0.0))
    builder.add_body("carrier", joint=turn, joint_name="shoulder", geometry=list(carrier), **inertia)
    builder.add_body(
        "hand", "carrier", turn, "elbow", ((0.0, 0.0, 0.4), (0.0, 0.0, 0.0)),
        mass=2.0, com=(0.1, 0.0, 0.0), inertia=(0.01, 0.01, 0.01), geometry=list(hand),
    )  # fmt: skip
    return builder.build()


def assert_body(model, name, expected):
    """The body's inertia is that of the mass properties."""
    I = model.I[model.body(name)]
    assert I.m == pytest.approx(expected.mass, rel=1e-14)
    np.testing.assert_allclose(list(I.com), expected.com, atol=1e-14)
    np.testing.assert_allclose(central_inertia(I), expected.inertia, atol=1e-14)


def test_bodies_without_mass_get_one():
    """By default water: 1000 kg/m^3 in the collision shapes of massless bodies; all others stay."""
    model = arm()
    full = inertia_from_geometry(model)
    assert_body(full, "carrier", mass_properties(BOX, density=1000.0))
    assert full.I[2] is model.I[2] or full.I[2].m == model.I[2].m
    assert model.I[1].m == 0.0, "the original stays as it was"


def test_every_change_is_in_the_report():
    """One warning per changed body, with mass, volume and density; the earlier report stays."""
    model = arm()
    full = inertia_from_geometry(model, density=500.0)
    assert full.report.entries[: len(model.report)] == model.report.entries
    (entry,) = full.report.entries[len(model.report) :]
    assert (entry.level, entry.where) == ("warning", "body 'carrier'")
    assert entry.message == "mass 4 kg, center of mass and inertia from 1 collision shape (0.008 m^3, 500 kg/m^3)"


def test_roles_and_named_bodies():
    """Bodies that are named are replaced, whatever they had; role= says which shapes are matter."""
    full = inertia_from_geometry(arm(), bodies=["carrier", "hand"], density=100.0)
    assert_body(full, "carrier", mass_properties(BOX, density=100.0))
    assert_body(full, "hand", mass_properties(BALL, density=100.0))
    assert_body(inertia_from_geometry(arm(), role="visual"), "carrier", mass_properties(SKIN, density=1000.0))


def test_mappings_name_the_bodies():
    """density= and mass= by body: only those that they name are changed."""
    by_density = inertia_from_geometry(arm(), density={"hand": 300.0})
    assert_body(by_density, "hand", mass_properties(BALL, density=300.0))
    assert by_density.I[1].m == 0.0
    by_mass = inertia_from_geometry(arm(), mass={"carrier": 3.0, "hand": 1.0})
    assert_body(by_mass, "carrier", mass_properties(BOX, mass=3.0))
    assert_body(by_mass, "hand", mass_properties(BALL, mass=1.0))


def test_masses_can_be_kept():
    """mass="keep": what was weighed stays, its distribution comes from the shapes; massless bodies stay massless."""
    kept = inertia_from_geometry(arm(), mass="keep")
    assert_body(kept, "hand", mass_properties(BALL, mass=2.0))
    assert kept.I[1].m == 0.0
    assert "mass 2 kg kept" in str(kept.report)


def test_dynamics_use_it():
    """The mass matrix of the completed arm is that of one whose numbers are typed in."""
    p = mass_properties(BOX, density=1000.0)
    typed = arm(mass=p.mass, com=p.com, inertia=p.inertia)
    q = np.array([0.3, -0.7])
    np.testing.assert_allclose(kt.crba(inertia_from_geometry(arm()), q), kt.crba(typed, q), rtol=1e-13)


def test_bodies_without_shapes_are_left_and_named():
    """A massless body without shapes of the role stays so, with an entry that says which shapes it has."""
    left = inertia_from_geometry(arm(carrier=(SKIN,)))
    assert left.I[1].m == 0.0
    assert "info: body 'carrier': no shape of role 'collision'" in str(left.report)
    assert "'visual'" in str(left.report)


def test_named_bodies_must_have_shapes():
    """Asking for the inertia of nothing is an error."""
    with pytest.raises(GeometryError, match="body 'carrier' has no shape of role 'collision'.*'visual'") as caught:
        inertia_from_geometry(arm(carrier=(SKIN,)), bodies=["carrier"])
    assert caught.value.body == "carrier"


def test_errors_name_the_body():
    """A shape without volume, and a mesh that is not there."""
    with pytest.raises(GeometryError, match="^body 'carrier': plane 'floor' has no volume") as caught:
        inertia_from_geometry(arm(carrier=(Geometry("plane", name="floor"),)))
    assert caught.value.body == "carrier"
    with pytest.raises(GeometryError, match=r"^body 'carrier': mesh package://a/b\.stl: there is no such") as caught:
        inertia_from_geometry(arm(carrier=(Geometry("mesh", mesh="package://a/b.stl"),)))
    assert caught.value.check == "file" and caught.value.file == "package://a/b.stl"


def test_unknown_names_and_choices_are_refused():
    """Misspelled bodies, roles and words are named with the valid ones."""
    with pytest.raises(UnknownNameError, match="carrier"):
        inertia_from_geometry(arm(), bodies=["carier"])
    with pytest.raises(UnknownNameError, match="carrier"):
        inertia_from_geometry(arm(), density={"carier": 1.0})
    with pytest.raises(UnknownNameError, match="collision"):
        inertia_from_geometry(arm(), role="colision")
    with pytest.raises(UnknownNameError, match="keep"):
        inertia_from_geometry(arm(), mass="kept")
    with pytest.raises(ModelError, match="world"):
        inertia_from_geometry(arm(), bodies=["world"])


def test_amounts_are_checked():
    """Both, none for a named body, and negative ones."""
    with pytest.raises(ModelError, match="not both"):
        inertia_from_geometry(arm(), density=1.0, mass="keep")
    with pytest.raises(ModelError, match="body 'hand': density= names carrier, but not this one"):
        inertia_from_geometry(arm(), density={"carrier": 1.0}, bodies=["hand"])
    with pytest.raises(ModelError, match="body 'carrier': density is -1"):
        inertia_from_geometry(arm(), density=-1.0)


def test_what_was_assumed_is_reported(tmp_path):
    """The convex hull of an open mesh stands in the report."""
    pytest.importorskip("trimesh")
    from tests.geometry import solids

    vertices, faces = solids.box()
    file = solids.write_obj(tmp_path / "lid.obj", vertices, faces[2:])
    full = inertia_from_geometry(arm(carrier=(Geometry("mesh", mesh=file),)), convex_hull="if_needed")
    assert full.I[1].m == pytest.approx(1000.0, rel=1e-14)
    assert "convex hull of mesh" in str(full.report)


def test_shapes_of_one_body():
    """For readers of files: mass properties, or None where there are no shapes of the role."""
    found = inertia_of_shapes([BOX, SKIN], 10.0)
    assert found.mass == pytest.approx(0.08, rel=1e-14)
    assert inertia_of_shapes([SKIN], 10.0) is None
    assert inertia_of_shapes([BOX, SKIN], mass=3.0, role="visual").mass == 3.0
    with pytest.raises(GeometryError, match="^link 'a': plane"):
        inertia_of_shapes([Geometry("plane")], what="link 'a'")
