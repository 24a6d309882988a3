"""Gradients of simulations of deformables on the bodies of a model: difference quotients of all that can be varied."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, ShapeError, SimulationError, UnknownNameError, UnsupportedError
from kinetree.io import load_mjcf

D = kt.deformables
STEPS = 4
NUMBERS = {
    "link.mass": 0.5, "link.r.x": 0.5, "gravity.z": -9.81, "tendon cord.stiffness": 30.0,
    "tendon cord.rest_length.0": 0.2, "drive.gain_parameters.0": 2.0,
}  # fmt: skip
ARM = """<mujoco><compiler angle="radian"/><option gravity="0 0 {gravity.z}"/><worldbody>
  <site name="wall" pos="1 .3 .5"/>
  <body name="base"><joint name="base" type="ball"/><site name="hook" pos="0 .1 0"/>
    <inertial pos=".1 0 .1" mass="1" diaginertia=".1 .12 .15"/>
    <body name="link" pos="{link.r.x} 0 .1" euler="0 0 .2"><joint name="link" axis="0 1 0" damping=".1"/>
      <inertial pos="0 0 0" mass="{link.mass}" diaginertia=".02 .05 .05"/>
      <site name="tip" pos=".4 0 0" euler=".1 .2 0"/></body></body></worldbody>
  <tendon>
    <spatial name="cord" stiffness="{tendon cord.stiffness}" springlength="{tendon cord.rest_length.0}" damping=".5">
      <site site="wall"/><site site="tip"/></spatial></tendon>
  <actuator>
    <general name="drive" joint="link" dyntype="filter" dynprm=".05" gainprm="{drive.gain_parameters.0}"/>
  </actuator></mujoco>"""


def arm(numbers=NUMBERS):
    text = ARM
    for name, value in numbers.items():
        text = text.replace(f"{{{name}}}", repr(float(value)))
    return load_mjcf(text)


def rope(**options):
    given = {"mass": 0.2, "axial_stiffness": 20.0, "bending_stiffness": 0.01, "damping": 0.05, "mass_damping": 0.3}
    return D.strand((0.1, 0, 0), (0.9, 0, 0.1), 4, **given | options)


def block():
    return D.beam((0.3, 0.1, 0.1), (2, 1, 1), D.Material(2e4, 0.35, 1000.0, viscosity=5e-3, law="neo_hookean"))


def hooks(body):
    if body.name == "strand":
        return [D.Attachment(0, "hook", at=(0.05, 0, 0)), D.Attachment(4, "tip", at=(0.1, 0, 0.02))]
    ends = body.inside((-1, -1, -1), (1e-9, 1, 1))
    return [D.Attachment(ends, "tip", at=body.nodes[list(ends)])]


def running(s):
    return s.position(1).x ** 2 + 0.1 * s.velocity(2).dot(s.velocity(2)) + 0.1 * s.v[0] ** 2 + 0.01 * s.tau[1] ** 2


def terminal(s):
    return (s.position(3).z + 0.3) ** 2 + 0.1 * s.velocity(0).dot(s.velocity(1)) + s.q[1]


class Case:
    """The objective over the factors of three random directions: of the start, the inputs, the numbers and masses."""

    groups = ("q0 v0 x0 nodes velocities", "tau control", "masses numbers")

    def __init__(self, body, integrator: str) -> None:
        self.body, self.integrator, self.model = body, integrator, arm()
        self.dt = 5e-4 if integrator == "semi_implicit" else 1e-2
        rng, m, n = np.random.default_rng(0), self.model, body.nodes.shape
        q0 = kt.integrate(m, m.neutral(), 0.3 * rng.normal(size=m.nv))
        place = kt.pose(m, q0, frame="tip") if body.name == "beam" else None
        rest = body.nodes if place is None else place.p_WF + body.nodes @ place.R_WF.T
        self.at = {
            "q0": q0,
            "v0": 0.5 * rng.normal(size=m.nv),
            "x0": [0.3],
            "nodes": rest + 0.004 * rng.normal(size=n),
            "velocities": 0.3 * rng.normal(size=n),
            "tau": 0.3 * rng.normal(size=(STEPS, m.nv)),
            "control": rng.normal(size=(STEPS, 1)),
            "masses": body.masses,
            "numbers": np.array(list(NUMBERS.values())),
        }
        sizes = {"q0": 0.01, "v0": 0.1, "x0": 0.1, "nodes": 4e-4, "velocities": 0.1}
        sizes |= {"masses": 0.1 * body.masses, "numbers": 0.01 * self.at["numbers"]}
        self.along = {
            name: sizes.get(name, 1.0) * rng.normal(size=m.nv if name == "q0" else np.shape(value))
            for name, value in self.at.items()
        }

    def gradient(self, d):
        d = {name: factor for names, factor in zip(self.groups, d, strict=True) for name in names.split()}
        given = {k: np.add(x, d[k] * self.along[k]) for k, x in self.at.items() if k != "q0"}
        given["q0"] = kt.integrate(self.model, self.at["q0"], d["q0"] * self.along["q0"])
        numbers, body = given.pop("numbers"), replace(self.body, masses=given.pop("masses"))
        model = arm(dict(zip(NUMBERS, numbers, strict=True))) if d["numbers"] else self.model
        given |= {"running": running, "terminal": terminal, "numbers": tuple(NUMBERS), "integrator": self.integrator}
        return D.Coupled(model, body, hooks(body)).rollout_gradient(STEPS * self.dt, self.dt, **given)

    def slopes(self) -> list[float]:
        found = self.gradient(np.zeros(3))
        parts = {name: getattr(found, name) for name in self.along} | {"numbers": [found.numbers[x] for x in NUMBERS]}
        each = {name: float(np.sum(np.multiply(parts[name], self.along[name]))) for name in parts}
        assert min(map(abs, each.values())) > 1e-9  # of every variable
        return [sum(each[name] for name in names.split()) for names in self.groups]


CASES = [(rope, integrator) for integrator in ("semi_implicit", "linearly_implicit", "bdf1", "bdf2")]


@pytest.mark.parametrize(("body", "integrator"), [*CASES, (block, "linearly_implicit")])
def test_gradients_are_difference_quotients(body, integrator):
    """By the start of joints, nodes and internal states; by forces and inputs; by masses and numbers of the model.

    The rope hangs between two bodies; of the solid, viscous, four nodes are on one of them.
    """
    case = Case(body(), integrator)
    check = kt.check_gradient(lambda d: case.gradient(d).value, np.zeros(3), case.slopes(), step=0.02)
    assert check.error < 1e-7


@pytest.mark.parametrize("integrator", ["semi_implicit", "linearly_implicit"])
def test_gradients_with_a_loop(integrator):
    """A rope on the coupler of a four-bar linkage: along changes that keep the loop closed, and by masses."""
    model, rng = kt.models.four_bar(), np.random.default_rng(0)
    q0, _ = model.keyframe("initial")
    body = D.strand((0, 0, 0), (0.6, 0, 0.2), 3, mass=0.3, axial_stiffness=20.0, damping=0.05)
    nodes = kt.pose(model, q0, frame="coupler").p_WF + body.nodes + 0.02 * rng.normal(size=body.nodes.shape)
    v0, along, other = (kt.closed_loops.project_velocity(model, q0, rng.normal(size=3)) for _ in range(3))
    dt = 1e-3 if integrator == "semi_implicit" else 1e-2

    def cost(d):
        q = kt.closed_loops.project_position(model, q0 + d[0] * along)
        masses = replace(body, masses=body.masses * (1.0 + d[2]))
        scene = D.Coupled(model, masses, D.Attachment(0, "coupler", at=(0.1, 0.05, 0)), q=q0)
        return scene.rollout_gradient(
            3 * dt, dt, q, v0 + d[1] * other, nodes=nodes, integrator=integrator,
            terminal=lambda s: s.position(2).z ** 2 + s.velocity(0).x + s.q[1] * s.v[0],
        )  # fmt: skip

    found = cost(np.zeros(3))
    slopes = [found.q0 @ along, found.v0 @ other, found.masses @ body.masses]
    assert kt.check_gradient(lambda d: cost(d).value, np.zeros(3), slopes, step=1e-3).error < 1e-7


@pytest.mark.parametrize("integrator", ["semi_implicit", "linearly_implicit"])
def test_gradients_where_a_joint_changes_its_chart(integrator):
    """A rope on a body whose rotation vector passes the length at which another one takes its place."""
    b, rng, axis = kt.ModelBuilder("ball"), np.random.default_rng(0), np.array([0.6, 0.8, 0.0])
    inertia = {"mass": 1.0, "com": (0.1, 0.0, 0.1), "inertia": (0.1, 0.12, 0.15)}
    b.add_body("base", "world", kt.joints.SphericalExponential(), "ball", **inertia)
    model, q0, dt = b.build(), 4.6 * axis + [0.0, 0.0, 0.05], 1e-3 if integrator == "semi_implicit" else 1e-2
    v0, along, other = 0.3 / dt * axis / 4, rng.normal(size=3), rng.normal(size=3)
    body = D.strand((0.3, 0, 0), (0.9, 0, 0.1), 3, mass=0.2, axial_stiffness=20.0, damping=0.05)
    place = kt.pose(model, q0, frame="base")
    nodes = place.p_WF + body.nodes @ place.R_WF.T

    def cost(d):
        q, masses = kt.integrate(model, q0, d[0] * along), replace(body, masses=body.masses * (1.0 + d[2]))
        scene = D.Coupled(model, masses, D.Attachment(0, "base", at=(0.3, 0, 0)), q=q0)
        return scene.rollout_gradient(
            6 * dt, dt, q, v0 + d[1] * other, nodes=nodes, tau=[0.1, 0.2, 0.3], integrator=integrator,
            terminal=lambda s: s.position(2).z ** 2 + s.velocity(1).x + s.position(3).y,
        )  # fmt: skip

    found = cost(np.zeros(3))
    slopes = [found.q0 @ along, found.v0 @ other, found.masses @ body.masses]
    assert kt.check_gradient(lambda d: cost(d).value, np.zeros(3), slopes, step=1e-3).error < 1e-7


def test_a_model_without_attached_nodes():
    """The model and the rope are then two systems: the gradient by the joints is that of the model alone."""
    model, dt = arm(), 1e-3
    rng = np.random.default_rng(0)
    q0, v0 = kt.integrate(model, model.neutral(), 0.3 * rng.normal(size=4)), rng.normal(size=4)
    given = {"x0": [0.3], "tau": np.full((20, 4), 0.1), "control": rng.normal(size=(20, 1))}
    cost = {"terminal": lambda s: s.q[0] ** 2 + s.q[1] * s.v[0] + s.v[3] ** 2, "integrator": "bdf1"}
    found = D.Coupled(model, rope(fixed=[0])).rollout_gradient(20 * dt, dt, q0, v0, **given, **cost)
    tau = given.pop("tau")
    alone = kt.rollout_gradient(model, q0, v0, tau, dt, wrt=("tau", "control"), **given, **cost)
    assert found.value == pytest.approx(float(alone.value), rel=1e-9)
    for name in ("q0", "v0", "x0", "tau", "control"):
        theirs = getattr(alone, name)
        np.testing.assert_allclose(getattr(found, name), theirs, atol=1e-8 * np.abs(theirs).max())
    assert not found.nodes.any()


def test_what_is_wrong_is_named():
    """Loops, inputs without a model, arrays of other shapes, numbers that are not there."""
    loop = D.Coupled(kt.models.four_bar(), rope(), q=[0.3, 0.2, 0.1])
    with pytest.raises(UnsupportedError, match="has loops or coupled joints, and the steps are 'bdf1': gradients"):
        loop.rollout_gradient(0.01, 1e-2, integrator="bdf1")
    turning = D.Coupled(kt.models.random_tree(1, 0, joints=[kt.joints.SphericalExponential()]), rope())
    with pytest.raises(UnsupportedError, match="has joints with several charts, and the steps are 'bdf2': gradients"):
        turning.rollout_gradient(0.01, 1e-2, integrator="bdf2")
    alone = D.Coupled(None, rope())
    with pytest.raises(SimulationError, match="tau is given, but there is no model"):
        alone.rollout_gradient(0.01, 1e-2, tau=[1.0])
    scene = D.Coupled(kt.models.pendulum(), rope(), D.Attachment(0, "bob"))
    with pytest.raises(ShapeError, match=r"tau has shape \(3, 1\), expected \(2, 1\) for 2 steps, or \(1,\) for all"):
        scene.rollout_gradient(0.02, 1e-2, tau=np.zeros((3, 1)))
    with pytest.raises(SimulationError, match="no force element of model 'pendulum' has inputs"):
        scene.rollout_gradient(0.02, 1e-2, control=[1.0])
    with pytest.raises(UnknownNameError, match="no number of model 'pendulum' is called 'bob.color'"):
        scene.rollout_gradient(0.02, 1e-2, numbers=["bob.color"])
    with pytest.raises(ArgumentError, match="gives .*, expected a number"):
        scene.rollout_gradient(0.02, 1e-2, terminal=lambda s: s.q)
