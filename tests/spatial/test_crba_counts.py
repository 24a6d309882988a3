"""Cost of the composite-rigid-body algorithm on unbranched chains of Denavit-Hartenberg links: tables 10.1 and 10.2.

A link transform is two axial screws, a constant one about x and then one about z that holds the joint variable.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from kinetree.algorithms.crba import crba
from kinetree.joints import Joint
from kinetree.model import ModelBuilder
from kinetree.model.numbers import ScalarModel, numbers_of
from kinetree.spatial import (
    AxialRotation,
    FactoredTransform,
    Force,
    Inertia,
    Motion,
    Symmetric3,
    Transform,
    Vector3,
)

from .counting import Counted, count


class Known(Counted):
    """A mass or a distance: the book takes their products as computed beforehand, but counts sums of masses."""

    __slots__ = ()

    def _product(self, other):
        return Known() if isinstance(other, Known) else super()._product(other)

    def _sum(self, other):
        return Known("a", (self, other)) if isinstance(other, Known) else super()._sum(other)

    __mul__ = __rmul__ = __truediv__ = _product
    __add__ = __radd__ = __sub__ = __rsub__ = _sum


def vector(x):
    return Vector3(x(), x(), x())


def force(x):
    return Force(vector(x), vector(x))


def inertia(x):
    return Inertia(Known(), vector(x), Symmetric3(*(x() for _ in range(6))))


def link(x):
    """From the parent: the constant screw about x, whose products of sines are known, then the joint's about z."""
    constant = AxialRotation(0, x(), x())
    _ = constant.products, constant.doubles
    return FactoredTransform(
        Transform(AxialRotation(2, x(), x()), Vector3(0.0, 0.0, Known())),
        Transform(constant, Vector3(Known(), 0.0, 0.0)),
    )


def to_parent(X, y):
    return X.inverse_apply(y)


def test_costs_of_table_10_2():
    """ra = 10a, vx = 20m + 12a, rx = 2 (15m + 15a) + 2m + 3a = 32m + 33a."""
    assert count(lambda I, J: I + J, inertia, inertia) == (0, 10)
    assert count(to_parent, link, force) == (20, 12)
    assert count(to_parent, link, inertia) == (32, 33)


def listing(I, X):
    """Table 10.2 to the letter: every line counts in full, whatever the result needs of it."""
    H, Ic, F_at_root = [], list(I), []
    for i in reversed(range(len(I))):
        if i:
            Ic[i - 1] = Ic[i - 1] + X[i].inverse_apply(Ic[i])
        F = force(Counted)  # column 3 of Ic[i]; the book makes no use of the zero in it
        for j in range(i, 0, -1):
            H.append(F.angular.z)
            F = X[j].inverse_apply(F)
        F_at_root.append(F)
    return H, Ic, F_at_root


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
def test_row_7_14_of_table_10_1(n):
    """The listing costs (10n^2 + 22n - 32)m + (6n^2 + 37n - 43)a, exactly (eq. 10.3)."""

    def several(build):
        return lambda x: [build(x) for _ in range(n)]

    counted = count(listing, several(inertia), several(link))
    assert counted == (10 * n**2 + 22 * n - 32, 6 * n**2 + 37 * n - 43)


# Our algorithm on a model of such links --------------------------------------------------------------------------


class Angle(Counted):
    """A joint variable; its sine and cosine are not counted, as in the book."""

    __slots__ = ()

    def sincos(self):
        return Counted(), Counted()


@dataclass(frozen=True)
class Screwed(Joint):
    """Revolute, with the successor's frame at a distance along the axis, so that the transform is one axial screw."""

    distance: float
    nq = nv = 1
    constant_subspace = True

    def transform(self, q):
        s, c = q[0].sincos()
        return Transform(AxialRotation(2, c, s), Vector3(0.0, 0.0, self.distance))

    def motion_subspace(self, q):
        return (Motion(Vector3(0.0, 0.0, 1.0), Vector3.zero()),)


def dh_chain(n):
    """n general bodies on general Denavit-Hartenberg links."""
    rng, builder = np.random.default_rng(n), ModelBuilder(f"dh{n}")
    for i in range(n):
        length, twist, distance = rng.uniform(0.3, 1.2, 3).tolist()
        placement = Transform(AxialRotation(0, float(np.cos(twist)), float(np.sin(twist))), Vector3(length, 0.0, 0.0))
        root = rng.normal(size=(3, 3))
        inertia = np.trace(root @ root.T) * np.eye(3) - root @ root.T
        builder.add_body(
            f"link{i + 1}", f"link{i}" if i else "world", Screwed(distance), placement=placement, mass=1.5,
            com=rng.uniform(0.1, 0.3, 3), inertia=inertia,
        )  # fmt: skip
    return builder.build()


@pytest.mark.parametrize("n", [2, 3, 6, 12])
def test_our_algorithm_beats_row_7_14(n):
    """(10n^2 + 14n - 40)m + (6n^2 + 30n - 60)a: less by (8n + 8)m + (7n + 17)a.

    Products of masses and distances are counted here. What is saved is the zero in column 3 of Ic, all but H_11 of the
    first composite inertia, and all but the moment about the axis in the last transform of F (the book's own hints).
    """
    model = dh_chain(n)
    numbers = numbers_of(model)

    def unknown(x):  # numbers that are exact zeros are structure
        return [x() if free else value for value, free in zip(numbers.values.tolist(), numbers.free, strict=True)]

    def positions(x):
        return [Angle() for _ in range(n)]

    m, a = count(lambda values, q: crba(ScalarModel(model, values), q), unknown, positions)
    assert (m, a) == (10 * n**2 + 14 * n - 40, 6 * n**2 + 30 * n - 60)
