"""Candidate points of contact at a state: gaps, points and the Jacobian, in the order of ``model.contact_labels``.

Symbols: n is the normal of a contact, from the first to the second body; E its axes (t1, t2, n) in the world. The rows
of a contact are the relative velocity of the two bodies at the contact point, second minus first, along these axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.spec import algorithm
from kinetree.collision.axes import contact_axes
from kinetree.collision.laws import ContactPoint
from kinetree.collision.pair import ContactPair
from kinetree.collision.shape import PlacedShape, snapped
from kinetree.joints.dual import Dual, rate_of
from kinetree.spatial import Matrix3, Vector3
from kinetree.state_kinematics import Kinematics, motion_subspace


class Detected(NamedTuple):
    """A candidate point at a state.

    Attributes
    ----------
    pair : ContactPair
    gap : scalar
        [m].
    position : Vector3
        World coordinates [m].
    axes : tuple of Vector3
        ``(t1, t2, n)`` in world coordinates.
    rows : tuple of dict
        For each axis the relative velocity under a unit of each velocity coordinate, where it is not zero.
    driven : tuple of scalars
        For each axis the relative velocity that joints have by time alone.
    """

    pair: ContactPair
    gap: object
    position: Vector3
    axes: tuple[Vector3, Vector3, Vector3]
    rows: tuple[dict, dict, dict]
    driven: tuple

    def rates(self, v) -> list:
        """The relative velocity along the axes at these velocities."""
        given = zip(self.rows, self.driven, strict=True)
        return [sum((x * v[k] for k, x in row.items()), start=more) for row, more in given]


class BodyPlaces:
    """Poses of shapes and velocities of points at a state, through the bodies: frames cost nothing at run time."""

    def __init__(self, model, kin: Kinematics) -> None:
        self.model, self.kin = model, kin
        self._shapes: dict[str, PlacedShape] = {}
        self._columns: dict[int, list[tuple[Vector3, Vector3]]] = {}

    def placed(self, shape) -> PlacedShape:
        """The shape at this state."""
        if shape.name not in self._shapes:
            frame = self.model.frame(shape.body)
            X, R_BF = self.kin.X_0[frame.body], frame.X_FB.E.T.matrix
            p_B = frame.X_FB.r + R_BF @ Vector3(*shape.p)
            R_BS = _snapped(R_BF @ Matrix3(shape.R))
            self._shapes[shape.name] = PlacedShape.at(shape, X.r + X.E.inverse_apply(p_B), X.E.T.matrix @ R_BS)
        return self._shapes[shape.name]

    def columns(self, i: int) -> list[tuple[Vector3, Vector3]]:
        """Angular and linear velocity of body i, world axes at its origin, under a unit of each of its joint's."""
        if i not in self._columns:
            E = self.kin.X_0[i].E
            S = motion_subspace(self.model, i, self.kin.q)
            self._columns[i] = [(E.inverse_apply(s.angular), E.inverse_apply(s.linear)) for s in S]
        return self._columns[i]

    def _moving(self, pair: ContactPair) -> list[set[int]]:
        """The bodies whose joints move each shape."""
        return [{*self.model.support(self.model.frame(name).body)} for name in pair.frames]

    def coordinates(self, pair: ContactPair) -> set[int]:
        """The velocity coordinates that move the shapes relative to each other."""
        first, second = self._moving(pair)
        return {k for i in first ^ second for k in self.kin.dofs_of(i)}

    def rows(self, pair: ContactPair, at: Vector3, axes: Sequence[Vector3]) -> tuple[dict, dict, dict]:
        """Relative velocity at a point along axes, under a unit of each velocity coordinate."""
        first, second = self._moving(pair)
        rows: tuple[dict, dict, dict] = {}, {}, {}
        for i in sorted(first ^ second):
            arm, onto = at - self.kin.X_0[i].r, axes if i in second else [-axis for axis in axes]
            for k, (angular, linear) in zip(self.kin.dofs_of(i), self.columns(i), strict=True):
                velocity = linear + angular.cross(arm)
                for row, axis in zip(rows, onto, strict=True):
                    row[k] = axis.dot(velocity)
        return rows

    def driven(self, pair: ContactPair, at: Vector3, axes: Sequence[Vector3]) -> tuple:
        """Relative velocity at a point along axes without velocities: that of joints that time moves."""
        first, second = self._moving(pair)
        velocity = Vector3.zero()
        for i in sorted(first ^ second):
            joint = self.model.joints[i]
            if joint.rheonomic:
                X, sigma = self.kin.X_0[i], joint.sigma(self.model.q_of(i, self.kin.q))
                moved = X.E.inverse_apply(sigma.linear) + X.E.inverse_apply(sigma.angular).cross(at - X.r)
                velocity = velocity + moved if i in second else velocity - moved
        return tuple(axis.dot(velocity) for axis in axes)

    def contacts(self, pair: ContactPair) -> list[Detected]:
        """The candidate points of a pair, with their axes and rows."""
        return [self.contact(pair, point) for point in self.points(pair)]

    def points(self, pair: ContactPair) -> list[ContactPoint]:
        """The candidate points of a pair."""
        return pair.points_of(*map(self.placed, pair.shapes))

    def contact(self, pair: ContactPair, point: ContactPoint) -> Detected:
        """A candidate point with its axes and rows."""
        axes = contact_axes(point.normal)
        at = pair, point.position, axes
        return Detected(pair, point.gap, point.position, axes, self.rows(*at), self.driven(*at))


def _snapped(R: Matrix3) -> Matrix3:
    """Constant rotations with exact zeros and ones."""
    return Matrix3([[snapped(x) if isinstance(x, float) else x for x in row] for row in R.rows])


