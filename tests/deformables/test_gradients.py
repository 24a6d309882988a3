"""Gradients of objectives of simulations: difference quotients, and the same system as a model of point masses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.deformables.element_derivatives import variables
from kinetree.deformables.tetrahedra import TETRAHEDRA
from kinetree.errors import ArgumentError, UnknownNameError

D = kt.deformables
NUMBERS = {"young_modulus": 2e4, "poisson_ratio": 0.35, "density": 1000.0, "viscosity": 5e-3, "mass_damping": 0.3}
STEPS = 8


def rope(**options):
    given = {"mass": 0.2, "axial_stiffness": 20.0, "bending_stiffness": 0.01, "damping": 0.05, "fixed": [0]}
    return D.strand((0, 0, 0), (1, 0, 0), 5, **given | options)


def bar(law="corotated", **numbers):
    body = D.beam((0.3, 0.1, 0.1), (3, 1, 1), D.Material(**NUMBERS | numbers, law=law))
    return body.with_fixed(body.inside((-1, -1, -1), (1e-9, 1, 1)))


def running(s):
    return s.position(4).x ** 2 + 0.1 * s.velocity(2).dot(s.velocity(2))


def terminal(s):
    return (s.position(5).z + 0.3) ** 2 + 0.1 * s.velocity(3).dot(s.velocity(3))


def start(body, scale):
    """Displaced, so that no second derivative of an energy has an eigenvalue of zero, and moving."""
    rng = np.random.default_rng(0)
    return body.nodes + scale * rng.normal(size=body.nodes.shape), 0.3 * rng.normal(size=body.nodes.shape)


def gradient(body, nodes, velocities, integrator):
    dt = 5e-4 if integrator == "semi_implicit" else 1e-2
    given = {"running": running, "terminal": terminal, "nodes": nodes, "velocities": velocities}
    return D.Coupled(None, body).rollout_gradient(STEPS * dt, dt, **given, integrator=integrator)


class Changed:
    """The objective over all numbers of a body and its start, changed along random directions by about 1 %."""

    def __init__(self, body, scale: float) -> None:
        self.body, (self.nodes, self.velocities) = body, start(body, scale)
        rng = np.random.default_rng(1)
        sizes = {"nodes": 0.1 * scale, "velocities": 1e-2, "masses": 0.01 * body.masses}
        self.along = {
            name: size * rng.normal(size=getattr(self, name, body.masses).shape) for name, size in sizes.items()
        }
        self.columns = [0.01 * each.parameters * rng.normal(size=each.parameters.shape) for each in body.elements]
        for each, change in zip(body.elements, self.columns, strict=True):
            change[:, self.fixed_columns(each.law)] = 0.0

    @staticmethod
    def fixed_columns(law) -> list[int]:
        names = [name for name, count in (*law.parameters.items(), ("viscosity", 1)) for _ in range(count)]
        return [k for k, name in enumerate(names) if name not in variables(law)]

    def cost(self, integrator, d) -> float:
        """At factors of the directions: of the start, the masses, the parameters."""
        pairs = zip(self.body.elements, self.columns, strict=True)
        elements = [D.Elements(each.law, each.nodes, each.parameters + d[2] * change) for each, change in pairs]
        body = replace(self.body, masses=self.body.masses + d[1] * self.along["masses"], elements=elements)
        nodes, velocities = (getattr(self, name) + d[0] * self.along[name] for name in ("nodes", "velocities"))
        return gradient(body, nodes, velocities, integrator)

    def slopes(self, integrator) -> list[float]:
        found = self.cost(integrator, np.zeros(3))
        moving = np.ones((len(self.nodes), 1))
        moving[list(self.body.fixed)] = 0.0
        by_start = np.sum(found.nodes * self.along["nodes"]) + np.sum(
            found.velocities * moving * self.along["velocities"]
        )
        by_numbers = 0.0
        for each, change in zip(self.body.elements, self.columns, strict=True):
            column = 0
            for name, count in (*each.law.parameters.items(), ("viscosity", 1)):
                if name in variables(each.law):
                    by_numbers += found.elements[self.body.name, each.law.kind][name] @ change[:, column]
                column += count
        return [by_start, found.masses @ self.along["masses"], by_numbers]


CASES = [("rope", integrator) for integrator in ("semi_implicit", "linearly_implicit", "bdf1", "bdf2")]
CASES += [("corotated", "linearly_implicit"), ("neo_hookean", "bdf1")]


@pytest.mark.parametrize(("what", "integrator"), CASES)
def test_gradients_are_difference_quotients(what, integrator):
    """By the start, the masses and the parameters of all elements, along a random direction of each."""
    case = Changed(rope() if what == "rope" else bar(what), 0.02 if what == "rope" else 0.004)
    check = kt.check_gradient(lambda d: case.cost(integrator, d).value, np.zeros(3), case.slopes(integrator), step=0.05)
    assert check.error < 1e-7


def test_gradients_by_the_numbers_of_a_material():
    """Young's modulus and the others move Lame's parameters and the masses of all elements."""
    law, integrator = "corotated", "linearly_implicit"
    nodes, velocities = start(bar(law), 0.004)
    material = D.Material(**NUMBERS, law=law)
    found = gradient(bar(law), nodes, velocities, integrator).of_material("beam", material)
    assert set(found) == set(NUMBERS)
    for name, value in NUMBERS.items():

        def cost(x, name=name):
            return gradient(bar(law, **{name: float(x[0])}), nodes, velocities, integrator).value

        assert kt.check_gradient(cost, [value], [found[name]], step=0.01 * value).error < 1e-7


def test_the_gradient_of_a_model_of_point_masses():
    """The same rope as joints, springs and bodies, whose rollouts take a fixed number of corrections."""
    body = rope(bending_stiffness=0.0, damping=0.0)
    nodes, velocities = start(body, 0.05)
    nodes[0] = body.nodes[0]
    scene = D.Coupled(None, body)
    cost = {"terminal": lambda s: (s.position(5).z + 0.3) ** 2 + s.velocity(3).x}
    found = scene.rollout_gradient(0.1, 1e-2, nodes=nodes, velocities=velocities, integrator="bdf1", **cost)
    model = scene.point_mass_model()
    other = kt.rollout_gradient(
        model, (nodes - body.nodes)[1:].ravel(), velocities[1:].ravel(), None, 1e-2, steps=10, integrator="bdf1",
        terminal=lambda s: (s.q[14] + 0.3) ** 2 + s.v[6], wrt=("numbers",), numbers=("spring *.stiffness",),
    )  # fmt: skip
    assert found.value == pytest.approx(float(other.value), rel=1e-6)
    for ours, theirs in (
        (found.nodes[1:].ravel(), other.q0),
        (found.velocities[1:].ravel(), other.v0),
        (found.elements["strand", "spring"]["stiffness"], other.numbers),
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())


def test_a_body_at_rest_has_a_gradient():
    """Singular values of the deformation are equal there, and rotations have no stiffness: still no NaN.

    Along a stretch of the whole body nothing turns, so the difference quotient is that of a smooth function.
    """
    body = bar()
    scene = D.Coupled(None, body.with_fixed([]), gravity=(0, 0, 0))
    cost = {"terminal": lambda s: s.position(5).x}
    found = scene.rollout_gradient(0.05, 1e-2, **cost)
    assert np.isfinite(found.nodes).all() and np.isfinite(found.masses).all()

    def moved(stretch):
        return scene.rollout_gradient(0.05, 1e-2, nodes=body.nodes * (1.0 + stretch[0]), **cost).value

    slope = float(np.sum(found.nodes * body.nodes))
    assert kt.check_gradient(moved, [0.0], [slope], step=1e-3).error < 1e-6


def test_the_shape_at_rest_is_no_variable():
    """Parameters on which the strain depends are left out."""
    assert variables(TETRAHEDRA["corotated"]) == ("volume", "mu", "lam", "viscosity")


def test_what_is_wrong_is_named():
    """Models, nodes and bodies that are not there, objectives without a number."""
    scene = D.Coupled(None, [rope(), rope(name="other")])
    for function, error, message in (
        (lambda s: s.position(1).x, ArgumentError, "names no body of node 1, and there are several: strand, other"),
        (lambda s: s.position(9, "other").x, ArgumentError, "node is 9, expected a node of 'other', 0 to 5"),
        (lambda s: s.velocity(1, "rope").x, ArgumentError, "body is 'rope', expected one of 'strand', 'other'"),
        (lambda s: s.position(1, "other"), ArgumentError, "gives .*, expected a number"),
        (3, ArgumentError, "terminal is 3"),
    ):
        with pytest.raises(error, match=message):
            scene.rollout_gradient(0.01, 1e-2, terminal=function)
    with pytest.raises(ArgumentError, match="duration is 0.015, expected a multiple of dt"):
        scene.rollout_gradient(0.015, 1e-2)
    with pytest.raises(UnknownNameError, match="the bodies with elements of law 'corotated'"):
        scene.rollout_gradient(0.01, 1e-2).of_material("strand", D.Material(1e4))
