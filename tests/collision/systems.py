"""Random mechanisms with shapes."""

from __future__ import annotations

import numpy as np

import kinetree as kt

LENGTHS = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}


def rotation(rng) -> np.ndarray:
    """A random rotation."""
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def random_geometry(kind: str, rng, name: str = "") -> kt.model.Geometry:
    """A shape of random size and pose."""
    size = tuple(rng.uniform(0.1, 0.3, LENGTHS[kind]))
    return kt.model.Geometry(kind, size, rotation(rng), rng.normal(size=3) * 0.2, name=name)


def shaped(model: kt.Model, kinds, rng) -> kt.Model:
    """The model with one shape of the given kinds in turn on each body."""
    b = kt.ModelBuilder.of(model)
    for k, body in enumerate(model.body_names[1:]):
        kind = kinds[k % len(kinds)]
        b.add_geometry(body, random_geometry(kind, rng, f"{kind} of {body}"))
    return b.build(merge_fixed=False)
