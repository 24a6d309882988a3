"""The smallest models: every algorithm where nothing moves, where one joint does, and where nothing has mass."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import ALGORITHMS
from kinetree.compiler.calls import public_call
from kinetree.errors import ModelError
from kinetree.joints import Fixed, Revolute

CHOICES = {"reference": "world", "kind": "spatial", "axes": "world", "independent": None, "actuated": None}
NO_RODS = {"aba_inverse_inertias", "aba_implicit_joints"}  # rods and points have no inverse inertia: refused by name
OF_MASS = {name for name in ALGORITHMS if name.startswith(("center_of_mass", "centroidal"))}


def block(merged):
    """A body welded to the world: as a frame of the world, or as a body on a joint without freedom."""
    b = kt.ModelBuilder("block")
    b.add_body("block", joint=Fixed(), mass=2.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.2, 0.2))
    return b.build(merge_fixed=merged)


def flywheel():
    """A wheel whose inertia is all armature."""
    b = kt.ModelBuilder("flywheel")
    b.add_body("wheel", joint=Revolute(), mass=0.0, inertia=(0.0, 0.0, 0.0), armature=1.0)
    return b.build()


MODELS = {
    "nothing": lambda: block(True),
    "welded": lambda: block(False),
    "pendulum": kt.models.pendulum,
    "flywheel": flywheel,
}


def results(x):
    return x if isinstance(x, tuple) else (x,)


def pairs():
    """Every algorithm with every model; an ordinary run takes two of the four models of each, the sweep all."""
    for k, name in enumerate(sorted(ALGORITHMS)):
        for m, model in enumerate(("pendulum", "flywheel", "nothing", "welded")):
            yield pytest.param(model, name, id=f"{model}-{name}", marks=[pytest.mark.sweep] if (k + m) % 2 else [])


@pytest.mark.parametrize(("model", "name"), list(pairs()))
def test_every_algorithm(model, name):
    """Compiled is interpreted; batches of any size have the shapes of their states, in both precisions."""
    if model in ("nothing", "flywheel") and name in OF_MASS:
        pytest.skip("no mass moves")
    if model in ("pendulum", "flywheel") and name in NO_RODS:
        pytest.skip("a rod or a point moves")
    model, spec = MODELS[model](), ALGORITHMS[name]
    choices = {"frame": model.frames[-1].name, "forward": model.joint_names, **CHOICES}
    static = {x: choices[x] for x in spec.static}
    f = kt.compile(model, name, **static)
    rng = np.random.default_rng(3)
    shapes = [spec.shape(x, model) for x in f.input_names]
    arrays = [np.asarray(0.01) if x == "dt" else rng.uniform(-1, 1, s)
              for x, s in zip(f.input_names, shapes, strict=True)]  # fmt: skip
    arrays = [x @ x.T + np.eye(len(x)) if y == "M" else x for x, y in zip(arrays, f.input_names, strict=True)]
    with kt.interpreted():
        expected = results(public_call(name)(model, *arrays, **static))
    for dtype, tolerance in ((np.float64, 1e-13), (np.float32, 1e-5)):
        single = f(*(x.astype(dtype) for x in arrays))
        for x, y in zip(results(single), expected, strict=True):
            assert np.shape(x) == np.shape(y) and x.dtype == dtype
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
        for n in (0, 1, 9):
            batch = f(*(np.broadcast_to(x, (n, *x.shape)).astype(dtype) for x in arrays))
            for x, y in zip(results(batch), results(single), strict=True):
                assert x.dtype == dtype
                np.testing.assert_array_equal(x, np.broadcast_to(y, (n, *np.shape(y))))


@pytest.mark.parametrize("name", sorted(OF_MASS))
@pytest.mark.parametrize("model", ["nothing", "flywheel"])
@pytest.mark.parametrize("compiled", [True, False])
def test_without_mass_there_is_no_center(model, name, compiled):
    """The error names the model; nothing is divided by zero."""
    model = MODELS[model]()
    arrays = [np.zeros(model.nv)] * len(ALGORITHMS[name].inputs)
    with pytest.raises(ModelError, match=f"model '{model.name}' has no moving mass"):
        if compiled:
            public_call(name)(model, *arrays)
        else:
            with kt.interpreted():
                public_call(name)(model, *arrays)
