"""The spring of a joint."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.forces.contract import JointForce, Parameter, present
from kinetree.joints.dual import Dual, rate_of
from kinetree.spatial.scalar import absolute, is_zero


@dataclass(frozen=True)
class Spring(JointForce):
    """Hooke's law along the velocity coordinates of a joint: the energy ``k (q (-) q_ref)^2 / 2``.

    Parameters
    ----------
    joint : str
    stiffness : tuple of scalars
        k, one for each velocity coordinate [N m/rad or N/m].
    spring_reference : tuple of scalars, optional
        Position at which the spring is relaxed, one for each position [rad or m; quaternions unit]; by default the
        neutral position.

    Notes
    -----
    The force is ``-T^T k xi`` with ``xi = q (-) q_ref`` and the rate ``d xi/dt = T v``, the gradient of the energy, as
    in joints that close loops. T is 1 for joints whose coordinates commute. For ball joints xi is the rotation vector
    from q_ref to q, of at most half a turn, and T the inverse of the right Jacobian of the exponential; with the same k
    about all axes the force is ``-k xi``, as MuJoCo's.

    Examples
    --------
    >>> import kinetree as kt
    >>> b = kt.ModelBuilder()
    >>> _ = b.add_body("bob", joint=kt.joints.Spherical(), joint_name="ball", mass=1.0, inertia=(1, 1, 1))
    >>> model = b.build().replace(forces=[kt.forces.Spring("ball", 3.0)])
    >>> q = kt.integrate(model, model.neutral(), [0.2, 0.0, -0.1])
    >>> kt.dynamics.passive_joint_forces(model, q, [0.0, 0.0, 0.0]).round(12).tolist()
    [-0.6, 0.0, 0.3]
    """

    joint: str
    stiffness: tuple
    spring_reference: tuple | None = None

    parameters = (
        Parameter("stiffness", "force/position", mjcf="stiffness", sdf="spring_stiffness"),
        Parameter("spring_reference", "position", position=True, sdf="spring_reference"),
    )
    energy_channel = "springs"

    def energy(self, at):
        twice = 0.0
        for k, x in zip(self.stiffness, at.deflection(self.spring_reference), strict=True):
            if present(k):
                twice = twice + k * x * x
        return 0.5 * twice

    def elastic(self, at):
        return [-f for f in self._gradient(at, at.deflection(self.spring_reference))]

    def stiffness_diagonal(self, at):
        # Sums of the sizes in each row of T^T k T: an upper bound of this positive semidefinite matrix.
        return [
            sum((x if n == m else absolute(x) for m, x in enumerate(row) if not is_zero(x)), start=0.0)
            for n, row in enumerate(self.gauss_newton_rows(at))
        ]

    def gauss_newton_rows(self, at):
        T = at.tangent_inverse(at.deflection(self.spring_reference))
        columns = (
            [
                k * row[n] if present(k) and not is_zero(row[n]) else 0.0
                for k, row in zip(self.stiffness, T, strict=True)
            ]
            for n in range(len(T))
        )  # of k T
        return [_transposed_product(T, column) for column in columns]  # symmetric: columns are rows

    def stiffness_rows(self, at):
        deflection = at.deflection(self.spring_reference)
        T = at.tangent_inverse(deflection)
        columns = []
        for n in range(len(T)):
            moving = [x if is_zero(row[n]) else Dual(x, row[n]) for x, row in zip(deflection, T, strict=True)]
            columns.append([rate_of(f) for f in self._gradient(at, moving)])
        return [list(row) for row in zip(*columns, strict=True)]

    def _gradient(self, at, deflection) -> list:
        """The derivatives of the energy along the velocities of the joint."""
        loads = [k * x if present(k) else 0.0 for k, x in zip(self.stiffness, deflection, strict=True)]
        return _transposed_product(at.tangent_inverse(deflection), loads)


def _transposed_product(T, y) -> list:
    """``T^T y``; structural zeros are left out."""
    found = []
    for n in range(len(y)):
        terms = [(row[n], y_m) for row, y_m in zip(T, y, strict=True) if not is_zero(row[n]) and not is_zero(y_m)]
        found.append(sum((x * y_m for x, y_m in terms), start=0.0))
    return found