def candidates(model, kin: Kinematics) -> list[ContactPoint]:
    """The candidate points of all pairs."""
    places = BodyPlaces(model, kin)
    return [x for pair in model.contacts for x in places.points(pair)]


def detect(model, kin: Kinematics) -> list[Detected]:
    """The candidate points of a model at a state, with their axes and rows.

    Parameters
    ----------
    model : Model or ScalarModel
    kin : Kinematics
        Of the same model.
    """
    places = BodyPlaces(model, kin)
    return [x for pair in model.contacts for x in places.contacts(pair)]


_GAPS = "Of each candidate point [m]: distance of the surfaces along the normal, negative where they penetrate."


@algorithm(inputs="q", outputs={"gaps": ("n_contacts",)}, body_frames="cheaper", symbols={"gaps": _GAPS})
def contact_gaps(model, q):
    """Gaps of all candidate points of contact.

    Notes
    -----
    Source: Featherstone (2008), section 11.6; formulas of the shapes. In the order of ``model.contact_labels``.
    Identity: the rate of a gap is the third row of its contact in
    `contact_jacobian` times v.

    See Also
    --------
    contact_points, contact_jacobian

    Examples
    --------
    >>> import kinetree as kt
    >>> ball = kt.collision.Shape("bob", "sphere", (0.1,), p=(0.0, 0.0, -1.0), name="ball")
    >>> pair = kt.collision.ContactPair("ground/ball", kt.collision.Shape("world", "plane", name="ground"), ball)
    >>> kt.collision.contact_gaps(kt.models.pendulum().replace(contacts=[pair]), [0.0]).round(12).tolist()
    [-1.1]
    """
    return [x.gap for x in candidates(model, Kinematics(model, q))]


@algorithm(
    inputs="q",
    outputs={"positions": ("n_contacts", 3), "normals": ("n_contacts", 3), "gaps": ("n_contacts",)},
    body_frames="cheaper",
    symbols={
        "positions": "The middle between both surfaces, world coordinates [m].",
        "normals": "Unit normals from the first to the second body, world axes [1].",
        "gaps": _GAPS,
    },
)
def contact_points(model, q):
    """Positions, normals and gaps of all candidate points of contact.

    Notes
    -----
    Source: Featherstone (2008), section 11.6; formulas of the shapes. In the order of ``model.contact_labels``.

    See Also
    --------
    contact_gaps, contact_jacobian
    """
    found = candidates(model, Kinematics(model, q))
    return [[*x.position] for x in found], [[*x.normal] for x in found], [x.gap for x in found]


@algorithm(
    inputs="q",
    outputs={"J": ("n_contact_rows", "nv")},
    body_frames="cheaper",
    symbols={"J": "Three rows for each candidate point, along its axes (t1, t2, n) [m/rad or 1]."},
)
def contact_jacobian(model, q):
    """Jacobian of the contact velocities: relative velocity of both bodies at the contact point, second minus first.

    Notes
    -----
    Rows 3i, 3i + 1, 3i + 2 belong to candidate point i of ``model.contact_labels``. Impulses lambda on the second
    bodies along these axes change the joint momenta by ``J^T lambda``. Source: Featherstone (2008), eq. 11.66, for the
    order of the axes.

    See Also
    --------
    contact_gaps, contact_points
    """
    rows = [row for x in detect(model, Kinematics(model, q)) for row in x.rows]
    return [[row.get(k, 0.0) for k in range(model.nv)] for row in rows]


@algorithm(
    inputs="q v",
    outputs={"bias": ("n_contact_rows",), "normal_rates": ("n_contacts", 3)},
    body_frames="cheaper",
    symbols={
        "bias": "Accelerations of the rows without those of the joints [m/s^2].",
        "normal_rates": "Rates of the unit normals in world axes [1/s].",
    },
)
def contact_bias(model, q, v):
    """``dJ/dt v``: the contact velocities ``J v`` have the rates ``J a`` and this; and the rates of the normals.

    Joints that depend on time add a part of their own to the contact velocities, whose rate is in the bias.

    Notes
    -----
    Source: Featherstone (2008), eq. 11.8, with normals and contact points that move on curved shapes. By numbers that
    carry their rates, so it is exact. Identity: the third row of a contact, ``J a + bias``, is the second derivative of
    its gap.

    See Also
    --------
    contact_jacobian, contact_points

    Examples
    --------
    >>> import kinetree as kt
    >>> box = kt.models.free_shape("box", (0.2, 0.4, 0.2)).with_contacts(ground=True)
    >>> spin = [0.0, 0.0, 3.0, 0.0, 0.0, 0.0]  # about its vertical axis
    >>> with kt.interpreted():
    ...     bias, _ = kt.collision.contact_bias(box, box.neutral(), spin)
    >>> bias[:3].round(12).tolist()  # a corner at (+-0.1, +-0.2) m: w^2 r toward the axis
    [-0.9, -1.8, 0.0]
    """
    contacts = moving_contacts(model, q, v)
    return [rate_of(x) for c in contacts for x in c.rates(v)], [[rate_of(x) for x in c.axes[2]] for c in contacts]


def moving_contacts(model, q, v) -> list[Detected]:
    """`detect` with numbers that carry their rates along the motion, also those of joints that depend on time."""
    rates = [x for i in model.outward() for x in model.joints[i].q_dot(model.q_of(i, q), model.v_of(i, v))]
    moving = model.after(Dual(0.0, 1.0))
    return detect(moving, Kinematics(moving, [Dual(x, rate) for x, rate in zip(q, rates, strict=True)]))
