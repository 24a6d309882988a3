"""Trees, states and finite differences that the tests of derivatives share."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

import kinetree as kt
from kinetree.joints import Free, Joint, Prismatic, Reversed, Revolute, Spherical, examples
from kinetree.spatial import Motion, Transform, Vector3
from kinetree.spatial.rotations import rz

LONG = np.longdouble


def every_joint() -> list[Joint]:
    """One joint of every registered kind with freedoms, and its reversal."""
    rng = np.random.default_rng(7)
    kinds = dict(examples(rng))  # the last example of each kind
    forward = [joint for joint in kinds.values() if joint.nv]
    found = [*forward, *(Reversed(joint) for joint in forward)]
    return [found[k] for k in rng.permutation(len(found))]


GROUP = 4
TREES = range(-(-len(every_joint()) // GROUP))


@functools.cache
def tree(number: int):
    """Trees that together hold every joint of `every_joint`; every second one stands on a floating base."""
    joints = every_joint()[GROUP * number : GROUP * (number + 1)]
    return assembled(f"tree{number}", [Free(), *joints] if number % 2 else joints, number)


def assembled(name: str, joints, seed: int):
    """A branched tree of these joints, with random placements, bodies and armatures; some floating bases have none."""
    rng = np.random.default_rng(seed)
    builder = kt.ModelBuilder(name)
    for i, joint in enumerate(joints):
        lengths = rng.uniform(0.2, 0.5, 3)
        mass = rng.uniform(1.0, 3.0)
        builder.add_body(
            f"body{i}",
            "world" if i == 0 else f"body{rng.integers(max(0, i - 2), i)}",
            joint,
            placement=(rng.uniform(-0.5, 0.5, 3), rng.uniform(-1.0, 1.0, 3)),
            mass=mass,
            com=rng.uniform(-0.2, 0.2, 3),
            inertia=np.diag(mass * (lengths @ lengths - lengths**2) / 12.0),
            armature=rng.uniform(0.05, 0.2) if i % 3 == 0 and not (isinstance(joint, Free) and seed % 4 == 3) else None,
        )
    return builder.build()


@dataclass(frozen=True)
class Cam(Joint):
    """Two freedoms, a subspace that changes with both, and no bias of its own: the contract's defaults serve."""

    lift: float = 0.3
    nq = nv = 2

    def transform(self, q):
        return Transform(rz(q[0]), Vector3(self.lift * q[0] * q[0], q[1], 0.2 * q[0] * q[1]))

    def motion_subspace(self, q):
        E = rz(q[0])
        return (
            Motion(Vector3(0.0, 0.0, 1.0), E @ Vector3(2.0 * self.lift * q[0], 0.0, 0.2 * q[1])),
            Motion(Vector3.zero(), E @ Vector3(0.0, 1.0, 0.2 * q[0])),
        )


CAMS = assembled("cams", [Cam(), Revolute((0.0, 1.0, 0.0)), Cam(0.1), Cam(-0.2), Prismatic((1.0, 0.0, 0.0))], 3)


# What is compiled in tests: small, so that compiling it is quick, with a quaternion and a branch.
BALL = assembled("ball", [Spherical(), Revolute((0.0, 1.0, 0.0)), Prismatic((1.0, 0.0, 0.0))], 1)


def state(model, seed: int, dtype=float):
    """A random position, three standard normal velocity-like arrays, and wrenches on all bodies."""
    rng = np.random.default_rng(seed)
    q, rest = model.random_q(rng), rng.standard_normal((3, model.nv))
    f_ext = rng.standard_normal((model.nb, 6))
    f_ext[0] = 0.0
    q = kt.normalize(model, np.asarray(q, dtype))
    return (q, *rest.astype(dtype), f_ext.astype(dtype))


STENCIL = ((-2, 1.0 / 12.0), (-1, -8.0 / 12.0), (1, 8.0 / 12.0), (2, -1.0 / 12.0))


def along(function, moved, count: int, h=5e-5):
    """Columns d/ds of ``function(moved(s e_k))``, for e_k of ``count`` unit vectors: central differences, O(h^4).

    Both functions take leading axes: all displaced states are one batch of extended precision (64 bits), where the
    error is about 1e-19 / h + h^4: 2e-15 of the function's size, times the condition of M where it is solved with.
    """
    steps = np.array([s for s, _ in STENCIL], LONG)
    f = np.asarray(function(moved(LONG(h) * steps[:, None, None] * np.eye(count, dtype=LONG))))
    weights = np.array([LONG(round(12 * w)) / 12 for _, w in STENCIL])
    return np.moveaxis(np.tensordot(weights, f, 1), 0, -1) / LONG(h)


def differences(function, model, q, *rest):
    """Derivatives of ``function(q, *rest)`` in the tangent of q and in each further array, in extended precision."""
    found = [along(lambda x: function(x, *rest), lambda s: kt.integrate(model, q, s), model.nv)]
    for n, x in enumerate(rest):

        def moved(s, x=x):
            return x + s.reshape(*s.shape[:-1], *x.shape)

        found.append(along(lambda y, n=n: function(q, *rest[:n], y, *rest[n + 1 :]), moved, x.size))
    return found


def second_difference(function, directions, others, h=2.5e-4):
    """d^2/ds dt of ``function(s d + t e)`` at 0 for pairs of displacements (d, e): O(h^4) in both, one batch.

    In extended precision the error is about 1e-19 / h^2, 2e-12 of the function's size, and h^4 = 4e-15 times its sixth
    derivatives, which grow with the sixth power of the displacements: 3e-11 relative for trees of ten joints.
    """
    d, e = np.asarray(directions, LONG), np.asarray(others, LONG)
    grid = [(s, t, LONG(round(12 * a)) * LONG(round(12 * b)) / 144) for s, a in STENCIL for t, b in STENCIL]
    f = np.asarray(function(np.stack([LONG(h) * (s * d + t * e) for s, t, _ in grid])))
    return np.tensordot(np.array([w for *_, w in grid]), f, 1) / LONG(h) ** 2


def close(found, expected, tolerance: float) -> None:
    """Assert equality relative to the largest expected entry, or to 1."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape
    worst = np.max(np.abs(found - expected), initial=0.0)
    scale = max(1.0, np.max(np.abs(expected), initial=0.0))
    assert worst <= tolerance * scale, f"off by {worst:.3g} of {scale:.3g}"
