"""Adjoints of implicit steps: one correction around the end has the derivatives of the step itself."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.manifold import apply_couplings
from kinetree.compiler.derivative_functions import derivative_spec
from kinetree.compiler.time_argument import timed
from kinetree.integrators.kernels import step_of, with_motors
from kinetree.integrators.methods import FIXED_STEP
from tests.forces.user_elements import Servo
from tests.maximal_coordinates.test_parts_of_models import Sinusoid

PASSIVE = kt.integrators.LinearlyImplicit("passive", "exact")
METHODS = {name: FIXED_STEP[name] for name in ("bdf1", "implicit_midpoint")}
METHODS |= {"all forces": kt.integrators.LinearlyImplicit(), "passive forces": PASSIVE, "bdf2": FIXED_STEP["bdf2"]}
# Of the largest derivative; steps by a fixed number of corrections are solved to 1e-10.
TOLERANCE = {"all forces": 1e-12, "passive forces": 1e-12}


def coupled():
    """A hinge with a rotor and a motor with limits and lag, one that follows it, balls, springs and dampers."""
    b = kt.ModelBuilder.of(kt.models.random_tree(4, 1, joints=[kt.joints.Revolute(), kt.joints.Spherical()]))
    first, *_, last = [i for i in b.build().outward() if b.build().joints[i].nv == 1]
    names = b.build().joint_names
    b.add_coupling(names[last - 1], names[first - 1], 1.7, 0.2)
    b.add_rotor("rotor", names[first - 1], ratio=5.0, axial_inertia=0.02, body="world", axis=(1.0, 2.0, 3.0))
    model = b.build(merge_fixed=False)
    model = model.replace(stiffness=np.linspace(2.0, 3.0, model.nv), damping=0.7)
    return model.with_forces(kt.forces.Motor(names[first - 1], torque_limit=0.3, time_constant=0.02))


def driven():
    """A prescribed hinge, an arm with a servo and a muscle with a compliant tendon, whose fiber follows in a step."""
    model = kt.models.random_tree(3, 5, joints=[kt.joints.Revolute(), kt.joints.Prismatic()])
    motion = kt.constraints.PrescribedMotion(model.joint_names[0], Sinusoid(0.4, 3.0, 0.5))
    model = model.with_constraints(motion).replace(damping=0.4)
    rng = np.random.default_rng(2)
    return model.with_forces(kt.forces.Muscle.example(model, rng), Servo.example(model, rng))


MODELS = {"coupled": functools.cache(coupled), "driven": functools.cache(driven)}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method_name", METHODS)
def test_a_correction_around_the_end_has_the_derivatives_of_the_step(method_name, name):
    """By state, forces, wrenches, inputs, and numbers of springs, masses and couplings, in reverse mode."""
    model, method = MODELS[name](), METHODS[method_name]
    rng, h = np.random.default_rng(3), 0.01
    q, v = model.random_q(rng).tolist(), rng.normal(size=model.nv).tolist()
    q, v = apply_couplings(model, q, v) if model.couplings else (q, v)
    x = np.array(model.initial_state()) - 0.25 * rng.random(model.nx)  # fibers away from their equilibrium
    given = {"q": q, "v": [*v, *x], "tau": rng.normal(size=model.nv).tolist(), "dt": h}
    given |= {"t": 0.3, "f_ext": rng.normal(size=(model.nb, 6)).tolist(), "u": rng.uniform(0.2, 0.5, model.nu).tolist()}
    specs = [timed(with_motors(spec, model), model) for spec in (step_of(method.algorithm, model), method.around_end)]
    memory = [x for x in specs[0].inputs if x.endswith("_ahead") or x == "part"]
    if memory:
        start = timed(with_motors(method.start, model), model)
        given |= dict(zip(memory, start.function(model, **_taken(given, start)), strict=True))
    end = specs[0].function(model, **_taken(given, specs[0]))
    given["v_end"] = list(end[1])
    numbers = tuple(j for j, x in enumerate(model.numbers().values) if np.isfinite(x) and x)
    present = tuple(x for x in ("f_ext", "u") if x in specs[0].optional and given[x])
    wrt = ("q", "v", *memory, "tau", *present, "numbers")
    ends = tuple(f"{x}_next" for x in ("q", "v", *memory))
    weights = [rng.normal(size=len(x)).tolist() for x in end]
    found = []
    for spec in specs:
        vjp = derivative_spec(spec, "vjp", wrt, ends, present, numbers, len(model.numbers()))
        found.append(vjp.function(model, *(given[x] for x in vjp.inputs if x in given), *weights))
    for x, expected, mine in zip(wrt, *found, strict=True):
        expected, mine = np.array(expected, float), np.array(mine, float)
        error = np.abs(mine - expected).max() / np.abs(expected).max()
        assert error < TOLERANCE.get(method_name, 1e-8), (x, error)


def _taken(given: dict, spec) -> dict:
    return {x: y for x, y in given.items() if x in spec.inputs or x in spec.optional}
