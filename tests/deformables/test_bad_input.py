"""Bad input of deformables: every fault is a named error with the thing, its place and the likely fix."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import (
    ArgumentError,
    CompilationError,
    DuplicateNameError,
    FileFormatError,
    GeometryError,
    ModelError,
    NonFiniteError,
    ShapeError,
    SimulationError,
    UnknownNameError,
    UnsupportedError,
)

D = kt.deformables
CORNER = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
BELOW = [0, 0, -1]


def rope(**options):
    return D.strand((0, 0, 0), (1, 0, 0), 4, **{"mass": 1.0, "axial_stiffness": 100.0} | options)


def mesh(nodes, tetrahedra):
    return lambda: D.TetrahedralMesh(nodes, tetrahedra)


def sheet(nodes, triangles):
    return lambda: D.cloth_of_triangles(nodes, triangles, mass=1.0, stretch_stiffness=1.0)


def attached(*attachments, bodies=None, model=None):
    return lambda: D.Coupled(model or kt.models.pendulum(), bodies or rope(), attachments)


FAULTS = {
    "inverted": (
        mesh([*CORNER, [1, 1, 1]], [[0, 1, 2, 3], [1, 3, 2, 4]]),
        GeometryError,
        r"tetrahedron 1 is inverted: volume -0\.333 m\^3; 1 in all. Exchange two",
    ),
    "flat": (mesh([*CORNER[:3], [1, 1, 0]], [[0, 1, 2, 3]]), GeometryError, r"tetrahedron 0 is flat: volume 0 m\^3"),
    "unreferenced": (
        mesh([*CORNER, [5, 5, 5]], [[0, 1, 2, 3]]),
        GeometryError,
        "1 of 5 nodes belong to no tetrahedron",
    ),
    "outside": (mesh(CORNER, [[0, 1, 2, 7]]), GeometryError, "tetrahedron 0 has node 7, expected 0 to 3"),
    "twice": (mesh(CORNER, [[0, 1, 2, 2]]), GeometryError, "tetrahedron 0 has a node twice"),
    "not finite": (mesh([*CORNER[:3], [0, 0, np.nan]], [[0, 1, 2, 3]]), GeometryError, "node 3 is at .*finite"),
    "no tetrahedra": (mesh(CORNER, np.zeros((0, 4), int)), GeometryError, "has no tetrahedra. Fill surfaces"),
    "three on a face": (
        mesh([*CORNER, BELOW, [0.2, 0.2, -0.5]], [[0, 1, 2, 3], [0, 2, 1, 4], [0, 2, 1, 5]]),
        GeometryError,
        r"the face of nodes \[0, 1, 2\] belongs to 3 tetrahedra",
    ),
    "edge contact": (
        mesh([*CORNER, [-1, 0, 0], [0, -1, 0]], [[0, 1, 2, 3], [0, 4, 5, 3]]),
        GeometryError,
        r"4 triangles of the surface meet at the edge of nodes \[0, 3\]",
    ),
    "node contact": (
        mesh([*CORNER, [-1, 0, 0], [0, -1, 0], [0, 0, -1]], [[0, 1, 2, 3], [0, 4, 6, 5]]),
        GeometryError,
        "parts of the surface touch at node 0 alone",
    ),
    "same twice": (mesh(CORNER, [[0, 1, 2, 3], [1, 2, 0, 3]]), GeometryError, "on one side of it: they overlap"),
    "overlap": (
        mesh([*CORNER, [0.2, 0.2, 0.5]], [[0, 1, 2, 3], [0, 1, 2, 4]]),
        GeometryError,
        r"both tetrahedra of the face of nodes \[0, 1, 2\]",
    ),
    "no mesh": (
        lambda: D.solid("duck.msh", D.Material(1e6)),
        ArgumentError,
        r"mesh is 'duck.msh', expected a TetrahedralMesh, as read_mesh\(path\)",
    ),
    "cloth: node": (sheet(CORNER[:3], [[0, 1, 7]]), GeometryError, "'cloth': triangle 0 has node 7, expected 0 to 2"),
    "cloth: loose": (sheet(CORNER, [[0, 1, 2]]), GeometryError, r"1 of 4 nodes belong to no triangle \(node 3"),
    "cloth: flat": (
        sheet([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]]),
        GeometryError,
        r"triangle 0 of nodes \[0, 1, 2\] has the area 0 m\^2; 1 in all",
    ),
    "cloth: three at an edge": (
        sheet([*CORNER, [0, -1, 0]], [[0, 1, 2], [0, 1, 3], [0, 1, 4]]),
        GeometryError,
        r"the edge of nodes \[0, 1\] belongs to 3 triangles, .*not manifold",
    ),
    "cloth: twice": (
        sheet(CORNER[:3], [[0, 1, 2], [1, 2, 0]]),
        GeometryError,
        r"two triangles have the nodes \[0, 1, 2",
    ),
    "cloth: nan": (sheet([*CORNER[:2], [0, np.nan, 0]], [[0, 1, 2]]), GeometryError, "node 2 is at .*finite"),
    "pair": (
        lambda: D.spring_network("net", CORNER, [1] * 4, [[0, 1], [2, 9]], stiffness=1.0),
        ModelError,
        r"'net': pairs\[1\] is \[2, 9\], expected two different nodes from 0 to 3",
    ),
    "end": (
        lambda: D.strand((0, 0, np.nan), (1, 0, 0), 3, mass=1.0, axial_stiffness=1.0),
        ArgumentError,
        "start is .*nan.*expected finite numbers",
    ),
    "empty box": (lambda: rope().inside((2, 0, 0), (3, 0, 0)), GeometryError, "no node of deformable 'strand' is in"),
    "turned box": (lambda: rope().inside((2, 0, 0), (1, 0, 0)), ArgumentError, "a corner that is not below lower"),
    "nowhere": (lambda: rope().nearest((np.nan, 0, 0)), ArgumentError, "point is .*nan.*expected finite numbers"),
    "no nodes": (lambda: D.Attachment([], "bob"), ArgumentError, "at least one number of a node"),
    "at": (lambda: D.Attachment(0, "bob", (0, 0, np.inf)), ArgumentError, "finite positions in the frame"),
    "one place": (attached(D.Attachment([0, 1], "bob", (0, 0, 0))), ModelError, "1 positions for 2 nodes"),
    "start": (
        lambda: attached(D.Attachment(0, "bob"))().simulate(0.1, 0.01, [np.nan]),
        NonFiniteError,
        "the position 'pivot' is not",
    ),
    "start of nodes": (
        lambda: D.Coupled(None, rope()).simulate(0.1, 0.01, nodes=np.full((5, 3), np.nan)),
        NonFiniteError,
        "the position of node 0 is not",
    ),
    "states": (
        lambda: attached(D.Attachment(0, "bob"))().simulate(0.1, 0.01, x0=np.zeros(2)),
        ShapeError,
        r"x0 has shape \(2,\), expected \(0,\)",
    ),
    "density": (lambda: D.Material(1e6, density=-1.0), ArgumentError, r"density is -1.0, expected a positive"),
    "Young": (lambda: D.Material(0.0), ArgumentError, "young_modulus is 0.0, expected a positive number"),
    "Poisson": (lambda: D.Material(1e6, 0.5), ArgumentError, "poisson_ratio is 0.5, .*below 0.5"),
    "law": (lambda: D.Material(1e6, law="rubber"), ArgumentError, "law is 'rubber', expected one of 'linear'"),
    "stiffness": (
        lambda: rope(axial_stiffness=-1.0),
        ArgumentError,
        "axial_stiffness is -1.0, expected .*not negative",
    ),
    "rest length": (lambda: rope(rest_length=0.0), GeometryError, "its rest length is 0 m, expected a positive"),
    "segments": (
        lambda: D.strand((0, 0, 0), (1, 0, 0), 0, mass=1.0, axial_stiffness=1.0),
        ArgumentError,
        "segments is 0",
    ),
    "sides": (
        lambda: D.cloth((0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 2), mass=1.0, stretch_stiffness=1.0),
        GeometryError,
        "two vectors at right angles",
    ),
    "mass": (
        lambda: D.spring_network("net", CORNER, [1, 1, 0, 1], [[0, 1], [2, 3]], stiffness=1.0),
        ModelError,
        "'net': node 2 has the mass 0 kg",
    ),
    "loose node": (
        lambda: D.spring_network("net", CORNER, [1] * 4, [[0, 1], [1, 2]], stiffness=1.0),
        GeometryError,
        "'net': 1 of 4 nodes belong to no element",
    ),
    "fixed": (lambda: rope(fixed=[5]), ModelError, "'strand': fixed has node 5, expected 0 to 4"),
    "frame": (attached(D.Attachment(0, "hand")), UnknownNameError, "no frame named 'hand' in model 'pendulum'"),
    "node": (attached(D.Attachment(9, "world")), ModelError, "attachment to 'world' has node 9, expected 0 to 4"),
    "two frames": (
        attached(D.Attachment(0, "bob"), D.Attachment([1, 0], "world")),
        ModelError,
        "node 0 of 'strand' is attached to 'world' and to 'bob'",
    ),
    "fixed and attached": (
        attached(D.Attachment(0, "bob"), bodies=rope(fixed=[0])),
        ModelError,
        "attached to 'bob' and to the world, in which it is fixed",
    ),
    "positions": (attached(D.Attachment([0, 1, 2], "bob", np.zeros((2, 3)))), ModelError, "2 positions for 3 nodes"),
    "body": (attached(D.Attachment(0, "bob", body="rope")), UnknownNameError, "no deformable named 'rope'"),
    "no body": (
        attached(D.Attachment(0, "bob"), bodies=[rope(), rope(name="other")]),
        ModelError,
        "names no body, and there are several: give body= one of 'strand', 'other'",
    ),
    "names": (attached(bodies=[rope(), rope()]), DuplicateNameError, "two deformables are named 'strand'"),
    "no model": (lambda: D.Coupled(None, rope(), D.Attachment(0, "bob")), ModelError, "there is no model"),
    "gravity": (
        lambda: D.Coupled(kt.models.pendulum(), rope(), gravity=(0, 0, 0)),
        ModelError,
        "gravity is that of the",
    ),
    "no bodies": (lambda: D.Coupled(None, []), ModelError, "bodies is empty"),
    "solver": (lambda: D.Coupled(None, rope(), solver="lu"), ArgumentError, "solver is 'lu', expected one of 'direct'"),
    "hard limits": (
        attached(
            model=kt.models.double_pendulum()
            .replace(lower=-1.0, upper=1.0)
            .with_constraints(kt.constraints.HardLimits())
        ),
        UnsupportedError,
        "does not|do not compute",
    ),
    "motor": (
        attached(model=kt.models.pendulum().with_forces(kt.forces.Motor(kt.models.pendulum().joint_names[0], 5.0))),
        UnsupportedError,
        "has motors",
    ),
    "planar": (attached(model=kt.models.double_pendulum().planar()), UnsupportedError, "is planar"),
    "integrator": (
        lambda: D.Coupled(None, rope()).simulate(0.1, 0.01, integrator="bdf3"),
        UnknownNameError,
        "no integrator named 'bdf3' in simulate of coupled deformables. Did you mean 'bdf2'",
    ),
    "options of integrators": (
        lambda: D.Coupled(None, rope()).simulate(0.1, 0.01, integrator=kt.integrators.BDF(2)),
        ArgumentError,
        "integrator is BDF.*expected one of 'linearly_implicit'.*Adaptive",
    ),
    "duration": (lambda: D.Coupled(None, rope()).simulate(0.1, 0.03), ArgumentError, "multiple of dt = 0.03 s"),
    "both forces": (
        lambda: D.Coupled(kt.models.pendulum(), rope()).simulate(
            0.1, 0.1, inputs=kt.Inputs([0]), controller=lambda t, q, v: [0]
        ),
        SimulationError,
        "both controller and inputs.tau are given",
    ),
    "no springs": (
        lambda: D.Coupled(None, D.beam((1, 1, 1), (1, 1, 1), D.Material(1e6))).point_mass_model(),
        UnsupportedError,
        "elements of law 'corotated', expected springs alone",
    ),
    "broken mesh file": (lambda: D.read_mesh(__file__), GeometryError, "meshio cannot read it: .*[a-z]{4}"),
    "run file": (lambda: D.load_run(__file__), FileFormatError, "no run of coupled deformables"),
    "mesh file": (lambda: D.read_mesh("no_such_file.msh"), GeometryError, "no such file, expected a mesh file"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_named_error(name):
    """Its class and the text that names the fault."""
    make, error, message = FAULTS[name]
    with pytest.raises(error, match=message):
        make()


def test_explicit_steps_that_are_too_long_are_named():
    """The error has the time and the node, and a method that is stable."""
    scene = D.Coupled(None, rope(axial_stiffness=1e9, fixed=[0]), gravity=(0, 0, -10.0))
    with (
        np.errstate(all="ignore"),
        pytest.raises(SimulationError, match=r"not finite at t = .* s \(node 1 of 5\).*'linearly_implicit'"),
    ):
        scene.simulate(5.0, 0.01, integrator="semi_implicit")


class ByNumPy(D.ElementLaw):
    """A spring whose length NumPy would take."""

    kind, size = "by_numpy", 2
    parameters = {"k": 1}

    def strain(self, x, p):
        return [b - a for a, b in zip(*x, strict=True)]

    def energy(self, r, p, fixed):
        return p.k * np.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])


def test_functions_of_numpy_in_laws_are_named():
    """The error has the law and where the functions are that take traced values."""
    body = D.Deformable("b", CORNER[:2], [1, 1], D.Elements(ByNumPy(), [[0, 1]], [[1.0, 0.0]]))
    with pytest.raises(CompilationError, match=r"law 'by_numpy': a function of NumPy .* kinetree\.spatial\.scalar"):
        D.Coupled(None, body).simulate(0.1, 0.01)


@pytest.mark.parametrize("call", [kt.rollout, kt.compile, kt.differentiate], ids=lambda call: call.__name__)
def test_functions_of_models_name_the_way_around(call):
    """Rollouts, gradients and exports of coupled deformables are refused; the error has the alternative."""
    with pytest.raises(ArgumentError, match=r"coupled\.simulate\(\.\.\.\) runs them; .* coupled\.point_mass_model\(\)"):
        call(D.Coupled(None, rope()), "forward_dynamics")
