"""Unified local velocity coordinates: the motion of a rigid body by six velocities of its points.

Six points y_i of the body, six directions b_i, and the coordinates are ``w_i = b_i . v(y_i)`` (eq. 18): all six are
translational velocities. In this library's terms, the unit force along b_i at y_i is a wrench
``d_i = (y_i x b_i, b_i)``, and w_i is its power on the twist V. So the six wrenches are the rows of D (``w = D V``, eq.
54), the motions of the reciprocal basis the columns of D^-1 (``V = D^-1 w``, eq. 71), and a :class:`Projection` is a
basis of forces together with its basis of motions.

Source: S. Holzinger, J. Gerstmayr, J. Schoeberl, "A rigid body formulation with non-redundant unified local velocity
coordinates", with these differences. Twists are (angular, linear) here and (linear, angular) there. D need not be
orthogonal, so V = D^-1 w, where the paper has D^T w for the cube with half edges of 1; the mass matrix of eq. 56 then
becomes ``D^-T I D^-1``. The body's center of mass may be anywhere. ``velocity_matrix`` is the integral of eq. 49, which
is skew, so that its power vanishes; the matrix printed in eq. 56 is another one with the same product Gamma(w) w.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from kinetree.errors import JointError
from kinetree.liegroup.se3 import right_jacobian_solve
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Force, Motion
from kinetree.spatial.scalar import SNAP
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Matrix3, Vector3

REGULAR = 1e-10  # the least ratio of singular values of D, lengths measured by the farthest point


@dataclass(frozen=True, slots=True)
class Projection:
    """Six directions at six points of a body, whose velocities determine its motion.

    Parameters
    ----------
    directions : six sequences of three floats
        b_i in body coordinates, of any length but zero [1]: a length scales the coordinate.
    points : six sequences of three floats
        y_i in body coordinates [m], from the body's origin.

    Raises
    ------
    JointError
        If there are not six of each, a direction is zero, or D is singular: the message names its rank and a motion
        for which all six velocities are zero.

    Notes
    -----
    *Identities* ``coordinates(twist(w)) = w``; ``generalized_force(F) . w = F . twist(w)``;
    ``w^T velocity_matrix(I, w) w = 0``; ``mass_matrix`` is the Hessian of the kinetic energy.

    Examples
    --------
    >>> cube = Projection.hexahedral()
    >>> w = cube.coordinates(Motion.of([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))  # a turn about z
    >>> [round(x, 4) for x in w]
    [0.7071, 0.7071, 0.0, 0.0, 0.0, 0.0]
    >>> cube.velocity_at(w, Vector3(1.0, 0.0, 0.0)).y
    1.0
    """

    directions: tuple[tuple[float, float, float], ...]
    points: tuple[tuple[float, float, float], ...]
    forces: tuple[Force, ...] = field(init=False, repr=False, compare=False)
    motions: tuple[Motion, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        b, y = (_six_vectors(name, getattr(self, name)) for name in ("directions", "points"))
        for number, direction in enumerate(b, start=1):
            if not any(direction):
                raise JointError(f"projection: direction b{number} is zero; expected any other vector.", number=number)
        rows = [_snapped(Force.at_point(Vector3(*d), Vector3(*p)), d, p) for d, p in zip(b, y, strict=True)]
        _check_rank(rows, b, y)
        columns = zip(*_inverse([list(row) for row in rows]), strict=True)
        # A frozen dataclass sets attributes derived from its fields in this way.
        for name, value in (("directions", b), ("points", y), ("forces", tuple(rows))):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "motions", _snapped_motions(columns))

    # Choices of points and directions ---------------------------------------------------------------------------------

    @classmethod
    def hexahedral(cls, l1: float = 1.0, l2: float = 1.0, l3: float = 1.0) -> Projection:
        """The centers of a box's faces and directions along its edges (eqs. 19 to 24, fig. 4a).

        Parameters
        ----------
        l1, l2, l3 : float
            Half the edges along x, y, z [m]. With 1, D is orthogonal and det D = -1.

        Examples
        --------
        >>> D = Projection.hexahedral().D
        >>> bool(np.allclose(D @ D.T, np.eye(6), rtol=0.0, atol=1e-15))
        True
        """
        s = math.sqrt(0.5)
        return cls(
            ((s, 0, 0), (-s, 0, 0), (0, s, 0), (0, -s, 0), (0, 0, s), (0, 0, -s)),
            ((0, -l2, 0), (0, l2, 0), (0, 0, -l3), (0, 0, l3), (-l1, 0, 0), (l1, 0, 0)),
        )

    @classmethod
    def tetrahedral(cls, l1: float = 1.0, l2: float = 1.0, l3: float = 1.0) -> Projection:
        """The middles of a tetrahedron's edges and directions along them (fig. 4b), lengths 1/sqrt(2).

        Parameters
        ----------
        l1, l2, l3 : float
            Half the edges [m] of the box of which the tetrahedron takes every other corner. With 1, it is regular, its
            edges have the length 2 sqrt(2), and D is orthogonal.
        """
        corners = ((l1, l2, l3), (l1, -l2, -l3), (-l1, l2, -l3), (-l1, -l2, l3))
        return cls.along_edges(corners)

    @classmethod
    def along_edges(cls, corners: Sequence[Sequence[float]]) -> Projection:
        """The edges of any tetrahedron: the degrees of freedom of Nedelec's element of lowest order (fig. 1).

        Parameters
        ----------
        corners : four sequences of three floats
            In body coordinates [m]; edges run from the earlier to the later one, in the order 12, 13, 14, 23, 24, 34.

        Raises
        ------
        JointError
            If the four corners lie in a plane.
        """
        c = [np.asarray(corner, dtype=float) for corner in corners]
        if len(c) != 4 or any(corner.shape != (3,) for corner in c):
            raise JointError(f"projection: a tetrahedron has four corners of three numbers; found {corners!r}.")
        pairs = [(c[i], c[j]) for i in range(4) for j in range(i + 1, 4)]
        lengths = [math.sqrt(2.0 * float((end - start) @ (end - start))) or 1.0 for start, end in pairs]
        return cls(
            tuple(tuple((end - start) / length) for (start, end), length in zip(pairs, lengths, strict=True)),
            tuple(tuple((start + end) / 2.0) for start, end in pairs),
        )

    def transformed(self, X: Transform) -> Projection:
        """The same points and directions of the body, seen from another frame of it.

        Parameters
        ----------
        X : Transform
            From this frame's coordinates to the other's, of floats.

        Returns
        -------
        Projection
            With the same six velocities: ``transformed(X).coordinates(X @ V) == coordinates(V)``.
        """
        X = X.collapse()
        return Projection(
            tuple(tuple(X.E @ Vector3(*b)) for b in self.directions),
            tuple(tuple(X.apply_point(Vector3(*y))) for y in self.points),
        )

    # Twists and wrenches ----------------------------------------------------------------------------------------------

    @property
    def D(self) -> np.ndarray:
        """(6, 6) array: ``w = D V`` with V = (angular, linear) (eq. 54); rows are wrenches [m, 1]."""
        return np.array([list(force) for force in self.forces])

    @property
    def D_inverse(self) -> np.ndarray:
        """(6, 6) array: ``V = D^-1 w`` (eq. 71); columns are twists [1/m, 1]."""
        return np.array([list(motion) for motion in self.motions]).T

    def coordinates(self, V: Motion) -> list:
        """w = D V: the six velocities [m/s] of a twist; of an acceleration dV/dt, the six rates."""
        return [force.dot(V) for force in self.forces]

    def twist(self, w: Sequence) -> Motion:
        """V = D^-1 w: the body's twist about its origin, in body coordinates (eq. 71)."""
        return _combination(self.motions, w)

    def generalized_force(self, F: Force) -> list:
        """Q = D^-T F: the six forces [N] of a wrench about the body's origin in body coordinates (eqs. 52, 53).

        A force f at the point y is ``Force.at_point(f, y)``, and ``Q = N(y)^T f``.
        """
        return [motion.dot(F) for motion in self.motions]

    def wrench(self, Q: Sequence) -> Force:
        """F = D^T Q: the wrench of six forces, Q_i along b_i at y_i."""
        return _combination(self.forces, Q)

    # Fields of velocity and acceleration ------------------------------------------------------------------------------

    def interpolation(self, y: Vector3) -> tuple[Vector3, ...]:
        """The six columns of N(y), the velocity of the point y [m] for each unit w (eqs. 26, 27)."""
        return tuple(motion.velocity_at(y) for motion in self.motions)

    def velocity_at(self, w: Sequence, y: Vector3) -> Vector3:
        """v(y) = N(y) w: the velocity of the body's point y, in body coordinates (eq. 26)."""
        return self.twist(w).velocity_at(y)

    def spin(self, w: Sequence) -> Matrix3:
        """E(w) = Omega x: the rates of the body's axes, in body coordinates (eq. 40)."""
        return Matrix3.cross(self.twist(w).angular)

    def acceleration_at(self, w: Sequence, w_dot: Sequence, y: Vector3) -> Vector3:
        """a(y) = N(y) dw/dt + E(w) N(y) w: the acceleration of the body's point y, in body coordinates (eq. 41)."""
        V = self.twist(w)
        return self.velocity_at(w_dot, y) + V.angular.cross(V.velocity_at(y))

    # Dynamics of a free body ------------------------------------------------------------------------------------------

    def mass_matrix(self, inertia: Inertia) -> tuple[tuple, ...]:
        """M = D^-T I D^-1, the integral of N^T N dm (eqs. 48, 56, 60), six rows of six scalars [kg].

        Parameters
        ----------
        inertia : Inertia
            About the body's origin; the center of mass may be elsewhere.
        """
        momenta = [inertia @ motion for motion in self.motions]
        return tuple(tuple(motion.dot(momentum) for momentum in momenta) for motion in self.motions)

    def velocity_matrix(self, inertia: Inertia, w: Sequence) -> tuple[tuple, ...]:
        """Gamma(w), the integral of N^T E(w) N dm (eq. 49): skew, six rows of six scalars [kg/s].

        Parameters
        ----------
        inertia : Inertia
            About the body's origin.
        w : sequence of six scalars
            Unified velocities [m/s].
        """
        forces = [_convected(inertia, self.twist(w).angular, motion) for motion in self.motions]
        return tuple(tuple(motion.dot(force) for force in forces) for motion in self.motions)

    def bias_force(self, inertia: Inertia, w: Sequence) -> list:
        """Gamma(w) w: the force that keeps the six velocities constant (eqs. 50, 61) [N]."""
        V = self.twist(w)
        return self.generalized_force(V.cross(inertia @ V))

    def acceleration(self, inertia: Inertia, w: Sequence, Q: Sequence) -> list:
        """dw/dt = M^-1 (Q - Gamma(w) w) (eqs. 51, 79), without forming M [m/s^2].

        Parameters
        ----------
        inertia : Inertia
            About the body's origin.
        w : sequence of six scalars
            Unified velocities [m/s].
        Q : sequence of six scalars
            Generalized forces [N].
        """
        V = self.twist(w)
        return self.coordinates(inertia.inverse_apply(self.wrench(Q) - V.cross(inertia @ V)))

    def incremental_rate(self, n: Motion, w: Sequence) -> Motion:
        """dn/dt = T^-1(n) D^-1 w: the rate of the incremental motion vector (eqs. 11, 72, 80).

        Parameters
        ----------
        n : Motion
            Incremental motion vector [rad, m]: the pose is that of the start of the step, displaced by ``exp_se3(n)``.
        w : sequence of six scalars
            Unified velocities [m/s].
        """
        return right_jacobian_solve(n, self.twist(w))


def _combination(vectors, weights):
    """The sum of six motions or forces times their weights."""
    terms = [vector * weight for vector, weight in zip(vectors, weights, strict=True)]
    return sum(terms[1:], start=terms[0])


def _convected(inertia: Inertia, omega: Vector3, V: Motion) -> Force:
    """The wrench of the accelerations omega x v(y), v being the velocities of the twist V."""
    h, P = inertia.h, inertia.second_moments
    turned = omega.cross(V.linear)
    moment = (P @ omega).cross(V.angular) + h.cross(turned)
    return Force(moment, turned * inertia.m - omega.cross(h.cross(V.angular)))


# Checks and the inverse, on floats -----------------------------------------------------------------------------------


def _six_vectors(name: str, vectors) -> tuple[tuple[float, float, float], ...]:
    try:
        array = np.asarray(vectors, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.shape != (6, 3) or not np.all(np.isfinite(array)):
        raise JointError(
            f"projection: {name} must be six vectors of three finite numbers, shape (6, 3); found {vectors!r}.",
            **{name: vectors},
        )
    return tuple(tuple(row) for row in array.tolist())


def _snapped(force: Force, direction, point) -> Force:
    """Without the rounding of right angles, which would hide zeros from the compiler."""
    b, y = math.hypot(*direction), math.hypot(*point)
    moment = [x if abs(x) > SNAP * b * y else 0.0 for x in force.angular]
    return Force(Vector3(*moment), Vector3(*(x if abs(x) > SNAP * b else 0.0 for x in force.linear)))


def _snapped_motions(columns) -> tuple[Motion, ...]:
    """Motions of these columns, with angular and linear parts snapped each at its own scale."""
    array = np.array([list(column) for column in columns])
    for part in (array[:, :3], array[:, 3:]):
        part[np.abs(part) <= SNAP * np.abs(part).max()] = 0.0
    return tuple(Motion.of(column) for column in array)


def _check_rank(rows: Sequence[Force], directions, points) -> None:
    """Refuse six velocities that do not determine the motion of the body."""
    length = max(math.hypot(*y) for y in points) or 1.0
    D = np.array([[*row.angular / length, *row.linear] for row in rows])
    D /= np.linalg.norm(directions, axis=1)[:, None]
    _, sizes, axes = np.linalg.svd(D)
    rank = int(np.sum(sizes > REGULAR * sizes[0]))
    if rank == 6:
        return
    unseen = axes[-1] / np.abs(axes[-1]).max()
    angular, linear = (" ".join(f"{x + 0.0:.3g}" for x in np.round(part, 12)) for part in np.split(unseen, 2))
    raise JointError(
        f"projection: D has rank {rank}, expected 6: the six velocities b_i . v(y_i) are zero for the motion with "
        f"angular velocity ({angular}) / {length:.3g} m and velocity ({linear}) of the origin. Choose points and "
        "directions whose lines are independent: not all of them through one line, not all parallel to one plane; "
        "Projection.hexahedral() is a choice that always works.",
        rank=rank,
        singular_values=sizes,
        unseen=unseen,
    )


def _inverse(matrix: list[list[float]]) -> list[list[float]]:
    """The inverse of a regular matrix of floats, exact until its entries are rounded: its zeros are zeros."""
    size = len(matrix)
    rows = [[Fraction(x) for x in row] + [Fraction(i == k) for k in range(size)] for i, row in enumerate(matrix)]
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [[float(x) for x in row[size:]] for row in rows]
