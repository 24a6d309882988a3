"""Every kind of joint force, against calculus: force and energy, slopes, dissipation, structure."""

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.passive import JointState, joint_forces, passive_terms
from kinetree.errors import ModelError, UnknownNameError
from kinetree.forces.registry import FORCES, JOINT_FORCES, PARAMETERS
from kinetree.integrators.implicit import passive_slopes

JOINTS = {"hinge": kt.joints.Revolute((0, 1, 0)), "slide": kt.joints.Prismatic((1, 0, 0)),
          "two": kt.joints.Cylindrical(), "ball": kt.joints.Spherical()}  # fmt: skip


def model_of(joint, gravity=(0, 0, -9.81), **data):
    """A body on a joint."""
    limits = {"lower": -0.3, "upper": 0.2} if joint.nq == joint.nv else {}
    b = kt.ModelBuilder(gravity=gravity)
    b.add_body("body", joint=joint, joint_name="joint", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1.0, 1.0, 1.0),
               **limits, **data)  # fmt: skip
    return b.build()


def of_kind(cls, joint, rng):
    """A model with one force of the kind; another parameter for each coordinate."""
    values = {p.name: rng.uniform(0.5, 2.0, joint.nv) for p in cls.parameters if not p.position}
    values |= {p.name: joint.random(rng) for p in cls.parameters if p.position}
    return model_of(joint, **values)


def states(model, rng):
    """States within limits and beyond, near rest and fast."""
    for spread, speed in ((0.1, 1.0), (1.0, 1.0), (1.0, 1e-4)):
        q = np.array(model.neutral())
        yield kt.integrate(model, q, spread * rng.normal(size=model.nv)), speed * rng.normal(size=model.nv)


CASES = [pytest.param(cls, joint, id=f"{cls.kind}-{name}") for cls in JOINT_FORCES for name, joint in JOINTS.items()
         if joint.nq == joint.nv or not cls.beyond_limits]  # fmt: skip


@pytest.mark.parametrize(("cls", "joint"), CASES)
def test_the_force_is_the_gradient_of_the_energy_and_dissipates(cls, joint):
    """Elastic force = -dE/dq along the manifold; the power of the rest is negative and is -d v^2."""
    rng = np.random.default_rng(0)
    model = of_kind(cls, joint, rng)
    assert [type(force) for force in model.forces] == [cls]
    h = 1e-6
    for q, v in states(model, rng):
        rest = kt.dynamics.passive_joint_forces(model.without_limits() if not cls.beyond_limits else model, q, 0.0 * v)
        gradient = [
            (kt.dynamics.elastic_energy(model, kt.integrate(model, q, h * e))
             - kt.dynamics.elastic_energy(model, kt.integrate(model, q, -h * e))) / (2 * h)
            for e in np.eye(model.nv)
        ]  # fmt: skip
        np.testing.assert_allclose(rest, -np.array(gradient), atol=1e-8)
        elastic, damping, _ = passive_terms(model, q.tolist(), v.tolist())
        np.testing.assert_allclose(np.array(elastic, dtype=float), rest, atol=1e-14)
        assert np.all(np.array(damping, dtype=float) >= 0.0)
        assert bool(cls.energy_channel) or not np.any(rest)


@pytest.mark.parametrize(("cls", "joint"), CASES)
def test_slopes_are_the_derivatives(cls, joint):
    """K = d force / dq along the manifold and D = -d force / dv by central differences, of the total force."""
    rng = np.random.default_rng(1)
    model, h = of_kind(cls, joint, rng), 1e-7
    free = model if cls.beyond_limits else model.replace(lower=-np.inf, upper=np.inf)
    force = functools.partial(kt.dynamics.passive_joint_forces, free)
    for q, v in states(model, rng):
        K, D = (np.array(x, dtype=float) for x in passive_slopes(free, q.tolist(), v.tolist()))
        for k, e in enumerate(np.eye(model.nv)):
            ahead, behind = (force(kt.integrate(model, q, s * h * e), v) for s in (1, -1))
            elastic = [force(kt.integrate(model, q, s * h * e), 0 * v) for s in (1, -1)]
            np.testing.assert_allclose(K[:, k], (elastic[0] - elastic[1]) / (2 * h), atol=1e-6)
            faster, slower = (force(q, v + s * h * e) for s in (1, -1))
            np.testing.assert_allclose(D[:, k], -(faster - slower) / (2 * h), rtol=1e-6, atol=1e-6)
            if not cls.beyond_limits:
                np.testing.assert_allclose(K[:, k], (ahead - behind) / (2 * h), atol=1e-6)


@pytest.mark.parametrize(("cls", "joint"), CASES)
def test_the_law_is_what_it_says_of_itself(cls, joint):
    """Largest slopes bound those of any state; at rest the law dissipates most; no depth without limits."""
    rng = np.random.default_rng(2)
    model = of_kind(cls, joint, rng)
    for q, v in states(model, rng):
        ((_, force, at),) = joint_forces(model, q.tolist(), v.tolist())
        assert isinstance(at, JointState)
        stiffness, damping = force.largest_slopes(at)
        assert all(a >= b for a, b in zip(stiffness, force.stiffness_diagonal(at), strict=True))
        assert force.stiff_at_rest or all(a >= b for a, b in zip(damping, force.dissipative(at), strict=True))
        assert all(a >= b for a, b in zip(force.dissipative_at_rest(at), force.dissipative(at), strict=True))
        assert force.beyond_limits or not any(force.depth(at))


def test_elements_and_arrays_are_the_same_data():
    """Elements give the arrays, arrays the elements, and a mapping changes one joint's."""
    rng = np.random.default_rng(3)
    model = kt.models.random_tree(8, seed=3).replace(lower=-np.inf, upper=np.inf)
    values = {cls: {p.name: rng.uniform(0.1, 1.0, model.nv) for p in cls.parameters if not p.position}
              for cls in JOINT_FORCES}  # fmt: skip
    full = model.replace(**{name: x for parts in values.values() for name, x in parts.items()})
    again = model.replace(forces=full.forces)
    assert again.number_values().tolist() == full.number_values().tolist()
    assert again.forces == full.forces and again.structure() == full.structure()
    assert full.replace(forces=()).forces == () and full.replace(forces=()).structure() == model.structure()
    for name in PARAMETERS:
        assert np.array_equal(getattr(again, name), getattr(full, name))


def test_a_number_is_for_all_coordinates_of_a_joint():
    """An element takes one number or one for each coordinate."""
    model = model_of(JOINTS["ball"])
    one = model.replace(forces=[kt.forces.Spring("joint", 3.0), kt.forces.Damping("joint", (1.0, 2.0, 0.0))])
    assert one.stiffness.tolist() == [3.0] * 3 and one.damping.tolist() == [1.0, 2.0, 0.0]
    assert one.spring_reference.tolist() == model.neutral().tolist()


def test_a_stiff_spring_about_one_axis_of_a_ball_joint_is_stable():
    """At large deflections it acts along the other axes, too, where the step needs its slope: energy stays bounded."""
    model = model_of(JOINTS["ball"], gravity=(0, 0, 0), stiffness=(0.0, 0.0, 1e6))
    q, v = kt.integrate(model, model.neutral(), [2.5, 0.0, 0.01]), np.zeros(3)
    start = kt.dynamics.elastic_energy(model, q)
    run = kt.simulate(model, q, v, duration=1.0, dt=0.01, integrator="semi_implicit")
    assert np.max(kt.dynamics.elastic_energy(model, run.q)) < 1.01 * start
    assert np.max(kt.kinetic_energy(model, run.q, run.v)) < start


def test_two_of_a_kind_at_a_joint_are_refused():
    """One joint has one spring; unknown joints are named."""
    model = model_of(JOINTS["hinge"])
    with pytest.raises(ModelError, match="joint 'joint' has two forces of kind 'spring': stiffness is"):
        model.replace(forces=[kt.forces.Spring("joint", 3.0)] * 2)
    with pytest.raises(UnknownNameError, match="no joint named 'elbow'"):
        model.replace(forces=[kt.forces.Spring("elbow", 3.0)])
    with pytest.raises(ModelError, match="damping -1 is negative"):
        model.replace(forces=[kt.forces.Damping("joint", -1.0)])


def test_registered_kinds_have_names_of_their_own():
    """Kinds are unique; a class that is no force element is refused."""
    assert all(cls.kind == kind for kind, cls in FORCES.items())

    class Other(kt.forces.ForceElement):
        kind = "damping"

    with pytest.raises(kt.errors.DuplicateNameError, match="'damping' of class Other is already that of Damping"):
        kt.forces.register(Other)
    with pytest.raises(ModelError, match="is not a subclass of kinetree.forces.ForceElement"):
        kt.forces.register(int)
